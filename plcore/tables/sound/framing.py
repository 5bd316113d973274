"""The power spectra of short windows, one after another: what pictures and descriptions of sound are made of."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np

from plcore.tables.sound.decoding import Samples, Sound


def power_spectra(sound: Sound, first: int, last: int, length: int, hop: int) -> Iterator[Samples]:
    """|STFT|^2 of the frames [first, last), in batches (windows, length // 2 + 1); window `i` is centred at `i * hop`.

    `length` is even, `hop` at most that. Each window is weighted by a Hann window of sum 1, so that a tone of
    amplitude 1 has 1/4 at its frequency. Beyond the ends there is silence. One piece of the sound is held at a time.
    """
    from scipy import fft

    weights = np.hanning(length + 1)[:-1]
    weights = (weights / weights.sum()).astype(np.float32)
    held = np.zeros(length // 2, dtype=np.float32)
    for piece in _with_silence(sound.pieces(first, last), length // 2):
        held = np.concatenate([held, piece])
        count = max(0, (len(held) - length) // hop + 1)
        if count:
            windows = np.lib.stride_tricks.sliding_window_view(held, length)[: count * hop : hop]
            spectra = fft.rfft(windows * weights, axis=1)
            yield spectra.real**2 + spectra.imag**2
            held = held[count * hop :]


def _with_silence(pieces: Iterator[Samples], after: int) -> Iterator[Samples]:
    yield from pieces
    yield np.zeros(after, dtype=np.float32)
