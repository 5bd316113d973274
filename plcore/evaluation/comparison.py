"""Compare learners on held-out rows, with or without clean labels."""

from __future__ import annotations

import json
from collections.abc import Collection, Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, replace
from functools import partial
from hashlib import sha256
from pathlib import Path
from time import sleep
from typing import NamedTuple

import numpy as np
import pandas as pd
from numpy.typing import ArrayLike
from scipy import sparse
from sklearn.model_selection import BaseCrossValidator, check_cv
from sklearn.utils import _safe_indexing, check_consistent_length

from plcore.arrays.threads import one_thread
from plcore.arrays.types import (
    AnyArray,
    BoolArray,
    FeatureMatrix,
    IntArray,
    LabelsLike,
    MatrixLike,
    RandomState,
    StepProgress,
    check_int,
    draw_seed,
    is_real,
    is_sparse,
    is_whole,
)
from plcore.blocks import BlockJob, Blocks, RunnerError, remove_halves
from plcore.blocks.parts import check_code
from plcore.blocks.runner import LOOK
from plcore.evaluation.learners import (
    LEARNER_ENTRIES,
    STAY,
    LearnerEntry,
    LearnersLike,
    choose,
    read_learners,
)
from plcore.evaluation.trials import Budget, Fit, Fold, Trial, TrialRows, setting_words
from plcore.labels.accuracy import PartialKFold, deal_whole
from plcore.labels.candidates import CandidateError, candidates_among, check_candidates, name_rows
from plcore.labels.set_masses import read_sources
from plcore.labels.weights import check_candidate_weights, prior_labels

# The rows that fits and replays are made on, written once as part files, so that jobs name them and carry none.

DENSE = "dense"
_SPARSE = {"csr_array": sparse.csr_array, "csr_matrix": sparse.csr_matrix}


@dataclass(frozen=True)
class _Kept(BlockJob):
    """An array under the name of its content."""

    digest: str


@dataclass(frozen=True)
class KeptFeatures:
    """Where features (n, d) lie. form : DENSE, or the class of sparse ones      parts : the names of their arrays"""

    form: str
    parts: tuple[str, ...]
    shape: tuple[int, int]


def keep_array(folder: Path, array: AnyArray) -> str:
    """Write an array to the folder, unless it is there; the name of its part."""
    array = np.asarray(array)
    by_columns = array.flags.f_contiguous and not array.flags.c_contiguous  # sums go the way that rows lie
    flat = array.ravel(order="F" if by_columns else "C")
    digest = sha256(f"{array.dtype.str} {array.shape} {by_columns} ".encode())
    digest.update(flat.view(np.uint8).data)
    job = _Kept(folder, digest.hexdigest(), code="")
    if not job.path.exists():
        job.write(array)
    return job.part


def keep_features(folder: Path, X: FeatureMatrix) -> KeptFeatures:
    """Write features, dense or CSR. Raises ValueError for sparse ones of another form."""
    if not is_sparse(X):
        array = np.asarray(X)
        return KeptFeatures(DENSE, (keep_array(folder, array),), (len(array), array.shape[1]))
    form = type(X).__name__
    if form not in _SPARSE:
        raise ValueError(f"X must be dense or CSR to be shared with workers. Got {form}.")
    arrays: Sequence[AnyArray] = (X.data, X.indices, X.indptr)
    return KeptFeatures(form, tuple(keep_array(folder, one) for one in arrays), tuple(X.shape))


def kept_features(job: BlockJob, kept: KeptFeatures) -> FeatureMatrix:
    """The features, mapped: what a job does not look at is not read."""
    arrays = [job.read(name) for name in kept.parts]
    if kept.form == DENSE:
        return arrays[0]
    return _SPARSE[kept.form](tuple(arrays), shape=kept.shape, copy=False)


# The fits of a comparison of learners in blocks: one job for a learner's setting and fold.

USED_UP = Fit()
"""A fit that the budget has left nothing for."""
KEPT = "kept"
"""In place of an error: it ended well, and its part tells of it."""
SEEN_WITHIN = 90
"""Looks for a part that a worker has left, about a second apart: over NFS what was looked for before it was there, is
found only after a minute."""


@dataclass(frozen=True)
class FitJob(BlockJob):
    """Writes what a learner predicts for one fold, fitted on the others.

    setting : its number among those of the learner      parameters : its values, as JSON
    candidates, weights, sources, members_only, imported, train, test : names of parts; '' without      n_folds : of all
    """

    learner: str
    setting: int
    parameters: str
    fold: int
    n_folds: int
    features: KeptFeatures
    candidates: str
    weights: str
    sources: str
    members_only: str
    imported: str
    train: str
    test: str
    keep_scales: bool

    def __str__(self) -> str:
        words = setting_words(json.loads(self.parameters))
        setting = f" with {words}" if words else ""
        return f"The fit of {self.learner}{setting} on fold {self.fold + 1} of {self.n_folds}"


class AskedFit(NamedTuple):
    """A job, and the CPU seconds that are left for it; None: no end. These do not name a part."""

    job: FitJob
    seconds: float | None

    def __str__(self) -> str:
        return str(self.job)


def make_fit(asked: AskedFit) -> Fit:
    """Make one fit; a part is left by one that ended well. What it predicted is in the part, and not told."""
    job = asked.job
    check_code(job.code)  # one that fails leaves no part, whose writing would check it
    fold = (np.array(job.read(job.train)), np.array(job.read(job.test)))
    rows = TrialRows(
        kept_features(job, job.features),
        job.read(job.candidates),
        job.read(job.weights) if job.weights else None,
        [fold],
        job.keep_scales,
        np.array(job.read(job.sources)) if job.sources else None,
        np.array(job.read(job.members_only)) if job.members_only else None,
        job.read(job.imported) if job.imported else None,
    )
    entry = replace(LEARNER_ENTRIES[job.learner], settings=(json.loads(job.parameters),))
    made = rows.fit(entry, 0, 0, Budget(asked.seconds))
    if made.predicted is None:
        return made
    words = json.dumps(made.warned)
    form = [("seconds", "<f8"), ("warned", f"<U{len(words)}"), ("predicted", "<i8", made.predicted.shape)]
    job.write(np.array([(made.seconds, words, made.predicted)], dtype=form))
    return Fit(None, made.seconds, failed=KEPT)


def read_fit(job: FitJob) -> Fit:
    """Result of a part."""
    (told,) = job.read(job.part)
    predicted: IntArray = np.array(told["predicted"], dtype=np.int64)
    return Fit(predicted, float(told["seconds"]), tuple(json.loads(str(told["warned"]))))


def _left(job: FitJob) -> Fit:
    """As `read_fit`, of a part that a worker has left just now. Raises RunnerError where it is not seen here."""
    for _ in range(SEEN_WITHIN):
        with suppress(FileNotFoundError):
            return read_fit(job)
        sleep(LOOK)
    raise RunnerError(
        f"{job} was made, but its part {job.path} is not seen here. Fix: share the folder under the same path; over "
        "NFS mount it with lookupcache=positive."
    )


def try_in_blocks(
    blocks: Blocks,
    asked: Sequence[tuple[LearnerEntry, TrialRows]],
    budget: float | None = None,
    progress: StepProgress | None = None,
) -> list[Trial]:
    """The result of each learner, its fits made by any process. Parts that are there are not rebuilt.

    asked : each learner of `LEARNER_ENTRIES` with what it is tried on, the same folds for all
    budget, progress : as `compare_learners`
    Raises ValueError for another learner, and BlockError, RunnerError.
    """
    unknown = [
        entry.name
        for entry, _ in asked
        if entry.name not in LEARNER_ENTRIES or LEARNER_ENTRIES[entry.name].estimator is not entry.estimator
    ]
    if unknown:
        raise ValueError(
            f"Others can make fits only of learners that the library has by name, not of {', '.join(unknown)}. Fix: "
            "leave blocks out."
        )
    jobs = [job for number in range(len(asked)) for job in _jobs(blocks, *asked[number])]
    found = {job: read_fit(job) for job in jobs if job.path.exists()}
    spent = sum(fit.seconds for fit in found.values())
    failed: dict[
        str, int
    ] = {}  # the first fit, by its number among the jobs, that each learner has failed in

    def missing() -> Iterator[AskedFit]:
        for number, job in enumerate(jobs):
            if budget is not None and spent >= budget:
                return
            if job not in found and number < failed.get(job.learner, len(jobs)):
                yield AskedFit(job, None if budget is None else budget - spent)

    def tell() -> None:
        if progress is not None:
            now = next((job for job in jobs if job not in found), jobs[-1])
            progress(len(found), len(jobs), now.learner)

    tell()
    for (job, _), fit in blocks.runner.map(make_fit, missing(), tell):
        found[job] = fit = _left(job) if fit.failed == KEPT else fit
        spent += fit.seconds
        if fit.failed:
            failed[job.learner] = min(failed.get(job.learner, len(jobs)), jobs.index(job))
        tell()
    made = {(job.learner, job.setting, job.fold): fit for job, fit in found.items()}
    remove_halves(blocks.folder)

    def fit_of(name: str, setting: int, fold: int) -> Fit:
        return made.get((name, setting, fold), USED_UP)

    return [rows.gather(entry, partial(fit_of, entry.name), budget) for entry, rows in asked]


def _jobs(blocks: Blocks, entry: LearnerEntry, rows: TrialRows) -> list[FitJob]:
    """The jobs of a learner, in the order in which `TrialRows.gather` asks for what came of them."""
    folder = blocks.folder
    folder.mkdir(parents=True, exist_ok=True)
    features = keep_features(folder, rows.X)
    candidates = keep_array(folder, rows.candidates)
    weights = "" if rows.candidate_weights is None else keep_array(folder, rows.candidate_weights)
    sources = "" if rows.sources is None else keep_array(folder, rows.sources)
    members_only = "" if rows.members_only is None else keep_array(folder, rows.members_only)
    imported = "" if rows.imported is None else keep_array(folder, rows.imported)
    folds = [(keep_array(folder, train), keep_array(folder, test)) for train, test in rows.folds]
    return [
        FitJob(
            folder,
            learner=entry.name,
            setting=setting,
            parameters=json.dumps(dict(parameters)),
            fold=fold,
            n_folds=len(folds),
            features=features,
            candidates=candidates,
            weights=weights,
            sources=sources,
            members_only=members_only,
            imported=imported,
            train=train,
            test=test,
            keep_scales=rows.keep_scales,
        )
        for setting, parameters in enumerate(entry.settings)
        for fold, (train, test) in enumerate(folds)
    ]


UNKNOWN = -1  # the column of a true label that is missing


def compare_learners(
    X: MatrixLike,
    candidates: LabelsLike,
    learners: LearnersLike = None,
    cv: int | BaseCrossValidator = 5,
    y_true: ArrayLike | None = None,
    random_state: int | np.random.RandomState | None = None,
    *,
    budget: float | None = None,
    progress: StepProgress | None = None,
    candidate_weights: MatrixLike | None = None,
    weighted: Collection[str] | None = None,
    blocks: Blocks | None = None,
    keep_scales: bool = False,
    own_features: Mapping[str, FeatureMatrix] | None = None,
    own_parameters: Mapping[str, Mapping[str, object]] | None = None,
    groups: ArrayLike | None = None,
    members_only: ArrayLike | None = None,
    imported: LabelsLike | None = None,
) -> pd.DataFrame:
    """Compare learners on these rows: a table with one row of figures for each, the best one marked.

    Every row is held out once and predicted by a fit on the other folds. Learners are compared by kappa: how much more
    often their predictions are inside the candidate sets than by chance (`plcore.evaluation.learners`). The kernel
    ridge is kept where its kappa is within 0.02 of the highest. If true labels are known for some rows, accuracy on
    them comes first: learners that cannot be told from the most accurate one by a paired test at level 0.05 are a tie,
    which uses kappa. No true label is ever trained on.

    A learner with several settings is tried at each, and is in the table with the one of the highest kappa. As
    those are the same held-out rows, its figures are a little high. The kernel ridge chooses its settings inside each
    training part, so its figures are not.

    X : (n, d) features, dense or CSR      candidates : candidate matrix (n, m) or label vector (n,)
    learners : None: those of `plcore.evaluation.learners.LEARNER_ENTRIES` with `by_default`, the cheapest first;
        "all": the baselines after them; a sequence of names; or a mapping of names to unfitted estimators, which learn
        from a candidate matrix. They are tried in this order.
    cv : number of folds (`PartialKFold`), at least 2, or a scikit-learn splitter that holds out no row twice
    y_true : (n,) true labels, members of the classes, if they are known; NaN or None elsewhere. Any other label is
        one that no prediction meets.
    random_state : of the folds; None draws them again each time
    budget : CPU seconds for all, None for no end. Looked at between fits, and inside those that tell how far they
        are: a learner in whose first setting it ends has no figures, one in a later setting those of the earlier ones.
    progress : called with (fits done, fits in all, name of the learner) before each fit, again inside fits that tell
        how far they are, and at the end; what it raises ends the comparison
    candidate_weights : (n, m) prior weights of the candidates, for the learners that take them
    weighted : names of the learners they are for; None: every learner that takes them
    blocks : who makes the fits, one job for a learner's setting and fold, and where their part files lie; the figures
        are the same. Learners are named then, y_true stays here, and `budget` counts the seconds of all fits that
        are done; `progress` is called after each and once a second. None: this thread, without files
    keep_scales : whether the columns of X have the scales that they should have, as of vectors; else learners that want
        scaled features scale them column by column
    own_features : (n, d) features of learners by name that do not work on X; they have the scales that they should have
    own_parameters : parameters of learners by name, the same in all settings that are tried; plain values
    groups : (n,) the source of each row, such as a photo, by name or number; None or NaN for a row that has none. Folds
        are then of whole sources, and learners that take `groups` get those of their training rows
    members_only : bool (n,) rows that no learner learns from and none is tried on, such as test rows, and that are
        members of a source: learners that take `groups` and `sample_weight` get those of their training sources with
        weight 0, so that these are whole. Their candidates are the file's; no label of theirs is looked at
    imported : the candidates (n, m) before rows were answered, for learners that take them; None: `candidates`

    Returns a DataFrame, a row for each learner in the order tried:
    learner : its name      parameters : dict, the setting; {} as the learner comes
    candidate_accuracy : share of held-out predictions inside their sets      kappa : the same beyond chance
    accuracy : share of true ones where the truth is known (`wilson_interval` gives its interval), NaN without
    seconds : CPU seconds of this thread for all its fits and predictions
    chosen : bool, True for one learner at most, for none if nothing could be measured
    note : "" or why it has no figures or lacks some settings (the time budget, or the learner's error
        message), and the warnings of its fits
    Figures are NaN if there are none. Raises CandidateError for candidates or weights that break the convention,
    ValueError for other arguments that are wrong; errors of a learner are in its note.
    """
    given_parameters = own_parameters or {}
    entries = [one.fixing(given_parameters.get(one.name, {})) for one in read_learners(learners)]
    mask, classes = check_candidates(candidates)
    check_consistent_length(X, mask)
    if budget is not None and not (is_real(budget) and budget > 0):
        raise ValueError(f"budget must be None or a number of CPU seconds above 0. Got {budget!r}.")
    truth = true_columns(y_true, classes, len(mask))
    given = check_candidate_weights(candidate_weights, mask.shape, classes)
    sources = None if groups is None else read_sources(groups, len(mask))
    apart = _members(members_only, sources, len(mask))
    own = np.flatnonzero(~apart)
    own_sources = None if sources is None else sources[own]
    folds = [
        (own[train], own[test])
        for train, test in _held_out_folds(cv, _safe_indexing(X, own), mask[own], random_state, own_sources)
    ]
    before = None if imported is None else candidates_among(imported, classes)
    if before is not None and before.shape != mask.shape:
        raise CandidateError(
            f"imported must have the shape of the candidates, {mask.shape}. Got {before.shape}."
        )
    weights = None if given is None else prior_labels(mask if before is None else mask | before, given)
    rows = TrialRows(X, mask, weights, folds, keep_scales, sources, apart if apart.any() else None, before)
    even = replace(rows, candidate_weights=None)
    tried_on = [rows if weighted is None or entry.name in weighted else even for entry in entries]
    if own_features:
        tried_on = [
            replace(rows, X=own_features[entry.name], keep_scales=True)
            if entry.name in own_features
            else rows
            for entry, rows in zip(entries, tried_on, strict=True)
        ]
    if blocks is not None:
        trials = try_in_blocks(blocks, list(zip(entries, tried_on, strict=True)), budget, progress)
    else:
        trials = _try_here(list(zip(entries, tried_on, strict=True)), budget, progress)
    return _table(trials, truth, (truth != UNKNOWN) & rows.held_out)


def _members(members_only: ArrayLike | None, sources: IntArray | None, n: int) -> BoolArray:
    """bool (n,) `members_only`. Raises ValueError where it is another shape, or there are no sources."""
    if members_only is None:
        return np.zeros(n, dtype=bool)
    found = np.asarray(members_only)
    if found.dtype != bool or found.shape != (n,):
        raise ValueError(
            f"members_only must be bool of shape ({n},). Got {found.dtype} of shape {found.shape}."
        )
    if sources is None and found.any():
        raise ValueError("members_only marks members of sources, but no two rows have one. Fix: pass groups.")
    return found


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


def true_columns(y_true: ArrayLike | None, classes: AnyArray, n: int) -> IntArray:
    """Return (n,) the column of each true label, UNKNOWN if it is missing, m for a label outside the classes.

    Raises ValueError for another length, and if labels are known but none is a class.
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


def _held_out_folds(
    cv: int | BaseCrossValidator,
    X: MatrixLike,
    candidates: BoolArray,
    random_state: RandomState,
    sources: IntArray | None,
) -> list[Fold]:
    """Train and test rows of each fold, no row tested twice."""
    if is_whole(cv):
        check_int("cv", cv, 2)
        if len(candidates) < cv:
            raise ValueError(
                f"{len(candidates)} rows are too few to hold out each once in {cv} parts (folds)."
            )
        seed = draw_seed(random_state)
        if sources is not None:
            fold = deal_whole(candidates, sources, int(cv), np.random.RandomState(seed))
            return [
                (np.flatnonzero(fold != number), np.flatnonzero(fold == number)) for number in range(int(cv))
            ]
        cv = PartialKFold(int(cv), random_state=seed)
    folds = [
        (np.asarray(train), np.asarray(test)) for train, test in check_cv(cv).split(X, candidates, sources)
    ]
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
