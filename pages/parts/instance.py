"""A row as its file had it: caption, pictures, recording, text, features. For pages that show one row at a time."""

from __future__ import annotations

import streamlit as st

from pages.parts.components import component
from pages.parts.question_card import view_of
from workflow.common.rows import RowView

# Text and addresses go in as data and are set as properties, never as HTML; what may be loaded is the page's policy.
_ROW = component("winnow_row", "card/row.js", ("card/sound.css", "card/reading.css", "card/row.css"))


MANY = 20
"""More features than these stand in a box that is shut."""


def instance(view: RowView, *, play: bool = False) -> None:
    """Draw the row. play : its recording begins, as somebody has just asked for it"""
    if view.images or view.audio or view.text or view.caption:
        _ROW(key=f"winnow_row_{view.row}", data={"view": view_of(view), "play": play})
    if view.features:
        table = {
            "Feature": [name for name, _ in view.features],
            "Value": [value for _, value in view.features],
        }
        if view.images or view.text or view.audio or len(view.features) > MANY:
            with st.expander(f"Features ({len(view.features)})"):
                st.dataframe(table, hide_index=True)
        else:
            st.dataframe(table, hide_index=True, height=min(420, 38 + 35 * len(view.features)))
