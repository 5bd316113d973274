"""Health, metrics and a log without secrets, as operators ask a server for them."""

from __future__ import annotations

import json
import logging
import re
import sqlite3
from collections.abc import Iterator
from contextlib import closing
from datetime import UTC, datetime, timedelta
from urllib.parse import urlsplit

import pytest
from starlette.testclient import TestClient

import workflow.server.home
from tests.browser.server import Server
from tests.web.conftest import BASE, COOKIE, app_of
from tests.web.test_server import HTML, ask, handshake
from tests.workflow.answering.malformed import PRESS
from tests.workflow.four import four_class_project
from tests.workflow.world import full_disk, small_project
from web.operating import health, metrics, traffic
from web.operating.traffic import Traffic
from workflow.answering import loop
from workflow.backups import keeping, making
from workflow.people import team, tokens
from workflow.seat import Seat
from workflow.server import figures
from workflow.server.home import Home
from workflow.server.settings import Settings

STREAM = f"{BASE.replace('http', 'ws')}/_stcore/stream"

# Health


def test_ready_server_reports_ready_to_everyone(client: TestClient) -> None:
    answer = client.get("/readyz")
    assert (answer.status_code, answer.json()) == (200, {"status": "ready"})


def test_server_is_not_ready_while_another_holds_write_lock(
    client: TestClient, home: Home, monkeypatch: pytest.MonkeyPatch
) -> None:
    assert client.get("/readyz").status_code == 200
    monkeypatch.setattr(health, "PATIENCE", 0.05)
    with closing(sqlite3.connect(home.settings.home / "winnow.sqlite3", isolation_level=None)) as other:
        other.execute("BEGIN IMMEDIATE")
        assert client.get("/healthz").status_code == 200, "it is alive"
        answer = client.get("/readyz")
    assert answer.status_code == 503
    assert answer.json()["status"].startswith("another writer holds the database")
    monkeypatch.setattr(health, "PATIENCE", 60.0)
    assert client.get("/readyz").status_code == 200, "once the lock is free"


def test_server_with_full_disk_is_not_ready(client: TestClient) -> None:
    with full_disk():
        answer = client.get("/readyz")
    assert (answer.status_code, "File too large" in answer.json()["status"]) == (503, True)


def test_server_with_damaged_database_is_not_ready(client: TestClient, home: Home) -> None:
    home.database.close()
    path = home.settings.home / "winnow.sqlite3"
    path.write_bytes(b"x" * path.stat().st_size)
    answer = client.get("/readyz")
    assert (answer.status_code, answer.json()) == (503, {"status": "database does not answer"})


# Metrics


@pytest.fixture
def counted(monkeypatch: pytest.MonkeyPatch) -> Traffic:
    """Counts that begin with the test."""
    made = Traffic()
    monkeypatch.setattr(traffic, "traffic", made)
    monkeypatch.setattr(metrics, "traffic", made)
    return made


@pytest.fixture
def prometheus(home: Home, counted: Traffic) -> Iterator[TestClient]:
    """A program on the machine of the server."""
    with TestClient(app_of(), base_url=BASE, client=("127.0.0.1", 50_000)) as made:
        yield made


def read(client: TestClient) -> dict[str, float]:
    """{name and labels: value} of all metrics; the text is as Prometheus wants it."""
    answer = client.get("/metrics")
    assert answer.status_code == 200, answer.text
    assert answer.headers["content-type"] == "text/plain; version=0.0.4; charset=utf-8"
    found: dict[str, float] = {}
    of = ""
    assert answer.text.endswith("\n")
    for line in answer.text.splitlines():
        if line.startswith("# HELP "):
            of = line.split()[2]
        elif line.startswith("# TYPE "):
            assert line == f"# TYPE {of} {metrics.METRICS[of][0]}"
        else:
            parts = re.fullmatch(r'([a-z_]+)(\{[a-z_]+="[^"\\]*"\})? (-?[0-9.e+-]+)', line)
            assert parts is not None, line
            assert metrics.metric_of(parts[1]) == of, "those of a metric are together"
            assert parts[1] + (parts[2] or "") not in found
            found[parts[1] + (parts[2] or "")] = float(parts[3])
    return found


def names(found: dict[str, float]) -> set[str]:
    return {metrics.metric_of(one.partition("{")[0]) for one in found}


def test_metrics_count_presses_and_say_how_long_they_took(
    client: TestClient, prometheus: TestClient, home: Home
) -> None:
    owner = team.ensure_owner(home).id
    seat = Seat(home, owner, four_class_project(home, owner))
    client.cookies.set(COOKIE, team.redeem_link(home, team.make_start_link(home)))
    before = read(prometheus)
    assert before['winnow_presses_total{outcome="stored"}'] == 0, "a rate needs the first value"
    assert 'winnow_press_recent_seconds{quantile="0.5"}' not in before
    for status in (200, 409):  # the second belongs to a question that was answered
        token = loop.next_question(seat).token if status == 200 else "old"
        sent = client.post(f"/presses/{seat.project_id}", json=PRESS | {"token": token, "labels": ["ant"]})
        assert sent.status_code == status, sent.text
    assert client.get("/").status_code == 200
    found = read(prometheus)
    assert found['winnow_presses_total{outcome="stored"}'] == 1
    assert found['winnow_presses_total{outcome="refused"}'] == 1
    assert found['winnow_presses_total{outcome="failed"}'] == 0
    assert found["winnow_press_duration_seconds_count"] == 2
    assert found['winnow_press_duration_seconds_bucket{le="+Inf"}'] == 2
    median, high = (found[f'winnow_press_recent_seconds{{quantile="{one}"}}'] for one in (0.5, 0.95))
    assert 0 < median <= high <= found["winnow_press_duration_seconds_sum"]
    assert found['winnow_requests_total{status="409"}'] == 1
    assert found['winnow_requests_total{status="200"}'] >= 3


def test_failed_press_is_counted_as_failed(client: TestClient, prometheus: TestClient, home: Home) -> None:
    owner = team.ensure_owner(home).id
    seat = Seat(home, owner, four_class_project(home, owner))
    client.cookies.set(COOKIE, team.redeem_link(home, team.make_start_link(home)))
    token = loop.next_question(seat).token
    with full_disk():
        sent = client.post(f"/presses/{seat.project_id}", json=PRESS | {"token": token, "labels": ["ant"]})
    assert sent.status_code == 503
    assert read(prometheus)['winnow_presses_total{outcome="failed"}'] == 1


def test_every_metric_appears_once_it_has_a_value(prometheus: TestClient, home: Home) -> None:
    prometheus.get("/healthz")
    assert set(metrics.METRICS) - names(read(prometheus)) == {
        "winnow_backup_age_seconds",
        "winnow_press_recent_seconds",
    }
    prometheus.post("/presses/1")
    home.backups_dir.mkdir()
    made = home.backups_dir / making.name_at(datetime.now(UTC) - timedelta(hours=2))
    made.touch()
    found = read(prometheus)
    assert names(found) == set(metrics.METRICS)
    assert 7_200 <= found["winnow_backup_age_seconds"] < 7_300
    assert found["winnow_can_store"] == 1
    assert found["winnow_backup_problem"] == 0
    assert found["winnow_database_bytes"] >= (home.settings.home / "winnow.sqlite3").stat().st_size
    assert 0 < found["process_open_fds"] < found["process_max_fds"]
    for folder in ("data", "backups", "database"):
        free, size = (found[f'winnow_disk_{of}_bytes{{folder="{folder}"}}'] for of in ("free", "size"))
        assert 0 < free <= size


def test_metrics_say_that_nothing_can_be_stored(prometheus: TestClient, home: Home) -> None:
    keeping.note_work(home.backups_dir, keeping.BackupWork(keeping.FAILED, datetime.now(UTC), fault="full"))
    (home.settings.home / "winnow.sqlite3").rename(home.settings.home / "away")
    home.database._reader.dispose()
    found = read(prometheus)
    assert found["winnow_can_store"] == 0
    assert found["winnow_backup_problem"] == 1
    assert "winnow_database_bytes" not in found


def test_queue_counts_work_that_waits(home: Home) -> None:
    owner = team.ensure_owner(home).id
    assert set(figures.read_queue(home).values()) == {0}
    small_project(home, owner, model="clpl")
    keeping.ask(home.backups_dir, None)
    queue = figures.read_queue(home)
    assert (queue["training"], queue["backup"], queue["encoding"]) == (1, 1, 0)


@pytest.mark.parametrize("client_address", ["10.0.0.7", "testclient", "::ffff:10.0.0.7"])
def test_metrics_are_for_this_machine_without_token(home: Home, client_address: str) -> None:
    with TestClient(app_of(), base_url=BASE, client=(client_address, 50_000)) as stranger:
        for _signed_in in (False, True):
            assert stranger.get("/metrics").status_code == 403
            stranger.cookies.set(COOKIE, team.redeem_link(home, team.make_start_link(home)))


@pytest.mark.parametrize("address", ["127.0.0.1", "::1", "::ffff:127.0.0.1"])
def test_metrics_answer_programs_of_this_machine(home: Home, address: str) -> None:
    with TestClient(app_of(), base_url=BASE, client=(address, 50_000)) as program:
        assert program.get("/metrics").status_code == 200


@pytest.mark.parametrize(
    "headers",
    [
        {"x-forwarded-for": "203.0.113.7"},
        {"x-forwarded-for": "127.0.0.1"},
        {"x-real-ip": "203.0.113.7"},
        {"forwarded": "for=203.0.113.7"},
        {"via": "1.1 proxy"},
        {"host": "winnow.example.org"},
    ],
)
@pytest.mark.parametrize("trusted", ["", "127.0.0.1"])
def test_metrics_are_not_passed_on_by_proxy(
    home: Home, monkeypatch: pytest.MonkeyPatch, headers: dict[str, str], trusted: str
) -> None:
    """Requests through a proxy on the same machine count as from strangers, whether the proxy is configured or not."""
    monkeypatch.setenv("WINNOW_TRUSTED_PROXIES", trusted)
    monkeypatch.setenv("WINNOW_ALLOWED_HOSTS", "winnow.example.org")
    with TestClient(app_of(), base_url=BASE, client=("127.0.0.1", 50_000)) as proxy:
        assert proxy.get("/metrics", headers=headers).status_code == 403


TOKEN = "t0ken-of-sixteen-or-more"


def test_metrics_require_token_if_set(home: Home, counted: Traffic, monkeypatch: pytest.MonkeyPatch) -> None:
    token = tokens.make_token(Seat(home, team.ensure_owner(home).id), "program")
    monkeypatch.setenv("WINNOW_METRICS_TOKEN", TOKEN)
    workflow.server.home.close_home()
    with TestClient(app_of(), base_url=BASE, client=("10.0.0.7", 50_000)) as program:
        for wrong in (
            "",
            "Bearer",
            f"Bearer {TOKEN[:-1]}",
            f"Bearer {TOKEN}x",
            f"Basic {TOKEN}",
            f"Bearer {token}",
            "Bearer \u00e9",
        ):
            answer = program.get("/metrics", headers={"authorization": wrong.encode()})
            assert (answer.status_code, answer.headers["www-authenticate"]) == (401, "Bearer"), wrong
        program.headers["authorization"] = f"Bearer {TOKEN}"
        assert read(program)["winnow_can_store"] == 1
    with TestClient(app_of(), base_url=BASE, client=("127.0.0.1", 50_000)) as program:
        assert program.get("/metrics").status_code == 401, "on this machine, too"
    assert TOKEN not in repr(Settings.from_environment())


def test_quantiles_are_of_recent_presses_only() -> None:
    counts = Traffic()
    assert counts.quantile(0.5) is None
    for seconds in [9.0] * 5 + [number / 1_000 for number in range(1, traffic.RECENT + 1)]:
        counts.note(200, seconds, is_press=True)
    assert (counts.quantile(0.5), counts.quantile(0.95), counts.quantile(1.0)) == (0.5, 0.95, 1.0)
    assert (sum(counts.in_bound), counts.in_bound[0], counts.in_bound[-2]) == (1_005, 5, 5)
    counts.note(500, 11.0, is_press=False)
    assert (sum(counts.in_bound), counts.requests) == (1_005, {200: 1_005, 500: 1})


# The access log


@pytest.fixture
def logged(home: Home, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture) -> TestClient:
    """A client of a server that logs its requests."""
    monkeypatch.setenv("WINNOW_ACCESS_LOG", "on")
    caplog.set_level(logging.INFO, "winnow.access")
    return TestClient(app_of(), base_url=BASE, follow_redirects=False, raise_server_exceptions=False)


def told(caplog: pytest.LogCaptureFixture) -> list[str]:
    """Method, path and status of the lines."""
    return [
        f"{one.fields['method']} {one.fields['path']} {one.fields['status']}"  # type: ignore[attr-defined]
        for one in caplog.records
        if one.name == "winnow.access"
    ]


def test_access_log_has_no_secret(logged: TestClient, home: Home, caplog: pytest.LogCaptureFixture) -> None:
    owner = team.ensure_owner(home).id
    token = tokens.make_token(Seat(home, owner), "program")
    cookie = team.redeem_link(home, team.make_start_link(home))
    link = team.make_start_link(home)
    logged.get(f"/signin?link={link}")
    logged.get("/", headers={"cookie": f"{COOKIE}={cookie}"})
    logged.get("/api/v1/projects", headers={"authorization": f"Bearer {token}"})
    logged.get("/progress", headers={"cookie": f"{COOKIE}={cookie}"})
    logged.get("/a%0Ab?x=y", headers={"host": "evil.example"})
    assert told(caplog) == [
        "GET /signin 303",
        "GET / 200",
        "GET /api/v1/projects 200",
        "GET /progress 500",
        "GET /a%0Ab 400",
    ]
    lines = "\n".join(str(one.__dict__) for one in caplog.records if one.name == "winnow.access")
    assert not [secret for secret in (link, token, cookie, "x=y") if secret in lines]
    assert "testclient GET /signin 303 " in caplog.text


def test_access_log_has_websockets_when_they_end(
    logged: TestClient, home: Home, caplog: pytest.LogCaptureFixture
) -> None:
    cookie = {"cookie": f"{COOKIE}={team.redeem_link(home, team.make_start_link(home))}"}
    with logged.websocket_connect(f"{STREAM}?secret=1", headers=cookie) as page:
        page.send_text("key")
        page.receive_json()
        assert told(caplog) == []
    assert told(caplog) == ["WEBSOCKET /_stcore/stream 101"]


def test_access_log_is_off_unless_set(client: TestClient, caplog: pytest.LogCaptureFixture) -> None:
    caplog.set_level(logging.INFO)
    client.get("/signin")
    assert told(caplog) == []


# The real server


@pytest.mark.slow
def test_server_logs_json_without_secrets_and_says_that_it_stops(tmp_path_factory: pytest.TempPathFactory) -> None:
    more = {"WINNOW_LOG_FORMAT": "json", "WINNOW_ACCESS_LOG": "on"}
    server = Server(tmp_path_factory.mktemp("home"), more=more).start()
    try:
        link = urlsplit(server.link)
        signed_in = ask(server, "GET", f"{link.path}?{link.query}")
        cookie = (signed_in.getheader("set-cookie") or "").partition(";")[0]
        assert ask(server, "GET", "/", {**HTML, "Cookie": cookie}).status == 200
        secret = f"/_stcore/stream?{link.query}"
        assert handshake(server, target=secret) == 403
        assert handshake(server, target=secret, Cookie=cookie) == 101
        assert ask(server, "GET", "/metrics").status == 200
    finally:
        server.stop()
    words = [line for line in server.lines if not line.startswith("{")]
    assert all(line.startswith("  ") or not line for line in words), "only what is for the person at the terminal"
    said = [json.loads(line) for line in server.lines if line.startswith("{")]
    assert all(one["time"].endswith("Z") and one["level"] for one in said)
    asked = [one for one in said if one["logger"] == "winnow.access"]
    assert {(one["method"], one["path"], one["status"]) for one in asked} >= {
        ("GET", "/signin", 303),
        ("GET", "/", 200),
        ("WEBSOCKET", "/_stcore/stream", 403),
        ("WEBSOCKET", "/_stcore/stream", 101),
    }
    assert len({one["request"] for one in asked}) == len(asked)
    printed = "\n".join(server.lines)
    assert printed.count(link.query) == 1, "the link itself"
    assert cookie.partition("=")[2] not in printed
    messages = [one["message"] for one in said if (one["logger"], one["program"]) == ("winnow", "server")]
    assert re.fullmatch(r"Winnow \S+ is ready at http://127\.0\.0\.1:\d+, process \d+\.", messages[0])
    assert messages[-2].startswith("Winnow is stopping: ")
    assert messages[-1] == "Winnow has stopped: the database is closed."
