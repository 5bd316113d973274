"""Map: every row as a point, close to similar rows, coloured by label, model doubt, annotator or state."""

from __future__ import annotations

from collections.abc import Sequence

import streamlit as st

from pages.parts import charts, frame, kinds, map_chart
from pages.parts.components import component
from pages.parts.frame import ProjectPage
from pages.parts.map_chart import MapLook, instance_map
from pages.parts.other_cards import can_choose, choose_together
from pages.parts.rows.row_lists import instance
from pages.parts.words import counted
from workflow.answering.loop import AnswerError, NotQualified
from workflow.files import media
from workflow.rows import instance_map as use_case
from workflow.rows.instance_map import STATES, InstanceMap

# The panel next to the map: the row that was clicked, or actions on several that were selected.


def panel(page: ProjectPage, shown: InstanceMap, look: MapLook, picked: Sequence[int]) -> None:
    """Draw the panel. picked : numbers of the rows that are clicked or selected"""
    together = can_choose(page)
    if len(picked) > 1 and together:
        st.markdown(f"##### {counted(len(picked), 'row')}")
        choose_together(page, list(picked), f"map-{page.project.id}-{hash(tuple(picked))}")
    elif picked:
        _row(page, shown, look, picked[0])
    else:
        several = ", or select several to answer them together" if together else ""
        st.caption(f"Click a point to see its row{several}.")


def _row(page: ProjectPage, shown: InstanceMap, look: MapLook, row: int) -> None:
    view = media.row_of(page.seat, row)
    st.markdown(f"##### Row {frame.escape(view.row_id)}")
    place = int(shown.rows.searchsorted(row))
    there = place < len(shown.rows) and shown.rows[place] == row
    if there:
        st.caption(frame.escape(look.told[place]))
    instance(view)
    may_ask = there and shown.can_ask and STATES[shown.states[place]] == "open"
    if may_ask and st.button("Ask this row", type="primary", icon=":material/keyboard:", key=f"map-ask-{row}"):
        with frame.refusals(AnswerError, NotQualified):
            use_case.ask_row(page.seat, row)
            st.switch_page("annotate.py", query_params=page.here)


# The thumbnail of the row under the pointer: plotly itself shows only text.

# Addresses are sent as data and set as an image's source; the server checks access to each one.
_PICTURES = component("winnow_map_pictures", "map_pictures.js", ("map_pictures.css",))


def pictures_on_pointing(page: ProjectPage, rows: Sequence[int]) -> None:
    """Show thumbnails on hover; nothing if no row has an image. rows : those on the map"""
    found = media.small_addresses(page.seat, rows)
    if found:
        _PICTURES(key="winnow_map_pictures", data={"pictures": {str(row): address for row, address in found.items()}})


LOOK_EVERY = 2.0
"""Seconds between two checks whether a worker has laid out the rows, or cannot."""

page = frame.begin_project("Map")
frame.project_title("Map", page)
frame.say_refusal()
words = kinds.parts_of(page).MAP
with st.spinner("Placing the rows ...", show_time=True):
    shown = use_case.instance_map(page.seat)
look = map_chart.look(page, shown, words)
left, right = st.columns([5, 2], gap="medium")
with left:
    picked = charts.show(
        instance_map(shown.places, look.marks, shown.row_ids, look.told, shown.rows),
        look.data,
        key=f"map-{page.project.id}",
        alt=f"Map of {counted(len(shown.rows), 'row')}, {look.alt}",
        picks=True,
    )
with right:
    panel(page, shown, look, sorted({int(one[2]) for one in picked}))
sampled = (
    f"{len(shown.rows):,} of {counted(shown.n_rows, 'row')}, drawn at random. "
    if len(shown.rows) < shown.n_rows
    else ""
)
st.caption(f"{sampled}Rows that are similar for the model are near each other{map_chart.placed(shown)} {look.about}")
pictures_on_pointing(page, shown.rows.tolist())


@st.fragment(run_every=LOOK_EVERY)
def _wait_for_the_layout() -> None:
    """Rerun the page once the rows are laid out, or the layout has failed."""
    if not use_case.is_waited_for(page.seat):
        st.rerun()


if shown.coming:
    _wait_for_the_layout()
