"""The demo of bird-like calls: no bird is in it. Every clip is made here, of sines, gates and noise, by seed.

In each, one to three made-up species sing over each other; the one that is loudest is the right label. The shortlist is
that of a made-up detector: it hears loud calls better than quiet ones, confuses similar species, and its highest score
is often wrong.
"""

from __future__ import annotations

import csv
import io
import zipfile
from collections.abc import Callable
from typing import NamedTuple

import numpy as np
import soundfile

from plcore.arrays import FloatArray

FILE = "bird-like-calls.zip"
CLIPS = 300
SECONDS = 2.4
RATE = 16_000
SEED = 19
SHORTLIST = 4
"""Labels with a score in a row, at most."""
_NOISE_DB = -58.0
_STEP = 32
"""Samples are multiples of it: 11 bits, which FLAC packs well."""

_Song = Callable[[np.random.Generator], FloatArray]


class Species(NamedTuple):
    """name, look : the label, and what it looks like on a spectrogram
    sing : makes one phrase, (samples,) in [-1, 1]      gap : seconds between two phrases"""

    name: str
    look: str
    sing: _Song
    gap: float


def _times(seconds: float) -> FloatArray:
    return np.arange(round(seconds * RATE)) / RATE


def _tone(hertz: FloatArray, overtone: float = 0.2) -> FloatArray:
    """A sine of this course of pitch, with its octave where the rate can hold it, softly begun and ended."""
    octave = overtone * (2 * hertz < 0.48 * RATE)
    phase = 2 * np.pi * np.cumsum(hertz) / RATE
    soft = np.minimum(1.0, np.minimum(np.arange(len(hertz)), np.arange(len(hertz))[::-1]) / (0.02 * RATE))
    tone: FloatArray = soft * (np.sin(phase) + octave * np.sin(2 * phase)) / (1 + overtone)
    return tone


def _sweep(begin: float, end: float, seconds: float) -> _Song:
    """A whistle that glides from one pitch to another, in Hz."""

    def sing(rng: np.random.Generator) -> FloatArray:
        times = _times(seconds * rng.uniform(0.85, 1.15))
        return _tone(rng.uniform(0.93, 1.07) * np.linspace(begin, end, len(times)))

    return sing


def _gated(hertz: float, per_second: float, open_share: float, seconds: float) -> _Song:
    """A tone that is cut into this many short ones a second."""

    def sing(rng: np.random.Generator) -> FloatArray:
        times = _times(seconds * rng.uniform(0.85, 1.15))
        beat = (times * per_second * rng.uniform(0.9, 1.1)) % 1.0
        gate = np.where(beat < open_share, np.sin(np.pi * np.minimum(beat / open_share, 1.0)), 0.0)
        return gate * _tone(np.full(len(times), hertz * rng.uniform(0.94, 1.06)))

    return sing


def _wavering(hertz: float, depth: float, per_second: float, seconds: float) -> _Song:
    """A tone whose pitch goes up and down by `depth` Hz, this many times a second."""

    def sing(rng: np.random.Generator) -> FloatArray:
        times = _times(seconds * rng.uniform(0.85, 1.15))
        wave = np.sin(2 * np.pi * per_second * rng.uniform(0.9, 1.1) * times + rng.uniform(0, 2 * np.pi))
        return _tone(hertz * rng.uniform(0.95, 1.05) + depth * wave, overtone=0.1)

    return sing


def _two_notes(first: float, second: float) -> _Song:
    """One note, then another, twice."""

    def sing(rng: np.random.Generator) -> FloatArray:
        pitch, rest = rng.uniform(0.95, 1.05), np.zeros(round(0.05 * RATE))
        notes = [
            _tone(np.full(round(length * RATE), pitch * hertz)) for hertz, length in ((first, 0.15), (second, 0.2))
        ]
        return np.concatenate([notes[0], rest, notes[1], rest] * 2)

    return sing


SPECIES = (
    Species("rising piper", "a line that climbs from 2 to 4 kHz", _sweep(2_000, 4_200, 0.5), 0.3),
    Species("falling piper", "a line that falls from 5 to 2.5 kHz", _sweep(5_000, 2_500, 0.5), 0.3),
    Species("rattle wren", "a fence of many thin posts at 4.5 kHz", _gated(4_500, 24.0, 0.5, 0.9), 0.4),
    Species("slow ticker", "a few short posts at 6 kHz, five a second", _gated(6_000, 5.0, 0.18, 1.2), 0.1),
    Species("two-note tit", "steps: a higher note, then a lower one, twice", _two_notes(3_800, 2_900), 0.4),
    Species("warble thrush", "a snake round 2.5 kHz", _wavering(2_500, 500, 8.0, 0.9), 0.3),
    Species("reed buzzer", "a broad band at 5.5 kHz", _wavering(5_500, 600, 70.0, 0.6), 0.5),
    Species("low hooter", "a flat line at the bottom, below 1 kHz", _sweep(650, 560, 0.7), 0.4),
)
NAMES = tuple(one.name for one in SPECIES)
_LOOKALIKES = {0: 5, 1: 4, 2: 3, 3: 2, 4: 1, 5: 0, 6: 2, 7: 5}
"""Label that the detector confuses each with."""


class Clip(NamedTuple):
    """samples : (n,) int16      truth : number of the loudest species
    shortlist : numbers of species with their scores, best first"""

    samples: np.ndarray
    truth: int
    shortlist: list[tuple[int, float]]


def make_clip(rng: np.random.Generator) -> Clip:
    """One clip: the singers, their loudness, and the detector's output."""
    singers = rng.permutation(len(SPECIES))[: rng.choice([1, 2, 3], p=[0.15, 0.45, 0.4])]
    loud = np.array([0.0, -8.0, -12.0])[: len(singers)] - rng.uniform(0, 3, len(singers)) * (
        np.arange(len(singers)) > 0
    )
    sound = 10 ** (_NOISE_DB / 20) * rng.standard_normal(round(SECONDS * RATE))
    level = rng.uniform(-14.0, -6.0)
    for singer, decibels in zip(singers.tolist(), loud.tolist(), strict=True):
        sound += 10 ** ((level + decibels) / 20) * _course(SPECIES[singer], rng)
    samples = (np.clip(sound, -1, 1) * 32_767 / _STEP).round().clip(-1_023, 1_023).astype(np.int16) * _STEP
    return Clip(samples, int(singers[0]), _detect(singers, loud, rng))


def _course(species: Species, rng: np.random.Generator) -> FloatArray:
    """The phrases of one singer over the length of a clip."""
    whole = np.zeros(round(SECONDS * RATE))
    begin = round(rng.uniform(0.0, 0.5) * RATE)
    while begin < len(whole) - 0.2 * RATE:
        phrase = species.sing(rng)[: len(whole) - begin]
        whole[begin : begin + len(phrase)] += phrase
        begin += len(phrase) + round(species.gap * rng.uniform(0.7, 1.5) * RATE)
    return whole


def _detect(singers: np.ndarray, loud: FloatArray, rng: np.random.Generator) -> list[tuple[int, float]]:
    """Return the detector's scores: the singers, by loudness, and what it takes the loudest for; noise decides close
    ones. The loudest is always listed, because an import accepts no true label outside the candidates."""
    heard = np.full(len(SPECIES), -np.inf)
    heard[singers] = loud / 6.0 + rng.normal(0.0, 1.1, len(singers))
    false = _LOOKALIKES[int(singers[0])]
    heard[false] = max(heard[false], rng.normal(-0.6, 0.9))
    scores = np.exp(heard - heard.max())
    scores /= scores.sum()
    best = np.argsort(-scores, kind="stable")[:SHORTLIST]
    return [(int(one), round(float(scores[one]), 3)) for one in best if scores[one] >= 0.03 or one == singers[0]]


def make_file(on_step: Callable[[float], None] = lambda _share: None) -> bytes:
    """The zip someone could have uploaded: a table, and a FLAC for each of its rows.

    on_step : called now and then with the share that is made, in [0, 1]
    """
    rng = np.random.default_rng(SEED)
    table, packed = io.StringIO(), io.BytesIO()
    lines = csv.writer(table, lineterminator="\n")
    pairs = [f"{word}{place}" for place in range(1, SHORTLIST + 1) for word in ("label", "score")]
    lines.writerow(["id", "recording", *pairs, "true_label"])
    with zipfile.ZipFile(packed, "w", zipfile.ZIP_STORED) as file:
        for number in range(CLIPS):
            clip = make_clip(rng)
            name = f"clips/{number:03}.flac"
            file.writestr(zipfile.ZipInfo(name), _flac(clip.samples))
            said = [cell for one, score in clip.shortlist for cell in (NAMES[one], score)]
            lines.writerow([f"clip-{number:03}", name, *said, *[""] * (2 * SHORTLIST - len(said)), NAMES[clip.truth]])
            if number % 10 == 0:
                on_step(number / CLIPS)
        file.writestr(zipfile.ZipInfo("calls.csv"), table.getvalue())
    return packed.getvalue()


def _flac(samples: np.ndarray) -> bytes:
    out = io.BytesIO()
    soundfile.write(out, samples, RATE, format="FLAC", subtype="PCM_16")
    return out.getvalue()
