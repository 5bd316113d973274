"""A classifier in an encoder's folder: its output is a score for each label of a file."""

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

_MOST = 10_000_000  # bytes of a file of labels


class Classifier(Encoder):
    """An encoder that `encoder.json` calls a classifier, as it names its `classes`.

    `encode` gives scores instead of vectors: (n, m) of 0 or more, in the order of `labels`. If a sound has several
    windows, the highest score of each label counts.

    Attributes
    ----------
    labels : (m,) the lines of the file of labels.

    Raises EncoderError as `Encoder`; also if it is no classifier.
    """

    def __init__(self, folder: str | Path) -> None:
        super().__init__(folder)
        self.labels = _read_labels(self.folder, self.about.classes)

    def encode_inputs(self, given: Sequence[ModelInputs]) -> list[Dense]:
        """(m,) the scores of each, the highest over its inputs. Raises EncoderError: the output is no such scores."""
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
    """(n, m) scores of outputs."""
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
