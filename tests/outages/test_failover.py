"""PostgreSQL goes away while programs and a page answer, and comes back."""

from __future__ import annotations

import json
import time
import urllib.request
from collections.abc import Iterator
from contextlib import closing
from pathlib import Path
from urllib.error import HTTPError

import pytest
from sqlalchemy import text

from db.engine import Database
from tests.browser.server import Server
from tests.outages.crowd import make_crowd
from tests.postgres import Server as PostgresServer
from tests.postgres import running
from tests.postgres_programs import find

OPTIONS = ("fsync=off", "wal_level=minimal", "max_wal_senders=0", "jit=off")
"""Of a server whose machine stays: a commit is written before it is acknowledged."""
GONE = "the connection to PostgreSQL was lost. Nothing was stored. Fix: start PostgreSQL"
UNKNOWN = "It is unknown whether it was stored"
BACK = 10.0
"""Seconds within which someone's answer is stored after PostgreSQL is back; 0.2 on an idle machine."""


@pytest.fixture
def database() -> Iterator[PostgresServer]:
    """A server of this test alone."""
    programs = find()
    assert programs is not None
    with running(programs, OPTIONS) as server:
        yield server


def ask(server: Server, address: str) -> tuple[int, str]:
    try:
        with urllib.request.urlopen(f"{server.base}{address}", timeout=30) as reply:
            return reply.status, json.load(reply)["status"]
    except HTTPError as error:
        return error.code, json.load(error)["status"]


def published(server: Server) -> int:
    """The entry up to which the latest model of a training process has learnt; -1 before the first."""
    with closing(Database(server.database_url)) as opened, opened.read() as session:
        return int(session.execute(text("SELECT coalesce(max(version), -1) FROM models")).scalar_one())


@pytest.mark.slow
@pytest.mark.proof
@pytest.mark.postgres
@pytest.mark.parametrize("how", ["fast", "immediate"])
def test_postgres_that_goes_away_and_comes_back_loses_and_doubles_nothing(
    tmp_path: Path, database: PostgresServer, how: str
) -> None:
    server = Server(tmp_path / "home", more={"WINNOW_DATABASE_URL": database.lend()})
    crowd = make_crowd(server.environment, model="plsvc", strategy="margin", train_every=10, train_seconds=0.0)
    try:
        server.start()
        crowd.start(server.port)
        for seconds in (3.0, 0.0, 1.0):
            crowd.wait_for(30)
            assert ask(server, "/readyz") == (200, "ready")
            database.go_away(how)
            gone, known = time.time(), len(crowd.acknowledged)
            for address in ("/readyz", "/healthz"):
                assert ask(server, address) == (503, "database does not answer")
            time.sleep(seconds)
            assert not [at for at in crowd.times if at > gone + 1], "nothing is acknowledged that is stored nowhere"
            database.go_on()
            back = time.monotonic()
            crowd.wait_for(1, within=BACK)
            assert ask(server, "/readyz") == (200, "ready")
            assert len(crowd.acknowledged) > known, time.monotonic() - back
        trained = published(server)
        crowd.wait_for(20)
        crowd.stop()
        while published(server) <= trained:  # the training process also continues; the test's own timeout ends it
            time.sleep(0.5)
        assert crowd.stored() == (0, 0, 0)
    finally:
        server.stop()
    assert crowd.faults == []
    assert crowd.refused, "someone was refused in words"
    for one in crowd.refused:
        assert one.status == 503, one
        assert GONE in one.words or UNKNOWN in one.words, one
        assert one.retry_after == "5" or not one.words.startswith("{"), one
    for line in server.lines:
        assert "unhandled" not in line.lower()
