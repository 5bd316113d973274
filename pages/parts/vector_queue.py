"""The Queue page of a project of label vectors."""

from __future__ import annotations

import re

import streamlit as st

from pages.parts import frame, state
from pages.parts.frame import ProjectPage
from workflow import vector_ranking, vectors
from workflow.vector_showing import CRITERIA


def draw(page: ProjectPage) -> None:
    """The whole page below its heading."""
    ids = (page.home, page.person.id, page.project.id)
    words = st.text_input(
        "Search",
        placeholder="row id, label",
        icon=":material/search:",
        key=f"search-{page.project.id}",
    )
    view = vector_ranking.queue(*ids, words)
    if not view.open:
        st.info("No row is open: every label is known or was set aside.", icon=":material/check_circle:")
        st.stop()
    if not view.rows:
        st.info("No open row holds these words.", icon=":material/search_off:")
        st.stop()
    table = {
        "Place": [one.place for one in view.rows],
        "Row": [one.row_id for one in view.rows],
        "Unknown labels": [one.unknown for one in view.rows],
        "Score": [one.score for one in view.rows],
    }
    if not view.by_row:
        table |= {
            "Most useful label": [one.label for one in view.rows],
            "Model's share": [one.probability for one in view.rows],
        }
    chosen = st.dataframe(
        table,
        hide_index=True,
        on_select="rerun",
        selection_mode="single-row",
        key=f"{state.QUEUE}-{page.project.id}-{hash(tuple((one.row, one.label) for one in view.rows))}",
        column_config={
            "Score": st.column_config.NumberColumn(format="%.4f"),
            "Model's share": st.column_config.NumberColumn(format="percent"),
        },
    )
    with st.container(horizontal=True, vertical_alignment="center"):
        picked = [place for place in chosen.selection.rows if place < len(view.rows)]
        if st.button("Ask this next", type="primary", icon=":material/keyboard:", disabled=not picked):
            _ask_next(page, view.rows[picked[0]])
        if page.person.is_owner:
            stem = re.sub(r"[^A-Za-z0-9]+", "-", page.project.name).strip("-").lower() or "project"
            st.download_button(
                "Queue (CSV)",
                data=lambda: vector_ranking.queue_csv(*ids),
                file_name=f"{stem}-queue.csv",
                mime="text/csv",
                icon=":material/download:",
                on_click="ignore",
            )
        if not picked:
            st.caption("Tick a row to ask it next.")
    shown = (
        f"The first {len(view.rows):,} of {view.matching:,}"
        if view.matching > len(view.rows)
        else f"{view.matching:,}"
    )
    st.caption(
        f"{shown} matching rows; {view.open:,} rows are open. Asked first: {CRITERIA[view.criterion]}. The owner "
        "changes that in the project's settings."
    )


def _ask_next(page: ProjectPage, one: vector_ranking.VectorQueueRow) -> None:
    """Put it before this person, then go where it is answered."""
    try:
        vectors.ask_next(page.home, page.person.id, page.project.id, one.row, one.label)
    except (vectors.AnswerError, vectors.NotSaved) as refusal:
        st.error(frame.escape(str(refusal)), icon=":material/error:")
        return
    st.switch_page("annotate.py", query_params={"project": str(page.project.id)})
