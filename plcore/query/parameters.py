"""What `EffectRanker` checks at the door."""

from __future__ import annotations

from numbers import Integral, Real
from typing import Any

import numpy as np

from plcore.common.checks import check_choice
from plcore.common.types import BoolArray, IntArray
from plcore.labels.candidates import CandidateError
from plcore.neighbors.graph import SCALINGS, WEIGHTS
from plcore.neighbors.search import SEARCHES
from plcore.query.effects import DECISIONS, RULES
from plcore.query.possible import check_count


def check_parameters(ranker: Any) -> None:
    """Raise ValueError, naming the parameter, unless those of an `EffectRanker` are legal."""
    check_choice("rule", ranker.rule, RULES)
    check_choice("decision", ranker.decision, DECISIONS)
    check_choice("weights", ranker.weights, WEIGHTS)
    check_choice("search", ranker.search, SEARCHES)
    if ranker.scaling not in SCALINGS:
        raise ValueError(f"scaling must be one of {', '.join(map(repr, SCALINGS))}. Got {ranker.scaling!r}.")
    if isinstance(ranker.targets, str):
        check_choice("targets", ranker.targets, ("ambiguous", "fixed"))
    for name in ("n_neighbors", "max_nodes", "n_jobs"):
        check_count(name, getattr(ranker, name))
    seed = ranker.random_state
    if seed is not None and (not isinstance(seed, Integral) or isinstance(seed, bool) or seed < 0):
        raise ValueError(f"random_state must be None or an int of at least 0. Got {seed!r}.")
    if not isinstance(ranker.damping, Real) or not 0 <= float(ranker.damping) <= 1:
        raise ValueError(f"damping must be a number in [0, 1]. Got {ranker.damping!r}.")


def check_number(n: Any) -> int:
    """`n`, a number of rows to return. Raises ValueError unless it is one."""
    if not isinstance(n, Integral) or n < 0:
        raise ValueError(f"n must be an int of at least 0. Got {n!r}.")
    return int(n)


def check_candidates_row(candidates_row: Any, row: int, n_classes: int) -> BoolArray:
    """New candidates of one row, as a new bool (n_classes,). Raises CandidateError unless they are such."""
    given = np.asarray(candidates_row)
    if given.shape != (n_classes,) or not (given.dtype == np.bool_ or np.all((given == 0) | (given == 1))):
        raise CandidateError(
            f"candidates_row must be {n_classes} values True/False or 1/0 for row {row}. Got {given!r}."
        )
    return given.astype(bool)


def allowed_rows(ambiguous: BoolArray, among: Any) -> BoolArray:
    """A new bool (n,): the ambiguous rows, of those in among if it is given. ValueError unless that is bool (n,)."""
    if among is None:
        return ambiguous.copy()
    mask = np.asarray(among)
    if mask.shape != ambiguous.shape or mask.dtype != np.bool_:
        raise ValueError(
            f"among must be True or False for each of the {len(ambiguous)} rows. Got shape {mask.shape} and dtype "
            f"{mask.dtype}. Fix: for row numbers make a mask, np.isin(np.arange({len(ambiguous)}), rows)."
        )
    return np.asarray(ambiguous & mask)


def check_target_rows(target_rows: Any, n_targets: int, n_rows: int) -> IntArray:
    """The rows that targets stand for as int64 (n_targets,); ValueError unless distinct and in 0..n_rows-1."""
    own = np.asarray(target_rows)
    fits = own.shape == (n_targets,) and own.dtype.kind in "iu"
    if not fits or not ((own[1:] > own[:-1]).all() or len(np.unique(own)) == len(own)):
        raise ValueError(f"target_rows must be {n_targets} distinct row numbers. Got shape {own.shape}.")
    if len(own) and not 0 <= own.min() <= own.max() < n_rows:
        raise ValueError(f"target_rows must be rows of candidates, 0..{n_rows - 1}.")
    return own.astype(np.int64)
