"""The Queue page of a project of label vectors."""

from __future__ import annotations

from functools import partial

import streamlit as st

from pages.parts import frame, row_lists, state
from pages.parts.answers import first_of, said
from pages.parts.create_parts import first_columns, is_to_play
from pages.parts.frame import ProjectPage
from pages.parts.row_lists import clicked_lines
from workflow.answering import loop
from workflow.answering.loop import AnswerError, Saved
from workflow.kinds.label_vectors.reviewing import STANDS, LabelStand, VectorRowReview
from workflow.kinds.label_vectors.settings import CRITERIA
from workflow.rows.queue import queue_csv
from workflow.rows.reviewing import correct


def queue_page(page: ProjectPage) -> None:
    """The whole page below its heading."""
    view = row_lists.found(page, "row id, label")
    unit = "row" if view.by_row else "label"
    row_lists.stop_where_empty(page, view, unit, "No row is open: every label is known or was set aside.")
    seen = first_columns(page.seat, [one.row for one in view.rows])
    table = {
        **seen.cells,
        "Place": [one.place for one in view.rows],
        "Row": [one.row_id for one in view.rows],
        **({"Similarity": [one.near for one in view.rows]} if view.by_meaning else {}),
        "Unknown labels": [one.unknown for one in view.rows],
        "Score": [one.score for one in view.rows],
    }
    if not view.by_row:
        table |= {
            "Most useful label": [one.label for one in view.rows],
            "Model's share": [
                None if one.probability is None else 100 * one.probability for one in view.rows
            ],
        }
    table_side, row_side = st.columns([3, 2], gap="large")
    chosen = table_side.dataframe(
        table,
        hide_index=True,
        on_select="rerun",
        selection_mode="single-cell",
        key=f"{state.QUEUE}-{page.project.id}-{hash(tuple((one.row, one.label) for one in view.rows))}",
        column_config={
            **seen.config,
            "Place": st.column_config.Column(help="In the order of asking: 1 is asked next."),
            "Similarity": row_lists.SIMILARITY,
            "Score": st.column_config.NumberColumn(format="%.4f", help=row_lists.SCORE),
            "Model's share": st.column_config.NumberColumn(format="%.0f %%"),
        },
        **seen.options,
    )
    with row_side:
        row_lists.at_the_side(
            page,
            [view.rows[place] for place in clicked_lines(chosen.selection) if place < len(view.rows)],
            lambda one: loop.ask_next(page.seat, one.row, one.label),
            "Ask this next",
            play=is_to_play(chosen.selection),
        )
    row_lists.file_of(page, lambda: queue_csv(page.seat))
    st.caption(
        f"{row_lists.counts(view, unit)} Asked first: {CRITERIA[view.criterion]}. The "
        "owner changes that in the project's settings."
    )


# A label vector on the Review page: the value of each label, its history, and the form that corrects it.

WAYS = {"labels": "Labels of it are wrong, or missing", "bad": "It is a bad item"}
NAMED = {1: "Is right", 0: "Is not right", -1: "Not known any more"}
"""The boxes in which labels are named, by the value that these get."""


def review_row(page: ProjectPage, key: str, row: VectorRowReview) -> None:
    """Draw the opened row. key : beginning of the widget keys"""
    row_lists.row_part(row, _standing, partial(_correction_form, page, key), first_of)


def _standing(row: VectorRowReview) -> None:
    names = {cell: [one.label for one in row.labels if one.cell == cell] for cell in STANDS}
    if row.out:
        st.markdown("A bad item: taken out.")
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
    """A new answer about the labels named; the others stay as they are."""
    about = f"{key}-{row.token}-{row.shown}"
    st.markdown("###### Correct it")
    frame.say_refusal()
    way = st.radio("The right answer", list(WAYS), format_func=WAYS.__getitem__, key=f"{about}-way")
    with st.form(f"{about}-form", border=False):
        if way == "labels":
            for cell, words in NAMED.items():
                if labels := [one.label for one in row.labels if _can_become(one, cell)]:
                    st.multiselect(words, labels, key=f"{about}-{cell}", placeholder="choose labels")
            st.caption(
                "Labels that are not named stay as they are. Name none to say again, in your name, what people have "
                f"said: {'it brings the row back' if row.out else 'with a note, or another flag'}."
            )
        save = partial(_save, page, about, row, way)
        row_lists.end_of_form(about, flagged=row.flagged, save=save)


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
                raise AnswerError(f"{label} is in two boxes. Fix: take it out of one.")
            changes[label] = cell
    saved = correct(
        page.seat, row.view.row, row.token, way, changes=changes, shown=row.shown, note=note, flagged=flagged
    )
    named_so = [
        f"{words.lower()}: {first_of(named[cell])}" for cell, words in NAMED.items() if named.get(cell)
    ]
    return saved, "; ".join(named_so) or said(saved.kind, saved.labels)
