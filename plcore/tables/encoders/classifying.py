"""Classifiers in an encoder's folder: the output is a score for each label in a file."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import pairwise
from pathlib import Path

import numpy as np
from scipy.special import expit, softmax

from plcore.arrays.types import FloatArray
from plcore.arrays.words import quoted
from plcore.tables.encoders.description import Activation, EncoderError, inside
from plcore.tables.encoders.encoding import Encoder, ModelInputs
from plcore.tables.features.embeddings import Dense

_MOST = 10_000_000  # maximum bytes of a label file


class Classifier(Encoder):
    """An encoder that is a classifier because its `encoder.json` names `classes`.

    `encode` returns scores instead of vectors: (n, m), at least 0, in the order of `labels`. For a sound with several
    windows, each label gets its highest score.

    Attributes
    ----------
    labels : (m,) the lines of the label file.

    Raises EncoderError as `Encoder` does, and if the model is not a classifier.
    """

    def __init__(self, folder: str | Path) -> None:
        super().__init__(folder)
        self.labels = _read_labels(self.folder, self.about.classes)

    def encode_inputs(self, given: Sequence[ModelInputs]) -> list[Dense]:
        """Return the scores (m,) of each item, the maximum over its inputs. Raises EncoderError if they do not fit."""
        raw = super().encode_inputs([ModelInputs([one]) for inputs, _ in given for one in inputs])
        if not raw:
            return []
        if len(raw[0]) != len(self.labels):
            raise EncoderError(
                f"The model gives {len(raw[0]):,} scores, and {self.about.classes} has {len(self.labels):,} labels. "
                "Fix: correct that file, or name another 'output' in encoder.json."
            )
        scores = _activated(np.stack(raw).astype(np.float64), self.about.activation)
        ends = np.cumsum([0, *(len(inputs) for inputs, _ in given)])
        return [scores[begin:end].max(axis=0).astype(np.float32) for begin, end in pairwise(ends)]


def _activated(values: FloatArray, activation: Activation) -> FloatArray:
    """Convert outputs (n, m) to scores."""
    if activation == "sigmoid":
        return np.asarray(expit(values))
    if activation == "softmax":
        return np.asarray(softmax(values, axis=1))
    if (values < 0).any():
        raise EncoderError(
            f"The model gives a negative score ({values.min():.3g}). Fix: set 'activation' in encoder.json to "
            "'sigmoid' or 'softmax'."
        )
    return values


def _read_labels(folder: Path, name: str | None) -> tuple[str, ...]:
    if name is None:
        raise EncoderError(
            f"{quoted(folder.name)} gives no scores of classes. Fix: name its file of labels as 'classes' in "
            "encoder.json, or take another model."
        )
    try:
        with inside(folder, name).open("rb") as file:
            text = file.read(_MOST).decode("utf-8-sig")
    except UnicodeDecodeError as error:
        raise EncoderError(f"{name} is not UTF-8 ({error}). Fix: save it as UTF-8.") from error
    return tuple(line.strip() for line in text.rstrip().splitlines())
