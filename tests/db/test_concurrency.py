"""Many writers at once, and a writer that is killed: nothing acknowledged is lost."""

from __future__ import annotations

import itertools
import subprocess
import sys
from concurrent.futures import ThreadPoolExecutor

import pytest
from sqlalchemy import text

from db import entries
from db.engine import Database
from tests.conftest import ROOT

from .conftest import add_project, new_entry

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


def test_eight_threads_lose_nothing(database: Database) -> None:
    project = add_project(database)

    def write(thread: int) -> list[int]:
        seqs = []
        for row in range(25):
            with database.write() as session:
                made = entries.append(
                    session, new_entry(project, row=row, token=f"{thread}.{row}", revision=thread)
                )
            seqs.append(made.seq)
        return seqs

    with ThreadPoolExecutor(8) as pool:
        acknowledged = [seq for seqs in pool.map(write, range(8)) for seq in seqs]
    assert sorted(acknowledged) == list(range(1, 201))
    with database.read() as session:
        assert [one.seq for one in entries.after(session, project, 0)] == list(range(1, 201))


def test_one_question_answered_by_eight_threads_is_stored_once(database: Database) -> None:
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
def test_killed_writers_lose_nothing_they_acknowledged(sqlite_url: str) -> None:
    database = Database(sqlite_url)
    database.migrate()
    add_project(database)
    acknowledged: dict[int, int] = {}
    for start in (0, 100_000, 200_000):
        first, second = (_start(sqlite_url, person, start) for person in (1, 2))
        _read(first, 30, acknowledged)
        first.kill()
        _read(second, 30, acknowledged)  # the other goes on as if nothing had happened
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
        [sys.executable, "-c", WRITER, url, str(person), str(row)],
        cwd=ROOT,
        stdout=subprocess.PIPE,
        text=True,
    )


def _read(writer: subprocess.Popen[str], lines: int | None, acknowledged: dict[int, int]) -> None:
    """Note acknowledged lines, all there are where `lines` is None. One cut off by the kill does not count."""
    assert writer.stdout is not None
    for line in itertools.islice(writer.stdout, lines):
        if line.endswith("\n"):
            seq, row = line.split()
            acknowledged[int(seq)] = int(row)
    if lines is None:
        writer.stdout.close()
