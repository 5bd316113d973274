"""Choose the next row to ask about: the row with the highest score under the strategy of the settings."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from itertools import chain

import numpy as np

from plcore.arrays.candidate_sets import read_only, rows_that_differ
from plcore.arrays.types import BoolArray, FloatArray, IntArray, MatrixLike, ShareProgress, Table, untold
from plcore.loop.entries import Place
from plcore.loop.one_label.models import Model
from plcore.loop.one_label.pool import CandidateChange, OneLabelPool
from plcore.loop.registry import Upkeep
from plcore.neighbors.graph import Graph, find_graph
from plcore.neighbors.search import takes_long
from plcore.query.explanation import Explanation
from plcore.query.herding import MaxHerding
from plcore.query.ranker import EffectRanker
from plcore.query.registry import STRATEGY_ENTRIES, Need, StrategyEntry, StrategyKind
from plcore.query.strategies import ModelStrategy, Strategy

LEAST_LONG, LOOKED_AT = 1_000, 200
"""Row count below which neighbours are always found at once, and the number of rows sampled from larger tables."""


def find_pool_graph(pool: OneLabelPool[Table], tell: ShareProgress = untold) -> Graph:
    """Find the neighbours of the pool's rows by its settings. tell : called with the progress of the
    search"""
    return find_graph(*_features_of(pool), pool.settings, tell)


def graph_takes_long(pool: OneLabelPool[Table]) -> bool:
    """Return whether `find_pool_graph` takes too long to wait for, judged by the features of a few rows."""
    n = len(pool.train)
    if n < LEAST_LONG:
        return False
    some = pool.train[:: n // LOOKED_AT]
    features = pool.make_features()
    features.fit(pool.table, some)
    X = features.transform(pool.table, some)
    return takes_long(n, X)


def _features_of(pool: OneLabelPool[Table]) -> tuple[MatrixLike, MatrixLike | None]:
    """Return the features of the training rows, which fit the scaler, and of the held-out rows (None for
    none)."""
    features = pool.make_features()
    features.fit(pool.table, pool.train)
    unseen = features.transform(pool.table, pool.held) if len(pool.held) else None
    return features.transform(pool.table, pool.train), unseen


class RowChooser:
    """Chooses the next question about a pool. Row numbers are those of the table; only training rows are chosen and
    scored.

    graph : the neighbours of all rows; None: find them now if strategy or model needs them. Raises ValueError for a
        wrong shape.
    model : returns the current model of the learner
    waits : the neighbour search runs in another process: rows come in random order, and there are no votes

    Attributes
    ----------
    graph : the neighbours in use, None if nothing needs them.
    ranker : the votes of these neighbours, with their effect scores; None without a graph. Under a strategy that is
        not an effect rule it still updates the votes, and scores by the cheapest rule.
    """

    def __init__(
        self, pool: OneLabelPool[Table], graph: Graph | None, model: Callable[[], Model], *, waits: bool = False
    ) -> None:
        self._pool, self._model = pool, model
        settings = pool.settings
        entry = self._after = STRATEGY_ENTRIES["random"] if waits else settings.strategy_entry
        opening = None if waits else settings.opening_entry
        by_votes = not waits and settings.by_votes
        by_graph = not waits and settings.needs_graph
        nothing: tuple[MatrixLike, MatrixLike | None] = np.zeros((len(pool.train), 1)), None
        X, unseen = nothing
        if entry.needs is Need.FEATURES or (by_graph and graph is None):
            X, unseen = _features_of(pool)
        self.graph: Graph | None = None
        self.ranker: EffectRanker | None = None
        if by_graph:
            self.graph = graph or find_graph(X, unseen, settings)
            self.graph.check(len(pool.train), len(pool.held), settings.n_neighbors)
        if entry.needs is not Need.FEATURES:
            X, unseen = nothing  # release the largest temporary array before the votes are made
        first, now = pool.first.take(pool.train, axis=0), pool.candidates.take(pool.train, axis=0)
        read_only(first)
        if by_votes and self.graph is not None:
            rule = entry.name if entry.kind is StrategyKind.RULE else "mw"
            self.ranker = EffectRanker(rule, settings.n_neighbors)
            places = np.arange(len(first))
            self.ranker.fit_graph(self.graph.neighbors, self.graph.weights, first, places, now)
        self._own: Strategy
        self._by_model: list[ModelStrategy] = []
        if entry.kind is StrategyKind.RULE and self.ranker is not None:
            self._own = self.ranker
        elif entry.kind is StrategyKind.MODEL:
            needs = entry.needs or Need.MODEL

            def ask(places: IntArray) -> FloatArray:
                now = model()
                scores = {Need.MODEL: now.margins, Need.EFFECTS: now.effects, Need.ORDER: now.ordered}
                return scores[needs](pool.train[places])

            asks: ModelStrategy = entry.strategy(ask).fit(X, first)
            self._own = asks
            self._by_model.append(asks)
        else:
            scaled = {"scaling": None} if entry.needs is Need.FEATURES else {}
            made = entry.strategy(random_state=settings.seed if entry.draws else None, **scaled)
            self._own = made.fit(X, first)
        self._opening: MaxHerding | None = None
        if opening is not None and self.graph is not None:

            def unsure(places: IntArray) -> FloatArray:
                return np.asarray(1.0 - model().shares(pool.train[places]).max(axis=1))

            # Votes use the same graph and add almost nothing to the candidates. Asking for them again after each answer
            # would mean a look at every row.
            told = None if settings.model_entry.upkeep is Upkeep.VOTES else unsure
            self._opening = opening.strategy(told)
            self._opening.fit_graph(self.graph.neighbors, self.graph.weights, first)
            if told is not None:
                self._by_model.append(self._opening)
        for place in rows_that_differ(now, first).tolist():  # the pool has entries already
            self._learn(place, now[place])

    @property
    def _opens(self) -> bool:
        """Return whether the opening questions are being asked, judged by the state of the pool alone."""
        return self._opening is not None and self._opening.lasts(self._pool.counts.answered)

    @property
    def entry(self) -> StrategyEntry:
        """Return the registry entry of the current strategy: while a plug-in has not ordered the rows, that of
        `Model.ordered`."""
        if self._after.needs is Need.ORDER and self._model().order_scores is None:
            return STRATEGY_ENTRIES["margin"]
        return (self._opens and self._pool.settings.opening_entry) or self._after

    @property
    def _strategy(self) -> Strategy:
        """Return the current strategy."""
        return self._opening if self._opening is not None and self._opens else self._own

    def learn(self, change: CandidateChange) -> None:
        """Apply new candidates of a training row."""
        place = int(self._pool.place[change.row])
        if self.ranker is not None:
            self.ranker.update(place, change.new)
        self._learn(place, change.new)

    def _learn(self, place: int, new: BoolArray) -> None:
        """Do the work of `learn`, except for the ranker."""
        if self._own is not self.ranker:
            self._own.update(place, new)
        if self._opening is not None:
            self._opening.update(place, new)

    def model_changed(self) -> None:
        """Handle a change of the model, which may affect the predictions of all rows."""
        for strategy in self._by_model:
            strategy.model_changed()

    def get_ready(self) -> None:
        """Do the computations now that the next question would otherwise wait for."""
        self._strategy.next(1)

    def next_row(self, annotator: str, shown: set[int], ahead: int, after: int | None = None) -> int | None:
        """Return the row to ask this annotator about, see `ActiveLearner.next_question`. shown : rows not to ask
        about"""
        pool, sources = self._pool, self._sources
        barred = shown | {place.row for place in pool.standings.unsure(annotator)}
        resting = [place.row for place in pool.standings.resting(annotator) if place.row not in barred]
        late = barred | set(resting)
        allowed = pool.counts.fresh.copy()
        allowed[self._places(late)] = False
        due = pool.control_is_due(ahead)
        if sources is not None:
            at = pool.standings.latest(annotator) if after is None else after
            if at is not None:
                here = sources == sources[at]
                begun = (row for row in pool.begun(annotator) if here[row] and row not in late)
                places = np.flatnonzero(allowed & here[pool.train])
                open_here: Iterator[int] = chain(begun, pool.train[places].tolist())
                if (row := next(open_here, None)) is not None:
                    return row
                # A row of another source in the middle of a source would be recognisable as a blind check: a
                # check that is due comes after the source. It does not trigger another one; otherwise checks would come
                # in long runs.
                rows_here = 1 if pool.control_rows[at] else int(np.count_nonzero(here))
                draws = min(rows_here, pool.seq + ahead + 1)
                due = any(pool.control_is_due(ahead - back) for back in range(draws))
        if due and (control := next(self._controls(annotator, late), None)) is not None:
            return control
        if (begun_row := next((row for row in pool.begun(annotator) if row not in late), None)) is not None:
            return begun_row
        if sources is None:
            best = self.best(allowed, self._places(shown))
        else:
            best = self._begin_source(allowed, sources, shown - {after})
        if best is not None:
            return best
        left = chain(self._controls(annotator, late), resting)
        return next((row for row in left if pool.may_ask(Place(row), annotator)), None)

    def _controls(self, annotator: str, late: set[int]) -> Iterator[int]:
        """Yield the blind checks that this annotator can be asked now, in drawn order; rows whose entries they have
        seen come last. late : rows to leave out for now"""
        pool = self._pool
        known = []
        for row in pool.control_left().tolist():  # usually the first one is used, so do not compute all
            if row in late or pool.asked.is_over(row, annotator):
                continue
            if pool.own_entries(row, annotator):
                known.append(row)
            else:
                yield row
        yield from known

    def best(self, allowed: BoolArray, shown: Sequence[int]) -> int | None:
        """Return the best row among those allowed, bool (n_train,), or None; ties by row number.

        shown : places of rows currently shown to other people; an effect rule damps the predictions that these decide,
            and coverage counts them as answered
        """
        strategy = self._strategy
        if isinstance(strategy, EffectRanker | MaxHerding):
            places = strategy.next(1, among=allowed, claimed=shown)
        else:
            places = strategy.next(1, among=allowed)
        return int(self._pool.train[places[0]]) if len(places) else None

    @property
    def _sources(self) -> IntArray | None:
        """Return (n,) the source of each row, if questions are asked source by source."""
        return self._pool.named_sources if self._pool.settings.by_source else None

    def _begin_source(self, allowed: BoolArray, sources: IntArray, shown: Iterable[int | None]) -> int | None:
        """Return the first allowed row, bool (n_train,), of the source with the highest mean score.

        shown : rows currently shown to other people; their sources come last
        """
        train = self._pool.train
        busy = np.isin(sources[train], sources[[row for row in shown if row is not None]])
        free = allowed & ~busy
        places = np.flatnonzero(free if free.any() else allowed)
        if not len(places):
            return None
        of = np.unique(sources[train[places]], return_inverse=True)[1]
        means = np.bincount(of, self._strategy.scores_[places]) / np.bincount(of)
        return int(train[places[of == means.argmax()][0]])

    def _places(self, rows: Iterable[int]) -> list[int]:
        """Return the places of these rows among the training rows, for those that train."""
        pool, n = self._pool, len(self._pool.place)
        return [
            int(pool.place[row]) for row in rows if 0 <= row < n and not (pool.test_rows[row] or pool.control_rows[row])
        ]

    def score_of(self, row: int) -> float:
        """Return the score of a row under the strategy."""
        return self._strategy.score_of(int(self._pool.place[row]))

    def explain(self, row: int, *, hide: bool) -> Explanation | None:
        """Return the possible effects of an answer about a row; None without neighbour votes.

        hide : give the reason of the second best row, so that annotators cannot recognise blind checks, or
            rows that others have answered
        """
        if self.ranker is None:
            return None
        place = int(self._pool.place[row])
        if hide:
            held = self._pool.test_rows[row] or self._pool.control_rows[row]
            others = [one for one in self._strategy.next(3).tolist() if held or one != place][:2]
            if not others:
                return None
            place = others[-1]
        return self.ranker.explain(place, answers=False)

    def ranking(self, most: int | None = None) -> tuple[IntArray, FloatArray]:
        """Return (rows, scores): the `most` best rows that can be chosen, by descending score, then row number; None:
        all."""
        open_rows = np.flatnonzero(self._pool.counts.fresh)
        scores = self._strategy.scores_[open_rows]
        if most is not None and most < len(scores):  # sorting all takes ten times as long
            least = np.partition(scores, len(scores) - most)[len(scores) - most]
            first = np.flatnonzero(scores > least)
            first = np.sort(np.append(first, np.flatnonzero(scores == least)[: most - len(first)]))
            open_rows, scores = open_rows[first], scores[first]
        order = np.argsort(-scores, kind="stable")
        return self._pool.train[open_rows[order]], scores[order]
