"""The rows of a project: which are held out, their candidates after all answers, and the questions each annotator can
get.

Everything here is determined by table, settings and log, independent of the model.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from functools import cached_property
from typing import NamedTuple, TypeVar

import numpy as np

from plcore.arrays.candidate_sets import lowest_of, read_only, set_exact
from plcore.arrays.types import BOTH, AnyArray, BoolArray, Features, FloatArray, IntArray, Table
from plcore.evaluation.estimates import ControlCounts
from plcore.labels.candidates import kept_candidates
from plcore.labels.set_masses import read_sources, show_in_sets
from plcore.labels.weights import weights_after_answers
from plcore.loop.base import Pool, row_batches
from plcore.loop.changes import ClassChange, batches_of
from plcore.loop.classes import ClassMap, with_classes
from plcore.loop.entries import Entry, EntryKind, Place
from plcore.loop.one_label.asked import RowsForSeveral, RowsToAsk
from plcore.loop.one_label.fold import ANSWERS, KINDS, CandidateFold, Narrowing, fold_under
from plcore.loop.one_label.heard import undecided_rows
from plcore.loop.one_label.reports import CurvePoint, RowState
from plcore.loop.one_label.settings import LearnerSettings
from plcore.loop.one_label.several import View
from plcore.loop.standings import Standings

# Number of correct predictions for held-out rows, updated incrementally: it is needed after every answer.

_TEST, _ASKED, _FREE = range(3)
"""Groups of held-out rows: test rows; control rows with at least two candidates at first; other control rows."""


class HeldScore:
    """Known labels of the held-out rows of a pool, and a model's predictions for them.

    test : bool (n_held,), test rows; the others are control rows
    ambiguous : bool (n_held,), rows with at least two candidates at first
    known : (n_held,) their known labels, else -1; not copied
    said : (n_held,) the predicted class of each, -1 for none; None: there is no model yet. Do not write to it
    n_test : number of test rows
    """

    def __init__(self, test: BoolArray, ambiguous: BoolArray, known: IntArray, said: IntArray | None = None) -> None:
        self._group = np.where(test, _TEST, np.where(ambiguous, _ASKED, _FREE))
        self._label = known
        self.n_test = int(np.count_nonzero(test))
        self._known: IntArray = np.zeros(3, dtype=np.int64)
        self._right: IntArray = np.zeros(3, dtype=np.int64)
        self.said = said
        self._count(slice(None), 1)

    def learn(self, place: int, candidates: BoolArray) -> None:
        """Record the current candidates (m,) of the control row at this place among the held-out rows; a single one is
        its label."""
        self._count([place], -1)
        self._label[place] = candidates.argmax() if np.count_nonzero(candidates) == 1 else -1
        self._count([place], 1)

    def say(self, places: IntArray, labels: IntArray) -> None:
        """Record new predictions (r,) for the rows at these places (r,). There must be predictions already."""
        assert self.said is not None  # noqa: S101 - by the model
        self._count(places, -1)
        self.said[places] = labels
        self._count(places, 1)

    def say_all(self, said: IntArray) -> None:
        """Record new predictions (n_held,) for all rows, without a copy."""
        self.said = said
        self._known[:] = self._right[:] = 0
        self._count(slice(None), 1)

    @property
    def control(self) -> ControlCounts:
        """Counts of the controls with a known label, and of those the model predicts correctly."""
        return ControlCounts(
            right_asked=int(self._right[_ASKED]),
            asked=int(self._known[_ASKED]),
            right_free=int(self._right[_FREE]),
            free=int(self._known[_FREE]),
        )

    @property
    def accuracy(self) -> float | None:
        """Accuracy on the test rows; None without test rows or without a model."""
        if not self.n_test or self.said is None:
            return None
        return int(self._right[_TEST]) / self.n_test

    def _count(self, places: Sequence[int] | AnyArray | slice, sign: int) -> None:
        """Add the counts of these rows, or subtract them. places : (r,) or a slice"""
        label, group = self._label[places], self._group[places]
        known = label >= 0
        self._known += sign * np.bincount(group[known], minlength=3)
        if self.said is not None:
            right = known & (self.said[places] == label)
            self._right += sign * np.bincount(group[right], minlength=3)


# Numbers of answered, open and waiting rows, updated incrementally: they are needed with every question.


class RowStanding(NamedTuple):
    """State of one row.

    answered : it has an answer that counts      waits : someone can be asked about it
    open : it waits and counts as open      fresh : a strategy may choose it
    """

    answered: bool
    waits: bool
    open: bool
    fresh: bool


class RowCounts:
    """Counts over the rows of a pool.

    asked : the rows that wait for annotators      train : row numbers of training rows
    test_rows, answered : bool (n,), the latter as in `RowStanding`

    Attributes
    ----------
    answered : number of rows with an answer that counts      done : number of them that are not open
    open : number of open rows, without test rows      waiting : number of waiting training rows
    fresh : bool (n_train,), training rows that a strategy may choose. Do not write to it.
    """

    def __init__(self, asked: RowsToAsk, train: IntArray, test_rows: BoolArray, answered: BoolArray) -> None:
        is_open = asked.open()
        self.answered = int(np.count_nonzero(answered))
        self.done = int(np.count_nonzero(answered & ~is_open))
        self.fresh: BoolArray = asked.fresh()[train]
        self.waiting = int(np.count_nonzero(asked.waiting()[train]))
        self.open = int(np.count_nonzero(is_open & ~test_rows))

    def note(self, place: int | None, test: bool, before: RowStanding, after: RowStanding) -> None:
        """Update the counts after an entry changed a row from `before` to `after`. place : its place among the training
        rows; None for held-out rows"""
        self.answered += after.answered - before.answered
        self.done += (after.answered and not after.open) - (before.answered and not before.open)
        if not test:
            self.open += after.open - before.open
        if place is not None:
            self.waiting += after.waits - before.waits
            self.fresh[place] = after.fresh


TableT_co = TypeVar("TableT_co", bound=Table, covariant=True)

RESTS = (EntryKind.SKIP, EntryKind.AMONG, EntryKind.NONE)
"""Kinds of entries after which their annotator has said all they can about a row for now."""


class CandidateChange(NamedTuple):
    """Change of a row's candidates by an entry."""

    row: int
    old: BoolArray  # (m,)
    new: BoolArray  # (m,)


class OneLabelPool(Pool[TableT_co, LearnerSettings, CandidateFold]):
    """The candidates of every row after the entries so far. Models never learn from test rows and control rows, which
    are held out.

    changes : all changes of the classes in the log (`plcore.loop.classes`); `table` and `classes` include them
    controls : numbers of the control rows to use instead of drawn ones; None: draw them
    test_rows : bool (n,), a seeded share of the rows with a true label; never asked about
    control_rows : bool (n,), a seeded uniform share of all other rows without an exact label. They are sometimes asked
        as blind checks, so that their answers measure the model; those with one candidate need no question.
    train, held : row numbers, ascending      place : (n,) the place of each row in `train` or in `held`
    share_ambiguous : share of rows with at least two candidates at first, among the rows that control rows are drawn
        from
    answered, by_verdict : bool (n,), rows with an answer that counts; rows resolved by a verdict
    changed_at : (n,) seq of the unwithdrawn entry that last changed each row, 0 for none
    original, first, candidates : bool (n, m), or large ones as `CandidateSets`: at import, before any answer, and now,
        none for a bad item. Do not write to them.
    sizes, sizes_at_first : (n,) number of candidates now and before any answer. Do not write to them.
    """

    KINDS = KINDS

    def __init__(
        self,
        table: TableT_co,
        settings: LearnerSettings,
        changes: Iterable[ClassChange] = (),
        controls: IntArray | None = None,
    ) -> None:
        self.class_map = ClassMap(table.classes, changes)
        roots = self.class_map.rooted(table.candidates)
        self.table = table = with_classes(table, self.class_map)
        self.settings = settings
        self.classes = tuple(table.classes)
        self.original = kept_candidates(table.candidates, copied=False)
        n = len(self.original)
        truth = table.truth
        self.truth: IntArray = np.broadcast_to(-1, n) if truth is None else np.array(truth, dtype=np.int64)
        self.batches = row_batches(n, batches_of(self.class_map.changes))
        self.changed_until = self.class_map.seq
        self.test_rows = self._draw_test_rows(self.truth >= 0)
        self.exact = (self.truth >= 0) & ~self.test_rows & (settings.truth_role == "given")
        self.first = first = self.original.copy() if self.exact.any() else self.original
        set_exact(first, np.flatnonzero(self.exact), self.truth[self.exact])
        self.sizes_at_first: IntArray = first.sum(axis=1)
        drawn = self._draw_control_rows() if controls is None else controls
        self.control_rows = np.isin(np.arange(n), drawn)
        self._control_order = drawn[self.sizes_at_first[drawn] >= 2]
        for shared in (self.original, self.test_rows, self.control_rows, self.first):
            read_only(shared)  # callers get these arrays themselves
        held = self.test_rows | self.control_rows
        self.train, self.held = np.flatnonzero(~held), np.flatnonzero(held)
        self.place: IntArray = np.where(held, np.cumsum(held), np.cumsum(~held)) - 1

        closed = dict.fromkeys(np.flatnonzero(self.test_rows).tolist(), "it is held out to measure accuracy")
        closed |= dict.fromkeys(np.flatnonzero(self.exact).tolist(), "its exact label was given at import")
        self.candidates = first.copy()
        self.sizes = self.sizes_at_first.copy()
        among = self.sizes_at_first[~self.test_rows & ~self.exact]
        self.share_ambiguous = float((among >= 2).mean()) if len(among) else 0.0
        self.asked = RowsToAsk(self.sizes)
        if settings.several:
            several = self._drawn_for_several()
            self.asked = RowsForSeveral(settings, first, several, self.control_rows, held)
        self.fold = fold_under(self.class_map, roots, first, closed, self.asked.rule)
        self.standings = Standings(self.fold, lambda _: (None,), RESTS, self.class_map.aside)
        self.seq, self.answers = 0, 0  # unwithdrawn answers
        self.answered, self.bad, self.by_verdict = np.zeros((3, n), dtype=bool)
        self.changed_at: IntArray = np.zeros(n, dtype=np.int64)
        self.narrowing = Narrowing(self.sizes_at_first, held)
        self.counts = RowCounts(self.asked, self.train, self.test_rows, self.answered)

    def _draw_control_rows(self) -> IntArray:
        """Return the control rows in the order in which they are asked about."""
        free = ~self.test_rows & ~self.exact
        first, *later = (self._drawn(free, batch, self.settings.control_share, 2) for batch in self.batches)
        left = int((~self.test_rows[: len(self.batches[0])]).sum()) - 1  # one row must be left to train
        return np.concatenate([first[:left], *later])

    # Entries

    def apply(self, entry: Entry) -> list[CandidateChange]:
        """Apply one entry and return its changes, row by row. Raises AnswerError, and changes nothing, if the entry is
        impossible.

        Old equals new if only `changed_at` has changed, such as when the first of two equal answers is withdrawn.
        """
        self.check(entry)
        kind = entry.kind if entry.target is None else self.fold.entry(entry.target).kind
        self.fold.add(entry)
        self.standings.record(entry)
        self.seq = entry.seq
        if kind not in ANSWERS:
            return []
        self.answers += 1 if entry.target is None else -1
        row = int(entry.row)
        before = self._stood(row)
        others = self.asked.take(row, self.fold)
        changes = [self._fold_anew(row, before), *(self._fold_anew(one, self._stood(one)) for one in others)]
        return [change for change in changes if change is not None]

    def _fold_anew(self, row: int, before: RowStanding) -> CandidateChange | None:
        """Fold the entries of a row again and update the counts; return the change, or None. before : the row's state
        before the entry"""
        change, held = self._take_up(row), self.test_rows[row] or self.control_rows[row]
        place = None if held else int(self.place[row])
        self.counts.note(place, bool(self.test_rows[row]), before, self._stood(row))
        return change

    def _stood(self, row: int) -> RowStanding:
        return RowStanding(bool(self.answered[row]), *self.asked.of_row(row))

    def _take_up(self, row: int) -> CandidateChange | None:
        """Do the work of `_fold_anew`, except for the counts."""
        folded = self.fold.fold(row)
        self.asked.settle(row, folded)
        self.answered[row] = folded.answer is not None
        self.bad[row] = folded.out
        self.by_verdict[row] = folded.answer is not None and folded.answer.kind == EntryKind.VERDICT
        new, old = folded.votes, self.candidates[row].copy()
        since, self.changed_at[row] = self.changed_at[row], self.fold.changed_at(row)
        if np.array_equal(new, old) and since == self.changed_at[row]:
            return None
        self.narrowing.note(row, int(self.sizes[row]), int(new.sum()))
        self.candidates[row] = new
        self.sizes[row] = new.sum()
        return CandidateChange(row, old, new)

    @cached_property
    def named_sources(self) -> IntArray | None:
        """Source of each row (n,), such as a photo, and a unique number for rows without one. None if the table has no
        sources, or no two rows share one."""
        named: IntArray | None = getattr(self.table, "sources", None)
        return None if named is None else read_sources(np.where(named < 0, np.nan, named), len(named))

    @cached_property
    def sources(self) -> IntArray | None:
        """Sources of the rows (n,), as `named_sources`, if the candidate sets at import come from them
        (`plcore.labels.set_masses.show_in_sets`); else None."""
        sources = self.named_sources
        if sources is None or not show_in_sets(sources, self.original[np.arange(len(sources))]):
            return None
        return sources

    def make_features(self, use: str | None = None) -> Features:
        """Return the unfitted features of the table. use : one of `FEATURE_SETS`; None: those of the settings"""
        use = use or self.settings.features_in_force
        return self.table.features() if use == BOTH else self.table.features(use)

    def weights_of(self, rows: IntArray, candidates: BoolArray) -> FloatArray | None:
        """Return (r, m) weights of these candidates (r, m) of rows; None if all count alike.

        They come from the model of the annotators if it has answers to the row, else from the table."""
        return self.asked.weights(rows, candidates, self.imported_weights(rows, candidates))

    def imported_weights(self, rows: IntArray, candidates: BoolArray) -> FloatArray | None:
        """Return the weights as `weights_of`, from the table alone."""
        weights = self.table.candidate_weights
        return None if weights is None else weights_after_answers(weights[rows], candidates)

    # Questions that may be asked, and answers by person

    def views(self, row: int) -> Sequence[View]:
        """Return each person's view of a row if people answer independently, without verdicts."""
        return self.asked.views(self.check_row(row))

    def disputed(self) -> Mapping[int, float]:
        """Return {row: degree of disagreement, above 0 to 1} of the disputed rows (`.several.disagreement`)."""
        return self.asked.disputed()

    def is_open(self, row: int, label: str | None = None) -> bool:
        """Return whether the row can be asked about: it has at least two candidates or, with independent answers, not
        enough answers. Single labels of a row cannot."""
        return self.places_left(Place(row, label)) > 0

    def places_left(self, place: Place) -> int:
        """Return how many people may be asked about the row at the same time: one, or those still to answer."""
        closed = place.label is not None or self.test_rows[place.row]
        return 0 if closed else self.asked.places_left(place.row)

    def may_ask(self, place: Place, annotator: str) -> bool:
        """Return whether this annotator can be asked about the place. With independent answers, no one is asked
        twice."""
        return super().may_ask(place, annotator) and not self.asked.is_over(place.row, annotator)

    def candidates_for(self, row: int, annotator: str | None) -> BoolArray:
        """Return (m,) the candidates that this annotator sees; None: the candidates after all answers."""
        if annotator is None or self.asked.rule is None:
            return np.asarray(self.candidates[row])
        return self.fold.view(row, self.fold.entries(row), annotator).votes

    def own_entries(self, row: int, annotator: str) -> list[Entry]:
        """Return the entries of a row that this annotator knows: their own, or all if each answer builds on the
        previous ones."""
        entries = self.fold.entries(row)
        return entries if self.asked.rule is None else [one for one in entries if one.annotator == annotator]

    def fresh(self) -> BoolArray:
        """Return (n,) the rows that a strategy may choose, including test rows."""
        return self.asked.fresh()

    def begun(self, annotator: str) -> Iterator[int]:
        """Return training rows that wait for an answer of this annotator and already have others, ordered by their
        first answer. Rows that the annotator has put off are left out."""
        late = {place.row for place in self.standings.put_aside(annotator)}
        waiting = (row for row in self.asked.begun() if row not in late)
        return (row for row in waiting if not self.asked.is_over(row, annotator))

    def control_left(self) -> IntArray:
        """Return the control rows that are still to be asked about, in drawn order."""
        return np.asarray(self._control_order[self.asked.waiting()[self._control_order]])

    # State

    def known(self) -> IntArray:
        """Return (n_held,) the known label of each held-out row, true, given or answered; else -1."""
        label = np.where(self.sizes[self.held] == 1, lowest_of(self.candidates, self.held), -1)
        return np.where(self.test_rows[self.held], self.truth[self.held], label)

    def held_score(self, said: IntArray | None = None) -> HeldScore:
        """Return the score of a model with these predictions (n_held,) for the held-out rows; None: no model yet."""
        return HeldScore(self.test_rows[self.held], self.sizes_at_first[self.held] >= 2, self.known(), said)

    def point(
        self, score: HeldScore, settled: float | None, model_version: int, progressive_error: float | None = None
    ) -> CurvePoint:
        """Return the curve point of a model with this score.

        settled : share of the decisions that no answer can change; None if the model proves none: it is then the share
            of initially ambiguous training rows that have one label now, or are bad items
        """
        return CurvePoint(
            seq=self.seq,
            answers=self.answers,
            accuracy=score.accuracy,
            settled=self.narrowing.settled if settled is None else settled,
            candidates_left=self.narrowing.left,
            model_version=model_version,
            control=score.control,
            progressive_error=progressive_error,
        )

    @property
    def n_answered(self) -> int:
        """Number of rows that are not open and have an answer that counts: at most one candidate is left, or no one is
        still to answer."""
        return self.counts.done

    @property
    def n_open(self) -> int:
        """Number of rows, without test rows, that have at least two candidates or, with independent answers, need more
        answers."""
        return self.counts.open

    @property
    def n_begun(self) -> int:
        return 0 if self.asked.rule is None else self.counts.answered - self.counts.done

    @property
    def answered_rows(self) -> BoolArray:
        return self.answered

    @property
    def open_rows(self) -> BoolArray:
        return self.asked.waiting()

    @property
    def blind_rows(self) -> BoolArray:
        return self.control_rows

    def shown_to_all(self) -> BoolArray:
        """Return a new array bool (n,): rows whose answers left one label, without those that wait for more people, as
        for every pool."""
        held = self.test_rows | self.control_rows | self.asked.waiting()
        return np.asarray(self.answered & (self.sizes == 1) & ~self.bad & ~held)

    def answered_labels(self, row: int) -> tuple[str, ...]:
        return self.names(np.asarray(self.candidates[row]))

    def labels_shown(self, rows: Sequence[int]) -> tuple[tuple[str, ...], ...]:
        """Return the candidates of these rows, or the first candidates of rows that wait for more people, as for every
        pool."""
        hidden = self.asked.waiting() if self.settings.several else np.zeros(len(self.bad), dtype=bool)
        return tuple(self.names(self.first[row] if hidden[row] else self.candidates[row]) for row in rows)

    def labels_at(self, entry: Entry) -> tuple[str, ...]:
        """Return the candidates that the entry's annotator sees, as for every pool."""
        entries = self.fold.entries(entry.row)
        return self.names(self.fold.view(entry.row, entries, entry.annotator, entry.seq).votes)

    def state(self, row: int) -> RowState:
        """Return the current state of one row."""
        row = self.check_row(row)
        return RowState(
            row=row,
            original=self.names(self.original[row]),
            candidates=self.names(self.candidates[row]),
            bad=bool(self.bad[row]),
            test=bool(self.test_rows[row]),
            answer=self.fold.fold(row).answer,
            entries=tuple(self.fold.entries(row)),
        )

    def answers_per_label(self) -> dict[str, int]:
        """Return {label: number of rows that people's answers have narrowed to it}. Labels without any, pending rows
        and disputed rows are left out."""
        pending, disputed = undecided_rows(self)
        decided = self.answered & (self.sizes == 1) & ~pending & ~disputed
        narrowed = lowest_of(self.candidates, np.flatnonzero(decided))
        counts = np.bincount(narrowed, minlength=len(self.classes))
        order = np.argsort(-counts, kind="stable")[: np.count_nonzero(counts)]
        return {self.classes[label]: int(counts[label]) for label in order}

    def names(self, mask: BoolArray) -> tuple[str, ...]:
        """Return the names of the classes that are True in mask (m,)."""
        return tuple(self.classes[number] for number in np.flatnonzero(mask))
