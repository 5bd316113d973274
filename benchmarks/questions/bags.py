"""Rows of one photo, recording or scene: what set masses make of them, and that nothing changes where there are none.

Real sets in file order, and pictures of our own making: three to six noisy digits, named by a caption. Held-out rows
are drawn singly for the real sets, as in the papers, and by whole pictures for ours.
"""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np
from sklearn.model_selection import GroupKFold, KFold

from benchmarks.data import exact_set, partial_set
from benchmarks.harness import Table, page, sized
from plcore import PLKernelRidge
from plcore.arrays import BoolArray, FloatArray, IntArray
from plcore.evaluation import contaminate
from plcore.labels.set_masses import sources_by_set

TITLE = "Rows of one source"
PACKAGES = ("numpy", "scipy", "scikit-learn")
SEED = 7
FOLDS = sized({"msrcv2": 10, "lost": 10, "birdsong": 4}, tiny={"lost": 2})
PICTURES = sized(1000, tiny=150)  # rows
PICTURE_FOLDS = sized(10, tiny=2)
PLAIN = sized(("segment", "ecoli", "satimage", "vowel"), tiny=("ecoli",))
MODELS: dict[str, float | str] = {"without": 0.0, "auto": "auto", "set mass 1": 1.0}

Cell = tuple[FloatArray, BoolArray, IntArray, IntArray | None, IntArray]
"""Features, sets, truth, sources if they are told, and the fold of each row."""


def folds_of(splitter: KFold | GroupKFold, n: int, groups: IntArray | None = None) -> IntArray:
    found = np.zeros(n, dtype=np.int64)
    for number, (_, test) in enumerate(splitter.split(np.zeros(n), groups=groups)):
        found[test] = number
    return found


def pictures() -> tuple[FloatArray, BoolArray, IntArray, IntArray]:
    X, y = exact_set("digits")
    rng = np.random.default_rng(SEED)
    rows = rng.permutation(len(y))[:PICTURES]
    of = np.repeat(np.arange(PICTURES), rng.integers(3, 7, size=PICTURES))[:PICTURES]
    named = np.zeros((PICTURES, 10), dtype=bool)
    named[of, y[rows]] = True
    return X[rows] + rng.normal(scale=8, size=(PICTURES, X.shape[1])), named[of], y[rows], of


def cells() -> Iterator[tuple[str, Cell]]:
    for name, count in FOLDS.items():
        X, sets, y = partial_set(name)
        yield name, (X, sets, y, None, folds_of(KFold(count, shuffle=True, random_state=SEED), len(y)))
    X, sets, y, of = pictures()
    fold = folds_of(GroupKFold(PICTURE_FOLDS, shuffle=True, random_state=SEED), len(y), of)
    yield "pictures, sources by their sets", (X, sets, y, None, fold)
    yield "pictures, sources told", (X, sets, y, of, fold)


def accuracies(cell: Cell, number: int) -> tuple[FloatArray, list[float]]:
    """(models, 2) right on held-out rows and on the own rows of one fold; the set mass that "auto" chose."""
    X, sets, y, of, fold = cell
    own, new = fold != number, fold == number
    figures, chosen = [], []
    for model in MODELS:
        ridge = PLKernelRidge(set_mass=MODELS[model]).fit(
            X[own], sets[own], groups=None if of is None else of[own]
        )
        figures.append([(ridge.predict(X[new]) == y[new]).mean(), (ridge.transduction_ == y[own]).mean()])
        chosen += [ridge.set_mass_] if model == "auto" else []
    return np.array(figures), chosen


def gain_table() -> Table:
    table = Table(
        "set | folds | held-out rows: without | auto | set mass 1 | gain of auto | own rows: without | auto | "
        "set mass 1 | set masses chosen"
    )
    for name, cell in cells():
        count = int(cell[-1].max()) + 1
        runs = [accuracies(cell, number) for number in range(count)]
        figures = np.array([one for one, _ in runs])
        means, gain = figures.mean(axis=0), figures[:, 1, 0] - figures[:, 0, 0]
        error = gain.std(ddof=1) / np.sqrt(count)
        chosen = np.array([one for _, some in runs for one in some])
        table.add(
            name,
            count,
            *(f"{one:.3f}" for one in means[:, 0]),
            f"{gain.mean():+.3f} ± {error:.3f}",
            *(f"{one:.3f}" for one in means[:, 1]),
            ", ".join(f"{one:g}: {(chosen == one).sum()}" for one in np.unique(chosen)),
        )
    return table


def plain_table() -> Table:
    table = Table("set | sets as sources | soft labels of auto are those without, to the bit")
    for name in PLAIN:
        X, y = exact_set(name)
        sets = contaminate(y, "random", p=0.7, q=0.3, random_state=SEED)
        auto, off = PLKernelRidge().fit(X, sets), PLKernelRidge(set_mass=0).fit(X, sets)
        same = np.array_equal(auto.label_distributions_, off.label_distributions_)
        table.add(
            name, "no" if sources_by_set(sets, X, np.ones(len(y))) is None else "yes", "yes" if same else "no"
        )
    return table


def measure() -> str:
    return page(
        """`PLKernelRidge` as it comes, with its own choice of kernel, ridge and masses on each fold: without set
masses, with what it chooses itself, and with set mass 1. No clean label is seen before the accuracy is taken. The gain
is given with its standard error over the folds.""",
        gain_table(),
        """## Sets drawn for each row

Nothing in their order shows sources, so nothing changes.""",
        plain_table(),
    )
