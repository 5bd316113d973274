"""One row as a person sees it: its images, its text, and its features as they stood in the file."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from weakref import WeakKeyDictionary

import numpy as np
import numpy.typing as npt

from plcore import LabelTable
from plcore.arrays import counted
from plcore.tables import LEAST_SHARE, Box, boxes_of
from workflow.files.stored import address

_DIGITS = frozenset("0123456789")


@dataclass(frozen=True)
class RowView:
    """`image` and `audio` are addresses a browser can show: a data URL, or a path of this server (see
    `workflow.files.stored`); `features` are (column, original cell text) pairs in file order; `segment` the seconds of
    the recording between which the row lies, None for its begin or end, and None in all for the whole recording.

    heard : whether rows of the table have recordings, so that the keys of a player are a player's on every row
    digits : whether every class of the table is one digit
    images : all of the row, `image` the first      boxes : what a detector found in the picture, if it is the only one
    text : that of `roles.text`, None if it is empty
    texts : (column, text) of all texts that models learn from, in the order of the file, without empty ones
    caption : (column, text) of the columns that are only shown, without those whose cell is empty
    source : as `caption`, the source that several rows of the table come from, this among them, and how many do
    """

    row: int
    row_id: str
    image: str | None
    text: str | None
    features: tuple[tuple[str, str], ...]
    audio: str | None = None
    segment: tuple[float | None, float | None] | None = None
    images: tuple[str, ...] = ()
    boxes: tuple[Box, ...] = ()
    caption: tuple[tuple[str, str], ...] = ()
    heard: bool = False
    digits: bool = False
    source: tuple[tuple[str, str], ...] = ()
    texts: tuple[tuple[str, str], ...] = ()


def row_view(table: LabelTable, row: int) -> RowView:
    """The row's cells, never those that would give the answer away: neither truth nor candidates."""
    roles = table.roles
    shown = (*roles.numbers, *roles.categories)
    images = row_images(table, row)
    texts = _filled(table, row, table.text_columns)
    return RowView(
        row=row,
        heard=roles.audio is not None,
        digits=len(table.classes) <= len(_DIGITS) and all(label in _DIGITS for label in table.classes),
        row_id=table.id_of(row),
        image=images[0] if images else None,
        audio=_file(table.media.audio, row),
        segment=_segment(table, row),
        text=dict(texts).get(roles.text or ""),
        texts=texts,
        features=tuple(zip(shown, table.cells_of(row, shown), strict=True)),
        images=images,
        boxes=boxes_of(table, row) if len(images) == 1 else (),
        caption=_filled(table, row, roles.caption),
        source=tuple(_source(table, row)),
    )


def _filled(table: LabelTable, row: int, columns: tuple[str, ...]) -> tuple[tuple[str, str], ...]:
    """Return (column, text) of these cells of a row, without those that are empty or white space."""
    texts = map(str.strip, table.cells_of(row, columns))
    return tuple((name, text) for name, text in zip(columns, texts, strict=True) if text)


def _source(table: LabelTable, row: int) -> Iterator[tuple[str, str]]:
    """`RowView.source`"""
    name, rows = table.roles.source, table.rows_of_source(row)
    if name is not None and rows > 1:
        (cell,) = table.cells_of(row, (name,))
        roles = table.roles
        shown = name in (*roles.picture_columns, roles.audio, *roles.more_texts, *roles.caption)
        size = counted(rows, "row")
        yield name, size if shown else f"{cell.strip()} ({size})"


def _segment(table: LabelTable, row: int) -> tuple[float | None, float | None] | None:
    if table.media.segments is None:
        return None
    start, end = (None if second != second else float(second) for second in table.media.segments[row])
    return start, end


def row_images(table: LabelTable, row: int) -> tuple[str, ...]:
    """The addresses of the row's images, in the order of the columns and of the names in a cell."""
    from plcore.tables import is_inline, listed_images

    kept = map(address, table.media.images_of(row))
    parts = [part for cell in table.cells_of(row, table.roles.picture_columns) for part in listed_images(cell)]
    # A table from before cells could name several may name one with a | in it: two parts, one file.
    found = (part if is_inline(part) else next(kept, "") for part in parts)
    return tuple(image for image in found if image)


def text_of(table: LabelTable, row: int) -> str:
    """The row's text without the white space around it, "" if it has none."""
    column = table.roles.text
    return "" if column is None else table.cells_of(row, (column,))[0].strip()


def _file(names: npt.NDArray[np.object_] | None, row: int) -> str | None:
    """The address of the file a row names, None if it names none."""
    return address(names[row]) if names is not None and names[row] else None


# Weights of each candidate of a row in words, and the voters.

_votes: WeakKeyDictionary[LabelTable, bool] = WeakKeyDictionary()


def weights_in(table: LabelTable, row: int) -> dict[str, float]:
    """Return the positive weight of each label of a row. Empty if all candidates have equal weights."""
    if table.candidate_weights is None:
        return {}
    own = table.candidate_weights[row]
    return {table.classes[k]: float(own[k]) for k in np.flatnonzero(own > 0)}


def votes_in(table: LabelTable, row: int) -> int:
    """Return the number of votes on a row behind these weights; 0 if they are not votes, or it is unknown."""
    # Labels that were cut away had votes too, but their number is no longer known.
    known = table.candidate_weights is not None and _are_votes(table) and table.roles.cut == "all"
    return round(sum(weights_in(table, row).values())) if known else 0


def weight_words(table: LabelTable, row: int) -> dict[str, str]:
    """Return the weight of each label of a row in words: its share of the votes if all weights of the table are whole
    numbers, else the weight itself. Empty if all candidates have equal weights."""
    named = weights_in(table, row)
    if not named:
        return {}
    if not _are_votes(table):
        nothing = LEAST_SHARE * max(named.values())  # a candidate to which another model gave nothing
        return {label: _number(weight) if weight > nothing else "0" for label, weight in named.items()}
    votes = votes_in(table, row)
    total = f" of {votes:,}" if votes else ""
    return {
        label: f"{weight:,.0f}{total} {'vote' if weight == 1 and not total else 'votes'}"
        for label, weight in named.items()
    }


def voters_of(table: LabelTable, row: int) -> dict[str, tuple[str, ...]]:
    """Return {label: voters} of a row; labels without voters are left out."""
    if table.votes is None:
        return {}
    return {table.classes[place]: table.votes.who_said(row, place) for place in table.votes.labels_in(row)}


def _number(weight: float) -> str:
    return f"{weight:.2g}" if weight < 1 else f"{weight:.4g}"


def _are_votes(table: LabelTable) -> bool:
    """Return whether all weights are whole numbers and not from a model; cached, since a table may have millions."""
    if table not in _votes:
        weights = None if table.roles.scored_by is not None else table.candidate_weights
        _votes[table] = weights is not None and bool((weights == np.floor(weights)).all())
    return _votes[table]
