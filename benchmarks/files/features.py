"""Features from images and from texts, and the import of many texts."""

from __future__ import annotations

import csv
import io
import random
import re
import time
import zipfile
from collections import Counter
from collections.abc import Callable
from importlib import import_module
from inspect import getdoc, isclass, ismodule
from pathlib import Path
from typing import Any

import numpy as np
import sklearn
from PIL import Image
from sklearn.datasets import load_digits, load_sample_images
from sklearn.model_selection import StratifiedKFold, cross_val_score
from sklearn.neighbors import KNeighborsClassifier

from benchmarks import homes
from benchmarks.data import exact_set
from benchmarks.harness import (
    Table,
    benchmark,
    clocked,
    cpu,
    folder,
    in_process,
    load_average,
    only,
    page,
    sized,
    trees,
)
from benchmarks.processes import Watch
from plcore import PLSVC, PLKernelRidge, PLKNeighborsClassifier
from plcore.neighbors import NeighborGraph
from plcore.tables.features.text import TextFeatures
from plcore.tables.media.images import describe
from workflow import importing
from workflow.answering import loop

USPS, SIDE = sized((3000, 40), tiny=(160, 80))
ZIPS = sized(((10_000, 28, "PNG"), (2_000, 500, "JPEG"), (100, 3000, "JPEG")), tiny=((10, 28, "PNG"),))
Images = tuple[list[Image.Image], np.ndarray]


def digits() -> Images:
    found = load_digits()
    images = [Image.fromarray((255 - image * 255 / 16).astype(np.uint8)) for image in found.images]
    return images[: 20 * USPS], found.target[: 20 * USPS]


def usps() -> Images:
    """Return a seeded sample of grey images of handwritten digits."""
    X, y = exact_set("usps")
    rows = np.random.default_rng(0).permutation(len(X))[:USPS]
    scaled = (255 * (X[rows] - X[rows].min()) / np.ptp(X[rows])).astype(np.uint8)
    return [Image.fromarray(one.reshape(16, 16)) for one in scaled], y[rows]


def tiles(parts: int) -> Images:
    cut, labels = [], []
    for number, pixels in enumerate(load_sample_images().images):
        photograph = Image.fromarray(pixels)
        for left in range(0, photograph.width - SIDE + 1, SIDE):
            for top in range(0, photograph.height - SIDE + 1, SIDE):
                cut.append(photograph.crop((left, top, left + SIDE, top + SIDE)))
                labels.append(number * parts + top * parts // photograph.height)
    return cut, np.array(labels)


def zip_of(count: int, side: int, kind: str) -> bytes:
    """Return different crops of a photograph, stretched to this size, and their table."""
    photograph = Image.fromarray(load_sample_images().images[0])
    rng, ending, out = np.random.default_rng(0), kind.lower(), io.BytesIO()
    with zipfile.ZipFile(out, "w") as file:
        rows = "".join(f"{'a|b' if n % 2 else 'b'},{n}.{ending}\n" for n in range(count))
        file.writestr("table.csv", "candidates,image\n" + rows)
        for n in range(count):
            left, top = rng.integers(0, 300), rng.integers(0, 200)
            piece = photograph.crop((left, top, left + 200 + n % 97, top + 200 + n % 89)).resize((side, side))
            data = io.BytesIO()
            piece.save(data, kind)
            file.writestr(f"{n}.{ending}", data.getvalue())
    return out.getvalue()


def thumbnail(image: Image.Image, mode: str, side: int) -> np.ndarray:
    small = image.convert(mode).resize((side, side), Image.Resampling.BILINEAR)
    return np.asarray(small, dtype=np.float64).ravel() / 255


def five_neighbours(X: np.ndarray, y: np.ndarray) -> float:
    folds = StratifiedKFold(5, shuffle=True, random_state=0)
    return float(cross_val_score(KNeighborsClassifier(5), X, y, cv=folds).mean())


def accuracies() -> Table:
    sets = {"digits 8x8": digits(), "usps 16x16": usps(), "tiles, 2 photographs": tiles(1), "tiles, 6 parts": tiles(3)}
    heads = (f"{name} (n={len(y)})" for name, (_, y) in sets.items())
    table = Table(["accuracy, 5-NN", "features", *heads, "ms"])
    for way, features in LOOKS.items():
        cells, spent = [], []
        for images, y in sets.values():
            X, seconds = clocked(lambda images=images, make=features: np.array([make(one) for one in images]))
            spent.append(seconds / len(y) * 1e3)
            cells.append(five_neighbours(X.astype(float), y))
        table.add(way, X.shape[1], *cells, f"{max(spent):.2f}")
    return table


def imports() -> Table:
    head = "images in the zip | each | zip, MB | read and checked, CPU s | again with other columns, CPU s"
    table = Table(head, ".1f")
    for count, side, kind in ZIPS:
        data = zip_of(count, side, kind)
        upload, reading = clocked(lambda data=data: importing.read_upload(data))
        roles = upload.suggest_roles()

        def check(upload=upload, roles=roles):
            return importing.check(upload, roles, lambda _share: None)

        (checked, first), (_, again) = clocked(check), clocked(check)
        assert checked.table is not None, checked.problems[:3]
        table.add(count, f"{side}x{side} {kind}", len(data) / 1e6, reading + first, f"{again:.2f}")
    return table


LOOKS: dict[str, Callable[[Image.Image], np.ndarray]] = {
    "grey thumbnail 16x16": lambda image: thumbnail(image, "L", 16),
    "colour thumbnail 8x8": lambda image: thumbnail(image, "RGB", 8),
    "edges alone": lambda image: describe(image)[:128],
    "colours alone": lambda image: describe(image)[128:],
    "**appearance: both**": describe,
}


@benchmark("Features from images", packages=("pillow",))
def images() -> str:
    return page(
        accuracies(),
        f"""Tiles: scikit-learn's two sample photographs cut into squares of {SIDE} x {SIDE} points; the label is the
photograph, or the photograph and the upper, middle or lower third. ms: processor time an image, the slowest set.""",
        imports(),
    )


# Texts

Texts = tuple[list[str], list[str]]
"""Texts and their labels."""
Word = Callable[[], str]
Text = Callable[[list[str], list[str]], str]

WAYS = {"words": {"grams": False}, "n-grams": {"words": False}, "**both**": {}}
LEARNERS = {
    "PL-KNN": lambda: PLKNeighborsClassifier(10, scaling=None),
    "PLKernelRidge": PLKernelRidge,
    "PLSVC": lambda: PLSVC(max_iter=100),
}
ROWS, FOLDS, PAIRS = sized((900, 3, 6_000), tiny=(90, 3, 40))


def documentation() -> Texts:
    """Return paragraphs of scikit-learn's docstrings with their modules, for the modules with most of them."""
    module_of: dict[str, set[str]] = {}
    for name in sklearn.__all__:
        module = getattr(sklearn, name, None) or import_module(f"sklearn.{name}")
        for public in sorted(getattr(module, "__all__", ())) if ismodule(module) else ():
            thing = vars(module).get(public)
            methods = [one for key, one in sorted(vars(thing).items()) if key[0] != "_"] if isclass(thing) else []
            for text in (getdoc(one) for one in (thing, *filter(callable, methods))):
                for paragraph in re.split(r"\n\s*\n", text or ""):
                    if 8 <= len(paragraph.split()) <= 120:
                        module_of.setdefault(" ".join(paragraph.split()), set()).add(name)
    rows = [(text, next(iter(names))) for text, names in module_of.items() if len(names) == 1]
    frequent = {name for name, _ in Counter(label for _, label in rows).most_common(10)}
    kept = [row for row in rows if row[1] in frequent]
    return [text for text, _ in kept], [label for _, label in kept]


def some(rows: Texts) -> Texts:
    texts, labels = rows
    chosen = np.random.default_rng(0).permutation(len(texts))[:ROWS].tolist()
    return [texts[row] for row in chosen], [labels[row] for row in chosen]


def with_slips(text: str) -> str:
    draw = random.Random(text)
    return " ".join(slip(word, draw) if len(word) > 3 and draw.random() < 0.25 else word for word in text.split())


def slip(word: str, draw: random.Random) -> str:
    at = draw.randrange(len(word) - 1)
    middle = draw.choice([word[at + 1] + word[at], word[at + 1], draw.choice("etaoinshr") + word[at + 1]])
    return word[:at] + middle + word[at + 2 :]


def topical(draw: random.Random, word: Word, text: Text, n_shared: int, n_own: int) -> Texts:
    """Return texts of eight topics, made of words common to all and of the topic's own."""
    shared, topics = [word() for _ in range(n_shared)], [[word() for _ in range(n_own)] for _ in range(8)]
    labels = [draw.randrange(8) for _ in range(ROWS)]
    return [text(topics[label], shared) for label in labels], [str(label) for label in labels]


def with_endings() -> Texts:
    draw = random.Random(0)
    endings = ["", "n", "ta", "lla", "ssa", "sta", "ksi", "mme", "nsa", "kin", "jen", "ista"]

    def stem() -> str:
        size = draw.randint(2, 3)
        return "".join(draw.choice("bdfgklmnprstvz") + draw.choice("aeiou") for _ in range(size))

    def text(topic: list[str], shared: list[str]) -> str:
        stems = [draw.choice(topic if draw.random() < 0.3 else shared) for _ in range(draw.randint(6, 14))]
        more = (draw.choice(endings) + (draw.choice(endings) if draw.random() < 0.5 else "") for _ in stems)
        return " ".join(one + ending for one, ending in zip(stems, more, strict=True))

    return topical(draw, stem, text, 150, 30)


def without_spaces() -> Texts:
    draw = random.Random(0)
    signs = [chr(0x4E00 + place) for place in range(2_000)]

    def word() -> str:
        return "".join(draw.choice(signs) for _ in range(draw.choice([1, 2, 2, 2, 3])))

    def text(topic: list[str], shared: list[str]) -> str:
        words = [draw.choice(topic if draw.random() < 0.25 else shared) for _ in range(draw.randint(8, 20))]
        half = len(words) // 2
        return f"{''.join(words[:half])}，{''.join(words[half:])}。"

    return topical(draw, word, text, 200, 40)


def with_wrong_ones(y: np.ndarray) -> np.ndarray:
    """Return candidates (n, m): the true class and two drawn ones, one of which may be the true one again."""
    m, rng = int(y.max()) + 1, np.random.default_rng(0)
    sets = np.eye(m, dtype=bool)[y]
    for row in sets:
        row[rng.choice(m, 2, replace=False)] = True
    return sets


def scores(texts: list[str], labels: list[str], parts: dict[str, bool]) -> tuple[list[float], int]:
    """Return the mean accuracy of each learner on unseen texts, and the largest number of columns."""
    y = np.unique(labels, return_inverse=True)[1]
    sets, held = with_wrong_ones(y), np.array(texts, dtype=object)
    found: dict[str, list[float]] = {name: [] for name in LEARNERS}
    width = 0
    for train, test in StratifiedKFold(FOLDS, shuffle=True, random_state=0).split(held, y):
        made = TextFeatures(**parts).fit(held[train])
        X, unseen = made.transform(held[train]), made.transform(held[test])
        width = max(width, X.shape[1])
        for name, make in LEARNERS.items():
            said = make().fit(X, sets[train]).predict(unseen)
            found[name].append(float((said == y[test]).mean()))
    return [float(np.mean(one)) for one in found.values()], width


@benchmark("Features from texts")
def texts() -> str:
    paragraphs, names = documentation()
    sets = {
        "documentation": some((paragraphs, names)),
        "its first 8 words": some(([" ".join(text.split()[:8]) for text in paragraphs], names)),
        "with slips": some(([with_slips(text) for text in paragraphs], names)),
        "with endings": with_endings(),
        "without spaces": without_spaces(),
    }
    table = Table(["accuracy", "features", "learner", *sets])
    for way, parts in WAYS.items():
        found = [scores(*rows, parts) for rows in sets.values()]
        width = max(width for _, width in found)
        for number, learner in enumerate(LEARNERS):
            table.add(way, width, learner, *(right[number] for right, _ in found))
    most = (max(Counter(labels).values()) / len(labels) for _, labels in sets.values())
    table.add("the most frequent label", "", "", *most)

    rng = np.random.default_rng(0)
    texts = [f"{one} {other}" for one, other in rng.choice(paragraphs, (PAIRS, 2)).tolist()]
    words = np.mean([len(text.split()) for text in texts])
    cost = Table(
        f"{PAIRS:,} texts of {words:.0f} words | features | numbers a row | fitted and made, CPU s | "
        "10 nearest of each, CPU s",
        ".1f",
    )
    for way, parts in WAYS.items():
        X, made = clocked(lambda parts=parts: TextFeatures(**parts).fit(texts).transform(texts))
        seconds = cpu(lambda X=X: NeighborGraph(X, 10, "linear", None).own_neighbors(), 1)
        cost.add(way, X.shape[1], f"{X.nnz / len(texts):.0f}", made, seconds)
    return page(
        table,
        f"""{ROWS} texts a set, {FOLDS} folds. Documentation: paragraphs of 8 to 120 words from the docstrings of
scikit-learn's public functions, classes and methods, each once; the label is the module, of the ten most frequent
modules.
With slips: a quarter of its words of four letters or more have two letters swapped, one left out or one replaced.
With endings: 6 to 14 generated words, stems of 2 or 3 syllables with one or two of 12 endings, 3 of 10 words from the
30 of one of 8 topics, the others from 150 that all share. Without spaces: generated in the same way from Chinese
characters, words of 1 to 3. features: columns, of the largest set.""",
        cost,
    )


# Import of many texts

SIZES = sized((10_000, 20_000, 100_000), tiny=(200,), full=(10_000, 20_000, 100_000, 1_000_000))
VOCABULARY, LENGTH = 50_000, 20
GOALS = {100_000: (20, 900), 1_000_000: (300, 3_000)}
"""CPU seconds and MB, by number of texts."""


def write_texts(path: Path, n: int) -> None:
    """Write texts of words drawn by Zipf's law, with two or three of ten classes as candidates."""
    draw, rng = random.Random(0), np.random.default_rng(0)
    words = np.array(
        [
            "".join(draw.choice("bcdfghjklmnprstvw") + draw.choice("aeiou") for _ in range(draw.randint(1, 5)))
            + draw.choice(["", "n", "s", "t", "r"])
            for _ in range(VOCABULARY)
        ]
    )
    share = 1.0 / np.arange(1, VOCABULARY + 1)
    share /= share.sum()
    with path.open("w", newline="", encoding="utf-8") as file:
        out = csv.writer(file)
        out.writerow(("text", "candidates"))
        for start in range(0, n, 10_000):
            rows = min(10_000, n - start)
            drawn = words[rng.choice(VOCABULARY, (rows, LENGTH), p=share)]
            sets = (np.unique(one).tolist() for one in rng.integers(10, size=(rows, 3)))
            out.writerows(
                (" ".join(text), "|".join(f"class{k}" for k in one))
                for text, one in zip(drawn.tolist(), sets, strict=True)
            )


def import_texts(path: str, home: str) -> dict[str, Any]:
    """Import a file as the command line does, find the first question, then the neighbours; return the cost of each."""
    started = time.process_time()
    with homes.owner_of(home) as owner:
        with Watch() as first:
            upload, table = importing.read_as_named(Path(path), {})
            settings = importing.settings_for(table, {})
            seat = owner.at(importing.create(owner, "texts", table, settings, "", upload))
            assert loop.next_question(seat) is not None
        with Watch() as later:
            homes.find_neighbors(seat)
            with seat.learner() as opened:
                assert opened.learner.next_question("somebody") is not None
                graph = opened.learner.graph
    return {
        "first": started + first.cpu, "first_wall": first.wall, "cpu": started + first.cpu + later.cpu,
        "wall": first.wall + later.wall, "memory": max(first.mapped, later.mapped),
        "search": graph.kind, "recall": graph.recall,
    }  # fmt: skip


@benchmark("Import of many texts")
def text_import() -> str:
    head = "texts | checkout | first question, CPU s | s | neighbours too, CPU s | s | MB | search | recall | goal"
    table = Table(head)
    for rows in only(SIZES):
        with folder() as place:
            write_texts(path := place / "texts.csv", rows)
            for name, tree in trees().items():
                got = in_process(import_texts, str(path), str(place / name), tree=tree)
                goal = "{} CPU s, {:,} MB".format(*GOALS[rows]) if rows in GOALS else ""
                costs = (f"{got[what]:.1f}" for what in ("first", "first_wall", "cpu", "wall"))
                table.add(rows, name, *costs, f"{got['memory']:,.0f}", got["search"], got["recall"], goal)
    return page(
        table,
        f"""Texts of {LENGTH} words drawn by Zipf's law from {VOCABULARY:,} made of syllables, with candidates among ten
classes. A process begins, reads and checks the CSV file, makes the project, and asks its first question. Then it finds
the neighbours as a worker does, opens the project with them, and asks again. CPU seconds of it and of all processes it
starts, from its beginning; MB is their peak memory with pages of mapped files, sampled every 0.1 s; shared pages count
once.""",
        load_average(),
    )
