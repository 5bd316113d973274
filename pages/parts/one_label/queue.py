"""The Queue page of a project with one true label among candidates."""

from __future__ import annotations

import streamlit as st

from pages.parts import frame, queue_table, state
from pages.parts.answered_rows import clicked_lines
from pages.parts.batch_card import choose_together
from pages.parts.first_columns import first_columns, is_to_play
from pages.parts.frame import ProjectPage
from workflow import answering, projects
from workflow.access import Right
from workflow.queue import queue_csv


def queue_page(page: ProjectPage) -> None:
    """The whole page below its heading."""
    left, right = st.columns([3, 2], gap="large", vertical_alignment="bottom")
    view = queue_table.found(page, "row id, candidate, word of the text", left)
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

    queue_table.stop_where_empty(view, "row", "No row is open: every row has one label or was set aside.")
    seen = first_columns(page.seat, [one.row for one in view.rows])
    table_side, row_side = st.columns([3, 2], gap="large")
    chosen = table_side.dataframe(
        {
            **seen.cells,
            "Place": [one.place for one in view.rows],
            "Row": [one.row_id for one in view.rows],
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
            "Score": st.column_config.NumberColumn(format="%.3f", help=queue_table.SCORE),
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
            queue_table.at_the_side(
                page,
                [view.rows[place] for place in ticked],
                lambda one: answering.ask_next(page.seat, one.row),
                "Ask this row next",
                play=is_to_play(chosen.selection),
            )
    queue_table.file_of(page, lambda: queue_csv(page.seat))
    st.caption(queue_table.counts(view, "row"))


def _change_strategy(page: ProjectPage, box: str, before: str) -> None:
    """Store the choice; where that cannot be, the box says again what counts."""
    with frame.refusals_said_later():
        projects.change_strategy(page.seat, st.session_state[box])
        return
    st.session_state[box] = before
