"""Soft labels inside candidate sets, and classes that are in nearly all of them."""

from __future__ import annotations

import warnings
from typing import Any

import numpy as np
import pandas as pd

from plcore.common.types import AnyArray, BoolArray, FloatArray
from plcore.common.words import listed
from plcore.kernels import softmax_rows
from plcore.labels.alignment import candidates_among, refuse_other_columns
from plcore.labels.candidates import CandidateError
from plcore.labels.weights import prior_labels

FREQUENT = 0.97


def softmax_inside(scores: FloatArray, temperature: float, prior: FloatArray) -> FloatArray:
    """(n, m) prior * exp(scores / temperature), rows scaled to 1; 0 where the prior is 0."""
    logs, inside = logs_inside(prior)
    return np.asarray(softmax_rows(scores / temperature + logs, inside))


def logs_inside(prior: FloatArray) -> tuple[FloatArray, BoolArray]:
    """(n, m) the logarithms of the prior and where it is above 0: what every round has of it."""
    with np.errstate(divide="ignore"):
        return np.log(prior), prior > 0


def imported_labels(
    imported: Any, shape: tuple[int, ...], classes: AnyArray, weights: FloatArray | None = None
) -> FloatArray:
    """Soft labels (n, m) of the candidates as imported, before anything is learned (`prior_labels`).

    weights : (n, m) of the candidates, None for even ones
    Raises CandidateError where they have not this shape (n, m), and for columns or names that are not those of the
    classes (m,).
    """
    if isinstance(imported, pd.DataFrame):
        refuse_other_columns("imported", imported, classes)
    before = candidates_among(imported, classes)
    if before.shape != shape:
        raise CandidateError(f"imported must have the shape of the candidates, {shape}. Got {before.shape}.")
    return prior_labels(before, weights)


def frequent_classes(candidates: BoolArray) -> BoolArray:
    """(m,) whether a class is in more than .97 of the sets that say something, where some of them are ambiguous.

    There every learner is poor: what all rows may be is the easiest thing to say of each.
    """
    known = candidates.any(axis=0)
    sizes = candidates.sum(axis=1)
    telling = candidates[sizes < known.sum()]
    if not (telling.sum(axis=1) > 1).any():
        return np.zeros(candidates.shape[1], dtype=bool)
    return np.asarray(telling.mean(axis=0) > FREQUENT)


def warn_of_frequent(candidates: BoolArray, classes: AnyArray) -> None:
    """Warn (UserWarning) the caller of the caller where `frequent_classes` finds some, by their names (m,)."""
    frequent = frequent_classes(candidates)
    if frequent.any():
        names = listed([str(name) for name in classes[frequent]])
        warnings.warn(
            f"More than 97 % of the candidate sets have {names} among them: what nearly every row may be tells little, "
            "and every learner is poor here. Fix: rule it out where it is wrong, or answer some rows first.",
            UserWarning,
            stacklevel=3,
        )
