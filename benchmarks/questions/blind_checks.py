"""Projects with blind checks: shortlists that hold the truth, and truths outside the candidates."""

from __future__ import annotations

from collections.abc import Iterator
from itertools import product
from typing import Any

import numpy as np
import pandas as pd
from sklearn.metrics import roc_auc_score
from sklearn.preprocessing import StandardScaler

from benchmarks.data import any_set
from benchmarks.harness import Rows, Table, benchmark, page, sized, tabled
from plcore import LMPlaneClassifier, PLKernelRidge, PLKNeighborsClassifier
from plcore.arrays import BoolArray, FloatArray
from plcore.evaluation import MarginThresholds, conformal_sets, conformal_threshold, conformity_scores
from plcore.kernels import margins
from plcore.loop import Entry
from plcore.loop.one_label import ActiveLearner, LearnerSettings, Trainer
from tests.plcore.loop.fake_table import FakeTable

SETS = sized(("digits", "segment", "lost", "msrcv2", "birdsong"), tiny=("iris",))
CONTAMINATION = ("random", 0.9, 0.4)  # digits and segment; the others have their own candidates


def train(learner: ActiveLearner) -> None:
    """Train a model that is trained outside the loop."""
    if learner.settings.is_trained:
        version = Trainer(learner.pool).train()
        learner.publish(version.scores, [version.point])


# Shortlists

LEFT_OUT = ("plknn", "kernelridge")
MODELS = sized((*LEFT_OUT, "plsvc", "lmplane", "m3pl", "clpl", "perceptron-average", "pegasos-average"), tiny=LEFT_OUT)
# Projects drawn for each set; if a fit takes longer, checks are drawn several times from each.
FITS, FITS_ELSE = sized({"plknn": 20, "kernelridge": 10}, tiny={"plknn": 2, "kernelridge": 2}), 2
RUNS = sized(200, tiny=2)  # for each set, model, number of checks and promise
N_PROJECT = 1_000
LIST_SHARE = 0.4  # of the rows: the pool of the checks
CHECKS = (20, 50, 100, 200)
MISSES = (0.1, 0.05, 0.01)
MOST_OFF = 0.02
LONGER = 1.2  # labels: for lists of nearly minimal size the promise is only a lower bound
UNSURE = 0.2  # of the rows: about those that margin asks first
STRATA_CELLS = sized(((100, 0.1), (200, 0.1), (200, 0.05)), tiny=((20, 0.1),))  # checks, miss


def shares_of(name: str, model: str, seed: int) -> tuple[np.ndarray, np.ndarray, np.ndarray, np.ndarray]:
    """Return a new project's (shares (n, m), candidates (n, m), truth (n,), whether the row is a blind check (n,)) of
    its ambiguous rows, as questions show them. A truth that is not a candidate cannot be on a list: -1."""
    X, sets, y = any_set(name, CONTAMINATION, [seed, 1])
    rows = np.random.default_rng([seed, len(y)]).permutation(len(y))[:N_PROJECT]
    X, y, sets = X[rows], y[rows], sets[rows]
    settings = LearnerSettings(model=model, control_share=LIST_SHARE, seed=seed)
    learner = ActiveLearner(FakeTable(X, sets), settings)
    train(learner)
    asked = np.flatnonzero(sets.sum(axis=1) >= 2)
    shares = np.zeros((len(asked), sets.shape[1]))
    for place, row in enumerate(asked.tolist()):
        shares[place, sets[row]] = learner.question_for(row).probabilities
    inside = sets[asked, y[asked]]
    return shares, sets[asked], np.where(inside, y[asked], -1), learner.pool.control_rows[asked]


def run_fit(name: str, model: str, seed: int) -> Iterator[tuple[Any, ...]]:
    """Yield set, model, checks, miss and figures of the runs of one fit: share of the lists that contain the truth,
    mean
    size, mean full size; then, with one threshold and with thresholds by margin, that share for the least sure rows and
    for each third of the rows from the least sure on, and the mean size for the least sure."""
    shares, sets, truth, check = shares_of(name, model, seed)
    scores, others = conformity_scores(shares[check], truth[check]), ~check
    sure, held = margins(shares), truth[others] >= 0
    places = sure[others].argsort(kind="stable")
    groups = [places[: round(UNSURE * len(places))], *np.array_split(places, 3)]
    for again in range(RUNS // FITS.get(model, FITS_ELSE)):
        order = np.random.default_rng([seed, again, 2]).permutation(len(scores))
        for checks, miss in product((one for one in CHECKS if one <= len(scores)), MISSES):
            drawn = order[:checks]
            by_margin = MarginThresholds.fit(scores[drawn], sure[check][drawn], miss).of(sure[others])
            whole, parts = [], []
            for threshold in (conformal_threshold(scores[drawn], miss), by_margin):
                lists = conformal_sets(shares[others], sets[others], threshold)
                hit, sizes = lists[np.arange(len(held)), truth[others]] & held, lists.sum(axis=1)
                whole = [hit.mean(), sizes.mean(), sets[others].sum(axis=1).mean()]
                parts += [*(hit[group].mean() for group in groups), sizes[groups[0]].mean()]
            yield name, model, checks, miss, *whole, *parts


def worst_of(model: str, off: pd.Series) -> str:
    """Say how far below its promises a model is in the worst case. off : by set, checks and miss"""
    name, checks, miss = off.idxmin()
    short = off[off < -MOST_OFF]
    sets = f": {', '.join(sorted(set(short.index.get_level_values(0))))}." if len(short) else "."
    return f"""- {model}: at worst {100 * off.min():+.1f} points ({name}, {checks} checks, {1 - miss:.0%}); more than
  {100 * MOST_OFF:.0f} points below the promise in {len(short)} of {len(off)} cells{sets}"""


@benchmark("Shortlists: how often they contain the truth", cpu=True)
def shortlists() -> str:
    """Promised against measured coverage, {RUNS} runs for each figure."""
    fits = ((name, model, k) for model in MODELS for name in SETS for k in range(FITS.get(model, FITS_ELSE)))
    runs = pd.DataFrame([run for fit in fits for run in run_fit(*fit)])
    groups = runs.groupby([0, 1, 2, 3])
    means, spread = groups.mean(), groups[4].std(ddof=0)
    off = means[4] - (1 - means.index.get_level_values(3))
    over = off[means.index.isin(LEFT_OUT, 1) & (means[5] > LONGER)]
    table = Table(["model", "set", "promised", *(f"{checks} checks" for checks in CHECKS), "full set"], ".2f")
    for model, name in product(MODELS, SETS):
        for miss in MISSES if model in LEFT_OUT else (0.05,):
            own = means.xs((name, model, miss), level=(0, 1, 3))
            shown = (
                f"{own[4][one]:.1%} ± {100 * spread[name, model, one, miss]:.1f} · {own[5][one]:.2f}"
                if one in own.index
                else ""
                for one in CHECKS
            )
            table.add(model, name, f"{1 - miss:.0%}", *shown, own[6].iloc[0])
    unsure = Table(
        "model | set | promised | checks | one threshold: least certain fifth | thirds, least certain first | "
        "labels | by margin: least certain fifth | thirds | labels"
    )
    for model, name, (checks, miss) in product(LEFT_OUT, SETS, STRATA_CELLS):
        if (cell := (name, model, checks, miss)) in means.index:
            figures = means.loc[cell].to_numpy()[3:].reshape(2, 5)
            texts = ((f"{one[0]:.1%}", " ".join(f"{x:.1%}" for x in one[1:4]), f"{one[4]:.2f}") for one in figures)
            unsure.add(model, name, f"{1 - miss:.0%}", checks, *(text for three in texts for text in three))
    return page(
        "\n".join(worst_of(model, off.xs(model, level=1)) for model in MODELS),
        f"""Predictions of {" and ".join(LEFT_OUT)} for a training row come only from the other rows, like those of any
        model for a blind check. The other models have learnt the row's own candidates and may be overconfident;
        keeping the
promise here does not prove it for other rows. So shortlists are for models of the
first kind. Of these the lists of more than {LONGER} labels on average hold the truth
{100 * over.min():+.1f} to {100 * over.max():+.1f} points more often than promised. Lists may contain the truth more
often than promised: each has at least one label, the likeliest alone is often right, and many probabilities are
equal.""",
        f"""{N_PROJECT:,} rows in each project, {LIST_SHARE:.0%} of them blind checks, of which this many are answered
        with the truth. The figures are for all ambiguous training rows; rows that a strategy asks about first are
        harder.
digits and segment have candidates by `contaminate` ({CONTAMINATION[0]}, p = {CONTAMINATION[1]}, q =
{CONTAMINATION[2]}), the others their own. In a cell: share of the lists that contain the truth, ± its standard
deviation from run to run in points (the spread of one project with so few checks) · mean number of labels. 20 and 50
checks are too few for 99%: all candidates are shown.""",
        table,
        "## Uncertain rows",
        """A strategy asks these first. With one threshold for all rows, the promise holds only on average. Projects
        have up to three, by the margin between the two largest probabilities, each from checks of similar certainty.
        Least certain fifth: of the rows. Labels: mean number of labels on the lists.""",
        unsure,
    )


# Truths outside: for a share of the ambiguous rows the truth is removed from the candidates

RATES, SEEDS = sized(((0.02, 0.05, 0.1), 3), tiny=((0.1,), 1))
ROWS = 900  # two thirds for training
LEARNERS = ("kernel ridge", "PL-KNN", "LM-PLANE")
RISKS, CHECK_SHARE = ("kernelridge", "plknn"), 0.3


def taken_out(name: str, rate: float, seed: int) -> tuple[np.ndarray, np.ndarray, BoolArray]:
    """Return features, truth, and candidates of this many rows, a share of which lacks the truth."""
    random = np.random.default_rng([seed, 7])
    X, sets, y = any_set(name, CONTAMINATION, random)
    rows = random.permutation(len(y))[:ROWS]
    X, y, sets = X[rows], y[rows], sets[rows].copy()
    ambiguous = np.flatnonzero(sets.sum(axis=1) >= 2)
    gone = random.permutation(ambiguous)[: round(rate * len(ambiguous))]
    sets[gone, y[gone]] = False
    return X, y, sets


def floor(sets: BoolArray, rate: float) -> FloatArray:
    """Return (n, m) the prior of every class of each row: (1 - rate) / |S| of a candidate, rate / (m - |S|) of
    another."""
    size, m = sets.sum(axis=1, keepdims=True), sets.shape[1]
    weights = np.where(sets, (1 - rate) / size, rate / np.maximum(m - size, 1))
    return np.where(size == m, 1 / m, weights)


def accuracies(name: str, rate: float, seed: int) -> dict[str, np.ndarray]:
    """Return {learner: (2, 3)}: accuracy without and with floor, on new rows, training rows, training rows without the
    truth."""
    X, y, sets = taken_out(name, rate, seed)
    n = 2 * len(y) // 3
    X = StandardScaler().fit(X[:n]).transform(X)
    inside, truth = sets[:n], y[:n]
    out = ~inside[np.arange(n), truth]
    weights = floor(inside, rate)
    every = weights > 0
    ridge, relabelled = (PLKernelRidge().fit(X[:n], inside) for _ in range(2))
    models = {LEARNERS[0]: (ridge, relabelled.relabel(every, candidate_weights=weights, imported=inside))}
    for learner in LEARNERS[1:]:
        plain, floored = (
            PLKNeighborsClassifier(scaling=None) if learner == "PL-KNN" else LMPlaneClassifier(solver="mm", tol=1e-2)
            for _ in range(2)
        )
        models[learner] = plain.fit(X[:n], inside), floored.fit(X[:n], every, candidate_weights=weights)

    def figures(model: PLKernelRidge) -> tuple[float, float, float]:
        own = model.transduction_ == truth
        return (model.predict(X[n:]) == y[n:]).mean(), own.mean(), own[out].mean()

    return {learner: np.array([figures(one) for one in both]) for learner, both in models.items()}


def risk(name: str, model: str, rate: float, seed: int) -> tuple[float, float, float, float]:
    """Return, for the open rows of a project with answered blind checks: (AUC of the probability that the truth is
    outside, its mean, the share that is, the share among the rows most at risk, as many as lack the truth)."""
    X, y, sets = taken_out(name, rate, seed)
    learner = ActiveLearner(FakeTable(X, sets), LearnerSettings(model=model, control_share=CHECK_SHARE, seed=seed))
    for seq, row in enumerate(learner.pool.control_left().tolist(), start=1):
        said = ("is", (learner.classes[y[row]],)) if sets[row, y[row]] else ("none", ())
        learner.apply(Entry(seq, said[0], row, "oracle", said[1]))
    train(learner)
    found = learner.disambiguate().outside
    if found is None:
        return np.nan, np.nan, np.nan, np.nan
    rows = np.flatnonzero(~np.isnan(found))
    lacks = ~sets[rows, y[rows]]
    most = np.argsort(-found[rows], kind="stable")[: lacks.sum()]
    return roc_auc_score(lacks, found[rows]), found[rows].mean(), lacks.mean(), lacks[most].mean()


TAINTS = sized(
    ((0.0, "removal"), (0.1, "removal"), (0.2, "removal"), (0.1, "swap")), tiny=((0.1, "removal"), (0.1, "swap"))
)
SINGLE_CHECKS = 10


def doubted(name: str, rate: float, how: str, seed: int) -> dict[str, list[float]]:
    """Return figures of the kernel ridge on sets that lack the truth, without doubts, with `outside="auto"`, and with
    ten blind checks of single candidates: accuracy on new rows, on training rows inside their sets, among all classes;
    AUC, estimated and true share outside. `swap` replaces the truth by a false class, so that sets keep their size."""
    X, y, sets = taken_out(name, rate, seed)
    lacks = ~sets[np.arange(len(y)), y]
    if how == "swap":
        random = np.random.default_rng([seed, 8])
        for row in np.flatnonzero(lacks):
            others = np.setdiff1d(np.flatnonzero(~sets[row]), y[row])
            if len(others):
                sets[row, random.choice(others)] = True
    n = 2 * len(y) // 3
    inside, truth, out = sets[:n], y[:n], lacks[:n]
    single = np.flatnonzero(inside.sum(axis=1) == 1)
    drawn = np.random.default_rng([seed, 9]).permutation(single)[:SINGLE_CHECKS]
    found: dict[str, list[float]] = {"single": [len(single), out[single].sum()]}
    for title, given, checks in (
        ("none", None, None),
        ("auto", "auto", None),
        ("checks", "auto", (int(out[drawn].sum()), len(drawn))),
    ):
        model = PLKernelRidge(outside=given).fit(X[:n], inside, single_checks=checks)
        risks = np.zeros(n) if model.outside_ is None else model.outside_
        own = model.classes_[model.label_distributions_.argmax(axis=1)]
        found[title] = [
            (model.predict(X[n:]) == y[n:]).mean(),
            (model.transduction_ == truth).mean(),
            (own == truth).mean(),
            roc_auc_score(out, risks) if out.any() else np.nan,
            risks.mean(),
            out.mean(),
        ]
    return found


@tabled(
    "set | truths gone | how | single candidates | of them wrong | new rows | auto | 10 checks | own rows | auto | "
    "10 checks | auto, all classes | AUC | estimate / truth outside"
)
def doubts_table() -> Rows:
    """Return the effect of doubtful sets, with single candidates counted separately."""
    for name, (rate, how) in product(SETS, TAINTS):
        runs = [doubted(name, rate, how, seed) for seed in range(SEEDS)]
        single, none, auto, checks = (
            np.mean([run[one] for run in runs], axis=0) for one in ("single", "none", "auto", "checks")
        )
        gains = [f"{100 * (one[at] - none[at]):+.1f}" for at in (0, 1) for one in (auto, checks)]
        yield (
            name, f"{rate:.0%}", how, f"{single[0]:.0f}", f"{single[1] / max(single[0], 1):.0%}",
            f"{none[0]:.1%}", *gains[:2], f"{none[1]:.1%}", *gains[2:], f"{100 * (auto[2] - none[2]):+.1f}",
            "" if np.isnan(auto[3]) else f"{auto[3]:.2f}", f"{auto[4]:.1%} / {auto[5]:.1%}",
        )  # fmt: skip


def change(figures: np.ndarray) -> str:
    """Say by how many points a floor changes the accuracy, (cells,)."""
    return f"""{figures.mean():+.1f} points on average ({figures.min():+.1f} to {figures.max():+.1f}), better by a
  point or more in {(figures >= 1).sum()} of {len(figures)} cells, worse in {(figures <= -1).sum()}"""


@benchmark("Truths outside of the candidates", cpu=True)
def outside() -> str:
    """A minimum weight for classes that are not candidates, compared with the sets as given."""
    changes: dict[str, list[FloatArray]] = {learner: [] for learner in LEARNERS}
    table = Table("set | rate | learner | new rows | with floor | own rows | with floor | truth outside | with floor")
    risks = Table(
        "set | rate | model | projects | AUC | mean probability | truth outside | among the rows most at risk", ".2f"
    )
    for name, rate in product(SETS, RATES):
        runs = [accuracies(name, rate, seed) for seed in range(SEEDS)]
        for learner in LEARNERS:
            plain, floored = np.mean([one[learner] for one in runs], axis=0)
            changes[learner].append(floored - plain)
            pairs = zip(plain, floored, strict=True)
            cells = (cell for a, b in pairs for cell in (f"{a:.1%}", f"{100 * (b - a):+.1f}"))
            table.add(name, f"{rate:.0%}", learner, *cells)
        for model in RISKS:
            known = [one for seed in range(SEEDS) if not np.isnan((one := risk(name, model, rate, seed))[0])]
            if known:
                auc, mean, share, most = np.mean(known, axis=0)
                risks.add(name, f"{rate:.0%}", model, len(known), auc, f"{mean:.1%}", f"{share:.1%}", f"{most:.0%}")
    says = []
    for learner in LEARNERS:
        new, own, _ = 100 * np.array(changes[learner]).T
        says.append(f"- {learner}: new rows {change(new)}; the project's own rows {change(own)}.")
    return page(
        "\n".join(says),
        """So no learner has a floor. It gives a label to rows whose true label is missing (last columns). If the
        features alone predict the class, as in digits, most of these labels are right; elsewhere more correct rows
        become wrong. A person judges this better, row by row: the export has the probability that the true label of a
        row is outside.""",
        f"""{SEEDS} seeds, {ROWS} rows, two thirds to learn from; the truth of this share of the ambiguous rows
is not a candidate. The floor knows that rate. Accuracy without the method, and its gain in points: on new rows, on all
training rows, and on training rows whose true label was excluded.""",
        table,
        f"""How well the probability of the export finds these rows, in projects whose blind checks ({CHECK_SHARE:.0%}
of the rows) are answered: the area under the ROC curve, its mean next to the share of rows whose truth is outside, and
the precision among the rows most at risk, as many as there are such rows. Number of projects, out of {SEEDS}, with an
estimate above 1%. Only rows that are open count: a pair that loses its true label is a single candidate, which is never
asked about.""",
        risks,
        f"""`PLKernelRidge(outside="auto")`, which doubts sets, compared with the default: {SEEDS} seeds, points. Single
candidates are counted among the rows learnt from. "10 checks": a person has checked 10 of them, drawn at random.""",
        doubts_table(),
    )
