"""Measures of decisions that are sets of winners."""

from __future__ import annotations

from typing import Any

import numpy as np
import pandas as pd

from plcore.common.types import IntArray

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
