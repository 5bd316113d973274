"""The question card with many rows at once: what it is told of a batch, and what is said of one."""

from __future__ import annotations

import math
from itertools import zip_longest
from typing import Any

import streamlit as st

from pages.parts import frame, state
from pages.parts.presses import say
from pages.parts.question_card import Offer, view_of
from pages.parts.words import counted
from workflow.access import NotAllowed
from workflow.answering import AnswerError
from workflow.people import batches
from workflow.people.batches import NoBatch, SavedBatch, ShownBatch

KEYS = "abcdefghijklmnopqrstvwxy"
"""Keys of the tiles in order: all letters but those of undo and of the closer look."""
_SOUND_KEY = "p"


def nothing_together(found: NoBatch) -> Offer:
    """What stands where there is no batch."""
    return Offer("No rows to confirm together now", found.why, "one", "One by one")


def batch_question(batch: ShownBatch) -> dict[str, Any]:
    """The batch as the card draws it; see `BatchQuestion` in `one_label/types.d.ts`."""
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
        "why": f"Take out the ones that are not. {_sure(batch)}",
        "checked": _checked(batch),
        "tiles": tiles,
        "model": "",
        "learnt": None,
        "shown": "",
        "telling": None,
        "view": tiles[0]["view"],
        "coming": None,
    }


def say_what_was_left_out(saved: SavedBatch) -> None:
    """Say at the next drawing what a press on a batch did not store."""
    if saved.repeated:
        say(
            f"Not saved again: {counted(saved.rows, 'row')} had been confirmed as {saved.label} before, in another "
            "tab perhaps."
        )
    elif saved.missed:
        named = ", ".join(saved.missed)
        say(
            f"{counted(saved.rows, 'row')} saved as {saved.label}; not saved, as they were answered or changed "
            f"meanwhile: {named}."
        )


def _sure(batch: ShownBatch) -> str:
    shares = [tile.share for tile in batch.tiles]
    low, high = math.floor(100 * min(shares)), math.floor(100 * max(shares))
    span = f"{low} %" if low == high else f"{low} to {high} %"
    return f"The model gives {batch.label} a share of {span}" + (
        "; you chose these rows." if batch.chosen else ", and they lie near each other."
    )


def _checked(batch: ShownBatch) -> str:
    if not batch.checked:
        return "No row with a known label tells yet how right the model is there."
    times = counted(batch.checked, "time")
    return f"Where it is as sure and the label is known, it is right about {batch.right:,} of {times}."


def can_choose(page: frame.ProjectPage) -> bool:
    """Whether this person may choose rows to confirm together in this project."""
    try:
        return batches.labels_for(page.seat, ()) is not None
    except NotAllowed:
        return False


def choose_together(page: frame.ProjectPage, rows: list[int], key: str) -> None:
    """A label, and the button that puts these rows before the person together. Nothing where they cannot be.

    key : of the widgets; rows that are others need another one
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
            st.caption("None of these rows can be confirmed now: they are answered, or before somebody else.")
            return
        label = st.selectbox(
            "All of these are",
            list(labels),
            format_func=lambda one: f"{one} ({counted(labels[one], 'row')})",
            key=f"{key}-label",
        )
        most = min(labels[label], batches.MOST)
        words = "Look at it" if most == 1 else f"Look at {most} of them together"
        if st.button(words, type="primary", icon=":material/grid_view:", key=f"{key}-look"):
            chosen = batches.choose_batch(page.seat, rows, label)
            if chosen.left_out:
                st.session_state[state.FLASH] = (
                    f"{counted(chosen.left_out, 'row')} of those you chose cannot stand there. At most "
                    f"{batches.MOST} can: open, before nobody else, no blind check, and perhaps {label}."
                )
            st.session_state[state.MANY] = page.project.id
            st.switch_page("annotate.py", query_params={"project": str(page.project.id)})
