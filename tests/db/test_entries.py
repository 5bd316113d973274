from __future__ import annotations

from datetime import timedelta

import pytest
from sqlalchemy import text
from sqlalchemy.exc import DBAPIError, IntegrityError

from db import answers, entries, people
from db.engine import Database
from db.entries import DuplicateEntry, LogEntry

from .conftest import NOW, add_project, new_entry


def append(database: Database, project_id: int, revision: int = 0, **changes: object) -> LogEntry:
    with database.write() as session:
        return entries.append(session, new_entry(project_id, revision, **changes))


def test_seq_counts_from_one_in_each_project(database: Database) -> None:
    one, two = add_project(database, "one"), add_project(database, "two")
    found = [append(database, project, row=row).seq for row in range(3) for project in (one, two)]
    assert found == [1, 1, 2, 2, 3, 3]


def test_an_entry_comes_back_as_it_went_in(database: Database) -> None:
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
        assert entries.last_about_a_row(session, project) == written


def test_each_reads_the_log_up_to_a_seq_a_few_entries_at_a_time(
    database: Database, monkeypatch: pytest.MonkeyPatch
) -> None:
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


def test_after_gives_what_is_new_in_order(database: Database) -> None:
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
        {"row": 4, "token": "1.3.None.0"},  # the same token
        {"token": "another"},  # the same person, row and revision
    ],
)
def test_a_question_is_answered_once(database: Database, second: dict[str, object]) -> None:
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


def test_an_unknown_project_or_person_is_not_taken_for_a_duplicate(database: Database) -> None:
    project = add_project(database)
    with pytest.raises(DBAPIError):
        append(database, project + 1)
    with pytest.raises(DBAPIError):
        append(database, project, person_id=99)


def test_what_an_entry_says_does_not_make_it_a_duplicate(database: Database) -> None:
    """A driver may repeat all of the entry in the words of its error."""
    project = add_project(database)
    told = "token, revision, uq_entries_token, entries.token"
    with pytest.raises(IntegrityError, match="kind"):
        append(database, project, kind=None, note=told)
    append(database, project, note=told)
    with pytest.raises(DuplicateEntry):
        append(database, project, note=told)


@pytest.mark.parametrize(
    "change",
    [
        "UPDATE entries SET kind = 'not'",
        "DELETE FROM entries",
        "UPDATE entries SET seq = 5 WHERE seq = 1",
    ],
)
def test_the_log_is_append_only(database: Database, change: str) -> None:
    project = add_project(database)
    written = append(database, project)
    with pytest.raises(DBAPIError, match="append-only"), database.write() as session:
        session.execute(text(change))
    with database.read() as session:
        assert entries.after(session, project, 0) == [written]


def test_replacing_is_refused_too(sqlite: Database) -> None:
    project = add_project(sqlite)
    append(sqlite, project)
    columns = "kind, row, label, labels, person_id, token, revision, model_version, before, after, at"
    same = f"SELECT project_id, seq, {columns} FROM entries"  # noqa: S608
    replace = f"INSERT OR REPLACE INTO entries (project_id, seq, {columns}) {same}"
    with pytest.raises(DBAPIError, match="append-only"), sqlite.write() as session:
        session.execute(text(replace))


def test_undo_takes_back_the_latest_of_this_person_that_stands(database: Database) -> None:
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


def test_rows_that_were_confirmed_together_are_nobodys_pace(database: Database) -> None:
    project = add_project(database)
    for row, asked in enumerate([None, {"form": "batch", "batch": "batch.1.1"}, {"form": "which"}]):
        append(database, project, row=row, seconds=float(row), asked=asked)
    with database.read() as session:
        assert answers.seconds_of_latest(session, project, 9) == [2.0, 0.0]


ANSWERS = ("is", "among", "not", "none", "bad")


def test_answered_rows_latest_and_pace(database: Database) -> None:
    project = add_project(database)
    first = append(database, project, row=1, seconds=2.0)
    append(database, project, 1, row=1, seconds=3.0, at=NOW + timedelta(seconds=1))
    append(database, project, row=2, kind="skip", labels=(), seconds=9.0)
    append(database, project, row=3, person_id=2, seconds=4.0)
    with database.read() as session:
        assert answers.answered_rows(session, project, ANSWERS) == 2
        assert answers.seconds_of_latest(session, project, 2, ("skip",)) == [4.0, 3.0]
        assert [one.seq for one in entries.latest(session, project, 1, 9)] == [3, 2, 1]
        assert [one.seq for one in entries.latest(session, project, 1, 2)] == [3, 2]
        assert [one.seq for one in entries.latest(session, project, 2, 9)] == [4]
        assert entries.last_about_a_row(session, project + 1) is None
    append(database, project, 1, row=3, person_id=2, kind="withdraw", target_seq=4)
    with database.read() as session:
        assert answers.answered_rows(session, project, ANSWERS) == 1
    append(database, project, 2, row=1, kind="withdraw", target_seq=first.seq)
    with database.read() as session:
        assert (
            answers.answered_rows(session, project, ANSWERS) == 1
        )  # the second answer to row 1 still stands


def test_timed_answers_are_the_latest_with_their_questions(database: Database) -> None:
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


def test_who_answered_a_row_last_is_told_for_the_rows_asked_about(database: Database) -> None:
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
