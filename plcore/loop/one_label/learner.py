"""ActiveLearner: takes a table and log entries, and returns the next question. No database, no files, no
clock.

The same table, settings, entries and published versions in the same order always give the same state and the
same next question. An entry recomputes only what depends on it.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping, Sequence
from typing import Generic, TypeVar

import numpy as np

from plcore.arrays.candidate_sets import pairs_of, put_sets, rows_that_differ
from plcore.arrays.types import AnyArray, BoolArray, FloatArray, IntArray, Table
from plcore.evaluation.estimates import ControlCounts
from plcore.loop.base import CONTROL, OVERLAP
from plcore.loop.changes import ClassChange
from plcore.loop.entries import AnswerError, Entry, Place, as_places
from plcore.loop.one_label.asking import RowChooser
from plcore.loop.one_label.disambiguation import TakenLabels
from plcore.loop.one_label.file_scores import FileScores, weigh_file
from plcore.loop.one_label.fold import Narrowing
from plcore.loop.one_label.models import Model, NeighborModel, OnlineModel, ScoredModel, even_shares
from plcore.loop.one_label.pool import OneLabelPool, RowCounts
from plcore.loop.one_label.reports import CurvePoint, Disambiguation, Progress, Question, RowState
from plcore.loop.one_label.settings import LearnerSettings
from plcore.loop.one_label.training import FirstUpdate
from plcore.loop.packed import joined, part
from plcore.neighbors.graph import Graph
from plcore.query.plugged import Order
from plcore.query.ranker import EffectRanker

# State of a pool as arrays, and how to resume from it.
# From a checkpoint a learner resumes without applying earlier entries again, in exactly the same state as a
# learner that applied all of them. Everything that follows from the current candidates is not stored but
# rebuilt: votes, question scores, counts, an online learner's weights.
# A checkpoint is valid for one table, one set of settings and class changes, and this version of the code.
# The caller checks that (`workflow.kinds.opening`).

_OF_ROWS = ("answered", "bad", "by_verdict", "changed_at")


def take(pool: OneLabelPool[Table], curve: Mapping[str, AnyArray]) -> dict[str, AnyArray]:
    """Return the state of the pool as new arrays, which do not change when the pool continues.

    curve : output of `LearnerCurve.to_arrays`
    """
    touched = pool.answered | (pool.changed_at > 0)
    touched[rows_that_differ(pool.candidates, pool.first)] = True
    rows = np.flatnonzero(touched)
    places, labels = pairs_of(pool.candidates.take(rows, axis=0))
    arrays = {
        "pool.seq": np.array([pool.seq, pool.answers], dtype=np.int64),
        "pool.rows": rows,
        "pool.places": places.astype(np.int32),
        "pool.labels": labels.astype(np.int32),
        **{f"pool.{name}": getattr(pool, name)[rows] for name in _OF_ROWS},
    }
    parts = {"asked": pool.asked.to_arrays(rows), "fold": pool.fold.to_arrays()}
    return arrays | joined(parts | {"standings": pool.standings.to_arrays(), "curve": curve})


def put_back(pool: OneLabelPool[Table], arrays: Mapping[str, AnyArray]) -> dict[str, AnyArray]:
    """Restore the output of `take` in a new pool of the same table, settings and changes; return the stored
    curve."""
    pool.seq, pool.answers = arrays["pool.seq"].tolist()
    rows = arrays["pool.rows"]
    places = arrays["pool.places"]
    put_sets(pool.candidates, rows, places, arrays["pool.labels"].astype(np.int64))
    pool.sizes[rows] = np.bincount(places, minlength=len(rows))
    for name in _OF_ROWS:
        getattr(pool, name)[rows] = arrays[f"pool.{name}"]
    pool.fold.put_back(part(arrays, "fold"))
    pool.standings.put_back(part(arrays, "standings"))
    pool.asked.put_back(rows, part(arrays, "asked"), pool.fold)
    held = pool.test_rows | pool.control_rows
    pool.narrowing = Narrowing(pool.sizes_at_first, held, pool.sizes)
    pool.counts = RowCounts(pool.asked, pool.train, pool.test_rows, pool.answered)
    return part(arrays, "curve")


# The curve of a learner: its progress at the start and after each entry or version that changed it.

_COUNTS = ("seq", "answers", "candidates_left", "model_version")
_CONTROL = ("right_asked", "asked", "right_free", "free")
_SHARES = ("settled", "accuracy", "progressive_error")


class LearnerCurve:
    """Curve of a learner.

    start : the point before any entry      points : the start and all later points, in order; None: only the start"""

    def __init__(self, start: CurvePoint, points: Sequence[CurvePoint] | None = None) -> None:
        self.start = start
        self._points = [start] if points is None else list(points)
        self._past: Mapping[str, AnyArray] | None = None  # earlier points, not yet requested

    @classmethod
    def from_arrays(cls, arrays: Mapping[str, AnyArray]) -> LearnerCurve:
        """Rebuild the curve from the output of `to_arrays`."""
        start = _points_of({name: one[:1] for name, one in arrays.items()})[0]
        curve = cls(start, ())
        curve._past = arrays
        return curve

    @property
    def version(self) -> int:
        """Return the `model_version` of the latest point."""
        if not self._points and self._past is not None:
            return int(self._past["counts"][-1, _COUNTS.index("model_version")])
        return self._points[-1].model_version

    def append(self, point: CurvePoint) -> None:
        self._points.append(point)

    def points(self) -> list[CurvePoint]:
        """Return all points as a new list."""
        if self._past is not None:
            self._points[:0] = _points_of(self._past)
            self._past = None
        return list(self._points)

    def to_arrays(self) -> dict[str, AnyArray]:
        """Return the points as `counts` int64 (p, 8) and `shares` (p, 3), NaN for None."""
        columns = _columns_of(self._points)
        if self._past is not None:
            columns = {name: np.concatenate([self._past[name], one]) for name, one in columns.items()}
        return columns

    def start_alone(self) -> dict[str, AnyArray]:
        """Return the start as `to_arrays` does: the curve of a learner whose versions will be published again."""
        return _columns_of([self.start])


def _columns_of(points: Sequence[CurvePoint]) -> dict[str, AnyArray]:
    counts = [
        [*(getattr(one, name) for name in _COUNTS), *(getattr(one.control, name) for name in _CONTROL)]
        for one in points
    ]
    shares = [[getattr(one, name) for name in _SHARES] for one in points]
    return {
        "counts": np.array(counts, dtype=np.int64).reshape(-1, len(_COUNTS) + len(_CONTROL)),
        "shares": np.array(shares, dtype=np.float64).reshape(-1, len(_SHARES)),  # None becomes NaN
    }


def _points_of(columns: Mapping[str, AnyArray]) -> list[CurvePoint]:
    shares: FloatArray = columns["shares"]
    told = shares.astype(object)
    told[np.isnan(shares)] = None
    return [
        CurvePoint(
            seq=seq,
            answers=answers,
            candidates_left=left,
            model_version=version,
            control=ControlCounts(*control),
            settled=settled,
            accuracy=accuracy,
            progressive_error=error,
        )
        for (seq, answers, left, version, *control), (settled, accuracy, error) in zip(
            columns["counts"].tolist(), told.tolist(), strict=True
        )
    ]


# Create the model of a project's settings.


def make_model(pool: OneLabelPool[Table], chooser: RowChooser) -> Model:
    """Create the model of the settings for the current candidates. chooser : has the votes of a neighbour model, which
    cannot predict without them"""
    if pool.settings.is_online:
        return OnlineModel(pool)
    if pool.settings.is_trained or chooser.ranker is None or chooser.graph is None:
        return ScoredModel(pool)
    return NeighborModel(pool, chooser.ranker, chooser.graph)


TableT_co = TypeVar("TableT_co", bound=Table, covariant=True)


class ActiveLearner(Generic[TableT_co]):
    """The active-learning loop: `apply(entry)` and `next_question(annotator)`.

    The settings name the model. PL-KNN on the table's features and online learners follow each answer. Other models are
    trained elsewhere (`.training`): their versions come by `publish`, and first updates between two versions by
    `follow`. Questions use the strategy of the settings; some are blind checks (`.pool`). Held-out rows, test rows and
    controls alike, are never used for training, and predictions for them never score a question.

    changes, controls : as for the pool
    graph : the `graph` of an earlier learner with the same table and `graph_key(settings)`, to skip the neighbour
        search; None: find the neighbours now if needed. Raises ValueError for another shape.
    waits : the neighbour search runs in another process, and a learner with the result will replace this one. Until
        then rows come in random order, blind checks as usual, and a neighbour model does not predict
    checkpoint : output of `checkpoint()` of an earlier learner with the same table, settings and changes, to resume
        from
    """

    def __init__(
        self,
        table: TableT_co,
        settings: LearnerSettings | None = None,
        graph: Graph | None = None,
        changes: Iterable[ClassChange] = (),
        controls: IntArray | None = None,
        checkpoint: Mapping[str, AnyArray] | None = None,
        *,
        waits: bool = False,
    ) -> None:
        self.settings = settings = settings or LearnerSettings()
        self.waits = waits
        self.pool = pool = OneLabelPool(table, settings, changes, controls)
        curve = None if checkpoint is None else put_back(pool, checkpoint)
        self.table, self.classes, self.original = pool.table, pool.classes, pool.original
        self.test_rows = pool.test_rows
        self._chooser = RowChooser(pool, graph, lambda: self._model, waits=waits)
        self._model, self.model_version = make_model(pool, self._chooser), 0
        if curve is None or waits:  # its points belong to a model that is not available
            self._curve = LearnerCurve(self._curve_point())
        else:
            self._curve = LearnerCurve.from_arrays(curve)
        self.model_version = self._curve.version
        self.n_followed = 0  # first updates so far: they change labels but not the version

    # Entries, and versions of models trained in the background

    def check(self, entry: Entry) -> None:
        """Raise AnswerError if `apply` would refuse the entry; changes nothing."""
        self.pool.check(entry)

    def apply(self, entry: Entry) -> None:
        """Apply one entry. Raises AnswerError, and changes nothing, if it is impossible (see `.fold`)."""
        changes = self.pool.apply(entry)
        if not self.settings.is_online:
            changes = [change for change in changes if not np.array_equal(change.old, change.new)]
        for change in changes:
            if not self.pool.control_rows[change.row]:
                self._chooser.learn(change)
                self._model.learn(change)
            else:
                self._model.score.learn(int(self.pool.place[change.row]), change.new)
        if changes and not isinstance(self._model, ScoredModel):
            self._chooser.model_changed()
            # Also after a control answer, which the model does not learn from: the version must not reveal blind
            # checks.
            self.model_version = entry.seq
            self._curve.append(self._curve_point())

    def publish(
        self,
        scores: AnyArray,
        points: Sequence[CurvePoint],
        effects: FloatArray | None = None,
        order: Order | None = None,
    ) -> None:
        """Use a new version of the model from now on.

        scores : (n, m) of all rows by the newest version, from `.training.Trainer`; not copied
        points : points of the versions since the last call, this version last; its `model_version` is the new one
        effects : (n_train,) effect scores of the training rows, if the version has them (`.training.Footing`)
        order : as `.training.Version.order`

        Raises ValueError for a model that follows each answer itself, a wrong shape, or versions out of order.
        """
        if not isinstance(self._model, ScoredModel):
            model = self.settings.model_in_force
            raise ValueError(f"Model {model!r} follows each answer; nothing is published to it.")
        versions = [-1 if self.said is None else self.model_version, *(point.model_version for point in points)]
        if len(versions) < 2 or sorted(set(versions)) != versions:
            raise ValueError(f"points must be of versions after {versions[0]}, in order. Got {versions[1:]}.")
        self._model.publish(scores, effects, order)
        before = self._curve.points() if versions[0] >= 0 else []  # the start, before any model, has no version
        self._curve = LearnerCurve(self._curve.start, [*before, *points])
        self.model_version = versions[-1]
        self._chooser.model_changed()

    def follow(self, update: FirstUpdate) -> None:
        """Predict training rows by a first update of the current version, until the next version.

        Predictions for held-out rows, the curve and the version do not change. Raises ValueError before the first
        version.
        """
        if not isinstance(self._model, ScoredModel) or self.version_published is None:
            raise ValueError("There is no version yet that a first update could start from.")
        self._model.follow(update.scores, update.effects)
        self.n_followed += 1
        self._chooser.model_changed()

    @property
    def has_model(self) -> bool:
        """Whether the model can predict yet: it has a version, or its neighbours are found."""
        return self.said is not None

    @property
    def version_published(self) -> int | None:
        """The latest published version; None before the first, and for models without versions."""
        return self.model_version if self.settings.is_trained and self.said is not None else None

    def candidates_after(self, entry: Entry) -> BoolArray:
        """Return (m,) the row's candidates if this entry were applied. Raises AnswerError like `check`; changes
        nothing."""
        self.check(entry)
        return self.pool.fold.fold_with(entry).votes

    def may_ask(self, row: int, annotator: str, label: str | None = None) -> bool:
        """Return whether this annotator can be asked about the row now: it is open, and they are not unsure about it.
        Skipped rows can be asked about. Single labels cannot: a question is about all candidates."""
        return self.pool.may_ask(Place(self.pool.check_row(row), label), annotator)

    def get_ready(self) -> None:
        """Do the computations now that the next question would otherwise wait for."""
        self._chooser.get_ready()

    def next_question(
        self,
        annotator: str,
        exclude: Collection[int | tuple[int, str | None]] = frozenset(),
        *,
        ahead: int = 0,
        after: int | None = None,
    ) -> Question | None:
        """Return the most useful question for this annotator, or None when nothing is left to ask them.

        exclude : rows, or places, currently shown to other people; an effect strategy also damps the
            predictions that these decide
        ahead : number of entries assumed to come before the question, for the draw of blind checks; their
            content is unknown
        after : the row that this annotator answers just before; None: the row of their last entry
        With probability `control_share`, and when nothing else is left, it is the next control row. Otherwise it is the
        row with the highest score of the strategy, ties by row number. It is never a test row, a bad item, a row with
        one candidate, or one this annotator is unsure about. Rows they skipped come back after 20 further entries of
        theirs, or when nothing else is left, oldest skip first. If several people answer a row, rows begun come first,
        and no one is asked twice. If the settings ask by source, all rows of a source come one after the other, and
        blind checks between sources.
        """
        row = self._chooser.next_row(annotator, {place.row for place in as_places(exclude)}, ahead, after)
        return None if row is None else self.question_for(row, annotator=annotator)

    def question_for(self, row: int, label: str | None = None, annotator: str | None = None) -> Question:
        """Return the question about one row now, with the candidates that this annotator sees.

        If people answer independently, it reveals nothing about other answers to the row: shares come from a model that
        has not learnt from them, or are even. Raises AnswerError for test rows, bad items, and one label of a row.
        """
        pool, row = self.pool, self.pool.check_asked(row)
        if label is not None:
            raise AnswerError(f"A question is about a whole row here, not about one label. Got {label!r}.")
        own = pool.candidates_for(row, annotator)
        blind, begun = bool(pool.control_rows[row]), pool.asked.has_begun(row, annotator)
        # No model learns from a blind check, so it shows what an ordinary question in its place would show.
        waits = blind and annotator is not None and any(True for _ in pool.begun(annotator))
        hidden = waits if blind else begun
        shares = self._model.shares_of_others(row, own, learnt=hidden)
        says = self._model.said is not None and shares is not None and own.any()
        shares = even_shares(own[None])[0] if shares is None else shares
        why = self._chooser.explain(row, hide=blind or begun)
        if blind:
            strategy, score = CONTROL, self.settings.control_share
        else:
            strategy, score = (OVERLAP, 0.0) if begun else (self._chooser.entry.logged, self._chooser.score_of(row))
        return Question(
            row=row,
            choices=pool.names(own),
            probabilities=tuple(shares[own].tolist()),
            strategy=strategy,
            score=score,
            decides=len(why.changes) if why else 0,
            undecided=why.undecided if why else 0,
            model_version=self.model_version,
            predicted=self.classes[int(shares.argmax())] if says else None,
        )

    @property
    def strategy(self) -> str:
        """Return the name of the current strategy."""
        return self._chooser.entry.name

    @property
    def order_fault(self) -> str:
        """Return why the plug-in that is the strategy could not order the rows of this version; "" if it could."""
        return "" if self._model.order is None else self._model.order.fault

    def ranking(self, most: int | None = None) -> tuple[IntArray, FloatArray]:
        """Return (rows, scores): the `most` best rows that can be asked now, by descending score, then row number;
        None: all."""
        return self._chooser.ranking(most)

    # State

    @property
    def seq(self) -> int:
        """Number of the last entry applied."""
        return self.pool.seq

    @property
    def graph(self) -> Graph | None:
        """The learner's neighbour graph, None if it needs none; answers do not change it."""
        return self._chooser.graph

    @property
    def done(self) -> bool:
        """Return whether no answer can change a decision any more: the winners (Eq. 1) of every ambiguous row
        are settled.

        That holds for answers inside the candidates; `none` and `bad` may still change decisions, and any answer
        may change decisions about new points. Without a proof, the work is done when no row is open.
        """
        if (proof := self._proof) is None:
            return not self.pool.counts.waiting
        return not self.pool.asked.begun() and bool(proof.settled_ == 1.0 and proof.n_undecided_ == 0)

    @property
    def proves_done(self) -> bool:
        """Whether "settled" is a proof about the predictions; otherwise it is the share of decided rows."""
        return self.settings.proves_done and not self.waits

    @property
    def _proof(self) -> EffectRanker | None:
        """Return the object that proves which rows are settled; None for models without such a proof."""
        return self._chooser.ranker if self.proves_done else None

    def candidates_of(self, row: int) -> BoolArray:
        """Return (m,) a copy of the row's current candidates; none for a bad item."""
        return np.array(self.pool.candidates[self.pool.check_row(row)])

    @property
    def candidates(self) -> BoolArray:
        """Return (n, m) a copy of the current candidates; bad items have none."""
        return self.pool.candidates.copy()

    @property
    def label_distributions(self) -> FloatArray:
        """Return (n, m) the model's label distribution of each row inside its candidates; NaN for test rows,
        0 for bad items."""
        result = np.full(self.pool.candidates.shape, np.nan)
        asked = np.flatnonzero(~self.test_rows)
        result[asked] = self._model.shares(asked)
        return result

    def shares_of(self, rows: IntArray, inside: BoolArray | None = None) -> FloatArray:
        """Return (r, m) the model's label distributions of these rows (no test rows), inside their candidates, or
        `inside`; 0 for bad items."""
        return self._model.shares(np.asarray(rows), inside)

    def shares_asked(self, rows: IntArray, inside: BoolArray) -> FloatArray:
        """Return (r, m) the distributions that questions show, for any rows, inside these candidates and without a
        row's own vote."""
        return self._model.unseen_shares(np.asarray(rows), inside)

    @property
    def said(self) -> IntArray | None:
        """Return (n_held,) the predicted class of each held-out row, -1 for none; None before the first
        version."""
        return self._model.said

    @property
    def curve(self) -> list[CurvePoint]:
        """Return a new list of curve points: the start, and one for each entry that changed candidates, or
        each version."""
        return self._curve.points()

    def checkpoint(self) -> dict[str, AnyArray]:
        """Return the state to resume from; published versions are not included."""
        curve = self._curve.start_alone() if self.settings.is_trained else self._curve.to_arrays()
        return take(self.pool, curve)

    def answer_of(self, row: int) -> Entry | None:
        """Return the latest answer that counts for this row, or None."""
        return self.pool.fold.fold(self.pool.check_row(row)).answer

    def state(self, row: int) -> RowState:
        """Return the current state of one row."""
        return self.pool.state(row)

    def progress(self) -> Progress:
        """Return the progress of the work."""
        pool, now = self.pool, self._curve_point()
        return Progress(
            answers=pool.answers,
            answered=pool.counts.answered,
            bad=int(np.count_nonzero(pool.bad)),
            ambiguous_left=pool.n_open,
            candidates_left=now.candidates_left,
            settled=now.settled,
            accuracy=now.accuracy,
            n_train=len(pool.train),
            n_test=int(np.count_nonzero(pool.test_rows)),
            model_version=now.model_version,
            control=now.control,
            n_control=int(np.count_nonzero(pool.control_rows)),
        )

    @property
    def share_settled(self) -> float:
        """Return the share of the decisions that no answer can change any more; without a proof, of the
        decided rows."""
        return self.progress().settled

    def disambiguate(self) -> Disambiguation:
        """Return a label for every row with its source and confidence."""
        return self.take_labels().whole

    def take_labels(self) -> TakenLabels:
        """Return a lazy snapshot of `disambiguate`, which later entries do not change."""
        return TakenLabels(self.pool, self._model, None if self._proof is None else self._proof.votes_)

    def file_scores(self) -> FileScores | None:
        """Return the weight of the table's scores for the labels; None if the model learns from no scores."""
        return weigh_file(self.pool, self._model)

    def _curve_point(self) -> CurvePoint:
        settled = None if self._proof is None else self._proof.settled_
        return self.pool.point(self._model.score, settled, self.model_version, self._model.progressive_error)
