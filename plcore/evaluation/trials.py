"""Trials of learners on the same held-out rows, one setting and fold after the other, within a time budget."""

from __future__ import annotations

import warnings
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from time import thread_time
from typing import Any

import numpy as np
from sklearn.base import BaseEstimator
from sklearn.utils import _safe_indexing
from sklearn.utils.validation import has_fit_parameter

from plcore.arrays.types import AnyArray, BoolArray, FeatureMatrix, FloatArray, IntArray
from plcore.evaluation.learners import LearnerEntry, fit_learner, kappa, last_step

NOT_HELD_OUT = -1

Fold = tuple[IntArray, IntArray]


class _BudgetUsedUp(Exception):  # noqa: N818 - it ends a fit and is not an error
    """Raised when the CPU seconds are used up."""


class _Ended(BaseException):
    """Raised when the caller stopped the fit. cause : the caller's exception"""

    def __init__(self, cause: BaseException) -> None:
        super().__init__()
        self.cause = cause


class Budget:
    """A budget of CPU seconds of this thread, from now on; None: no limit."""

    def __init__(self, seconds: float | None) -> None:
        self.seconds = seconds
        self._begun = thread_time()

    def look(self, *_: object) -> None:
        """Raise if nothing is left. Fits that report progress call this too."""
        if self.seconds is not None and thread_time() - self._begun >= self.seconds:
            raise _BudgetUsedUp


@dataclass(frozen=True)
class Fit:
    """The result of one fit.

    predicted : column of each row of its fold; None if the fit made no predictions      seconds : CPU seconds
    warned : its warnings, and its finding about sources
    failed : the learner's error message, '' if the budget was used up
    """

    predicted: IntArray | None = None
    seconds: float = 0.0
    warned: tuple[str, ...] = ()
    failed: str = ""


@dataclass
class Trial:
    """The result of one learner.

    predicted : (n,) columns, NOT_HELD_OUT for rows that were not held out, and for all rows if there are no figures
    parameters, kappa, candidate_accuracy : the setting with the highest kappa and its figures, else {} and NaN
    seconds : CPU seconds of all settings
    notes : omissions with their reasons, and warnings of the fits
    """

    name: str
    predicted: IntArray
    parameters: Mapping[str, object] = field(default_factory=dict)
    kappa: float = np.nan
    candidate_accuracy: float = np.nan
    seconds: float = 0.0
    notes: list[str] = field(default_factory=list)


@dataclass(frozen=True)
class TrialRows:
    """Input that every learner is tried on.

    X : features (n, d)      candidates (n, m)      candidate_weights : prior weights (n, m), or None
    keep_scales : whether the features already have the right scales
    sources : (n,) the source of each row, or None
    members_only : bool (n,) rows that are only there as members of their source and are in no fold, or None
    imported : the candidates (n, m) before rows were answered, or None"""

    X: FeatureMatrix
    candidates: BoolArray
    candidate_weights: FloatArray | None
    folds: list[Fold]
    keep_scales: bool = False
    sources: IntArray | None = None
    members_only: BoolArray | None = None
    imported: BoolArray | None = None

    @property
    def held_out(self) -> BoolArray:
        """Return (n,) whether a row is in a test part."""
        held = np.zeros(len(self.candidates), dtype=bool)
        for _, test in self.folds:
            held[test] = True
        return held

    def run(self, entry: LearnerEntry, budget: Budget, before: Callable[[int], object] = lambda _: None) -> Trial:
        """Try all settings of a learner, until the budget is used up or one fails.

        before : called with the number of previous fits before each fit, and inside fits that report progress; an
            exception it raises ends the trial
        """

        def tried(setting: int, fold: int) -> Fit:
            done = setting * len(self.folds) + fold
            before(done)
            return self.fit(entry, setting, fold, budget, lambda: before(done))

        return self.gather(entry, tried, budget.seconds)

    def gather(self, entry: LearnerEntry, tried: Callable[[int, int], Fit], seconds: float | None) -> Trial:
        """Return the result of a learner. It depends only on its fits, made by anyone in any order.

        tried : the fit of (setting, fold), asked for in order until one has no predictions
        seconds : seconds of the budget
        """
        held = np.flatnonzero(self.held_out)
        nothing = np.full(len(self.candidates), NOT_HELD_OUT)
        trial = Trial(entry.name, nothing)
        for number, parameters in enumerate(entry.settings):
            predicted = nothing.copy()
            for fold, (_, test) in enumerate(self.folds):
                fit = tried(number, fold)
                trial.seconds += fit.seconds
                trial.notes += [words for words in fit.warned if words not in trial.notes]
                if fit.predicted is None:
                    why = fit.failed or f"the time budget of {seconds:g} s was used up"
                    which = f"with {setting_words(parameters)} and on " if number else ""
                    trial.notes.append(why if fit.failed and not number else f"{which}left out: {why}")
                    return trial
                predicted[test] = fit.predicted
            value = kappa(self.candidates[held], predicted[held])
            if np.isnan(trial.kappa) or value > trial.kappa:
                trial.parameters, trial.predicted, trial.kappa = dict(parameters), predicted, value
                trial.candidate_accuracy = float(self.candidates[held, predicted[held]].mean())
        return trial

    def fit(
        self, entry: LearnerEntry, setting: int, fold: int, budget: Budget, inside: Callable[[], object] = lambda: None
    ) -> Fit:
        """Fit on all folds but this one, and predict this one.

        inside : called by fits that report progress; an exception it raises ends the fit
        """
        begun = thread_time()
        test = self.folds[fold][1]
        predicted, failed = None, ""
        with warnings.catch_warnings(record=True) as warned:
            warnings.simplefilter("always")
            try:
                budget.look()
                model = entry.make(entry.settings[setting], self.X, keep_scales=self.keep_scales)
                train, wanted = self._training(model, fold)
                wanted["progress"] = _inside(budget, inside)
                fit_learner(model, _safe_indexing(self.X, train), self.candidates[train], **wanted)
                predicted = np.asarray(model.predict(_safe_indexing(self.X, test)))
            except _Ended as ended:
                raise ended.cause from None
            except _BudgetUsedUp:
                pass
            except Exception as error:
                failed = str(error) or type(error).__name__
        heard: tuple[str, ...] = ()
        if predicted is not None:
            heard = tuple(dict.fromkeys(f"warned: {one.message}" for one in warned))
            heard += () if self.sources is None else _source_words(last_step(model))
        if predicted is not None and not self._are_columns(predicted, test):
            failed = (
                f"predict must give the number of a column of the candidates for each of {len(test)} rows. "
                f"Got {predicted.dtype} of shape {predicted.shape}."
            )
            predicted = None
        return Fit(predicted, thread_time() - begun, heard, failed)

    def _training(self, model: BaseEstimator, fold: int) -> tuple[IntArray, dict[str, Any]]:
        """Return the training rows of a model and its arguments for `fit`.

        A model that learns from sources also gets their other members, with weight 0.
        """
        train = self.folds[fold][0]
        told: dict[str, Any] = {}
        takes = [has_fit_parameter(last_step(model), name) for name in ("groups", "sample_weight")]
        if self.sources is not None and self.members_only is not None and all(takes):
            others = np.flatnonzero(self.members_only)
            others = others[np.isin(self.sources[others], self.sources[train])]
            told["sample_weight"] = np.repeat([1.0, 0.0], [len(train), len(others)])
            train = np.concatenate([train, others])
        told["groups"] = None if self.sources is None else self.sources[train]
        told["candidate_weights"] = None if self.candidate_weights is None else self.candidate_weights[train]
        told["imported"] = None if self.imported is None else self.imported[train]
        return train, told

    def _are_columns(self, predicted: AnyArray, test: IntArray) -> bool:
        m = self.candidates.shape[1]
        return predicted.shape == test.shape and bool(np.isin(predicted, np.arange(m)).all())


def _source_words(model: BaseEstimator) -> tuple[str, ...]:
    """Return the learner's finding about the sources of its rows, if it can learn from them."""
    set_mass = getattr(model, "set_mass_", None)
    if set_mass is None:
        return ()
    if set_mass == 0:
        return ("rows of one source do not explain each other: its check on held-out rows was better without",)
    how = "" if set_mass == 1 else ", at half strength"
    return (f"rows of one source explain each other{how}: its check on held-out rows was no better without",)


def _inside(budget: Budget, inside: Callable[[], object]) -> Callable[..., None]:
    """Return a callback for fits that report progress."""

    def look(*_: object) -> None:
        budget.look()
        try:
            inside()
        except Exception as error:
            raise _Ended(error) from error

    return look


def setting_words(parameters: Mapping[str, object]) -> str:
    """Return the setting in the form name=value."""
    return ", ".join(f"{name}={value}" for name, value in parameters.items())
