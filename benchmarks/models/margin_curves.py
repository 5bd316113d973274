"""Learning curves of the PL-SVM paper (Nguyen and Caruana, KDD 2008, Figures 3 to 7) on the available public
sets.

`--full` takes every size, an hour of one core.
"""

from __future__ import annotations

from collections.abc import Iterator
from itertools import pairwise, product
from typing import Any

import numpy as np
from sklearn.model_selection import GridSearchCV, KFold
from sklearn.preprocessing import normalize

from benchmarks.data import exact_set, z_scored
from benchmarks.harness import Table, benchmark, clocked, mode, page, result, sized
from benchmarks.plots import Line, write_chart
from plcore import PARAMETER_GRIDS, PLSVC, PRECISE_GRID, precise_folds
from plcore.evaluation import contaminate

# Number of training rows, as in the paper; the others test. For pendigits the paper does not use the set's
# own split.
TRAIN = sized({"satimage": 4435, "pendigits": 8992, "segment": 1960, "usps": 7291}, tiny={"segment": 1960})
DRAWN = ("pendigits", "segment")
LARGEST = 800  # of |L| and |PL|
BLIND_DEGREE = 3  # of the kernel if no row is precise
ALL = "all"
LABELLED, PARTIAL, SIZES = sized(
    ((0, 100), (100, 200, 400), (5, 2)),
    tiny=((0, 20), (10, 20), (2,)),
    full=((0, 100, 200, 400, 800), (100, 200, 400, 800), (ALL, 5, 4, 3, 2)),
)
PRECISE = [count for count in LABELLED if count]
KNOWN = [size for size in SIZES if size != ALL]  # the informative sizes
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

    z-scored first: the polynomial kernel needs rows of similar length. DRAWN sets are split at random, seed
    0.
    """
    X, y = exact_set(name)
    if name in DRAWN:
        order = np.random.default_rng(0).permutation(len(X))
        X, y = X[order], y[order]
    return normalize(z_scored(X)), y, TRAIN[name]


def candidate_sets(y: np.ndarray) -> dict[int | str, np.ndarray]:
    """Candidates (n, m) of each size, and of "SVM-All": the truth."""
    exact = np.eye(y.max() + 1, dtype=bool)[y]
    drawn = {size: contaminate(y, "size", r=size - 1, random_state=0) for size in KNOWN}
    return {"SVM-All": exact, **{size: drawn.get(size, np.ones_like(exact)) for size in SIZES}}


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
    """Run one draw of one set, nested: the 200 rows include the 100. Yields a line for each |L|: the
    choices."""
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
            for size in (*(("SVM", *SIZES) if count else KNOWN), "SVM-All")
        }
        for name, count in product((*TRAIN, "average"), LABELLED)
    }


def gains(accuracy: Accuracies) -> dict[str, dict[str, Line]]:
    """Return Figure 4: the gain of PL-SVM over SVM in per cent at the largest |PL|, against |L|."""

    def gain(name: str, n: int, size: int | str) -> float:
        return 100 * (mean(accuracy, name, n, PARTIAL[-1], size) / mean(accuracy, name, n, 0, "SVM") - 1)

    return {
        name: {called(size): Line(PRECISE, [gain(name, n, size) for n in PRECISE]) for size in (*SIZES, "SVM-All")}
        for name in (*TRAIN, "average")
    }


def table_of(accuracy: Accuracies) -> Table:
    columns = ["SVM", *SIZES, "SVM-All"]
    titles = ["SVM", *(f"PL-SVM {size}" for size in SIZES), "SVM-All"]
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
            text += f" {word} in {len(cases)}, by at most {max(cases.values()):.3f}: {', '.join(cases)}."
    return text


def blind(accuracy: Accuracies, name: str) -> str:
    """Say whether more rows help without precise rows, and the distance to SVM-All."""
    ends = []
    for size in KNOWN:
        curve = [mean(accuracy, name, 0, partial, size) for partial in PARTIAL]
        falls = sum(after < before for before, after in pairwise(curve))
        behind = mean(accuracy, name, 0, PARTIAL[-1], "SVM-All") - curve[-1]
        fell = f", falling {falls} times on the way" if falls else ""
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
    all_says = f' ("{ALL}": every class, which says nothing)' if ALL in SIZES else ""
    return page(
        f"""Accuracy on the test rows, one random draw of the training rows (seed 0). |L| precise rows and |PL| rows
with |Y| candidates{all_says}. Features z-scored, then of unit length; polynomial kernel with a constant. SVM and
SVM-All are the same learner on the precise rows alone and on all rows with the truth revealed. For |L| > 0 the
degree is chosen by two folds of the precise rows, then C for each learner by the same two folds, its other rows in
every training part (why: docs/decisions/0006-margin-learners.md). For |L| = 0 the degree is {BLIND_DEGREE} and C is
chosen by five-fold candidate consistency; SVM-All's candidates are the truth. No choice sees a truth that its
learner is not given. C = 1000 is the end of the paper's grid. {seconds / 60:.1f} CPU minutes of one thread,
searches included.""",
        shown,
        """Is PL-SVM between SVM and SVM-All, as the paper says of all its sets? Cells are |L|/|PL|/|Y|, without
"all":""",
        "\n".join(verdict(accuracy, name) for name in names),
        f"Without precise rows, from |PL| = {PARTIAL[0]} to {PARTIAL[-1]}:",
        "\n".join(blind(accuracy, name) for name in names),
        table_of(accuracy),
        "What was chosen, in the order SVM, then for each |PL| SVM-All and |Y| as above:",
        "\n".join(picks),
    )
