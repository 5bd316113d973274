"""Answer: one question at a time, answered with one key."""

from __future__ import annotations

import contextlib

import streamlit as st

from pages.parts import after_press, answers, frame, kinds, other_cards, question_card, state
from pages.parts.account_parts import day_form, day_words
from pages.parts.other_cards import known_row
from pages.parts.presses import Press, dealing, notice, read_press, say, wanted, was_pressed
from pages.parts.rows import row_table
from pages.parts.tour import QUESTIONS, tour
from workflow.access import NotAllowed, NotFound, Right
from workflow.answering import batches, loop, room, undoing, walking
from workflow.answering import press as pressing
from workflow.people import examples, goals, qualification
from workflow.projects import standing
from workflow.saving import STORE_FAULTS

page = frame.begin_project("Answer", Right.ANSWER)
lead = frame.number_of(st.query_params.get(state.WALK))  # the first of several projects that ask about the same rows
frame.toast_from_last_page()
frame.project_title("Answer", page)
tour(page, QUESTIONS)
parts = kinds.parts_of(page)


def on_press() -> None:
    """Store the answer before the page is redrawn; afterwards the card always accepts input again."""
    if (token := wanted("similar", "token")) is not None:
        _find_similar(token)
    if (panel := wanted("panel", "wanted")) is not None:
        _fill_panel(panel)
    if not was_pressed():
        return
    st.session_state.pop(state.SIMILAR, None)
    st.session_state.pop(state.PANEL, None)
    with dealing():
        _store(read_press(page.seat))


def _find_similar(token: str) -> None:
    try:
        question_card.show_similar(token, loop.similar_rows(page.seat, token))
    except (loop.StaleQuestion, NotAllowed, NotFound, *STORE_FAULTS) as refusal:
        question_card.show_similar(token, (), frame.words_of(refusal))


def _fill_panel(wanted: str) -> None:
    try:
        if wanted.startswith("examples"):
            rows = [
                question_card.row_in_panel(one.view, (one.label,), note=one.note)
                for one in examples.class_examples(page.seat)
            ]
            question_card.show_panel(wanted, rows)
        else:
            rows = [question_card.row_in_panel(view, seq=seq) for seq, view in standing.last_ten(page.seat)]
            given = [answers.given_before(one) for one in standing.standing(page.seat).history]
            question_card.show_panel(wanted, rows, given=given)
    except (NotAllowed, NotFound, *STORE_FAULTS) as refusal:
        question_card.show_panel(wanted, (), frame.words_of(refusal))


def _open_on_review(seq: int | None) -> None:
    """Open a row of the answer history on Review, after the current click has been handled."""
    rows = {one: view.row for one, view in standing.last_ten(page.seat)}
    if seq in rows:
        row_table.open_row(f"{state.REVIEW}-{page.project.id}", rows[seq])
        st.session_state[state.LEAVE] = "review_page.py", page.here


def _go_to(project: int | None) -> None:
    """Open the next question of another project, after the current click has been handled."""
    walk = {state.WALK: str(lead or page.project.id)}
    st.session_state[state.LEAVE] = "annotate.py", {"project": str(project), **walk}


def _store(press: Press) -> None:
    if press.kind == "pause":
        loop.pause(page.seat, press.token)
    elif press.kind == "resume":
        loop.go_on(page.seat)
    elif press.kind == "open":
        _open_on_review(press.seq)
    elif press.kind == "export":
        st.session_state[state.LEAVE] = "export.py"
    elif press.kind == "many":
        st.session_state[state.MANY] = page.project.id
    elif press.kind == "one":
        st.session_state.pop(state.MANY, None)
        batches.leave_batch(page.seat)
    elif press.kind == "confirm":
        saved = batches.confirm_batch(page.seat, press.token, press.rows)
        other_cards.show_rows_left_out(saved)
    elif press.kind == "begin":
        qualification.begin(page.seat)
    elif press.kind == "next":
        st.session_state.pop(state.JUDGED, None)
    elif press.kind == "qualify":
        judged = qualification.judge(page.seat, press.token, "".join(press.labels))
        st.session_state[state.JUDGED] = page.project.id, judged
    elif press.kind == "go":
        _go_to(press.at)
    elif press.kind == "undo" and press.at not in (None, page.project.id):
        undoing.undo(page.seat.at(press.at), seq=press.seq)
        _go_to(press.at)
    elif press.kind == "undo":
        undone = undoing.undo(page.seat, seq=press.seq)
        if undone is not None and undone.together:
            st.session_state[state.MANY] = page.project.id
    elif press.kind == "redo":
        undoing.redo(page.seat, seq=press.seq)
    else:
        _answer(press)


def _answer(press: Press) -> None:
    done = pressing.press(
        page.seat,
        press.token,
        press.kind,
        press.labels,
        note=press.note,
        flagged=press.flagged,
        shown=press.shown,
        zone=st.context.timezone,
        lead=lead,
    )
    if done.go is not None:
        _go_to(done.go)
    st.session_state[state.NEXT] = page.project.id, done.after
    if done.saved.repeated:
        say(after_press.answered_before(done.saved))


def _after_press() -> pressing.Next | None:
    """The effect of an answer, shown once; None if the page has to ask."""
    project, after = st.session_state.pop(state.NEXT, None) or (None, None)
    many = st.session_state.get(state.MANY) == page.project.id
    return None if many or project != page.project.id else after


def _known_row() -> qualification.Qualifying | qualification.Judged | None:
    """Return the result of a known row until the person continues, else their qualification if they may not
    start yet."""
    project, judged = st.session_state.get(state.JUDGED) or (None, None)
    return judged if project == page.project.id else qualification.now(page.seat)


def _many_at_once() -> question_card.Drawing:
    """Draw the rows to confirm together, or explain why there are none."""
    found = batches.next_batch(page.seat)
    if isinstance(found, batches.NoBatch):
        return parts.question_card(page.seat, None, other_cards.nothing_together(found))
    return parts.batch_card(page.seat, found)


def _draw_as_before(why: str) -> None:
    """The store failed: redraw the card as it was, with typed input, and say why. The next key press tries
    again."""
    drawn = st.session_state.get(state.DRAWN)
    if drawn is not None and drawn[0] == page.project.id:
        _, draw, now = drawn
        draw(now, why, on_press)
    else:
        st.error(frame.escape(why), icon=":material/error:")


def _leave_if_done(after: pressing.Next) -> None:
    """Open another project that asks about the same rows if only that one has a question left."""
    if after.question is None and not after.day.paused and after.standing.walk is not None:
        go = walking.walk_on(page.seat, walking.steps_of(page.seat, lead), None)
        if go != page.project.id:
            _go_to(go)
            st.rerun()


@st.fragment
def answer() -> None:
    """Draw the question and handle answers that need the page (`card/press.js`). Only this fragment reruns,
    until the owner changes the classes or the card's surroundings change."""
    if (leave := st.session_state.pop(state.LEAVE, None)) is not None:
        target, query = leave
        st.switch_page(target, query_params=query)
    try:
        after = _after_press()
        if after is None and (known := _known_row()) is not None:
            data = known_row(known, settings.descriptions, notice())
            parts.other_card(page.project.id, data, on_press)
            return
        if after is None and st.session_state.get(state.MANY) != page.project.id:
            # Hold the lock for both: an answer by the direct route between question and standing would show
            # an old question as new.
            after = pressing.now(page.seat, st.context.timezone, lead)
            _leave_if_done(after)
        if after is not None:
            day, now = after.day, after.standing
            draw = parts.question_card(page.seat, after.question, after_press.offer(after))
        else:
            day = goals.day(page.seat, st.context.timezone)
            paused = parts.question_card(page.seat, None, question_card.PAUSED)
            draw = paused if day.paused else _many_at_once()
            now = standing.standing(page.seat)
        st.session_state[state.ASKED] = page.project.id
        if day.reached and not day.told:
            goals.note_reached(page.seat, day.date)
    except (loop.NotSaved, *STORE_FAULTS) as fault:
        _draw_as_before(frame.words_of(fault))
        return
    except (NotAllowed, NotFound) as refusal:
        st.error(frame.escape(str(refusal)), icon=":material/error:")
        return
    frame_now = st.session_state.setdefault(state.FRAME, now.frame)
    if now.classes != st.session_state[state.CLASS_NAMES] or now.frame != frame_now:
        st.rerun()
    st.session_state[state.DAY] = day_words(day)
    st.session_state[state.DRAWN] = page.project.id, draw, now
    draw(now, notice(0 if now.last is None else now.last.seq), on_press)
    if day.paused:
        return
    with contextlib.suppress(NotAllowed, NotFound, *STORE_FAULTS):  # the next press will report it
        loop.get_ready(page.seat)


st.session_state.pop(state.FRAME, None)
if state.ASKED not in st.session_state and batches.has_batch(page.seat):
    # The page was loaded again, perhaps by itself because the server was slow: it shows the same rows.
    st.session_state[state.MANY] = page.project.id
settings = room.room_of(page.seat)
if settings.guidelines:
    with st.container(key=state.GUIDELINES), st.expander("Guidelines", icon=":material/menu_book:"):
        st.markdown(settings.guidelines)  # HTML in it is shown as text
st.session_state[state.EXAMPLES] = bool(examples.class_examples(page.seat))
names = st.session_state[state.CLASS_NAMES] = room.class_names(page.seat)
answer()
# Outside the answering loop: a thousand names need not be sent with every question.
parts.class_list(page.project.id, names, settings.descriptions, room.groups_of(page.seat))
day_form(page, goals.day(page.seat, st.context.timezone))
