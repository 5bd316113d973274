"""Dawid-Skene inside the candidates: the reliability of each annotator and the label distribution of each
row."""

from __future__ import annotations

from collections.abc import Hashable
from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike
from scipy.special import gammaln
from sklearn.base import BaseEstimator
from sklearn.utils.validation import check_is_fitted

from plcore.arrays.checks import check_int, is_real
from plcore.arrays.types import BoolArray, FloatArray, IntArray, LabelsLike, RandomState
from plcore.crowd.votes import VotesLike, last_votes, read_votes
from plcore.kernels.votes import LEAST, SMALLEST, add_counts, find_confusions, find_distributions, find_evidence
from plcore.labels.candidates import check_candidates

# The EM rounds of `DawidSkene`, on arrays.
#
# With class masses pi, a confusion matrix theta for every person (their answers given the truth), candidates S_i and
# votes A (sets of classes, mostly of one), the log-likelihood
#
#     sum_i log sum_{c in S_i} pi_c prod_{votes (w, A) on i} sum_{l in A} theta^w_cl
#
# increases from round to round (Dawid and Skene, 1979), with theta shrunk towards the person's own coin
# (`plcore.kernels.votes.find_confusions`). The coin follows the votes, so the likelihood may fall slightly in a round.
#
# The best shrinkage depends on the mistakes of the annotators. If they err evenly, a matrix per person is noise. If
# each has typical mistakes, the coin is wrong. If all confuse the same classes, such as neighbouring grades, the matrix
# of all people is a better prior than a coin, and keeps rare classes. So three models are fitted: with the coin
# counting as many answers as the person gave on the class, with the coin counting at most 20, and with the matrix of
# all people counting 5. The model under which the votes are most probable is used, with masses and matrices integrated
# out, by the variational lower bound at the posterior q of the last round,
#
#     E_q[log p(A, z)] + H(q),    where  H(q) = log p(A | pi, theta) - E_q[log p(A, z | pi, theta)].

PRIORS = ((20.0, False), (np.inf, False), (20.0, True))
"""Maximum weight of a person's coin, in answers on a class; whether the matrix of all people replaces it."""
TOLERANCE = 1e-6
"""Change of the log-likelihood per vote below which the rounds end."""


@dataclass(frozen=True)
class SortedVotes:
    """Votes in the form of the kernels. first (n + 1,), who (v,), begin (v + 1,), members: all int64."""

    first: IntArray
    who: IntArray
    begin: IntArray
    members: IntArray

    @property
    def voted(self) -> BoolArray:
        """Return bool (n,) the rows that have votes."""
        return np.diff(self.first) > 0


@dataclass(frozen=True)
class CrowdRounds:
    """Result of the rounds.

    distributions (n, m)      masses (m,)      confusions (people + 1, said, true), the last one for unknown people
    history of the log-likelihood      evidence : for this prior"""

    distributions: FloatArray
    masses: FloatArray
    confusions: FloatArray
    objective: list[float]
    converged: bool
    shrinkage: float
    shared: bool
    evidence: float  # a logarithm; nan without a prior


def sort_votes(rows: IntArray, who: IntArray, masks: BoolArray, n_rows: int) -> SortedVotes:
    """Sort votes by row, then annotator, so that the order of the votes does not change the sums."""
    order = np.lexsort((who, rows))
    masks = masks[order]
    first = np.concatenate([[0], np.bincount(rows, minlength=n_rows).cumsum()]).astype(np.int64)
    begin = np.concatenate([[0], masks.sum(axis=1).cumsum()]).astype(np.int64)
    members = np.ascontiguousarray(np.nonzero(masks)[1], dtype=np.int64)
    return SortedVotes(first, np.ascontiguousarray(who[order], dtype=np.int64), begin, members)


def even(candidates: BoolArray) -> FloatArray:
    """Return (n, m) even shares of each row's candidates."""
    return np.asarray(candidates / candidates.sum(axis=1, keepdims=True), dtype=np.float64)


def shares_of_votes(votes: SortedVotes, candidates: BoolArray) -> FloatArray:
    """Return (n, m) shares of votes inside the candidates, each vote split among its classes. Without such votes, all
    candidates get even shares."""
    size = np.diff(votes.begin)
    row = np.repeat(np.arange(len(candidates)), np.diff(votes.first))
    shares = np.zeros(candidates.shape)
    np.add.at(shares, (np.repeat(row, size), votes.members), np.repeat(1.0 / np.maximum(size, 1), size))
    shares *= candidates
    total = shares.sum(axis=1, keepdims=True)
    return np.where(total > 0, shares / np.where(total > 0, total, 1.0), even(candidates))


def run_rounds(
    votes: SortedVotes,
    candidates: BoolArray,
    people: int,
    prior: float,
    shrinkage: float,
    max_iter: int,
    *,
    shared: bool = False,
) -> CrowdRounds:
    """Run EM, starting from the vote shares (majority vote).

    prior : strength of every person's coin, 0: none; the class masses start with `prior` rows, spread evenly
    shrinkage : maximum weight of the coin, in answers on a class
    shared : use the matrix of all people as each person's prior instead of the coin
    Rows without votes take no part; they get even shares in the end.
    """
    n_classes, voted = candidates.shape[1], votes.voted.astype(np.float64)
    parts = votes.first, votes.who, votes.begin, votes.members
    distributions = shares_of_votes(votes, candidates)
    confusions = np.full((people + 1, n_classes, n_classes), 1.0 / n_classes)
    counts = np.empty_like(confusions)
    likelihoods: list[float] = []
    converged = False
    for _ in range(max_iter):
        # 1) M step: confusion matrices of each person, and of all people
        counts[:] = 0.0
        add_counts(*parts, distributions, confusions, counts)
        counts[-1] = counts[:-1].sum(axis=0)
        find_confusions(counts, prior, shrinkage, shared, confusions)
        masses = voted @ distributions + prior / n_classes
        masses = np.maximum(masses / max(masses.sum(), SMALLEST), SMALLEST)
        # 2) E step: distributions of the rows
        likelihoods.append(float(find_distributions(*parts, masses, confusions, candidates, distributions)))
        if len(likelihoods) > 1 and abs(likelihoods[-1] - likelihoods[-2]) < TOLERANCE * max(len(votes.who), 1):
            converged = True
            break
    evidence = np.nan
    if prior > 0:
        counts[:] = 0.0
        add_counts(*parts, distributions, confusions, counts)
        of_all = np.empty((1, n_classes, n_classes))
        find_confusions(counts[:-1].sum(axis=0)[None], prior, LEAST, False, of_all)
        rows = voted @ distributions
        entropy = likelihoods[-1] - (counts * np.log(confusions)).sum() - rows @ np.log(masses)
        evidence = entropy + find_evidence(counts[:-1], prior, shrinkage, shared, of_all[0])
        evidence += _evidence_of_masses(rows, prior)
    return CrowdRounds(distributions, masses, confusions, likelihoods, converged, shrinkage, shared, evidence)


def _evidence_of_masses(rows: FloatArray, prior: float) -> float:
    """Return the same as `find_evidence`, for the number of rows of each class: rows float (m,)."""
    each = prior / len(rows)
    evidence = gammaln(prior) - gammaln(prior + rows.sum()) + (gammaln(each + rows) - gammaln(each)).sum()
    return float(evidence)


MOST_SURE = 0.9999
"""Maximum probability to give out: answers of several people are never certain and must not be written as 1.0000."""
MOST_CELLS = 2**27
"""Maximum of people times classes squared: one gigabyte for the confusion matrices, and one more while they are
counted."""


@dataclass(eq=False, repr=False)
class DawidSkene(BaseEstimator):  # type: ignore[misc]
    """Estimate each row's label distribution and each annotator's confusion matrix from votes (Dawid and
    Skene, 1979).

    prior_strength : weight of the prior; 0: none, as in 1979. Each person starts with a "coin": right in four of five
        answers for any class, with errors spread evenly. The coin is then fitted to the person's answers. Each row of
        their confusion matrix holds the shares of their answers on that class, shrunk towards their coin. The coin
        counts as many answers as they gave on that class, at least 2, times `prior_strength`, so it does not outweigh
        the answers on a rare class. If the votes are then more probable, which is the case if people have individual
        mistakes, it counts at most 20 answers (`shrinkage_`). If the votes are more probable with shared mistakes, the
        matrix of all people replaces the coin and counts 5 answers (`shared_`)
    max_iter : maximum number of rounds
    random_state : unused, for API compatibility; the fit is deterministic

    After `fit`: label_distributions_ (n, m), 0 outside the candidates, uniform for rows without votes; confusion_
    {annotator: (m, m)}, a row for each true class with the shares of that person's answers, rows sum to 1;
    pooled_confusion_ (m, m), for someone who has not answered yet; class_masses_ (m,); classes_ (m,); annotators_;
    n_iter_; converged_; objective_, the log-likelihood of the votes after every round; shrinkage_, 20 or inf, the
    maximum weight of a coin in answers on a class, 20 if both are the same; shared_, whether the matrix of all people
    was the prior instead of the coin.

    On the anaesthetists' data of 1979 plain EM has class masses of 0.422 0.401 0.111 0.067; this estimator has 0.418
    0.400 0.112 0.070 and the same labels. With coins only, the rarest class had 0.049. `benchmarks crowd` compares the
    rules. All matrices are in memory: people times classes squared may be at most 2**27 (130 people with 1,000
    classes).
    """

    prior_strength: float = 1.0
    max_iter: int = 100
    random_state: RandomState = None

    def fit(self, votes: VotesLike, candidates: LabelsLike | None = None) -> DawidSkene:
        """Fit to votes and, optionally, candidates of the n rows. Forms and errors as in `plcore.crowd.read_votes`."""
        read = read_votes(votes, candidates)
        self._fit(read.rows, read.who, read.masks, read.candidates, read.annotators)
        self.classes_ = read.classes
        return self

    def fit_masks(self, rows: IntArray, annotators: IntArray, masks: BoolArray, candidates: BoolArray) -> DawidSkene:
        """Fit from arrays: rows, annotators int (v,), masks bool (v, m), candidates bool (n, m).

        Annotators are any numbers, and the keys of confusion_; classes_ are 0..m-1. If an annotator has several votes
        on a row, the last counts. Raises ValueError if shapes do not match, a row is not in 0..n-1 or a mask is empty.
        """
        rows, annotators, masks, candidates = _check_masks(rows, annotators, masks, candidates)
        names, who = np.unique(annotators, return_inverse=True)
        kept = last_votes(rows, who)
        self._fit(rows[kept], who[kept], masks[kept], candidates, tuple(names.tolist()))
        self.classes_ = np.arange(candidates.shape[1])
        return self

    def posterior(self, votes: VotesLike, candidates: LabelsLike | None = None) -> FloatArray:
        """Return label distributions (n, m) of rows from their votes, with the fitted confusions and masses (no
        learning).

        votes, candidates : as for `fit`, with the same classes

        People who were not in the fit get the pooled confusion of the others (pooled_confusion_). Rows of the fit, with
        the same votes and candidates, get their label_distributions_.
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
        """Return `posterior` from arrays, as for `fit_masks`. Unknown annotators get pooled_confusion_."""
        check_is_fitted(self)
        rows, annotators, masks, candidates = _check_masks(rows, annotators, masks, candidates)
        known = {name: place for place, name in enumerate(self.annotators_)}
        who = np.array([known.get(name, len(known)) for name in annotators.tolist()], dtype=np.int64)
        # Unknown annotators share one matrix but are different people: two of them on a row are two votes.
        kept = last_votes(rows, annotators)
        return self._posterior(rows[kept], who[kept], masks[kept], candidates)

    def _fit(
        self, rows: IntArray, who: IntArray, masks: BoolArray, candidates: BoolArray, annotators: tuple[Hashable, ...]
    ) -> None:
        """Fit to valid votes, at most one per person and row."""
        if not is_real(self.prior_strength) or not 0 <= float(self.prior_strength) < np.inf:
            raise ValueError(f"prior_strength must be a number of at least 0. Got {self.prior_strength!r}.")
        check_int("max_iter", self.max_iter, 1)
        m, prior = candidates.shape[1], float(self.prior_strength)
        if (cells := (len(annotators) + 1) * m * m) > MOST_CELLS:
            raise ValueError(
                f"{len(annotators)} annotators with {m} classes are {cells:,} cells of confusion matrices, more than "
                f"{MOST_CELLS:,}. Fix: fit parts of the classes or of the people, or merge rare classes."
            )
        votes = sort_votes(rows, who, masks, len(candidates))
        # With at most 20 answers per person, both coins are the same, and shared mistakes cannot be estimated.
        some = prior > 0 and np.bincount(who, minlength=1).max() > PRIORS[0][0]
        fits = (
            run_rounds(votes, candidates, len(annotators), prior, most, self.max_iter, shared=shared)
            for most, shared in (PRIORS if some else PRIORS[:1])
        )
        found = max(fits, key=lambda rounds: rounds.evidence)
        self.label_distributions_, self.shrinkage_ = found.distributions, found.shrinkage
        self.shared_ = found.shared
        self._learnt(annotators, found.masses, found.confusions)
        self.objective_, self.n_iter_, self.converged_ = (found.objective, len(found.objective), found.converged)

    def parameters(self) -> dict[str, FloatArray]:
        """Return the parameters of `posterior`: masses (m,) and confusions (people + 1, said, true), the last
        one for unknown annotators."""
        check_is_fitted(self)
        return {"masses": self.class_masses_, "confusions": self._confusions}

    @classmethod
    def from_parameters(
        cls, annotators: tuple[Hashable, ...], masses: FloatArray, confusions: FloatArray
    ) -> DawidSkene:
        """Rebuild a model from its `parameters`, for prediction only: other results of a fit, such as
        label_distributions_, are missing. annotators : its `annotators_`"""
        model = cls()
        model._learnt(annotators, masses, confusions)
        model.classes_ = np.arange(len(masses))
        return model

    def _learnt(self, annotators: tuple[Hashable, ...], masses: FloatArray, confusions: FloatArray) -> None:
        self.class_masses_, self.annotators_ = masses, annotators
        self._confusions = confusions  # in the memory layout of the kernels
        self.confusion_ = {name: self._confusions[place].T for place, name in enumerate(annotators)}
        self.pooled_confusion_ = self._confusions[-1].T

    def _posterior(self, rows: IntArray, who: IntArray, masks: BoolArray, candidates: BoolArray) -> FloatArray:
        votes = sort_votes(rows, who, masks, len(candidates))
        found = even(candidates)
        find_distributions(
            votes.first, votes.who, votes.begin, votes.members, self.class_masses_, self._confusions, candidates, found
        )
        return found


def _check_masks(
    rows: ArrayLike, annotators: ArrayLike, masks: ArrayLike, candidates: LabelsLike
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
