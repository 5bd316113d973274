"""Map: every row as a point, near to those like it, in the colour of its label, its doubt, its person, or its state."""

from __future__ import annotations

import streamlit as st

from pages.parts import charts, frame, kinds, map_colours, map_panel, map_words
from pages.parts.map_chart import instance_map
from pages.parts.map_pictures import pictures_on_pointing
from workflow import instance_map as use_case

LOOK_EVERY = 2.0
"""Seconds between two looks whether a worker has laid out the rows, or cannot."""

page = frame.begin_project("Map")
frame.project_title("Map", page)
frame.say_refusal()
words = kinds.parts_of(page).MAP
with st.spinner("Placing the rows ...", show_time=True):
    shown = use_case.instance_map(page.seat)
look = map_colours.look(page, shown, words)
left, right = st.columns([5, 2], gap="medium")
with left:
    picked = charts.show(
        instance_map(shown.places, look.marks, shown.row_ids, look.told, shown.rows),
        look.data,
        key=f"map-{page.project.id}",
        alt=f"Map of {len(shown.rows):,} rows, {look.alt}",
        picks=True,
    )
with right:
    map_panel.panel(page, shown, look, sorted({int(one[2]) for one in picked}))
sampled = (
    f"{len(shown.rows):,} of {shown.n_rows:,} rows, drawn at random. "
    if len(shown.rows) < shown.n_rows
    else ""
)
st.caption(
    f"{sampled}Rows that look alike to the model lie near each other{map_words.placed(shown)} {look.about}"
)
pictures_on_pointing(page, shown.rows.tolist())


@st.fragment(run_every=LOOK_EVERY)
def _wait_for_the_layout() -> None:
    """Draw the page anew once the rows are laid out, or are not to be."""
    if not use_case.is_waited_for(page.seat):
        st.rerun()


if shown.coming:
    _wait_for_the_layout()
