"""Learning curves of the PL-SVM paper (Nguyen and Caruana, KDD 2008, Figures 3 to 7) on the public sets at hand.

|L| precise rows, |PL| rows with |Y| candidates. Beside PL-SVM on all of them: the same learner on the precise rows
alone (SVM; PL-SVM with one candidate a row is the Crammer-Singer SVM), and with the truth of all rows (SVM-All). All
three have the same kernel, features, grid and choice of parameters: two folds of the precise rows, the degree once
for each |L| on these alone, then C for each learner with the rows it has besides in every training part. Without
precise rows C by five-fold candidate consistency, degree 3. Test rows see the final models only.
The quick setting is here, the full one in `margin_curves_full`.
"""

from __future__ import annotations

import time
from collections.abc import Iterator
from dataclasses import dataclass
from itertools import pairwise
from typing import Any

import numpy as np
from sklearn.model_selection import GridSearchCV, KFold
from sklearn.preprocessing import normalize
from threadpoolctl import threadpool_limits

from benchmarks import report
from benchmarks.margin_data import exact_set, z_scored
from benchmarks.margin_figures import curves, gains, write_pictures
from plcore import PARAMETER_GRIDS, PLSVC, PRECISE_GRID, precise_folds
from plcore.evaluation import contaminate

# Training rows, as many as in the paper; the others test. The paper's pendigits are not the set's own two parts.
TRAIN = {"satimage": 4435, "pendigits": 8992, "segment": 1960, "usps": 7291}
DRAWN = ("pendigits", "segment")
LARGEST = 800  # of |L| and |PL|
BLIND_DEGREE = 3  # of the kernel where no row is precise
ALL = "all"
# Accuracy of the spec: 2-3 repetitions, Pegasos T=250, 1500 test rows: |L|, |PL|: SVM, PL-SVM 5, 4, 3, 2, SVM-All.
SPEC = {
    ("satimage", 0): {100: "- .601 .740 .789 .792 .821", 200: "- .763 .821 .827 .838 .848",
                      400: "- .773 .835 .843 .844 .845", 800: "- .741 .827 .845 .853 .855"},
    ("satimage", 100): {100: ".835 .834 .835 .836 .833 .834", 200: ".835 .826 .839 .839 .847 .848",
                        400: ".835 .825 .824 .831 .838 .841", 800: ".835 .824 .829 .836 .839 .844"},
    ("satimage", 400): {100: ".867 .866 .867 .867 .868 .870", 200: ".867 .868 .871 .870 .873 .870",
                        400: ".867 .870 .868 .871 .871 .873", 800: ".867 .867 .868 .866 .870 .876"},
    ("pendigits", 0): {100: "- .411 .654 .695 .823 .889", 400: "- .686 .864 .884 .924 .937",
                       800: "- .866 .907 .913 .929 .936"},
    ("pendigits", 100): {100: ".909 .923 .934 .932 .948 .954", 400: ".909 .940 .953 .953 .958 .970",
                         800: ".909 .948 .951 .968 .979 .982"},
}  # fmt: skip


@dataclass(frozen=True)
class Setting:
    """What is run; `title` tells the two apart in the table."""

    title: str
    labelled: tuple[int, ...]
    partial: tuple[int, ...]
    sizes: tuple[int | str, ...]
    repeats: int


QUICK = Setting("the quick setting", (0, 100), (100, 200, 400), (5, 2), 1)
FULL = Setting("the full setting", (0, 100, 200, 400, 800), (100, 200, 400, 800), (ALL, 5, 4, 3, 2), 1)

# Accuracy on the test rows, one for each repeat: by set, |L|, |PL| (0 for "SVM"), and "SVM", |Y| or "SVM-All".
Accuracies = dict[tuple[str, int, int, int | str], list[float]]


def load(name: str) -> tuple[np.ndarray, np.ndarray, int]:
    """Features of unit length, class numbers, and the number of training rows, which come first.

    z-scored first: the polynomial kernel needs rows of like length. DRAWN sets are split at random, seed 0.
    """
    X, y = exact_set(name)
    if name in DRAWN:
        order = np.random.default_rng(0).permutation(len(X))
        X, y = X[order], y[order]
    return normalize(z_scored(X)), y, TRAIN[name]


def candidate_sets(y: np.ndarray, sizes: tuple[int | str, ...], seed: int) -> dict[int | str, np.ndarray]:
    """Candidates (n, m) of each size, and of "SVM-All": the truth."""
    exact = np.eye(y.max() + 1, dtype=bool)[y]
    found: dict[int | str, np.ndarray] = {"SVM-All": exact}
    for size in sizes:
        if isinstance(size, int):
            found[size] = contaminate(y, "size", r=size - 1, random_state=seed)
        else:
            found[size] = np.ones_like(exact)
    return found


def choose_degree(X: np.ndarray, exact: np.ndarray) -> int:
    """The degree of the kernel, by two folds of the precise rows, C chosen along with it."""
    folds = precise_folds(exact, random_state=0)
    search = GridSearchCV(PLSVC(), PRECISE_GRID, cv=folds, refit=False).fit(X, exact)
    return int(search.best_params_["degree"])


def fit(X: np.ndarray, candidates: np.ndarray, precise: int, degree: int) -> GridSearchCV:
    """PL-SVM with C by the first `precise` rows, or by candidate consistency where there are none."""
    folds: Any = KFold(5, shuffle=True, random_state=0)
    if precise:
        some = candidates.copy()
        some[precise:] = True  # so that the truth revealed to SVM-All trains it but does not choose for it
        folds = precise_folds(some, random_state=0)
    return GridSearchCV(PLSVC(kernel="poly", degree=degree), PARAMETER_GRIDS["PLSVC"], cv=folds).fit(
        X, candidates
    )


def run_set(name: str, setting: Setting, seed: int, accuracy: Accuracies) -> Iterator[str]:
    """One repeat on one set, nested: 100 rows are among the 200. Yields a line for each |L|: what was chosen."""
    X, y, split = load(name)
    rows = np.random.default_rng(seed).permutation(split)
    sets = candidate_sets(y, setting.sizes, seed)
    exact = sets["SVM-All"]
    for labelled in setting.labelled:
        known = rows[:labelled]
        degree = choose_degree(X[known], exact[known]) if labelled else BLIND_DEGREE
        cells: list[tuple[int, int | str]] = [(0, "SVM")] if labelled else []
        cells += [(partial, size) for partial in setting.partial for size in sets if labelled or size != ALL]
        picks = []
        for partial, size in cells:
            added = rows[LARGEST : LARGEST + partial]
            chosen = np.concatenate([known, added])
            labels = np.concatenate([exact[known], sets["SVM-All" if size == "SVM" else size][added]])
            model = fit(X[chosen], labels, labelled, degree)
            accuracy.setdefault((name, labelled, partial, size), []).append(
                float((model.predict(X[split:]) == y[split:]).mean())
            )
            picks.append(f"{model.best_params_['C']:g}")
        yield f"{name}, repeat {seed}, |L| = {labelled}: degree {degree}, C {' '.join(picks)}"


def mean(accuracy: Accuracies, *key: Any) -> float:
    """The mean over the repeats; for the set "average" that of the sets, where all have the cell."""
    names = TRAIN if key[0] == "average" else (key[0],)
    return float(np.mean([np.mean(accuracy.get((name, *key[1:]), np.nan)) for name in names]))


def table(accuracy: Accuracies, setting: Setting) -> list[str]:
    columns = ["SVM", *setting.sizes, "SVM-All"]
    titles = ["SVM", *(f"PL-SVM {size}" for size in setting.sizes), "SVM-All"]
    lines = [
        f"| set | L | PL | {' | '.join(titles)} | spec: SVM, PL-SVM 5 4 3 2, SVM-All |",
        "|---" * (len(titles) + 4) + "|",
    ]
    for name in (*TRAIN, "average"):
        for labelled in setting.labelled:
            for partial in setting.partial:
                values = [
                    mean(accuracy, name, labelled, 0 if column == "SVM" else partial, column)
                    for column in columns
                ]
                cells = " | ".join("-" if np.isnan(value) else f"{value:.3f}" for value in values)
                spec = SPEC.get((name, labelled), {}).get(partial, "")
                lines.append(f"| {name} | {labelled} | {partial} | {cells} | {spec} |")
    return lines


def verdicts(accuracy: Accuracies, setting: Setting) -> list[str]:
    """For each set in words: in how many cells with precise rows PL-SVM lies between SVM and SVM-All, and where not."""
    lines = []
    sizes = [size for size in setting.sizes if size != ALL]
    for name in (*TRAIN, "average"):
        below, above, cells = [], [], 0
        for labelled in setting.labelled:
            for partial in setting.partial if labelled else ():
                low = mean(accuracy, name, labelled, 0, "SVM")
                high = mean(accuracy, name, labelled, partial, "SVM-All")
                for size in sizes:
                    cells += 1
                    found = mean(accuracy, name, labelled, partial, size)
                    place = f"{labelled}/{partial}/{size}"
                    if found < low:
                        below.append((found - low, place))
                    elif found > high:
                        above.append((found - high, place))
        between = cells - len(below) - len(above)
        text = f"- **{name}**: between SVM and SVM-All in {between} of {cells} cells."
        for word, cases in (("Below SVM", below), ("Above SVM-All", above)):
            if cases:
                worst = max(abs(distance) for distance, _ in cases)
                places = ", ".join(place for _, place in cases)
                text += f" {word} in {len(cases)}, by at most {worst:.3f}: {places}."
        lines.append(text)
    return lines


def blind(accuracy: Accuracies, setting: Setting) -> list[str]:
    """Without precise rows: whether more rows help, and how far SVM-All is."""
    lines = []
    sizes = [size for size in setting.sizes if size != ALL]
    for name in (*TRAIN, "average"):
        ends = []
        for size in sizes:
            curve = [mean(accuracy, name, 0, partial, size) for partial in setting.partial]
            falls = sum(after < before for before, after in pairwise(curve))
            behind = mean(accuracy, name, 0, setting.partial[-1], "SVM-All") - curve[-1]
            fell = f", falling {falls} times on the way" if falls else ""
            ends.append(f"|Y| = {size}: {curve[0]:.3f} to {curve[-1]:.3f}{fell}, {behind:.3f} behind SVM-All")
        lines.append(f"- **{name}**: {'; '.join(ends)}.")
    return lines


def run(setting: Setting, file: str) -> None:
    accuracy: Accuracies = {}
    picks = []
    begun = time.process_time()
    with threadpool_limits(1):
        for seed in range(setting.repeats):
            for name in TRAIN:
                for line in run_set(name, setting, seed, accuracy):
                    picks.append(line)
                    print(f"{time.process_time() - begun:6.0f} s  {line}", flush=True)
    write(setting, file, accuracy, picks, time.process_time() - begun)


def write(setting: Setting, file: str, accuracy: Accuracies, picks: list[str], seconds: float) -> None:
    sizes, last = setting.sizes, setting.partial[-1]
    pictures = {file: curves(accuracy, mean, tuple(TRAIN), setting.labelled, setting.partial, sizes)}
    shown = f"![Accuracy against the number of partially labelled rows]({file}.svg)"
    if len(setting.labelled) > 2:
        pictures[f"{file}_gain"] = gains(accuracy, mean, tuple(TRAIN), setting.labelled, last, sizes)
        shown += f"\n\n![Improvement over SVM at |PL| = {last}]({file}_gain.svg)"
    write_pictures(pictures)
    all_says = f' ("{ALL}": every class, which says nothing)' if ALL in sizes else ""
    report.write(
        file,
        f"Learning curves of the PL-SVM paper, {setting.title}",
        f"""
Accuracy on the test rows, {setting.repeats} random draw(s) of the training rows (seed 0 ...). |L| precise rows and |PL|
rows with |Y| candidates{all_says}. Features z-scored, then of unit length; polynomial kernel with a constant. SVM and
SVM-All are the same learner on the precise rows alone and on all rows with the truth revealed. For |L| > 0 the degree
is chosen by two folds of the precise rows, then C for each learner by the same two folds, its other rows in every
training part (why: docs/decisions/0006-margin-learners.md). For |L| = 0 the degree is {BLIND_DEGREE} and C is chosen by
five-fold candidate consistency; SVM-All's candidates are the truth. No choice sees a truth that its learner is not
given. C = 1000 is the end of the paper's grid. {seconds / 60:.1f} CPU minutes of one thread, searches included. The
spec's values are from other draws and preprocessing and another solver.

{shown}

Does PL-SVM lie between SVM and SVM-All, as the paper says of all its sets? Cells are |L|/|PL|/|Y|, without "all":

{chr(10).join(verdicts(accuracy, setting))}

Without precise rows, from |PL| = {setting.partial[0]} to {last}:

{chr(10).join(blind(accuracy, setting))}

{chr(10).join(table(accuracy, setting))}

What was chosen, in the order SVM, then for each |PL| SVM-All and |Y| as above:

{chr(10).join(f"- {line}" for line in picks)}
""",
        ("numpy", "scipy", "scikit-learn", "numba"),
    )


def main() -> None:
    run(QUICK, "margin_curves")


if __name__ == "__main__":
    main()
