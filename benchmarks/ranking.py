"""The speed ladder of query scores, the same pools ranked by peers, and whether batches beat the top rows.

All times are CPU seconds of this process (of all its threads), the best of a few runs, search for neighbours
excluded except where it is named. Peers need requirements-bench.txt; those not installed are said to be missing.
"""

from __future__ import annotations

import gc
import resource
import subprocess
import sys
import time
import warnings
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import ExitStack
from importlib.metadata import PackageNotFoundError, version

import numpy as np
from threadpoolctl import threadpool_limits

from benchmarks import report
from benchmarks.table8 import load_sets
from plcore import compile_kernels
from plcore.evaluation import contaminate, error_rate
from plcore.neighbors.graph import NeighborGraph
from plcore.neighbors.near import pack
from plcore.query import EffectRanker, effect_scores, memory_order, winners
from plcore.query.effects import Rule, add_all_scores, lanes_for
from plcore.query.possible import MAX_NODES

K = M = 10
RULES = ("mw", "apl", "pl")
TARGETS = {"mw": 0.15, "apl": 0.6, "pl": 6.0}  # CPU seconds at a million rows
SETTINGS = ((0.7, 0.5), (0.9, 0.5), (0.9, 0.9))  # Random contamination


def cpu(call: Callable[[], object], repeats: int = 3) -> float:
    """Least CPU seconds of the calls, all threads."""
    seconds = []
    for _ in range(repeats):
        begun = time.process_time()
        call()
        seconds.append(time.process_time() - begun)
    return min(seconds)


# 1) The ladder


def ladder_graph(
    n: int, local: bool, p: float, q: float
) -> tuple[np.ndarray, np.ndarray, np.ndarray, np.ndarray]:
    """neighbors (n, K), weights, candidates (n, M), truth: every row a target and its own first neighbour.

    Neighbours are rows at most eight places away along a line whose truth changes now and then; not local: the same
    rows in random order, so that every neighbour is somewhere else in memory.
    """
    rng = np.random.default_rng(0)
    truth = rng.integers(M, size=n // 20 + 1).repeat(20)[:n]
    offsets = np.argsort(rng.random((n, 16)), axis=1)[:, : K - 1]
    offsets = np.where(offsets < 8, offsets - 8, offsets - 7)
    neighbors = (np.arange(n)[:, None] + np.hstack([np.zeros((n, 1), dtype=int), offsets])) % n
    far = np.sort(rng.random((n, K)), axis=1)
    far[:, 0] = 0
    weights = np.rint((1 - far / far.sum(axis=1, keepdims=True)) * 2**24).astype(np.int64)
    if not local:
        place = rng.permutation(n)
        shuffled = np.empty_like(neighbors)
        shuffled[place] = place[neighbors]
        truth, neighbors = truth[np.argsort(place)], shuffled
    candidates = contaminate(truth, p=p, q=q, random_state=0)
    return neighbors.astype(np.int32), weights, candidates, truth


def full_rankings(sizes: tuple[int, ...]) -> Iterator[str]:
    yield "| rows | contamination | neighbours in memory | MW | APL | PL |\n|---|---|---|---|---|---|"
    for n in sizes:
        for p, q in SETTINGS:
            for local in (False, True):
                graph = ladder_graph(n, local, p, q)[:3]
                cells = [f"{cpu(lambda: effect_scores(*graph, rule=rule)):.3f}" for rule in RULES]  # noqa: B023
                yield f"| {n:,} | ({p}, {q}) | {'near' if local else 'anywhere'} | {' | '.join(cells)} |"


def ordering(n: int) -> str:
    neighbors, weights, candidates, _ = ladder_graph(n, False, 0.9, 0.5)
    begun = time.process_time()
    order = memory_order(neighbors)
    took = time.process_time() - begun
    place = np.argsort(order)
    ordered = place[neighbors[order]].astype(np.int32), weights[order], candidates[order]
    scores = effect_scores(neighbors, weights, candidates)
    assert (effect_scores(*ordered) == scores[order]).all()
    before = cpu(lambda: effect_scores(neighbors, weights, candidates))
    after = cpu(lambda: effect_scores(*ordered))
    return (
        f"`plcore.query.memory_order` on {n:,} rows in random order: {took:.1f} CPU s once, then APL takes "
        f"{after:.3f} s instead of {before:.3f} s; the scores are the same."
    )


def threads(n: int) -> Iterator[str]:
    """One thread over all targets against two over half of them each, at the same time."""
    yield "| rule | one thread, CPU s | two threads, CPU s of the longer one | gain |\n|---|---|---|---|"
    neighbors, weights, candidates, _ = ladder_graph(n, False, 0.9, 0.5)
    counted = np.zeros(neighbors.shape, dtype=bool)
    for name in RULES:
        rule = Rule(neighbors, weights, pack(candidates), M, name, "set", MAX_NODES, lanes_for(weights))

        def part(targets: np.ndarray, rule: Rule = rule) -> tuple[float, np.ndarray]:
            begun = time.thread_time()
            counted[targets] = False
            scores, _ = add_all_scores(rule, targets, counted, 1)
            return time.thread_time() - begun, scores

        rows = np.arange(n)
        ones, twos = [], []
        for _ in range(3):
            took, scores = part(rows)
            ones.append(took)
            with ThreadPoolExecutor(2) as pool:
                halves = list(pool.map(part, np.array_split(rows, 2)))
            assert (halves[0][1] + halves[1][1] == scores).all()
            twos.append(max(half[0] for half in halves))
        yield f"| {name.upper()} | {min(ones):.3f} | {min(twos):.3f} | {min(ones) / min(twos):.2f} |"


def one_answer(n: int) -> Iterator[str]:
    yield (
        "| rule | fit on a given graph, CPU s | update, median us | p95 us | update + next question + settled share, "
        "median us |\n|---|---|---|---|---|"
    )
    neighbors, weights, candidates, truth = ladder_graph(n, False, 0.9, 0.5)
    rng = np.random.default_rng(1)
    for rule in RULES:
        begun = time.process_time()
        ranker = EffectRanker(rule, K).fit_graph(neighbors, weights, candidates, np.arange(n))
        fit = time.process_time() - begun
        ranker.next()
        assert ranker.settled_ < 1
        rows = rng.permutation(np.flatnonzero(candidates.sum(axis=1) > 1))[:2000]
        updates, all_of_it = [], []
        gc.disable()
        for row in rows.tolist():
            answer = np.arange(M) == truth[row]
            begun = time.thread_time_ns()
            ranker.update(row, answer)
            updates.append(time.thread_time_ns() - begun)
            ranker.next()
            assert ranker.settled_ < 1
            all_of_it.append(time.thread_time_ns() - begun)
        gc.enable()
        median, p95 = np.percentile(updates, [50, 95]) / 1e3
        yield f"| {rule.upper()} | {fit:.2f} | {median:.0f} | {p95:.0f} | {np.median(all_of_it) / 1e3:.0f} |"


MEMORY = """
import resource, numpy as np
from benchmarks.ranking import ladder_graph, K
from plcore.query import EffectRanker, effect_scores
import plcore
plcore.compile_kernels()
graph = ladder_graph({n}, False, 0.9, 0.5)[:3]
import ctypes, gc; gc.collect(); ctypes.CDLL("libc.so.6").malloc_trim(0)
def now():
    return int(open("/proc/self/statm").read().split()[1]) * resource.getpagesize()
open("/proc/self/clear_refs", "w").write("5")
before = now() - sum(a.nbytes for a in graph)
ranker = EffectRanker("{rule}", K).fit_graph(*graph, np.arange({n}))
ranker.next(); ranker.settled_
if {votes}: ranker.votes_.votes
peak = int([l for l in open("/proc/self/status") if l.startswith("VmHWM")][0].split()[1]) * 1024
print(peak - before, now() - before)
"""


def memory(n: int) -> Iterator[str]:
    yield "| rule | peak while fitting, MB | afterwards, MB |\n|---|---|---|"
    for rule, votes in (("apl", False), ("pl", False), ("apl", True)):
        run = subprocess.run(
            [sys.executable, "-c", MEMORY.format(n=n, rule=rule, votes=votes)],
            capture_output=True, text=True, check=True,
        )  # fmt: skip
        peak, after = (int(part) / 1e6 for part in run.stdout.split())
        yield f"| {rule.upper()}{', votes asked for too' if votes else ''} | {peak:.0f} | {after:.0f} |"


# 2) Peers


def peers(sizes: tuple[int, ...]) -> Iterator[str]:
    """CPU seconds to rank a pool, neighbours and model fitting included."""
    from sklearn.neighbors import KNeighborsClassifier

    def ours(rule: str) -> Callable[[np.ndarray, np.ndarray, np.ndarray], object]:
        return lambda X, y, known: EffectRanker(rule, K).fit(X, pool_sets(y, known)).next(1)

    def active_ml(X: np.ndarray, y: np.ndarray, known: np.ndarray) -> object:
        from skactiveml.classifier import SklearnClassifier
        from skactiveml.pool import UncertaintySampling

        labels = np.where(known, y, np.nan)
        model = SklearnClassifier(KNeighborsClassifier(K), classes=np.arange(M), random_state=0)
        query = UncertaintySampling(method="entropy", random_state=0)
        return query.query(X=X, y=labels, clf=model, batch_size=1)

    def active_ml_parzen(X: np.ndarray, y: np.ndarray, known: np.ndarray) -> object:
        from skactiveml.classifier import ParzenWindowClassifier
        from skactiveml.pool import UncertaintySampling

        if len(X) > 10_000:
            raise MemoryError("its kernel matrix would not fit")
        model = ParzenWindowClassifier(classes=np.arange(M), random_state=0)
        query = UncertaintySampling(method="entropy", random_state=0)
        return query.query(X=X, y=np.where(known, y, np.nan), clf=model, batch_size=1)

    def modal(X: np.ndarray, y: np.ndarray, known: np.ndarray) -> object:
        from modAL.models import ActiveLearner
        from modAL.uncertainty import entropy_sampling

        learner = ActiveLearner(
            KNeighborsClassifier(K), query_strategy=entropy_sampling, X_training=X[known], y_training=y[known]
        )
        return learner.query(X[~known])

    rng = np.random.default_rng(0)
    for rule in ("apl", "pl"):  # whatever is compiled at first use, in the search too
        ours(rule)(rng.normal(size=(12_000, 10)), rng.integers(M, size=12_000), rng.random(12_000) < 0.3)
    rows = {
        "Winnow, APL": ours("apl"),
        "Winnow, exact PL": ours("pl"),
        "Winnow, APL, the neighbours known": None,
        "scikit-activeml, entropy, 10-NN": active_ml,
        "scikit-activeml, entropy, Parzen window (its default)": active_ml_parzen,
        "modAL, entropy, 10-NN": modal,
    }
    pools = {}
    for n in sizes:
        centres = rng.normal(size=(M, 10)) * 2
        y = rng.integers(M, size=n)
        pools[n] = centres[y] + rng.normal(size=(n, 10)), y, rng.random(n) < 0.3
    yield "| CPU s (ratio to Winnow, APL) | " + " | ".join(f"{n:,}" for n in sizes) + " |"
    yield "|---" * (len(sizes) + 1) + "|"
    base: dict[int, float] = {}
    for name, call in rows.items():
        cells = []
        for n, pool in pools.items():
            try:
                with ExitStack() as limit, warnings.catch_warnings():
                    warnings.simplefilter("ignore")
                    limit.enter_context(threadpool_limits(1))  # threads that wait for one another burn CPU
                    run = call if call is not None else known_graph(*pool)
                    took = cpu(lambda: run(*pool), 2)  # noqa: B023
                base.setdefault(n, took)
                cells.append(f"{took:.3f} ({took / base[n]:.2f})")
            except Exception as error:  # whatever a peer raises belongs in its cell
                cells.append(f"not run: {type(error).__name__}: {str(error)[:60]}")
        yield f"| {name} | {' | '.join(cells)} |"


def known_graph(X: np.ndarray, y: np.ndarray, known: np.ndarray) -> Callable[..., object]:
    graph = NeighborGraph(X, K, "linear", "minmax").own_neighbors()
    sets = pool_sets(y, known)
    return lambda *_: EffectRanker("apl", K).fit_graph(*graph, sets, np.arange(len(X))).next(1)


def pool_sets(y: np.ndarray, known: np.ndarray) -> np.ndarray:
    """Labelled rows precise; the pool with half of the other labels as further candidates."""
    sets = contaminate(y, p=1.0, q=0.5, random_state=0)
    sets[known] = np.eye(M, dtype=bool)[y[known]]
    return sets


# 3) Batches


def batch_curves(repeats: int) -> dict[str, np.ndarray]:
    """Mean test error over the rounds, (sets x settings, arms): ten questions a round, ten rounds."""
    arms = ("one by one", "top 10", "damping 0.5", "damping 0")
    found: dict[str, list[np.ndarray]] = {}
    for name, (X, y) in load_sets().items():
        for p, q in SETTINGS:
            errors = np.zeros((repeats, len(arms)))
            for repeat in range(repeats):
                rng = np.random.default_rng(repeat)
                order = rng.permutation(len(y))[:3000]
                test, train = order[: len(order) // 3], order[len(order) // 3 :]
                m = int(y.max()) + 1
                sets = contaminate(y, p=p, q=q, random_state=repeat)[train]
                graph = NeighborGraph(X[train], 6, "linear", "minmax")
                own, outside = graph.own_neighbors(), graph.neighbors_of(X[test])
                for arm, kind in enumerate(arms):
                    ranker = EffectRanker("apl", 6, damping=0.0 if kind == "damping 0" else 0.5)
                    ranker.fit_graph(*own, sets, np.arange(len(train)))
                    curve = []
                    for _ in range(10):
                        if kind == "one by one":
                            for _ in range(10):
                                tell(ranker, ranker.next(1), y[train], m)
                        else:
                            rows = ranker.top(10) if kind == "top 10" else ranker.next(10)
                            tell(ranker, rows, y[train], m)
                        h = winners(*outside, ranker.candidates_)
                        curve.append(error_rate(h, y[test], "uniform", classes=np.arange(m)))
                    errors[repeat, arm] = np.mean(curve)
            found[f"{name} ({p}, {q})"] = list(errors.mean(axis=0) * 100)
    return {name: np.array(values) for name, values in found.items()}


def tell(ranker: EffectRanker, rows: np.ndarray, y: np.ndarray, m: int) -> None:
    for row in rows.tolist():
        ranker.update(row, np.arange(m) == y[row])


def batches(repeats: int) -> Iterator[str]:
    curves = batch_curves(repeats)
    yield "| set, Random contamination | one by one | top 10 | batch, damping 0.5 | batch, damping 0 |"
    yield "|---|---|---|---|---|"
    for name, errors in curves.items():
        yield f"| {name} | " + " | ".join(f"{error:.2f}" for error in errors) + " |"
    table = np.array(list(curves.values()))
    yield "| **mean** | " + " | ".join(f"{error:.2f}" for error in table.mean(axis=0)) + " |"
    yield ""
    for arm, kind in ((2, "damping 0.5 (the default)"), (3, "damping 0")):
        gain = table[:, 1] - table[:, arm]
        yield (
            f"A batch of 10 with {kind} against the top 10: {table[:, 1].mean():.2f} -> {table[:, arm].mean():.2f} "
            f"mean error, better in {(gain > 1e-9).sum()}, equal in {(abs(gain) <= 1e-9).sum()}, worse in "
            f"{(gain < -1e-9).sum()} of {len(gain)}.\n"
        )


def installed(package: str) -> str:
    try:
        return f"{package} {version(package)}"
    except PackageNotFoundError:
        return f"{package} not installed"


def main() -> None:
    compile_kernels()
    parts = [
        "CPU seconds throughout; 10 classes, 10 neighbours, every row a target and its own first neighbour, integer "
        "weights, neighbour search excluded. Contamination (p, q): with probability p a row is ambiguous, each other "
        "label joins with probability q.",
        "## A full ranking: `effect_scores`, checks included",
        f"Targets at 1,000,000 rows: MW {TARGETS['mw']} s, APL {TARGETS['apl']} s (0.25 s with neighbours near in "
        f"memory), PL {TARGETS['pl']} s.",
        "\n".join(full_rankings((10_000, 100_000, 1_000_000))),
        ordering(1_000_000),
        "## Two threads, 1,000,000 rows",
        "Target: at least 1.8 times; the same bits checked. The gain if each thread has a core to itself: CPU seconds "
        "of one thread over those of the longer of two, which share memory and caches (with each other, and here with "
        "whatever else the machine does).",
        "\n".join(threads(1_000_000)),
        "## One answer at 1,000,000 rows",
        "Targets: APL at most 50 us, PL 150 us. Rows taken at random among the ambiguous ones.",
        "\n".join(one_answer(1_000_000)),
        "## Memory at 1,000,000 rows",
        "Resident memory beyond the interpreter, the graph given to it included (neighbours int32 40 MB, weights "
        "int64 80 MB, candidates 10 MB). Target: at most 400 MB.",
        "\n".join(memory(1_000_000)),
        "## Beside peers",
        f"{installed('scikit-activeml')}, {installed('modAL-python')} (`pip install -r requirements-bench.txt`). One "
        "query on a pool of points in 10 dimensions, 30 % labelled, everything included: neighbours, model, scores. "
        "The "
        "peers know no candidate sets: they search neighbours among the labelled rows only and rank the others by the "
        "entropy of a model. Winnow searches the neighbours of every row, once; after an answer it takes the time of "
        "the section above, the peers start again.",
        "\n".join(peers((2_000, 10_000, 50_000))),
        "## Does a batch of 10 beat the top 10?",
        "Mean test error in % (ties as expected error) over ten rounds of ten questions, K = 6, APL, three repeats, at "
        "most 3,000 rows of each set, a third of them held out.",
        "\n".join(batches(3)),
    ]
    peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024
    parts.append(f"Peak memory of the whole benchmark: {peak:.0f} MB.")
    report.write(
        "ranking",
        "Ranking questions: speed, peers, batches",
        "\n\n".join(parts),
        ("numpy", "numba", "scikit-learn"),
    )


if __name__ == "__main__":
    main()
