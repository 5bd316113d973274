"""What zips and folders share: which of their files are tables, which paths are plain, how large a file may be."""

from __future__ import annotations

from collections.abc import Mapping
from io import BytesIO
from typing import BinaryIO

import pytest

from plcore import TableError
from plcore.tables.media.file_tree import (
    MAX_FILE_MB,
    MAX_RECORDING_MB,
    MAX_ZIP_MB,
    FileTree,
    is_litter,
    is_plain_table,
    most_mb,
    path_fault,
)


class Tree(FileTree):
    what = "box"

    def __init__(self, files: Mapping[str, bytes]) -> None:
        self._files = files
        super().__init__(files)

    def open(self, name: str) -> BinaryIO:
        return BytesIO(self._files[name])

    def close(self) -> None:
        """Nothing is held."""


@pytest.mark.parametrize(
    ("names", "tables"),
    [
        (["a.csv", "b.png"], ["a.csv"]),
        (["a.json", "a.csv"], ["a.csv", "a.json"]),
        (["a.parquet", "b.wav"], ["a.parquet"]),
        (["x/1.BirdNET.results.csv", "x/2.BirdNET.results.csv", "x/3.BirdNET.results.csv"], None),
        (["t.txt", "b.wav"], ["t.txt"]),
    ],
)
def test_tables_are_told_by_their_names(names: list[str], tables: list[str] | None) -> None:
    assert list(Tree(dict.fromkeys(names, b"a\tb\n")).table_names) == (tables or names)


def test_where_nobody_can_tell_the_tables_are_named() -> None:
    with pytest.raises(TableError, match=r"The box holds 3 tables: 'a.csv', 'b.csv'"):
        Tree(dict.fromkeys(["a.csv", "b.csv", "c.csv"], b""))
    with pytest.raises(TableError, match="The box holds no table"):
        Tree({"read me.txt": b"no tabs"})


def test_files_beside_the_table_come_before_those_at_the_top() -> None:
    tree = Tree({"in/t.csv": b"", "a.png": b"top", "in/a.png": b"beside", "b.png": b"top"})
    assert (tree.find("a.png"), tree.find("b.png")) == ("in/a.png", "b.png")


def test_sizes_paths_and_litter() -> None:
    assert [most_mb(name) for name in ("a.WAV", "t.csv", "a.png")] == [
        MAX_RECORDING_MB,
        MAX_ZIP_MB,
        MAX_FILE_MB,
    ]
    assert path_fault("a/b.png") is None
    assert all(path_fault(path) for path in ("../a", "/a", "C:/a", "a//b", "a\\b", "a\0"))
    assert is_litter("__MACOSX/a")
    assert is_plain_table("A.TSV")
