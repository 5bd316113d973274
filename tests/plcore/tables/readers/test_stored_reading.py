"""A stored reading gives another process the same cells."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pandas as pd
import pytest
import scipy.sparse as sp
from hypothesis import given
from hypothesis import strategies as st

from plcore.tables import TableError, read_stored, read_table, store_reading
from plcore.tables.media.file_tree import FilesByBaseName
from plcore.tables.media.files import MediaFiles
from plcore.tables.readers.parquet import EmbeddedFiles
from plcore.tables.readers.reading import TableReading
from plcore.tables.roles.roles import Roles
from tests.plcore.tables.zips import make_zip, picture


def again(reading: TableReading, folder: Path) -> TableReading:
    store_reading(reading, folder)
    return read_stored(folder)


@given(st.lists(st.text(st.characters(exclude_categories=["Cs"])), min_size=1, max_size=5))
def test_any_text_round_trips(texts: list[str]) -> None:
    from tempfile import TemporaryDirectory

    cells = pd.DataFrame({"line": texts, "0": texts}, dtype="str")
    with TemporaryDirectory() as folder:
        found = again(TableReading(cells, "CSV"), Path(folder))
        pd.testing.assert_frame_equal(found.cells, cells)


def test_vectors_and_groups_round_trip(tmp_path: Path) -> None:
    sparse = sp.csr_matrix(np.array([[0, 2.5], [0, 0]], dtype=np.float32))
    dense = np.array([[1, np.nan], [3, 4]], dtype=np.float32)
    cells = pd.DataFrame({"c": ["a|b", "b"]}, dtype="str")
    arrays = {"words": sparse, "a/b": dense}
    reading = TableReading(cells, "npz", Roles("c"), notes=("one",), groups={"g": ("a", "b")}, arrays=arrays)
    found = again(reading, tmp_path)
    assert (found.roles, found.notes, found.groups) == (reading.roles, ("one",), {"g": ("a", "b")})
    np.testing.assert_array_equal(found.arrays["a/b"], dense)
    assert isinstance(found.arrays["words"], sp.csr_matrix)
    assert (found.arrays["words"] != sparse).nnz == 0


def test_vectors_are_stored_row_by_row_in_any_input_order(tmp_path: Path) -> None:
    dense = np.asfortranarray(np.arange(6, dtype=np.float32).reshape(3, 2))
    cells = pd.DataFrame({"c": ["a", "b", "a"]}, dtype="str")
    found = again(TableReading(cells, "npz", arrays={"v": dense}), tmp_path).arrays["v"]
    np.testing.assert_array_equal(found, dense)
    assert isinstance(found, np.ndarray)
    assert found.flags.c_contiguous


def test_files_are_found_again(tmp_path: Path) -> None:
    data = make_zip({"t.csv": b"id,c,p\n1,a|b,x.png\n", "x.png": picture()})
    for name, reading in {
        "zip": read_table(data),
        "embedded": TableReading(
            read_table(data).cells, "Parquet", files=MediaFiles(EmbeddedFiles({"y": b"", "x.png": picture()}))
        ),
    }.items():
        (tmp_path / name).mkdir()
        found = again(reading, tmp_path / name)
        assert found.files.look_at("image", "x.png")[0].endswith(".png")
        found.files.close()


def test_files_are_found_again_by_base_name(tmp_path: Path) -> None:
    (tmp_path / "in").mkdir()
    (tmp_path / "in" / "t.csv").write_text("id,c\n1,a|b\n")
    (tmp_path / "in" / "x.png").write_bytes(picture())
    inner = read_table(tmp_path / "in")
    (tmp_path / "out").mkdir()
    reading = TableReading(inner.cells, "folder", files=MediaFiles(FilesByBaseName(inner.files.archive)))
    found = again(reading, tmp_path / "out")
    assert found.files.look_at("image", "C:\\far\\x.png")[0].endswith(".png")


def test_invalid_file_is_refused_before_anything_is_stored() -> None:
    with pytest.raises(TableError):
        read_table(b"\x80\x04pickle")
