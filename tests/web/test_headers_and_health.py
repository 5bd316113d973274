from __future__ import annotations

import pytest
from starlette.testclient import TestClient

from tests.web.conftest import COOKIE
from web.headers import HEADERS
from workflow.home import Home
from workflow.people import team


@pytest.mark.parametrize("path", ["/", "/signin", "/signin?link=x", "/healthz", "/nothing", "/signout"])
def test_every_answer_has_the_security_headers(client: TestClient, home: Home, path: str) -> None:
    for _signed_in in (False, True):
        answer = client.get(path)
        assert {name: answer.headers.get(name) for name in HEADERS} == HEADERS
        client.cookies.set(COOKIE, team.redeem_link(home, team.make_start_link(home)))


def test_nobody_may_frame_winnow_or_run_foreign_scripts() -> None:
    policy = HEADERS["content-security-policy"]
    assert "frame-ancestors 'none'" in policy
    assert "http:" not in policy
    assert "*" not in policy


def test_health_is_bad_where_what_is_stored_would_be_lost(client: TestClient, home: Home) -> None:
    path, away = home.settings.home / "winnow.sqlite3", home.settings.home / "away"
    path.rename(away)
    for _ in range(2):
        answer = client.get("/healthz")
        assert (answer.status_code, answer.json()) == (503, {"status": "database does not answer"})
    away.rename(path)
    assert client.get("/healthz").status_code == 200


def test_health_is_bad_where_the_database_is_damaged(client: TestClient, home: Home) -> None:
    home.database.close()  # all that was stored is in the file itself
    assert client.get("/healthz").status_code == 200
    path = home.settings.home / "winnow.sqlite3"
    path.write_bytes(b"x" * path.stat().st_size)
    answer = client.get("/healthz")
    assert (answer.status_code, answer.json()) == (503, {"status": "database does not answer"})


def test_health_is_open_and_asks_the_database(
    client: TestClient, home: Home, monkeypatch: pytest.MonkeyPatch
) -> None:
    answer = client.get("/healthz")
    assert (answer.status_code, answer.json()) == (200, {"status": "ok"})
    (home.settings.home / "winnow.sqlite3").rename(home.settings.home / "away")
    (home.settings.home / "winnow.sqlite3").mkdir()
    home.database.close()
    answer = client.get("/healthz")
    assert answer.status_code == 503
    assert str(home.settings.home) not in answer.text
