"""Encoders of the owner's own: found by name in the data folder, where only whoever runs the server can put them."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any, NoReturn

from plcore import LabelTable
from plcore.arrays import StepProgress, listed
from plcore.tables import VECTOR_ENDINGS, Encoder, EncoderError, KeptFiles, MediaError, write_vectors
from workflow.access import Right
from workflow.files.stored import path_of, whole_file
from workflow.importing import more_rows
from workflow.importing.encoder_inputs import taking
from workflow.importing.uploads import read_as_named

if TYPE_CHECKING:
    from workflow.seat import Seat
    from workflow.server.home import Home

__all__ = ["Encoder", "EncoderError", "encode_file", "encode_project", "encode_to", "folder_of", "names"]


def names(home: Home) -> tuple[str, ...]:
    """The encoders that lie in the data folder, by name."""
    folder = home.encoders_dir
    found = [one.name for one in folder.iterdir() if one.is_dir()] if folder.is_dir() else []
    return tuple(sorted(name for name in found if not name.startswith(".")))  # those are not whole yet


def folder_of(home: Home, name: str) -> Path:
    """The folder of an encoder in the data folder. Raises EncoderError where there is none of this name."""
    found = names(home)
    if name not in found:  # never a path: only a name that is listed
        there = f"there are {listed(found)}" if found else "there is none"
        raise EncoderError(
            f"No encoder is called {name!r}; in {home.encoders_dir} {there}. Fix: put its folder there, with "
            "model.onnx and encoder.json."
        )
    return home.encoders_dir / name


def encode_project(seat: Seat, encoder: Encoder, on_step: StepProgress | None = None) -> tuple[str, ...]:
    """Give the rows of a project embeddings by this encoder, to learn from; notes about rows left out.

    It may take long, and is no work for the server's process. The project goes on meanwhile; where it gets more rows,
    nothing is stored, as RowsError says. Raises EncoderError, and as `workflow.importing.more_rows.add_rows`.
    """
    with seat.reading(Right.OWN) as reading:
        table_hash = reading.project.table_hash
    table = seat.home.read_table(table_hash)
    folder = seat.home.media_dir
    found = encoder.encode(table, _unopened, on_step, taking(lambda name: path_of(folder, name)))
    more_rows.add_rows(seat, more_rows.read_embeddings(seat, table_hash, found.values))
    return found.notes


def encode_file(
    file: Path,
    target: Path,
    encoder: Encoder,
    columns: Mapping[str, Any],
    beside: Mapping[str, Any],
    on_step: StepProgress | None = None,
) -> tuple[str, ...]:
    """`encode_to` of the table of a file. columns, beside : as of `read_as_named`. Raises TableError, too."""
    upload, table = read_as_named(file, columns, **beside)
    return (*upload.notes, *encode_to(target, table, encoder, on_step))


def encode_to(
    path: Path, table: LabelTable, encoder: Encoder, on_step: StepProgress | None = None
) -> tuple[str, ...]:
    """Write a vector of each row to a file that `with_vectors` joins to the same rows; notes about rows left out.

    Raises EncoderError, and OSError where the file cannot be written.
    """
    if path.suffix.lower() not in VECTOR_ENDINGS:
        raise EncoderError(
            f"{path.name!r} tells no format of vectors. Fix: end it in {listed(VECTOR_ENDINGS)}."
        )

    def path_of_kept(name: str) -> Path:
        if not isinstance(table.media.files, KeptFiles):
            raise MediaError(
                "the file did not come with the table.", "Give a zip of the table and its files."
            )
        return table.media.files.paths[name]

    found = encoder.encode(table, _unopened, on_step, taking(path_of_kept))
    with whole_file(path) as file:
        write_vectors(table.ids.tolist(), found.values, file, path.suffix.lower())
    return found.notes


def _unopened(name: str) -> NoReturn:
    """Files are decoded in a limited process alone."""
    raise AssertionError(name)
