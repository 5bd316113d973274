"""Check an encoder on three inputs of its kind, against the vectors that the Winnow authors got.

A wrong preparation (another mean, scaled instead of cropped, another pooling) raises no error, but fails this check.
"""

from __future__ import annotations

import io
from pathlib import Path

import numpy as np
import soundfile
from PIL import Image

from plcore.arrays.types import FloatArray
from plcore.tables.encoders.catalogue import EncoderEntry
from plcore.tables.encoders.description import Description, EncoderError
from plcore.tables.encoders.encoding import Encoder, ModelInputs
from plcore.tables.encoders.preparing import image_points, sound_windows
from plcore.tables.features.embeddings import Dense
from plcore.tables.media.sound import Sound

ALIKE = 0.999
"""Minimum cosine of a vector and its reference. Other processors and ONNX Runtime releases differ by far less."""
TEXTS = (
    "My card was charged twice for the same purchase.",
    "Wrens sing louder in cities; zebra finches, however, do not: traffic masks their songs below 2 kHz.",
    "naïve Café, 東京 and 3.14 – how do I top up by bank transfer? " * 6,
)
_SIZES = ((640, 480), (300, 500), (97, 64))
_SOUNDS = ((7.0, 44_100, 3_000.0), (2.0, 22_050, 900.0), (31.0, 32_000, 5_000.0))
"""Seconds, samples per second, Hz at the end of the tone."""


def reference_inputs(about: Description) -> list[ModelInputs]:
    """Return model inputs for the three test items of the encoder's kind."""
    if about.kind == "text":
        return [ModelInputs((text,)) for text in TEXTS]
    if about.kind == "image":
        return [ModelInputs(image_points(_image(*size), about)[None]) for size in _SIZES]
    return [ModelInputs(*_windows(*told, about)) for told in _SOUNDS]


def reference_vectors(folder: Path) -> Dense:
    """Encode the reference inputs with the encoder in a folder, (3, dimension). Raises EncoderError."""
    encoder = Encoder(folder)
    return np.stack(encoder.encode_inputs(reference_inputs(encoder.about)))


def check_encoder(entry: EncoderEntry, folder: Path) -> float:
    """Return the minimum cosine of its three vectors and the references.

    Raises EncoderError: a file is missing, the model fails, or a cosine is below ALIKE.
    """
    found = reference_vectors(folder).astype(np.float64)
    wanted = np.load(entry.reference, allow_pickle=False).astype(np.float64)
    fix = f"Fix: remove it and get it again (winnow encoders remove {entry.key})."
    if found.shape != wanted.shape:
        raise EncoderError(f"{entry.title} gives {found.shape[1]:,} numbers a row, not {wanted.shape[1]:,}. {fix}")
    sizes = np.linalg.norm(found, axis=1) * np.linalg.norm(wanted, axis=1)
    alike = float(np.min((found * wanted).sum(axis=1) / np.maximum(sizes, 1e-30)))
    if not alike > ALIKE:
        raise EncoderError(
            f"{entry.title} gives other vectors here than for Winnow's authors: cosine {alike:.4f} for an input whose "
            f"vector is known, where more than {ALIKE} is expected. {fix}"
        )
    return alike


def _image(width: int, height: int) -> Image.Image:
    """Make a colourful image with edges, gradients and fine lines that differs in every crop."""
    down, across = np.mgrid[0:height, 0:width]
    round_ = (across - width // 3) ** 2 + (down - height // 2) ** 2 < (min(width, height) // 4) ** 2
    red = across * 255 // width
    green = np.where(round_, 230, down * 200 // height)
    blue = np.where((across // 9 + down // 13) % 2 == 0, 40, 180)
    return Image.fromarray(np.stack([red, green, blue], axis=2).astype(np.uint8))


def _windows(seconds: float, rate: int, last: float, about: Description) -> tuple[FloatArray, bool]:
    """Return the windows of a tone that rises from 400 Hz to `last` Hz, loudest in the middle."""
    time = np.arange(round(seconds * rate)) / rate
    tone = np.sin(2 * np.pi * (400 + (last - 400) * time / (2 * seconds)) * time)
    file = io.BytesIO()
    soundfile.write(file, 0.5 * tone * np.sin(np.pi * time / seconds), rate, format="WAV")
    with Sound(file) as sound:
        return sound_windows(sound, None, None, about)
