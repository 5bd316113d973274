"""Inputs of models: pixels of images, samples of sounds, texts and tokens."""

from __future__ import annotations

import json
import sys
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from PIL import Image

from plcore.tables.encoders import Description, EncoderError
from plcore.tables.encoders.description import Interpolation
from plcore.tables.encoders.model import OnnxModel
from plcore.tables.encoders.preparing import image_points, preparation, sound_samples
from tests.plcore.tables.encoders.models import encoder, energy, made, mean_color, tokens, words_of

IMAGE = Description("image", size=(4, 2))
SOUND = Description("sound", rate=1000, seconds=0.5)
VOCABULARY = "[PAD]\n[UNK]\n[CLS]\n[SEP]\nthe\nwren\nsing\n##s\nWren\n"


def prepared(folder: Path, about: Description, data: bytes, items: list[Any]) -> dict[str, Any]:
    encoder(folder, {}, data)
    return dict(preparation(about, OnnxModel(folder), folder)(items))


def refused(folder: Path, about: Description, data: bytes) -> str:
    encoder(folder, {}, data)
    with pytest.raises(EncoderError) as caught:
        preparation(about, OnnxModel(folder), folder)
    return str(caught.value)


def test_pixels_are_scaled_shifted_and_divided() -> None:
    image = Image.new("RGB", (8, 8), (255, 0, 51))
    about = replace(IMAGE, mean=(0.5, 0.0, 0.2), std=(0.5, 1.0, 2.0))
    points = image_points(image, about)
    assert points.shape == (2, 4, 3)
    np.testing.assert_allclose(points, np.broadcast_to([1.0, 0.0, 0.0], (2, 4, 3)), atol=1e-12)


def test_image_of_the_right_size_is_unchanged() -> None:
    noise = np.random.default_rng(0).integers(0, 256, (2, 4, 3), dtype=np.uint8)
    np.testing.assert_array_equal(image_points(Image.fromarray(noise), IMAGE), noise / 255)


def test_image_is_cropped_to_its_middle_or_squeezed() -> None:
    stripes = np.zeros((2, 12, 3), dtype=np.uint8)
    stripes[:, 4:8] = 255
    image = Image.fromarray(stripes)
    assert image_points(image, replace(IMAGE, crop=True)).min() == 1
    assert image_points(image, IMAGE)[:, 0].max() == 0


def test_crop_is_taken_after_resizing_the_shorter_side() -> None:
    """Of 8 x 16 points brought to 4 x 8, the middle 2 x 4: the points 2 to 6 of 4 to 12. Without `resize`, all 8."""
    down = np.zeros((8, 16, 3), dtype=np.uint8)
    down[2:6, 4:12] = 255
    image, about = Image.fromarray(down), replace(IMAGE, crop=True, interpolation="box")
    assert image_points(image, replace(about, resize=4)).min() == 1
    assert image_points(image, about).min() == 0


@pytest.mark.parametrize("how", ["nearest", "bilinear", "bicubic", "box", "lanczos"])
def test_images_are_resized_by_interpolation(how: Interpolation) -> None:
    noise = Image.fromarray(np.random.default_rng(2).integers(0, 256, (3, 5, 3), dtype=np.uint8))
    wanted = np.asarray(noise.resize((4, 2), Image.Resampling[how.upper()]), dtype=float) / 255
    np.testing.assert_array_equal(image_points(noise, replace(IMAGE, interpolation=how)), wanted)


@pytest.mark.parametrize("sides", [(1, 40_000), (40_000, 1)])
def test_resizing_a_one_pixel_strip_costs_no_more_than_its_crop(sides: tuple[int, int]) -> None:
    about = replace(IMAGE, crop=True, resize=2048)
    assert image_points(Image.new("RGB", sides, (255, 255, 255)), about).shape == (2, 4, 3)


@pytest.mark.parametrize("mode", ["L", "LA", "P", "RGBA", "CMYK", "1", "I;16"])
def test_images_of_all_modes_get_three_channels(mode: str) -> None:
    points = image_points(Image.new(mode, (5, 5)), IMAGE)
    assert points.shape == (2, 4, 3)
    assert np.isfinite(points).all()


def test_transparent_pixels_are_white() -> None:
    assert image_points(Image.new("RGBA", (4, 4), (0, 0, 0, 0)), IMAGE).min() == 1


@pytest.mark.parametrize("last", [False, True])
def test_channels_have_the_axis_the_model_expects(tmp_path: Path, last: bool) -> None:
    points = np.random.default_rng(1).random((4, 4, 3))
    about = replace(IMAGE, size=(4, 4))
    ((name, given),) = prepared(tmp_path, about, mean_color(last=last), [points, points]).items()
    assert name == "x"
    np.testing.assert_array_equal(given[1], points if last else points.transpose(2, 0, 1))


def test_image_model_of_another_size_is_refused(tmp_path: Path) -> None:
    assert "has the sides (n, 3, 4, 4), not (n, 3, 2, 4) or (n, 2, 4, 3)" in refused(tmp_path, IMAGE, mean_color())
    assert "The model has 2 inputs" in refused(tmp_path, IMAGE, tokens())
    assert "takes no real numbers" in refused(tmp_path, IMAGE, words_of("a"))


def test_sound_at_the_rate_of_the_model_is_cut_or_padded() -> None:
    ramp = np.arange(700.0)
    np.testing.assert_array_equal(sound_samples(ramp, 1000, SOUND), ramp[:500])
    short = sound_samples(ramp[:3], 1000, SOUND)
    np.testing.assert_array_equal(short[:4], [0, 1, 2, 0])
    assert len(short) == 500


@pytest.mark.parametrize("rate", [250, 441, 1500, 44_100, 48_000])
def test_tone_keeps_its_pitch_when_resampled(rate: int) -> None:
    """50 Hz, sampled at another rate, is 50 Hz at the model's: away from its ends, to a hundredth."""
    tone = np.sin(2 * np.pi * 50 * np.arange(rate) / rate)
    found = sound_samples(tone, rate, SOUND)
    expected = np.sin(2 * np.pi * 50 * np.arange(500) / 1000)
    np.testing.assert_allclose(found[100:-50], expected[100:-50], atol=0.01)


@pytest.mark.parametrize("channel", [False, True])
def test_sounds_get_the_shape_the_model_expects(tmp_path: Path, channel: bool) -> None:
    sound = np.arange(500.0)
    ((_, given),) = prepared(tmp_path, SOUND, energy(500, channel=channel), [sound, sound]).items()
    assert given.shape == ((2, 1, 500) if channel else (2, 500))
    assert "not (n, 250) or (n, 1, 250)" in refused(
        tmp_path, replace(SOUND, seconds=0.25), energy(500, channel=channel)
    )


@pytest.mark.parametrize("sides", [("n",), ("n", 1)])
def test_text_model_gets_plain_text(tmp_path: Path, sides: tuple[str | int, ...]) -> None:
    found = prepared(tmp_path, Description("text"), words_of("a", sides=sides), ["a", "bé"])["x"]
    assert found.ravel().tolist() == ["a", "bé"]
    assert found.shape == (2, 1)[: len(sides)]


def test_token_model_requires_a_tokenizer(tmp_path: Path) -> None:
    assert "The model takes no text" in refused(tmp_path, Description("text"), tokens())
    assert "The model takes no text" in refused(tmp_path, Description("text"), mean_color())
    about = Description("text", tokenizer="vocab.txt")
    assert "The inputs of the model are 'x'" in refused(tmp_path, about, mean_color())
    assert "The inputs of the model are 'input_ids', 'pixels'" in refused(
        tmp_path, about, tokens("input_ids", "pixels")
    )


def test_word_pieces_are_matched_greedily(tmp_path: Path) -> None:
    """By the algorithm of BERT: [CLS] the wren sing ##s [SEP], what is unknown is [UNK], no capitals."""
    (tmp_path / "vocab.txt").write_text(VOCABULARY)
    about = Description("text", tokenizer="vocab.txt")
    found = prepared(tmp_path, about, tokens(), ["The Wren sings", "robin"])
    assert found["input_ids"].tolist() == [[2, 4, 5, 6, 7, 3], [2, 1, 3, 0, 0, 0]]
    assert found["attention_mask"].tolist() == [[1] * 6, [1, 1, 1, 0, 0, 0]]
    cased = prepared(tmp_path, replace(about, lowercase=False), tokens(), ["the Wren"])
    assert cased["input_ids"].tolist() == [[2, 4, 8, 3]]


def test_long_texts_are_truncated_and_fixed_lengths_padded(tmp_path: Path) -> None:
    (tmp_path / "vocab.txt").write_text(VOCABULARY)
    about = Description("text", tokenizer="vocab.txt", tokens=4)
    assert prepared(tmp_path, about, tokens(), ["the wren sings"])["input_ids"].tolist() == [[2, 4, 5, 3]]
    fixed = prepared(tmp_path, about, tokens(length=6), ["the"])
    assert fixed["input_ids"].tolist() == [[2, 4, 3, 0, 0, 0]]
    assert fixed["attention_mask"].tolist() == [[1, 1, 1, 0, 0, 0]]
    assert "adds 2 tokens of its own to a text, and at most 2" in refused(tmp_path, replace(about, tokens=2), tokens())


def test_tokenizer_json_is_read(tmp_path: Path) -> None:
    told = {
        "version": "1.0",
        "truncation": None,
        "padding": None,
        "added_tokens": [],
        "normalizer": {"type": "Lowercase"},
        "pre_tokenizer": {"type": "Whitespace"},
        "post_processor": None,
        "decoder": None,
        "model": {"type": "WordLevel", "vocab": {"[UNK]": 0, "a": 1, "b": 2}, "unk_token": "[UNK]"},
    }
    (tmp_path / "tokenizer.json").write_text(json.dumps(told))
    about = Description("text", tokenizer="tokenizer.json")
    found = prepared(tmp_path, about, tokens(), ["A b x", "b", ""])
    assert found["input_ids"].tolist() == [[1, 2, 0], [2, 0, 0], [0, 0, 0]]
    assert found["attention_mask"].tolist() == [[1, 1, 1], [1, 0, 0], [0, 0, 0]]


def test_broken_tokenizers_are_refused(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "vocab.txt").write_text("the\n")
    about = Description("text", tokenizer="vocab.txt")
    assert "vocab.txt cannot be read (KeyError" in refused(tmp_path, about, tokens())
    (tmp_path / "t.json").write_text("{}")
    assert "t.json cannot be read" in refused(tmp_path, replace(about, tokenizer="t.json"), tokens())
    assert "leads out" in refused(tmp_path, replace(about, tokenizer="../vocab.txt"), tokens())
    monkeypatch.setitem(sys.modules, "tokenizers", None)
    assert "pip install 'plcore[onnx]'" in refused(tmp_path, about, tokens())


def test_model_without_mask_gets_none_and_mean_pooling_is_reported(tmp_path: Path) -> None:
    (tmp_path / "vocab.txt").write_text(VOCABULARY)
    encoder(tmp_path, {}, tokens("input_ids"))
    model = OnnxModel(tmp_path)
    given = preparation(Description("text", tokenizer="vocab.txt"), model, tmp_path)(["the wren", "the"])
    np.testing.assert_allclose(model.run(given), [[3.5, 13.5], [3.0, 29 / 3]], rtol=1e-6)


def test_input_with_wrong_dimensions_is_refused(tmp_path: Path) -> None:
    from onnx import helper

    data = made([helper.make_node("Identity", ["x"], ["y"])], {"x": (1, ("n", 7))}, {"y": ("n", 7)})
    assert "has the sides (n, 7), not (n, 3, 2, 4)" in refused(tmp_path, IMAGE, data)
