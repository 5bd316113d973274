"""A dry run: Winnow answers for the owner with the truth that the table hides, so that they see it at work.

It asks before it begins, answers a few questions once the page is drawn, and has it drawn again: figures and curves
move while it plays, until it is done, or stopped.
"""

from __future__ import annotations

import time

import streamlit as st

from pages.parts import frame, state
from pages.parts.words import counted
from workflow import answering, oracle
from workflow.access import NotAllowed, NotFound

ANSWERS = 50
AT_ONCE = 5
"""Answers between two drawings of the page."""
PAUSE = 0.5
"""Seconds after each drawing, so that a browser keeps up and a person sees it."""


def watch(page: frame.ProjectPage) -> None:
    """While it answers, how far it is and the way to stop it: above all that moves, so that it stays under the hand."""
    begin, stop = _keys(page)
    # Streamlit forgets widgets that the last page did not draw: whoever has left meanwhile finds it at rest.
    if begin not in st.session_state and stop not in st.session_state:
        st.session_state.pop(state.PLAYED, None)
    played = st.session_state.get(state.PLAYED)
    with st.container(horizontal=True, vertical_alignment="center"):  # what stands below keeps its place
        if played is not None:
            st.progress(played / ANSWERS, text=f"Dry run: {played} of {ANSWERS} answered")
            st.button("Stop", icon=":material/stop:", key=stop, on_click=_stop)


def offer(page: frame.ProjectPage) -> None:
    """The question whether to begin, where the project hides true labels and the person is an owner; else nothing."""
    if st.session_state.get(state.PLAYED) is None and oracle.can_answer(page.seat):
        _question(_keys(page)[0])


def _keys(page: frame.ProjectPage) -> tuple[str, str]:
    """Of the buttons that begin it and stop it."""
    return f"{state.PLAY}-{page.project.id}", f"{state.STOP_PLAY}-{page.project.id}"


def _question(begin: str) -> None:
    with st.popover(f"Dry run: let the hidden labels answer {ANSWERS}", icon=":material/smart_toy:"):
        st.markdown(
            "A dry run: this table hides its true labels, and Winnow answers the next questions with them, so that you "
            "see how fast it learns. In the log these answers carry the note *simulated*. Take them back on Answer."
        )
        st.button(f"Let them answer {ANSWERS}", key=begin, type="primary", on_click=_begin)


def _begin() -> None:
    st.session_state[state.PLAYED] = 0


def _stop() -> None:
    _end(
        f"Stopped: {counted(st.session_state.get(state.PLAYED, 0), 'question')} answered with the hidden truth"
    )


def play(page: frame.ProjectPage) -> None:
    """While it answers: give the next few answers and have the page drawn again. Call it when everything is drawn."""
    played = st.session_state.get(state.PLAYED)
    if played is None:
        return
    time.sleep(PAUSE)
    # Counted before: a press on the page may end this run at any moment, but no answer is given twice for it.
    st.session_state[state.PLAYED] = played + AT_ONCE
    try:
        given = oracle.answer_for_me(page.seat, AT_ONCE)
    except (oracle.NoTruth, answering.StaleQuestion, answering.NotSaved, NotAllowed, NotFound) as refusal:
        _end(f"Stopped: {refusal}")
    else:
        if given < AT_ONCE or played + given >= ANSWERS:
            _end(f"{counted(played + given, 'question')} answered with the hidden truth")
    st.rerun()


def _end(words: str) -> None:
    st.session_state.pop(state.PLAYED, None)
    st.session_state[state.FLASH] = words
