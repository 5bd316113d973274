"""Accuracy against answers and against seconds, by learner, strategy and form of question."""

from __future__ import annotations

import time
from collections import Counter
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np
from scipy.special import entr
from scipy.stats import sem
from sklearn.base import clone
from sklearn.preprocessing import StandardScaler

from benchmarks.data import any_set
from benchmarks.harness import (
    Rows,
    Table,
    benchmark,
    clocked,
    kept,
    kept_runs,
    only,
    page,
    sized,
    tabled,
    with_interval,
)
from benchmarks.plots import Line, write_chart
from plcore import AutoPLClassifier, PLKernelRidge
from plcore.evaluation import replay
from plcore.evaluation.learners import last_step
from plcore.loop import MODEL_ENTRIES
from plcore.neighbors.graph import NeighborGraph
from plcore.query import (
    EffectRanker,
    MaxHerding,
    RandomOrder,
    RowQuestion,
    SecondsModel,
    SmallestMargin,
    Strategy,
    cheapest_question,
    row_questions,
)

ACTIVE = "active_models"
SETS = sized(("lost", "msrcv2", "birdsong", "digits", "segment", "pendigits"), tiny=("digits",))
SEEDS, ROWS, HELD = sized((10, 750, 1000), tiny=(2, 60, 40))
BUDGET, EVERY = sized((200, 25), tiny=(20, 10))
POINTS = list(range(0, BUDGET + 1, EVERY))
AUTOMATIC, RANDOM = "Automatic", "Automatic, rows drawn at random"
MODELS = ("kernelridge", "plknn", "plsvc", "lmplane", "m3pl", "clpl", "pegasos-max", "perceptron-max")
TITLES = (AUTOMATIC, RANDOM, *MODELS)
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
    """Return features, candidates and true classes of at most this many training rows, features and true classes of
    those held out."""
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


def asked_by(name: str, curve: str, seed: int) -> dict[str, Any]:
    """Return accuracy at every point of the curve, the learner, CPU seconds."""
    X, candidates, y, X_test, y_test = data(name, seed)
    title, settings = curve, {}
    if curve in (AUTOMATIC, RANDOM):
        chosen = kept(ACTIVE, f"{name} choice {seed}", lambda: chosen_learner(X, candidates, seed))
        title, settings = chosen["learner"], chosen["settings"]
    learner = learner_of(title, settings, X, candidates, seed)
    strategy = "random" if curve == RANDOM else MODEL_ENTRIES[title].strategy
    how = {"budget": BUDGET, "every": EVERY, "learn_every": EVERY, "ties": "uniform", "random_state": seed}
    found, seconds = clocked(
        lambda: replay(X, candidates, y, X_test, y_test, learner=learner, strategy=strategy, **how)
    )
    accuracy = 1.0 - found.errors[np.minimum(np.searchsorted(found.answers, POINTS), len(found.errors) - 1)]
    return {"accuracy": accuracy.tolist(), "learner": title, "seconds": seconds}


@benchmark("Accuracy against answers, by learner", long=True)
def active_models() -> str:
    """Lost, MSRCv2 and BirdSong unchanged; digits, segment and pendigits with random candidates (a wrong label is one
    with probability 0.4). Each set has at most 750 training rows and 1,000 test rows. Every 25 answers, the
    learner is retrained and measured; questions in between use the current model. Automatic compares the learners on
    the
    training rows before the first answer and keeps what it chose, settings included; its questions use the strategy of
    that learner's projects, and in one run random order. Ten seeds draw rows, candidates and folds; intervals are 1.96
    standard errors of the mean over the seeds."""
    blocks: list[object] = []
    panels: dict[str, dict[str, Line]] = {}
    for name in only(SETS):
        table, panels[name] = Table(["", *map(str, POINTS)]), {}
        for curve in TITLES:
            parts = kept_runs(ACTIVE, asked_by, name, curve, seeds=SEEDS)
            if curve == AUTOMATIC:
                chosen = Counter(part["learner"] for part in parts).most_common()
            runs = np.array([part["accuracy"] for part in parts])
            mean, half = runs.mean(axis=0), 1.96 * sem(runs)
            table.add(curve, *(f"{one:.3f} ± {width:.3f}" for one, width in zip(mean, half, strict=True)))
            if curve in WORDS:
                rim = half.tolist() if curve == AUTOMATIC else None
                panels[name][WORDS[curve]] = Line(POINTS, mean.tolist(), rim)
        picks = ", ".join(f"{learner} {count} times" for learner, count in chosen)
        blocks += [f"### {name}", f"Automatic took {picks}.", table]
    title = f"Accuracy on held-out rows against answers given, mean of {SEEDS} seeds, 95% interval of Automatic"
    if len(panels) == len(SETS):
        dashed = {WORDS[RANDOM]: {"dash": "dash"}}
        write_chart(ACTIVE, title, panels, "answers", styles=dashed, lead=WORDS[AUTOMATIC])
    return page(f"![Accuracy against answers]({ACTIVE}.svg)", *blocks)


# The first answers

COLD_SEEDS, FEWER = sized((5, 500), tiny=(2, 60))
FIFTY, FIVE = 50, 5
EVERYTHING = sized(tuple(f"{name}, every class" for name in ("digits", "segment", "pendigits")), tiny=())
LEARNERS = "kernelridge", "plknn"
SHOWN = 0, 10, 20, 30, 50
OWN, COVER, EVEN = "own score", "cover, then own score", "cover by candidates only, then own score"
WAYS = ("random", OWN, COVER, EVEN)


def first_answers(name: str, title: str, way: str, seed: int) -> list[float]:
    """Return the accuracy before the first answer and after every 5."""
    plain, _, everything = name.partition(", ")
    X, candidates, y, X_test, y_test = data(plain, seed, FEWER)
    candidates = np.ones_like(candidates) if everything else candidates
    labels = np.eye(candidates.shape[1], dtype=bool)

    is_ridge, chosen, graph = title == "kernelridge", {}, NeighborGraph(X, 10, "linear", None).own_neighbors()
    if is_ridge:
        chosen = kept("cold_start", f"{name} settings {seed}", lambda: settings_of(X, candidates, seed))
    learner = clone(learner_of(title, chosen, X, candidates, seed)).fit(X, candidates)
    cover = MaxHerding().fit_graph(*graph, candidates)
    own: Strategy = SmallestMargin().fit(X, candidates)
    if way == "random":
        own = RandomOrder(random_state=seed).fit(X, candidates)
    elif not is_ridge:
        own = EffectRanker("apl", 10).fit_graph(*graph, candidates, np.arange(len(X)))

    def tell() -> float:
        for strategy in (own,) * isinstance(own, SmallestMargin) + (cover,) * (way == COVER):
            strategy.learner_changed(learner, X)
        return float((learner.predict(X_test) == y_test).mean())

    found, rows = [tell()], []
    for answered in range(FIFTY):
        covers = way in (COVER, EVEN) and cover.lasts(answered)
        row = int((cover if covers else own).next(1)[0])
        rows.append(row)
        for strategy in (cover, own):
            strategy.update(row, labels[y[row]])
        if len(rows) == FIVE:
            learner.update(rows, labels[y[rows]])
            found, rows = [*found, tell()], []
    return found


@tabled(["learner, rows", *map(str, SHOWN), "mean", "against own score"])
def first_table(name: str) -> Rows:
    """Return the table of one set."""
    for title in LEARNERS:
        found = {
            way: np.array(kept_runs("cold_start", first_answers, name, title, way, seeds=COLD_SEEDS)) for way in WAYS
        }
        for way, runs in found.items():
            ahead = (runs - found[OWN])[:, 1:].mean(axis=1)
            beside = "" if way == OWN else f"{ahead.mean():+.3f} ± {1.96 * sem(ahead):.3f}"
            yield f"{title}, {way}", *runs.mean(axis=0)[np.array(SHOWN) // FIVE], runs[:, 1:].mean(), beside


@benchmark("Coverage before uncertainty: the first answers")
def cold_start() -> str:
    """The data sets of seconds.md (at most 500 training and 1,000 test rows), and digits, segment and pendigits again,
    with every class a candidate of every row, so that nothing is known before the first answer. Every question is
    "which?". The learners are the kernel ridge, with the settings it chooses before the first answer, and PL-KNN; they
    learn after every 5 answers and are measured then. "cover" asks first about the rows that represent most others
    (`MaxHerding` of `plcore.query`, on ten neighbours; its `lasts` says how long: up to twice as many answers as
    classes), weighted by how unsure the model is, or only by the number of candidates; then it continues as the
    model's own strategy does, margin for the kernel ridge, APL for PL-KNN. In the tables: accuracy on the held-out
    rows, mean of the seeds; `mean` is that over the ten times it was measured, with 1.96 standard errors of the
    difference from the model's own strategy."""
    tables = ((f"### {name}", first_table(name)) for name in only((*SETS, *EVERYTHING)))
    return page(f"Seeds: {COLD_SEEDS}.", *(part for both in tables for part in both))


# Seconds

SECONDS = "seconds"
DRAWS = sized(10, tiny=2)
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
            return '"which?", rows ' + {"random": "at random", "apl": "by APL"}.get(self.rows, f"by {self.rows}")
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
        X, self.candidates, self.truth, X_test, self.y_test = data(name, seed, FEWER)
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
            if n % FIVE == 0 or not self.open().any() or until(self):
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
        """Return (n,) the largest gain per second of every row: that of "which" or of "is it the likeliest?"."""
        size = self.candidates.sum(axis=1)
        if self.curve.form == "classes":
            which, yes_no = size - 1.0, size - (top[:, 0] + (1.0 - top[:, 0]) * (size - 1.0))
        else:
            which, yes_no = entr(shares).sum(axis=1), entr(top[:, 0]) + entr(1.0 - top[:, 0])
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


def replayed(name: str, curve: Curve, seed: int) -> dict[str, Any]:
    """Return seconds and accuracy on the way; for the baseline curve also its seconds, which define a share of 1."""

    begun = time.process_time()
    settings = kept(SECONDS, f"{name} settings {seed}", lambda: settings_of(*data(name, seed, FEWER)[:2], seed))
    made, mark = Replay(name, seed, settings, curve), {}
    if curve != TO_BEAT:
        mark = {"seconds": kept(SECONDS, f"{name} {TO_BEAT} {seed}", lambda: replayed(name, TO_BEAT, seed))["mark"]}

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


def saved(own: np.ndarray, best: np.ndarray) -> tuple[float, float, float]:
    """Return the share of seconds saved by runs (s, g) that reach the baseline's accuracy, with its interval."""

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
        f"Accuracy on held-out rows against seconds, mean of {DRAWS} seeds; 1: when which?, by margin, has 40% answered"
    )
    dashed = {TO_BEAT.words: {"dash": "dash"}}
    write_chart(SECONDS, title, panels, "seconds", styles=dashed, lead=Curve("margin", "entropy").words)


def answers_saved(parts: Parts, name: str) -> tuple[list[object], float]:
    """Return the line of one set about answers to "which?", and the share of random's answers that margin needs."""
    n = int(ANSWERED * FEWER)

    def after_answers(part: dict[str, Any]) -> np.ndarray:
        """(n / 5 + 1,) accuracy after every 5 answers, until n or until all are answered."""
        return np.take(part["accuracy"], np.arange(n // FIVE + 1), mode="clip")

    random, margin = (np.array([after_answers(part) for part in parts[name, Curve(rows)]]) for rows in WHICH[::2])

    def share(seeds: np.ndarray) -> float:
        there = margin[seeds].mean(axis=0) >= random[seeds, -1].mean() - 1e-12
        return float(there.argmax() * FIVE / n) if there.any() else np.inf

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
        f""""Which?" alone, counted in answers: how many by margin make the learner as accurate as
{ANSWERED * FEWER:.0f} about rows drawn at random do. At most 60% of them: {fewer} of {len(names)} sets.""",
        answers,
    )


def set_table(name: str, runs: Runs, parts: Parts) -> str:
    best = runs[name, TO_BEAT]
    mark = np.mean([part["mark"] for part in parts[name, TO_BEAT]])
    begin, reached = best[:, 0].mean(), best[:, GRID == 1.0].mean()
    table = Table("question and rows | price of yes or no | units | seconds saved")
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
    """Lost, MSRCv2 and BirdSong unchanged; digits, segment and pendigits with random candidates (a wrong label is one
    with probability 0.4). Each set has at most 500 training rows and 1,000 test rows. The learner is the choice
    of Automatic on all six (see active_models.md), the kernel ridge, with the settings it chooses before the first
    answer; it learns after every 5 answers, by its own `update`, and is measured then.

    No seconds are measured here: an answer takes exactly what `plcore.query.SecondsModel` expects before it has seen
    any. "Which of n?" takes 4.8 (n / 4) ** 0.3 seconds, ten choices 1.6 times as long as two; "is it k?" takes 0.55 of
    "which of four?". Verifying that a picture shows a class took a little more than half the time of naming it in
    Russakovsky, Li and Fei-Fei (CVPR 2015); 4.1 seconds is the median of 7,470 choices of one dog breed in ten
    (SDOGS-10H, Lim et al., 2024); Hick (1952) measured 0.38 s for two choices and 0.72 s for ten. For comparison, "is
    it k?" takes half and twice as long. At this price, a yes or no about one of *two* candidates costs 0.68 of choosing
    between them and gives as much information. If both take equally long, the price is 1.48, which is in the tables,
    too.

    The accuracy to reach is that of "which?", rows by margin, when 40% of the training rows are answered, less 0.002;
    the seconds until then are the unit. For each curve: the units until its mean accuracy over the seeds first reaches
    that level, and the seconds saved compared with "which?" by margin, with the interval of 95% of 1,000 resamples of
    the seeds. Runs end after 1.5 units. Rows are chosen at random, by APL of the ten nearest rows, or by margin.
    "Cheapest" chooses the row by margin, then the question with the largest gain per second
    (`plcore.query.row_questions`). "Row and question" chooses both by gain per second. The rule of thumb asks "is it
    k?" if k has a share of at least 0.8 and there are more than two candidates. After *no*, the other candidates
    remain, and the row may be asked about again.

    Conclusion: the saving of a yes or no depends on its price. Most rows have few candidates, or a model that leaves
    two of them, so it gives nearly as much information as the label. At the price of the model that is a fifth to a
    third of the seconds;
    if it takes as long as choosing between two, nothing is saved, and gain per second, which looks one
    answer ahead, may lose a tenth; if it is more expensive, "which?" is asked throughout. So the measured times of a
    project's annotators decide, and some questions have a random form. The rule of thumb asks yes or no if little is
    uncertain, and saves less. Rows and questions chosen together are not better than rows by margin.

    Counted in answers, margin needs least if few rows are uncertain. On MSRCv2 nearly all are: the last answers raise
    accuracy as much as the first, no matter about which rows, so their order matters little.
    """
    parts: Parts = {}
    names = only(SETS)
    for seed in range(DRAWS):
        for name, curve in ((one, other) for one in names for other in CURVES):
            part = kept(SECONDS, f"{name} {curve} {seed}", lambda f=(name, curve, seed): replayed(*f))
            parts.setdefault((name, curve), []).append(part)
        print(f"seed {seed}: {sum(own[-1]['cpu'] for own in parts.values()):.0f} CPU s", flush=True)
    runs = {key: np.array([curve_on(GRID, part) for part in own]) for key, own in parts.items()}
    if names == list(SETS):
        draw(runs, names)
    return page(
        f"Seeds: {DRAWS}.",
        f"![Accuracy against seconds]({SECONDS}.svg)",
        summary(runs, parts, names),
        *(set_table(name, runs, parts) for name in names),
    )
