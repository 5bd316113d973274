"""LabelVectorLearner: takes a table of label vectors with missing entries and log entries, and returns the next
question.

No database, no files, no clock, no thread. The same table, settings and entries always give the same pool. With the
model fitted at the latest due entry they give the same state, no matter when that fit was adopted.
"""

from __future__ import annotations

import json
from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import replace
from typing import Generic

import numpy as np
from scipy import sparse

from plcore.arrays.array_files import LARGEST_FEATURE
from plcore.arrays.types import AnyArray, BoolArray, FeatureMatrix, FloatArray, IntArray, Matrix, is_sparse
from plcore.loop.base import CONTROL, OVERLAP
from plcore.loop.changes import ClassChange
from plcore.loop.entries import Entry, Place, as_places
from plcore.loop.label_vectors.controls import CellCounts, ControlSample
from plcore.loop.label_vectors.estimates import control_estimate, entropy_of
from plcore.loop.label_vectors.export import LabelVectorExport, export_of
from plcore.loop.label_vectors.fold import UNKNOWN, TableT_co, VectorTable
from plcore.loop.label_vectors.heard import HeardCells, heard_cells
from plcore.loop.label_vectors.model import LabelVectorModel, Refreshed, RefreshJob
from plcore.loop.label_vectors.pool import LabelVectorPool, VectorChange
from plcore.loop.label_vectors.registry import CRITERION_ENTRIES, RANDOM
from plcore.loop.label_vectors.reports import (
    LabelVectorPoint,
    LabelVectorProgress,
    LabelVectorQuestion,
    LabelVectorState,
)
from plcore.loop.label_vectors.settings import LabelVectorSettings
from plcore.loop.packed import joined, packed, part, unpacked
from plcore.sensing.metrics import EVEN
from plcore.sensing.regression import LARGEST

# State of a learner of label vectors as arrays, and how to resume from it.
#
# From a checkpoint a learner resumes without applying earlier entries again, in exactly the same state as a learner
# that applied all of them. The model is not stored: BML-CS is refitted at every start to the cells at the latest due
# fit, and then learns the later answers in order. So the checkpoint has both, these cells and these answers.
#
# A checkpoint is valid for one table, one set of settings and row changes, and this version of the code. The caller
# checks that (`workflow.kinds.opening`).

_OF_ROWS = ("cells", "bad", "answered")


def take(pool: LabelVectorPool[VectorTable], due: RefreshJob, since: Sequence[VectorChange]) -> dict[str, AnyArray]:
    """Return the state of the pool as new arrays, which do not change when the pool continues.

    due : the latest fit that was due      since : changes after it
    """
    fold = pool.fold.to_arrays()
    rows = np.unique(fold["columns"][:, 1])  # the other rows have no entries
    arrays = {
        "pool.numbers": np.array([pool.seq, pool.answers, *pool.counted], dtype=np.int64),
        "pool.counts": packed(pool.counts),
        "pool.learnt": np.stack([pool.learnt_yes, pool.learnt_known]),
        "pool.rows": rows,
        **{f"pool.{name}": getattr(pool, name)[rows] for name in _OF_ROWS},
        "due.numbers": np.array([due.seq, due.answers, due.yes, due.no], dtype=np.int64),
        "due.cells": due.cells[rows],
        "due.open": due.open[rows],
        "due.control": np.stack([*due.control]).astype(np.int64),
        "since.places": np.array([(one.seq, one.row) for one in since], dtype=np.int64).reshape(-1, 2),
        "since.values": np.array([one.values for one in since], dtype=np.int8).reshape(-1, len(pool.classes)),
    }
    parts = {"fold": fold, "standings": pool.standings.to_arrays()}
    if pool.several is not None:
        parts["several"] = pool.several.to_arrays(rows)
    return arrays | joined(parts)


def put_back(
    pool: LabelVectorPool[VectorTable], X: Matrix, arrays: Mapping[str, AnyArray]
) -> tuple[RefreshJob, list[VectorChange]]:
    """Restore the output of `take` in a new pool of the same table, settings and changes; return the latest due fit and
    the changes after it.

    X : features for a fit"""
    pool.seq, pool.answers, *counted = arrays["pool.numbers"].tolist()
    pool.counted = CellCounts(*counted)
    pool.counts = unpacked(arrays["pool.counts"])
    pool.learnt_yes, pool.learnt_known = (one.copy() for one in arrays["pool.learnt"])
    rows = arrays["pool.rows"]
    for name in _OF_ROWS:
        getattr(pool, name)[rows] = arrays[f"pool.{name}"]
    pool.fold.put_back(part(arrays, "fold"))
    pool.standings.put_back(part(arrays, "standings"))
    if pool.several is None:
        pool.open[rows] = (pool.cells[rows] == UNKNOWN) & ~pool.bad[rows, None]
    else:
        pool.several.put_back(rows, part(arrays, "several"), pool.fold)
    places = zip(arrays["since.places"].tolist(), arrays["since.values"], strict=True)
    since = [VectorChange(seq, row, values) for (seq, row), values in places]
    return _due(pool, X, rows, arrays), since


def _due(pool: LabelVectorPool[VectorTable], X: Matrix, rows: AnyArray, arrays: Mapping[str, AnyArray]) -> RefreshJob:
    """Return the latest due fit: a new job for the pool, with the stored cell of each row that have entries."""
    job = RefreshJob.of(pool, X)
    job.cells[rows], job.open[rows] = arrays["due.cells"], arrays["due.open"]
    places, columns, values = arrays["due.control"]
    seq, answers, yes, no = arrays["due.numbers"].tolist()
    control = ControlSample(places, columns, values.astype(job.cells.dtype))
    return replace(job, seq=seq, answers=answers, yes=yes, no=no, control=control)


# Check training sets for a model of label vectors when a project is created, not at its first fit.

MATRICES = 9
"""Maximum number of square matrices in memory, each with the smaller of rows and features as its side: those of the
current model and of the one being refitted (measured: docs/decisions/0012)."""


def check_fit(X: FeatureMatrix, names: Sequence[str], memory: int | None = None) -> None:
    """Raise ValueError, with a fix, if no model could be fitted to these features.

    X : (n, d) features of all rows, dense or CSR      names : (d,) of the columns they come from
    memory : bytes that may be used; None: any number
    """
    n, d = X.shape
    side, counted = min(n, d), f"{n:,} rows of {d:,} features"
    fix = "Fix: import fewer rows, or without the text column, whose words are features each."
    if side > LARGEST:
        raise ValueError(
            f"{counted} are too many: of rows or features, whichever are fewer, at most {LARGEST:,} are allowed. {fix}"
        )
    needed = MATRICES * side**2 * np.dtype(np.float64).itemsize
    if memory is not None and needed > memory:
        raise ValueError(
            f"{counted} need about {needed / 1e9:.1f} GB of memory; {memory / 1e9:.1f} GB may be used, half of what "
            f"this machine has. {fix}"
        )
    values = np.abs(X.data if is_sparse(X) else X)
    if not values.max(initial=0.0) <= LARGEST_FEATURE:
        places = sparse.coo_array(X) if is_sparse(X) else None
        at = int(values.argmax())
        row, column = np.unravel_index(at, X.shape) if places is None else (places.row[at], places.col[at])
        raise ValueError(
            f"Row {int(row) + 1}, column {names[int(column)]!r}: the number is {float(values.flat[at]):.3g} times as "
            f"large as the range of that column in the training rows; at most {LARGEST_FEATURE:g} times is allowed. "
            "Fix: correct the number, or leave its cell empty."
        )


# The frequencies of the labels: what is known before a model, or where its shares must not be shown.


def frequencies(pool: LabelVectorPool[VectorTable], but: int | None = None) -> FloatArray:
    """Return (L,) the probability of yes, from the known cells of each label (rule of succession). but : a row left
    out"""
    own = np.full(len(pool.classes), UNKNOWN) if but is None else pool.learnt(but)
    return np.asarray((pool.learnt_yes - (own == 1) + 1) / (pool.learnt_known - (own != UNKNOWN) + 2))


class PlaceChooser:
    """Chooses questions about a pool. Without a model, or with the criterion "random", the random order is drawn once.

    by_row : whether questions are about whole rows
    """

    def __init__(self, pool: LabelVectorPool[VectorTable]) -> None:
        self._pool, self.settings = pool, pool.settings
        self.by_row = self.settings.by_row
        self._random: FloatArray | None = None

    def strategy(self, model: LabelVectorModel | None) -> str:
        """Return the criterion in use."""
        return RANDOM if model is None else self.settings.asked_by

    def scores(self, model: LabelVectorModel | None) -> FloatArray:
        """Return (n,) the scores of whole rows, or (n, L) of their labels; higher = ask sooner."""
        if model is not None and CRITERION_ENTRIES[self.settings.asked_by].needs_model:
            return model.scores
        if self._random is None:
            shape = self._pool.cells.shape[:1] if self.by_row else self._pool.cells.shape
            self._random = np.random.default_rng([self.settings.seed, 4]).random(shape)
        return self._random

    def best(self, model: LabelVectorModel | None, allowed: BoolArray) -> Place | None:
        """Return the best question about labels inside `allowed` (n, L), None if there is none; ties by row, then
        label."""
        rows = allowed.any(axis=1)
        if not rows.any():
            return None
        if self.by_row:
            return Place(int(np.where(rows, self.scores(model), -np.inf).argmax()))
        if self.settings.question_entry.in_turn:  # one label of each row, before any row gets another
            given = self._pool.answered.sum(axis=1)
            allowed = allowed & (given == given[rows].min())[:, None]
        best = int(np.where(allowed, self.scores(model), -np.inf).argmax())
        row, column = divmod(best, allowed.shape[1])
        return Place(row, self._pool.classes[column])

    def score_of(self, model: LabelVectorModel | None, row: int, column: int | None) -> float:
        """Return the score of a row, or of one label of it; 0 if nothing is open.

        If labels are asked about one by one, the score of a row is that of its best label."""
        scores = self.scores(model)[row]
        if scores.ndim:
            open_ = self._pool.open[row] if column is None else self._pool.open[row, [column]]
            asked = scores if column is None else scores[[column]]
            return float(asked[open_].max()) if open_.any() else 0.0
        return float(scores) if self._pool.open[row].any() else 0.0

    def ranking(self, model: LabelVectorModel | None) -> tuple[IntArray, IntArray, FloatArray]:
        """Return (rows, columns, scores) of every row that can be asked about, by the score of its best label, highest
        first, then by row. columns : the best label; -1 if questions are about whole rows"""
        free = self._pool.fresh() & ~self._pool.control_cells
        rows = np.flatnonzero(free.any(axis=1))
        scores, columns = self.scores(model)[rows], np.full(len(rows), -1)
        if scores.ndim == 2:
            scores = np.where(free[rows], scores, -np.inf)
            columns, scores = scores.argmax(axis=1), scores.max(axis=1)
        turn = np.zeros(len(rows))
        if self.settings.question_entry.in_turn:  # each row in turn, as in `best`
            turn = self._pool.answered[rows].sum(axis=1)
        order = np.lexsort((rows, -scores, turn))
        return rows[order], columns[order], scores[order]


class LabelVectorLearner(Generic[TableT_co]):
    """The loop: `apply(entry)`, `next_question(annotator)`, and `adopt` for its model.

    An answer is applied at once, as a rank-one update. At the start, and after every `refresh_every` answers that
    models learn from, a refit is due. `job()` returns the fit, which may run in another thread, and `adopt(job.run())`
    puts the model in place and applies the answers given meanwhile. Before the first model, questions are drawn at
    random. A learner rebuilt from the log that adopts the latest due fit equals a long-running one after it has adopted
    the same fit.

    checkpoint : output of `checkpoint()` of an earlier learner with the same table, settings and changes, to resume
        from
    """

    def __init__(
        self,
        table: TableT_co,
        settings: LabelVectorSettings | None = None,
        changes: Iterable[ClassChange] = (),
        checkpoint: Mapping[str, AnyArray] | None = None,
    ) -> None:
        self.settings = settings = settings or LabelVectorSettings()
        self.pool: LabelVectorPool[TableT_co] = LabelVectorPool(table, settings, changes)
        self.table, self.classes, self.original = table, self.pool.classes, self.pool.original
        self.test_rows = self.pool.test_rows
        self._features = table.features()
        self._features.fit(table, np.flatnonzero(~self.test_rows))
        self._X = self._features.transform(table, np.arange(len(self.original)))
        self._model: LabelVectorModel | None = None
        self._heard: tuple[int, HeardCells | None] | None = None
        self._since: list[VectorChange] = []  # changes after the entry that the model was fitted to
        if checkpoint is None:
            self._due = RefreshJob.of(self.pool, self._X)  # the latest fit, also once its model is in place
        else:
            self._due, self._since = put_back(self.pool, self._X, checkpoint)
        self._began_at = self._due.seq  # a model cannot learn changes that are older than its fit
        self._changes = len(self._since)  # entries after the latest fit that was due
        self._fitted: int | None = None
        self._curve: list[LabelVectorPoint] = []
        self._point: LabelVectorPoint | None = None  # of the model in place
        self._chooser = PlaceChooser(self.pool)
        self.model_version = 0

    def check_fit(self, memory: int | None = None) -> None:
        """Raise ValueError, with a fix, if the features are too many or need more than `memory` bytes."""
        check_fit(self._X, self._features.feature_names_, memory)

    # Entries

    def check(self, entry: Entry) -> None:
        """Raise AnswerError if `apply` would refuse the entry; changes nothing."""
        self.pool.check(entry)

    def apply(self, entry: Entry) -> None:
        """Apply one entry. Raises AnswerError, and changes nothing, if it is impossible (see `.fold`)."""
        change = self.pool.apply(entry)
        if change is None:
            return
        self._changes += 1
        self._since.append(change)
        if self._changes == self.settings.refresh_every:
            self._due, self._changes = RefreshJob.of(self.pool, self._X), 0
        if self._model is not None:
            self._model.learn(change)
            self.model_version = change.seq

    # The model

    def job(self) -> RefreshJob | None:
        """Return the fit that is due, or None. It holds copies: `run` it anywhere, with or without a lock."""
        return self._due if self._fitted is None or self._fitted < self._due.seq else None

    def adopt(self, refreshed: Refreshed) -> bool:
        """Put a fitted model in place, and let it apply the answers since.

        Returns False and does nothing if the current model was fitted to the same entry or a later one. The learner
        owns the model from then on."""
        if self._fitted is not None and refreshed.seq <= self._fitted:
            return False
        known = self._began_at, self.pool.seq
        if not known[0] <= refreshed.seq <= known[1]:
            raise ValueError(
                f"The model knows entry {refreshed.seq}, the learner only those from {known[0]} up to {known[1]}."
            )
        self._since = [change for change in self._since if change.seq > refreshed.seq]
        for change in self._since:
            refreshed.model.learn(change)
        self._model, self._fitted = refreshed.model, refreshed.seq
        self.model_version = self._since[-1].seq if self._since else refreshed.seq
        self._point = refreshed.point
        self.restore_curve([refreshed.point])
        return True

    def restore_curve(self, points: Iterable[LabelVectorPoint]) -> None:
        """Restore points of earlier models of this log, replacing those with the same entry.

        Points after the current model are dropped, since their answers no longer count."""
        by_seq = {point.seq: point for point in (*self._curve, *points)}
        last = self._fitted
        self._curve = [by_seq[seq] for seq in sorted(by_seq) if last is None or seq <= last]

    waits = False  # it needs no neighbours

    @property
    def has_model(self) -> bool:
        """Whether the model can predict yet."""
        return self._fitted is not None

    @property
    def proves_done(self) -> bool:
        """Whether "settled" is a proof about predictions, by the settings."""
        return self.settings.proves_done

    @property
    def version_published(self) -> int | None:
        """The entry that the current model was fitted to; None before the first."""
        return self._fitted

    # Questions

    def may_ask(self, row: int, annotator: str, label: str | None = None) -> bool:
        """Return whether this annotator can be asked about the row, or this label of it, now: it is not known, and they
        are not unsure about it. Skipped places can be asked about again."""
        row, _ = self.pool.check_row(row), self.pool.check_label(label)
        return self.pool.may_ask(Place(row, label), annotator)

    def get_ready(self) -> None:
        """Do nothing: the scores of all questions are stored between answers."""

    def next_question(
        self, annotator: str, exclude: Collection[int | tuple[int, str | None]] = frozenset(), *, ahead: int = 0
    ) -> LabelVectorQuestion | None:
        """Return the most useful question for this annotator, or None when nothing is left to ask them.

        exclude : rows, or (row, label) places, currently shown to other people
        ahead : number of entries assumed to come before the question, for the draw of blind checks; their content is
            unknown

        With probability `control_share`, and when nothing else is left, the next blind check. Else the best by the
        criterion of the settings, ties by row, then label. Never a test row, a bad item, a known label, or a label this
        annotator is unsure about. Labels they skipped come back after 20 further entries of theirs, or when nothing
        else is left, oldest skip first. If several people answer a label, those begun come first, and no one is asked
        twice.
        """
        pool = self.pool
        barred = {*as_places(exclude), *pool.standings.unsure(annotator)}
        resting = pool.standings.resting(annotator)
        allowed = pool.allowed(barred.union(resting), annotator, control=True)
        control = pool.controls_left(allowed)
        if control and pool.control_is_due(ahead):
            return self.question_for(*control[0], annotator)
        begun = next(pool.begun(allowed), None)
        best = begun or self._chooser.best(self._model, allowed & pool.fresh() & ~pool.control_cells)
        if best is not None:
            return self.question_for(*best, annotator)
        if control:
            return self.question_for(*control[0], annotator)
        rested = pool.allowed(barred, annotator, control=True)
        for row, label in resting:
            if rested[row, slice(None) if label is None else pool.fold.column[label]].any():
                return self.question_for(row, label, annotator)
        return None

    def question_for(self, row: int, label: str | None = None, annotator: str | None = None) -> LabelVectorQuestion:
        """Return the question about one label of a row, or about the whole row, with the cells that this annotator
        sees.

        If people answer independently, it reveals nothing about other answers to the row: probabilities are then the
        frequencies of the labels in all other rows. Raises AnswerError for test rows, bad items and labels that do not
        exist.
        """
        pool, model = self.pool, self._model
        column, row = pool.check_label(label), pool.check_asked(row)
        cells, begun = pool.cells_for(row, annotator), pool.has_begun(row, annotator)
        own = pool.control_cells[row]
        blind = bool(own.any() if column is None and self._chooser.by_row else column is not None and own[column])
        hidden = begun
        if blind:  # no model learns from it, so it looks like an ordinary question in its place
            hidden = (begun and bool((pool.answered[row] & ~own).any())) or self._begun_waits(annotator)
        says = model is not None and not hidden
        shares = model.proba([row])[0] if model is not None and says else frequencies(pool, row if hidden else None)
        shares = np.where(cells == UNKNOWN, shares, cells)
        predicted = None
        if model is not None and says:
            yes = shares > model.threshold
            asked = [name for name, said in zip(pool.classes, yes & (cells == UNKNOWN), strict=True) if said]
            predicted = json.dumps(asked) if column is None else ("yes" if yes[column] else "no")
        strategy, score = (CONTROL, pool.settings.control_share) if blind else (OVERLAP, 0.0)
        if not blind and not (begun and (column is None or pool.answered[row, column])):
            strategy, score = self._chooser.strategy(model), self._chooser.score_of(model, row, column)
        return LabelVectorQuestion(
            row=row,
            label=label,
            labels=pool.classes,
            probabilities=tuple(shares.tolist()),
            cells=tuple(cells.tolist()),
            strategy=strategy,
            score=score,
            model_version=self.model_version,
            predicted=predicted,
            undecided=int(pool.open.sum()),
        )

    def _begun_waits(self, annotator: str | None) -> bool:
        """Return whether this annotator is due to answer a row that others have begun; the model's shares are then
        hidden."""
        pool = self.pool
        if pool.several is None or annotator is None:
            return False
        return next(pool.begun(pool.allowed(pool.standings.put_aside(annotator), annotator)), None) is not None

    def ranking(self) -> tuple[IntArray, IntArray, FloatArray]:
        """Return (rows, columns, scores), as `PlaceChooser.ranking`."""
        return self._chooser.ranking(self._model)

    # State

    @property
    def seq(self) -> int:
        """Number of the last entry applied."""
        return self.pool.seq

    @property
    def done(self) -> bool:
        """Return whether nothing is left to ask."""
        return not self.pool.open.any()

    @property
    def curve(self) -> list[LabelVectorPoint]:
        """Return a new list with one point for each model fitted, the start first."""
        return list(self._curve)

    @property
    def cells(self) -> AnyArray:
        """Return a copy of the current cells, int8 (n, L)."""
        return self.pool.cells.copy()

    def answers_per_label(self) -> dict[str, int]:
        """Return the number of rows that people marked each label right for; labels without any are left
        out."""
        counts = (self.pool.answered & (self.pool.cells == 1)).sum(axis=0).tolist()
        named = sorted(zip(self.classes, counts, strict=True), key=lambda one: -one[1])
        return {label: count for label, count in named if count}

    def checkpoint(self) -> dict[str, AnyArray]:
        """Return the state to resume from; models and their points of the curve are not included."""
        since = [change for change in self._since if change.seq > self._due.seq]
        return take(self.pool, self._due, since)

    def state(self, row: int) -> LabelVectorState:
        """Return the current state of one row."""
        return self.pool.state(row)

    def progress(self) -> LabelVectorProgress:
        """Return the progress of the work."""
        pool, model = self.pool, self._model
        sample, shares = pool.control_sample(), None if model is None else model.proba()
        asked = None if shares is None else shares[sample.rows, sample.columns]
        threshold, unknown = EVEN if model is None else model.threshold, pool.unknown
        return LabelVectorProgress(
            answers=pool.answers,
            by_kind=tuple(pool.counts.items()),
            answered=int((pool.answered.any(axis=1) | pool.bad).sum()),
            answered_cells=int(pool.answered.sum()),
            bad=int(pool.bad.sum()),
            unasked=int(unknown.sum()),
            ambiguous_left=int(unknown.any(axis=1).sum()),
            share_known=pool.share_known,
            entropy=None if shares is None else entropy_of(shares[unknown]),
            held_out=None if self._point is None else self._point.held_out,
            control=control_estimate(sample, asked, self._chooser.by_row, threshold),
            n_control=int(pool.control_cells.sum()),
            n_train=int((~self.test_rows).sum()),
            n_test=int(self.test_rows.sum()),
            model_version=self.model_version,
            predictor=None if model is None else model.predictor,
            comparison=None if model is None else model.comparison,
            threshold=threshold,
            fitted=self._fitted,
        )

    @property
    def share_settled(self) -> float:
        """Return the share, in [0, 1], of the initial uncertainty that is gone, by the latest fit of the model.

        Each label that was empty at import counts one bit at first. Later it counts its entropy under the model, and 0
        once it is known. Before the first fit it counts one bit or 0.
        """
        if self.done:
            return 1.0
        curve = self.curve
        left = curve[-1].entropy if curve else float(self.pool.open.sum())
        return 1 - left / max(self.pool.n_holes, 1)

    def shares_of(self, rows: IntArray) -> tuple[FloatArray, float] | None:
        """Return (r, L) the model's probability of yes in these rows, and the threshold above which it predicts yes.
        Only unknown cells are meaningful. None before the first model."""
        return None if self._model is None else (self._model.proba(rows), self._model.threshold)

    def export_cells(self, rows: IntArray | None = None) -> LabelVectorExport:
        """Return every cell of these rows with its probability and its source. rows : None for all"""
        model, heard = self._model, self.heard()
        if model is None:
            return export_of(self.pool, rows=rows, heard=heard)
        proba = model.proba() if rows is None else model.proba(rows)
        return export_of(self.pool, proba, model.threshold, rows, heard)

    def heard(self) -> HeardCells | None:
        """Return the labels that several people answer, computed once per entry; None if people do not answer
        independently."""
        if self._heard is None or self._heard[0] != self.seq:
            self._heard = self.seq, heard_cells(self.pool)
        return self._heard[1]
