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

from plcore.arrays.checks import check_int, is_real, is_whole
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
    draw_seed,
    is_sparse,
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
    kappa_lead_error,
    read_learners,
)
from plcore.evaluation.trials import Budget, Fit, Fold, Trial, TrialRows, setting_words
from plcore.labels.accuracy import PartialKFold, deal_whole
from plcore.labels.candidates import CandidateError, candidates_among, check_candidates, name_rows
from plcore.labels.set_masses import read_sources
from plcore.labels.weights import check_candidate_weights, prior_labels

# Rows for fits and replays, written once as part files, so that jobs name them and carry no data.

DENSE = "dense"
_SPARSE = {"csr_array": sparse.csr_array, "csr_matrix": sparse.csr_matrix}


@dataclass(frozen=True)
class _Kept(BlockJob):
    """An array under the name of its content."""

    digest: str


@dataclass(frozen=True)
class KeptFeatures:
    """Location of features (n, d). form : DENSE, or the class of sparse features      parts : the names of their
    arrays"""

    form: str
    parts: tuple[str, ...]
    shape: tuple[int, int]


def keep_array(folder: Path, array: AnyArray) -> str:
    """Write an array to the folder, unless it exists there; return the name of its part."""
    array = np.asarray(array)
    by_columns = array.flags.f_contiguous and not array.flags.c_contiguous  # sums depend on the memory layout
    flat = array.ravel(order="F" if by_columns else "C")
    digest = sha256(f"{array.dtype.str} {array.shape} {by_columns} ".encode())
    digest.update(flat.view(np.uint8).data)
    job = _Kept(folder, digest.hexdigest(), code="")
    if not job.path.exists():
        job.write(array)
    return job.part


def keep_features(folder: Path, X: FeatureMatrix) -> KeptFeatures:
    """Write features, dense or CSR. Raises ValueError for other sparse formats."""
    if not is_sparse(X):
        array = np.asarray(X)
        return KeptFeatures(DENSE, (keep_array(folder, array),), (len(array), array.shape[1]))
    form = type(X).__name__
    if form not in _SPARSE:
        raise ValueError(f"X must be dense or CSR to be shared with workers. Got {form}.")
    arrays: Sequence[AnyArray] = (X.data, X.indices, X.indptr)
    return KeptFeatures(form, tuple(keep_array(folder, one) for one in arrays), tuple(X.shape))


def kept_features(job: BlockJob, kept: KeptFeatures) -> FeatureMatrix:
    """Return the features, memory-mapped: a job reads only the parts it uses."""
    arrays = [job.read(name) for name in kept.parts]
    if kept.form == DENSE:
        return arrays[0]
    return _SPARSE[kept.form](tuple(arrays), shape=kept.shape, copy=False)


# Fits of a comparison of learners in blocks: one job for each setting and fold of a learner.

USED_UP = Fit()
"""A fit that was not made because the budget was used up."""
KEPT = "kept"
"""Stands in for an error: the fit ended well, and its result is in its part."""
SEEN_WITHIN = 90
"""Number of looks for a part that a worker has written, about a second apart. NFS can hide a file for up to a minute if
it was looked up before it existed."""


@dataclass(frozen=True)
class FitJob(BlockJob):
    """Writes a learner's predictions for one fold, fitted on the others.

    setting : its number among the learner's settings      parameters : its values, as JSON
    candidates, weights, sources, members_only, imported, train, test : names of parts; '' for none
    n_folds : number of folds
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
    """A job with the remaining CPU seconds; None: no limit. The name of the part does not depend on the seconds."""

    job: FitJob
    seconds: float | None

    def __str__(self) -> str:
        return str(self.job)


def make_fit(asked: AskedFit) -> Fit:
    """Make one fit. A successful fit leaves a part with its predictions, which are not returned."""
    job = asked.job
    check_code(job.code)  # a failed fit writes no part, so check the code here
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
    """Return the fit stored in a part."""
    (told,) = job.read(job.part)
    predicted: IntArray = np.array(told["predicted"], dtype=np.int64)
    return Fit(predicted, float(told["seconds"]), tuple(json.loads(str(told["warned"]))))


def _left(job: FitJob) -> Fit:
    """Return the fit, as `read_fit`, from a part that a worker has just written. Raises RunnerError if it does not
    appear here."""
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
    """Return the trial of each learner, with fits made by any process. Existing parts are not rebuilt.

    asked : each learner of `LEARNER_ENTRIES` with its rows, the same folds for all
    budget, progress : as for `compare_learners`

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
    failed: dict[str, int] = {}  # first failed fit of each learner, as an index of jobs

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
    """Return the jobs of a learner, in the order in which `TrialRows.gather` asks for their results."""
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


UNKNOWN = -1  # column of a missing true label


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
    ridge is kept unless the highest kappa is ahead of its own by more than 0.02 and by more than two paired standard
    errors. If true labels are known for some rows, accuracy on them comes first: learners that do not differ from the
    most accurate one by a paired test at level 0.05 are tied, and kappa decides. True labels are never used for
    training.

    Learners with several settings are tried with each; the table has the setting with the highest kappa. Since it is
    chosen on the same held-out rows, its figures are slightly optimistic. The kernel ridge chooses its settings inside
    each training part, so its figures are not affected.

    X : (n, d) features, dense or CSR      candidates : candidate matrix (n, m) or label vector (n,)
    learners : None: those of `plcore.evaluation.learners.LEARNER_ENTRIES` with `by_default`, the cheapest first; "all":
        the same, then the baselines; a sequence of names; or a mapping of names to unfitted estimators that learn from
        a candidate matrix. They are tried in this order.
    cv : number of folds (`PartialKFold`), at least 2, or a scikit-learn splitter that holds out no row twice
    y_true : (n,) known true labels, members of the classes; NaN or None elsewhere. Any other label counts as a wrong
        prediction.
    random_state : seed of the folds; None draws new folds each time
    budget : CPU seconds in total, None for no limit. It is checked between fits, and inside fits that report progress.
        A learner that runs out of budget in its first setting has no figures; in a later setting it has the figures of
        the earlier ones.
    progress : called with (fits done, total fits, name of the learner) before each fit, inside fits that report
        progress, and at the end; an exception it raises ends the comparison
    candidate_weights : (n, m) prior weights of the candidates, for the learners that take them
    weighted : names of the learners that get these weights; None: every learner that takes them
    blocks : runs the fits, one job for each setting and fold of a learner, and has the folder of their part files; the
        figures are the same. Learners must then be given by name, y_true is not shared, `budget` counts the seconds of
        all completed fits, and `progress` is called after each fit and once a second. None: this thread, without files
    keep_scales : whether the columns of X already have the right scales, such as embeddings; otherwise learners that
        need scaled features scale each column
    own_features : (n, d) features by name of the learner, for learners that do not use X; not scaled again
    own_parameters : parameters by name of the learner, the same in all its settings; plain values
    groups : (n,) the source of each row, such as a photo, by name or number; None or NaN for a row without one. Folds
        then consist of whole sources, and learners that take `groups` get those of their training rows
    members_only : bool (n,) rows that are only there as members of their source, such as test rows. No learner learns
        from them or is tried on them. Learners that take `groups` and `sample_weight` get those of their training
        sources with weight 0, so that these sources are complete. They have the candidates of the file; their labels
        are not used
    imported : the candidates (n, m) before rows were answered, for learners that take them; None: `candidates`

    Returns a DataFrame with a row for each learner, in the order tried:
    learner : its name      parameters : dict, the setting; {} as the learner comes
    candidate_accuracy : share of held-out predictions inside their sets      kappa : the same, corrected for chance
    accuracy : share of correct predictions among rows with known truth (`wilson_interval` gives its interval), or NaN
    seconds : CPU seconds of this thread for all its fits and predictions
    chosen : bool, True for at most one learner, for none if nothing could be measured
    note : "" or why it has no figures or lacks some settings (the time budget, or the learner's error
        message), and the warnings of its fits
    Missing figures are NaN. Raises CandidateError for invalid candidates or weights, ValueError for other wrong
    arguments. Errors of a learner are in its note.
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
        raise CandidateError(f"imported must have the shape of the candidates, {mask.shape}. Got {before.shape}.")
    weights = None if given is None else prior_labels(mask if before is None else mask | before, given)
    rows = TrialRows(X, mask, weights, folds, keep_scales, sources, apart if apart.any() else None, before)
    even = replace(rows, candidate_weights=None)
    tried_on = [rows if weighted is None or entry.name in weighted else even for entry in entries]
    if own_features:
        tried_on = [
            replace(rows, X=own_features[entry.name], keep_scales=True) if entry.name in own_features else rows
            for entry, rows in zip(entries, tried_on, strict=True)
        ]
    if blocks is not None:
        trials = try_in_blocks(blocks, list(zip(entries, tried_on, strict=True)), budget, progress)
    else:
        trials = _try_here(list(zip(entries, tried_on, strict=True)), budget, progress)
    return _table(trials, mask[rows.held_out], truth, rows.held_out)


def _members(members_only: ArrayLike | None, sources: IntArray | None, n: int) -> BoolArray:
    """Return bool (n,) `members_only`. Raises ValueError for another shape, or without sources."""
    if members_only is None:
        return np.zeros(n, dtype=bool)
    found = np.asarray(members_only)
    if found.dtype != bool or found.shape != (n,):
        raise ValueError(f"members_only must be bool of shape ({n},). Got {found.dtype} of shape {found.shape}.")
    if sources is None and found.any():
        raise ValueError("members_only marks members of sources, but no two rows have one. Fix: pass groups.")
    return found


def _try_here(
    asked: Sequence[tuple[LearnerEntry, TrialRows]], budget: float | None, progress: StepProgress | None
) -> list[Trial]:
    """Try one learner after the other. asked : each learner with its rows"""
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
            raise ValueError(f"{len(candidates)} rows are too few to hold out each once in {cv} parts (folds).")
        seed = draw_seed(random_state)
        if sources is not None:
            fold = deal_whole(candidates, sources, int(cv), np.random.RandomState(seed))
            return [(np.flatnonzero(fold != number), np.flatnonzero(fold == number)) for number in range(int(cv))]
        cv = PartialKFold(int(cv), random_state=seed)
    folds = [(np.asarray(train), np.asarray(test)) for train, test in check_cv(cv).split(X, candidates, sources)]
    times = np.bincount(np.concatenate([test for _, test in folds]), minlength=len(candidates))
    if (times > 1).any():
        raise ValueError(
            f"cv must hold out each row at most once; more often it does {name_rows(np.flatnonzero(times > 1))}. "
            "Fix: pass a number of folds, or a splitter without repeats."
        )
    return folds


def _table(trials: Sequence[Trial], candidates: BoolArray, truth: IntArray, held_out: BoolArray) -> pd.DataFrame:
    """Return the trials as `compare_learners` does.

    candidates : of the held-out rows      truth : (n,) true columns, UNKNOWN elsewhere      held_out : bool (n,)
    """
    names, known = [trial.name for trial in trials], (truth != UNKNOWN) & held_out
    kappas = np.array([trial.kappa for trial in trials])
    right = np.array([trial.predicted[known] == truth[known] for trial in trials])
    stay = names.index(STAY) if STAY in names else None

    def lead_error(best: int) -> float:
        return kappa_lead_error(candidates, trials[best].predicted[held_out], trials[stay or 0].predicted[held_out])

    best = choose(kappas, right, stay, lead_error)
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
