"""The question card: a Streamlit component that draws the question and sends one press with its token."""

from __future__ import annotations

import uuid
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

import streamlit as st
from streamlit.components.v2.types import ComponentRenderer

from pages.parts import state
from pages.parts.answers import NAMED, in_words
from pages.parts.components import component
from pages.parts.words import shortened
from workflow.answering import press
from workflow.answering.loop import SimilarRow
from workflow.answering.walking import Walk
from workflow.files.media import small_address
from workflow.files.stored import address
from workflow.projects.standing import Saved, Standing
from workflow.rows.row import RowView
from workflow.seat import Seat


def card_of(kind: str) -> ComponentRenderer:
    """Register a kind's card: its folder's `card.js` and `card.css` with what all cards share.

    The JavaScript puts every text from the table into textContent; user input never goes through `html`.
    """
    return component(
        f"winnow_{kind}_card",
        f"{kind}/card.js",
        ("card/card.css", "card/instance.css", f"{kind}/card.css", "card/phone.css"),
    )


_KEYS = "123456789abdeijklnoqrv"
_SOUND_KEYS = "lr"

EXCERPT = 400
"""Characters shown of a similar row's text."""


def keys_of(view: RowView, labels: Sequence[str] = ()) -> str:
    """Return the keys of the candidates in order: the digits, then the letters without a command. If rows
    have recordings, the player's keys (see `card/sound.js`) are reserved on every row, so that a key never
    plays on one row and answers on another.

    labels : the candidates; if classes are digits, each is its own key
    """
    if labels and has_own_keys(view):
        return "".join(labels)
    return "".join(key for key in _KEYS if not view.heard or key not in _SOUND_KEYS)


def has_own_keys(view: RowView) -> bool:
    """Return whether each class is its own key: classes are digits, and no player uses the key that then
    means "none"."""
    return view.digits and not view.heard


def none_key(view: RowView) -> str:
    """Return the key for "none of the candidates"."""
    return "-" if has_own_keys(view) else "0"


Drawing = Callable[[Standing, str | None, Callable[[], None]], None]
"""Draws a card, given the project's state, a message, and a callback for a press before the redraw."""


@dataclass(frozen=True)
class Offer:
    """Content shown instead of a question, with one button.

    kind : of the press      text : on the button
    """

    title: str
    message: str
    kind: str
    text: str


@dataclass(frozen=True)
class Heading:
    """Line above the question.

    share : progress, in words      about : meaning of that share      of : what the bar counts
    done : why asking may stop; None if it should continue
    """

    share: str
    about: str
    of: str
    done: str | None


PAUSED = Offer(
    "Paused",
    "Your question is hidden and its clock stopped. Someone else may get its row meanwhile.",
    "resume",
    "Go on",
)


def card_data(
    room: str,
    token: str | None,
    question: dict[str, object] | None,
    standing: Standing,
    heading: Heading,
    notice: str | None,
    offer: Offer | None = None,
) -> dict[str, object]:
    """Return the card data of this question, no matter whether the page or the direct route needs it.

    room : the form of answering, one of those in the kind's `card.js`
    token, question : of the question, None if nothing is left to ask      notice : shown instead of what was
    saved
    offer : shown if nothing is asked now
    """
    walk = standing.walk
    where, last = walk.last if walk and walk.last else (None, standing.last)
    return {
        "room": room,
        "token": token,
        "question": question,
        "empty": None if question else _empty(standing, offer),
        "offer": None if question else _button(standing, offer),
        "undoable": walk.undo[1] if walk and walk.undo else standing.undoable,
        "redoable": standing.redoable,
        "saved": _saved(where, last, notice),
        "walk": _walk(walk) if walk else None,
        "done": heading.done if question else None,
        "counts": {
            "answered": standing.answered,
            "begun": standing.begun,
            "left": standing.left,
            "share": heading.share,
            "about": heading.about,
            "of": heading.of,
        },
        "height": standing.height,
        "frame": standing.frame,
    }


def draw_card(card: ComponentRenderer, seat: Seat, data: dict[str, Any], on_press: Callable[[], None]) -> None:
    """Draw a kind's card. data : of `card_data`      on_press : called for a press, before the redraw

    Answers about a single row go to the server by `pressing.PATH`; batches depend on the state of this tab,
    so only the page draws them.
    """
    together = st.session_state.get(state.MANY) == seat.project_id
    here = {
        "project": seat.project_id,
        "person": seat.person_id,
        "route": None if together else f"{press.PATH.lstrip('/')}/{seat.project_id}",
        "similar": st.session_state.get(state.SIMILAR),
        "panel": st.session_state.get(state.PANEL),
        "examples": bool(st.session_state.get(state.EXAMPLES)),
        "day": st.session_state.get(state.DAY),
    }
    send(card, bare(data["room"]) | here | data, on_press)


def bare(room: str) -> dict[str, object]:
    """Return empty card data for a room; see `Data` in `card/types.d.ts`."""
    drawing = st.session_state[state.DRAWING] = st.session_state.get(state.DRAWING, 0) + 1
    return {
        "room": room,
        "tab": st.session_state.setdefault(state.TAB, uuid.uuid4().hex),
        "turn": st.session_state.get(state.TURN, 0),
        "drawing": drawing,
        "route": None,
        "height": None,
        "frame": None,
        "undoable": None,
        "redoable": None,
        "similar": None,
        "panel": None,
        "examples": False,
        "day": None,
        "done": None,
        "walk": None,
    }


def send(card: ComponentRenderer, data: dict[str, object], on_press: Callable[[], None]) -> None:
    """Draw a card with this data; see `Data` in `card/types.d.ts`."""
    card(
        key=state.CARD,
        data=data,
        on_press_change=on_press,
        on_similar_change=on_press,
        on_here_change=on_press,
        on_panel_change=on_press,
    )


def why_stop(standing: Standing, done: str) -> str | None:
    """Return why a person may stop, if they may. done : the sentence that no answer can change anything any
    more"""
    if standing.done:
        return done
    return (
        f"{standing.stop} The owner's stopping rule is reached; continue only if asked to." if standing.stop else None
    )


def row_in_panel(
    view: RowView, labels: Sequence[str] = (), *, note: str = "", seq: int | None = None
) -> dict[str, object]:
    """Return a row as the card's panels list it."""
    return {
        "id": view.row_id,
        "image": view.image and small_address(view.image),
        "audio": view.audio,
        "text": shortened(view.text or "", EXCERPT),
        "features": [list(pair) for pair in view.features[:NAMED]],
        "labels": list(labels),
        "note": note,
        "seq": seq,
    }


def show_similar(token: str, rows: Sequence[SimilarRow], refused: str | None = None) -> None:
    """Send the card these rows at its next redraw. refused : why there are none"""
    st.session_state[state.SIMILAR] = {
        "token": token,
        "refused": refused,
        "rows": [row_in_panel(one.view, one.labels) for one in rows],
    }


def view_of(view: RowView) -> dict[str, object]:
    """Return the row as the card draws it."""
    return {
        "id": view.row_id,
        "images": list(view.images),
        "boxes": [{"place": one.place, "name": one.name, "score": f"{one.confidence:.2f}"} for one in view.boxes],
        "audio": view.audio,
        "segment": view.segment,
        "texts": list(view.texts),
        "features": list(view.features),
        "caption": [*view.caption, *view.source],
    }


def coming_of(view: RowView | None) -> dict[str, object] | None:
    """Return data that a browser can prefetch for the likely next row; None if it has no files."""
    if view is None:
        return None
    images = [image for image in view.images if image.startswith(address(""))]  # others come with their row
    return {"images": images, "audio": view.audio, "segment": view.segment} if images or view.audio else None


def _empty(standing: Standing, offer: Offer | None) -> dict[str, str]:
    if offer is not None:
        return {"title": offer.title, "message": offer.message}
    if standing.elsewhere:
        return {
            "title": "No question for you right now",
            "message": f"Open rows on other people's screens: {standing.elsewhere:,}. They return after two minutes "
            "without an answer; reload then.",
        }
    if standing.left:
        return {"title": "Nothing left to ask you", "message": _what_waits(standing)}
    return {
        "title": "Nothing left to ask you",
        "message": "Every row has its labels or is excluded. See Progress for the result.",
    }


def _what_waits(standing: Standing) -> str:
    """Return why this person is not asked about what is still open: others must answer it, or they put it off."""
    skipped = standing.put_off if standing.begun else standing.left
    waiting, words = standing.left - skipped, []
    if waiting > 0:
        words.append(f"Waiting for other annotators: {waiting:,}.")
    if skipped:
        words.append(
            f"You skipped or could not tell: {skipped:,}. They stay open, and someone else may know. Use Undo or "
            "History to return to one."
        )
    return " ".join(words)


def _walk(walk: Walk) -> dict[str, object]:
    """Return which of several questions about the row this is; see `Walk` in `card/types.d.ts`."""
    words = f"{walk.place + 1} of {walk.of}: {walk.name}"
    return {"lead": walk.lead, "words": words, "undoAt": walk.undo and walk.undo[0]}


def _button(standing: Standing, offer: Offer | None) -> dict[str, str] | None:
    """Return the button below the empty state, if any: once nothing is left to ask, it opens Export."""
    if offer is not None:
        return {"kind": offer.kind, "text": offer.text}
    if standing.elsewhere or not standing.may_export:
        return None
    return {"kind": "export", "text": "Export the labels"}


def _saved(where: str | None, last: Saved | None, notice: str | None) -> dict[str, object] | None:
    """where : the other question that the entry answered; None: this one"""
    if notice:
        return {"tone": "bad", "message": notice, "seq": last.seq if last else None, "row": None}
    if last is None:
        return None
    message = f"Saved{f' in {where}' if where else ''}: {in_words(last.kind, last.row_id, last.labels, last.rows)}"
    return {"tone": "good", "message": message, "seq": last.seq, "row": last.row}


# Rows that the card shows in a panel on request: examples of classes, a person's last answers.


def show_panel(
    panel: str,
    rows: Sequence[dict[str, object]],
    refused: str | None = None,
    *,
    given: Sequence[dict[str, object]] = (),
) -> None:
    """Send the card these rows at its next redraw. rows : of `question_card.row_in_panel`
    refused : why there are none      given : of `answers.given_before`, for the history"""
    st.session_state[state.PANEL] = {"wanted": panel, "refused": refused, "rows": list(rows), "given": list(given)}
