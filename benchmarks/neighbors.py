"""Neighbour search beside the libraries one could use instead: CPU seconds of one core and recall.

faiss-cpu and pynndescent are not needed by Winnow; `pip install -r requirements-bench.txt` brings them.
"""

from __future__ import annotations

import importlib.util
import os
import resource
import subprocess
import sys
import tempfile
import time
import tracemalloc
from collections.abc import Callable
from typing import Any

import numpy as np
from scipy import sparse
from sklearn.neighbors import NearestNeighbors
from threadpoolctl import threadpool_limits

from benchmarks import report
from plcore.neighbors.search import compile_search, make_search
from tests.conftest import DATA

N, D, K = 100_000, 64, 10
AIM = 0.99
PEERS = {"faiss": "faiss-cpu", "pynndescent": "pynndescent"}  # module: package
# Peers get their parameter by trying: the cheapest that reaches the recall aimed at, or the last.
PROBES = (2, 4, 8, 16, 32, 64, 128)
WIDTHS = (10, 15, 20, 30, 40)

COLD = {
    "Winnow": "from plcore.neighbors.search import compile_search; compile_search()",
    "faiss": """
import faiss, numpy as np
X = np.random.default_rng(0).random((5000, 64), dtype='f4')
faiss.knn(X, X, 10)""",
    "pynndescent": """
import numpy as np, pynndescent
X = np.random.default_rng(0).random((5000, 64), dtype='f4')
pynndescent.NNDescent(X, n_neighbors=10, random_state=0).query(X[:100], k=10)""",
}


def clustered(rng: np.random.Generator, n: int = N) -> np.ndarray:
    """200 round clusters."""
    return rng.normal(size=(200, D))[rng.integers(200, size=n)] + 0.5 * rng.normal(size=(n, D))


def curved(rng: np.random.Generator, n: int = N) -> np.ndarray:
    """A curved surface of 10 dimensions in 64, with noise."""
    return np.tanh(rng.normal(size=(n, 10)) @ rng.normal(size=(10, D))) + 0.05 * rng.normal(size=(n, D))


def digits(rng: np.random.Generator, n: int = N) -> np.ndarray:
    """usps, its 64 largest principal components, repeated with noise of 0.3 standard deviations."""
    pixels = np.loadtxt(DATA / "usps.csv.gz", delimiter=",", skiprows=1, usecols=range(256))
    pixels -= pixels.mean(axis=0)
    scores = pixels @ np.linalg.svd(pixels, full_matrices=False)[2][:D].T
    return scores[rng.integers(len(scores), size=n)] + rng.normal(size=(n, D)) * 0.3 * scores.std(axis=0)


def formless(rng: np.random.Generator, n: int = N) -> np.ndarray:
    """Independent normal numbers: nothing that an index could use."""
    return rng.normal(size=(n, D))


def scaled(X: np.ndarray) -> np.ndarray:
    return np.ascontiguousarray((X - X.min(axis=0)) / np.ptp(X, axis=0))


def timed(call: Callable[[], Any]) -> tuple[Any, float]:
    begun = time.process_time()
    result = call()
    return result, time.process_time() - begun


def recall(found: np.ndarray, exact: np.ndarray) -> float:
    """Share of the true neighbours found; both (q, k), in any order."""
    both = np.sort(np.hstack([found, exact]), axis=1)
    return float((both[:, 1:] == both[:, :-1]).sum() / exact.size)


def without_own(rows: np.ndarray) -> np.ndarray:
    """(n, K) rows found by a search that also finds the query's own -> (n, K - 1) others."""
    other = rows != np.arange(len(rows))[:, None]
    other[other.all(axis=1), -1] = False
    return rows[other].reshape(len(rows), -1)


def cheapest(
    tries: tuple[int, ...], run: Callable[[int], np.ndarray], exact: np.ndarray
) -> tuple[int, float, float]:
    """(parameter, CPU seconds, recall) of the first try that reaches the recall aimed at, or of the last."""
    for parameter in tries:
        found, seconds = timed(lambda parameter=parameter: run(parameter))
        share = recall(without_own(found), exact)
        if share >= AIM:
            break
    return parameter, seconds, share


def faiss_cells(X: np.ndarray, probes: int) -> np.ndarray:
    import faiss

    index = faiss.IndexIVFFlat(faiss.IndexFlatL2(D), D, 500)
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


def one_set(make: Callable[[np.random.Generator], np.ndarray]) -> list[str]:
    X = scaled(make(np.random.default_rng(0)))
    own, single = np.arange(N), X.astype(np.float32)
    (exact, _), seconds = timed(lambda: make_search(X, K, "exact").nearest(X, K - 1, own))
    checked = np.random.default_rng(1).choice(N, 200, replace=False)
    for row in checked:  # against a plain scan
        squared = np.cumsum((X[row] - X) ** 2, axis=1)[:, -1]
        squared[row] = np.inf
        assert exact[row].tolist() == np.lexsort((own, squared))[: K - 1].tolist()
    name = make.__name__
    lines = [f"| {name} | **Winnow, exact** | | {seconds:.1f} | 1 |"]
    quick, build = timed(lambda: make_search(X, K, "approximate"))
    (found, _), seconds = timed(lambda: quick.nearest(X, K - 1, own))
    lines.append(
        f"| {name} | **Winnow, approximate** | {quick.n_probed} of {quick.n_cells} cells, said {quick.recall:.3f} "
        f"| {build + seconds:.1f} | {recall(found, exact):.4f} |"
    )
    sample = checked.repeat(10)
    brute = NearestNeighbors(algorithm="brute").fit(X)
    seconds = timed(lambda: brute.kneighbors(X[sample], K))[1] * N / len(sample)
    lines.append(f"| {name} | scikit-learn, brute | from {len(sample)} rows | {seconds:.1f} | 1 |")
    if "faiss" in installed():
        import faiss

        faiss.omp_set_num_threads(1)
        rows, seconds = timed(lambda: faiss.knn(single, single, K)[1])
        lines.append(f"| {name} | faiss, flat | | {seconds:.1f} | {recall(without_own(rows), exact):.4f} |")
        parameter, seconds, share = cheapest(PROBES, lambda p: faiss_cells(single, p), exact)
        lines.append(f"| {name} | faiss, IVF | {parameter} of 500 cells | {seconds:.1f} | {share:.4f} |")
        parameter, seconds, share = cheapest((64, 128), lambda p: faiss_graph(single, p), exact)
        lines.append(f"| {name} | faiss, HNSW | M 16, ef {parameter} | {seconds:.1f} | {share:.4f} |")
    if "pynndescent" in installed():
        descent(single[:5000], K)  # compiled before it is timed
        parameter, seconds, share = cheapest(WIDTHS, lambda p: descent(single, p), exact)
        lines.append(f"| {name} | pynndescent | n_neighbors {parameter} | {seconds:.1f} | {share:.4f} |")
    return lines


def cold_starts() -> list[str]:
    """CPU seconds of a process that imports and searches for the first time on a machine, and of the next one."""
    lines = []
    for name, code in COLD.items():
        if name != "Winnow" and name not in installed():
            continue
        seconds = []
        with tempfile.TemporaryDirectory() as folder:
            for _ in range(2):
                before = resource.getrusage(resource.RUSAGE_CHILDREN)
                environment = {**os.environ, "NUMBA_CACHE_DIR": folder}
                subprocess.run([sys.executable, "-c", code], check=True, env=environment)
                after = resource.getrusage(resource.RUSAGE_CHILDREN)
                seconds.append(after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime)
        lines.append(f"| {name} | {seconds[0]:.1f} | {seconds[1]:.1f} |")
    return lines


def large() -> str:
    """A million rows."""
    X = scaled(curved(np.random.default_rng(0), 10 * N))
    tracemalloc.start()
    quick, build = timed(lambda: make_search(X, K))
    _, seconds = timed(lambda: quick.nearest(X, K - 1, np.arange(len(X))))
    megabytes = tracemalloc.get_traced_memory()[1] / 2**20
    tracemalloc.stop()
    return (
        f"A million rows of `curved`: {quick.kind}, {quick.n_probed} of {quick.n_cells} cells, "
        f"{build + seconds:.0f} CPU s, recall {quick.recall:.3f} on its sample, at most {megabytes:.0f} MB beyond "
        f"the features, {2 * 8 * (K - 1)} of them the result."
    )


def all_different() -> str:
    """Everybody as far from everybody: one column of 50,000 different categories."""
    X = sparse.eye(N // 2, format="csr") * 0.5**0.5
    seconds = timed(lambda: make_search(X, K).nearest(X, K - 1, np.arange(N // 2)))[1]
    return f"{N // 2:,} different categories in one column, all rows equally far apart: {seconds:.1f} CPU s, exact."


def installed() -> list[str]:
    return [name for name in PEERS if importlib.util.find_spec(name) is not None]


def main() -> None:
    starts = cold_starts()
    with threadpool_limits(1):
        compile_search()
        lines = [line for make in (clustered, digits, curved, formless) for line in one_set(make)]
        ties = all_different()
        million = large()
    missing = [name for name in PEERS if name not in installed()]
    note = f"Not installed, so not measured: {', '.join(missing)}.\n\n" if missing else ""
    report.write(
        "neighbors",
        "Neighbour search",
        f"""
{N:,} rows, {D} features scaled to [0, 1], the {K - 1} nearest others of every row, one thread. CPU seconds with
building, without compiling. Recall over all rows against Winnow's exact search, which is checked against a plain scan
on 200 rows of each set. Peers work in float32 with the cheapest parameter that reaches {AIM}, or the dearest tried;
Winnow's approximate search chooses for itself. Targets: approximate at most 5 s with recall at least {AIM}, exact at
most 25 s. `formless` has no structure to use and is here to show what happens then.

| rows | search | with | CPU s | recall |
|---|---|---|---|---|
{chr(10).join(lines)}

{million}

{ties}

{note}What a process pays before its first search (imports included), CPU s:

| | first on a machine | later |
|---|---|---|
{chr(10).join(starts)}
""",
        (
            "numpy",
            "scikit-learn",
            "numba",
            *(PEERS[name] for name in installed()),
        ),
    )


if __name__ == "__main__":
    main()
