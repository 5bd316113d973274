"""Files of projects that were made to hurt: nothing of them is stored, nothing runs, and each is refused in words."""

from __future__ import annotations

import hashlib
import json
import zipfile
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from tests.workflow.backups.drill import files_of
from tests.workflow.backups.forging import forged, members, new_home, with_files
from tests.workflow.world import annotator, answer_next
from workflow.backups import project_content
from workflow.backups.manifest import CONTENT, BackupError
from workflow.backups.one_project import bring_in, take_along
from workflow.people import team
from workflow.projects import managing
from workflow.seat import Seat
from workflow.server.home import Home

Content = dict[str, Any]
DROP = "'); DROP TABLE people; --"


@pytest.fixture
def elsewhere(tmp_path: Path) -> Iterator[Seat]:
    with new_home(tmp_path / "elsewhere") as seat:
        yield seat


@pytest.fixture
def file(home: Home, owner: int, project: int, tmp_path: Path) -> Path:
    """Of a project in which Ada, who is person 2, has answered."""
    answer_next(home, annotator(home, owner, "Ada"), project)
    take_along(Seat(home, owner, project), tmp_path / "p.zip")
    return tmp_path / "p.zip"


def look(file: Path, folder: Path) -> dict[str, Any]:
    """What the job says of it, in this process."""
    folder.mkdir()
    return project_content.look({"path": str(file), "called": "birds.zip"}, folder, lambda _share: None)


def entry(**values: Any) -> Callable[[Content], None]:
    """A change of the first entry."""
    return lambda content: content["rows"]["entries"][0].update(values)


def project_with(**values: Any) -> Callable[[Content], None]:
    return lambda content: content["project"].update(values)


def crowd(content: Content) -> None:
    content["people"].update({str(number): f"Person {number}" for number in range(10, 12_000)})


def other_columns(content: Content) -> None:
    more = {**content["rows"]["entries"][0], "seq": 2, "token": "2.another"}
    del more["flagged"]
    content["rows"]["entries"].append(more)


HOSTILE: dict[str, tuple[Callable[[Content], None], str]] = {
    "SQL for a column": (entry(**{"row = 1; DROP TABLE people; --": 1}), "there is no column 'row = 1; DROP"),
    "an entry of another project": (entry(project_id=1), "entries: there is no column 'project_id'"),
    "a number of its own": (project_with(id=1), "projects: there is no column 'id'"),
    "another maker": (project_with(created_by=1), "projects: there is no column 'created_by'"),
    "no name": (project_with(name=None), "projects: name cannot be None"),
    "an object for a text": (entry(note={"a": 1}), "entries: note cannot be {'a': 1}"),
    "true for a number": (entry(revision=True), "entries: revision cannot be True"),
    "a number that no column holds": (entry(revision=1 << 40), "entries: revision cannot be 1099511627776"),
    "NUL": (entry(note="a\0b"), "a text with"),
    "half a character in JSON": (project_with(room={"guidelines": "\ud800"}), "a text with"),
    "no number in JSON": (project_with(stop_rules={"a": float("nan")}), "nan is no number"),
    "no end of a number": (entry(seconds=float("inf")), "inf is no number"),
    "a moment before all others": (entry(at="0001-01-01T00:00:00+14:00"), "entries: at cannot be '0001-"),
    "lists for labels": (entry(labels=[["a"]]), "entries: labels cannot be [['a']]"),
    "different columns": (other_columns, "entries: not all rows have the same columns"),
    "a table elsewhere": (project_with(table_hash="../../winnow"), "'tables/../../winnow.parquet'"),
    "a row after the last": (entry(row=10**6), "holds no project that works"),
    "a row before the first": (entry(row=-7), "holds no project that works"),
    "settings of another kind": (project_with(settings={"kind": "label_vectors"}), "another kind of project"),
    "a room that there is not": (project_with(room={"walls": 4}), "no setting 'walls'"),
    "a number without end": (project_with(room={"per_row": 10**400}), "holds no project that works"),
    "people without end": (crowd, "11,992 people, of whom"),
}


@pytest.mark.parametrize("name", HOSTILE)
def test_what_was_made_to_hurt_is_refused_in_words(file: Path, tmp_path: Path, name: str) -> None:
    change, words = HOSTILE[name]
    found = look(forged(file, tmp_path, change), tmp_path / "job")
    assert words in (found.get("refused") or found["damaged"][3])


def test_the_file_itself_is_taken(file: Path, tmp_path: Path) -> None:
    """Else the others would be refused for what they have in common with it."""
    found = look(forged(file, tmp_path, lambda content: None), tmp_path / "job")
    assert found["people"] == {1: "owner", 2: "Ada"}
    (table,) = found["files"]
    assert table.startswith("tables/")
    assert len((tmp_path / "job" / "rows-entries.jsonl").read_text().splitlines()) == 1


def test_text_is_text_also_where_it_is_sql(file: Path, elsewhere: Seat, tmp_path: Path) -> None:
    def sql(content: Content) -> None:
        content["rows"]["entries"][0]["note"] = DROP
        content["project"]["description"] = DROP

    brought = bring_in(elsewhere, forged(file, tmp_path, sql))
    assert [one.name for one in team.list_people(elsewhere)] == ["owner", "Ada"]
    assert managing.get_project(elsewhere.at(brought.project_id)).description == DROP


def with_table(file: Path, folder: Path, write: Callable[[Path, Path], None]) -> Path:
    """The file with another table, named by its content. write : is given the path of the old one, and a new one"""

    def change(aside: Path) -> dict[str, Path]:
        (table,) = (aside / "tables").iterdir()
        write(table, folder / "new.parquet")
        with (folder / "new.parquet").open("rb") as written:
            named = hashlib.file_digest(written, "sha256").hexdigest()
        table.unlink()
        (folder / "new.parquet").replace(aside / "tables" / f"{named}.parquet")
        content = json.loads((aside / CONTENT).read_text())
        content["project"]["table_hash"] = named
        (aside / CONTENT).write_text(json.dumps(content))
        return members(aside)

    return with_files(file, folder, change)


def naming(name: str) -> Callable[[Path, Path], None]:
    """A table whose rows name this image."""

    def write(table: Path, target: Path) -> None:
        data = pq.read_table(table)
        pq.write_table(data.append_column("media:image", pa.array([name] * len(data))), target)

    return write


@pytest.mark.parametrize(
    ("name", "words"),
    [
        ("../../winnow.sqlite3", "names of images and recordings"),
        (f"{'a' * 64}.html", "names of images and recordings"),
        (f"{'a' * 64}.png", "as a table names it"),
    ],
)
def test_a_table_names_images_of_this_file_alone(file: Path, tmp_path: Path, name: str, words: str) -> None:
    """An image that another project has here would else be this one's, too."""
    found = look(with_table(file, tmp_path, naming(name)), tmp_path / "job")
    assert words in found["damaged"][2]


def test_what_nobody_names_is_not_kept(file: Path, tmp_path: Path) -> None:
    def change(aside: Path) -> dict[str, Path]:
        page = b"<script>alert(1)</script>"
        named = hashlib.sha256(page).hexdigest()
        (aside / "page").write_bytes(page)
        sources = {**members(aside), f"media/{named[:2]}/{named}.html": aside / "page"}
        del sources["page"]
        return sources

    found = look(with_files(file, tmp_path, change), tmp_path / "job")
    assert "only what the project names" in found["damaged"][2]


def no_table(_table: Path, target: Path) -> None:
    target.write_bytes(b"PAR1" * 100)


def test_a_table_that_is_none_is_said(file: Path, tmp_path: Path) -> None:
    found = look(with_table(file, tmp_path, no_table), tmp_path / "job")
    assert "a table of Winnow's" in found["damaged"][2]


def bomb(_table: Path, target: Path) -> None:
    """Two gigabytes of text in a few kilobytes."""
    piece = pa.table({"media:image": pa.array(["a" * 100_000] * 1_000)})
    with pq.ParquetWriter(target, piece.schema, compression="zstd", use_dictionary=False) as writer:
        for _ in range(20):
            writer.write_table(piece)


def test_a_table_that_unpacks_to_gigabytes_ends_a_process_of_its_own(
    file: Path, elsewhere: Seat, tmp_path: Path
) -> None:
    path = with_table(file, tmp_path, bomb)
    assert path.stat().st_size < 10_000_000
    with pytest.raises(BackupError, match="Nothing was stored") as refused:
        bring_in(elsewhere, path, called="birds.zip")
    assert str(refused.value).startswith("birds.zip cannot be brought in.")
    assert managing.list_projects(elsewhere) == []
    assert files_of(elsewhere.home.settings.home) == {}
    assert not list(elsewhere.home.settings.home.glob(".bringing-*"))


def test_a_packed_member_is_refused_before_it_is_unpacked(elsewhere: Seat, tmp_path: Path) -> None:
    path = tmp_path / "bomb.zip"
    with zipfile.ZipFile(path, "w", zipfile.ZIP_DEFLATED) as archive:
        archive.writestr(CONTENT, b" " * 50_000_000)
        archive.comment = b"winnow-backup " + b"0" * 64 + b" " + b"0" * 64
    with pytest.raises(BackupError, match="expected bytes as they are, got compressed"):
        bring_in(elsewhere, path)


@pytest.mark.parametrize(
    "name", ["../../app.py", "/etc/passwd", "tables/../winnow.sqlite3", "media/aa/x.png"]
)
def test_no_name_leads_out_of_the_folder(elsewhere: Seat, tmp_path: Path, name: str) -> None:
    path = tmp_path / "out.zip"
    with zipfile.ZipFile(path, "w") as archive:
        archive.writestr(name, b"import os")
        archive.comment = b"winnow-backup " + b"0" * 64 + b" " + b"0" * 64
    found = look(path, tmp_path / "job")
    assert found["damaged"][2] == "a file of Winnow's, inside its folders"
    assert [one.name for one in (tmp_path / "job").iterdir()] == []


def test_a_larger_file_may_cost_more() -> None:
    small, large = project_content.bounds_of(1_000), project_content.bounds_of(50_000_000)
    assert small.memory_mb < large.memory_mb
    assert small.cpu < large.cpu < large.wall
