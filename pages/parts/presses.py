"""A press of the card: what the browser sent, dealt with before the page is drawn again."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass

import streamlit as st

from pages.parts import state
from workflow.access import NotAllowed, NotFound
from workflow.answering import AnswerError, NotSaved, StaleQuestion


@dataclass(frozen=True)
class Press:
    """What the browser sent: `kind` is an answer's kind, "undo", "redo" or one of `OtherPress` in `card/types.d.ts`.

    token : of the question on the screen      shown : stamp of its labels there
    seq : of the answer that undo, redo or open is about; else None
    """

    kind: str
    labels: tuple[str, ...]
    token: str
    shown: str | None
    seq: int | None
    note: str
    flagged: bool


def pressed() -> Press | None:
    """The press that made the page run; None where there is none. What it holds is checked where it is used."""
    press = (st.session_state.get(state.CARD) or {}).get("press")
    if not press:
        return None
    seq, shown = press["seq"], press["shown"]
    return Press(
        kind=str(press["kind"]),
        labels=tuple(map(str, press["labels"])),
        token=str(press["token"]),
        shown=None if shown is None else str(shown),
        seq=None if seq is None else int(seq),
        note=str(press["note"] or ""),
        flagged=press["flagged"] is True,
    )


@contextmanager
def dealing() -> Iterator[None]:
    """Whatever happens inside, the card listens again afterwards; a refusal is the notice of the next drawing."""
    st.session_state[state.TURN] = st.session_state.get(state.TURN, 0) + 1
    st.session_state.pop(state.NOTICE, None)
    try:
        yield
    except (StaleQuestion, AnswerError) as refusal:
        st.session_state[state.NOTICE] = f"Not saved: {refusal}"
    except (NotAllowed, NotFound, NotSaved) as refusal:
        st.session_state[state.NOTICE] = str(refusal)
