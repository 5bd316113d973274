"""The first columns of lists of rows: a small picture, a mark that plays a recording, or the beginning of the text."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import streamlit as st

from workflow import media
from workflow.seat import Seat

PICTURE, SOUND, TEXT = "Picture", "Sound", "Text"
ROW_HEIGHT = 56
"""Pixels of a line with a picture."""
LINE, HEADING, MOST_HEIGHT = 35, 38, 420
"""Pixels of any other line; of the names of the columns with the frame; of the whole, which is scrolled beyond."""
TEXT_WIDTH = 280
"""Pixels of the beginning of a text: what else there is of a row stands beside it."""

# Streamlit's tables show what a data URL holds and ask no server. The mark is seen in light and dark.
_PLAY = (
    "data:image/svg+xml,%3Csvg xmlns='http://www.w3.org/2000/svg' viewBox='0 0 24 24' width='24' height='24'"
    "%3E%3Ccircle cx='12' cy='12' r='11' fill='%231b7d6c'/%3E%3Cpath d='M9.5 7v10l7-5z' fill='%23fff'/%3E%3C/svg%3E"
)


@dataclass(frozen=True)
class FirstColumns:
    """What a `st.dataframe` gets besides its own.

    cells : the columns, none where there is nothing to see      config : of them      options : further arguments
    """

    cells: dict[str, list[str | None]]
    config: dict[str, Any]
    options: dict[str, Any]


def first_columns(seat: Seat, rows: Sequence[int]) -> FirstColumns:
    """The columns for a table of these rows, its lines in this order."""
    with st.spinner("Making small pictures ...", show_time=True):
        pictures, texts = media.small_pictures(seat, rows), media.first_words(seat, rows)
    cells: dict[str, list[str | None]] = {}
    config: dict[str, Any] = {}
    if pictures is not None:
        name = SOUND if set(pictures) - {""} == {media.SOUND} else PICTURE
        cells[name] = [_PLAY if one == media.SOUND else one or None for one in pictures]
        config[name] = st.column_config.ImageColumn(width=72)
    if texts is not None:
        cells[TEXT] = list(texts)
        config[TEXT] = st.column_config.TextColumn(width=TEXT_WIDTH)
    if pictures is not None:
        return FirstColumns(
            cells, config, {"row_height": ROW_HEIGHT, "height": table_height(len(rows), ROW_HEIGHT)}
        )
    return FirstColumns(cells, config, {"height": table_height(len(rows))})


def table_height(lines: int, line: int = LINE) -> int:
    """Pixels of a table of so many lines, of so many pixels each: what stands in its place until its script has come is
    as high, so that nothing jumps."""
    return min(MOST_HEIGHT, HEADING + line * lines)


def is_to_play(selection: Any) -> bool:
    """Whether what was clicked in such a table is where its pictures are, and its marks of recordings."""
    return any(column in (PICTURE, SOUND) for _, column in selection.cells)
