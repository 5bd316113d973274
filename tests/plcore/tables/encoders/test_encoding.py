"""Rows -> vectors: every row gets its own vector, and rows without input get none."""

from __future__ import annotations

import base64
import io
from collections.abc import Sequence
from pathlib import Path
from typing import Any, BinaryIO

import numpy as np
import pandas as pd
import pytest
import soundfile
from onnx import helper
from PIL import Image

from plcore import LabelTable, Roles
from plcore.tables import Encoder, EncoderError, read_table
from plcore.tables.encoders import Description, Encoded, Key, ModelInputs, encoding
from plcore.tables.encoders.encoding import _batches
from tests.plcore.tables.encoders.models import FLOAT, encoder, energy, made, mean_color, tokens, words_of
from tests.plcore.tables.zips import WAV, make_zip

COLORS = {"red.png": (255, 0, 0), "dark.png": (0, 0, 51)}


def png(color: tuple[int, int, int]) -> bytes:
    out = io.BytesIO()
    Image.new("RGB", (9, 7), color).save(out, "PNG")
    return out.getvalue()


def no_files(name: str) -> BinaryIO:
    raise AssertionError(name)


@pytest.fixture
def colors(tmp_path: Path) -> Encoder:
    return Encoder(encoder(tmp_path / "colors", {"kind": "image", "size": 4}, mean_color()))


def pictures() -> LabelTable:
    inline = f"data:image/png;base64,{base64.b64encode(png((0, 255, 0))).decode()}"
    csv = f'candidates,image\na|b,red.png\nb,\na,dark.png\nb,red.png\na,"{inline}"\n'
    files = {name: png(color) for name, color in COLORS.items()}
    reading = read_table(make_zip({"t.csv": csv.encode(), **files}))
    return LabelTable.from_cells(reading.cells, reading.suggest_roles(), reading.files)


def test_images_in_a_zip_and_in_cells_are_encoded(colors: Encoder) -> None:
    table = pictures()
    steps: list[tuple[int, int, str]] = []
    read: list[str] = []

    def open_file(name: str) -> BinaryIO:
        read.append(name)
        return table.media.files.open(name)

    found = colors.encode(table, open_file, lambda *step: steps.append(step))
    nothing = [np.nan] * 3
    np.testing.assert_allclose(found.values, [[1, 0, 0], nothing, [0, 0, 0.2], [1, 0, 0], [0, 1, 0]], atol=1e-6)
    assert found.notes == ("1 row has nothing to encode: '2'.",)
    assert steps == [(3, 3, "image")]
    assert len(read) == 2  # the image that two rows name is read once


def test_batches_are_reported_and_can_be_stopped(tmp_path: Path) -> None:
    one = Encoder(encoder(tmp_path, {"kind": "image", "size": 4}, mean_color(batch=1)))
    table = pictures()
    steps: list[int] = []
    one.encode(table, table.media.files.open, lambda done, *_: steps.append(done))
    assert steps == [1, 2, 3]

    def stop(*_: object) -> None:
        raise InterruptedError

    with pytest.raises(InterruptedError):
        one.encode(table, table.media.files.open, stop)


def test_texts_are_encoded(tmp_path: Path) -> None:
    words = Encoder(encoder(tmp_path, {"kind": "text"}, words_of("wren", "robin")))
    cells = pd.DataFrame({"c": ["a|b"] * 4, "t": ["robin", " wren ", "", "owl"]}, dtype="str")
    found = words.encode(LabelTable.from_cells(cells, Roles(candidates="c", text="t")), no_files)
    np.testing.assert_array_equal(found.values, [[0, 1], [1, 0], [np.nan, np.nan], [0, 0]])
    words.rest()
    assert "_model" not in vars(words)
    again = words.encode(LabelTable.from_cells(cells, Roles(candidates="c", text="t")), no_files)
    np.testing.assert_array_equal(again.values, found.values)


def test_table_without_the_column_is_refused(tmp_path: Path, colors: Encoder) -> None:
    cells = pd.DataFrame({"c": ["a|b"], "t": ["x"]}, dtype="str")
    table = LabelTable.from_cells(cells, Roles(candidates="c", text="t"))
    with pytest.raises(EncoderError, match="No row has an image to encode"):
        colors.encode(table, no_files)


def test_files_damaged_since_the_import_are_named(colors: Encoder) -> None:
    table = pictures()
    gone = str(np.asarray(table.media.images)[0])
    found = colors.encode(table, lambda name: io.BytesIO(b"junk" if name == gone else png((0, 0, 0))))
    assert np.isnan(found.values[:, 0]).tolist() == [True, True, False, True, False]
    words = "this is not an image that can be read, or it is damaged."
    assert found.notes[-1] == f"2 rows could not be encoded: '1', '4'; the first: {words}"


def test_non_finite_vectors_are_left_out(tmp_path: Path) -> None:
    about = {"kind": "image", "size": 4, "std": 1e-9, "mean": [0, 0, 0]}
    nodes = [helper.make_node("ReduceMean", ["x", "axes"], ["m"], keepdims=0), helper.make_node("Log", ["m"], ["y"])]
    data = made(nodes, {"x": (FLOAT, ("n", 3, 4, 4))}, {"y": ("n", 3)}, {"axes": np.array([2, 3])})
    log = Encoder(encoder(tmp_path, about, data))
    table = pictures()
    assert table.media.files is not None
    with pytest.raises(EncoderError, match="No row could be encoded; the first: the model gives numbers that are not"):
        log.encode(table, table.media.files.open)


def test_several_images_of_a_row_give_the_mean_vector(colors: Encoder) -> None:
    csv = "candidates,image\na|b,red.png|dark.png\nb,dark.png\n"
    files = {name: png(color) for name, color in COLORS.items()}
    reading = read_table(make_zip({"t.csv": csv.encode(), **files}))
    table = LabelTable.from_cells(reading.cells, reading.suggest_roles(), reading.files)
    found = colors.encode(table, reading.files.open).values
    np.testing.assert_allclose(found, [[0.5, 0, 0.1], [0, 0, 0.2]], atol=1e-6)


def test_segments_of_recordings_are_encoded(tmp_path: Path) -> None:
    """The first second is 0.5, the second 0.25: sum and energy of the four samples that the model takes."""
    out = io.BytesIO()
    steps = np.repeat([0.5, 0.25], 100)
    soundfile.write(out, steps, 100, format="WAV", subtype="FLOAT")
    csv = b"candidates,clip,start,end,x\na|b,c.wav,0,1,1\nb,c.wav,1,2,2\na,c.wav,,,3\nb,,,,4\na,c.wav,0,0.02,5\n"
    reading = read_table(make_zip({"t.csv": csv, "c.wav": out.getvalue()}))
    table = LabelTable.from_cells(reading.cells, reading.suggest_roles(), reading.files)
    assert table.roles.start == "start"
    about = {"kind": "sound", "rate": 100, "seconds": 0.04}
    sounds = Encoder(encoder(tmp_path, about, energy(4)))
    found = sounds.encode(table, reading.files.open)
    expected = [[2, 1], [1, 0.25], [2, 1], [np.nan, np.nan], [1, 0.5]]
    np.testing.assert_allclose(found.values, expected, rtol=1e-6)
    assert found.notes == (
        "1 row has nothing to encode: '4'.",
        "3 rows are longer than the encoder hears at once; only the first 0.04 s were heard: '1', '2', '3'. "
        'To hear more, raise "windows" in encoder.json.',
    )


def sounds_of(folder: Path, spans: Sequence[tuple[float, float]], on_step: Any = None, **about: Any) -> Encoded:
    """The output of `energy` for segments of a three-second recording whose samples sum to 1, 2 and 4 per second."""
    out = io.BytesIO()
    soundfile.write(out, np.repeat([0.01, 0.02, 0.04], 100), 100, format="WAV", subtype="FLOAT")
    rows = [f"a|b,c.wav,{start},{end},{row}" for row, (start, end) in enumerate(spans)]
    csv = "\n".join(["candidates,clip,start,end,x", *rows]).encode()
    reading = read_table(make_zip({"t.csv": csv, "c.wav": out.getvalue()}))
    table = LabelTable.from_cells(reading.cells, reading.suggest_roles(), reading.files)
    samples = round(100 * about["seconds"])
    sounds = Encoder(encoder(folder, {"kind": "sound", "rate": 100, **about}, energy(samples)))
    return sounds.encode(table, reading.files.open, on_step)


def test_short_segments_are_encoded_in_one_batch(tmp_path: Path) -> None:
    """16 windows at once, at most 8 a row: 16 rows of one window, and 4 rows of four."""
    for length, told in ((1, [16, 20]), (2.5, [4, 8, 12, 16, 20])):
        steps: list[int] = []
        spans = [(row / 100, row / 100 + length) for row in range(20)]
        sounds_of(tmp_path, spans, lambda done, *_, steps=steps: steps.append(done), seconds=1, hop=0.5, windows=8)
        assert steps == told


def test_sound_windows_cover_the_segment_and_are_averaged(tmp_path: Path) -> None:
    """Windows of a second of [0, 3): sums 1, 2 and 4. Of [0, 2.5) the last window ends in silence: 1, 2, 2."""
    found = sounds_of(tmp_path, [(0, 3), (0, 2.5), (1, 2)], seconds=1, windows=3)
    np.testing.assert_allclose(found.values[:, 0], [7 / 3, 5 / 3, 2], rtol=1e-6)
    assert found.notes == ()


def test_sound_windows_overlap_by_hop(tmp_path: Path) -> None:
    """Windows at 0, 0.5 and 1 of [0, 2): sums 1, 1.5 and 2."""
    found = sounds_of(tmp_path, [(0, 2)], seconds=1, hop=0.5, windows=10)
    np.testing.assert_allclose(found.values[:, 0], [1.5], rtol=1e-6)


def test_too_few_windows_are_spread_evenly_and_reported(tmp_path: Path) -> None:
    """Two of the six half seconds of [0, 3), the first and the last: sums 0.5 and 2."""
    found = sounds_of(tmp_path, [(0, 3), (0, 1)], seconds=0.5, windows=2)
    np.testing.assert_allclose(found.values[:, 0], [1.25, 0.5], rtol=1e-6)
    assert found.notes == (
        "1 row is longer than the encoder hears at once; 2 parts of 0.5 s each, evenly over the row, were heard: '1'. "
        'To hear more, raise "windows" in encoder.json.',
    )


def test_centred_window_covers_the_middle_and_the_context_of_a_short_segment(tmp_path: Path) -> None:
    """Of [0, 3) the second [1, 2); around [.8, 1.2) the second [.5, 1.5); before the recording there is silence."""
    found = sounds_of(tmp_path, [(0, 3), (0.8, 1.2), (0, 0.4)], seconds=1, centred=True)
    np.testing.assert_allclose(found.values[:, 0], [2, 1.5, 0.7], rtol=1e-6)
    assert "only the middle 1 s were heard: '1'." in found.notes[0]


def test_peak_removes_mean_and_scales_each_window(tmp_path: Path) -> None:
    """[.5, 1.5) is 0.01, then 0.02: less its mean ±.005, scaled to ±.25; energy 100 · .25². Silence stays."""
    found = sounds_of(tmp_path, [(0.5, 1.5), (0, 1)], seconds=1, peak=0.25)
    np.testing.assert_allclose(found.values, [[0, 6.25], [0, 0]], atol=1e-5)


def test_vectors_of_several_texts_stand_side_by_side(tmp_path: Path) -> None:
    """Which text says it matters, as between two replies."""
    words = Encoder(encoder(tmp_path, {"kind": "text"}, words_of("wren", "robin")))
    texts = {"a": ["wren", "wren", "", ""], "b": ["robin", "wren", "robin", ""]}
    cells = pd.DataFrame({"c": ["x|y"] * 4, **texts}, dtype="str")
    roles = Roles(candidates="c", text="b", more_texts=("a",))
    found = words.encode(LabelTable.from_cells(cells, roles), no_files)
    wren, robin, nothing = [1, 0], [0, 1], [0, 0]
    assert found.values[:3].tolist() == [[*robin, *wren], [*wren, *wren], [*robin, *nothing]]
    assert np.isnan(found.values[3]).all()
    assert found.notes == ("1 row has nothing to encode: '4'.",)


def test_texts_are_batched_by_length_and_vectors_stay_with_their_rows(tmp_path: Path) -> None:
    """One text at a time is as good as a batch; batches hold texts of alike length."""
    (tmp_path / "vocab.txt").write_text("[PAD]\n[UNK]\n[CLS]\n[SEP]\nthe\nwren\n")
    about = {"kind": "text", "tokenizer": "vocab.txt"}
    words = Encoder(encoder(tmp_path, about, tokens()))
    texts = ["wren " * (1 + row * 7 % 30) for row in range(30)]
    cells = pd.DataFrame({"c": ["a|b"] * 30, "t": texts}, dtype="str")
    table = LabelTable.from_cells(cells, Roles(candidates="c", text="t"))
    seen: list[list[int]] = []

    def take(keys: Sequence[Key], about: Description) -> list[ModelInputs]:
        seen.append([len(str(key).split()) for key in keys])
        return [ModelInputs((key,)) for key in keys]

    found = words.encode(table, no_files, take=take).values
    assert seen == [list(range(1, 17)), list(range(17, 31))]
    counts = np.array([len(text.split()) for text in texts])
    # [CLS] is 2, [SEP] 3, "wren" 5: the mean over counts + 2 tokens.
    np.testing.assert_allclose(found[:, 0], (5 + 5 * counts) / (counts + 2), rtol=1e-6)


def test_prefix_is_added_to_each_text(tmp_path: Path) -> None:
    words = Encoder(encoder(tmp_path, {"kind": "text", "prefix": "query: "}, words_of("query: wren", "wren")))
    cells = pd.DataFrame({"c": ["a|b"] * 2, "t": ["wren", "owl"]}, dtype="str")
    found = words.encode(LabelTable.from_cells(cells, Roles(candidates="c", text="t")), no_files)
    np.testing.assert_array_equal(found.values, [[1, 0], [0, 0]])


def test_first_token_pooling_uses_the_first_token(tmp_path: Path) -> None:
    (tmp_path / "vocab.txt").write_text("[PAD]\n[UNK]\n[CLS]\n[SEP]\nwren\n")
    about = {"kind": "text", "tokenizer": "vocab.txt", "pooling": "first", "prefix": "wren "}
    words = Encoder(encoder(tmp_path, about, tokens()))
    cells = pd.DataFrame({"c": ["a|b"] * 2, "t": ["wren wren", "wren"]}, dtype="str")
    found = words.encode(LabelTable.from_cells(cells, Roles(candidates="c", text="t")), no_files)
    np.testing.assert_array_equal(found.values, [[2, 4], [2, 4]])  # [CLS]


def test_recordings_that_cannot_be_decoded_are_reported(tmp_path: Path) -> None:
    reading = read_table(make_zip({"t.csv": b"candidates,clip,x\na|b,c.wav,1\n", "c.wav": WAV}))
    table = LabelTable.from_cells(reading.cells, reading.suggest_roles(), reading.files)
    sounds = Encoder(encoder(tmp_path, {"kind": "sound", "rate": 100, "seconds": 1}, energy(100)))
    assert reading.files is not None
    with pytest.raises(EncoderError, match="No row could be encoded; the first: "):
        sounds.encode(table, reading.files.open)


# How long it takes: measured on the first 32, which are spread over the rows


@pytest.mark.parametrize(("at_once", "n"), [(16, 33), (16, 100), (5, 35), (5, 36), (1, 33), (1, 200), (64, 40)])
def test_sample_comes_first_and_every_item_appears_once(at_once: int, n: int) -> None:
    items = [str(number) for number in range(n)]
    batches = [list(map(int, one)) for one in _batches(items, at_once)]
    flat = [item for batch in batches for item in batch]
    assert sorted(flat) == list(range(n))
    assert max(map(len, batches)) <= at_once
    assert all(one == list(range(one[0], one[0] + len(one))) for one in batches[: -(-32 // min(at_once, 16))])
    if n > 35:
        assert np.mean(flat[:32]) == pytest.approx((n - 1) / 2, abs=2), "long and short ones count alike"


def test_speed_is_measured_on_the_first_32(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    own = Encoder(encoder(tmp_path / "words", {"kind": "text"}, words_of("a")))
    ticks = iter([10.0, 12.0])
    monkeypatch.setattr(encoding, "perf_counter", lambda: next(ticks))
    told: list[float | None] = []
    frame = pd.DataFrame({"text": [f"row {n}" for n in range(50)], "labels": "a|b"})
    table = LabelTable.from_frame(frame, Roles(candidates="labels", text="text"))
    own.encode(table, no_files, lambda *_: told.append(own.ms))
    assert told == [None, 62.5, 62.5, 62.5]
    assert own.ms == 62.5
