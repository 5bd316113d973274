"""The kernel ridge with rows of one source, and the calibration of its probabilities, on held-out rows."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator
from dataclasses import replace

import numpy as np
import pandas as pd
from sklearn.calibration import calibration_curve
from sklearn.model_selection import GroupKFold, KFold

from benchmarks.data import exact_set, partial_set
from benchmarks.harness import Table, benchmark, page, sized
from benchmarks.models.model_choice import FOLDS as MADE_FOLDS
from benchmarks.models.model_choice import FREQUENT, cases
from benchmarks.models.model_choice import UCI as MADE_SETS
from plcore import ActiveLearner, LabelTable, LearnerSettings, PLKernelRidge, Roles
from plcore.arrays import BoolArray, FloatArray, IntArray
from plcore.evaluation import contaminate
from plcore.kernels import softmax_rows
from plcore.labels.set_masses import sources_by_set
from plcore.loop import Entry
from plcore.loop.one_label import Trainer

SEED = 7
FOLDS = sized({"msrcv2": 10, "lost": 10, "birdsong": 4}, tiny={"lost": 2})
PICTURES, PICTURE_FOLDS = sized((1000, 10), tiny=(150, 2))  # rows
PLAIN = sized(("segment", "ecoli", "satimage", "vowel"), tiny=("ecoli",))
MODELS: dict[str, float | str] = {"without": 0.0, "auto": "auto", "set mass 1": 1.0}
BINS = 15
ANSWERS, EACH, CHECKS, SEEDS = sized(((0, 50, 100), 25, 0.1, 3), tiny=((0, 4), 4, 0.1, 1))
ASKED, OFTEN = sized((200, 10), tiny=(8, 4))  # answers one by one, and the number between two trained versions

Cell = tuple[FloatArray, BoolArray, IntArray, IntArray | None, IntArray]
"""Features, sets, truth, sources if they are known, and the fold of each row."""


def folds_of(splitter: KFold | GroupKFold, n: int, groups: IntArray | None = None) -> IntArray:
    found = np.zeros(n, dtype=np.int64)
    for number, (_, test) in enumerate(splitter.split(np.zeros(n), groups=groups)):
        found[test] = number
    return found


def pictures() -> tuple[FloatArray, BoolArray, IntArray, IntArray]:
    """Return synthetic pictures: three to six noisy digits, named by a caption."""
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


def accuracies(cell: Cell, number: int) -> tuple[FloatArray, float]:
    """Return (models, 2) accuracy on held-out rows and on the training rows of one fold; the set mass that
    "auto" chose."""
    X, sets, y, of, fold = cell
    own, new = fold != number, fold == number
    groups = None if of is None else of[own]
    ridges = {name: PLKernelRidge(set_mass=mass).fit(X[own], sets[own], groups=groups) for name, mass in MODELS.items()}
    right = [[(one.predict(X[new]) == y[new]).mean(), (one.transduction_ == y[own]).mean()] for one in ridges.values()]
    return np.array(right), ridges["auto"].set_mass_


def project_labels(name: str, named: bool, seed: int) -> FloatArray:
    """Return the share of right labels of a project's own rows without an answer, and after ANSWERS by
    margin, by the label that the app shows; a tenth of the rows are blind checks, as in a project.

    named : whether there is a column of sources, with equal sets in consecutive rows of the file; else the
    rows are shuffled
    """
    X, sets, y = partial_set(name)
    of = np.cumsum(np.append(True, (sets[1:] != sets[:-1]).any(axis=1)))
    order = np.random.default_rng(seed).permutation(len(y))
    X, sets, y, of = X[order], sets[order], y[order], of[order]
    table, truth = project_table(X, sets, y, of if named else None)
    settings = LearnerSettings(model="kernelridge", strategy="margin", control_share=CHECKS, seed=seed)
    learner = ActiveLearner(table, settings)
    trainer, right = Trainer(learner.pool), []
    for until in ANSWERS:
        while learner.pool.n_answered < until:
            for row in learner.ranking()[0][: min(EACH, until - learner.pool.n_answered)].tolist():
                learner.apply(Entry(learner.seq + 1, "is", row, "person", (truth[row],)))
            train(learner, trainer)
        if not until:
            train(learner, trainer)
        said = np.array(learner.classes)[learner.disambiguate().labels]
        right.append((said == truth).mean())
    return np.array(right)


def project_table(X: FloatArray, sets: BoolArray, y: IntArray, of: IntArray | None) -> tuple[LabelTable, list[str]]:
    """Return the table of a project, with a column of sources if there are any, and the true label of each
    row."""
    names = [f"c{column:03}" for column in range(sets.shape[1])]
    cells = {f"x{place}": column.astype(str) for place, column in enumerate(X.T)}
    cells["candidates"] = np.array(["|".join(names[k] for k in np.flatnonzero(one)) for one in sets])
    roles = Roles(candidates="candidates", numbers=tuple(f"x{k}" for k in range(X.shape[1])))
    if of is not None:
        cells["photo"] = of.astype(str)
        roles = replace(roles, source="photo")
    return LabelTable.from_frame(pd.DataFrame(cells).astype("str"), roles), [names[k] for k in y]


def asked_in_turn(name: str, by_source: bool, seed: int) -> FloatArray:
    """Return (answers / OFTEN + 1, 2) share of right labels, and number of visits to sources."""
    X, sets, y = partial_set(name)
    of = np.cumsum(np.append(True, (sets[1:] != sets[:-1]).any(axis=1)))
    order = np.random.default_rng(seed).permutation(len(y))
    of = of[order]
    table, truth = project_table(X[order], sets[order], y[order], of)
    settings = LearnerSettings(
        model="kernelridge", strategy="margin", control_share=CHECKS, seed=seed, by_source=by_source
    )
    learner = ActiveLearner(table, settings)
    trainer, found, looks, at = Trainer(learner.pool), [], 0, -1
    for count in range(ASKED + 1):
        if count % OFTEN == 0:
            train(learner, trainer)
            said = np.array(learner.classes)[learner.disambiguate().labels]
            found.append([(said == truth).mean(), looks])
        if count < ASKED and (asked := learner.next_question("person")) is not None:
            looks, at = looks + int(of[asked.row] != at), of[asked.row]
            learner.apply(Entry(learner.seq + 1, "is", asked.row, "person", (truth[asked.row],)))
    return np.array(found)


def reached(curve: FloatArray, share: float) -> str:
    """Return the number of answers after which the share of right labels is first reached."""
    there = np.flatnonzero(curve >= share - 1e-9)
    return f"{there[0] * OFTEN}" if len(there) else f"more than {ASKED}"


def train(learner: ActiveLearner[LabelTable], trainer: Trainer) -> None:
    """Do the worker's training."""
    version = trainer.train()
    learner.publish(version.scores, [version.point], None if version.footing is None else version.footing.effects)


@benchmark("Labels of projects whose rows come from sources")
def source_projects() -> str:
    projects = Table(f"set | sources | {' | '.join(map(str, ANSWERS))} answers")
    for name in FOLDS:
        for named, told in ((False, "none"), (True, "column")):
            right = np.mean([project_labels(name, named, seed) for seed in range(SEEDS)], axis=0)
            projects.add(name, told, *right)
    turns = Table(
        "set | asked | 0 | 100 | 200 answers | answers to what rows have after 100 | looks at a source in 100 answers"
    )
    for name in FOLDS:
        aim = 0.0
        for by_source, words in ((False, "a row at a time"), (True, "a source at a time")):
            curve = np.mean([asked_in_turn(name, by_source, seed) for seed in range(SEEDS)], axis=0)
            half = len(curve) // 2
            aim = aim or curve[half, 0]
            turns.add(name, words, *curve[[0, half, -1], 0], reached(curve[:, 0], aim), f"{curve[half, 1]:.0f}")
    return page(
        f"""What the app shows as the labels of a project's own rows: share right after so many answers by margin.
Draws of order and blind checks: {SEEDS}. The learner is kernel ridge. Rows are shuffled, so that only a column of
sources shows them: runs of equal sets in the file. A tenth of the rows are blind checks, without answers here. A
version is trained after every {EACH} answers.""",
        projects,
        "## A source at a time",
        f"""With the column, one person who is asked by the loop itself, a tenth of the questions blind checks, and a
version after every {OFTEN} answers. Means over the draws.""",
        turns,
    )


@benchmark("Rows of one source")
def bags() -> str:
    table = Table(
        "set | folds | held-out rows: without | auto | set mass 1 | gain of auto | own rows: without | auto | "
        "set mass 1 | set masses chosen"
    )
    for name, cell in cells():
        count = int(cell[-1].max()) + 1
        runs = [accuracies(cell, number) for number in range(count)]
        figures, chosen = np.array([one for one, _ in runs]), np.array([one for _, one in runs])
        means, gain = figures.mean(axis=0), figures[:, 1, 0] - figures[:, 0, 0]
        ahead = f"{gain.mean():+.3f} ± {gain.std(ddof=1) / np.sqrt(count):.3f}"
        masses = ", ".join(f"{one:g}: {(chosen == one).sum()}" for one in np.unique(chosen))
        table.add(name, count, *means[:, 0], ahead, *means[:, 1], masses)
    plain, words = (Table("set | sets as sources | soft labels of auto are those without, to the bit"), ("no", "yes"))
    for name in PLAIN:
        X, y = exact_set(name)
        sets = contaminate(y, "random", p=0.7, q=0.3, random_state=SEED)
        auto, off = PLKernelRidge().fit(X, sets), PLKernelRidge(set_mass=0).fit(X, sets)
        same = np.array_equal(auto.label_distributions_, off.label_distributions_)
        plain.add(name, words[sources_by_set(sets, X, np.ones(len(y))) is not None], words[same])
    return page(
        """`PLKernelRidge` as it comes, with its own choice of kernel, ridge and masses on each fold: without set
masses, with what it chooses itself, and with set mass 1. Real sets in file order, and pictures of our own making: three
to six noisy digits, named by a caption. Held-out rows are drawn singly for the real sets, as in the papers, and by
whole pictures for ours. No clean label is seen before the accuracy is taken. The gain is given with its standard error
over the folds.""",
        table,
        "## Sets drawn for each row",
        "Nothing in their order shows sources, so nothing changes.",
        plain,
    )


TEMPERATURES: dict[str, float | str] = {"0.05": 0.05, "0.15": 0.15, "auto": "auto"}
TEMPERATURE_FOLDS = sized({"msrcv2": 5, "lost": 5, "birdsong": 3}, tiny={"lost": 2})
MADE = sized(MADE_SETS, tiny=("ecoli",))


def by_temperature(X: FloatArray, sets: BoolArray, y: IntArray, folds: int) -> tuple[FloatArray, list[str]]:
    """Return (temperatures, 2) accuracy on held-out rows and on the training rows, means of the folds,
    without set masses; and what "auto" chose on each fold."""
    right, chosen = [], []
    for own, new in KFold(folds, shuffle=True, random_state=SEED).split(X):
        ridges = [PLKernelRidge(set_mass=0.0, temperature=one).fit(X[own], sets[own]) for one in TEMPERATURES.values()]
        right.append([[(one.predict(X[new]) == y[new]).mean(), (one.transduction_ == y[own]).mean()] for one in ridges])
        chosen.append(f"{ridges[-1].temperature_:g}, mass {ridges[-1].class_mass_:g}")
    return np.mean(right, axis=0), chosen


@benchmark("The temperature of the rounds")
def temperature() -> str:
    real = Table("set | folds | held-out rows: 0.05 | 0.15 | auto | own rows: 0.05 | 0.15 | auto | chosen")
    made = Table("set | false candidates | held-out rows: 0.05 | 0.15 | auto | own rows: 0.05 | 0.15 | auto | chosen")
    for name, count in TEMPERATURE_FOLDS.items():
        right, chosen = by_temperature(*partial_set(name), count)
        picks = "; ".join(f"{one} x{count}" for one, count in Counter(chosen).most_common())
        real.add(name, count, *right[:, 0], *right[:, 1], picks)
    for name, kind, *arrays in cases(list(MADE)):
        if kind != FREQUENT:
            right, chosen = by_temperature(*arrays, MADE_FOLDS)
            picks = "; ".join(f"{one} x{count}" for one, count in Counter(chosen).most_common())
            made.add(name, kind, *right[:, 0], *right[:, 1], picks)
    return page(
        """`PLKernelRidge` without set masses, so as for rows in no order and without a column of sources: at two
temperatures of the softmax of its rounds, and at the one it chooses; kernel, ridge and class mass are its own choice on
each fold. No clean label is seen before the accuracy is taken.""",
        real,
        "## Sets that were made",
        f"""Contaminations as in [model_choice](model_choice.md), at most 800 rows, {MADE_FOLDS} folds. "random" and
"size" spread false candidates evenly over the classes: there "auto" stays at 0.05.""",
        made,
    )


def expected_error(confidence: FloatArray, right: FloatArray) -> float:
    """Return the ECE: the mean distance of confidence and accuracy in bins of equal width, weighted by their
    rows."""
    shares, means = calibration_curve(right, confidence, n_bins=BINS)
    rows = np.bincount(np.minimum((confidence * BINS).astype(int), BINS - 1), minlength=BINS)
    return float(np.abs(shares - means) @ rows[rows > 0] / len(right))


@benchmark("What probabilities mean")
def calibration() -> str:
    table = Table(
        "set | right | mean confidence: of the rounds | fitted | ECE: of the rounds | fitted | temperatures fitted"
    )
    for name, count in FOLDS.items():
        X, sets, y = partial_set(name)
        confidence, right, temperatures = [], [], []
        for own, new in KFold(count, shuffle=True, random_state=SEED).split(X):
            model = PLKernelRidge().fit(X[own], sets[own])
            scores = model.decision_function(X[new])
            sharp = softmax_rows(scores / model.temperature_, np.isfinite(scores))
            confidence.append([sharp.max(axis=1), model.predict_proba(X[new]).max(axis=1)])
            right.append(model.predict(X[new]) == y[new])
            temperatures.append(model.probability_temperature_)
        sure, hits = np.hstack(confidence), np.concatenate(right).astype(float)
        errors = (expected_error(one, hits) for one in sure)
        table.add(name, hits.mean(), *sure.mean(axis=1), *errors, f"{min(temperatures):.2f} to {max(temperatures):.2f}")
    return page(
        f"""Held-out rows of {" / ".join(str(one) for one in FOLDS.values())} folds. `PLKernelRidge` as it comes: its
softmax at the temperature of the rounds, .05, and `predict_proba`, whose temperature makes the candidate sets of the
training rows most probable by leave-one-out scores. ECE in {BINS} bins. Asked for: at most .05, .15 and .10.""",
        table,
    )
