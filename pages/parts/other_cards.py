"""The question card with many rows at once: its data for a batch, and its texts."""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Mapping, Sequence
from datetime import datetime
from itertools import zip_longest
from zoneinfo import ZoneInfo, ZoneInfoNotFoundError

import streamlit as st

from pages.parts import frame, state
from pages.parts.answers import first_of
from pages.parts.presses import say
from pages.parts.question_card import Offer, bare, keys_of, none_key, view_of
from pages.parts.words import counted
from workflow.access import NotAllowed
from workflow.answering import batches
from workflow.answering.batches import NoBatch, SavedBatch, ShownBatch
from workflow.answering.loop import AnswerError
from workflow.people.disputes import Dispute, DisputeList, Opinion
from workflow.people.qualification import Judged, Qualifying

KEYS = "abcdefghijklmnopqrstvwxy"
"""Keys of the tiles in order: all letters except those of undo and zoom."""
_SOUND_KEY = "p"


def nothing_together(found: NoBatch) -> Offer:
    """Return the message if there is no batch."""
    return Offer("No rows to confirm together now", found.why, "one", "One by one")


def batch_question(batch: ShownBatch) -> dict[str, object]:
    """Return the batch as the card draws it; see `BatchQuestion` in `one_label/types.d.ts`."""
    heard = any(tile.view.heard for tile in batch.tiles)
    keys = KEYS.replace(_SOUND_KEY, "") if heard else KEYS
    tiles = [
        {"key": key, "row": tile.view.row, "share": round(tile.share, 4), "view": view_of(tile.view)}
        for key, tile in zip_longest(keys[: len(batch.tiles)], batch.tiles)
    ]
    return {
        "rows": [],
        "label": batch.label,
        "asks": f"Are these {len(tiles)} all {batch.label}?" if len(tiles) > 1 else f"Is this {batch.label}?",
        "about": batch.description,
        "why": f"Exclude the ones that are not. {_sure(batch)}",
        "checked": _checked(batch),
        "tiles": tiles,
        "model": "",
        "learnt": None,
        "shown": "",
        "telling": None,
        "view": tiles[0]["view"],
        "coming": None,
    }


def show_rows_left_out(saved: SavedBatch) -> None:
    """Show at the next redraw what was not stored of a batch."""
    if saved.repeated:
        say(
            f"Not saved again: {counted(saved.rows, 'row')} had been confirmed as {saved.label} before, in another "
            "tab perhaps."
        )
    elif saved.missed:
        named = ", ".join(saved.missed)
        say(
            f"{counted(saved.rows, 'row')} saved as {saved.label}; not saved, because they were answered or changed "
            f"in the meantime: {named}."
        )


def _sure(batch: ShownBatch) -> str:
    shares = [tile.share for tile in batch.tiles]
    low, high = math.floor(100 * min(shares)), math.floor(100 * max(shares))
    span = f"{low}%" if low == high else f"{low} to {high}%"
    return f"The model gives {batch.label} a share of {span}" + (
        "; you selected these rows." if batch.chosen else ", and they are near each other."
    )


def _checked(batch: ShownBatch) -> str:
    if not batch.checked:
        return "No known label shows yet how accurate the model is here."
    times = counted(batch.checked, "time")
    return f"When this confident on known labels, it is right about {batch.right:,} of {times}."


def can_choose(page: frame.ProjectPage) -> bool:
    """Return whether this person may choose rows to confirm together in this project."""
    try:
        return batches.labels_for(page.seat, ()) is not None
    except NotAllowed:
        return False


def choose_together(page: frame.ProjectPage, rows: list[int], key: str) -> None:
    """Draw a label box, and the button that opens these rows as a batch. Nothing if they cannot be confirmed
    together.

    key : of the widgets; other rows need another key
    """
    try:
        labels = batches.labels_for(page.seat, rows)
    except NotAllowed as refusal:
        st.caption(frame.escape(str(refusal)))
        return
    if labels is None:
        return
    with frame.refusals(AnswerError):
        if not labels:
            st.caption("None of these rows can be confirmed now: they are answered or open for someone else.")
            return
        label = st.selectbox(
            "All of these are",
            list(labels),
            format_func=lambda one: f"{one} ({counted(labels[one], 'row')})",
            key=f"{key}-label",
        )
        most = min(labels[label], batches.MOST)
        words = "View it" if most == 1 else f"View {most} of them together"
        if st.button(words, type="primary", icon=":material/grid_view:", key=f"{key}-look"):
            chosen = batches.choose_batch(page.seat, rows, label)
            if chosen.left_out:
                st.session_state[state.FLASH] = (
                    f"{counted(chosen.left_out, 'row')} you selected cannot be confirmed. At most "
                    f"{batches.MOST} open rows that may be {label} can: no blind checks, none on someone else's screen."
                )
            st.session_state[state.MANY] = page.project.id
            st.switch_page("annotate.py", query_params=page.here)


# The question card with a dispute: each annotator's answer, and a verdict instead of an answer.

NOT_SEVERAL = (
    "With one annotator per row there are no disputes. To collect several independent answers per row, "
    "change Annotators per row in Project settings."
)
NOBODY = "Annotators agree on every shared row, or their disputes are resolved. New ones appear here as people answer."
LABELS = 60
"""Labels listed on a card at most; the search finds the others."""
MARKS = 4
"""Labels that have a colour and a shape, by their number (`one_label/card.css`): those chosen by most
people."""


def dispute_data(
    found: DisputeList,
    opened: Dispute | None,
    descriptions: Mapping[str, str],
    *,
    zone: str | None,
    notice: str | None,
    saved: str | None,
    undoable: int | None,
) -> dict[str, object]:
    """Return the card's data for the open dispute, or for the empty state.

    descriptions : of the classes      zone : time zone of the browser, None if unknown
    notice : why the latest click was refused      saved : its result      undoable : seq of the latest
    verdict
    """
    tone = "bad" if notice else "good" if saved else "quiet"
    return bare("dispute") | {
        "token": opened.token if opened else None,
        "question": _question(found, opened, descriptions, zone) if opened else None,
        "empty": None if opened else {"title": "No disputes", "message": NOBODY if found.several else NOT_SEVERAL},
        "offer": {"kind": "undo", "text": "Undo my latest verdict"} if undoable and not opened else None,
        "undoable": undoable,
        "saved": {
            "tone": tone,
            "message": notice or saved or "A verdict is final, no matter what people answer later.",
            "seq": undoable,
            "row": None,
        },
        "counts": {
            "answered": found.settled,
            "begun": 0,
            "left": found.total,
            "share": "",
            "about": "",
            "of": "Disputes resolved",
            "done": "resolved",
        },
    }


def _question(
    found: DisputeList, opened: Dispute, descriptions: Mapping[str, str], zone: str | None
) -> dict[str, object]:
    labels = _in_order(opened)
    marks = _marks([(one.labels, 1) for one in opened.opinions])
    return {
        "rows": [
            {
                "key": key,
                "label": label,
                "about": " · ".join(filter(None, (_who_says(opened.opinions, label), descriptions.get(label, "")))),
                "probability": round(opened.shares.get(label, 0.0), 4),
                "shown": not opened.why_not,
                "mark": marks.get(label),
            }
            for key, label in zip_longest(keys_of(opened.view, labels)[: len(labels)], labels)
        ],
        "noneKey": none_key(opened.view),
        "list": [
            {
                "row": one.row,
                "id": f"Row {one.row_id}",
                "words": " / ".join(" or ".join(_names(labels)) for labels in one.said),
                "shares": _shares(list(zip(one.said, one.times, strict=True))),
                "current": one.row == opened.view.row,
            }
            for one in found.lines
        ],
        "total": found.total,
        "said": [
            {
                "person": one.person,
                "names": [[name, marks.get(name)] for name in _names(one.labels)],
                "when": _when(one.at, zone) + (f" · {one.seconds:.1f} s" if one.seconds is not None else ""),
                "note": one.note or "",
            }
            for one in opened.opinions
        ],
        "notes": [{"person": one.person, "when": _when(one.at, zone), "text": one.text} for one in opened.notes],
        "none": False,
        "nClasses": len(opened.classes),
        "groups": [],
        "model": opened.why_not,
        "learnt": None,
        "why": "",
        "shown": "",
        "telling": None,
        "marks": [],
        "view": view_of(opened.view),
        "coming": None,
    }


def _in_order(opened: Dispute) -> list[str]:
    """Return the labels that the card lists: those chosen by most people first, then by the model's
    probability."""
    votes = {label: sum(label in one.labels for one in opened.opinions) for label in opened.candidates}
    order = sorted(opened.candidates, key=lambda label: (-votes[label], -opened.shares.get(label, 0.0)))
    return order[:LABELS]


def _who_says(opinions: Sequence[Opinion], label: str) -> str:
    """Say how many people chose exactly this label, and how many include it."""
    alone = sum(one.labels == (label,) for one in opinions)
    among = sum(label in one.labels for one in opinions) - alone
    if not alone and not among:
        return "no one"
    says = f"{alone} of {counted(len(opinions), 'person', 'people')}" if alone else ""
    return ", ".join(filter(None, (says, f"{among} maybe" if among else "")))


def _marks(said: Sequence[tuple[Sequence[str], int]]) -> dict[str, int]:
    """Return {label: number of its mark}. said : labels that people chose together, with the number of
    people"""
    votes = Counter[str]()
    for labels, times in said:
        votes.update(dict.fromkeys(labels, times))
    order = sorted(votes, key=lambda label: (-votes[label], label))
    return {label: number for number, label in enumerate(order[:MARKS])}


def _shares(said: Sequence[tuple[Sequence[str], int]]) -> list[list[int | None]]:
    """Return how many people chose each label, by its mark; None stands for labels without one, and bad
    items."""
    marks, found = _marks(said), Counter[int | None]()
    for labels, times in said:
        for label in labels or ("",):
            found[marks.get(label)] += times
    return [[mark, found[mark]] for mark in (*range(MARKS), None) if mark in found]


def _names(labels: Sequence[str]) -> Sequence[str]:
    """Return another annotator's labels, to be joined by "or"."""
    return labels if 0 < len(labels) <= 3 else (first_of(labels) or "bad item",)


def _when(moment: datetime, zone: str | None) -> str:
    try:
        there = moment.astimezone(ZoneInfo(zone or "UTC"))
    except (ZoneInfoNotFoundError, ValueError):
        there = moment
    return f"{there.day} {there:%b %Y, %H:%M}"


# Known rows before someone starts: the card's data for them, and for the result of an answer.


def known_row(now: Qualifying | Judged, descriptions: Mapping[str, str], notice: str | None) -> dict[str, object]:
    """Return the card's data for the person's next known row, or for the result of their latest answer.

    descriptions : of the classes      notice : why the latest click was refused
    """
    if isinstance(now, Judged):
        token, given, right, waiting = None, now.number, now.n_right, None
    else:
        token, given, right = now.token, max(0, now.number - 1), now.right
        waiting = now if now.token is None else None
    return bare("qualifying") | {
        "token": token,
        "question": _qualifying_card_question(now, descriptions) if waiting is None else None,
        "empty": _offered(waiting) if waiting else None,
        "offer": {"kind": "begin", "text": ("Try again" if waiting.tried else "Begin")} if waiting else None,
        "saved": {
            "tone": "bad" if notice else "quiet",
            "message": notice or "Before you start. Nothing here is stored as an answer.",
            "seq": None,
            "row": None,
        },
        "counts": {
            "answered": given,
            "begun": 0,
            "left": now.rows - given,
            "share": f"{right:,} right",
            "about": f"Of {now.rows:,} at least {now.needed:,} must be right.",
            "of": "Known rows answered",
        },
    }


def _offered(now: Qualifying) -> dict[str, str]:
    rows = counted(now.rows, "row")
    enough = f"{now.needed:,} right" if now.needed < now.rows else "all of them right"
    if now.tried:
        return {
            "title": "Not yet",
            "message": f"{now.right:,} were right. {enough.capitalize()} of {rows} are needed. You may try again, with "
            "other rows if there are any; the guidelines above may help.",
        }
    return {
        "title": "A few known rows first",
        "message": f"You answer {rows} whose label is known, and see after each whether you were right. With {enough} "
        "you may start. These answers are not part of the project, and no model learns from them.",
    }


def _qualifying_card_question(now: Qualifying | Judged, descriptions: Mapping[str, str]) -> dict[str, object]:
    view = now.view
    if view is None:
        raise ValueError("Without a row there is no question. Fix: show what is offered.")
    keys = keys_of(view, now.choices)[: len(now.choices)]
    return {
        "rows": [
            {"key": key, "label": label, "about": descriptions.get(label, ""), "probability": 0}
            for key, label in zip_longest(keys, now.choices)
        ],
        "model": "",
        "learnt": None,
        "why": "",
        "shown": "",
        "telling": None,
        "marks": [],
        "view": view_of(view),
        "coming": None,
        "about": f"Known row {now.number:,} of {now.rows:,}",
        "judged": _judged(now) if isinstance(now, Judged) else None,
    }


def _judged(now: Judged) -> dict[str, str]:
    words = "Right." if now.right else f"It is {now.label}."
    if now.passed:
        words += f" {now.n_right:,} of {now.rows:,} were right: you may start."
    elif now.over:
        words += f" {now.n_right:,} of {now.rows:,} were right; {now.needed:,} are needed."
    return {"said": now.said, "label": now.label, "words": words, "note": now.note}
