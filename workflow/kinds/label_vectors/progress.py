"""Progress page data of a project of label vectors: held-out figures, open questions, answers by kind."""

from __future__ import annotations

import functools
from collections.abc import Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np
import numpy.typing as npt

from db import answers
from plcore import LabelTable
from plcore.loop import LABELS, VERDICTS, EntryKind, StopRules, asides_after, judge
from plcore.loop.label_vectors import (
    ANSWERS,
    AUTOMATIC,
    BMLCS,
    ONE_VS_ALL,
    PREDICTOR_ENTRIES,
    ControlEstimate,
    HeldOut,
    LabelVectorLearner,
    LabelVectorPoint,
    LabelVectorPool,
    LabelVectorProgress,
    LabelVectorSettings,
    label_f1,
)
from plcore.loop.label_vectors import Share as Share
from workflow.kinds.label_vectors.settings import vectors_of
from workflow.log.reading import follow, read_class_changes
from workflow.projects.figures import (
    F1,
    ClassAccuracy,
    Glance,
    LabelCount,
    ProjectFigures,
    StopView,
    most_answered_first,
    pace,
    standing_points,
    thinned,
    weakest_classes,
)

if TYPE_CHECKING:
    from sqlalchemy.orm import Session

    from db.projects import Project
    from workflow.opened import Doors, Opened
    from workflow.server.home import Home


# When to stop asking about label vectors: the owner's rules, applied to the curve.

DEFAULT_RULES = StopRules(flat_within=None)
"""The rules if no one has set any: stop once nothing is open. The number of answers over which a curve must be flat
depends on the size of the table, so that rule is off until the owner sets it."""


def stop_view(learner: Learner, rules: StopRules) -> StopView:
    """Current state of the rules, from the latest curve points, one per model version. The budget counts
    all labels answered, also those after the latest version."""
    pool = learner.pool
    points = standing_points(learner.curve, rules.flat_over, _labels_answered)
    holes = max(pool.n_holes, 1)
    by_truth = bool(n_test := int(np.count_nonzero(learner.test_rows)))
    if by_truth:
        measured = n_test
        shares = [None if p.held_out is None else p.held_out.micro_f1 for p in points]
    else:
        measured = points[-1].control.cells if points else 0
        shares = [p.control.f1 for p in points]
    verdicts = judge(
        rules,
        np.array([_labels_answered(p) for p in points] or [0]),
        np.array([np.nan if share is None else share.value for share in shares] or [np.nan]),
        np.array([*(1 - p.entropy / holes for p in points[:-1]), learner.share_settled]),
        done=learner.done,
        measured=measured,
        given=pool.counts["yes"] + pool.counts["no"],
        terms=LABELS if by_truth else replace(LABELS, measured_on="blind labels"),
    )
    return StopView(rules, verdicts, by_truth)


def _labels_answered(point: LabelVectorPoint) -> int:
    return point.yes + point.no


Learner = LabelVectorLearner[LabelTable]


@dataclass(frozen=True)
class Band:
    """A figure with its 95% confidence interval, arrays of one length; NaN if unknown."""

    value: np.ndarray
    low: np.ndarray
    high: np.ndarray


@dataclass(frozen=True)
class VectorCurve:
    """One point for each model version. Arrays of one length; NaN if there is none.

    answers : answers given      model_version : seq of the entry the model was fitted to      unasked : cells
    entropy : left in them, in bits      precision : {t: share of the t likeliest labels that are right}, on held-out
    rows, as macro_f1 and micro_f1      control : F1 of the control cells
    """

    answers: np.ndarray
    model_version: np.ndarray
    unasked: np.ndarray
    entropy: np.ndarray
    precision: dict[int, Band]
    macro_f1: Band
    micro_f1: Band
    control: Band


@dataclass(frozen=True)
class Predictor:
    """The model that predicts, and why.

    title, other : its display name, and that of the model it was compared with      since : number of answers when it
        began to predict
    automatic : whether it was chosen      threshold : the probability above which it predicts yes
    f1, other_f1, error : micro F1 of both on known cells held out from them, and the standard error of the difference;
        None if too few cells are known, or nothing was compared
    """

    title: str
    other: str
    since: int
    automatic: bool
    f1: float | None
    other_f1: float | None
    error: float | None
    threshold: float


@dataclass(frozen=True, kw_only=True)
class VectorProgress(ProjectFigures):
    """Cells are labels of rows; answered, open, pending and disputed are rows if by_row, else labels.

    pending : open ones that have an answer and wait for that of another annotator
    disputed : those that all annotators have answered, on which they differ and no rule decides
    by_kind : {kind: labels answered yes and no; entries bad, unsure, skip; verdicts if there are any}
    known : share of the cells not known at import that are known now      entropy : bits, None before the first model
    weakest : the labels with the surely lowest F1, the weakest first
    predictor : None before the first model      waiting : whether there is no model yet
    fault : why the model could not be fitted, None if it could
    """

    curve: VectorCurve
    weakest: tuple[ClassAccuracy, ...]
    by_kind: dict[str, int]
    pending: int
    disputed: int
    answered_cells: int
    unasked: int
    known: float
    entropy: float | None
    held_out: HeldOut | None
    control: ControlEstimate
    predictor: Predictor | None
    by_row: bool
    waiting: bool
    fault: str | None


def read_progress(opened: Opened[Learner], rules: StopRules) -> VectorProgress:
    """Return everything the page draws, from the learner (caught up with the log) and the log itself."""
    learner, pool = opened.learner, opened.learner.pool
    now, by_row = learner.progress(), learner.settings.by_row
    return VectorProgress(
        curve=_curve(learner.curve),
        by_kind={kind: count for kind, count in now.by_kind if count or kind not in VERDICTS},
        pending=pool.n_begun,
        disputed=pool.n_disputed,
        answered=pool.n_answered,
        left=pool.n_open,
        weakest=_weakest(learner),
        answers_left=pool.n_open if pool.several is None else pool.several.answers_left(by_row=by_row),
        answered_cells=now.answered_cells,
        unasked=now.unasked,
        known=now.share_known,
        settled=learner.share_settled,
        entropy=now.entropy,
        held_out=now.held_out,
        control=now.control,
        predictor=_predictor(learner, now),
        n_control=now.n_control,
        undecided_checks=int((pool.control_cells & pool.answered & pool.unknown & ~pool.open).sum()),
        n_test=now.n_test,
        labels=_labels(learner),
        seconds_per_answer=pace(opened.session, opened.project_id),
        by_row=by_row,
        model_version=now.model_version,
        waiting=now.fitted is None,
        fault=opened.home.shelf.fault(opened.project_id),
        stop=stop_view(learner, rules),
    )


def _weakest(learner: Learner) -> tuple[ClassAccuracy, ...]:
    """Return `VectorProgress.weakest`, measured on the cells of the test rows, else on the answered blind checks."""
    pool = learner.pool
    if learner.test_rows.any():
        rows, columns = np.nonzero(np.broadcast_to(learner.test_rows[:, None], pool.original.shape))
        yes = pool.original[rows, columns] == 1
    else:
        rows, columns, values = pool.control_sample()
        yes = values == 1
    asked, place = np.unique(rows, return_inverse=True)
    found = learner.shares_of(asked)
    if found is None:
        return ()
    shares, threshold = found
    return weakest_classes(pool.classes, *label_f1(yes, shares[place, columns] > threshold, columns, len(pool.classes)))


def watched(doors: Doors[Learner]) -> tuple[int, int, str | None]:
    """State that the page watches: the log's latest seq, the entry that the current model was fitted to (-1 before the
    first), and why the latest fit failed."""
    with doors.learner() as opened:
        version = opened.learner.version_published
        fault = opened.home.shelf.fault(opened.project_id)
        return opened.learner.seq, -1 if version is None else version, fault


def _predictor(learner: Learner, now: LabelVectorProgress) -> Predictor | None:
    if now.predictor is None:
        return None
    since = now.answers
    for point in reversed(learner.curve):
        if point.predictor != now.predictor:
            break
        since = point.answers
    own, other = (BMLCS, ONE_VS_ALL) if now.predictor == BMLCS else (ONE_VS_ALL, BMLCS)
    found = now.comparison
    return Predictor(
        title=PREDICTOR_ENTRIES[own].title,
        other=PREDICTOR_ENTRIES[other].title,
        since=since,
        automatic=learner.settings.model == AUTOMATIC,
        f1=None if found is None else getattr(found, own),
        other_f1=None if found is None else getattr(found, other),
        error=None if found is None else found.error,
        threshold=now.threshold,
    )


def _curve(points: list[LabelVectorPoint]) -> VectorCurve:
    held = [point.held_out for point in points]
    sizes = next((tuple(t for t, _ in one.precision) for one in held if one is not None), ())
    return VectorCurve(
        answers=np.array([point.answers for point in points], dtype=int),
        model_version=np.array([point.model_version for point in points], dtype=int),
        unasked=np.array([point.unasked for point in points], dtype=int),
        entropy=np.array([point.entropy for point in points], dtype=float),
        precision={t: band([None if one is None else dict(one.precision)[t] for one in held]) for t in sizes},
        macro_f1=band([None if one is None else one.macro_f1 for one in held]),
        micro_f1=band([None if one is None else one.micro_f1 for one in held]),
        control=band([point.control.f1 for point in points]),
    )


def band(shares: Sequence[Share | None]) -> Band:
    """Return these shares with their intervals as arrays."""
    unknown = (np.nan, np.nan, np.nan)
    parts = [unknown if one is None else (one.value, one.low, one.high) for one in shares]
    return Band(*np.array(parts, dtype=float).reshape(-1, 3).T)


def _labels(learner: Learner) -> tuple[LabelCount, ...]:
    """Count the rows that each label is right for, by answers and as given at import, most answered first."""
    answered = learner.answers_per_label()
    given = ((learner.original == 1) & ~learner.pool.answered).sum(axis=0).tolist()
    counts = [
        LabelCount(label, answered.get(label, 0), count)
        for label, count in zip(learner.classes, given, strict=True)
        if count or label in answered
    ]
    return most_answered_first(counts)


# The quality of a project of label vectors at a glance.


def glance(learner: Learner, rules: StopRules) -> Glance:
    """Return the F1 over all labels together, on the test rows, else on the blind checks."""
    curve = learner.curve
    if n_test := int(np.count_nonzero(learner.test_rows)):
        measured = n_test
        shares = [None if point.held_out is None else point.held_out.micro_f1 for point in curve]
    else:
        measured = curve[-1].control.cells if curve else 0
        shares = [point.control.f1 for point in curve]
    known = band(shares)
    return Glance(
        seq=learner.seq,
        version=learner.model_version,
        what=F1,
        measured=measured,
        **thinned(known.value, known.low, known.high)._asdict(),
        goal=rules.goal,
        reached=any(one.rule == "goal" for one in stop_view(learner, rules).reached),
        more=None,
    )


# How much of a project is answered and open, from table and log: a page that lists projects builds no learner.

Kept = LabelVectorPool[LabelTable]
"""Start of the next count, with independent annotators: a pool that has applied the log so far."""


def count(
    home: Home, session: Session, project: Project, settings: LabelVectorSettings, kept: Kept | None
) -> tuple[int, int, Kept | None]:
    """Return (answered, open, `kept` for the next count), in rows or labels as the pool of a learner counts them."""
    if settings.several:
        if kept is None or not follow(session, project.id, kept, kept.apply):
            table = home.read_table(project.table_hash)
            kept = LabelVectorPool(table, settings, read_class_changes(session, project.id))
            follow(session, project.id, kept, kept.apply)
        return kept.n_answered, kept.n_open, kept
    holes, column = _holes(home.table_path(project.table_hash))
    aside = [int(one) for one in asides_after(read_class_changes(session, project.id))]
    answered, out = np.zeros_like(holes), np.zeros(len(holes), dtype=bool)
    for row, kind, labels in answers.answers_of(session, project.id, ANSWERS, without=aside):
        answered[row, [column[label] for label in labels]] = True
        out[row] = kind == EntryKind.BAD  # an answer restores a bad row
    left = holes & ~answered & ~out[:, None]
    if settings.by_row:
        return int((answered.any(axis=1) | out).sum()), int(left.any(axis=1).sum()), None
    return int(answered.sum()), int(left.sum()), None


@functools.lru_cache(maxsize=32)
def _holes(path: Path) -> tuple[npt.NDArray[np.bool_], dict[str, int]]:
    """Return (n, L) the empty cells of a table of label vectors, and the column of each label. Tables never change."""
    table = LabelTable.read(path)
    return vectors_of(table) < 0, {name: number for number, name in enumerate(table.classes)}
