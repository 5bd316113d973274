"""The source role: guessed from names and shared labels, reported, and stored with the table."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pandas as pd
import pytest

from plcore import LabelTable, Roles, TableError, suggest_roles
from plcore.tables import describe

FACES = {
    "photo": ["p1", "p1", "p2", "p2", "p2", "p3", ""],
    "candidates": ["Ann|Bob", "Ann|Bob", "Bob|Cy", "Bob|Cy", "Bob|Cy", "Ann|Cy", "Ann|Bob"],
    "w": ["1", "2", "3", "4", "5", "6", "7"],
}


def frame(**columns: list[str]) -> pd.DataFrame:
    return pd.DataFrame(columns, dtype="str")


@pytest.mark.parametrize("name", ["photo", "Photo ID", "recording", "scene_id", "bag", "File", "image_id"])
def test_source_column_with_shared_sets_is_guessed(name: str) -> None:
    cells = frame(**{name: FACES["photo"]} | {key: FACES[key] for key in ("candidates", "w")})
    roles = suggest_roles(cells)
    assert (roles.source, roles.candidates, roles.numbers, roles.categories) == (name, "candidates", ("w",), ())


def test_source_is_not_guessed_from_other_names_or_different_sets() -> None:
    cells = frame(**FACES)
    assert suggest_roles(cells.rename(columns={"photo": "habitat"})).source is None
    differ = cells.assign(candidates=["Ann|Bob", "Bob|Cy", "Ann|Cy", "Ann|Bob", "Bob|Cy", "Ann|Cy", "Ann|Bob"])
    assert suggest_roles(differ.rename(columns={"photo": "file"})).source is None
    assert suggest_roles(differ).source == "photo", "as after answers"
    assert suggest_roles(cells.assign(photo=["p1"] * 7)).source is None
    assert suggest_roles(cells.assign(photo=list("abcdefg"))).source is None


def test_recordings_with_equal_sets_are_guessed_as_source() -> None:
    cells = frame(**FACES).rename(columns={"photo": "sound"})
    cells["sound"] = [f"{one or 'p4'}.wav" for one in cells["sound"]]
    roles = suggest_roles(cells, files=True)
    assert roles.audio == roles.source == "sound"
    assert [role for role, column in roles.used() if column == "sound"] == ["audio"]


def test_equal_cells_share_a_source_and_empty_cells_have_none() -> None:
    table = LabelTable.from_frame(frame(**FACES))
    np.testing.assert_array_equal(table.sources, [0, 0, 1, 1, 1, 2, -1])
    assert [table.rows_of_source(row) for row in range(7)] == [2, 2, 3, 3, 3, 1, 1]


def test_tables_without_role_have_no_sources() -> None:
    roles = Roles(candidates="candidates", numbers=("w",))
    assert LabelTable.from_frame(frame(**FACES), roles).sources is None


def test_sources_are_stored_and_older_tables_keep_their_bytes(tmp_path: Path) -> None:
    table = LabelTable.from_frame(frame(**FACES))
    table.write(tmp_path / "table.parquet")
    read = LabelTable.read(tmp_path / "table.parquet")
    assert read.roles.source == "photo"
    np.testing.assert_array_equal(read.sources, table.sources)
    assert "source" not in Roles(candidates="c").to_json()


def test_reading_reports_the_source_column_and_its_sizes() -> None:
    table = LabelTable.from_frame(frame(**FACES))
    assert describe(table, "CSV").learnt_from == "number 'w', source 'photo' (2 sources of several rows)"
    alone = frame(**FACES | {"photo": list("abcdefg")})
    roles = Roles(candidates="candidates", numbers=("w",), source="photo")
    assert describe(LabelTable.from_frame(alone, roles), "CSV").learnt_from.endswith(
        "source 'photo' (no two rows share one)"
    )


def test_source_column_cannot_be_a_feature() -> None:
    roles = Roles(candidates="candidates", numbers=("w",), source="w")
    with pytest.raises(TableError, match="cannot be both a number feature and the source of the row"):
        LabelTable.from_frame(frame(**FACES), roles)
