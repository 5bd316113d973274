"""Checkpoints of learners on disk, so that opening a project need not take in its whole log: one file for each project.

A cache and nothing more. A file is read only where it was made by this code, of this database, table, settings and
changes of the classes, and of a log that had then the very entry it has now at that place; and where it is whole. Any
other is as if it were not there: the log is read from its first entry, and the file written anew.
"""

from __future__ import annotations

import functools
import hashlib
import io
import logging
import sys
import zipfile
from dataclasses import dataclass
from importlib.metadata import version
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

import plcore
from db import entries
from db.identity import read_identity
from plcore.common import AnyArray
from workflow.common import log
from workflow.common.log import read_class_changes
from workflow.common.whole_file import whole_file

if TYPE_CHECKING:
    from collections.abc import Sequence

    from sqlalchemy.orm import Session

    from db.projects import Project
    from plcore.loop import ClassChange, Learner
    from workflow.home import Home
    from workflow.kinds.kind import Kind

logger = logging.getLogger("winnow")

MANY, SHARE = 2_000, 50
"""A checkpoint is made where the log has so many entries more than the last one had, and a 50th more: to take them in
takes longer than to write it."""

_DIGEST = hashlib.sha256().digest_size
_OF = "of"
"""The array that says of what state a file is."""


@dataclass(frozen=True)
class Checkpoint:
    """seq : of the last entry in it      arrays : what the learner is made of"""

    seq: int
    arrays: dict[str, AnyArray]


class Unwritten(NamedTuple):
    """A checkpoint in memory. It does not follow the learner, so that it can be written while somebody else uses it."""

    path: Path
    arrays: dict[str, AnyArray]

    def write(self) -> None:
        """Put it on disk. Where that cannot be done the next start takes longer, nothing else."""
        file = io.BytesIO()
        np.savez(file, **self.arrays)  # type: ignore[arg-type]
        try:
            self.path.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
            with whole_file(self.path) as whole:
                whole.write(hashlib.sha256(file.getbuffer()).digest())
                whole.write(file.getbuffer())
        except OSError:
            logger.exception("The checkpoint %s could not be written.", self.path.name)


def is_due(last: int, seq: int) -> bool:
    """Whether a learner that has taken in entry `seq` is worth a checkpoint. last : seq of the latest, 0 for none"""
    return seq - last >= max(MANY, last // SHARE)


def kept(
    home: Home, session: Session, project: Project, settings: Any, changes: Sequence[ClassChange]
) -> Checkpoint | None:
    """The project's checkpoint under these settings and changes; None where there is none of this very state."""
    path = _path(home, project.id)
    try:
        whole = path.read_bytes()
    except FileNotFoundError:
        return None
    except OSError:
        logger.exception("The checkpoint %s cannot be read; the whole log is.", path.name)
        return None
    try:
        if hashlib.sha256(whole[_DIGEST:]).digest() != whole[:_DIGEST]:
            raise ValueError("It is not what was written.")
        with np.load(io.BytesIO(whole[_DIGEST:]), allow_pickle=False) as file:
            arrays = dict(file)
        state = arrays.pop(_OF).tobytes().decode()
        seq = int(state.partition(" ")[0])
    except (ValueError, KeyError, EOFError, zipfile.BadZipFile):
        logger.warning("The checkpoint %s is damaged; the whole log is read.", path.name)
        return None
    if state != _state(session, project, settings, changes, seq):
        logger.info("The checkpoint %s is of another state; the whole log is read.", path.name)
        return None
    return Checkpoint(seq, arrays)


def take(home: Home, session: Session, project: Project, kind: Kind, learner: Learner) -> Unwritten:
    """A checkpoint of the learner, to take the place of the project's last.

    session : a transaction in which the log ends with the last entry that the learner has taken in
    """
    arrays = kind.checkpoint_of(learner)
    changes = read_class_changes(session, project.id)
    state = _state(session, project, learner.settings, changes, learner.seq)
    return Unwritten(_path(home, project.id), arrays | {_OF: np.frombuffer(state.encode(), dtype=np.uint8)})


def _path(home: Home, project_id: int) -> Path:
    return home.cache_dir / "checkpoints" / f"{project_id}.npz"


def _state(
    session: Session, project: Project, settings: Any, changes: Sequence[ClassChange], seq: int
) -> str:
    """Names what a checkpoint after entry `seq` is of, and all that it depends on.

    The log only grows, so its last entry stands for those before it: two logs that went apart, as after a backup was
    put back, may have entries of one token there, but not of one moment.
    """
    identity = read_identity(session.connection())
    parts = (
        _code(),
        identity and identity.id,
        project.id,
        project.created_at,
        project.table_hash,
        settings,
        tuple(changes),
        entries.get(session, project.id, seq),
    )
    return f"{seq} {hashlib.sha256(repr(parts).encode()).hexdigest()}"


@functools.cache
def _code() -> str:
    """Names the code that makes learners of logs, and the libraries it computes with."""
    found = hashlib.sha256()
    folder = Path(plcore.__file__).parent
    for path in (*sorted(folder.rglob("*.py")), Path(log.__file__), Path(__file__)):
        found.update(path.name.encode())
        found.update(path.read_bytes())
    libraries = [version(name) for name in ("numpy", "numba", "scipy", "scikit-learn")]
    return f"{found.hexdigest()} {sys.version} {libraries}"
