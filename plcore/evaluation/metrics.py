"""Measures of predictions against candidate sets."""

from __future__ import annotations

from typing import Any

import numpy as np
import pandas as pd

from plcore._types import AnyArray
from plcore.candidates import CandidateError, check_candidates


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
