"""Do shortlists hold the truth as often as was promised, and how much shorter are they than the full set?

Each run draws a project's rows, and its candidates where the set has none of its own, again; so many of its blind
checks are answered with the truth, and the shortlists of all rows that train are looked at.
"""

from __future__ import annotations

import numpy as np

from benchmarks.data import any_set
from benchmarks.harness import Table, clocked, page, sized
from plcore.evaluation import conformal_sets, conformal_threshold, conformity_scores
from plcore.loop.one_label import ActiveLearner, LearnerSettings, Trainer
from tests.plcore.loop.fake_table import FakeTable

TITLE = "Shortlists: how often they hold the truth"
PACKAGES = ("numpy", "scipy", "scikit-learn")
SETS = sized(("digits", "segment", "lost", "msrcv2", "birdsong"), tiny=("iris",))
LEFT_OUT = ("plknn", "kernelridge")
MODELS = sized(
    (*LEFT_OUT, "plsvc", "lmplane", "m3pl", "clpl", "perceptron-average", "pegasos-average"), tiny=LEFT_OUT
)
FITS = sized({"plknn": 200, "kernelridge": 20}, tiny={"plknn": 2, "kernelridge": 2})
FITS_ELSE = 10
"""Projects drawn for each set; where a fit takes longer, checks are drawn from each several times."""
RUNS = sized(200, tiny=2)  # for each set, model, number of checks and promise
N_PROJECT = 1_000
CHECK_SHARE = 0.4  # of the rows: what checks are drawn from
CHECKS = (20, 50, 100, 200)
MISSES = (0.1, 0.05, 0.01)
CONTAMINATION = ("random", 0.9, 0.4)  # digits and segment; the others have their own candidates
MOST_OFF = 0.02
LONGER = 1.2  # labels: of lists about as short as they can be the promise is a lower bound alone

Cell = tuple[str, str, int, float]  # set, model, checks, miss


def shares_of(name: str, model: str, seed: int) -> tuple[np.ndarray, np.ndarray, np.ndarray, np.ndarray]:
    """A new project's (shares (n, m), candidates (n, m), truth (n,), whether the row is a blind check (n,)) of its
    ambiguous rows, as questions show them. Lists cannot hold a truth that is no candidate: -1."""
    X, sets, y = any_set(name, CONTAMINATION, [seed, 1])
    rows = np.random.default_rng([seed, len(y)]).permutation(len(y))[:N_PROJECT]
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


def run_fit(name: str, model: str, seed: int) -> list[tuple[Cell, float, float, float]]:
    """(cell, share of the lists that hold the truth, mean size, mean full size) of the runs of one fit."""
    shares, sets, truth, check = shares_of(name, model, seed)
    scores, others, found = conformity_scores(shares[check], truth[check]), ~check, []
    held = truth[others] >= 0
    for again in range(RUNS // FITS.get(model, FITS_ELSE)):
        order = np.random.default_rng([seed, again, 2]).permutation(len(scores))
        for checks, miss in ((one, other) for one in CHECKS if one <= len(scores) for other in MISSES):
            threshold = conformal_threshold(scores[order[:checks]], miss)
            lists = conformal_sets(shares[others], sets[others], threshold)
            hit = lists[np.arange(len(held)), truth[others]] & held
            cell = name, model, checks, miss
            found.append((cell, hit.mean(), lists.sum(axis=1).mean(), sets[others].sum(axis=1).mean()))
    return found


def measure() -> str:
    found: dict[Cell, list[tuple[float, float, float]]] = {}
    seconds = 0.0
    for model in MODELS:
        for name, seed in ((one, other) for one in SETS for other in range(FITS.get(model, FITS_ELSE))):
            results, spent = clocked(lambda f=(name, model, seed): run_fit(*f))  # type: ignore[misc]
            seconds += spent
            for cell, *figures in results:
                found.setdefault(cell, []).append((figures[0], figures[1], figures[2]))
    means = {cell: np.mean(runs, axis=0) for cell, runs in found.items()}
    off = {cell: mean[0] - (1 - cell[3]) for cell, mean in means.items()}
    says = []
    for model in MODELS:
        own = {cell: distance for cell, distance in off.items() if cell[1] == model}
        low = min(own, key=lambda cell: own[cell])
        short = [cell for cell in own if own[cell] < -MOST_OFF]
        says.append(
            f"- {model}: at worst {100 * own[low]:+.1f} points ({low[0]}, {low[2]} checks, {1 - low[3]:.0%}); "
            f"more than {100 * MOST_OFF:.0f} points too few in {len(short)} of {len(own)} cells"
            + (f": {', '.join(sorted({cell[0] for cell in short}))}." if short else ".")
        )
    over = [off[cell] for cell in off if cell[1] in LEFT_OUT and means[cell][1] > LONGER]
    table = Table(["model", "set", "promised", *(f"{checks} checks" for checks in CHECKS), "full set"])
    for model, name in ((one, other) for one in MODELS for other in SETS):
        for miss in MISSES if model in LEFT_OUT else (0.05,):
            cells = [(name, model, checks, miss) for checks in CHECKS]
            shown = [
                f"{means[one][0]:.1%} ± {100 * np.std([run[0] for run in found[one]]):.1f} · {means[one][1]:.2f}"
                if one in means
                else ""
                for one in cells
            ]
            full = next(means[cell][2] for cell in cells if cell in means)
            table.add(model, name, f"{1 - miss:.0%}", *shown, f"{full:.2f}")
    return page(
        f"Promised against measured coverage, {RUNS} runs for each figure.",
        "\n".join(says),
        f"""What {" and ".join(LEFT_OUT)} say of a row that trains comes from the other rows alone, as what any model
says of a blind check does. The others have learnt the row's own candidates and may be surer of it than they should
be, which on Lost costs up to ten points; where they keep the promise here, nothing says that they would on other
rows. So shortlists are for models of the first kind. Of these the lists of more than {LONGER} labels on average hold
the truth {100 * min(over, default=np.nan):+.1f} to {100 * max(over, default=np.nan):+.1f} points off the promise.
Lists may hold it more often than promised, for none has less than one label, and the likeliest alone is right so
often; and many shares are equal.""",
        f"""{N_PROJECT:,} rows in each project, {CHECK_SHARE:.0%} of them blind checks, of which so many are answered
with the truth. What is looked at are the shortlists of all ambiguous rows that train: those that a strategy asks
first are harder. digits and segment have candidates by `contaminate` ({CONTAMINATION[0]}, p = {CONTAMINATION[1]}, q =
{CONTAMINATION[2]}), the others their own. In a cell: share of the lists that hold the truth, ± its standard deviation
from run to run in points (what one project may get by so few checks) · mean number of labels. 20 and 50 checks are
too few for 99 %: all candidates are shown.""",
        table,
        f"{seconds:,.0f} CPU seconds in all.",
    )
