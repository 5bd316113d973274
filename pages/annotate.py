"""Annotate: one question at a time, answered with one key."""

from __future__ import annotations

import streamlit as st

from pages.parts import frame, question_card, state
from workflow import labeling, standing
from workflow.access import NotAllowed, NotFound

page = frame.begin_project("Annotate")
frame.toast_from_last_page()
frame.project_title("Annotate", page)


def on_press() -> None:
    """Store the press before the page is drawn again; whatever happens, the card listens again afterwards."""
    press = question_card.pressed()
    if press is None:
        return
    st.session_state[state.TURN] = st.session_state.get(state.TURN, 0) + 1
    st.session_state.pop(state.NOTICE, None)
    try:
        _store(press)
    except (labeling.StaleQuestion, labeling.AnswerError) as refusal:
        st.session_state[state.NOTICE] = f"Not saved: {refusal}"
    except (NotAllowed, NotFound, labeling.NotSaved) as refusal:
        st.session_state[state.NOTICE] = str(refusal)


def _store(press: question_card.Press) -> None:
    ids = (page.home, page.person.id, page.project.id)
    if press.kind == "undo":
        labeling.undo(*ids, seq=press.seq)
    else:
        saved = labeling.submit_answer(*ids, press.token or "", press.kind, press.labels)
        if saved.repeated:
            what = ", ".join(saved.labels) or saved.kind
            st.session_state[state.NOTICE] = (
                f"Not saved: row {saved.row_id} had been answered already ({what}), in another tab perhaps."
            )


@st.fragment
def room() -> None:
    """The answering loop: a press reruns this part alone."""
    try:
        question = labeling.next_question(page.home, page.person.id, page.project.id)
        now = standing.standing(page.home, page.person.id, page.project.id)
    except (NotAllowed, NotFound, labeling.NotSaved) as refusal:
        st.error(str(refusal), icon=":material/error:")
        return
    question_card.question_card(question, now, st.session_state.get(state.NOTICE), on_press)


room()
