"""Seconds to the same accuracy: the cheapest question against "which of these?", by replay.

Lost, MSRCv2 and BirdSong as they are; digits, segment and pendigits with random candidates (a wrong label is one with
probability 0.4). Of each set at most 500 rows train, at most 1,000 others measure. The learner is what Automatic takes
on all six (see active_models.md), the kernel ridge, with the settings it chooses before the first answer; it learns
after every 5 answers, by its own `update`, and is measured then.

No seconds are measured here: an answer takes exactly what `plcore.query.SecondsModel` expects before it has seen any.
"Which of n?" takes 4.8 (n / 4) ** 0.3 seconds, ten choices 1.6 times as long as two; "is it k?" takes 0.55 of "which of
four?". To verify that a picture holds a class took a little more than half of the time of naming it in Russakovsky, Li
and Fei-Fei (CVPR 2015); 4.1 seconds is the median of 7,470 choices of one dog breed in ten (SDOGS-10H, Lim et al.,
2024); Hick (1952) has 0.38 s among two and 0.72 s among ten. Next to it "is it k?" takes half and twice as long. By
this
price a yes or no about one of *two* candidates costs 0.68 of choosing between them and tells as much; where people take
as long for either, the price is 1.48, which is in the tables too.

The accuracy to reach is that of "which?", rows by margin, when 40% of the training rows are answered, less 0.002; the
seconds until then are the unit. Of every curve: after how many units its mean accuracy over the seeds is that high for
the first time, and how many seconds fewer that is than "which?" by margin needs, with the interval that holds 95% of
1,000 draws of the seeds; runs end after 1.5. Rows are asked at random, by APL of the ten nearest rows, or by margin;
"cheapest" takes the row by margin and the question about it with the largest gain for each second
(`plcore.query.row_questions`), "row and question" both by it; the rule of thumb asks "is it k?" where k has a share of
.8 or more and there are more than two candidates. After *no* the rest of the set is left, and the row may come again.

What it comes to: a yes or no saves by its price. Most rows have few candidates, or a model that leaves two of them, so
that it tells nearly as much as the label. At the price of the model that is a fifth to a third of the seconds; where it
takes as long as choosing between two, nothing is left to save, and gain for each second, which looks one answer ahead,
may lose a tenth; if it is dearer "which?" is asked throughout. So the seconds of a project's own people decide, and
some questions come in a form drawn by chance. The rule of thumb asks in yes and no where little is left to know, and
saves less. Rows and questions chosen together are not better than rows by margin.

In answers, margin needs least where few rows are in doubt. On MSRCv2 nearly all are: accuracy still rises as much with
the last answers as with the first, whichever rows they are about, so that there is little to win by their order.
"""

from __future__ import annotations

import time
import warnings
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np

from benchmarks.harness import Table, benchmark, kept, only, page, sized
from benchmarks.plots import Line, write_chart
from benchmarks.questions.active_models import SETS, data, learner_of, settings_of
from plcore.neighbors.graph import NeighborGraph
from plcore.query import EffectRanker, RowQuestion, SecondsModel, cheapest_question, row_questions

NAME = "seconds"
SEEDS, ROWS, EVERY = sized((10, 500, 5), tiny=(2, 40, 5))
ANSWERED, LONGEST, SLACK = 0.4, 1.5, 0.002
SURE = 0.8
WHICH = ("random", "apl", "margin")
MODEL = SecondsModel()
AS_TWO = float(MODEL.expected(None, "which", 2) / MODEL.expected(None, "is", 1))
PRICES = (0.5, 1.0, AS_TWO, 2.0)
"""Duration of "is it k?" relative to the model's estimate; AS_TWO: as long as choosing between two."""


@dataclass(frozen=True)
class Curve:
    """How rows and questions are chosen. rows : "random", "apl", "margin", "rate"      form : "which",
    "rule", or the criterion of the cheapest question      price : of "is it k?", relative to the model's"""

    rows: str
    form: str = "which"
    price: float = 1.0

    @property
    def words(self) -> str:
        if self.form == "which":
            return f"which, rows {'by ' if self.rows != 'random' else 'at '}{self.rows}"
        if self.form == "rule":
            return "rule of thumb, rows by margin"
        how = "row and question" if self.rows == "rate" else "cheapest, rows by margin"
        return f"{how}, gain by {self.form}"


YES_NO = (("margin", "entropy"), ("rate", "entropy"), ("margin", "rule"))
CURVES = (
    *(Curve(rows) for rows in WHICH),
    *(Curve(*how, price) for price in PRICES for how in YES_NO),
    Curve("margin", "classes"),
)
TO_BEAT = Curve("margin")


def seconds_of(price: float) -> Callable[[Any, Any], np.ndarray]:
    """Return the expected seconds of questions by form and number of labels, with yes or no at this price."""
    return lambda forms, shown: MODEL.expected(None, forms, shown) * np.where(np.asarray(forms) == "which", 1.0, price)


class Replay:
    """One labelling run: current candidates, the learner's latest prediction, seconds so far."""

    def __init__(self, name: str, seed: int, settings: dict[str, Any], curve: Curve) -> None:
        X, self.candidates, self.truth, X_test, self.y_test = data(name, seed, ROWS)
        self.curve, self.cost = curve, seconds_of(curve.price)
        self.learner = learner_of("kernelridge", settings, X, self.candidates, seed).fit(X, self.candidates)
        self.test = self.learner.coordinates(X_test)
        self.order = np.random.default_rng([seed, 1]).permutation(len(X))
        sizes = np.arange(1, self.candidates.shape[1] + 1)
        self.which_seconds = self.cost(["which"] * len(sizes), sizes)
        self.is_seconds = float(self.cost(["is"], [1])[0])
        self.ranker = None
        if curve.rows == "apl":
            graph = NeighborGraph(X, 10, "linear", None)
            self.ranker = EffectRanker("apl", 10).fit_graph(*graph.own_neighbors(), self.candidates, np.arange(len(X)))
        self.candidates = self.candidates.copy()
        self.seconds, self.answered = 0.0, 0

    def accuracy(self) -> float:
        scores = self.learner.rounds_.ridge.scores(self.learner.label_distributions_, self.test)
        return float((scores.argmax(axis=1) == self.y_test).mean())

    def run(self, until: Callable[[Replay], bool]) -> tuple[list[float], list[float]]:
        """Return seconds and accuracy at the start, after every 5 answers and at the end."""
        seconds, accuracy, changed, n = [0.0], [self.accuracy()], set(), 0
        self.shares = self.learner.label_distributions_.copy()
        while self.open().any() and not until(self):
            changed.add(self.ask())
            n += 1
            if n % EVERY == 0 or not self.open().any() or until(self):
                rows = sorted(changed)
                self.learner.update(rows, self.candidates[rows])
                self.shares, changed = self.learner.label_distributions_.copy(), set()
                seconds, accuracy = [*seconds, self.seconds], [*accuracy, self.accuracy()]
        return seconds, accuracy

    def open(self) -> np.ndarray:
        return np.asarray(self.candidates.sum(axis=1) >= 2)

    def inside(self) -> np.ndarray:
        """Return (n, m) the learner's latest prediction, restricted to the current candidates."""
        shares = np.where(self.candidates, np.maximum(self.shares, 1e-9), 0.0)
        return np.asarray(shares / shares.sum(axis=1, keepdims=True))

    def ask(self) -> int:
        """Ask one question and apply the answer; return its row."""
        shares, open_rows = self.inside(), self.open()
        row = self.row(shares, open_rows)
        question = self.question(row, shares[row])
        self.seconds += question.seconds
        part = np.zeros(self.candidates.shape[1], dtype=bool)
        part[list(question.about) if question.about else self.truth[row]] = True
        left = self.candidates[row] & (part if part[self.truth[row]] else ~part)
        self.candidates[row] = left
        self.answered += int(left.sum() == 1)
        if self.ranker is not None:
            self.ranker.update(row, left)
        return row

    def row(self, shares: np.ndarray, open_rows: np.ndarray) -> int:
        if self.curve.rows == "random":
            return int(self.order[open_rows[self.order]][0])
        if self.ranker is not None:
            return int(self.ranker.next(1)[0])
        top = -np.sort(-shares, axis=1)
        score = 1.0 - (top[:, 0] - top[:, 1]) if self.curve.rows == "margin" else self.rates(shares, top)
        return int(np.where(open_rows, score, -1.0).argmax())

    def rates(self, shares: np.ndarray, top: np.ndarray) -> np.ndarray:
        """Return (n,) the largest gain per second of every row: that of "which" or of "is it the
        likeliest?"."""
        size = self.candidates.sum(axis=1)
        if self.curve.form == "classes":
            which, yes_no = size - 1.0, size - (top[:, 0] + (1.0 - top[:, 0]) * (size - 1.0))
        else:
            which, yes_no = surprise(shares).sum(axis=1), surprise(top[:, 0]) + surprise(1.0 - top[:, 0])
        return np.maximum(which / self.which_seconds[size - 1], yes_no / self.is_seconds)

    def question(self, row: int, shares: np.ndarray) -> RowQuestion:
        form = self.curve.form
        criterion = form if form in ("entropy", "classes") else "entropy"
        questions = row_questions(self.candidates[row], shares, self.cost, criterion=criterion, n_likeliest=1)
        if form == "which":
            return questions[0]
        if form == "rule":
            return questions[int(shares.max() >= SURE and questions[0].shown > 2)]
        return cheapest_question(questions)


def surprise(p: np.ndarray) -> np.ndarray:
    """Return -p log p, 0 for 0."""
    return np.asarray(-p * np.log(np.where(p > 0, p, 1.0)))


def run(name: str, curve: Curve, seed: int) -> dict[str, Any]:
    """Return seconds and accuracy on the way; for the baseline curve also its seconds, which define a share
    of 1."""

    begun = time.process_time()
    settings = kept(NAME, f"{name} settings {seed}", lambda: settings_of(*data(name, seed, ROWS)[:2], seed))
    made, mark = Replay(name, seed, settings, curve), {}
    if curve != TO_BEAT:
        mark = {"seconds": kept(NAME, f"{name} {TO_BEAT} {seed}", lambda: run(name, TO_BEAT, seed))["mark"]}

    def until(now: Replay) -> bool:
        if not mark and (now.answered >= int(ANSWERED * len(now.truth)) or not now.open().any()):
            mark["seconds"] = now.seconds
        return bool(mark) and now.seconds >= LONGEST * mark["seconds"]

    seconds, accuracy = made.run(until)
    mark.setdefault("seconds", made.seconds)
    cpu = time.process_time() - begun
    return {"seconds": seconds, "accuracy": accuracy, "mark": mark["seconds"], "cpu": cpu}


def curve_on(grid: np.ndarray, part: dict[str, Any]) -> np.ndarray:
    """Return (g,) accuracy at shares of the baseline's seconds: the latest measurement."""
    at = np.asarray(part["seconds"]) / part["mark"]
    return np.asarray(part["accuracy"])[np.searchsorted(at, grid + 1e-9, side="right") - 1]


Runs = dict[tuple[str, Curve], np.ndarray]
Parts = dict[tuple[str, Curve], list[dict[str, Any]]]
GRID = np.arange(0, 1 + round(LONGEST * 200)) / 200


def first_at(runs: np.ndarray, target: float) -> float:
    """Return where on the grid the mean of runs (s, g) first reaches the target; inf if never."""
    there = runs.mean(axis=0) >= target - 1e-12
    return float(GRID[there.argmax()]) if there.any() else np.inf


def with_interval(share: Callable[[np.ndarray], float], n_seeds: int) -> tuple[float, float, float]:
    """Return a figure of all seeds, and the interval that holds 95% of 1,000 bootstrap draws of the seeds."""
    everyone, rng = np.arange(n_seeds), np.random.default_rng(0)
    drawn = [share(rng.choice(everyone, n_seeds)) for _ in range(1000)]
    low, high = np.percentile(drawn, [2.5, 97.5], method="nearest")
    return share(everyone), float(low), float(high)


def saved(own: np.ndarray, best: np.ndarray) -> tuple[float, float, float]:
    """Return the share of seconds saved by runs (s, g) that reach the baseline's accuracy, with its
    interval."""

    def share(seeds: np.ndarray) -> float:
        target = target_of(best[seeds])
        return 1.0 - first_at(own[seeds], target) / max(first_at(best[seeds], target), 1 / 200)

    return with_interval(share, len(own))


def target_of(best: np.ndarray) -> float:
    return best[:, GRID == 1.0].mean() - SLACK


def draw(runs: Runs, names: list[str]) -> None:
    """Draw the curves at the model's own price, at every twentieth of the baseline's seconds."""
    places = np.arange(0, len(GRID), 10)
    shown = [curve for curve in CURVES if curve.price == 1.0]
    x = GRID[places].tolist()
    panels = {
        name: {one.words: Line(x, runs[name, one].mean(axis=0)[places].tolist()) for one in shown} for name in names
    }
    title = (
        f"Accuracy on held-out rows against seconds, mean of {SEEDS} seeds; 1: when which?, by margin, has 40% answered"
    )
    dashed = {TO_BEAT.words: {"dash": "dash"}}
    write_chart(NAME, title, panels, "seconds", styles=dashed, lead=Curve("margin", "entropy").words)


def answers_on(part: dict[str, Any], n: int) -> np.ndarray:
    """Return (n / 5 + 1,) accuracy after every 5 answers to "which?", until n or until all are answered."""
    found = np.asarray(part["accuracy"])
    return found[np.minimum(np.arange(n // EVERY + 1), len(found) - 1)]


def answers_saved(parts: Parts, name: str) -> tuple[list[object], float]:
    """Return the line of one set about answers to "which?", and the share of random's answers that margin
    needs."""
    n = int(ANSWERED * ROWS)
    random, margin = (
        np.array([answers_on(part, n) for part in parts[name, Curve(rows)]]) for rows in ("random", "margin")
    )

    def share(seeds: np.ndarray) -> float:
        there = margin[seeds].mean(axis=0) >= random[seeds, -1].mean() - 1e-12
        return float(there.argmax() * EVERY / n) if there.any() else np.inf

    found, low, high = with_interval(share, len(random))
    figures = random[:, 0].mean(), random[:, -1].mean(), margin[:, -1].mean()
    return [name, *figures, f"{found * n:.0f}", f"{found:.0%} ({low:.0%} to {high:.0%})"], found


def percent(share: float) -> str:
    """Return a share saved in words; a run that never reaches the accuracy saves nothing."""
    return f"{share:.0%}" if np.isfinite(share) else "never"


def summary(runs: Runs, parts: Parts, names: list[str]) -> str:
    """Return the result: seconds by price, then answers."""
    seconds = Table("price of yes or no | sets with 25% or more | each")
    for price in PRICES:
        own = Curve("margin", "entropy", price)
        shares = {name: saved(runs[name, own], runs[name, TO_BEAT])[0] for name in names}
        told = ", ".join(f"{name} {percent(share)}" for name, share in shares.items())
        seconds.add(f"{price:.2f}", f"{sum(one >= 0.25 for one in shares.values())} of {len(names)}", told)
    answers = Table(" | before | random, at the end | margin, at the end | answers by margin | share")
    fewer = 0
    for name in names:
        cells, share = answers_saved(parts, name)
        fewer += share <= 0.6
        answers.add(*cells)
    return page(
        "### Seconds saved by the cheapest question, rows by margin",
        seconds,
        "### Answers to random's accuracy",
        f""""Which?" alone, counted in answers: how many by margin make the learner as accurate as {ANSWERED * ROWS:.0f}
about rows drawn at random do. At most 60% of them: {fewer} of {len(names)} sets.""",
        answers,
    )


def set_table(name: str, runs: Runs, parts: Parts) -> str:
    best = runs[name, TO_BEAT]
    mark = np.mean([part["mark"] for part in parts[name, TO_BEAT]])
    begin, reached = best[:, 0].mean(), best[:, GRID == 1.0].mean()
    table = Table("question and rows | price of yes or no | units | fewer seconds than to beat")
    for curve in CURVES:
        share, low, high = saved(runs[name, curve], best)
        at = first_at(runs[name, curve], target_of(best))
        price = "" if curve.form == "which" else f"{curve.price:.2f}"
        where = f"{at:.2f}" if np.isfinite(at) else f"more than {LONGEST:g}"
        fewer = "" if curve == TO_BEAT else f"{percent(share)} ({percent(low)} to {percent(high)})"
        table.add(curve.words, price, where, fewer)
    says = f"Accuracy {begin:.3f} before the first answer, {reached:.3f} after {mark:,.0f} seconds."
    return page(f"### {name}", says, table)


@benchmark("Seconds to the same accuracy, by question", long=True)
def seconds() -> str:
    parts: Parts = {}
    names = only(SETS)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # about too few rounds
        for seed in range(SEEDS):
            for name, curve in ((one, other) for one in names for other in CURVES):
                part = kept(NAME, f"{name} {curve} {seed}", lambda f=(name, curve, seed): run(*f))
                parts.setdefault((name, curve), []).append(part)
            print(f"seed {seed}: {sum(own[-1]['cpu'] for own in parts.values()):.0f} CPU s", flush=True)
    runs = {key: np.array([curve_on(GRID, part) for part in own]) for key, own in parts.items()}
    if names == list(SETS):
        draw(runs, names)
    return page(
        (__doc__ or "").split("\n\n", 1)[1],
        f"Seeds that ran: {SEEDS}.",
        f"![Accuracy against seconds]({NAME}.svg)",
        summary(runs, parts, names),
        *(set_table(name, runs, parts) for name in names),
    )
