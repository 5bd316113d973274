"""The map of a project's rows: where each lies by its features, and whether it is open, answered or held out."""

from __future__ import annotations

import threading
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any
from weakref import WeakKeyDictionary

import numpy as np
from scipy import sparse
from sklearn.decomposition import PCA

if TYPE_CHECKING:
    from plcore import LabelTable
    from plcore.loop import Learner
    from workflow.common.opened import Opened
    from workflow.seat import Seat

STATES = ("open", "answered", "given", "held out", "bad")
MOST = 2_000
"""Rows on the map; of more, a seeded sample. A browser draws so many in half a second (benchmarks/results/pages.md)."""


@dataclass(frozen=True)
class InstanceMap:
    """Arrays over the k rows on the map.

    places : (k, 2) their first two principal components      states : (k,) number in STATES
    labels : of each row its candidates now; of label vectors the labels known to be right
    explained : share of the variance of the features that the two components hold
    """

    rows: np.ndarray
    row_ids: tuple[str, ...]
    places: np.ndarray
    states: np.ndarray
    labels: tuple[tuple[str, ...], ...]
    explained: float
    n_rows: int


@dataclass(frozen=True)
class _Places:
    rows: np.ndarray
    places: np.ndarray
    explained: float


# Where a row lies does not depend on the answers: computed once for a learner's table, by one thread.
_known: WeakKeyDictionary[Learner, _Places] = WeakKeyDictionary()
_placing = threading.Lock()


def instance_map(seat: Seat) -> InstanceMap:
    """Where the rows lie, and the state of each. The learner is locked for a moment only: nobody waits for a question.

    Raises
    ------
    NotAllowed, NotFound
    """
    with seat.learner() as opened:
        learner, table = opened.learner, opened.learner.table
    with _placing:
        found = _known.get(learner)
        if found is None:
            found = _known[learner] = _place(table)
    with seat.learner() as opened:
        states = _row_states(opened)[found.rows]
        labels = opened.kind.labels_on_map(opened.learner, found.rows.tolist())
    return InstanceMap(
        rows=found.rows,
        row_ids=tuple(map(table.id_of, found.rows)),
        places=found.places,
        states=states,
        labels=labels,
        explained=found.explained,
        n_rows=table.n_rows,
    )


def _row_states(opened: Opened[Any]) -> np.ndarray:
    """(n,) number in STATES. Control rows, or rows with control cells, look like all others: they are asked blindly."""
    pool = opened.learner.pool
    answered, still_open = opened.kind.answered_and_open(opened.learner)
    states = np.full(len(pool.bad), STATES.index("given"))
    states[answered] = STATES.index("answered")
    states[still_open] = STATES.index("open")  # answered or not: it can still be asked
    states[pool.test_rows] = STATES.index("held out")
    states[pool.bad] = STATES.index("bad")
    return states


def _place(table: LabelTable) -> _Places:
    """The first two principal components of the features, fitted on the rows shown."""
    rows = np.sort(np.random.default_rng(0).permutation(table.n_rows)[:MOST])
    X: Any = table.features().fit(table, rows).transform(table, rows)
    places = np.zeros((len(rows), 2), dtype=np.float32)
    size = min(2, X.shape[1], len(rows) - 1)
    if size < 1 or (X.max(axis=0) - X.min(axis=0)).max() == 0:
        return _Places(rows, places, 1.0)  # all rows are alike: one point says all
    if sparse.issparse(X) and min(X.shape) <= 2:
        X = X.toarray()
    pca = PCA(size, svd_solver="arpack" if sparse.issparse(X) else "auto", random_state=0)
    places[:, :size] = pca.fit_transform(X)
    return _Places(rows, places, float(pca.explained_variance_ratio_.sum()))
