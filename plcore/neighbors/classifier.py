"""PL-KNN: weighted nearest-neighbour votes of partially labelled rows."""

from __future__ import annotations

from numbers import Integral
from typing import Any, ClassVar

import numpy as np
from sklearn.base import BaseEstimator, ClassifierMixin, _fit_context
from sklearn.utils import check_consistent_length
from sklearn.utils._param_validation import Interval, StrOptions
from sklearn.utils.validation import check_is_fitted, validate_data

from plcore.common.types import AnyArray, BoolArray, FloatArray, IntArray
from plcore.labels.accuracy import score_of
from plcore.labels.candidates import check_candidates
from plcore.labels.training import require_y
from plcore.labels.updates import check_update
from plcore.neighbors.graph import NeighborGraph
from plcore.neighbors.votes import VoteTable


def votes_to_distributions(votes: IntArray, candidates: BoolArray) -> FloatArray:
    """Votes (r, m) of the rows' own neighbourhoods -> (r, m) probabilities inside their candidates.

    Rows whose candidates got no vote are spread evenly over them; rows without candidates are all 0.
    """
    inside = np.where(candidates, votes, 0)
    inside = np.where(inside.any(axis=1, keepdims=True), inside, candidates)
    total = inside.sum(axis=1, keepdims=True)
    return np.asarray(inside / np.maximum(total, 1))


class PLKNeighborsClassifier(ClassifierMixin, BaseEstimator):  # type: ignore[misc]
    """K nearest neighbours that vote for all their candidate labels (Eq. 1 of Nguyen et al., AAAI 2017).

    Every neighbour of a point votes with its weight for each of its candidates; the label with most votes
    wins, ties go to the first class. Weights are fixed-point integers, neighbours are ordered by (distance,
    row number): results do not depend on the batch, and `update` equals a fresh `fit` bit for bit.

    Parameters
    ----------
    n_neighbors : K, clipped to the number of training rows.
    weights : "linear": w = 1 - d / (sum of the K distances), all equal if these are 0; "uniform": w = 1.
    scaling : "minmax" (each feature to [0, 1]; max-abs for sparse X), "standard" or None, fitted on the
        training rows.
    search : "exact"; "approximate", much faster on many rows, missing few neighbours; or "auto": exact unless that
        takes long (above 1e5 rows of 64 features). The approximate search is seeded: same data, same neighbours.

    Attributes
    ----------
    classes_ (m,), n_features_in_, candidates_ bool (n, m)
    label_distributions_ : (n, m) votes of the row's K neighbours, itself the first (distance 0, counts in K),
        inside its own candidates, normalised.
    transduction_ : (n,) the most likely candidate of each training row, ties to the first class.
    neighbor_recall_ : share of the true neighbours found, on a sample of training rows; 1.0 for exact searches.
    """

    _parameter_constraints: ClassVar[dict[str, list[Any]]] = {
        "n_neighbors": [Interval(Integral, 1, None, closed="left")],
        "weights": [StrOptions({"linear", "uniform"})],
        "scaling": [StrOptions({"minmax", "standard"}), None],
        "search": [StrOptions({"auto", "exact", "approximate"})],
    }

    classes_: AnyArray
    candidates_: BoolArray
    label_distributions_: FloatArray
    transduction_: AnyArray
    neighbor_recall_: float

    def __init__(
        self,
        n_neighbors: int = 10,
        weights: str = "linear",
        scaling: str | None = "minmax",
        search: str = "auto",
    ) -> None:
        self.n_neighbors = n_neighbors
        self.weights = weights
        self.scaling = scaling
        self.search = search

    @_fit_context(prefer_skip_nested_validation=True)  # type: ignore[untyped-decorator]
    def fit(self, X: Any, y: Any) -> PLKNeighborsClassifier:
        """Fit on X (n, d), dense or CSR, and y: label vector (n,) or candidate matrix (n, m).

        Raises CandidateError for candidates that break the convention, ValueError for wrong features or
        parameters.
        """
        X = validate_data(self, X, accept_sparse="csr", dtype=np.float64)
        require_y(self, y)
        self.candidates_, self.classes_ = check_candidates(y)
        check_consistent_length(X, self.candidates_)
        self._graph = NeighborGraph(X, self.n_neighbors, self.weights, self.scaling, self.search)
        self.neighbor_recall_ = self._graph.recall
        self._own_votes = VoteTable(*self._graph.own_neighbors(), self.candidates_)
        self.label_distributions_ = votes_to_distributions(self._own_votes.votes, self.candidates_)
        self.transduction_ = self.classes_[self.label_distributions_.argmax(axis=1)]
        return self

    def update(self, rows: Any, candidates: Any) -> IntArray:
        """Replace the candidates of some training rows, after answers or undo; the result equals a fresh fit.

        rows : (r,) distinct row numbers, or one      candidates : (r, m) as in `fit`, or (m,) for one row
        Returns the rows, ascending, whose `label_distributions_` changed. Nothing changes when an error is
        raised: ValueError for wrong rows, CandidateError for wrong candidates.
        """
        check_is_fitted(self)
        chosen, new = check_update(rows, candidates, len(self.candidates_), self.classes_)
        touched = [chosen]
        for row, mask in zip(chosen.tolist(), new, strict=True):
            touched.append(self._own_votes.update(row, self.candidates_[row], mask))
            self.candidates_[row] = mask
        affected = np.unique(np.concatenate(touched))
        after = votes_to_distributions(self._own_votes.votes[affected], self.candidates_[affected])
        changed: IntArray = affected[(after != self.label_distributions_[affected]).any(axis=1)]
        self.label_distributions_[affected] = after
        self.transduction_[affected] = self.classes_[after.argmax(axis=1)]
        return changed

    def predict(self, X: Any) -> AnyArray:
        """(n,) the label with most votes, a member of `classes_`; ties go to the first class."""
        votes, _ = self._votes(X)
        return np.asarray(self.classes_[votes.argmax(axis=1)])

    def predict_proba(self, X: Any) -> FloatArray:
        """(n, m) votes divided by their sum over the classes."""
        votes, _ = self._votes(X)
        return np.asarray(votes / votes.sum(axis=1, keepdims=True))

    def decision_function(self, X: Any) -> FloatArray:
        """(n, m) share of the neighbours' weight that votes for each class; for m = 2 (n,) = s1 - s0."""
        votes, weight = self._votes(X)
        if votes.shape[1] == 2:
            return np.asarray((votes[:, 1] - votes[:, 0]) / weight)
        return np.asarray(votes / weight[:, None])

    def _votes(self, X: Any) -> tuple[IntArray, IntArray]:
        """Votes of Eq. 1, (n, m), and the weight sums (n,)."""
        check_is_fitted(self)
        X = validate_data(self, X, accept_sparse="csr", dtype=np.float64, reset=False)
        neighbors, weights = self._graph.neighbors_of(X)
        return VoteTable(neighbors, weights, self.candidates_).votes, weights.sum(axis=1)

    def score(self, X: Any, y: Any, sample_weight: Any = None) -> float:
        """Accuracy for labels; for a candidate matrix the share of predictions inside their candidates."""
        return score_of(self.predict(X), y, self.classes_, sample_weight)

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.input_tags.sparse = True
        return tags
