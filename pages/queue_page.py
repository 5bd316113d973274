"""Queue: every open row in asking order, with its score and reason; a row opened here is asked next."""

from __future__ import annotations

import streamlit as st

from pages.parts import frame, queue_table, state, vector_queue
from workflow import labeling, projects, ranking
from workflow.access import NotAllowed
from workflow.strategies import NAMES

page = frame.begin_project("Queue")
frame.toast_from_last_page()
frame.project_title("Queue", page)
frame.say_refusal()
if page.project.vectors:
    vector_queue.draw(page)
    st.stop()
IDS = (page.home, page.person.id, page.project.id)


def change_strategy() -> None:
    """Store the choice; where that cannot be, the box says again what counts."""
    with frame.refusals_said_later():
        projects.change_strategy(*IDS, st.session_state[STRATEGY])
        return
    st.session_state[STRATEGY] = view.strategy


left, right = st.columns([3, 2], gap="large", vertical_alignment="bottom")
words = left.text_input(
    "Search",
    placeholder="row id, candidate, word of the text",
    icon=":material/search:",
    key=f"search-{page.project.id}",
)
try:
    view = ranking.queue(*IDS, words)
except NotAllowed as refusal:
    st.info(str(refusal), icon=":material/lock:")
    st.stop()
# Keys name what they are about: a box never shows another project's strategy, a tick never means another row.
STRATEGY = f"{state.STRATEGY}-{page.project.id}-{view.strategy}"
SHOWN = f"{state.QUEUE}-{page.project.id}-{hash(tuple(one.row for one in view.rows))}"
if page.person.is_owner:
    right.selectbox(
        "Asked first",
        list(NAMES),
        index=list(NAMES).index(view.strategy),
        format_func=NAMES.__getitem__,
        key=STRATEGY,
        on_change=change_strategy,
        help="Counts for everybody from the next question on. Answers given stay as they are.",
    )
else:
    right.caption(f"Asked first: {NAMES[view.strategy]}.")

queue_table.stop_where_empty(view, "row", "No row is open: every row has one label or was set aside.")
chosen = st.dataframe(
    {
        "Place": [one.place for one in view.rows],
        "Row": [one.row_id for one in view.rows],
        "Candidates": [" | ".join(one.candidates) for one in view.rows],
        "Score": [one.score for one in view.rows],
        "Why": [one.reason for one in view.rows],
    },
    hide_index=True,
    on_select="rerun",
    selection_mode="single-row",
    key=SHOWN,
    column_config={
        "Score": st.column_config.NumberColumn(format="%.3f"),
        "Why": st.column_config.Column(width="large"),
    },
)
queue_table.below(
    page,
    view.rows,
    chosen.selection.rows,
    lambda one: labeling.ask_next(*IDS, one.row),
    "Ask this row next",
    lambda: ranking.queue_csv(*IDS),
)
st.caption(queue_table.counts(view, "row"))
