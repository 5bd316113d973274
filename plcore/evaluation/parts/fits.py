"""The fits of a comparison of learners in blocks: one job for a learner's setting and fold."""

from __future__ import annotations

import json
from collections.abc import Iterator, Sequence
from contextlib import suppress
from dataclasses import dataclass
from functools import partial
from time import sleep
from typing import NamedTuple

import numpy as np

from plcore.common.runners import BlockJob, Blocks, RunnerError, remove_halves
from plcore.common.runners.runner import LOOK
from plcore.common.runners.versions import check_code
from plcore.common.types import IntArray, StepProgress
from plcore.evaluation.learners import LEARNER_ENTRIES, LearnerEntry
from plcore.evaluation.parts.rows import (
    KeptFeatures,
    keep_array,
    keep_features,
    kept_features,
)
from plcore.evaluation.trials import Budget, Fit, Trial, TrialRows, setting_words

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

    setting : its number among those of the learner, whose values are `parameters`, in words
    candidates, weights, train, test : names of parts; '' without weights      n_folds : of all
    """

    learner: str
    setting: int
    parameters: str
    fold: int
    n_folds: int
    features: KeptFeatures
    candidates: str
    weights: str
    train: str
    test: str

    def __str__(self) -> str:
        setting = f" with {self.parameters}" if self.parameters else ""
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
    )
    made = rows.fit(LEARNER_ENTRIES[job.learner], job.setting, 0, Budget(asked.seconds))
    if made.predicted is None:
        return made
    words = json.dumps(made.warned)
    form = [("seconds", "<f8"), ("warned", f"<U{len(words)}"), ("predicted", "<i8", made.predicted.shape)]
    job.write(np.array([(made.seconds, words, made.predicted)], dtype=form))
    return Fit(None, made.seconds, failed=KEPT)


def read_fit(job: FitJob) -> Fit:
    """What a part tells."""
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
    """What came of each learner, its fits made by whoever makes them. Parts that are there are not made anew.

    asked : each learner of `LEARNER_ENTRIES` with what it is tried on, the same folds for all
    budget, progress : as `compare_learners`
    Raises ValueError for another learner, and BlockError, RunnerError.
    """
    unknown = [entry.name for entry, _ in asked if LEARNER_ENTRIES.get(entry.name) is not entry]
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
    folds = [(keep_array(folder, train), keep_array(folder, test)) for train, test in rows.folds]
    return [
        FitJob(
            folder,
            learner=entry.name,
            setting=setting,
            parameters=setting_words(parameters),
            fold=fold,
            n_folds=len(folds),
            features=features,
            candidates=candidates,
            weights=weights,
            train=train,
            test=test,
        )
        for setting, parameters in enumerate(entry.settings)
        for fold, (train, test) in enumerate(folds)
    ]
