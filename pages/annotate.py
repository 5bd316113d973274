"""Annotate: one question at a time, answered with one key."""

from __future__ import annotations

import contextlib

import streamlit as st

from pages.parts import frame, kinds, question_card, state
from workflow import answering, room, standing, undoing
from workflow.access import NotAllowed, NotFound, Right
from workflow.saving import DatabaseReplacedError

page = frame.begin_project("Annotate", Right.ANSWER)
frame.toast_from_last_page()
frame.project_title("Annotate", page)
parts = kinds.parts_of(page)


def on_press() -> None:
    """Store the press before the page is drawn again; whatever happens, the card listens again afterwards."""
    if (token := question_card.similar_wanted()) is not None:
        _find_similar(token)
    press = question_card.pressed()
    if press is None:
        return
    st.session_state[state.TURN] = st.session_state.get(state.TURN, 0) + 1
    st.session_state.pop(state.NOTICE, None)
    st.session_state.pop(state.SIMILAR, None)
    try:
        _store(press)
    except (answering.StaleQuestion, answering.AnswerError) as refusal:
        st.session_state[state.NOTICE] = f"Not saved: {refusal}"
    except (NotAllowed, NotFound, answering.NotSaved) as refusal:
        st.session_state[state.NOTICE] = str(refusal)


def _find_similar(token: str) -> None:
    try:
        question_card.show_similar(token, answering.similar_rows(page.seat, token))
    except (answering.StaleQuestion, NotAllowed, NotFound, DatabaseReplacedError) as refusal:
        question_card.show_similar(token, (), str(refusal))


def _store(press: question_card.Press) -> None:
    if press.kind == "undo":
        undoing.undo(page.seat, seq=press.seq)
    elif press.kind == "redo":
        undoing.redo(page.seat, seq=press.seq)
    else:
        saved = answering.submit_answer(
            page.seat,
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


@st.fragment
def answer() -> None:
    """The answering loop: a press reruns this part alone, until the owner changes the classes."""
    try:
        draw = parts.question_card(page.project.id, answering.next_question(page.seat))
        now = standing.standing(page.seat)
        st.session_state[state.ASKED] = page.project.id
    except (NotAllowed, NotFound, answering.NotSaved, DatabaseReplacedError) as refusal:
        st.error(frame.escape(str(refusal)), icon=":material/error:")
        return
    if now.classes != st.session_state[state.CLASS_NAMES]:
        st.rerun()
    draw(now, st.session_state.get(state.NOTICE), on_press)
    with contextlib.suppress(NotAllowed, NotFound, DatabaseReplacedError):  # the next press will say so
        answering.get_ready(page.seat)


settings = room.room_of(page.seat)
if settings.guidelines:
    with (
        st.container(key=state.GUIDELINES),
        st.expander("Guidelines", icon=":material/menu_book:"),
    ):
        st.markdown(settings.guidelines)  # HTML in it is shown as text
names = st.session_state[state.CLASS_NAMES] = room.class_names(page.seat)
answer()
# Outside the answering loop: a thousand names need not come again with every question.
parts.class_list(page.project.id, names, settings.descriptions, room.groups_of(page.seat))
