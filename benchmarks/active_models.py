"""Accuracy on held-out rows against answers: "Automatic", every learner with the strategy of its projects, random.

Lost, MSRCv2 and BirdSong as they are; digits, segment and pendigits with random candidates (a wrong label is one with
probability .4). Of each set at most 750 rows train, at most 1,000 others measure. Every 25 answers the learner learns
from them and is measured; until then it is asked as it stands. Automatic compares the learners on the training rows
before the first answer and keeps what it chose, settings included; it is asked by the strategy of that learner's
projects, and once by random order. Ten seeds draw rows, candidates and folds; intervals are 1.96 standard errors of
the mean over the seeds. Parts are kept in `.cache/benchmarks`; `python -m benchmarks.active_models lost 3` measures one
set, three seeds, and writes nothing.
"""

from __future__ import annotations

import sys
import time
import warnings
from collections import Counter
from typing import Any

import numpy as np
from sklearn.base import clone
from sklearn.datasets import load_digits
from sklearn.preprocessing import StandardScaler
from threadpoolctl import threadpool_limits

from benchmarks import report
from benchmarks.margin_data import exact_set, partial_set
from benchmarks.parts import kept
from benchmarks.sensing_plot import charts
from plcore import AutoPLClassifier, PLKernelRidge
from plcore.evaluation import contaminate, replay
from plcore.evaluation.learners import last_step
from plcore.loop import MODEL_ENTRIES

NAME = "active_models"
REAL = ("lost", "msrcv2", "birdsong")
SETS = (*REAL, "digits", "segment", "pendigits")
SEEDS, ROWS, HELD = 10, 750, 1000
BUDGET, EVERY = 200, 25
AUTOMATIC, RANDOM = "Automatic", "Automatic, rows drawn at random"
MODELS = ("kernelridge", "plknn", "plsvc", "lmplane", "m3pl", "clpl", "pegasos-max", "perceptron-max")
CURVES = (AUTOMATIC, RANDOM, *MODELS)
# What the chart shows, in words: it leaves out the kernel ridge, whose line is that of Automatic where this takes it.
WORDS = {
    AUTOMATIC: "Winnow, model Automatic",
    "m3pl": "M3PL",
    "clpl": "CLPL",
    "plknn": "PL-KNN",
    "plsvc": "PL-SVM",
    RANDOM: "Winnow, rows asked at random",
    "lmplane": "LM-PLANE",
    "pegasos-max": "Pegasos",
    "perceptron-max": "Perceptron",
}


def data(name: str, seed: int, rows: int = ROWS) -> tuple[np.ndarray, ...]:
    """Features, candidates and true classes of at most so many rows that train, features and true classes of those held
    out."""
    if name in REAL:
        X, candidates, y = partial_set(name)
    else:
        X, y = load_digits(return_X_y=True) if name == "digits" else exact_set(name)
        candidates = contaminate(y, "random", p=0.9, q=0.4, random_state=seed)
    order = np.random.default_rng(seed).permutation(len(y))
    train, test = order[: min(rows, 2 * len(y) // 3)], order[-min(HELD, len(y) // 3) :]
    scaler = StandardScaler().fit(X[train])
    return scaler.transform(X[train]), candidates[train], y[train], scaler.transform(X[test]), y[test]


def chosen_learner(X: np.ndarray, candidates: np.ndarray, seed: int) -> dict[str, Any]:
    """The name of what Automatic takes before the first answer, and the settings that it keeps."""
    found = AutoPLClassifier(random_state=seed).fit(X, candidates)
    best = found.report_[found.report_["chosen"]].iloc[0]
    return {"learner": str(best["learner"]), "settings": dict(best["parameters"])}


def learner_of(title: str, settings: dict[str, Any], X: np.ndarray, candidates: np.ndarray, seed: int) -> Any:
    """The unfitted learner; a kernel ridge with the settings that it chooses on these rows, which it keeps."""
    learner = last_step(MODEL_ENTRIES[title].make(seed=seed)).set_params(**settings)
    if isinstance(learner, PLKernelRidge):
        fitted = clone(learner).fit(X, candidates)
        learner.set_params(kernel=fitted.kernel_, alpha=fitted.alpha_, class_mass=fitted.class_mass_)
    return learner


def run(name: str, curve: str, seed: int) -> dict[str, Any]:
    """Accuracy at every point of the curve, the learner, CPU seconds."""
    X, candidates, y, X_test, y_test = data(name, seed)
    title, settings = curve, {}
    if curve in (AUTOMATIC, RANDOM):
        chosen = kept(NAME, f"{name} choice {seed}", lambda: chosen_learner(X, candidates, seed))
        title, settings = chosen["learner"], chosen["settings"]
    begun = time.process_time()
    run = replay(
        X, candidates, y, X_test, y_test,
        learner=learner_of(title, settings, X, candidates, seed),
        strategy="random" if curve == RANDOM else MODEL_ENTRIES[title].strategy,
        budget=BUDGET, every=EVERY, learn_every=EVERY, ties="uniform", random_state=seed,
    )  # fmt: skip
    points = np.arange(0, BUDGET + 1, EVERY)
    accuracy = 1.0 - run.errors[np.minimum(np.searchsorted(run.answers, points), len(run.errors) - 1)]
    return {"accuracy": accuracy.tolist(), "learner": title, "seconds": time.process_time() - begun}


def main() -> None:
    asked = [one for one in sys.argv[1:] if one in SETS]
    seeds = next((int(one) for one in sys.argv[1:] if one.isdigit()), SEEDS)
    found: dict[tuple[str, str], np.ndarray] = {}
    chosen: dict[str, Counter[str]] = {}
    with threadpool_limits(1), warnings.catch_warnings():
        warnings.simplefilter("ignore")  # of too few rounds
        for name in asked or SETS:
            for curve in CURVES:
                parts = [
                    kept(NAME, f"{name} {curve} {seed}", lambda *a, f=(name, curve, seed): run(*f))
                    for seed in range(seeds)
                ]
                found[name, curve] = np.array([part["accuracy"] for part in parts])
                if curve == AUTOMATIC:
                    chosen[name] = Counter(part["learner"] for part in parts)
                mean, seconds = found[name, curve].mean(axis=0).round(3), sum(p["seconds"] for p in parts)
                print(name, curve, mean.tolist(), f"{seconds:.0f} CPU s", flush=True)
    if asked or seeds < SEEDS:
        return
    points = list(range(0, BUDGET + 1, EVERY))
    charts(
        NAME,
        "Accuracy on held-out rows against answers given, mean of ten seeds, 95 % interval of Automatic",
        [(name, "answers", {WORDS[c]: line(found[name, c], c, points) for c in WORDS}) for name in SETS],
        lead=WORDS[AUTOMATIC],
        dashed=WORDS[RANDOM],
    )
    report.write(
        NAME,
        "Accuracy against answers, by learner",
        body(found, chosen, points),
        ("numpy", "scikit-learn", "numba"),
    )


def line(runs: np.ndarray, curve: str, points: list[int]) -> tuple[list, ...]:
    """x, y and, of Automatic, half the width of the interval."""
    mean, half = runs.mean(axis=0).tolist(), half_width(runs).tolist()
    return (points, mean, half) if curve == AUTOMATIC else (points, mean)


def half_width(runs: np.ndarray) -> np.ndarray:
    """(p,) half of the 95 % interval of the mean over the seeds."""
    return 1.96 * runs.std(axis=0, ddof=1) / np.sqrt(len(runs))


def body(found: dict[tuple[str, str], np.ndarray], chosen: dict[str, Counter[str]], points: list[int]) -> str:
    """The tables."""
    blocks = []
    for name in SETS:
        lines = []
        for curve in CURVES:
            runs = found[name, curve]
            half = half_width(runs)
            cells = (f"{mean:.3f} ± {width:.3f}" for mean, width in zip(runs.mean(axis=0), half, strict=True))
            lines.append(f"| {curve} | {' | '.join(cells)} |")
        picks = ", ".join(f"{learner} {count} times" for learner, count in chosen[name].most_common())
        blocks.append(
            f"### {name}\n\nAutomatic took {picks}.\n\n| | {' | '.join(map(str, points))} |\n"
            f"|---|{'---|' * len(points)}\n" + "\n".join(lines)
        )
    return f"""
{(__doc__ or "").split(chr(10) * 2, 1)[1].rsplit("Parts are kept", 1)[0].strip()}

![Accuracy against answers]({NAME}.svg)

{(chr(10) * 2).join(blocks)}
"""


if __name__ == "__main__":
    main()
