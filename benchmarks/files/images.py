"""Features from images: the appearance features of `plcore.tables.media.images` against thumbnails of
pixels."""

from __future__ import annotations

import io
import zipfile
from collections.abc import Callable

import numpy as np
from PIL import Image
from sklearn.datasets import load_digits, load_sample_images
from sklearn.model_selection import StratifiedKFold, cross_val_score
from sklearn.neighbors import KNeighborsClassifier

from benchmarks.data import exact_set
from benchmarks.harness import Table, benchmark, clocked, page, sized
from plcore.tables.media.images import describe
from workflow import importing

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
    for way, features in WAYS.items():
        cells, spent = [], []
        for images, y in sets.values():
            X, seconds = clocked(lambda images=images, make=features: np.array([make(one) for one in images]))  # type: ignore[misc]
            spent.append(seconds / len(y) * 1e3)
            cells.append(five_neighbours(X.astype(float), y))
        table.add(way, X.shape[1], *cells, f"{max(spent):.2f}")
    return table


def imports() -> Table:
    head = "images in the zip | each | zip, MB | read and checked, CPU s | again with other columns, CPU s"
    table = Table(head, ".1f")
    for count, side, kind in ZIPS:
        data = zip_of(count, side, kind)
        upload, reading = clocked(lambda data=data: importing.read_upload(data))  # type: ignore[misc]
        roles = upload.suggest_roles()

        def check(upload=upload, roles=roles):
            return importing.check(upload, roles, lambda _share: None)

        (checked, first), (_, again) = clocked(check), clocked(check)
        assert checked.table is not None, checked.problems[:3]
        table.add(count, f"{side}x{side} {kind}", len(data) / 1e6, reading + first, f"{again:.2f}")
    return table


WAYS: dict[str, Callable[[Image.Image], np.ndarray]] = {
    "grey thumbnail 16x16": lambda image: thumbnail(image, "L", 16),
    "colour thumbnail 8x8": lambda image: thumbnail(image, "RGB", 8),
    "edges alone": lambda image: describe(image)[:128],
    "colours alone": lambda image: describe(image)[128:],
    "**the look: both**": describe,
}


@benchmark("Features from images", packages=("pillow",))
def images() -> str:
    return page(
        accuracies(),
        f"""Tiles: scikit-learn's two sample photographs cut into squares of {SIDE} x {SIDE} points; the label is the
photograph, or the photograph and the upper, middle or lower third. ms: processor time an image, the slowest set.""",
        imports(),
    )
