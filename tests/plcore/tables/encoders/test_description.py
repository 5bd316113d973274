"""`encoder.json`: accepted values, and refusals."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from plcore.tables.encoders.description import Description, EncoderError, inside, read_description


def written(folder: Path, told: Any) -> Path:
    (folder / "encoder.json").write_text(told if isinstance(told, str) else json.dumps(told))
    return folder


def refused(folder: Path, told: Any) -> str:
    with pytest.raises(EncoderError) as caught:
        read_description(written(folder, told))
    return str(caught.value)


def test_missing_values_use_common_defaults(tmp_path: Path) -> None:
    found = read_description(written(tmp_path, {"kind": "image"}))
    assert found == Description("image", size=(224, 224), mean=(0, 0, 0), std=(1, 1, 1))
    assert read_description(written(tmp_path, {"kind": "text"})).tokenizer is None


def test_every_value_is_read(tmp_path: Path) -> None:
    image = {
        "kind": "image",
        "output": "pooled",
        "size": [32, 16],
        "crop": True,
        "mean": [0.1, 0.2, 0.3],
        "std": 2,
        "pooling": "first",
        "resize": 36,
        "interpolation": "bicubic",
    }
    expected = Description(
        "image",
        "pooled",
        "first",
        size=(32, 16),
        crop=True,
        mean=(0.1, 0.2, 0.3),
        std=(2.0, 2.0, 2.0),
        resize=36,
        interpolation="bicubic",
    )
    assert read_description(written(tmp_path, image)) == expected
    assert read_description(written(tmp_path, {"kind": "image", "size": 96})).size == (96, 96)
    sound = read_description(written(tmp_path, {"kind": "sound", "rate": 48000, "seconds": 3}))
    assert (sound.rate, sound.seconds, sound.windows) == (48000, 3, 1)
    windows = {"hop": 1.5, "windows": 8, "centred": True, "peak": 0.25}
    sound = read_description(written(tmp_path, {"kind": "sound", "rate": 32000, "seconds": 5, **windows}))
    assert (sound.hop, sound.windows, sound.centred, sound.peak) == (1.5, 8, True, 0.25)
    text = {
        "kind": "text", "tokenizer": "vocab.txt", "tokens": 8, "lowercase": False, "prefix": "query: ",
    }  # fmt: skip
    found = read_description(written(tmp_path, text))
    assert (found.tokenizer, found.tokens, found.lowercase) == ("vocab.txt", 8, False)
    assert (found.prefix, found.pooling) == ("query: ", "mean")


@pytest.mark.parametrize(
    ("told", "words"),
    [
        ("{", "is not JSON"),
        ("[" * 100_000, "is not JSON"),
        ([], "must hold one object"),
        ({}, "'kind' in encoder.json must be one of 'image', 'text', 'sound'. Got 'null'"),
        ({"kind": ["image"]}, "must be one of"),
        ({"kind": "image", "rate": 3}, "has 'rate'. Fix: for image, give 'kind', 'output', 'pooling', 'size'"),
        ({"kind": "image", "size": [0, 4]}, "from 1 to 2048 points"),
        ({"kind": "image", "size": [4, 4, 4]}, "[width, height]"),
        ({"kind": "image", "size": True}, "[width, height]"),
        ({"kind": "image", "mean": [1, 2]}, "three numbers"),
        ({"kind": "image", "std": [1, 0, 1]}, "above 0"),
        ({"kind": "image", "mean": "x"}, "three numbers"),
        ({"kind": "image", "crop": 1}, "true or false"),
        ({"kind": "image", "output": ""}, "must be a name"),
        ({"kind": "sound", "seconds": 3}, "'rate' in encoder.json must be samples a second"),
        ({"kind": "sound", "rate": 48000}, "'seconds' in encoder.json must be"),
        ({"kind": "sound", "rate": 48000, "seconds": 0}, "above 0, up to 600"),
        ({"kind": "sound", "rate": 48000, "seconds": 3, "windows": 201}, "from 1 to 200, for 600 seconds"),
        ({"kind": "sound", "rate": 400_000, "seconds": 3, "windows": 200}, "240,000,000 samples a segment; at most 30"),
        ({"kind": "image", "mean": float("nan")}, "three numbers"),
        ({"kind": "image", "std": float("inf")}, "three numbers"),
        ({"kind": "image", "size": 10**400}, "from 1 to 2048 points"),
        ({"kind": "sound", "rate": 48000, "seconds": float("nan")}, "above 0, up to 600"),
        ({"kind": "sound", "rate": 48000, "seconds": 3, "hop": 4}, "above 0, up to 'seconds'"),
        ({"kind": "sound", "rate": 48000, "seconds": 3, "peak": 0}, "'peak' in encoder.json must be a number"),
        ({"kind": "sound", "rate": 48000, "seconds": 3, "centred": 1}, "true or false"),
        ({"kind": "image", "pooling": "last"}, "must be one of 'mean', 'first'"),
        ({"kind": "image", "interpolation": "linear"}, "must be one of 'nearest', 'bilinear', 'bicubic'"),
        ({"kind": "image", "resize": 256}, 'Fix: add "crop": true'),
        ({"kind": "image", "crop": True, "resize": 200}, "from 224, the longer side of 'size', to 2048"),
        ({"kind": "text", "prefix": "x" * 201}, "a text of at most 200 characters"),
        ({"kind": "text", "tokens": 0}, "from 1 to 8,192"),
        ({"kind": "text", "tokenizer": 3}, "must be a name"),
    ],
)  # fmt: skip
def test_invalid_value_is_refused(tmp_path: Path, told: Any, words: str) -> None:
    assert words in refused(tmp_path, told)


def test_files_must_be_in_the_folder_itself(tmp_path: Path) -> None:
    folder = tmp_path / "mine"
    folder.mkdir()
    (tmp_path / "secret").write_text("{}")
    with pytest.raises(EncoderError, match=r"'\.\./secret' leads out of the encoder's folder"):
        inside(folder, "../secret")
    (folder / "encoder.json").symlink_to(tmp_path / "secret")
    with pytest.raises(EncoderError, match="leads out"):
        read_description(folder)
    with pytest.raises(EncoderError, match=r"There is no 'model.onnx' in 'mine'"):
        inside(folder, "model.onnx")
