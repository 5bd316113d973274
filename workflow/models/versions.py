"""Files of model versions: the scores of all rows, and next to them the state that first updates start from.

`7.npy` holds the scores of version 7, and `7.npz` its state. `rounds-….npz` holds data that all versions share between
two changes of the bad items; it is written once. The files hold plain numbers, no pickle. Losing them costs nothing:
the worker rebuilds the scores of a version, and without the other files answers only wait for the next version.
"""

from __future__ import annotations

import hashlib
import os
import zipfile
from collections.abc import Callable
from pathlib import Path
from tempfile import NamedTemporaryFile
from typing import IO, TYPE_CHECKING

import numpy as np

from plcore.arrays import AnyArray, FloatArray
from plcore.loop.one_label import Footing
from plcore.query import Order

if TYPE_CHECKING:
    from plcore.loop.one_label import Version

KEPT_VERSIONS = 2
"""Versions stored in a folder: the newest, and one that a reader may just be opening."""
MOST_BYTES = 60 * 2**20
"""Limit of a version's state: above it, answers wait for the next version."""
PART = ".part"


def write_version(path: Path, version: Version) -> None:
    """Write the version's files, the scores (`path`) last, so that a published version can always be read."""
    path.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
    for part in path.parent.glob(f"*{PART}"):  # left by a killed worker
        part.unlink(missing_ok=True)
    state = {} if version.footing is None else _state(path, version.footing)
    if version.order is not None:
        ordered = version.order.scores
        state |= {"order": np.zeros(0) if ordered is None else ordered, "order_fault": np.array(version.order.fault)}
    if state:
        _put(path.with_suffix(".npz"), lambda file: _save(file, state))
    _put(path, lambda file: np.save(file, version.scores, allow_pickle=False))


def clean(path: Path) -> None:
    """Remove the files of obsolete versions, now that `path` is the newest."""
    # After an older database was restored, there may be files of later versions: those are obsolete, too.
    numbers = sorted(int(one.stem) for one in path.parent.glob("*.npy"))
    kept = [number for number in numbers if number <= int(path.stem)][-KEPT_VERSIONS:]
    for number in set(numbers) - set(kept):
        for ending in (".npy", ".npz"):
            path.with_name(f"{number}{ending}").unlink(missing_ok=True)
    shared = {_shared_by(path.with_name(f"{number}.npz")) for number in kept}
    for file in path.parent.glob("rounds-*.npz"):  # by name, not by age: a clock may have been set back
        if file.name not in shared:
            file.unlink(missing_ok=True)


def _shared_by(state: Path) -> str | None:
    """Return the name of the file that a version's state shares with others; None if there is none, or it cannot be
    read."""
    try:
        with np.load(state, allow_pickle=False) as arrays:
            return str(arrays["rounds"]) if "rounds" in arrays else None
    except (OSError, ValueError, EOFError, zipfile.BadZipFile):
        return None


def read_orders(path: Path) -> tuple[FloatArray | None, Order | None]:
    """Return (n_train,) the effect scores of the version whose scores are at `path`, and its `Version.order`; None if
    it has none.

    Raises OSError, ValueError, KeyError, EOFError, zipfile.BadZipFile for a file that cannot be read.
    """
    state = path.with_suffix(".npz")
    if not state.exists():
        return None, None
    with np.load(state, allow_pickle=False) as arrays:
        effects = np.asarray(arrays["effects"]) if "effects" in arrays else None
        if "order" not in arrays:
            return effects, None
        fault = str(arrays["order_fault"])
        return effects, Order(None if fault else np.asarray(arrays["order"]), fault)


def read_footing(path: Path, known: tuple[str, Footing] | None) -> tuple[str, Footing] | None:
    """Return the state that first updates start from, for the version whose scores are at `path`, after the name of the
    shared file; None if none is stored. known : the last result, so that the same file is not read again. Raises as
    `read_orders`.
    """
    state = path.with_suffix(".npz")
    if not state.exists():
        return None
    with np.load(state, allow_pickle=False) as arrays:
        if "rounds" not in arrays:
            return None
        stored = dict(arrays)
    name = str(stored["rounds"])
    if known is not None and known[0] == name:
        return name, Footing.from_arrays(known[1], stored)
    with np.load(path.with_name(name), allow_pickle=False) as shared:
        return name, Footing.from_arrays(dict(shared), stored)


def is_kept(footing: Footing) -> bool:
    """Whether first updates start from it: whether it is small enough to be stored."""
    arrays = *footing.state().values(), *footing.shared().values()
    return sum(one.nbytes for one in arrays) <= MOST_BYTES


def _state(path: Path, footing: Footing) -> dict[str, AnyArray]:
    """Return the arrays to store next to the scores at `path`; writes those that versions share."""
    state, shared = footing.state(), footing.shared()
    if not is_kept(footing):
        state = {"effects": footing.effects}
    else:
        # The rows are the large part, and differ only if the eigenvalues in `shrink` do.
        parts = b"".join(one.tobytes() for name, one in shared.items() if name != "rows")
        basis = path.with_name(f"rounds-{hashlib.sha256(parts).hexdigest()[:16]}.npz")
        if not basis.exists():
            _put(basis, lambda file: _save(file, shared))
        state["rounds"] = np.array(basis.name)
    return state


def _save(file: IO[bytes], arrays: dict[str, AnyArray]) -> None:
    np.savez(file, **arrays)  # type: ignore[arg-type]


def _put(path: Path, save: Callable[[IO[bytes]], None]) -> None:
    """Write a temporary file, sync it to disk and move it into place: otherwise a power cut could leave zeros as
    scores."""
    with NamedTemporaryFile(dir=path.parent, suffix=PART, delete=False) as aside:
        try:
            save(aside.file)
            aside.flush()
            os.fsync(aside.fileno())
        except OSError:
            Path(aside.name).unlink(missing_ok=True)
            raise
    Path(aside.name).replace(path)
