"""Avg and Max Perceptron for partial labels (Bhattacharjee and Manwani, PAKDD 2020, Algorithms 1 and 2)."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import dataclass
from numbers import Real
from typing import ClassVar

from numpy.typing import ArrayLike
from sklearn.base import BaseEstimator
from sklearn.utils._param_validation import Interval, StrOptions
from sklearn.utils.validation import _num_samples

from plcore.arrays.types import LabelsLike, MatrixLike, RandomState
from plcore.online.base import OnlineClassifier
from plcore.online.state import Rules

LARGEST = 1e50  # eta0


@dataclass(eq=False, repr=False)
class PLPerceptron(OnlineClassifier):
    """Perceptron for partial labels, `loss="average"` (Algorithm 1) or `"max"` (Algorithm 2).

    From W = 0, in each round with a loss: W += eta0 * outer(tau, x). An update needs a margin below 1, not a
    mistake: with long rows or a large eta0 it becomes the Perceptron that updates only on mistakes. With one candidate
    in each row both are the multi-class Perceptron. See `OnlineClassifier` for the losses and attributes.

    Parameters
    ----------
    loss : "average" where rows have many candidates, "max" if they have few.
    eta0 : step, > 0; the paper leaves it open. Only eta0 * |x|^2 matters: about 1 was best on the measured sets, and
        "auto" is 1 / the mean |x|^2 of the rows of `fit`, or of the first chunk; `eta0_` is the value used.
    average : predict with the mean of the iterates. Not in the paper; better for "average" with many candidates.
    fit_intercept : append a constant 1 to x.
    max_iter, shuffle, random_state : of `fit`: passes, each in a new random order of the rows.
    """

    _parameter_constraints: ClassVar[dict[str, list[object]]] = {
        **OnlineClassifier._parameter_constraints,
        "eta0": [StrOptions({"auto"}), Interval(Real, 0, LARGEST, closed="right")],
    }

    _rate = "eta0"

    loss: str = "average"
    eta0: float | str = 1.0
    average: bool = False
    fit_intercept: bool = True
    max_iter: int = 5
    shuffle: bool = True
    random_state: RandomState = 0

    @property
    def eta0_(self) -> float:
        """The step size in use."""
        return self._used().eta0

    def _rules(self, length: float) -> Rules:
        return Rules(
            use_max=self.loss == "max",
            eta0=min(1.0 / length, LARGEST) if self.eta0 == "auto" else float(self.eta0),
            alpha=0.0,
            decay_always=False,
            averaging=bool(self.average),
            constant=float(self.fit_intercept),
        )


# Avg and Max Pegasos for partial labels (Bhattacharjee and Manwani, PAKDD 2020, Algorithms 3 and 4).

SMALLEST = 1e-50  # alpha
SHARE = 1000.0  # mean |x|^2 over alpha, where alpha is "auto"


@dataclass(eq=False, repr=False)
class PLPegasos(OnlineClassifier):
    """Pegasos for partial labels, `loss="average"` (Algorithm 3) or `"max"` (Algorithm 4).

    From W = 0, with eta_t = 1 / (alpha t) in round t, if there is a loss:

        W <- (1 - 1/t) W + eta_t * outer(tau, x),   then   W <- min(1, 1 / (sqrt(alpha) |W|)) W

    Where there is none W stays, as Algorithms 3 and 4 are printed; Eq. 6 and Theorem 3 need the decay in every round
    (`decay_always`). Rounds count all rows. The paper gives its projection in three ways: this is that of the
    algorithms, into the ball of radius 1 / sqrt(alpha). With one candidate in each row both are the multi-class
    Pegasos. See `OnlineClassifier` for the losses and attributes.

    Parameters
    ----------
    loss : "average" where rows have many candidates, "max" if they have few.
    alpha : lambda, the weight of 1/2 |W|^2 against the mean loss; 1e-50 or more. The best value is proportional to
    |x|^2: "auto" is
        the mean |x|^2 / 1000 of the rows of `fit`, or of the first chunk, good on all sets measured; `alpha_` is the
        value used. The paper has powers of ten, for rows of unit length.
    decay_always : decay in rounds without a loss too.
    average : predict with the mean of the iterates, not with the last as the paper does; better with many candidates.
    fit_intercept : append a constant 1 to x; its weight is regularised.
    max_iter, shuffle, random_state : of `fit`: passes, each in a new random order of the rows.
    """

    _parameter_constraints: ClassVar[dict[str, list[object]]] = {
        **OnlineClassifier._parameter_constraints,
        "alpha": [StrOptions({"auto"}), Interval(Real, SMALLEST, None, closed="left")],
        "decay_always": ["boolean"],
    }

    _rate = "alpha"

    loss: str = "average"
    alpha: float | str = "auto"
    decay_always: bool = False
    average: bool = True
    fit_intercept: bool = True
    max_iter: int = 5
    shuffle: bool = True
    random_state: RandomState = 0

    @property
    def alpha_(self) -> float:
        """The alpha in use."""
        return self._used().alpha

    def _rules(self, length: float) -> Rules:
        return Rules(
            use_max=self.loss == "max",
            eta0=0.0,
            alpha=max(length / SHARE, SMALLEST) if self.alpha == "auto" else float(self.alpha),
            decay_always=bool(self.decay_always),
            averaging=bool(self.average),
            constant=float(self.fit_intercept),
        )


# Streams: chunks that arrive one after the other and need not fit into memory together.


def learn_stream(
    estimator: BaseEstimator,
    chunks: Iterable[tuple[MatrixLike, LabelsLike]],
    classes: ArrayLike | None = None,
    progress: Callable[[int, int], object] | None = None,
) -> int:
    """Learn a stream in one pass with `partial_fit`, with one chunk in memory at a time. Returns the number
    of rows.

    chunks : any iterable of (X (k, d), y), k at least 1, as `partial_fit` of the estimator takes them
    classes : (m,) passed with the first chunk, None if y are candidate matrices or the estimator has its classes
    progress : called after each chunk as progress(rows so far, chunks so far); what it raises ends the stream.
        `estimator.mistakes_ / estimator.rounds_` is the running ambiguous loss of an online learner
    Raises the errors of `partial_fit` with a note that names the chunk; earlier chunks stay learnt.
    """
    rows = 0
    number = 0
    for X, y in chunks:  # enumerate would keep the previous chunk in the tuple that it reuses
        number += 1  # noqa: SIM113
        try:
            if number == 1 and classes is not None:
                estimator.partial_fit(X, y, classes=classes)
            else:
                estimator.partial_fit(X, y)
        except ValueError as error:
            error.add_note(f"In chunk {number} of the stream, which begins with its row {rows} (counted from 0).")
            raise
        rows += _num_samples(X)
        if progress is not None:
            progress(rows, number)
        del X, y  # or two chunks would be in memory while the next is made
    return rows
