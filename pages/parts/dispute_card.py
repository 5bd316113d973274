"""The question card with a dispute: who said what, and the verdict in the place of an answer."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from datetime import datetime
from itertools import zip_longest
from typing import Any
from zoneinfo import ZoneInfo, ZoneInfoNotFoundError

from pages.parts.answers import first_of
from pages.parts.question_card import bare, keys_of, none_key, view_of
from pages.parts.words import counted
from workflow.people.disputes import Dispute, DisputeList, Opinion

NOT_SEVERAL = (
    "Here each answer counts after those before it, so that people cannot disagree. To have several people answer "
    "a row, each for themselves, set it in Project settings."
)
NOBODY = (
    "People agree on every row that several have answered, or their disputes are settled. New ones come here by "
    "themselves as people answer."
)
LABELS = 60
"""Labels that a card lists at most; the search finds the others."""
MARKS = 4
"""Labels that have a colour and a shape, by their number (`one_label/card.css`): those that most people left."""


def dispute_data(
    found: DisputeList,
    opened: Dispute | None,
    descriptions: Mapping[str, str],
    *,
    zone: str | None,
    notice: str | None,
    saved: str | None,
    undoable: int | None,
) -> dict[str, Any]:
    """The card's data, for the dispute that is looked at, or for the empty state.

    descriptions : of the classes      zone : time zone of the browser, None where it is not known
    notice : why the latest press was refused      saved : what it has done      undoable : seq of the latest verdict
    """
    tone = "bad" if notice else "good" if saved else "quiet"
    return bare("dispute") | {
        "token": opened.token if opened else None,
        "question": _question(found, opened, descriptions, zone) if opened else None,
        "empty": None if opened else _empty(found),
        "offer": {"kind": "undo", "text": "Undo my latest verdict"} if undoable and not opened else None,
        "undoable": undoable,
        "saved": {
            "tone": tone,
            "message": notice or saved or "A verdict settles a row, whatever people answer later.",
            "seq": undoable,
            "row": None,
        },
        "counts": {
            "answered": found.settled,
            "left": found.total,
            "share": "",
            "about": "",
            "of": "Disputes settled",
            "done": "settled",
        },
    }


def _empty(found: DisputeList) -> dict[str, str]:
    return {"title": "No disputes", "message": NOBODY if found.several else NOT_SEVERAL}


def _question(
    found: DisputeList, opened: Dispute, descriptions: Mapping[str, str], zone: str | None
) -> dict[str, Any]:
    labels = _in_order(opened)
    marks = _marks([(one.labels, 1) for one in opened.opinions])
    return {
        "rows": [
            {
                "key": key,
                "label": label,
                "about": " · ".join(
                    filter(None, (_who_says(opened.opinions, label), descriptions.get(label, "")))
                ),
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
                "words": " / ".join(_words(labels) for labels in one.said),
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
        "notes": [
            {"person": one.person, "when": _when(one.at, zone), "text": one.text} for one in opened.notes
        ],
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
    """The labels that the card lists: those that most people left first, then by the model's share."""
    votes = {label: sum(label in one.labels for one in opened.opinions) for label in opened.candidates}
    order = sorted(opened.candidates, key=lambda label: (-votes[label], -opened.shares.get(label, 0.0)))
    return order[:LABELS]


def _who_says(opinions: Sequence[Opinion], label: str) -> str:
    """How many say that it is this label, and how many that it may be."""
    alone = sum(one.labels == (label,) for one in opinions)
    among = sum(label in one.labels for one in opinions) - alone
    if not alone and not among:
        return "nobody"
    says = f"{alone} of {counted(len(opinions), 'person', 'people')}" if alone else ""
    return ", ".join(filter(None, (says, f"{among} maybe" if among else "")))


def _marks(said: Sequence[tuple[Sequence[str], int]]) -> dict[str, int]:
    """{label: number of its mark}. said : labels that people left together, and how many did"""
    votes = Counter[str]()
    for labels, times in said:
        votes.update(dict.fromkeys(labels, times))
    order = sorted(votes, key=lambda label: (-votes[label], label))
    return {label: number for number, label in enumerate(order[:MARKS])}


def _shares(said: Sequence[tuple[Sequence[str], int]]) -> list[list[int | None]]:
    """How many people left each label, by its mark; None: labels without one, and bad items."""
    marks, found = _marks(said), Counter[int | None]()
    for labels, times in said:
        for label in labels or ("",):
            found[marks.get(label)] += times
    return [[mark, found[mark]] for mark in (*range(MARKS), None) if mark in found]


def _names(labels: Sequence[str]) -> Sequence[str]:
    """What somebody left, in words that stand with an "or" between them."""
    return labels if 0 < len(labels) <= 3 else (first_of(labels) or "bad item",)


def _words(labels: Sequence[str]) -> str:
    return " or ".join(_names(labels))


def _when(moment: datetime, zone: str | None) -> str:
    try:
        there = moment.astimezone(ZoneInfo(zone or "UTC"))
    except (ZoneInfoNotFoundError, ValueError):
        there = moment
    return f"{there.day} {there:%b %Y, %H:%M}"
