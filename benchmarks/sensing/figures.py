"""Figures 2, 3 and 4 of Kapoor et al., NIPS 2012: full and incomplete label vectors, and questions about
them.

`--full` takes more rows, projections and seeds: half an hour of one core for 4a, an hour for 2, hours for 4b and 4c.
"""

from __future__ import annotations

from itertools import product
from typing import Any

import numpy as np
from sklearn.model_selection import GridSearchCV

from benchmarks.data import Split, hidden, label_vectors
from benchmarks.harness import Table, benchmark, in_parallel, page, result, sized
from benchmarks.plots import Line, write_chart
from plcore import BMLCSClassifier, MLCSClassifier, OneVsAllSVC, SensingLearner, precision_at
from plcore.sensing.information import margin_scores

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
dense sets z-scored before. K is at least 8, or all labels where there are fewer (emotions, scene: always 6), and with
K = 100% Phi is orthonormal. BML-CS and "ML-CS, same ridge" share noise and ridge, found by marginal likelihood; CoSaMP
with sparsity 5. RCV1 is the repaired set (see the README of the data), bookmarks was not to be had. SVM: C of {GRID} by
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
data), K = {COMPONENTS}, {MASKS} mask(s), each with its own Phi. Noise and prior variance by marginal likelihood of the
rows with holes as 0, the same for all BML-CS lines and the ridge of ML-CS. EM: missing="block" so many iterations in
training, 10 for the test rows. SVM: holes as 0, C of {MISSING_GRID} by three-fold cross-validation on the known cells
of the training rows. {HOLDS}""",
        f"![Precision of the first label]({file}.svg)",
        table,
    )


# Figures 4b and 4c: asking whole instances, labels of each row, any pairs

SEEDS, ROUNDS, ASKED_TESTED = sized((2, 16, 200), tiny=(1, 4, 30), full=(8, 48, 600))
SETTINGS = sized(list(product((10, 50), (10, 1))), tiny=[(10, 1)])  # K; iterations of training and recovery
ADDED, POOL = sized((30, 500), tiny=(6, 120))  # in 4b: instances added, rows to choose from
LOOK, LATER = 3, 4  # rounds between two measurements of precision, in 4b and later
INSTANCES = ("random", "entropy", "variance", "margin", "SVM margin")
# (name, criterion, joint)
PLAIN = tuple((name, name, False) for name in ("random", "entropy", "margin"))
ASKED = {
    "label": (*PLAIN, ("information in the row", "information", False), ("information, joint", "information", True)),
    "pair": (*PLAIN, ("information about W", "information", False)),
}
Curves = dict[str, list[float]]


def instances(split: Split, model: BMLCSClassifier, seed: int) -> Curves:
    """Return the precision of the first label as whole instances are added one by one; 100 of `POOL` rows are
    known at the start."""
    rows = np.random.default_rng(seed).permutation(len(split.Y))[:POOL]
    X, Y = split.X[rows], split.Y[rows]
    start = np.full(Y.shape, -1)
    start[:100] = Y[:100]
    curves = {}
    for strategy in INSTANCES:
        learner = SensingLearner(model, random_state=seed).fit(X, start)
        curve = [precision_at(split.Y_test, learner.predict_mean(split.X_test), 1)]
        for round_ in range(ADDED):
            if strategy == "SVM margin":
                open_ = (learner.cells_ == -1).any(axis=1)
                if round_ % LOOK == 0:
                    svm = OneVsAllSVC(missing="zero", threshold=0.5).fit(X, learner.cells_)
                    close = margin_scores(svm.decision_function(X), np.ones(Y.shape, dtype=bool)).max(axis=1)
                row = int(np.where(open_, close, -np.inf).argmax())
            else:
                row = int(learner.next("instance", 1, strategy)[0])
            learner.answer_row(row, Y[row])
            if (round_ + 1) % LOOK == 0:
                curve.append(precision_at(split.Y_test, learner.predict_mean(split.X_test), 1))
        curves[strategy] = curve
    return curves


def cells(split: Split, model: BMLCSClassifier, seed: int, kind: str) -> tuple[Curves, Curves]:
    """Ask 100 answers a round about 100 unknown rows: one label of each row, or the best pairs anywhere.

    Returns the precision of the first label every `LATER` rounds on test rows, and on the 100 rows with their
    answers; with a full fit every round.
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


def job(cell: tuple[int, int, int]) -> dict[str, Curves]:
    """Return all curves of one K, iterations and seed. The noise is that of the full training set: 100 rows
    would choose none."""
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
    """Return the mean at some rounds, and the paired difference from random over all measurements with its
    standard error."""
    table = Table(["asked by", *(f"round {k * each}" for k in at), "against random, mean of all looks"])
    for name, values in found.items():
        gap = (values - found["random"])[:, 1:].mean(axis=1)  # over all measurements
        error = f" ± {gap.std(ddof=1) / np.sqrt(len(gap)):.3f}" if len(gap) > 1 else ""
        table.add(name, *(values[:, k].mean() for k in at), f"{gap.mean():+.3f}{error}")
    return table


def lines_of(found: dict[str, np.ndarray], each: int) -> dict[str, Line]:
    means = {name: values.mean(axis=0).tolist() for name, values in found.items()}
    return {name: Line([each * k for k in range(len(mean))], mean) for name, mean in means.items()}


@benchmark("Figures 4b and 4c: active learning, RCV1 subset 1", full=True)
def sensing_figure4bc() -> str:
    work = [(*setting, seed) for setting in SETTINGS for seed in range(SEEDS)]
    done = {cell: found for cell, found, _ in in_parallel(job, work)}
    sections: list[object] = []
    panels, below = {}, []
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
            panels[f"{short}, {words}"] = lines_of(found, each)
            below.append("instances added" if each == LOOK else "rounds")
    file = result("sensing_figure4bc")
    write_chart(file, "RCV1: precision of the first label", panels, below)
    return page(
        f"""Precision of the first label on {ASKED_TESTED} test rows (RCV1 repaired, see the README of the data);
{SEEDS} seeds, each with its own Phi and rows; ± is the standard error over them, paired with random.
Iterations are those of training and of the recovery of test rows. Noise and prior variance are those of the full
training set: with 100 rows the likelihood wants no noise. {HOLDS}""",
        f"![Precision of the first label]({file}.svg)",
        *sections,
    )
