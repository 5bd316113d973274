"""The image descriptor: known answers, and that it recognises digits better than raw pixels."""

from __future__ import annotations

import numpy as np
import pytest
from PIL import Image
from sklearn.datasets import load_digits
from sklearn.model_selection import StratifiedKFold, cross_val_score
from sklearn.neighbors import KNeighborsClassifier

from plcore.tables.media.images import NAMES, describe


def edges(picture: Image.Image) -> np.ndarray:
    """(row, column, direction)."""
    return describe(picture)[:128].reshape(4, 4, 8)


def colours(picture: Image.Image) -> np.ndarray:
    return describe(picture)[128:].reshape(4, 4, 4)


def plain(colour: tuple[int, int, int], size: int = 40) -> Image.Image:
    return Image.new("RGB", (size, size), colour)


def ramp(turns: int) -> Image.Image:
    """Brighter to the right, turned anticlockwise by quarters."""
    return Image.fromarray(np.rot90(np.tile(np.arange(0, 256, 4, dtype=np.uint8), (64, 1)), turns).copy())


@pytest.mark.parametrize(("turns", "arrow"), [(0, "→"), (1, "↑"), (2, "←"), (3, "↓")])
def test_edge_is_in_the_named_direction(turns: int, arrow: str) -> None:
    look = describe(ramp(turns))
    strong = [name for name, value in zip(NAMES, look, strict=True) if name.startswith("edges") and value > 1e-3]
    assert len(strong) == 16
    assert all(f" {arrow} " in name for name in strong)


def test_edge_is_in_its_cell() -> None:
    picture = np.zeros((64, 64), dtype=np.uint8)
    picture[:32, 8:] = 255  # its left edge runs through the first column of cells, in the upper rows
    found = edges(Image.fromarray(picture))[..., 0]
    assert found[0, 0] > 5 * found[0, 2]
    assert found[3, 0] == 0


def test_plain_picture_has_colour_and_no_edge() -> None:
    red = plain((255, 0, 0))
    assert not edges(red).any()
    assert colours(red)[3, 0, 0] == pytest.approx(np.sqrt(0.5))
    assert NAMES[128 + 3 * 16] == "colour red 3 green 0 blue 0"


def test_transparent_parts_are_white_and_other_modes_are_read() -> None:
    clear = Image.new("RGBA", (40, 40), (255, 0, 0, 0))
    np.testing.assert_array_equal(describe(clear), describe(plain((255, 255, 255))))
    grey = Image.fromarray(np.arange(64, dtype=np.uint8).repeat(64).reshape(64, 64) * 4)
    deep = Image.fromarray(np.arange(64, dtype=np.uint16).repeat(64).reshape(64, 64) * 1000)
    np.testing.assert_allclose(describe(deep)[:128], describe(grey)[:128], atol=0.02)
    for mode in ("1", "L", "LA", "P", "CMYK", "F", "I"):
        assert np.linalg.norm(describe(ramp(0).convert(mode))) == pytest.approx(1, abs=1e-6), mode


def test_descriptor_does_not_depend_on_the_brightness_scale() -> None:
    noise = np.random.default_rng(0).integers(0, 120, (50, 70, 3), dtype=np.uint8)
    once, again = describe(Image.fromarray(noise)), describe(Image.fromarray(noise.copy()))
    np.testing.assert_array_equal(once, again)
    np.testing.assert_allclose(describe(Image.fromarray(noise * 2))[:128], once[:128], atol=0.01)
    assert once.dtype == np.float32
    assert once.min() >= 0


def test_neighbours_by_descriptor_share_a_class_more_often_than_by_pixels() -> None:
    digits = load_digits()
    pictures = [Image.fromarray((255 - image * 255 / 16).astype(np.uint8)) for image in digits.images]
    looks = np.array([describe(picture) for picture in pictures])
    folds = StratifiedKFold(5, shuffle=True, random_state=0)
    nearest = KNeighborsClassifier(5)
    by_look = cross_val_score(nearest, looks, digits.target, cv=folds).mean()
    by_pixel = cross_val_score(nearest, digits.data, digits.target, cv=folds).mean()
    assert by_look > by_pixel + 0.003
    assert by_look > 0.99
