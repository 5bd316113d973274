"""The question card: a Streamlit component that draws the question and sends one press with its token."""

from __future__ import annotations

import uuid
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

import streamlit as st
from streamlit.components.v2.types import ComponentRenderer

from pages.parts import state
from pages.parts.components import component
from pages.parts.words import shortened
from workflow.answering import SimilarRow
from workflow.common.files import PATH
from workflow.common.rows import RowView
from workflow.common.thumbnails import small_address
from workflow.standing import OwnAnswer, Saved, Standing


def card_of(kind: str) -> ComponentRenderer:
    """Register a kind's card: its folder's `card.js` and `card.css` with what all cards share.

    The JavaScript puts every text from the table into textContent; nothing of a user's ever goes through `html`.
    """
    return component(
        f"winnow_{kind}_card",
        f"{kind}/card.js",
        ("card/card.css", "card/reading.css", "card/panels.css", "card/sound.css", f"{kind}/card.css"),
    )


_KEYS = "123456789abdeijklnoqrv"
_SOUND_KEYS = "lr"

EXCERPT = 400
"""Characters of a similar row's text that are shown."""

NAMED = 6
"""Labels that are named where an answer is put into words; of the rest their number is given."""


def keys_of(view: RowView) -> str:
    """Keys of the candidates in order: the digits, then the letters that are no command. Where rows have recordings,
    their players have some of them (see `card/sound.js`): on every row, lest a key that plays here answers there."""
    return "".join(key for key in _KEYS if not view.heard or key not in _SOUND_KEYS)


Drawing = Callable[[Standing, str | None, Callable[[], None]], None]
"""Draws a card, given how the project stands, what to say, and what to call for a press before the redraw."""


@dataclass(frozen=True)
class Offer:
    """What stands in the place of a question, and the one thing that can be pressed there.

    kind : of the press      text : on its button
    """

    title: str
    message: str
    kind: str
    text: str


@dataclass(frozen=True)
class Heading:
    """What stands over the question.

    share : how far the work is, in words      about : what that share means      of : what the bar counts
    done : why asking may stop; None where it should go on
    """

    share: str
    about: str
    of: str
    done: str | None


def draw_card(
    card: ComponentRenderer,
    project_id: int,
    room: str,
    token: str | None,
    question: dict[str, Any] | None,
    standing: Standing,
    heading: Heading,
    notice: str | None,
    on_press: Callable[[], None],
    offer: Offer | None = None,
) -> None:
    """Draw a kind's card with this question. room : the way to answer it, one of those in the kind's `card.js`

    token, question : of the question, None where nothing is left to ask      notice : said instead of what was saved
    on_press : called for a press, before the page is drawn anew
    offer : what stands there where nobody is asked for now
    """
    data = bare(room) | {
        "project": project_id,
        "token": token,
        "question": question,
        "empty": None if question else _empty(standing, offer),
        "offer": {"kind": offer.kind, "text": offer.text} if offer else None,
        "undoable": standing.undoable,
        "redoable": standing.redoable,
        "history": [_given(one) for one in standing.history],
        "saved": _saved(standing.last, notice),
        "similar": st.session_state.get(state.SIMILAR),
        "panel": st.session_state.get(state.PANEL),
        "examples": bool(st.session_state.get(state.EXAMPLES)),
        "day": st.session_state.get(state.DAY),
        "done": heading.done if question else None,
        "counts": {
            "answered": standing.answered,
            "left": standing.left,
            "share": heading.share,
            "about": heading.about,
            "of": heading.of,
        },
    }
    send(card, data, on_press)


def bare(room: str) -> dict[str, Any]:
    """What the card is given for a room, with nothing in it; see `Data` in `card/types.d.ts`."""
    return {
        "room": room,
        "tab": st.session_state.setdefault(state.TAB, uuid.uuid4().hex),
        "turn": st.session_state.get(state.TURN, 0),
        "undoable": None,
        "redoable": None,
        "history": [],
        "similar": None,
        "panel": None,
        "examples": False,
        "day": None,
        "done": None,
    }


def send(card: ComponentRenderer, data: dict[str, Any], on_press: Callable[[], None]) -> None:
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
    """Why a person may stop, if they may. done : the sentence that no answer can change anything any more"""
    if standing.done:
        return done
    return (
        f"{standing.stop} By the owner's rule this is enough; go on only if it is wanted."
        if standing.stop
        else None
    )


def similar_wanted() -> str | None:
    """The token of the question beside which the browser wants the most similar answered rows; None where it does
    not."""
    wanted = (st.session_state.get(state.CARD) or {}).get("similar")
    return str(wanted["token"]) if wanted else None


def row_in_panel(
    view: RowView, labels: Sequence[str] = (), *, note: str = "", seq: int | None = None
) -> dict[str, Any]:
    """A row as the card's panels list it."""
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
    """Give the card these rows at its next drawing. refused : why there are none"""
    st.session_state[state.SIMILAR] = {
        "token": token,
        "refused": refused,
        "rows": [row_in_panel(one.view, one.labels) for one in rows],
    }


def view_of(view: RowView) -> dict[str, Any]:
    """The row as the card draws it."""
    return {
        "id": view.row_id,
        "images": list(view.images),
        "audio": view.audio,
        "segment": view.segment,
        "text": view.text,
        "features": list(view.features),
        "caption": list(view.caption),
    }


def coming_of(view: RowView | None) -> dict[str, Any] | None:
    """What a browser can fetch of the row that is likely to be asked next; None where it has no files."""
    if view is None:
        return None
    images = [image for image in view.images if image.startswith(PATH)]  # others come with their row
    return {"images": images, "audio": view.audio, "segment": view.segment} if images or view.audio else None


def _empty(standing: Standing, offer: Offer | None) -> dict[str, str]:
    if offer is not None:
        return {"title": offer.title, "message": offer.message}
    if standing.elsewhere:
        return {
            "title": "Nothing for you this minute",
            "message": f"The last {standing.elsewhere} open rows are before other people. "
            "They come back here if they stay unanswered for two minutes; reload then.",
        }
    if standing.left:
        return {
            "title": "Nothing left to ask you",
            "message": f"{standing.left:,} stay open that you could not tell or skipped; somebody else may know. "
            "Undo, or History, brings one back.",
        }
    return {
        "title": "Nothing left to ask you",
        "message": "Every row has its labels, or was set aside. Look at Progress for the result, "
        "or export the table.",
    }


def _saved(last: Saved | None, notice: str | None) -> dict[str, Any] | None:
    if notice:
        return {"tone": "bad", "message": notice, "seq": last.seq if last else None, "row": None}
    if last is None:
        return None
    message = f"Saved: {_words(last.kind, last.row_id, last.labels, last.rows)}"
    return {"tone": "good", "message": message, "seq": last.seq, "row": last.row}


def _given(one: OwnAnswer) -> dict[str, Any]:
    return {
        "seq": one.seq,
        "words": _words(one.kind, one.row_id, one.labels, one.rows),
        "withdrawn": one.withdrawal is not None,
        "redoable": one.redoable,
        "note": one.note,
        "flagged": one.flagged,
    }


def _words(kind: str, row_id: str, labels: Sequence[str], rows: int) -> str:
    named = ", ".join(labels[:NAMED])
    if len(labels) > NAMED:
        named += f" and {len(labels) - NAMED:,} more"
    if rows > 1:  # a batch, or what took one back
        together = {
            "is": f"{rows} rows are {named}",
            "withdraw": f"your answers to {rows} rows were withdrawn",
        }
        return together.get(kind, f"{rows} rows are answered")
    about = f"row {row_id}, {named}" if labels else f"row {row_id}"
    return {
        "is": f"row {row_id} is {named}",
        "among": f"row {row_id} is one of {named}",
        "not": f"row {row_id} is not {named}",
        "none": f"row {row_id} is none of its candidates",
        "yes": f"row {row_id} has {named}",
        "no": f"row {row_id} does not have {named}",
        "unsure": f"{about}, you cannot tell",
        "bad": f"row {row_id} set aside as a bad item",
        "skip": f"{about} skipped",
        "withdraw": f"your answer to row {row_id} was withdrawn",
        "right": f"row {row_id} has {named}, by your verdict",
        "wrong": f"row {row_id} does not have {named}, by your verdict",
        "verdict": f"row {row_id} {f'is {named}' if labels else 'is a bad item'}, by your verdict",
    }.get(kind, f"row {row_id}, {kind}")
