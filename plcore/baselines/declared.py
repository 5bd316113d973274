"""Declarations of models by plug-ins: classifiers of other distributions. To list them loads no library."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cache

from plcore.arrays.plugins import Plugin, check_declared, find_plugins

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


@cache
def model_plugins() -> tuple[Plugin[ModelPlugin], ...]:
    """Return every plug-in of a model, as installed at the first call; broken ones too."""
    return find_plugins(MODEL_GROUP, ModelPlugin)
