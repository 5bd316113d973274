"""The rows of a table -> a vector each, by a model of the owner's own."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from functools import partial
from pathlib import Path
from typing import BinaryIO, NamedTuple

import numpy as np

from plcore.arrays.types import StepProgress
from plcore.arrays.words import listed
from plcore.tables.encoders.description import Description, EncoderError, read_description
from plcore.tables.encoders.model import OnnxModel
from plcore.tables.encoders.preparing import image_points, preparation, sound_samples
from plcore.tables.features.embeddings import Dense
from plcore.tables.media.cells import image_of_url
from plcore.tables.media.file_tree import MediaError
from plcore.tables.media.images import is_inline, listed_images, open_image
from plcore.tables.media.sound import Sound
from plcore.tables.table import LabelTable
from plcore.tables.text.arrow import stripped

Open = Callable[[str], BinaryIO]
"""Gives the file of a kept name, seekable, from its first byte on."""
Key = str | tuple[str, float | None, float | None]
"""What is encoded: a text; an image, by its kept name or as the data URL that holds it; or a segment of a recording:
its kept name, and the seconds at which it begins and ends, None for its own."""
Take = Callable[[Sequence[Key], Description], Sequence[object]]
"""Makes of each key what a model takes in, or gives the MediaError that says why there is nothing."""


class Encoded(NamedTuple):
    """values : (n, d), NaN in rows that have nothing to encode      notes : a sentence each about rows left out"""

    values: Dense
    notes: tuple[str, ...]


class Encoder:
    """A folder with `model.onnx` and `encoder.json`, opened.

    Raises EncoderError, in words with the fix: ONNX Runtime is not installed, a file is missing or wrong, the two do
    not belong together.
    """

    def __init__(self, folder: str | Path) -> None:
        folder = Path(folder)
        self.about = read_description(folder)
        self._model = OnnxModel(folder, self.about.output)
        self._prepare = preparation(self.about, self._model, folder)

    def encode(
        self,
        table: LabelTable,
        open_file: Open,
        on_step: StepProgress | None = None,
        take: Take | None = None,
    ) -> Encoded:
        """A vector for each row; the mean of those of its images, where it has several. Rows of the same image, segment
        or text share one, which is made once.

        open_file : for the kept names of the table's files
        on_step : called after each batch with (done, in all, the kind)
        take : decodes elsewhere what files and data URLs hold, `open_file` is not called then; None: here
        Raises EncoderError: no column of the kind, nothing in it, the model fails.
        """
        keys = _keys(table, self.about.kind)
        items = list(dict.fromkeys(key for own in keys for key in own))
        if not items:
            raise EncoderError(f"No row has {_A[self.about.kind]} to encode. Fix: say which column holds it.")
        found: dict[Key, Dense] = {}
        broken: dict[Key, str] = {}
        take = take or partial(_taken_here, open_file)
        for begin in range(0, len(items), self._model.at_once):
            asked = items[begin : begin + self._model.at_once]
            batch: list[tuple[Key, object]] = []
            for key, item in zip(asked, take(asked, self.about), strict=True):
                if isinstance(item, MediaError):
                    broken[key] = str(item.args[0])
                else:
                    batch.append((key, item))
            if batch:
                vectors = self._model.run(self._prepare([item for _, item in batch]))
                for (key, _), vector in zip(batch, vectors, strict=True):
                    if np.isfinite(vector).all():
                        found[key] = vector
                    else:
                        broken[key] = "the model gives numbers that are not finite."
            if on_step is not None:
                on_step(min(begin + self._model.at_once, len(items)), len(items), self.about.kind)
        if not found:
            raise EncoderError(f"No row could be encoded; the first: {next(iter(broken.values()))}")
        vectors = np.full((len(keys), len(next(iter(found.values())))), np.nan, dtype=np.float32)
        for row, own in enumerate(keys):
            if made := [found[key] for key in own if key in found]:
                vectors[row] = np.mean(made, axis=0, dtype=np.float64)
        return Encoded(vectors, tuple(_notes(table, keys, broken)))


def taken(key: Key, about: Description, open_file: Open) -> object:
    """What a model is given for a key. Raises MediaError."""
    if about.kind == "text":
        return key
    if isinstance(key, tuple):
        name, start, end = key
        with open_file(name) as file, Sound(file) as sound:
            # No more than the model takes: a row may be a recording of hours.
            begin = 0.0 if start is None else start
            most = begin + about.seconds
            read = sound.read(begin, most if end is None else min(end, most))
            return sound_samples(read, sound.facts.rate, about)
    data = image_of_url(key) if is_inline(key) else _bytes(open_file(key))
    with open_image(data) as image:
        return image_points(image, about)


def _taken_here(open_file: Open, keys: Sequence[Key], about: Description) -> list[object]:
    found = []
    for key in keys:
        try:
            found.append(taken(key, about, open_file))
        except MediaError as error:
            found.append(error)
    return found


_A = {"image": "an image", "text": "a text", "sound": "a recording"}


def _keys(table: LabelTable, kind: str) -> list[tuple[Key, ...]]:
    """What each row has of a kind."""
    roles, media, cells = table.roles, table.media, table.cells
    nothing: list[tuple[Key, ...]] = [()] * table.n_rows
    if kind == "text" and roles.text is not None:
        return [(text,) if text else () for text in stripped(cells, roles.text).to_pylist()]
    if kind == "image" and roles.image is not None:
        first = [""] * table.n_rows if media.images is None else list(media.images)
        more = nothing if media.more_images is None else list(media.more_images)
        columns = [map(listed_images, stripped(cells, name).to_pylist()) for name in roles.picture_columns]
        inline = [[one for parts in row for one in parts] for row in zip(*columns, strict=True)]
        return [
            tuple(one for one in (name, *others, *filter(is_inline, urls)) if one)
            for name, others, urls in zip(first, more, inline, strict=True)
        ]
    if kind == "sound" and media.audio is not None:
        spans = np.full((table.n_rows, 2), np.nan) if media.segments is None else media.segments
        seconds = [[None if np.isnan(one) else float(one) for one in span] for span in spans]
        return [((name, *span),) if name else () for name, span in zip(media.audio, seconds, strict=True)]
    return nothing


def _bytes(file: BinaryIO) -> bytes:
    with file:
        return file.read()


def _notes(table: LabelTable, keys: Sequence[Sequence[Key]], broken: Mapping[Key, str]) -> list[str]:
    empty = [str(name) for name, own in zip(table.ids, keys, strict=True) if not own]
    failed = [
        str(name) for name, own in zip(table.ids, keys, strict=True) if any(key in broken for key in own)
    ]
    notes = [f"Rows with nothing to encode, {len(empty):,}: {listed(empty, 5)}."] if empty else []
    if failed:
        first = next(iter(broken.values()))
        notes.append(
            f"Rows that could not be encoded, {len(failed):,}: {listed(failed, 5)}; the first: {first}"
        )
    return notes
