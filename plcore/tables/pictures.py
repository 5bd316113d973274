"""Several images of one row: as a cell names them, and what they look like together."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import numpy.typing as npt

from plcore.tables.descriptor import NAMES

Look = npt.NDArray[np.float32]  # (192,), see plcore.tables.descriptor


def listed_images(cell: str) -> list[str]:
    """The images that a cell holds or names: one, or several with a `|` between them; none of an empty cell."""
    return [part for part in map(str.strip, cell.split("|")) if part]


def is_inline(image: str) -> bool:
    """Whether the cell holds this image itself, as a data URL, and does not name its file."""
    return image.startswith("data:")


def mean_look(looks: Sequence[Look]) -> Look:
    """What the images of a row look like together: the mean of their histograms, of which a look is the root. So it
    has the length that the look of one image has. NaN where there is none."""
    if len(looks) == 1:
        return looks[0]
    if not looks:
        return np.full(len(NAMES), np.nan, dtype=np.float32)
    mean: Look = np.sqrt(np.mean(np.square(looks, dtype=np.float64), axis=0)).astype(np.float32)
    return mean
