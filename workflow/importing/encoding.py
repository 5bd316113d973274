"""The owner's own encoders: found by name in the data folder, where only the operator can put them, or installed as
plug-ins."""

from __future__ import annotations

from collections.abc import Mapping
from datetime import UTC, datetime
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any, NoReturn

import numpy as np

from db import trained
from plcore import LabelTable
from plcore.arrays import PREFIX, StepProgress, listed
from plcore.tables import VECTOR_ENDINGS, ColumnVectors, KeptFiles, MediaError, directions_of, write_vectors
from plcore.tables import Encoder as Encoder
from plcore.tables import EncoderError as EncoderError
from plcore.tables.encoders import digest_of, encoder_plugins, plugin_at, read_catalogue
from workflow.access import Right
from workflow.files.stored import path_of, whole_file
from workflow.importing import more_rows
from workflow.importing.encoder_inputs import taking
from workflow.importing.uploads import read_as_named
from workflow.importing.vector_memory import KeptVectors, keep_speed

if TYPE_CHECKING:
    from workflow.seat import Seat
    from workflow.server.home import Home

SWITCHED_OFF = (
    "Pretrained encoders are switched off on this server. Fix: unset WINNOW_ENCODERS, or ask the operator to do so."
)


SOURCE = "SOURCE.json"
"""File in the folder of an encoder that Winnow downloaded: where it comes from."""


def names(home: Home, *, switched_off: bool = False) -> tuple[str, ...]:
    """List the encoders in the data folder, and those of plug-ins, by name.

    switched_off : include those that Winnow downloaded although WINNOW_ENCODERS is off
    """
    folder, every = home.encoders_dir, switched_off or home.settings.encoders
    found = [one for one in folder.iterdir() if one.is_dir()] if folder.is_dir() else []
    shown = [one.name for one in found if every or not (one / SOURCE).is_file()]
    here = {name for name in shown if not name.startswith(".")}  # incomplete downloads
    plugged = {PREFIX + one.name for one in encoder_plugins() if one.declared is not None}
    return tuple(sorted(here | plugged))


def words_of(home: Home, name: str) -> str:
    """Return the name of an encoder for people: for that of a plug-in its description with distribution and version."""
    plugged = plugin_at(home.encoders_dir / name)
    return name if plugged is None else f"{plugged[1].words} ({plugged[0].source})"


def folder_of(home: Home, name: str, *, switched_off: bool = False) -> Path:
    """Return the folder of an encoder in the data folder, or the one that stands for a plug-in. switched_off : as in
    `names`

    Raises EncoderError if there is no encoder of this name, or pretrained encoders are switched off.
    """
    found = names(home, switched_off=switched_off)
    if name not in found and name in names(home, switched_off=True):
        raise EncoderError(SWITCHED_OFF)
    if name not in found and name in read_catalogue():
        raise EncoderError(f"{name!r} is not on this server. Fix: get it first (winnow encoders get {name}).")
    if name not in found:  # never a path: only a name that is listed
        there = f"{home.encoders_dir} has {listed(found)}" if found else f"{home.encoders_dir} has none"
        raise EncoderError(
            f"No encoder is called {name!r}: {there}. Fix: put its folder there, with model.onnx and encoder.json, or "
            "get one that `winnow encoders list` names."
        )
    return home.encoders_dir / name


def vectors_dir(home: Home) -> Path:
    """Return the folder of computed vectors and of encoding speeds."""
    return home.cache_dir / "vectors"


def encode_project(seat: Seat, encoder: Encoder, on_step: StepProgress | None = None) -> tuple[str, ...]:
    """Encode the rows of a project with this encoder, to learn from the vectors; returns notes about rows left out.

    Rows with vectors of this encoder keep them, and content that it encoded before is not encoded again. It may take
    long: do not call it in the server's process. The project stays in use meanwhile; rows that arrive are encoded, too.

    Raises EncoderError, AlreadyThere if every row has its vector or cannot have one; else as
    `workflow.importing.more_rows.add_rows`.
    """
    memory = KeptVectors(vectors_dir(seat.home), encoder.sha256)
    take = taking(partial(path_of, seat.home.media_dir))

    def step(done: int, total: int, kind: str) -> None:
        if encoder.ms is not None and encoder.folder.parent == seat.home.encoders_dir:
            keep_speed(vectors_dir(seat.home), encoder.folder.name, encoder.ms)
        if on_step is not None:
            on_step(done, total, kind)

    def add() -> tuple[str, ...]:
        if on_step is not None:
            on_step(0, 0, encoder.about.kind)  # stop if it was cancelled, even if nothing is left to encode
        with seat.reading(Right.OWN) as reading:
            table_hash = reading.project.table_hash
        table = seat.home.read_table(table_hash)
        column, rows = encoder.column(table), None
        before = next((one for one in table.encoded if one.column == column), None)
        if before is not None and before.sha256 == encoder.sha256:
            rows = np.flatnonzero(before.missing)
        exact, notes = encoder.encode(table, unopened, step, take, rows, memory)
        if before is not None and rows is not None and 0 < exact.shape[1] != before.values.shape[1]:
            rows = None  # they are of the first text alone, from an earlier version: those of all rows are made again
            exact, notes = encoder.encode(table, unopened, step, take, rows, memory)
        encoder.rest()  # free the encoder's memory: the learner that is built next needs as much
        values = directions_of(exact)
        del exact
        if before is not None and rows is not None:
            if np.isnan(values).all():
                raise more_rows.AlreadyThere(notes)
            new, values = values, before.values.copy()
            values[rows] = new
        vectors = ColumnVectors(column, encoder.folder.name, encoder.sha256, values)
        more_rows.add_rows(seat, more_rows.read_encoded(seat, table_hash, vectors))
        return notes

    return more_rows.added_anew(add, "vectors")


def encode_new_rows(seat: Seat, on_step: StepProgress | None = None) -> tuple[int, tuple[str, ...], tuple[str, ...]]:
    """Encode rows that arrived after the project's columns were encoded, with the same encoders.

    Returns how many rows the project had, notes about rows left out, and why some columns could not be encoded. Raises
    as `encode_project`, except AlreadyThere and EncoderError.
    """
    with seat.reading(Right.OWN) as reading:
        table = seat.home.read_table(reading.project.table_hash)
    notes, faults = list[str](), list[str]()
    for one in table.encoded:
        if one.missing.any():
            try:
                notes += encode_project(seat, _same_encoder(seat.home, one), on_step)
            except more_rows.AlreadyThere:
                pass
            except EncoderError as error:
                faults.append(str(error))
    return table.n_rows, tuple(notes), tuple(faults)


def _same_encoder(home: Home, made: ColumnVectors) -> Encoder:
    """Return the encoder that made these vectors, even if it was renamed. Raises EncoderError if it is gone."""
    for name in sorted(names(home, switched_off=True), key=lambda name: name != made.encoder):
        if digest_of(home.encoders_dir / name) == made.sha256:
            return Encoder(folder_of(home, name))
    raise EncoderError(
        f"The encoder {made.encoder} ({made.sha256[:6]}) is no longer on this server. Fix: download it again, or go "
        "back to words."
    )


def back_to_words(seat: Seat) -> None:
    """Remove the vectors of a project's rows, so that it learns only from its other columns.

    Cancels any waiting or running encoding. One entry of the log names the table without vectors; the previous table
    keeps them.

    Raises NotAllowed unless the person is an owner, TableError if there are no vectors, or nothing else to learn from;
    RowsError, CannotLearn, NotSaved, NotFound.
    """
    with seat.owning() as owning:
        last = trained.ENCODINGS.latest(owning.session, owning.project.id)
        if last is not None:
            trained.ENCODINGS.end(owning.session, last.id, trained.CANCELLED, datetime.now(UTC))
    more_rows.added_anew(lambda: more_rows.add_rows(seat, more_rows.read_without_vectors(seat)), "settings")


def encode_file(
    file: Path,
    target: Path,
    encoder: Encoder,
    columns: Mapping[str, Any],
    beside: Mapping[str, Any],
    on_step: StepProgress | None = None,
) -> tuple[str, ...]:
    """Run `encode_to` on the table of a file. columns, beside : as in `read_as_named`. Also raises TableError."""
    upload, table = read_as_named(file, columns, **beside)
    return (*upload.notes, *encode_to(target, table, encoder, on_step))


def encode_to(path: Path, table: LabelTable, encoder: Encoder, on_step: StepProgress | None = None) -> tuple[str, ...]:
    """Write a vector of each row to a file that `with_vectors` joins to the same rows; returns notes about rows left
    out.

    Raises EncoderError, and OSError if the file cannot be written.
    """
    if path.suffix.lower() not in VECTOR_ENDINGS:
        raise EncoderError(
            f"{path.name!r} has no known ending of vector files. Fix: end it in {listed(VECTOR_ENDINGS)}."
        )

    def path_of_kept(name: str) -> Path:
        if not isinstance(table.media.files, KeptFiles):
            raise MediaError("the file did not come with the table.", "Give a zip of the table and its files.")
        return table.media.files.paths[name]

    found = encoder.encode(table, unopened, on_step, taking(path_of_kept))
    with whole_file(path) as file:
        write_vectors(table.ids.tolist(), found.values, file, path.suffix.lower())
    return found.notes


def unopened(name: str) -> NoReturn:
    """Refuse to open a file here: files are decoded only in a limited process."""
    raise AssertionError(name)
