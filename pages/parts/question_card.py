"""The question card: a Streamlit component that draws the question and sends one press with its token."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from itertools import zip_longest
from pathlib import Path
from typing import Any

import streamlit as st

from pages.parts import state
from workflow.labeling import OpenQuestion
from workflow.standing import Saved, Standing

_HERE = Path(__file__).parent

# Registered once, when this module is imported. The JavaScript puts every text from the table into
# textContent; nothing of a user's ever goes through `html`.
_CARD = st.components.v2.component(
    "winnow_question_card",
    css=(_HERE / "question_card.css").read_text(),
    js=(_HERE / "question_card.js").read_text(),
)

KEYS = "123456789abcdefghijklmnopqrtvwxyz"
"""Keys of the choices in order: the digits, then the letters that are not ``s`` (skip) or ``u`` (undo)."""


def question_card(
    question: OpenQuestion | None, standing: Standing, notice: str | None, on_press: Callable[[], None]
) -> None:
    """Draw the question, or the empty state. ``on_press`` runs before the redraw; read ``pressed()`` there."""
    data: dict[str, Any] = {
        "turn": st.session_state.get(state.TURN, 0),
        "token": question.token if question else None,
        "question": _question(question) if question else None,
        "empty": None if question else _empty(standing),
        "undoable": standing.last is not None,
        "saved": _saved(standing.last, notice),
        "counts": {
            "answered": standing.answered,
            "left": standing.left,
            "settled": f"{standing.settled:.0%}",
        },
    }
    _CARD(key=state.CARD, data=data, on_press_change=on_press)


@dataclass(frozen=True)
class Press:
    """What the browser sent: `kind` is an answer's kind or "undo"; `token` that of the question on screen."""

    kind: str
    labels: tuple[str, ...]
    token: str | None


def pressed() -> Press | None:
    """The press that this run is about. What comes from a browser is checked where it is used."""
    press = (st.session_state.get(state.CARD) or {}).get("press")
    if not press:
        return None
    return Press(str(press["kind"]), tuple(map(str, press["labels"])), press["token"])


def _question(question: OpenQuestion) -> dict[str, Any]:
    n = len(question.choices)  # choices beyond the keys are there for the mouse
    return {
        "choices": [
            {"key": key, "label": label, "probability": round(share, 4)}
            for key, label, share in zip_longest(KEYS[:n], question.choices, question.probabilities)
        ],
        "why": _why(question),
        "view": {
            "id": question.view.row_id,
            "image": question.view.image,
            "text": question.view.text,
            "features": list(question.view.features),
        },
    }


def _why(question: OpenQuestion) -> str:
    if question.undecided == 0:
        return "Every prediction is settled; this row is asked only because its own label is still open."
    if question.decides == 0:
        return (
            f"No single answer can change one of the {question.undecided:,} undecided predictions any more; "
            "this row is asked because its own label is still open."
        )
    return f"Your answer could change {question.decides:,} of {question.undecided:,} undecided predictions."


def _empty(standing: Standing) -> dict[str, str]:
    if standing.elsewhere:
        return {
            "title": "Nothing for you this minute",
            "message": f"The last {standing.elsewhere} open rows are before other people. "
            "They come back here if they stay unanswered for two minutes; reload then.",
        }
    return {
        "title": "Nothing left to ask you",
        "message": "Every row has one label, or was set aside. Look at Progress for the result, "
        "or export the table.",
    }


def _saved(last: Saved | None, notice: str | None) -> dict[str, Any] | None:
    if notice:
        return {"tone": "bad", "message": notice, "seq": last.seq if last else None, "row": None}
    if last is None:
        return None
    words = {
        "is": f"Saved: row {last.row_id} is {', '.join(last.labels)}",
        "skip": f"Saved: row {last.row_id} skipped",
        "withdraw": f"Saved: your answer to row {last.row_id} was withdrawn",
    }
    message = words.get(last.kind, f"Saved: row {last.row_id}, {last.kind}")
    return {"tone": "good", "message": message, "seq": last.seq, "row": last.row}
