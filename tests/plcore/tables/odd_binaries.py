"""Workbooks, arrays, Parquet and packed files that are not what a reader hopes for."""

from __future__ import annotations

import datetime
import gzip
import io
import zlib
from functools import partial
from typing import Any

import numpy as np
import pandas as pd
import pyarrow as pa
import pyarrow.parquet

from tests.plcore.tables.odd_entry import Odd, Wanted, refused, right
from tests.plcore.tables.odd_texts import CSV, SETS
from tests.plcore.tables.readers.test_arrays import mat
from tests.plcore.tables.readers.test_excel import workbook
from tests.plcore.tables.readers.xls import table, xls
from tests.plcore.tables.zips import make_zip, picture

_ROWS: list[list[Any]] = [["id", "candidates", "w"], ["a", "wren|robin", 1.5], ["b", "robin", 2.5]]
_SURE: Wanted = [{"wren": 0.6, "robin": 0.4}, {"robin": 1.0}]
_gzipped = partial(gzip.compress, mtime=0)


def _workbooks() -> list[Odd]:
    def hidden(book: Any) -> None:
        book["Notes"].sheet_state = "hidden"

    def merged(book: Any) -> None:
        book["S"].merge_cells("A1:B1")

    def merged_cells(book: Any) -> None:
        book["S"].merge_cells("B2:B3")

    head, *rows = _ROWS
    days = [datetime.date(2026, 3, 4), datetime.date(2026, 3, 5)]
    dated = [[*head, "day"], *([*row, day] for row, day in zip(rows, days, strict=True))]
    twice = [[*head, "twice"], *([*row, f"=C{k}*2"] for k, row in enumerate(rows, start=2))]
    codes = [head, ["a", 3, 1.5], ["b", 4, 2.5], ["c", 3, 3.5]]
    scored = [
        ["w", "label1", "score1", "label2", "score2"],
        [1, "wren", 0.6, "robin", 0.4],
        [2, "robin", 1, None, None],
    ]
    nameless = [["id", None, "w"], *rows]
    whole = workbook({"S": _ROWS})
    twice_notes = ("a formula that was never calculated",)
    dates = {"day": ["2026-03-04", "2026-03-05"]}
    return [
        right("a workbook", whole, SETS, "a.xlsx"),
        right("a workbook called CSV", whole, SETS),
        right("an old workbook", xls({"S": table(_ROWS)}), SETS, "a.xls"),
        right(
            "a second sheet, hidden",
            workbook({"S": _ROWS, "Notes": [["x"]]}, hidden),
            SETS,
            "a.xlsx",
            notes=("'Notes'",),
        ),
        right("an empty sheet first", workbook({"Empty": [], "S": _ROWS}), SETS, "a.xlsx", notes=("'Empty'",)),
        right(
            "a hidden sheet first",
            workbook({"Notes": [["candidates", "w"], ["x|y", 1]], "S": _ROWS}, hidden),
            SETS,
            "a.xlsx",
            notes=("Only the sheet 'S' was read, not 'Notes'",),
        ),
        right("space around cells", workbook({"S": [[], *([None, *row] for row in _ROWS)]}), SETS, "a.xlsx"),
        right("dates in a workbook", workbook({"S": dated}), SETS, "a.xlsx", cells=dates),
        right("numbers as labels", workbook({"S": codes}), [{"3"}, {"4"}], "a.xlsx", "nothing-to-ask"),
        right("label, score in a workbook", workbook({"S": scored}), _SURE, "a.xlsx"),
        right("a formula never calculated", workbook({"S": twice}), SETS, "a.xlsx", notes=twice_notes),
        refused("a merged header", workbook({"S": nameless}, merged), "merged", "Line 1", file="a.xlsx"),
        right("merged candidates", workbook({"S": _ROWS}, merged_cells), [SETS[0], SETS[0]], "a.xlsx"),
        refused("a workbook of a header alone", workbook({"S": _ROWS[:1]}), "no data rows", file="a.xlsx"),
        refused("a workbook without cells", workbook({"S": []}), "no cells", file="a.xlsx"),
        refused("a workbook column without a name", workbook({"S": nameless}), "column 2", file="a.xlsx"),
        refused("two cells far apart", xls({"S": [(0, 0, "a"), (65535, 255, "b")]}), "16,777,216 cells", file="a.xls"),
        refused("a workbook that is cut off", whole[:2000], "zip", file="a.xlsx"),
    ]


def _parquet() -> list[Odd]:
    def of(**columns: Any) -> bytes:
        out = io.BytesIO()
        pa.parquet.write_table(pa.table({**columns, "w": [1.5, 2.5][: len(columns["candidates"])]}), out)
        return out.getvalue()

    lists = [["wren", "robin"], ["robin"]]
    nested = [[{"label": "wren", "score": 0.6}, {"label": "robin", "score": 0.4}], [{"label": "robin", "score": 1.0}]]
    coded = pa.array(["wren|robin", "robin"]).dictionary_encode()
    frame = pd.DataFrame({"candidates": ["wren|robin", "robin"], "w": [1.5, 2.5]})
    return [
        right("Parquet with lists", of(candidates=lists), SETS, "a.parquet"),
        right("Parquet with lists of objects", of(candidates=nested), _SURE, "a.parquet"),
        right("Parquet with dictionaries", of(candidates=coded), SETS, "a.parquet"),
        right("pandas' own Parquet", frame.to_parquet(), SETS, "a.parquet"),
        refused("Parquet without rows", of(candidates=pa.array([], pa.string())), "no data rows", file="a.parquet"),
        refused("Parquet with null", of(candidates=[lists[0], None]), "Row 2", "no candidate", file="a.parquet"),
        refused("Parquet that is cut off", of(candidates=lists)[:-9], "cannot be read", file="a.parquet"),
    ]


def _arrays() -> list[Odd]:
    def npz(**arrays: Any) -> bytes:
        out = io.BytesIO()
        np.savez(out, **arrays)
        return out.getvalue()

    X, S = np.array([[1.5, 2.0, 3.0], [2.5, 3.0, 1.0]]), np.array([[1, 1, 0], [0, 1, 1]])
    sets: Wanted = [{"0", "1"}, {"1", "2"}]
    new_matlab = b"MATLAB 7.3 MAT-file, Platform: GLNXA64".ljust(512) + b"\x89HDF\r\n\x1a\n"
    objects = np.array([{"a": 1}, None], dtype=object)
    square = mat(data=X, partial_target=np.eye(2))
    arff = "@relation 'b: -C 2'\n@attribute a {0,1}\n@attribute b {0,1}\n@attribute w real\n@data\n1,0,1.5\n0,?,2.5\n"
    return [
        right("arrays", npz(X=X, S=S), sets, "a.npz"),
        right("arrays packed again", _gzipped(npz(X=X, S=S)), sets, "a.npz.gz"),
        right("MATLAB, (classes, rows)", mat(data=X, partial_target=S.T), sets, "a.mat"),
        refused("MATLAB with as many rows as classes", square, "as many rows as columns", file="a.mat"),
        refused("MATLAB 7.3", new_matlab, "version 7.3", "'-v7'", file="a.mat"),
        refused("HDF5", b"\x89HDF\r\n\x1a\n" + bytes(100), "HDF5", file="a.mat"),
        refused("arrays of two lengths", npz(X=X, S=S[:1]), "but the features have 2 rows", file="a.npz"),
        refused("arrays without features", npz(S=S), "no matrix of features", file="a.npz"),
        refused("candidates of 0, 1 and 2", npz(X=X, S=S * 2), "Row 1", "hold 2", file="a.npz"),
        refused("a true class that is none", npz(X=X, S=S, y=np.array([0, 7])), "Row 2", "class 7", file="a.npz"),
        refused("pickled arrays", npz(X=X, S=objects), "pickled", file="a.npz"),
        refused("an array without a name", b"\x93NUMPY\x01\x00" + bytes(80), "cannot be read", file="a.npy"),
        refused("a pickle", b"\x80\x04\x95" + bytes(20), "pickle", file="a.pkl"),
        right("MEKA's ARFF", arff, [{"a"}, {"b"}], "a.arff"),
        refused("ARFF with an undeclared value", arff.replace("0,?", "5,?"), "5", file="a.arff"),
        refused("ARFF with a row too short", arff.replace("0,?,2.5", "0,?"), "Line 7", file="a.arff"),
        refused("ARFF without rows", arff.partition("@data")[0] + "@data\n", "no data rows", file="a.arff"),
    ]


def _zeros(times: int) -> bytes:
    """Ten million zeros in gzip, this many times over; packed once, since every process of the tests does it."""
    zeros, packer, checked = bytes(10_000_000), zlib.compressobj(9, zlib.DEFLATED, -zlib.MAX_WBITS), 0
    packed = packer.compress(zeros) + packer.flush(zlib.Z_FULL_FLUSH)
    for _ in range(times):
        checked = zlib.crc32(zeros, checked)
    end = checked.to_bytes(4, "little") + (times * len(zeros)).to_bytes(4, "little")
    return gzip.compress(b"", mtime=0)[:10] + packed * times + packer.flush() + end


def _packed() -> list[Odd]:
    named = "candidates,image,w\nwren|robin,a.svg,1\nrobin,b.svg,2\n"
    shown = named.replace("svg", "png").encode()
    text, one, two = CSV.encode(), picture(1), picture(2)
    svg = b"<svg xmlns='http://www.w3.org/2000/svg'/>"
    drawings = make_zip({"a.csv": named.encode(), "a.svg": svg, "b.svg": svg})
    lacking = make_zip({"a.csv": shown, "a.png": one})
    litter = make_zip({"x/a.csv": text, "__MACOSX/x/._a.csv": b"\0", ".DS_Store": b"\0"})
    lines = b'{"candidates": ["wren", "robin"], "w": 1}\n{"candidates": ["robin"], "w": 2}'
    bomb = make_zip({"a.csv": text, "a.bin": bytes(30_000_000)})
    return [
        right("gzip", _gzipped(text), SETS, "a.csv.gz"),
        right("a zip of a CSV", make_zip({"a.csv": text}), SETS, "a.zip"),
        right("a zip in a folder, with litter", litter, SETS, "a.zip"),
        right("a zip of JSON", make_zip({"a.jsonl": lines}), SETS, "a.zip"),
        right("a zip of pictures", make_zip({"a.csv": shown, "a.png": one, "b.png": two}), SETS, "a.zip"),
        refused("a zip of drawings", drawings, "Row 1 (line 2), column 'image'", "SVG", file="a.zip"),
        refused("a zip without a picture", lacking, "Row 2 (line 3), column 'image'", "'b.png'", file="a.zip"),
        refused("gzip in a zip", make_zip({"a.csv.gz": _gzipped(text)}), "another archive", file="a.zip"),
        refused("gzip called CSV in a zip", make_zip({"a.csv": _gzipped(text)}), "gzip", file="a.zip"),
        refused("a zip in gzip", _gzipped(make_zip({"a.csv": text})), "another archive", file="a.zip.gz"),
        refused("a zip in a zip", make_zip({"a.zip": make_zip({"a.csv": text})}), "another archive", file="a.zip"),
        refused("two tables in a zip", make_zip({"a.csv": text, "b.csv": text}), "2 tables", file="a.zip"),
        refused("a path out of the zip", make_zip({"../a.csv": text}), "'../a.csv'", file="a.zip"),
        refused("gzip that is cut off", _gzipped(text * 50)[:-20], "ends in the middle", file="a.csv.gz"),
        refused("a zip that is cut off", make_zip({"a.csv": text})[:-30], "zip cannot be read", file="a.zip"),
        refused("a bomb in gzip", _zeros(25), "more than 200 MB", file="a.csv.gz"),
        refused("a bomb in a zip", bomb, "at most 20", file="a.zip"),
        refused("a PDF", b"%PDF-1.7\n" + bytes(50), "PDF", file="a.pdf"),
        refused("a picture", picture(3), "an image", file="a.png"),
        refused("a RAR archive", b"Rar!\x1a\x07\x01\x00" + bytes(20), "RAR", file="a.rar"),
        refused("a database", b"SQLite format 3\0" + bytes(90), "SQLite", file="a.db"),
        refused("random bytes", np.random.default_rng(7).bytes(3000), "Fix", file="a.csv"),
    ]


FILES: list[Odd] = [*_workbooks(), *_parquet(), *_arrays(), *_packed()]
