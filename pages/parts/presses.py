"""Clicks and key presses of the card, handled before the page is redrawn."""

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
    """Return whether a click on the card caused this run."""
    return _sent("press") is not None


def read_press(seat: Seat) -> Press:
    """Return the press that caused this run. Raises AnswerError if there is none, or it comes too fast for a
    person."""
    if not seat.home.attempts.may_press(seat.person_id):
        raise AnswerError(TOO_MANY)
    return Press.read(_sent("press"))


def wanted(trigger: str, part: str) -> str | None:
    """Return further content that the card requests; None if nothing."""
    return wanted_of(_sent(trigger), part)


@contextmanager
def dealing() -> Iterator[None]:
    """Make the card accept input again, even after an error; a refusal becomes the notice of the next
    redraw."""
    st.session_state[state.TURN] = st.session_state.get(state.TURN, 0) + 1
    st.session_state.pop(state.NOTICE, None)
    try:
        yield
    except (StaleQuestion, AnswerError) as refusal:
        say(f"Not saved: {refusal}")
    except (NotAllowed, NotFound, NotSaved, *STORE_FAULTS) as refusal:
        say(frame.words_of(refusal))


def say(words: str) -> None:
    """Show these words at each redraw, until a press is handled."""
    st.session_state[state.NOTICE] = words, None


def notice(seq: int | None = None) -> str | None:
    """Return the message shown instead of "saved".

    seq : of the person's latest entry. An answer by the direct route (`web.presses`) makes it later than the
    message, which is then out of date. None: all presses of this card go through the page
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
