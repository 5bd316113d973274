"""Sounds that benchmarks learn from: words spoken by generated voices, and calls made up like those of birds."""

from __future__ import annotations

import io
import shutil
import subprocess
from collections.abc import Callable
from dataclasses import dataclass

import numpy as np
import soundfile

SPEAKER = "espeak-ng"
WORDS = [
    "zero",
    "one",
    "two",
    "three",
    "four",
    "five",
    "six",
    "seven",
    "eight",
    "nine",
    "yes",
    "no",
    "stop",
    "go",
    "left",
    "right",
    "up",
    "down",
    "on",
    "off",
    "cat",
    "dog",
    "bird",
    "tree",
    "house",
    "river",
    "happy",
    "water",
]
VOICES = (
    ("en-gb+f2", 55, 150), ("en-gb+m3", 40, 170), ("en-gb+m7", 30, 140), ("en-us+f4", 60, 165), ("en-us+m1", 45, 185),
    ("en-us+f5", 70, 175), ("en-gb-scotland+m4", 50, 155), ("en-gb-scotland+f1", 65, 145), ("en-gb-x-rp+m5", 35, 160),
    ("en-gb-x-rp+f3", 58, 190), ("en-us-nyc+m2", 42, 150), ("en-us-nyc+klatt3", 50, 165),
)  # fmt: skip
"""espeak-ng's voice with a variant, pitch 0..99, words a minute."""

CALL_RATE = 44_100
CALL_SECONDS = 3.0


@dataclass(frozen=True)
class Clips:
    """Recordings of mono samples, each with its class, and the group (voice, or draw) that is tested together."""

    samples: list[np.ndarray]
    rate: int
    labels: np.ndarray
    groups: np.ndarray


def spoken_words(takes: int = 2) -> Clips | None:
    """Every word by every voice, each take a little higher or lower, faster or slower, at its own loudness; None
    without espeak-ng."""
    if shutil.which(SPEAKER) is None:
        return None
    rng = np.random.default_rng(0)
    samples, labels, groups = [], [], []
    for group, (voice, pitch, speed) in enumerate(VOICES):
        for label, word in enumerate(WORDS):
            for _ in range(takes):
                how = ["-p", str(pitch + rng.integers(-8, 9)), "-s", str(speed + rng.integers(-20, 21))]
                said = subprocess.run(
                    [SPEAKER, "-v", voice, *how, "--stdout", word], capture_output=True, check=True
                )
                spoken, rate = soundfile.read(io.BytesIO(said.stdout))
                quiet = np.zeros(int(rng.uniform(0.02, 0.3) * rate))
                samples.append(np.concatenate([quiet, spoken * rng.uniform(0.1, 1), quiet]))
                labels.append(label)
                groups.append(group)
    return Clips(samples, rate, np.array(labels), np.array(groups))


def with_noise(samples: np.ndarray, decibels: float, rng: np.random.Generator) -> np.ndarray:
    """White, pink or wind-like noise added, this far below the loudest half second of the sound."""
    spectrum = np.fft.rfft(rng.standard_normal(len(samples)))
    frequency = np.maximum(np.arange(len(spectrum)), len(samples) / 2000)
    noise = np.fft.irfft(spectrum * frequency ** -rng.choice([0.0, 0.5, 1.0]), len(samples))
    half = min(len(samples), CALL_RATE // 2)
    energy = np.concatenate([[0.0], np.cumsum(samples**2)])
    power = (energy[half:] - energy[:-half]).max() / half
    return samples + noise * np.sqrt(power / np.mean(noise**2) / 10 ** (decibels / 10))


def bird_calls(each: int, decibels: float | None, seed: int = 0) -> Clips:
    """Calls of ten made-up species, pitch, tempo and place in the clip drawn for each; None is no noise."""
    rng = np.random.default_rng(seed)
    samples, labels = [], []
    for label, species in enumerate(SPECIES.values()):
        for _ in range(each):
            call = species(rng)[: int(CALL_RATE * CALL_SECONDS)]
            clip = np.zeros(int(CALL_RATE * CALL_SECONDS))
            start = rng.integers(0, len(clip) - len(call) + 1)
            clip[start : start + len(call)] = call * rng.uniform(0.05, 0.5)
            samples.append(clip if decibels is None else with_noise(clip, decibels, rng))
            labels.append(label)
    return Clips(samples, CALL_RATE, np.array(labels), np.arange(len(labels)) % 5)


def _note(hertz: np.ndarray | float, seconds: float, overtones: tuple[float, ...] = (1.0,)) -> np.ndarray:
    """A note of these frequencies, one or a course of them, that swells and fades."""
    n = max(8, int(seconds * CALL_RATE))
    course = np.interp(np.linspace(0, 1, n), np.linspace(0, 1, np.size(hertz)), np.atleast_1d(hertz))
    phase = 2 * np.pi * np.cumsum(course) / CALL_RATE
    wave = sum(loud * np.sin((k + 1) * phase) for k, loud in enumerate(overtones))
    return np.asarray(wave * np.sin(np.pi * np.linspace(0, 1, n)) ** 0.5)


def _song(notes: list[np.ndarray], pause: float) -> np.ndarray:
    gap = np.zeros(int(pause * CALL_RATE))
    return np.concatenate([part for note in notes for part in (note, gap)])


def _species() -> dict[str, Callable[[np.random.Generator], np.ndarray]]:
    def pitch(rng: np.random.Generator, middle: float) -> float:
        return float(middle * 2 ** rng.normal(0, 0.12))

    def tempo(rng: np.random.Generator, middle: float) -> float:
        return float(middle * 2 ** rng.normal(0, 0.2))

    def two_tone(rng: np.random.Generator) -> np.ndarray:
        f, d = pitch(rng, 4500), tempo(rng, 0.14)
        return _song([_note(f, d), _note(f * 0.75, d)] * int(rng.integers(2, 5)), 0.04)

    def trill(rng: np.random.Generator) -> np.ndarray:
        f, d = pitch(rng, 4500), tempo(rng, 0.03)
        return _song([_note(np.array([f * 1.1, f * 0.9]), d)] * int(rng.integers(15, 30)), d * 0.6)

    def slow_trill(rng: np.random.Generator) -> np.ndarray:
        f, d = pitch(rng, 4500), tempo(rng, 0.07)
        return _song([_note(np.array([f * 1.1, f * 0.9]), d)] * int(rng.integers(7, 12)), d)

    def rising(rng: np.random.Generator) -> np.ndarray:
        f, d = pitch(rng, 3000), tempo(rng, 0.3)
        return _song([_note(np.array([f, f * 1.7]), d)] * int(rng.integers(1, 4)), 0.2)

    def falling(rng: np.random.Generator) -> np.ndarray:
        f, d = pitch(rng, 3000), tempo(rng, 0.3)
        return _song([_note(np.array([f * 1.7, f]), d)] * int(rng.integers(1, 4)), 0.2)

    def whistle(rng: np.random.Generator) -> np.ndarray:
        return _song([_note(pitch(rng, 3800), tempo(rng, 0.8))] * int(rng.integers(1, 3)), 0.25)

    def thin_whistle(rng: np.random.Generator) -> np.ndarray:
        return _song([_note(pitch(rng, 7500), tempo(rng, 0.5))] * int(rng.integers(1, 4)), 0.2)

    def coo(rng: np.random.Generator) -> np.ndarray:
        f, d = pitch(rng, 550), tempo(rng, 0.35)
        return _song([_note(np.array([f, f * 1.08, f]), d, (1, 0.3, 0.1))] * int(rng.integers(2, 4)), 0.15)

    def caw(rng: np.random.Generator) -> np.ndarray:
        f, d = pitch(rng, 480), tempo(rng, 0.28)
        rough = tuple(np.r_[0.5, 0.8, 1, 0.9, 0.7, 0.5, 0.4, 0.3])
        return _song([_note(np.array([f, f * 1.1, f * 0.9]), d, rough)] * int(rng.integers(1, 5)), 0.15)

    def warble(rng: np.random.Generator) -> np.ndarray:
        f, d = pitch(rng, 3500), tempo(rng, 0.1)
        notes = [_note(f * 2 ** rng.uniform(-0.5, 0.5, 4), d * rng.uniform(0.5, 1.5)) for _ in range(10)]
        return _song(notes, 0.03)

    made = (two_tone, trill, slow_trill, rising, falling, whistle, thin_whistle, coo, caw, warble)
    return {one.__name__.replace("_", " "): one for one in made}


SPECIES = _species()
"""Each gives one call, at most three seconds of it, its loudest sample near 1."""
