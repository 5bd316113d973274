"""The small picture of the row that is pointed at on the map: plotly itself shows words alone."""

from __future__ import annotations

from collections.abc import Sequence

from pages.parts.components import component
from pages.parts.frame import ProjectPage
from workflow import media

# The addresses go in as data and are set as a picture's source; the server guards each as it does elsewhere.
_PICTURES = component("winnow_map_pictures", "map_pictures.js", ("map_pictures.css",))


def pictures_on_pointing(page: ProjectPage, rows: Sequence[int]) -> None:
    """Have them shown; nothing where no row has one. rows : those on the map"""
    found = media.small_addresses(page.seat, rows)
    if found:
        _PICTURES(
            key="winnow_map_pictures",
            data={"pictures": {str(row): address for row, address in found.items()}},
        )
