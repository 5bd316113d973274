"""A column of small pictures for the lists of rows, where a project has pictures or recordings."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import streamlit as st

from workflow import media
from workflow.seat import Seat

NAME = "Picture"
ROW_HEIGHT = 56

# Streamlit's tables show what a data URL holds and ask no server. The mark is a note that is seen in light and dark.
_NOTE = (
    "data:image/svg+xml,%3Csvg xmlns='http://www.w3.org/2000/svg' viewBox='0 0 24 24' width='24' height='24'"
    " fill='%23808a90'%3E%3Cpath d='M9 3v10.6A3.5 3.5 0 1 0 11 17V7h6V3z'/%3E%3C/svg%3E"
)


@dataclass(frozen=True)
class PictureColumn:
    """What a `st.dataframe` gets besides its own; nothing where there is nothing to see.

    cells : the column      config : of it      options : further arguments
    """

    cells: dict[str, list[str | None]]
    config: dict[str, Any]
    options: dict[str, Any]


def picture_column(seat: Seat, rows: Sequence[int]) -> PictureColumn:
    """The column for a table of these rows, its lines in this order."""
    with st.spinner("Making small pictures ...", show_time=True):
        found = media.small_pictures(seat, rows)
    if found is None:
        return PictureColumn({}, {}, {})
    cells = [_NOTE if one == media.SOUND else one or None for one in found]
    return PictureColumn(
        {NAME: cells}, {NAME: st.column_config.ImageColumn(width=72)}, {"row_height": ROW_HEIGHT}
    )
