"""Segments: seconds of a recording, from cells to the stored table."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import numpy as np
import pandas as pd
import pytest

from plcore import LabelTable, Roles, TableError, suggest_roles
from plcore.tables.columns import Finder
from plcore.tables.media.files import parse_segments

ROLES = Roles(candidates="c", audio="file", start="from", end="to", numbers=("w",))


def cells(*segments: tuple[str, str]) -> pd.DataFrame:
    rows = {"c": ["wren|robin"] * len(segments), "w": ["1"] * len(segments), "file": [""] * len(segments)}
    starts, ends = zip(*segments, strict=True)
    return pd.DataFrame(rows | {"from": starts, "to": ends}, dtype="str")


def test_empty_seconds_mean_the_ends_of_the_recording() -> None:
    table = LabelTable.from_cells(cells(("0", "3"), ("3,5", "6"), ("", "2"), ("4", "")), ROLES)
    expected = [[0, 3], [3.5, 6], [np.nan, 2], [4, np.nan]]
    np.testing.assert_array_equal(table.media.segments, expected)
    assert not table.media.segments.flags.writeable


def test_start_or_end_column_alone_is_enough() -> None:
    roles = replace(ROLES, end=None)
    np.testing.assert_array_equal(LabelTable.from_cells(cells(("2", "")), roles).media.segments, [[2, np.nan]])


@pytest.mark.parametrize(
    ("segment", "column", "words"),
    [
        (("-1", "3"), "from", "a recording has no second -1"),
        (("3", "3"), "to", "ends at second 3, but begins at second 3"),
        (("", "0"), "to", "ends at second 0, but begins at second 0"),
        (("1:20", "90"), "from", "expected a number, got '1:20'"),
    ],
)
def test_invalid_segment_names_its_row(segment: tuple[str, str], column: str, words: str) -> None:
    finder = Finder(None)
    parse_segments(cells(("0", "1"), segment), "from", "to", finder)
    assert [(one.row, one.column) for one in finder.problems] == [(2, column)]
    assert words in str(finder.problems[0])


def test_segments_need_recordings() -> None:
    with pytest.raises(TableError, match="no column of recordings has been chosen"):
        LabelTable.from_cells(cells(("0", "3")), replace(ROLES, audio=None))


def test_segments_are_stored(tmp_path: Path) -> None:
    table = LabelTable.from_cells(cells(("0", "3"), ("", "2"), ("4", "")), ROLES)
    table.write(tmp_path / "t.parquet")
    back = LabelTable.read(tmp_path / "t.parquet")
    np.testing.assert_array_equal(back.media.segments, table.media.segments)
    assert back.roles == ROLES


def test_seconds_are_guessed_only_next_to_recordings() -> None:
    names = ["Begin Time (s)", "End Time (s)", "w"]
    values = {name: ["1.5", "2", "3"] for name in names}
    frame = pd.DataFrame({"file": ["a.wav"] * 3, "candidates": ["a|b", "b", "a"], **values}, dtype="str")
    roles = suggest_roles(frame, files=True)
    assert (roles.audio, roles.start, roles.end, roles.numbers) == ("file", *names[:2], ("w",))
    alone = suggest_roles(frame)
    assert (alone.start, alone.end, alone.numbers) == (None, None, tuple(names))
    ends_only = suggest_roles(frame.drop(columns=names[0]), files=True)
    assert (ends_only.start, ends_only.end) == (None, None)
