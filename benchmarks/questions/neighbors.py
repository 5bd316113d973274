"""Neighbour search compared with other libraries: CPU seconds of one core and recall."""

from __future__ import annotations

import os
import subprocess
import sys
import tracemalloc
from collections.abc import Callable
from typing import Any

import numpy as np
from scipy import sparse
from sklearn.neighbors import NearestNeighbors

from benchmarks.data import exact_set
from benchmarks.harness import Table, benchmark, clocked, cpu_of_children, folder, has, page, sized
from plcore.neighbors.search import compile_search, make_search

PEERS = ("faiss-cpu", "pynndescent")
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


def scaled(X: np.ndarray) -> np.ndarray:
    return np.ascontiguousarray((X - X.min(axis=0)) / np.ptp(X, axis=0))


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
    name, X = make.__name__, scaled(make(np.random.default_rng(0)))
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
    cells = f"{quick.n_probed} of {quick.n_cells} cells, said {quick.recall:.3f}"
    table.add(name, "**Winnow, approximate**", cells, build + seconds, f"{recall(found, exact):.4f}")
    sample, brute = checked.repeat(10), NearestNeighbors(algorithm="brute").fit(X)
    seconds = clocked(lambda: brute.kneighbors(X[sample], K))[1] * N / len(sample)
    table.add(name, "scikit-learn, brute", f"from {len(sample)} rows", seconds, 1)
    for package, title, tries, search, words in RIVALS:
        if not has(package):
            continue
        for parameter in tries:
            rows, seconds = clocked(lambda search=search, at=parameter: search(single, at))  # type: ignore[misc]
            if (share := recall(without_own(rows), exact)) >= AIM:
                break
        table.add(name, title, words.format(parameter), seconds, f"{share:.4f}")


def cold_starts() -> Table:
    """Return CPU seconds of the first process on a machine that imports and searches, and of the next one."""
    table = Table(" | first on a machine | later", ".1f")
    for name, code in COLD.items():
        if name != "Winnow" and not has(name):
            continue
        seconds = [cpu_of_children()]
        with folder() as place:
            for _ in range(2):
                environment = {**os.environ, "NUMBA_CACHE_DIR": str(place)}
                subprocess.run([sys.executable, "-c", code], check=True, env=environment)
                seconds.append(cpu_of_children())
        table.add(name, *np.diff(seconds))
    return table


def large() -> str:
    """Measure ten times as many rows."""
    X = scaled(curved(np.random.default_rng(0), 10 * N))
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


@benchmark("Neighbour search", peers=PEERS)
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
        "What a process pays before its first search (imports included), CPU s:",
        starts,
    )
