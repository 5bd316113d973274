"""Progress page data: the held-out curves, what is settled, what is open, the pace, where the model errs."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING
from weakref import WeakKeyDictionary

import numpy as np
import numpy.typing as npt
from scipy import sparse

from db import answers, entries, events, trained
from plcore import ActiveLearner, ControlCounts, CurvePoint, FeatureTransformer, LabelTable, LearnerSettings
from plcore.arrays import in_a_row
from plcore.evaluation import Estimate, control_accuracy, control_rows_measured, wilson_interval
from plcore.loop import PREDICTIONS, ROWS, ClassError, ClassMap, StopRules, judge
from plcore.loop.one_label import ANSWERS, FileScores, OneLabelPool, undecided_rows
from workflow.kinds.one_label.answering import count_sure
from workflow.kinds.one_label.settings import USING_SOURCES
from workflow.kinds.one_label.shortlists import shortlist_view
from workflow.kinds.one_label.training import newest_version
from workflow.log.reading import follow, read_class_changes
from workflow.projects.figures import (
    RIGHT,
    ClassAccuracy,
    Glance,
    LabelCount,
    ProjectFigures,
    StopView,
    most_answered_first,
    number,
    pace,
    standing_points,
    thinned,
    weakest_classes,
)
from workflow.projects.proving import Measured, Proof, answers_to, is_rough, read_proof

if TYPE_CHECKING:
    from sqlalchemy.orm import Session

    from db.projects import Project
    from workflow.kinds.shortlists import ShortlistView
    from workflow.opened import Doors, Opened
    from workflow.server.home import Home


# When to stop asking about rows with candidates: the owner's rules, applied to the curve.

DEFAULT_RULES = StopRules()
"""The rules if no one has set any."""


def stop_view(learner: Learner, rules: StopRules) -> StopView:
    """Current state of the rules. Reads only the end of the curve: cheap enough to call after every answer."""
    points = standing_points(learner.curve, rules.flat_over)
    by_truth = bool(n_test := int(np.count_nonzero(learner.test_rows)))
    if by_truth:
        measured = n_test
        accuracy = np.array([np.nan if p.accuracy is None else p.accuracy for p in points])
    else:
        accuracy = control_estimate(learner, [point.control for point in points]).value
        latest = points[-1].control  # rows with one candidate measure nothing before a blind check is answered
        measured = 0 if np.isnan(accuracy[-1]) else latest.asked + latest.free
    verdicts = judge(
        rules,
        np.array([p.answers for p in points]),
        accuracy,
        np.array([p.settled for p in points]),
        done=learner.done,
        measured=measured,
        given=learner.pool.answers,  # a trained version only knows the answers before it
        terms=PREDICTIONS if learner.proves_done else ROWS,
    )
    return StopView(rules, verdicts, by_truth)


def control_estimate(learner: Learner, counts: Sequence[ControlCounts]) -> Estimate:
    """Estimate the accuracy over all rows from the control answers counted at each of these points; NaN while there is
    no model."""
    if not learner.has_model:
        counts = [ControlCounts()] * len(counts)
    return control_accuracy(counts, learner.pool.share_ambiguous)


Learner = ActiveLearner[LabelTable]


@dataclass(frozen=True)
class Curve:
    """One point per number of answers, or per version of a model trained in the background. Arrays of one length; after
    an undo the curve continues from the entry it returned to.

    answers : answers given · settled : share of decisions no answer can change · candidates_left : candidates
    beyond one per row · model_version : the log's seq the model is at ·
    accuracy, low, high : share of held-out rows predicted right, with its 95% Wilson interval ·
    control, control_low, control_high : accuracy over all rows by control answers, with its 95% interval ·
    progressive : share of the answers that ruled out an online model's prediction just before. NaN if there is none.
    """

    answers: np.ndarray
    accuracy: np.ndarray
    low: np.ndarray
    high: np.ndarray
    control: np.ndarray
    control_low: np.ndarray
    control_high: np.ndarray
    settled: np.ndarray
    candidates_left: np.ndarray
    model_version: np.ndarray
    progressive: np.ndarray


@dataclass(frozen=True)
class Confusion:
    """Blind checks: the prediction when each was shown, against the answer.

    counts : int CSR (k, k), [answered, predicted]; labels : the k that occur, most often first
    """

    labels: tuple[str, ...]
    counts: sparse.csr_matrix

    @property
    def total(self) -> int:
        return int(self.counts.sum())

    @property
    def agreed(self) -> int:
        return int(self.counts.trace())


@dataclass(frozen=True, kw_only=True)
class ProgressView(ProjectFigures):
    """Counts are rows.

    pending, disputed : rows that wait for another person's answer, and disputed rows undecided
    bad : rows excluded as bad items
    sure : open rows whose label the model is sure of, None if that is not measured
    weakest : the classes that the model surely predicts worst, the weakest first
    recall : of the approximate neighbour search, None if it is exact
    control_asked, control_free : control rows that measure the model now, asked or with one candidate anyway
    trained : whether the model is trained in the background
    sources : whether rows of one source inform each other, in a sentence; empty if the table has no sources
    file_scores : how much the scores of the table count for the labels, None if the model uses none
    has_proof : whether `settled` is about predictions, as under PL-KNN; else it is the share of rows that are decided
    """

    curve: Curve
    pending: int
    disputed: int
    bad: int
    sure: int | None
    weakest: tuple[ClassAccuracy, ...]
    candidates_left: int
    done: bool
    accuracy: float | None
    interval: tuple[float, float] | None
    control: float | None
    control_interval: tuple[float, float]
    control_asked: int
    control_free: int
    has_truth: bool
    trained: bool
    has_model: bool
    has_proof: bool
    confusion: Confusion
    proof: Proof
    recall: float | None
    shortlists: ShortlistView
    sources: str
    file_scores: FileScores | None


@dataclass
class _Memory:
    """Data cached with a learner.

    predicted : {seq: label} the predictions for the entries about control rows up to `seq`
    given : (m,) how many rows had each class as their only candidate at import; None: not counted yet
    sure : the number of sure rows at `sure_at`, a (seq, version of the model)
    """

    seq: int = 0
    predicted: dict[int, str] = field(default_factory=dict)
    given: np.ndarray | None = None
    sure_at: tuple[int, int] | None = None
    sure: int | None = None


# Used only while the learner is open, by one thread at a time.
_memories: WeakKeyDictionary[Learner, _Memory] = WeakKeyDictionary()


def read_progress(opened: Opened[Learner], rules: StopRules) -> ProgressView:
    """Return everything the page draws, from the learner (caught up with the log) and the log itself."""
    learner, session, project_id = opened.learner, opened.session, opened.project_id
    now = learner.progress()
    curve = read_curve(learner, now.n_test)
    graph, stop = learner.graph, stop_view(learner, rules)
    pending, disputed = undecided_rows(learner.pool)
    value, low, high = (float(part[0]) for part in control_estimate(learner, [now.control]))
    return ProgressView(
        curve=curve,
        answered=learner.pool.n_answered,
        left=learner.pool.n_open,
        pending=int(pending.sum()),
        disputed=int(disputed.sum()),
        bad=int(np.count_nonzero(learner.pool.bad & ~learner.pool.open_rows)),
        sure=_count_sure(learner),
        weakest=_weakest(learner),
        answers_left=int(learner.pool.asked.answers_left()[~learner.test_rows].sum()),
        candidates_left=now.candidates_left,
        settled=now.settled,
        done=learner.done,
        accuracy=now.accuracy,
        interval=None if now.accuracy is None else (float(curve.low[-1]), float(curve.high[-1])),
        control=None if np.isnan(value) else value,
        control_interval=(low, high),
        n_control=now.n_control,
        control_asked=now.control.asked,
        control_free=now.control.free,
        undecided_checks=_undecided_checks(learner),
        n_test=now.n_test,
        has_truth=learner.table.truth is not None,
        trained=learner.settings.is_trained,
        has_model=learner.has_model,
        has_proof=learner.proves_done,
        seconds_per_answer=pace(session, project_id),
        labels=_labels(learner),
        confusion=_confusion(session, project_id, learner),
        stop=stop,
        proof=read_proof(session, project_id, stop, measured_by(learner, curve, now.n_test)),
        model_version=learner.model_version,
        recall=graph.recall if graph is not None and graph.kind == "approximate" else None,
        shortlists=shortlist_view(opened),
        sources=_source_words(learner),
        file_scores=learner.file_scores(),
    )


def _source_words(learner: Learner) -> str:
    """Return `ProgressView.sources`."""
    column = learner.table.roles.source
    if column is None:
        return ""
    if not learner.settings.model_entry.uses_sources:  # it may have more rows than the search can compare at once
        models = in_a_row(USING_SOURCES)
        return f"{models} learn that rows of one {column} explain each other, the model in use does not."
    sources = learner.pool.sources
    if sources is None:
        return f"The candidates do not show that rows of one {column} belong together, so the column is not used."
    shared = int((np.bincount(np.unique(sources, return_inverse=True)[1]) > 1).sum())
    have = f"1 value of {column} has" if shared == 1 else f"{shared:,} values of {column} have"
    return (
        f"{have} several rows. These explain each other: each of their candidates belongs to at least one of them. "
        "If held-out rows are predicted better without this, it is switched off; Models shows whether it is on."
    )


def _count_sure(learner: Learner) -> int | None:
    memory, now = _memories.setdefault(learner, _Memory()), (learner.seq, learner.model_version)
    if memory.sure_at != now:
        memory.sure, memory.sure_at = count_sure(learner), now
    return memory.sure


def _weakest(learner: Learner) -> tuple[ClassAccuracy, ...]:
    """Return `ProgressView.weakest`, measured on the test rows, else on the blind checks."""
    pool, said = learner.pool, learner.said
    if said is None:
        return ()
    known, test = pool.known(), pool.test_rows[pool.held]
    counted = (known >= 0) & (test if test.any() else pool.sizes_at_first[pool.held] >= 2)
    rows, right = (
        np.bincount(known[these], minlength=len(pool.classes)) for these in (counted, counted & (said == known))
    )
    share = right / np.maximum(rows, 1)
    return weakest_classes(pool.classes, rows, share, *wilson_interval(share, np.maximum(rows, 1)))


def _undecided_checks(learner: Learner) -> int:
    pool = learner.pool
    return sum(bool(pool.control_rows[row] and pool.sizes[row] != 1) for row in pool.disputed())


def watched(doors: Doors[Learner]) -> tuple[int, int, int | None, str]:
    """(the log's latest seq, the newest version of a model trained in the background or -1, the latest estimate of
    random order and its state). Does not wait for the learner."""
    with doors.reading() as reading:
        seq = entries.last_seq(reading.session, reading.project.id)
        last = trained.RANDOM_ORDERS.latest(reading.session, reading.project.id)
        estimate = (None, "") if last is None else (last.id, last.state)
        return seq, newest_version(reading.session, reading.project), *estimate


def read_curve(learner: Learner, n_test: int) -> Curve:
    """Return the curve of the answers that still count. n_test : held-out rows"""
    points: list[CurvePoint] = standing_points(learner.curve)
    accuracy = np.array([np.nan if p.accuracy is None else p.accuracy for p in points])
    low, high = wilson_interval(accuracy, n_test)
    control = control_estimate(learner, [point.control for point in points])
    unknown = np.isnan(control.value)
    return Curve(
        answers=np.array([p.answers for p in points]),
        accuracy=accuracy,
        low=low,
        high=high,
        control=control.value,
        control_low=np.where(unknown, np.nan, control.low),
        control_high=np.where(unknown, np.nan, control.high),
        settled=np.array([p.settled for p in points]),
        candidates_left=np.array([p.candidates_left for p in points]),
        model_version=np.array([p.model_version for p in points]),
        progressive=np.array([np.nan if p.progressive_error is None else p.progressive_error for p in points]),
    )


def measured_by(learner: Learner, curve: Curve, n_test: int) -> Measured:
    """Return the curve that the goal is measured by: that of the test rows, else that of the blind checks."""
    if n_test:
        return Measured(curve.answers, curve.accuracy, np.full(len(curve.answers), float(n_test)), fixed=True)
    counts = [point.control for point in standing_points(learner.curve)]
    rows = control_rows_measured(counts, learner.pool.share_ambiguous)
    return Measured(curve.answers, curve.control, rows, fixed=False)


def _labels(learner: Learner) -> tuple[LabelCount, ...]:
    """Count the classes of rows, answered or given, most answered first."""
    memory = _memories.setdefault(learner, _Memory())
    if memory.given is None:
        single = learner.original.sum(axis=1) == 1
        memory.given = learner.original.take(np.flatnonzero(single), axis=0).sum(axis=0)
    answered = learner.pool.answers_per_label()
    counts = [
        LabelCount(label, answered.get(label, 0), int(given))
        for label, given in zip(learner.classes, memory.given, strict=True)
        if given or label in answered
    ]
    return most_answered_first(counts)


def _confusion(session: Session, project_id: int, learner: Learner) -> Confusion:
    """Compare the answers to control rows with the prediction when each was first shown."""
    pool, memory = learner.pool, _memories.setdefault(learner, _Memory())
    if pool.control_rows.any():
        for seq, asked, predicted in events.each_predicted(session, project_id, memory.seq, learner.seq):
            if pool.control_rows[asked]:
                memory.predicted[seq] = predicted
        memory.seq = learner.seq
    pairs = []
    for row in np.flatnonzero(pool.control_rows & pool.answered & (pool.sizes == 1)):
        said = (memory.predicted.get(entry.seq) for entry in learner.state(int(row)).entries)
        first = next((label for label in said if label is not None), None)
        if first is not None:
            answered = learner.classes[int(pool.candidates[row].argmax())]
            pairs.append((answered, _name_now(pool.class_map, first)))
    often = Counter(name for pair in pairs for name in pair)
    labels = tuple(sorted(often, key=lambda name: (-often[name], name)))
    place = {name: number for number, name in enumerate(labels)}
    cells = np.array([(place[answered], place[predicted]) for answered, predicted in pairs], np.int64)
    counts = np.ones(len(pairs), dtype=np.int64), tuple(cells.reshape(-1, 2).T)
    return Confusion(labels, sparse.csr_matrix(counts, shape=(len(labels), len(labels))))


def _name_now(class_map: ClassMap, name: str) -> str:
    """Return the present name of a class; a class whose addition was withdrawn keeps its old name."""
    try:
        return class_map.now(name)
    except ClassError:
        return name


# The quality of a project of one true label at a glance.


def glance(learner: Learner, rules: StopRules) -> Glance:
    """Return the main figure of the Progress page for a list: on the test rows, else on the blind checks."""
    n_test = int(learner.test_rows.sum())
    curve = read_curve(learner, n_test)
    if n_test:
        measured, shown = n_test, thinned(curve.accuracy, curve.low, curve.high)
    else:
        measured = learner.curve[-1].control.asked
        shown = thinned(curve.control, curve.control_low, curve.control_high)
    more = None if rules.goal is None else answers_to(rules.goal, measured_by(learner, curve, n_test))
    return Glance(
        seq=learner.seq,
        version=learner.model_version,
        what=RIGHT,
        measured=measured,
        **shown._asdict(),
        goal=rules.goal,
        reached=any(one.rule == "goal" for one in stop_view(learner, rules).reached),
        more=None if more is None or is_rough(more) else number(more.value),
    )


# How much of a project is answered and open, from table and log: a page that lists projects builds no learner.


@dataclass(frozen=True)
class Labels:
    """The part of a table that a pool needs, without its features, which may be large.

    candidates : (n, m)      truth : (n,) class numbers, -1 if unknown; None without a column of them
    candidate_weights : None, because they change no count
    """

    candidates: npt.NDArray[np.bool_]
    classes: tuple[str, ...]
    truth: npt.NDArray[np.int64] | None
    candidate_weights: npt.NDArray[np.float64] | None = None
    features: type[FeatureTransformer] = FeatureTransformer


Kept = OneLabelPool[Labels]
"""Start of the next count: a pool that has applied the log so far."""


def count(
    home: Home, session: Session, project: Project, settings: LearnerSettings, kept: Kept | None
) -> tuple[int, int, Kept | None]:
    """Return (answered, open, `kept` for the next count), in rows as the pool of a learner counts them."""
    changes = read_class_changes(session, project.id)
    if not changes and not settings.several:
        answered = answers.answered_rows(session, project.id, ANSWERS)
        return answered, max(0, project.n_to_ask - answered), None
    # After a change of the classes the stored `after` of an entry may mean other labels, and with independent answers
    # it is only that person's. So the log is folded again; a long one only once.
    if kept is None or not follow(session, project.id, kept, kept.apply):
        kept = OneLabelPool(_counting_labels(home.table_path(project.table_hash)), settings, changes)
        follow(session, project.id, kept, kept.apply)
    return kept.n_answered, kept.n_open, kept


def _counting_labels(path: Path) -> Labels:
    table = LabelTable.read(path)
    return Labels(table.candidates, table.classes, table.truth)
