"""The question card: a Streamlit component that draws the question and sends one press with its token."""

from __future__ import annotations

import uuid
from collections.abc import Callable
from dataclasses import dataclass
from itertools import zip_longest
from pathlib import Path
from typing import Any

import streamlit as st

from pages.parts import state
from workflow.labeling import OpenQuestion
from workflow.standing import Saved, Standing
from workflow.strategies import reason

_HERE = Path(__file__).parent

# Registered once, when this module is imported. The JavaScript puts every text from the table into
# textContent; nothing of a user's ever goes through `html`.
_CARD = st.components.v2.component(
    "winnow_question_card",
    css=(_HERE / "question_card.css").read_text(),
    js=(_HERE / "question_card.js").read_text(),
)

DONE = (
    "No answer can change a decision any more: every prediction is settled. You may stop here; "
    "further answers only make single rows exact."
)
KEYS = "123456789abcdefghijklmnopqrtvwxyz"
"""Keys of the choices in order: the digits, then the letters that are not ``s`` (skip) or ``u`` (undo)."""


def question_card(
    question: OpenQuestion | None, standing: Standing, notice: str | None, on_press: Callable[[], None]
) -> None:
    """Draw the question, or the empty state. ``on_press`` runs before the redraw; read ``pressed()`` there."""
    data: dict[str, Any] = {
        "tab": st.session_state.setdefault(state.TAB, uuid.uuid4().hex),
        "turn": st.session_state.get(state.TURN, 0),
        "token": question.token if question else None,
        "question": _question(question) if question else None,
        "empty": None if question else _empty(standing),
        "undoable": standing.undoable,
        "saved": _saved(standing.last, notice),
        "done": DONE if standing.done and question else None,
        "counts": {
            "answered": standing.answered,
            "left": standing.left,
            "settled": f"{standing.settled:.0%}",
        },
    }
    _CARD(key=state.CARD, data=data, on_press_change=on_press)


@dataclass(frozen=True)
class Press:
    """What the browser sent: `kind` is an answer's kind or "undo".

    token : of the question on screen      seq : of the entry that undo is to take back
    """

    kind: str
    labels: tuple[str, ...]
    token: str | None
    seq: int | None


def pressed() -> Press | None:
    """The press that this run is about. What comes from a browser is checked where it is used."""
    press = (st.session_state.get(state.CARD) or {}).get("press")
    if not press:
        return None
    seq = press["seq"]
    return Press(
        kind=str(press["kind"]),
        labels=tuple(map(str, press["labels"])),
        token=str(press["token"]),
        seq=None if seq is None else int(seq),
    )


def _question(question: OpenQuestion) -> dict[str, Any]:
    n = len(question.choices)  # choices beyond the keys are there for the mouse
    return {
        "choices": [
            {"key": key, "label": label, "probability": round(share, 4)}
            for key, label, share in zip_longest(KEYS[:n], question.choices, question.probabilities)
        ],
        "why": reason(question.strategy, question.decides, question.undecided),
        "view": {
            "id": question.view.row_id,
            "image": question.view.image,
            "text": question.view.text,
            "features": list(question.view.features),
        },
    }


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
