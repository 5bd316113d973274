"""Classifiers in an encoder's folder: scores by label, of known answers."""

from __future__ import annotations

import io
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest

from plcore import LabelTable, Roles
from plcore.tables.encoders import Classifier, EncoderError, ModelInputs
from tests.plcore.tables.encoders.models import encoder, mean_color, words_of


def texts(*told: str) -> LabelTable:
    cells = pd.DataFrame({"c": "a|b", "t": list(told)}, dtype="str")
    return LabelTable.from_cells(cells, Roles(candidates="c", text="t"))


def words(folder: Path, labels: str | bytes, **about: Any) -> Classifier:
    encoder(folder, {"kind": "text", "classes": "labels.txt", **about}, words_of("wren", "owl"))
    (folder / "labels.txt").write_bytes(labels if isinstance(labels, bytes) else labels.encode())
    return Classifier(folder)


def none(name: str) -> io.BytesIO:
    raise AssertionError(name)


def test_scores_are_in_the_order_of_labels(tmp_path: Path) -> None:
    model = words(tmp_path, "\ufeffWren\r\nOwl \n\n")
    assert model.labels == ("Wren", "Owl")
    found = model.encode(texts("owl", "", "wren", "tit"), none)
    np.testing.assert_array_equal(found.values, [[0, 1], [np.nan, np.nan], [1, 0], [0, 0]])


@pytest.mark.parametrize(("activation", "high", "low"), [("sigmoid", 0.731059, 0.5), ("softmax", 0.731059, 0.268941)])
def test_outputs_are_converted_to_scores(tmp_path: Path, activation: str, high: float, low: float) -> None:
    model = words(tmp_path, "Wren\nOwl\n", activation=activation)
    np.testing.assert_allclose(model.encode(texts("owl"), none).values, [[low, high]], atol=1e-6)


def test_highest_score_over_windows_counts_for_each_label(tmp_path: Path) -> None:
    about = {"kind": "image", "size": 4, "classes": "labels.txt"}
    encoder(tmp_path, about, mean_color())
    (tmp_path / "labels.txt").write_text("red\ngreen\nblue\n")
    red, blue = np.zeros((4, 4, 3)), np.zeros((4, 4, 3))
    red[..., 0], blue[..., 2] = 0.8, 0.6
    first, second = Classifier(tmp_path).encode_inputs([ModelInputs([red, blue]), ModelInputs([blue])])
    np.testing.assert_allclose(first, [0.8, 0, 0.6], atol=1e-6)
    np.testing.assert_allclose(second, [0, 0, 0.6], atol=1e-6)
    with pytest.raises(EncoderError, match=r"negative score \(-0.8\). Fix: set 'activation'"):
        Classifier(tmp_path).encode_inputs([ModelInputs([-red])])


def test_encoder_that_is_no_classifier_is_reported(tmp_path: Path) -> None:
    with pytest.raises(EncoderError, match=r"gives 2 scores, and labels.txt has 3 labels. Fix:"):
        words(tmp_path / "three", "a\nb\nc").encode(texts("owl"), none)
    with pytest.raises(EncoderError, match=r"labels.txt is not UTF-8"):
        words(tmp_path / "latin", "Gr\xfcnfink".encode("latin-1"))
    folder = encoder(tmp_path / "vectors", {"kind": "text"}, words_of("a"))
    with pytest.raises(EncoderError, match="'vectors' gives no scores of classes"):
        Classifier(folder)
    folder = encoder(tmp_path / "lost", {"kind": "text", "classes": "labels.txt"}, words_of("a"))
    with pytest.raises(EncoderError, match=r"no 'labels.txt'"):
        Classifier(folder)
    folder = encoder(tmp_path / "out", {"kind": "text", "classes": "../three/labels.txt"}, words_of("a"))
    with pytest.raises(EncoderError, match="leads out of the encoder's folder"):
        Classifier(folder)
    folder = encoder(tmp_path / "odd", {"kind": "text", "activation": "tanh"}, words_of("a"))
    with pytest.raises(EncoderError, match=r"'activation' in encoder.json must be one of"):
        Classifier(folder)
