"""The Queue page of a project with one true label among candidates."""

from __future__ import annotations

from functools import partial

import streamlit as st

from pages.parts import frame, row_lists, state
from pages.parts.answers import candidates, said
from pages.parts.class_box import offered
from pages.parts.create_parts import first_columns, is_to_play
from pages.parts.frame import ProjectPage
from pages.parts.other_cards import choose_together
from pages.parts.row_lists import clicked_lines
from pages.parts.words import counted
from workflow.access import Right
from workflow.answering import loop
from workflow.answering.batches import MOST
from workflow.answering.loop import AnswerError, Saved
from workflow.kinds.one_label.reviewing import RowReview
from workflow.projects import managing
from workflow.rows.queue import queue_csv
from workflow.rows.reviewing import correct


def queue_page(page: ProjectPage) -> None:
    """The whole page below its heading."""
    left, right = st.columns([3, 2], gap="large", vertical_alignment="bottom")
    view = row_lists.found(page, "row id, candidate, word of the text", left)
    # Keys name what they are about: a box never shows another project's strategy, a tick never means another row.
    box = f"{state.STRATEGY}-{page.project.id}-{view.strategy}"
    table = f"{state.QUEUE}-{page.project.id}-{hash(tuple(one.row for one in view.rows))}"
    if page.project.may(Right.OWN):
        right.selectbox(
            "Asked first",
            list(view.strategies),
            index=list(view.strategies).index(view.strategy),
            format_func=view.strategies.__getitem__,
            key=box,
            on_change=_change_strategy,
            args=(page, box, view.strategy),
            help="Counts for everybody from the next question on. Answers given stay as they are.",
        )
    else:
        right.caption(f"Asked first: {view.strategies[view.strategy]}.")

    row_lists.stop_where_empty(page, view, "row", "No row is open: every row has one label or was set aside.")
    seen = first_columns(page.seat, [one.row for one in view.rows])
    table_side, row_side = st.columns([3, 2], gap="large")
    chosen = table_side.dataframe(
        {
            **seen.cells,
            "Place": [one.place for one in view.rows],
            "Row": [one.row_id for one in view.rows],
            **({"Similarity": [one.near for one in view.rows]} if view.by_meaning else {}),
            "Candidates": [" | ".join(one.candidates) for one in view.rows],
            "Score": [one.score for one in view.rows],
            "Why": [one.reason for one in view.rows],
        },
        hide_index=True,
        on_select="rerun",
        selection_mode=["multi-row", "single-cell"],
        key=table,
        column_config={
            **seen.config,
            "Place": st.column_config.Column(help="In the order of asking: 1 is asked next."),
            "Similarity": row_lists.SIMILARITY,
            "Score": st.column_config.NumberColumn(format="%.3f", help=row_lists.SCORE),
            "Why": st.column_config.Column(width="large"),
        },
        **seen.options,
    )
    ticked = [place for place in clicked_lines(chosen.selection) if place < len(view.rows)]
    with row_side:
        if len(ticked) > 1:
            choose_together(
                page, [view.rows[place].row for place in ticked], f"{table}-{hash(tuple(ticked))}"
            )
        else:
            row_lists.at_the_side(
                page,
                [view.rows[place] for place in ticked],
                lambda one: loop.ask_next(page.seat, one.row),
                "Ask this row next",
                play=is_to_play(chosen.selection),
            )
            if view.by_meaning and not ticked:
                nearest = [one.row for one in view.rows[:MOST]]
                st.markdown(f"##### The nearest {counted(len(nearest), 'row')}")
                choose_together(page, nearest, f"{table}-nearest")
    row_lists.file_of(page, lambda: queue_csv(page.seat))
    st.caption(row_lists.counts(view, "row"))


def _change_strategy(page: ProjectPage, box: str, before: str) -> None:
    """Store the choice; where that cannot be, the box says again what counts."""
    with frame.refusals_said_later():
        managing.change_strategy(page.seat, st.session_state[box])
        return
    st.session_state[box] = before


# A row with candidates on the Review page: its candidates, its history, and the form that corrects it.

WAYS = {
    "is": "It is this label",
    "among": "It is one of several",
    "none": "It is none of the labels left",
    "bad": "It is a bad item",
}


def review_row(page: ProjectPage, key: str, row: RowReview) -> None:
    """Draw the opened row. key : beginning of the widget keys"""
    row_lists.row_part(row, _standing, partial(_correction_form, page, key), candidates)


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
        row_lists.end_of_form(about, flagged=row.flagged, save=partial(_save, page, about, row, way))


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
