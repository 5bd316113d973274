"""Full training of a model: from the candidates after all log entries to scores of all rows. No database, no
files.

The result is determined by table, settings and entries, so a version can always be rebuilt.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Protocol

import numpy as np
from sklearn.base import BaseEstimator
from sklearn.preprocessing import StandardScaler
from sklearn.utils.validation import has_fit_parameter

from plcore.arrays.candidate_sets import MOST_CELLS
from plcore.arrays.threads import one_thread
from plcore.arrays.types import (
    AnyArray,
    BoolArray,
    FeatureBlock,
    FeatureMatrix,
    FloatArray,
    IntArray,
    Matrix,
    RoundProgress,
    Table,
    is_sparse,
)
from plcore.kernel.ridge import MOST_RESIDENT
from plcore.kernel.rounds import Rounds
from plcore.kernels.scores import softmax_rows
from plcore.labels.set_masses import sources_by_set
from plcore.labels.temperature import log_shares
from plcore.labels.weights import prior_labels, score_columns, weights_after_answers
from plcore.loop.one_label.pool import OneLabelPool
from plcore.loop.one_label.reports import CurvePoint
from plcore.query.plugged import Order, RowsKnown, order_rows

# First updates of a kernel ridge, before the next version from a worker: a few rounds from the current version.
#
# A first update depends only on the version and the current candidates, not on earlier updates, so a withdrawn answer
# leaves no trace. Only predictions for training rows change; predictions for held-out rows come from versions.


@dataclass(frozen=True, eq=False)
class FirstUpdate:
    """Scores after a first update.

    scores : float32 (n, m) of all rows, as those of a `Version`
    effects : (n_train,) how much an answer about each row would change the others; None if not asked for"""

    scores: AnyArray
    effects: FloatArray | None


@dataclass(frozen=True, eq=False)
class Footing:
    """Start of first updates: the state of a version, for the n rows it was fitted with, training rows first.

    rounds : inputs of the rounds      labels : (n, m) its soft labels
    candidates : bool (n, m) the candidates it was trained on, bad items as imported
    effects : (n_train,) how much an answer about each row would have changed the others
    held_prior : (n - n_train, m) initial soft labels of held-out rows, if these stay in their sources
    """

    rounds: Rounds
    labels: FloatArray
    candidates: BoolArray
    effects: FloatArray
    held_prior: FloatArray

    def update(
        self, candidates: BoolArray, scores: AnyArray, train: IntArray, with_effects: bool, weights: FloatArray | None
    ) -> FirstUpdate:
        """Return the first update for the current candidates (n_train, m) of the table's rows `train`.

        scores : (n, m) of the version
        weights : (n_train, m) `candidate_weights` of the table's training rows, or None

        A row without candidates has become a bad item. It stays as it was until the next version leaves it out.
        """
        n = len(candidates)
        now = self.candidates.copy()
        now[:n] = np.where(candidates.any(axis=1, keepdims=True), candidates, now[:n])
        changed = np.flatnonzero((now != self.candidates).any(axis=1))
        own_prior = prior_labels(now[:n], None if weights is None else weights_after_answers(weights, now[:n]))
        prior = np.concatenate([own_prior, self.held_prior])
        with one_thread():
            rounds = self.rounds.answered(now, changed)
            labels = rounds.update(self.labels, changed, prior).labels
            own = rounds.class_scores(labels, prior)
            effects = rounds.effects(own, now)[:n] if with_effects else None
        updated = np.array(scores, dtype=np.float32)
        updated[train] = own[:n]
        return FirstUpdate(updated, effects)

    def state(self) -> dict[str, AnyArray]:
        """Return the arrays that differ between versions, by name, for a file."""
        packed = np.packbits(self.candidates, axis=1)
        return {"labels": self.labels, "candidates": packed, "effects": self.effects, "held_prior": self.held_prior}

    def shared(self) -> dict[str, AnyArray]:
        """Return the arrays, by name, that all versions share until the bad items change; they are most of the data."""
        return self.rounds.to_arrays()

    @classmethod
    def from_arrays(cls, shared: Mapping[str, AnyArray] | Footing, state: Mapping[str, AnyArray]) -> Footing:
        """Restore the footing from `shared`, of this or another version, and `state`. Raises KeyError if an array is
        missing."""
        rounds = shared.rounds if isinstance(shared, Footing) else Rounds.from_arrays(shared)
        labels = state["labels"]
        candidates = np.unpackbits(state["candidates"], axis=1, count=labels.shape[1]).astype(bool)
        held_prior = state.get("held_prior", np.zeros((0, labels.shape[1])))  # older files have none
        return cls(rounds, labels, candidates, state["effects"], held_prior)


# Scores of a version, from a complete fit, or from an earlier fit with the current candidates.
#
# Both depend only on table, settings and log, not on earlier fits.


@dataclass(frozen=True, eq=False)
class ScoredFit:
    """Result of a fit.

    scores : (n, m) of all rows of the table      footing : start of first updates, if the model has them"""

    scores: AnyArray
    converged: bool
    footing: Footing | None = None


class Fits(Protocol):
    """Fits the model of a pool's settings, any number of times."""

    def fit(self, progress: RoundProgress | None) -> ScoredFit:
        """Fit to the training rows that are not bad items, with their current candidates. progress : as for
        `Trainer.train`"""


def sources_of(pool: OneLabelPool[Table], X: Matrix) -> IntArray | None:
    """Return (n,) the source of each row of the table, or None.

    Sources come from the column of sources, or are rows with the same set if their order shows that sets come from
    sources.

    X : (n, d) features, to recognise duplicate rows"""
    if pool.sources is not None:
        return pool.sources
    n = len(pool.original)
    return sources_by_set(pool.first[np.arange(n)], X, np.ones(n))


def members_held(pool: OneLabelPool[Table], sources: IntArray | None, rows: IntArray) -> IntArray:
    """Return the held-out rows, in addition to `rows`, that stay in their sources (n,).

    There are none without sources, or if the table is too large to hold the features of all rows."""
    if sources is None or len(pool.original) > MOST_RESIDENT:
        return np.zeros(0, dtype=np.int64)
    return np.setdiff1d(pool.held, rows)


def held_weights(pool: OneLabelPool[Table], rows: IntArray, candidates: BoolArray) -> FloatArray:
    """Return (r, m) weights of the candidates (r, m) of held-out rows, by the table and never by answers; 1 if it has
    none."""
    weights = pool.imported_weights(rows, candidates)
    return candidates.astype(float) if weights is None else weights


DOUBT = 0.01
"""Share added to a forest's predictions for a row, spread evenly: a class that no tree predicts is still possible."""


class WholeFits:
    """Fits a new estimator each time. Held-out rows stay in their sources as in `KernelFits`, for models that use
    sources."""

    def __init__(self, pool: OneLabelPool[Table], X: Matrix) -> None:
        self._pool, self._X = pool, X
        self._sources = sources_of(pool, X) if pool.settings.model_entry.uses_sources else None
        self._held = members_held(pool, self._sources, pool.train)

    def fit(self, progress: RoundProgress | None) -> ScoredFit:
        pool, settings = self._pool, self._pool.settings
        train = pool.train[~pool.bad[pool.train]]
        rows = np.concatenate([train, self._held])
        entry, candidates = settings.model_entry, pool.candidates[train]
        told: dict[str, AnyArray | None] = {}
        if entry.uses_scores:
            told["candidate_weights"] = self._weights(train, candidates)
        if self._sources is not None:
            told["groups"] = self._sources[rows]
            told["sample_weight"] = np.repeat([1.0, 0.0], [len(train), len(self._held)])
            candidates = np.concatenate([candidates, pool.first[self._held]])
        estimator = entry.make(settings.C, settings.seed)
        if has_fit_parameter(estimator, "imported"):
            told["imported"] = pool.first[rows]
        estimator.fit(self._X[rows], candidates, progress=progress, **told)
        return ScoredFit(self._scores(estimator, train), bool(estimator.converged_))

    def _weights(self, train: IntArray, candidates: BoolArray) -> FloatArray | None:
        weights = self._pool.weights_of(train, candidates)
        if weights is None or not len(self._held):
            return weights
        return np.concatenate([weights, held_weights(self._pool, self._held, self._pool.first[self._held])])

    def _scores(self, estimator: BaseEstimator, train: IntArray) -> AnyArray:
        """Return (n, m) scores of all rows. train : rows it has learnt from, whose own labels must not confirm
        themselves"""
        if not hasattr(estimator, "out_of_bag_"):
            return class_scores(estimator, self._X)
        shares = estimator.predict_proba(self._X)
        shares[train] = estimator.out_of_bag_[: len(train)]
        possible = np.broadcast_to(self._pool.candidates[train].any(axis=0), shares.shape)
        return log_shares(shares, possible, DOUBT)


class KernelFits:
    """A `PLKernelRidge` whose kernel, ridge and class mass are chosen once, from the candidates as imported.

    Later versions cost only the rounds: kernel and eigendecomposition are reused until other rows become bad items,
    which are then fitted with weight 0. The class masses are always those of the imported sets. Scores are logarithms
    of shares: for a training row by the regression without it, for a held-out row by the whole regression.

    If rows come from sources, held-out rows stay in theirs, without weight, so that nothing is learnt from them. They
    have the candidates of the file, because a candidate of the source may belong to them. Their answers and true labels
    are not used. Predictions for them are adjusted like those for training rows, so that they measure the same.

    keep_scales : whether X has blocks of columns; else the estimator scales each column itself
    """

    def __init__(self, pool: OneLabelPool[Table], X: Matrix, *, keep_scales: bool = False) -> None:
        self._pool, self._X, self._keep_scales = pool, X, keep_scales
        self._estimator: BaseEstimator = None
        self._held: AnyArray | None = None  # coordinates of the held-out rows, which no version changes
        self._rows, self._sources = self._fitted_rows()
        self._bad: BoolArray = np.zeros(len(self._rows), dtype=bool)  # bad items when it was fitted

    def _fitted_rows(self) -> tuple[IntArray, FloatArray | None]:
        """Return the fitted rows, training rows first, and the source of each, or None."""
        train, sources = self._pool.train, sources_of(self._pool, self._X)
        rows = np.concatenate([train, members_held(self._pool, sources, train)])
        return rows, None if sources is None else sources[rows].astype(float)

    def fit(self, progress: RoundProgress | None) -> ScoredFit:
        pool = self._pool
        n_train, imported = len(pool.train), pool.first[self._rows]
        bad = pool.bad[self._rows] & (np.arange(len(self._rows)) < n_train)
        if self._estimator is None:
            settings = pool.settings
            estimator = settings.model_entry.make(settings.C, settings.seed)
            if self._keep_scales:
                estimator.set_params(scaling=None)
            self._begin(estimator, self._bad, progress)
        if not np.array_equal(bad, self._bad):
            old = self._estimator
            names = ("kernel", "alpha", "class_mass", "set_mass", "temperature")
            chosen = {name: getattr(old, f"{name}_") for name in names}
            self._begin(old.__class__(**{**old.get_params(), **chosen}), bad, progress)
        candidates = imported.copy()
        own = pool.candidates[pool.train]
        candidates[:n_train] = np.where(bad[:n_train, None], imported[:n_train], own)  # a bad item has none
        weights = self._weights(candidates)
        model = self._estimator.relabel(candidates, candidate_weights=weights, imported=imported, progress=progress)
        labels, ridge = model.label_distributions_, model.rounds_.ridge
        scores = np.empty(pool.original.shape, dtype=np.float32)
        prior = prior_labels(candidates, weights)
        said = model.rounds_.class_scores(labels, prior)
        scores[pool.train] = said[:n_train]
        if len(pool.held):
            if self._held is None:
                held = model.rounds_.pulled_scores(labels, prior)[n_train:]
            else:
                held = ridge.scores(labels, self._held) / model.temperature_
            held[:, ~candidates[:n_train][~bad[:n_train]].any(axis=0)] = -np.inf
            scores[pool.held] = held
        effects = model.rounds_.effects(said, candidates)[:n_train]
        footing = Footing(model.rounds_, labels, candidates, effects, prior[n_train:])
        return ScoredFit(scores, bool(model.converged_), footing)

    def _begin(self, estimator: BaseEstimator, bad: BoolArray, progress: RoundProgress | None) -> None:
        """Fit the estimator to the candidates as imported, bad rows without weight."""
        pool, rows = self._pool, self._rows
        trains = np.arange(len(rows)) < len(pool.train)
        estimator.fit(
            self._X[rows],
            pool.first[rows],
            sample_weight=(trains & ~bad).astype(float),
            groups=None if self._sources is None else np.where(bad, np.nan, self._sources),
            # Do not use weights from answers: the choice would then depend on the time of the first fit.
            candidate_weights=pool.imported_weights(rows, pool.first[rows]),
            progress=progress,
        )
        apart = len(pool.held) and trains.all()
        self._held = estimator.coordinates(self._X[pool.held]) if apart else None
        self._estimator, self._bad = estimator, bad

    def _weights(self, candidates: BoolArray) -> FloatArray | None:
        """Return (n, m) weights of the fitted rows' candidates; for held-out rows by the table and never by answers."""
        pool, n = self._pool, len(self._pool.train)
        own, held = pool.weights_of(pool.train, candidates[:n]), self._rows[n:]
        if own is None or not len(held):
            return own
        return np.concatenate([own, held_weights(pool, held, candidates[n:])])


def class_scores(estimator: BaseEstimator, X: Matrix) -> AnyArray:
    """Return (n, m) scores; scikit-learn's one column for two classes becomes two."""
    scores = np.asarray(estimator.decision_function(X))
    if scores.ndim == 1 and len(estimator.classes_) == 1:
        return np.zeros((len(scores), 1))
    return score_columns(scores)


@dataclass(frozen=True)
class Version:
    """A trained model version. Its number is the seq of the last entry it has learnt.

    scores : float32 (n, m) of all rows of the table; -inf for classes that are never predicted
    point : progress at that time, and the quality of this version
    footing : start of the learner's first updates, if the model has them
    order : of the training rows by the plug-in that is the strategy, if one is
    """

    scores: AnyArray
    point: CurvePoint
    converged: bool
    footing: Footing | None = None
    order: Order | None = None

    @property
    def number(self) -> int:
        return self.point.model_version


class Trainer:
    """Fits the model of a pool's settings to its current candidates; features are computed once.

    Earlier fits have no influence: the same log gives the same version.
    """

    def __init__(self, pool: OneLabelPool[Table]) -> None:
        self.pool = pool
        X, keep_scales = features_with_scales(pool)
        self._X = X
        self._fits: Fits
        if pool.settings.model_entry.relabels:
            self._fits = KernelFits(pool, X, keep_scales=keep_scales)
        else:
            self._fits = WholeFits(pool, X)

    def train(self, progress: RoundProgress | None = None) -> Version:
        """Return a version of the model, fitted to all training rows that are not bad items.

        progress : called with (iteration, objective); an exception it raises ends the training

        Raises the estimator's ValueError if the model cannot be fitted to these data.
        """
        pool = self.pool
        if pool.bad[pool.train].all():
            raise ValueError("Every training row is marked as a bad item: nothing is left to learn from.")
        fitted = self._fits.fit(progress)
        scores = fitted.scores.astype(np.float32, copy=False)
        said = np.asarray(scores[pool.held].argmax(axis=1), dtype=np.int64)
        point = pool.point(pool.held_score(said), None, pool.seq)
        return Version(scores, point, fitted.converged, fitted.footing, self._order(scores))

    def _order(self, scores: AnyArray) -> Order | None:
        """Call the plug-in that is the strategy, if one is. scores : (n, m) of all rows by the new version"""
        pool, entry = self.pool, self.pool.settings.strategy_entry
        if not entry.score:
            return None
        rows = pool.train
        candidates = pool.candidates[rows]
        shares = softmax_rows(scores[rows], candidates)
        known = RowsKnown(shares, candidates, pool.answered[rows], self._X[rows], pool.settings.seed)
        return order_rows(entry.score, known)


def standardized_features(pool: OneLabelPool[Table], use: str | None = None) -> FeatureMatrix:
    """Return (n, d) features of all rows, fitted and standardised on the training rows; sparse ones are not shifted.

    use : one of `FEATURE_SETS`; None: those of the settings

    The columns of a block with one scale are all divided by the same number. With a number for each column, rare words
    and the noise of an embedding would count as much as informative columns. Several blocks get the same total
    variance, on average 1 per column. Otherwise the block with the most columns would dominate.

    For models that score all classes of a row at once. Raises ValueError if rows and classes make too many scores.
    """
    return features_with_scales(pool, use)[0]


def features_with_scales(pool: OneLabelPool[Table], use: str | None = None) -> tuple[FeatureMatrix, bool]:
    """Return `standardized_features`, and whether blocks of columns have scales that a learner must keep."""
    plain, blocks = plain_features(pool, use)
    return scaled_features(pool, plain, blocks), bool(blocks)


def plain_features(pool: OneLabelPool[Table], use: str | None = None) -> tuple[FeatureMatrix, Sequence[FeatureBlock]]:
    """Return (n, d) features of all rows for the neighbour search, and their blocks (`Features.blocks_`).

    Arguments and errors as for `standardized_features`."""
    n, m = pool.original.shape
    if n * m > MOST_CELLS:
        raise ValueError(
            f"This model scores every class of every row: {n:,} rows and {m:,} classes make {n * m:,} scores; at most "
            f"{MOST_CELLS:,} are kept. Fix: take PL-KNN, which needs none."
        )
    features = pool.make_features(use)
    features.fit(pool.table, pool.train)
    return features.transform(pool.table, np.arange(len(pool.original))), features.blocks_


def scaled_features(pool: OneLabelPool[Table], X: FeatureMatrix, blocks: Sequence[FeatureBlock]) -> FeatureMatrix:
    """Return `standardized_features` for the output of `plain_features`."""
    scaler = StandardScaler(with_mean=not is_sparse(X)).fit(X[pool.train])
    width = sum(len(scaler.scale_[columns]) for columns, _ in blocks)
    for columns, one_scale in blocks:
        scales = scaler.scale_[columns]
        if one_scale:
            scales[:] = np.sqrt(scaler.var_[columns].mean()) or 1.0
        scales *= np.sqrt(len(scales) * len(blocks) / width)
    return scaler.transform(X)
