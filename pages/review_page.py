"""Review: find answered rows, see all that was said about one, correct it."""

from __future__ import annotations

import streamlit as st

from pages.parts import answered_rows, frame, kinds, state
from pages.parts.example_form import example_form
from pages.parts.score_review import score_review
from workflow import reviewing
from workflow.access import NotFound, Right

page = frame.begin_project("Review", Right.ANSWER)
frame.project_title("Review", page)
parts = kinds.parts_of(page)
KEY = f"{state.REVIEW}-{page.project.id}"

frame.toast_from_last_page()
options = reviewing.options(page.seat)
if options.scored:
    score_review(page, options.scored_by)
if not options.anything:
    whose = "No answers yet." if options.everybody else "You have not answered a row of this project yet."
    st.info(f"{whose} Answered rows can be found, looked at and corrected here.", icon=":material/inbox:")
    st.page_link(
        "annotate.py",
        label="Answer the first question",
        icon=":material/keyboard:",
        query_params={"project": str(page.project.id)},
    )
    st.stop()
search = answered_rows.search_form(KEY, options, parts.REVIEW.kinds)
found = reviewing.find(page.seat, search, int(st.session_state.get(f"{KEY}-page", 1)) - 1)
left, right = st.columns([3, 2], gap="large")
with left:
    if found.rows:
        answered_rows.results(page, KEY, found, parts.REVIEW.unit)
    else:
        st.info("No answer fits all of this. Take one of the conditions away.", icon=":material/search_off:")
with right:
    if (asked := answered_rows.opened_row(page.project.id)) is not None:
        try:
            parts.review_row(page, KEY, reviewing.open_row(page.seat, asked))
            example_form(page, asked)
        except NotFound as missing:
            st.error(frame.escape(str(missing)), icon=":material/search_off:")
    else:
        st.caption("Click a line to see its row, all that was said of it, and to correct it.")
