"""Encode the rows of a table with the owner's own model: a vector each."""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from functools import cached_property, partial
from hashlib import file_digest, sha256
from itertools import pairwise
from pathlib import Path
from time import perf_counter
from typing import Any, BinaryIO, NamedTuple, Protocol

import numpy as np

from plcore.arrays.types import AnyArray, FloatArray, IntArray, StepProgress
from plcore.arrays.words import listed
from plcore.tables.encoders.declared import describe, plugin_at
from plcore.tables.encoders.description import Description, EncoderError
from plcore.tables.encoders.model import OnnxModel
from plcore.tables.encoders.plugged import PluggedModel
from plcore.tables.encoders.preparing import Prepare, image_points, preparation, sound_windows, window_begins
from plcore.tables.features.embeddings import Dense, directions_of
from plcore.tables.media.cells import image_of_url
from plcore.tables.media.file_tree import MediaError
from plcore.tables.media.images import is_inline, listed_images, open_image
from plcore.tables.media.sound import Sound
from plcore.tables.table import LabelTable
from plcore.tables.text.arrow import stripped

Open = Callable[[str], BinaryIO]
"""Open the file of a stored name: seekable, at its first byte."""
Key = str | tuple[str, float | None, float | None]
"""An item to encode: a text; an image, by its stored name or as a data URL; or a segment of a recording: stored name,
start and end in seconds, None for the recording's own.
"""


class ModelInputs(NamedTuple):
    """Model input for one key.

    inputs : (k,) texts, (k, height, width, 3) pixels of images or (k, samples) of a sound; the key's vector is the mean
        of their vectors
    whole : whether they cover the whole item; windows may not cover a long recording
    """

    inputs: Sequence[Any] | FloatArray
    whole: bool = True


MOST_NUMBERS = 30_000_000
"""Numbers in the inputs of a batch: some copies of them take a gigabyte."""
SAMPLE = 32
"""Number of texts, images or segments that are encoded first, to estimate the total time."""
_TOGETHER = 16  # maximum batch size of these, so that short and long texts are both represented


Take = Callable[[Sequence[Key], Description], Sequence[ModelInputs | MediaError]]
"""Convert each key to model input, or return the MediaError that explains why there is none."""


class MadeVector(NamedTuple):
    """A computed vector. values : (d,)      whole : as in `ModelInputs`"""

    values: AnyArray
    whole: bool


class VectorMemory(Protocol):
    """Store of vectors that an encoder has computed."""

    def find(self, keys: Sequence[Key], /) -> Mapping[Key, MadeVector]:
        """Return the vectors stored under these keys."""

    def keep(self, made: Mapping[Key, MadeVector], /) -> None:
        """Store one batch of vectors, scaled to length 1 in float16, for later processes too."""


class Encoded(NamedTuple):
    """The result of encoding r rows.

    values : (r, d), NaN in rows without anything to encode; d is 0 if no row has anything
    notes : a sentence per group of rows left out or cut short
    """

    values: Dense
    notes: tuple[str, ...]


class Encoder:
    """An opened folder with `model.onnx` and `encoder.json`, or one that stands for a plug-in (`.plugged`).

    ms : wall-clock milliseconds per text, image or segment, measured on the first SAMPLE of the latest `encode`, which
        are spread over its rows; None before
    Raises EncoderError, with the fix: ONNX Runtime is not installed, a file is missing or invalid, or the two files do
    not belong together.
    """

    def __init__(self, folder: str | Path) -> None:
        self.folder = folder = Path(folder)
        self.about = describe(folder)
        self.ms: float | None = None
        _ = self._prepare  # raises errors early

    @cached_property
    def _model(self) -> OnnxModel | PluggedModel:
        if (plugged := plugin_at(self.folder)) is not None:
            return PluggedModel(plugged[1].encode)
        return OnnxModel(self.folder, self.about.output, self.about.pooling)

    @cached_property
    def _prepare(self) -> Prepare:
        model = self._model
        return model.prepare if isinstance(model, PluggedModel) else preparation(self.about, model, self.folder)

    @property
    def _at_once(self) -> int:
        """Images, windows or texts a batch: as many as the model takes, and have MOST_NUMBERS together."""
        return max(1, min(self._model.at_once, MOST_NUMBERS // max(1, self.about.numbers)))

    def rest(self) -> None:
        """Close the model, which takes hundreds of megabytes. It is reopened when needed."""
        for name in ("_prepare", "_model"):
            vars(self).pop(name, None)

    def encode(
        self,
        table: LabelTable,
        open_file: Open,
        on_step: StepProgress | None = None,
        take: Take | None = None,
        rows: IntArray | None = None,
        memory: VectorMemory | None = None,
    ) -> Encoded:
        """Compute a vector for each row: the mean if it has several images; if there are columns of further texts, the
        vectors of the texts side by side, in the order of `Roles.text_columns`, each of length 1, or 0 without a text.
        Rows with the same item share one vector.

        open_file : opens the table's files by stored name
        on_step : called after each batch with (done, total, kind)
        take : decodes files and data URLs elsewhere, without calling `open_file`; None: decode them here
        rows : (r,) the rows to encode; None: all
        memory : is searched for known vectors first and stores each batch; vectors then have length 1 in float16
        Raises EncoderError: no column of the kind, nothing to encode, or the model fails.
        """
        keys, ids = _keys(table, self.about.kind), table.ids
        if rows is not None:
            keys, ids = [keys[row] for row in rows], ids[rows]
        items = list(dict.fromkeys(key for own in keys for key in own if key))
        if not items and rows is None:
            raise _nothing(self.about.kind)
        if self.about.kind == "text":
            items.sort(key=len)  # texts are padded to the longest of their batch
        found: dict[Key, Dense] = {}
        broken: dict[Key, str] = {}
        unheard: set[Key] = set()
        for key, known in ({} if memory is None else memory.find(items)).items():
            found[key] = known.values
            if not known.whole:
                unheard.add(key)
        total, items = len(items), [key for key in items if key not in found]
        take = take or partial(_taken_here, open_file)
        most = max((windows_at_most(key, self.about) for key in items), default=1)
        at_once = max(1, self._at_once // most)
        self.ms, begun, encoded = None, perf_counter(), 0
        for asked in _batches(items, at_once):
            batch: list[tuple[Key, ModelInputs]] = []
            for key, item in zip(asked, take(asked, self.about), strict=True):
                if isinstance(item, MediaError):
                    broken[key] = str(item.args[0])
                else:
                    batch.append((key, item))
            made: dict[Key, MadeVector] = {}
            for (key, given), vector in zip(batch, self.encode_inputs([one for _, one in batch]), strict=True):
                if np.isfinite(vector).all():
                    if memory is not None:
                        vector = directions_of(vector[None])[0]
                    found[key], made[key] = vector, MadeVector(vector, given.whole)
                else:
                    broken[key] = "the model gives numbers that are not finite."
                if not given.whole:
                    unheard.add(key)
            if memory is not None and made:
                memory.keep(made)
            encoded += len(asked)
            if self.ms is None and encoded >= SAMPLE:
                self.ms = 1_000 * (perf_counter() - begun) / encoded
            if on_step is not None:
                on_step(total - len(items) + encoded, total, self.about.kind)
        if not found and rows is None:
            raise EncoderError(f"No row could be encoded; the first: {next(iter(broken.values()))}")
        width = len(next(iter(found.values()))) if found else 0
        texts = len(table.roles.text_columns) if self.about.kind == "text" else 1
        vectors = np.full((len(keys), texts * width), np.nan, dtype=np.float32)
        if texts > 1:
            found, nothing = {key: directions_of(one[None])[0] for key, one in found.items()}, np.zeros(width)
        for row, names in enumerate(keys):
            if not (several := [found[key] for key in names if key in found]):
                continue
            if texts == 1:
                vectors[row] = np.mean(several, axis=0, dtype=np.float64)
            else:
                vectors[row] = np.concatenate([found.get(key, nothing) for key in names])
        notes = [*_notes(ids, keys, broken), *_notes_unheard(ids, keys, unheard, self.about)]
        return Encoded(vectors, tuple(notes))

    @cached_property
    def sha256(self) -> str:
        """`digest_of` its folder."""
        return digest_of(self.folder)

    def column(self, table: LabelTable) -> str:
        """Return the table column that it reads. Raises EncoderError if there is none."""
        roles = table.roles
        name = {"image": roles.image, "text": roles.text, "sound": roles.audio}[self.about.kind]
        if name is None:
            raise _nothing(self.about.kind)
        return name

    def encode_inputs(self, given: Sequence[ModelInputs]) -> list[Dense]:
        """Return a vector (d,) per item, the mean over its inputs. Raises EncoderError if the model fails."""
        items = [one for inputs, _ in given for one in inputs]
        most = self._at_once
        batches = [items[begin : begin + most] for begin in range(0, len(items), most)]
        made = [vector for batch in batches for vector in self._model.run(self._prepare(batch))]
        ends = np.cumsum([0, *(len(inputs) for inputs, _ in given)])
        return [
            np.asarray(np.mean(made[begin:end], axis=0, dtype=np.float64), dtype=np.float32)
            for begin, end in pairwise(ends)
        ]


def windows_at_most(key: Key, about: Description) -> int:
    """Count the windows of a key; for a segment of unknown length, return the maximum."""
    if isinstance(key, str):
        return 1
    _, start, end = key
    return about.windows if start is None or end is None else len(window_begins(start, end, about)[0])


def _batches(items: Sequence[Key], at_once: int) -> Iterator[Sequence[Key]]:
    """Yield all items in batches of neighbours; of many items, about SAMPLE from evenly spread places come first."""
    size, n = min(at_once, _TOGETHER), len(items)
    places, starts = -(-SAMPLE // size), []
    if n > places * size:
        starts = [(2 * place + 1) * n // (2 * places) - size // 2 for place in range(places)]
    taken = {start + step for start in starts for step in range(size)}
    yield from (items[start : start + size] for start in starts)
    rest = [item for place, item in enumerate(items) if place not in taken]
    yield from (rest[begin : begin + at_once] for begin in range(0, len(rest), at_once))


def digest_of(folder: Path) -> str:
    """Return the SHA-256, in hex, of an encoder's files without those about its origin; for that of a plug-in, of its
    name and version. Links out of the folder are not followed. Raises OSError.

    Vectors with the same digest can be compared.
    """
    digest = sha256()
    if (plugged := plugin_at(folder)) is not None:
        digest.update(f"{folder.name}\0{plugged[0].source}".encode())
    within = folder.resolve()
    for path in sorted(one for one in folder.rglob("*") if one.is_file() and one.resolve().is_relative_to(within)):
        if path.stem.upper() not in _ABOUT_ALONE:
            digest.update(f"{path.relative_to(folder).as_posix()}\0".encode())
            with path.open("rb") as file:
                digest.update(file_digest(file, "sha256").digest())
    return digest.hexdigest()


def taken(key: Key, about: Description, open_file: Open) -> ModelInputs:
    """Convert a key to model input. Raises MediaError."""
    if about.kind == "text":
        return ModelInputs((key,))
    if isinstance(key, tuple):
        name, start, end = key
        with open_file(name) as file, Sound(file) as sound:
            return ModelInputs(*sound_windows(sound, start, end, about))
    data = image_of_url(key) if is_inline(key) else _bytes(open_file(key))
    with open_image(data) as image:
        return ModelInputs(image_points(image, about)[None])


def _taken_here(open_file: Open, keys: Sequence[Key], about: Description) -> list[ModelInputs | MediaError]:
    found: list[ModelInputs | MediaError] = []
    for key in keys:
        try:
            found.append(taken(key, about, open_file))
        except MediaError as error:
            found.append(error)
    return found


_A = {"image": "an image", "text": "a text", "sound": "a recording"}
_ABOUT_ALONE = ("LICENSE", "LICENCE", "NOTICE", "README", "SOURCE")


def _nothing(kind: str) -> EncoderError:
    return EncoderError(f"No row has {_A[kind]} to encode. Fix: say which column holds it.")


def _keys(table: LabelTable, kind: str) -> list[tuple[Key, ...]]:
    """List the keys of a kind for each row."""
    roles, media, cells = table.roles, table.media, table.cells
    nothing: list[tuple[Key, ...]] = [()] * table.n_rows
    if kind == "text":
        texts = zip(*(stripped(cells, name).to_pylist() for name in roles.text_columns), strict=True)
        return [own if any(own) else () for own in texts] or nothing
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


def _notes(ids: AnyArray, keys: Sequence[Sequence[Key]], broken: Mapping[Key, str]) -> list[str]:
    empty = [str(name) for name, own in zip(ids, keys, strict=True) if not own]
    failed = [str(name) for name, own in zip(ids, keys, strict=True) if any(key in broken for key in own)]
    notes = []
    if empty:
        has = "1 row has" if len(empty) == 1 else f"{len(empty):,} rows have"
        notes.append(f"{has} nothing to encode: {listed(empty, 5)}.")
    if failed:
        first = next(iter(broken.values()))
        rows = "1 row" if len(failed) == 1 else f"{len(failed):,} rows"
        notes.append(f"{rows} could not be encoded: {listed(failed, 5)}; the first: {first}")
    return notes


def _notes_unheard(
    ids: AnyArray, keys: Sequence[Sequence[Key]], unheard: Collection[Key], about: Description
) -> list[str]:
    """Describe the rows that are longer than the sound that was encoded."""
    long = [str(name) for name, own in zip(ids, keys, strict=True) if any(key in unheard for key in own)]
    if not long:
        return []
    rows = "1 row is" if len(long) == 1 else f"{len(long):,} rows are"
    if about.windows > 1:
        heard = f"{about.windows} parts of {about.seconds:g} s each, evenly over the row, were heard"
    else:
        heard = f"only the {'middle' if about.centred else 'first'} {about.seconds:g} s were heard"
    fix = 'To hear more, raise "windows" in encoder.json.'
    return [f"{rows} longer than the encoder hears at once; {heard}: {listed(long, 5)}. {fix}"]
