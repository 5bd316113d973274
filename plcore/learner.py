"""ActiveLearner: a table and log entries in, the next question out. No database, no files, no clock.

The same table, settings and entries in the same order always give the same state and the same next question.
After an entry only what it touches is computed again: the votes and effect scores of the targets near its
row, and the held-out rows near it.
"""

from __future__ import annotations

from collections.abc import Collection, Sequence
from typing import Any, Generic, Protocol, TypeVar

import numpy as np

from plcore._types import BoolArray, FloatArray, IntArray
from plcore.candidates import check_candidates
from plcore.fold import ANSWERS, AnswerError, AnswerFold, Entry
from plcore.graph import NeighborGraph
from plcore.neighbors import votes_to_distributions
from plcore.query.ranker import EffectRanker
from plcore.query.sets import sets_in_blocks
from plcore.reports import CurvePoint, Disambiguation, LearnerSettings, Progress, Question, RowState
from plcore.standing import Standings
from plcore.votes import VoteTable


class Features(Protocol):
    """What turns rows of a table into numbers, fitted on training rows only."""

    def fit(self, table: Any, rows: Any) -> Any: ...
    def transform(self, table: Any, rows: Any) -> Any: ...


class Table(Protocol):
    """What the learner needs of a `plcore.table.LabelTable`."""

    @property
    def candidates(self) -> BoolArray: ...
    @property
    def classes(self) -> Sequence[str]: ...
    @property
    def truth(self) -> IntArray | None: ...
    def features(self) -> Features: ...


TableT = TypeVar("TableT", bound=Table)


class ActiveLearner(Generic[TableT]):
    """The loop in two verbs: `apply(entry)` and `next_question(annotator)`.

    The model is PL-KNN (`PLKNeighborsClassifier`) on the table's features; questions go by effect score over
    the rows that are ambiguous now. Test rows, a seeded share of those with a true label, are never asked,
    never trained on and no targets.
    """

    def __init__(self, table: TableT, settings: LearnerSettings | None = None) -> None:
        self.settings = settings = settings or LearnerSettings()
        self.table = table
        self.classes = tuple(table.classes)
        self.original, _ = check_candidates(table.candidates)
        n = len(self.original)
        truth = table.truth
        self._truth: IntArray = np.full(n, -1) if truth is None else np.array(truth, dtype=np.int64)
        self.test_rows = self._draw_test_rows()
        self._exact = (self._truth >= 0) & ~self.test_rows & (settings.truth_role == "given")
        first = self.original.copy()
        first[self._exact] = np.eye(len(self.classes), dtype=bool)[self._truth[self._exact]]
        closed = dict.fromkeys(
            np.flatnonzero(self.test_rows).tolist(), "it is held out to measure the accuracy"
        )
        closed |= dict.fromkeys(np.flatnonzero(self._exact).tolist(), "its exact label was given at import")
        self._fold = AnswerFold(first, self.classes, closed)
        self._standings = Standings(self._fold)
        self._candidates = first.copy()
        for shared in (self.original, self.test_rows):
            shared.flags.writeable = False  # callers see these arrays themselves

        # The rows of model and ranker are the training rows; `_place` leads from a row to its place there.
        self._train = np.flatnonzero(~self.test_rows)
        self._test = np.flatnonzero(self.test_rows)
        self._place = np.cumsum(~self.test_rows) - 1
        features = table.features()
        features.fit(table, self._train)
        graph = NeighborGraph(
            features.transform(table, self._train), settings.n_neighbors, settings.weights, scaling=None
        )
        neighbors, weights = graph.own_neighbors()
        self._ranker = EffectRanker(rule=settings.strategy, n_neighbors=settings.n_neighbors)
        self._ranker.fit_graph(neighbors, weights, first[self._train], np.arange(len(self._train)))
        unseen = (
            np.zeros((0, graph.n_neighbors), dtype=np.int64),
            np.zeros((0, graph.n_neighbors), dtype=np.int64),
        )
        if len(self._test):
            unseen = graph.neighbors_of(features.transform(table, self._test))
        self._test_votes = VoteTable(*unseen, first[self._train])
        self._right = self._is_right(np.arange(len(self._test)))

        self.seq = 0
        self.model_version = 0
        self._answers = 0
        self._answered = np.zeros(n, dtype=bool)
        self._bad = np.zeros(n, dtype=bool)
        self._curve = [self._curve_point()]

    def _draw_test_rows(self) -> BoolArray:
        known = np.flatnonzero(self._truth >= 0)
        # At least one row is left to learn from.
        count = min(int(self.settings.test_share * len(known) + 0.5), len(self._truth) - 1)
        test = np.zeros(len(self._truth), dtype=bool)
        test[np.random.default_rng(self.settings.seed).permutation(known)[:count]] = True
        return test

    def _is_right(self, tests: IntArray) -> BoolArray:
        """Whether these held-out rows (places in `_test`) are predicted right; no votes at all is wrong."""
        votes = self._test_votes.votes[tests]
        return np.asarray((votes.argmax(axis=1) == self._truth[self._test[tests]]) & votes.any(axis=1))

    # The two verbs

    def check(self, entry: Entry) -> None:
        """Raise AnswerError if `apply` would refuse the entry; changes nothing."""
        if entry.seq <= self.seq:
            raise AnswerError(
                f"Entry {entry.seq} comes too late: entries up to {self.seq} are applied. "
                "Entries must come in the order of seq, each once."
            )
        self._fold.check(entry)

    def apply(self, entry: Entry) -> None:
        """Take in one entry. Raises AnswerError, and changes nothing, if it is impossible (see `plcore.fold`)."""
        self.check(entry)
        kind = entry.kind if entry.target is None else self._fold.entry(entry.target).kind
        self._fold.add(entry)
        self._standings.record(entry)
        self.seq = entry.seq
        if kind not in ANSWERS:
            return
        self._answers += 1 if entry.target is None else -1
        row = int(entry.row)
        folded = self._fold.fold(row)
        self._answered[row] = folded.answer is not None
        self._bad[row] = folded.out
        new, old = folded.votes, self._candidates[row].copy()
        if np.array_equal(new, old):
            return
        self._candidates[row] = new
        place = int(self._place[row])
        self._ranker.update(place, new)
        touched = self._test_votes.update(place, old, new)
        self._right[touched] = self._is_right(touched)
        self.model_version = entry.seq
        self._curve.append(self._curve_point())

    def candidates_after(self, entry: Entry) -> BoolArray:
        """(m,) the row's candidates if this entry were applied. Raises AnswerError as `check`; changes nothing."""
        self.check(entry)
        return self._fold.fold_with(entry).votes

    def may_ask(self, row: int, annotator: str) -> bool:
        """Whether the row can be put before this annotator now: open, not set aside by them. A skipped row can."""
        row = self._check_row(row)
        left = int(self._candidates[row].sum())
        return left >= 2 and not self.test_rows[row] and row not in self._standings.unsure(annotator)

    def next_question(self, annotator: str, exclude: Collection[int] = frozenset()) -> Question | None:
        """The question that matters most for this annotator, or None when nothing is left to ask them.

        exclude : rows not to be asked now, such as those shown to somebody else
        Rows with the highest effect score come first, ties by row number. Never a row that is held out, bad,
        has one candidate, or that this annotator is unsure about; rows they skipped come back after 20
        further entries of theirs, or when nothing else is left, the oldest skip first.
        """
        barred = set(exclude) | self._standings.unsure(annotator)
        resting = [row for row in self._standings.resting(annotator) if row not in barred]
        allowed = ~self.test_rows
        allowed[list(barred)] = False
        allowed[resting] = False
        best = self._ranker.next(1, among=allowed[self._train])
        if len(best):
            return self.question_for(int(self._train[best[0]]))
        left = self._candidates.sum(axis=1) >= 2
        return next((self.question_for(row) for row in resting if left[row]), None)

    def question_for(self, row: int) -> Question:
        """The question about one training row as things stand. Raises AnswerError for other rows and rows taken out."""
        row = self._check_row(row)
        if self.test_rows[row] or self._bad[row]:
            raise AnswerError(
                f"Row {row} is not asked: it is {'held out' if self.test_rows[row] else 'a bad item'}."
            )
        place = int(self._place[row])
        own = self._candidates[row]
        why = self._ranker.explain(place)
        votes = self._ranker.votes_
        others = votes.votes[place] - votes.weights[place, 0] * own  # the row is its own first neighbour
        shares = votes_to_distributions(others[None], own[None])[0]
        return Question(
            row=row,
            choices=self._names(own),
            probabilities=tuple(shares[own].tolist()),
            strategy=self.settings.strategy,
            score=why.score,
            decides=len(why.changes),
            undecided=why.undecided,
            model_version=self.model_version,
        )

    # How things stand

    @property
    def candidates(self) -> BoolArray:
        """(n, m) candidates now, a copy; rows taken out have none."""
        return self._candidates.copy()

    @property
    def label_distributions(self) -> FloatArray:
        """(n, m) what the model says of each training row inside its candidates; test rows are NaN, bad rows 0."""
        result = np.full(self._candidates.shape, np.nan)
        result[self._train] = votes_to_distributions(self._ranker.votes_.votes, self._candidates[self._train])
        return result

    @property
    def curve(self) -> list[CurvePoint]:
        """The start and one point for each entry that changed candidates, a new list."""
        return list(self._curve)

    def answer_of(self, row: int) -> Entry | None:
        """The latest answer that counts for this row, or None."""
        return self._fold.fold(self._check_row(row)).answer

    def answers_per_label(self) -> dict[str, int]:
        """How many rows people's answers have narrowed to each label; labels without any are left out."""
        narrowed = self._candidates[self._answered & (self._candidates.sum(axis=1) == 1)]
        counts = dict(zip(self.classes, narrowed.sum(axis=0).tolist(), strict=True))
        return {label: count for label, count in sorted(counts.items(), key=lambda one: -one[1]) if count}

    def state(self, row: int) -> RowState:
        """One row as it stands."""
        row = self._check_row(row)
        return RowState(
            row=row,
            original=self._names(self.original[row]),
            candidates=self._names(self._candidates[row]),
            bad=bool(self._bad[row]),
            test=bool(self.test_rows[row]),
            answer=self._fold.fold(row).answer,
            entries=tuple(self._fold.entries(row)),
        )

    def progress(self) -> Progress:
        """Where the work stands."""
        return Progress(
            answers=self._answers,
            answered=int(self._answered.sum()),
            bad=int(self._bad.sum()),
            ambiguous_left=int((self._candidates[self._train].sum(axis=1) >= 2).sum()),
            candidates_left=self._candidates_left(),
            settled=self._ranker.settled_,
            accuracy=self._accuracy(),
            n_train=len(self._train),
            n_test=len(self._test),
            model_version=self.model_version,
        )

    def disambiguate(self) -> Disambiguation:
        """A label for every row, where it comes from, and how sure it is."""
        n = len(self._candidates)
        labels = np.full(n, -1, dtype=np.int64)
        sources = np.full(n, "bad", dtype="<U9")
        confidence = np.full(n, np.nan)

        train, votes, known = self._train, self._ranker.votes_, self._candidates[self._train]
        share = votes_to_distributions(votes.votes, known)
        sure = known & sets_in_blocks(votes.neighbors, votes.weights, known, "necessary")
        label = np.where(sure.sum(axis=1) == 1, sure.argmax(axis=1), share.argmax(axis=1))
        size = known.sum(axis=1)
        source = np.where(sure.sum(axis=1) == 1, "necessary", "model")
        source = np.where(size == 1, np.where(self._answered[train], "oracle", "given"), source)
        kept = size > 0
        labels[train[kept]] = label[kept]
        sources[train[kept]] = source[kept]
        confidence[train[kept]] = share[np.flatnonzero(kept), label[kept]]

        exact = self.test_rows | self._exact
        labels[exact], sources[exact], confidence[exact] = self._truth[exact], "truth", 1.0
        return Disambiguation(labels, sources, confidence)

    def _accuracy(self) -> float | None:
        return float(self._right.mean()) if len(self._right) else None

    def _candidates_left(self) -> int:
        return int(np.maximum(self._candidates[self._train].sum(axis=1) - 1, 0).sum())

    def _curve_point(self) -> CurvePoint:
        return CurvePoint(
            seq=self.seq,
            answers=self._answers,
            accuracy=self._accuracy(),
            settled=self._ranker.settled_,
            candidates_left=self._candidates_left(),
            model_version=self.model_version,
        )

    def _names(self, mask: BoolArray) -> tuple[str, ...]:
        return tuple(self.classes[number] for number in np.flatnonzero(mask))

    def _check_row(self, row: int) -> int:
        if not 0 <= row < len(self._candidates):
            raise AnswerError(f"row must be in 0..{len(self._candidates) - 1}. Got {row!r}.")
        return int(row)
