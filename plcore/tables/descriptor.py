"""What an image looks like, as 192 numbers: where which edges run, and which colours it has.

Two halves, each of length sqrt(1/2), so that an image is a point of length 1 and two images are at most
sqrt(2) apart:

edges : gradient orientations (Dalal and Triggs, *Histograms of oriented gradients for human detection*, CVPR
    2005) of the grey image at 32 x 32 points: 4 x 4 cells of 8 directions over the full circle, weighted by
    the gradient's length, shared linearly among neighbouring cells and directions;
colours : the shares of 4 x 4 x 4 boxes of the RGB cube.

Of both the square roots are taken: the Euclidean distance of such points is the Hellinger distance of the
histograms, which one strong edge or one large background does not rule. Against thumbnails of pixels it was
better on images of all kinds tried (`benchmarks/results/images.md`).
"""

from __future__ import annotations

import numpy as np
import numpy.typing as npt
from PIL import Image

from plcore.common.types import FloatArray
from plcore.tables.image_reading import small_rgb

_SIDE = 32  # points a side of the image that is looked at, whatever its own size and shape
_CELLS = 4
_DIRECTIONS = 8
_LEVELS = 4
_ARROWS = "→↗↑↖←↙↓↘"  # towards where it gets brighter

NAMES = tuple(
    [
        f"edges {arrow} row {row + 1} column {column + 1}"
        for row in range(_CELLS)
        for column in range(_CELLS)
        for arrow in _ARROWS
    ]
    + [
        f"colour red {red} green {green} blue {blue}"
        for red in range(_LEVELS)
        for green in range(_LEVELS)
        for blue in range(_LEVELS)
    ]
)
"""One name for each number."""


def describe(image: Image.Image) -> npt.NDArray[np.float32]:
    """(192,) in [0, 1], length 1 (shorter where the image has no edge at all). The same image, the same numbers.

    Transparent parts count as white; the first frame stands for an animation. Single precision: it is kept with
    the table, and never computed again.
    """
    small = small_rgb(image, (_SIDE, _SIDE))
    edges = _edges(np.asarray(small.convert("L"), dtype=np.float64))
    colours = _colours(np.asarray(small))
    return np.concatenate([edges, colours]).astype(np.float32) * np.float32(np.sqrt(0.5))


def _cell_shares() -> FloatArray:
    """(cells, side) how much of each line of points goes to each cell: linear between the cells' centres."""
    places = (np.arange(_SIDE) + 0.5) * _CELLS / _SIDE - 0.5
    shares: FloatArray = np.maximum(0.0, 1.0 - np.abs(places - np.arange(_CELLS)[:, None]))
    return shares


_SHARES = _cell_shares()


def _edges(grey: FloatArray) -> FloatArray:
    """(cells * cells * directions,) of length 1; zeros where nothing changes."""
    down, right = np.gradient(grey)
    strength = np.hypot(down, right)
    angle = np.arctan2(-down, right) % (2 * np.pi) * (_DIRECTIONS / (2 * np.pi))
    lower = np.floor(angle)
    upper_share = angle - lower
    first = lower.astype(np.intp) % _DIRECTIONS
    planes = np.zeros((_DIRECTIONS, _SIDE, _SIDE))
    rows, columns = np.indices(grey.shape)
    planes[first, rows, columns] = strength * (1 - upper_share)
    planes[(first + 1) % _DIRECTIONS, rows, columns] += strength * upper_share
    cells = np.einsum("ar,drc,bc->abd", _SHARES, planes, _SHARES).ravel()
    total = float(cells.sum())
    shares: FloatArray = cells / total if total > 0 else cells
    return np.sqrt(shares)


def _colours(rgb: npt.NDArray[np.uint8]) -> FloatArray:
    """(levels ** 3,) of length 1."""
    levels = rgb.astype(np.intp) * _LEVELS // 256
    box = (levels[..., 0] * _LEVELS + levels[..., 1]) * _LEVELS + levels[..., 2]
    return np.sqrt(np.bincount(box.ravel(), minlength=_LEVELS**3) / box.size)
