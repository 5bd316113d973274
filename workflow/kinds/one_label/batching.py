"""Rows with candidates that are confirmed together: a `workflow.kinds.batching.Batching`."""

from __future__ import annotations

from collections import Counter
from collections.abc import Collection, Mapping, Sequence

import numpy as np

from plcore import ActiveLearner, LabelTable
from plcore.common import BoolArray, FloatArray
from plcore.loop import Place
from plcore.loop.one_label import weighs_own
from plcore.query import FEWEST, RIGHT, sure_from, sure_rows
from workflow.kinds.batching import Batching
from workflow.kinds.one_label.shortlists import IN_FULL_A_CHECK

Learner = ActiveLearner[LabelTable]

MOST_SHARES = 5_000_000
"""Rows times classes of which the shares are looked at; of more rows, a drawn sample."""


class _OneLabel:
    """See the protocol."""

    def find_sure(
        self, learner: Learner, annotator: str, barred: Collection[int]
    ) -> tuple[str, list[int]] | str:
        pool = learner.pool
        if learner.settings.is_trained and learner.version_published is None:
            return "The model is still being trained. Once it is, the rows that it is sure of are shown together."
        if weighs_own(pool):
            return (
                "What the model says of these rows rests on the weights of their candidates in the table too; of the "
                "rows whose label is known it does not. So nothing tells how right it is, and rows are asked about one "
                "by one. PL-KNN goes without these weights."
            )
        allowed = _waiting(learner, annotator)
        allowed[list(barred)] = False
        allowed &= ~_asked_alone(learner)
        rows = np.flatnonzero(allowed)
        if rows.size * len(pool.classes) > MOST_SHARES:
            drawn = np.random.default_rng(pool.settings.seed).permutation(rows)
            rows = np.sort(drawn[: MOST_SHARES // len(pool.classes)])
        known, right = _known(learner)
        at_least = sure_from(known, right)
        if at_least is None:
            return (
                "The rows whose label is known do not show well enough that the model is right about "
                f"{100 * RIGHT:.0f} % of those it is surest of: confirming many at once might not pay. The more is "
                "answered one by one, the better it gets, and the better it is known."
            )
        shares = _shares(learner, rows)
        sure = sure_rows(shares, at_least=at_least)
        found = [row for row in rows[sure].tolist() if pool.may_ask(Place(row), annotator)]
        if not found:
            return (
                f"Rows are shown together where the model gives at least {FEWEST} open ones the same label with "
                f"{100 * at_least:.0f} % or more; some are asked alone even so. There are none now: the more is "
                "answered one by one, the surer it gets."
            )
        return pool.classes[int(shares[sure[0]].argmax())], found

    def may_stand(self, learner: Learner, annotator: str, row: int, label: str) -> bool:
        return bool(_waiting(learner, annotator)[row]) and self.may_confirm(learner, annotator, row, label)

    def may_confirm(self, learner: Learner, annotator: str, row: int, label: str) -> bool:
        pool = learner.pool
        own = pool.candidates_for(row, annotator)
        return pool.may_ask(Place(row), annotator) and bool(own[pool.classes.index(label)])

    def name_now(self, learner: Learner, label: str) -> str:
        return learner.pool.class_map.now(label)

    def labels_of(self, learner: Learner, annotator: str, rows: Sequence[int]) -> Mapping[str, int]:
        pool, waiting = learner.pool, _waiting(learner, annotator)
        here = np.array(
            [row for row in rows if waiting[row] and pool.may_ask(Place(row), annotator)], dtype=int
        )
        if not len(here):
            return {}
        counts = Counter(dict(zip(pool.classes, pool.candidates[here].sum(axis=0).tolist(), strict=True)))
        share = dict(zip(pool.classes, _shares(learner, here).sum(axis=0).tolist(), strict=True))
        order = sorted(pool.classes, key=lambda label: -share[label])
        return {label: counts[label] for label in order if counts[label]}

    def shares(self, learner: Learner, rows: Sequence[int], label: str) -> list[tuple[float, str | None]]:
        if not rows:
            return []
        found, place = _shares(learner, np.array(rows)), learner.classes.index(label)
        says = learner.version_published is not None or not learner.settings.is_trained
        named = [learner.classes[best] if says else None for best in found.argmax(axis=1).tolist()]
        return list(zip(found[:, place].tolist(), named, strict=True))

    def checked(self, learner: Learner, at_least: float) -> tuple[int, int]:
        shares, right = _known(learner)
        sure = shares >= at_least
        return int(right[sure].sum()), int(sure.sum())


BATCHING: Batching | None = _OneLabel()


def _known(learner: Learner) -> tuple[FloatArray, BoolArray]:
    """(k,) each, of the rows whose label is known and from which the model has not learnt: its share of the label that
    it gives them among their first candidates, and whether that is right. None where these tell of no other row."""
    pool = learner.pool
    known = pool.known()
    judged = (known >= 0) & (pool.first.take(pool.held, axis=0).sum(axis=1) >= 2)
    rows = pool.held[judged]
    if not len(rows) or weighs_own(pool):
        return np.zeros(0), np.zeros(0, dtype=bool)
    largest, said = np.zeros(len(rows)), np.zeros(len(rows), dtype=np.int64)
    block = max(1, MOST_SHARES // len(pool.classes))
    for part in (slice(begin, begin + block) for begin in range(0, len(rows), block)):
        shares = learner.shares_asked(rows[part], pool.first[rows[part]])
        largest[part], said[part] = shares.max(axis=1), shares.argmax(axis=1)
    return largest, said == known[judged]


def _shares(learner: Learner, rows: np.ndarray) -> FloatArray:
    """(r, m) as the questions about these rows would show them."""
    return learner.shares_asked(rows, learner.pool.candidates[rows])


def _waiting(learner: Learner, annotator: str) -> BoolArray:
    """(n,) rows that wait for their first answer, no held-out row or blind check among them, and none that this
    annotator is unsure of or has put off. What the model says of them tells nobody's answer to them."""
    pool = learner.pool
    waiting = np.array(pool.fresh() & ~pool.test_rows & ~pool.control_rows)
    aside = [*pool.standings.unsure(annotator), *pool.standings.resting(annotator)]
    waiting[[place.row for place in aside]] = False
    return waiting


def _asked_alone(learner: Learner) -> BoolArray:
    """(n,) rows that are in no batch that is found: were it blind checks alone, whoever has confirmed all others would
    know them. Of ordinary rows as many a check as are shown in full (decision 31), the same ones for everybody: not
    each by chance, for in small projects chance would leave too few."""
    pool, alone = learner.pool, np.zeros(learner.table.n_rows, dtype=bool)
    several = pool.first.sum(axis=1) >= 2
    ordinary = np.flatnonzero(several & ~pool.test_rows & ~pool.control_rows)
    drawn = np.random.default_rng([learner.settings.seed, 8]).random(len(alone))[ordinary]
    checks = int((several & pool.control_rows).sum())
    number = min(IN_FULL_A_CHECK * checks, len(ordinary))
    alone[ordinary[np.argsort(drawn, kind="stable")[:number]]] = True
    return alone
