"""CPU time of the online learners with 4 candidates of 10, beside online learners of other libraries given the truth.

Ten Gaussian classes in 64 features; one thread, compiled beforehand, checks of the input included. Then a single row
at a time, a stream of ten million generated rows with its peak memory, and what `fastmath` gains.
`python -m benchmarks.online_speed 10000 100000` shows these sizes and writes nothing.
"""

from __future__ import annotations

import os
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from pathlib import Path

import numpy as np
from numba import njit
from river import linear_model, multiclass
from sklearn.linear_model import SGDClassifier
from threadpoolctl import threadpool_limits

from benchmarks import report
from benchmarks.margin_data import gaussian_classes
from plcore import PLPegasos, PLPerceptron, learn_stream
from plcore.evaluation import contaminate
from plcore.kernels.linear import two_products

SIZES = (10_000, 100_000, 1_000_000)
RIVER_ROWS = 10_000  # its learners take a dictionary a row and cost the same for each
STREAM_ROWS, CHUNK = 10_000_000, 20_000
LEARNERS = {
    "Avg Perceptron": (PLPerceptron("average"), 3.5),
    "Max Perceptron": (PLPerceptron("max"), 5.0),
    "Avg Pegasos": (PLPegasos("average"), 3.5),
    "Max Pegasos": (PLPegasos("max"), 5.0),
    "Avg Perceptron, mean of iterates": (PLPerceptron("average", average=True), None),
    "Max Pegasos, mean of iterates": (PLPegasos("max", average=True), None),
}
OTHERS = {
    "SGDClassifier, perceptron": SGDClassifier(loss="perceptron", penalty=None, learning_rate="constant", eta0=1.0),
    "SGDClassifier, hinge": SGDClassifier(alpha=1e-4, random_state=0),
}  # fmt: skip
RIVER = {
    "river SoftmaxRegression": linear_model.SoftmaxRegression,
    "river OneVsRest(Perceptron)": lambda: multiclass.OneVsRestClassifier(linear_model.Perceptron()),
}


def seconds_of(call: Callable[[], object], repeats: int) -> float:
    """The least CPU seconds of `repeats` calls."""
    taken = []
    for _ in range(repeats):
        begun = time.process_time()
        call()
        taken.append(time.process_time() - begun)
    return min(taken)


def one_pass(model: object, X: np.ndarray, y: np.ndarray) -> Callable[[], object]:
    """A pass of a fresh copy of the model over all rows."""
    return lambda: type(model)(**model.get_params()).partial_fit(X, y, classes=np.arange(10))


def rates(sizes: tuple[int, ...]) -> list[str]:
    """Lines of the first table."""
    lines = []
    test_X, test_y = gaussian_classes(20_000, 99)
    for n in sizes:
        X, y = gaussian_classes(n, 1)
        candidates = contaminate(y, "size", r=3, random_state=0)
        repeats = 7 if n <= 100_000 else 5
        sgd = {name: seconds_of(one_pass(model, X, y), 1) for name, model in OTHERS.items()}
        slowest = None
        if n == RIVER_ROWS:
            slowest = {name: river_seconds(make, X, y) for name, make in RIVER.items()}
        baseline = sgd["SGDClassifier, perceptron"]
        for name, (model, target) in LEARNERS.items():
            seconds = seconds_of(one_pass(model, X, candidates), repeats)
            accuracy = one_pass(model, X, candidates)().score(test_X, test_y)
            million = n / seconds / 1e6
            verdict = ""
            if target is not None and n == SIZES[-1]:
                verdict = f">= {target}: " + ("met" if million >= target else "**missed**")
            lines.append(row(n, name, "4 candidates", seconds, baseline, f"{accuracy:.3f}", verdict))
        floats = seconds_of(
            one_pass(LEARNERS["Max Perceptron"][0], X.astype(np.float32), candidates), repeats
        )
        lines.append(row(n, "Max Perceptron, float32", "4 candidates", floats, baseline, "", ""))
        for name, model in OTHERS.items():
            accuracy = one_pass(model, X, y)().score(test_X, test_y)
            lines.append(row(n, name, "true labels", sgd[name], baseline, f"{accuracy:.3f}", ""))
        for name, seconds in (slowest or {}).items():
            lines.append(row(n, name, "true labels", seconds, baseline, "", ""))
        print("\n".join(lines[-9:]), flush=True)
    return lines


def row(n: int, name: str, given: str, seconds: float, baseline: float, accuracy: str, verdict: str) -> str:
    return (
        f"| {n:,} | {name} | {given} | {seconds:.3f} | {n / seconds / 1e6:.3g} | {baseline / seconds:.2g} | "
        f"{accuracy} | {verdict} |"
    )


def river_seconds(make: Callable[[], object], X: np.ndarray, y: np.ndarray) -> float:
    """One pass of `learn_one`; the dictionaries are made beforehand."""
    rows = [dict(enumerate(values)) for values in X.tolist()]
    labels = y.tolist()
    model = make()
    begun = time.process_time()
    for values, label in zip(rows, labels, strict=True):
        model.learn_one(values, label)
    return time.process_time() - begun


def single_rows() -> list[str]:
    """Microseconds of `partial_fit`, `predict_then_learn`, `predict`, `get_state` and the rounds alone for one row."""
    lines = []
    rng = np.random.default_rng(0)
    for d, m in ((64, 10), (768, 100)):
        X = rng.normal(size=(500, d)) / np.sqrt(d)
        candidates = contaminate(rng.integers(m, size=500), "size", r=3, random_state=0, classes=range(m))
        rows = [(X[i : i + 1], candidates[i : i + 1]) for i in range(500)]
        for model in (PLPerceptron("max"), PLPegasos("max", average=True)):
            model.partial_fit(*rows[0])
            rules = model._rules()
            calls: tuple[Callable, ...] = (
                model.partial_fit,
                model.predict_then_learn,
                lambda x, _, one=model: one.predict(x),
                lambda _x, _y, one=model: one.get_state(),
                lambda x, y, one=model, rules=rules: one._state.learn(x, y, rules),
            )
            shown = " | ".join(microseconds(call, rows) for call in calls)
            lines.append(f"| {d} | {m} | {model} | {shown} |")
    return lines


def microseconds(call: Callable, rows: list) -> str:
    """Median and 95th percentile of the CPU time of a call, over the rows."""
    taken = []
    for x, y in rows:
        begun = time.thread_time()
        call(x, y)
        taken.append(1e6 * (time.thread_time() - begun))
    return f"{np.median(taken):.0f} ({np.percentile(taken, 95):.0f})"


def generated(rows: int) -> Iterator[tuple[np.ndarray, np.ndarray]]:
    """Chunks of Gaussian classes, made when they are asked for."""
    for seed in range(rows // CHUNK):
        X, y = gaussian_classes(CHUNK, seed)
        yield X, contaminate(y, "size", r=3, random_state=seed)


def high_water() -> float:
    """The most memory this process had so far, MB."""
    lines = Path("/proc/self/status").read_text().splitlines()
    return next(int(line.split()[1]) / 1024 for line in lines if line.startswith("VmHWM"))


def stream() -> None:
    """In a process of its own: prints rows, CPU seconds, peak memory before and after, and the running error."""
    model = PLPerceptron("max")
    learn_stream(model, generated(CHUNK))
    before = high_water()
    begun = time.process_time()
    rows = learn_stream(model, generated(STREAM_ROWS))
    seconds = time.process_time() - begun
    print(rows, seconds, before, high_water(), model.mistakes_ / model.rounds_)


def streamed() -> str:
    done = subprocess.run(
        [sys.executable, "-c", "from benchmarks.online_speed import stream; stream()"],
        capture_output=True, text=True, check=True,
    )  # fmt: skip
    rows, seconds, before, after, error = (float(word) for word in done.stdout.split())
    return (
        f"{rows:,.0f} generated rows in chunks of {CHUNK:,}: {seconds:.0f} CPU s with their making; peak memory "
        f"{after:.0f} MB (all libraries loaded and one chunk learnt: {before:.0f} MB); target < 400 MB: "
        f"{'met' if after < 400 else '**missed**'}. Predictions outside of their candidates: {error:.3f}."
    )


def products() -> tuple[float, float]:
    """Million rows a second through the products of ten classes and 64 features: with `fastmath`, without."""
    X, V = np.random.default_rng(0).normal(size=(100_000, 64)), np.random.default_rng(1).normal(size=(10, 65))

    def made(two: Callable) -> Callable:
        @njit(nogil=True, error_model="numpy")
        def run(V: np.ndarray, X: np.ndarray, scores: np.ndarray) -> None:
            for i in range(len(X)):
                for pair in range(5):
                    scores[2 * pair], scores[2 * pair + 1] = two(V, 2 * pair, 2 * pair + 1, X, i)

        return run

    found = []
    for two in (two_products, njit(nogil=True, error_model="numpy")(two_products.py_func)):
        run = made(two)
        run(V, X[:10], np.zeros(10))
        found.append(len(X) / seconds_of(lambda run=run: run(V, X, np.zeros(10)), 7) / 1e6)
    return found[0], found[1]


def main() -> None:
    quick = tuple(int(word) for word in sys.argv[1:] if word.isdigit())
    with threadpool_limits(1):
        warm_X, warm_y = gaussian_classes(300, 0)
        for model, _ in LEARNERS.values():
            warm = one_pass(model, warm_X, contaminate(warm_y, "size", r=3, random_state=0))()
            warm.predict_then_learn(warm_X, warm_y)
            one_pass(model, warm_X.astype(np.float32), warm_y)()
        lines, singles = rates(quick or SIZES), single_rows()
        fast, strict = products()
        print("\n".join(singles), fast, strict, flush=True)
        if quick:
            return
        told = streamed()
    report.write(
        "online_speed",
        "Speed of the online learners",
        f"""
d = 64, 10 classes, 4 candidates in every row, one pass with `partial_fit`, CPU seconds of one thread (the least of
seven, of five at 1e6; others once), checks of the input included. "x" is how many times faster than scikit-learn's
`SGDClassifier(loss="perceptron").partial_fit` on the true labels of the same rows. river takes one row at a time as a
dictionary and is measured at {RIVER_ROWS:,} rows; the dictionaries are made beforehand. Accuracy on 20,000 other rows.
Load average of the machine: {os.getloadavg()[0]:.0f}; the dgemm figure above is wall time and sinks with it.

| rows | learner | learnt from | CPU s | million rows/s | x | accuracy | target |
|---|---|---|---|---|---|---|---|
{chr(10).join(lines)}

## One row at a time

Microseconds of CPU, median and 95th percentile in brackets; all of `partial_fit` but the rounds alone is the checking
of the input in Python. The browser app needs well under 1,000.

| features | classes | learner | `partial_fit` | `predict_then_learn` | `predict` | `get_state` | the rounds alone |
|---|---|---|---|---|---|---|---|
{chr(10).join(singles)}

## A stream

{told}

## fastmath

The products of a row with ten classes of 64 features: {fast:.1f} million rows a second with `fastmath` (reassociation
and contraction only), {strict:.1f} without.
""",
        ("numpy", "scikit-learn", "numba", "river"),
    )


if __name__ == "__main__":
    main()
