"""Describe a segment of sound as 128 numbers: how loud, varied, quick and when each of 32 bands of pitch is.

The power in 32 bands from 80 Hz to 15 kHz, of equal width on the mel scale (O'Shaughnessy, *Speech communication*,
1987; triangles as of Davis and Mermelstein, *Comparison of parametric representations*, IEEE TASSP 28, 1980), in
decibels every 10 ms. From each band its own median over the segment is removed and what lies below left out: what
is always there, wind or a recorder's hum, is the noise floor, and tells nothing. What lies 40 dB below the
loudest counts as that. Moments weigh by what they have above the floor. Of each band four numbers:

level : the mean above the floor;
spread : the standard deviation around it;
change : the mean size of the step from one moment to the next;
course : the covariance with the time that has passed, told by the share of all sound that is over: whether the band
    comes early or late, wherever in the segment the call or word is.

Each of the first three is a vector of length 1/2; the course is divided by twice its bound, the length of the spread
over the root of 12 (Cauchy and Schwarz), so that it is no longer than that and near 0 if no band moves. So a segment
is a point of a length between 0.87 and 1, whatever its loudness, next to other features as an image's look is
(`plcore.tables.features.matrix`). Chosen on spoken words and made-up calls in noise, next to the mean of MFCCs
(`benchmarks/results/sounds.md`). Pitches above 15 kHz, as of bats, are not heard.
"""

from __future__ import annotations

from functools import lru_cache

import numpy as np
import numpy.typing as npt

from plcore.arrays.types import FloatArray
from plcore.tables.media.sound.decoding import Samples, Sound, Source, opened, power_spectra

LONGEST = 600.0  # seconds: of a longer segment the first ten minutes are described

_BANDS = 32
_LOWEST, _HIGHEST = 80.0, 15_000.0  # Hz
_WINDOW, _STEP = 0.025, 0.01  # seconds
_RANGE = 1e-4  # 40 dB
_STATISTICS = ("level", "spread", "change", "course")


def _mel(hertz: float) -> float:
    return 2595 * float(np.log10(1 + hertz / 700))


_EDGES: FloatArray = 700 * (10 ** (np.linspace(_mel(_LOWEST), _mel(_HIGHEST), _BANDS + 2) / 2595) - 1)
"""(bands + 2,) Hz: band `b` begins at `b`, is heard best at `b + 1`, and ends at `b + 2`."""

NAMES = tuple(f"{what} {hertz:.0f} Hz" for what in _STATISTICS for hertz in _EDGES[1:-1])
"""One name for each number."""


def describe_sound(
    source: Source | Sound, start: float | None = None, end: float | None = None
) -> npt.NDArray[np.float32]:
    """(128,) of length 0.87 to 1, zeros if nothing rises above the floor. The same sound, the same numbers.

    `start` and `end` in seconds, None the recording's own; of more than `LONGEST` seconds the first are taken. For many
    segments of one file give an open `Sound`. Raises SoundError where the segment cannot be decoded.
    """
    with opened(source) as sound:
        first, last = sound.span(start, end)
        return _statistics(_decibels(_band_powers(sound, first, last)))


def _band_powers(sound: Sound, first: int, last: int) -> Samples:
    """(moments, bands)."""
    rate = sound.facts.rate
    length, hop = _window(rate)
    last = min(last, first + round(LONGEST * rate))
    shares = _band_shares(rate)
    return np.concatenate([powers @ shares for powers in power_spectra(sound, first, last, length, hop)])


def _window(rate: int) -> tuple[int, int]:
    """Frames in a window, an even number, and from one to the next."""
    return 2 * max(8, round(_WINDOW / 2 * rate)), max(1, round(_STEP * rate))


@lru_cache(maxsize=16)
def _band_shares(rate: int) -> Samples:
    """(frequencies, bands) how much of each frequency a band hears: triangles; nothing above half the rate."""
    length, _ = _window(rate)
    hertz = np.arange(length // 2 + 1) * rate / length
    low, middle, high = _EDGES[:-2], _EDGES[1:-1], _EDGES[2:]
    rise = (hertz[:, None] - low) / (middle - low)
    fall = (high - hertz[:, None]) / (high - middle)
    shares = np.maximum(0, np.minimum(rise, fall))
    narrow = np.flatnonzero(~shares.any(axis=0))  # between two frequencies: the nearest
    shares[np.abs(hertz[:, None] - middle[narrow]).argmin(axis=0), narrow] = 1
    shares[:, middle > rate / 2] = 0
    return shares.astype(np.float32)


def _decibels(powers: Samples) -> FloatArray:
    """(moments, bands) of how far each band is above its own median at each moment, in dB."""
    loudest = float(powers.max())
    if loudest <= 0:
        return np.zeros(powers.shape)
    levels = 10 * np.log10(powers.astype(np.float64) / loudest + _RANGE)
    above: FloatArray = np.maximum(0, levels - np.median(levels, axis=0))
    return above


def _statistics(above: FloatArray) -> npt.NDArray[np.float32]:
    """(4 * bands,): level, spread, change and course, each of length 1/2 at most."""
    loud = above.sum(axis=1)
    if not loud.any():
        return np.zeros(len(NAMES), dtype=np.float32)
    weights = loud / loud.sum()
    level = weights @ above
    spread = np.sqrt(weights @ (above - level) ** 2)
    change = np.abs(np.diff(above, axis=0)).sum(axis=0)
    over = np.cumsum(weights) - weights / 2 - 0.5
    course = (weights * over) @ above * np.sqrt(3) / max(float(np.linalg.norm(spread)), 1e-9)
    return np.concatenate([_half(level), _half(spread), _half(change), course]).astype(np.float32)


def _half(vector: FloatArray) -> FloatArray:
    size = float(np.linalg.norm(vector))
    return vector / (2 * size) if size > 1e-9 else np.zeros_like(vector)
