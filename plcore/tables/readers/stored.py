"""Store a `TableReading` in a folder, to pass it to another process: Arrow, NumPy and JSON, no pickles.

`cells.arrow` has the cells, a text column under each number, and the file line in which each row starts.
`array-0-….npy` are vector columns; sparse ones have the three arrays of CSR. `reading.json` has everything else. Files
that came with the table are in `files.zip` or `files.bin` (concatenated), or stay in their folder.
"""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pyarrow as pa
import scipy.sparse as sp

from plcore.tables.columns import mapped, mapped_array
from plcore.tables.features.embeddings import Vectors
from plcore.tables.media.file_tree import Archive, FilesByBaseName, Folder
from plcore.tables.media.files import FileSource, MediaFiles
from plcore.tables.readers.parquet import EmbeddedFiles
from plcore.tables.readers.reading import TableReading
from plcore.tables.roles.roles import Roles
from plcore.tables.text.arrow import columns_of_text, frame_of
from plcore.tables.text.csv import LINE_INDEX
from plcore.tables.text.types import from_text, to_text, types_of, with_types

CELLS, SAID = "cells.arrow", "reading.json"
_CSR = ("data", "indices", "indptr")


def store_reading(reading: TableReading, folder: Path) -> None:
    """Write the reading into this folder, replacing any other."""
    cells = reading.cells
    lines = cells.index if cells.index.name == LINE_INDEX else None
    columns = {str(place): column for place, column in enumerate(columns_of_text(cells))}
    if lines is not None:
        columns[LINE_INDEX] = pa.array(np.asarray(lines, dtype=np.int64))
    table = pa.table(columns)
    (folder / CELLS).unlink(missing_ok=True)  # keeps a mapped file unchanged
    with pa.OSFile(str(folder / CELLS), "wb") as sink, pa.ipc.new_file(sink, table.schema) as writer:
        writer.write_table(table)
    store_said(
        folder,
        [str(name) for name in cells.columns],
        reading.format,
        roles=reading.roles,
        notes=reading.notes,
        asks=reading.asks,
        groups=reading.groups,
        types=to_text(types_of(cells)),
        arrays=[
            _store_array(array, folder, f"array-{place}", name)
            for place, (name, array) in enumerate(reading.arrays.items())
        ],
        files=None if reading.files is None else _store_files(reading.files.archive, folder),
    )


def store_said(
    folder: Path,
    names: Sequence[str],
    called: str,
    *,
    roles: Roles | None = None,
    notes: Sequence[str] = (),
    asks: Sequence[Sequence[str]] = (),
    groups: Mapping[str, Sequence[str]] | None = None,
    arrays: Sequence[Mapping[str, Any]] = (),
    files: Mapping[str, Any] | None = None,
    types: str = "",
) -> None:
    """Write a reading without its cells, vectors and files, replacing any other.

    names : of the columns      called : its format      arrays, files : places of the vectors and files
    types : original types of the columns, from `plcore.tables.text.types.to_text`
    """
    said = {
        "names": names,
        "format": called,
        "roles": None if roles is None else roles.to_json(),
        "notes": notes,
        "asks": asks,
        "groups": dict(groups or {}),
        "arrays": arrays,
        "files": files,
        "types": types,
    }
    (folder / SAID).write_text(json.dumps(said))


def read_stored(folder: Path, *, with_files: bool = True) -> TableReading:
    """Read what `store_reading` wrote into this folder. Cells and vectors stay on disk until they are used.

    with_files : whether to open and check the files that came with the table
    """
    said = json.loads((folder / SAID).read_text())
    table = pa.ipc.open_file(mapped(folder / CELLS)).read_all()
    n_columns = len(said["names"])
    cells = frame_of(table.columns[:n_columns], said["names"])
    with_types(cells, from_text(said.get("types", "")))
    if table.num_columns > n_columns:
        cells.index = pd.Index(table.column(n_columns).to_numpy(), name=LINE_INDEX)
    return TableReading(
        cells,
        said["format"],
        None if said["roles"] is None else Roles.from_json(said["roles"]),
        None if said["files"] is None or not with_files else MediaFiles(_read_files(said["files"], folder)),
        tuple(said["notes"]),
        {name: tuple(classes) for name, classes in said["groups"].items()},
        {one["name"]: _read_array(one, folder) for one in said["arrays"]},
        asks=tuple((name, message, fix) for name, message, fix in said["asks"]),
    )


def array_file(folder: Path, file: str) -> Path:
    """Return the path of a reading's array with this name."""
    return folder / f"{file}.npy"


def _store_array(array: Vectors, folder: Path, file: str, name: str) -> dict[str, Any]:
    if not sp.issparse(array):
        path = array_file(folder, file)
        path.unlink(missing_ok=True)  # keeps a mapped file unchanged
        # In row order, as in the table's own file: features would otherwise differ in their last bits.
        np.save(path, np.ascontiguousarray(array), allow_pickle=False)
        return {"name": name, "file": file}
    for part in _CSR:
        np.save(array_file(folder, f"{file}-{part}"), getattr(array, part), allow_pickle=False)
    return {"name": name, "file": file, "shape": list(array.shape)}


def _read_array(one: dict[str, Any], folder: Path) -> Vectors:
    if "shape" not in one:
        return mapped_array(array_file(folder, one["file"]))
    parts = (np.load(array_file(folder, f"{one['file']}-{part}"), allow_pickle=False) for part in _CSR)
    return sp.csr_matrix(tuple(parts), shape=one["shape"])


def _store_files(source: FileSource, folder: Path) -> dict[str, Any]:
    """Store the files, and return a description of their place."""
    if isinstance(source, FilesByBaseName):
        of = _store_files(source.files, folder)
        return {"how": "base names", "of": of, "repeated": sorted(source.repeated)}
    if isinstance(source, Folder):
        return {"how": "folder", "path": str(source.path)}
    if isinstance(source, Archive):
        (folder / "files.zip").write_bytes(source.data)
        return {"how": "zip"}
    if isinstance(source, EmbeddedFiles):
        with (folder / "files.bin").open("wb") as file:
            sizes = {name: file.write(data) for name, data in source.files.items()}
        return {"how": "embedded", "sizes": sizes}
    raise TypeError(f"Files of {type(source).__name__} cannot be stored.")


def _read_files(said: dict[str, Any], folder: Path) -> FileSource:
    if said["how"] == "base names":
        inner = _read_files(said["of"], folder)
        assert isinstance(inner, (Archive, Folder))  # noqa: S101 - as it was stored
        return FilesByBaseName(inner, said.get("repeated", ()))  # earlier versions did not write it
    if said["how"] == "folder":
        return Folder(Path(said["path"]))
    if said["how"] == "zip":
        return Archive(folder / "files.zip")
    with (folder / "files.bin").open("rb") as file:
        return EmbeddedFiles({name: file.read(size) for name, size in said["sizes"].items()})
