"""Cache of vectors by encoder and content, so that none is computed twice: not for new rows, for another project, or by
the worker that continues after a crash.

One SQLite file per encoder, in the folder of data that can be computed again. Losing it costs only time, so nothing
here fails: an unreadable file counts as none.
"""

from __future__ import annotations

import sqlite3
from collections.abc import Mapping, Sequence
from contextlib import closing, suppress
from hashlib import sha256
from math import ceil
from pathlib import Path

import numpy as np

from plcore.tables.encoders import Key, MadeVector

MOST_BYTES = 2_000_000_000
"""Limit of all files, about 2 million vectors of 384 numbers. Above it, files of the least recently used encoders are
removed first. An encoder's own file is emptied if it alone is larger."""
_WAIT = 10.0  # seconds to wait for another process that writes


class KeptVectors:
    """The vectors of one encoder. sha256 : of the encoder, in hex"""

    def __init__(self, folder: Path, sha256: str) -> None:
        self._path = folder / f"{sha256}.sqlite3"
        with suppress(OSError):
            folder.mkdir(parents=True, exist_ok=True)
            _make_room(folder, self._path)

    def find(self, keys: Sequence[Key], /) -> Mapping[Key, MadeVector]:
        """Return the vectors stored under these keys."""
        named = {_digest(key): key for key in keys}
        found: dict[Key, MadeVector] = {}
        if not self._path.exists():
            return found
        try:
            with closing(self._opened()) as file:
                for digest, key in named.items():
                    row = file.execute("SELECT whole, vector FROM vectors WHERE key = ?", (digest,)).fetchone()
                    if row is not None:
                        found[key] = MadeVector(np.frombuffer(row[1], np.float16), bool(row[0]))
        except sqlite3.OperationalError:  # in use by another worker, or a disk that fails
            return {}
        except (sqlite3.DatabaseError, ValueError):  # damaged
            with suppress(OSError):
                self._path.unlink()
            return {}
        return found

    def keep(self, made: Mapping[Key, MadeVector], /) -> None:
        """Store vectors of length 1 in float16: one batch, which survives the end of the process."""
        rows = [
            (_digest(key), int(one.whole), np.asarray(one.values, np.float16).tobytes()) for key, one in made.items()
        ]
        with suppress(sqlite3.Error), closing(self._opened()) as file, file:
            file.executemany("INSERT OR REPLACE INTO vectors VALUES (?, ?, ?)", rows)

    def _opened(self) -> sqlite3.Connection:
        file = sqlite3.connect(self._path, timeout=_WAIT)
        # Files damaged by a power cut are rebuilt. Waiting for the disk after each batch would cost more than the
        # batch.
        file.execute("PRAGMA synchronous = OFF")
        file.execute(
            "CREATE TABLE IF NOT EXISTS vectors (key BLOB PRIMARY KEY, whole INTEGER, vector BLOB) WITHOUT ROWID"
        )
        return file


def keep_speed(folder: Path, encoder: str, ms: float) -> None:
    """Store how many milliseconds a row took on this machine. encoder : its name in the data folder"""
    with suppress(OSError):
        folder.mkdir(parents=True, exist_ok=True)
        (folder / f"{encoder}.ms").write_text(f"{ms:.6g}")


def known_speed(folder: Path, encoder: str) -> float | None:
    """Return the milliseconds per row as stored last; None before."""
    try:
        return float((folder / f"{encoder}.ms").read_text())
    except (OSError, ValueError):
        return None


def minutes_for(rows: int, ms: float) -> int:
    """Estimate how many minutes the rows take, at least 1. ms : milliseconds per row"""
    return max(1, ceil(rows * ms / 60_000))


def _digest(key: Key) -> bytes:
    return sha256(repr(key).encode()).digest()


def _make_room(folder: Path, own: Path) -> None:
    """Remove files of the least recently used encoders while all together are too large; this one is in use."""
    if own.exists():
        own.touch()
    files = sorted(folder.glob("*.sqlite3"), key=lambda one: (one.stat().st_mtime, one.name))
    sizes = {one: one.stat().st_size for one in files}
    for oldest in files:
        if sum(sizes.values()) <= MOST_BYTES:
            return
        oldest.unlink()
        del sizes[oldest]
