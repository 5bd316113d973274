"""The learners to compare, each with a few settings to try; the cheapest first.

Names are those of the models in `plcore.loop.registry`, if there are any. A new learner is a new entry; it is compared
by default only if its entry says so.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import TypeAlias

import numpy as np
from numpy.typing import ArrayLike
from scipy.stats import binomtest, sem
from sklearn.base import BaseEstimator, clone
from sklearn.model_selection import KFold
from sklearn.pipeline import Pipeline
from sklearn.preprocessing import StandardScaler
from sklearn.utils.validation import has_fit_parameter

from plcore.arrays.checks import check_names
from plcore.arrays.plugins import PREFIX
from plcore.arrays.types import BoolArray, FloatArray, IntArray, LabelsLike, MatrixLike, RoundProgress, is_sparse
from plcore.baselines.adaptive import PLAdaptiveNeighborsClassifier
from plcore.baselines.aggd import PLAGGDClassifier
from plcore.baselines.declared import model_plugins
from plcore.baselines.gaussian_process import PLGPClassifier
from plcore.baselines.lsb_cmm import LSBCMMClassifier
from plcore.baselines.plcl import PLCLClassifier
from plcore.baselines.plugged import PluggedClassifier
from plcore.baselines.progressive import PLProgressiveClassifier
from plcore.baselines.regisl import RegISLClassifier
from plcore.baselines.sure import SUREClassifier
from plcore.evaluation.estimates import LEVEL
from plcore.kernel.choice import ALPHAS, MASSES
from plcore.kernel.ridge import PLKernelRidge
from plcore.labels.candidates import check_candidates
from plcore.margin.clpl import CLPLClassifier
from plcore.margin.lmplane import LMPlaneClassifier
from plcore.margin.m3pl import M3PLClassifier
from plcore.margin.plsvm import PLSVC
from plcore.neighbors.classifier import PLKNeighborsClassifier
from plcore.trees.forest import PLForest

STAY = "kernelridge"
"""Learner to keep if another is hardly better, and the default if nothing can be measured."""

EVERY = "all"
LearnersLike: TypeAlias = str | Iterable[str] | Mapping[str, BaseEstimator] | None
"""Learners to compare, in the forms that `compare_learners` takes."""


@dataclass(frozen=True)
class LearnerEntry:
    """A learner to compare: its name, an unfitted estimator, and the settings (its parameters) to try.

    scaled : whether dense features are z-scored for it; sparse ones, mostly text, are not scaled
    by_default : whether it is compared if no learners are named
    """

    name: str
    estimator: BaseEstimator
    settings: Sequence[Mapping[str, object]] = ({},)
    scaled: bool = False
    by_default: bool = True

    def fixing(self, parameters: Mapping[str, object]) -> LearnerEntry:
        """Return the same learner with these parameters in each of its settings."""
        return replace(self, settings=tuple({**one, **parameters} for one in self.settings))

    def make(self, parameters: Mapping[str, object], X: MatrixLike, *, keep_scales: bool = False) -> BaseEstimator:
        """Return an unfitted estimator with these parameters, for rows like X (n, d).

        keep_scales : whether the columns of X already have the right scales
        """
        learner = clone(self.estimator).set_params(**parameters)
        if keep_scales:
            return learner.set_params(scaling=None) if "scaling" in learner.get_params(deep=False) else learner
        if not self.scaled or is_sparse(X):
            return learner
        return Pipeline([("scale", StandardScaler()), ("learner", learner)])


_COSTS = ({"C": 10.0}, {"C": 100.0}, {"C": 1000.0})

# The margin learners have the app's loose tolerances: their predictions hardly change, and they take half the time.
LEARNER_ENTRIES: dict[str, LearnerEntry] = {
    entry.name: entry
    for entry in (
        LearnerEntry("plknn", PLKNeighborsClassifier()),
        LearnerEntry(STAY, PLKernelRidge()),
        LearnerEntry("clpl", CLPLClassifier(), _COSTS, scaled=True),
        LearnerEntry("plsvc", PLSVC(tol=1e-2), _COSTS, scaled=True),
        LearnerEntry("lmplane", LMPlaneClassifier(solver="mm", tol=1e-2), _COSTS, scaled=True),
        LearnerEntry("m3pl", M3PLClassifier(tol=5e-2), ({"C_max": 0.01}, {"C_max": 0.1}, {"C_max": 1.0}), scaled=True),
        LearnerEntry("forest", PLForest(n_estimators=100)),
        LearnerEntry("plaknn", PLAdaptiveNeighborsClassifier(), by_default=False),
        LearnerEntry("sure", SUREClassifier(), by_default=False),
        LearnerEntry("regisl", RegISLClassifier(), by_default=False),
        LearnerEntry("plaggd", PLAGGDClassifier(), by_default=False),
        LearnerEntry("plcl", PLCLClassifier(), by_default=False),
        LearnerEntry("lsbcmm", LSBCMMClassifier(), by_default=False),
        LearnerEntry("plgp", PLGPClassifier(), by_default=False),
        LearnerEntry("progressive", PLProgressiveClassifier(), by_default=False),
        *(
            LearnerEntry(PREFIX + one.name, PluggedClassifier(one.declared.classifier), by_default=False)
            for one in model_plugins()
            if one.declared is not None
        ),
    )
}
"""Every learner by its name, in the order tried: those compared by default come first."""


def read_learners(learners: LearnersLike) -> list[LearnerEntry]:
    """Return the entries to compare. learners : None, "all", names, or {name: unfitted estimator}; see
    `compare_learners`.

    Raises ValueError for an unknown name, and for no learners at all.
    """
    if learners is None:
        return [entry for entry in LEARNER_ENTRIES.values() if entry.by_default]
    if isinstance(learners, str):
        if learners == EVERY:
            return list(LEARNER_ENTRIES.values())
        learners = [learners]
    if isinstance(learners, Mapping):
        found = [LearnerEntry(str(name), estimator) for name, estimator in learners.items()]
    else:
        check_names("learner", learners, LEARNER_ENTRIES)
        found = [LEARNER_ENTRIES[name] for name in dict.fromkeys(learners)]
    if not found:
        raise ValueError("learners must name at least one learner. Fix: pass None for the library's own list.")
    return found


def last_step(model: BaseEstimator) -> BaseEstimator:
    """Return the learner itself: the last step of a pipeline."""
    return model.steps[-1][1] if isinstance(model, Pipeline) else model


def fit_learner(
    model: BaseEstimator, X: MatrixLike, y: LabelsLike, **wanted: MatrixLike | LabelsLike | RoundProgress | None
) -> BaseEstimator:
    """Fit the learner, and pass on each of the keyword arguments (such as `candidate_weights=...`) that is not None and
    that the learner, or the last step of a pipeline, takes."""
    prefix = f"{model.steps[-1][0]}__" if isinstance(model, Pipeline) else ""
    given = {
        prefix + name: value
        for name, value in wanted.items()
        if value is not None and has_fit_parameter(last_step(model), name)
    }
    return model.fit(X, y, **given)


# How learners are compared if few true labels are known, or none: by kappa first.
#
# The share c of held-out predictions inside their candidate sets is misleading across families of learners: a learner
# that always predicts a class found in every set is never wrong. Kappa subtracts the share expected by chance:
#
#     kappa = (c - e) / (1 - e),   e = mean over rows of sum over classes k of mu_k S_ik
#
# with mu the shares of the classes among the learner's own predictions. A learner with the same prediction for all rows
# has 0.

WITHIN = 0.02  # lead in kappa that another learner needs to replace the default
CLEARLY = 2.0  # paired standard errors that this lead must exceed, too


def kappa(candidates: BoolArray, predicted: IntArray) -> float:
    """Return (c - e) / (1 - e) of predicted columns (n,) for candidates (n, m); 0 if e is 1, at most 1, may
    be below 0."""
    return float(_kappa_terms(candidates, predicted).mean())


def _kappa_terms(candidates: BoolArray, predicted: IntArray) -> FloatArray:
    """Return (n,) the terms of the rows, whose mean is kappa."""
    n, m = candidates.shape
    expected = candidates @ (np.bincount(predicted, minlength=m) / n)
    by_chance = float(expected.mean())
    if by_chance >= 1 - 1e-12:
        return np.zeros(n)
    return np.asarray((candidates[np.arange(n), predicted] - expected) / (1 - by_chance))


def kappa_lead_error(candidates: BoolArray, predicted: IntArray, other: IntArray) -> float:
    """Return the standard error of the difference of two kappas on the same n >= 2 rows; the chance agreement of each
    counts as known."""
    return float(sem(_kappa_terms(candidates, predicted) - _kappa_terms(candidates, other)))


def choose(
    kappas: ArrayLike,
    right: ArrayLike | None = None,
    stay: int | None = None,
    lead_error: Callable[[int], float] = lambda best: 0.0,  # noqa: ARG005
) -> int | None:
    """Return the index of the best of p learners; None if none was measured.

    kappas : (p,) NaN for a learner that was not measured
    right : bool (p, t) whether each is right on t held-out rows with known true label, the same rows for all. Learners
        that do not differ from the most accurate one by the exact paired test (McNemar, 1947; level 0.05) are tied, and
        kappa decides among them; without such rows, kappa decides among all
    stay : index of the learner to keep unless the highest kappa is ahead of its own by more than 0.02 and by more than
        two standard errors
    lead_error : index of a measured learner -> the standard error of its lead in kappa over `stay`
    Ties go to the first.
    """
    kappas = np.asarray(kappas, dtype=np.float64)
    standing: IntArray = np.flatnonzero(~np.isnan(kappas))
    if not len(standing):
        return None
    if right is not None and np.shape(right)[1]:
        standing = _most_accurate(standing, np.asarray(right, dtype=bool), kappas)
    best = int(standing[kappas[standing].argmax()])
    if stay is None or stay not in standing:
        return best
    return best if kappas[best] - kappas[stay] > max(WITHIN, CLEARLY * lead_error(best)) + 1e-12 else stay


def _most_accurate(standing: IntArray, right: BoolArray, kappas: FloatArray) -> IntArray:
    """Return the remaining learners that do not differ significantly from the most accurate one."""
    hits = right[standing].sum(axis=1)
    most = standing[np.lexsort((-kappas[standing], -hits))[0]]
    return np.array([one for one in standing if not _differ(right[most], right[one])])


def _differ(first: BoolArray, second: BoolArray) -> bool:
    """Whether two learners differ on the same rows (t,), by the sign test on the rows that only one of them has
    right."""
    alone, other = int((first & ~second).sum()), int((second & ~first).sum())
    return alone + other > 0 and float(binomtest(alone, alone + other).pvalue) < 1 - LEVEL


# The learners' parameter grids, and how to choose from them without clean labels.
#
# `score` of every classifier here is, on a candidate matrix, the share of predictions inside their candidates. It
# needs no truth, so scikit-learn's own search can use it (five-fold candidate consistency):
#
#     search = GridSearchCV(LMPlaneClassifier(), PARAMETER_GRIDS["LMPlaneClassifier"], cv=KFold(5, shuffle=True))
#     search.fit(X, candidates)
#
# PL-SVM's paper uses the precise rows instead (those with one candidate), if there are any. Each is predicted once by a
# learner that has not seen it; the winner is then fitted on all rows:
#
#     search = GridSearchCV(PLSVC(fit_intercept=False), PRECISE_GRID, cv=precise_folds(candidates))
#     search.fit(X, candidates)
#
# In a pipeline the names take the step's prefix: {f"plsvc__{name}": values for name, values in grid.items()}. Sorted
# rows (by class, by source) must be shuffled, as above, or training and test parts of the folds differ.

_SVM = [1e-3, 1e-2, 1e-1, 1.0, 1e1, 1e2, 1e3]

# By class name, as GridSearchCV takes them: PL-SVM's C = 1/lambda (Nguyen and Caruana, KDD 2008, section 4), LM-PLANE's
# C (TNNLS 2020), M3PL's C_max (Yu and Zhang, ACML 2015). CLPL's paper has none; its C means the same as PL-SVM's.
# PLPegasos has the lambdas of PAKDD 2020 and the one set from the features; that paper leaves PLPerceptron's step open
# and does not use the mean of the iterates. PLKernelRidge chooses from its own grid, much faster: one
# eigendecomposition per kernel is enough. No paper has a grid for PL-KNN's K: these are about evenly spaced on a
# logarithmic scale. SURE's beta and lambda (Feng and An, AAAI 2019), PL-AGGD's gamma and weights (KDD 2019), PL-CL's
# alpha and beta (KDD 2023): around the papers' defaults; RegISL's theta is its paper's (Gong et al., IEEE T.
# Cybernetics 2018). LSB-CMM's are around its authors' 80 components for Lost and the 10 of LM-PLANE's comparison. PL
# A-kNN's are around the 50 neighbours and c1 = 0.5 of its paper, whose code takes 5 neighbours for the largest set.
# PLGP's are around the mean distance of two rows, the usual width; by default it chooses from a smaller grid.
PARAMETER_GRIDS: dict[str, dict[str, Sequence[object]]] = {
    "PLKNeighborsClassifier": {"n_neighbors": [3, 5, 10, 20, 40], "weights": ["linear", "uniform"]},
    "PLSVC": {"C": _SVM},
    "CLPLClassifier": {"C": list(_SVM)},
    "LMPlaneClassifier": {"C": [1.0, 10.0, 100.0, 1000.0, 5000.0, 10_000.0, 50_000.0]},
    "M3PLClassifier": {"C_max": [0.01, 0.1, 1.0, 10.0, 100.0]},
    "PLPerceptron": {"loss": ["average", "max"], "eta0": ["auto", 1.0], "average": [False, True]},
    "PLPegasos": {"loss": ["average", "max"], "alpha": ["auto", 1e-4, 1e-3, 1e-2, 1e-1]},
    "SUREClassifier": {"alpha": [0.02, 0.05, 0.1, 0.2], "bonus": [0.1, 0.3, 0.5]},
    "PLAGGDClassifier": {"alpha": [0.01, 0.05, 0.1], "label_weight": [0.1, 1.0, 10.0]},
    "PLCLClassifier": {"alpha": [0.01, 0.03, 0.1], "complement_weight": [0.1, 0.5, 1.0]},
    "RegISLClassifier": {"theta": [0.01, 0.1, 1.0, 10.0], "bonus": [0.01, 0.1, 1.0]},
    "LSBCMMClassifier": {"n_components": [10, 20, 40, 80], "variance": [0.1, 1.0]},
    "PLAdaptiveNeighborsClassifier": {"n_neighbors": [5, 20, 50], "threshold": [0.25, 0.5, 1.0]},
    "PLGPClassifier": {"length_scale": [0.5, 1.0, 2.0], "variance": [1.0, 10.0, 100.0]},
    "PLProgressiveClassifier": {"max_iter": [1, 5], "n_folds": [2, 5]},
    "PLForest": {"max_features": ["sqrt", 0.5], "min_samples_leaf": [1, 3]},
    "PLKernelRidge": {"kernel": ["rbf", "laplace"], "alpha": list(ALPHAS), "class_mass": list(MASSES)},
}

# The whole grid of PL-SVM's paper, with the degree of its polynomial kernel; for use with `precise_folds`.
PRECISE_GRID: dict[str, list[object]] = {"kernel": ["poly"], "degree": [1, 2, 3, 4, 5], "C": list(_SVM)}


def precise_folds(
    y: LabelsLike, n_folds: int = 2, *, partial: bool = True, random_state: int | np.random.RandomState | None = None
) -> list[tuple[IntArray, IntArray]]:
    """Return folds tested only on rows with one candidate, for `GridSearchCV(cv=...)`.

    y : label vector (n,) or candidate matrix (n, m)      random_state : seed of the order in which rows are dealt to
        folds
    partial : put the rows with several candidates into every training part, as in the final fit: C weighs the *mean*
        loss, and a C chosen on the precise rows alone is too small for all rows
        (`docs/decisions/0006-margin-learners.md`). False: train on the precise rows only.
    Raises CandidateError for invalid candidates, ValueError for fewer precise rows than folds.
    """
    candidates, _ = check_candidates(y)
    several = candidates.sum(axis=1) > 1
    rows: IntArray = np.flatnonzero(~several)
    if len(rows) < n_folds:
        raise ValueError(
            f"{n_folds} folds need at least {n_folds} rows with one candidate. Got {len(rows)} of {len(candidates)} "
            "rows. Fix: use candidate consistency instead, cv=KFold(5, shuffle=True)."
        )
    always: IntArray = np.flatnonzero(several) if partial else rows[:0]
    folds = KFold(n_folds, shuffle=True, random_state=random_state).split(rows)
    return [(np.sort(np.concatenate([rows[train], always])), rows[test]) for train, test in folds]
