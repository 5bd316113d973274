"""Disputes: rows that annotators disagree on, worst first, each resolved by a reviewer's verdict."""

from __future__ import annotations

import streamlit as st

from pages.parts import frame, kinds, state
from pages.parts.answers import said
from pages.parts.other_cards import dispute_data
from pages.parts.presses import Press, dealing, notice, read_press, was_pressed
from workflow.access import NotAllowed, NotFound, Right
from workflow.answering import loop, room, undoing
from workflow.people import disputes
from workflow.saving import STORE_FAULTS

page = frame.begin_project("Disputes", Right.REVIEW)
frame.toast_from_last_page()
frame.project_title("Disputes", page)
parts = kinds.parts_of(page)
VERDICTS = ("settle", "is", "among", "none")
"""Answers that a reviewer gives by key or from the search."""


def on_press() -> None:
    """Handle the click before the page is redrawn; afterwards the card always accepts input again."""
    if was_pressed():
        with dealing():
            _do(read_press(page.seat))


def _do(press: Press) -> None:
    if press.kind == "look":
        if press.seq is not None and disputes.open_dispute(page.seat, press.seq) is not None:
            st.session_state[state.DISPUTE] = page.project.id, press.seq
    elif press.kind == "undo":
        undone = undoing.undo(page.seat, seq=press.seq)
        st.session_state.pop(state.VERDICT, None)
        if undone is not None:
            st.session_state[state.DISPUTE] = page.project.id, undone.row
            st.session_state[state.SETTLED] = f"The verdict on row {undone.row_id} was withdrawn"
    elif (row := _looked_at()) is None:
        raise loop.StaleQuestion("You have no open dispute on screen.")
    elif press.kind == "discuss":
        disputes.discuss(page.seat, row, press.note)
        st.session_state[state.SETTLED] = "Your note is saved"
    elif press.kind not in VERDICTS:
        raise loop.AnswerError(f"On this page you give verdicts. Got {press.kind!r}. Fix: load the page again.")
    else:
        saved = disputes.settle(page.seat, row, press.token, press.labels, press.note)
        st.session_state[state.VERDICT] = page.project.id, saved.seq
        st.session_state[state.SETTLED] = f"Saved: row {saved.row_id}, {said(saved.kind, saved.labels)}"
        st.session_state.pop(state.DISPUTE, None)


def _looked_at() -> int | None:
    project, row = st.session_state.get(state.DISPUTE) or (None, None)
    return row if project == page.project.id else None


def link(file: str, words: str, icon: str, **more: str) -> None:
    st.page_link(file, label=words, icon=icon, query_params=page.here | more)


@st.fragment
def settling() -> None:
    """Draw one dispute after another; a verdict reruns only this fragment."""
    try:
        found = disputes.list_disputes(page.seat)
        row = _looked_at()
        opened = None if row is None else disputes.open_dispute(page.seat, row)
        if opened is None and found.lines:
            opened = disputes.open_dispute(page.seat, found.lines[0].row)
    except (NotAllowed, NotFound, *STORE_FAULTS) as refusal:
        st.error(frame.escape(frame.words_of(refusal)), icon=":material/error:")
        return
    st.session_state[state.DISPUTE] = None if opened is None else (page.project.id, opened.view.row)
    project, seq = st.session_state.get(state.VERDICT) or (None, None)
    parts.other_card(
        page.project.id,
        dispute_data(
            found,
            opened,
            room.room_of(page.seat).descriptions,
            zone=st.context.timezone,
            notice=notice(),
            saved=st.session_state.pop(state.SETTLED, None),
            undoable=seq if project == page.project.id else None,
        ),
        on_press,
    )
    if not found.several and page.project.may(Right.OWN):
        link("project_page.py", "Project settings", ":material/settings:", section="Team")


if not disputes.list_disputes(page.seat).by_row:
    st.info(
        "Disputes are listed only if each row has one right label. In this project, *Team* shows the inter-annotator "
        "agreement on each label. *Review* shows all answers to a row; a correction there resolves its labels.",
        icon=":material/info:",
    )
    link("team_page.py", "Team", ":material/groups:")
    link("review_page.py", "Review", ":material/rule:")
    st.stop()
settling()
parts.class_list(
    page.project.id, room.class_names(page.seat), room.room_of(page.seat).descriptions, room.groups_of(page.seat)
)
