"""The part of the log that learners need is what the whole entries say."""

from __future__ import annotations

import pytest

from db import entries, told
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
    monkeypatch.setattr(told, "READ_AT_ONCE", 2)
    with database.read() as session:
        for seq in (0, 3, 9, 99):
            whole = entries.after(session, project, seq)
            assert [tuple(one) for one in told.each(session, project, seq)] == [
                (one.seq, one.kind, one.row, one.person_id, one.labels, one.target_seq) for one in whole
            ]
