"""The kernel ridge: rows of one source, its probabilities, scores of a file."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from itertools import product
from typing import Any

import numpy as np
import pandas as pd
from scipy.stats import sem
from sklearn.base import clone
from sklearn.calibration import calibration_curve
from sklearn.ensemble import RandomForestClassifier
from sklearn.linear_model import LogisticRegression
from sklearn.model_selection import GroupKFold, KFold
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

from benchmarks.data import exact_set, partial_set
from benchmarks.harness import Rows, Table, benchmark, counted, kept_runs, met, page, sized, tabled
from benchmarks.models.choices import FOLDS as MADE_FOLDS
from benchmarks.models.choices import FREQUENT, MADE_SETS, cases
from plcore import ActiveLearner, LabelTable, LearnerSettings, PLKernelRidge, Roles
from plcore.arrays import BoolArray, FloatArray, IntArray
from plcore.evaluation import contaminate
from plcore.kernels import softmax_rows
from plcore.labels.set_masses import sources_by_set
from plcore.loop import Entry
from plcore.loop.one_label import Trainer

SEED = 7
FOLDS = sized({"msrcv2": 10, "lost": 10, "birdsong": 4}, tiny={"lost": 2})
FOLD_COUNTS = " / ".join(map(str, FOLDS.values()))
PICTURES, PICTURE_FOLDS = sized((1000, 10), tiny=(150, 2))  # rows
PLAIN = sized(("segment", "ecoli", "satimage", "vowel"), tiny=("ecoli",))
TEMPERATURES = (0.05, 0.15, "auto")
TEMPERATURE_FOLDS = sized({"msrcv2": 5, "lost": 5, "birdsong": 3}, tiny={"lost": 2})
MADE = sized(MADE_SETS, tiny=("ecoli",))
BINS = 15
ANSWERS, EACH, CHECKS, SEEDS = sized(((0, 50, 100), 25, 0.1, 3), tiny=((0, 4), 4, 0.1, 1))
ASKED, OFTEN = sized((200, 10), tiny=(8, 4))  # answers one by one, and the number between two trained versions

Folds = Iterable[tuple[IntArray, IntArray]]


def folds_of(X: FloatArray, count: int) -> Folds:
    return KFold(count, shuffle=True, random_state=SEED).split(X)


def compared(
    ridges: Sequence[PLKernelRidge], data: tuple[np.ndarray, ...], folds: Folds, groups: IntArray | None = None
) -> tuple[FloatArray, list[list[PLKernelRidge]]]:
    """Return (folds, ridges, 2) accuracy on held-out rows and on the training rows, and the fitted ridges.

    data : features, sets and truth      groups : the source of each row, if they are told
    """
    X, sets, y = data
    right, fitted = [], []
    for own, new in folds:
        of = None if groups is None else groups[own]
        fitted.append([clone(one).fit(X[own], sets[own], groups=of) for one in ridges])
        right.append(
            [[np.mean(one.predict(X[new]) == y[new]), np.mean(one.transduction_ == y[own])] for one in fitted[-1]]
        )
    return np.array(right), fitted


# Rows of one source


def pictures() -> tuple[FloatArray, BoolArray, IntArray, IntArray]:
    """Return synthetic pictures: three to six noisy digits, named by a caption."""
    X, y = exact_set("digits")
    rng = np.random.default_rng(SEED)
    rows = rng.permutation(len(y))[:PICTURES]
    of = np.repeat(np.arange(PICTURES), rng.integers(3, 7, size=PICTURES))[:PICTURES]
    named = np.zeros((PICTURES, 10), dtype=bool)
    named[of, y[rows]] = True
    return X[rows] + rng.normal(scale=8, size=(PICTURES, X.shape[1])), named[of], y[rows], of


@tabled(
    "set | folds | held-out rows: without | auto | set mass 1 | gain of auto | own rows: without | auto | set mass 1 | "
    "set masses chosen"
)
def set_masses() -> Rows:
    *drawn, of = pictures()
    apart = list(GroupKFold(PICTURE_FOLDS, shuffle=True, random_state=SEED).split(drawn[0], groups=of))
    cells = {name: (data := partial_set(name), list(folds_of(data[0], count)), None) for name, count in FOLDS.items()}
    cells["pictures, sources by their sets"] = drawn, apart, None
    cells["pictures, with a source column"] = drawn, apart, of
    for name, cell in cells.items():
        figures, fitted = compared([PLKernelRidge(set_mass=mass) for mass in (0.0, "auto", 1.0)], *cell)
        means, gain = figures.mean(axis=0), figures[:, 1, 0] - figures[:, 0, 0]
        ahead = f"{gain.mean():+.3f} ± {sem(gain):.3f}"
        masses, times = np.unique([auto.set_mass_ for _, auto, _ in fitted], return_counts=True)
        chosen = ", ".join(f"{mass:g}: {count}" for mass, count in zip(masses, times, strict=True))
        yield name, len(gain), *means[:, 0], ahead, *means[:, 1], chosen


@tabled("set | sets as sources | soft labels of auto equal those without masses, to the bit")
def no_sources() -> Rows:
    words = "no", "yes"
    for name in PLAIN:
        X, y = exact_set(name)
        sets = contaminate(y, "random", p=0.7, q=0.3, random_state=SEED)
        auto, off = PLKernelRidge().fit(X, sets), PLKernelRidge(set_mass=0).fit(X, sets)
        same = np.array_equal(auto.label_distributions_, off.label_distributions_)
        yield name, words[sources_by_set(sets, X, np.ones(len(y))) is not None], words[same]


@benchmark("Rows of one source")
def bags() -> str:
    """`PLKernelRidge` with defaults, choosing kernel, ridge and masses on each fold: without set masses, with its own
    choice, and with set mass 1. Real sets in file order, and pictures of our own making: three to
    six noisy digits, named by a caption. Held-out rows are drawn singly for the real sets, as in the papers, and by
    whole pictures for ours. No true label is used before the accuracy is measured. The gain is given with its standard
    error over the folds."""
    words = "Their order shows no sources, so nothing changes."
    return page(set_masses(), "## Sets drawn for each row", words, no_sources())


class Project:
    """A project of a real set, its rows shuffled; a tenth of them are blind checks.

    named : whether a column tells the sources, which are equal sets in consecutive rows of the file
    """

    def __init__(self, name: str, seed: int, *, named: bool, by_source: bool = False) -> None:
        X, sets, y = partial_set(name)
        of = np.cumsum(np.append(True, (sets[1:] != sets[:-1]).any(axis=1)))
        order = np.random.default_rng(seed).permutation(len(y))
        X, sets, y, self.of = X[order], sets[order], y[order], of[order]
        names = np.array([f"c{column:03}" for column in range(sets.shape[1])])
        cells = {f"x{place}": column.astype(str) for place, column in enumerate(X.T)}
        roles = Roles(candidates="candidates", numbers=tuple(cells), source="photo" if named else None)
        cells["candidates"] = np.array(["|".join(names[one]) for one in sets])
        cells |= {"photo": self.of.astype(str)} if named else {}
        table, self.truth = LabelTable.from_frame(pd.DataFrame(cells).astype("str"), roles), names[y]
        how = {"model": "kernelridge", "strategy": "margin", "control_share": CHECKS}
        self.learner = ActiveLearner(table, LearnerSettings(**how, seed=seed, by_source=by_source))
        self.trainer = Trainer(self.learner.pool)

    def answer(self, row: int) -> None:
        self.learner.apply(Entry(self.learner.seq + 1, "is", row, "person", (str(self.truth[row]),)))

    def train(self) -> float:
        """Do the worker's training; return the share of right labels, as the app shows them."""
        version = self.trainer.train()
        effects = None if version.footing is None else version.footing.effects
        self.learner.publish(version.scores, [version.point], effects)
        return float(np.mean(np.array(self.learner.classes)[self.learner.disambiguate().labels] == self.truth))


def project_labels(name: str, named: bool, seed: int) -> list[float]:
    """Return the share of right labels without an answer, and after ANSWERS by margin."""
    project = Project(name, seed, named=named)
    pool, right = project.learner.pool, [project.train()]
    for until in ANSWERS[1:]:
        while pool.n_answered < until:
            for row in project.learner.ranking()[0][: min(EACH, until - pool.n_answered)].tolist():
                project.answer(row)
            share = project.train()
        right.append(share)
    return right


def asked_in_turn(name: str, by_source: bool, seed: int) -> FloatArray:
    """Return (answers / OFTEN + 1, 2) share of right labels, and number of visits to sources."""
    project, found, looks, at = Project(name, seed, named=True, by_source=by_source), [], 0, -1
    for count in range(ASKED + 1):
        if count % OFTEN == 0:
            found.append([project.train(), looks])
        if count < ASKED and (asked := project.learner.next_question("person")) is not None:
            looks, at = looks + int(project.of[asked.row] != at), project.of[asked.row]
            project.answer(asked.row)
    return np.array(found)


@tabled(f"set | sources | {' | '.join(map(str, ANSWERS))} answers")
def with_column() -> Rows:
    for name, (named, told) in product(FOLDS, ((False, "none"), (True, "column"))):
        yield name, told, *np.mean([project_labels(name, named, seed) for seed in range(SEEDS)], axis=0)


@tabled(
    "set | asked | 0 | 100 | 200 answers | answers until the accuracy of row order after 100 | visits of a source "
    "in 100 answers"
)
def in_turn() -> Rows:
    for name in FOLDS:
        aim = 0.0
        for by_source, words in ((False, "a row at a time"), (True, "a source at a time")):
            right, looks = np.mean([asked_in_turn(name, by_source, seed) for seed in range(SEEDS)], axis=0).T
            half = len(right) // 2
            aim = aim or right[half]
            there = np.flatnonzero(right >= aim - 1e-9)
            reached = f"{there[0] * OFTEN}" if len(there) else f"more than {ASKED}"
            yield name, words, *right[[0, half, -1]], reached, f"{looks[half]:.0f}"


@benchmark("Labels of projects whose rows come from sources")
def source_projects() -> str:
    """Share of right labels of a project's own rows, as the app shows them, after so many answers by margin. Random
    draws of question order and blind checks: {SEEDS}. The learner is kernel ridge. Rows are shuffled, so only the
    source column shows the sources, and no runs of equal sets in the file. A tenth of the rows are blind checks,
    without answers here. A version is
    trained after every {EACH} answers."""
    return page(
        with_column(),
        "## A source at a time",
        f"""With the column, one person who is asked by the loop itself, a tenth of the questions blind checks, and a
version after every {OFTEN} answers. Means over the draws.""",
        in_turn(),
    )


# Its probabilities


def by_temperature(data: tuple[np.ndarray, ...], folds: int) -> list[object]:
    """Return the cells of a line: accuracies without set masses, and what "auto" chose on each fold."""
    ridges = [PLKernelRidge(set_mass=0.0, temperature=one) for one in TEMPERATURES]
    right, fitted = compared(ridges, data, folds_of(data[0], folds))
    chosen = (f"{auto.temperature_:g}, mass {auto.class_mass_:g}" for *_, auto in fitted)
    return [*right.mean(axis=0).T.ravel(), counted(chosen, "; ")]


@benchmark("The temperature of the rounds")
def temperature() -> str:
    """`PLKernelRidge` without set masses, as for rows in random order without a source column: at two
    temperatures of the softmax of its rounds, and at the one it chooses; kernel, ridge and class mass are its own
    choice on each fold. No true label is used before the accuracy is measured."""
    head = "held-out rows: 0.05 | 0.15 | auto | own rows: 0.05 | 0.15 | auto | chosen"
    real, made = Table(f"set | folds | {head}"), Table(f"set | false candidates | {head}")
    for name, count in TEMPERATURE_FOLDS.items():
        real.add(name, count, *by_temperature(partial_set(name), count))
    for name, kind, *data in cases(list(MADE)):
        if kind != FREQUENT:
            made.add(name, kind, *by_temperature(data, MADE_FOLDS))
    return page(
        real,
        "## Generated sets",
        f"""Contaminations as in [model_choice](model_choice.md), at most 800 rows, {MADE_FOLDS} folds. "random" and
"size" spread false candidates evenly over the classes: there "auto" stays at 0.05.""",
        made,
    )


def expected_error(confidence: FloatArray, right: FloatArray) -> float:
    """Return the ECE: the mean distance between confidence and accuracy in equal bins, weighted by rows."""
    shares, means = calibration_curve(right, confidence, n_bins=BINS)
    rows = np.bincount(np.minimum((confidence * BINS).astype(int), BINS - 1), minlength=BINS)
    return float(np.abs(shares - means) @ rows[rows > 0] / len(right))


@benchmark(
    "Meaning of probabilities",
    head="set | right | mean confidence: of the rounds | fitted | ECE: of the rounds | fitted | temperatures fitted",
)
def calibration() -> Rows:
    """Held-out rows of {FOLD_COUNTS} folds. `PLKernelRidge` with defaults: its softmax at the temperature of the
    rounds, 0.05, and `predict_proba`, whose temperature makes the candidate sets of the training rows most probable by
    leave-one-out scores. ECE in {BINS} bins. Targets: at most 0.05, 0.15 and 0.10."""
    for name, count in FOLDS.items():
        X, sets, y = partial_set(name)
        confidence, right, temperatures = [], [], []
        for own, new in folds_of(X, count):
            model = PLKernelRidge().fit(X[own], sets[own])
            scores = model.decision_function(X[new])
            sharp = softmax_rows(scores / model.temperature_, np.isfinite(scores))
            confidence.append([sharp.max(axis=1), model.predict_proba(X[new]).max(axis=1)])
            right.append(model.predict(X[new]) == y[new])
            temperatures.append(model.probability_temperature_)
        sure, hits = np.hstack(confidence), np.concatenate(right).astype(float)
        errors = (expected_error(one, hits) for one in sure)
        yield name, hits.mean(), *sure.mean(axis=1), *errors, f"{min(temperatures):.2f} to {max(temperatures):.2f}"


# Scores of a file

SETS, SCORE_SEEDS = sized(
    (("wine", "iris", "dermatology", "ecoli", "segment", "vowel", "digits", "satimage"), 2), tiny=(("wine",), 1)
)
MOST, TOLD = 500, (10, 30)
NONE = "no scores"
EXACT, NEARLY, WEAK, NOISE = "right", "nearly right", "right, weak", "noise"
FOREST, LOGISTIC = "forest", "logistic"
STRENGTH = {EXACT: 8.0, NEARLY: 3.5, NOISE: 0.0}
"""Distance of the truth above the others, in standard deviations of normal scores."""
WITHIN = 0.005
TODAY, WEIGHED = "today", "weighed"


def scores_of(y: np.ndarray, sets: np.ndarray, X: np.ndarray, seed: int) -> Iterator[tuple[str, np.ndarray]]:
    """Yield (n, m) scores of each kind. Models learn them from the true labels of an eighth of the rows."""
    n, m = sets.shape
    rng = np.random.default_rng(seed)
    for kind, strength in STRENGTH.items():
        logs = rng.normal(size=(n, m)) + strength * (np.arange(m) == y[:, None])
        yield kind, np.exp(logs)
    weak = rng.random((n, m)) * sets
    rows, best = np.arange(n), weak.argmax(axis=1)
    weak[rows, best], weak[rows, y] = (weak[rows, y], weak[rows, best].copy())  # largest of uniform draws: the truth
    yield WEAK, weak
    known = np.append(rng.permutation(n)[: n // 8], np.unique(y, return_index=True)[1])
    models = {
        FOREST: RandomForestClassifier(100, random_state=seed),
        LOGISTIC: make_pipeline(StandardScaler(), LogisticRegression(max_iter=500)),
    }
    for kind, model in models.items():
        shares = model.fit(X[known], y[known]).predict_proba(X)
        shares[known] = 1.0  # the model has seen their truth, so their scores are made uninformative
        yield kind, shares + 1e-4


def scored(name: str, seed: int) -> dict[str, dict[str, Any]]:
    """Return the share of right labels of the rows that are not checks, by kind of scores and by rule."""
    X, y = exact_set(name, fill=np.nanmean)
    rows = np.random.default_rng(seed).permutation(len(y))[:MOST]
    X, y = X[rows], y[rows]
    m = int(y.max()) + 1
    sets = contaminate(y, "random", p=0.8, q=0.4, random_state=seed, classes=np.arange(m))
    told = np.flatnonzero(sets.sum(axis=1) > 1)[: max(TOLD)]
    own = np.setdiff1d(np.arange(len(y)), told)

    def right(labels: np.ndarray) -> float:
        return float((labels.argmax(axis=1) == y[own]).mean())

    found: dict[str, dict[str, Any]] = {
        NONE: {TODAY: right(PLKernelRidge().fit(X[own], sets[own]).label_distributions_)}
    }
    for kind, scores in scores_of(y, sets, X, seed):
        model = PLKernelRidge().fit(X[own], sets[own], candidate_weights=scores[own])
        found[kind] = {"scores": right(scores[own] * sets[own]), TODAY: right(model.label_distributions_)}
        for count in (0, *TOLD):
            some = told[:count]
            checks = (X[some], sets[some], scores[some], y[some]) if count else None
            weighed = model.weigh_scores(checks)
            found[kind][f"{WEIGHED} {count}"] = right(weighed.labels)
            found[kind][f"rule {count}"] = str(weighed.rule)
    return found


@benchmark("Labels with the scores of a file")
def file_scores() -> str:
    found = pd.DataFrame(
        [
            {"set": name, "kind": kind, **figures}
            for name in SETS
            for part in kept_runs("file_scores", scored, name, seeds=SCORE_SEEDS)
            for kind, figures in part.items()
        ]
    )
    of_kind = {kind: rows.reset_index(drop=True) for kind, rows in found.groupby("kind", sort=False)}
    none = of_kind.pop(NONE)[TODAY]
    plain, weighed = none.mean(), {f"{WEIGHED} {count}": f"{count or 'no'} checks" for count in (0, *TOLD)}
    table = Table(f"scores | scores alone, right | rounds | {' | '.join(weighed.values())} | worst, no checks | rule")
    lines = []
    for kind, rows in of_kind.items():
        is_right, mean = kind in (EXACT, NEARLY, WEAK), rows[["scores", TODAY, *weighed]].mean()
        base = none if kind == NOISE else rows["scores" if is_right else TODAY]
        worst = (rows[f"{WEIGHED} 0"] - base).min()
        table.add(kind, *mean, f"{worst:+.3f}", counted(rows["rule 0"]))
        least = base.mean() - (WITHIN if is_right or kind == NOISE else 0.0)
        verdicts = (f"{title} {mean[head]:.4f} {met(mean[head] >= least - 1e-9)}" for head, title in weighed.items())
        lines.append(f"- {kind}, at least {least:.4f}: {'; '.join(verdicts)}")
    by_set = Table(["set", NONE, *(f"{kind}: rounds / no checks" for kind in of_kind)])
    for name, rows in found.groupby("set", sort=False):
        means = rows.groupby("kind")[[TODAY, f"{WEIGHED} 0"]].mean()
        by_set.add(name, means.loc[NONE, TODAY], *(" / ".join(f"{one:.3f}" for one in means.loc[k]) for k in of_kind))
    return page(
        f"""Share of right labels of training rows, mean of {len(SETS)} sets and {SCORE_SEEDS} seeds; at most {MOST}
rows, sets contaminated "random" with p .8, q .4. Without any scores {plain:.4f}. Scores: exp of normal numbers, those
of the truth {STRENGTH[EXACT]:g} ("right") or {STRENGTH[NEARLY]:g} ("nearly right") higher; "right, weak": even numbers
of which the truth has the largest, so that scores are right in each row, but by a small margin; noise: exp of normal
numbers; forest and logistic regression, learnt from the true labels of an eighth of the rows, which then have even
scores. Rounds: labels from the rounds of `PLKernelRidge`. The rest is `weigh_scores`, without checks and with 10 or 30
blind checks, rows not used for training. No other true label is used for any choice. Worst: the largest loss on any
set and
seed, relative to the scores themselves, to no scores (noise), or to the rounds (models).""",
        table,
        """Targets: for scores with accuracy of at least 0.98, label accuracy at most 0.005 below; noise costs at most
        0.005 against no scores; model scores are not worse than in the rounds.""",
        "\n".join(lines),
        by_set,
    )
