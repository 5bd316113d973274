"""Learners that predict the value of a feature, and can fail, warn or take time on a fake clock."""

from __future__ import annotations

import warnings

import numpy as np
from sklearn.base import BaseEstimator, ClassifierMixin


class Told(ClassifierMixin, BaseEstimator):
    """Predicts the number in one feature; its parameters make a fit fail, warn or take time."""

    def __init__(self, column=0, error=None, warning=None):
        self.column = column
        self.error = error
        self.warning = warning

    def fit(self, X, y):
        if self.error is not None:
            raise self.error
        if self.warning is not None:
            warnings.warn(self.warning, UserWarning, stacklevel=2)
        self.classes_ = np.arange(y.shape[1])
        self.transduction_ = y.argmax(axis=1)
        return self

    def predict(self, X):
        return X[:, self.column].astype(int)


class Clock:
    """A fake clock of CPU seconds that tests advance."""

    def __init__(self):
        self.now = 100.0

    def __call__(self):
        return self.now

    def __deepcopy__(self, memo):
        return self  # clones of a learner use the same clock


class Slow(Told):
    """Each fit takes some seconds of a clock, in steps that it reports."""

    def __init__(self, clock=None, seconds=1.0, column=0):
        super().__init__(column)
        self.clock = clock
        self.seconds = seconds

    def fit(self, X, y):
        self.clock.now += self.seconds
        return super().fit(X, y)


class Reporting(Slow):
    """Reports progress in ten steps of a fit."""

    def fit(self, X, y, progress=None):
        for step in range(10):
            self.clock.now += self.seconds / 10
            if progress is not None:
                progress(step, 0.0)
        return Told.fit(self, X, y)


class Weighed(Told):
    """Notes the candidate weights that its last fit was given."""

    seen: list = []  # noqa: RUF012 - clones share it

    def fit(self, X, y, candidate_weights=None):
        Weighed.seen.append(candidate_weights)
        return super().fit(X, y)
