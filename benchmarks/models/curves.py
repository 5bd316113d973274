"""Learning curves of the margin learners and of the online learners, as in their papers, and speed of the latter."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator
from itertools import pairwise, product
from typing import Any

import numpy as np
from sklearn.model_selection import GridSearchCV, KFold
from sklearn.preprocessing import normalize, scale

from benchmarks.data import exact_set, gaussian_classes
from benchmarks.harness import Rows, Table, benchmark, clocked, met, mode, page, result, sized, tabled
from benchmarks.plots import Line, write_chart
from plcore import PARAMETER_GRIDS, PLSVC, PRECISE_GRID, PLPegasos, PLPerceptron, precise_folds
from plcore.evaluation import contaminate, progressive_validation

# Number of training rows, as in the paper; the others test. For pendigits the paper does not use the set's
# own split.
TRAIN = sized({"satimage": 4435, "pendigits": 8992, "segment": 1960, "usps": 7291}, tiny={"segment": 1960})
DRAWN = ("pendigits", "segment")
LARGEST = 800  # of |L| and |PL|
BLIND_DEGREE = 3  # of the kernel if no row is precise
ALL = "all"
LABELLED, PARTIAL, CANDIDATES = sized(
    ((0, 100), (100, 200, 400), (5, 2)),
    tiny=((0, 20), (10, 20), (2,)),
    full=((0, 100, 200, 400, 800), (100, 200, 400, 800), (ALL, 5, 4, 3, 2)),
)
PRECISE = [count for count in LABELLED if count]
KNOWN = [size for size in CANDIDATES if size != ALL]  # the informative sizes
# As in the paper: |Y| = 2 blue, 3 green, 4 red, 5 magenta; the SVMs in black.
STYLES = {
    "SVM": {"colour": "#222222", "symbol": "cross"},
    "|Y| = 2": {"colour": "#2f6fc8", "symbol": "square", "dash": "dot"},
    "|Y| = 3": {"colour": "#2b9348", "symbol": "triangle-down", "dash": "dot"},
    "|Y| = 4": {"colour": "#d1495b", "symbol": "circle", "dash": "dot"},
    "|Y| = 5": {"colour": "#a3459f", "symbol": "diamond", "dash": "dot"},
    "|Y| = all": {"colour": "#999999", "symbol": "x", "dash": "dot"},
    "SVM-All": {"colour": "#222222", "symbol": "x", "dash": "dash"},
}

# Accuracy on the test rows by set, |L|, |PL| (0 for "SVM"), and "SVM", |Y| or "SVM-All".
Accuracies = dict[tuple[str, int, int, int | str], float]


def load(name: str) -> tuple[np.ndarray, np.ndarray, int]:
    """Features of unit length, class numbers, and the number of training rows, which come first.

    z-scored first: the polynomial kernel needs rows of similar length. DRAWN sets are split at random, seed 0.
    """
    X, y = exact_set(name)
    if name in DRAWN:
        order = np.random.default_rng(0).permutation(len(X))
        X, y = X[order], y[order]
    return normalize(scale(X)), y, TRAIN[name]


def candidate_sets(y: np.ndarray) -> dict[int | str, np.ndarray]:
    """Candidates (n, m) of each size, and of "SVM-All": the truth."""
    exact = np.eye(y.max() + 1, dtype=bool)[y]
    drawn = {size: contaminate(y, "size", r=size - 1, random_state=0) for size in KNOWN}
    return {"SVM-All": exact, **{size: drawn.get(size, np.ones_like(exact)) for size in CANDIDATES}}


def choose_degree(X: np.ndarray, exact: np.ndarray) -> int:
    """Return the kernel's degree, chosen together with C by two folds of the precise rows."""
    folds = precise_folds(exact, random_state=0)
    search = GridSearchCV(PLSVC(), PRECISE_GRID, cv=folds, refit=False).fit(X, exact)
    return int(search.best_params_["degree"])


def fit(X: np.ndarray, candidates: np.ndarray, precise: int, degree: int) -> GridSearchCV:
    """Fit PL-SVM with C chosen on the first `precise` rows, or by candidate consistency if there are none."""
    folds: Any = KFold(5, shuffle=True, random_state=0)
    if precise:
        some = candidates.copy()
        some[precise:] = True  # so that SVM-All trains on the revealed truth but does not choose by it
        folds = precise_folds(some, random_state=0)
    return GridSearchCV(PLSVC(kernel="poly", degree=degree), PARAMETER_GRIDS["PLSVC"], cv=folds).fit(X, candidates)


def run_set(name: str, accuracy: Accuracies) -> Iterator[str]:
    """Run one draw of one set, nested: the 200 rows include the 100. Yields a line for each |L|: the choices."""
    X, y, split = load(name)
    rows = np.random.default_rng(0).permutation(split)
    sets = candidate_sets(y)
    exact = sets["SVM-All"]
    for labelled in LABELLED:
        known = rows[:labelled]
        degree = choose_degree(X[known], exact[known]) if labelled else BLIND_DEGREE
        cells: list[tuple[int, int | str]] = [(0, "SVM")] if labelled else []
        cells += [(partial, size) for partial in PARTIAL for size in sets if labelled or size != ALL]
        picks = []
        for partial, size in cells:
            added = rows[LARGEST : LARGEST + partial]
            labels = np.concatenate([exact[known], sets["SVM-All" if size == "SVM" else size][added]])
            model = fit(X[np.concatenate([known, added])], labels, labelled, degree)
            accuracy[name, labelled, partial, size] = float((model.predict(X[split:]) == y[split:]).mean())
            picks.append(f"{model.best_params_['C']:g}")
        yield f"{name}, |L| = {labelled}: degree {degree}, C {' '.join(picks)}"


def mean(accuracy: Accuracies, name: str, *key: Any) -> float:
    """Return the accuracy; for the set "average" the mean of the sets, if all have the cell."""
    names = TRAIN if name == "average" else (name,)
    return float(np.mean([accuracy.get((one, *key), np.nan) for one in names]))


def called(size: int | str) -> str:
    return str(size) if size in ("SVM", "SVM-All") else f"|Y| = {size}"


def curves(accuracy: Accuracies) -> dict[str, dict[str, Line]]:
    """Figures 3 and 5 to 7: accuracy against |PL|, a row for each set and their average, a column for each |L|."""
    return {
        f"{name}, |L| = {count}": {
            called(size): Line(
                PARTIAL, [mean(accuracy, name, count, 0 if size == "SVM" else number, size) for number in PARTIAL]
            )
            for size in (*(("SVM", *CANDIDATES) if count else KNOWN), "SVM-All")
        }
        for name, count in product((*TRAIN, "average"), LABELLED)
    }


def gains(accuracy: Accuracies) -> dict[str, dict[str, Line]]:
    """Return Figure 4: the gain of PL-SVM over SVM in per cent at the largest |PL|, against |L|."""

    def gain(name: str, n: int, size: int | str) -> float:
        return 100 * (mean(accuracy, name, n, PARTIAL[-1], size) / mean(accuracy, name, n, 0, "SVM") - 1)

    return {
        name: {called(size): Line(PRECISE, [gain(name, n, size) for n in PRECISE]) for size in (*CANDIDATES, "SVM-All")}
        for name in (*TRAIN, "average")
    }


def table_of(accuracy: Accuracies) -> Table:
    columns = ["SVM", *CANDIDATES, "SVM-All"]
    titles = ["SVM", *(f"PL-SVM {size}" for size in CANDIDATES), "SVM-All"]
    table = Table(["set", "L", "PL", *titles])
    for name, labelled, partial in product((*TRAIN, "average"), LABELLED, PARTIAL):
        values = [mean(accuracy, name, labelled, 0 if one == "SVM" else partial, one) for one in columns]
        table.add(name, labelled, partial, *values)
    return table


def verdict(accuracy: Accuracies, name: str) -> str:
    """Say in how many cells with precise rows PL-SVM is between SVM and SVM-All, and list the exceptions."""
    below, above, cells = {}, {}, list(product(PRECISE, PARTIAL, KNOWN))
    for labelled, partial, size in cells:
        found = mean(accuracy, name, labelled, partial, size)
        low = mean(accuracy, name, labelled, 0, "SVM")
        high = mean(accuracy, name, labelled, partial, "SVM-All")
        if found < low:
            below[f"{labelled}/{partial}/{size}"] = low - found
        elif found > high:
            above[f"{labelled}/{partial}/{size}"] = found - high
    between = len(cells) - len(below) - len(above)
    text = f"- **{name}**: between SVM and SVM-All in {between} of {len(cells)} cells."
    for word, cases in (("Below SVM", below), ("Above SVM-All", above)):
        if cases:
            cells_text = "1 cell" if len(cases) == 1 else f"{len(cases)} cells"
            text += f" {word} in {cells_text}, by at most {max(cases.values()):.3f}: {', '.join(cases)}."
    return text


def blind(accuracy: Accuracies, name: str) -> str:
    """Say whether more rows help without precise rows, and the distance to SVM-All."""
    ends = []
    for size in KNOWN:
        curve = [mean(accuracy, name, 0, partial, size) for partial in PARTIAL]
        falls = sum(after < before for before, after in pairwise(curve))
        behind = mean(accuracy, name, 0, PARTIAL[-1], "SVM-All") - curve[-1]
        fell = f", with {falls} fall{'s' * (falls != 1)} on the way" if falls else ""
        ends.append(f"|Y| = {size}: {curve[0]:.3f} to {curve[-1]:.3f}{fell}, {behind:.3f} behind SVM-All")
    return f"- **{name}**: {'; '.join(ends)}."


@benchmark(f"Learning curves of the PL-SVM paper, the {('full' if mode() == 'full' else 'quick')} setting", full=True)
def margin_curves() -> str:
    accuracy: Accuracies = {}
    picks: list[str] = []

    def run() -> None:
        for line in (line for name in TRAIN for line in run_set(name, accuracy)):
            picks.append(f"- {line}")
            print(line, flush=True)

    seconds, file, names = clocked(run)[1], result("margin_curves"), (*TRAIN, "average")
    title = "Accuracy against the number of partially labelled rows"
    write_chart(file, title, curves(accuracy), "|PL|", columns=len(LABELLED), styles=STYLES, log=True)
    shown = f"![{title}]({file}.svg)"
    if len(LABELLED) > 2:
        title = f"Improvement over SVM at |PL| = {PARTIAL[-1]}"
        how = {"columns": len(names), "styles": STYLES, "log": True, "y_suffix": "%"}
        write_chart(f"{file}_gain", title, gains(accuracy), "|L|", **how)
        shown += f"\n\n![{title}]({file}_gain.svg)"
    all_says = f' ("{ALL}": every class, so no information)' if ALL in CANDIDATES else ""
    return page(
        f"""Accuracy on the test rows, one random draw of the training rows (seed 0). |L| precise rows and |PL| rows
with |Y| candidates{all_says}. Features z-scored, then of unit length; polynomial kernel with a constant. SVM and
SVM-All are the same learner on the precise rows alone and on all rows with the truth revealed. For |L| > 0 the
degree is chosen by two folds of the precise rows, then C for each learner by the same two folds, with its other rows
in both training parts (why: docs/decisions/0006-margin-learners.md). For |L| = 0 the degree is {BLIND_DEGREE} and C is
chosen by five-fold candidate consistency; SVM-All's candidates are the truth. No choice uses a true label that its
learner does not have. C = 1000 is the end of the paper's grid. {seconds / 60:.1f} CPU minutes of one thread,
searches included.""",
        shown,
        """Is PL-SVM between SVM and SVM-All, as the paper reports for all its sets? Cells are |L|/|PL|/|Y|, without
"all":""",
        "\n".join(verdict(accuracy, name) for name in names),
        f"Without precise rows, from |PL| = {PARTIAL[0]} to {PARTIAL[-1]}:",
        "\n".join(blind(accuracy, name) for name in names),
        table_of(accuracy),
        "Chosen values, in the order SVM, then for each |PL| SVM-All and |Y| as above:",
        "\n".join(picks),
    )


# Online learners

RAW, SCALED = "raw, no bias", "z-scored + 1"
SETS = ("dermatology", "ecoli", "satimage", "usps", "digits")
ROUNDS = dict(zip(SETS, sized((5000, 5000, 6000, 9000, 10_000), tiny=(40,) * 5), strict=True))
RUNS, FEW, MEANS, PASS = sized(
    (dict.fromkeys(SETS, 100) | {"usps": 20}, 10, 5, 20_000), tiny=(dict.fromkeys(SETS, 2), 1, 1, 100)
)
LAMBDAS = (1e-4, 1e-3, 1e-2, 1e-1)
ALGORITHMS = ("Avg Perceptron", "Max Perceptron", "Avg Pegasos", "Max Pegasos")
EXACT = ("Perceptron", "Pegasos")
POINTS = 60  # plotted points of a curve
# Sizes of the candidate sets in addition to 1, the true label alone, by set and features.
CASES = {
    ("dermatology", RAW): (2, 4), ("dermatology", SCALED): (2, 4), ("ecoli", RAW): (2, 4, 6),
    ("ecoli", SCALED): (2, 4, 6), ("satimage", RAW): (2, 4), ("satimage", SCALED): (2, 4),
    ("usps", RAW): (2, 4, 6, 8), ("digits", RAW): (2, 4, 6, 8), ("digits", SCALED): (2, 4, 6, 8),
}  # fmt: skip
STRETCHED = (
    ("digits", RAW, 1), ("digits", RAW, 16), ("digits", SCALED, 1), ("satimage", RAW, 1), ("satimage", SCALED, 1),
)  # fmt: skip
# The step is computed from its ratio and the mean square of the rows.
STEPS: dict[str, tuple[Any, np.ndarray, Callable[[float, float], dict[str, float]]]] = {
    "alpha": (PLPegasos, 10.0 ** np.arange(-6, 2), lambda step, square: {"alpha": step * square}),
    "eta0": (PLPerceptron, 10.0 ** np.arange(-3, 5), lambda step, square: {"eta0": step / square}),
}
Found = dict[tuple[str, str, int], dict[str, dict[str, Any]]]


def features_of(name: str, kind: str) -> tuple[np.ndarray, np.ndarray]:
    """X (n, d) and class numbers (n,); the eight unknown ages of dermatology are their mean, digits are in [0, 1]."""
    X, y = exact_set(name, fill=np.nanmean)
    X = X / 16 if name == "digits" else X
    return (scale(X) if kind == SCALED else X), y


def draw(y: np.ndarray, size: int, rounds: int, run: int) -> tuple[np.ndarray, np.ndarray]:
    """Return the row of each round (rounds,) and its candidates (rounds, m)."""
    candidates = contaminate(y, "size", r=size - 1, random_state=run)
    random = np.random.default_rng(run)
    order = np.concatenate([random.permutation(len(y)) for _ in range(-(-rounds // len(y)))])[:rounds]
    return order, candidates[order]


def measured(name: str, kind: str, size: int) -> dict[str, dict[str, Any]]:
    """Return by algorithm: final errors of the runs, the mean curve, and the chosen lambda."""
    X, y = features_of(name, kind)
    runs, bias = RUNS[name], kind == SCALED
    tried: list[Any] = []
    losses = ("max",) if size == 1 else ("average", "max")
    for loss in losses:
        tried.append(PLPerceptron(loss, fit_intercept=bias))
        tried += [PLPegasos(loss, alpha=alpha, fit_intercept=bias) for alpha in LAMBDAS]
    shown = np.unique(np.geomspace(10, ROUNDS[name], POINTS).astype(int)) - 1
    errors, sums = np.zeros((len(tried), runs)), np.zeros((len(tried), len(shown)))
    for run in range(runs):
        order, candidates = draw(y, size, ROUNDS[name], run)
        for place, learner in enumerate(tried):
            running = progressive_validation(learner, X[order], candidates, y[order]).truth_error
            errors[place, run] = running[-1]
            sums[place] += running[shown] / runs
    found = {}
    for part, _ in enumerate(losses):
        begin = part * (1 + len(LAMBDAS))
        best = int(errors[begin + 1 : begin + 1 + len(LAMBDAS)].mean(axis=1).argmin())
        titles = EXACT if size == 1 else (ALGORITHMS[part], ALGORITHMS[2 + part])
        for title, place, alpha in zip(titles, (begin, begin + 1 + best), (None, LAMBDAS[best]), strict=True):
            found[title] = {
                "errors": errors[place], "error": float(errors[place].mean()), "rounds": shown + 1,
                "curve": sums[place], "alpha": alpha,
            }  # fmt: skip
    return found


@tabled(["set", "features", "candidates", *ALGORITHMS, "deviation over runs", "lambda"])
def error_table(results: Found) -> Rows:
    """Return a line for each set, features and size."""
    for (name, kind, size), found in results.items():
        order = (0, 0, 1, 1) if size == 1 else (0, 1, 2, 3)
        titles = EXACT if size == 1 else ALGORITHMS
        errors = (found[titles[at]]["error"] for at in order)
        spread = "/".join(f"{found[title]['errors'].std(ddof=1):.3f}" for title in titles)
        chosen = ", ".join(f"{found[title]['alpha']:g}" for title in titles if title.endswith("Pegasos"))
        yield name, kind, "1 (exact)" if size == 1 else size, *errors, spread, chosen


@tabled("set | candidates | to win | measured | ")
def winners_table(results: Found) -> Rows:
    """Return whether Max wins at 2 candidates and Avg at 8 of 10, on usps and digits."""
    for (name, kind), (size, expected) in product(
        (("usps", RAW), ("digits", RAW), ("digits", SCALED)), ((2, "Max"), (8, "Avg"))
    ):
        final = {title: one["error"] for title, one in results[name, kind, size].items()}
        pairs = ", ".join(f"{title} {value:.3f}" for title, value in final.items())
        verdict = met(min(final, key=lambda one, final=final: final[one]).startswith(expected))
        yield f"{name}, {kind}", f"{size} of 10", expected, pairs, verdict


def sentence(name: str, kind: str, size: int, found: dict[str, dict[str, Any]]) -> str:
    """Summarize the curves of one set and size."""
    final = {title: one["error"] for title, one in found.items()}
    best = min(final, key=lambda title: final[title])
    avg, most = (min(final[title] for title in final if title.startswith(word)) for word in ("Avg", "Max"))
    late = [one["curve"][one["rounds"] >= 0.8 * one["rounds"][-1]] for one in found.values()]
    return (
        f"- {name}, {kind}, |Y| = {size}: {best} is best ({final[best]:.3f}); {'Max' if most < avg else 'Avg'} is "
        f"ahead by {abs(avg - most):.3f}; over the last fifth of the {ROUNDS[name]:,} rounds no curve moves by "
        f"more than {max(abs(one[0] - one[-1]) for one in late):.3f}."
    )


def step_table(parameter: str) -> Table:
    """Return the error at |Y| = 2 by lambda / mean |x|^2 or by eta * mean |x|^2, on rows of very different length."""
    make, steps, values = STEPS[parameter]
    table = Table(["set, features", "mean square of x", "loss", *(f"{step:g}" for step in steps)])
    for name, kind, factor in STRETCHED:
        X, y = features_of(name, kind)
        X = X * factor
        square = (X**2).sum(axis=1).mean() + (kind == SCALED)
        draws = [draw(y, 2, ROUNDS[name], run) for run in range(FEW)]
        for loss, short in (("average", "Avg"), ("max", "Max")):
            errors = []
            for step in steps:
                learner = make(loss, fit_intercept=kind == SCALED, **values(step, square))
                runs = (progressive_validation(learner, X[rows], sets, y[rows]) for rows, sets in draws)
                errors.append(np.mean([one.truth_error[-1] for one in runs]))
            cells = (f"**{one:.3f}**" if one == min(errors) else f"{one:.3f}" for one in errors)
            called = f"{name}{'' if factor == 1 else f' x {factor}'}, {kind}"
            table.add(called, f"{square:.3g}", short, *cells)
    return table


def averaging_table() -> Table:
    """Return the accuracy on test rows of the last iterate and of the mean of all, after one pass of Gaussian rows."""
    table, test = (
        Table("learner | candidates | Avg, last | Avg, mean | Max, last | Max, mean"),
        gaussian_classes(PASS, 99),
    )
    makers = {"Perceptron": (PLPerceptron, {}), "Pegasos, lambda 1e-3": (PLPegasos, {"alpha": 1e-3})}
    for size, (title, (make, given)) in product((2, 4, 6, 8), makers.items()):
        cells = []
        for loss, average in product(("average", "max"), (False, True)):
            accuracy = []
            for run in range(MEANS):
                X, y = gaussian_classes(PASS, run)
                candidates = contaminate(y, "size", r=size - 1, random_state=run)
                model = make(loss, average=average, **given).partial_fit(X, candidates)
                accuracy.append(model.score(*test))
            cells.append(np.mean(accuracy))
        table.add(title, size, *cells)
    return table


def draw_panels(name: str, results: Found) -> None:
    """Draw Figures 1 to 4 of the paper for one set, with the learners of exact labels in every panel."""
    colours = dict(zip((*ALGORITHMS, *EXACT), ("#2f6fc8", "#d1495b") * 2 + ("#777777",) * 2, strict=True))
    styles = {
        title: {"colour": colour, "dash": "solid" if "Perceptron" in title else "dash"}
        for title, colour in colours.items()
    }
    panels = {
        f"{kind}, |Y| = {size}": {
            title: Line(one["rounds"].tolist(), one["curve"].tolist())
            for title, one in (found | results[name, kind, 1]).items()
        }
        for (known, kind, size), found in results.items()
        if known == name and size > 1
    }
    columns = max(len(sizes) for (known, _), sizes in CASES.items() if known == name)
    title = f"{name}: share of wrong predictions so far"
    write_chart(f"online_curves_{name}", title, panels, "rounds", columns=columns, styles=styles)


@benchmark("Error curves of the online learners", packages=("plotly",))
def online_curves() -> str:
    begun, results = time.process_time(), {}
    for (name, kind), sizes in CASES.items():
        for size in (1, *sizes):
            results[name, kind, size] = found = measured(name, kind, size)
            print(name, kind, size, {title: round(one["error"], 3) for title, one in found.items()}, flush=True)
    steps = {parameter: step_table(parameter) for parameter in STEPS}
    means = averaging_table()
    for name in ROUNDS:
        draw_panels(name, results)
    return page(
        f"""Mean share of wrong predictions over all rounds, each made before its row was learnt, against the true
label; {RUNS["ecoli"]} runs, {RUNS["usps"]} on usps. eta = 1; lambda of Pegasos is the best of 1e-4, 1e-3, 1e-2, 1e-1 on
the mean of the runs. mnist, the fifth set of the paper, is not available here.
{time.process_time() - begun:.0f} CPU seconds for all of this page.""",
        error_table(results),
        """Exact rows: the same code with one candidate, so that Avg and Max are one algorithm (deviations: Perceptron,
Pegasos).""",
        "Few candidates for Max, many for Avg (the better learner of that name should win):",
        winners_table(results),
        "## The curves",
        "\n".join(f"![error curves, {name}](online_curves_{name}.svg)" for name in ROUNDS),
        "\n".join(sentence(*key, found) for key, found in results.items() if key[2] > 1),
        "## Length of the rows",
        f"""Error at 2 candidates, mean of {FEW} runs, by lambda / mean |x|^2 (Pegasos). Multiplying the features by 16
changes nothing when lambda grows by 16^2: the best lambda grows with |x|^2, not with its inverse.""",
        steps["alpha"],
        "By eta * mean |x|^2 (Perceptrons): the best eta is proportional to 1 / |x|^2.",
        steps["eta0"],
        "## The mean of the iterates",
        f"""Accuracy on {PASS:,} other rows after one pass over {PASS:,} rows of ten Gaussian classes (64 features),
mean of {MEANS} runs: last iterate, and `average=True`.""",
        means,
    )
