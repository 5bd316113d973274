"""A dry run: Winnow answers for the owner with the truth that the table hides, so that they see it at work."""

from __future__ import annotations

import streamlit as st

from pages.parts import frame, state
from workflow import labeling, oracle
from workflow.access import NotAllowed, NotFound

ANSWERS = 50


def offer(page: frame.ProjectPage) -> None:
    """The button, where the project has hidden truth and the person is an owner; nothing otherwise."""
    if not oracle.can_answer(page.home, page.person.id, page.project.id):
        return
    pressed = st.button(
        f"Answer {ANSWERS} for me",
        icon=":material/smart_toy:",
        help="A dry run: this table hides its true labels, and Winnow answers the next questions with them. In the log "
        "these answers carry the note 'simulated'. Take them back on Annotate.",
    )
    if not pressed:
        return
    bar = st.progress(0.0, text="Answering …")

    def step(done: int) -> None:
        bar.progress(done / ANSWERS, text=f"{done} of {ANSWERS} answered")

    try:
        done = oracle.answer_for_me(page.home, page.person.id, page.project.id, ANSWERS, step)
    except (oracle.NoTruth, labeling.StaleQuestion, labeling.NotSaved, NotAllowed, NotFound) as refusal:
        st.session_state[state.FLASH] = f"Stopped: {refusal}"
    else:
        st.session_state[state.FLASH] = f"{done} questions answered with the hidden truth"
    st.rerun()
