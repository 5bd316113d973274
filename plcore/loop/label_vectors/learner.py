"""LabelVectorLearner: a table of label vectors with holes and log entries in, the next question out.

No database, no files, no clock, no thread. The same table, settings and entries always give the same pool, and with
the model fitted at the latest due entry the same state, whenever that fit came in.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping
from typing import Generic

import numpy as np

from plcore.common.types import AnyArray, FloatArray, IntArray
from plcore.loop.changes import ClassChange
from plcore.loop.entries import Entry
from plcore.loop.label_vectors import checkpoint as checkpoints
from plcore.loop.label_vectors.asking import PlaceChooser
from plcore.loop.label_vectors.estimates import control_estimate, entropy_of
from plcore.loop.label_vectors.export import LabelVectorExport, export_of
from plcore.loop.label_vectors.limits import check_fit
from plcore.loop.label_vectors.model import LabelVectorModel, Refreshed, RefreshJob
from plcore.loop.label_vectors.pool import LabelVectorPool, VectorChange
from plcore.loop.label_vectors.questions import question_of
from plcore.loop.label_vectors.reports import (
    LabelVectorPoint,
    LabelVectorProgress,
    LabelVectorQuestion,
    LabelVectorState,
)
from plcore.loop.label_vectors.settings import LabelVectorSettings
from plcore.loop.label_vectors.vector_table import TableT
from plcore.loop.places import Place, as_places
from plcore.sensing.threshold import EVEN


class LabelVectorLearner(Generic[TableT]):
    """The loop in two verbs, `apply(entry)` and `next_question(annotator)`, and a third for its model.

    An answer is taken in at once, at rank one. After every `refresh_every` answers that models learn from, and at
    the start, the model is due to be fitted anew: `refresh_due()` says to which entry, `job()` is that fit, which
    may run in another thread, and `adopt(job.run())` puts it in place, with the answers given meanwhile. Before the
    first is adopted questions are drawn at random. A learner rebuilt from the log that adopts the latest fit due
    equals the one that lived through it, once that one has adopted the same.

    checkpoint : what `checkpoint()` of an earlier one gave, of the same table, settings and changes; it goes on there
    """

    def __init__(
        self,
        table: TableT,
        settings: LabelVectorSettings | None = None,
        changes: Iterable[ClassChange] = (),
        checkpoint: Mapping[str, AnyArray] | None = None,
    ) -> None:
        self.settings = settings = settings or LabelVectorSettings()
        self.pool: LabelVectorPool[TableT] = LabelVectorPool(table, settings, changes)
        self.table, self.classes, self.original = table, self.pool.classes, self.pool.original
        self.test_rows = self.pool.test_rows
        self._features = table.features()
        self._features.fit(table, np.flatnonzero(~self.test_rows))
        self._X = self._features.transform(table, np.arange(len(self.original)))
        self._model: LabelVectorModel | None = None
        self._since: list[VectorChange] = []  # changes after the entry that the model was fitted to
        if checkpoint is None:
            self._due = RefreshJob.of(self.pool, self._X)  # the latest, also once it is in place
        else:
            self._due, self._since = checkpoints.put_back(self.pool, self._X, checkpoint)
        self._began_at = self._due.seq  # what has changed before it, no model can be told any more
        self._changes = len(self._since)  # after the latest fit that was due
        self._fitted: int | None = None
        self._curve: list[LabelVectorPoint] = []
        self._point: LabelVectorPoint | None = None  # of the model in place
        self._chooser = PlaceChooser(self.pool)
        self.model_version = 0

    @classmethod
    def rebuilt(
        cls, table: TableT, settings: LabelVectorSettings, entries: Iterable[Entry]
    ) -> LabelVectorLearner[TableT]:
        """The learner after these entries with the model that is due: as one that lived through them will be."""
        learner = cls(table, settings)
        for entry in entries:
            learner.apply(entry)
        if (job := learner.job()) is not None:
            learner.adopt(job.run())
        return learner

    def check_fit(self, memory: int | None = None) -> None:
        """Raise ValueError, saying what to do, where the features are too many or too large for `memory` bytes."""
        check_fit(self._X, self._features.feature_names_, memory)

    # Entries

    def check(self, entry: Entry) -> None:
        """Raise AnswerError if `apply` would refuse the entry; changes nothing."""
        self.pool.check(entry)

    def apply(self, entry: Entry) -> None:
        """Take in one entry. Raises AnswerError, and changes nothing, if it is impossible (see `.fold`)."""
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

    def refresh_due(self) -> int | None:
        """The entry up to which the model is due to be fitted anew (0: the start); None while no fit is due."""
        job = self.job()
        return None if job is None else job.seq

    def job(self) -> RefreshJob | None:
        """The fit that is due, None where none is. It holds copies: `run` it anywhere, with or without a lock."""
        return self._due if self._fitted is None or self._fitted < self._due.seq else None

    def adopt(self, refreshed: Refreshed) -> bool:
        """Put a fitted model in place, and let it take in the answers since. False, and nothing happens, where the
        model in place was fitted to the same entry or a later one. The model belongs to the learner from then on."""
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
        """Take in points of models of this log that were kept elsewhere; one that is there already is replaced. The
        curve ends with the model in place: of later ones, whose answers do not count any more, nothing is said."""
        by_seq = {point.seq: point for point in (*self._curve, *points)}
        last = self._fitted
        self._curve = [by_seq[seq] for seq in sorted(by_seq) if last is None or seq <= last]

    @property
    def version_published(self) -> int | None:
        """The entry the model in place was fitted to; None before the first."""
        return self._fitted

    # Questions

    def may_ask(self, row: int, annotator: str, label: str | None = None) -> bool:
        """Whether this annotator can be asked about the row, or this label of it, now: it is not known, and they are
        not unsure about it. What they skipped can be asked again."""
        row, _ = self.pool.check_row(row), self.pool.check_label(label)
        return self.pool.may_ask(Place(row, label), annotator)

    def get_ready(self) -> None:
        """Nothing: the scores of all questions are kept from one answer to the next."""

    def next_question(
        self,
        annotator: str,
        exclude: Collection[int | tuple[int, str | None]] = frozenset(),
        *,
        ahead: int = 0,
    ) -> LabelVectorQuestion | None:
        """The question that matters most for this annotator, or None when nothing is left to ask them.

        exclude : rows, or (row, label) places, before other people now
        ahead : entries that come in between, as far as the draw of blind checks goes; what they say is not known
        With probability `control_share`, and when nothing else is left, the next blind check. Else the best by the
        criterion of the settings, ties by row, then label. Never a test row, a bad item, a label that is known, or
        what this annotator is unsure about; what they skipped comes back after 20 further entries of theirs, or when
        nothing else is left, the oldest skip first. Where several people answer a label, what was begun comes before
        all that is new, and nobody is asked twice.
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

    def question_for(
        self, row: int, label: str | None = None, annotator: str | None = None
    ) -> LabelVectorQuestion:
        """The question about one label of a row, or about all of it, with the cells that are before this annotator.

        Where people answer for themselves it tells nothing of what others said of the row: probabilities are then the
        frequencies of the labels in all other rows. Raises AnswerError for test rows, bad items and labels that do not
        exist.
        """
        return question_of(self.pool, self._chooser, self._model, self.model_version, row, label, annotator)

    def ranking(self) -> tuple[IntArray, IntArray, FloatArray]:
        """(rows, columns, scores), as `PlaceChooser.ranking`."""
        return self._chooser.ranking(self._model)

    # How things stand

    @property
    def seq(self) -> int:
        """Number of the last entry taken in."""
        return self.pool.seq

    @property
    def done(self) -> bool:
        """Whether nothing is left to ask."""
        return not self.pool.open.any()

    @property
    def curve(self) -> list[LabelVectorPoint]:
        """One point for each model fitted, the start first; a new list."""
        return list(self._curve)

    @property
    def cells(self) -> AnyArray:
        """(n, L) int8 cells now, a copy."""
        return self.pool.cells.copy()

    def cells_of(self, row: int) -> AnyArray:
        """(L,) int8, a copy: 1, 0, -1 not asked."""
        return np.array(self.pool.cells[self.pool.check_row(row)])

    def answer_of(self, row: int) -> Entry | None:
        """The latest answer that counts for this row, or None."""
        return self.pool.fold.fold(self.pool.check_row(row)).answer

    def answers_per_label(self) -> dict[str, int]:
        """How many rows people have said each label is right for; labels without any are left out."""
        counts = (self.pool.answered & (self.pool.cells == 1)).sum(axis=0).tolist()
        named = sorted(zip(self.classes, counts, strict=True), key=lambda one: -one[1])
        return {label: count for label, count in named if count}

    def checkpoint(self) -> dict[str, AnyArray]:
        """What the entries so far have made of it; models, and their points of the curve, are not in it."""
        since = [change for change in self._since if change.seq > self._due.seq]
        return checkpoints.take(self.pool, self._due, since)

    def state(self, row: int) -> LabelVectorState:
        """One row as it stands."""
        return self.pool.state(row)

    def progress(self) -> LabelVectorProgress:
        """Where the work stands."""
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

    def shares_of(self, rows: IntArray) -> tuple[FloatArray, float] | None:
        """(r, L) the model's probability of yes in these rows, and above which it says yes; of known cells it says
        nothing. None before the first model."""
        return None if self._model is None else (self._model.proba(rows), self._model.threshold)

    def export_cells(self, rows: IntArray | None = None) -> LabelVectorExport:
        """Every cell of these rows with its probability and where it comes from. rows : None for all"""
        model = self._model
        if model is None:
            return export_of(self.pool, rows=rows)
        proba = model.proba() if rows is None else model.proba(rows)
        return export_of(self.pool, proba, model.threshold, rows)
