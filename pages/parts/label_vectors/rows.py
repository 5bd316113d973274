"""The Queue page of a project of label vectors."""

from __future__ import annotations

from collections.abc import Sequence
from functools import partial

import streamlit as st

from pages.parts import frame
from pages.parts.answers import first_of, said
from pages.parts.frame import ProjectPage
from pages.parts.rows import row_lists, row_table
from pages.parts.rows.row_table import Column
from pages.parts.words import counted, percent
from workflow.answering import loop
from workflow.answering.loop import AnswerError, Saved
from workflow.kinds.label_vectors.reviewing import STANDS, LabelStand, VectorRowReview
from workflow.kinds.label_vectors.rows import VectorQueueRow
from workflow.kinds.label_vectors.settings import CRITERIA
from workflow.rows.queue import queue_csv
from workflow.rows.reviewing import HistoryLine, correct

UNKNOWN = Column("words", "Unknown labels")
USEFUL = Column("shares", "Most useful label", "The bar is the model's share of it.")


def queue_page(page: ProjectPage) -> None:
    """Draw the whole page below its heading."""
    tools = st.container(horizontal=True, vertical_alignment="top", key=row_lists.TOOLS)
    view = row_lists.found(page, "Search ID or label", tools)
    row_lists.filter_chips(page, view, tools)
    row_lists.file_of(page, lambda: queue_csv(page.seat), tools)
    unit = "row" if view.by_row else "label"
    row_lists.stop_where_empty(page, view, unit, "No open rows: every label is known or excluded.")
    columns = (UNKNOWN,) if view.by_row else (USEFUL, UNKNOWN)
    lines, _ = row_lists.show_queue(page, view, columns, _cells)
    row_lists.queue_foot(
        page, view, unit, f"Question order: {CRITERIA[view.criterion]}. The owner changes it in the project's settings."
    )
    row_lists.queue_drawer(
        page, view.rows, lines, lambda one: loop.ask_next(page.seat, one.row, one.label), "Ask this next", _facts
    )


def _cells(one: VectorQueueRow) -> dict[str, object]:
    return {
        "words": f"{counted(one.unknown, 'label')} unknown",
        **({"shares": [[one.label, one.probability]], "more": 0} if one.label is not None else {}),
    }


def _facts(one: VectorQueueRow, history: Sequence[HistoryLine] | None) -> None:
    notes = [f"{counted(one.unknown, 'label')} of this row {'is' if one.unknown == 1 else 'are'} unknown."]
    if one.label is not None:
        share = "" if one.probability is None else f" The model gives it {percent(one.probability)}."
        notes.insert(0, f"Most useful label: {one.label}.{share}")
    row_table.facts("queue", notes=notes, history=None if history is None else row_lists.history(history, first_of))


# A label vector on the Review page: the value of each label, its history, and the form that corrects it.

WAYS = {"labels": "Some labels are wrong or missing", "bad": "Bad item"}
NAMED = {1: "Is right", 0: "Is wrong", -1: "Is unknown again"}
"""The boxes that take labels, by the value that these labels get."""


def review_row(page: ProjectPage, key: str, row: VectorRowReview) -> None:
    """Draw the opened row. key : beginning of the widget keys"""
    row_lists.row_part(row, _standing, partial(_correction_form, page, key), first_of)


def _standing(row: VectorRowReview) -> None:
    names = {cell: [one.label for one in row.labels if one.cell == cell] for cell in STANDS}
    if row.out:
        st.markdown("Bad item, excluded.")
    st.markdown(f"Right: {frame.escape(first_of(names[1])) or 'no label'}")
    st.caption(
        f"{len(names[0]):,} {'label is' if len(names[0]) == 1 else 'labels are'} not right, "
        f"{len(names[-1]):,} not known."
    )
    lines = [one for cell in STANDS for one in row.labels if one.cell == cell]
    st.dataframe(
        {
            "Label": [one.label for one in lines],
            "Now": [STANDS[one.cell] for one in lines],
            "In the file": [STANDS[one.imported] for one in lines],
            "Said by": [one.person for one in lines],
        },
        hide_index=True,
        height=min(248, 38 + 35 * len(lines)),
    )


def _correction_form(page: ProjectPage, key: str, row: VectorRowReview) -> None:
    """Draw the form for a new answer about the named labels; the others stay unchanged."""
    about = f"{key}-{row.token}-{row.shown}"
    st.markdown("###### Correct it")
    way = st.radio("Correct answer", list(WAYS), format_func=WAYS.__getitem__, key=f"{about}-way")
    with st.form(f"{about}-form", border=False):
        if way == "labels":
            for cell, words in NAMED.items():
                if labels := [one.label for one in row.labels if _can_become(one, cell)]:
                    st.multiselect(words, labels, key=f"{about}-{cell}", placeholder="choose labels")
            st.caption(
                "Labels not listed stay unchanged. Save without any to confirm the current ones in your name:"
                f" {'it brings the row back' if row.out else 'with a note, or another flag'}."
            )
        save = partial(_save, page, about, row, way)
        row_lists.draw_form_end(about, flagged=row.flagged, save=save)


def _can_become(one: LabelStand, cell: int) -> bool:
    return one.cell != cell if cell >= 0 else one.may_forget


def _save(
    page: ProjectPage, about: str, row: VectorRowReview, way: str, note: str | None, flagged: bool
) -> tuple[Saved, str]:
    named: dict[int, list[str]] = {}
    if way == "labels":
        named = {cell: st.session_state.get(f"{about}-{cell}", []) for cell in NAMED}
    changes: dict[str, int] = {}
    for cell, labels in named.items():
        for label in labels:
            if label in changes:
                raise AnswerError(f"{label} is in two boxes. Fix: remove it from one.")
            changes[label] = cell
    saved = correct(
        page.seat, row.view.row, row.token, way, changes=changes, shown=row.shown, note=note, flagged=flagged
    )
    named_so = [f"{words.lower()}: {first_of(named[cell])}" for cell, words in NAMED.items() if named.get(cell)]
    return saved, "; ".join(named_so) or said(saved.kind, saved.labels)
