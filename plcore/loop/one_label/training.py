"""Training a model as a whole: candidates as the log leaves them in, scores of all rows out. No database, no files.

The result follows from table, settings and entries alone: a version can always be made again.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from scipy import sparse
from sklearn.preprocessing import StandardScaler

from plcore.common.candidate_sets import MOST_CELLS
from plcore.common.types import AnyArray, RoundProgress
from plcore.loop.one_label.first_update import Footing
from plcore.loop.one_label.fits import Fits, KernelFits, WholeFits
from plcore.loop.one_label.pool import OneLabelPool
from plcore.loop.one_label.reports import CurvePoint


@dataclass(frozen=True)
class Version:
    """A trained model version: its number is the seq of the last entry it has learnt.

    scores : float32 (n, m) of all rows of the table; -inf for classes that are never predicted
    point : where the work stood then, and how good this version is
    footing : what the learner's first updates start from, where the model has any
    """

    scores: AnyArray
    point: CurvePoint
    converged: bool
    footing: Footing | None = None

    @property
    def number(self) -> int:
        return self.point.model_version


class Trainer:
    """Fits the model of a pool's settings to its candidates as they stand; features are made once.

    What was trained before changes nothing: the same log gives the same version.
    """

    def __init__(self, pool: OneLabelPool[Any]) -> None:
        self.pool = pool
        made = KernelFits if pool.settings.model_entry.relabels else WholeFits
        self._fits: Fits = made(pool, standardized_features(pool))

    def train(self, progress: RoundProgress | None = None) -> Version:
        """One version of the model, from all training rows that are no bad items.

        progress : called with (iteration, objective); what it raises ends the training
        Raises ValueError where the model cannot be fitted to these data, in the estimator's own words.
        """
        pool = self.pool
        if pool.bad[pool.train].all():
            raise ValueError("Every training row is marked as a bad item: nothing is left to learn from.")
        fitted = self._fits.fit(progress)
        scores = fitted.scores.astype(np.float32, copy=False)
        said = np.asarray(scores[pool.held].argmax(axis=1), dtype=np.int64)
        return Version(
            scores, pool.point(pool.held_score(said), None, pool.seq), fitted.converged, fitted.footing
        )


def standardized_features(pool: OneLabelPool[Any]) -> Any:
    """(n, d) features of all rows, fitted and standardised on the training rows; sparse ones are not shifted.

    For models that score all classes of a row at once. Raises ValueError where rows and classes make more scores than
    are ever kept.
    """
    n, m = pool.original.shape
    if n * m > MOST_CELLS:
        raise ValueError(
            f"This model scores every class of every row: {n:,} rows and {m:,} classes make {n * m:,} scores; at most "
            f"{MOST_CELLS:,} are kept. Fix: take PL-KNN, which needs none."
        )
    features = pool.table.features()
    features.fit(pool.table, pool.train)
    X = features.transform(pool.table, np.arange(len(pool.original)))
    return StandardScaler(with_mean=not sparse.issparse(X)).fit(X[pool.train]).transform(X)
