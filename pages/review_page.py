"""Review: find answered rows, see all that was said about one, correct it."""

from __future__ import annotations

from datetime import datetime

import streamlit as st

from pages.parts import frame, state
from pages.parts.answers import KINDS, candidates, said
from pages.parts.instance import instance
from workflow import correcting, review
from workflow.access import NotAllowed, NotFound
from workflow.review import Found, ReviewList, RowReview, Search

page = frame.begin_project("Review")
frame.project_title("Review", page)
frame.candidates_only(
    page,
    "Your last 50 answers are in the History of the Annotate page (H), all answers in the log on the Export page.",
)
IDS = (page.home, page.person.id, page.project.id)
KEY = f"{state.REVIEW}-{page.project.id}"
WAYS = {
    "is": "It is this label",
    "among": "It is one of several",
    "none": "It is none of the labels left",
    "bad": "It is a bad item",
}


def opened_row() -> int | None:
    """The row that is open, where this project has one."""
    kept = st.session_state.get(state.REVIEW_ROW)
    return kept[1] if kept is not None and kept[0] == page.project.id else None


def open_row(row: int | None) -> None:
    st.session_state[state.REVIEW_ROW] = None if row is None else (page.project.id, row)


def chosen(key: str, rows: tuple[int, ...]) -> None:
    """The table's tick moved."""
    places = st.session_state[key].selection.rows
    open_row(rows[places[0]] if places else None)


def picked(key: str) -> None:
    """The list of rows was used instead."""
    open_row(st.session_state[key])


def search_form(classes: tuple[str, ...], people: tuple[tuple[int, str], ...]) -> Search:
    """What to look for; every box counts."""
    names = dict(people)
    with st.container(horizontal=True, vertical_alignment="bottom"):
        words = st.text_input(
            "Search",
            placeholder="row id or words of the text",
            icon=":material/search:",
            key=f"{KEY}-words",
            width=225,
        )
        label = st.selectbox(
            "Label", [None, *classes], format_func=lambda one: one or "any", key=f"{KEY}-label", width=140
        )
        kind = st.selectbox(
            "Answer",
            [None, *KINDS],
            format_func=lambda one: KINDS[one] if one else "any",
            key=f"{KEY}-kind",
            width=190,
        )
        person = None
        if names:
            person = st.selectbox(
                "Person",
                [None, *names],
                format_func=lambda one: names[one] if one else "anybody",
                key=f"{KEY}-person",
                width=140,
            )
        flagged = st.checkbox("Flagged", key=f"{KEY}-flag")
        disagrees = st.checkbox(
            "Model disagrees",
            key=f"{KEY}-against",
            help="The answer is another label than the model gave the row when it was asked.",
        )
    return Search(label=label, person_id=person, kind=kind, flagged=flagged, disagrees=disagrees, words=words)


def results(found: ReviewList) -> None:
    """The page of what was found, and two ways to open a row: tick it, or choose it from the list."""
    rows = tuple(one.row for one in found.rows)
    key = f"{KEY}-table-{hash((rows, tuple(one.seq for one in found.rows)))}"
    st.dataframe(
        {
            "Row": [one.row_id for one in found.rows],
            "Answer": [said(one.kind, one.labels) for one in found.rows],
            "Model said": [one.predicted or "" for one in found.rows],
            "Person": [one.person for one in found.rows],
            "When": [one.at for one in found.rows],
            "Flagged": ["yes" if one.flagged else "" for one in found.rows],
            "Note": [one.note or "" for one in found.rows],
        },
        hide_index=True,
        on_select=lambda: chosen(key, rows),
        selection_mode="single-row",
        key=key,
        height=min(420, 38 + 35 * len(rows)),
        column_config={
            "When": st.column_config.DatetimeColumn(format="D MMM YYYY, HH:mm"),
            "Note": st.column_config.Column(width="medium"),
        },
    )
    with st.container(horizontal=True, vertical_alignment="bottom", horizontal_alignment="distribute"):
        by_row = {one.row: one for one in found.rows}
        now = opened_row()
        # The key names the row that is open, so that the box follows a tick in the table.
        key = f"{KEY}-open-{now}"
        st.selectbox(
            "Open a row",
            [None, *by_row],
            index=1 + rows.index(now) if now in rows else 0,
            format_func=lambda row: "choose one" if row is None else worded(by_row[row]),
            key=key,
            on_change=picked,
            args=(key,),
            width=340,
        )
        if found.pages > 1:
            st.pagination(found.pages, key=f"{KEY}-page")
    st.caption(f"{found.total:,} answered {'row' if found.total == 1 else 'rows'}, the latest answer first.")


def worded(one: Found) -> str:
    return f"{one.row_id}: {said(one.kind, one.labels)}"


def moment(at: datetime) -> str:
    return at.strftime("%-d %b %Y, %H:%M UTC")


def row_part(row: RowReview) -> None:
    """The open row: what it is, what was said, and the form that corrects it."""
    st.divider()
    left, right = st.columns([3, 2], gap="large")
    with left:
        st.markdown(f"##### Row {frame.escape(row.view.row_id)}")
        instance(row.view)
    with right:
        st.markdown("###### As it stands")
        st.markdown(frame.escape(candidates(row.candidates)))
        st.caption(f"In the file: {frame.escape(candidates(row.imported))}")
        if row.may_correct:
            correction_form(row)
        elif not row.history:
            st.info("Nobody has answered this row yet.", icon=":material/inbox:")
    history(row)


def correction_form(row: RowReview) -> None:
    """A new answer in place of the one that counts."""
    about = f"{KEY}-{row.token}"
    st.markdown("###### Correct it")
    way = st.radio("The right answer", list(WAYS), format_func=WAYS.__getitem__, key=f"{about}-way")
    alone = len(row.candidates) == 1
    with st.form(f"{about}-form", border=False):
        labels: list[str] = []
        if way == "is":
            label = st.selectbox(
                "Label",
                [None, *row.classes],
                index=1 + row.classes.index(row.candidates[0]) if alone else 0,
                format_func=lambda one: one or "choose one",
                key=f"{about}-label",
            )
            labels = [label] if label else []
        elif way == "among":
            labels = st.multiselect("Labels", row.classes, default=row.candidates, key=f"{about}-labels")
        note = st.text_input("Note (optional)", max_chars=correcting.NOTE_LENGTH, key=f"{about}-note")
        flagged = st.checkbox("Flag for another look", value=row.flagged, key=f"{about}-flag")
        if st.form_submit_button("Save the correction", type="primary", icon=":material/check:"):
            save(row, way, labels, note, flagged)


def save(row: RowReview, way: str, labels: list[str], note: str, flagged: bool) -> None:
    if way in ("is", "among") and not labels:
        st.error("Choose a label first.", icon=":material/error:")
        return
    try:
        saved = correcting.correct(
            *IDS, row.view.row, row.token, way, labels, note=note or None, flagged=flagged
        )
    except (
        correcting.AnswerError,
        correcting.StaleQuestion,
        correcting.NotSaved,
        NotAllowed,
        NotFound,
    ) as refusal:
        st.error(f"Not saved: {frame.escape(str(refusal))}", icon=":material/error:")
        return
    st.session_state[state.FLASH] = f"Saved: row {saved.row_id} {said(saved.kind, saved.labels)}"
    st.rerun()


def history(row: RowReview) -> None:
    """Every entry about the row, the first one first."""
    if not row.history:
        return
    st.markdown("###### History")
    st.dataframe(
        {
            "When": [moment(one.at) for one in row.history],
            "Person": [one.person for one in row.history],
            "Said": [
                said(one.kind, one.labels) + (" (taken back)" if one.taken_back else "")
                for one in row.history
            ],
            "Before": [candidates(one.before) for one in row.history],
            "After": [candidates(one.after) for one in row.history],
            "Model said": [one.predicted or "" for one in row.history],
            "Flagged": ["yes" if one.flagged else "" for one in row.history],
            "Note": [one.note or "" for one in row.history],
        },
        hide_index=True,
    )
    st.caption("Nothing is ever changed or deleted here: a correction is a new line.")


frame.toast_from_last_page()
offered = review.offered(*IDS)
if not offered.anything:
    whose = "No answers yet." if offered.everybody else "You have not answered a row of this project yet."
    st.info(f"{whose} Answered rows can be found, looked at and corrected here.", icon=":material/inbox:")
    st.page_link(
        "annotate.py",
        label="Answer the first question",
        icon=":material/keyboard:",
        query_params={"project": str(page.project.id)},
    )
    st.stop()
search = search_form(offered.classes, offered.people)
found = review.find(*IDS, search, int(st.session_state.get(f"{KEY}-page", 1)) - 1)
if found.rows:
    results(found)
else:
    st.info("No answer fits all of this. Take one of the conditions away.", icon=":material/search_off:")
if (asked := opened_row()) is not None:
    try:
        row_part(review.open_row(*IDS, asked))
    except NotFound as missing:
        st.error(frame.escape(str(missing)), icon=":material/search_off:")
