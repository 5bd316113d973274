"""PL-KNN: weighted nearest-neighbour votes of partially labelled rows."""

from __future__ import annotations

from dataclasses import dataclass
from numbers import Integral, Real
from typing import ClassVar

import numpy as np
from numpy.typing import ArrayLike
from sklearn.base import _fit_context
from sklearn.utils import check_consistent_length
from sklearn.utils._param_validation import Interval, StrOptions
from sklearn.utils.validation import check_is_fitted

from plcore.arrays.types import AnyArray, BoolArray, FloatArray, IntArray, LabelsLike, MatrixLike
from plcore.labels.candidates import check_candidates
from plcore.labels.training import PartialLabelClassifier, check_features, check_update, require_y
from plcore.labels.weights import ClassMasses, check_candidate_weights, check_sample_weight, prior_labels
from plcore.neighbors.graph import NeighborGraph
from plcore.neighbors.votes import ScaledVoteTable, VoteTable, scale_bits, vote_scales


def votes_to_distributions(votes: IntArray, candidates: BoolArray) -> FloatArray:
    """Convert votes (r, m) of the rows' own neighbourhoods to probabilities (r, m) inside their candidates.

    Candidates without any votes get even probabilities; rows without candidates are all 0.
    """
    inside = np.where(candidates, votes, 0)
    inside = np.where(inside.any(axis=1, keepdims=True), inside, candidates)
    total = inside.sum(axis=1, keepdims=True)
    return np.asarray(inside / np.maximum(total, 1))


@dataclass(eq=False, repr=False)
class PLKNeighborsClassifier(PartialLabelClassifier):
    """K nearest neighbours that vote for all their candidate labels (Eq. 1 of Nguyen et al., AAAI 2017).

    Every neighbour of a point votes with its weight for each of its candidates. The label with the most votes wins;
    ties go to the first class. Weights are fixed-point integers, and neighbours are ordered by (distance, row number),
    so results do not depend on the batch, and `update` equals a fresh `fit` bit for bit.

    Parameters
    ----------
    n_neighbors : K, clipped to the number of training rows.
    weights : "linear": w = 1 - d / (sum of the K distances), all equal if these are 0; "uniform": w = 1.
    scaling : "minmax" (each feature to [0, 1]; max-abs for sparse X), "standard" or None, fitted on the
        training rows.
    search : "exact"; "approximate", much faster for many rows, with few missed neighbours; or "auto": exact unless that
        takes long (above 1e5 rows of 64 features). The approximate search is seeded: same data, same neighbours.
    class_mass : power with which `label_distributions_` are pulled towards the class masses of the sets, M, three times
        Q_ic (M_c / sum_i Q_ic)^class_mass, as in `PLKernelRidge`; 0, as in the paper: none. Predictions stay votes. 0.5
        raises the accuracy on training rows by 0.015 to 0.05 on Lost, MSRCv2 and BirdSong; it lowers it if classes are
        unbalanced and sets large.

    Attributes
    ----------
    classes_ (m,), n_features_in_, candidates_ bool (n, m)
    label_distributions_ : (n, m) votes of the row's K neighbours, itself the first (distance 0, counts in K),
        inside its own candidates, normalised; pulled towards the class masses with class_mass > 0.
    transduction_ : (n,) the most likely candidate of each training row, ties to the first class.
    neighbor_recall_ : share of the true neighbours found, on a sample of training rows; 1.0 for exact searches.
    """

    _parameter_constraints: ClassVar[dict[str, list[object]]] = {
        "n_neighbors": [Interval(Integral, 1, None, closed="left")],
        "weights": [StrOptions({"linear", "uniform"})],
        "scaling": [StrOptions({"minmax", "standard"}), None],
        "search": [StrOptions({"auto", "exact", "approximate"})],
        "class_mass": [Interval(Real, 0, None, closed="left")],
    }

    n_neighbors: int = 10
    weights: str = "linear"
    scaling: str | None = "minmax"
    search: str = "auto"
    class_mass: float = 0.0

    @_fit_context(prefer_skip_nested_validation=True)  # type: ignore[untyped-decorator]
    def fit(
        self,
        X: MatrixLike,
        y: LabelsLike,
        sample_weight: ArrayLike | None = None,
        *,
        candidate_weights: MatrixLike | None = None,
    ) -> PLKNeighborsClassifier:
        """Fit on X (n, d), dense or CSR, and y: label vector (n,), candidate matrix (n, m) or n sets of class names.

        sample_weight : (n,) s_i >= 0, the votes of a row count s_i times; with 0 it has no vote but is still one of the
            K
        candidate_weights : (n, m) prior weights of the candidates, such as scores of a shortlist or vote counts,
            columns as `classes_`. A row votes in full for its likeliest candidate, for the others in proportion; with
            None or even weights, in full for all. Votes are still integers: the weight of a row for a label is rounded
            once, to 20 bits.
        Raises CandidateError for invalid candidates or weights, ValueError for wrong features, weights or parameters.
        """
        X = check_features(self, X, reset=True)
        require_y(self, y)
        self.candidates_, self.classes_ = check_candidates(y)
        check_consistent_length(X, self.candidates_)
        self._sample_weight = check_sample_weight(
            sample_weight, X, dtype=np.float64, ensure_non_negative=True, copy=True
        )
        self._candidate_weights = check_candidate_weights(candidate_weights, self.candidates_.shape, self.classes_)
        self._graph = NeighborGraph(X, self.n_neighbors, self.weights, self.scaling, self.search)
        self.neighbor_recall_ = self._graph.recall
        self._bits: int | None = None  # bits of the vote scales; None: all votes count once
        if sample_weight is not None or candidate_weights is not None:
            largest = float(self._sample_weight.max())
            self._bits = scale_bits(self._graph.n_neighbors, len(self.classes_), largest)
        everyone = np.arange(len(self.candidates_))
        self._ballots = self._ballots_of(everyone, self.candidates_)
        self._own_votes = self._count(*self._graph.own_neighbors())
        self.label_distributions_ = np.zeros(self.candidates_.shape)
        self.transduction_ = self.classes_[np.zeros(len(everyone), dtype=np.int64)]
        self._disambiguate(everyone)
        return self

    def _ballots_of(self, rows: IntArray, candidates: BoolArray) -> AnyArray:
        """Return the votes of these rows for each label: bool (r, m), or int64 (r, m) if some count more than
        others."""
        if self._bits is None:
            return candidates
        given = None if self._candidate_weights is None else self._candidate_weights[rows]
        return vote_scales(prior_labels(candidates, given), self._sample_weight[rows], self._bits)

    def _count(self, neighbors: IntArray, weights: IntArray) -> VoteTable:
        table = VoteTable if self._bits is None else ScaledVoteTable
        return table(neighbors, weights, self._ballots)

    def _disambiguate(self, rows: IntArray) -> IntArray:
        """Apply the votes about these rows, ascending; return the rows whose distributions have changed."""
        if self.class_mass > 0:  # changes of one row affect the sums of its classes, and so all rows
            rows = np.arange(len(self.candidates_))
        now = votes_to_distributions(self._own_votes.of(rows), self.candidates_[rows])
        if self.class_mass > 0:
            prior = prior_labels(self.candidates_, self._candidate_weights)
            now = ClassMasses.of(prior, self._sample_weight).pull(now, self.class_mass)
        changed: IntArray = rows[(now != self.label_distributions_[rows]).any(axis=1)]
        self.label_distributions_[rows] = now
        self.transduction_[rows] = self.classes_[now.argmax(axis=1)]
        return changed

    def update(self, rows: ArrayLike, candidates: LabelsLike) -> IntArray:
        """Replace the candidates of some training rows, after answers or undo; the result equals a fresh fit.

        rows : (r,) distinct row numbers, or one      candidates : (r, m) or r sets as in `fit`, or (m,) for one row
        The weights of rows and candidates stay those of the fit. Returns the rows, ascending, whose
        `label_distributions_` changed. Nothing changes when an error is raised: ValueError for wrong rows,
        CandidateError for wrong candidates.
        """
        check_is_fitted(self)
        chosen, new = check_update(rows, candidates, len(self.candidates_), self.classes_)
        touched = [chosen]
        for row, ballot in zip(chosen.tolist(), self._ballots_of(chosen, new), strict=True):
            touched.append(self._own_votes.update(row, self._ballots[row], ballot))
            self._ballots[row] = ballot
        self.candidates_[chosen] = new
        return self._disambiguate(np.unique(np.concatenate(touched)))

    def predict(self, X: MatrixLike) -> AnyArray:
        """Predict (n,) the label with the most votes, a member of `classes_`; ties go to the first class."""
        votes, _ = self._votes(X)
        return np.asarray(self.classes_[votes.argmax(axis=1)])

    def predict_proba(self, X: MatrixLike) -> FloatArray:
        """Return probabilities (n, m): votes divided by their sum over the classes."""
        votes, _ = self._votes(X)
        return np.asarray(votes / votes.sum(axis=1, keepdims=True))

    def decision_function(self, X: MatrixLike) -> FloatArray:
        """Return (n, m) the share of the neighbours' weight with a vote for each class; for m = 2 (n,) = s1 - s0."""
        votes, weight = self._votes(X)
        if votes.shape[1] == 2:
            return np.asarray((votes[:, 1] - votes[:, 0]) / weight)
        return np.asarray(votes / weight[:, None])

    def _votes(self, X: MatrixLike) -> tuple[IntArray, IntArray]:
        """Return the votes of Eq. 1, (n, m), and the weight sums (n,). If no neighbour has weight, all classes that
        occur tie."""
        check_is_fitted(self)
        X = check_features(self, X, reset=False)
        neighbors, weights = self._graph.neighbors_of(X)
        votes = self._count(neighbors, weights).votes
        if self._bits is None:
            return votes, weights.sum(axis=1)
        silent = ~votes.any(axis=1)
        votes[silent] = (self._ballots > 0).any(axis=0)
        heard = np.rint(np.ldexp(self._sample_weight, self._bits)).astype(np.int64)
        return votes, np.where(silent, 1, (weights * heard[neighbors]).sum(axis=1))
