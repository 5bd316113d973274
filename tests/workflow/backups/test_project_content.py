"""A changed project file is refused, and the message names the fault."""

from __future__ import annotations

import hashlib
import json
import re
import zipfile
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from sqlalchemy.exc import IntegrityError, OperationalError, StatementError

from db import copies
from tests.workflow.backups.drill import files_of
from tests.workflow.backups.forging import forged, members, new_home, with_files
from tests.workflow.backups.test_one_project import taken
from tests.workflow.world import annotator, answer_next, small_project
from workflow.backups import project_content
from workflow.backups.archive import check_archive, extract_all
from workflow.backups.manifest import CONTENT, BackupError, DamagedError
from workflow.backups.one_project import bring_in, take_along
from workflow.backups.project_content import look, read_content
from workflow.exporting.snapshots import make_snapshot
from workflow.people import goals, team
from workflow.projects import managing
from workflow.saving import NotSaved
from workflow.seat import Seat

# Foreign content is refused with a message, in any part of a project, before anything is stored


Content = dict[str, Any]
Change = Callable[[Content], object]
MOMENT = "2026-01-01T00:00:00+00:00"


@pytest.fixture
def elsewhere(tmp_path: Path) -> Iterator[Seat]:
    with new_home(tmp_path / "elsewhere") as seat:
        yield seat


@pytest.fixture(scope="module")
def file(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The file of a project in which Ada, person 2, has answered and has a goal; it has past settings and a
    snapshot."""
    folder = tmp_path_factory.mktemp("file")
    with new_home(folder / "home") as owner:
        seat = owner.at(small_project(owner.home, owner.person_id))
        ada = seat.home, annotator(seat.home, seat.person_id, "Ada"), seat.project_id
        answer_next(*ada)
        goals.set_goal(Seat(*ada), goals.Goal(40))
        managing.change_learner(seat, n_neighbors=9)
        make_snapshot(seat, "first")
        take_along(seat, folder / "p.zip")
    return folder / "p.zip"


def project(**values: Any) -> Change:
    return lambda content: content["project"].update(values)


def first(part: str, **values: Any) -> Change:
    """Other values in the first row of a part."""
    return lambda content: content["rows"][part][0].update(values)


def more(part: str, **row: Any) -> Change:
    return lambda content: content["rows"][part].append(row)


def more_entry(**values: Any) -> Change:
    """One more entry, as the first with other values."""

    def change(content: Content) -> None:
        entries = content["rows"]["entries"]
        entries.append({**entries[0], "seq": 2, "token": "2.another", **values})

    return change


def without(part: str, column: str) -> Change:
    return lambda content: content["rows"][part][0].pop(column)


def twice(part: str) -> Change:
    return lambda content: content["rows"][part].append(content["rows"][part][0])


def ada(name: Any) -> Change:
    return lambda content: content["people"].update({"2": name})


def an_example(**values: Any) -> Change:
    whole = {"row": 0, "label": "a", "purpose": "example", "note": "", "marked_by": 1, "marked_at": MOMENT}
    return more("examples", **whole | values)


def a_qualification(**values: Any) -> Change:
    whole = {"person_id": 2, "attempt": 1, "rows": [0], "given": [], "n_right": 0, "began_at": MOMENT}
    return more("qualifications", **whole | values)


MISFITS: dict[str, tuple[Change, str]] = {
    "labels": (first("entries", labels=["unheard of"]), "contains no project that works"),
    "gap": (first("entries", seq=7), "is not in the log"),
    "nobody": (lambda content: content["people"].pop("2"), "person 2 has no name"),
    "no rows": (lambda content: content.update(rows=[]), "expected a project as Winnow writes it"),
    "no row": (lambda content: content["rows"].update(goals=["x"]), "goals: 'x' is not a row"),
    "settings": (project(settings={"n_neighbors": "many"}), "contains no project that works"),
    "table": (project(table_hash="../../x"), "x.parquet', which is not"),
    "column": (first("members", evil=1), "members: there is no column 'evil'"),
    "project's column": (project(evil=1), "projects: there is no column 'evil'"),
    "missing column": (without("members", "role"), "members: role is missing"),
    "some rows": (
        lambda content: content["rows"]["members"].append({"person_id": 3, "role": "viewer", "added_at": MOMENT}),
        "members: not all rows have the same columns",
    ),
    "same name": (ada("owner"), "two people have the same name"),
    "escape": (ada("Ada\x1b[31m\nroot"), "must have 1 to 80 printable characters"),
    "long name": (ada("A" * 100_000), "must have 1 to 80 printable characters"),
    "no name": (ada(""), "must have 1 to 80 printable characters"),
    "spaces": (ada("Ada  L"), "is not a name of a person"),
    "name of lists": (ada(["Ada"]), "is not a name of a person"),
    "role": (first("members", role="god"), "'god' is not a valid Role"),
    "two roles": (twice("members"), "two rows have person_id 2"),
    "room": (project(room={"shortlist": "x"}), "shortlist must be None or one of"),
    "rule of the room": (project(room={"qualification": {"x": 1}}), "contains no project that works"),
    "list of a room": (project(room=[1, 2]), "projects: room cannot be"),
    "stop rules": (project(stop_rules={"x": 1}), "There is no rule 'x'"),
    "roles": (project(roles={"nothing": 1}), "Roles have no 'nothing'"),
    "many rows": (project(n_rows="many"), "n_rows cannot be 'many'"),
    "truth of rows": (project(n_rows=True), "n_rows cannot be True"),
    "too many rows": (project(n_rows=2**31), "n_rows cannot be"),
    "no description": (project(description=None), "description cannot be None"),
    "description": (project(description="\x1b[31m"), "A description cannot be stored with"),
    "long description": (project(description="x" * 2_001), "A description has at most 2,000 characters"),
    "past settings": (first("past_settings", settings={"model": "nothing"}), "model must be one of"),
    "kind of past settings": (first("past_settings", settings={"kind": "x"}), "another kind of project"),
    "entry of past settings": (first("past_settings", until_seq="x"), "until_seq cannot be 'x'"),
    "late past settings": (first("past_settings", until_seq=2), "of entry 2, but the log has 1"),
    "snapshot": (first("snapshots", settings={"model": "no"}), "model must be one of"),
    "late snapshot": (first("snapshots", seq=40), "of entry 40, but the log has 1"),
    "name of a snapshot": (first("snapshots", name="a\x1b]0;x"), "cannot be stored with a terminal escape"),
    "spaces of a snapshot": (first("snapshots", name=" a"), "is not a name of a snapshot"),
    "half a character": (first("entries", note="\ud800"), "a text with"),
    "no moment": (first("entries", at="yesterday"), "at cannot be 'yesterday'"),
    "naive moment": (first("entries", at="2026-01-01T00:00:00"), "at cannot be"),
    "naive beginning": (project(created_at="2031-01-01T00:00:00"), "created_at cannot be"),
    "year": (first("entries", at="9999-12-31T00:00:00+00:00"), "at cannot be '9999-"),
    "year of the project": (project(created_at="1969-12-31T23:59:59+00:00"), "created_at cannot be"),
    "long note": (first("entries", note="x" * 2_001), "A note has at most 2,000 characters"),
    "note of an escape": (first("entries", note="\x1b]0;x"), "A note cannot be stored with"),
    "time that runs back": (first("entries", seconds=-1), "cannot have taken -1 seconds"),
    "years of seconds": (first("entries", seconds=1e15), "entry 1 cannot have taken"),
    "strategy": (first("entries", strategy="\x1b[31m"), "the strategy of entry 1 cannot be"),
    "long strategy": (first("entries", strategy="x" * 201), "the strategy of entry 1 cannot be 'xxx"),
    "long token": (first("entries", token="x" * 201), "the token of entry 1 cannot be 'xxx"),
    "long name of a class": (
        more_entry(kind="class", labels=["rename", "ant", "x" * 201], row=-1),
        "entry 2 cannot name a class 'xxx",
    ),
    "seconds": (first("entries", seconds="<script>"), "seconds cannot be '<script>'"),
    "labels of numbers": (first("entries", labels=[1]), "labels cannot be"),
    "form": (first("entries", asked={"form": 1}), "a question cannot be put as"),
    "part of a form": (first("entries", asked={"form": "which", "x": 1}), "a question cannot be put as"),
    "labels of a form": (first("entries", asked={"form": "is", "about": [1]}), "a question cannot be put as"),
    "goal": (first("goals", answers=0), "must be in 1..10,000"),
    "word of a goal": (first("goals", answers="x"), "answers cannot be 'x'"),
    "day of a goal": (first("goals", reached_on="someday"), "contains no project that works"),
    "example": (an_example(row=99_999), "a row that is not in the table"),
    "purpose": (an_example(purpose="?"), "an example cannot be for '\\?'"),
    "no note": (an_example(note=None), "note cannot be None"),
    "long note of an example": (an_example(note="x" * 201), "A note has at most 200 characters"),
    "stranger": (an_example(marked_by=9), "person 9 has no name"),
    "dispute": (more("dispute_notes", row=-1, person_id=2, at=MOMENT, text="x"), "a row that is not in the table"),
    "long note of a dispute": (
        more("dispute_notes", row=0, person_id=2, at=MOMENT, text="x" * 2_001),
        "A note has at most 2,000 characters",
    ),
    "qualification": (a_qualification(rows=[0, 99_999]), "a row that is not in the table"),
    "rows of a qualification": (a_qualification(rows=["x"]), "rows cannot be"),
    "right ones": (a_qualification(n_right=1), "more answers than rows"),
}


def refused(path: Path, folder: Path) -> str:
    """The message about the file, in this process."""
    folder.mkdir()
    found = look({"path": str(path), "called": "birds.zip"}, folder, lambda _share: None)
    return str(DamagedError(*found["damaged"]) if "damaged" in found else found["refused"])


@pytest.mark.slow
def test_invalid_project_content_is_reported(file: Path, tmp_path: Path, subtests: pytest.Subtests) -> None:
    for name, (change, words) in MISFITS.items():
        (folder := tmp_path / name).mkdir()
        with subtests.test(name):
            said = refused(forged(file, folder, change), folder / "job")
            assert "birds.zip" in said
            assert re.search(words, said)


@pytest.mark.slow
@pytest.mark.usefixtures("checked_here")
@pytest.mark.parametrize("name", ["labels", "column", "late snapshot"])
def test_invalid_project_content_stores_nothing(file: Path, elsewhere: Seat, tmp_path: Path, name: str) -> None:
    change, words = MISFITS[name]
    path = forged(file, tmp_path, change)
    with pytest.raises(BackupError, match=words):
        bring_in(elsewhere, path)
    assert managing.list_projects(elsewhere) == []
    assert [one.name for one in team.list_people(elsewhere)] == ["owner"]
    assert files_of(elsewhere.home.settings.home) == {}


@pytest.mark.slow
def test_deeply_nested_content_is_refused(file: Path, tmp_path: Path) -> None:
    def deep(aside: Path) -> dict[str, Path]:
        (aside / CONTENT).write_text("[" * 100_000 + "]" * 100_000)
        return members(aside)

    said = refused(with_files(file, tmp_path, deep), tmp_path / "job")
    assert "expected a project as Winnow writes it" in said


@pytest.mark.slow
@pytest.mark.usefixtures("checked_here")
@pytest.mark.parametrize("whole", [an_example(), a_qualification(), more("dispute_notes")])
def test_valid_project_content_is_imported(file: Path, elsewhere: Seat, tmp_path: Path, whole: Change) -> None:
    """So that the cases above are refused for their own reasons."""

    def change(content: Content) -> None:
        whole(content)
        content["rows"]["dispute_notes"] = [{"row": 0, "person_id": 2, "at": MOMENT, "text": "Look."}]

    assert bring_in(elsewhere, forged(file, tmp_path, change)).name == "small"


@pytest.mark.slow
@pytest.mark.usefixtures("checked_here")
def test_counts_match_table(file: Path, elsewhere: Seat, tmp_path: Path) -> None:
    extract_all(file, check_archive(file), tmp_path / "here")
    there, rows, named = read_content("birds.zip", tmp_path / "here")
    assert (len(rows["entries"]), named) == (1, {1: "owner", 2: "Ada"})
    path = forged(file, tmp_path, project(n_rows=1, n_classes=0, n_to_ask=-1))
    values, _ = taken(elsewhere.at(bring_in(elsewhere, path).project_id))
    for name in ("n_rows", "n_classes", "n_to_ask"):
        assert values[name] == there[name]


@pytest.mark.slow
@pytest.mark.usefixtures("checked_here")
def test_file_without_later_columns_is_imported(file: Path, elsewhere: Seat, tmp_path: Path) -> None:
    def change(content: Content) -> None:
        for name in ("room", "stop_rules", "source_hash"):
            del content["project"][name]
        for row in content["rows"]["entries"]:
            del row["asked"], row["flagged"]
        del content["rows"]["past_settings"], content["rows"]["snapshots"]

    seat = elsewhere.at(bring_in(elsewhere, forged(file, tmp_path, change)).project_id)
    values, rows = taken(seat)
    assert (values["room"], values["stop_rules"], values["source_hash"]) == ({}, None, None)
    assert (rows["entries"][0]["flagged"], rows["entries"][0]["asked"]) == (False, None)


@pytest.mark.slow
@pytest.mark.usefixtures("checked_here")
def test_database_error_after_checks_is_reported(file: Path, elsewhere: Seat, monkeypatch: pytest.MonkeyPatch) -> None:
    for fault, said in (
        (KeyError("x"), BackupError),
        (TypeError("x"), BackupError),
        (ValueError("x"), BackupError),
        (StatementError("x", "", {}, ValueError("x")), BackupError),
        (IntegrityError("", {}, Exception("UNIQUE constraint failed")), BackupError),
        (OperationalError("", {}, Exception("database or disk is full")), NotSaved),
    ):

        def fails(*_: object, fault: Exception = fault) -> int:
            raise fault

        monkeypatch.setattr(copies, "put", fails)
        with pytest.raises(said):
            bring_in(elsewhere, file)
        assert [one.name for one in team.list_people(elsewhere)] == ["owner"]


# Malicious project files: nothing is stored or run, and each is refused with a message


DROP = "'); DROP TABLE people; --"


def described(file: Path, folder: Path) -> dict[str, Any]:
    """Description in the job, in this process."""
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
    "no number in JSON": (project_with(stop_rules={"a": float("nan")}), "nan is not a number"),
    "no end of a number": (entry(seconds=float("inf")), "inf is not a number"),
    "a moment before all others": (entry(at="0001-01-01T00:00:00+14:00"), "entries: at cannot be '0001-"),
    "lists for labels": (entry(labels=[["a"]]), "entries: labels cannot be [['a']]"),
    "different columns": (other_columns, "entries: not all rows have the same columns"),
    "a table elsewhere": (project_with(table_hash="../../winnow"), "'tables/../../winnow.parquet'"),
    "a row after the last": (entry(row=10**6), "contains no project that works"),
    "a row before the first": (entry(row=-7), "contains no project that works"),
    "settings of another kind": (project_with(settings={"kind": "label_vectors"}), "another kind of project"),
    "a room that there is not": (project_with(room={"walls": 4}), "no setting 'walls'"),
    "a number without end": (project_with(room={"per_row": 10**400}), "contains no project that works"),
    "people without end": (crowd, "11,992 people, of whom"),
}


def test_hostile_project_file_is_refused(file: Path, tmp_path: Path, subtests: pytest.Subtests) -> None:
    for name, (change, words) in HOSTILE.items():
        (folder := tmp_path / name).mkdir()
        with subtests.test(name):
            found = described(forged(file, folder, change), folder / "job")
            assert words in (found.get("refused") or found["damaged"][3])


def test_unchanged_project_file_passes_checks(file: Path, tmp_path: Path) -> None:
    """Otherwise the others might be refused for what they share with it."""
    found = described(forged(file, tmp_path, lambda content: None), tmp_path / "job")
    assert found["people"] == {1: "owner", 2: "Ada"}
    (table,) = found["files"]
    assert table.startswith("tables/")
    assert len((tmp_path / "job" / "rows-entries.jsonl").read_text().splitlines()) == 1


@pytest.mark.usefixtures("checked_here")
def test_sql_in_texts_is_stored_as_text(file: Path, elsewhere: Seat, tmp_path: Path) -> None:
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
def test_table_may_name_images_of_its_file_only(file: Path, tmp_path: Path, name: str, words: str) -> None:
    """Otherwise an image of another project would become this one's, too."""
    found = described(with_table(file, tmp_path, naming(name)), tmp_path / "job")
    assert words in found["damaged"][2]


def test_media_not_named_by_project_are_refused(file: Path, tmp_path: Path) -> None:
    def change(aside: Path) -> dict[str, Path]:
        page = b"<script>alert(1)</script>"
        named = hashlib.sha256(page).hexdigest()
        (aside / "page").write_bytes(page)
        sources = {**members(aside), f"media/{named[:2]}/{named}.html": aside / "page"}
        del sources["page"]
        return sources

    found = described(with_files(file, tmp_path, change), tmp_path / "job")
    assert "only what the project names" in found["damaged"][2]


def no_table(_table: Path, target: Path) -> None:
    target.write_bytes(b"PAR1" * 100)


def test_invalid_table_file_is_refused(file: Path, tmp_path: Path) -> None:
    found = described(with_table(file, tmp_path, no_table), tmp_path / "job")
    assert "a table of Winnow's" in found["damaged"][2]


def bomb(_table: Path, target: Path) -> None:
    """Two gigabytes of text in a few kilobytes."""
    piece = pa.table({"media:image": pa.array(["a" * 100_000] * 1_000)})
    with pq.ParquetWriter(target, piece.schema, compression="zstd", use_dictionary=False) as writer:
        for _ in range(20):
            writer.write_table(piece)


def test_table_bomb_ends_its_own_process(file: Path, elsewhere: Seat, tmp_path: Path) -> None:
    path = with_table(file, tmp_path, bomb)
    assert path.stat().st_size < 10_000_000
    with pytest.raises(BackupError, match="Nothing was stored") as refused:
        bring_in(elsewhere, path, called="birds.zip")
    assert str(refused.value).startswith("birds.zip cannot be imported.")
    assert managing.list_projects(elsewhere) == []
    assert files_of(elsewhere.home.settings.home) == {}
    assert not list(elsewhere.home.settings.home.glob(".bringing-*"))


def test_packed_member_is_refused_before_it_is_unpacked(elsewhere: Seat, tmp_path: Path) -> None:
    path = tmp_path / "bomb.zip"
    with zipfile.ZipFile(path, "w", zipfile.ZIP_DEFLATED) as archive:
        archive.writestr(CONTENT, b" " * 50_000_000)
        archive.comment = b"winnow-backup " + b"0" * 64 + b" " + b"0" * 64
    with pytest.raises(BackupError, match="expected bytes as they are, got compressed"):
        bring_in(elsewhere, path)


@pytest.mark.parametrize("name", ["../../app.py", "/etc/passwd", "tables/../winnow.sqlite3", "media/aa/x.png"])
def test_member_name_cannot_leave_folder(elsewhere: Seat, tmp_path: Path, name: str) -> None:
    path = tmp_path / "out.zip"
    with zipfile.ZipFile(path, "w") as archive:
        archive.writestr(name, b"import os")
        archive.comment = b"winnow-backup " + b"0" * 64 + b" " + b"0" * 64
    found = described(path, tmp_path / "job")
    assert found["damaged"][2] == "a file of Winnow's, inside its folders"
    assert [one.name for one in (tmp_path / "job").iterdir()] == []


def test_larger_file_may_cost_more() -> None:
    small, large = project_content.bounds_of(1_000), project_content.bounds_of(50_000_000)
    assert small.memory_mb < large.memory_mb
    assert small.cpu < large.cpu < large.wall
