"""A press of the card, dealt with before the page is drawn again."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager

import streamlit as st

from pages.parts import frame, state
from workflow.access import NotAllowed, NotFound
from workflow.answering.loop import AnswerError, NotSaved, StaleQuestion
from workflow.answering.press import TOO_MANY, wanted_of
from workflow.answering.press import Press as Press
from workflow.saving import STORE_FAULTS
from workflow.seat import Seat


def was_pressed() -> bool:
    """Whether a press made the page run."""
    return _sent("press") is not None


def read_press(seat: Seat) -> Press:
    """The press that made the page run. Raises AnswerError where it is none, or comes sooner than hands could press."""
    if not seat.home.attempts.may_press(seat.person_id):
        raise AnswerError(TOO_MANY)
    return Press.read(_sent("press"))


def wanted(trigger: str, part: str) -> str | None:
    """Further content that the card requests; None if it wants nothing."""
    return wanted_of(_sent(trigger), part)


@contextmanager
def dealing() -> Iterator[None]:
    """Make the card listen again, even after an error; a refusal is the notice of the next drawing."""
    st.session_state[state.TURN] = st.session_state.get(state.TURN, 0) + 1
    st.session_state.pop(state.NOTICE, None)
    try:
        yield
    except (StaleQuestion, AnswerError) as refusal:
        say(f"Not saved: {refusal}")
    except (NotAllowed, NotFound, NotSaved, *STORE_FAULTS) as refusal:
        say(frame.words_of(refusal))


def say(words: str) -> None:
    """At the drawings from now on, until a press is dealt with."""
    st.session_state[state.NOTICE] = words, None


def notice(seq: int | None = None) -> str | None:
    """Message shown instead of "saved".

    seq : of the person's latest entry; once there is a later one, of a press that no page has heard of
        (`web.presses`), what was said before it is over. None: all presses of this card come by the page
    """
    words, since = st.session_state.get(state.NOTICE) or (None, None)
    if words is None or seq is None:
        return words
    if since is not None and seq > since:
        del st.session_state[state.NOTICE]
        return None
    st.session_state[state.NOTICE] = words, seq if since is None else since
    return str(words)


def _sent(trigger: str) -> object:
    return (st.session_state.get(state.CARD) or {}).get(trigger)
