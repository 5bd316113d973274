"""Streaming a plain CSV file equals reading it at once; other files are left to the full reader."""

from __future__ import annotations

import os
from collections.abc import Iterator
from pathlib import Path
from tempfile import TemporaryDirectory

import pandas as pd
import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from plcore import Roles
from plcore.tables import TableError, TableReading, read_stored, read_table, store_plain_csv
from plcore.tables.text import stream
from plcore.tables.text.arrow import to_csv_bytes
from tests.plcore.tables.readers.cases import same_reading
from tests.plcore.tables.text.test_csv import CSV_LIKE, frames

BLOCKS = (16, 1 << 20)
"""Bytes that are read at once."""


@pytest.fixture(params=BLOCKS)
def block(request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch) -> int:
    monkeypatch.setattr(stream, "_BLOCK", request.param)
    return int(request.param)


def compared(data: bytes, wanted: TableReading | None = None, roles: Roles | None = None) -> bool:
    """Return whether the file was plain; if so, compare streaming with the full reader, whose reading may be given."""
    with TemporaryDirectory() as folder:
        file, out = Path(folder) / "file", Path(folder) / "out"
        out.mkdir()
        file.write_bytes(data)
        if not store_plain_csv(file, out):
            assert list(out.iterdir()) == [], "nothing is left"
            return False
        same_reading(read_stored(out), wanted or read_table(data, "table.csv"), roles)
        return True


@given(CSV_LIKE, st.sampled_from(BLOCKS))
@example(b'a,b\n1,5" x\n\n"p\r\nq",""""\n3,4', 16)
@example(b'a,b\n"1","x"\n"2","y"', 16)
@example(b"a,b\r\n1,2\r\n3,4\r\n", 5)
def test_any_text_is_streamed_alike_or_left_to_the_full_reader(data: bytes, size: int) -> None:
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(stream, "_BLOCK", size)
        try:
            read_table(data, "table.csv")
        except TableError:
            assert not compared(data), "what is refused is refused there"
        else:
            compared(data)


@given(frames(), st.sampled_from([b"", b"\xef\xbb\xbf"]))
def test_our_own_files_are_streamed_alike(frame: pd.DataFrame, mark: bytes) -> None:
    compared(mark + to_csv_bytes(frame))


def long(n_rows: int, ends: str = "\n") -> bytes:
    rows = (f'{number},"row, {number}",0.{number},{"a|b" if number % 2 else "b"}' for number in range(n_rows))
    return (ends.join(["id,text,x,candidates", *rows]) + ends).encode()


@pytest.mark.parametrize("ends", ["\n", "\r\n"])
def test_file_of_many_blocks_is_plain(ends: str, block: int) -> None:
    assert compared(long(400, ends)) == (block > 16), "a row does not fit into 16 bytes"
    assert compared(long(400, ends)[:-1].removesuffix(b"\r")) == (block > 16)


def test_ambiguous_header_is_not_streamed(monkeypatch: pytest.MonkeyPatch) -> None:
    data = long(400)
    monkeypatch.setattr(stream, "_HEAD", 400)
    assert not compared(data)
    monkeypatch.setattr(stream, "_HEAD", 2_000)
    assert compared(data)


def spoiled() -> Iterator[tuple[str, bytes]]:
    lines = long(60).split(b"\n")
    for name, line in (
        ("ragged", b"7,8"),
        ("quote", b'7,a" b,1,a'),
        ("open", b'7,"a,1,a'),
        ("blank", b""),
        ("nul", b"7,a\0,1,a"),
        ("latin", b"7,\xe9t\xe9,1,a"),
        ("two lines", b'7,"a\nb",1,a'),
    ):
        yield name, b"\n".join([*lines[:50], line, *lines[50:]])


@pytest.mark.parametrize(("name", "data"), list(spoiled()))
def test_late_irregular_cell_is_left_to_the_full_reader(name: str, data: bytes, block: int) -> None:
    assert not compared(data), name


def test_named_pipe_is_left_to_the_full_reader(tmp_path: Path) -> None:
    os.mkfifo(tmp_path / "table.csv")
    assert not store_plain_csv(tmp_path / "table.csv", tmp_path), "it would wait for someone to write"
    assert [one.name for one in tmp_path.iterdir()] == ["table.csv"]
