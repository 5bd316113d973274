"""Texture at a second scale, tried beside the image descriptor and not adopted; for `benchmarks.images`."""

from __future__ import annotations

import numpy as np
from PIL import Image

from plcore.common.types import FloatArray
from plcore.tables.descriptor import describe
from plcore.tables.image_reading import small_rgb

_FINE, _COARSE = 64, 32
_RING = ((0, 0), (0, 1), (0, 2), (1, 2), (2, 2), (2, 1), (2, 0), (1, 0))  # the eight neighbours in order
_LEAST = 3  # of 255: a difference in brightness that is no noise


def with_texture(image: Image.Image) -> FloatArray:
    """(212,) the look with a fifth of its weight given to uniform local binary patterns (Ojala, Pietikäinen and
    Mäenpää, PAMI 24, 2002) of the grey image at 64 and at 32 points a side."""
    patterns = [_patterns(_grey(image, side)) for side in (_FINE, _COARSE)]
    return _joined((0.8, describe(image)), *((0.1, one) for one in patterns))


def with_fine_edges(image: Image.Image) -> FloatArray:
    """(320,) half of the weight of the edges given to edges of the same 4 x 4 cells at 64 points a side."""
    look = describe(image)
    fine = _edges(_grey(image, _FINE))
    return _joined((0.5, np.sqrt(2) * look[:128]), (0.5, np.sqrt(2) * look[128:]), (0.5, fine))


def _joined(*parts: tuple[float, FloatArray]) -> FloatArray:
    return np.concatenate([np.sqrt(weight) * part for weight, part in parts])


def _grey(image: Image.Image, side: int) -> FloatArray:
    return np.asarray(small_rgb(image, (side, side)).convert("L"), dtype=np.float64)


def _patterns(grey: FloatArray) -> FloatArray:
    """(10,) the root of the shares: how many neighbours are brighter, where they lie together; and all other points."""
    rows, columns = (side - 2 for side in grey.shape)
    around = [grey[top : top + rows, left : left + columns] for top, left in _RING]
    brighter = np.stack([one > grey[1:-1, 1:-1] + _LEAST for one in around])
    together = (brighter != np.roll(brighter, 1, axis=0)).sum(axis=0) <= 2
    codes = np.where(together, brighter.sum(axis=0), 9)
    shares: FloatArray = np.sqrt(np.bincount(codes.ravel(), minlength=10) / codes.size)
    return shares


def _edges(grey: FloatArray, cells: int = 4, directions: int = 8) -> FloatArray:
    """(128,) as `plcore.tables.descriptor` has them, for an image of any size."""
    down, right = np.gradient(grey)
    strength = np.hypot(down, right)
    angle = np.arctan2(-down, right) % (2 * np.pi) * (directions / (2 * np.pi))
    first, upper = np.floor(angle).astype(int) % directions, angle % 1
    rows, columns = np.indices(grey.shape)
    planes = np.zeros((directions, *grey.shape))
    planes[first, rows, columns] = strength * (1 - upper)
    planes[(first + 1) % directions, rows, columns] += strength * upper
    places = (np.arange(len(grey)) + 0.5) * cells / len(grey) - 0.5
    shares = np.maximum(0.0, 1.0 - np.abs(places - np.arange(cells)[:, None]))
    found = np.einsum("ar,drc,bc->abd", shares, planes, shares).ravel()
    return np.sqrt(found / max(float(found.sum()), 1e-300))
