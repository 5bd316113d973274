"""AutoPLClassifier: the best of several learners, selected without clean labels."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import dataclass
from numbers import Real
from typing import ClassVar

import numpy as np
import pandas as pd
from numpy.typing import ArrayLike
from sklearn.base import _fit_context
from sklearn.model_selection import BaseCrossValidator
from sklearn.utils._param_validation import Interval
from sklearn.utils.metaestimators import available_if
from sklearn.utils.validation import check_is_fitted

from plcore.arrays.checks import is_whole
from plcore.arrays.types import AnyArray, FloatArray, LabelsLike, MatrixLike, StepProgress, is_sparse
from plcore.evaluation.comparison import compare_learners
from plcore.evaluation.learners import STAY, LearnersLike, fit_learner, last_step, read_learners
from plcore.labels.candidates import holds_sets, is_candidate_matrix
from plcore.labels.training import PartialLabelClassifier, check_features, check_training

FIGURES = ("consistency", "kappa", "accuracy")


def _winner_has(name: str) -> Callable[[AutoPLClassifier], bool]:
    """Return whether the chosen learner has this method; before `fit`, whether all learners have it."""

    def has(automatic: AutoPLClassifier) -> bool:
        if hasattr(automatic, "estimator_"):
            return hasattr(automatic.estimator_, name)
        return all(hasattr(entry.estimator, name) for entry in read_learners(automatic.learners))

    return has


@dataclass(eq=False, repr=False)
class AutoPLClassifier(PartialLabelClassifier):
    """Compares learners on held-out rows (`plcore.evaluation.compare_learners`) and becomes the best of them.

    Parameters
    ----------
    learners : None: the library's own list; "all", names, or a mapping of names to unfitted estimators that learn from
        candidate matrices, as for `compare_learners`.
    cv : folds of the comparison, or a splitter. With fewer rows than folds nothing is compared: the kernel ridge is
        taken, or the first learner if it is not among them, and `report_` says so.
    budget : CPU seconds of the comparison, None for no limit; the last fit, on all rows, is not included. Learners
        without any budget left are not chosen, so if the budget is used up, the choice depends on the machine.
    random_state : seed of the folds. The default gives the same choice for the same data.

    Attributes
    ----------
    classes_ (m,), n_features_in_
    report_ : DataFrame, a row for each learner: learner, parameters, consistency (share of held-out predictions inside
        their sets), kappa, accuracy (NaN without `y_true`), seconds, chosen, note; see `compare_learners`.
    estimator_ : the chosen learner, fitted on all rows; a pipeline if it needs scaled features.
    transduction_ : (n,) its disambiguated training labels.
    label_distributions_ : (n, m) its soft labels, if it has them.
    """

    _parameter_constraints: ClassVar[dict[str, list[object]]] = {
        "learners": [None, str, "array-like", dict],
        "cv": ["cv_object"],
        "budget": [None, Interval(Real, 0, None, closed="neither")],
        "random_state": ["random_state"],
    }

    learners: LearnersLike = None
    cv: int | BaseCrossValidator = 3
    budget: float | None = 300.0
    random_state: int | np.random.RandomState | None = 0

    @_fit_context(prefer_skip_nested_validation=True)  # type: ignore[untyped-decorator]
    def fit(
        self,
        X: MatrixLike,
        y: LabelsLike,
        *,
        groups: ArrayLike | None = None,
        candidate_weights: MatrixLike | None = None,
        imported: LabelsLike | None = None,
        y_true: ArrayLike | None = None,
        progress: StepProgress | None = None,
    ) -> AutoPLClassifier:
        """Compare the learners and fit the best one on X and y.

        X : (n, d) features, dense or CSR      y : label vector (n,) or candidate matrix (n, m)
        groups : (n,) the source of each row, such as a photo; folds then consist of whole sources, and learners that
            can use sources do (`PLKernelRidge`)
        candidate_weights : (n, m) prior weights of the candidates, for learners that take them
        imported : the candidates (n, m) before rows were answered, for learners that take them; None: y
        y_true : (n,) known true labels, NaN or None elsewhere; they are used for the choice only
        progress : called as by `compare_learners`; an exception it raises ends the fit

        Raises CandidateError for invalid candidates, ValueError for wrong features or parameters, and the errors of the
        last fit.
        """
        X, candidates, classes, _ = check_training(self, X, y, None)
        entries = {entry.name: entry for entry in read_learners(self.learners)}
        labels = y if is_candidate_matrix(y) or holds_sets(y) else classes[candidates.argmax(axis=1)]
        if is_whole(self.cv) and len(candidates) < self.cv:
            report = _nothing_compared(entries, f"{len(candidates)} rows are fewer than {self.cv} folds")
        else:
            report = compare_learners(
                X,
                labels,
                self.learners,
                self.cv,
                y_true,
                self.random_state,
                budget=self.budget,
                progress=progress,
                candidate_weights=candidate_weights,
                groups=groups,
                imported=imported,
            ).rename(columns={"candidate_accuracy": "consistency"})
        self.report_ = _with_one_chosen(report)
        best = self.report_[self.report_["chosen"]].iloc[0]
        model = entries[best["learner"]].make(best["parameters"], X)
        self.estimator_ = fit_learner(
            model, X, labels, candidate_weights=candidate_weights, groups=groups, imported=imported
        )
        self.classes_, self._sparse = classes, is_sparse(X)
        self._take_over("transduction_", "label_distributions_")
        return self

    def _take_over(self, *names: str) -> None:
        """Copy the learner's attributes about training rows; delete those of an earlier fit that it lacks."""
        for name in names:
            if hasattr(self, name):
                delattr(self, name)
            if hasattr(last_step(self.estimator_), name):
                setattr(self, name, getattr(last_step(self.estimator_), name))

    def _ask(self, method: str, X: MatrixLike) -> AnyArray:
        """Return the result of a method of the chosen learner for rows X."""
        check_is_fitted(self)
        X = check_features(self, X, reset=False)
        if is_sparse(X) and not self._sparse:  # the learner may be a pipeline whose scaler shifts dense rows
            X = X.toarray()
        return np.asarray(getattr(self.estimator_, method)(X))

    def predict(self, X: MatrixLike) -> AnyArray:
        """Return (n,) the predictions of `estimator_`, members of `classes_`."""
        return self._ask("predict", X)

    @available_if(_winner_has("decision_function"))  # type: ignore[untyped-decorator]
    def decision_function(self, X: MatrixLike) -> FloatArray:
        """Return (n, m) scores of `estimator_`, for m = 2 (n,) = s1 - s0. The scale depends on the
        learner."""
        return self._ask("decision_function", X)

    @available_if(_winner_has("predict_proba"))  # type: ignore[untyped-decorator]
    def predict_proba(self, X: MatrixLike) -> FloatArray:
        """Return (n, m) probabilities, if `estimator_` has `predict_proba`."""
        return self._ask("predict_proba", X)


def _nothing_compared(names: Iterable[str], why: str) -> pd.DataFrame:
    """Return a report without figures."""
    rows = [
        {"learner": name, "parameters": {}, **dict.fromkeys(FIGURES, np.nan), "seconds": 0.0, "chosen": False}
        for name in names
    ]
    return pd.DataFrame(rows).assign(note=f"left out: {why}")


def _with_one_chosen(report: pd.DataFrame) -> pd.DataFrame:
    """Return the report with one learner chosen, even if none could be measured: the kernel ridge, or the first."""
    if report["chosen"].any():
        return report
    taken = report["learner"] == STAY
    taken |= ~taken.any() & (report.index == 0)
    return report.assign(
        chosen=taken, note=report["note"].where(~taken, "used without a comparison; " + report["note"])
    )
