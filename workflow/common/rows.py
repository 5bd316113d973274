"""One row as a person sees it: its images, its text, and its features as they stood in the file."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from workflow.common.files import address

if TYPE_CHECKING:
    import numpy as np
    import numpy.typing as npt

    from plcore import LabelTable


_DIGITS = frozenset("0123456789")


@dataclass(frozen=True)
class RowView:
    """`image` and `audio` are addresses a browser can show: a data URL, or a path of this server (see
    `workflow.common.files`); `features` are (column, original cell text) pairs in file order; `segment` the seconds of
    the recording between which the row lies, None for its begin or end, and None in all for the whole recording.

    heard : whether rows of the table have recordings, so that the keys of a player are a player's on every row
    digits : whether every class of the table is one digit
    images : all of the row, `image` the first      caption : (column, text) of the columns that are no features and are
        to be shown, without those whose cell is empty
    """

    row: int
    row_id: str
    image: str | None
    text: str | None
    features: tuple[tuple[str, str], ...]
    audio: str | None = None
    segment: tuple[float | None, float | None] | None = None
    images: tuple[str, ...] = ()
    caption: tuple[tuple[str, str], ...] = ()
    heard: bool = False
    digits: bool = False


def row_view(table: LabelTable, row: int) -> RowView:
    """The row's cells, never those that would give the answer away: neither truth nor candidates."""
    roles = table.roles
    shown = (*roles.numbers, *roles.categories)
    images = row_images(table, row)
    captions = zip(roles.caption, map(str.strip, table.cells_of(row, roles.caption)), strict=True)
    return RowView(
        row=row,
        heard=roles.audio is not None,
        digits=len(table.classes) <= len(_DIGITS) and all(label in _DIGITS for label in table.classes),
        row_id=table.id_of(row),
        image=images[0] if images else None,
        audio=_file(table.media.audio, row),
        segment=_segment(table, row),
        text=text_of(table, row) or None,
        features=tuple(zip(shown, table.cells_of(row, shown), strict=True)),
        images=images,
        caption=tuple((name, text) for name, text in captions if text),
    )


def _segment(table: LabelTable, row: int) -> tuple[float | None, float | None] | None:
    if table.media.segments is None:
        return None
    start, end = (None if second != second else float(second) for second in table.media.segments[row])
    return start, end


def row_images(table: LabelTable, row: int) -> tuple[str, ...]:
    """The addresses of the row's images, in the order of the columns and of the names in a cell."""
    from plcore.tables import is_inline, listed_images

    kept = map(address, table.media.images_of(row))
    parts = [
        part for cell in table.cells_of(row, table.roles.picture_columns) for part in listed_images(cell)
    ]
    # A table from before cells could name several may name one with a | in it: two parts, one file.
    found = (part if is_inline(part) else next(kept, "") for part in parts)
    return tuple(image for image in found if image)


def text_of(table: LabelTable, row: int) -> str:
    """The row's text without the white space around it, "" where it has none."""
    column = table.roles.text
    return "" if column is None else table.cells_of(row, (column,))[0].strip()


def _file(names: npt.NDArray[np.object_] | None, row: int) -> str | None:
    """The address of the file a row names, None where it names none."""
    return address(names[row]) if names is not None and names[row] else None
