"""The Queue page of a project of label vectors."""

from __future__ import annotations

import streamlit as st

from pages.parts import queue_table, state
from pages.parts.answered_rows import clicked_lines
from pages.parts.first_columns import first_columns, is_to_play
from pages.parts.frame import ProjectPage
from workflow import answering
from workflow.kinds.label_vectors.words import CRITERIA
from workflow.queue import queue_csv


def queue_page(page: ProjectPage) -> None:
    """The whole page below its heading."""
    view = queue_table.found(page, "row id, label")
    unit = "row" if view.by_row else "label"
    queue_table.stop_where_empty(view, unit, "No row is open: every label is known or was set aside.")
    seen = first_columns(page.seat, [one.row for one in view.rows])
    table = {
        **seen.cells,
        "Place": [one.place for one in view.rows],
        "Row": [one.row_id for one in view.rows],
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
            "Score": st.column_config.NumberColumn(format="%.4f", help=queue_table.SCORE),
            "Model's share": st.column_config.NumberColumn(format="%.0f %%"),
        },
        **seen.options,
    )
    with row_side:
        queue_table.at_the_side(
            page,
            [view.rows[place] for place in clicked_lines(chosen.selection) if place < len(view.rows)],
            lambda one: answering.ask_next(page.seat, one.row, one.label),
            "Ask this next",
            play=is_to_play(chosen.selection),
        )
    queue_table.file_of(page, lambda: queue_csv(page.seat))
    st.caption(
        f"{queue_table.counts(view, unit)} Asked first: {CRITERIA[view.criterion]}. The "
        "owner changes that in the project's settings."
    )
