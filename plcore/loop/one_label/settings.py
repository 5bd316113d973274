"""How a learner of one true label among candidates learns and asks."""

from __future__ import annotations

import hashlib
from dataclasses import dataclass
from numbers import Integral, Real
from typing import Any

import numpy as np

from plcore.common.checks import check_choice
from plcore.loop.estimators import MODELS, ONLINE, TRAINED
from plcore.neighbors.graph import WEIGHTS
from plcore.query.strategies import STRATEGIES
from plcore.query.uncertainty import MARGIN

TRUTH_ROLES = ("hidden", "given")


@dataclass(frozen=True)
class LearnerSettings:
    """How a learner learns and asks; plain JSON values. Raises ValueError naming the setting that is wrong.

    n_neighbors : K of PL-KNN and of the effect scores, the row itself counted
    weights : "linear" | "uniform"
    strategy : effect rule "apl" | "mw" | "pl" (exact: it searches), baseline "random" | "mp" | "act", or
        "margin": where the model hesitates most between two candidates
    test_share : share in [0, 1) of the rows with a true label that is held out for the accuracy
    truth_role : what the other true labels are for: "hidden" (never used), "given" (exact labels to train on)
    seed : of the draws of test rows and control rows, and of what the strategy draws
    model : one of `plcore.loop.estimators.MODELS`
    C : its parameter C (C_max of "m3pl", 1 / alpha of Pegasos; the others have none); None: its default
    train_every, train_seconds : a model trained in the background is trained anew after so many answers, or
        so many seconds after an answer, whichever is first
    control_share : share in [0, 1) of the rows, and of the questions, that are blind controls (see `.pool`)
    """

    n_neighbors: int = 10
    weights: str = "linear"
    strategy: str = "apl"
    test_share: float = 1 / 3
    truth_role: str = "hidden"
    seed: int = 0
    model: str = "plknn"
    C: float | None = None
    train_every: int = 5
    train_seconds: float = 2.0
    control_share: float = 0.0

    def __post_init__(self) -> None:
        check_choice("weights", self.weights, WEIGHTS)
        check_choice("strategy", self.strategy, (*STRATEGIES, MARGIN))
        check_choice("model", self.model, MODELS)
        check_choice("truth_role", self.truth_role, TRUTH_ROLES)
        _check_int("n_neighbors", self.n_neighbors, 1)
        _check_int("seed", self.seed, 0)
        _check_int("train_every", self.train_every, 1)
        for name in ("test_share", "control_share"):
            value = getattr(self, name)
            if not _is_real(value) or not 0 <= float(value) < 1:
                raise ValueError(f"{name} must be a number in [0, 1). Got {value!r}.")
        if not _is_real(self.train_seconds) or not 0 <= self.train_seconds < np.inf:
            raise ValueError(f"train_seconds must be a number of at least 0. Got {self.train_seconds!r}.")
        if self.C is not None and (not _is_real(self.C) or not 0 < self.C < np.inf):
            raise ValueError(f"C must be None or a number above 0. Got {self.C!r}.")

    @property
    def is_trained(self) -> bool:
        """Whether the model is trained as a whole, in the background."""
        return self.model in TRAINED

    @property
    def is_online(self) -> bool:
        """Whether the model takes one answer at a time."""
        return self.model in ONLINE

    @property
    def model_key(self) -> str:
        """What a trained model depends on besides table and log, as part of a file name."""
        drawn = float(self.test_share).hex(), float(self.control_share).hex()
        parts = self.model, None if self.C is None else float(self.C), *drawn, self.truth_role, self.seed
        return f"{self.model}-{hashlib.sha256(repr(parts).encode()).hexdigest()[:16]}"


def _is_real(value: Any) -> bool:
    return isinstance(value, Real) and not isinstance(value, bool)


def _check_int(name: str, value: Any, least: int) -> None:
    if not isinstance(value, Integral) or isinstance(value, bool) or int(value) < least:
        raise ValueError(f"{name} must be an int of at least {least}. Got {value!r}.")
