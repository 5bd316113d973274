"""Stopping: what is saved by stopping when everything is settled, or when the stop panel says so, and what is lost.

Labelling runs replayed to the last question under PL-KNN, asked by apl with blind checks between. A third of the
rows is never in the project; on it the accuracy at each stop is compared with that of answering everything.
`--quick` shows how it looks after a minute and writes nothing.
"""

from __future__ import annotations

import argparse
import dataclasses
import os
import time
from collections.abc import Iterator
from dataclasses import dataclass
from multiprocessing import get_context

import numpy as np
from sklearn.preprocessing import MinMaxScaler
from threadpoolctl import threadpool_limits

from benchmarks import report
from benchmarks.margin_data import partial_set
from benchmarks.table8 import FILES, load_sets
from plcore.evaluation import contaminate
from plcore.evaluation.estimates import control_accuracy
from plcore.loop.entries import Entry
from plcore.loop.one_label.learner import ActiveLearner
from plcore.loop.one_label.settings import LearnerSettings
from plcore.loop.stopping import StopRules, judge, points
from plcore.neighbors.classifier import PLKNeighborsClassifier
from tests.plcore.loop.fake_table import FakeTable

REAL = ("lost", "msrcv2", "birdsong")
SETS = ("iris", "wine", *FILES, "digits", *REAL)
MOST_ROWS = 2400
SETTINGS = LearnerSettings(control_share=0.08)
CONTAMINATION = ("random", 0.7, 0.5)
REPEATS = 10
WITHIN = 0.02
HASTY = StopRules(flat_over=50)  # to show why the default is not shorter


@dataclass(frozen=True)
class Run:
    """One run. asked, accuracy : of the stops "settled", "panel", "hasty", "controls", "all"; on rows never in the
    project.

    differ : of `open_rows`, those not answered at "settled", how many predictions (Eq. 1) all other answers change
    labels : share of the rows ambiguous at first that then have the right label, by answer or by the model
    """

    asked: dict[str, int]
    accuracy: dict[str, float]
    differ: int
    open_rows: int
    labels: float
    reason: str


def first_stops(learner: ActiveLearner, done: list[bool]) -> tuple[dict[str, int], str]:
    """After how many answers each stop is reached, everything answered at the latest; and which rule the panel's was.

    done : after each number of answers, from 0
    """
    curve = learner.curve
    answers = np.array([point.answers for point in curve])
    assert answers.tolist() == list(range(len(done)))
    settled = np.array([point.settled for point in curve])
    controls = [point.control for point in curve]
    held_out = np.array([point.accuracy for point in curve]), [int(learner.test_rows.sum())] * len(curve)
    sources = {
        "panel": (StopRules(), *held_out),
        "hasty": (HASTY, *held_out),
        "controls": (
            StopRules(),
            control_accuracy(controls, learner.pool.share_ambiguous).value,
            [one.asked + one.free for one in controls],
        ),
    }
    stops, reason = (
        {"all": len(done) - 1, "settled": done.index(True) if True in done else len(done) - 1},
        "all",
    )
    for stop, (rules, accuracy, measured) in sources.items():
        stops[stop] = len(done) - 1
        for k in range(len(done)):
            until = slice(k + 1)
            seen = answers[until], accuracy[until], settled[until]
            verdicts = judge(rules, *seen, done=done[k], measured=measured[k])
            reached = [one.rule for one in verdicts if one.reached]
            if reached:
                stops[stop], reason = k, reached[0] if stop == "panel" else reason
                break
    return stops, reason


def run(name: str, seed: int) -> Run:
    """One labelling run to the last question."""
    rng = np.random.default_rng([seed, SETS.index(name)])
    if name in REAL:
        X, sets, y = partial_set(name)
    else:
        X, y = load_sets()[name]
        kind, p, q = CONTAMINATION
        sets = contaminate(y, kind, p, q, random_state=rng, classes=range(int(y.max()) + 1))
    order = rng.permutation(len(y))[:MOST_ROWS]
    inside, outside = np.split(order, [2 * len(order) // 3])
    table, truth = FakeTable(X[inside], sets[inside], truth=y[inside]), y[inside]
    learner = ActiveLearner(table, dataclasses.replace(SETTINGS, seed=seed))
    asked, done = [], [learner.done]
    while (question := learner.next_question("oracle")) is not None:
        asked.append(question.row)
        right = (learner.classes[truth[question.row]],)
        learner.apply(Entry(learner.seq + 1, "is", question.row, "oracle", right))
        done.append(learner.done)
    stops, reason = first_stops(learner, done)

    rows = learner.pool.train
    scaler = MinMaxScaler().fit(table.X[rows])
    own, others = scaler.transform(table.X[rows]), scaler.transform(X[outside])
    ambiguous = table.candidates[rows].sum(axis=1) >= 2
    accuracy, predicted, labels = {}, {}, {}
    for stop, answers in stops.items():
        candidates = table.candidates.copy()
        candidates[asked[:answers]] = np.eye(candidates.shape[1], dtype=bool)[truth[asked[:answers]]]
        model = PLKNeighborsClassifier(SETTINGS.n_neighbors, weights=SETTINGS.weights, scaling=None)
        model.fit(own, candidates[rows])
        accuracy[stop] = float((model.predict(others) == y[outside]).mean())
        predicted[stop], labels[stop] = model.predict(own), model.transduction_
        if stop == "settled":
            still_open = candidates[rows].sum(axis=1) >= 2
    differ = int((predicted["settled"] != predicted["all"])[still_open].sum())
    right = float((labels["settled"] == truth[rows])[ambiguous].mean())
    return Run(stops, accuracy, differ, int(still_open.sum()), right, reason)


def run_cell(cell: tuple[str, int]) -> tuple[str, Run, float]:
    begun = time.process_time()
    with threadpool_limits(1):
        return cell[0], run(*cell), time.process_time() - begun


def measure(names: tuple[str, ...], repeats: int) -> Iterator[tuple[str, Run, float]]:
    cells = [(name, seed) for seed in range(repeats) for name in names]
    with get_context("spawn").Pool(min(2, os.cpu_count() or 1)) as workers:
        yield from workers.imap_unordered(run_cell, cells)


def settled_table(found: dict[str, list[Run]]) -> str:
    lines = [
        "| set | questions, all | at settled | saved | decisions left to the model | of these changed by all other "
        "answers | labels right | accuracy, all | at settled | difference |",
        "|---|---|---|---|---|---|---|---|---|---|",
    ]
    for name, runs in found.items():
        every = np.mean([one.asked["all"] for one in runs])
        asked = np.mean([one.asked["settled"] for one in runs])
        full, then = (np.mean([one.accuracy[stop] for one in runs]) for stop in ("all", "settled"))
        lines.append(
            f"| {name} | {every:.0f} | {asked:.0f} | {1 - asked / every:.0%} | "
            f"{np.mean([one.open_rows for one in runs]):.0f} | {sum(one.differ for one in runs)} | "
            f"{np.mean([one.labels for one in runs]):.1%} | {full:.1%} | {then:.1%} | {100 * (then - full):+.1f} |"
        )
    return "\n".join(lines)


def panel_table(found: dict[str, list[Run]], stop: str) -> tuple[str, list[str]]:
    """The table, and the sets whose mean difference is within the bound."""
    reasons = " stopped by settled / flat / everything answered |" if stop == "panel" else ""
    lines = [
        "| set | questions, all | at the stop | saved | accuracy, all | at the stop | mean difference | worst "
        f"| runs within 2 points |{reasons}",
        "|---|---|---|---|---|---|---|---|---|" + ("---|" if reasons else ""),
    ]
    near = []
    for name, runs in found.items():
        every, asked = (np.mean([one.asked[key] for one in runs]) for key in ("all", stop))
        full, then = (np.array([one.accuracy[key] for one in runs]) for key in ("all", stop))
        apart = then - full
        if abs(apart.mean()) <= WITHIN:
            near.append(name)
        why = ""
        if reasons:
            said = [one.reason for one in runs]
            why = " " + " / ".join(str(said.count(key)) for key in ("settled", "flat", "all")) + " |"
        lines.append(
            f"| {name} | {every:.0f} | {asked:.0f} | {1 - asked / every:.0%} | {full.mean():.1%} | {then.mean():.1%} | "
            f"{100 * apart.mean():+.1f} | {100 * apart[np.abs(apart).argmax()]:+.1f} | "
            f"{(np.abs(apart) <= WITHIN + 1e-12).sum()} of {len(runs)} |{why}"
        )
    return "\n".join(lines), near


def body(found: dict[str, list[Run]], seconds: float) -> str:
    found = {name: found[name] for name in SETS if name in found}
    panel, near = panel_table(found, "panel")
    controls, near_controls = panel_table(found, "controls")
    near_hasty = panel_table(found, "hasty")[1]
    apart = {
        stop: [[one.accuracy[stop] - one.accuracy["all"] for one in runs] for runs in found.values()]
        for stop in ("panel", "hasty")
    }
    worst_hasty = 100 * min(np.mean(one) for one in apart["hasty"])
    runs_panel, runs_hasty = (
        np.mean(np.abs(np.concatenate(apart[stop])) <= WITHIN + 1e-12) for stop in ("panel", "hasty")
    )
    changed = sum(one.differ for runs in found.values() for one in runs)
    kept = sum(one.open_rows for runs in found.values() for one in runs)
    rules = StopRules()
    repeats = len(next(iter(found.values())))
    return f"""
PL-KNN (K = {SETTINGS.n_neighbors}), asked by {SETTINGS.strategy}, {SETTINGS.control_share:.0%} of the questions blind
controls. Means of {repeats} runs a set; in each two thirds of at most {MOST_ROWS:,} rows, drawn anew, are the project,
and accuracy is measured on the other third, which is never in it. A third of the project's rows is its held-out truth.
{", ".join(REAL)} have their own candidates; all other sets are contaminated by `random`, p = {CONTAMINATION[1]},
q = {CONTAMINATION[2]}. "All" is every question answered, controls too.

## Stopping when everything is settled

The proof is about *decisions*: what the model predicts for the rows that are then still open. All answers after the
stop changed **{changed}** of **{kept:,}** such decisions, all runs taken together. "Labels right": share of the
training rows ambiguous at first whose label, answered or the model's, is then right; all answers make it 100 %.
"Accuracy" is on the rows outside the project: no part of the proof, so it may move.

{settled_table(found)}

## Stopping when the panel says so, accuracy from held-out truth

Rules as by default: settled (the proof), or accuracy flat within {points(rules.flat_within or 0)} over
{rules.flat_over} answers. The mean difference is within 2 points on **{len(near)} of {len(found)}** sets
(5 are asked for). The {rules.flat_over} answers were chosen by single runs on these sets, with other draws; with
{HASTY.flat_over} the mean difference is within 2 points on {len(near_hasty)} sets, at worst {worst_hasty:+.1f}, and
{runs_hasty:.0%} of the runs are within 2 points, not {runs_panel:.0%}.

{panel}

## The same without truth: the panel goes by the control rows

Within 2 points on {len(near_controls)} of {len(found)} sets.

{controls}

{seconds:,.0f} CPU seconds in all.
"""


def main() -> None:
    parser = argparse.ArgumentParser()
    parser.add_argument("--quick", action="store_true", help="few runs, nothing is written")
    parser.add_argument("names", nargs="*")  # `python -m benchmarks stopping` leaves its own name here
    quick = parser.parse_args().quick
    names, repeats = (("iris", "ecoli", "digits", "lost"), 2) if quick else (SETS, REPEATS)
    found: dict[str, list[Run]] = {}
    seconds = 0.0
    for name, one, spent in measure(names, repeats):
        found.setdefault(name, []).append(one)
        seconds += spent
    if quick:
        print(body(found, seconds))
        return
    report.write(
        "stopping", "Stopping: what it saves, what it costs", body(found, seconds), ("numpy", "scikit-learn")
    )


if __name__ == "__main__":
    main()
