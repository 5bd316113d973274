"""ActiveLearner: a table and log entries in, the next question out. No database, no files, no clock.

The same table, settings, entries and published versions in the same order always give the same state and the
same next question. After an entry only what it touches is computed again.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Sequence
from typing import Generic, TypeVar

import numpy as np

from plcore.common.types import AnyArray, BoolArray, FloatArray, IntArray, Table
from plcore.loop.base import CONTROL
from plcore.loop.classes import ClassChange
from plcore.loop.entries import AnswerError, Entry
from plcore.loop.one_label.disambiguation import disambiguate
from plcore.loop.one_label.models import Model, NeighborModel, ScoredModel
from plcore.loop.one_label.online_model import OnlineModel
from plcore.loop.one_label.pool import OneLabelPool
from plcore.loop.one_label.reports import CurvePoint, Disambiguation, Progress, Question, RowState
from plcore.loop.one_label.settings import LearnerSettings
from plcore.loop.places import Place, as_places
from plcore.neighbors.graph import Graph, find_graph
from plcore.query.effects import RULES
from plcore.query.ranker import EffectRanker
from plcore.query.strategies import Strategy, make_strategy
from plcore.query.uncertainty import MARGIN, SmallestMargin

TableT = TypeVar("TableT", bound=Table)


class ActiveLearner(Generic[TableT]):
    """The loop in two verbs: `apply(entry)` and `next_question(annotator)`.

    The model is that of the settings: PL-KNN on the table's features or an online learner, which follow each
    answer, or one trained elsewhere (`.training`), whose versions come by `publish`. Questions go by the strategy of
    the settings, by default effect scores over the rows that are ambiguous now; some are blind controls (`.pool`).
    Held-out rows are never trained on and no targets.

    changes : of the classes, all there are in the log (`plcore.loop.classes`)
    graph : the `graph` of an earlier learner of the same table and `graph_key(settings)`, so that neighbours need
        not be found again; None: they are found now, where they are needed. Raises ValueError where its shape is
        another.
    """

    def __init__(
        self,
        table: TableT,
        settings: LearnerSettings | None = None,
        graph: Graph | None = None,
        changes: Iterable[ClassChange] = (),
    ) -> None:
        self.settings = settings = settings or LearnerSettings()
        self.pool: OneLabelPool[TableT] = OneLabelPool(table, settings, changes)
        pool, table = self.pool, self.pool.table
        self.table, self.classes, self.original = table, pool.classes, pool.original
        self.test_rows = pool.test_rows
        self._train = pool.train
        by_effect = settings.strategy in RULES
        by_neighbors = by_effect or settings.model == "plknn"
        X, unseen = None, None
        if (by_neighbors and graph is None) or settings.strategy == "act":
            features = table.features()
            features.fit(table, pool.train)
            X = features.transform(table, pool.train)
            unseen = features.transform(table, pool.held) if len(pool.held) else None
        first = pool.first[pool.train]
        self._graph: Graph | None = None
        self._ranker: EffectRanker | None = None
        if by_neighbors:
            self._graph = graph or find_graph(X, unseen, settings)
            self._graph.check(len(pool.train), len(pool.held), settings.n_neighbors)
            # Under a baseline the ranker still keeps the votes and what is settled, by its cheapest rule.
            self._ranker = EffectRanker(settings.strategy if by_effect else "mw", settings.n_neighbors)
            self._ranker.fit_graph(self._graph.neighbors, self._graph.weights, first, np.arange(len(first)))
        self._neighbors: NeighborModel | None = None
        self._scored: ScoredModel | None = None
        self._online: OnlineModel | None = None
        if settings.is_trained:
            self._scored = ScoredModel(pool)
        elif settings.is_online:
            self._online = OnlineModel(pool)
        elif self._ranker is not None and self._graph is not None:
            self._neighbors = NeighborModel(pool, self._ranker, self._graph)
        self._strategy = self._make_strategy(X, first)
        self.model_version = 0
        self._curve = [self._curve_point()]

    @property
    def _model(self) -> Model:
        model = self._scored or self._online or self._neighbors
        assert model is not None  # noqa: S101 - __init__ makes one of them
        return model

    def _make_strategy(self, X: AnyArray | None, first: BoolArray) -> Strategy:
        name, seed = self.settings.strategy, self.settings.seed
        if self._ranker is not None and name in RULES:
            return self._ranker
        nothing = np.zeros((len(first), 1)) if X is None else X  # only "act" looks at the features
        if name == MARGIN:
            return SmallestMargin(lambda places: self._model.margins(self._train[places])).fit(nothing, first)
        # "random" draws its order; the ties of the others go by row number.
        baseline = make_strategy(name, scaling=None, random_state=seed if name == "random" else None)
        return baseline.fit(nothing, first)

    # The two verbs, and a third where the model is trained elsewhere

    def check(self, entry: Entry) -> None:
        """Raise AnswerError if `apply` would refuse the entry; changes nothing."""
        self.pool.check(entry)

    def apply(self, entry: Entry) -> None:
        """Take in one entry. Raises AnswerError, and changes nothing, if it is impossible (see `.fold`)."""
        change = self.pool.apply(entry)
        if change is None or (self._online is None and np.array_equal(change.old, change.new)):
            return
        if not self.pool.control_rows[change.row]:
            place = int(self.pool.place[change.row])
            if self._ranker is not None:
                self._ranker.update(place, change.new)
            self._model.learn(change)
            if self._strategy is not self._ranker:
                self._strategy.update(place, change.new)
        if self._scored is None:
            self._model_changed()
            # After a control answer too, which it does not learn: the version must not tell which one was blind.
            self.model_version = entry.seq
            self._curve.append(self._curve_point())

    def publish(self, scores: AnyArray, points: Sequence[CurvePoint]) -> None:
        """Answer with a new version of the model from now on.

        scores : (n, m) of all rows by the newest version, as `.training.Trainer` gives them, not copied
        points : of the versions since the last call, this one last; its `model_version` is the new one
        Raises ValueError for a model that follows each answer itself, a wrong shape, or versions out of order.
        """
        if self._scored is None:
            raise ValueError(
                f"Model {self.settings.model!r} follows each answer; nothing is published to it."
            )
        versions = [self._version_published(), *(point.model_version for point in points)]
        if len(versions) < 2 or sorted(set(versions)) != versions:
            raise ValueError(f"points must be of versions after {versions[0]}, in order. Got {versions[1:]}.")
        self._scored.publish(scores)
        self._curve = self._curve if versions[0] >= 0 else []  # the start without a model says nothing
        self._curve += points
        self.model_version = versions[-1]
        self._model_changed()

    def _version_published(self) -> int:
        return self.model_version if self._model.said is not None else -1

    @property
    def version_published(self) -> int | None:
        """The newest version `publish` was given; None before the first, and for models that need none."""
        version = self._version_published()
        return None if self._scored is None or version < 0 else version

    def _model_changed(self) -> None:
        if isinstance(self._strategy, SmallestMargin):
            self._strategy.model_changed()

    def candidates_after(self, entry: Entry) -> BoolArray:
        """(m,) the row's candidates if this entry were applied. Raises AnswerError as `check`; changes nothing."""
        self.check(entry)
        return self.pool.fold.fold_with(entry).votes

    def may_ask(self, row: int, annotator: str, label: str | None = None) -> bool:
        """Whether the row can be put before this annotator now: open, not set aside by them. A skipped row can; one
        label of it cannot: a question is about all candidates."""
        return self.pool.may_ask(Place(self.pool.check_row(row), label), annotator)

    def get_ready(self) -> None:
        """Do now what the next question would wait for."""
        self._strategy.next(1)

    def next_question(
        self, annotator: str, exclude: Collection[int | tuple[int, str | None]] = frozenset()
    ) -> Question | None:
        """The question that matters most for this annotator, or None when nothing is left to ask them.

        exclude : rows, or places, before other people now; an effect strategy also damps the predictions these decide
        With probability `control_share`, and when nothing else is left, the next control row. Else rows with the
        highest score of the strategy come first, ties by row number. Never a row that is held out for its true
        label, bad, has one candidate, or that this annotator is unsure about; rows they skipped come back after 20
        further entries of theirs, or when nothing else is left, the oldest skip first.
        """
        pool = self.pool
        shown = {place.row for place in as_places(exclude)}
        barred = shown | {place.row for place in pool.standings.unsure(annotator)}
        resting = [place.row for place in pool.standings.resting(annotator) if place.row not in barred]
        control = [row for row in pool.control_left().tolist() if row not in barred and row not in resting]
        control.sort(key=lambda row: bool(pool.fold.entries(row)))  # those put aside before come last
        if control and pool.control_is_due():
            return self.question_for(control[0])
        held = self.test_rows | pool.control_rows
        allowed = ~held
        allowed[[row for row in barred if 0 <= row < len(allowed)]] = False
        allowed[resting] = False
        among = allowed[self._train]
        if self._strategy is self._ranker:
            claimed = [int(pool.place[row]) for row in shown if 0 <= row < len(allowed) and not held[row]]
            best = self._ranker.next(1, among=among, claimed=claimed)
        else:
            best = self._strategy.next(1, among=among)
        if len(best):
            return self.question_for(int(self._train[best[0]]))
        return next((self.question_for(row) for row in (*control, *resting) if pool.is_open(row)), None)

    def question_for(self, row: int, label: str | None = None) -> Question:
        """The question about one row as things stand. Raises AnswerError for test rows and rows taken out, and for one
        label of a row: a question is about all its candidates."""
        pool = self.pool
        row = pool.check_asked(row)
        if label is not None:
            raise AnswerError(f"A question is about a whole row here, not about one label. Got {label!r}.")
        own = pool.candidates[row]
        near = self._neighbors
        shares = near.shares_of_others(row) if near else self._model.shares(np.array([row]))[0]
        has_model = self._model.said is not None
        blind = bool(pool.control_rows[row])
        why = None
        if self._ranker is not None:
            # A blind question shows the reason of the second best row: nobody can tell it by that, nor by its return.
            place = next(iter(self._strategy.next(2)[::-1]), None) if blind else pool.place[row]
            why = None if place is None else self._ranker.explain(int(place), answers=False)
        return Question(
            row=row,
            choices=pool.names(own),
            probabilities=tuple(shares[own].tolist()),
            strategy=CONTROL if blind else self.settings.strategy,
            score=self.settings.control_share if blind else self._strategy.score_of(int(pool.place[row])),
            decides=len(why.changes) if why else 0,
            undecided=why.undecided if why else 0,
            model_version=self.model_version,
            predicted=self.classes[int(shares.argmax())] if has_model and own.any() else None,
        )

    def ranking(self) -> tuple[IntArray, FloatArray]:
        """(rows, scores): every row the strategy can ask, by score descending, then row number, as things stand."""
        open_rows = np.flatnonzero(self.pool.sizes[self._train] >= 2)
        scores = self._strategy.scores_[open_rows]
        order = np.argsort(-scores, kind="stable")
        return self._train[open_rows[order]], scores[order]

    # How things stand

    @property
    def seq(self) -> int:
        """Number of the last entry taken in."""
        return self.pool.seq

    @property
    def graph(self) -> Graph | None:
        """The neighbours the learner works with, None where it needs none; answers do not change them."""
        return self._graph

    @property
    def done(self) -> bool:
        """No answer can change a decision any more: the winners (Eq. 1) of every row still ambiguous are settled.

        That holds for answers inside the candidates; `none` and `bad` may still change decisions, and so may
        any answer those about new points. Models other than PL-KNN have no such proof: done when nothing is open.
        """
        if self._neighbors is None or self._ranker is None:
            return not (self.pool.sizes[self._train] >= 2).any()
        return bool(self._ranker.settled_ == 1.0 and self._ranker.n_undecided_ == 0)

    def candidates_of(self, row: int) -> BoolArray:
        """(m,) the row's candidates now, a copy; none while it is out."""
        return np.array(self.pool.candidates[self.pool.check_row(row)])

    @property
    def candidates(self) -> BoolArray:
        """(n, m) candidates now, a copy; rows taken out have none."""
        return self.pool.candidates.copy()

    @property
    def label_distributions(self) -> FloatArray:
        """(n, m) what the model says of each row inside its candidates; test rows are NaN, bad rows 0."""
        result = np.full(self.pool.candidates.shape, np.nan)
        asked = np.flatnonzero(~self.test_rows)
        result[asked] = self._model.shares(asked)
        return result

    @property
    def curve(self) -> list[CurvePoint]:
        """The start and one point for each entry that changed candidates, or for each version; a new list."""
        return list(self._curve)

    def answer_of(self, row: int) -> Entry | None:
        """The latest answer that counts for this row, or None."""
        return self.pool.fold.fold(self.pool.check_row(row)).answer

    def answers_per_label(self) -> dict[str, int]:
        """How many rows people's answers have narrowed to each label; labels without any are left out."""
        return self.pool.answers_per_label()

    def state(self, row: int) -> RowState:
        """One row as it stands."""
        return self.pool.state(row)

    def progress(self) -> Progress:
        """Where the work stands."""
        pool, now = self.pool, self._curve_point()
        return Progress(
            answers=pool.answers,
            answered=int(pool.answered.sum()),
            bad=int(pool.bad.sum()),
            ambiguous_left=pool.n_open,
            candidates_left=now.candidates_left,
            settled=now.settled,
            accuracy=now.accuracy,
            n_train=len(self._train),
            n_test=int(self.test_rows.sum()),
            model_version=self.model_version,
            control=now.control,
            n_control=int(pool.control_rows.sum()),
        )

    def disambiguate(self) -> Disambiguation:
        """A label for every row, where it comes from, and how sure it is."""
        votes = self._ranker.votes_ if self._neighbors is not None and self._ranker is not None else None
        return disambiguate(self.pool, self._model.shares, votes, self._model.said is not None)

    def _curve_point(self) -> CurvePoint:
        proof = self._ranker.settled_ if self._neighbors is not None and self._ranker is not None else None
        error = self._online.progressive_error if self._online is not None else None
        return self.pool.point(self._model.said, proof, self.model_version, error)
