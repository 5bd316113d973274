"""A label for every row of a table, its source, and its confidence."""

from __future__ import annotations

from collections.abc import Iterator
from copy import copy
from dataclasses import replace
from functools import cached_property

import numpy as np
from numpy.typing import DTypeLike

from plcore.arrays.types import AnyArray, BoolArray, FloatArray, IntArray, Table
from plcore.crowd.dawid_skene import MOST_SURE
from plcore.kernel.file_scores import ScoreRule
from plcore.loop.entries import EntryKind
from plcore.loop.one_label.checks import rate_at_risk, rows_at_risk
from plcore.loop.one_label.file_scores import pooled_shares, weigh_file
from plcore.loop.one_label.heard import HeardRows, heard_rows
from plcore.loop.one_label.models import Model
from plcore.loop.one_label.pool import OneLabelPool
from plcore.loop.one_label.reports import Disambiguation
from plcore.neighbors.votes import VoteTable
from plcore.query.possible import necessary_of

BLOCK_CELLS = 1_000_000
"""Rows times classes processed at a time."""


class TakenLabels:
    """A snapshot of the labels of all rows, each inside its candidates. They are computed lazily, block by
    block; later entries do not change them. Several threads may read it.

    votes : votes of the training rows' neighbours, which prove some labels; None: nothing is proven
    has_outside : whether the probability of a truth outside the candidates is known
    """

    def __init__(self, pool: OneLabelPool[Table], model: Model, votes: VoteTable | None) -> None:
        self._rate = rate_at_risk(pool, model)
        self._heard = heard_rows(pool)
        self._pool = pool = _standing(pool)
        self._model = model.standing(pool)
        self._votes = None if votes is None else _decided_votes(votes, pool, self._heard)
        self._file = weigh_file(pool, self._model)
        self._size = max(1, BLOCK_CELLS // len(pool.classes))
        self._remaining = _remaining(pool, self._size)
        self._last: tuple[int, Disambiguation] | None = None

    def __len__(self) -> int:
        return len(self._pool.sizes)

    @property
    def has_outside(self) -> bool:
        return self._rate is not None

    @property
    def answered(self) -> BoolArray:
        """Return (n,) whether people decided the row's label. Rows that wait for more answers, unresolved disputes, and
        rows left with a class that no one named are not decided."""
        pool, heard = self._pool, self._heard
        decided = (pool.sizes == 1) & (pool.answered | pool.by_verdict)
        if heard is not None:
            decided[heard.rows[heard.pending | heard.disputed]] = False
        decided[self._remaining] = False
        return np.asarray(decided & ~pool.test_rows & ~pool.exact)

    @cached_property
    def _posterior(self) -> FloatArray:
        """Return (r, m) the posterior of the rows in `_heard`."""
        return np.zeros((0, 0)) if self._heard is None else self._heard.posterior()

    @cached_property
    def whole(self) -> Disambiguation:
        """Return the labels of all rows."""
        return _joined(self._blocks(slice(0, len(self))), has_outside=self.has_outside)

    def of(self, rows: slice | IntArray) -> Disambiguation:
        """Return the labels of these rows; for a slice, at the cost of its blocks only."""
        if isinstance(rows, slice) and "whole" not in vars(self):
            return _joined(self._blocks(rows), has_outside=self.has_outside)
        return _cut(self.whole, rows)

    def column(self, name: str) -> TakenColumn:
        """Return one of the arrays of a `Disambiguation`, computed lazily."""
        return TakenColumn(self, name)

    def _blocks(self, rows: slice) -> Iterator[Disambiguation]:
        """Yield the requested rows in parts, each from one block.

        The blocks depend on the table only: with another number of rows, the last bits of a model's sums may differ."""
        start, stop, _ = rows.indices(len(self))
        while start < stop:
            number = start // self._size
            begin, end = number * self._size, min((number + 1) * self._size, stop)
            last = self._last  # read once: another thread may replace it at any moment
            if last is None or last[0] != number:
                last = self._last = number, self._found(np.arange(begin, min(begin + self._size, len(self))))
            yield _cut(last[1], slice(start - begin, end - begin))
            start = end

    def _found(self, rows: IntArray) -> Disambiguation:
        pool, votes = self._pool, self._votes
        held = pool.test_rows[rows] | pool.control_rows[rows]
        shares = self._shares(rows)
        label = shares.argmax(axis=1)
        proven, train = np.zeros(len(rows), dtype=bool), np.flatnonzero(~held)
        if votes is not None and len(train):
            sure = pool.candidates[rows[train]] & necessary_of(votes, pool.place[rows[train]])
            one = sure.sum(axis=1) == 1
            proven[train[one]], label[train[one]] = True, sure[one].argmax(axis=1)
        size = pool.sizes[rows]
        share = np.where(size == 1, self._scores_of_single(rows), shares[np.arange(len(rows)), label])
        source = np.where(proven, "necessary", "open" if self._model.said is None else "model")
        said = np.where(pool.by_verdict[rows], "verdict", np.where(pool.answered[rows], "person", "given"))
        source = np.where(size == 1, said, source)
        exact = pool.test_rows[rows] | pool.exact[rows]
        by_file, scored, scores = self._scored(rows)
        by_file &= size > 1
        label, share = np.where(by_file, scored, label), np.where(by_file, scores, share)
        source = np.where(by_file, "file", source)
        told = (size > 0) & (source != "open")
        label = np.where(exact, pool.truth[rows], np.where(told, label, -1))
        confidence = np.where(exact, 1.0, np.where(told, share, np.nan))
        found = Disambiguation(
            labels=label,
            sources=np.where(exact, "truth", np.where(size > 0, source, "bad")),
            confidence=confidence,
            outside=None if self._rate is None else rows_at_risk(pool, self._model, self._rate, rows),
            likeliest=label,
            likelihood=confidence,
        )
        return self._without_remaining(self._as_heard(found, rows), rows)

    def _shares(self, rows: IntArray) -> FloatArray:
        """Return (r, m) the model's share of each candidate, combined with the file's scores by their
        rule."""
        shares = self._model.shares(rows)
        if self._file is None:
            return shares
        return pooled_shares(self._pool, self._model, self._file, rows, shares)

    def _file_shares(self, rows: IntArray) -> FloatArray | None:
        """Return (r, m) the file's scores inside the candidates, normalised to sum 1.

        None if there are none, or if a trained model uses them and is at least as accurate. Votes of neighbours do not
        use them."""
        pool, settings = self._pool, self._pool.settings
        ignored = settings.is_automatic and not settings.model_entry.weighs_candidates
        waits = self._model.said is None
        alone = self._file is not None and self._file.rule is ScoreRule.SCORES
        candidates = pool.candidates[rows]
        weights = pool.imported_weights(rows, candidates) if ignored or waits or alone else None
        if weights is None:
            return None
        weights = np.where(candidates, weights, 0.0)
        return np.asarray(weights / np.maximum(weights.sum(axis=1, keepdims=True), np.finfo(float).tiny))

    def _scores_of_single(self, rows: IntArray) -> FloatArray:
        """Return (r,) the file's score of each row's only candidate if that is below 1 and no person decided, else
        1."""
        pool = self._pool
        weights = pool.imported_weights(rows, pool.candidates[rows])
        if weights is None:
            return np.ones(len(rows))
        undecided = (pool.sizes[rows] == 1) & ~pool.answered[rows] & ~pool.by_verdict[rows]
        return np.where(undecided, np.minimum(weights.max(axis=1), 1.0), 1.0)

    def _scored(self, rows: IntArray) -> tuple[BoolArray, IntArray, FloatArray]:
        """Return three arrays (r,): whether the file's scores have one best candidate of a row, which one it is, and
        its share."""
        nothing = np.zeros(len(rows), dtype=np.int64)
        shares = self._file_shares(rows)
        if shares is None:
            return nothing.astype(bool), nothing, nothing.astype(np.float64)
        best = shares.max(axis=1)
        one = (shares == best[:, None]).sum(axis=1) == 1
        return one, shares.argmax(axis=1), np.minimum(best, MOST_SURE)

    def probabilities(self) -> TakenProbabilities:
        """Return class probabilities (n, m), computed lazily."""
        return TakenProbabilities(self)

    def _probabilities(self, rows: IntArray) -> FloatArray:
        """Return class probabilities (r, m) by the source of each row's label; every row sums to 1. Bad items get even
        shares of their imported candidates, and rows left with a class that no one named of all classes; what an only
        candidate's score leaves is spread over the other classes."""
        pool = self._pool
        found, candidates = self._found(rows), pool.candidates[rows]
        shares = self._shares(rows)
        by_file = self._file_shares(rows)
        if by_file is not None:
            shares = np.where((found.sources == "file")[:, None], by_file, shares)
        single = pool.sizes[rows] == 1
        score, others = self._scores_of_single(rows)[:, None], max(1, len(pool.classes) - 1)
        shares = np.where(single[:, None], np.where(candidates, score, (1 - score) / others), shares)
        if (heard := self._heard) is not None and len(heard.rows):
            _, here, there = np.intersect1d(rows, heard.rows, assume_unique=True, return_indices=True)
            some = (heard.together | heard.pending)[there]
            here, posterior = here[some], self._posterior[there[some]]
            shares[here] = np.where(posterior.sum(axis=1, keepdims=True) > 0, posterior, shares[here])
        shares[found.sources == "remaining"] = 1.0
        exact = np.flatnonzero(found.sources == "truth")
        shares[exact] = 0.0
        shares[exact, found.labels[exact]] = 1.0
        nothing = shares.sum(axis=1) <= 0
        shares = np.where(nothing[:, None], pool.first[rows], shares)
        return np.asarray(shares / shares.sum(axis=1, keepdims=True), dtype=np.float64)

    def _as_heard(self, found: Disambiguation, rows: IntArray) -> Disambiguation:
        """Return the probabilities, updated by the answers of several people."""
        heard = self._heard
        if heard is None or not len(heard.rows):
            return found
        _, here, there = np.intersect1d(rows, heard.rows, assume_unique=True, return_indices=True)
        stands = (found.sources[here] != "truth") & (found.sources[here] != "bad")
        here, there = here[stands], there[stands]
        labels, sources, confidence = found.labels.copy(), found.sources.copy(), found.confidence.copy()
        likeliest, likelihood = found.likeliest.copy(), found.likelihood.copy()
        posterior = np.where(self._pool.candidates[rows[here]], self._posterior[there], 0.0)
        pending, disputed = heard.pending[there], heard.disputed[there]
        decided = self._pool.sizes[rows[here]] == 1
        differ = heard.apart[there] & ~pending & ~disputed & decided
        sources[here[pending]], sources[here[disputed]] = "pending", "disputed"
        sources[here[differ]] = "combined"
        by_people = (heard.together[there] & decided | pending) & ~disputed & (labels[here] >= 0)
        own = here[by_people]
        confidence[own] = posterior[by_people, labels[own]]
        likelihood[own] = confidence[own]
        labels[here[disputed]], confidence[here[disputed]] = -1, np.nan
        likeliest[here[disputed]] = posterior[disputed].argmax(axis=1)
        likelihood[here[disputed]] = posterior[disputed].max(axis=1)
        return Disambiguation(labels, sources, confidence, found.outside, likeliest, likelihood)

    def _without_remaining(self, found: Disambiguation, rows: IntArray) -> Disambiguation:
        """Return the same without the label of rows left with a class that no one named."""
        gone = self._remaining[rows] & ~np.isin(found.sources, ("pending", "disputed"))
        if not gone.any():
            return found
        return replace(
            found,
            labels=np.where(gone, -1, found.labels),
            sources=np.where(gone, "remaining", found.sources),
            confidence=np.where(gone, np.nan, found.confidence),
            likeliest=np.where(gone, -1, found.likeliest),
            likelihood=np.where(gone, np.nan, found.likelihood),
        )


class TakenColumn:
    """An array (n,) of the labels of all rows, computed lazily. It stands in for the array when a table is written
    piece by piece."""

    def __init__(self, labels: TakenLabels, name: str) -> None:
        self._labels, self._name = labels, name

    def __len__(self) -> int:
        return len(self._labels)

    def __getitem__(self, rows: slice | IntArray) -> AnyArray:
        if isinstance(rows, slice):
            return np.asarray(getattr(self._labels.of(rows), self._name))
        return np.asarray(self)[rows]

    def __array__(self, dtype: DTypeLike | None = None, copy: bool | None = None) -> AnyArray:
        return np.array(getattr(self._labels.whole, self._name), dtype=dtype, copy=copy)


class TakenProbabilities:
    """Class probabilities (n, m), computed lazily in the blocks of the labels."""

    def __init__(self, labels: TakenLabels) -> None:
        self._labels = labels
        self.shape = len(labels), len(labels._pool.classes)

    def __len__(self) -> int:
        return self.shape[0]

    def __getitem__(self, rows: slice | IntArray) -> FloatArray:
        labels, size = self._labels, self._labels._size
        wanted = np.arange(len(self))[rows]
        found = np.empty((len(wanted), self.shape[1]))
        for number in np.unique(wanted // size).tolist():
            begin = number * size
            whole = labels._probabilities(np.arange(begin, min(begin + size, len(self))))
            here = wanted // size == number
            found[here] = whole[wanted[here] - begin]
        return found


def _decided_votes(votes: VoteTable, pool: OneLabelPool[Table], heard: HeardRows | None) -> VoteTable:
    """Return a snapshot of the votes, in which rows that wait for another answer or are disputed vote for all their
    imported candidates: nothing is proven by answers that do not decide."""
    found = votes.copy()
    if heard is not None:
        for row in heard.rows[heard.pending | heard.disputed].tolist():
            if not pool.control_rows[row]:  # these have no votes
                found.update(int(pool.place[row]), pool.candidates[row], pool.first[row])
    return found


def _remaining(pool: OneLabelPool[Table], size: int) -> BoolArray:
    """Return (n,) whether the only class left is one that neither the file nor a person named.

    It remains after "none of these", but the truth may be missing from the classes. size : rows examined at a time
    """
    found = np.zeros(len(pool.sizes), dtype=bool)
    decided = np.flatnonzero((pool.sizes == 1) & pool.answered & ~pool.by_verdict)
    for start in range(0, len(decided), size):
        rows = decided[start : start + size]
        left = np.asarray(pool.candidates[rows])
        outside = ~(np.asarray(pool.first[rows]) & left).any(axis=1)
        for row, label in zip(rows[outside].tolist(), left[outside].argmax(axis=1).tolist(), strict=True):
            found[row] = not _is_named(pool, row, label)
    return found


def _is_named(pool: OneLabelPool[Table], row: int, label: int) -> bool:
    """Return whether a person's latest answers name this class of a row, and do not merely leave it."""
    entries = pool.fold.counted(row)
    views = [entries]
    if pool.asked.rule is not None:
        views = [[one for one in entries if one.annotator == name] for name in {one.annotator for one in entries}]
    for view in views:
        kinds = [one.kind for one in view if one.kind in (EntryKind.IS, EntryKind.AMONG, EntryKind.NONE)]
        if kinds and kinds[-1] != EntryKind.NONE and pool.fold.chain(row, view).left[label]:
            return True
    return False


def _standing(pool: OneLabelPool[Table]) -> OneLabelPool[Table]:
    """Return a snapshot of the rows that later entries do not change."""
    found = copy(pool)
    found.candidates, found.sizes = pool.candidates.copy(), pool.sizes.copy()
    found.answered, found.by_verdict = pool.answered.copy(), pool.by_verdict.copy()
    return found


def _cut(found: Disambiguation, rows: slice | IntArray) -> Disambiguation:
    return Disambiguation(
        found.labels[rows],
        found.sources[rows],
        found.confidence[rows],
        None if found.outside is None else found.outside[rows],
        found.likeliest[rows],
        found.likelihood[rows],
    )


def _joined(parts: Iterator[Disambiguation], *, has_outside: bool) -> Disambiguation:
    found = list(parts)
    if len(found) == 1:
        return found[0]

    def column(name: str) -> AnyArray:
        return np.concatenate([getattr(one, name) for one in found])

    outside = column("outside") if has_outside else None
    return Disambiguation(
        column("labels"), column("sources"), column("confidence"), outside, column("likeliest"), column("likelihood")
    )
