"""Map: every row as a point, near to those like it, coloured by how it stands."""

from __future__ import annotations

import streamlit as st

from pages.parts import charts, frame
from pages.parts.answers import MOST
from workflow import instance_map as use_case
from workflow.instance_map import STATES

page = frame.begin_project("Map")
frame.project_title("Map", page)
VECTORS = page.project.vectors
with st.spinner("Placing the rows ...", show_time=True):
    shown = use_case.instance_map(page.home, page.person.id, page.project.id)
states = [STATES[number] for number in shown.states]
named = [
    " | ".join(labels[:MOST]) + (" | ..." if len(labels) > MOST else "")
    if labels or not VECTORS
    else "no label known to be right"
    for labels in shown.labels
]
counts = ", ".join(f"{states.count(state):,} {state}" for state in STATES if state in states)
charts.show(
    charts.instance_map(shown.places, states, shown.row_ids, named),
    {
        "row": shown.rows + 1,
        "row_id": shown.row_ids,
        "first": shown.places[:, 0],
        "second": shown.places[:, 1],
        "state": states,
        "right" if VECTORS else "candidates": ["|".join(labels) for labels in shown.labels],
    },
    key=f"map-{page.project.id}",
    alt=f"Map of {len(shown.rows):,} rows: {counts}",
)
sampled = (
    f"{len(shown.rows):,} of {shown.n_rows:,} rows, drawn at random. "
    if len(shown.rows) < shown.n_rows
    else ""
)
about = (
    "Of open rows some label can still be asked about; of answered, given and held-out rows all labels are known; bad "
    "items are out."
    if VECTORS
    else "Open rows can still be asked about; answered, given and held-out rows have one label; bad items are out."
)
st.caption(
    f"{sampled}Rows that look alike to the model lie near each other: the first two principal components of the "
    f"features, which hold {shown.explained:.0%} of their variance. {about}"
)
