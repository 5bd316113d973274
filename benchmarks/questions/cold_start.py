"""The first 50 answers: coverage first, against the model's own score from the first answer on.

The data sets of seconds.md (at most 500 training and 1,000 test rows), and digits, segment and pendigits once more with
every class a candidate of every row, so that nothing is known before the first answer. Every question is "which?". The
learners are the kernel ridge, with the settings it chooses before the first answer, and PL-KNN; they learn after every
5 answers and are measured then. "cover" asks first about the rows that stand for most others (`MaxHerding` of
`plcore.query`, on ten neighbours; its `lasts` says how long: up to twice as many answers as classes), weighted by how
unsure the model is, or by the number of candidates alone; then it continues as the model's own strategy does, margin
for
the kernel ridge, APL for PL-KNN. In the tables: accuracy on the held-out rows, mean of the seeds; `mean` is that over
the ten times it was measured, with 1.96 standard errors of the difference from the model's own strategy.
"""

from __future__ import annotations

import warnings
from typing import Any

import numpy as np
from sklearn.base import clone

from benchmarks.harness import Table, benchmark, kept, kept_runs, only, page, sized
from benchmarks.questions.active_models import SETS, data, learner_of, settings_of
from plcore.neighbors.graph import NeighborGraph
from plcore.query import EffectRanker, MaxHerding, RandomOrder, SmallestMargin, Strategy

NAME = "cold_start"
SEEDS, ROWS, BUDGET, EVERY = sized((5, 500, 50, 5), tiny=(2, 60, 50, 5))
EVERYTHING = sized(tuple(f"{name}, every class" for name in ("digits", "segment", "pendigits")), tiny=())
LEARNERS = {"kernelridge": "margin", "plknn": "apl"}
OWN, COVER, EVEN = "own score", "cover, then own score", "cover by candidates alone, then own score"
WAYS = ("random", OWN, COVER, EVEN)


def run(name: str, title: str, way: str, seed: int) -> list[float]:
    """Return the accuracy before the first answer and after every 5."""
    plain, _, everything = name.partition(", ")
    X, candidates, y, X_test, y_test = data(plain, seed, ROWS)
    candidates = np.ones_like(candidates) if everything else candidates
    labels = np.eye(candidates.shape[1], dtype=bool)

    chosen: dict[str, Any] = {}
    if title == "kernelridge":
        chosen = kept(NAME, f"{name} settings {seed}", lambda: settings_of(X, candidates, seed))
    learner = clone(learner_of(title, chosen, X, candidates, seed)).fit(X, candidates)
    graph = NeighborGraph(X, 10, "linear", None).own_neighbors()
    cover = MaxHerding().fit_graph(*graph, candidates)
    own: Strategy
    if way == "random":
        own = RandomOrder(random_state=seed).fit(X, candidates)
    elif LEARNERS[title] == "apl":
        own = EffectRanker("apl", 10).fit_graph(*graph, candidates, np.arange(len(X)))
    else:
        own = SmallestMargin().fit(X, candidates)

    def tell() -> float:
        if isinstance(own, SmallestMargin):
            own.learner_changed(learner, X)
        if way == COVER:
            cover.learner_changed(learner, X)
        return float((learner.predict(X_test) == y_test).mean())

    found, rows = [tell()], []
    for answered in range(BUDGET):
        covers = way in (COVER, EVEN) and cover.lasts(answered)
        row = int((cover if covers else own).next(1)[0])
        rows.append(row)
        for strategy in (cover, own):
            strategy.update(row, labels[y[row]])
        if len(rows) == EVERY:
            learner.update(rows, labels[y[rows]])
            found, rows = [*found, tell()], []
    return found


def table_of(name: str, found: dict[tuple[str, str], np.ndarray]) -> str:
    """Return the table of one set."""
    shown = (0, 10, 20, 30, 50)
    table = Table(["learner, rows", *map(str, shown), "mean", "against own score"])
    for title in LEARNERS:
        best = found[title, OWN][:, 1:].mean(axis=1)
        for way in WAYS:
            runs = found[title, way]
            ahead = runs[:, 1:].mean(axis=1) - best
            half = 1.96 * ahead.std(ddof=1) / np.sqrt(len(ahead))
            cells = (runs[:, answers // EVERY].mean() for answers in shown)
            beside = "" if way == OWN else f"{ahead.mean():+.3f} ± {half:.3f}"
            table.add(f"{title}, {way}", *cells, runs[:, 1:].mean(), beside)
    return page(f"### {name}", table)


@benchmark("Coverage before doubt: the first answers")
def cold_start() -> str:
    parts = []
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # about too few rounds, and about classes in all sets
        for name in only((*SETS, *EVERYTHING)):
            found = {}
            for title, way in ((one, other) for one in LEARNERS for other in WAYS):
                found[title, way] = np.array(kept_runs(NAME, run, name, title, way, seeds=SEEDS))
            parts.append(table_of(name, found))
    return page((__doc__ or "").split("\n\n", 1)[1], f"Seeds: {SEEDS}.", *parts)
