"""Describe a segment of sound by 128 numbers: level, variation, change and timing in 32 frequency bands.

The features use the power in 32 bands from 80 Hz to 15 kHz, of equal width on the mel scale (O'Shaughnessy, *Speech
communication*, 1987; triangles as in Davis and Mermelstein, *Comparison of parametric representations*, IEEE TASSP 28,
1980), in decibels every 10 ms. The median of each band over the segment is its noise floor: constant wind or hum, which
carries no information. It is subtracted, and values below it become 0. Power more than 40 dB below the maximum counts
as 40 dB below. Time steps are weighted by their total level above the floor. Each band has four numbers:

level : the mean above the floor;
spread : the standard deviation around it;
change : the mean absolute difference of successive time steps;
course : the covariance with time, measured as the share of all sound that has passed. It shows whether the band is
    early or late in a call or word, wherever that is in the segment.

The first three are vectors of length 1/2 each. The course is divided by twice its bound, the length of the spread over
the root of 12 (Cauchy and Schwarz), so its length is at most 1/2, and near 0 if no band varies. A segment is therefore
a point of length 0.87 to 1 regardless of its loudness, comparable to an image's features
(`plcore.tables.features.matrix`). The features were chosen on spoken words and synthetic calls in noise, in comparison
with the mean of MFCCs (`benchmarks/results/sounds.md`). Frequencies above 15 kHz, such as those of bats, are ignored.
"""

from __future__ import annotations

from functools import lru_cache

import numpy as np
import numpy.typing as npt

from plcore.arrays.types import FloatArray
from plcore.tables.media.sound.decoding import Samples, Sound, Source, opened, power_spectra

LONGEST = 600.0  # seconds: only the first ten minutes of a longer segment are described

_BANDS = 32
_LOWEST, _HIGHEST = 80.0, 15_000.0  # Hz
_WINDOW, _STEP = 0.025, 0.01  # seconds
_RANGE = 1e-4  # 40 dB
_STATISTICS = ("level", "spread", "change", "course")


def _mel(hertz: float) -> float:
    return 2595 * float(np.log10(1 + hertz / 700))


_EDGES: FloatArray = 700 * (10 ** (np.linspace(_mel(_LOWEST), _mel(_HIGHEST), _BANDS + 2) / 2595) - 1)
"""Band edges (bands + 2,) in Hz: band `b` starts at `b`, has its maximum at `b + 1`, and ends at `b + 2`."""

NAMES = tuple(f"{what} {hertz:.0f} Hz" for what in _STATISTICS for hertz in _EDGES[1:-1])
"""Name of each number."""


def describe_sound(
    source: Source | Sound, start: float | None = None, end: float | None = None
) -> npt.NDArray[np.float32]:
    """Describe a segment by (128,) numbers of length 0.87 to 1; zeros if nothing is above the floor. Deterministic.

    `start` and `end` are in seconds, None for the recording's own; only the first `LONGEST` seconds are used. For many
    segments of one file, pass an open `Sound`. Raises SoundError if the segment cannot be decoded.
    """
    with opened(source) as sound:
        first, last = sound.span(start, end)
        return _statistics(_decibels(_band_powers(sound, first, last)))


def _band_powers(sound: Sound, first: int, last: int) -> Samples:
    """Compute the power in each band, (time steps, bands)."""
    rate = sound.facts.rate
    length, hop = _window(rate)
    last = min(last, first + round(LONGEST * rate))
    shares = _band_shares(rate)
    return np.concatenate([powers @ shares for powers in power_spectra(sound, first, last, length, hop)])


def _window(rate: int) -> tuple[int, int]:
    """Return the frames per window, an even number, and the frames from one window to the next."""
    return 2 * max(8, round(_WINDOW / 2 * rate)), max(1, round(_STEP * rate))


@lru_cache(maxsize=16)
def _band_shares(rate: int) -> Samples:
    """Return the weight (frequencies, bands) of each frequency in each band: triangles; 0 above half the rate."""
    length, _ = _window(rate)
    hertz = np.arange(length // 2 + 1) * rate / length
    low, middle, high = _EDGES[:-2], _EDGES[1:-1], _EDGES[2:]
    rise = (hertz[:, None] - low) / (middle - low)
    fall = (high - hertz[:, None]) / (high - middle)
    shares = np.maximum(0, np.minimum(rise, fall))
    narrow = np.flatnonzero(~shares.any(axis=0))  # narrower than the frequency resolution: use the nearest
    shares[np.abs(hertz[:, None] - middle[narrow]).argmin(axis=0), narrow] = 1
    shares[:, middle > rate / 2] = 0
    return shares.astype(np.float32)


def _decibels(powers: Samples) -> FloatArray:
    """Return the level of each band above its own median in dB, (time steps, bands)."""
    loudest = float(powers.max())
    if loudest <= 0:
        return np.zeros(powers.shape)
    levels = 10 * np.log10(powers.astype(np.float64) / loudest + _RANGE)
    above: FloatArray = np.maximum(0, levels - np.median(levels, axis=0))
    return above


def _statistics(above: FloatArray) -> npt.NDArray[np.float32]:
    """Compute level, spread, change and course, each of length 1/2 at most, (4 * bands,)."""
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
