"""Models of plug-ins (`.declared`): their classifiers, wrapped to learn from candidate sets."""

from __future__ import annotations

from typing import ClassVar

import numpy as np
from sklearn.base import BaseEstimator

from plcore.arrays.plugins import PluginError, import_part
from plcore.baselines.progressive import PLProgressiveClassifier


class PluggedClassifier(PLProgressiveClassifier):
    """A `PLProgressiveClassifier` around the classifier of a plug-in, which only `fit` imports.

    reference : "package.module:name" of the classifier, "" for a plug-in that is not there      others : as there
    """

    _parameter_constraints: ClassVar[dict[str, list[object]]] = {
        **{name: one for name, one in PLProgressiveClassifier._parameter_constraints.items() if name != "estimator"},
        "reference": [str],
    }

    def __init__(
        self,
        reference: str = "",
        max_iter: int = 5,
        n_folds: int = 3,
        random_state: int | np.random.RandomState | None = 0,
    ) -> None:
        self.reference = reference
        self.max_iter = max_iter
        self.n_folds = n_folds
        self.random_state = random_state

    def _make(self) -> BaseEstimator:
        if not self.reference:
            raise PluginError(
                "The model is from a plug-in that is not installed or was left out. Fix: run `winnow plugins`, which "
                "says why, and install it; or use another model."
            )
        make = import_part(self.reference)
        made = make() if callable(make) else None
        if not (hasattr(made, "fit") and hasattr(made, "predict_proba")):
            raise PluginError(
                f"{self.reference} must return a classifier with predict_proba. Got {type(made).__name__}. Fix: ask "
                "the plug-in's author."
            )
        return made
