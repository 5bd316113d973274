"""Speed of neighbour search and of query scores, next to peers; batches."""

from __future__ import annotations

import ctypes
import gc
import os
import subprocess
import sys
import time
import tracemalloc
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from functools import partial
from itertools import product
from typing import Any

import numpy as np
from scipy import sparse
from sklearn.neighbors import NearestNeighbors
from sklearn.preprocessing import minmax_scale

from benchmarks.data import exact_set
from benchmarks.harness import (
    Rows,
    Table,
    benchmark,
    clocked,
    cpu,
    cpu_of_children,
    folder,
    has,
    in_process,
    page,
    percentiles,
    sized,
    tabled,
)
from benchmarks.processes import forget_peak, peak, resident
from benchmarks.questions.runs import NAMES
from plcore import compile_kernels
from plcore.evaluation import contaminate, error_rate
from plcore.neighbors.graph import NeighborGraph
from plcore.neighbors.near import pack
from plcore.neighbors.search import compile_search, make_search
from plcore.query import EffectRanker, effect_scores, memory_order, winners
from plcore.query.effects import Rule, add_all_scores, lanes_for
from plcore.query.possible import MAX_NODES

LIBRARIES = ("faiss-cpu", "pynndescent")
N, D, K = sized((100_000, 64, 10), tiny=(3_000, 64, 10))
AIM = 0.99
# Peers get their parameter by trial: the cheapest that reaches the target recall, or the last.
PROBES, WIDTHS = (2, 4, 8, 16, 32, 64, 128), (10, 15, 20, 30, 40)
COLD = {
    "Winnow": "from plcore.neighbors.search import compile_search; compile_search()",
    "faiss-cpu": """
import faiss, numpy as np
X = np.random.default_rng(0).random((5000, 64), dtype='f4')
faiss.knn(X, X, 10)""",
    "pynndescent": """
import numpy as np, pynndescent
X = np.random.default_rng(0).random((5000, 64), dtype='f4')
pynndescent.NNDescent(X, n_neighbors=10, random_state=0).query(X[:100], k=10)""",
}


def clustered(rng: np.random.Generator, n: int = N) -> np.ndarray:
    """Return rows of 200 round clusters."""
    return rng.normal(size=(200, D))[rng.integers(200, size=n)] + 0.5 * rng.normal(size=(n, D))


def curved(rng: np.random.Generator, n: int = N) -> np.ndarray:
    """Return rows on a curved surface of 10 dimensions in 64, with noise."""
    return np.tanh(rng.normal(size=(n, 10)) @ rng.normal(size=(10, D))) + 0.05 * rng.normal(size=(n, D))


def digits(rng: np.random.Generator, n: int = N) -> np.ndarray:
    """Return usps, its 64 largest principal components, repeated with noise of 0.3 standard deviations."""
    pixels = exact_set("usps")[0]
    pixels = pixels - pixels.mean(axis=0)
    scores = pixels @ np.linalg.svd(pixels, full_matrices=False)[2][:D].T
    return scores[rng.integers(len(scores), size=n)] + rng.normal(size=(n, D)) * 0.3 * scores.std(axis=0)


def formless(rng: np.random.Generator, n: int = N) -> np.ndarray:
    """Return independent normal numbers, without structure for an index."""
    return rng.normal(size=(n, D))


def recall(found: np.ndarray, exact: np.ndarray) -> float:
    """Return the share of the true neighbours found; both (q, k), in any order."""
    both = np.sort(np.hstack([found, exact]), axis=1)
    return float((both[:, 1:] == both[:, :-1]).sum() / exact.size)


def without_own(rows: np.ndarray) -> np.ndarray:
    """Remove each query's own row: (n, K) rows found -> (n, K - 1) others."""
    other = rows != np.arange(len(rows))[:, None]
    other[other.all(axis=1), -1] = False
    return rows[other].reshape(len(rows), -1)


def faiss_flat(X: np.ndarray, _: int) -> np.ndarray:
    import faiss

    return faiss.knn(X, X, K)[1]


def faiss_cells(X: np.ndarray, probes: int) -> np.ndarray:
    import faiss

    index = faiss.IndexIVFFlat(faiss.IndexFlatL2(D), D, min(500, len(X) // 40))
    index.cp.niter, index.cp.max_points_per_centroid = 8, 64
    index.train(X)
    index.add(X)
    index.nprobe = probes
    return index.search(X, K)[1]


def faiss_graph(X: np.ndarray, wide: int) -> np.ndarray:
    import faiss

    index = faiss.IndexHNSWFlat(D, 16)
    index.hnsw.efConstruction = index.hnsw.efSearch = wide
    index.add(X)
    return index.search(X, K)[1]


def descent(X: np.ndarray, width: int) -> np.ndarray:
    import pynndescent

    return pynndescent.NNDescent(X, n_neighbors=width, random_state=0, n_jobs=1).neighbor_graph[0][:, :K]


RIVALS: tuple[tuple[str, str, tuple[int, ...], Callable[[np.ndarray, int], np.ndarray], str], ...] = (
    ("faiss-cpu", "faiss, flat", (0,), faiss_flat, ""),
    ("faiss-cpu", "faiss, IVF", PROBES, faiss_cells, "{} of 500 cells"),
    ("faiss-cpu", "faiss, HNSW", (64, 128), faiss_graph, "M 16, ef {}"),
    ("pynndescent", "pynndescent", WIDTHS, descent, "n_neighbors {}"),
)


def one_set(table: Table, make: Callable[[np.random.Generator], np.ndarray]) -> None:
    name, X = make.__name__, minmax_scale(make(np.random.default_rng(0)))
    own, single = np.arange(N), X.astype(np.float32)
    (exact, _), seconds = clocked(lambda: make_search(X, K, "exact").nearest(X, K - 1, own))
    checked = np.random.default_rng(1).choice(N, 200, replace=False)
    for row in checked:  # against a brute-force scan
        squared = np.cumsum((X[row] - X) ** 2, axis=1)[:, -1]
        squared[row] = np.inf
        assert exact[row].tolist() == np.lexsort((own, squared))[: K - 1].tolist()
    table.add(name, "**Winnow, exact**", "", seconds, 1)
    quick, build = clocked(lambda: make_search(X, K, "approximate"))
    (found, _), seconds = clocked(lambda: quick.nearest(X, K - 1, own))
    cells = f"{quick.n_probed} of {quick.n_cells} cells, estimated {quick.recall:.3f}"
    table.add(name, "**Winnow, approximate**", cells, build + seconds, f"{recall(found, exact):.4f}")
    sample, brute = checked.repeat(10), NearestNeighbors(algorithm="brute").fit(X)
    seconds = clocked(lambda: brute.kneighbors(X[sample], K))[1] * N / len(sample)
    table.add(name, "scikit-learn, brute", f"from {len(sample)} rows", seconds, 1)
    for package, title, tries, search, words in RIVALS:
        if not has(package):
            continue
        for parameter in tries:
            rows, seconds = clocked(lambda search=search, at=parameter: search(single, at))
            if (share := recall(without_own(rows), exact)) >= AIM:
                break
        table.add(name, title, words.format(parameter), seconds, f"{share:.4f}")


@tabled(" | first on a machine | later", ".1f")
def cold_starts() -> Rows:
    """Return CPU seconds of the first process on a machine that imports and searches, and of the next one."""
    for name, code in COLD.items():
        if name != "Winnow" and not has(name):
            continue
        seconds = [cpu_of_children()]
        with folder() as place:
            for _ in range(2):
                environment = {**os.environ, "NUMBA_CACHE_DIR": str(place)}
                subprocess.run([sys.executable, "-c", code], check=True, env=environment)
                seconds.append(cpu_of_children())
        yield name, *np.diff(seconds)


def large() -> str:
    """Measure ten times as many rows."""
    X = minmax_scale(curved(np.random.default_rng(0), 10 * N))
    tracemalloc.start()
    quick, build = clocked(lambda: make_search(X, K))
    _, seconds = clocked(lambda: quick.nearest(X, K - 1, np.arange(len(X))))
    megabytes = tracemalloc.get_traced_memory()[1] / 2**20
    tracemalloc.stop()
    return f"""{len(X):,} rows of `curved`: {quick.kind}, {quick.n_probed} of {quick.n_cells} cells,
{build + seconds:.0f} CPU s, recall {quick.recall:.3f} on its sample, at most {megabytes:.0f} MB beyond the features,
{2 * 8 * (K - 1)} of them the result."""


def rows_of_nothing() -> str:
    """Measure rows that are all equally far apart: one column of different categories."""
    n = N // 2
    X: Any = sparse.eye(n, format="csr") * 0.5**0.5
    seconds = clocked(lambda: make_search(X, K).nearest(X, K - 1, np.arange(n)))[1]
    return f"{n:,} different categories in one column, all rows equally far apart: {seconds:.1f} CPU s, exact."


@benchmark("Neighbour search", peers=LIBRARIES)
def neighbors() -> str:
    starts, table = cold_starts(), Table("rows | search | with | CPU s | recall", ".1f")
    compile_search()
    if has("faiss-cpu"):
        import faiss

        faiss.omp_set_num_threads(1)
    if has("pynndescent"):
        descent(clustered(np.random.default_rng(0), 5000).astype(np.float32), K)  # compile before timing
    for make in (clustered, digits, curved, formless):
        one_set(table, make)
    return page(
        f"""{N:,} rows, {D} features scaled to [0, 1], the {K - 1} nearest others of every row, one thread. CPU
seconds with building, without compiling. Recall over all rows against Winnow's exact search, which is checked against
a plain scan on 200 rows of each set. Peers work in float32 with the cheapest parameter that reaches {AIM}, or the
dearest tried; Winnow's approximate search chooses for itself. Targets: approximate at most 5 s with recall at least
{AIM}, exact at most 25 s. `formless` has no structure to use and is here to show what happens then.""",
        table,
        large(),
        rows_of_nothing(),
        "Cost of a process before its first search (imports included), CPU s:",
        starts,
    )


# Query scores

PEERS = ("scikit-activeml", "modAL-python")
M = 10
RULES = ("mw", "apl", "pl")
SETTINGS = ((0.7, 0.5), (0.9, 0.5), (0.9, 0.9))  # Random contamination
SIZES, POOLS = sized(((10_000, 100_000, 1_000_000), (2_000, 10_000, 50_000)), tiny=((2_000,), (400,)))
MOST = SIZES[-1]
ANSWERS, ROUNDS = sized((2_000, 3), tiny=(20, 1))
ARMS = ("one by one", "top 10", "batch, damping 0.5", "batch, damping 0")

Arrays = tuple[np.ndarray, ...]


def ladder_graph(n: int, local: bool, p: float, q: float) -> Arrays:
    """Return neighbors (n, K), weights, candidates (n, M), truth: every row a target and its own first neighbour.

    Neighbours are rows at most eight places away along a line whose truth changes now and then; not local: the same
    rows in random order, so that neighbours are scattered in memory.
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
    return neighbors.astype(np.int32), weights, contaminate(truth, p=p, q=q, random_state=0), truth


@tabled("rows | contamination | neighbours in memory | MW | APL | PL")
def full_rankings() -> Rows:
    for n, (p, q), local in product(SIZES, SETTINGS, (False, True)):
        graph = ladder_graph(n, local, p, q)[:3]
        spent = [cpu(lambda: effect_scores(*graph, rule=rule)) for rule in RULES]  # noqa: B023
        yield n, f"({p}, {q})", "near" if local else "anywhere", *spent


def ordering() -> str:
    neighbors, weights, candidates, _ = ladder_graph(MOST, False, 0.9, 0.5)
    order, took = clocked(lambda: memory_order(neighbors))
    place = np.argsort(order)
    ordered = place[neighbors[order]].astype(np.int32), weights[order], candidates[order]
    scores = effect_scores(neighbors, weights, candidates)
    assert (effect_scores(*ordered) == scores[order]).all()
    before = cpu(lambda: effect_scores(neighbors, weights, candidates))
    after = cpu(lambda: effect_scores(*ordered))
    return f"""`plcore.query.memory_order` on {MOST:,} rows in random order: {took:.1f} CPU s once, then APL takes
{after:.3f} s instead of {before:.3f} s; the scores are the same."""


@tabled("rule | one thread, CPU s | two threads, CPU s of the longer one | gain")
def threads() -> Rows:
    """Compare one thread over all targets with two over half of them each, at the same time."""
    neighbors, weights, candidates, _ = ladder_graph(MOST, False, 0.9, 0.5)
    counted, rows = np.zeros(neighbors.shape, dtype=bool), np.arange(MOST)
    for name in RULES:
        rule = Rule(neighbors, weights, pack(candidates), M, name, "set", MAX_NODES, lanes_for(weights))

        def part(targets: np.ndarray, rule: Rule = rule) -> tuple[float, np.ndarray]:
            begun = time.thread_time()
            counted[targets] = False
            scores, _ = add_all_scores(rule, targets, counted, 1)
            return time.thread_time() - begun, scores

        ones, twos = [], []
        for _ in range(3):
            took, scores = part(rows)
            ones.append(took)
            with ThreadPoolExecutor(2) as pool:
                halves = list(pool.map(part, np.array_split(rows, 2)))
            assert (halves[0][1] + halves[1][1] == scores).all()
            twos.append(max(half[0] for half in halves))
        one, two = min(ones), min(twos)
        yield name.upper(), one, two, f"{one / two:.2f}"


def one_answer() -> Table:
    head = "rule | fit on a given graph, CPU s | update, median us | p95 us"
    table = Table(f"{head} | update + next question + settled share, median us", ".0f")
    neighbors, weights, candidates, truth = ladder_graph(MOST, False, 0.9, 0.5)
    rng = np.random.default_rng(1)
    for rule in RULES:
        ranker, fit = clocked(
            lambda r=rule: EffectRanker(r, K).fit_graph(neighbors, weights, candidates, np.arange(MOST))
        )
        ranker.next()
        assert ranker.settled_ < 1
        rows = rng.permutation(np.flatnonzero(candidates.sum(axis=1) > 1))[:ANSWERS]
        updates, all_of_it = [], []
        gc.disable()
        for row in rows.tolist():
            answer = np.arange(M) == truth[row]
            begun = time.thread_time_ns()
            ranker.update(row, answer)
            updates.append((time.thread_time_ns() - begun) / 1e3)
            ranker.next()
            assert ranker.settled_ < 1
            all_of_it.append((time.thread_time_ns() - begun) / 1e3)
        gc.enable()
        table.add(rule.upper(), f"{fit:.2f}", *percentiles(updates, 50, 95), np.median(all_of_it))
    return table


def memory_of(rule: str, votes: bool) -> tuple[float, float]:
    """Return MB at the peak of fitting, and after it, including the graph, from a separate process."""
    compile_kernels()
    graph = ladder_graph(MOST, False, 0.9, 0.5)[:3]
    gc.collect()
    ctypes.CDLL("libc.so.6").malloc_trim(0)
    forget_peak()
    before = resident() - sum(one.nbytes for one in graph) / 1e6
    ranker = EffectRanker(rule, K).fit_graph(*graph, np.arange(MOST))
    _ = ranker.next(), ranker.settled_, ranker.votes_.votes if votes else None
    return peak() - before, resident() - before


@tabled("rule | peak while fitting, MB | afterwards, MB", ".0f")
def memory() -> Rows:
    for rule, votes in (("apl", False), ("pl", False), ("apl", True)):
        yield rule.upper() + ", with votes returned" * votes, *in_process(memory_of, rule, votes)


# Peers


def pool_sets(y: np.ndarray, known: np.ndarray) -> np.ndarray:
    """Make labelled rows precise; in the pool, half of the other labels are further candidates."""
    sets = contaminate(y, p=1.0, q=0.5, random_state=0)
    sets[known] = np.eye(M, dtype=bool)[y[known]]
    return sets


def ours(rule: str) -> Callable[..., object]:
    return lambda X, y, known: EffectRanker(rule, K).fit(X, pool_sets(y, known)).next(1)


def known_graph(X: np.ndarray, y: np.ndarray, known: np.ndarray) -> Callable[..., object]:
    graph = NeighborGraph(X, K, "linear", "minmax").own_neighbors()
    sets = pool_sets(y, known)
    return lambda *_: EffectRanker("apl", K).fit_graph(*graph, sets, np.arange(len(X))).next(1)


def active_ml(X: np.ndarray, y: np.ndarray, known: np.ndarray, *, parzen: bool = False) -> object:
    from skactiveml.classifier import ParzenWindowClassifier, SklearnClassifier
    from skactiveml.pool import UncertaintySampling
    from sklearn.neighbors import KNeighborsClassifier

    if parzen and len(X) > 10_000:
        raise MemoryError("its kernel matrix would not fit")
    how = {"classes": np.arange(M), "random_state": 0}
    model = ParzenWindowClassifier(**how) if parzen else SklearnClassifier(KNeighborsClassifier(K), **how)
    query = UncertaintySampling(method="entropy", random_state=0)
    return query.query(X=X, y=np.where(known, y, np.nan), clf=model, batch_size=1)


def modal(X: np.ndarray, y: np.ndarray, known: np.ndarray) -> object:
    from modAL.models import ActiveLearner
    from modAL.uncertainty import entropy_sampling
    from sklearn.neighbors import KNeighborsClassifier

    given = {"X_training": X[known], "y_training": y[known]}
    return ActiveLearner(KNeighborsClassifier(K), query_strategy=entropy_sampling, **given).query(X[~known])


def peers() -> Table:
    """Return CPU seconds to rank a pool, including neighbours and model fitting."""
    rng = np.random.default_rng(0)
    for rule in ("apl", "pl"):  # compile everything used first, including the search
        ours(rule)(rng.normal(size=(12_000, 10)), rng.integers(M, size=12_000), rng.random(12_000) < 0.3)
    rows: dict[str, tuple[str, Any]] = {
        "Winnow, APL": ("numpy", ours("apl")),
        "Winnow, exact PL": ("numpy", ours("pl")),
        "Winnow, APL, neighbours precomputed": ("numpy", None),
        "scikit-activeml, entropy, 10-NN": (PEERS[0], active_ml),
        "scikit-activeml, entropy, Parzen window (its default)": (PEERS[0], partial(active_ml, parzen=True)),
        "modAL, entropy, 10-NN": (PEERS[1], modal),
    }
    pools = {}
    for n in POOLS:
        centres, y = rng.normal(size=(M, 10)) * 2, rng.integers(M, size=n)
        pools[n] = centres[y] + rng.normal(size=(n, 10)), y, rng.random(n) < 0.3
    table, base = Table(["CPU s (ratio to Winnow, APL)", *(f"{n:,}" for n in POOLS)]), {}
    for name, (package, call) in rows.items():
        cells = []
        for n, pool in pools.items() if has(package) else ():
            try:
                run = call if call is not None else known_graph(*pool)
                took = cpu(lambda: run(*pool), 2)  # noqa: B023
                base.setdefault(n, took)
                cells.append(f"{took:.3f} ({took / base[n]:.2f})")
            except Exception as error:  # a peer's error is shown in its cell
                cells.append(f"not run: {type(error).__name__}: {str(error)[:60]}")
        table.add(name, *(cells or ["not installed"]))
    return table


# Batches


def batch_errors(name: str, p: float, q: float) -> np.ndarray:
    """Return (ARMS,) mean test error in % over ten rounds of ten questions."""
    X, y = exact_set(name, fill=np.nanmean)
    m, errors = int(y.max()) + 1, np.zeros((ROUNDS, len(ARMS)))
    for repeat in range(ROUNDS):
        order = np.random.default_rng(repeat).permutation(len(y))[:3000]
        test, train = order[: len(order) // 3], order[len(order) // 3 :]
        sets = contaminate(y, p=p, q=q, random_state=repeat)[train]
        graph = NeighborGraph(X[train], 6, "linear", "minmax")
        own, outside = graph.own_neighbors(), graph.neighbors_of(X[test])
        for arm, kind in enumerate(ARMS):
            ranker = EffectRanker("apl", 6, damping=0.0 if kind == ARMS[3] else 0.5)
            ranker.fit_graph(*own, sets, np.arange(len(train)))
            for _ in range(10):
                for _ in range(10 if kind == ARMS[0] else 1):
                    rows = ranker.top(10) if kind == ARMS[1] else ranker.next(1 if kind == ARMS[0] else 10)
                    for row in rows.tolist():
                        ranker.update(row, np.arange(m) == y[train][row])
                best = winners(*outside, ranker.candidates_)
                errors[repeat, arm] += 10 * error_rate(best, y[test], "uniform", classes=np.arange(m))
    return errors.mean(axis=0)


def batches() -> str:
    table, found = Table(["set, Random contamination", *ARMS], ".2f"), []
    for name, (p, q) in product(NAMES, SETTINGS):
        found.append(batch_errors(name, p, q))
        table.add(f"{name} ({p}, {q})", *found[-1])
    errors = np.array(found)
    table.add("**mean**", *errors.mean(axis=0))
    says = []
    for arm, kind in ((2, "damping 0.5 (the default)"), (3, "damping 0")):
        gain = errors[:, 1] - errors[:, arm]
        says.append(
            f"""A batch of 10 with {kind} against the top 10: {errors[:, 1].mean():.2f} -> {errors[:, arm].mean():.2f}
mean error, better in {(gain > 1e-9).sum()}, equal in {(abs(gain) <= 1e-9).sum()}, worse in {(gain < -1e-9).sum()} of
{len(gain)}."""
        )
    return page(table, *says)


@benchmark("Ranking questions: speed, peers, batches", peers=PEERS)
def ranking() -> str:
    """CPU seconds throughout, the best of a few runs; 10 classes, 10 neighbours, every row a target and its own first
    neighbour, integer weights, neighbour search excluded. Contamination (p, q): with probability p a row is ambiguous,
    each other label joins with probability q."""
    compile_kernels()
    return page(
        "## A full ranking: `effect_scores`, checks included",
        """Targets at 1,000,000 rows: MW 0.15 s, APL 0.6 s (0.25 s with neighbours near in memory), PL 6.0 s.""",
        full_rankings(),
        ordering(),
        f"## Two threads, {MOST:,} rows",
        """Target: at least 1.8 times; the same bits checked. The gain if each thread has a core to itself: CPU
seconds of one thread over those of the longer of two, which share memory and caches (with each other, and here with
whatever else the machine does).""",
        threads(),
        f"## One answer at {MOST:,} rows",
        "Targets: APL at most 50 us, PL 150 us. Rows taken at random among the ambiguous ones.",
        one_answer(),
        f"## Memory at {MOST:,} rows",
        """Resident memory beyond the interpreter, the graph given to it included (neighbours int32 40 MB, weights
int64 80 MB, candidates 10 MB). Target: at most 400 MB.""",
        memory(),
        "## Beside peers",
        """One query on a pool of points in 10 dimensions, 30% labelled, everything included: neighbours, model,
scores. The peers know no candidate sets: they search neighbours among the labelled rows only and rank the others by
the entropy of a model. Winnow searches the neighbours of every row, once; after an answer it takes the time of the
section above, the peers start again.""",
        peers(),
        "## Does a batch of 10 beat the top 10?",
        f"""Mean test error in % (ties as expected error) over ten rounds of ten questions, K = 6, APL, {ROUNDS}
repeats, at most 3,000 rows of each set, a third of them held out.""",
        batches(),
        f"Peak memory of the whole benchmark: {peak():.0f} MB.",
    )
