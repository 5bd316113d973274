"""Truths outside of the candidates: does it help learners to let every class be possible, a little? Which rows show it?

From a share of the ambiguous rows of the five sets the truth is taken out of the candidates. Plain learners take the
sets at their word; with a floor every class is a candidate, with the prior (1 - rate) / |S| of each candidate and
rate / (m - |S|) of any other class. What a kernel ridge chooses (kernel, ridge, class mass) it chooses by the sets.
"""

from __future__ import annotations

import time
import warnings

import numpy as np
from sklearn.metrics import roc_auc_score
from sklearn.preprocessing import StandardScaler

from benchmarks.data import any_set
from benchmarks.harness import Table, page, sized
from benchmarks.questions.shortlists import CONTAMINATION, SETS
from plcore import LMPlaneClassifier, PLKernelRidge, PLKNeighborsClassifier
from plcore.arrays import BoolArray, FloatArray
from plcore.loop import Entry
from plcore.loop.one_label import ActiveLearner, LearnerSettings, Trainer
from tests.plcore.loop.fake_table import FakeTable

TITLE = "Truths outside of the candidates"
PACKAGES = ("numpy", "scipy", "scikit-learn")
RATES = sized((0.02, 0.05, 0.1), tiny=(0.1,))
SEEDS = sized(3, tiny=1)
ROWS = 900  # two thirds to learn from
LEARNERS = ("kernel ridge", "PL-KNN", "LM-PLANE")
RISKS = ("kernelridge", "plknn")
CHECK_SHARE = 0.3


def taken_out(name: str, rate: float, seed: int) -> tuple[np.ndarray, np.ndarray, BoolArray]:
    """Features, truth, and candidates of so many rows, of which a share lacks the truth."""
    random = np.random.default_rng([seed, 7])
    X, sets, y = any_set(name, CONTAMINATION, random)
    rows = random.permutation(len(y))[:ROWS]
    X, y, sets = X[rows], y[rows], sets[rows].copy()
    ambiguous = np.flatnonzero(sets.sum(axis=1) >= 2)
    gone = random.permutation(ambiguous)[: round(rate * len(ambiguous))]
    sets[gone, y[gone]] = False
    return X, y, sets


def floor(sets: BoolArray, rate: float) -> FloatArray:
    """(n, m) the prior of every class of each row."""
    size, m = sets.sum(axis=1, keepdims=True), sets.shape[1]
    weights = np.where(sets, (1 - rate) / size, rate / np.maximum(m - size, 1))
    return np.where(size == m, 1 / m, weights)


def accuracies(name: str, rate: float, seed: int) -> dict[str, np.ndarray]:
    """{learner: (2, 3)}: accuracy plain and with floor, on new rows, own rows, own rows whose truth was taken out."""
    X, y, sets = taken_out(name, rate, seed)
    n = 2 * len(y) // 3
    scaler = StandardScaler().fit(X[:n])
    X = scaler.transform(X)
    inside, truth = sets[:n], y[:n]
    out = ~inside[np.arange(n), truth]
    weights = floor(inside, rate)
    every = weights > 0
    found = {}
    for learner in LEARNERS:
        figures = []
        for floored in (False, True):
            if learner == "kernel ridge":
                model = PLKernelRidge().fit(X[:n], inside)
                if floored:
                    model = model.relabel(every, candidate_weights=weights, imported=inside)
            else:
                made = PLKNeighborsClassifier(scaling=None)
                made = made if learner == "PL-KNN" else LMPlaneClassifier(solver="mm", tol=1e-2)
                told = {"candidate_weights": weights} if floored else {}
                model = made.fit(X[:n], every if floored else inside, **told)
            own = model.transduction_ == truth
            figures.append(((model.predict(X[n:]) == y[n:]).mean(), own.mean(), own[out].mean()))
        found[learner] = np.array(figures)
    return found


def risk(name: str, model: str, rate: float, seed: int) -> tuple[float, float, float, float]:
    """Of the open rows of a project whose blind checks are answered: (AUC of the probability that the truth lies
    outside, its mean, the share that does, the share among the rows most at risk, as many as lack the truth)."""
    X, y, sets = taken_out(name, rate, seed)
    settings = LearnerSettings(model=model, control_share=CHECK_SHARE, seed=seed)
    learner = ActiveLearner(FakeTable(X, sets), settings)
    for seq, row in enumerate(learner.pool.control_left().tolist(), start=1):
        if sets[row, y[row]]:
            learner.apply(Entry(seq, "is", row, "oracle", (learner.classes[y[row]],)))
        else:
            learner.apply(Entry(seq, "none", row, "oracle"))
    if settings.is_trained:
        version = Trainer(learner.pool).train()
        learner.publish(version.scores, [version.point])
    found = learner.disambiguate().outside
    if found is None:
        return np.nan, np.nan, np.nan, np.nan
    rows = np.flatnonzero(~np.isnan(found))
    lacks = ~sets[rows, y[rows]]
    most = np.argsort(-found[rows], kind="stable")[: lacks.sum()]
    return roc_auc_score(lacks, found[rows]), found[rows].mean(), lacks.mean(), lacks[most].mean()


def change(figures: np.ndarray) -> str:
    """Say by how many points a floor changes the accuracy, (cells,)."""
    return f"""{figures.mean():+.1f} points on average ({figures.min():+.1f} to {figures.max():+.1f}), better by a
  point or more in {(figures >= 1).sum()} of {len(figures)} cells, worse in {(figures <= -1).sum()}"""


def measure() -> str:
    warnings.simplefilter(
        "ignore", UserWarning
    )  # a class in nearly all sets, which is what a floor makes of them
    begun, changes = time.process_time(), {}
    table = Table(
        "set | rate | learner | new rows | with floor | own rows | with floor | truth outside | with floor"
    )
    risks = Table(
        "set | rate | model | projects | AUC | mean probability | truth outside | of those most at risk"
    )
    for name, rate in ((one, other) for one in SETS for other in RATES):
        runs = [accuracies(name, rate, seed) for seed in range(SEEDS)]
        for learner in LEARNERS:
            plain, floored = np.mean([one[learner] for one in runs], axis=0)
            changes.setdefault(learner, []).append(floored - plain)
            pairs = zip(plain, floored, strict=True)
            table.add(
                name,
                f"{rate:.0%}",
                learner,
                *(c for a, b in pairs for c in (f"{a:.1%}", f"{100 * (b - a):+.1f}")),
            )
        for model in RISKS:
            known = [one for seed in range(SEEDS) if not np.isnan((one := risk(name, model, rate, seed))[0])]
            if known:
                auc, mean, share, most = np.mean(known, axis=0)
                figures = f"{auc:.2f}", f"{mean:.1%}", f"{share:.1%}", f"{most:.0%}"
                risks.add(name, f"{rate:.0%}", model, len(known), *figures)
    says = []
    for learner in LEARNERS:
        new, own, _ = 100 * np.array(changes[learner]).T
        says.append(f"- {learner}: new rows {change(new)}; the project's own rows {change(own)}.")
    return page(
        "A floor for classes that are no candidates, against the sets as they are.",
        "\n".join(says),
        """So no learner has a floor. What it does is to give the rows whose truth is gone a label at all (last
columns): where the features alone tell the class, as in digits, most of these labels are right; elsewhere more rows
that were right become wrong. That is what a person can judge better, row by row: export says how likely the truth of
each row is outside.""",
        f"""{SEEDS} seeds, {ROWS} rows, two thirds to learn from; the truth of so many of the ambiguous rows is no
candidate. The floor knows that rate. Accuracy without it, and by how many points it is better with it: on new rows, on
all rows learnt from, and on those of them whose truth was taken out.""",
        table,
        f"""How well the probability of the export finds these rows, in projects whose blind checks ({CHECK_SHARE:.0%}
of the rows) are answered: the area under the ROC curve, its mean beside the share of rows whose truth is outside, and
how many of the rows most at risk, taken as many as there are, are such rows. Of {SEEDS} projects, those with an
estimate above 1 %. Only rows that are open count: a pair that loses its truth is a single candidate, of which nobody
is asked.""",
        risks,
        f"{time.process_time() - begun:,.0f} CPU seconds in all.",
    )
