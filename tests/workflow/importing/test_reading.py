"""A file is read in another process, and what is left of it goes with the upload."""

from __future__ import annotations

import errno
import gc
import os
import tempfile
from pathlib import Path

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from plcore import TableError
from plcore.tables import KeptFiles
from plcore.tables.readers import recognise
from tests.disks import small_disk
from tests.plcore.tables.zips import make_zip, picture
from workflow.files import limited
from workflow.importing import check
from workflow.importing.reading import read_paths, read_upload

CSV = b"id,labels,w\n1,a|b,3\n2,b,4\n"
ZIP = make_zip({"t.csv": b"id,labels,p\n1,a|b,x.png\n2,b,x.png\n", "x.png": picture()})


def test_nothing_of_a_file_is_read_in_this_process(monkeypatch: pytest.MonkeyPatch) -> None:
    def never(*_given: object) -> None:
        raise AssertionError

    monkeypatch.setattr(recognise, "as_text", never)
    monkeypatch.setattr(recognise, "cells_of_text", never)
    upload = read_upload(CSV, "birds.csv")
    assert upload.cells["labels"].tolist() == ["a|b", "b"]
    assert upload.cells.index.tolist() == [2, 3]
    assert upload.suggest_roles().candidates == "labels"
    assert upload.reading.format == "CSV"


def test_what_lies_on_the_disk_goes_with_the_upload() -> None:
    upload = read_upload(ZIP)
    folder = upload.folder
    assert folder is not None
    assert folder.is_dir()
    assert not (folder / "file").exists(), "the upload itself is not kept twice"
    cells = upload.cells
    del upload
    gc.collect()
    assert not folder.exists()
    assert len(cells) == len(cells.drop_duplicates()), "cells may outlive their file's name"


def test_a_refused_file_leaves_nothing(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("tempfile.tempdir", str(tmp_path))
    with pytest.raises(TableError, match="empty"):
        read_upload(b"")
    assert os.listdir(tmp_path) == []  # noqa: PTH208


@pytest.mark.parametrize("number", [errno.ENOSPC, errno.EDQUOT])
@pytest.mark.parametrize("where", ["folder", "process"])
def test_a_full_disk_is_said_in_words(number: int, where: str, monkeypatch: pytest.MonkeyPatch) -> None:
    def full(*_given: object, **_how: object) -> None:
        raise OSError(number, os.strerror(number))

    good = read_upload(CSV)
    if where == "folder":
        monkeypatch.setattr(tempfile, "mkdtemp", full)
    else:
        monkeypatch.setattr(limited, "ask_in_turn", full)
    with pytest.raises(TableError) as caught:
        read_upload(CSV)
    said = [*caught.value.problems, *check(good, good.suggest_roles()).problems]
    assert len(said) == 2
    for problem in said:
        assert "no room left on the disk" in problem.message
        assert "TMPDIR" in problem.fix


def test_another_fault_of_the_disk_stays_what_it_is(monkeypatch: pytest.MonkeyPatch) -> None:
    def broken(*_given: object, **_how: object) -> None:
        raise OSError(errno.EIO, "Input/output error")

    monkeypatch.setattr(limited, "ask_in_turn", broken)
    with pytest.raises(OSError, match="Input/output error"):
        read_upload(CSV)


@pytest.mark.parametrize("megabytes", [1, 4])  # by the file itself, and by what is made of it
def test_a_disk_that_fills_up_while_a_file_is_read(
    megabytes: int, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    rows = "".join(f"{k},a|b,3\n" for k in range(200_000))
    with small_disk(tmp_path / "disk", megabytes) as folder:
        monkeypatch.setattr("tempfile.tempdir", str(folder))
        with pytest.raises(TableError, match="no room left on the disk"):
            read_upload(f"id,labels,w\n{rows}".encode())
        assert list(folder.iterdir()) == [], "and nothing of it is left"


def test_a_folder_is_read_where_it_is(tmp_path: Path) -> None:
    (tmp_path / "birds.csv").write_bytes(CSV)
    (tmp_path / "call.txt").write_text("nothing")
    upload = read_paths(tmp_path)
    assert upload.reading.format == "folder of a table (CSV) and its files"


def test_a_folder_of_parquet_parts_is_the_table_of_one_file_with_all_rows(tmp_path: Path) -> None:
    whole = pa.table(
        {
            "labels": pa.array([["a", "b"], ["b"], ["a"], ["c", "a"]], pa.list_(pa.string())),
            "embedding": pa.array([[1.0, 2.0], None, [0.0, 1.0], [3.0, 3.0]], pa.list_(pa.float32())),
        }
    )
    parts = tmp_path / "parts"
    parts.mkdir()
    for number in range(2):
        pq.write_table(whole.slice(2 * number, 2), parts / f"{number}.parquet")
    pq.write_table(whole, tmp_path / "whole.parquet")
    uploads = [read_paths(path) for path in (parts, tmp_path / "whole.parquet")]
    tables = [check(one, one.suggest_roles()).table for one in uploads]
    in_parts, at_once = tables
    assert in_parts is not None
    assert at_once is not None
    assert in_parts.write(tmp_path / "one") == at_once.write(tmp_path / "other")
    np.testing.assert_array_equal(in_parts.embeddings, at_once.embeddings)
    assert not in_parts.embeddings.flags.owndata, "they lie where they were written"
    assert uploads[0].reading.format == "Parquet in 2 files"
    assert read_paths(parts).source_hash == uploads[0].source_hash != uploads[1].source_hash


def test_files_come_out_of_the_zip_in_that_process_and_are_kept_as_long_as_the_table() -> None:
    upload = read_upload(ZIP)
    assert upload.reading.files is None
    table = check(upload, upload.suggest_roles()).table
    assert table is not None
    assert isinstance(table.media.files, KeptFiles)
    (name,) = table.media.kept_names()
    del upload
    gc.collect()
    with table.media.files.open(name) as file:
        assert file.read() == picture()
    folder = table.media.files.paths[name].parent
    del table
    gc.collect()
    assert not folder.exists()


def test_files_of_a_folder_stay_where_they_are(tmp_path: Path) -> None:
    (tmp_path / "t.csv").write_text("id,labels,p\n1,a|b,x.png\n2,b,x.png\n")
    (tmp_path / "x.png").write_bytes(picture())
    upload = read_paths(tmp_path)
    table = check(upload, upload.suggest_roles()).table
    assert table is not None
    assert isinstance(table.media.files, KeptFiles)
    assert list(table.media.files.paths.values()) == [tmp_path / "x.png"]
