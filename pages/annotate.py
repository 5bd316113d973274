"""Annotate: one question at a time, answered with one key."""

from __future__ import annotations

import contextlib
from collections.abc import Callable
from functools import partial

import streamlit as st

from pages.parts import frame, question_card, state, vector_card
from workflow import labeling, room, standing, vectors
from workflow.access import NotAllowed, NotFound

page = frame.begin_project("Annotate")
frame.toast_from_last_page()
frame.project_title("Annotate", page)
IDS = (page.home, page.person.id, page.project.id)


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
    if press.kind == "undo":
        labeling.undo(*IDS, seq=press.seq)
    elif press.kind == "redo":
        labeling.redo(*IDS, seq=press.seq)
    else:
        submit_answer = vectors.submit_answer if page.project.vectors else labeling.submit_answer
        saved = submit_answer(
            *IDS,
            press.token,
            press.kind,
            press.labels,
            note=press.note,
            flagged=press.flagged,
            shown=press.shown,
        )
        if saved.repeated:
            what = ", ".join(saved.labels) or saved.kind
            st.session_state[state.NOTICE] = (
                f"Not saved: row {saved.row_id} had been answered already ({what}), in another tab perhaps."
            )


Drawing = Callable[[standing.Standing, str | None, Callable[[], None]], None]


def candidate_part() -> Drawing:
    return partial(question_card.question_card, page.project.id, labeling.next_question(*IDS))


def vector_part() -> Drawing:
    return partial(vector_card.vector_card, page.project.id, vectors.next_question(*IDS))


@st.fragment
def answering() -> None:
    """The answering loop: a press reruns this part alone, until the owner changes the classes."""
    try:
        draw = vector_part() if page.project.vectors else candidate_part()
        now = standing.standing(*IDS)
    except (NotAllowed, NotFound, labeling.NotSaved) as refusal:
        st.error(frame.escape(str(refusal)), icon=":material/error:")
        return
    if not page.project.vectors and now.classes != st.session_state[state.CLASS_NAMES]:
        st.rerun()
    draw(now, st.session_state.get(state.NOTICE), on_press)
    if not page.project.vectors:
        with contextlib.suppress(NotAllowed, NotFound):  # the next press will say so
            labeling.get_ready(*IDS)


settings = room.room_of(*IDS)
if settings.guidelines:
    with (
        st.container(key=state.GUIDELINES),
        st.expander("Guidelines", icon=":material/menu_book:"),
    ):
        st.markdown(settings.guidelines)  # HTML in it is shown as text
if page.project.vectors:
    answering()
else:
    names = st.session_state[state.CLASS_NAMES] = room.class_names(*IDS)
    answering()
    # Outside the answering loop: a thousand names need not come again with every question.
    question_card.class_list(page.project.id, names, settings.descriptions)
