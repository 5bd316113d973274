"""Several annotators: what majority, Dawid-Skene and candidates as priors make of their votes; who is guessing.

Simulated annotators of known confusion on digits, segment and BirdSong. crowd-kit is compared with where it is
installed (`pip install --no-deps crowd-kit==1.4.2`; what it imports is in requirements-dev.txt). `--quick` shows how it
looks after a minute and writes nothing.
"""

from __future__ import annotations

import argparse
import time
import warnings
from collections.abc import Iterator
from importlib.util import find_spec

import numpy as np
import pandas as pd
from sklearn.datasets import load_digits

from benchmarks import report
from benchmarks.margin_data import exact_set, partial_set
from plcore.crowd import (
    DawidSkene,
    check_guessing,
    gwet_ac1,
    krippendorff_alpha,
    least_honest,
    what_they_say,
    who_is_guessing,
)
from plcore.evaluation import contaminate

PEOPLE = (3, 10, 20)
OVERLAPS = (1, 2, 3, 5)
SEEDS = 3
WORSE, BETTER = 0.005, 0.02
SPAMMERS = ("any class alike", "always the first", "always the same")
HONEST = ("the least honest", "right in 9 of 10")
FIRST, LONG = 30, 300
ROUNDS_VOTES, ROUNDS_CLASSES = 10_000, 26


def sets(seed: int) -> Iterator[tuple[str, np.ndarray, np.ndarray]]:
    """name, true classes (n,), candidates (n, m) that hold them."""
    y = load_digits(return_X_y=True)[1]
    yield "digits", y, contaminate(y, "random", 0.7, 0.5, random_state=seed)
    y = exact_set("segment")[1]
    yield "segment", y, contaminate(y, "random", 0.7, 0.5, random_state=seed)
    _, candidates, y = partial_set("birdsong")
    inside = candidates[np.arange(len(y)), y]
    yield "birdsong", y[inside], candidates[inside]


def confusions(people: int, m: int, rng: np.random.Generator) -> np.ndarray:
    """(people, true, said): right in 45 to 95 %, mistakes on a few classes that look alike to that person."""
    found = np.empty((people, m, m))
    for person in found:
        right = rng.uniform(0.45, 0.95)
        for c in range(m):
            person[c] = np.insert((1 - right) * rng.dirichlet(np.full(m - 1, 0.5)), c, right)
    return found


def drawn(chances: np.ndarray, rng: np.random.Generator) -> np.ndarray:
    """(v,) a class by each row of chances (v, m)."""
    chances = chances / chances.sum(axis=1, keepdims=True)
    return (chances.cumsum(axis=1) > rng.random((len(chances), 1))).argmax(axis=1)


def vote(
    y: np.ndarray, candidates: np.ndarray, people: int, overlap: int, among: bool, rng: np.random.Generator
) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """rows, who, said (v,). among : people choose among the candidates, not among all classes."""
    of = confusions(people, candidates.shape[1], rng)
    rows = np.repeat(np.arange(len(y)), overlap)
    who = np.concatenate([rng.permutation(people)[:overlap] for _ in y])
    chances = of[who, y[rows]]
    return rows, who, drawn(chances * candidates[rows] if among else chances, rng)


def crowd_kit(rows: np.ndarray, who: np.ndarray, said: np.ndarray) -> np.ndarray:
    """(n,) the labels of crowd-kit's Dawid-Skene; -1 where it is not installed."""
    if find_spec("crowdkit") is None:
        return np.full(rows.max() + 1, -1)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        from crowdkit.aggregation import DawidSkene as Other

        return np.asarray(
            Other(100)
            .fit_predict(pd.DataFrame({"task": rows, "worker": who, "label": said}))
            .loc[range(rows.max() + 1)]
        )


def accuracies(
    y: np.ndarray, candidates: np.ndarray, rows: np.ndarray, who: np.ndarray, said: np.ndarray
) -> list[float]:
    """majority (half a row where two are tied, and so on), Dawid-Skene without and with candidates, crowd-kit."""
    n, m = candidates.shape
    masks = np.eye(m, dtype=bool)[said]
    counts = np.zeros((n, m))
    np.add.at(counts, (rows, said), 1)
    best = counts == counts.max(axis=1, keepdims=True)
    found = [float((best[np.arange(n), y] / best.sum(axis=1)).mean())]
    for inside in (np.ones_like(candidates), candidates):
        model = DawidSkene().fit_masks(rows, who, masks, inside)
        found.append(float((model.label_distributions_.argmax(axis=1) == y).mean()))
    found.append(float((crowd_kit(rows, who, said) == y).mean()))
    return found


def accuracy_table(seeds: int, among: bool) -> tuple[str, int, int, int]:
    """The table; in how many cells candidates are worse by more than WORSE, better by BETTER; all cells."""
    lines = [
        "| set | people | answers a row | majority | Dawid-Skene | with candidates | gain | crowd-kit |",
        "|---|---|---|---|---|---|---|---|",
    ]
    cells: dict[tuple[str, int, int], list[list[float]]] = {}
    for seed in range(seeds):
        for name, y, candidates in sets(seed):
            for people in PEOPLE:
                for overlap in (one for one in OVERLAPS if one <= people):
                    rng = np.random.default_rng([seed, people, overlap])
                    votes = vote(y, candidates, people, overlap, among, rng)
                    cells.setdefault((name, people, overlap), []).append(accuracies(y, candidates, *votes))
    gains = []
    for (name, people, overlap), runs in cells.items():
        most, free, inside, other = np.mean(runs, axis=0)
        gains.append(inside - free)
        kit = f"{other:.3f}" if find_spec("crowdkit") else "not installed"
        lines.append(
            f"| {name} | {people} | {overlap} | {most:.3f} | {free:.3f} | {inside:.3f} | {gains[-1]:+.3f} | {kit} |"
        )
    kept = np.array(gains)
    return "\n".join(lines), int((kept < -WORSE).sum()), int((kept >= BETTER).sum()), len(kept)


def answers_of(kind: str, y: np.ndarray, shown: np.ndarray, rng: np.random.Generator) -> np.ndarray:
    """(k,) what such a person answers on rows of truth y (k,), choices shown (k, m)."""
    k, m = shown.shape
    if kind == "any class alike":
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


def guessing_table(persons: int) -> str:
    """Who is told, by set, kind of person, and what the answers are held against."""
    lines = [
        "| set | choices a row | person | held against | told within 30 answers | within 300 | median of answers |",
        "|---|---|---|---|---|---|---|",
    ]
    for name, y, candidates in sets(0):
        rng = np.random.default_rng(1)
        m = candidates.shape[1]
        rows, who, said = vote(y, candidates, 10, 2, True, rng)
        others = what_they_say(rows, who, np.eye(m, dtype=bool)[said], candidates)
        truth = np.eye(m)[y]
        several = np.flatnonzero(candidates.sum(axis=1) > 1)
        for kind in (*SPAMMERS, *HONEST):
            for against, known in (("the truth", truth), ("two others a row", others)):
                told = []
                for _ in range(persons):
                    asked = rng.choice(several, LONG, replace=False)
                    given = answers_of(kind, y[asked], candidates[asked], rng)
                    votes = list(zip(asked.tolist(), ["a"] * LONG, given.tolist(), strict=True))
                    told.append(who_is_guessing(votes, candidates, known)["a"].told_after or np.inf)
                after = np.array(told)
                median = f"{np.median(after):.0f}" if np.isfinite(np.median(after)) else "-"
                lines.append(
                    f"| {name} | {candidates[several].sum(axis=1).mean():.1f} | {kind} | {against} | "
                    f"{(after <= FIRST).mean():.1%} | {(after <= LONG).mean():.1%} | {median} |"
                )
    return "\n".join(lines)


def chances_table(persons: int) -> str:
    """The rule by itself, by the number of choices: guesses, and the least honest person."""
    lines = [
        "| choices | least honest is right in | a guesser told within 30 | the least honest told within 300 |",
        "|---|---|---|---|",
    ]
    rng = np.random.default_rng(2)
    for size in (2, 3, 4, 5, 10):
        chance = np.full(LONG, 1 / size)
        honest = float(least_honest(1 / size))
        told = {
            right: np.array(
                [
                    check_guessing((rng.random(LONG) < right).astype(float), chance).told_after or np.inf
                    for _ in range(persons)
                ]
            )
            for right in (1 / size, honest)
        }
        lines.append(
            f"| {size} | {honest:.2f} | {(told[1 / size] <= FIRST).mean():.1%} | {(told[honest] <= LONG).mean():.1%} |"
        )
    return "\n".join(lines)


def coverage_table(runs: int) -> str:
    """How often the bootstrap's intervals hold the figure of very many rows."""
    lines = [
        "| rows | classes | right | answers a row | alpha | its interval holds | AC1 | its interval holds |",
        "|---|---|---|---|---|---|---|---|",
    ]
    for n, shares, right, overlap in (
        (40, (0.5, 0.3, 0.2), 0.8, 2),
        (60, (0.2,) * 5, 0.6, 3),
        (100, (0.8, 0.2), 0.9, 2),
        (100, (0.4, 0.3, 0.2, 0.1), 0.5, 2),
    ):
        rng = np.random.default_rng(n)

        def said(
            rows: int,
            rng: np.random.Generator = rng,
            shares: tuple[float, ...] = shares,
            right: float = right,
            overlap: int = overlap,
        ) -> list[tuple[int, int, int]]:
            y = rng.choice(len(shares), (rows, 1), p=shares)
            free = rng.choice(len(shares), (rows, overlap), p=shares)
            answers = np.where(rng.random((rows, overlap)) < right, y, free)
            return [(i, who, one) for i, row in enumerate(answers.tolist()) for who, one in enumerate(row)]

        many = said(100_000)
        true = float(krippendorff_alpha(many)), float(gwet_ac1(many))
        holds = np.zeros(2)
        for seed in range(runs):
            votes = said(n)
            for place, figure in enumerate((krippendorff_alpha, gwet_ac1)):
                _, low, high = figure(votes, n_bootstrap=500, random_state=seed)
                holds[place] += low <= true[place] <= high
        holds /= runs
        lines.append(
            f"| {n} | {len(shares)} | {right} | {overlap} | {true[0]:.3f} | {holds[0]:.1%} | "
            f"{true[1]:.3f} | {holds[1]:.1%} |"
        )
    return "\n".join(lines)


def speed() -> str:
    """Milliseconds of a round, on ten thousand votes and 26 classes."""
    rng = np.random.default_rng(0)
    m, n = ROUNDS_CLASSES, ROUNDS_VOTES // 3
    y = rng.integers(m, size=n)
    free = np.ones((n, m), dtype=bool)
    rows, who, said = vote(y, free, 12, 3, False, rng)
    masks = np.eye(m, dtype=bool)[said]

    def seconds(rounds: int) -> float:
        begun = time.perf_counter()
        DawidSkene(max_iter=rounds).fit_masks(rows, who, masks, free)
        return time.perf_counter() - begun

    seconds(1)
    one, many = (min(seconds(rounds) for _ in range(5)) for rounds in (1, 16))
    # Two fits, pooled and of each person: 2 rounds and 32.
    return (
        f"{len(rows):,} votes, {m} classes: {1000 * (many - one):.0f} ms for 30 rounds, "
        f"{1000 * one:.0f} ms for the rest."
    )


def body(seeds: int, persons: int, runs: int) -> str:
    free, free_worse, free_better, free_all = accuracy_table(seeds, among=False)
    among, among_worse, among_better, among_all = accuracy_table(seeds, among=True)
    return f"""
People are right in 45 to 95 %, each with mistakes of their own; everybody answers the rows that chance gives
them. digits and segment have false candidates by `random`, p = 0.7, q = 0.5; BirdSong has its own, rows whose truth is
outside are left out. Means of {seeds} runs. Majority: where classes are tied, what drawing one gets right on average.
`gain` is what candidates as a prior add to Dawid-Skene without them.

## Asked among all classes: candidates come from elsewhere

Candidates are worse by more than {WORSE} in **{free_worse} of {free_all}** lines, better by {BETTER} in
**{free_better}** (asked for: 0, and at least {free_all // 2 + free_all % 2}).

{free}

## Asked among the candidates: every vote is inside already

Worse by more than {WORSE} in {among_worse} of {among_all} lines, better by {BETTER} in {among_better}: candidates that
people were held to have told most of what they can.

{among}

## Who is guessing

The rule by itself: answers held against the truth, all rows with the same number of choices. {10 * persons:,}
persons a line.

{chances_table(10 * persons)}

On the sets, among the candidates of rows that have two or more; {4 * persons:,} persons a line. Held against the
truth, or against what ten others say, two of whom have answered each row. The least honest are right as often
as the table above says. Asked for: at least 95 % of those who guess told within 30 answers, at most 2 % of honest
people ever.

{guessing_table(4 * persons)}

## Intervals of agreement

500 resamples of the rows, {runs} runs a line; asked for: at least 93 %.

{coverage_table(runs)}

## Speed

{speed()}
"""


def main() -> None:
    parser = argparse.ArgumentParser()
    parser.add_argument("--quick", action="store_true", help="few runs, nothing is written")
    parser.add_argument("names", nargs="*")  # `python -m benchmarks crowd` leaves its own name here
    if parser.parse_args().quick:
        print(body(1, 20, 20))
        return
    report.write("crowd", "Several annotators", body(SEEDS, 500, 500), ("numpy", "numba", "pandas"))


if __name__ == "__main__":
    main()
