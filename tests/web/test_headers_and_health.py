from __future__ import annotations

import dataclasses
import sqlite3
from collections.abc import Callable
from contextlib import AbstractContextManager, closing
from datetime import UTC, datetime
from pathlib import Path

import pytest
from starlette.testclient import TestClient

import workflow.server.home
from tests.disks import filled, small_disk
from tests.web.conftest import BASE, COOKIE, app_of
from tests.workflow.world import full_disk
from web.document import document
from web.headers import HEADERS, hashes_of
from workflow.backups import keeping
from workflow.backups.keeping import BackupWork
from workflow.people import team
from workflow.server.home import Home


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


def test_scripts_are_files_and_the_two_that_stand_in_the_document() -> None:
    (scripts,) = [
        one for one in HEADERS["content-security-policy"].split("; ") if one.startswith("script-src")
    ]
    assert "unsafe" not in scripts
    assert scripts.split("'sha256-")[0] == "script-src 'self' blob: "
    assert {one for one in scripts.split() if "sha256" in one} == set(hashes_of(document("annotate")))
    assert scripts.count("'sha256-") == 2
    # echo -n 'a = 1' | openssl dgst -sha256 -binary | base64
    assert hashes_of("<script src='x'></script><script>a = 1</script>") == [
        "'sha256-tbwf/ZCRL7GL7259gJCRksemSSiWMgFW1n+68QTGVEo='"
    ]


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


@pytest.mark.parametrize(("harm", "words"), [(filled, "full"), (lambda _: full_disk(), "File too large")])
def test_health_is_bad_where_nothing_can_be_written(
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    harm: Callable[[Path], AbstractContextManager[None]],
    words: str,
) -> None:
    with small_disk(tmp_path / "disk", 16) as folder:
        monkeypatch.setenv("WINNOW_HOME", str(folder))
        workflow.server.home.close_home()
        try:
            with TestClient(app_of(), base_url=BASE) as client:
                assert client.get("/healthz").status_code == 200
                with harm(folder):
                    answer = client.get("/healthz")
                assert answer.status_code == 503
                assert words in answer.json()["status"]
                assert str(folder) not in answer.text
                assert client.get("/healthz").status_code == 200
        finally:
            workflow.server.home.close_home()


def test_health_says_that_a_backup_failed_and_answers_all_the_same(client: TestClient, home: Home) -> None:
    failed = BackupWork(keeping.FAILED, datetime.now(UTC), fault=f"{home.settings.home} is full.")
    keeping.note_work(home.backups_dir, failed)
    answer = client.get("/healthz")
    assert (answer.status_code, answer.json()["status"]) == (200, "ok")
    assert "failed, damaged or overdue" in answer.json()["backups"]
    assert str(home.settings.home) not in answer.text, "it is open to all"
    keeping.note_work(home.backups_dir, dataclasses.replace(failed, state=keeping.DONE))
    assert client.get("/healthz").json() == {"status": "ok"}


def test_a_page_is_not_sent_away_where_the_database_does_not_say_who_is_there(
    client: TestClient, home: Home
) -> None:
    client.cookies.set(COOKIE, team.redeem_link(home, team.make_start_link(home)))
    assert client.get("/").status_code == 200
    with closing(sqlite3.connect(home.settings.home / "winnow.sqlite3")) as other:
        other.execute("ALTER TABLE sign_ins RENAME TO gone")
    answer = client.get("/", headers={"accept": "text/html"})
    assert answer.status_code == 503
    assert "The database is damaged" in answer.text
    with closing(sqlite3.connect(home.settings.home / "winnow.sqlite3")) as other:
        other.execute("ALTER TABLE gone RENAME TO sign_ins")
    assert client.get("/").status_code == 200


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
