"""Neighbour graphs kept on disk: found once per table and settings, read at the next start.

A cache and nothing more: a file that is missing, old or damaged is found anew and written again. Neighbours of many
rows lie in a file that is mapped while their learner is open, as the text of their table does.
"""

from __future__ import annotations

import logging
import shutil
import zipfile
from pathlib import Path
from tempfile import NamedTemporaryFile
from typing import TYPE_CHECKING

import numpy as np

from plcore import ActiveLearner, LabelTable, LearnerSettings
from plcore.common import IN_MEMORY, map_arrays, write_arrays
from plcore.neighbors import Graph, graph_key
from plcore.tables import nameless_file
from workflow.common.left_behind import NEW

if TYPE_CHECKING:
    from workflow.home import Home

logger = logging.getLogger("winnow")


def kept_graph(home: Home, table_hash: str, settings: LearnerSettings) -> Graph | None:
    """The neighbours found at an earlier start; None where there are none that can be read."""
    path = _path(home, table_hash, settings)
    if not path.exists():
        return None
    try:
        with path.open("rb") as file:
            if path.stat().st_size <= IN_MEMORY:
                with np.load(file, allow_pickle=False) as arrays:
                    return Graph.from_arrays(dict(arrays))
            with nameless_file(path.parent) as own:  # the kept one may be written anew, by another server too
                shutil.copyfileobj(file, own, 1 << 20)
                own.flush()
                return Graph.from_arrays(map_arrays(own))
    except (OSError, ValueError, EOFError, NotImplementedError, zipfile.BadZipFile):
        logger.warning("The stored neighbours %s cannot be read; they are found anew.", path.name)
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
        logger.exception("The neighbours could not be kept; they will be found anew at the next start.")


def _path(home: Home, table_hash: str, settings: LearnerSettings) -> Path:
    return home.settings.home / "graphs" / f"{table_hash}-{graph_key(settings)}.npz"
