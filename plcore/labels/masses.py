"""Class masses: how much of the rows' weight each class is to have, and soft labels moved towards them."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from plcore.common.types import FloatArray

POWER_STEPS = 3


@dataclass(frozen=True, eq=False)
class ClassMasses:
    """How much of the rows' weight each class is to have, counted over the rows that say something.

    A row whose set is every class says nothing about the classes' sizes and is left out of the counts.

    weights : (n,) of the rows, 0 for those left out      targets : (m,) their soft labels' mass as imported
    """

    weights: FloatArray
    targets: FloatArray

    @classmethod
    def of(cls, prior: FloatArray, weights: FloatArray) -> ClassMasses:
        """The masses of soft labels as imported (n, m)."""
        known = (prior[weights > 0] > 0).any(axis=0)
        if not known.any():  # no row has weight
            return cls(np.zeros(len(prior)), np.zeros(prior.shape[1]))
        lowest, highest = prior[:, known].min(axis=1), prior[:, known].max(axis=1)
        counted = np.where(highest > lowest * (1 + 1e-9), weights, 0.0)
        if known.sum() == 1:
            counted = weights.copy()
        return cls(counted, counted @ prior)

    def pull(self, labels: FloatArray, power: float) -> FloatArray:
        """Soft labels (n, m) moved towards the masses: three times Q_ic (M_c / sum_i Q_ic)^power, rows scaled to 1.

        power : 0 leaves them as they are, 1 moves the sums to the masses as far as the sets allow. A class without mass
            is not pulled: a first answer may bring it, and then no set as imported has told its size.
        """
        return self._pull(labels, power)[0]

    def log_factors(self, labels: FloatArray, power: float) -> FloatArray:
        """(m,) logarithms of the factors by which `pull` multiplies each class, before the rows are scaled."""
        return self._pull(labels, power)[1]

    def _pull(self, labels: FloatArray, power: float) -> tuple[FloatArray, FloatArray]:
        logs = np.zeros(labels.shape[1])
        for _ in range(POWER_STEPS if power > 0 else 0):
            sums = self.weights @ labels
            told = (self.targets > 0) & (sums > 0)
            factors = np.where(told, self.targets / np.where(told, sums, 1.0), 1.0) ** power
            moved = labels * factors
            total = moved @ np.ones(len(factors))  # a fifth of the time of a sum of rows
            if (total <= 0).any():
                moved, total = np.where(total[:, None] > 0, moved, labels), np.where(total > 0, total, 1.0)
            moved /= total[:, None]
            labels = moved
            logs += np.log(factors)
        return labels, logs
