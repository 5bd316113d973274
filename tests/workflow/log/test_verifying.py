"""A valid log of every kind of project; and the reports about one that was tampered with."""

from __future__ import annotations

import io
import json
import zipfile
from datetime import UTC, datetime
from pathlib import Path

import pytest
from sqlalchemy import text

from db import entries, people
from tests.present import present
from tests.workflow.four import ask, four_class_project
from tests.workflow.kind_worlds import KindWorld
from tests.workflow.world import annotator, answer_next, file_of, log_of, small_frame, small_project
from workflow import importing
from workflow.access import Right
from workflow.answering import loop, undoing
from workflow.importing import more_rows
from workflow.log import verifying
from workflow.log.lines import seal, write_log_lines
from workflow.log.verifying import LogError, header_of, verify_file, verify_project
from workflow.projects import classes, managing
from workflow.rows import reviewing
from workflow.seat import Seat
from workflow.server.home import Home

WRITTEN = datetime(2026, 4, 1, tzinfo=UTC)


def write(seat: Seat, path: Path, first: int | None = None) -> list[bytes]:
    """The log as a file, optionally only its first entries; returns its lines."""
    with seat.learner(Right.OWN) as opened:
        log = entries.after(opened.session, opened.project_id, 0)[:first]
        names = {one.id: one.name for one in people.listed(opened.session)}
        ids = list(map(str, opened.learner.table.ids))
        lines = list(write_log_lines(log, names, ids, header_of(opened.project, log, WRITTEN)))
    path.write_bytes(b"".join(lines))
    return lines


def meddle(seat: Seat, change: str, **values: object) -> None:
    """Write into the database behind Winnow's back: its own triggers refuse that."""
    with seat.home.database.write() as session:
        if seat.home.database.is_sqlite:
            for action in ("update", "delete"):
                session.execute(text(f"DROP TRIGGER IF EXISTS entries_no_{action}"))
        else:
            session.execute(text("DROP TRIGGER IF EXISTS entries_no_change ON entries"))
        session.execute(text(change), values)


def fault(seat: Seat, path: Path | None = None) -> str:
    with pytest.raises(LogError) as caught:
        verify_project(seat, path)
    return str(caught.value)


def work(world: KindWorld, seat: Seat, ada: Seat) -> None:
    """Every kind of answer, undo, redo and a correction, by two people."""
    for kind in world.ANSWERS:
        world.say(ada, kind)
    world.answer(seat)
    world.answer(seat)
    undoing.undo(seat)
    undoing.redo(seat)
    undoing.undo(seat)
    saved = world.answer(seat)
    with seat.turn() as turn:
        opened = turn.opened.kind.open_row(turn.opened, saved.row)
    made = world.correction(opened)
    reviewing.correct(seat, saved.row, opened.token, made.kind, made.labels, changes=made.changes)


# Valid logs


def test_log_with_every_kind_of_entry_is_valid(world: KindWorld, seat: Seat, ada: Seat, tmp_path: Path) -> None:
    work(world, seat, ada)
    lines = write(seat, tmp_path / "log.jsonl")
    (alone,) = verify_project(seat)
    again, file = verify_project(seat, tmp_path / "log.jsonl")
    assert alone == again
    assert alone.entries == file.entries == len(lines) - 2
    assert alone.head == file.head == verify_file(tmp_path / "log.jsonl").head == seal(lines[-2][:-1])
    assert str(alone) == f"Project {seat.project_id}: the log holds: {alone.entries} entries, head {alone.head}"
    assert str(file).startswith(f"log.jsonl: all of the log of project {seat.project_id} holds: ")


def test_earlier_log_file_is_a_beginning(world: KindWorld, seat: Seat, ada: Seat, tmp_path: Path) -> None:
    world.answer(ada)
    early = tmp_path / "early.jsonl"
    lines = write(seat, early)
    world.answer(ada)
    managing.rename_project(seat, "Another name", "and description")
    project, file = verify_project(seat, early)
    assert project.entries > file.entries == len(lines) - 2
    assert f"early.jsonl: the beginning, of {project.entries} entries, of the log of project" in str(file)
    assert write(seat, tmp_path / "now.jsonl")[1 : len(lines) - 1] == lines[1:-1], "the same lines, byte for byte"


def test_empty_log_is_valid(seat: Seat, tmp_path: Path) -> None:
    write(seat, tmp_path / "log.jsonl")
    project, file = verify_project(seat, tmp_path / "log.jsonl")
    with seat.reading() as reading:
        assert project.head == file.head == reading.project.table_hash
    assert "0 entries" in str(project)


def test_log_with_changed_classes_and_models_is_valid(home: Home, owner: int, tmp_path: Path) -> None:
    """Every answer counts under the classes of its time."""
    seat = Seat(home, owner, four_class_project(home, owner))

    def say(kind: str, *labels: str) -> None:
        question = present(loop.next_question(seat))
        loop.submit_answer(seat, question.token, kind, labels, shown=question.shown)

    say("not", "ant")
    say("is", "bee")
    answer_version = classes.classes_view(seat).version
    classes.change_classes(seat, answer_version, "rename", ["ant", "red ant"])
    say("among", "red ant", "cat")
    managing.change_learner(seat, model="pegasos-average")
    classes.change_classes(seat, classes.classes_view(seat).version, "add", ["elk"])
    say("none")
    classes.change_classes(seat, classes.classes_view(seat).version, "merge", ["bee", "cat"])
    undoing.undo(seat)
    classes.take_back(seat, classes.classes_view(seat).version)
    say("is", "red ant")
    managing.change_learner(seat, model="plknn")
    found, file = verify_project(seat, *[tmp_path / "log.jsonl"] * bool(write(seat, tmp_path / "log.jsonl")))
    written = log_of(seat)
    assert found.entries == file.entries == len(written)
    assert {one.kind for one in written} >= {"not", "is", "among", "none", "class", "model", "withdraw"}


def grown(seat: Seat, tmp_path: Path) -> None:
    """Two more rows, one with a new class."""
    frame = small_frame(2, seed=9)
    frame["id"] = ["new", "newer"]
    frame.loc[1, "candidates"], frame.loc[1, "truth"] = "ant|emu", ""
    frame.to_csv(tmp_path / "more.csv", index=False)
    more_rows.add_rows(seat, more_rows.read_rows(seat, importing.read_upload(tmp_path / "more.csv")))


def test_log_with_added_rows_is_valid_with_earlier_seals(home: Home, owner: int, project: int, tmp_path: Path) -> None:
    seat, early = Seat(home, owner, project), tmp_path / "early.jsonl"
    answer_next(home, owner, project)
    lines = write(seat, early)
    grown(seat, tmp_path)
    answer_next(home, owner, project)
    found, file = verify_project(seat, early)
    assert (found.entries, file.entries) == (4, 1), "two answers, a class and the rows"
    assert write(seat, tmp_path / "now.jsonl")[1 : len(lines) - 1] == lines[1:-1]
    assert verify_file(tmp_path / "now.jsonl").head == found.head


def test_anonymous_log_file_is_a_beginning(home: Home, owner: int, project: int, tmp_path: Path) -> None:
    seat = Seat(home, owner, project)
    classes.change_classes(seat, 0, "add", ["elk"])  # by the owner, who answers later
    answer_next(home, annotator(home, owner, "Ada"), project)
    with zipfile.ZipFile(io.BytesIO(file_of(seat, "dataset"))) as packed:
        (tmp_path / "log.jsonl").write_bytes(packed.read("log.jsonl"))
    assert b"Ada" not in (tmp_path / "log.jsonl").read_bytes()
    for person in (annotator(home, owner, "Zoe"), owner):
        answer_next(home, person, project)
        _, file = verify_project(seat, tmp_path / "log.jsonl")
        assert file.entries == 2


# Logs that do not


def test_wrong_table_before_added_rows_is_reported(home: Home, owner: int, project: int, tmp_path: Path) -> None:
    seat = Seat(home, owner, project)
    grown(seat, tmp_path)
    verify_project(seat)
    with seat.reading() as reading:
        now = reading.project.table_hash
    meddle(seat, "UPDATE projects SET table_hash = :wrong", wrong="0" * 64)
    assert f"The log ends with the table {now}, but project {project} has {'0' * 64}" in fault(seat)


@pytest.fixture
def told(home: Home, owner: int) -> Seat:
    """The owner at a project of four classes with three answers: `is` bee, `not` ant, `among` ant and cat."""
    project = four_class_project(home, owner)
    for kind, labels in (("is", ["bee"]), ("not", ["ant"])):
        loop.submit_answer(Seat(home, owner, project), ask(home, owner, project).token, kind, labels)
    question = present(loop.next_question(Seat(home, owner, project)))
    loop.submit_answer(Seat(home, owner, project), question.token, "skip")
    return Seat(home, owner, project)


@pytest.mark.parametrize(
    ("change", "sentence"),
    [
        (
            """UPDATE entries SET labels = '["cat"]' WHERE seq = 1""",
            "Entry 1 of the log says 'bee' were there after it; table and log give 'cat'",
        ),
        ("""UPDATE entries SET kind = 'not' WHERE seq = 1""", "Entry 1 of the log says 'bee' were there after it"),
        ("""UPDATE entries SET after = '["ant"]' WHERE seq = 1""", "Entry 1 of the log says 'ant' were there after it"),
        (
            """UPDATE entries SET before = '["ant"]' WHERE seq = 2""",
            "Entry 2 of the log says 'ant' were there before it",
        ),
        ("""UPDATE entries SET before = '[]' WHERE seq = 2""", "Entry 2 of the log says none were there before it"),
        (
            """UPDATE entries SET labels = '["dog"]' WHERE seq = 1""",
            "Entry 1 of the log is impossible after those before it: Entry 1 about",
        ),
        (
            """UPDATE entries SET kind = 'none' WHERE seq = 1""",
            "Entry 1 of the log is impossible after those before it",
        ),
        (
            """UPDATE entries SET row = row + 1000 WHERE seq = 2""",
            "Entry 2 of the log is impossible after those before it",
        ),
        (
            """UPDATE entries SET seq = 9 WHERE seq = 2""",
            "Entry 2 of the log is not in the log; entry 3 is in its place",
        ),
        (
            """UPDATE entries SET target_seq = 1 WHERE seq = 3""",
            "Entry 3 of the log is impossible after those before it",
        ),
        (
            """UPDATE entries SET row = -1, kind = 'class', labels = '["x"]' WHERE seq = 2""",
            "Entry 2 of the log is impossible",
        ),
    ],
)
def test_changed_entry_is_named(told: Seat, change: str, sentence: str) -> None:
    verify_project(told)
    meddle(told, change)
    assert sentence in fault(told)
    assert fault(told).endswith("It was changed outside Winnow. Fix: restore a backup.")


def test_removed_entry_is_named(told: Seat) -> None:
    meddle(told, "DELETE FROM entries WHERE seq = 1")
    assert "Entry 1 of the log is not in the log; entry 2 is in its place" in fault(told)


def test_log_file_reveals_changes_of_metadata_and_last_entry(told: Seat, tmp_path: Path) -> None:
    """Annotator, time and seconds do not affect candidates; and a last entry can disappear without a trace."""
    path = tmp_path / "log.jsonl"
    write(told, path)
    meddle(told, "UPDATE entries SET seconds = 99.0, note = 'late' WHERE seq = 1")
    verify_project(told)
    said = fault(told, path)
    assert "Entry 1 is not the same: log.jsonl says seconds" in said
    assert "the log of project 1 says 99.0" in said
    write(told, path)
    verify_project(told, path)
    meddle(told, "DELETE FROM entries WHERE seq = 3")
    verify_project(told)
    assert "log.jsonl has an entry 3, the log of project 1 only 2" in fault(told, path)


def test_changed_person_is_found_by_file(home: Home, owner: int, told: Seat, tmp_path: Path) -> None:
    path = tmp_path / "log.jsonl"
    write(told, path)
    ada = annotator(home, owner, "Ada")
    meddle(told, "UPDATE entries SET person_id = :ada WHERE seq = 2", ada=ada)
    assert "says annotator" in fault(told, path)
    assert "'Ada'" in fault(told, path)


def test_changed_file_is_no_beginning(told: Seat, tmp_path: Path) -> None:
    path = tmp_path / "log.jsonl"
    lines = write(told, path)
    path.write_bytes(b"".join(lines).replace(b'"bee"', b'"cat"', 1))
    assert "Line 2 was changed" in fault(told, path)
    with pytest.raises(LogError, match="Line 2 was changed"):
        verify_file(path)
    path.write_bytes(b"".join(lines[:-1]))
    assert "its end was cut off" in fault(told, path)


def forge(lines: list[bytes], **values: object) -> bytes:
    """The file with these values in every entry, all sealed again."""
    before, forged = json.loads(lines[1])["sha256"], []
    for line in lines[1:-1]:
        entry = json.loads(line) | {"sha256": before, **values}
        forged.append(json.dumps(entry, separators=(",", ":")).encode())
        before = seal(forged[-1])
    footer = json.loads(lines[-1]) | {"sha256": before}
    whole = [lines[0][:-1], *forged, json.dumps(footer, separators=(",", ":")).encode()]
    return b"\n".join(whole) + b"\n"


def test_rewritten_file_is_valid_alone_but_not_with_project(told: Seat, tmp_path: Path) -> None:
    """Limits of the chain: someone changes the file and seals everything again."""
    path = tmp_path / "log.jsonl"
    path.write_bytes(forge(write(told, path), annotator="nobody"))
    head = verify_file(path).head
    assert head != verify_project(told)[0].head
    assert "'nobody'" in fault(told, path)


@pytest.mark.parametrize("score", [-0.0, 0])
def test_equal_numbers_written_differently_change_head(told: Seat, tmp_path: Path, score: float) -> None:
    meddle(told, "UPDATE entries SET score = 0.0")
    path = tmp_path / "log.jsonl"
    lines = write(told, path)
    verify_project(told, path)
    path.write_bytes(forge(lines, score=score))
    assert f"with a head of its own, {verify_file(path).head}: it was rewritten." in fault(told, path)


def test_log_of_another_project_is_refused(home: Home, owner: int, told: Seat, tmp_path: Path) -> None:
    other = Seat(home, owner, small_project(home, owner))
    answer_next(home, owner, other.project_id or 0)
    write(other, tmp_path / "other.jsonl")
    assert "other.jsonl is the log of another table" in fault(told, tmp_path / "other.jsonl")


def table_of(seat: Seat) -> Path:
    with seat.reading() as reading:
        return seat.home.table_path(reading.project.table_hash)


def test_changed_or_missing_table_is_reported(told: Seat) -> None:
    path = table_of(told)
    whole = path.read_bytes()
    path.write_bytes(whole + b"\0")
    assert f"The table of project {told.project_id} was changed: its SHA-256 is" in fault(told)
    path.unlink()
    assert "is not there" in fault(told)
    path.write_bytes(whole)
    verify_project(told)


def test_settings_contradicting_log_are_reported(told: Seat) -> None:
    managing.change_learner(told, model="pegasos-average")
    verify_project(told)
    meddle(told, "UPDATE entries SET after = :after, labels = :after WHERE kind = 'model'", after='["plsvc"]')
    assert "the latest change of the model in the log is to 'plsvc'" in fault(told).lower()
    meddle(told, "UPDATE entries SET after = :after WHERE kind = 'model'", after='["m3pl"]')
    assert "Entry 4 of the log says 'm3pl' were there after it; table and log give 'plsvc'" in fault(told)


def test_contradictory_model_changes_are_reported(told: Seat) -> None:
    for model in ("pegasos-average", "plknn"):
        managing.change_learner(told, model=model)
    verify_project(told)
    meddle(told, "UPDATE entries SET before = :before WHERE seq = 5", before='["m3pl"]')
    said = fault(told)
    assert "Entry 5 of the log says 'm3pl' were there before it; table and log give 'pegasos-average'" in said


def test_verified_one_entry_is_described_in_singular() -> None:
    assert str(verifying.Verified("x: the chain", 1, "ab")) == "x: the chain holds: 1 entry, head ab"


def test_class_change_without_its_rows_is_reported(told: Seat) -> None:
    classes.change_classes(told, 0, "add", ["gnu"])
    verify_project(told)
    meddle(told, "UPDATE entries SET before = '[]', after = '[]' WHERE kind = 'class'")
    assert "says none were there before it" in fault(told)
