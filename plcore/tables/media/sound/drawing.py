"""Draw a spectrogram of a segment: frequency upwards, time to the right, louder is brighter.

It is grey; the page adds colour. Windows have 20 ms. The grey range is from the noise floor to the loudest part. In
longer spans, each column shows the maximum of its windows, so that clicks stay visible. If a column has more than 16
windows, from four and a half minutes on, only the first 16 are computed, so that an hour takes no longer.
"""

from __future__ import annotations

import io
from dataclasses import dataclass
from typing import Literal

import numpy as np
import numpy.typing as npt
from PIL import Image

from plcore.arrays.checks import check_choice, check_int
from plcore.arrays.types import FloatArray
from plcore.tables.media.sound.decoding import Samples, Sound, Source, opened, power_spectra

Scale = Literal["linear", "log"]
SCALES = ("linear", "log")
MAX_POINTS = 2**21

_WINDOW = 1024 / 48_000  # seconds
_MOST_WINDOWS = 16  # computed per column
_LOWEST = 50.0  # Hz, lower end of the logarithmic scale
_QUIET, _LOUD = 20, 99.8  # percentiles of all pixels
_LEAST_RANGE, _MOST_RANGE = 40.0, 80.0  # dB: neither noise alone nor digital silence is stretched


@dataclass(frozen=True)
class Picture:
    """A spectrogram.

    Attributes
    ----------
    grey : uint8 (height, width), 0 quiet to 255 loud; row 0 is the highest frequency
    t0, t1 : seconds of the recording at its left and right edge
    f0, f1 : Hz at its lower and upper edge
    start, end : the segment in it, in seconds of the recording
    scale : `linear` or `log`, frequency scale between `f0` and `f1`
    """

    grey: npt.NDArray[np.uint8]
    t0: float
    t1: float
    f0: float
    f1: float
    start: float
    end: float
    scale: Scale


def spectrogram(
    source: Source | Sound,
    start: float | None = None,
    end: float | None = None,
    *,
    scale: Scale = "linear",
    around: float = 2.0,
    width: int = 800,
    height: int = 256,
    highest: float | None = 12_000.0,
) -> Picture:
    """Draw the segment from `start` to `end` seconds (None: the recording's own) with `around` seconds on either side.

    The upper edge is at `highest` Hz, or at half the rate if that is less or `highest` is None. The image has fewer
    than `width` columns if the span has fewer frames. Deterministic. Raises SoundError if the segment cannot be
    decoded, ValueError if scale, size or frequency is out of range.
    """
    check_choice("scale", scale, SCALES)
    check_int("width", width, 1)
    check_int("height", height, 1)
    if width * height > MAX_POINTS:
        raise ValueError(
            f"a picture has at most {MAX_POINTS:,} points; got {width} x {height}. Fix: 800 x 256 is plenty."
        )
    if not around >= 0:
        raise ValueError(
            f"around must be at least 0 seconds; got {around}. Fix: 2 shows two seconds more on each side."
        )
    with opened(source) as sound:
        facts = sound.facts
        first, last = sound.span(start, end)
        before = max(0, first - round(min(around, facts.seconds) * facts.rate))
        after = min(facts.frames, last + round(min(around, facts.seconds) * facts.rate))
        f1 = facts.rate / 2 if highest is None else min(highest, facts.rate / 2)
        if not f1 > 0:
            raise ValueError(f"highest must be more than 0 Hz; got {highest}. Fix: 12,000 suits most birds.")
        f0 = min(_LOWEST, f1 / 8) if scale == "log" else 0.0
        length = 2 ** max(4, round(np.log2(_WINDOW * facts.rate)))
        powers = _columns(sound, before, after, min(width, after - before), length)
    shares = _row_shares(facts.rate / length, length // 2 + 1, f0, f1, height, scale)
    seconds = [place / facts.rate for place in (before, after, first, last)]
    return Picture(_grey(shares @ powers.T), seconds[0], seconds[1], f0, f1, seconds[2], seconds[3], scale)


def to_png(picture: Picture) -> bytes:
    """Encode the image as a grey PNG."""
    file = io.BytesIO()
    Image.fromarray(picture.grey).save(file, "PNG", compress_level=3)
    return file.getvalue()


def _columns(sound: Sound, first: int, last: int, width: int, length: int) -> Samples:
    """Return the maximum over the windows of each column at each frequency, (width, length // 2 + 1)."""
    each = (last - first) / width
    powers = np.zeros((width, length // 2 + 1), dtype=np.float32)
    if each > _MOST_WINDOWS * length:
        for column in range(width):
            begin = first + int(column * each)
            for batch in power_spectra(sound, begin, begin + _MOST_WINDOWS * length, length, length):
                np.maximum(powers[column], batch.max(axis=0), out=powers[column])
        return powers
    hop = max(1, min(int(each), length // 2))
    seen = 0
    for batch in power_spectra(sound, first, last, length, hop):
        places = np.minimum((np.arange(seen, seen + len(batch)) * hop / each).astype(np.intp), width - 1)
        begins = np.flatnonzero(np.diff(places, prepend=-1))
        columns = places[begins]
        powers[columns] = np.maximum(powers[columns], np.maximum.reduceat(batch, begins, axis=0))
        seen += len(batch)
    return powers


def _row_shares(step: float, count: int, f0: float, f1: float, height: int, scale: Scale) -> Samples:
    """Return the weight (height, count) of each frequency in each row, highest first: triangles with sum 1."""
    if scale == "log":
        edges = np.geomspace(f1, f0, height + 1)
        middles = np.sqrt(edges[:-1] * edges[1:])
    else:
        edges = np.linspace(f1, f0, height + 1)
        middles = (edges[:-1] + edges[1:]) / 2
    reach = np.maximum(edges[:-1] - edges[1:], step)
    shares = np.maximum(0, 1 - np.abs(np.arange(count) * step - middles[:, None]) / reach[:, None])
    total = shares.sum(axis=1, keepdims=True)
    part: Samples = (shares / np.where(total > 0, total, 1)).astype(np.float32)
    return part


def _grey(powers: Samples) -> npt.NDArray[np.uint8]:
    """Scale decibels between the noise floor and the maximum to 0 to 255."""
    loudest = float(powers.max())
    if loudest <= 0:
        return np.zeros(powers.shape, dtype=np.uint8)
    levels = 10 * np.log10(powers / loudest + np.float32(1e-12))
    quiet, top = np.percentile(levels, [_QUIET, _LOUD])
    quiet = np.clip(quiet, top - _MOST_RANGE, top - _LEAST_RANGE)
    shades: FloatArray = np.clip((levels - quiet) / (top - quiet), 0, 1)
    return np.rint(255 * shades).astype(np.uint8)
