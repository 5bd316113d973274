"""What no Winnow has written is refused in words, whatever part of a project it is in, before anything is stored."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest
from sqlalchemy.exc import IntegrityError, OperationalError, StatementError

from db import copies
from tests.workflow.backups.drill import files_of
from tests.workflow.backups.forging import forged, members, new_home, with_files
from tests.workflow.backups.test_one_project import taken
from tests.workflow.world import annotator, answer_next
from workflow.backups.archive import check_archive, extract_all
from workflow.backups.manifest import CONTENT, BackupError, DamagedError
from workflow.backups.one_project import bring_in, take_along
from workflow.backups.project_content import look, read_content
from workflow.exporting.snapshots import make_snapshot
from workflow.people import goals, team
from workflow.projects import managing
from workflow.saving import NotSaved
from workflow.seat import Seat
from workflow.server.home import Home

pytestmark = pytest.mark.slow

Content = dict[str, Any]
Change = Callable[[Content], object]
MOMENT = "2026-01-01T00:00:00+00:00"


@pytest.fixture
def elsewhere(tmp_path: Path) -> Iterator[Seat]:
    with new_home(tmp_path / "elsewhere") as seat:
        yield seat


@pytest.fixture
def file(home: Home, owner: int, project: int, tmp_path: Path) -> Path:
    """Of a project in which Ada, person 2, has answered and has a goal; it has past settings and a snapshot."""
    seat, ada = Seat(home, owner, project), annotator(home, owner, "Ada")
    answer_next(home, ada, project)
    goals.set_goal(Seat(home, ada, project), goals.Goal(40))
    managing.change_learner(seat, n_neighbors=9)
    make_snapshot(seat, "first")
    take_along(seat, tmp_path / "p.zip")
    return tmp_path / "p.zip"


def project(**values: Any) -> Change:
    return lambda content: content["project"].update(values)


def first(part: str, **values: Any) -> Change:
    """Other values in the first row of a part."""
    return lambda content: content["rows"][part][0].update(values)


def more(part: str, **row: Any) -> Change:
    return lambda content: content["rows"][part].append(row)


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
    "labels": (first("entries", labels=["unheard of"]), "holds no project that works"),
    "gap": (first("entries", seq=7), "is not in the log"),
    "nobody": (lambda content: content["people"].pop("2"), "person 2 has no name"),
    "no rows": (lambda content: content.update(rows=[]), "expected a project as Winnow writes it"),
    "no row": (lambda content: content["rows"].update(goals=["x"]), "goals: 'x' is no row"),
    "settings": (project(settings={"n_neighbors": "many"}), "holds no project that works"),
    "table": (project(table_hash="../../x"), "x.parquet', which is not"),
    "column": (first("members", evil=1), "members: there is no column 'evil'"),
    "project's column": (project(evil=1), "projects: there is no column 'evil'"),
    "missing column": (without("members", "role"), "members: role is missing"),
    "some rows": (
        lambda content: content["rows"]["members"].append(
            {"person_id": 3, "role": "viewer", "added_at": MOMENT}
        ),
        "members: not all rows have the same columns",
    ),
    "same name": (ada("owner"), "two people have the same name"),
    "escape": (ada("Ada\x1b[31m\nroot"), "must have 1 to 80 printable characters"),
    "long name": (ada("A" * 100_000), "must have 1 to 80 printable characters"),
    "no name": (ada(""), "must have 1 to 80 printable characters"),
    "spaces": (ada("Ada  L"), "is no name of a person"),
    "name of lists": (ada(["Ada"]), "is no name of a person"),
    "role": (first("members", role="god"), "'god' is not a valid Role"),
    "two roles": (twice("members"), "two rows have person_id 2"),
    "room": (project(room={"shortlist": "x"}), "shortlist must be None or one of"),
    "rule of the room": (project(room={"qualification": {"x": 1}}), "holds no project that works"),
    "list of a room": (project(room=[1, 2]), "projects: room cannot be"),
    "stop rules": (project(stop_rules={"x": 1}), "There is no rule 'x'"),
    "roles": (project(roles={"nothing": 1}), "Roles have no 'nothing'"),
    "many rows": (project(n_rows="many"), "n_rows cannot be 'many'"),
    "truth of rows": (project(n_rows=True), "n_rows cannot be True"),
    "too many rows": (project(n_rows=2**31), "n_rows cannot be"),
    "no description": (project(description=None), "description cannot be None"),
    "description": (project(description="\x1b[31m"), "its description has"),
    "past settings": (first("past_settings", settings={"model": "nothing"}), "model must be one of"),
    "kind of past settings": (first("past_settings", settings={"kind": "x"}), "another kind of project"),
    "entry of past settings": (first("past_settings", until_seq="x"), "until_seq cannot be 'x'"),
    "late past settings": (first("past_settings", until_seq=2), "of entry 2, but the log has 1"),
    "snapshot": (first("snapshots", settings={"model": "no"}), "model must be one of"),
    "late snapshot": (first("snapshots", seq=40), "of entry 40, but the log has 1"),
    "name of a snapshot": (first("snapshots", name="a\x1b]0;x"), "cannot be stored with a terminal escape"),
    "spaces of a snapshot": (first("snapshots", name=" a"), "is no name of a snapshot"),
    "half a character": (first("entries", note="\ud800"), "a text with"),
    "no moment": (first("entries", at="yesterday"), "at cannot be 'yesterday'"),
    "naive moment": (first("entries", at="2026-01-01T00:00:00"), "at cannot be"),
    "naive beginning": (project(created_at="2031-01-01T00:00:00"), "created_at cannot be"),
    "seconds": (first("entries", seconds="<script>"), "seconds cannot be '<script>'"),
    "labels of numbers": (first("entries", labels=[1]), "labels cannot be"),
    "form": (first("entries", asked={"form": 1}), "a question cannot be put as"),
    "part of a form": (first("entries", asked={"form": "which", "x": 1}), "a question cannot be put as"),
    "labels of a form": (first("entries", asked={"form": "is", "about": [1]}), "a question cannot be put as"),
    "goal": (first("goals", answers=0), "must be in 1..10,000"),
    "word of a goal": (first("goals", answers="x"), "answers cannot be 'x'"),
    "day of a goal": (first("goals", reached_on="someday"), "holds no project that works"),
    "example": (an_example(row=99_999), "a row that the table has not"),
    "purpose": (an_example(purpose="?"), "an example cannot be for '\\?'"),
    "no note": (an_example(note=None), "note cannot be None"),
    "stranger": (an_example(marked_by=9), "person 9 has no name"),
    "dispute": (
        more("dispute_notes", row=-1, person_id=2, at=MOMENT, text="x"),
        "a row that the table has not",
    ),
    "qualification": (a_qualification(rows=[0, 99_999]), "a row that the table has not"),
    "rows of a qualification": (a_qualification(rows=["x"]), "rows cannot be"),
    "right ones": (a_qualification(n_right=1), "more answers than rows"),
}


def refused(path: Path, folder: Path) -> str:
    """What is said of the file, in this process."""
    folder.mkdir()
    found = look({"path": str(path), "called": "birds.zip"}, folder, lambda _share: None)
    return str(DamagedError(*found["damaged"]) if "damaged" in found else found["refused"])


@pytest.mark.parametrize("name", MISFITS)
def test_what_does_not_fit_is_said(file: Path, tmp_path: Path, name: str) -> None:
    change, words = MISFITS[name]
    said = refused(forged(file, tmp_path, change), tmp_path / "job")
    assert "birds.zip" in said
    assert re.search(words, said)


@pytest.mark.parametrize("name", ["labels", "column", "late snapshot"])
def test_what_does_not_fit_never_half_enters(file: Path, elsewhere: Seat, tmp_path: Path, name: str) -> None:
    change, words = MISFITS[name]
    path = forged(file, tmp_path, change)
    with pytest.raises(BackupError, match=words):
        bring_in(elsewhere, path)
    assert managing.list_projects(elsewhere) == []
    assert [one.name for one in team.list_people(elsewhere)] == ["owner"]
    assert files_of(elsewhere.home.settings.home) == {}


def test_lists_a_thousand_deep_are_refused(file: Path, tmp_path: Path) -> None:
    def deep(aside: Path) -> dict[str, Path]:
        (aside / CONTENT).write_text("[" * 100_000 + "]" * 100_000)
        return members(aside)

    said = refused(with_files(file, tmp_path, deep), tmp_path / "job")
    assert "expected a project as Winnow writes it" in said


@pytest.mark.parametrize("whole", [an_example(), a_qualification(), more("dispute_notes")])
def test_what_fits_enters(file: Path, elsewhere: Seat, tmp_path: Path, whole: Change) -> None:
    """So that the cases above are refused for what they say."""

    def change(content: Content) -> None:
        whole(content)
        content["rows"]["dispute_notes"] = [{"row": 0, "person_id": 2, "at": MOMENT, "text": "Look."}]

    assert bring_in(elsewhere, forged(file, tmp_path, change)).name == "small"


def test_counts_are_those_of_the_table(file: Path, elsewhere: Seat, tmp_path: Path) -> None:
    extract_all(file, check_archive(file), tmp_path / "here")
    there, rows, named = read_content("birds.zip", tmp_path / "here")
    assert (len(rows["entries"]), named) == (1, {1: "owner", 2: "Ada"})
    path = forged(file, tmp_path, project(n_rows=1, n_classes=0, n_to_ask=-1))
    values, _ = taken(elsewhere.at(bring_in(elsewhere, path).project_id))
    for name in ("n_rows", "n_classes", "n_to_ask"):
        assert values[name] == there[name]


def test_a_file_from_before_the_later_columns_is_taken(file: Path, elsewhere: Seat, tmp_path: Path) -> None:
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


@pytest.mark.parametrize(
    ("fault", "said"),
    [
        (KeyError("x"), BackupError),
        (TypeError("x"), BackupError),
        (ValueError("x"), BackupError),
        (StatementError("x", "", {}, ValueError("x")), BackupError),
        (IntegrityError("", {}, Exception("UNIQUE constraint failed")), BackupError),
        (OperationalError("", {}, Exception("database or disk is full")), NotSaved),
    ],
)
def test_what_the_check_has_missed_is_said_in_words(
    file: Path, elsewhere: Seat, monkeypatch: pytest.MonkeyPatch, fault: Exception, said: type[Exception]
) -> None:
    def fails(*_: object) -> int:
        raise fault

    monkeypatch.setattr(copies, "put", fails)
    with pytest.raises(said):
        bring_in(elsewhere, file)
    assert [one.name for one in team.list_people(elsewhere)] == ["owner"]
