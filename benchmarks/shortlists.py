"""Do shortlists hold the truth as often as was promised, and how much shorter are they than the full set?

Each run draws a project's rows, and its candidates where the set has none of its own, anew; so many of its blind checks
are answered with the truth, and the shortlists of all rows that train are looked at. `--quick` shows how it looks after
a few runs and writes nothing.
"""

from __future__ import annotations

import argparse
import time
from collections.abc import Iterator

import numpy as np
from sklearn.datasets import load_digits
from threadpoolctl import threadpool_limits

from benchmarks import report
from benchmarks.margin_data import exact_set, partial_set
from plcore.evaluation import conformal_sets, conformal_threshold, conformity_scores, contaminate
from plcore.loop.one_label import ActiveLearner, LearnerSettings, Trainer
from tests.plcore.loop.fake_table import FakeTable

SETS = ("digits", "segment", "lost", "msrcv2", "birdsong")
LEFT_OUT = ("plknn", "kernelridge")
MODELS = (*LEFT_OUT, "plsvc", "lmplane", "m3pl", "clpl", "perceptron-average", "pegasos-average")
FITS = {"plknn": 200, "kernelridge": 20}
FITS_ELSE = 10
"""Projects drawn for each set; where a fit takes longer, checks are drawn from each several times."""
RUNS = 200  # for each set, model, number of checks and promise
N_PROJECT = 1_000
CHECK_SHARE = 0.4  # of the rows: what checks are drawn from
CHECKS = (20, 50, 100, 200)
MISSES = (0.1, 0.05, 0.01)
CONTAMINATION = ("random", 0.9, 0.4)  # digits and segment; the others have their own candidates
MOST_OFF = 0.02
LONGER = 1.2  # labels: of lists about as short as they can be the promise is a lower bound alone

Cell = tuple[str, str, int, float]  # set, model, checks, miss


def load(name: str) -> tuple[np.ndarray, np.ndarray, np.ndarray | None]:
    """Features (n, d), true classes (n,), and candidates where the set has its own."""
    if name in ("lost", "msrcv2", "birdsong"):
        X, candidates, y = partial_set(name)
        return X, y, candidates
    return (*(load_digits(return_X_y=True) if name == "digits" else exact_set(name)), None)


def shares_of(name: str, model: str, seed: int) -> tuple[np.ndarray, np.ndarray, np.ndarray, np.ndarray]:
    """A new project's (shares (n, m), candidates (n, m), truth (n,), whether the row is a blind check (n,)) of its
    ambiguous rows, as questions show them. Lists cannot hold a truth that is no candidate: -1."""
    X, y, sets = load(name)
    rows = np.random.default_rng([seed, len(y)]).permutation(len(y))[:N_PROJECT]
    if sets is None:
        kind, p, q = CONTAMINATION
        random = np.random.default_rng([seed, 1])
        sets = contaminate(y, kind, p, q, random_state=random, classes=range(int(y.max()) + 1))
    X, y, sets = X[rows], y[rows], sets[rows]
    settings = LearnerSettings(model=model, control_share=CHECK_SHARE, seed=seed)
    learner = ActiveLearner(FakeTable(X, sets), settings)
    if settings.is_trained:
        version = Trainer(learner.pool).train()
        learner.publish(version.scores, [version.point])
    asked = np.flatnonzero(sets.sum(axis=1) >= 2)
    shares = np.zeros((len(asked), sets.shape[1]))
    for place, row in enumerate(asked.tolist()):
        question = learner.question_for(row)
        shares[place, sets[row]] = question.probabilities
    inside = sets[asked, y[asked]]
    return shares, sets[asked], np.where(inside, y[asked], -1), learner.pool.control_rows[asked]


def run_fit(job: tuple[str, str, int]) -> tuple[list[tuple[Cell, float, float, float]], float]:
    """(cell, share of the lists that hold the truth, mean size, mean full size) of the runs of one fit; CPU seconds."""
    name, model, seed = job
    begun, found = time.process_time(), []
    with threadpool_limits(1):
        shares, sets, truth, check = shares_of(name, model, seed)
    scores, others = conformity_scores(shares[check], truth[check]), ~check
    held = truth[others] >= 0
    for again in range(RUNS // FITS.get(model, FITS_ELSE)):
        order = np.random.default_rng([seed, again, 2]).permutation(len(scores))
        for checks in CHECKS:
            if checks > len(scores):
                continue
            for miss in MISSES:
                lists = conformal_sets(
                    shares[others], sets[others], conformal_threshold(scores[order[:checks]], miss)
                )
                hit = lists[np.arange(len(held)), truth[others]] & held
                cell = name, model, checks, miss
                found.append((cell, hit.mean(), lists.sum(axis=1).mean(), sets[others].sum(axis=1).mean()))
    return found, time.process_time() - begun


def measure(share: float) -> Iterator[tuple[list[tuple[Cell, float, float, float]], float]]:
    jobs = [
        (name, model, seed)
        for model in MODELS
        for name in SETS
        for seed in range(max(1, int(share * FITS.get(model, FITS_ELSE))))
    ]
    return map(run_fit, jobs)


def body(found: dict[Cell, list[tuple[float, float, float]]], seconds: float) -> str:
    means = {cell: np.mean(runs, axis=0) for cell, runs in found.items()}
    says = []
    for model in MODELS:
        off = {cell: means[cell][0] - (1 - cell[3]) for cell in means if cell[1] == model}
        low = min(off, key=lambda cell: off[cell])
        short = [cell for cell in off if off[cell] < -MOST_OFF]
        says.append(
            f"- {model}: at worst {100 * off[low]:+.1f} points ({low[0]}, {low[2]} checks, {1 - low[3]:.0%}); "
            f"more than {100 * MOST_OFF:.0f} points too few in {len(short)} of {len(off)} cells"
            + (f": {', '.join(sorted({cell[0] for cell in short}))}." if short else ".")
        )
    over = [
        means[cell][0] - (1 - cell[3]) for cell in means if cell[1] in LEFT_OUT and means[cell][1] > LONGER
    ]
    lines = []
    for model in MODELS:
        for name in SETS:
            for miss in MISSES if model in LEFT_OUT else (0.05,):
                cells = [(name, model, checks, miss) for checks in CHECKS]
                shown = [
                    f"{means[cell][0]:.1%} ± {100 * np.std([one[0] for one in found[cell]]):.1f} · {means[cell][1]:.2f}"
                    if cell in means
                    else ""
                    for cell in cells
                ]
                full = next(means[cell][2] for cell in cells if cell in means)
                lines.append(f"| {model} | {name} | {1 - miss:.0%} | {' | '.join(shown)} | {full:.2f} |")
    return f"""
Promised against measured coverage, {RUNS} runs for each figure.

{chr(10).join(says)}

What {" and ".join(LEFT_OUT)} say of a row that trains comes from the other rows alone, as what any model says of a
blind check does. The others have learnt the row's own candidates and may be surer of it than they should be, which on
Lost costs up to ten points; where they keep the promise here, nothing says that they would on other rows. So shortlists
are for models of the first kind. Of these the lists of more than {LONGER} labels on average hold the truth
{100 * min(over):+.1f} to {100 * max(over):+.1f} points off the promise. Lists may hold it more often than promised,
for none has less than one label, and the likeliest alone is right so often; and many shares are equal.

{N_PROJECT:,} rows in each project, {CHECK_SHARE:.0%} of them blind checks, of which so many are answered with the
truth. What is looked at are the shortlists of all ambiguous rows that train: those that a strategy asks first are
harder. digits and segment have candidates by `contaminate`
({CONTAMINATION[0]}, p = {CONTAMINATION[1]}, q = {CONTAMINATION[2]}), the others their own.
In a cell: share of the lists that hold the truth, ± its standard deviation from run to run in points (what one
project may get by so few checks) · mean number of labels. 20 and 50 checks are too few for 99 %: all candidates are
shown.

| model | set | promised | {" | ".join(f"{checks} checks" for checks in CHECKS)} | full set |
|---|---|---|{"---|" * len(CHECKS)}---|
{chr(10).join(lines)}

{seconds:,.0f} CPU seconds in all.
"""


def main() -> None:
    parser = argparse.ArgumentParser()
    parser.add_argument("--quick", action="store_true", help="few runs, nothing is written")
    parser.add_argument("names", nargs="*")  # `python -m benchmarks shortlists` leaves its own name here
    quick = parser.parse_args().quick
    found: dict[Cell, list[tuple[float, float, float]]] = {}
    seconds = 0.0
    for results, spent in measure(0.05 if quick else 1.0):
        seconds += spent
        for cell, *figures in results:
            found.setdefault(cell, []).append((figures[0], figures[1], figures[2]))
    if quick:
        print(body(found, seconds))
        return
    title = "Shortlists: how often they hold the truth"
    report.write("shortlists", title, body(found, seconds), ("numpy", "scipy", "scikit-learn"))


if __name__ == "__main__":
    main()
