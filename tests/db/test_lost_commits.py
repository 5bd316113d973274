"""A connection to PostgreSQL is lost around a commit: Winnow knows whether it was stored, or says that it does not."""

from __future__ import annotations

import os
import signal
from collections.abc import Iterator
from pathlib import Path

import pytest
from sqlalchemy import text
from sqlalchemy.exc import OperationalError

from db import engine, people
from db.engine import CommitUnknownError, Database
from db.identity import Commit, Note, count_commit
from tests.postgres import running
from tests.postgres_programs import find
from tests.postgres_proxy import Proxy, proxied
from tests.present import present

from .conftest import NOW

pytestmark = pytest.mark.postgres


@pytest.fixture
def proxy(postgres_url: str) -> Iterator[Proxy]:
    with proxied(postgres_url) as made:
        yield made


@pytest.fixture
def note(tmp_path: Path) -> Note:
    return Note(tmp_path / "seen")


@pytest.fixture
def through(proxy: Proxy, note: Note) -> Iterator[Database]:
    made = Database(proxy.url, note)
    made.migrate()
    yield made
    made.close()


def add(database: Database, name: str) -> None:
    with database.write() as session:
        people.add(session, name, "annotator", NOW)


def names(url: str) -> list[str]:
    direct = Database(url)
    with direct.read() as session:
        found = [one.name for one in people.listed(session)]
    direct.close()
    return found


def test_commit_lost_before_server_is_not_stored(through: Database, proxy: Proxy, postgres_url: str) -> None:
    proxy.cuts = "before"
    with pytest.raises(OperationalError):
        add(through, "ada")
    assert (proxy.times, names(postgres_url)) == (1, [])
    add(through, "ada")
    assert names(postgres_url) == ["ada"]


def test_commit_with_lost_reply_succeeds(through: Database, proxy: Proxy, postgres_url: str, note: Note) -> None:
    proxy.cuts = "after"
    add(through, "ada")
    assert (proxy.times, names(postgres_url)) == (1, ["ada"])
    assert note.read() == through.identity(), "and it is noted as any other"
    add(through, "bob")
    assert names(postgres_url) == ["ada", "bob"]


@pytest.mark.parametrize(("how", "stored"), [("before", []), ("after", ["ada"])])
def test_lost_commit_on_unreachable_server_is_unknown(
    through: Database, proxy: Proxy, postgres_url: str, monkeypatch: pytest.MonkeyPatch, how: str, stored: list[str]
) -> None:
    monkeypatch.setattr(engine, "PATIENCE", 0.0)
    proxy.cuts, proxy.closed = how, True
    with pytest.raises(CommitUnknownError, match="unknown whether it was stored: check before you repeat it"):
        add(through, "ada")
    assert names(postgres_url) == stored


def sent(database: Database) -> tuple[Commit, int]:
    """A commit about to be sent, and its process in the server."""
    commits: list[Commit] = []
    with database.write() as session:
        people.add(session, "ada", "annotator", NOW)
        commit = present(count_commit(session.connection()))
        commits.append(commit)
        pid = session.execute(text("SELECT pg_backend_pid()")).scalar_one()
    return commits[0], pid


def test_lost_commit_is_unknown_after_statistics_reset(through: Database, monkeypatch: pytest.MonkeyPatch) -> None:
    """As after a crash, when the number may be that of another transaction."""
    commit, _ = sent(through)
    assert engine.came_through(through._reader, commit)
    with through.write() as session:
        session.execute(text("SELECT pg_stat_reset_shared('bgwriter')"))
    with pytest.raises(CommitUnknownError):
        engine.came_through(through._reader, commit)
    ahead = Commit(1, str(2**40), commit.since)  # a number that this server has not assigned yet is not queried
    with pytest.raises(CommitUnknownError):
        engine.came_through(through._reader, ahead)


def test_commit_in_progress_is_waited_for(through: Database, monkeypatch: pytest.MonkeyPatch) -> None:
    looks: list[float] = []
    with through.write() as session:
        people.add(session, "ada", "annotator", NOW)
        commit = present(count_commit(session.connection()))
        monkeypatch.setattr(engine, "PATIENCE", 0.0)
        with pytest.raises(CommitUnknownError):
            engine.came_through(through._reader, commit)
        monkeypatch.undo()
        pid = session.execute(text("SELECT pg_backend_pid()")).scalar_one()

        def end_it(seconds: float) -> None:
            looks.append(seconds)
            with through.read() as other:
                other.execute(text("SELECT pg_terminate_backend(:pid, 10000)"), {"pid": pid})

        monkeypatch.setattr(engine.time, "sleep", end_it)
        assert not engine.came_through(through._reader, commit)
        session.invalidate()
    assert looks == [engine.PAUSE]


def test_connection_lost_inside_block_is_no_lost_commit(through: Database, proxy: Proxy) -> None:
    add(through, "ada")

    def fail() -> None:
        with through.write() as session:
            session.execute(text("SELECT pg_terminate_backend(pg_backend_pid())"))

    with pytest.raises(OperationalError):
        fail()


def test_restore_with_lost_reply_succeeds(through: Database, proxy: Proxy, postgres_url: str, tmp_path: Path) -> None:
    add(through, "ada")
    through.copy_to(tmp_path / "copy")
    add(through, "bob")
    proxy.cuts = "after"
    through.fill_from(tmp_path / "copy")
    assert (proxy.times, names(postgres_url)) == (1, ["ada"])


@pytest.mark.slow
def test_lost_commit_is_unknown_after_server_crash() -> None:
    """PostgreSQL does not even restart as a whole: the postmaster and its processes continue."""
    programs = present(find())
    with running(programs) as server:
        database = Database(server.lend())
        commit, pid = sent(database)
        assert engine.came_through(database._reader, commit)
        os.kill(pid, signal.SIGKILL)
        with pytest.raises(CommitUnknownError):
            engine.came_through(database._reader, commit)
        database.close()
