"""The Queue page of a project with one true label among candidates."""

from __future__ import annotations

from collections.abc import Sequence
from functools import partial

import streamlit as st

from pages.parts import frame, state
from pages.parts.answers import candidates, said
from pages.parts.class_box import offered
from pages.parts.frame import ProjectPage
from pages.parts.other_cards import can_choose, choose_together
from pages.parts.rows import row_lists, row_table
from pages.parts.rows.row_table import Column
from pages.parts.words import counted
from workflow.access import Right
from workflow.answering import loop
from workflow.answering.batches import MOST
from workflow.answering.loop import AnswerError, Saved
from workflow.kinds.one_label.reviewing import RowReview
from workflow.kinds.one_label.rows import QueueRow
from workflow.projects import managing
from workflow.rows.queue import queue_csv
from workflow.rows.reviewing import HistoryLine, correct

COLUMNS = (Column("shares", "Candidates"), Column("words", "Reason"))


def queue_page(page: ProjectPage) -> None:
    """Draw the whole page below its heading."""
    tools = st.container(horizontal=True, vertical_alignment="top", key=row_lists.TOOLS)
    view = row_lists.found(page, "Search ID, candidate or text", tools)
    # The strategy is part of the key: the box never shows another project's strategy.
    box = f"{state.STRATEGY}-{page.project.id}-{view.strategy}"
    if page.project.may(Right.OWN):
        tools.selectbox(
            "Question order",
            list(view.strategies),
            index=list(view.strategies).index(view.strategy),
            format_func=view.strategies.__getitem__,
            key=box,
            on_change=_change_strategy,
            args=(page, box, view.strategy),
            width=390,
            label_visibility="collapsed",
        )
    if view.order_note is not None:
        st.warning(frame.escape(view.order_note), icon=":material/warning:")
    row_lists.filter_chips(page, view, tools)
    if page.project.disputes:
        with tools.container(key="winnow_disputed", width="content"):
            words = row_lists.chip_words("Disputed", page.project.disputes)
            st.page_link("disputes.py", label=words, query_params=page.here)
    row_lists.file_of(page, lambda: queue_csv(page.seat), tools)
    row_lists.stop_where_empty(page, view, "row", "No open rows: every row has one label or is excluded.")
    if view.by_meaning:
        nearest = [one.row for one in view.rows[:MOST]]
        with st.container(horizontal=True, vertical_alignment="bottom", key="winnow_nearest"):
            st.markdown(f"**The nearest {counted(len(nearest), 'row')}**")
            choose_together(page, nearest, f"{state.QUEUE}-{hash(tuple(nearest))}-nearest")
    lines, ticked = row_lists.show_queue(
        page,
        view,
        COLUMNS,
        lambda one: {**row_table.shares(one.candidates, one.shares), "words": one.reason},
        ticks=can_choose(page),
    )
    order = "" if page.project.may(Right.OWN) else f"Question order: {view.strategies[view.strategy]}."
    row_lists.queue_foot(page, view, "row", order)
    if ticked:
        _together(page, ticked)
    row_lists.queue_drawer(
        page, view.rows, lines, lambda one: loop.ask_next(page.seat, one.row), "Ask this row next", _facts
    )


def _together(page: ProjectPage, rows: Sequence[int]) -> None:
    """Draw the bar at the foot of the page: actions on the ticked rows."""
    key = f"{state.QUEUE}-{page.project.id}"
    with st.container(horizontal=True, vertical_alignment="bottom", key="winnow_together"):
        st.markdown(f"**{counted(len(rows), 'row')} selected**")
        if len(rows) > 1:
            choose_together(page, list(rows), f"{key}-{hash(tuple(rows))}")
        else:
            st.caption("Select more rows to answer them together.")
        st.button("Clear", on_click=row_table.untick, args=(key,), type="tertiary")


def _facts(one: QueueRow, history: Sequence[HistoryLine] | None) -> None:
    row_table.facts(
        "queue",
        shares=sorted(zip(one.candidates, one.shares, strict=True), key=lambda share: -share[1]),
        notes=[one.reason],
        history=None if history is None else row_lists.history(history, candidates),
    )


def _change_strategy(page: ProjectPage, box: str, before: str) -> None:
    """Store the choice; if that fails, reset the box to the stored strategy."""
    with frame.refusals_said_later():
        managing.change_learner(page.seat, strategy=st.session_state[box])
        return
    st.session_state[box] = before


# A row with candidates on the Review page: its candidates, its history, and the form that corrects it.

WAYS = {
    "is": "It is this label",
    "among": "It is one of several",
    "none": "It is none of the labels left",
    "bad": "Bad item",
}


def review_row(page: ProjectPage, key: str, row: RowReview) -> None:
    """Draw the opened row. key : beginning of the widget keys"""
    row_lists.row_part(row, _standing, partial(_correction_form, page, key), candidates)


def _standing(row: RowReview) -> None:
    st.markdown(frame.escape(candidates(row.candidates)))
    st.caption(f"In the file: {frame.escape(candidates(row.imported))}")


def _correction_form(page: ProjectPage, key: str, row: RowReview) -> None:
    """Draw the form for an answer that replaces the current one."""
    about = f"{key}-{row.token}"
    st.markdown("###### Correct it")
    way = st.radio("Correct answer", list(WAYS), format_func=WAYS.__getitem__, key=f"{about}-way")
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
                "Labels", default=row.candidates, key=f"{about}-labels", **offered(row.classes, row.candidates)
            )
        row_lists.draw_form_end(about, flagged=row.flagged, save=partial(_save, page, about, row, way))


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
