"""Encoders of plug-ins: their declarations, what their function gets, and what happens when it fails."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest

from plcore import LabelTable, Roles
from plcore.arrays import Plugin, parts_barred
from plcore.tables import EncoderError, EncoderPlugin
from plcore.tables.encoders import Classifier, Encoder, ModelInputs, declared, describe, digest_of
from plcore.tables.encoders.declared import ENCODER_GROUP

HERE = "tests.plcore.tables.encoders.test_plugged"
WORDS = "Letters: how often each vowel is there"
TEXT = {"kind": "text"}
NOWHERE = Path("encoders") / "plugin-letters"


def letters(texts: list[str]) -> list[list[int]]:
    assert 0 < len(texts) <= 16
    return [[text.count(letter) for letter in "aeiou"] for text in texts]


def colours(images: np.ndarray) -> np.ndarray:
    return images.mean(axis=(1, 2))


def failing(texts: list[str]) -> list[list[int]]:
    raise KeyError(texts[0])


def short(texts: list[str]) -> list[list[int]]:
    return letters(texts)[1:]


def ragged(texts: list[str]) -> np.ndarray:
    return np.ones((len(texts), len(texts)))


def flat(texts: list[str]) -> np.ndarray:
    return np.ones(len(texts))


Plug = Callable[..., None]


def plug_in(monkeypatch: pytest.MonkeyPatch, function: str, about: dict[str, Any] = TEXT, version: str = "1.0") -> None:
    letters_of = EncoderPlugin(WORDS, f"{HERE}:{function}", about)
    found = (
        Plugin(ENCODER_GROUP, "aaa", "winnow-letters", version, None, "x:y cannot be imported. Fix: z."),
        Plugin(ENCODER_GROUP, "letters", "winnow-letters", version, letters_of, None),
    )
    monkeypatch.setattr(declared, "encoder_plugins", lambda: found)


@pytest.mark.parametrize(
    ("about", "why"),
    [
        ({"kind": "smell"}, "'kind' in encoder.json must be one of"),
        ({"kind": "image", "size": 0}, "'size' in encoder.json must be"),
        ({"kind": "text", "tokenizer": "t.json"}, "about must not have 'tokenizer', which is for ONNX models"),
        ({"kind": "image", "classes": "c.txt"}, "about must not have 'classes'"),
    ],
)
def test_wrong_declaration_is_refused(about: dict[str, Any], why: str) -> None:
    with pytest.raises(ValueError, match=why):
        EncoderPlugin(WORDS, "a:b", about)


def test_texts_are_encoded_like_by_a_model(monkeypatch: pytest.MonkeyPatch) -> None:
    plug_in(monkeypatch, "letters")
    texts = [f"{'a' * k}{'o' * (k % 3)}" for k in range(40)]
    cells = pd.DataFrame({"c": "x|y", "t": ["", *texts]}, dtype="str")
    table = LabelTable.from_cells(cells, Roles(candidates="c", text="t"))
    found = Encoder(NOWHERE).encode(table, lambda name: pytest.fail(name))
    np.testing.assert_array_equal(found.values[2:], letters_of(texts[1:]))
    assert np.isnan(found.values[:2]).all()
    assert found.notes == ("2 rows have nothing to encode: '1', '2'.",)


def letters_of(texts: list[str]) -> list[list[int]]:
    return [row for text in texts for row in letters([text])]


def test_plugin_gets_prepared_images(monkeypatch: pytest.MonkeyPatch) -> None:
    plug_in(monkeypatch, "colours", {"kind": "image", "size": 4})
    encoder = Encoder(NOWHERE)
    assert encoder.about.size == (4, 4)
    image = np.zeros((1, 4, 4, 3))
    image[..., 1] = 0.5
    (vector,) = encoder.encode_inputs([ModelInputs(image)])
    np.testing.assert_allclose(vector, [0, 0.5, 0])


@pytest.mark.parametrize(
    ("function", "why"),
    [
        ("failing", rf"^{HERE}:failing failed \(KeyError: 'aa'\)\. Fix: ask the plug-in's author"),
        ("short", rf"^{HERE}:short must return as many numbers for each of 2 items, .* Got shape \(1, 5\)"),
        ("flat", r"Got shape \(2,\)"),
        ("WORDS", r"WORDS failed \(TypeError: it is not a function\)"),
        ("gone", rf"^{HERE}:gone of a plug-in cannot be imported .* Fix: install the plug-in again"),
    ],
)
def test_failure_is_named(monkeypatch: pytest.MonkeyPatch, function: str, why: str) -> None:
    plug_in(monkeypatch, function)
    encoder = Encoder(NOWHERE)
    with pytest.raises(EncoderError, match=why):
        encoder.encode_inputs([ModelInputs(("aa",)), ModelInputs(("b",))])


def test_vectors_of_another_length_are_refused(monkeypatch: pytest.MonkeyPatch) -> None:
    plug_in(monkeypatch, "ragged")
    encoder = Encoder(NOWHERE)
    encoder.encode_inputs([ModelInputs(("aa",)), ModelInputs(("b",))])
    with pytest.raises(EncoderError, match=r"ragged must return as many numbers .* Got shape \(1, 1\)"):
        encoder.encode_inputs([ModelInputs(("aa",))])


def test_function_is_not_imported_where_parts_are_barred(monkeypatch: pytest.MonkeyPatch) -> None:
    plug_in(monkeypatch, "letters")
    with parts_barred("not here."):
        encoder = Encoder(NOWHERE)
        assert describe(NOWHERE).kind == "text"
        with pytest.raises(EncoderError, match="letters is part of a plug-in: not here"):
            encoder.encode_inputs([ModelInputs(("aa",))])


def test_another_version_is_another_encoder(monkeypatch: pytest.MonkeyPatch) -> None:
    digests = set()
    for version in ("1.0", "1.1"):
        plug_in(monkeypatch, "letters", version=version)
        digests.add(Encoder(NOWHERE).sha256)
    assert len(digests | {digest_of(NOWHERE.parent)}) == 3


def test_plugin_leaves_other_encoder_folders_unchanged(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    plug_in(monkeypatch, "letters")
    for name in ("letters", "plugin-lost", "plugin-aaa"):
        with pytest.raises(EncoderError, match=r"There is no 'encoder\.json'"):
            Encoder(tmp_path / name)
    (tmp_path / "plugin-letters").mkdir()
    with pytest.raises(EncoderError, match=r"There is no 'encoder\.json'"):
        Encoder(tmp_path / "plugin-letters")
    with pytest.raises(EncoderError, match="gives no scores of classes"):
        Classifier(NOWHERE)
