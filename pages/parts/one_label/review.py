"""A row with candidates on the Review page: its candidates, its history, and the form that corrects it."""

from __future__ import annotations

from functools import partial

import streamlit as st

from pages.parts import answered_rows, frame
from pages.parts.answers import candidates, said
from pages.parts.class_box import offered
from pages.parts.frame import ProjectPage
from workflow.answering import AnswerError, Saved
from workflow.kinds.one_label.reviewing import RowReview
from workflow.reviewing import correct

WAYS = {
    "is": "It is this label",
    "among": "It is one of several",
    "none": "It is none of the labels left",
    "bad": "It is a bad item",
}


def review_row(page: ProjectPage, key: str, row: RowReview) -> None:
    """Draw the opened row. key : beginning of the widget keys"""
    answered_rows.row_part(row, _standing, partial(_correction_form, page, key), candidates)


def _standing(row: RowReview) -> None:
    st.markdown(frame.escape(candidates(row.candidates)))
    st.caption(f"In the file: {frame.escape(candidates(row.imported))}")


def _correction_form(page: ProjectPage, key: str, row: RowReview) -> None:
    """A new answer in place of the one that counts."""
    about = f"{key}-{row.token}"
    st.markdown("###### Correct it")
    frame.say_refusal()
    way = st.radio("The right answer", list(WAYS), format_func=WAYS.__getitem__, key=f"{about}-way")
    alone = len(row.candidates) == 1
    with st.form(f"{about}-form", border=False):
        if way == "is":
            listed = offered(row.classes, row.candidates[:1] if alone else ())
            st.selectbox(
                "Label",
                index=listed["options"].index(row.candidates[0]) if alone else None,
                placeholder="choose one",
                key=f"{about}-label",
                **listed,
            )
        elif way == "among":
            st.multiselect(
                "Labels",
                default=row.candidates,
                key=f"{about}-labels",
                **offered(row.classes, row.candidates),
            )
        answered_rows.end_of_form(about, flagged=row.flagged, save=partial(_save, page, about, row, way))


def _save(
    page: ProjectPage, about: str, row: RowReview, way: str, note: str | None, flagged: bool
) -> tuple[Saved, str]:
    labels: list[str] = []
    if way == "is" and (label := st.session_state[f"{about}-label"]):
        labels = [label]
    elif way == "among":
        labels = st.session_state[f"{about}-labels"]
    if way in ("is", "among") and not labels:
        raise AnswerError("Choose a label first.")
    saved = correct(page.seat, row.view.row, row.token, way, labels, note=note, flagged=flagged)
    return saved, said(saved.kind, saved.labels)
