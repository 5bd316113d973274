"""The log in the database: entries, withdrawals, review, faults."""

from __future__ import annotations

import sqlite3
from dataclasses import replace
from datetime import timedelta
from pathlib import Path

import pytest
from sqlalchemy import text
from sqlalchemy.exc import DBAPIError, IntegrityError

from db import answers, entries, members, people, projects, questions
from db.answers import CORRECTION, Wanted
from db.base import is_damaged, is_gone, is_read_only, lacks_a_table
from db.engine import Database
from db.entries import DuplicateEntry, LogEntry
from tests.db.conftest import NOW, add_project, new_entry, new_question
from tests.present import present
from tests.statements import noted_statements

# entries


def append(database: Database, project_id: int, revision: int = 0, **changes: object) -> LogEntry:
    with database.write() as session:
        return entries.append(session, new_entry(project_id, revision, **changes))


def test_seq_counts_from_one_in_each_project(database: Database) -> None:
    one, two = add_project(database, "one"), add_project(database, "two")
    found = [append(database, project, row=row).seq for row in range(3) for project in (one, two)]
    assert found == [1, 1, 2, 2, 3, 3]


def test_entry_round_trips(database: Database) -> None:
    project = add_project(database)
    written = append(
        database,
        project,
        label="wren|'\"; --",
        kind="not",
        strategy="apl",
        score=0.1 + 0.2,
        model_version=7,
        seconds=1.25,
        note="späte Antwort \N{BIRD}",
        target_seq=None,
    )
    with database.read() as session:
        assert entries.after(session, project, 0) == [written]
        assert entries.with_token(session, project, written.token) == written
        assert entries.with_token(session, project, "other") is None
        end = entries.LogEnd(written.seq, written.at, written.person_id)
        assert entries.log_ends(session, [project]) == {project: end}


def test_ends_of_logs_are_found_in_one_statement(database: Database) -> None:
    one, two, three, empty = (add_project(database, name) for name in ("one", "two", "three", "empty"))
    append(database, one, row=3)
    append(database, one, row=2, person_id=2, at=NOW + timedelta(seconds=7))
    append(database, one, row=entries.NO_ROW, at=NOW + timedelta(seconds=9))
    append(database, two, row=0)
    append(database, three, row=entries.NO_ROW)
    ends = {
        one: entries.LogEnd(3, NOW + timedelta(seconds=7), 2),
        two: entries.LogEnd(1, NOW, 1),
        three: entries.LogEnd(1, None, None),
        empty: entries.LogEnd(0, None, None),
    }
    with database.read() as session, noted_statements() as noted:
        assert entries.log_ends(session) == ends
        assert sum(one.startswith("SELECT") for one in noted) == 1
        assert entries.log_ends(session, [two, empty]) == {two: ends[two], empty: ends[empty]}
        assert entries.log_ends(session, []) == {}
        for key, end in ends.items():
            assert end.height == entries.last_seq(session, key)


def test_log_is_read_in_batches_up_to_seq(database: Database, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(entries, "READ_AT_ONCE", 2)
    project, other = add_project(database, "one"), add_project(database, "two")
    rows = [3, entries.NO_ROW, 0, 7, 2]
    written = [append(database, project, row=row) for row in rows]
    append(database, other, row=0)
    with database.read() as session:
        assert list(entries.each(session, project, 5)) == entries.after(session, project, 0) == written
        assert list(entries.each(session, project, 3)) == written[:3]
        assert list(entries.each(session, project, 0)) == []
        below = list(entries.each(session, project, 5, rows_below=4))
        assert [one.row for one in below] == [3, 0, 2], "and none that is about no row"


def test_after_returns_new_entries_in_order(database: Database) -> None:
    project = add_project(database)
    written = [append(database, project, row=row) for row in range(5)]
    with database.read() as session:
        assert entries.after(session, project, 2) == written[2:]
        assert entries.after(session, project, 5) == []
        assert entries.last_seq(session, project) == 5
        assert entries.last_seq(session, project + 1) == 0


@pytest.mark.parametrize(
    "second",
    [
        {"row": 4, "token": "1.3.None.0"},  # the same token again
        {"token": "another"},  # the same person, row and revision
    ],
)
def test_question_is_answered_once(database: Database, second: dict[str, object]) -> None:
    project = add_project(database)
    append(database, project)
    with pytest.raises(DuplicateEntry, match=f"Project {project}"):
        append(database, project, **second)
    with database.read() as session:
        assert len(entries.after(session, project, 0)) == 1


def test_other_people_labels_projects_and_revisions_do_not_collide(database: Database) -> None:
    project, other = add_project(database), add_project(database, "other")
    append(database, project)
    append(database, project, person_id=2)
    append(database, project, label="wren")
    append(database, project, 1)
    append(database, other)
    with database.read() as session:
        assert entries.count_for(session, project, 1, 3) == 2
        assert entries.count_for(session, project, 1, 3, "wren") == 1
        assert entries.count_for(session, project, 2, 3) == 1
        assert entries.count_for(session, project, 2, 4) == 0


def test_unknown_project_or_person_is_no_duplicate(database: Database) -> None:
    project = add_project(database)
    with pytest.raises(DBAPIError):
        append(database, project + 1)
    with pytest.raises(DBAPIError):
        append(database, project, person_id=99)


def test_note_naming_unique_index_is_no_duplicate(database: Database) -> None:
    """A driver may repeat the whole entry in its error message."""
    project = add_project(database)
    told = "token, revision, uq_entries_token, entries.token"
    with pytest.raises(IntegrityError, match="kind"):
        append(database, project, kind=None, note=told)
    append(database, project, note=told)
    with pytest.raises(DuplicateEntry):
        append(database, project, note=told)


@pytest.mark.parametrize(
    "change", ["UPDATE entries SET kind = 'not'", "DELETE FROM entries", "UPDATE entries SET seq = 5 WHERE seq = 1"]
)
def test_log_is_append_only(database: Database, change: str) -> None:
    project = add_project(database)
    written = append(database, project)
    with pytest.raises(DBAPIError, match="append-only"), database.write() as session:
        session.execute(text(change))
    with database.read() as session:
        assert entries.after(session, project, 0) == [written]


def test_replacing_entry_is_refused(sqlite: Database) -> None:
    project = add_project(sqlite)
    append(sqlite, project)
    columns = "kind, row, label, labels, person_id, token, revision, model_version, before, after, at"
    same = f"SELECT project_id, seq, {columns} FROM entries"  # noqa: S608
    replace = f"INSERT OR REPLACE INTO entries (project_id, seq, {columns}) {same}"
    with pytest.raises(DBAPIError, match="append-only"), sqlite.write() as session:
        session.execute(text(replace))


def test_undo_finds_latest_standing_entry_of_person(database: Database) -> None:
    project = add_project(database)
    first = append(database, project, row=1)
    skip = append(database, project, row=2, kind="skip", labels=())
    append(database, project, row=3, person_id=2)

    def latest_standing() -> int | None:
        with database.read() as session:
            found = answers.history(session, project, 1, 9)
        return next((one.seq for one in found if one.withdrawal is None), None)

    assert latest_standing() == skip.seq
    append(database, project, 1, row=2, kind="withdraw", target_seq=skip.seq)
    assert latest_standing() == first.seq
    append(database, project, 1, row=1, kind="withdraw", target_seq=first.seq)
    assert latest_standing() is None
    again = append(database, project, 2, row=1)
    assert latest_standing() == again.seq


def test_batch_confirmations_do_not_count_for_pace(database: Database) -> None:
    project = add_project(database)
    for row, asked in enumerate([None, {"form": "batch", "batch": "batch.1.1"}, {"form": "which"}]):
        append(database, project, row=row, seconds=float(row), asked=asked)
    with database.read() as session:
        assert answers.latest_seconds(session, project, 9) == [2.0, 0.0]


ANSWERS = ("is", "among", "not", "none", "bad")


def test_answers_are_counted_listed_and_timed(database: Database) -> None:
    project = add_project(database)
    first = append(database, project, row=1, seconds=2.0)
    append(database, project, 1, row=1, seconds=3.0, at=NOW + timedelta(seconds=1))
    append(database, project, row=2, kind="skip", labels=(), seconds=9.0)
    append(database, project, row=3, person_id=2, seconds=4.0)
    with database.read() as session:
        assert answers.answered_rows(session, project, ANSWERS) == 2
        assert answers.latest_seconds(session, project, 2, ("skip",)) == [4.0, 3.0]
        assert [one.seq for one in entries.latest(session, project, 1, 9)] == [3, 2, 1]
        assert [one.seq for one in entries.latest(session, project, 1, 2)] == [3, 2]
        assert [one.seq for one in entries.latest(session, project, 2, 9)] == [4]
        assert entries.log_ends(session, [project + 1]) == {}
    append(database, project, 1, row=3, person_id=2, kind="withdraw", target_seq=4)
    with database.read() as session:
        assert answers.answered_rows(session, project, ANSWERS) == 1
    append(database, project, 2, row=1, kind="withdraw", target_seq=first.seq)
    with database.read() as session:
        assert answers.answered_rows(session, project, ANSWERS) == 1  # the second answer to row 1 still stands


def test_timed_answers_are_newest_first_with_their_questions(database: Database) -> None:
    project = add_project(database)
    put = {"form": "is", "choices": 1}
    append(database, project, row=1, seconds=9.0, before=("a", "b"))
    append(database, project, row=2, seconds=2.0, before=("a", "b", "c"), asked=put)
    append(database, project, row=3, seconds=None)
    append(database, project, row=4, seconds=1.0, note="simulated")
    append(database, project, row=5, seconds=1.0, kind="skip")
    with database.read() as session:
        found = answers.timed(session, project, ("is",), 5, without_note="simulated")
        assert [(one.seconds, one.choices, one.asked) for one in found] == [(2.0, 3, put), (9.0, 2, None)]
        assert answers.timed(session, project, ("is",), 1, without_note="simulated") == found[:1]


def test_latest_annotator_is_returned_for_requested_rows(database: Database) -> None:
    project, other = add_project(database), add_project(database, "other")
    with database.write() as session:
        ben = people.add(session, "Ben", "annotator", NOW)
    first = append(database, project, row=1, kind="is")
    append(database, project, 1, row=1, kind="not", person_id=ben)
    append(database, project, 2, row=1, kind="skip")
    append(database, project, row=2, kind="is")
    taken_back = append(database, project, 3, row=3, kind="is", person_id=ben)
    append(database, project, 4, row=3, kind="withdraw", target_seq=taken_back.seq, person_id=ben)
    append(database, project, 5, row=4, kind="is", person_id=ben)
    append(database, other, 6, row=5, kind="is", person_id=ben)
    with database.read() as session:
        found = answers.latest_people(session, project, ("is", "not"), [1, 2, 3, 5])
        assert found == {1: ben, 2: first.person_id}
        assert answers.latest_people(session, project, ("is",), []) == {}


# The one statement with which a transaction at a project begins


@pytest.mark.parametrize("number", [99, 0, -1, 2**31, 10**30])
def test_person_is_found_with_role_project_and_log_height(database: Database, number: int) -> None:
    birds, frogs = add_project(database, "birds"), add_project(database, "frogs")
    with database.write() as session:
        zoe, bea = (people.add(session, name, role, NOW) for name, role in (("zoe", "owner"), ("bea", "annotator")))
        members.put(session, birds, bea, "viewer", at=NOW, by=zoe)
        members.put(session, frogs, bea, "reviewer", at=NOW, by=None)
        for row in range(3):
            entries.append(session, new_entry(frogs, row=row))
        people.disable(session, bea, NOW)
    with database.read() as session:
        for person, project, role, height in (
            (bea, birds, "viewer", 0),
            (bea, frogs, "reviewer", 3),
            (zoe, frogs, None, 3),
        ):
            found = present(questions.find(session, person, project))
            assert found.person == people.find(session, person)
            assert found.project == projects.get(session, project)
            assert (found.role, found.height) == (role, height)
        nowhere = present(questions.find(session, bea, number))
        assert (nowhere.role, nowhere.project, nowhere.height) == (None, None, 0)
        assert questions.find(session, 99, birds) is None


# Database errors, distinguished on real ones


def kinds(error: DBAPIError) -> set[str]:
    return {one.__name__ for one in (is_damaged, is_gone, is_read_only, lacks_a_table) if one(error)}


def error_of(database: Database, statement: str) -> DBAPIError:
    with pytest.raises(DBAPIError) as caught, database.read() as session:
        session.execute(text(statement))
    return caught.value


def test_missing_table_or_column_is_classified(database: Database) -> None:
    assert kinds(error_of(database, "SELECT 1 FROM nowhere")) == {"lacks_a_table"}
    assert kinds(error_of(database, "SELECT no_column FROM people")) == {"lacks_a_table"}
    assert kinds(error_of(database, "SELECT SELECT")) == set()


def test_integrity_error_is_no_storage_fault(database: Database) -> None:
    with database.write() as session:
        people.add(session, "ada", "owner", NOW)
    with pytest.raises(IntegrityError) as caught, database.write() as session:
        people.add(session, "ada", "owner", NOW)
    assert kinds(caught.value) == set()


def test_file_that_is_no_database_is_classified_as_damaged(tmp_path: Path) -> None:
    (tmp_path / "a").write_bytes(b"x" * 8192)
    assert kinds(error_of(Database(f"sqlite:///{tmp_path / 'a'}"), "SELECT 1")) == {"is_damaged"}


def test_unwritable_file_is_classified_as_read_only(sqlite: Database, tmp_path: Path) -> None:
    (tmp_path / "folder").mkdir()
    assert kinds(error_of(Database(f"sqlite:///{tmp_path / 'folder'}"), "SELECT 1")) == {"is_read_only"}
    assert kinds(error_of(sqlite, "CREATE TABLE t (x)")) == {"is_read_only"}


@pytest.mark.postgres
def test_unreachable_postgres_is_classified_as_gone(postgres_url: str) -> None:
    elsewhere = Database(postgres_url.replace("host=", "host=/nowhere"))
    assert kinds(error_of(elsewhere, "SELECT 1")) == {"is_gone"}
    there = Database(postgres_url)
    assert kinds(error_of(there, "SELECT pg_terminate_backend(pg_backend_pid())")) == {"is_gone"}
    with there.read() as session:
        assert session.execute(text("SELECT 1")).scalar_one() == 1
    there.close()


def test_error_without_code_has_no_kind() -> None:
    assert kinds(DBAPIError("SELECT 1", None, sqlite3.OperationalError("odd"))) == set()


# Log and open questions about single labels


CELLS_ANSWERS = ("yes", "no", "bad")


def test_current_cell_answers_are_listed(database: Database) -> None:
    project, other = add_project(database), add_project(database, "other")
    with database.write() as session:
        assert answers.answers_of(session, project, CELLS_ANSWERS) == []
        entries.append(session, new_entry(project, kind="no", labels=("robin", "owl"), token="1.3.0"))
        entries.append(session, new_entry(project, 1, kind="yes", labels=("wren",), token="1.3.0.is"))
        entries.append(session, new_entry(project, kind="yes", row=4, label="wren", labels=("wren",)))
        for number, kind in enumerate(("bad", "skip", "unsure")):
            entries.append(session, new_entry(project, number, kind=kind, row=5, labels=()))
        entries.append(session, new_entry(other, kind="yes"))
        told = [(3, "no", ("robin", "owl")), (3, "yes", ("wren",))]
        assert answers.answers_of(session, project, CELLS_ANSWERS) == [*told, (4, "yes", ("wren",)), (5, "bad", ())]
        entries.append(session, new_entry(project, 1, kind="withdraw", row=4, label="wren", labels=(), target_seq=3))
        assert answers.answers_of(session, project, CELLS_ANSWERS) == [*told, (5, "bad", ())]


def test_history_of_person_names_label_asked(database: Database) -> None:
    project = add_project(database)
    with database.write() as session:
        entries.append(session, new_entry(project, kind="yes", label="wren"))
        entries.append(session, new_entry(project, kind="no", label=None, labels=("robin",)))
        assert [one.label for one in answers.history(session, project, 1, 9)] == [None, "wren"]


def test_labels_of_one_row_are_reserved_separately(database: Database) -> None:
    project = add_project(database)
    asked = new_question(project, label="wren", token="1.3.1.0", strategy="information", decides=0)
    with database.write() as session:
        questions.put(session, asked)
        questions.put(session, replace(asked, person_id=2, row=4, label=None))
        assert questions.get(session, project, 1) == asked
    with database.read() as session:
        assert set(questions.reserved_places(session, project, 2, NOW)) == {(3, "wren")}
        assert set(questions.reserved_places(session, project, 1, NOW)) == {(4, None)}
        assert set(questions.reserved_places(session, project, 0, NOW)) == {(3, "wren"), (4, None)}
        assert not questions.reserved_places(session, project, 0, NOW + timedelta(seconds=1))


# Finding answered rows: on both databases, filtered, paged, and never by withdrawn answers


KINDS = ("is", "among", "bad")


def filled(database: Database) -> int:
    """Rows 0 to 3: an answer and a later one, a withdrawn one, a bad row; each with its person and content."""
    project = add_project(database)
    add_project(database, "another")
    with database.write() as session:
        for change in (
            {"row": 0, "labels": ("wren",), "predicted": "robin"},
            {"row": 0, "labels": ("Wren", "robin"), "kind": "among", "person_id": 2, "flagged": True},
            {"row": 1, "labels": ("robin",), "predicted": "robin"},
            {"row": 2, "labels": ("wren",)},
            {"row": 3, "labels": (), "kind": "bad", "person_id": 2},
            {"row": 3, "labels": (), "kind": "skip", "revision": 1},
        ):
            entries.append(session, new_entry(project, **change))
        entries.append(
            session, new_entry(project, kind="withdraw", row=2, labels=(), target_seq=4, revision=1, token="back")
        )
        entries.append(session, new_entry(project + 1, row=1))
    return project


def found(database: Database, project: int, **wanted: object) -> list[tuple[int, int]]:
    wish = Wanted(**{"kinds": KINDS, **wanted})  # type: ignore[arg-type]
    with database.read() as session:
        marked = answers.places(session, project, wish)
        places = [(one.seq, one.row) for one in marked]
        page = answers.page(session, project, wish, 0, 50)
        assert [(one.seq, one.row) for one in page] == places
        _, counts = answers.narrowed(marked, ())
        assert answers.tally(session, project, wish) == counts
        assert [one.seq for one in answers.page(session, project, wish, 1, 1)] == [seq for seq, _ in places[1:2]]
        assert answers.with_seqs(session, project, [seq for seq, _ in places]) == page
    return places


def test_latest_answer_of_each_row_newest_first(database: Database) -> None:
    project = filled(database)
    assert found(database, project) == [(5, 3), (3, 1), (2, 0)]
    assert found(database, project, every=True) == [(5, 3), (3, 1), (2, 0), (1, 0)]
    assert found(database, project, kinds=("is",)) == [(3, 1), (1, 0)]
    assert found(database, project, person_id=1) == [(3, 1), (1, 0)]
    assert found(database, project, person_id=2, flagged=True) == [(2, 0)]
    assert found(database, project + 1) == [(1, 1)]


def test_label_search_is_exact_and_case_sensitive(database: Database) -> None:
    project = filled(database)
    assert found(database, project, labels=("wren",)) == []
    assert found(database, project, labels=("Wren",)) == [(2, 0)]
    assert found(database, project, labels=("wren",), every=True) == [(1, 0)]
    assert found(database, project, labels=("rob", "obin")) == []
    assert found(database, project, labels=("robin", "wren")) == [(3, 1), (2, 0)]


def test_answers_that_disagree_with_model_are_found(database: Database) -> None:
    project = filled(database)
    wish = {"kinds": ("is",), "exact": ("is",), "disagrees": True}
    assert found(database, project, **wish) == [(1, 0)]
    assert found(database, project, **wish, now={"robin": "wren"}) == [], "they are one class now"


def test_corrections_are_found_and_counted(database: Database) -> None:
    project = filled(database)
    with database.write() as session:
        entries.append(
            session,
            new_entry(project, kind="is", row=3, labels=("wren",), strategy=CORRECTION, revision=2, token="fixed"),
        )
    assert found(database, project, corrected=True) == [(8, 3)]
    with database.read() as session:
        assert answers.tally(session, project, Wanted(kinds=KINDS)) == (3, 1, 0, 1)


def test_answers_of_row_and_counts_by_label_are_returned(database: Database) -> None:
    project = filled(database)
    with database.read() as session:
        assert [one.seq for one in answers.of_row(session, project, 2)] == [4, 7]
        assert answers.of_row(session, project, 4) == []
        assert answers.any_answer(session, project, ("bad",), 2)
        assert not answers.any_answer(session, project, ("bad",), 1)
        assert answers.any_answer(session, project, ("skip",), None)
        others = (project, project + 1)
        assert answers.begun(session, others, ("bad",), 2) == {project}
        assert answers.begun(session, others, ("bad",), 1) == set()
        assert answers.begun(session, others[1:], ("bad",), 2) == set()
        assert answers.count_naming(session, project, ("wren", "Wren"), KINDS) == 2
        assert answers.count_naming(session, project, ("wren",), ("among",)) == 0
