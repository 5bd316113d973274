"""Features from sound (`plcore.tables.media.sound.descriptor`) against a mean of MFCCs; and an hour of sound in a file.

The training sounds are words spoken by synthetic voices, and artificial bird-like calls in noise.
"""

from __future__ import annotations

import io
import shutil
import subprocess
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import soundfile
from scipy import fft
from sklearn.model_selection import GroupKFold
from sklearn.neighbors import KNeighborsClassifier

from benchmarks import homes
from benchmarks.harness import Table, benchmark, clocked, folder, in_process, page, sized
from benchmarks.processes import peak
from plcore import PLKernelRidge, PLKNeighborsClassifier
from plcore.evaluation import contaminate
from plcore.tables.media.sound import Sound, describe_sound, spectrogram, to_png
from plcore.tables.media.sound.descriptor import _band_powers
from workflow import importing

SPEAKER = "espeak-ng"
WORDS = (
    "zero", "one", "two", "three", "four", "five", "six", "seven", "eight", "nine", "yes", "no", "stop", "go", "left",
    "right", "up", "down", "on", "off", "cat", "dog", "bird", "tree", "house", "river", "happy", "water",
)  # fmt: skip
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
    """Return every word by every voice, with small changes of pitch, tempo and loudness in each take; None without
    espeak-ng."""
    if shutil.which(SPEAKER) is None:
        return None
    rng = np.random.default_rng(0)
    samples, labels, groups = [], [], []
    for group, (voice, pitch, speed) in enumerate(VOICES):
        for label, word in enumerate(WORDS):
            for _ in range(takes):
                how = ["-p", str(pitch + rng.integers(-8, 9)), "-s", str(speed + rng.integers(-20, 21))]
                said = subprocess.run([SPEAKER, "-v", voice, *how, "--stdout", word], capture_output=True, check=True)
                spoken, rate = soundfile.read(io.BytesIO(said.stdout))
                quiet = np.zeros(int(rng.uniform(0.02, 0.3) * rate))
                samples.append(np.concatenate([quiet, spoken * rng.uniform(0.1, 1), quiet]))
                labels.append(label)
                groups.append(group)
    return Clips(samples, rate, np.array(labels), np.array(groups))


def with_noise(samples: np.ndarray, decibels: float, rng: np.random.Generator) -> np.ndarray:
    """Add white, pink or wind-like noise, this far below the loudest half second of the sound."""
    spectrum = np.fft.rfft(rng.standard_normal(len(samples)))
    frequency = np.maximum(np.arange(len(spectrum)), len(samples) / 2000)
    noise = np.fft.irfft(spectrum * frequency ** -rng.choice([0.0, 0.5, 1.0]), len(samples))
    half = min(len(samples), CALL_RATE // 2)
    energy = np.concatenate([[0.0], np.cumsum(samples**2)])
    power = (energy[half:] - energy[:-half]).max() / half
    return samples + noise * np.sqrt(power / np.mean(noise**2) / 10 ** (decibels / 10))


def bird_calls(each: int, decibels: float | None, seed: int = 0) -> Clips:
    """Return calls of ten invented species, with pitch, tempo and position drawn for each; None means no noise."""
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
    """Return a note of these frequencies, one or a course of them, that swells and fades."""
    n = max(8, int(seconds * CALL_RATE))
    course = np.interp(np.linspace(0, 1, n), np.linspace(0, 1, np.size(hertz)), np.atleast_1d(hertz))
    phase = 2 * np.pi * np.cumsum(course) / CALL_RATE
    wave = sum(loud * np.sin((k + 1) * phase) for k, loud in enumerate(overtones))
    return np.asarray(wave * np.sin(np.pi * np.linspace(0, 1, n)) ** 0.5)


def _song(notes: list[np.ndarray], pause: float) -> np.ndarray:
    gap = np.zeros(int(pause * CALL_RATE))
    return np.concatenate([part for note in notes for part in (note, gap)])


@dataclass(frozen=True)
class Species:
    """A repeated phrase. phrase : the courses of its notes, as multiples of the pitch in Hz

    seconds : of a note      times : of the phrase, from and below      pause : seconds      rest : times a note
    """

    pitch: float
    seconds: float
    phrase: tuple[tuple[float, ...], ...]
    times: tuple[int, int]
    pause: float = 0.0
    rest: float = 0.0
    overtones: tuple[float, ...] = (1.0,)

    def __call__(self, rng: np.random.Generator) -> np.ndarray:
        f, d = self.pitch * 2 ** rng.normal(0, 0.12), self.seconds * 2 ** rng.normal(0, 0.2)
        notes = [_note(f * np.array(course), d, self.overtones) for course in self.phrase]
        return _song(notes * int(rng.integers(*self.times)), self.pause + self.rest * d)


def _warble(rng: np.random.Generator) -> np.ndarray:
    f, d = 3500 * 2 ** rng.normal(0, 0.12), 0.1 * 2 ** rng.normal(0, 0.2)
    notes = [_note(f * 2 ** rng.uniform(-0.5, 0.5, 4), d * rng.uniform(0.5, 1.5)) for _ in range(10)]
    return _song(notes, 0.03)


SPECIES: dict[str, Callable[[np.random.Generator], np.ndarray]] = {
    "two tone": Species(4500, 0.14, ((1.0,), (0.75,)), (2, 5), 0.04),
    "trill": Species(4500, 0.03, ((1.1, 0.9),), (15, 30), rest=0.6),
    "slow trill": Species(4500, 0.07, ((1.1, 0.9),), (7, 12), rest=1.0),
    "rising": Species(3000, 0.3, ((1.0, 1.7),), (1, 4), 0.2),
    "falling": Species(3000, 0.3, ((1.7, 1.0),), (1, 4), 0.2),
    "whistle": Species(3800, 0.8, ((1.0,),), (1, 3), 0.25),
    "thin whistle": Species(7500, 0.5, ((1.0,),), (1, 4), 0.2),
    "coo": Species(550, 0.35, ((1.0, 1.08, 1.0),), (2, 4), 0.15, overtones=(1, 0.3, 0.1)),
    "caw": Species(480, 0.28, ((1.0, 1.1, 0.9),), (1, 5), 0.15, overtones=(0.5, 0.8, 1, 0.9, 0.7, 0.5, 0.4, 0.3)),
    "warble": _warble,
}
"""Return one call of each, at most three seconds, its loudest sample near 1."""

DISTRACTORS = 2
CALLS = sized(30, tiny=5)  # of each species
LEARNERS: dict[str, Any] = {
    "5-NN, true labels": lambda: KNeighborsClassifier(5),
    "PL-KNN": PLKNeighborsClassifier,
    "PLKernelRidge": PLKernelRidge,
}


def mean_mfcc(file: io.BytesIO) -> np.ndarray:
    """Compute the plain baseline: cosine transform of the log-mel powers, averaged over time; coefficients 1 to 13."""
    with Sound(file) as sound:
        powers = _band_powers(sound, 0, sound.facts.frames).astype(np.float64)
    return fft.dct(np.log(powers + 1e-8 * powers.max()), axis=1, norm="ortho").mean(axis=0)[1:14]


WAYS: dict[str, Any] = {
    "mean of 13 MFCCs": mean_mfcc,
    "level alone": lambda file: describe_sound(file)[:32],
    "level, spread, change": lambda file: describe_sound(file)[:96],
    "**all: with course**": describe_sound,
}


def score(learner: Any, X: np.ndarray, clips: Clips) -> float:
    rng, right = np.random.default_rng(0), []
    for train, test in GroupKFold(4).split(X, clips.labels, clips.groups):
        given = clips.labels[train]
        if not isinstance(learner, KNeighborsClassifier):
            given = contaminate(given, "size", r=DISTRACTORS, random_state=rng, classes=np.unique(clips.labels))
        right.append(np.mean(learner.fit(X[train], given).predict(X[test]) == clips.labels[test]))
    return float(np.mean(right))


def as_files(clips: Clips) -> list[io.BytesIO]:
    files = []
    for samples in clips.samples:
        file, loudest = io.BytesIO(), max(1, np.abs(samples).max())
        soundfile.write(file, samples / loudest, clips.rate, format="WAV", subtype="PCM_16")
        files.append(file)
    return files


@benchmark("Features from sound", packages=("soundfile",))
def sounds() -> str:
    sets = {f"{len(SPECIES)} calls, 10 dB": bird_calls(CALLS, 10), f"{len(SPECIES)} calls, 0 dB": bird_calls(CALLS, 0)}
    if words := spoken_words():
        sets = {f"{len(WORDS)} words": words, **sets}
    heads = [f"{name} (n={len(clips.samples)})" for name, clips in sets.items()]
    table = Table(["features", "numbers", "learner", *heads, "ms a clip"])
    files = {name: as_files(clips) for name, clips in sets.items()}
    for way, features in WAYS.items():
        described, spent = {}, []
        for name, own in files.items():
            described[name], seconds = clocked(
                lambda own=own, make=features: np.array([make(one) for one in own], dtype=float)
            )
            spent.append(seconds / len(own) * 1e3)
        for learner, made in LEARNERS.items():
            scores = (score(made(), described[name], clips) for name, clips in sets.items())
            table.add(way, described[name].shape[1], learner, *scores, f"{max(spent):.1f}")
    table.add("none: a guess", "", "", *(1 / len(np.unique(clips.labels)) for clips in sets.values()))
    return page(
        table,
        f"""Accuracy, four folds. Words: {len(VOICES)} voices of espeak-ng, {len(VOICES) // 4} of them unseen in each
fold; two takes of each word, pitch, tempo, loudness and silence before it drawn. Calls: 3 s at 44.1 kHz in white,
pink or brown noise, this far below the loudest half second. PL-KNN and PLKernelRidge learn from the label and
{DISTRACTORS} others drawn for each row. ms: processor time, decoding included, the slowest set.""",
        "" if words else "Words were not measured: there is no espeak-ng, which speaks them.",
    )


# An hour in one file

HOUR = sized(3600, tiny=120)
RATE, CHANNELS, SUBTYPE = 48_000, 2, "PCM_24"
MIDDLE = HOUR / 2
VIEWS = {
    "1 s and 2 s around": (MIDDLE, MIDDLE + 1),
    "3 s and 2 s around": (MIDDLE, MIDDLE + 3),
    "5 minutes": (MIDDLE, MIDDLE + HOUR / 12),
    "an hour": (None, None),
}


def write_hour(path: Path) -> None:
    """Write noise with a sweep in every second: one minute, repeated."""
    rng = np.random.default_rng(0)
    t = np.arange(60 * RATE) / RATE
    sweep = 0.3 * np.sin(2 * np.pi * (2000 + 40 * t) * t) * (t % 1 < 0.3)
    minute = sweep[:, None] + 0.02 * rng.standard_normal((len(t), CHANNELS))
    with soundfile.SoundFile(path, "w", RATE, CHANNELS, SUBTYPE) as file:
        for _ in range(HOUR // 60):
            file.write(minute)


def nothing(_path: str) -> tuple[float, None]:
    return peak(), None


def describe_hour(path: str) -> tuple[float, float]:
    def all_of_it() -> np.ndarray:
        with Sound(Path(path)) as sound:
            return np.array([describe_sound(sound, second, second + 1) for second in range(HOUR)])

    numbers, seconds = clocked(all_of_it)
    assert np.all(np.linalg.norm(numbers, axis=1) > 0.8)
    return peak(), seconds


def import_folder(path: str) -> tuple[float, float]:
    """Import a folder as `winnow import FOLDER` does, into a separate home."""

    def all_of_it() -> None:
        with folder() as place, homes.owner_of(place) as owner:
            upload, made = importing.read_as_named(Path(path).parent, {})
            assert made.media.sounds is not None
            assert made.n_rows == HOUR
            importing.create(owner, "hour", made, upload=upload)

    seconds = clocked(all_of_it)[1]
    return peak(), seconds


def draw(path: str) -> tuple[float, list[float]]:
    def of_view(view: tuple[Any, Any]) -> float:
        times = [clocked(lambda: to_png(spectrogram(Path(path), *view)))[1] for _ in range(5)]
        return 1e3 * float(np.median(times))

    times = [of_view(view) for view in VIEWS.values()]
    return peak(), times


@benchmark("An hour of sound", packages=("soundfile",))
def long_sound() -> str:
    table = Table("what | peak memory, MB | of the process alone, MB | CPU", ".0f")
    with folder() as place:
        write_hour(path := place / "hour.wav")
        lines = "".join(f"hour.wav,{s},{s + 1},{'tit' if s % 3 else 'wren'}|robin\n" for s in range(HOUR))
        (place / "segments.csv").write_text(f"file,start,end,candidates\n{lines}")
        with Sound(path) as sound:
            facts, size = sound.facts, path.stat().st_size / 1e9
        idle, _ = in_process(nothing, str(path))
        for what, call in (
            (f"{HOUR:,} segments of 1 s described", describe_hour),
            ("the folder imported as a project: read, features computed, stored", import_folder),
        ):
            most, seconds = in_process(call, str(path))
            table.add(what, most, idle, f"{seconds:.1f} s")
        most, times = in_process(draw, str(path))
        for name, ms in zip(VIEWS, times, strict=True):
            table.add(f"spectrogram and PNG, {name}", most, idle, f"{ms:.0f} ms")
    return page(
        f"""One file: {size:.2f} GB, {facts.seconds:,.0f} s, {facts.rate:,} Hz, {facts.channels} channels,
{facts.subtype}.""",
        table,
        """Spectrograms of 800 x 256 points up to 12 kHz, the file opened again each time: the median of 5. The view of
        an hour samples windows (`plcore/tables/media/sound/drawing.py`).""",
    )
