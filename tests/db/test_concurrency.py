"""Concurrent writers, and events."""

from __future__ import annotations

import itertools
import subprocess
import sys
from concurrent.futures import ThreadPoolExecutor
from datetime import timedelta

import pytest
from sqlalchemy import text
from sqlalchemy.exc import DBAPIError

from db import entries, events
from db.engine import Database
from db.events import EventFilter
from tests.conftest import ROOT
from tests.db.conftest import NOW, add_project, new_entry

# Many writers at once, and a killed writer: nothing acknowledged is lost


WRITER = """
import sys
from db import entries
from db.engine import Database
from tests.db.conftest import new_entry

database = Database(sys.argv[1])
for row in range(int(sys.argv[3]), 10**9):
    with database.write() as session:
        entry = entries.append(session, new_entry(1, row=row, person_id=int(sys.argv[2])))
    print(entry.seq, row, flush=True)
"""


def test_eight_writing_threads_lose_no_entry(database: Database) -> None:
    project = add_project(database)

    def write(thread: int) -> list[int]:
        seqs = []
        for row in range(25):
            with database.write() as session:
                made = entries.append(session, new_entry(project, row=row, token=f"{thread}.{row}", revision=thread))
            seqs.append(made.seq)
        return seqs

    with ThreadPoolExecutor(8) as pool:
        acknowledged = [seq for seqs in pool.map(write, range(8)) for seq in seqs]
    assert sorted(acknowledged) == list(range(1, 201))
    with database.read() as session:
        assert [one.seq for one in entries.after(session, project, 0)] == list(range(1, 201))


def test_question_answered_by_eight_threads_is_stored_once(database: Database) -> None:
    project = add_project(database)

    def write(_thread: int) -> bool:
        try:
            with database.write() as session:
                entries.append(session, new_entry(project))
        except entries.DuplicateEntry:
            return False
        return True

    with ThreadPoolExecutor(8) as pool:
        assert sum(pool.map(write, range(8))) == 1


@pytest.mark.slow
def test_killed_writers_lose_no_acknowledged_entry(sqlite_url: str) -> None:
    database = Database(sqlite_url)
    database.migrate()
    add_project(database)
    acknowledged: dict[int, int] = {}
    for start in (0, 100_000, 200_000):
        first, second = (_start(sqlite_url, person, start) for person in (1, 2))
        _read(first, 30, acknowledged)
        first.kill()
        _read(second, 30, acknowledged)  # the other continues as if nothing had happened
        second.kill()
        for writer in (first, second):
            _read(writer, None, acknowledged)
            writer.wait()
    with database.read() as session:
        log = entries.after(session, 1, 0)
        assert session.execute(text("PRAGMA integrity_check")).scalar_one() == "ok"
    assert [one.seq for one in log] == list(range(1, len(log) + 1))
    assert acknowledged.items() <= {one.seq: one.row for one in log}.items()
    assert len(acknowledged) >= 180
    database.close()


def _start(url: str, person: int, row: int) -> subprocess.Popen[str]:
    return subprocess.Popen(
        [sys.executable, "-c", WRITER, url, str(person), str(row)], cwd=ROOT, stdout=subprocess.PIPE, text=True
    )


def _read(writer: subprocess.Popen[str], lines: int | None, acknowledged: dict[int, int]) -> None:
    """Note acknowledged lines, all of them if `lines` is None. A line cut off by the kill does not count."""
    assert writer.stdout is not None
    for line in itertools.islice(writer.stdout, lines):
        if line.endswith("\n"):
            seq, row = line.split()
            acknowledged[int(seq)] = int(row)
    if lines is None:
        writer.stdout.close()


# Events


def three(database: Database) -> int:
    """Events 1 to 3, an hour apart: ada signs in; she ends bob's access; a project of hers is renamed. Returns its
    id."""
    project = add_project(database)
    with database.write() as session:
        events.add(session, at=NOW, what="sign-in", person_id=1, address="192.0.2.1")
        events.add(session, at=NOW + timedelta(hours=1), what="person-ended", person_id=1, about_id=2)
        events.add(
            session,
            at=NOW + timedelta(hours=2),
            what="project-renamed",
            person_id=1,
            project_id=project,
            details={"before": "birds", "after": "owls"},
        )
    return project


def test_events_round_trip_latest_first(database: Database) -> None:
    project = three(database)
    with database.read() as session:
        renamed, ended, signed_in = events.listed(session, EventFilter())
    assert (renamed.project_id, renamed.details) == (project, {"before": "birds", "after": "owls"})
    assert (ended.person_id, ended.about_id, ended.details) == (1, 2, {})
    assert (signed_in.at, signed_in.address, signed_in.about_id) == (NOW, "192.0.2.1", None)


def test_events_are_filtered(database: Database, subtests: pytest.Subtests) -> None:
    three(database)
    for asked, found in [
        ({"person_id": 2}, [2]),  # the person it was done to
        ({"person_id": 1}, [3, 2, 1]),
        ({"person_id": 9}, []),
        ({"what": "sign-in"}, [1]),
        ({"project_id": 1}, [3]),
        ({"since": NOW + timedelta(hours=1)}, [3, 2]),
        ({"until": NOW + timedelta(hours=1)}, [1]),
        ({"since": NOW + timedelta(hours=1), "until": NOW + timedelta(hours=2)}, [2]),
        ({"person_id": 1, "what": "project-renamed"}, [3]),
    ]:
        with subtests.test(str(asked)), database.read() as session:
            assert [one.id for one in events.listed(session, EventFilter(**asked))] == found


def test_list_of_events_is_limited(database: Database) -> None:
    three(database)
    with database.read() as session:
        assert [one.id for one in events.listed(session, EventFilter(), 2)] == [3, 2]


@pytest.mark.parametrize(
    "change", ["UPDATE events SET what = 'sign-out'", "DELETE FROM events", "UPDATE events SET at = '2020-01-01'"]
)
def test_audit_is_append_only(database: Database, change: str) -> None:
    three(database)
    with pytest.raises(DBAPIError, match="append-only"), database.write() as session:
        session.execute(text(change))
    with database.read() as session:
        assert [one.what for one in events.listed(session, EventFilter())][-1] == "sign-in"


def test_replacing_event_is_refused(sqlite: Database) -> None:
    three(sqlite)
    columns = "id, at, what, details, address"
    replace = f"INSERT OR REPLACE INTO events ({columns}) SELECT {columns} FROM events"  # noqa: S608
    with pytest.raises(DBAPIError, match="append-only"), sqlite.write() as session:
        session.execute(text(replace))


@pytest.mark.postgres
def test_truncating_audit_is_refused(postgres_url: str) -> None:
    made = Database(postgres_url)
    made.migrate()
    with pytest.raises(DBAPIError, match="append-only"), made.write() as session:
        session.execute(text("TRUNCATE events"))
    made.close()
