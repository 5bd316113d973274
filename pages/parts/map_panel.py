"""What stands beside the map: the row that was clicked, or what can be done with several that were drawn round."""

from __future__ import annotations

from collections.abc import Sequence

import streamlit as st

from pages.parts import frame
from pages.parts.batch_card import can_choose, choose_together
from pages.parts.frame import ProjectPage
from pages.parts.instance import instance
from pages.parts.map_colours import MapLook
from pages.parts.words import counted
from workflow import instance_map as use_case
from workflow import media
from workflow.answering import AnswerError, NotQualified
from workflow.instance_map import STATES, InstanceMap


def panel(page: ProjectPage, shown: InstanceMap, look: MapLook, picked: Sequence[int]) -> None:
    """Draw it. picked : numbers of the rows that are clicked or drawn round"""
    together = can_choose(page)
    if len(picked) > 1 and together:
        st.markdown(f"##### {counted(len(picked), 'row')}")
        choose_together(page, list(picked), f"map-{page.project.id}-{hash(tuple(picked))}")
    elif picked:
        _row(page, shown, look, picked[0])
    else:
        several = ", or draw round several to answer them at once" if together else ""
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
    if may_ask and st.button(
        "Ask this row", type="primary", icon=":material/keyboard:", key=f"map-ask-{row}"
    ):
        with frame.refusals(AnswerError, NotQualified):
            use_case.ask_row(page.seat, row)
            st.switch_page("annotate.py", query_params={"project": str(page.project.id)})
