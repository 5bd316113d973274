"""What a job leaves in its folder and says of it."""

from __future__ import annotations

import hashlib
from dataclasses import replace
from pathlib import Path

import pytest

from plcore import LabelTable, Roles, TableError
from plcore.tables import read_stored
from tests.plcore.tables.zips import make_zip, picture
from workflow.files.limited import jobs

VOTES = b"task,worker,label\nt1,ann,wren\nt1,bob,robin\nt2,ann,owl\n"


def test_a_table_is_left_as_it_was_read(tmp_path: Path) -> None:
    path = tmp_path / "votes.csv"
    path.write_bytes(VOTES)
    given = {"file": [str(path), None], "rows": None, "vectors": None, "as_it_is": False}
    said = jobs.read(given, tmp_path, lambda _share: None)
    assert said["shape"] == "table with a vote in each row"
    assert said["needs_rows"]
    assert said["source_hash"] == hashlib.sha256(hashlib.sha256(VOTES).digest()).hexdigest()
    assert len(read_stored(tmp_path).cells) == 2
    jobs.read({**given, "as_it_is": True}, tmp_path, lambda _share: None)
    assert len(read_stored(tmp_path).cells) == 3


def left(folder: Path, data: bytes, name: str = "t.csv") -> Roles:
    """The roles guessed of a file whose reading now lies in the folder."""
    (folder / name).write_bytes(data)
    given = {"file": [str(folder / name), None], "rows": None, "vectors": None, "as_it_is": False}
    return Roles.from_json(jobs.read(given, folder, lambda _share: None)["guess"])


def test_a_reading_becomes_a_table_with_its_files_and_doubts(tmp_path: Path) -> None:
    rows = b"id,labels,p,note\n1,a|b,x.png,so\n2,b,y.png,la\n"
    zipped = make_zip({"t.csv": rows, "x.png": picture(1), "y.png": picture(1), "z.png": picture(2)})
    roles, steps = replace(left(tmp_path, zipped, "t.zip"), categories=(), text=None), []
    said = jobs.check({"roles": roles.to_json(), "out": str(tmp_path)}, tmp_path, steps.append)
    table = LabelTable.read(tmp_path / jobs.TABLE)
    assert table.classes == ("a", "b")
    assert table.media.kept_names() == set(said["files"])
    assert [Path(path).read_bytes() for path in said["files"].values()] == [picture(1)]
    assert "unused" in {doubt["name"] for doubt in said["doubts"]}
    assert steps
    other = tmp_path / "other"
    other.mkdir()
    again = jobs.check({"roles": roles.to_json(), "out": str(other)}, tmp_path, steps.append)
    assert set(again["files"]) == set(said["files"]), "checked once more, they are laid out once more"
    with pytest.raises(TableError, match="there is no such column"):
        jobs.check({"roles": Roles("none").to_json(), "out": str(tmp_path)}, tmp_path, steps.append)


def test_rows_grow_a_stored_table(tmp_path: Path) -> None:
    first, more = tmp_path / "first", tmp_path / "more"
    first.mkdir()
    more.mkdir()
    roles = left(first, b"id,labels,w\n1,a|b,1\n2,b,2\n")
    jobs.check({"roles": roles.to_json(), "out": str(first)}, first, lambda _share: None)
    left(more, b"id,labels,w,x\n2,b,2,0\n3,c|a,3,0\n")
    given = {"table": str(first / jobs.TABLE), "called": {}, "label_columns": []}
    said = jobs.grow({**given, "out": str(more)}, more, lambda _share: None)
    assert said["grown"] == [1, ("2",), ("c",), ("x",), ()]
    assert said["files"] is None
    assert LabelTable.read(more / jobs.TABLE).ids.tolist() == ["1", "2", "3"]
    with pytest.raises(TableError, match="Every row of the file is in the project already"):
        jobs.grow({**given, "out": str(more), "table": str(more / jobs.TABLE)}, more, lambda _share: None)
