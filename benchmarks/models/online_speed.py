"""CPU time of the online learners with 4 candidates of 10, beside online learners of other libraries given the truth.

Ten Gaussian classes in 64 features; one thread, compiled beforehand, checks of the input included. Then a single row
at a time, a stream of ten million generated rows with its peak memory, and what `fastmath` gains.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator

import numpy as np
from numba import njit
from sklearn.linear_model import SGDClassifier

from benchmarks.data import gaussian_classes
from benchmarks.harness import Table, clocked, cpu, has, in_process, load_average, met, only, page, sized
from benchmarks.processes import peak
from plcore import PLPegasos, PLPerceptron, learn_stream
from plcore.evaluation import contaminate
from plcore.kernels.linear import two_products

TITLE = "Speed of the online learners"
PACKAGES = ("numpy", "scikit-learn", "numba")
PEERS = ("river",)
SIZES = sized((10_000, 100_000, 1_000_000), tiny=(500,))
RIVER_ROWS = SIZES[0]  # its learners take a dictionary a row and cost the same for each
STREAM_ROWS, CHUNK = sized((10_000_000, 20_000), tiny=(400, 200))
SINGLE = sized(500, tiny=5)
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


def one_pass(model: object, X: np.ndarray, y: np.ndarray) -> Callable[[], object]:
    """A pass of a fresh copy of the model over all rows."""
    return lambda: type(model)(**model.get_params()).partial_fit(X, y, classes=np.arange(10))


def rates() -> Table:
    """The first table."""
    table = Table("rows | learner | learnt from | CPU s | million rows/s | x | accuracy | target")
    test = gaussian_classes(20_000, 99)
    for n in only(SIZES):
        X, y = gaussian_classes(n, 1)
        candidates = contaminate(y, "size", r=3, random_state=0)
        repeats = 7 if n <= 100_000 else 5
        sgd = {name: cpu(one_pass(model, X, y), 1) for name, model in OTHERS.items()}
        baseline = sgd["SGDClassifier, perceptron"]

        def add(
            name: str, given: str, seconds: float, accuracy: str = "", verdict: str = "", n=n, base=baseline
        ) -> None:
            figures = f"{seconds:.3f}", f"{n / seconds / 1e6:.3g}", f"{base / seconds:.2g}"
            table.add(f"{n:,}", name, given, *figures, accuracy, verdict)

        for name, (model, target) in LEARNERS.items():
            seconds = cpu(one_pass(model, X, candidates), repeats)
            accuracy = one_pass(model, X, candidates)().score(*test)
            judged = target is not None and n == SIZES[-1]
            verdict = f">= {target}: {met(n / seconds / 1e6 >= target)}" if judged else ""
            add(name, "4 candidates", seconds, f"{accuracy:.3f}", verdict)
        single = one_pass(LEARNERS["Max Perceptron"][0], X.astype(np.float32), candidates)
        add("Max Perceptron, float32", "4 candidates", cpu(single, repeats))
        for name, model in OTHERS.items():
            add(name, "true labels", sgd[name], f"{one_pass(model, X, y)().score(*test):.3f}")
        if n == RIVER_ROWS and has("river"):
            for name, seconds in river_seconds(X, y).items():
                add(name, "true labels", seconds)
    return table


def river_seconds(X: np.ndarray, y: np.ndarray) -> dict[str, float]:
    """One pass of `learn_one` by each of river's learners; the dictionaries are made beforehand."""
    from river import linear_model, multiclass

    rows, labels = [dict(enumerate(values)) for values in X.tolist()], y.tolist()

    def learn(model: object) -> None:
        for values, label in zip(rows, labels, strict=True):
            model.learn_one(values, label)

    models = {
        "river SoftmaxRegression": linear_model.SoftmaxRegression(),
        "river OneVsRest(Perceptron)": multiclass.OneVsRestClassifier(linear_model.Perceptron()),
    }
    return {name: clocked(lambda model=model: learn(model))[1] for name, model in models.items()}  # type: ignore[misc]


def single_rows() -> Table:
    """Microseconds of `partial_fit`, `predict_then_learn`, `predict`, `get_state` and the rounds alone for one row."""
    table = Table(
        "features | classes | learner | `partial_fit` | `predict_then_learn` | `predict` | `get_state` | "
        "the rounds alone"
    )
    rng = np.random.default_rng(0)
    for d, m in ((64, 10), (768, 100)):
        X = rng.normal(size=(SINGLE, d)) / np.sqrt(d)
        candidates = contaminate(rng.integers(m, size=SINGLE), "size", r=3, random_state=0, classes=range(m))
        rows = [(X[i : i + 1], candidates[i : i + 1]) for i in range(SINGLE)]
        for model in (PLPerceptron("max"), PLPegasos("max", average=True)):
            model.partial_fit(*rows[0])
            rules = model._used()
            calls: tuple[Callable, ...] = (
                model.partial_fit,
                model.predict_then_learn,
                lambda x, _, one=model: one.predict(x),
                lambda _x, _y, one=model: one.get_state(),
                lambda x, y, one=model, rules=rules: one._state.learn(x, y, rules),
            )
            table.add(d, m, model, *(microseconds(call, rows) for call in calls))
    return table


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


def stream() -> list[float]:
    """In a process of its own: rows, CPU seconds, peak memory before and after, and the running error."""
    model = PLPerceptron("max")
    learn_stream(model, generated(CHUNK))
    before = peak()
    rows, seconds = clocked(lambda: learn_stream(model, generated(STREAM_ROWS)))
    return [rows, seconds, before, peak(), model.mistakes_ / model.rounds_]


def streamed() -> str:
    rows, seconds, before, after, error = in_process(stream)
    return f"""{rows:,.0f} generated rows in chunks of {CHUNK:,}: {seconds:.0f} CPU s with their making; peak memory
{after:.0f} MB (all libraries loaded and one chunk learnt: {before:.0f} MB); target < 400 MB: {met(after < 400)}.
Predictions outside of their candidates: {error:.3f}."""


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
        found.append(len(X) / cpu(lambda run=run: run(V, X, np.zeros(10)), 7) / 1e6)
    return found[0], found[1]


def measure() -> str:
    warm_X, warm_y = gaussian_classes(300, 0)
    for model, _ in LEARNERS.values():
        warm = one_pass(model, warm_X, contaminate(warm_y, "size", r=3, random_state=0))()
        warm.predict_then_learn(warm_X, warm_y)
        one_pass(model, warm_X.astype(np.float32), warm_y)()
    fast, strict = products()
    return page(
        f"""d = 64, 10 classes, 4 candidates in every row, one pass with `partial_fit`, CPU seconds of one thread (the
least of seven, of five at 1e6; others once), checks of the input included. "x" is how many times faster than
scikit-learn's `SGDClassifier(loss="perceptron").partial_fit` on the true labels of the same rows. river takes one row
at a time as a dictionary and is measured at {RIVER_ROWS:,} rows; the dictionaries are made beforehand. Accuracy on
20,000 other rows. {load_average()}""",
        rates(),
        "## One row at a time",
        """Microseconds of CPU, median and 95th percentile in brackets; all of `partial_fit` but the rounds alone is the
checking of the input in Python. The browser app needs well under 1,000.""",
        single_rows(),
        "## A stream",
        streamed(),
        "## fastmath",
        f"""The products of a row with ten classes of 64 features: {fast:.1f} million rows a second with `fastmath`
(reassociation and contraction only), {strict:.1f} without.""",
    )
