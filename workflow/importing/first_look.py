"""The first question of a table that is not a project yet, as an annotator would see it."""

from __future__ import annotations

import base64
import contextlib
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

import numpy as np

from plcore.tables import CONTENT_TYPES, KeptFiles, MediaError
from workflow.files import limited
from workflow.rows.row import RowView, row_view, weight_words

if TYPE_CHECKING:
    from plcore import LabelTable

HEARD = (12_000.0, 1_000_000)
"""Limit of the frequency, in Hz, drawn of a recording, whatever its sampling rate."""

SHOWN = 8
"""Labels that a first look names; it only counts the rest."""


@dataclass(frozen=True)
class FirstLook:
    """A row with its labels to choose from, heaviest first.

    choices : (label, evidence for it, in the words of `workflow.rows.row`) of at most SHOWN
    hidden : number of further labels
    """

    view: RowView
    choices: tuple[tuple[str, str], ...]
    hidden: int


def first_look(table: LabelTable) -> FirstLook | None:
    """Return the first row with more than one candidate; None if there is no such row."""
    open_rows = np.flatnonzero(table.candidates.sum(axis=1) > 1)
    if table.label_vectors is not None:
        open_rows = np.flatnonzero((table.label_vectors < 0).any(axis=1))
    if not len(open_rows):
        return None
    row = int(open_rows[0])
    may_be = table.candidates[row] if table.label_vectors is None else table.label_vectors[row] < 0
    weights = may_be.astype(float) if table.candidate_weights is None else table.candidate_weights[row]
    order = [int(k) for k in np.argsort(-weights, kind="stable") if may_be[k]]
    words = weight_words(table, row)
    choices = tuple((table.classes[k], words.get(table.classes[k], "")) for k in order[:SHOWN])
    return FirstLook(_with_files(table, row), choices, max(0, len(order) - SHOWN))


def _with_files(table: LabelTable, row: int) -> RowView:
    """The row as it is displayed, with the bytes of its image in place of an address, because nothing is stored yet.
    Recordings are drawn, not played: a page may load only its own files and images."""
    view, media = replace(row_view(table, row), audio=None), table.media
    if not isinstance(media.files, KeptFiles):
        return view
    if media.images is not None and media.images[row]:
        kept = media.images[row]
        with media.files.open(kept) as file:
            return _with_image(view, file.read(), CONTENT_TYPES[kept.rpartition(".")[2]])
    if media.audio is not None and media.audio[row]:
        start, end = view.segment or (None, None)
        path = media.files.paths[media.audio[row]]
        given = {"path": str(path), "start": start, "end": end, "dark": True}
        drawn: dict[str, Any] = {"longest": None, "heard": HEARD, "drawn": {}}
        with contextlib.suppress(MediaError):
            found = limited.look("spectrogram", {**given, **drawn}, path.stat().st_size)
            return _with_image(view, base64.b64decode(found["png"]), "image/png")
    return view


def _with_image(view: RowView, data: bytes, content_type: str) -> RowView:
    image = f"data:{content_type};base64,{base64.b64encode(data).decode()}"
    return replace(view, image=image, images=(image,))
