"""Dawid-Skene inside the candidates: how far each annotator can be believed, and what the rows are then."""

from __future__ import annotations

from collections.abc import Hashable
from dataclasses import replace
from typing import Any

import numpy as np
from sklearn.base import BaseEstimator
from sklearn.utils.validation import check_is_fitted

from plcore.common.checks import check_int, is_real
from plcore.common.types import BoolArray, FloatArray, IntArray
from plcore.crowd.expectation import even, run_rounds, sort_votes
from plcore.crowd.votes import last_votes, read_votes
from plcore.kernels.crowd import find_distributions
from plcore.labels.candidates import check_candidates

RIGHT, WRONG = 4.0, 1.0
"""What is believed of anybody before: of five answers four are right, the fifth is any other class."""

MOST_CELLS = 2**27
"""People times classes squared: a gigabyte for their confusion matrices, and one more while they are counted."""


class DawidSkene(BaseEstimator):  # type: ignore[misc]
    """Every row's distribution and every annotator's confusion matrix from votes alone (Dawid and Skene, 1979).

    prior_strength : how much is believed before anybody has answered. 1: of every class five answers, four of them
        right. First one matrix is fitted for all people together, with that prior; then each person has their own,
        which begins as five answers on every class in the shares of the pooled one: who has answered little is taken
        for one of the others. 0: no prior, as in 1979
    max_iter : rounds at most, of each of the two fits
    random_state : kept for tools that set it on every estimator; nothing is drawn, the same votes give the same fit

    After `fit`: label_distributions_ (n, m), 0 outside the candidates; rows without votes have all their candidates
    alike. confusion_ {annotator: (m, m)}, a row for each true class, what that person then says, rows sum to 1;
    pooled_confusion_ (m, m), of somebody who has not answered yet; class_masses_ (m,); classes_ (m,); annotators_;
    n_iter_; converged_; objective_, the log posterior after every round, which never falls where prior_strength > 0.
    The matrices lie in memory whole: people times classes squared are at most 2**27 (130 people at 1,000 classes).
    """

    def __init__(self, prior_strength: float = 1.0, max_iter: int = 100, random_state: Any = None) -> None:
        self.prior_strength = prior_strength
        self.max_iter = max_iter
        self.random_state = random_state

    def fit(self, votes: Any, candidates: Any = None) -> DawidSkene:
        """Fit to votes and, where given, candidates of the n rows: forms and errors as in `plcore.crowd.read_votes`."""
        read = read_votes(votes, candidates)
        self._fit(read.rows, read.who, read.masks, read.candidates, read.annotators)
        self.classes_ = read.classes
        return self

    def fit_masks(
        self, rows: IntArray, annotators: IntArray, masks: BoolArray, candidates: BoolArray
    ) -> DawidSkene:
        """The same from arrays: rows, annotators int (v,), masks bool (v, m), candidates bool (n, m).

        Annotators are any numbers, and the keys of confusion_; classes_ are 0..m-1. Of several votes of one annotator
        on a row the last counts. Raises ValueError where sides do not match, a row is not in 0..n-1 or a mask is empty.
        """
        rows, annotators, masks, candidates = _check_masks(rows, annotators, masks, candidates)
        names, who = np.unique(annotators, return_inverse=True)
        kept = last_votes(rows, who)
        self._fit(rows[kept], who[kept], masks[kept], candidates, tuple(names.tolist()))
        self.classes_ = np.arange(candidates.shape[1])
        return self

    def posterior(self, votes: Any, candidates: Any = None) -> FloatArray:
        """(n, m) distributions of rows by their votes, with people and classes as they were fitted: nothing is learnt.

        votes, candidates : as for `fit`, of the same classes. Who was not there is taken for one of the others
        (pooled_confusion_). Of the rows that were fitted, with the same votes and candidates, label_distributions_.
        """
        check_is_fitted(self)
        read = read_votes(votes, candidates, self.classes_)
        if read.classes.tolist() != self.classes_.tolist():
            raise ValueError(
                f"candidates must have the classes that were fitted, {self.classes_.tolist()!r}. "
                f"Got {read.classes.tolist()!r}."
            )
        known = {name: place for place, name in enumerate(self.annotators_)}
        people = np.array([known.get(name, len(known)) for name in read.annotators], dtype=np.int64)
        return self._posterior(read.rows, people[read.who], read.masks, read.candidates)

    def posterior_masks(
        self, rows: IntArray, annotators: IntArray, masks: BoolArray, candidates: BoolArray
    ) -> FloatArray:
        """The same from arrays, as for `fit_masks`; who is not among annotators_ takes pooled_confusion_."""
        check_is_fitted(self)
        rows, annotators, masks, candidates = _check_masks(rows, annotators, masks, candidates)
        known = {name: place for place, name in enumerate(self.annotators_)}
        who = np.array([known.get(name, len(known)) for name in annotators.tolist()], dtype=np.int64)
        # Strangers share one matrix, and are different people all the same: two of them on a row are two votes.
        kept = last_votes(rows, annotators)
        return self._posterior(rows[kept], who[kept], masks[kept], candidates)

    def _fit(
        self,
        rows: IntArray,
        who: IntArray,
        masks: BoolArray,
        candidates: BoolArray,
        annotators: tuple[Hashable, ...],
    ) -> None:
        """Votes are valid, one of each person on a row."""
        if not is_real(self.prior_strength) or not 0 <= float(self.prior_strength) < np.inf:
            raise ValueError(f"prior_strength must be a number of at least 0. Got {self.prior_strength!r}.")
        check_int("max_iter", self.max_iter, 1)
        m, mass = candidates.shape[1], float(self.prior_strength)
        if (cells := (len(annotators) + 1) * m * m) > MOST_CELLS:
            raise ValueError(
                f"{len(annotators)} annotators with {m} classes are {cells:,} cells of confusion matrices, more than "
                f"{MOST_CELLS:,}. Fix: fit parts of the classes or of the people, or merge rare classes."
            )
        strength = mass * (RIGHT + WRONG)
        shape = np.full((m, m), WRONG / (RIGHT + WRONG) / max(m - 1, 1))
        np.fill_diagonal(shape, RIGHT / (RIGHT + WRONG) if m > 1 else 1.0)
        together = sort_votes(rows, who, masks, len(candidates))
        alone = replace(together, who=np.zeros_like(together.who))
        pooled = run_rounds(alone, candidates, 1, shape, strength, mass, self.max_iter)
        own = run_rounds(
            together, candidates, len(annotators), pooled.confusions[0], strength, mass, self.max_iter
        )
        self.label_distributions_ = own.distributions
        self._learnt(annotators, own.masses, np.concatenate([own.confusions, pooled.confusions]))
        self.objective_, self.n_iter_, self.converged_ = own.objective, len(own.objective), own.converged

    def parameters(self) -> dict[str, FloatArray]:
        """What `posterior` goes by: masses (m,) and confusions (people + 1, said, true), the last of whoever is not
        known."""
        check_is_fitted(self)
        return {"masses": self.class_masses_, "confusions": self._confusions}

    @classmethod
    def from_parameters(
        cls, annotators: tuple[Hashable, ...], masses: FloatArray, confusions: FloatArray
    ) -> DawidSkene:
        """A model that says of rows what the one said of which `parameters` gave these; what a fit leaves besides,
        such as label_distributions_, it has not. annotators : its annotators_"""
        model = cls()
        model._learnt(annotators, masses, confusions)
        model.classes_ = np.arange(len(masses))
        return model

    def _learnt(self, annotators: tuple[Hashable, ...], masses: FloatArray, confusions: FloatArray) -> None:
        self.class_masses_, self.annotators_ = masses, annotators
        self._confusions = confusions  # as kernels read them
        self.confusion_ = {name: self._confusions[place].T for place, name in enumerate(annotators)}
        self.pooled_confusion_ = self._confusions[-1].T

    def _posterior(
        self, rows: IntArray, who: IntArray, masks: BoolArray, candidates: BoolArray
    ) -> FloatArray:
        votes = sort_votes(rows, who, masks, len(candidates))
        found = even(candidates)
        find_distributions(
            votes.first,
            votes.who,
            votes.begin,
            votes.members,
            self.class_masses_,
            self._confusions,
            candidates,
            found,
        )
        return found


def _check_masks(
    rows: Any, annotators: Any, masks: Any, candidates: Any
) -> tuple[IntArray, IntArray, BoolArray, BoolArray]:
    matrix, _ = check_candidates(np.asarray(candidates, dtype=bool))
    numbers, people = np.asarray(rows), np.asarray(annotators)
    sets = np.ascontiguousarray(masks, dtype=bool)
    for name, array in (("rows", numbers), ("annotators", people)):
        if array.ndim != 1 or (len(array) and array.dtype.kind not in "iu"):
            raise ValueError(f"{name} must be whole numbers (v,). Got {array.dtype} of shape {array.shape}.")
    if sets.shape != (len(numbers), matrix.shape[1]) or len(people) != len(numbers):
        raise ValueError(
            f"rows (v,), annotators (v,), masks (v, m) and candidates (n, m) must match. Got {numbers.shape}, "
            f"{people.shape}, {sets.shape} and {matrix.shape}."
        )
    wrong = (numbers < 0) | (numbers >= len(matrix)) | ~sets.any(axis=1)
    if wrong.any():
        vote = int(np.flatnonzero(wrong)[0])
        raise ValueError(
            f"Vote {vote}: the row must be in 0..{len(matrix) - 1} and the mask name a class. "
            f"Got row {numbers[vote]}, {int(sets[vote].sum())} classes."
        )
    return numbers.astype(np.int64), people.astype(np.int64), sets, matrix
