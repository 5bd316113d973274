"""Layouts of the map in which rows lie beside those most like them: wished for by a page, made by a worker, kept.

A layout is of a table, whatever was answered. Both it and the wish for one are files in the folder `cache` of the data
folder, which may be removed at any time: a map is drawn by the principal axes where there is none.
"""

from __future__ import annotations

import io
import json
import logging
import zipfile
from contextlib import suppress
from dataclasses import asdict, dataclass, replace
from typing import TYPE_CHECKING

import numpy as np

from workflow.common.map_places import beside_neighbors, features_of, rows_on_map
from workflow.common.whole_file import make_folder, whole_file

if TYPE_CHECKING:
    from pathlib import Path

    from plcore.common import FloatArray, IntArray
    from workflow.home import Home

logger = logging.getLogger("winnow")

TASK = "map"
"""The task of the leases of layouts."""
_MADE_AS = 1
"""Counts the ways in which layouts were made: those of an earlier one are not shown again."""


@dataclass(frozen=True)
class Wish:
    """project_id : whose map somebody looked at      table_hash : of its table      fault : why it cannot be made"""

    project_id: int
    table_hash: str
    fault: str = ""


def kept(home: Home, table_hash: str, rows: IntArray) -> FloatArray | None:
    """(k, 2) the layout of these rows of the table; None where there is none, or only one that cannot be read."""
    try:
        with np.load(io.BytesIO(_layout(home, table_hash).read_bytes()), allow_pickle=False) as file:
            places, laid = file["places"], file["rows"]
    except (OSError, ValueError, KeyError, EOFError, zipfile.BadZipFile):
        return None
    if places.shape != (len(rows), 2) or not np.array_equal(laid, rows) or not np.isfinite(places).all():
        return None
    return np.asarray(places)


def wish(home: Home, project_id: int, table_hash: str) -> Wish:
    """The wish for a layout of this table, left for a worker where there was none. A disk that cannot be written keeps
    nobody from looking at the map."""
    found = _read(path := _wish(home, table_hash))
    if found is not None:
        return found
    found = Wish(project_id, table_hash)
    with suppress(OSError):
        make_folder(path.parent)
        _write(path, found)
    return found


def wishes(home: Home) -> list[Wish]:
    """Those that a worker can fulfil."""
    found = [_read(path) for path in sorted(_folder(home).glob(f"*-{_MADE_AS}.wish"))]
    return [one for one in found if one is not None and not one.fault]


def fulfil(home: Home, wished: Wish) -> None:
    """Make the layout, keep it, and take the wish away. Raises what reading the table, or writing, raises."""
    table = home.read_table(wished.table_hash)
    rows = rows_on_map(table.n_rows)
    places = beside_neighbors(features_of(table, rows))
    file = io.BytesIO()
    np.savez(file, rows=rows, places=places)
    with whole_file(_layout(home, wished.table_hash)) as whole:
        whole.write(file.getbuffer())
    drop(home, wished)


def note_fault(home: Home, wished: Wish, fault: str) -> None:
    """Note why the layout cannot be made: it is not tried again. Raises OSError."""
    _write(_wish(home, wished.table_hash), replace(wished, fault=fault))


def drop(home: Home, wished: Wish) -> None:
    """Take a wish away."""
    _wish(home, wished.table_hash).unlink(missing_ok=True)


def _folder(home: Home) -> Path:
    return home.cache_dir / "maps"


def _layout(home: Home, table_hash: str) -> Path:
    return _folder(home) / f"{table_hash}-{_MADE_AS}.npz"


def _wish(home: Home, table_hash: str) -> Path:
    return _folder(home) / f"{table_hash}-{_MADE_AS}.wish"


def _read(path: Path) -> Wish | None:
    try:
        return Wish(**json.loads(path.read_text(encoding="utf-8")))
    except (OSError, ValueError, TypeError):  # not there, or not what was written: it is wished for anew
        return None


def _write(path: Path, wished: Wish) -> None:
    with whole_file(path) as file:
        file.write(json.dumps(asdict(wished)).encode())
