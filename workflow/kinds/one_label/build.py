"""Construction of the learner of a project with one true label among candidates from its stored table."""

from __future__ import annotations

import json
import logging
import shutil
import zipfile
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import asdict
from pathlib import Path
from tempfile import NamedTemporaryFile
from typing import IO

import numpy as np

from plcore import ActiveLearner, LabelTable, LearnerSettings
from plcore.arrays import IN_MEMORY, AnyArray, ShareProgress, map_arrays, write_arrays
from plcore.loop import ClassChange
from plcore.loop.one_label import OneLabelPool, Trainer, find_pool_graph, graph_takes_long
from plcore.neighbors import Graph, graph_key
from plcore.tables import nameless_file
from workflow.files.stored import NEW
from workflow.kinds.kind import FindingNeighbors, Neighbors
from workflow.server.home import Home, room_for_learner

# Neighbour graphs stored on disk: found once per table and settings, read at the next start.
#
# They are only a cache: a missing, old or damaged file is computed and written again. The file of a large graph is
# mapped while its learner is open, like the text of its table. If finding the neighbours takes long, no one waits for
# it: a learner without them leaves a request next to the graph's place, and asks in random order until a worker has
# found them. Answers given meanwhile are in the log; the learner that replaces it applies them.

WISH = ".wish"


def kept_graph(home: Home, table_hash: str, settings: LearnerSettings) -> Graph | None:
    """Return the neighbours found at an earlier start; None if there are none, or they cannot be read."""
    path = _path(home, table_hash, settings)
    if not path.exists():
        return None
    try:
        with path.open("rb") as file:
            if path.stat().st_size <= IN_MEMORY:
                with np.load(file, allow_pickle=False) as arrays:
                    return Graph.from_arrays(dict(arrays))
            with nameless_file(path.parent) as own:  # the stored file may be rewritten, by another server too
                shutil.copyfileobj(file, own, 1 << 20)
                own.flush()
                return Graph.from_arrays(map_arrays(own))
    except (OSError, ValueError, EOFError, NotImplementedError, zipfile.BadZipFile):
        logger.warning("The stored neighbours %s cannot be read; they are found again.", path.name)
        return None


def keep_graph(home: Home, table_hash: str, learner: ActiveLearner[LabelTable]) -> None:
    """Write the learner's graph for the next start, or a request for the one it waits for; nothing if it needs none. A
    full disk only costs time."""
    try:
        if learner.waits:
            note_finding(home, table_hash, learner.settings, FindingNeighbors())
        elif learner.graph is not None:
            _write_graph(home, table_hash, learner.settings, learner.graph)
    except OSError:
        logger.exception("The neighbours could not be stored; they will be found again at the next start.")


def find_neighbors(
    home: Home, table_hash: str, settings: LearnerSettings, changes: Sequence[ClassChange], tell: ShareProgress
) -> None:
    """Find and store the neighbours that learners of this table and settings wait for, and remove the request. Finds
    nothing if they are already there. Raises what reading the table, or writing, raises."""
    if kept_graph(home, table_hash, settings) is None:
        pool = OneLabelPool(home.read_table(table_hash), settings, changes)
        _write_graph(home, table_hash, settings, find_pool_graph(pool, tell))
    _wish(home, table_hash, settings).unlink(missing_ok=True)


def note_finding(home: Home, table_hash: str, settings: LearnerSettings, now: FindingNeighbors) -> None:
    """Store the progress in the request for these neighbours, which is created if needed. Raises OSError."""
    with _in_place(_wish(home, table_hash, settings)) as file:
        file.write(json.dumps(asdict(now)).encode())


def read_finding(home: Home, table_hash: str, settings: LearnerSettings) -> FindingNeighbors | None:
    """Return the progress; None if nothing waits for these neighbours."""
    path = _wish(home, table_hash, settings)
    if not settings.needs_graph or not path.exists():
        return None
    try:
        return FindingNeighbors(**json.loads(path.read_bytes()))
    except (OSError, ValueError, TypeError):  # of another version, or just removed
        return FindingNeighbors() if path.exists() else None


def any_wait(home: Home) -> bool:
    """Whether there is a request for any neighbours, perhaps of a deleted project."""
    return any(_folder(home).glob(f"*{WISH}"))


NEIGHBORS = Neighbors(find_neighbors, note_finding, read_finding, any_wait)


def _write_graph(home: Home, table_hash: str, settings: LearnerSettings, graph: Graph) -> None:
    with _in_place(_path(home, table_hash, settings)) as file:
        write_arrays(file, graph.to_arrays())


@contextmanager
def _in_place(path: Path) -> Iterator[IO[bytes]]:
    """Yield a file to write, which is moved to `path` if the block succeeds. Raises OSError."""
    path.parent.mkdir(mode=0o700, exist_ok=True)
    with NamedTemporaryFile(dir=path.parent, prefix=NEW, delete=False) as aside:
        try:
            yield aside.file
            aside.flush()
            Path(aside.name).replace(path)
        except BaseException:
            Path(aside.name).unlink(missing_ok=True)
            raise


def _wish(home: Home, table_hash: str, settings: LearnerSettings) -> Path:
    return _path(home, table_hash, settings).with_suffix(WISH)


def _path(home: Home, table_hash: str, settings: LearnerSettings) -> Path:
    return _folder(home) / f"{table_hash}-{graph_key(settings)}.npz"


def _folder(home: Home) -> Path:
    return home.settings.home / "graphs"


Learner = ActiveLearner[LabelTable]

logger = logging.getLogger("winnow")


@room_for_learner()
def first_learner(table: LabelTable, settings: LearnerSettings) -> Learner:
    """Return the learner of a new project. Raises ValueError if none can be built, or it cannot be trained."""
    if table.label_vectors is not None:
        raise ValueError("the table holds label vectors, these settings are for candidates.")
    learner = ActiveLearner(table, settings, waits=_waits(OneLabelPool(table, settings)))
    if settings.is_trained:
        Trainer(learner.pool)
    return learner


@room_for_learner()
def build_learner(
    home: Home,
    table_hash: str,
    settings: LearnerSettings,
    changes: Sequence[ClassChange] = (),
    checkpoint: Mapping[str, AnyArray] | None = None,
) -> Learner:
    """Return the learner of a stored table under these changes of its classes, with its neighbours from the cache. If
    they are not cached and take long to find, it waits for them.

    checkpoint : the state it resumes from; None: before the first entry
    """
    table = home.read_table(table_hash)
    if (graph := kept_graph(home, table_hash, settings)) is not None:
        try:
            return ActiveLearner(table, settings, graph, changes, checkpoint=checkpoint)
        except ValueError:
            logger.warning("The stored neighbours of table %s do not fit it; they are found again.", table_hash[:12])
    waits = _waits(OneLabelPool(table, settings, changes))
    if waits and read_finding(home, table_hash, settings) is None:
        try:
            note_finding(home, table_hash, settings, FindingNeighbors())
        except OSError:  # no worker would see the request
            logger.exception("The request for neighbours could not be stored; they are found now.")
            waits = False
    learner = ActiveLearner(table, settings, changes=changes, checkpoint=checkpoint, waits=waits)
    if not waits:
        keep_graph(home, table_hash, learner)
    return learner


def _waits(pool: OneLabelPool[LabelTable]) -> bool:
    return pool.settings.needs_graph and graph_takes_long(pool)


CACHE = keep_graph


def make_pool(
    table: LabelTable, settings: LearnerSettings, changes: Sequence[ClassChange] = ()
) -> OneLabelPool[LabelTable]:
    """Return the rows before the first entry, under these changes of the classes. Raises ClassError."""
    return OneLabelPool(table, settings, changes)


def candidates_of(learner: Learner) -> OneLabelPool[LabelTable]:
    """Return the pool of the learner: its classes can change, and its rows can be disputed."""
    return learner.pool


CLASSES = DISPUTES = candidates_of
