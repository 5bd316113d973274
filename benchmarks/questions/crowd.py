"""Several simulated annotators: majority, Dawid-Skene and candidates as priors on their votes; who is guessing."""

from __future__ import annotations

from collections.abc import Iterator
from functools import partial
from itertools import product
from timeit import repeat

import numpy as np
import pandas as pd

from benchmarks.data import exact_set, partial_set
from benchmarks.harness import ROOT, Rows, Table, benchmark, has, page, sized, tabled
from plcore.crowd import (
    DawidSkene,
    check_guessing,
    gwet_ac1,
    krippendorff_alpha,
    least_honest,
    probabilities_by_answers,
    who_is_guessing,
)
from plcore.evaluation import contaminate, error_rate

PEERS = ("crowd-kit",)  # pip install --no-deps; its imports are in requirements-dev.txt
PEOPLE, OVERLAPS = sized(((3, 10, 20), (1, 2, 3, 5)), tiny=((3,), (2,)))
SEEDS, RULE_SEEDS = sized((3, 20), tiny=(1, 1))
PERSONS, RUNS, MANY = sized((500, 500, 100_000), tiny=(1, 2, 500))
SETS = sized(("digits", "segment", "birdsong"), tiny=("iris",))
WORSE, BETTER = 0.005, 0.02
SPAMMERS = ("any class with equal probability", "always the first", "always the same")
HONEST = ("the least honest", "right in 9 of 10 answers")
FIRST, LONG = 30, 300
DOCTORS = ROOT / "tests" / "plcore" / "crowd" / "anaesthetists.txt"


def sets(seed: int) -> Iterator[tuple[str, np.ndarray, np.ndarray]]:
    """Yield name, true classes (n,), candidates (n, m) that hold them."""
    for name in SETS:
        if name == "birdsong":
            _, candidates, y = partial_set(name)
            inside = candidates[np.arange(len(y)), y]
            yield name, y[inside], candidates[inside]
            continue
        y = exact_set(name)[1]
        yield name, y, contaminate(y, "random", 0.7, 0.5, random_state=seed)


def choose(people: int, overlap: int, n: int, rng: np.random.Generator) -> tuple[np.ndarray, np.ndarray]:
    """Return rows and annotators, (v,) each: `overlap` of the people at each row."""
    who = np.concatenate([rng.permutation(people)[:overlap] for _ in range(n)])
    return np.repeat(np.arange(n), overlap), who


def confusions(people: int, m: int, rng: np.random.Generator) -> np.ndarray:
    """Return (people, true, said): right in 45 to 95%, with mistakes on a few classes that look alike to that
    person."""
    found = np.empty((people, m, m))
    for person in found:
        right = rng.uniform(0.45, 0.95)
        for c in range(m):
            person[c] = np.insert((1 - right) * rng.dirichlet(np.full(m - 1, 0.5)), c, right)
    return found


def drawn(chances: np.ndarray, rng: np.random.Generator) -> np.ndarray:
    """Return (v,) a class drawn by each row of chances (v, m)."""
    chances = chances / chances.sum(axis=1, keepdims=True)
    return (chances.cumsum(axis=1) > rng.random((len(chances), 1))).argmax(axis=1)


def vote(
    y: np.ndarray, candidates: np.ndarray, people: int, overlap: int, among: bool, rng: np.random.Generator
) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Return rows, who, said (v,). among : people choose among the candidates, not among all classes."""
    of = confusions(people, candidates.shape[1], rng)
    rows, who = choose(people, overlap, len(y), rng)
    chances = of[who, y[rows]]
    return rows, who, drawn(chances * candidates[rows] if among else chances, rng)


def crowd_kit(rows: np.ndarray, who: np.ndarray, said: np.ndarray) -> np.ndarray:
    """Return (n,) the labels of crowd-kit's Dawid-Skene."""
    from crowdkit.aggregation import DawidSkene as Other

    votes = pd.DataFrame({"task": rows, "worker": who, "label": said})
    return np.asarray(Other(100).fit_predict(votes).loc[range(rows.max() + 1)])


def majority(y: np.ndarray, m: int, rows: np.ndarray, said: np.ndarray) -> float:
    """Return how often the most frequent label is right; for ties, the expected accuracy of a random choice."""
    counts = np.zeros((len(y), m))
    np.add.at(counts, (rows, said), 1)
    return 1 - error_rate(counts == counts.max(axis=1, keepdims=True), y, "uniform", classes=np.arange(m))


def dawid_skene(rows: np.ndarray, who: np.ndarray, said: np.ndarray, inside: np.ndarray, **how: float) -> np.ndarray:
    """Return (n,) the likeliest classes. inside : candidates (n, m)"""
    votes = np.eye(inside.shape[1], dtype=bool)[said]
    return DawidSkene(**how).fit_masks(rows, who, votes, inside).label_distributions_.argmax(axis=1)


def accuracies(among: bool) -> tuple[Table, pd.Series]:
    """Return the table, and what candidates gain in each of its lines. among : people choose among the candidates"""
    table = Table("set | people | answers a row | majority | Dawid-Skene | with candidates | gain | crowd-kit")
    found: list[tuple[float, ...]] = []
    for seed, people, overlap in product(range(SEEDS), PEOPLE, OVERLAPS):
        for name, y, candidates in sets(seed) if overlap <= people else ():
            votes = vote(y, candidates, people, overlap, among, np.random.default_rng([seed, people, overlap]))
            labels = [dawid_skene(*votes, inside) for inside in (np.ones_like(candidates), candidates)]
            labels += [crowd_kit(*votes)] if has("crowd-kit") else []
            right = [majority(y, candidates.shape[1], votes[0], votes[2]), *(np.mean(one == y) for one in labels)]
            found.append((SETS.index(name), people, overlap, *right))
    means = pd.DataFrame(found).groupby([0, 1, 2]).mean()
    for (place, people, overlap), (most, free, inside, *other) in zip(means.index, means.to_numpy(), strict=True):
        cells = most, free, inside, f"{inside - free:+.3f}", *(other or ["not installed"])
        table.add(SETS[place], people, overlap, *cells)
    return table, means[5] - means[4]


CROWDS = ("mixed", "half guessing", "own biases")


def crowd_of(kind: str, people: int, m: int, rng: np.random.Generator) -> np.ndarray:
    """Return (people, true, said): mistakes spread evenly; the same, every second person guessing; individual
    mistakes."""
    if kind == CROWDS[2]:
        return confusions(people, m, rng)
    right = rng.uniform(0.45, 0.95, people)
    right[1::2] = 1 / m if kind == CROWDS[1] else right[1::2]
    own = np.eye(m) * right[:, None, None]
    return np.where(np.eye(m, dtype=bool), own, ((1 - right) / (m - 1))[:, None, None])


def one_coin(rows: np.ndarray, who: np.ndarray, said: np.ndarray, n: int, m: int) -> np.ndarray:
    """Return (n,) labels by Dawid and Skene's model with a single rate of right answers for each person."""
    shares = np.zeros((n, m))
    np.add.at(shares, (rows, said), 1.0)
    shares /= np.maximum(shares.sum(axis=1, keepdims=True), 1.0)
    for _ in range(100):
        hits = np.bincount(who, shares[rows, said])
        right = np.clip((hits + 4) / (np.bincount(who) + 5), 1 / m, 0.999)
        score = np.log(shares.mean(axis=0) + 1e-9) + np.zeros((n, m))
        np.add.at(score, (rows, said), np.log(right * (m - 1) / (1 - right))[who])
        before, shares = shares, np.exp(score - score.max(axis=1, keepdims=True))
        shares /= shares.sum(axis=1, keepdims=True)
        if np.abs(before - shares).max() < 1e-4:
            break
    return np.asarray(shares.argmax(axis=1))


@tabled(
    "set | people err | answers a row | majority | one coin | plain EM | default | difference from one coin for all | "
    "rarest: true | one coin | plain EM | default"
)
def rules_table() -> Rows:
    """Return the accuracy of majority, one coin per person, plain EM and the default, and the remaining share of the
    rarest class."""
    truths = {
        "digits, 10 even classes": exact_set("digits")[1],
        "5 uneven classes": np.repeat(np.arange(5), (500, 250, 150, 70, 30)),
    }
    for (name, y), kind, overlap in product(truths.items(), CROWDS, (2, 3, 5)):
        n, m = len(y), int(y.max()) + 1
        rare, free, runs = int(np.bincount(y).argmin()), np.ones((n, m), dtype=bool), []
        for seed in range(RULE_SEEDS):
            rng = np.random.default_rng([seed, overlap])
            of = crowd_of(kind, 10, m, rng)
            rows, who = choose(10, overlap, n, rng)
            said = drawn(of[who, y[rows]], rng)
            plain = (dawid_skene(rows, who, said, free, prior_strength=one) for one in (0.0, 1.0))
            labels = [one_coin(rows, who, said, n, m), *plain]
            right, seen = ([float((one == of).mean()) for one in labels] for of in (y, rare))
            runs.append([majority(y, m, rows, said), *right, *seen])
        means = np.mean(runs, axis=0)
        yield name, kind, overlap, *means[:4], f"{means[3] - means[1]:+.3f}", (y == rare).mean(), *means[4:]


@tabled("rule | class masses | labels that differ from plain EM")
def doctors_table() -> Rows:
    """Compare plain EM and the default on the anaesthetists of 1979: class masses, and how many labels differ."""
    lines = DOCTORS.read_text().splitlines()
    votes = [
        (row, who, int(grade)) for row, line in enumerate(lines) for who, grade in enumerate(line.replace(" ", ""))
    ]
    fits = {"plain EM": DawidSkene(prior_strength=0, max_iter=1000).fit(votes), "default": DawidSkene().fit(votes)}
    plain = fits["plain EM"].label_distributions_.argmax(axis=1)
    for name, fit in fits.items():
        masses = " ".join(f"{one:.3f}" for one in fit.class_masses_)
        yield name, masses, int((fit.label_distributions_.argmax(axis=1) != plain).sum())


def answers_of(kind: str, y: np.ndarray, shown: np.ndarray, rng: np.random.Generator) -> np.ndarray:
    """Return (k,) answers of such a person on rows of truth y (k,), choices shown (k, m)."""
    k, m = shown.shape
    if kind == "any class with equal probability":
        return drawn(shown.astype(float), rng)
    if kind == "always the first":
        return shown.argmax(axis=1)
    if kind == "always the same":
        same = rng.integers(m)
        return np.where(shown[:, same], same, drawn(shown.astype(float), rng))
    size = shown.sum(axis=1)
    right = np.full(k, 0.9) if kind == HONEST[1] else least_honest(1 / size)
    wrong = shown.copy()
    wrong[np.arange(k), y] = False
    return np.where(rng.random(k) < right, y, drawn(wrong.astype(float), rng))


def told_by(after: list[float], within: int) -> str:
    return f"{(np.array(after) <= within).mean():.1%}"


@tabled(
    f"set | choices a row | person | held against | told within {FIRST} answers | within {LONG} | median of answers"
)
def guessing_table() -> Rows:
    """Return people flagged as guessing, by set and kind of person, and the reference of their answers."""
    for name, y, candidates in sets(0):
        rng = np.random.default_rng(1)
        m = candidates.shape[1]
        rows, who, said = vote(y, candidates, 10, 2, True, rng)
        others = probabilities_by_answers(rows, who, np.eye(m, dtype=bool)[said], candidates)
        several = np.flatnonzero(candidates.sum(axis=1) > 1)
        size = f"{candidates[several].sum(axis=1).mean():.1f}"
        for kind in (*SPAMMERS, *HONEST):
            for against, known in (("the truth", np.eye(m)[y]), ("two other annotators per row", others)):
                after = []
                for _ in range(4 * PERSONS):
                    asked = rng.choice(several, min(LONG, len(several)), replace=False)
                    given = answers_of(kind, y[asked], candidates[asked], rng).tolist()
                    votes = list(zip(asked.tolist(), ["a"] * len(asked), given, strict=True))
                    after.append(who_is_guessing(votes, candidates, known)["a"].told_after or np.inf)
                median = f"{np.median(after):.0f}" if np.isfinite(np.median(after)) else "-"
                yield name, size, kind, against, told_by(after, FIRST), told_by(after, LONG), median


@tabled(
    f"choices | accuracy of the least accurate honest | a guesser found within {FIRST} | "
    f"the least accurate honest found within {LONG}"
)
def chances_table() -> Rows:
    """Return the rule by itself, by number of choices: guesses, and the least accurate honest person."""
    rng = np.random.default_rng(2)
    for size in (2, 3, 4, 5, 10):
        chance, honest, told = np.full(LONG, 1 / size), float(least_honest(1 / size)), []
        for right, within in ((1 / size, FIRST), (honest, LONG)):
            draws = ((rng.random(LONG) < right).astype(float) for _ in range(10 * PERSONS))
            told.append(told_by([check_guessing(one, chance).told_after or np.inf for one in draws], within))
        yield size, f"{honest:.2f}", *told


@tabled(
    "rows | classes | right | answers a row | alpha | interval contains the truth | AC1 | interval contains the truth"
)
def coverage_table() -> Rows:
    """Return how often the bootstrap's intervals cover the figure of very many rows."""
    for n, shares, right, overlap in (
        (40, (0.5, 0.3, 0.2), 0.8, 2),
        (60, (0.2,) * 5, 0.6, 3),
        (100, (0.8, 0.2), 0.9, 2),
        (100, (0.4, 0.3, 0.2, 0.1), 0.5, 2),
    ):
        rng = np.random.default_rng(n)

        def votes(rows: int, rng=rng, shares=shares, right=right, overlap=overlap) -> list[tuple[int, int, int]]:
            y = rng.choice(len(shares), (rows, 1), p=shares)
            free = rng.choice(len(shares), (rows, overlap), p=shares)
            answers = np.where(rng.random((rows, overlap)) < right, y, free)
            return [(i, who, one) for i, row in enumerate(answers.tolist()) for who, one in enumerate(row)]

        many, holds, figures = votes(MANY), np.zeros(2), (krippendorff_alpha, gwet_ac1)
        true = [float(figure(many)) for figure in figures]
        for seed in range(RUNS):
            few = votes(n)
            ends = [figure(few, n_bootstrap=500, random_state=seed)[1:] for figure in figures]
            holds += [low <= one <= high for one, (low, high) in zip(true, ends, strict=True)]
        cells = (cell for one, held in zip(true, holds / RUNS, strict=True) for cell in (one, f"{held:.1%}"))
        yield n, len(shares), f"{right}", overlap, *cells


def speed() -> str:
    """Return milliseconds of a round, on ten thousand votes and 26 classes."""
    rng, m, n = np.random.default_rng(0), 26, sized(10_000, tiny=300) // 3
    free = np.ones((n, m), dtype=bool)
    rows, who, said = vote(rng.integers(m, size=n), free, 12, 3, False, rng)

    votes = np.eye(m, dtype=bool)[said]
    fits = (DawidSkene(max_iter=rounds) for rounds in (1, 16))
    one, many = (min(repeat(partial(fit.fit_masks, rows, who, votes, free), number=1)) for fit in fits)
    # Three fits, one for each prior, with 3 rounds and with 48.
    return f"""{len(rows):,} votes, {m} classes: {1000 * (many - one):.0f} ms for 45 rounds, {1000 * one:.0f} ms for the
rest."""


@benchmark("Several annotators", peers=PEERS)
def crowd() -> str:
    """People are right in 45 to 95%, each with mistakes of their own; everyone answers random rows.
    digits and segment have false candidates by `random`, p = 0.7, q = 0.5; BirdSong has its own, rows whose truth is
    outside are left out. Means of {SEEDS} runs. Majority: for ties, the average accuracy of a random choice. `gain` is
    the gain of Dawid-Skene with candidates as a prior over Dawid-Skene without."""
    (free, gains), (among, gains_among) = accuracies(False), accuracies(True)
    n = len(gains)
    return page(
        "## Asked among all classes: candidates come from elsewhere",
        f"""Candidates are worse by more than {WORSE} in **{(gains < -WORSE).sum()} of {n}** lines, better by {BETTER}
in **{(gains >= BETTER).sum()}** (targets: 0, and at least {n // 2 + n % 2}).""",
        free,
        "## Asked among the candidates: every vote is inside already",
        f"""Worse by more than {WORSE} in {(gains_among < -WORSE).sum()} of {n} lines, better by {BETTER} in
{(gains_among >= BETTER).sum()}: if people had to choose among the candidates, these add little.""",
        among,
        "## Rules, by how people err",
        f"""10 people, right in 45 to 95%, without candidates; mixed: mistakes spread evenly; half guessing: every
second person answers at random; own biases: mistakes on a few classes. Means of {RULE_SEEDS} runs. Rarest: share of
the rows labelled with the rarest class.""",
        rules_table(),
        """The anaesthetists of Dawid and Skene (1979): 7 votes on each of 45 patients, four grades. Plain EM is the
published answer.""",
        doctors_table(),
        "## Guessing annotators",
        f"""The rule alone: answers compared with the truth, all rows with the same number of choices.
{10 * PERSONS:,} annotators per line.""",
        chances_table(),
        f"""On the sets, among the candidates of rows that have two or more; {4 * PERSONS:,} annotators per line.
        Compared with the truth, or with ten others, two of whom have answered each row. The least accurate honest
        annotators are right as often as the table above says. Targets: at least 95% of guessing annotators found within
        {FIRST} answers, at most 2% of
honest ones accused at any time.""",
        guessing_table(),
        "## Intervals of agreement",
        f"500 resamples of the rows, {RUNS} runs per line; target: at least 93%.",
        coverage_table(),
        "## Speed",
        speed(),
    )
