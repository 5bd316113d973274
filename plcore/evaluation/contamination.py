"""Candidate sets made from exact labels, to measure what partial labels cost (section 5 of the kNN query paper)."""

from __future__ import annotations

from numbers import Integral, Real

import numpy as np
import pandas as pd
from numpy.typing import ArrayLike
from sklearn.naive_bayes import GaussianNB
from sklearn.utils import check_array, check_consistent_length

from plcore.arrays.types import AnyArray, BoolArray, IntArray, LabelsLike, MatrixLike, is_sparse
from plcore.labels.candidates import CandidateError, check_candidates, holds_sets, is_candidate_matrix

MODELS = ("random", "bayes", "size")


def contaminate(
    y: LabelsLike,
    model: str = "random",
    p: float = 1.0,
    q: float | None = None,
    r: int | None = None,
    X: MatrixLike | None = None,
    random_state: int | np.random.Generator | None = None,
    *,
    classes: ArrayLike | None = None,
) -> BoolArray:
    """Add false candidates to exact labels; the true label always stays.

    y : label vector (n,); the m columns of the result are its sorted distinct labels, or `classes`
    model : "random": with probability p a row is contaminated, then each other label joins with probability q. "bayes":
        with probability p, the other labels in increasing posterior of Gaussian naive Bayes on (X, y), the k-th joins
        with probability min(1, 2kq/m). Both add (m - 1) q labels on average if nothing is cut off at 1. "size": exactly
        r false labels, drawn evenly, on exactly round(p n) rows
    p, q : probabilities in [0, 1]      r : int in 1..m-1 (0 adds nothing)      X : features (n, d), for
        "bayes" only
    random_state : None, an int or a NumPy Generator
    classes : (m,) distinct labels, which may include labels that do not occur in y; for "bayes" these are the least
        likely
    Returns bool (n, m). Raises ValueError for missing or impossible parameters, and CandidateError if y is not a label
    vector.
    """
    if model not in MODELS:
        raise ValueError(f"model must be one of {', '.join(map(repr, MODELS))}. Got {model!r}.")
    if is_candidate_matrix(y) or holds_sets(y):
        raise CandidateError("y must be a vector of exact labels (n,), got candidates.")
    candidates, names = check_candidates(y)
    if classes is not None:
        candidates = _among(candidates, names, classes)
    rng = np.random.default_rng(random_state)
    n, m = candidates.shape
    _check_probability("p", p)
    if model == "size":
        _add_exactly(candidates, p, _check_size(r, m), rng)
        return candidates
    _check_probability("q", q, f" for model {model!r}")
    chosen = rng.random((n, 1)) < p
    joins = np.full((n, m), q, dtype=np.float64)
    if model == "bayes":
        rank = _rank_of_others(X, candidates)
        joins = np.minimum(1.0, 2 * rank * float(q or 0.0) / m)
    candidates |= (rng.random((n, m)) < joins) & chosen
    return candidates


def _among(candidates: BoolArray, names: AnyArray, classes: ArrayLike) -> BoolArray:
    """Return the same labels with a column for each of `classes`."""
    wanted = pd.Index(np.asarray(classes))
    columns = wanted.get_indexer(pd.Index(names)) if wanted.is_unique else np.full(len(names), -1)
    if (columns < 0).any():
        raise CandidateError("classes must be different from one another and hold every label of y.")
    result = np.zeros((len(candidates), len(wanted)), dtype=bool)
    result[:, columns] = candidates
    return result


def _check_probability(name: str, value: object, needed: str = "") -> None:
    if not isinstance(value, Real) or not 0 <= float(value) <= 1:
        raise ValueError(f"{name} must be a probability in [0, 1]{needed}. Got {value!r}.")


def _check_size(r: object, m: int) -> int:
    if not isinstance(r, Integral) or isinstance(r, bool) or not 0 <= int(r) <= m - 1:
        raise ValueError(f"r must be a number of false labels in 0..{m - 1} for model 'size'. Got {r!r}.")
    return int(r)


def _add_exactly(candidates: BoolArray, p: float, r: int, rng: np.random.Generator) -> None:
    """Add exactly r false labels, in place, to round(p n) rows drawn without replacement."""
    n = len(candidates)
    rows = rng.permutation(n)[: round(p * n)]
    # Draw a random number for each label, and set the true one to 2: the r smallest are a uniform draw of false labels.
    draw = np.where(candidates[rows], 2.0, rng.random((len(rows), candidates.shape[1])))
    candidates[rows[:, None], np.argsort(draw, axis=1, kind="stable")[:, :r]] = True


def _rank_of_others(X: MatrixLike | None, truth: BoolArray) -> IntArray:
    """Return (n, m) the rank 1..m-1 of each other label by increasing posterior; 0 for the true label. Ties by class
    order."""
    if X is None:
        raise ValueError("X must be given for model 'bayes': the features from which posteriors are estimated.")
    features = check_array(X, accept_sparse="csr", dtype=np.float64)
    check_consistent_length(features, truth)
    if is_sparse(features):
        features = features.toarray()
    with np.errstate(over="ignore", invalid="ignore"):
        spread = features.var(axis=0).max()
    if not 0 < spread < np.inf or not np.ptp(features, axis=0).any():
        raise ValueError(
            "X must differ between rows for model 'bayes', by numbers whose squares a double can hold. "
            f"The largest variance of a feature is {spread:g}. Fix: give features that vary, or scale them."
        )
    labels = truth.argmax(axis=1)
    model = GaussianNB().fit(features, labels)
    # Log posteriors: probabilities of distant classes underflow to equal zeros.
    posterior = np.full(truth.shape, -np.inf)
    posterior[:, model.classes_] = model.predict_log_proba(features)
    order = np.lexsort((posterior, ~truth), axis=1)  # the true label first, so it has rank 0
    return np.argsort(order, axis=1, kind="stable")
