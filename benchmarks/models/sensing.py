"""Label vectors: figures 2 to 4 of Kapoor et al., NIPS 2012, predictions in projects, and CPU seconds."""

from __future__ import annotations

from functools import partial
from itertools import product
from typing import Any

import numpy as np
from scipy import sparse
from scipy.stats import sem
from sklearn.model_selection import GridSearchCV
from sklearn.svm import LinearSVC

from benchmarks.data import Split, hidden, label_vectors
from benchmarks.harness import Rows, Table, benchmark, clocked, cpu, in_parallel, page, result, sized, tabled
from benchmarks.plots import Line, write_chart
from plcore import BMLCSClassifier, MLCSClassifier, OneVsAllSVC, SensingLearner, f1_scores, precision_at
from plcore.loop.label_vectors import LabelVectorSettings
from plcore.loop.label_vectors.model import LabelVectorModel
from plcore.sensing.information import margin_scores
from plcore.sensing.metrics import EVEN
from plcore.sensing.projection import Projection

HOLDS = "What of the paper holds is said in [papers](../../docs/papers.md)."
RCV1 = "rcv1_subset1"
FEW = sized(None, tiny=80)  # training rows

# Figures 2 and 3

SETS = sized(("cal500", RCV1, "corel5k", "emotions", "scene"), tiny=("emotions",))
TESTED, PROJECTIONS = sized((200, 1), tiny=(30, 1), full=(None, 3))
SHARES = sized((0.1, 0.25, 0.5, 0.75, 1.0), tiny=(0.5, 1.0))
GRID, FIRST = [0.01, 0.1, 1.0], (1, 3, 5)
# Precision at 3 and 5 of the paper's Figure 3 (BML-CS, ML-CS for each K; SVM); for 1 it has only a plot.
PAPER = {
    "cal500": (
        [((0.04, 0.09), (0.36, 0.32)), ((0.38, 0.28), (0.48, 0.41)), ((0.61, 0.51), (0.44, 0.40)),
         ((0.75, 0.60), (0.53, 0.55)), ((0.70, 0.65), (0.61, 0.57))], (0.74, 0.67)),
    RCV1: (
        [((0.33, 0.23), (0.19, 0.14)), ((0.65, 0.44), (0.59, 0.39)), ((0.75, 0.52), (0.69, 0.49)),
         ((0.75, 0.53), (0.71, 0.50)), ((0.75, 0.53), (0.72, 0.51))], (0.75, 0.54)),
    "corel5k": (
        [((0.20, 0.15), (0.08, 0.06)), ((0.27, 0.22), (0.17, 0.14)), ((0.27, 0.23), (0.21, 0.17)),
         ((0.27, 0.23), (0.22, 0.18)), ((0.27, 0.23), (0.22, 0.17))], (0.27, 0.22)),
}  # fmt: skip


def precisions(split: Split, model: Any) -> np.ndarray:
    scores = model.decision_function(split.X_test)
    return np.array([precision_at(split.Y_test, scores, t) for t in FIRST])


def compare(split: Split, share: float, seed: int) -> dict[str, np.ndarray]:
    """Precision at 1, 3, 5 of every method with one projection."""
    how = {"threshold": 0.5, "random_state": seed}
    model = BMLCSClassifier(share, mode="fast", **how).fit(split.X, split.Y)
    ridge = model.noise_ / model.prior_variance_
    found = {"BML-CS, fast": precisions(split, model)}
    # With full labels, training depends neither on the mode nor on the iterations.
    found["BML-CS, 10 iterations"] = precisions(split, model.set_params(mode="paper"))
    found["BML-CS, 1 iteration"] = precisions(split, model.set_params(max_iter=1))
    same = MLCSClassifier(share, ridge=ridge, **how).fit(split.X, split.Y)
    plain = MLCSClassifier(share, regression="least_squares", **how).fit(split.X, split.Y)
    return found | {"ML-CS, same ridge": precisions(split, same), "ML-CS, least squares": precisions(split, plain)}


def shown(values: np.ndarray) -> str:
    """Mean over the projections at 1, 3, 5, and the deviation of the first."""
    mean = " ".join(f"{value:.3f}".lstrip("0") for value in values.mean(axis=0))
    return mean + (f" (±{values[:, 0].std(ddof=1):.3f})" if len(values) > 1 else "")


def add_set(table: Table, name: str) -> dict[str, Line]:
    """Add the lines of one set, and return the series of its panel."""
    split, paper = label_vectors(name, TESTED, FEW), PAPER.get(name)
    search = GridSearchCV(OneVsAllSVC(threshold=0.5), {"C": GRID}, cv=3).fit(split.X, split.Y)
    svm, n_labels = precisions(split, search), split.Y.shape[1]
    told = "{:.2f} {:.2f}".format(*paper[1]) if paper else ""
    table.add(name, f"all {n_labels}", f"SVM, C = {search.best_params_['C']:g}", shown(svm[None]), told)
    series: dict[str, Line] = {"one-vs-all SVM, C by cross-validation": Line([1.0], [svm[0]])}
    before = 0
    for k, share in enumerate(SHARES):
        K = BMLCSClassifier(share, mode="fast", threshold=0.5).fit(split.X[:50], split.Y[:50]).n_components_
        if before == K:
            continue  # with six labels there are never fewer
        before, runs = K, [compare(split, share, seed) for seed in range(PROJECTIONS)]
        for method in runs[0]:
            values = np.array([found[method] for found in runs])
            is_told = paper and method in ("BML-CS, 10 iterations", "ML-CS, least squares")
            told = "{:.2f} {:.2f}".format(*paper[0][k][method.startswith("ML")]) if is_told else ""
            table.add(name, f"{K} ({share:.0%})", method, shown(values), told)
            line = series.get(method, Line([], []))
            series[method] = Line([*line.x, share], [*line.y, float(values[:, 0].mean())])
    return series


@benchmark("Figures 2 and 3: precision against the number of components", full=True)
def sensing_figure2() -> str:
    file, table = result("sensing_figure2"), Table("set | K | method | precision at 1, 3, 5 | paper at 3, 5")
    panels = {name: add_set(table, name) for name in SETS}
    write_chart(file, "Precision of the first label", panels, "components, as a share of the labels")
    return page(
        f"""{"All" if TESTED is None else f"At most {TESTED}"} test rows, {PROJECTIONS} projection(s); rows of length 1,
dense sets z-scored before. K is at least 8, or all labels if there are fewer (emotions, scene: always 6), and with
K = 100% Phi is orthonormal. BML-CS and "ML-CS, same ridge" share noise and ridge, found by marginal likelihood; CoSaMP
with sparsity 5. RCV1 is the repaired set (see the README of the data), bookmarks was not available. SVM: C of {GRID} by
three-fold cross-validation on the training rows. Paper: Figure 3, where it has numbers (precision at 1: only a plot).
{HOLDS}""",
        f"![Precision of the first label]({file}.svg)",
        table,
    )


# Figure 4a: labels missing from training, BML-CS against a tuned SVM

MISSING_TESTED, MASKS, COMPONENTS = sized((600, 1, 50), tiny=(30, 1, 10), full=(None, 3, 50))
MISSING_GRID = [0.03, 0.1, 0.3, 1.0]
MISSING = sized((0.5, 0.8, 0.9, 0.95), tiny=(0.5,))


def missing(split: Split, share: float, seed: int) -> dict[str, float]:
    """Return the precision of each method's first label with one mask."""
    cells, how = hidden(split.Y, share, seed), {"threshold": 0.5, "random_state": seed}
    zero = BMLCSClassifier(COMPONENTS, missing="zero", **how).fit(split.X, cells)
    noise = {"noise": zero.noise_, "prior_variance": zero.prior_variance_}
    models: dict[str, Any] = {"BML-CS, missing = 0, closed form": zero}
    for iterations in (1, 3, 10):
        model = BMLCSClassifier(COMPONENTS, iterations, **how, **noise).fit(split.X, cells)
        models[f"BML-CS, {iterations} EM iterations"] = model.set_params(max_iter=10)
    ridge = zero.noise_ / zero.prior_variance_
    models["ML-CS, same ridge"] = MLCSClassifier(COMPONENTS, ridge=ridge, **how).fit(split.X, cells)
    svm = OneVsAllSVC(missing="zero", threshold=0.5)
    models["SVM, C by cross-validation"] = GridSearchCV(svm, {"C": MISSING_GRID}, cv=3).fit(split.X, cells)
    models["SVM, C = 1"] = svm.fit(split.X, cells)
    print(share, seed, models["SVM, C by cross-validation"].best_params_, flush=True)
    return {name: precision_at(split.Y_test, one.decision_function(split.X_test), 1) for name, one in models.items()}


@benchmark("Figure 4a: labels missing from training, RCV1 subset 1", full=True)
def sensing_figure4a() -> str:
    file, split = result("sensing_figure4a"), label_vectors(RCV1, MISSING_TESTED, FEW)
    found = [[missing(split, share, seed) for seed in range(MASKS)] for share in MISSING]
    table = Table(["method", *(f"{share:.0%} missing" for share in MISSING)])
    curves = {}
    for method in found[0][0]:
        mean = [float(np.mean([run[method] for run in runs])) for runs in found]
        table.add(method, *mean)
        curves[method] = Line(MISSING, mean)
    write_chart(file, "RCV1: precision of the first label", {"4a: missing labels": curves}, "share missing")
    return page(
        f"""Precision of the first label on {MISSING_TESTED or "all"} test rows (RCV1 repaired, see the README of the
data), K = {COMPONENTS}, {MASKS} mask(s), each with its own Phi. Noise and prior variance maximise the marginal
likelihood with missing labels as 0; all BML-CS lines and the ridge of ML-CS use the same values. EM: missing="block" so
many iterations in training, 10 for the test rows. SVM: missing labels as 0, C of {MISSING_GRID} by three-fold
cross-validation on the known cells of the training rows. {HOLDS}""",
        f"![Precision of the first label]({file}.svg)",
        table,
    )


# Figures 4b and 4c: asking whole instances, labels of each row, any pairs

SEEDS, ROUNDS, ASKED_TESTED = sized((2, 16, 200), tiny=(1, 4, 30), full=(8, 48, 600))
SETTINGS = sized(list(product((10, 50), (10, 1))), tiny=[(10, 1)])  # K; iterations of training and recovery
ADDED, POOL = sized((30, 500), tiny=(6, 120))  # in Figure 4b: instances added, rows to choose from
LOOK, LATER = 3, 4  # rounds between two measurements of precision, in 4b and later
INSTANCES = ("random", "entropy", "variance", "margin", "SVM margin")
# (name, criterion, joint)
PLAIN = tuple((name, name, False) for name in ("random", "entropy", "margin"))
ASKED = {
    "label": (*PLAIN, ("information in the row", "information", False), ("information, joint", "information", True)),
    "pair": (*PLAIN, ("information about W", "information", False)),
}


def instances(split: Split, model: BMLCSClassifier, seed: int) -> dict[str, list[float]]:
    """Return the precision of the first label as whole instances are added one by one; 100 of `POOL` rows are known at
    the start."""
    rows = np.random.default_rng(seed).permutation(len(split.Y))[:POOL]
    X, Y = split.X[rows], split.Y[rows]
    start = np.full(Y.shape, -1)
    start[:100] = Y[:100]
    curves = {}
    for strategy in INSTANCES:
        learner = SensingLearner(model, random_state=seed).fit(X, start)
        curve = []
        for round_ in range(ADDED + 1):
            if round_ % LOOK == 0:
                curve.append(precision_at(split.Y_test, learner.predict_mean(split.X_test), 1))
            if strategy == "SVM margin":
                open_ = (learner.cells_ == -1).any(axis=1)
                if round_ % LOOK == 0:
                    svm = OneVsAllSVC(missing="zero", threshold=0.5).fit(X, learner.cells_)
                    close = margin_scores(svm.decision_function(X), np.ones(Y.shape, dtype=bool)).max(axis=1)
                row = int(np.where(open_, close, -np.inf).argmax())
            else:
                row = int(learner.next("instance", 1, strategy)[0])
            learner.answer_row(row, Y[row])
        curves[strategy] = curve
    return curves


def cells(split: Split, model: BMLCSClassifier, seed: int, kind: str) -> tuple[dict, dict]:
    """Ask 100 answers a round about 100 unknown rows: one label of each row, or the best pairs anywhere.

    Returns the precision of the first label every `LATER` rounds on test rows, and on the 100 rows with their answers;
    with a full fit every round.
    """
    rows = np.random.default_rng(seed).permutation(len(split.Y))[:100]
    X, Y = split.X[rows], split.Y[rows]
    unseen, own = {}, {}
    for strategy, criterion, joint in ASKED[kind]:
        now = np.full(Y.shape, -1, dtype=np.int8)
        unseen[strategy], own[strategy] = [], []
        for round_ in range(ROUNDS + 1):
            learner = SensingLearner(model, random_state=seed).fit(X, now)
            if round_ % LATER == 0:
                unseen[strategy].append(precision_at(split.Y_test, learner.predict_mean(split.X_test), 1))
                own[strategy].append(precision_at(Y, learner.label_mean_, 1))
            questions = learner.next(kind, None if kind == "label" else 100, criterion, joint=joint)
            now[questions[:, 0], questions[:, 1]] = Y[questions[:, 0], questions[:, 1]]
    return unseen, own


def job(cell: tuple[int, int, int]) -> dict[str, dict]:
    """Return all curves of one K, iterations and seed. The noise is that of the full training set: 100 rows would
    choose none."""
    K, iterations, seed = cell
    split, how = (label_vectors(RCV1, ASKED_TESTED, sized(None, tiny=200)), {"threshold": 0.5, "random_state": seed})
    fitted = BMLCSClassifier(K, **how).fit(split.X, split.Y)
    model = BMLCSClassifier(K, iterations, noise=fitted.noise_, prior_variance=fitted.prior_variance_, **how)
    found = {"instance": instances(split, model, seed)}
    for kind in ASKED:
        found[f"{kind} unseen"], found[f"{kind} own"] = cells(split, model, seed, kind)
    print(cell, {what: {name: np.round(one, 3).tolist() for name, one in of.items()} for what, of in found.items()})
    return found


def table_of(found: dict[str, np.ndarray], at: tuple[int, ...], each: int) -> Table:
    """Return the mean at some rounds, and the paired difference from random over all measurements with its standard
    error."""
    table = Table(["asked by", *(f"round {k * each}" for k in at), "against random, mean of all rounds measured"])
    for name, values in found.items():
        gap = (values - found["random"])[:, 1:].mean(axis=1)
        error = f" ± {sem(gap):.3f}" if len(gap) > 1 else ""
        table.add(name, *values.mean(axis=0)[list(at)], f"{gap.mean():+.3f}{error}")
    return table


@benchmark("Figures 4b and 4c: active learning, RCV1 subset 1", full=True)
def sensing_figure4bc() -> str:
    """Precision of the first label on {ASKED_TESTED} test rows (RCV1 repaired, see the README of the data); {SEEDS}
    seeds, each with its own Phi and rows; ± is the standard error over them, paired with random. Iterations: of
    training, and of recovering test rows. Noise and prior variance are those of the full training set: with 100
    rows the likelihood wants no noise. {HOLDS}"""
    work = [(*setting, seed) for setting in SETTINGS for seed in range(SEEDS)]
    done = dict(in_parallel(job, work))
    sections, panels, below = [], {}, []
    late = tuple(k * ROUNDS // (4 * LATER) for k in range(5))
    parts = (
        ("instance", f"4b: whole instances, 100 of {POOL} rows known at the start, one a round", "4b", "", LOOK),
        ("label unseen", "4c: one label of each of 100 rows a round", "4c, unseen rows", "On unseen rows:", LATER),
        ("label own", "", "4c, rows asked", "On the 100 rows themselves, answers counted:", LATER),
        ("pair unseen", "Generalised: 100 pairs a round", "Generalised, unseen rows", "On unseen rows:", LATER),
        ("pair own", "", "Generalised, rows asked", "On the 100 rows themselves, answers counted:", LATER),
    )
    for K, its in SETTINGS:
        words = f"K = {K}, {its} iteration{'s' * (its > 1)}"
        for what, title, short, says, each in parts:
            runs = [done[K, its, seed][what] for seed in range(SEEDS)]
            found = {name: np.array([run[name] for run in runs]) for name in runs[0]}
            at = (0, ADDED // (2 * LOOK), ADDED // LOOK) if each == LOOK else late
            sections += [f"## {title}, {words}" if title else "", says, table_of(found, at, each)]
            means = {name: values.mean(axis=0).tolist() for name, values in found.items()}
            panels[f"{short}, {words}"] = {one: Line([each * k for k in range(len(y))], y) for one, y in means.items()}
            below.append("instances added" if each == LOOK else "rounds")
    file = result("sensing_figure4bc")
    write_chart(file, "RCV1: precision of the first label", panels, below)
    return page(f"![Precision of the first label]({file}.svg)", *sections)


# Projects

PROJECT_SETS, PROJECT_SEEDS = sized((("emotions", "scene", "cal500", "corel5k"), 3), tiny=(("emotions",), 2))

# Predictions

KNOWN = (0.1, 0.3, 1.0)
MOST = sized(800, tiny=60)  # training rows of Corel5k, drawn for each seed; and test rows of each set
AT_MOST = 64  # at most, as in projects of the app
LEARNERS = {
    "BML-CS, 10 iterations": lambda K, seed: BMLCSClassifier(K, random_state=seed),
    "BML-CS, 1 iteration": lambda K, seed: BMLCSClassifier(K, max_iter=1, random_state=seed),
    "ML-CS": lambda K, seed: MLCSClassifier(K, random_state=seed),
    "one-vs-all, known cells": lambda K, seed: OneVsAllSVC(),
    "one-vs-all, missing as no": lambda K, seed: OneVsAllSVC(missing="zero"),
}


def measured(model: Any, split: Split, cells: np.ndarray) -> list[float]:
    """Micro F1 at 0.5 and at the fitted threshold on the test rows; then on the hidden cells of the training rows."""
    model.fit(split.X, cells)
    fitted, found = model.threshold_, []
    for threshold in (EVEN, fitted):
        model.threshold_ = threshold  # a fit with threshold=.5 differs only in this
        found.append(f1_scores(split.Y_test, model.predict(split.X_test))[1])
    left = np.where(cells == -1, split.Y, -1)
    return [*found, f1_scores(left, model.predict(split.X))[1] if (left != -1).any() else np.nan]


@benchmark(
    "Predictions for label vectors with missing labels",
    head="set | cells known | learner | test rows, at .5 | test rows, fitted | hidden cells, fitted",
    cpu=True,
)
def sensing_predict() -> Rows:
    """Micro F1, mean of {PROJECT_SEEDS} seeds (for the hidden cells, Phi and the rows of Corel5k), in brackets the
    deviation
    between seeds. Cells are hidden uniformly. Rows of length 1, dense sets z-scored before; at most {MOST} test rows,
    and {MOST} training rows of Corel5k. K: half of the labels, at least 8 (or all), at most {AT_MOST}, as in projects;
    one-vs-all: C = 1. "At .5" is the decision of the papers, and for SVMs the side of the margin. "Fitted" is
    `threshold="auto"`: the cut with the highest F1 on the known training cells, by scores of models that did not see
    the row; "hidden cells" the same cut on cells of the training rows that were hidden."""
    for name, known in product(PROJECT_SETS, KNOWN):
        whole, runs = label_vectors(name, MOST, FEW), []
        for seed in range(PROJECT_SEEDS):
            rows = np.random.default_rng(seed).permutation(len(whole.Y))[:MOST] if name == "corel5k" else ...
            split = whole._replace(X=whole.X[rows], Y=whole.Y[rows])
            cells, L = hidden(split.Y, 1 - known, seed), split.Y.shape[1]
            K = min(max(L // 2, min(L, 8)), AT_MOST)
            runs.append([measured(make(K, seed), split, cells) for make in LEARNERS.values()])
        for learner, means, spread in zip(LEARNERS, np.mean(runs, axis=0), np.std(runs, axis=0, ddof=1), strict=True):
            even, fitted, left = means
            yield name, f"{known:.0%}", learner, even, f"{fitted:.3f} (±{spread[1]:.3f})", left


# The model that Automatic takes

CHOICE_KNOWN, CHOICE_ROWS = sized(((0.1, 0.3), 600), tiny=((0.3,), 90))  # training rows, drawn; and test rows


@benchmark(
    "Automatic: the predictor in projects of label vectors",
    head="set | known | hidden: BML-CS | one-vs-all | ahead by | taken | test: BML-CS | one-vs-all | Automatic | CPU s",
)
def sensing_choice() -> Rows:
    """Micro F1. At most {CHOICE_ROWS} training rows, with a share of known cells, and as many test rows with none;
    both are rows of one table, as in a project, with the app's settings (one iteration, K at most 64).
    "Hidden cells": of the known ones, those that the models of three trials were not shown; the difference with its
    standard error, paired by row, decides. Test rows: calibrated probabilities cut at one half / at the fitted
    threshold. CPU seconds of a fit: with BML-CS alone / Automatic."""
    for name, known in product(PROJECT_SETS, CHOICE_KNOWN):
        split = label_vectors(name, CHOICE_ROWS)
        rows = np.random.default_rng(0).permutation(len(split.Y))[:CHOICE_ROWS]
        Y, stack = split.Y[rows], sparse.vstack if sparse.issparse(split.X) else np.vstack
        X = stack([split.X[rows], split.X_test])
        cells = np.vstack([hidden(Y, 1 - known, 0), np.full(split.Y_test.shape, -1, dtype=np.int8)])
        found, seconds = {}, {}
        for chosen in ("bmlcs", "onevsall", "automatic"):
            settings = LabelVectorSettings(model=chosen)
            model, seconds[chosen] = clocked(lambda c=cells, how=settings, X=X: LabelVectorModel(X, c, how))
            shares = model.proba()[len(Y) :]
            cuts = ((shares > cut).astype(int) for cut in (0.5, model.threshold))
            found[chosen] = [f1_scores(split.Y_test, one)[1] for one in cuts]
        told = model.comparison
        taken = "one-vs-all" if model.predictor == "onevsall" else "BML-CS"
        pairs = ("{:.3f} / {:.3f}".format(*found[one]) for one in ("bmlcs", "onevsall"))
        spent = f"{seconds['bmlcs']:.1f} / {seconds['automatic']:.1f}"
        ahead = f"{told.lead:+.3f} (±{told.error:.3f})"
        yield name, f"{known:.0%}", told.bmlcs, told.onevsall, ahead, taken, *pairs, found["automatic"][1], spent


# Speed

# K, and t2, tau2 as found by the search, so that training needs no search; targets: seconds, and relative to
# LinearSVC.
SPEED_SETS = sized(
    {"corel5k": (187, 0.0158, 0.00151, 0.1, 0.1), "rcv1_subset1": (50, 0.007, 0.025, 0.8, 0.8)},
    tiny={"rcv1_subset1": (10, 0.007, 0.025, 0.8, 0.8)},
)


@tabled(
    "training | CPU s, noise given | target | with noise search | defaults | one-vs-all LinearSVC | ratio | "
    "target | p@1, fast"
)
def training() -> Rows:
    for name, (K, noise, prior, most, ratio) in SPEED_SETS.items():
        split = label_vectors(name, 300, FEW)
        X, Y = split.X, split.Y
        present = Y[:, Y.any(axis=0) & ~Y.all(axis=0)]
        model = BMLCSClassifier(K, noise=noise, prior_variance=prior, threshold=0.5)
        ours, searched, usual, theirs = (
            cpu(partial(fit, X, labels), times)
            for fit, labels, times in (
                (model.fit, Y, 3),
                (BMLCSClassifier(K, threshold=0.5).fit, Y, 1),
                (BMLCSClassifier(random_state=0).fit, Y, 2),
                (lambda X, labels: [LinearSVC(C=1.0).fit(X, label) for label in labels.T], present, 2),
            )
        )
        found = precision_at(split.Y_test, model.set_params(mode="fast").decision_function(split.X_test), 1)
        size = f"{name}, {X.shape[0]} x {X.shape[1]}, {Y.shape[1]} labels, K = {K}"
        yield size, ours, f"{most}", searched, usual, theirs, ours / theirs, f"{ratio}", found


@tabled("step | CPU s | target | ")
def steps() -> Rows:
    """Measure one E-step over 5,000 rows, all with different precisions; the recovery of rows; and 400 rows of RCV1,
    half of the cells missing, K = 50: one answer at a time, against the full refit."""
    rng = np.random.default_rng(0)
    K, L, n = sized((187, 374, 5000), tiny=(10, 20, 50))
    projection = Projection(rng.normal(size=(K, L)) / np.sqrt(K))
    gamma, residual = rng.gamma(1.0, size=(n, L)), rng.normal(size=(n, K))
    taken = cpu(lambda: projection.posterior(gamma, residual, 0.01), 2)
    speed = f"{n * (2 * K * K * L + K**3) / taken / 1e9:.0f} GFLOP/s of 2K²L + K³ a row"
    yield f"E-step, {n} rows, {L} labels, K = {K}, float64", taken, 6, speed
    for name, (K, noise, prior, *_) in SPEED_SETS.items():
        split = label_vectors(name, 300, FEW)
        model = BMLCSClassifier(K, noise=noise, prior_variance=prior, threshold=0.5).fit(split.X, split.Y)
        for mode, iterations in (("paper", 10), ("paper", 1), ("fast", 1)):
            model.set_params(mode=mode, max_iter=iterations)
            taken = cpu(lambda model=model, X=split.X_test: model.decision_function(X), 2)
            found = precision_at(split.Y_test, model.decision_function(split.X_test), 1)
            target = "0.15" if (name, mode) == ("corel5k", "fast") else ""
            words = mode + (f", {iterations} iterations" if mode == "paper" else "")
            yield f"recovery of 300 rows, {name}, {words}", taken, target, f"p@1 {found:.3f}"
    split = label_vectors(RCV1, 300, FEW)
    X, Y = split.X[:400], split.Y[:400]
    cells = hidden(Y, 0.5, 0)
    learner = SensingLearner(BMLCSClassifier(50, noise=0.007, prior_variance=0.025, threshold=0.5)).fit(X, cells)
    unknown = np.random.default_rng(1).permutation(np.argwhere(cells == -1))[:100].tolist()
    learner.scores("pair")
    times = [cpu(lambda i=i, j=j: learner.answer(i, j, int(Y[i, j])), 1) for i, j in unknown]
    both = f"{np.median(times):.4f}, {max(times):.4f}"
    yield "one answer, 400 rows, 101 labels, K = 50: median, largest of 100", both, "0.005"
    asking = f"{cpu(lambda: learner.next('pair', 1)):.4f}"
    yield f"the next (row, label) by information, {learner.cells_.size} cells", asking
    yield "refresh, 10 iterations", cpu(learner.refresh)


@benchmark("Speed of BML-CS")
def sensing_speed() -> str:
    """CPU seconds of one thread, the least of two or three. Default: all settings at their defaults, so noise and
    threshold are estimated, too. LinearSVC: C = 1, one fit for each label that has both values."""
    BMLCSClassifier(mode="fast").fit(np.eye(2), np.eye(2, dtype=bool)).predict(np.eye(2))  # compiled
    return page(training(), steps())
