"""The part of the log that learners need is what the whole entries say."""

from __future__ import annotations

import pytest

from db import entries, events
from db.engine import Database
from tests.db.conftest import add_project, new_entry


def test_it_says_what_whole_entries_say(database: Database, monkeypatch: pytest.MonkeyPatch) -> None:
    project, other = add_project(database), add_project(database, "another")
    odd = ("wren", 'a "quote"', "\u00fcber", "a\\b", "")
    with database.write() as session:
        for number in range(7):
            labels = (odd[number % 5],) if number % 3 else odd[:number]
            entries.append(session, new_entry(project, row=number, labels=labels))
            entries.append(session, new_entry(other, row=number))
        entries.append(
            session, new_entry(project, row=0, revision=1, kind="withdraw", labels=(), target_seq=1)
        )
        entries.append(session, new_entry(project, row=entries.NO_ROW, kind="class", person_id=2))
    monkeypatch.setattr(events, "READ_AT_ONCE", 2)
    with database.read() as session:
        for seq in (0, 3, 9, 99):
            whole = entries.after(session, project, seq)
            assert [tuple(one) for one in events.each(session, project, seq)] == [
                (one.seq, one.kind, one.row, one.person_id, one.labels, one.target_seq) for one in whole
            ]


def test_how_questions_were_put_is_read_where_it_says_something(database: Database) -> None:
    project, other = add_project(database), add_project(database, "another")
    asked = (None, {"form": "which", "first": ["a"]}, {"form": "is", "about": ["first"]}, {"first": []})
    with database.write() as session:
        for number in range(8):
            entries.append(
                session, new_entry(project, row=number, asked=asked[number % 4], labels=("a", "b"))
            )
            entries.append(session, new_entry(other, row=number, asked=asked[1]))
        entries.append(
            session,
            new_entry(project, row=1, revision=1, kind="withdraw", labels=(), target_seq=2, asked=asked[1]),
        )
    with database.read() as session:
        found = list(events.each_put(session, project, 2, 99, "first"))
        assert [one.seq for one in found] == [4, 6, 8]
        assert [one.asked for one in found] == [asked[3], asked[1], asked[3]]
        assert {(one.labels, one.kind) for one in found} == {(("a", "b"), "is")}
        assert [one.row for one in found] == [3, 5, 7]
        assert all(found[0].token != one.token for one in found[1:])
        assert [one.seq for one in events.each_put(session, project, 0, 4, "first")] == [2, 4]


def test_what_was_predicted_is_read_of_rows_alone(database: Database) -> None:
    project = add_project(database)
    with database.write() as session:
        for number, predicted in enumerate(("a", None, "b", "c")):
            entries.append(session, new_entry(project, row=number, predicted=predicted))
        entries.append(session, new_entry(project, row=entries.NO_ROW, kind="class", predicted="d"))
    with database.read() as session:
        assert list(events.each_predicted(session, project, 0, 9)) == [(1, 0, "a"), (3, 2, "b"), (4, 3, "c")]
        assert list(events.each_predicted(session, project, 1, 3)) == [(3, 2, "b")]
