"""PL-CL: PL-AGGD with a second regression that learns which classes a row does not have."""

from __future__ import annotations

from dataclasses import KW_ONLY, dataclass
from numbers import Real
from typing import ClassVar

import numpy as np
from sklearn.utils._param_validation import Interval

from plcore.arrays.types import BoolArray, Matrix
from plcore.baselines.aggd import PLAGGDClassifier
from plcore.baselines.base import Complement


@dataclass(eq=False, repr=False)
class PLCLClassifier(PLAGGDClassifier):
    """Complementary classifier induced partial label learning (PL-CL; Jia, Si and Zhang, KDD 2023).

        min over W, Y, q, A, b, Ac, bc of  feature_weight |X - W X|^2 + label_weight |Y - W Y|^2
            + |Y - F|^2 + alpha |A|_K^2  +  complement_weight |q - Fc|^2 + alpha |Ac|_K^2  +  agreement |1 - Y - q|^2

    F and Y as in `PLAGGDClassifier`. q_ic, in [0, 1] and 1 outside of the set, is the confidence that row i
    is not of class c; Fc is a kernel ridge regression on q. Non-candidates are certainly wrong, so Fc learns
    from certain facts. Y and q should add up to 1. W, q, Y, F and Fc are updated alternately; no update increases the
    objective. Predictions are those of F.

    Parameters
    ----------
    complement_weight, agreement : the paper's alpha and beta
    alpha : ridge of both regressions; with complement_weight a that of Fc is alpha / a, as in the authors' program.
    others : as in `PLAGGDClassifier`; the authors have 8 rounds.

    Attributes
    ----------
    as in `PLAGGDClassifier`; objective_ is the function above.
    """

    _parameter_constraints: ClassVar[dict[str, list[object]]] = {
        **PLAGGDClassifier._parameter_constraints,
        "complement_weight": [Interval(Real, 0, None, closed="neither")],
        "agreement": [Interval(Real, 0, None, closed="left")],
    }

    alpha: float = 0.03
    _: KW_ONLY
    complement_weight: float = 0.5
    agreement: float = 0.5
    max_iter: int = 8

    def _complement(self, X: Matrix, candidates: BoolArray) -> Complement:
        regression = self._regression(X, np.ones(X.shape[0]), self.alpha / self.complement_weight)
        return Complement(regression, candidates, self.complement_weight, self.agreement)
