"""Map: every row as a point, near to those like it, coloured by whether it is open, answered or held out."""

from __future__ import annotations

import streamlit as st

from pages.parts import charts, frame, kinds, map_chart
from pages.parts.answers import MOST
from pages.parts.batch_card import can_choose, choose_together
from pages.parts.instance import instance
from pages.parts.words import counted
from workflow import instance_map as use_case
from workflow import media
from workflow.instance_map import STATES

page = frame.begin_project("Map")
frame.project_title("Map", page)
words = kinds.parts_of(page).MAP
with st.spinner("Placing the rows ...", show_time=True):
    shown = use_case.instance_map(page.seat)
states = [STATES[number] for number in shown.states]
named = [
    " | ".join(labels[:MOST]) + (" | ..." if len(labels) > MOST else "") or words.nothing
    for labels in shown.labels
]
counts = ", ".join(f"{states.count(state):,} {state}" for state in STATES if state in states)
left, right = st.columns([5, 2], gap="medium")
with left:
    picked = charts.show(
        map_chart.instance_map(shown.places, states, shown.row_ids, named, shown.rows),
        {
            "row": shown.rows + 1,
            "row_id": shown.row_ids,
            "first": shown.places[:, 0],
            "second": shown.places[:, 1],
            "state": states,
            words.labels: ["|".join(labels) for labels in shown.labels],
        },
        key=f"map-{page.project.id}",
        alt=f"Map of {len(shown.rows):,} rows: {counts}",
        picks=True,
    )
with right:
    together = can_choose(page)
    if len(picked) > 1 and together:
        rows = sorted({int(one[2]) for one in picked})
        st.markdown(f"##### {counted(len(rows), 'row')}")
        choose_together(page, rows, f"map-{page.project.id}-{hash(tuple(rows))}")
    elif picked:
        row = media.row_of(page.seat, int(picked[0][2]))
        st.markdown(f"##### Row {frame.escape(row.row_id)}")
        instance(row)
    else:
        several = ", or draw round several to answer them at once" if together else ""
        st.caption(f"Click a point to see its row{several}.")
sampled = (
    f"{len(shown.rows):,} of {shown.n_rows:,} rows, drawn at random. "
    if len(shown.rows) < shown.n_rows
    else ""
)
st.caption(
    f"{sampled}Rows that look alike to the model lie near each other: the first two principal components of the "
    f"features, which hold {shown.explained:.0%} of their variance. {words.about}"
)
