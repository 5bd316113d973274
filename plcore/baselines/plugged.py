"""Models of plug-ins: classifiers that other distributions declare, wrapped to learn from candidate sets."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cache
from typing import ClassVar

import numpy as np
from sklearn.base import BaseEstimator

from plcore.arrays.plugins import Plugin, PluginError, check_declared, find_plugins, import_part
from plcore.baselines.progressive import PLProgressiveClassifier

MODEL_GROUP = "winnow.models"
"""Group of the entry points."""


@dataclass(frozen=True)
class ModelPlugin:
    """Declaration of a model: a classifier that a project can learn with.

    words : what people read: the name, a colon, how it learns
    classifier : "package.module:name" of a function or class that is called without arguments and returns an unfitted
        scikit-learn classifier with `predict_proba`, or a pipeline that ends in one
    plain : description in two words for users who do not know the method; "": none
    Raises ValueError for a wrong one.
    """

    words: str
    classifier: str
    plain: str = ""

    def __post_init__(self) -> None:
        check_declared(self.words, "how it learns", classifier=self.classifier)


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


@cache
def model_plugins() -> tuple[Plugin[ModelPlugin], ...]:
    """Return every plug-in of a model, as installed at the first call; broken ones too."""
    return find_plugins(MODEL_GROUP, ModelPlugin)
