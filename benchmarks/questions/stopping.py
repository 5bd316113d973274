"""Stopping: savings and losses from stopping when everything is settled, or when the stop panel says so."""

from __future__ import annotations

import dataclasses
from dataclasses import dataclass

import numpy as np
from sklearn.preprocessing import MinMaxScaler

from benchmarks.data import REAL, any_set
from benchmarks.harness import Table, benchmark, in_parallel, page, sized
from benchmarks.questions.table8 import FILES
from plcore.evaluation.estimates import control_accuracy
from plcore.loop.entries import Entry
from plcore.loop.one_label.learner import ActiveLearner
from plcore.loop.one_label.settings import LearnerSettings
from plcore.loop.stopping import StopRules, judge, points
from plcore.neighbors.classifier import PLKNeighborsClassifier
from tests.plcore.loop.fake_table import FakeTable

SETS = ("iris", "wine", *FILES, "digits", *REAL)
NAMES = sized(SETS, tiny=("iris",))
MOST_ROWS = 2400
SETTINGS = LearnerSettings(control_share=0.08)
CONTAMINATION = ("random", 0.7, 0.5)
REPEATS = sized(10, tiny=2)
WITHIN = 0.02
HASTY = StopRules(flat_over=50)  # shows why the default is not shorter


@dataclass(frozen=True)
class Run:
    """One run. asked, accuracy : of the stops "settled", "panel", "hasty", "controls", "all"; on rows never
    in the project.

    differ : of `open_rows`, those not answered at "settled", how many predictions (Eq. 1) all other answers
    change
    labels : share of the initially ambiguous rows that then have the right label, by answer or by the model
    """

    asked: dict[str, int]
    accuracy: dict[str, float]
    differ: int
    open_rows: int
    labels: float
    reason: str


def first_stops(learner: ActiveLearner, done: list[bool]) -> tuple[dict[str, int], str]:
    """Return the number of answers at each stop, at most all of them; and which rule triggered the panel's.

    done : for each number of answers, from 0, whether everything is settled
    """
    curve = learner.curve
    answers, last = np.array([point.answers for point in curve]), len(done) - 1
    assert answers.tolist() == list(range(len(done)))
    settled = np.array([point.settled for point in curve])
    controls = [point.control for point in curve]
    held_out = np.array([point.accuracy for point in curve]), [int(learner.test_rows.sum())] * len(curve)
    by_controls = control_accuracy(controls, learner.pool.share_ambiguous).value
    sources = {
        "panel": (StopRules(), *held_out),
        "hasty": (HASTY, *held_out),
        "controls": (StopRules(), by_controls, [one.asked + one.free for one in controls]),
    }
    stops, reason = {"all": last, "settled": done.index(True) if True in done else last}, "all"
    for stop, (rules, accuracy, measured) in sources.items():
        stops[stop] = last
        for k in range(len(done)):
            seen = answers[: k + 1], accuracy[: k + 1], settled[: k + 1]
            reached = [one.rule for one in judge(rules, *seen, done=done[k], measured=measured[k]) if one.reached]
            if reached:
                stops[stop], reason = k, reached[0] if stop == "panel" else reason
                break
    return stops, reason


def run(cell: tuple[str, int]) -> Run:
    """Run one labelling run of a set and a seed to the last question."""
    name, seed = cell
    rng = np.random.default_rng([seed, SETS.index(name)])
    X, sets, y = any_set(name, CONTAMINATION, rng)
    X = np.where(np.isnan(X), np.nanmean(X, axis=0), X)
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


def mean_of(runs: list[Run], *stops: str) -> list[float]:
    """Return mean questions asked, then mean accuracy, at each of these stops."""
    asked = [float(np.mean([one.asked[stop] for one in runs])) for stop in stops]
    return asked + [float(np.mean([one.accuracy[stop] for one in runs])) for stop in stops]


def settled_table(found: dict[str, list[Run]]) -> Table:
    table = Table(
        "set | questions, all | at settled | saved | decisions left to the model | of these changed by all other "
        "answers | labels right | accuracy, all | at settled | difference",
        ".0f",
    )
    for name, runs in found.items():
        every, asked, full, then = mean_of(runs, "all", "settled")
        left, right = np.mean([(one.open_rows, one.labels) for one in runs], axis=0)
        saved, changed = f"{1 - asked / every:.0%}", sum(one.differ for one in runs)
        shares = f"{right:.1%}", f"{full:.1%}", f"{then:.1%}", f"{100 * (then - full):+.1f}"
        table.add(name, every, asked, saved, left, changed, *shares)
    return table


def panel_table(found: dict[str, list[Run]], stop: str) -> tuple[Table, list[str]]:
    """Return the table, and the sets whose mean difference is within the bound."""
    reasons = " | stopped by settled / flat / everything answered" if stop == "panel" else ""
    table, near = Table(
        "set | questions, all | at the stop | saved | accuracy, all | at the stop | mean difference | worst | "
        f"runs within 2 points{reasons}", ".0f"
    ), []  # fmt: skip
    for name, runs in found.items():
        every, asked, full, then = mean_of(runs, "all", stop)
        apart = np.array([one.accuracy[stop] - one.accuracy["all"] for one in runs])
        if abs(apart.mean()) <= WITHIN:
            near.append(name)
        worst = 100 * apart[np.abs(apart).argmax()]
        within = f"{(np.abs(apart) <= WITHIN + 1e-12).sum()} of {len(runs)}"
        said = [one.reason for one in runs]
        why = [" / ".join(str(said.count(key)) for key in ("settled", "flat", "all"))] if reasons else []
        shares = f"{1 - asked / every:.0%}", f"{full:.1%}", f"{then:.1%}"
        table.add(name, every, asked, *shares, f"{100 * apart.mean():+.1f}", f"{worst:+.1f}", within, *why)
    return table, near


@benchmark("Stopping: what it saves, what it costs")
def stopping() -> str:
    by_name: dict[str, list[Run]] = {}
    seconds = 0.0
    cells = [(name, seed) for seed in range(REPEATS) for name in NAMES]
    for (name, _), one, spent in in_parallel(run, cells):
        by_name.setdefault(name, []).append(one)
        seconds += spent
    found = {name: by_name[name] for name in NAMES}
    (panel, near), (controls, near_controls) = panel_table(found, "panel"), panel_table(found, "controls")
    hasty = {name: mean_of(runs, "all", "hasty")[2:] for name, runs in found.items()}
    near_hasty = sum(abs(then - full) <= WITHIN for full, then in hasty.values())
    worst_hasty = 100 * min(then - full for full, then in hasty.values())
    every = [one for runs in found.values() for one in runs]
    shares = [
        np.mean([abs(one.accuracy[stop] - one.accuracy["all"]) <= WITHIN + 1e-12 for one in every])
        for stop in ("panel", "hasty")
    ]
    rules = StopRules()
    return page(
        f"""PL-KNN (K = {SETTINGS.n_neighbors}), asked by {SETTINGS.strategy}, {SETTINGS.control_share:.0%} of the
questions blind controls. Means of {REPEATS} runs a set; in each two thirds of at most {MOST_ROWS:,} rows, redrawn,
are the project, and accuracy is measured on the other third, which is never in it. A third of the project's rows is
its held-out truth. {", ".join(REAL)} have their own candidates; all other sets are contaminated by `random`, p =
{CONTAMINATION[1]}, q = {CONTAMINATION[2]}. "All" is every question answered, controls too.""",
        "## Stopping when everything is settled",
        f"""The proof is about *decisions*: what the model predicts for the rows that are then still open. All answers
after the stop changed **{sum(one.differ for one in every)}** of **{sum(one.open_rows for one in every):,}** such
decisions, all runs taken together. "Labels right": share of the training rows ambiguous at first whose label,
answered or the model's, is then right; all answers make it 100%. "Accuracy" is on the rows outside the project: no
part of the proof, so it may move.""",
        settled_table(found),
        "## Stopping when the panel says so, accuracy from held-out truth",
        f"""Rules as by default: settled (the proof), or accuracy flat within {points(rules.flat_within or 0)} over
{rules.flat_over} answers. The mean difference is within 2 points on **{len(near)} of {len(found)}** sets (5 are asked
for). The {rules.flat_over} answers were chosen by single runs on these sets, with other draws; with {HASTY.flat_over}
the mean difference is within 2 points on {near_hasty} sets, at worst {worst_hasty:+.1f}, and {shares[1]:.0%} of the
runs are within 2 points, not {shares[0]:.0%}.""",
        panel,
        "## The same without truth: the panel uses the control rows",
        f"Within 2 points on {len(near_controls)} of {len(found)} sets.",
        controls,
        f"{seconds:,.0f} CPU seconds in all.",
    )
