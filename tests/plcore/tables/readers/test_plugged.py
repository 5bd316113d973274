"""File formats of plug-ins: their declarations, which files they read, and what happens when one fails."""

from __future__ import annotations

import gzip
import json
from collections.abc import Callable
from pathlib import Path

import pandas as pd
import pytest

from plcore import TableError
from plcore.arrays import Plugin, parts_barred
from plcore.tables import ReaderPlugin, plugged, read_stored, read_table, shape_name, store_plain_csv
from plcore.tables.plugged import READER_GROUP
from tests.plcore.tables.readers.cases import CASES

HERE = "tests.plcore.tables.readers.test_plugged"
WORDS = "Bar table: cells between bars"
BARS = b"id|candidates\na|fox;hare\nb|fox\n"


def bars(data: bytes, name: str) -> dict[str, list[str]]:
    header, *rows = (line.split("|") for line in data.decode().splitlines())
    return {column: [row[place] for row in rows] for place, column in enumerate(header)}


def numbers(data: bytes, name: str) -> pd.DataFrame:
    return pd.DataFrame({"n": [1.0, None, 2.5], "name": [name, "", "é"]})


def failing(data: bytes, name: str) -> dict[str, list[str]]:
    raise ValueError(f"row 2 has 1 cell of {len(data)} bytes")


def uneven(data: bytes, name: str) -> dict[str, list[str]]:
    return {"id": ["a"], "candidates": ["fox", "hare"]}


def empty(data: bytes, name: str) -> dict[str, list[str]]:
    return {"id": []}


def refusing(data: bytes, name: str) -> dict[str, list[str]]:
    return read_table(b"id,id\n1,2\n").cells.to_dict("list")


Plug = Callable[..., None]


@pytest.fixture
def plug_in(monkeypatch: pytest.MonkeyPatch) -> Plug:
    def put(function: str, starts: tuple[bytes, ...] = (), endings: tuple[str, ...] = (".bars",)) -> None:
        declared = ReaderPlugin(WORDS, f"{HERE}:{function}", starts, endings)
        broken = Plugin(READER_GROUP, "aaa", "winnow-bars", "1.0", None, "x:y cannot be imported. Fix: z.")
        found = (broken, Plugin(READER_GROUP, "bars", "winnow-bars", "1.0", declared, None))
        monkeypatch.setattr(plugged, "reader_plugins", lambda: found)

    return put


@pytest.mark.parametrize(
    ("how", "why"),
    [
        ({"endings": (".CSV",)}, r"endings must be a tuple of endings in lower case, such as '\.pipes'\. Got"),
        ({"endings": (".a*",)}, "endings must be a tuple of endings in lower case"),
        ({"endings": ".bars"}, "endings must be a tuple of endings in lower case"),
        ({"endings": (".csv",)}, r"endings must not be '\.csv', which Winnow reads itself"),
        ({"endings": (".bars.gz",)}, r"endings must not be '\.bars\.gz'"),
        ({"starts": (b"",)}, r"starts must be a tuple of bytes\. Got"),
        ({"starts": b"|"}, "starts must be a tuple of bytes"),
        ({}, "starts or endings must be given: a file is recognised by nothing else"),
    ],
)
def test_wrong_declaration_is_refused(how: dict[str, tuple[str, ...]], why: str) -> None:
    with pytest.raises(ValueError, match=why):
        ReaderPlugin(WORDS, "a:b", **how)  # type: ignore[arg-type]


def test_table_is_read_and_the_format_names_the_plugin(plug_in: Plug, tmp_path: Path) -> None:
    assert read_table(BARS, "birds.bars").format == "CSV"
    plug_in("bars")
    reading = read_table(BARS, "birds.BARS")
    assert reading.format == "Bar table (winnow-bars 1.0)"
    assert reading.cells.to_dict("list") == {"id": ["a", "b"], "candidates": ["fox;hare", "fox"]}
    assert reading.suggest_roles().candidates == "candidates"
    (tmp_path / "birds.bars").write_bytes(BARS)
    assert read_table(tmp_path / "birds.bars").format == reading.format
    packed = read_table(gzip.compress(BARS), "birds.bars.gz")
    assert packed.format == "Bar table (winnow-bars 1.0), packed with gzip"
    pd.testing.assert_frame_equal(packed.cells, reading.cells)


def test_values_become_the_text_of_cells(plug_in: Plug) -> None:
    plug_in("numbers")
    cells = read_table(b"\x00\xff binary", "x.bars").cells
    assert cells.to_dict("list") == {"n": ["1", "", "2.5"], "name": ["x.bars", "", "é"]}


def test_start_and_ending_must_both_fit(plug_in: Plug) -> None:
    plug_in("bars", starts=(b"ID|", b"id|"))
    assert read_table(BARS, "birds.bars").format.startswith("Bar table")
    assert not read_table(BARS, "birds.txt").format.startswith("Bar table")
    assert not read_table(b"no" + BARS, "birds.bars").format.startswith("Bar table")
    plug_in("bars", starts=(b"id|",), endings=())
    assert read_table(BARS).format.startswith("Bar table")


def test_plugin_reads_no_file_that_winnow_recognises(plug_in: Plug) -> None:
    def seen(data: bytes) -> str:
        try:
            reading = read_table(data, "x.bars")
        except TableError as error:
            return str(error)
        return shape_name(reading) or reading.format

    files = {path.name: path.read_bytes() for path in CASES.iterdir() if path.is_file()}
    before = {name: words for name, data in files.items() if (words := seen(data)) != "CSV"}
    plug_in("failing")
    assert {name: seen(files[name]) for name in before} == before
    assert len(before) >= 50


def test_winnow_formats_come_before_plugins(plug_in: Plug) -> None:
    plug_in("failing")
    records = json.dumps([{"id": "a", "candidates": ["fox", "hare"]}]).encode()
    assert read_table(records, "x.bars").format == "JSON"
    assert read_table(b"@relation r\n@attribute a numeric\n@attribute c {x,y}\n@data\n1,x\n", "x.bars").format == "ARFF"
    with pytest.raises(TableError, match="a PDF document"):
        read_table(b"%PDF-1.7", "x.bars")


@pytest.mark.parametrize(
    ("function", "why"),
    [
        (
            "failing",
            r"The plug-in bars of winnow-bars 1\.0 cannot read this file \(ValueError: row 2 has 1 cell of 31 bytes\)"
            r"\. Fix: Correct the file, ask the plug-in's author, or save the table as CSV and import that",
        ),
        ("uneven", r"The plug-in bars of winnow-bars 1\.0 cannot read this file \(ValueError: All arrays must be"),
        ("WORDS", rf"cannot read this file \(TypeError: {HERE}:WORDS is not a function\)"),
        (
            "gone",
            rf"The plug-in bars of winnow-bars 1\.0 has this format, but {HERE}:gone of a plug-in cannot be imported",
        ),
        ("empty", "The file has no data rows"),
        ("refusing", "'id'"),
    ],
)
def test_failure_is_refused_and_named(plug_in: Plug, function: str, why: str) -> None:
    plug_in(function)
    with pytest.raises(TableError, match=why):
        read_table(BARS, "x.bars")


def test_function_is_not_imported_where_parts_are_barred(plug_in: Plug) -> None:
    plug_in("bars")
    with parts_barred("not here. Fix: elsewhere."), pytest.raises(TableError, match="part of a plug-in: not here"):
        read_table(BARS, "x.bars")


def test_file_of_a_plugin_is_not_streamed_as_csv(plug_in: Plug, tmp_path: Path) -> None:
    plug_in("bars")
    (tmp_path / "file").write_bytes(b"id,candidates\na,fox\n" * 3)
    assert not store_plain_csv(tmp_path / "file", tmp_path, "x.bars")
    assert store_plain_csv(tmp_path / "file", tmp_path, "x.csv")
    assert read_stored(tmp_path).format == "CSV"
