"""Gain and loss of labels from a file's scores of its candidates: exact ones, noise, and those of models."""

from __future__ import annotations

import warnings
from collections.abc import Iterator
from typing import Any

import numpy as np
from sklearn.ensemble import RandomForestClassifier
from sklearn.linear_model import LogisticRegression
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

from benchmarks.data import exact_set
from benchmarks.harness import Table, benchmark, kept_runs, met, page, sized
from plcore import PLKernelRidge
from plcore.evaluation import contaminate

SETS, SEEDS = sized(
    (("wine", "iris", "dermatology", "ecoli", "segment", "vowel", "digits", "satimage"), 2), tiny=(("wine",), 1)
)
MOST, CHECKS = 500, (10, 30)
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


def run(name: str, seed: int) -> dict[str, dict[str, Any]]:
    """Return the share of right labels of the rows that are not checks, by kind of scores and by rule."""
    X, y = exact_set(name, fill=np.nanmean)
    rows = np.random.default_rng(seed).permutation(len(y))[:MOST]
    X, y = X[rows], y[rows]
    m = int(y.max()) + 1
    sets = contaminate(y, "random", p=0.8, q=0.4, random_state=seed, classes=np.arange(m))
    told = np.flatnonzero(sets.sum(axis=1) > 1)[: max(CHECKS)]
    own = np.setdiff1d(np.arange(len(y)), told)

    def right(labels: np.ndarray) -> float:
        return float((labels.argmax(axis=1) == y[own]).mean())

    found: dict[str, dict[str, Any]] = {
        NONE: {TODAY: right(PLKernelRidge().fit(X[own], sets[own]).label_distributions_)}
    }
    for kind, scores in scores_of(y, sets, X, seed):
        model = PLKernelRidge().fit(X[own], sets[own], candidate_weights=scores[own])
        found[kind] = {"scores": right(scores[own] * sets[own]), TODAY: right(model.label_distributions_)}
        for count in (0, *CHECKS):
            some = told[:count]
            checks = (X[some], sets[some], scores[some], y[some]) if count else None
            weighed = model.weigh_scores(checks)
            found[kind][f"{WEIGHED} {count}"] = right(weighed.labels)
            found[kind][f"rule {count}"] = str(weighed.rule)
    return found


@benchmark("Labels with the scores of a file")
def file_scores() -> str:
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", UserWarning)
        runs = {name: kept_runs("file_scores", run, name, seeds=SEEDS) for name in SETS}
    every = [part for of_set in runs.values() for part in of_set]
    kinds = [kind for kind in every[0] if kind != NONE]
    heads = ["scores", TODAY, *(f"{WEIGHED} {count}" for count in (0, *CHECKS))]

    def mean(kind: str, head: str) -> float:
        return float(np.mean([part[kind][head] for part in every]))

    plain = mean(NONE, TODAY)
    table = Table("scores | right by themselves | rounds | no checks | 10 checks | 30 checks | worst, no checks | rule")
    lines = []
    for kind in kinds:
        against = {NOISE: NONE}.get(kind)
        base = [part[NONE][TODAY] if against else part[kind][TODAY] for part in every]
        base = [part[kind]["scores"] for part in every] if kind in (EXACT, NEARLY, WEAK) else base
        worst = min(part[kind][f"{WEIGHED} 0"] - one for part, one in zip(every, base, strict=True))
        rules = [part[kind]["rule 0"] for part in every]
        taken = ", ".join(f"{one} x{rules.count(one)}" for one in dict.fromkeys(rules))
        table.add(kind, *(mean(kind, head) for head in heads), f"{worst:+.3f}", taken)
        least = float(np.mean(base)) - (WITHIN if kind in (EXACT, NEARLY, WEAK, NOISE) else 0.0)
        verdicts = (
            f"{title} {mean(kind, head):.4f} {met(mean(kind, head) >= least - 1e-9)}"
            for title, head in zip(("no checks", "10 checks", "30 checks"), heads[2:], strict=True)
        )
        lines.append(f"- {kind}, at least {least:.4f}: {'; '.join(verdicts)}")
    by_set = Table(["set", NONE, *(f"{kind}: rounds / no checks" for kind in kinds)])
    for name, parts in runs.items():
        cells = (
            " / ".join(f"{np.mean([part[kind][head] for part in parts]):.3f}" for head in (TODAY, f"{WEIGHED} 0"))
            for kind in kinds
        )
        by_set.add(name, float(np.mean([part[NONE][TODAY] for part in parts])), *cells)
    return page(
        f"""Share of right labels of training rows, mean of {len(SETS)} sets and {SEEDS} seeds; at most {MOST} rows,
sets contaminated "random" with p .8, q .4. Without any scores {plain:.4f}. Scores: exp of normal numbers, those of the
truth {STRENGTH[EXACT]:g} ("right") or {STRENGTH[NEARLY]:g} ("nearly right") higher; "right, weak": even numbers of
which the truth has the largest, so that scores are right in each row and say so faintly; noise: exp of normal numbers;
forest and logistic regression, learnt from the true labels of an eighth of the rows, which then have even scores.
Rounds: what `PLKernelRidge` makes of them. The rest is `weigh_scores`, without checks and with 10 or 30 blind checks,
rows that did not train. Nothing is chosen with another true label. Worst: of a set and seed, to the scores themselves,
to no scores (noise), to the rounds (models).""",
        table,
        """Asked for: scores right in .98 or more give labels at least theirs less .005; noise costs at most .005
against no scores; scores of models are not worse than in the rounds.""",
        "\n".join(lines),
        by_set,
    )
