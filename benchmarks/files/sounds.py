"""Features from sound: what a segment sounds like (`plcore.tables.media.sound.descriptor`) beside a mean of MFCCs.

Words spoken by generated voices, tested on voices that were not in the training rows; made-up calls of ten species,
pitch, tempo and place drawn for each, in noise.
"""

from __future__ import annotations

import io
from typing import Any

import numpy as np
import soundfile
from scipy import fft
from sklearn.model_selection import GroupKFold
from sklearn.neighbors import KNeighborsClassifier

from benchmarks.files.sound_data import SPECIES, VOICES, WORDS, Clips, bird_calls, spoken_words
from benchmarks.harness import Table, clocked, page, sized
from plcore import PLKernelRidge, PLKNeighborsClassifier
from plcore.tables.media.sound import Sound, describe_sound
from plcore.tables.media.sound.descriptor import _band_powers

TITLE = "Features from sound"
PACKAGES = ("numpy", "scipy", "scikit-learn", "soundfile")
DISTRACTORS = 2
CALLS = sized(30, tiny=5)  # of each species
LEARNERS: dict[str, Any] = {
    "5-NN, true labels": lambda: KNeighborsClassifier(5),
    "PL-KNN": PLKNeighborsClassifier,
    "PLKernelRidge": PLKernelRidge,
}


def mean_mfcc(file: io.BytesIO) -> np.ndarray:
    """The plain way: cosine transform of the log-mel powers, averaged over time; 1 to 13."""
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
            given = candidates(given, rng)
        right.append(np.mean(learner.fit(X[train], given).predict(X[test]) == clips.labels[test]))
    return float(np.mean(right))


def candidates(labels: np.ndarray, rng: np.random.Generator) -> np.ndarray:
    """bool (n, classes): the label, and as many others as are drawn."""
    chance = rng.random((len(labels), labels.max() + 1))
    chance[np.arange(len(labels)), labels] = -1
    return chance.argsort(axis=1).argsort(axis=1) <= DISTRACTORS


def as_files(clips: Clips) -> list[io.BytesIO]:
    files = []
    for samples in clips.samples:
        file, loudest = io.BytesIO(), max(1, np.abs(samples).max())
        soundfile.write(file, samples / loudest, clips.rate, format="WAV", subtype="PCM_16")
        files.append(file)
    return files


def measure() -> str:
    sets = {
        f"{len(SPECIES)} calls, 10 dB": bird_calls(CALLS, 10),
        f"{len(SPECIES)} calls, 0 dB": bird_calls(CALLS, 0),
    }
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
            scores = (f"{score(made(), described[name], clips):.3f}" for name, clips in sets.items())
            table.add(way, described[name].shape[1], learner, *scores, f"{max(spent):.1f}")
    chance = (f"{1 / len(np.unique(clips.labels)):.3f}" for clips in sets.values())
    table.add("none: a guess", "", "", *chance)
    return page(
        table,
        f"""Accuracy, four folds. Words: {len(VOICES)} voices of espeak-ng, {len(VOICES) // 4} of them unseen in each
fold; two takes of each word, pitch, tempo, loudness and silence before it drawn. Calls: 3 s at 44.1 kHz in white,
pink or brown noise, so far below the loudest half second. PL-KNN and PLKernelRidge learn from the label and
{DISTRACTORS} others drawn for each row. ms: processor time, decoding included, the slowest set.""",
        "" if words else "Words were not measured: there is no espeak-ng, which speaks them.",
    )
