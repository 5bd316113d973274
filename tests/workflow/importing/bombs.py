"""Small files that would cost gigabytes or minutes, created on demand: name, file name, bytes."""

from __future__ import annotations

import gzip
import io
import json
import struct
import zipfile
import zlib
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from functools import partial
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.feather
import pyarrow.parquet

MUCH = 190_000_000
"""Bytes: the most that a zip may unpack to."""
LITTLE = 25_000_000
"""Bytes that can be unpacked within the memory limit of a small file."""
READ: frozenset[str] = frozenset()
"""Bombs that are read as tables while they are small."""
ON_THE_EDGE = frozenset({"lines of libsvm"})
"""Bombs that need about as much memory as a small file may use, so that a few megabytes decide."""
HEAD = b"id,labels,w\n"


@dataclass(frozen=True)
class Bomb:
    """A bomb. make : its bytes, made by code      file : its file name
    read : whether it is read after all; None: either is fine
    """

    name: str
    make: Callable[[], bytes]
    file: str = "table.csv"
    read: bool | None = False
    quick: bool = False


def zipped(name: str, data: bytes, **others: bytes) -> bytes:
    out = io.BytesIO()
    with zipfile.ZipFile(out, "w", zipfile.ZIP_DEFLATED) as file:
        for one, content in ((name, data), *others.items()):
            file.writestr(one, content)
    return out.getvalue()


def sea(unit: bytes, head: bytes = b"", n: int = MUCH) -> bytes:
    return head + unit * ((n - len(head)) // len(unit))


def packed_sea(unit: bytes, head: bytes = b"", n: int = MUCH) -> bytes:
    return zipped("t.csv", sea(unit, head, n))


def _texts() -> Iterator[Bomb]:
    seas = {
        "newlines": (b"\n", b""),
        "newlines after a header": (b"\n", HEAD),
        "carriage returns": (b"\r", HEAD),
        "CR LF": (b"\r\n", HEAD),
        "quotes": (b'"', b""),
        "quotes after a header": (b'"', HEAD),
        "quoted nothing": (b'"",', b""),
        "rows of one cell": (b"1\n", HEAD),
        "rows of two cells": (b"1,a\n", HEAD),
        "rows of empty cells": (b",,\n", HEAD),
        "rows of quoted cells": (b'"1","a","2"\n', HEAD),
        "rows of cells with line ends": (b'"1","a\n","2"\n', HEAD),
        "rows with broken quotes": (b'1,"a"b,2\n', HEAD),
        "short good rows": (b"1,a,2\n", HEAD),
        "commas": (b",", b""),
        "commas in a row": (b",", HEAD),
        "semicolons": (b";", b""),
        "tabs": (b"\t", b""),
        "pipes": (b"|", b""),
        "pipes in a cell": (b"a|", HEAD + b"1,"),
        "spaces": (b" ", b""),
        "spaces in a cell": (b" ", HEAD + b"1,"),
        "one letter": (b"a", b""),
        "one cell": (b"a", HEAD + b"1,"),
        "NUL characters": (b"\0", b""),
        "NULs between": (b"\0a", HEAD),
        "UTF-16 line ends": (b"\n\0", b"\xff\xfei\0d\0,\0a\0"),
        "UTF-32 line ends": (b"\n\0\0\0", b"\xff\xfe\0\0"),
        "bytes of no encoding": (b"\x81\x8d", HEAD + b"1,"),
        "letters of Windows": (b"\xe9,", b""),
        "accents over one letter": ("\u0301".encode(), HEAD + b"1,a"),
        "lines of a label track": (b"0\t1\ta\n", b""),
        "lines of libsvm": (b"1 1:1\n", b""),
        "one line of libsvm": (b" 1:1", b"1"),
        "digits": (b"1", b""),
        "comments of libsvm": (b"#\n", b"1 1:1\n"),
        "comments of ARFF": (b"%\n", b"@relation a\n"),
        "attributes": (b"@attribute a real\n", b"@relation a\n"),
        "rows of ARFF": (b"1\n", b"@relation a\n@attribute a real\n@data\n"),
        "brackets": (b"[", b""),
        "braces": (b'{"a":', b""),
        "empty objects": (b"{}\n", b'{"a":1}\n'),
        "zeros in a list": (b"0,", b'{"a":['),
        "objects in a list": (b"{},", b"["),
        "one string of JSON": (b"a", b'{"a":"'),
        "one number of JSON": (b"1", b'{"a":'),
        "escapes": (b"\\u0000", b'[{"a":"'),
        "rows of detections with commas": (
            b"0.0,3.0,a,b,c,d,e,f,g,h,i,0.5\n",
            b"Start (s),End (s),Scientific name,Common name,Confidence,File\n",
        ),
    }
    for name, (unit, head) in seas.items():
        yield Bomb(f"a sea of {name}", partial(packed_sea, unit, head), "bomb.zip", quick=name == "quotes")
        small = partial(packed_sea, unit, head, LITTLE)
        read = None if name in ON_THE_EDGE else name in READ
        yield Bomb(f"a lake of {name}", small, "bomb.zip", read=read, quick=name == "short good rows")
    yield Bomb("a gzip of newlines", lambda: gzip.compress(sea(b"\n", HEAD), 9, mtime=0), "bomb.csv.gz")
    yield Bomb("gzips one after the other", lambda: gzip.compress(b"\n" * 10**6, 9, mtime=0) * 190, "a.csv.gz")
    yield Bomb("a gzip in a gzip", lambda: gzip.compress(gzip.compress(sea(b"\n"), 9), 9), "a.csv.gz")


def _wide() -> Iterator[Bomb]:
    def columns(n: int, rows: int, value: str = "1") -> bytes:
        names = ",".join(f"e{k}" for k in range(n))
        return f"id,labels,{names}\n".encode() + b"".join(
            f"{row},a|b,{','.join([value] * n)}\n".encode() for row in range(rows)
        )

    yield Bomb("a million columns", lambda: columns(10**6, 1), quick=True)
    yield Bomb("a million columns in a header alone", lambda: columns(10**6, 0))
    yield Bomb("a thousand columns", lambda: columns(1_000, 3), read=True, quick=True)
    yield Bomb("ten thousand columns", lambda: columns(10_000, 3), read=True)
    yield Bomb("a hundred thousand columns", lambda: columns(100_000, 3))
    yield Bomb("ten thousand columns of words", lambda: columns(10_000, 3, "wren"), read=True)
    yield Bomb("a million lines in the header", lambda: b'"' + b"a\n" * 10**6 + b'",labels\n1,a\n', read=True)
    yield Bomb(
        "nine hundred thousand classes",
        lambda: HEAD + "".join(f"{k},c{k}|d{k},1\n" for k in range(450_000)).encode(),
        read=True,
    )
    yield Bomb("lists in lists in a cell", lambda: HEAD + b'1,"' + b"[" * 10**6 + b'",1\n2,a|b,2\n', read=True)
    yield Bomb(
        "an object of a million different fields",
        lambda: json.dumps([{f"k{k}": 1} for k in range(300_000)]).encode(),
        "a.json",
    )
    yield Bomb(
        "one object of a million fields, one twice",
        lambda: b"[{" + b",".join(b'"k%d":1' % k for k in range(300_000)) + b',"k299999":1}]',
        "a.json",
        quick=True,
    )
    yield Bomb("an attribute of a million values", lambda: _arff(",".join(f"v{k}" for k in range(10**6))), "a.arff")
    yield Bomb("a place far out in ARFF", lambda: _arff("a,b", "{999999999 a}"), "a.arff")
    yield Bomb("a place far out in libsvm", lambda: b"1 999999999:1\n2 1:1\n", "a.txt", quick=True)
    yield Bomb("wide rows of libsvm", lambda: zipped("t.csv", b"1 19000:1\n" * 10**6), "a.zip", read=True)


def _arff(values: str, row: str = "v0") -> bytes:
    return f"@relation r\n@attribute c {{{values}}}\n@attribute w real\n@data\n{row}\n".encode()


def _zips() -> Iterator[Bomb]:
    def nested(depth: int) -> bytes:
        data = sea(b"\n", HEAD, 10**7)
        for _ in range(depth):
            data = zipped("inner.zip", data)
        return data

    def many(n: int, folders: bool = False) -> bytes:
        out = io.BytesIO()
        with zipfile.ZipFile(out, "w") as file:
            for k in range(n):
                file.writestr(f"{k}/" if folders else f"{k}.png", b"")
            file.writestr("t.csv", HEAD + b"1,a,2\n")
        return out.getvalue()

    def lying(declared: int) -> bytes:
        """Declare another size of the entry, in both places."""
        data = bytearray(zipped("t.csv", sea(b"\n", HEAD, 10**8)))
        for start, place in ((b"PK\x03\x04", 22), (b"PK\x01\x02", 24)):
            at = data.find(start) + place
            data[at : at + 4] = struct.pack("<I", declared)
        return bytes(data)

    def overlapping(n: int) -> bytes:
        """Many entries in the directory that share the same bytes."""
        data = zipped("a.csv", sea(b"1,a,2\n", HEAD, 10**6))
        start, end = data.find(b"PK\x01\x02"), data.find(b"PK\x05\x06")
        entry = data[start:end]
        entries = b"".join(entry.replace(b"a.csv", b"%05d" % k) for k in range(n - 1)) + entry
        tail = struct.pack("<4sHHHHIIH", b"PK\x05\x06", 0, 0, n & 0xFFFF, n & 0xFFFF, len(entries), start, 0)
        return data[:start] + entries + tail

    yield Bomb("a zip in zips", lambda: nested(8), "a.zip")
    yield Bomb("a zip in a zip", lambda: nested(2), "a.zip", quick=True)
    yield Bomb("more files than are taken", lambda: many(50_001), "a.zip")
    yield Bomb("more folders than are taken", lambda: many(60_000, folders=True), "a.zip")
    yield Bomb("an entry that says it is small", lambda: lying(20), "a.zip", quick=True)
    yield Bomb("an entry that says it is huge", lambda: lying(0xFFFFFFF0), "a.zip")
    yield Bomb("entries over one another", lambda: overlapping(20_000), "a.zip")
    yield Bomb("a million entries over one another", lambda: overlapping(1_000_000), "a.zip")
    yield Bomb("a table of 999 MB", lambda: zipped("t.csv", sea(b"1,a,2\n", HEAD, 999 * 10**6)), "a.zip")


def _workbooks() -> Iterator[Bomb]:
    from tests.plcore.tables.readers.test_excel import cell, ods, row, workbook
    from tests.plcore.tables.readers.xls import table, xls

    def book(sheet: bytes, **others: bytes) -> bytes:
        out = io.BytesIO()
        whole = workbook({"S": [["id", "labels"], ["1", "a"]]})
        with zipfile.ZipFile(io.BytesIO(whole)) as old, zipfile.ZipFile(out, "w", zipfile.ZIP_DEFLATED) as new:
            for entry in old.infolist():
                content = old.read(entry)
                if "worksheets/" in entry.filename and sheet:
                    content = sheet
                new.writestr(entry.filename, content)
            for name, content in others.items():
                new.writestr(name, content)
        return out.getvalue()

    def circle() -> bytes:
        data = bytearray(xls({"S": table([["id", "labels"], *([str(k), "a"] for k in range(400))])}))
        data[512 + 8 : 512 + 12] = (2).to_bytes(4, "little")  # a sector that is followed by itself
        return bytes(data)

    def repeated(rows: int, columns: int) -> bytes:
        wide = cell("a", f' table:number-columns-repeated="{columns}"')
        return ods(row(wide, more=f' table:number-rows-repeated="{rows}"'))

    main = b'xmlns="http://schemas.openxmlformats.org/spreadsheetml/2006/main"'

    def sheet(rows: bytes, before: bytes = b"") -> bytes:
        return (
            b'<?xml version="1.0"?>'
            + before
            + b"<worksheet "
            + main
            + b"><sheetData>"
            + rows
            + b"</sheetData></worksheet>"
        )

    laughs = (
        b'<!DOCTYPE l [<!ENTITY a "ha">'
        + b"".join(b'<!ENTITY %c "%s">' % (98 + k, b"&%c;" % (97 + k) * 10) for k in range(9))
        + b"]>"
    )
    yield Bomb(
        "cells at opposite corners",
        lambda: book(
            sheet(b'<row r="1"><c r="A1"><v>1</v></c></row><row r="1048576"><c r="XFD1048576"><v>1</v></c></row>')
        ),
        "a.xlsx",
        quick=True,
    )
    yield Bomb(
        "corners of twenty old sheets",
        lambda: xls({f"S{k}": [(0, 0, 1.0), (65_535, 255, 1.0)] for k in range(20)}),
        "a.xls",
        quick=True,
    )
    yield Bomb("a circle of old sectors", circle, "a.xls", quick=True)
    yield Bomb("a cell of three thousand by three thousand", lambda: repeated(3_000, 3_000), "a.ods", quick=True)
    yield Bomb("a cell as large as a sheet", lambda: repeated(1_048_576, 16_384), "a.ods")
    yield Bomb(
        "a billion laughs",
        lambda: book(sheet(b'<row r="1"><c r="A1" t="str"><v>&j;</v></c></row>', laughs)),
        "a.xlsx",
        quick=True,
    )
    yield Bomb(
        "one entity again and again",
        lambda: book(
            sheet(
                b'<row r="1"><c r="A1" t="str"><v>' + b"&a;" * 10**5 + b"</v></c></row>",
                b'<!DOCTYPE l [<!ENTITY a "' + b"h" * 10**5 + b'">]>',
            )
        ),
        "a.xlsx",
    )
    yield Bomb("a sheet of 450 MB", lambda: book(sheet(b"<row/>" * (75 * 10**6))), "a.xlsx")
    yield Bomb("elements in elements", lambda: book(sheet(b"<row>" * 10**6)), "a.xlsx")
    yield Bomb(
        "shared strings of 450 MB",
        lambda: book(
            b"", **{"xl/sharedStrings.xml": b"<sst " + main + b">" + b"<si><t>a</t></si>" * (25 * 10**6) + b"</sst>"}
        ),
        "a.xlsx",
    )


def _arrays() -> Iterator[Bomb]:
    def npz(**arrays: bytes) -> bytes:
        return zipped("y.npy", npy("<f8", (1,), b"\0" * 8), **{f"{name}.npy": data for name, data in arrays.items()})

    def npy(dtype: str, shape: tuple[int, ...], body: bytes = b"") -> bytes:
        head = repr({"descr": dtype, "fortran_order": False, "shape": shape}).encode().ljust(117) + b"\n"
        return b"\x93NUMPY\x01\x00" + struct.pack("<H", len(head)) + head + body

    def saved(**arrays: Any) -> bytes:
        out = io.BytesIO()
        np.savez_compressed(out, **arrays)
        return out.getvalue()

    def mat(kind: int, body: bytes) -> bytes:
        return (
            b"MATLAB 5.0 MAT-file".ljust(124)
            + struct.pack("<H", 0x0100)
            + b"IM"
            + struct.pack("<II", kind, len(body))
            + body
        )

    def element(kind: int, body: bytes) -> bytes:
        return struct.pack("<II", kind, len(body)) + body + b"\0" * (-len(body) % 8)

    def matrix(sides: tuple[int, int], *parts: bytes, kind: int = 6) -> bytes:
        return element(
            14,
            element(6, struct.pack("<II", kind, 0))
            + element(5, struct.pack("<ii", *sides))
            + element(1, b"data")
            + b"".join(parts),
        )

    yield Bomb("zeros of 900 MB", lambda: saved(X=np.zeros((112_500, 1_000)), S=np.ones((112_500, 2), bool)), "a.npz")
    yield Bomb("an array that says it is huge", lambda: npz(S=npy("<f8", (10**9, 10**9))), "a.npz", quick=True)
    yield Bomb("texts of a hundred million letters", lambda: npz(S=npy("<U100000000", (1,), b"\0" * 10**6)), "a.npz")
    yield Bomb(
        "thirty thousand arrays", lambda: npz(**{f"a{k}": npy("<f8", (1,), b"\0" * 8) for k in range(30_000)}), "a.npz"
    )
    yield Bomb("texts that are mostly nothing", lambda: saved(S=np.full((1_000, 2), "a", "<U50000")), "a.npz")
    yield Bomb(
        "a sparse matrix of huge sides",
        lambda: saved(
            data=np.ones(1),
            indices=np.zeros(1, int),
            indptr=np.array([0, 1]),
            shape=np.array([10**9, 10**9]),
            y=np.zeros(1),
        ),
        "a.npz",
    )
    yield Bomb(
        "zeros of MATLAB",
        lambda: mat(15, zlib.compress(matrix((10**5, 1_000), element(9, b"\0" * (8 * 10**8))), 9)),
        "a.mat",
    )
    yield Bomb(
        "a matrix of huge sides",
        lambda: mat(14, matrix((2**31 - 1, 2**31 - 1), element(9, b""))[8:]),
        "a.mat",
        quick=True,
    )
    yield Bomb(
        "a sparse matrix of MATLAB, nearly empty",
        lambda: mat(
            14,
            matrix((10**6, 20), element(5, b""), element(5, struct.pack("<21i", *[0] * 21)), element(9, b""), kind=5)[
                8:
            ],
        ),
        "a.mat",
    )


def _columns() -> Iterator[Bomb]:
    def parquet(table: pa.Table, **how: Any) -> bytes:
        out = io.BytesIO()
        pa.parquet.write_table(table, out, **how)
        return out.getvalue()

    def feather(table: pa.Table) -> bytes:
        out = io.BytesIO()
        pa.feather.write_feather(table, out, compression="zstd")
        return out.getvalue()

    def same(n: int, text: str = "a") -> pa.Array:
        return pa.DictionaryArray.from_arrays(pa.array(np.zeros(n, np.int32)), pa.array([text]))

    yield Bomb(
        "nineteen million rows of one text", lambda: parquet(pa.table({"labels": same(19 * 10**6)})), "a.parquet"
    )
    yield Bomb(
        "a long text in every row",
        lambda: parquet(pa.table({"id": np.arange(100_000), "labels": same(100_000, "a" * 100_000)})),
        "a.parquet",
        quick=True,
    )
    yield Bomb(
        "ten columns of two million rows",
        lambda: parquet(pa.table({f"c{k}": np.zeros(1_900_000) for k in range(10)})),
        "a.parquet",
    )
    yield Bomb(
        "lists of very many numbers",
        lambda: parquet(
            pa.table(
                {
                    "labels": ["a|b"] * 100,
                    "v": pa.FixedSizeListArray.from_arrays(pa.array(np.zeros(10**8, np.float32)), 10**6),
                }
            )
        ),
        "a.parquet",
    )
    yield Bomb(
        "lists of very many texts",
        lambda: parquet(
            pa.table({"labels": pa.ListArray.from_arrays(pa.array([0, 10**7], pa.int32()), pa.array(["a"] * 10**7))})
        ),
        "a.parquet",
    )
    yield Bomb(
        "structures in structures",
        lambda: parquet(pa.table({"labels": ["a|b"], "s": _nested(60)})),
        "a.parquet",
        read=True,
    )
    yield Bomb(
        "twenty thousand columns of Parquet",
        lambda: parquet(pa.table({f"c{k}": ["a|b"] for k in range(20_001)})),
        "a.parquet",
    )
    yield Bomb(
        "zeros of Feather", lambda: feather(pa.table({f"c{k}": np.zeros(10**7) for k in range(10)})), "a.feather"
    )
    yield Bomb("one text of Feather", lambda: feather(pa.table({"labels": pa.array(["a" * 4 * 10**8])})), "a.feather")


def _nested(depth: int) -> pa.Array:
    column: pa.Array = pa.array([1])
    for _ in range(depth):
        column = pa.StructArray.from_arrays([column], ["s"])
    return column


BOMBS = [*_texts(), *_wide(), *_zips(), *_workbooks(), *_arrays(), *_columns()]
