"""The learner of a project with one true label among candidates, made of its stored table."""

from __future__ import annotations

import logging
import shutil
import zipfile
from collections.abc import Mapping, Sequence
from pathlib import Path
from tempfile import NamedTemporaryFile

import numpy as np

from plcore import ActiveLearner, LabelTable, LearnerSettings
from plcore.arrays import IN_MEMORY, AnyArray, map_arrays, write_arrays
from plcore.loop import ClassChange
from plcore.loop.one_label import OneLabelPool, Trainer
from plcore.neighbors import Graph, graph_key
from plcore.tables import nameless_file
from workflow.files.stored import NEW
from workflow.server.home import Home, room_for_learner

# Neighbour graphs kept on disk: found once per table and settings, read at the next start.
#
# A cache and nothing more: a file that is missing, old or damaged is found again and written again. Neighbours of many
# rows are in a file that is mapped while their learner is open, as the text of their table does.


def kept_graph(home: Home, table_hash: str, settings: LearnerSettings) -> Graph | None:
    """The neighbours found at an earlier start; None if there are none that can be read."""
    path = _path(home, table_hash, settings)
    if not path.exists():
        return None
    try:
        with path.open("rb") as file:
            if path.stat().st_size <= IN_MEMORY:
                with np.load(file, allow_pickle=False) as arrays:
                    return Graph.from_arrays(dict(arrays))
            with nameless_file(path.parent) as own:  # the kept one may be rewritten, by another server too
                shutil.copyfileobj(file, own, 1 << 20)
                own.flush()
                return Graph.from_arrays(map_arrays(own))
    except (OSError, ValueError, EOFError, NotImplementedError, zipfile.BadZipFile):
        logger.warning("The stored neighbours %s cannot be read; they are found again.", path.name)
        return None


def keep_graph(home: Home, table_hash: str, learner: ActiveLearner[LabelTable]) -> None:
    """Write the learner's graph, if it has one, for the next start. A full disk costs time then, nothing else."""
    if (graph := learner.graph) is None:
        return
    path = _path(home, table_hash, learner.settings)
    aside = None
    try:
        path.parent.mkdir(mode=0o700, exist_ok=True)
        with NamedTemporaryFile(dir=path.parent, prefix=NEW, delete=False) as aside:
            write_arrays(aside.file, graph.to_arrays())
        Path(aside.name).replace(path)
    except OSError:
        if aside is not None:
            Path(aside.name).unlink(missing_ok=True)
        logger.exception("The neighbours could not be kept; they will be found again at the next start.")


def _path(home: Home, table_hash: str, settings: LearnerSettings) -> Path:
    return home.settings.home / "graphs" / f"{table_hash}-{graph_key(settings)}.npz"


Learner = ActiveLearner[LabelTable]

logger = logging.getLogger("winnow")


@room_for_learner()
def first_learner(table: LabelTable, settings: LearnerSettings) -> Learner:
    """The learner of a new project. Raises ValueError where none can be built, or only one that cannot be trained."""
    if table.label_vectors is not None:
        raise ValueError("the table holds label vectors, these settings are for candidates.")
    learner = ActiveLearner(table, settings)
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
    """The learner of a stored table under these changes of its classes, its neighbours from the cache if there.

    checkpoint : where it continues; None: before the first entry
    """
    table = home.read_table(table_hash)
    if (graph := kept_graph(home, table_hash, settings)) is not None:
        try:
            return ActiveLearner(table, settings, graph, changes, checkpoint=checkpoint)
        except ValueError:
            logger.warning(
                "The stored neighbours of table %s do not fit it; they are found again.", table_hash[:12]
            )
    learner = ActiveLearner(table, settings, changes=changes, checkpoint=checkpoint)
    keep_graph(home, table_hash, learner)
    return learner


CACHE = keep_graph


def make_pool(
    table: LabelTable, settings: LearnerSettings, changes: Sequence[ClassChange] = ()
) -> OneLabelPool[LabelTable]:
    """The rows before the first entry, under these changes of the classes. Raises ClassError."""
    return OneLabelPool(table, settings, changes)


def candidates_of(learner: Learner) -> OneLabelPool[LabelTable]:
    """The pool of the learner: its classes can change, and people can disagree on its rows."""
    return learner.pool


CLASSES = DISPUTES = candidates_of
