"""Accuracy on held-out rows against answers: "Automatic", every learner with the strategy of its projects, random.

Lost, MSRCv2 and BirdSong as they are; digits, segment and pendigits with random candidates (a wrong label is one with
probability 0.4). Of each set at most 750 rows train, at most 1,000 others measure. Every 25 answers the learner learns
from them and is measured; until then it is asked as it is. Automatic compares the learners on the training rows
before the first answer and keeps what it chose, settings included; it is asked by the strategy of that learner's
projects, and once by random order. Ten seeds draw rows, candidates and folds; intervals are 1.96 standard errors of
the mean over the seeds.
"""

from __future__ import annotations

import warnings
from collections import Counter
from typing import Any

import numpy as np
from sklearn.base import clone
from sklearn.preprocessing import StandardScaler

from benchmarks.data import any_set
from benchmarks.harness import Table, benchmark, clocked, kept, kept_runs, only, page, sized
from benchmarks.plots import Line, write_chart
from plcore import AutoPLClassifier, PLKernelRidge
from plcore.evaluation import replay
from plcore.evaluation.learners import last_step
from plcore.loop import MODEL_ENTRIES

NAME = "active_models"
SETS = sized(("lost", "msrcv2", "birdsong", "digits", "segment", "pendigits"), tiny=("digits",))
SEEDS, ROWS, HELD = sized((10, 750, 1000), tiny=(2, 60, 40))
BUDGET, EVERY = sized((200, 25), tiny=(20, 10))
POINTS = list(range(0, BUDGET + 1, EVERY))
AUTOMATIC, RANDOM = "Automatic", "Automatic, rows drawn at random"
MODELS = ("kernelridge", "plknn", "plsvc", "lmplane", "m3pl", "clpl", "pegasos-max", "perceptron-max")
CURVES = (AUTOMATIC, RANDOM, *MODELS)
# The learners in the chart, in words: without the kernel ridge, whose line coincides with that of Automatic
# if that chooses it.
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
    """Return features, candidates and true classes of at most this many training rows, features and true
    classes of those held out."""
    X, candidates, y = any_set(name, ("random", 0.9, 0.4), seed)
    order = np.random.default_rng(seed).permutation(len(y))
    train, test = order[: min(rows, 2 * len(y) // 3)], order[-min(HELD, len(y) // 3) :]
    scaler = StandardScaler().fit(X[train])
    return scaler.transform(X[train]), candidates[train], y[train], scaler.transform(X[test]), y[test]


def chosen_learner(X: np.ndarray, candidates: np.ndarray, seed: int) -> dict[str, Any]:
    """Return the name and settings that Automatic chooses before the first answer."""
    found = AutoPLClassifier(random_state=seed).fit(X, candidates)
    best = found.report_[found.report_["chosen"]].iloc[0]
    return {"learner": str(best["learner"]), "settings": dict(best["parameters"])}


def learner_of(title: str, settings: dict[str, Any], X: np.ndarray, candidates: np.ndarray, seed: int) -> Any:
    """Return the unfitted learner; a kernel ridge gets the settings that it chooses on these rows."""
    learner = last_step(MODEL_ENTRIES[title].make(seed=seed)).set_params(**settings)
    if isinstance(learner, PLKernelRidge):
        fitted = clone(learner).fit(X, candidates)
        learner.set_params(kernel=fitted.kernel_, alpha=fitted.alpha_, class_mass=fitted.class_mass_)
    return learner


def settings_of(X: np.ndarray, candidates: np.ndarray, seed: int) -> dict[str, Any]:
    """Return the settings that a kernel ridge chooses before the first answer."""
    chosen = learner_of("kernelridge", {}, X, candidates, seed)
    return {key: getattr(chosen, key) for key in ("kernel", "alpha", "class_mass")}


def run(name: str, curve: str, seed: int) -> dict[str, Any]:
    """Return accuracy at every point of the curve, the learner, CPU seconds."""
    X, candidates, y, X_test, y_test = data(name, seed)
    title, settings = curve, {}
    if curve in (AUTOMATIC, RANDOM):
        chosen = kept(NAME, f"{name} choice {seed}", lambda: chosen_learner(X, candidates, seed))
        title, settings = chosen["learner"], chosen["settings"]
    learner = learner_of(title, settings, X, candidates, seed)
    strategy = "random" if curve == RANDOM else MODEL_ENTRIES[title].strategy
    how = {"budget": BUDGET, "every": EVERY, "learn_every": EVERY, "ties": "uniform", "random_state": seed}
    found, seconds = clocked(
        lambda: replay(X, candidates, y, X_test, y_test, learner=learner, strategy=strategy, **how)
    )
    accuracy = 1.0 - found.errors[np.minimum(np.searchsorted(found.answers, POINTS), len(found.errors) - 1)]
    return {"accuracy": accuracy.tolist(), "learner": title, "seconds": seconds}


def half_width(runs: np.ndarray) -> np.ndarray:
    """Return (p,) half of the 95% interval of the mean over the seeds."""
    return 1.96 * runs.std(axis=0, ddof=1) / np.sqrt(len(runs))


@benchmark("Accuracy against answers, by learner", long=True)
def active_models() -> str:
    blocks: list[object] = []
    panels: dict[str, dict[str, Line]] = {}
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # about too few rounds
        for name in only(SETS):
            table, panels[name] = Table(["", *map(str, POINTS)]), {}
            for curve in CURVES:
                parts = kept_runs(NAME, run, name, curve, seeds=SEEDS)
                if curve == AUTOMATIC:
                    chosen = Counter(part["learner"] for part in parts).most_common()
                runs = np.array([part["accuracy"] for part in parts])
                mean, half = runs.mean(axis=0), half_width(runs)
                table.add(curve, *(f"{one:.3f} ± {width:.3f}" for one, width in zip(mean, half, strict=True)))
                if curve in WORDS:
                    rim = half.tolist() if curve == AUTOMATIC else None
                    panels[name][WORDS[curve]] = Line(POINTS, mean.tolist(), rim)
            picks = ", ".join(f"{learner} {count} times" for learner, count in chosen)
            blocks += [f"### {name}", f"Automatic took {picks}.", table]
    title = f"Accuracy on held-out rows against answers given, mean of {SEEDS} seeds, 95% interval of Automatic"
    if len(panels) == len(SETS):
        dashed = {WORDS[RANDOM]: {"dash": "dash"}}
        write_chart(NAME, title, panels, "answers", styles=dashed, lead=WORDS[AUTOMATIC])
    return page((__doc__ or "").split("\n\n", 1)[1], f"![Accuracy against answers]({NAME}.svg)", *blocks)
