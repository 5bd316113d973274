"""A table in row groups, in mapped files or copied unchanged equals the table in one piece."""

from __future__ import annotations

import os
import unicodedata
from dataclasses import replace
from pathlib import Path

import numpy as np
import pandas as pd
import pyarrow as pa
import pyarrow.compute as pc
import pytest
import scipy.sparse as sp

from plcore import LabelTable, Roles, TableError
from plcore.tables import storing
from plcore.tables.columns import mapped_numbers
from plcore.tables.storing import from_arrow, rows_of, to_arrow
from tests.plcore.tables.test_table_file import assert_same

N = 23


def tables() -> list[LabelTable]:
    rng = np.random.default_rng(0)
    names = np.array(["ant", "bee", "cat"])
    cells = pd.DataFrame(
        {
            "id": [f"row {row}" for row in range(N)],
            "c": ["|".join(rng.permutation(names)[: 1 + row % 3]) for row in range(N)],
            "x": [f"{value:.3f}" if row % 5 else "" for row, value in enumerate(rng.normal(size=N))],
            "y": [str(row) for row in range(N)],
            "a": rng.choice(names, N),
            "b": rng.choice([*names, ""], N),
        },
        dtype="str",
    )
    dense, sparse = Roles(candidates="c", id="id", numbers=("y", "x"), embedding="e"), sp.random(N, 7, 0.3)
    arrays = rng.normal(size=(N, 4)).astype(np.float32)
    arrays[3] = np.nan
    return [
        LabelTable.from_cells(cells, Roles(candidates="c", truth=None, id="id", numbers=("x", "y"))),
        LabelTable.from_cells(cells, Roles(annotators=("a", "b"), categories=("y",))),
        LabelTable.from_cells(cells, dense, arrays={"e": arrays}),
        LabelTable.from_cells(cells, dense, arrays={"e": sp.csr_matrix(sparse, dtype=np.float32)}),
    ]


@pytest.mark.parametrize("number", range(4))
def test_row_groups_make_up_the_whole_table(number: int, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    table = tables()[number]
    whole = to_arrow(table._parts)
    for start in range(0, N, 5):
        part = to_arrow(rows_of(table._parts, slice(start, start + 5)))
        assert part.equals(whole.slice(start, 5)), "a group has its own rows"
    assert from_arrow(whole).cells.equals(table.cells)
    monkeypatch.setattr(storing, "_ROWS_PER_GROUP", 5)
    table.write(tmp_path / "t")
    again = LabelTable.read(tmp_path / "t")
    monkeypatch.setattr(storing, "_READ", 3)
    monkeypatch.setattr(storing, "IN_MEMORY", 0)
    mapped = LabelTable.read(tmp_path / "t")
    for other in (again, mapped):
        assert_same(table, other)
        one, two = table.embeddings, other.embeddings
        if one is not None:
            np.testing.assert_array_equal(*(v.toarray() if sp.issparse(v) else v for v in (one, two)))
        assert (table.votes is None) == (other.votes is None)
        if table.votes is not None:
            for name in ("rows", "who", "labels", "voters"):
                np.testing.assert_array_equal(getattr(table.votes, name), getattr(other.votes, name))
    assert [path.name for path in tmp_path.iterdir()] == ["t"], "mapped files have no names"
    assert mapped.cells_of(7, ["id", "y"]) == ("row 7", "7")
    assert [mapped.id_of(row) for row in range(N)] == table.ids.tolist()
    assert mapped.write(tmp_path / "u") == table.write(tmp_path / "t")


def test_damage_in_a_mapped_table_is_detected(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(storing, "IN_MEMORY", 0)
    tables()[0].write(tmp_path / "t")
    data = bytearray((tmp_path / "t").read_bytes())
    data[200] ^= 1
    (tmp_path / "t").write_bytes(data)
    with pytest.raises(TableError, match="damaged"):
        LabelTable.read(tmp_path / "t")


def written(folder: Path) -> tuple[LabelTable, str]:
    """The table as it is stored and read again, next to its source."""
    table = tables()[0]
    digest = table.write(folder / "made")
    table.numbers.tofile(folder / "numbers")
    numbers = mapped_numbers(folder / "numbers").reshape(N, 2)
    return LabelTable.read_beside(folder / "made", digest, table.cells, numbers, object()), digest


@pytest.mark.parametrize("linked", [True, False])
def test_unchanged_columns_are_copied(linked: bool, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    table, digest = written(tmp_path)
    assert_same(table, tables()[0])
    kept = tmp_path / "kept"
    kept.mkdir()

    def write(*_: object) -> str:
        raise AssertionError("the table is not rebuilt")

    monkeypatch.setattr("plcore.tables.table.write_parts", write)
    if not linked:
        monkeypatch.setattr(os, "link", lambda *_: (_ for _ in ()).throw(OSError("another disk")))
    for _ in range(2):
        assert table.write_named(kept) == digest
        assert [path.name for path in kept.iterdir()] == [f"{digest}.parquet"]
    assert (kept / f"{digest}.parquet").read_bytes() == (tmp_path / "made").read_bytes()
    assert replace(table, media=replace(table.media, files=None)).write_named(kept) == digest


def test_changed_columns_are_rewritten(tmp_path: Path) -> None:
    table, digest = written(tmp_path)
    other = replace(table, candidates=np.ones_like(table.candidates))
    assert other.write(tmp_path / "other") != digest
    assert LabelTable.read(tmp_path / "other").candidates.all()


def test_ids_are_trimmed_alike_for_one_row_and_for_all() -> None:
    spaces = "".join(one for one in map(chr, range(0x110000)) if unicodedata.category(one) == "Zs")
    others = ["", "\u200b", "\ufeff", "\u180e"]  # they look like spaces, but are not
    frame = pd.DataFrame({"id": [f"{spaces}{k}{other}" for k, other in enumerate(others)]})
    frame = frame.assign(c="a|b", x="1")
    table = LabelTable.from_frame(frame, Roles(id="id", candidates="c", numbers=("x",)))
    assert [table.id_of(row) for row in range(len(others))] == table.ids.tolist()


def test_python_and_arrow_trim_the_same_characters() -> None:
    everything = [f"{chr(one)}a{chr(one)}" for one in range(0x110000) if not 0xD800 <= one < 0xE000]
    assert pc.utf8_trim_whitespace(pa.array(everything)).to_pylist() == [one.strip() for one in everything]
