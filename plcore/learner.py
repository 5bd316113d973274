"""ActiveLearner: a table and log entries in, the next question out. No database, no files, no clock.

The same table, settings and entries in the same order always give the same state and the same next question.
After an entry only what it touches is computed again: the votes and effect scores of the targets near its
row, and the held-out rows near it.
"""

from __future__ import annotations

from collections.abc import Collection
from numbers import Integral
from typing import Generic, TypeVar

import numpy as np

from plcore._types import BoolArray, FloatArray, IntArray, Table
from plcore.candidates import check_candidates
from plcore.disambiguation import disambiguate
from plcore.fold import ANSWERS, AnswerError, AnswerFold, Entry, check_form
from plcore.graph import Graph, find_graph
from plcore.neighbors import votes_to_distributions
from plcore.query.effects import RULES
from plcore.query.ranker import EffectRanker
from plcore.query.strategies import Strategy, make_strategy
from plcore.reports import CurvePoint, Disambiguation, LearnerSettings, Progress, Question, RowState
from plcore.standing import Standings
from plcore.votes import VoteTable

TableT = TypeVar("TableT", bound=Table)


class ActiveLearner(Generic[TableT]):
    """The loop in two verbs: `apply(entry)` and `next_question(annotator)`.

    The model is PL-KNN (`PLKNeighborsClassifier`) on the table's features; questions go by the strategy of the
    settings, by default effect scores over the rows that are ambiguous now. Test rows, a seeded share of those
    with a true label, are never asked, never trained on and no targets.

    graph : the `graph` of an earlier learner of the same table and `graph_key(settings)`, so that neighbours need
        not be found again; None: they are found now. Raises ValueError where its shape is another.
    """

    def __init__(
        self, table: TableT, settings: LearnerSettings | None = None, graph: Graph | None = None
    ) -> None:
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
        closed = dict.fromkeys(np.flatnonzero(self.test_rows).tolist(), "it is held out to measure accuracy")
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
        by_effect = settings.strategy in RULES
        X = None
        if graph is None or not by_effect:
            features = table.features()
            features.fit(table, self._train)
            X = features.transform(table, self._train)
            if graph is None:
                unseen = features.transform(table, self._test) if len(self._test) else None
                graph = find_graph(X, unseen, settings)
        graph.check(len(self._train), len(self._test), settings.n_neighbors)
        self._search = graph.kind, graph.recall
        # Under a baseline the ranker still keeps the votes and what is settled, by its cheapest rule.
        self._ranker = EffectRanker(settings.strategy if by_effect else "mw", settings.n_neighbors)
        self._ranker.fit_graph(
            graph.neighbors, graph.weights, first[self._train], np.arange(len(self._train))
        )
        self._strategy: Strategy = self._ranker
        if not by_effect:
            seed = settings.seed if settings.strategy == "random" else None  # the others: ties by row number
            baseline = make_strategy(settings.strategy, scaling=None, random_state=seed)
            self._strategy = baseline.fit(X, first[self._train])
        self._test_votes = VoteTable(graph.test_neighbors, graph.test_weights, first[self._train])
        self._right = self._is_right(np.arange(len(self._test)))

        self.seq = 0
        self.model_version = 0
        self._answers = 0
        self._answered = np.zeros(n, dtype=bool)
        self._bad = np.zeros(n, dtype=bool)
        self._curve = [self._curve_point()]

    def _draw_test_rows(self) -> BoolArray:
        labelled = np.flatnonzero(self._truth >= 0)
        # At least one row is left to learn from.
        count = min(int(self.settings.test_share * len(labelled) + 0.5), len(self._truth) - 1)
        test = np.zeros(len(self._truth), dtype=bool)
        test[np.random.default_rng(self.settings.seed).permutation(labelled)[:count]] = True
        return test

    def _is_right(self, tests: IntArray) -> BoolArray:
        """Whether these held-out rows (places in `_test`) are predicted right; no votes at all is wrong."""
        votes = self._test_votes.votes[tests]
        return np.asarray((votes.argmax(axis=1) == self._truth[self._test[tests]]) & votes.any(axis=1))

    # The two verbs

    def check(self, entry: Entry) -> None:
        """Raise AnswerError if `apply` would refuse the entry; changes nothing."""
        check_form(entry)
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
        if self._strategy is not self._ranker:
            self._strategy.update(place, new)
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

        exclude : rows before other people now; an effect strategy also damps the predictions they will decide
        Rows with the highest score of the strategy come first, ties by row number. Never a row that is held out, bad,
        has one candidate, or that this annotator is unsure about; rows they skipped come back after 20
        further entries of theirs, or when nothing else is left, the oldest skip first.
        """
        shown = [row for row in exclude if 0 <= row < len(self.test_rows) and not self.test_rows[row]]
        barred = set(shown) | self._standings.unsure(annotator)
        resting = [row for row in self._standings.resting(annotator) if row not in barred]
        allowed = ~self.test_rows
        allowed[list(barred)] = False
        allowed[resting] = False
        among = allowed[self._train]
        if self._strategy is self._ranker:
            best = self._ranker.next(1, among=among, claimed=self._place[shown].tolist())
        else:
            best = self._strategy.next(1, among=among)
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
        why = self._ranker.explain(place, answers=False)
        votes = self._ranker.votes_
        others = votes.votes[place] - votes.weights[place, 0] * own  # the row is its own first neighbour
        shares = votes_to_distributions(others[None], own[None])[0]
        return Question(
            row=row,
            choices=self._names(own),
            probabilities=tuple(shares[own].tolist()),
            strategy=self.settings.strategy,
            score=self._strategy.score_of(place),
            decides=len(why.changes),
            undecided=why.undecided,
            model_version=self.model_version,
        )

    def ranking(self) -> tuple[IntArray, FloatArray]:
        """(rows, scores): every row that can be asked, by score descending, then row number, as things stand."""
        open_rows = np.flatnonzero(self._candidates[self._train].sum(axis=1) >= 2)
        scores = self._strategy.scores_[open_rows]
        order = np.argsort(-scores, kind="stable")
        return self._train[open_rows[order]], scores[order]

    # How things stand

    @property
    def graph(self) -> Graph:
        """The neighbours the learner works with; answers do not change them. Its arrays are the learner's own."""
        train, test = self._ranker.votes_, self._test_votes
        return Graph(train.neighbors, train.weights, test.neighbors, test.weights, *self._search)

    @property
    def done(self) -> bool:
        """No answer can change a decision any more: the winners (Eq. 1) of every row still ambiguous are settled.

        That holds for answers inside the candidates; `none` and `bad` may still change decisions, and so may
        any answer those about new points.
        """
        return bool(self._ranker.settled_ == 1.0 and self._ranker.n_undecided_ == 0)

    def candidates_of(self, row: int) -> BoolArray:
        """(m,) the row's candidates now, a copy; none while it is out."""
        return np.array(self._candidates[self._check_row(row)])

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
        train, exact = self._train, self.test_rows | self._exact
        inside = disambiguate(self._ranker.votes_, self._candidates[train], self._answered[train])
        labels, sources, confidence = (
            self._truth.copy(),
            np.full(len(exact), "truth", "<U9"),
            np.ones(len(exact)),
        )
        labels[train], sources[train], confidence[train] = inside.labels, inside.sources, inside.confidence
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
        whole = isinstance(row, Integral) and not isinstance(row, bool)
        if not whole or not 0 <= row < len(self._candidates):
            raise AnswerError(f"row must be in 0..{len(self._candidates) - 1}. Got {row!r}.")
        return int(row)
