"""Review: find answered rows, see all that was said about one, correct it."""

from __future__ import annotations

from functools import partial

import streamlit as st

from pages.parts import answered_rows, frame, state, vector_review
from pages.parts.answers import KINDS, VECTOR_KINDS, candidates, said
from workflow import correcting, review
from workflow import vector_review as of_vectors
from workflow.access import NotFound
from workflow.review import RowReview
from workflow.standing import Saved

page = frame.begin_project("Review")
frame.project_title("Review", page)
IDS = (page.home, page.person.id, page.project.id)
KEY = f"{state.REVIEW}-{page.project.id}"
WAYS = {
    "is": "It is this label",
    "among": "It is one of several",
    "none": "It is none of the labels left",
    "bad": "It is a bad item",
}


def standing(row: RowReview) -> None:
    st.markdown(frame.escape(candidates(row.candidates)))
    st.caption(f"In the file: {frame.escape(candidates(row.imported))}")


def correction_form(row: RowReview) -> None:
    """A new answer in place of the one that counts."""
    about = f"{KEY}-{row.token}"
    st.markdown("###### Correct it")
    frame.say_refusal()
    way = st.radio("The right answer", list(WAYS), format_func=WAYS.__getitem__, key=f"{about}-way")
    alone = len(row.candidates) == 1
    with st.form(f"{about}-form", border=False):
        if way == "is":
            st.selectbox(
                "Label",
                row.classes,
                index=row.classes.index(row.candidates[0]) if alone else None,
                placeholder="choose one",
                key=f"{about}-label",
            )
        elif way == "among":
            st.multiselect("Labels", row.classes, default=row.candidates, key=f"{about}-labels")
        answered_rows.end_of_form(about, flagged=row.flagged, save=partial(save, about, row, way))


def save(about: str, row: RowReview, way: str, note: str | None, flagged: bool) -> tuple[Saved, str]:
    labels: list[str] = []
    if way == "is" and (label := st.session_state[f"{about}-label"]):
        labels = [label]
    elif way == "among":
        labels = st.session_state[f"{about}-labels"]
    if way in ("is", "among") and not labels:
        raise correcting.AnswerError("Choose a label first.")
    saved = correcting.correct(*IDS, row.view.row, row.token, way, labels, note=note, flagged=flagged)
    return saved, said(saved.kind, saved.labels)


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
vectors = page.project.vectors
search = answered_rows.search_form(KEY, offered, VECTOR_KINDS if vectors else KINDS)
find = of_vectors.find if vectors else review.find
found = find(*IDS, search, int(st.session_state.get(f"{KEY}-page", 1)) - 1)
if found.rows:
    unit = ("answer", "answers") if vectors else ("answered row", "answered rows")
    answered_rows.results(page.project.id, KEY, found, unit)
else:
    st.info("No answer fits all of this. Take one of the conditions away.", icon=":material/search_off:")
if (asked := answered_rows.opened_row(page.project.id)) is not None:
    try:
        if vectors:
            vector_review.row_part(page, KEY, of_vectors.open_row(*IDS, asked))
        else:
            answered_rows.row_part(review.open_row(*IDS, asked), standing, correction_form, candidates)
    except NotFound as missing:
        st.error(frame.escape(str(missing)), icon=":material/search_off:")
