"""Learners compared on held-out rows, without a clean label where there is none."""

from __future__ import annotations

from collections.abc import Collection, Sequence
from dataclasses import replace
from functools import partial
from typing import Any

import numpy as np
import pandas as pd
from sklearn.model_selection import check_cv
from sklearn.utils import check_consistent_length

from plcore.common.checks import check_int, is_real, is_whole
from plcore.common.runners import Blocks
from plcore.common.seeds import draw_seed
from plcore.common.threads import one_thread
from plcore.common.types import AnyArray, BoolArray, IntArray, StepProgress
from plcore.evaluation.criterion import choose
from plcore.evaluation.learners import STAY, LearnerEntry, read_learners
from plcore.evaluation.parts.fits import try_in_blocks
from plcore.evaluation.trials import Budget, Fold, Trial, TrialRows
from plcore.labels.candidates import check_candidates, name_rows
from plcore.labels.folds import PartialKFold
from plcore.labels.weights import check_candidate_weights, prior_labels

UNKNOWN = -1  # the column of a true label that is missing


def compare_learners(
    X: Any,
    candidates: Any,
    learners: Any = None,
    cv: Any = 5,
    y_true: Any = None,
    random_state: int | np.random.RandomState | None = None,
    *,
    budget: float | None = None,
    progress: StepProgress | None = None,
    candidate_weights: Any = None,
    weighted: Collection[str] | None = None,
    blocks: Blocks | None = None,
) -> pd.DataFrame:
    """Which learner is best on these rows: one row of figures for each, the best one marked.

    Every row is held out once and predicted by a fit on the other folds. Learners are compared by kappa: how much more
    often their predictions are inside the candidate sets than by chance (`plcore.evaluation.criterion`). The kernel
    ridge is kept where its kappa is within .02 of the highest. Where true labels are known for some rows, accuracy on
    them comes first: learners that cannot be told from the most accurate one by a paired test at level .05 are a tie,
    which goes by kappa. No true label is ever trained on.

    A learner with several settings is tried at each, and stands in the table with the one of the highest kappa. As
    those are the same held-out rows, its figures are a little high. The kernel ridge chooses its settings inside each
    training part, so its figures are not.

    X : (n, d) features, dense or CSR      candidates : candidate matrix (n, m) or label vector (n,)
    learners : None: the library's own, the cheapest first: "plknn", "kernelridge", "clpl", "plsvc", "lmplane", "m3pl";
        "all": their rivals after them, as they come: "plaknn", "sure", "regisl", "plaggd", "plcl", "lsbcmm", "plgp"; a
        sequence of such names; or a mapping of names to unfitted estimators, which learn from a candidate matrix. They
        are tried in this order.
    cv : number of folds (`PartialKFold`), at least 2, or a scikit-learn splitter that holds out no row twice
    y_true : (n,) true labels, members of the classes, where they are known; NaN or None elsewhere. Any other label is
        one that no prediction meets.
    random_state : of the folds; None draws them anew each time
    budget : CPU seconds for all, None for no end. Looked at between fits, and inside those that tell how far they
        are: a learner in whose first setting it ends has no figures, one in a later setting those of the earlier ones.
    progress : called with (fits done, fits in all, name of the learner) before each fit, again inside fits that tell
        how far they are, and at the end; what it raises ends the comparison
    candidate_weights : (n, m) prior weights of the candidates, for the learners that take them
    weighted : names of the learners they are for; None: every learner that takes them
    blocks : who makes the fits, one job for a learner's setting and fold, and where their part files lie; the figures
        are the same. Learners are named then, y_true stays here, and `budget` counts the seconds of all fits that
        are done; `progress` is called after each and once a second. None: this thread, without files

    Returns a DataFrame, a row for each learner in the order tried:
    learner : its name      parameters : dict, the setting; {} as the learner comes
    candidate_accuracy : share of held-out predictions inside their sets      kappa : the same beyond chance
    accuracy : share of true ones where the truth is known (`wilson_interval` gives its interval), NaN without
    seconds : CPU seconds of this thread for all its fits and predictions
    chosen : bool, True for one learner at most, for none where nothing could be measured
    note : what is to be said of it, "" for nothing: why it has no figures or some settings were left out (the time
        budget, or the learner's error in its own words), and what its fits warned of
    Figures are NaN where there are none. Raises CandidateError for candidates or weights that break the convention,
    ValueError for other arguments that are wrong; errors of a learner are in its note.
    """
    entries = read_learners(learners)
    mask, classes = check_candidates(candidates)
    check_consistent_length(X, mask)
    if budget is not None and not (is_real(budget) and budget > 0):
        raise ValueError(f"budget must be None or a number of CPU seconds above 0. Got {budget!r}.")
    truth = true_columns(y_true, classes, len(mask))
    given = check_candidate_weights(candidate_weights, mask.shape, classes)
    weights = None if given is None else prior_labels(mask, given)
    rows = TrialRows(X, mask, weights, _held_out_folds(cv, X, mask, random_state))
    even = replace(rows, candidate_weights=None)
    tried_on = [rows if weighted is None or entry.name in weighted else even for entry in entries]
    if blocks is not None:
        trials = try_in_blocks(blocks, list(zip(entries, tried_on, strict=True)), budget, progress)
    else:
        trials = _try_here(list(zip(entries, tried_on, strict=True)), budget, progress)
    return _table(trials, truth, (truth != UNKNOWN) & rows.held_out)


def _try_here(
    asked: Sequence[tuple[LearnerEntry, TrialRows]], budget: float | None, progress: StepProgress | None
) -> list[Trial]:
    """One learner after the other. asked : each with what it is tried on"""
    fits = [len(entry.settings) * len(rows.folds) for entry, rows in asked]
    clock, trials = Budget(budget), []

    def tell(before: int, name: str, here: int) -> None:
        if progress is not None:
            progress(before + here, sum(fits), name)

    with one_thread():
        for number, (entry, rows) in enumerate(asked):
            trials.append(rows.run(entry, clock, partial(tell, sum(fits[:number]), entry.name)))
    tell(sum(fits), asked[-1][0].name, 0)
    return trials


def true_columns(y_true: Any, classes: AnyArray, n: int) -> IntArray:
    """(n,) the column of each true label, UNKNOWN where it is missing, m for a label that is none of the classes.

    Raises ValueError for another length, and where labels are known and none is a class.
    """
    if y_true is None:
        return np.full(n, UNKNOWN)
    labels = pd.Series(np.asarray(y_true, dtype=object) if isinstance(y_true, list) else y_true)
    if labels.shape != (n,):
        raise ValueError(f"y_true must be {n} labels, one for each row. Got {len(labels)}.")
    known = ~labels.isna().to_numpy()
    columns: IntArray = np.full(n, UNKNOWN)
    found = pd.Index(classes).get_indexer(pd.Index(labels[known].infer_objects()))
    if known.any() and (found < 0).all():
        raise ValueError(
            f"y_true must hold members of the classes: {classes[:6].tolist()}. "
            f"Got {labels[known].unique()[:6].tolist()}."
        )
    columns[known] = np.where(found < 0, len(classes), found)
    return columns


def _held_out_folds(cv: Any, X: Any, candidates: BoolArray, random_state: Any) -> list[Fold]:
    """Train and test rows of each fold, no row tested twice."""
    if is_whole(cv):
        check_int("cv", cv, 2)
        if len(candidates) < cv:
            raise ValueError(
                f"{len(candidates)} rows are too few to hold out each once in {cv} parts (folds)."
            )
        cv = PartialKFold(int(cv), random_state=draw_seed(random_state))
    folds = [(np.asarray(train), np.asarray(test)) for train, test in check_cv(cv).split(X, candidates)]
    times = np.bincount(np.concatenate([test for _, test in folds]), minlength=len(candidates))
    if (times > 1).any():
        raise ValueError(
            f"cv must hold out each row at most once; more often it does {name_rows(np.flatnonzero(times > 1))}. "
            "Fix: pass a number of folds, or a splitter without repeats."
        )
    return folds


def _table(trials: Sequence[Trial], truth: IntArray, known: BoolArray) -> pd.DataFrame:
    """The trials as `compare_learners` returns them. known : (n,) held-out rows whose true column is `truth`"""
    names = [trial.name for trial in trials]
    kappas = np.array([trial.kappa for trial in trials])
    right = np.array([trial.predicted[known] == truth[known] for trial in trials])
    best = choose(kappas, right, names.index(STAY) if STAY in names else None)
    accuracy = right.mean(axis=1) if known.any() else np.full(len(trials), np.nan)
    return pd.DataFrame(
        {
            "learner": names,
            "parameters": [dict(trial.parameters) for trial in trials],
            "candidate_accuracy": [trial.candidate_accuracy for trial in trials],
            "kappa": kappas,
            "accuracy": np.where(np.isnan(kappas), np.nan, accuracy),
            "seconds": [trial.seconds for trial in trials],
            "chosen": np.arange(len(trials)) == best,
            "note": ["; ".join(trial.notes) for trial in trials],
        }
    )
