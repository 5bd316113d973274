"""Annotate: one question at a time, answered with one key."""

from __future__ import annotations

import contextlib

import streamlit as st

from pages.parts import batch_card, frame, kinds, panel_rows, question_card, state
from pages.parts.day_form import day_form, day_words
from pages.parts.presses import Press, dealing, pressed
from pages.parts.qualifying_card import known_row
from workflow import answering, room, standing, undoing
from workflow.access import NotAllowed, NotFound, Right
from workflow.people import batches, examples, goals, pausing, qualifying
from workflow.saving import DatabaseReplacedError

page = frame.begin_project("Annotate", Right.ANSWER)
frame.toast_from_last_page()
frame.project_title("Annotate", page)
parts = kinds.parts_of(page)
PAUSED = question_card.Offer(
    "Paused",
    "Your question is put away and its clock stands still. Somebody else may have its row meanwhile.",
    "resume",
    "Go on",
)


def on_press() -> None:
    """Store the press before the page is drawn again; whatever happens, the card listens again afterwards."""
    if (token := question_card.similar_wanted()) is not None:
        _find_similar(token)
    if (wanted := panel_rows.panel_wanted()) is not None:
        _fill_panel(wanted)
    press = pressed()
    if press is None:
        return
    st.session_state.pop(state.SIMILAR, None)
    st.session_state.pop(state.PANEL, None)
    with dealing():
        _store(press)


def _find_similar(token: str) -> None:
    try:
        question_card.show_similar(token, answering.similar_rows(page.seat, token))
    except (answering.StaleQuestion, NotAllowed, NotFound, DatabaseReplacedError) as refusal:
        question_card.show_similar(token, (), str(refusal))


def _fill_panel(wanted: str) -> None:
    try:
        if wanted.startswith("examples"):
            rows = [
                question_card.row_in_panel(one.view, (one.label,), note=one.note)
                for one in examples.class_examples(page.seat)
            ]
        else:
            rows = [question_card.row_in_panel(view, seq=seq) for seq, view in standing.last_ten(page.seat)]
        panel_rows.show_panel(wanted, rows)
    except (NotAllowed, NotFound, DatabaseReplacedError) as refusal:
        panel_rows.show_panel(wanted, (), str(refusal))


def _open_on_review(seq: int | None) -> None:
    """The row of one of the last ten answers: the page is left once the press is dealt with."""
    rows = {one: view.row for one, view in standing.last_ten(page.seat)}
    if seq in rows:
        st.session_state[state.REVIEW_ROW] = page.project.id, rows[seq]
        st.session_state[state.LEAVE] = "review_page.py"


def _store(press: Press) -> None:
    if press.kind == "pause":
        pausing.pause(page.seat, press.token)
    elif press.kind == "resume":
        pausing.go_on(page.seat)
    elif press.kind == "open":
        _open_on_review(press.seq)
    elif press.kind == "many":
        st.session_state[state.MANY] = page.project.id
    elif press.kind == "one":
        st.session_state.pop(state.MANY, None)
        batches.leave_batch(page.seat)
    elif press.kind == "confirm":
        saved = batches.confirm_batch(page.seat, press.token, {int(row) for row in press.labels})
        batch_card.say_what_was_left_out(saved)
    elif press.kind == "begin":
        qualifying.begin(page.seat)
    elif press.kind == "next":
        st.session_state.pop(state.JUDGED, None)
    elif press.kind == "qualify":
        judged = qualifying.judge(page.seat, press.token, "".join(press.labels))
        st.session_state[state.JUDGED] = page.project.id, judged
    elif press.kind == "undo":
        undone = undoing.undo(page.seat, seq=press.seq)
        if undone is not None and undone.together:
            st.session_state[state.MANY] = page.project.id
    elif press.kind == "redo":
        undoing.redo(page.seat, seq=press.seq)
    else:
        _answer(press)


def _answer(press: Press) -> None:
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


def _known_row() -> qualifying.Qualifying | qualifying.Judged | None:
    """What came of an answer to a known row, until the person goes on; else where they stand who may not start yet."""
    project, judged = st.session_state.get(state.JUDGED) or (None, None)
    return judged if project == page.project.id else qualifying.now(page.seat)


def _many_at_once() -> question_card.Drawing:
    """Rows to be confirmed together, or why there are none."""
    found = batches.next_batch(page.seat)
    if isinstance(found, batches.NoBatch):
        return parts.question_card(page.project.id, None, batch_card.nothing_together(found))
    return parts.batch_card(page.project.id, found)


@st.fragment
def answer() -> None:
    """The answering loop: a press reruns this part alone, until the owner changes the classes."""
    if (leave := st.session_state.pop(state.LEAVE, None)) is not None:
        st.switch_page(leave)
    try:
        if (known := _known_row()) is not None:
            data = known_row(known, settings.descriptions, st.session_state.get(state.NOTICE))
            parts.qualifying_card(page.project.id, data, on_press)
            return
        day = goals.day(page.seat, st.context.timezone)
        if day.paused:
            draw = parts.question_card(page.project.id, None, PAUSED)
        elif st.session_state.get(state.MANY) == page.project.id:
            draw = _many_at_once()
        else:
            draw = parts.question_card(page.project.id, answering.next_question(page.seat))
        now = standing.standing(page.seat)
        st.session_state[state.ASKED] = page.project.id
        if day.reached and not day.told:
            goals.note_reached(page.seat, day.date)
    except (NotAllowed, NotFound, answering.NotSaved, DatabaseReplacedError) as refusal:
        st.error(frame.escape(str(refusal)), icon=":material/error:")
        return
    if now.classes != st.session_state[state.CLASS_NAMES]:
        st.rerun()
    st.session_state[state.DAY] = day_words(day)
    draw(now, st.session_state.get(state.NOTICE), on_press)
    if day.paused:
        return
    with contextlib.suppress(NotAllowed, NotFound, DatabaseReplacedError):  # the next press will say so
        answering.get_ready(page.seat)


settings = room.room_of(page.seat)
if settings.guidelines:
    with (
        st.container(key=state.GUIDELINES),
        st.expander("Guidelines", icon=":material/menu_book:"),
    ):
        st.markdown(settings.guidelines)  # HTML in it is shown as text
st.session_state[state.EXAMPLES] = bool(examples.class_examples(page.seat))
names = st.session_state[state.CLASS_NAMES] = room.class_names(page.seat)
answer()
# Outside the answering loop: a thousand names need not come again with every question.
parts.class_list(page.project.id, names, settings.descriptions, room.groups_of(page.seat))
day_form(page, goals.day(page.seat, st.context.timezone))
