"""Measures of predictions against candidate sets."""

from __future__ import annotations

from typing import Any

import numpy as np
import pandas as pd

from plcore._types import AnyArray, IntArray
from plcore.candidates import CandidateError, check_candidates

TIES = ("error", "uniform")


def check_ties(ties: str) -> None:
    """Raise ValueError unless `ties` is one of the two readings."""
    if ties not in TIES:
        raise ValueError(f"ties must be one of {', '.join(map(repr, TIES))}. Got {ties!r}.")


def error_rate(winners: Any, y_true: Any, ties: str = "error", *, classes: Any = None) -> float:
    """Share of targets decided wrong, in [0, 1], when the decision is a *set* of winners (Eq. 1).

    winners : bool or 0/1 (T, m), as `plcore.query.winners`; a target without winners is an error
    y_true : (T,) true labels, members of `classes`; any other label is an error
    ties : "error": more than one winner is an error (Table 8 of Nguyen et al., AAAI 2017); "uniform": the
        expected error when one of the winners is drawn evenly, 1 - 1/|h| where the truth is among them
    classes : (m,) names of the columns; None: 0..m-1
    Raises ValueError for other ties, lengths that differ, or no targets.
    """
    check_ties(ties)
    best = np.asarray(winners)
    labels = np.asarray(y_true)
    if best.ndim != 2 or not np.isin(best, (0, 1)).all():
        raise ValueError(f"winners must be True/False or 1/0 (n_targets, m). Got shape {best.shape}.")
    if labels.shape != (len(best),) or not len(best):
        raise ValueError(f"y_true must be {len(best)} labels, at least one. Got shape {labels.shape}.")
    names = np.arange(best.shape[1]) if classes is None else np.asarray(classes)
    if names.shape != (best.shape[1],):
        raise ValueError(
            f"classes must name the {best.shape[1]} columns of winners. Got shape {names.shape}."
        )
    columns: IntArray = pd.Index(names).get_indexer(pd.Index(labels))
    right = best.astype(bool)[np.arange(len(best)), columns] & (columns >= 0)
    size = best.sum(axis=1)
    chance = np.where(right, 1 / np.maximum(size, 1), 0.0)
    return float(1 - (np.where(size == 1, chance, 0.0) if ties == "error" else chance).mean())


def candidate_accuracy(
    candidates: Any, y_pred: Any, classes: Any = None, *, sample_weight: Any = None
) -> float:
    """Share of predictions that are inside their candidate set.

    candidates : candidate matrix (n, m) or label vector, as `plcore.candidates.check_candidates`
    y_pred : (n,) predicted labels, members of `classes`; any other label is outside of every set
    classes : (m,) names of the columns; None: the columns of a DataFrame, the labels of a label vector, else
        0..m-1
    sample_weight : (n,) weights of the rows, None for equal ones
    Raises CandidateError for wrong candidates or a wrong number of classes, ValueError for lengths that
    differ or text labels where the classes are the numbers 0..m-1.
    """
    known, names = check_candidates(candidates)
    predicted = np.asarray(y_pred)
    if predicted.shape != (len(known),):
        raise ValueError(
            f"y_pred must be {len(known)} labels, one for each row. Got shape {predicted.shape}."
        )
    if classes is not None:
        names = np.asarray(classes)
        if names.shape != (known.shape[1],):
            raise CandidateError(
                f"classes must name the {known.shape[1]} columns of the candidates. Got shape {names.shape}."
            )
        if not pd.Index(names).is_unique:
            raise CandidateError("classes must be different from one another.")
    elif names.dtype.kind in "iu" and any(isinstance(label, str) for label in predicted.tolist()):
        raise ValueError(
            f"y_pred holds text such as {predicted.tolist()[0]!r}, but the classes are the numbers "
            f"{names.tolist()[0]}..{names.tolist()[-1]}. "
            "Fix: pass classes=, or candidates as a DataFrame with the labels as column names."
        )
    columns = pd.Index(names).get_indexer(pd.Index(predicted))
    inside: AnyArray = known[np.arange(len(known)), columns] & (columns >= 0)
    return float(np.average(inside, weights=sample_weight))
