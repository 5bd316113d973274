"""`/backup-files/NAME`: owners of this Winnow get a backup, as a file to store."""

from __future__ import annotations

from datetime import UTC, datetime

import pytest
from starlette.testclient import TestClient

from tests.web.conftest import COOKIE
from tests.workflow.world import full_disk
from web.downloads import backup_file
from workflow.backups import making
from workflow.people import team
from workflow.seat import Seat
from workflow.server.home import Home

__all__ = ["backup_file"]


@pytest.fixture
def address(home: Home) -> str:
    team.ensure_owner(home)
    home.backups_dir.mkdir()
    path = home.backups_dir / making.name_at(datetime.now(UTC))
    making.make(home, path)
    return f"/backup-files/{path.name}"


def test_an_owner_gets_the_file(client: TestClient, home: Home, address: str) -> None:
    assert client.get(address).status_code == 401
    client.cookies.set(COOKIE, team.redeem_link(home, team.make_start_link(home)))
    answer = client.get(address)
    assert (answer.status_code, answer.content) == (200, (home.backups_dir / address[14:]).read_bytes())
    assert answer.headers["content-type"] == "application/octet-stream"
    assert answer.headers["cache-control"] == "no-store"
    assert answer.headers["content-disposition"].startswith("attachment; ")
    part = client.get(address, headers={"range": "bytes=0-9"})
    assert (part.status_code, part.content) == (206, answer.content[:10])
    for other in ("state.json", "winnow-20200101-000000.zip", "..%2Fwinnow.sqlite3"):
        assert client.get(f"/backup-files/{other}").status_code == 404
    with full_disk():
        assert client.get(address).status_code == 503, "it could not be noted who took it"


def test_nobody_else_does(client: TestClient, home: Home, address: str) -> None:
    owner = team.ensure_owner(home).id
    client.cookies.set(COOKIE, team.redeem_link(home, team.make_link(Seat(home, owner), "Ada")))
    assert client.get(address).status_code == 403
