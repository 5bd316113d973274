"""Features from sound: what a segment sounds like (`plcore.tables.sound.descriptor`) beside a mean of MFCCs.

Words spoken by generated voices, tested on voices that were not in the training rows; made-up calls of ten species,
pitch, tempo and place drawn for each, in noise. Every training row has its label and two others as candidates.
"""

from __future__ import annotations

import io
import time
from collections.abc import Callable
from typing import Any

import numpy as np
import soundfile
from scipy import fft
from sklearn.model_selection import GroupKFold
from sklearn.neighbors import KNeighborsClassifier
from threadpoolctl import threadpool_limits

from benchmarks.report import write
from benchmarks.sound_data import SPECIES, VOICES, WORDS, Clips, bird_calls, spoken_words
from plcore import PLKernelRidge, PLKNeighborsClassifier
from plcore.tables.sound import Sound, describe_sound
from plcore.tables.sound.descriptor import _band_powers

DISTRACTORS = 2
LEARNERS: dict[str, Callable[[], Any]] = {
    "5-NN, true labels": lambda: KNeighborsClassifier(5),
    "PL-KNN": PLKNeighborsClassifier,
    "PLKernelRidge": PLKernelRidge,
}


def main() -> None:
    with threadpool_limits(1):
        body = accuracy()
    write("sounds", "Features from sound", body, ("numpy", "scipy", "scikit-learn", "soundfile"))


def accuracy() -> str:
    sets = {
        f"{len(WORDS)} words": spoken_words(),
        f"{len(SPECIES)} calls, 10 dB": bird_calls(30, 10),
        f"{len(SPECIES)} calls, 0 dB": bird_calls(30, 0),
    }
    ways: dict[str, Callable[[io.BytesIO], np.ndarray]] = {
        "mean of 13 MFCCs": mean_mfcc,
        "level alone": lambda file: describe_sound(file)[:32],
        "level, spread, change": lambda file: describe_sound(file)[:96],
        "**all: with course**": describe_sound,
    }
    heads = [f"{name} (n={len(clips.samples)})" for name, clips in sets.items()]
    lines = [
        f"| features | numbers | learner | {' | '.join(heads)} | ms a clip |",
        f"|---|---:|---|{'---:|' * (len(sets) + 1)}",
    ]
    files = {name: as_files(clips) for name, clips in sets.items()}
    for way, features in ways.items():
        described, spent = {}, []
        for name, clips in sets.items():
            begun = time.process_time()
            described[name] = np.array([features(file) for file in files[name]], dtype=np.float64)
            spent.append((time.process_time() - begun) / len(clips.samples) * 1e3)
        for learner, made in LEARNERS.items():
            scores = [score(made(), described[name], clips) for name, clips in sets.items()]
            figures = " | ".join(f"{one:.3f}" for one in scores)
            width = described[name].shape[1]
            lines.append(f"| {way} | {width} | {learner} | {figures} | {max(spent):.1f} |")
    chance = " | ".join(f"{1 / len(np.unique(clips.labels)):.3f}" for clips in sets.values())
    lines.append(f"| none: a guess | | | {chance} | |")
    lines.append(
        f"\nAccuracy, four folds. Words: {len(VOICES)} voices of espeak-ng, {len(VOICES) // 4} of them unseen in each "
        "fold; two takes of each word, pitch, tempo, loudness and silence before it drawn. Calls: 3 s at 44.1 kHz in "
        "white, pink or brown noise, so far below the loudest half second. PL-KNN and PLKernelRidge learn from the "
        f"label and {DISTRACTORS} others drawn for each row. ms: processor time, decoding included, the slowest set."
    )
    return "\n".join(lines)


def score(learner: Any, X: np.ndarray, clips: Clips) -> float:
    rng = np.random.default_rng(0)
    right = []
    for train, test in GroupKFold(4).split(X, clips.labels, clips.groups):
        given = clips.labels[train]
        if not isinstance(learner, KNeighborsClassifier):
            given = candidates(given, rng)
        right.append(np.mean(learner.fit(X[train], given).predict(X[test]) == clips.labels[test]))
    return float(np.mean(right))


def candidates(labels: np.ndarray, rng: np.random.Generator) -> np.ndarray:
    """bool (n, classes): the label, and as many others as are drawn."""
    chance = rng.random((len(labels), labels.max() + 1))
    chance[np.arange(len(labels)), labels] = -1
    return chance.argsort(axis=1).argsort(axis=1) <= DISTRACTORS


def mean_mfcc(file: io.BytesIO) -> np.ndarray:
    """The plain way: cosine transform of the log-mel powers, averaged over time; 1 to 13."""
    with Sound(file) as sound:
        powers = _band_powers(sound, 0, sound.facts.frames).astype(np.float64)
    return fft.dct(np.log(powers + 1e-8 * powers.max()), axis=1, norm="ortho").mean(axis=0)[1:14]


def as_files(clips: Clips) -> list[io.BytesIO]:
    files = []
    for samples in clips.samples:
        file = io.BytesIO()
        soundfile.write(
            file, samples / max(1, np.abs(samples).max()), clips.rate, format="WAV", subtype="PCM_16"
        )
        files.append(file)
    return files


if __name__ == "__main__":
    main()
