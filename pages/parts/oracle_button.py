"""A dry run: Winnow answers for the owner with the truth that the table hides, so that they see it at work.

It answers a few questions once the page is drawn, and has it drawn again: figures and curves move while it plays.
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


def offer(page: frame.ProjectPage) -> None:
    """The button, where the project hides true labels and the person is an owner, and a bar while it answers; else
    nothing."""
    key = f"{state.PLAY}-{page.project.id}"
    # Streamlit forgets a widget that the last page did not draw: whoever has left meanwhile finds it at rest.
    if key not in st.session_state:
        st.session_state.pop(state.PLAYED, None)
    if not oracle.can_answer(page.seat):
        return
    played = st.session_state.get(state.PLAYED)
    with st.container():  # what stands below keeps its place
        st.button(
            f"Answer {ANSWERS} for me",
            icon=":material/smart_toy:",
            key=key,
            disabled=played is not None,
            on_click=_begin,
        )
        if played is not None:
            st.progress(played / ANSWERS, text=f"{played} of {ANSWERS} answered")
        else:
            st.caption(
                "A dry run: this table hides its true labels, and Winnow answers the next questions with them. In the "
                "log these answers carry the note 'simulated'. Take them back on Answer."
            )


def _begin() -> None:
    st.session_state[state.PLAYED] = 0


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
