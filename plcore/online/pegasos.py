"""Avg and Max Pegasos for partial labels (Bhattacharjee and Manwani, PAKDD 2020, Algorithms 3 and 4)."""

from __future__ import annotations

from numbers import Real
from typing import Any, ClassVar

from sklearn.utils._param_validation import Interval

from plcore.online.base import OnlineClassifier
from plcore.online.state import Rules


class PLPegasos(OnlineClassifier):
    """Pegasos for partial labels, `loss="average"` (Algorithm 3) or `"max"` (Algorithm 4).

    From W = 0, with eta_t = 1 / (alpha t) in round t, where there is a loss:

        W <- (1 - 1/t) W + eta_t * outer(tau, x),   then   W <- min(1, 1 / (sqrt(alpha) |W|)) W

    Where there is none W stays, as Algorithms 3 and 4 are printed; Eq. 6 and Theorem 3 need the decay in every round
    (`decay_always`). Rounds count all rows. The paper prints its projection in three ways: this is the one of the
    algorithms, into the ball of radius 1 / sqrt(alpha). With one candidate in each row both are the multi-class
    Pegasos. See `OnlineClassifier` for the losses and attributes.

    Parameters
    ----------
    loss : "average" where rows have many candidates, "max" where they have few.
    alpha : lambda, the weight of 1/2 |W|^2 against the mean loss; 1e-50 or more. The best goes with |x|^2: about
        |x|^2 / 1000 on the sets measured, which for standardised features is their number / 1000.
    decay_always : decay in rounds without a loss too.
    average : predict with the mean of the iterates. Not in the paper; better for "average" with many candidates.
    fit_intercept : append a constant 1 to x; its weight is regularised.
    max_iter, shuffle, random_state : of `fit`: passes, each in a new random order of the rows.
    """

    _parameter_constraints: ClassVar[dict[str, list[Any]]] = {
        **OnlineClassifier._parameter_constraints,
        "alpha": [Interval(Real, 1e-50, None, closed="left")],
        "decay_always": ["boolean"],
    }

    def __init__(
        self,
        loss: str = "average",
        alpha: float = 1e-4,
        decay_always: bool = False,
        average: bool = False,
        fit_intercept: bool = True,
        max_iter: int = 5,
        shuffle: bool = True,
        random_state: Any = 0,
    ) -> None:
        self.loss = loss
        self.alpha = alpha
        self.decay_always = decay_always
        self.average = average
        self.fit_intercept = fit_intercept
        self.max_iter = max_iter
        self.shuffle = shuffle
        self.random_state = random_state

    def _rules(self) -> Rules:
        return Rules(
            use_max=self.loss == "max",
            eta0=0.0,
            alpha=float(self.alpha),
            decay_always=bool(self.decay_always),
            averaging=bool(self.average),
            constant=float(self.fit_intercept),
        )
