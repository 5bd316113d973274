"""How often predictions lie inside their candidate sets: what every `score` of a classifier returns."""

from __future__ import annotations

from typing import Any

import numpy as np
import pandas as pd
from sklearn.metrics import accuracy_score
from sklearn.utils import check_consistent_length, column_or_1d
from sklearn.utils.validation import _check_sample_weight

from plcore.common.types import AnyArray, BoolArray
from plcore.common.words import shortened
from plcore.labels.alignment import candidates_among
from plcore.labels.candidates import (
    CandidateError,
    as_array,
    check_candidates,
    column_names,
    holds_sets,
    infer_labels,
    is_candidate_matrix,
    refuse_missing_labels,
)


def candidate_accuracy(
    candidates: Any, y_pred: Any, classes: Any = None, *, sample_weight: Any = None
) -> float:
    """Share of predictions that are inside their candidate set.

    candidates : candidate matrix (n, m), sets of class names or label vector, as `check_candidates` takes them
    y_pred : (n,) predicted labels, members of `classes`; any other label is outside of every set
    classes : (m,) names of the columns; None: the columns of a DataFrame, the labels of sets or a label vector, else
        0..m-1. Sets name their classes themselves: each name must be among these, in any order
    sample_weight : (n,) weights of the rows, None for equal ones
    Raises CandidateError for wrong candidates, a wrong number of classes, or predictions of which none is a
    class, nor of the kind of the classes (text for numbers); ValueError for lengths that differ, no rows, and weights
    that are not finite or all 0.
    """
    if holds_sets(candidates) and classes is not None:
        candidates = candidates_among(candidates, np.asarray(classes))
    candidates, names = check_candidates(candidates)
    predicted = np.asarray(y_pred)
    if predicted.shape != (len(candidates),) or not len(predicted):
        raise ValueError(
            f"y_pred must be {len(candidates)} labels, one for each row, at least one. Got shape {predicted.shape}."
        )
    weights = _check_sample_weight(sample_weight, candidates)
    if classes is not None:
        names = np.asarray(classes)
        if names.shape != (candidates.shape[1],):
            raise CandidateError(
                f"classes must name the {candidates.shape[1]} columns of the candidates. Got shape {names.shape}."
            )
        if not pd.Index(names).is_unique:
            raise CandidateError("classes must be different from one another.")
    columns = pd.Index(names).get_indexer(pd.Index(predicted))
    if (columns < 0).all() and _kind(predicted) != _kind(names):
        raise CandidateError(
            f"y_pred holds {_kind(predicted)} such as {_shown(predicted[:1])}, but the classes are "
            f"{_kind(names)}: {_shown(names)}. "
            "Fix: pass classes=, or candidates as a DataFrame with the labels as column names."
        )
    inside: BoolArray = candidates[np.arange(len(candidates)), columns] & (columns >= 0)
    return float(np.average(inside, weights=weights))


def score_of(predicted: AnyArray, y: Any, classes: AnyArray, sample_weight: Any = None) -> float:
    """What `score(X, y)` of a classifier returns: accuracy for labels, `candidate_accuracy` for a matrix or sets.

    predicted (n,), classes (m,) : the predictions for X, members of `classes_`      y : labels or candidates
    Raises CandidateError for a DataFrame none of whose columns is a class, for missing labels, and as
    `candidate_accuracy`.
    """
    if isinstance(y, pd.DataFrame):
        names = column_names(y)
        if len(names) and (pd.Index(names).get_indexer(pd.Index(classes)) < 0).all():
            raise CandidateError(
                f"The columns of y must be classes: {_shown(classes)}. Got {_shown(names)}. "
                "Fix: give the columns the names that they had in fit."
            )
        return candidate_accuracy(y, predicted, sample_weight=sample_weight)
    plain = _kind(classes) in ("text", "numbers", "bools")
    if plain and holds_sets(y):  # held-out rows may have names that no training row had
        return candidate_accuracy(y, predicted, sample_weight=sample_weight)
    vector = (
        isinstance(y, (np.ndarray, pd.Series)) and y.ndim == 1
    )  # whose tuples may be names of a MultiIndex
    if (plain or not vector) and is_candidate_matrix(y):
        return candidate_accuracy(y, predicted, classes, sample_weight=sample_weight)
    if plain:
        labels = infer_labels(column_or_1d(as_array(y)))
        refuse_missing_labels(labels)
        return float(accuracy_score(labels, predicted, sample_weight=sample_weight))
    own = pd.Series(
        y, dtype=object
    ).to_numpy()  # class names of other or of several kinds, each kept as it is
    check_consistent_length(own, predicted, sample_weight)
    return float(np.average(own == predicted.astype(object), weights=sample_weight))


def _kind(labels: AnyArray) -> str:
    """What these labels are, as a person says it."""
    found = pd.api.types.infer_dtype(labels, skipna=False)
    kinds = {"string": "text", "integer": "numbers", "floating": "numbers", "boolean": "bools"}
    return kinds.get(found, f"values of type {found}")


def _shown(labels: AnyArray) -> str:
    """The first labels as they are written in a message."""
    shown = ", ".join(shortened(repr(label)) for label in labels[:6].tolist())
    return shown + (", ..." if len(labels) > 6 else "")
