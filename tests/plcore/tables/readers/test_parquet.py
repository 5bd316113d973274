"""Parquet and Feather written by pandas and pyarrow, plain and with Hugging Face column metadata."""

from __future__ import annotations

import datetime
import io
import json
from decimal import Decimal
from typing import Any

import numpy as np
import pandas as pd
import pyarrow as pa
import pyarrow.feather
import pyarrow.parquet as pq
import pytest
from hypothesis import given
from hypothesis import strategies as st

from plcore.tables.media.file_tree import MediaError
from plcore.tables.problems import TableError
from plcore.tables.readers.hugging_face import read_features
from plcore.tables.readers.parquet import EmbeddedFiles, file_name
from plcore.tables.readers.reading import TableReading
from plcore.tables.readers.recognise import read_table
from plcore.tables.roles.doubts import find_doubts
from plcore.tables.roles.roles import Roles
from plcore.tables.table import LabelTable
from tests.plcore.tables.readers.cases import refused
from tests.plcore.tables.zips import WAV, contents, picture

NAMES = ["wren", "robin", "a|b, é"]
LABEL = {"names": NAMES, "_type": "ClassLabel"}
FILE = pa.struct([("bytes", pa.binary()), ("path", pa.string())])


def parquet(table: pa.Table, **options: Any) -> bytes:
    out = io.BytesIO()
    pq.write_table(table, out, **options)
    return out.getvalue()


def hugging_face(columns: dict[str, Any], features: dict[str, Any]) -> bytes:
    said = json.dumps({"info": {"features": features}})
    return parquet(pa.table(columns).replace_schema_metadata({"huggingface": said}))


MOMENT = datetime.datetime(2024, 1, 2, 3, 4, 5)
COLUMNS: dict[str, tuple[Any, list[str]]] = {
    "text": (pa.array(["é", None, ""]), ["é", "", ""]),
    "large": (pa.array(["x", "y", None], pa.large_string()), ["x", "y", ""]),
    "view": (pa.array(["x", "y", None], pa.string_view()), ["x", "y", ""]),
    "dictionary": (pa.array(["b", None, "b"]).dictionary_encode(), ["b", "", "b"]),
    "numbered": (pa.array([3, None, 3]).dictionary_encode(), ["3", "", "3"]),
    "whole": (pa.array([1, None, 3]), ["1", "", "3"]),
    "large number": (pa.array([2**63, 0, 1], pa.uint64()), ["9223372036854775808", "0", "1"]),
    "number": (pa.array([1.0, None, 0.1]), ["1", "", "0.1"]),
    "single": (pa.array([0.1, float("nan"), 2], pa.float32()), ["0.1", "", "2"]),
    "half": (pa.array(np.array([0.5, 1, 2], np.float16)), ["0.5", "1", "2"]),
    "truth": (pa.array([True, None, False]), ["true", "", "false"]),
    "decimal": (pa.array([Decimal("1.50"), None, Decimal("-2.00")]), ["1.50", "", "-2.00"]),
    "day": (pa.array([MOMENT.date(), None, None]), ["2024-01-02", "", ""]),
    "moment": (pa.array([None, None, MOMENT], pa.timestamp("ns")), ["", "", "2024-01-02 03:04:05"]),
    "zoned": (pa.array([MOMENT, None, None], pa.timestamp("us", "UTC")), ["2024-01-02 03:04:05+00:00", "", ""]),
    "time": (pa.array([MOMENT.time(), None, None]), ["03:04:05", "", ""]),
    "texts": (pa.array([["a", "é"], None, []]), ['["a", "é"]', "", "[]"]),
    "objects": (pa.array([{"a": 1, "b": [2.5]}, None, {"a": None, "b": []}]),
                ['{"a": 1, "b": [2.5]}', "", '{"a": null, "b": []}']),
    "ragged": (pa.array([[1.5], [1.0, 2.0], None]), ["[1.5]", "[1.0, 2.0]", ""]),
    "nothing": (pa.nulls(3), ["", "", ""]),
}  # fmt: skip


@pytest.mark.parametrize("name", COLUMNS)
def test_column_of_any_type_becomes_text(name: str) -> None:
    array, text = COLUMNS[name]
    table = pa.table({"id": [1, 2, 3], name: array})
    assert read_table(parquet(table)).cells.to_dict("list") == {"id": ["1", "2", "3"], name: text}
    chunked = pa.concat_tables([table.slice(0, 1), table.slice(1)])
    assert read_table(parquet(chunked, row_group_size=1)).cells[name].tolist() == text
    out = io.BytesIO()
    pyarrow.feather.write_feather(table, out)
    reading = read_table(out.getvalue())
    assert (reading.format, reading.cells[name].tolist()) == ("Feather", text)


def test_pandas_index_becomes_a_column_unless_it_is_a_range() -> None:
    frame = pd.DataFrame({"n": [1, 2]})
    cut = pd.DataFrame({"n": [5, 1, 2]}).iloc[1:]
    named = frame.set_index(pd.Index(["a", "b"], name="bird"))
    strings = frame.set_index(pd.Index(["a", "b"]))
    shuffled = frame.set_index(pd.Index([0, 1]))
    assert list(read_table(frame.to_parquet()).cells.columns) == ["n"]
    assert list(read_table(cut.to_parquet()).cells.columns) == ["n"]  # it is a range, which pandas does not store
    assert read_table(named.to_parquet()).cells["bird"].tolist() == ["a", "b"]
    assert read_table(strings.to_parquet()).cells["index"].tolist() == ["a", "b"]
    assert list(read_table(shuffled.to_parquet()).cells.columns) == ["n"]


def test_vectors_become_one_column_per_number() -> None:
    vectors = pa.array([[1.0, 0.5], None, [2.0, 3.0]])
    cells = read_table(parquet(pa.table({"id": ["a", "b", "c"], "v": vectors}))).cells
    assert cells.to_dict("list") == {"id": ["a", "b", "c"], "v_1": ["1", "", "2"], "v_2": ["0.5", "", "3"]}


def birds() -> TableReading:
    columns = {
        "image": pa.array([{"bytes": picture(1), "path": "a.png"}, {"bytes": picture(2), "path": "a.png"}, None], FILE),
        "set": pa.array([[0, 1], [2], [1, 0, 2]]),
        "label": pa.array([1, -1, None]),
        "probs": pa.array([[0.5, 0.25, 0.25], [0.0, 0.0, 1.0], [1.0, 0.0, 0.0]], pa.list_(pa.float32())),
        "w": pa.array([1.0, 2.0, 3.0]),
    }
    features = {
        "image": {"_type": "Image"},
        "set": {"feature": LABEL, "_type": "Sequence"},
        "label": LABEL,
        "probs": {"feature": {"dtype": "float32", "_type": "Value"}, "_type": "List"},
        "w": {"dtype": "float64", "_type": "Value"},
    }
    return read_table(hugging_face(columns, features))


def test_hugging_face_metadata_is_used() -> None:
    reading = birds()
    assert reading.format == "Parquet of Hugging Face"
    assert [json.loads(cell) for cell in reading.cells["set"]] == [NAMES[:2], NAMES[2:], ["robin", "wren", NAMES[2]]]
    assert reading.cells["label"].tolist() == ["robin", "", ""]
    assert reading.cells["p_robin"].tolist() == ["0.25", "0", "0"]
    assert reading.notes == ("'probs' was taken for the probabilities of the 3 classes, in their order.",)
    roles = reading.suggest_roles()
    assert (roles.candidates, roles.form, roles.truth, roles.image) == ("set", "json", "label", "image")
    assert roles.numbers == ("w",)  # class probabilities are not features


def test_images_in_cells_become_files() -> None:
    reading = birds()
    first, second, none = reading.cells["image"]
    assert first == "a.png"
    assert second.endswith("_a.png")  # another image of the same name
    assert none == ""
    kept = [reading.files.look_at("image", name)[0] for name in (first, second)]
    assert [contents(reading.files, name) for name in kept] == [picture(1), picture(2)]
    cells = reading.cells.assign(c=pd.Series(["wren|robin", "robin", "wren"], dtype="str"))
    table = LabelTable.from_cells(cells, Roles(candidates="c", image="image", image_features=True), reading.files)
    assert table.media.images.tolist() == [*kept, ""]
    reading.files.close()


@pytest.mark.parametrize(
    "written", [{"feature": LABEL, "_type": "Sequence"}, {"feature": LABEL, "_type": "List"}, [LABEL]]
)
def test_every_form_of_label_list_is_read(written: Any) -> None:
    reading = read_table(hugging_face({"c": pa.array([[0], [1, 2]]), "w": [1, 2]}, {"c": written}))
    assert [json.loads(cell) for cell in reading.cells["c"]] == [["wren"], ["robin", NAMES[2]]]
    assert reading.suggest_roles().candidates == "c"


def test_class_names_in_a_mapping_are_read() -> None:
    label = {"names": {"0": "no", "1": "yes"}, "_type": "ClassLabel"}
    assert read_table(hugging_face({"y": [1, 0]}, {"y": label})).cells["y"].tolist() == ["yes", "no"]


@pytest.mark.parametrize(
    "said", [b"", b"[]", b"{}", b'{"info": null}', b'{"info": {"features": []}}', b"\xff", b"[" * 9999]
)
def test_other_metadata_is_ignored(said: bytes) -> None:
    schema = pa.schema([("y", pa.int64())], {"huggingface": said})
    assert not read_features(schema).known
    table = pa.table({"y": [0, 1]}).replace_schema_metadata({"huggingface": said})
    assert read_table(parquet(table)).cells["y"].tolist() == ["0", "1"]


def test_label_numbers_without_a_name_are_refused_with_their_row() -> None:
    assert "Row 2, column 'y': the label 3 has no name: there are 3, from 0 to 2" in refused(
        hugging_face({"y": [0, 3]}, {"y": LABEL})
    )
    sets = {"c": pa.array([[0], [1, -1]])}
    assert "Row 2, column 'c': the label -1 has no name" in refused(hugging_face(sets, {"c": [LABEL]}))


def test_files_get_the_ending_of_their_format() -> None:
    assert file_name(picture(), "a/b\\c.png", "image", 1) == "c.png"
    assert file_name(picture(), None, "image", 7) == "image_7.png"
    assert file_name(WAV, "", "sound", 2) == "sound_2.wav"
    assert file_name(picture(0, "WEBP"), None, "i", 1) == "i_1.webp"
    assert file_name(b"?", "\n", "i", 1) == "i_1"


def test_missing_media_file_is_reported() -> None:
    files = EmbeddedFiles({"a.png": b"x"})
    assert contents(files, files.find(" a.png ")) == b"x"
    with pytest.raises(MediaError, match=r"no file 'b\.png'"):
        files.find("b.png")


def test_paths_without_bytes_stay_unchanged() -> None:
    files = pa.array([{"bytes": None, "path": "https://x/y.png"}, None], FILE)
    reading = read_table(parquet(pa.table({"image": files, "n": [1, 2]})))
    assert reading.cells["image"].tolist() == ["https://x/y.png", ""]
    assert reading.files is None


@pytest.mark.parametrize(
    "raw",
    [
        pa.array([b"\xff"]),
        pa.array([b"\xff"], pa.binary_view()),
        pa.array([b"\xff"]).dictionary_encode(),
        pa.array([[b"\xff"]]),
        pa.array([[{"bytes": b"\xff", "path": None}]], pa.list_(FILE)),
        pa.array([[("a", b"\xff")]], pa.map_(pa.string(), pa.binary())),
    ],
)
def test_binary_columns_are_left_out_and_reported(raw: pa.Array) -> None:
    reading = read_table(parquet(pa.table({"id": ["a"], "raw": raw})))
    assert list(reading.cells.columns) == ["id"]
    assert reading.notes == ("The column 'raw' holds bytes, not text: left out.",)


@pytest.mark.parametrize(
    ("table", "words"),
    [
        (pa.table({"a": pa.array([], pa.string())}), "no data rows"),
        (pa.table({"a": ["x"], "": ["y"]}), "column 2 of the header has no name"),
        (pa.table([["x"], ["y"]], names=["a", "a"]), "same name"),
    ],
)
def test_file_that_is_no_table_is_refused(table: pa.Table, words: str) -> None:
    assert words in refused(parquet(table))


def test_small_files_of_huge_tables_are_refused_before_allocation(monkeypatch: pytest.MonkeyPatch) -> None:
    rows = parquet(pa.table({"a": pa.nulls(30_000_000)}))
    assert len(rows) < 100_000
    assert "at most 20,000,000 are allowed" in refused(rows)
    monkeypatch.setattr("plcore.tables.readers.parquet.MAX_UNPACKED_MB", 1)
    assert "more than 1 MB" in refused(parquet(pa.table({"a": ["x" * 3_000_000]})))


def test_names_that_are_not_text_are_refused() -> None:
    out = io.BytesIO()
    pyarrow.feather.write_feather(pa.table({"wren": ["a"], "image": ["b"]}), out)
    assert "The Feather file cannot be read" in refused(out.getvalue().replace(b"wren", b"\xffren"))


@given(st.integers(0, 10**6), st.binary(min_size=1, max_size=20))
def test_damaged_parquet_is_read_or_refused(place: int, junk: bytes) -> None:
    data = parquet(pa.table({"id": ["a", "b"], "c": [[1.0, 2.0], [3.0, 4.0]], "s": [{"x": 1}, None]}))
    place = 4 + place % (len(data) - 4)
    try:
        reading = read_table(data[:place] + junk + data[place + len(junk) :])
    except TableError:
        return
    assert len(reading.cells)


def test_text_that_is_not_utf_8_is_refused() -> None:
    data = parquet(pa.table({"candidates": ["wren|robin", "robin"]}), compression="none", use_dictionary=False)
    with pytest.raises(TableError, match="The Parquet file cannot be read"):
        read_table(data.replace(b"wren|robin", b"wr\xffn|robin"))


@pytest.mark.parametrize("kind", [pa.list_(pa.float32()), pa.list_(pa.float64(), 3)])
@pytest.mark.parametrize(("name", "is_doubted"), [("embedding", False), ("x", True)])
def test_list_with_a_share_for_each_class_stops_import(name: str, is_doubted: bool, kind: pa.DataType) -> None:
    """Both readings are possible, unless its name says that it is a vector."""
    labels = [["wren", "jay"], ["jay"], ["owl"], ["wren"]]

    def stops(*rows: list[float]) -> list[str]:
        file = parquet(pa.table({"labels": labels, name: pa.array(rows, kind)}))
        reading = read_table(file, "a.parquet")
        table = LabelTable.from_cells(reading.cells, reading.suggest_roles(), reading.files, reading.arrays)
        return [str(one) for one in find_doubts(table) if one.stops]

    found = stops([0.2, 0.3, 0.5], [0.9, 0.1, 0], [0.33, 0.33, 0.33], [0, 0, 1])
    assert len(found) == is_doubted
    words = "3 numbers in each row, one for each class, that sum to 1: read here, models learn from them, but"
    assert all(words in one for one in found)
    assert stops([0.2, 0.3, 0.5], [0.9, 0.3, 0], [0.33, 0.33, 0.33], [0, 0, 1]) == []
    assert stops([1.2, 0.3, -0.5], [0.9, 0.1, 0], [0.33, 0.33, 0.33], [0, 0, 1]) == []


def test_list_with_a_score_for_each_label_stops_import() -> None:
    labels = [["wren", "jay"], ["jay", "emu"], ["owl", "jay"], ["wren", "owl"]]
    scores = pa.array([[0.5, 0.2], [0.6, 0.1], [0.7, 0.1], [0.4, 0.3]], pa.list_(pa.float64()))
    for columns, stops in (({"scores": scores, "labels": labels}, 1), ({"wing": scores, "labels": labels}, 0)):
        file = parquet(pa.table({"text": [f"a bird seen at {k}" for k in range(4)], **columns}))
        reading = read_table(file, "a.parquet")
        table = LabelTable.from_cells(reading.cells, reading.suggest_roles(), reading.files, reading.arrays)
        said = [str(one) for one in find_doubts(table) if one.stops]
        assert len(said) == stops
        assert all("2 numbers in each row, one for each label of a cell: read here, they count" in one for one in said)
