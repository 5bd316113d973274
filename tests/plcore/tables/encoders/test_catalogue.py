"""The catalogue: what an entry must have, when it is verified, and the vectors of the reference inputs."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pytest

from plcore.tables.encoders import EncoderError, check_encoder, read_catalogue
from plcore.tables.encoders.description import described
from plcore.tables.encoders.references import TEXTS, reference_inputs
from tests.plcore.tables.encoders.models import encoder, words_of
from tests.plcore.tables.encoders.small_catalogue import WORDS, file_of, small_catalogue, words_entry

# The catalogue that comes with Winnow


def test_every_entry_has_licence_credit_and_preparation() -> None:
    found = read_catalogue()
    assert len(found) == 11
    for entry in found.values():
        assert entry.credit in entry.terms
        assert len(entry.terms) > 400
        assert entry.bytes > 0
        assert described(entry.preparation).kind == entry.kind


def test_only_tested_encoders_are_verified() -> None:
    """From where the catalogue was written three encoders could be had, from packages; no revision of a hub."""
    found = read_catalogue()
    assert [key for key, one in found.items() if one.verified] == ["minilm-en", "wordllama-256", "efflite0"]
    assert [key for key, one in found.items() if one.can_be_downloaded] == ["minilm-en"]
    for key in ("minilm-en", "wordllama-256", "efflite0"):
        assert np.load(found[key].reference).shape == (3, found[key].dimension)


def test_birdnet_is_not_for_commercial_use() -> None:
    assert [key for key, one in read_catalogue().items() if not one.commercial] == ["birdnet24"]


# Required fields of an entry


@pytest.mark.parametrize(
    ("changes", "words"),
    [
        ({"licence": "GPL"}, "licences/GPL.txt is missing"),
        ({"revision": "main"}, "a revision has 40 hexadecimal digits"),
        ({"builder": "gpt"}, "no builder is called 'gpt'"),
        ({"builder": "bert"}, "'onnx/model.onnx' is not a 'model' of such an entry"),
        ({"preparation": {"kind": "image"}}, "the preparation is of image, the encoder of text"),
        ({"color": "red"}, "unexpected keyword argument 'color'"),
        ({"title": None}, "missing 1 required positional argument: 'title'"),
        ({"files": [{"name": "a", "what": "model", "sha256": "0" * 64}]}, "64 hexadecimal digits, and its bytes"),
    ],
)  # fmt: skip
def test_wrong_entry_is_refused(tmp_path: Path, changes: dict[str, Any], words: str) -> None:
    with pytest.raises(EncoderError, match="'words': ") as caught:
        small_catalogue(tmp_path, words=words_entry(**changes))
    assert words in str(caught.value)


def test_entry_without_hash_or_reference_is_not_verified(tmp_path: Path) -> None:
    entry = small_catalogue(tmp_path, words=words_entry())["words"]
    assert (entry.verified, entry.can_be_downloaded) == (True, True)
    assert not small_catalogue(tmp_path, words=words_entry(revision=None))["words"].can_be_downloaded
    bare = {"name": "onnx/model.onnx", "what": "model"}
    assert not small_catalogue(tmp_path, words=words_entry(files=[bare]))["words"].verified
    assert not small_catalogue(tmp_path, words=words_entry(files=[]))["words"].verified
    entry.reference.unlink()
    assert not entry.verified


# The vectors of the reference inputs


def test_check_accepts_the_same_encoder_and_refuses_another_one(tmp_path: Path) -> None:
    entry = small_catalogue(tmp_path, words=words_entry())["words"]
    same = encoder(tmp_path / "same", {"kind": "text"}, WORDS)
    assert check_encoder(entry, same) == pytest.approx(1.0)
    other = encoder(tmp_path / "other", {"kind": "text"}, words_of(*TEXTS[::-1]))
    with pytest.raises(EncoderError, match=r"cosine 0\.0000 .* Fix: remove it and get it again"):
        check_encoder(entry, other)
    wider = encoder(tmp_path / "wider", {"kind": "text"}, words_of(*TEXTS, "wren"))
    with pytest.raises(EncoderError, match="gives 4 numbers a row, not 3"):
        check_encoder(entry, wider)


@pytest.mark.parametrize("key", list(read_catalogue()))
def test_reference_inputs_fit_the_preparation(key: str) -> None:
    about = described(read_catalogue()[key].preparation)
    found = reference_inputs(about)
    assert len(found) == 3
    if about.kind == "image":
        assert {np.shape(one.inputs) for one in found} == {(1, *about.size[::-1], 3)}
    if about.kind == "sound":
        samples = round(about.rate * about.seconds)
        assert all(np.shape(one.inputs)[1] == samples for one in found)
        assert max(len(one.inputs) for one in found) == min(about.windows, int(-(-31 // about.seconds)))


def test_file_is_named_by_size_and_hash() -> None:
    """The SHA-256 of "abc" is known from FIPS 180-4."""
    told = file_of("a", b"abc")
    assert told["sha256"].startswith("ba7816bf8f01cfea")
    assert told["bytes"] == 3
