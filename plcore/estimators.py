"""The models a project can learn with, by name, and how each is kept up to date."""

from __future__ import annotations

from typing import Any

from plcore.margin import PLSVC, CLPLClassifier, LMPlaneClassifier, M3PLClassifier

TRAINED = {
    "plsvc": PLSVC,
    "lmplane": LMPlaneClassifier,
    "m3pl": M3PLClassifier,
    "clpl": CLPLClassifier,
}
"""Trained as a whole, in the background: every answer would take too long."""

MODELS = ("plknn", *TRAINED)
"""Every model by name; "plknn" follows each answer at once."""


def make_estimator(model: str, C: float | None) -> Any:
    """An unfitted estimator of `TRAINED`; C: its own default where None (of "m3pl" it is C_max)."""
    given = {} if C is None else {"C_max" if model == "m3pl" else "C": float(C)}
    return TRAINED[model](**given)
