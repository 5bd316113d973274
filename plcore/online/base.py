"""Code shared by the online learners: reading chunks, the rounds, scores, predictions, and the stored
state."""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Mapping
from numbers import Integral
from typing import Any, ClassVar, Self

import numpy as np
import pandas as pd
from numpy.typing import ArrayLike
from sklearn.base import _fit_context
from sklearn.utils import check_consistent_length, check_random_state
from sklearn.utils._param_validation import Interval, StrOptions
from sklearn.utils.validation import check_is_fitted

from plcore.arrays.array_files import LARGEST_FEATURE
from plcore.arrays.types import (
    AnyArray,
    BoolArray,
    FeatureMatrix,
    FloatArray,
    IntArray,
    LabelsLike,
    MatrixLike,
    RandomState,
    RoundProgress,
    is_sparse,
)
from plcore.kernels.online import LENGTH, MISTAKES, OBJECTIVE, ROUNDS, UPDATES
from plcore.labels.candidates import (
    CandidateError,
    candidates_among,
    check_candidates,
    infer_labels,
    is_candidate_matrix,
)
from plcore.labels.training import ScoreClassifier, check_features, require_finite, require_y
from plcore.labels.weights import check_sample_weight
from plcore.online.state import EVEN, NO_ROWS, OnlineState, Rules, mean_square

# The classes of a stream, the labels and candidates of its first chunk, the weights of every chunk.


def check_classes(classes: ArrayLike) -> AnyArray:
    """Return classes (m,) as given. Raises CandidateError unless they are distinct, one-dimensional and not
    empty."""
    names = infer_labels(np.asarray(classes))
    if names.ndim != 1 or not len(names) or not pd.Index(names).is_unique:
        raise CandidateError(f"classes must be a list of different class names, at least one. Got {classes!r}.")
    return names


def read_first(y: LabelsLike, classes: ArrayLike | None) -> tuple[BoolArray, AnyArray]:
    """(candidates, classes) of a first chunk.

    Raises as `candidates_among`; ValueError for labels or sets without classes.
    """
    if classes is not None:
        names = check_classes(classes)
        return candidates_among(y, names), names
    if not is_candidate_matrix(y):
        raise ValueError(
            "classes must be passed on the first call to partial_fit with labels or sets of them: later chunks may "
            "hold labels that this one does not. Fix: pass classes, or a candidate matrix."
        )
    return check_candidates(y)


def read_weights(sample_weight: ArrayLike | None, X: MatrixLike) -> FloatArray:
    """Return weights (n,) in the form of the loops. Raises ValueError for invalid weights, or if none is
    above 0."""
    if sample_weight is None:
        return EVEN
    return np.array(check_sample_weight(sample_weight, X, dtype=np.float64, ensure_non_negative=True))


DTYPES = [np.float64, np.float32]  # feature types that the loops are compiled for
FIT_ONLY = (
    "transduction_",
    "objective_",
    "n_iter_",
    "converged_",
)  # attributes about the rows of `fit`, not set for streams


class OnlineClassifier(ScoreClassifier):
    """Base of the online learners (Bhattacharjee and Manwani, PAKDD 2020). Scores are s = W (x, 1).

    A round predicts arg max s over all classes, then sees the candidates Y, and updates where

        loss="average":  L_APH = [1 - mean over Y of s + max outside of Y of s]_+     (Eq. 2)
        loss="max":      L_MPH = [1 - max over Y of s  + max outside of Y of s]_+     (Eq. 3)

    is positive, ties to the first class: the candidates' rows of W (or that of the best candidate) move towards x,
    the row of the best other class away. A row that lists all classes makes no update. Rows are learnt in order,
    one after the other: how they are cut into chunks changes nothing, to the last bit. Memory is that of W,
    twice with `average`. Features may be float32 or float64, dense or CSR; the weights are float64. Only eta0 * |x|^2
    and alpha / |x|^2 matter; "auto" sets them by the mean |x|^2 of the rows of `fit`, or of the first chunk, for good
    (docs/online-learners.md has figures).

    Attributes
    ----------
    classes_ (m,), n_features_in_
    coef_ (m, d), intercept_ (m,) : of the last iterate, or of the mean of the iterates after each round (`average`)
    rounds_, updates_, mistakes_ : rows seen; rows with a loss; rows where arg max s over all classes, before the
        update, was no candidate (the ambiguous loss L_A, Eq. 1, of the last iterate)
    After `fit` only: transduction_ (n,), the best candidate of each row under the fitted model; objective_
        (max_iter,), mean over a pass of the loss met before each update, for Pegasos with alpha / 2 |W|^2; n_iter_,
        the passes; converged_, whether the last pass made no update.
    """

    _parameter_constraints: ClassVar[dict[str, list[object]]] = {
        "loss": [StrOptions({"average", "max"})],
        "average": ["boolean"],
        "fit_intercept": ["boolean"],
        "max_iter": [Interval(Integral, 1, None, closed="left")],
        "shuffle": ["boolean"],
        "random_state": ["random_state"],
    }

    _rate: ClassVar[str]  # the parameter that may be "auto"
    classes_: AnyArray
    transduction_: AnyArray
    objective_: FloatArray
    n_iter_: int
    converged_: bool
    loss: str
    average: bool
    fit_intercept: bool
    max_iter: int
    shuffle: bool
    random_state: RandomState
    _state: OnlineState

    @abstractmethod
    def _rules(self, length: float) -> Rules:
        """Return the update rules, from the parameters and the mean |x|^2 of the first rows."""

    @_fit_context(prefer_skip_nested_validation=True)  # type: ignore[untyped-decorator]
    def fit(
        self,
        X: MatrixLike,
        y: LabelsLike,
        sample_weight: ArrayLike | None = None,
        *,
        progress: RoundProgress | None = None,
    ) -> Self:
        """Fit from scratch: `max_iter` passes over X (n, d) and y, a label vector (n,) or candidate matrix
        (n, m).

        sample_weight : (n,) s_i >= 0, with which the loss of a row is multiplied, and so the step of its round: 2 is
            one step twice as long, not two rounds. Rows of weight 0 are left out: the result is that without them.
        progress : called after each pass as progress(passes, objective); what it raises ends the fit.
        Raises CandidateError for candidates that break the convention, ValueError for wrong features or parameters.
        """
        X = self._read_features(X, y, first=True)
        candidates, classes = check_candidates(y)
        check_consistent_length(X, candidates)
        weights = read_weights(sample_weight, X)
        state = self._begin(X, weights, len(classes))
        rules = self._rules(state.numbers[LENGTH])
        random = check_random_state(self.random_state)
        present = np.flatnonzero(weights) if len(weights) else np.arange(len(candidates))
        absent = np.setdiff1d(np.arange(len(candidates)), present)
        objective = []
        for step in range(self.max_iter):
            order = np.concatenate([random.permutation(present), absent]) if self.shuffle else NO_ROWS
            met, updates = state.numbers[OBJECTIVE], state.counts[UPDATES]
            learnt, _ = state.learn(X, candidates, rules, order, weights)
            if learnt < len(candidates):
                self._refuse(X, int(order[learnt]) if self.shuffle else learnt)
            objective.append(float(state.numbers[OBJECTIVE] - met) / len(present))
            if progress is not None:
                progress(step + 1, objective[-1])
        self._state, self.classes_ = state, classes
        self.objective_, self.n_iter_ = np.array(objective), self.max_iter
        self.converged_ = bool(state.counts[UPDATES] == updates)
        self.transduction_ = self._best_candidates(X, candidates)
        return self

    def partial_fit(
        self, X: MatrixLike, y: LabelsLike, classes: ArrayLike | None = None, sample_weight: ArrayLike | None = None
    ) -> Self:
        """Learn the rows of X (k, d) in order. y : labels (k,) or candidates (k, m); sample_weight as in
        `fit`.

        classes : (m,) all classes; needed in the first call if y is a label vector. A candidate matrix
            without
        it has the classes of its columns. Later chunks have the same columns, and labels that are classes.
        Nothing is learnt when an error is raised: CandidateError for candidates or labels that do not fit,
        ValueError for wrong features, parameters, or missing classes.
        """
        self._learn(X, y, classes, sample_weight, predict=False)
        return self

    def predict_then_learn(self, X: MatrixLike, y: LabelsLike, classes: ArrayLike | None = None) -> AnyArray:
        """Like `partial_fit`; return (k,) the prediction for each row just before it was learnt.

        For the very first row, before anything was learnt, that is the first class.
        """
        predicted = self._learn(X, y, classes, None, predict=True)
        return np.asarray(self.classes_[predicted])

    def _learn(
        self, X: MatrixLike, y: LabelsLike, classes: ArrayLike | None, sample_weight: ArrayLike | None, predict: bool
    ) -> IntArray:
        first = not self.__sklearn_is_fitted__()
        if first:
            self._validate_params()
        X = self._read_features(X, y, first)
        if first:
            candidates, names = read_first(y, classes)
        else:
            names = self.classes_
            if classes is not None and check_classes(classes).tolist() != names.tolist():
                raise ValueError(
                    f"classes must be those of the first call: {names.tolist()!r}. Got {classes!r}. "
                    "Fix: leave classes out, or start with a new estimator."
                )
            candidates = candidates_among(y, names)
        check_consistent_length(X, candidates)
        weights = read_weights(sample_weight, X)
        state = self._begin(X, weights, len(names)) if first else self._state
        before = state.copy() if len(candidates) > 1 else state  # a single row is either learnt or refused as a whole
        rules = self._rules(state.numbers[LENGTH])
        learnt, predicted = state.learn(X, candidates, rules, weights=weights, predict=predict)
        if learnt < len(candidates):
            if not first:
                self._state = before
            self._refuse(X, learnt)
        if first:
            self._state, self.classes_ = state, names
        for name in FIT_ONLY:
            self.__dict__.pop(name, None)
        return predicted

    def _begin(self, X: FeatureMatrix, weights: FloatArray, m: int) -> OnlineState:
        """Initialise W = 0 before the first rows X (n, d) with m classes."""
        state = OnlineState.zero(m, X.shape[1], self.average)
        if getattr(self, self._rate) == "auto":
            state.numbers[LENGTH] = mean_square(X, weights)
        return state

    def _read_features(self, X: MatrixLike, y: LabelsLike, first: bool) -> FeatureMatrix:
        """Return X in the form of the loops, which check for non-finite numbers themselves."""
        X = check_features(self, X, reset=first, dtype=DTYPES, finite=False)
        require_y(self, y)
        return X

    def _refuse(self, X: FeatureMatrix, row: int) -> None:
        """Raise for a row that cannot be learnt."""
        require_finite(self, X)
        values = X[[row]].data if is_sparse(X) else X[row]
        raise ValueError(
            f"The features of a row must be at most {LARGEST_FEATURE:g} in size, got {np.abs(values).max():g} "
            f"in row {row} (counted from 0). Fix: scale them, for example with "
            "sklearn.preprocessing.StandardScaler in a pipeline."
        )

    def __sklearn_is_fitted__(self) -> bool:
        return hasattr(self, "_state")

    def _read_new(self, X: MatrixLike) -> FeatureMatrix:
        check_is_fitted(self)
        return check_features(self, X, reset=False, dtype=DTYPES)

    def _best_candidates(self, X: FeatureMatrix, candidates: BoolArray) -> AnyArray:
        scores = self._state.scores(X, float(self.fit_intercept))
        scores[~candidates] = -np.inf
        return np.asarray(self.classes_[scores.argmax(axis=1)])

    def _scores(self, X: MatrixLike) -> FloatArray:
        X = self._read_new(X)
        scores = self._state.scores(X, float(self.fit_intercept))
        scores[:, ~self._state.possible] = -np.inf
        return scores

    def disambiguate(self, X: MatrixLike, y: LabelsLike) -> AnyArray:
        """Return (n,) the candidate with the highest score for each row of X (n, d). y : candidates (n, m) or
        labels."""
        X = self._read_new(X)
        candidates = candidates_among(y, self.classes_)
        check_consistent_length(X, candidates)
        return self._best_candidates(X, candidates)

    @property
    def coef_(self) -> FloatArray:
        return self._model()[:, :-1]

    @property
    def intercept_(self) -> FloatArray:
        return self._model()[:, -1]

    @property
    def rounds_(self) -> int:
        return int(self._begun().counts[ROUNDS])

    @property
    def updates_(self) -> int:
        return int(self._begun().counts[UPDATES])

    @property
    def mistakes_(self) -> int:
        return int(self._begun().counts[MISTAKES])

    def _begun(self) -> OnlineState:
        if not self.__sklearn_is_fitted__():
            raise AttributeError(f"This {type(self).__name__} instance is not fitted yet.")
        return self._state

    def _model(self) -> FloatArray:
        V, scale = self._begun().model()
        return np.asarray(scale * V)

    def _used(self) -> Rules:
        """Return the update rules in use."""
        return self._rules(float(self._begun().numbers[LENGTH]))

    def get_state(self) -> dict[str, AnyArray]:
        """Return copies of the learnt state as plain arrays for `set_state`; see `OnlineState` for their
        meaning."""
        check_is_fitted(self)
        return {"classes": self.classes_.copy(), **vars(self._state.copy())}

    def set_state(self, stored: Mapping[str, Any]) -> Self:
        """Continue exactly from the output of `get_state` of an estimator with the same parameters.

        Raises ValueError if arrays are missing or do not fit one another and `average`.
        """
        weights = np.asarray(stored.get("weights", NO_ROWS))
        if "classes" not in stored or weights.ndim != 2 or weights.shape[1] < 2:
            raise ValueError(
                "The state must hold 'classes' (m,) and 'weights' (m, d + 1). Fix: pass what get_state() returned."
            )
        classes = check_classes(stored["classes"])
        self._state = OnlineState.read(stored, len(classes), weights.shape[1] - 1, self.average)
        self.classes_, self.n_features_in_ = classes, weights.shape[1] - 1
        for name in (*FIT_ONLY, "feature_names_in_"):
            self.__dict__.pop(name, None)
        return self
