"""The server: start, workers, headers, health and faults."""

from __future__ import annotations

import dataclasses
import http.client
import math
import os
import re
import secrets
import sqlite3
import subprocess
import sys
import tempfile
from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager, closing
from dataclasses import replace
from datetime import UTC, datetime
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit

import pytest
import streamlit as st
from starlette.testclient import TestClient
from streamlit.proto.BackMsg_pb2 import BackMsg
from streamlit.proto.ClientState_pb2 import ClientState
from streamlit.proto.ForwardMsg_pb2 import ForwardMsg
from websockets.exceptions import ConnectionClosed, InvalidStatus
from websockets.sync.client import connect
from websockets.typing import Subprotocol

import worker
import workflow.server.home
from db.opened_file import DatabaseReplacedError, Loss
from tests.browser.server import Server
from tests.conftest import ROOT
from tests.disks import filled, small_disk
from tests.web.conftest import BASE, COOKIE, app_of
from tests.workflow.text_world import text_project
from tests.workflow.world import full_disk, small_project
from web import lifespan, problems
from web.document import document
from web.headers import HEADERS, hashes_of
from web.lifespan import WorkerCrew, base_url
from web.problems import no_call, problem
from web.server import see_to_home
from workflow.backups import keeping
from workflow.backups.keeping import BackupWork
from workflow.models import training
from workflow.people import team
from workflow.projects import managing
from workflow.rows.instance_map import instance_map
from workflow.seat import Seat
from workflow.server import warming
from workflow.server.home import Home, open_home
from workflow.server.settings import Settings

# The real server, started as a person starts it, and asked as a browser or an attacker would


HTML = {"Accept": "text/html"}


@pytest.fixture(scope="module")
def server(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Server]:
    # `streamlit run` has bound its own port before it reads app.py: that WINNOW_PORT counts is tested too.
    running = Server(
        tmp_path_factory.mktemp("home"), command=[sys.executable, "-m", "streamlit", "run", "app.py"]
    ).start()
    yield running
    running.stop()


def ask(server: Server, method: str, target: str, headers: dict[str, str] | None = None) -> http.client.HTTPResponse:
    """One request, no redirect followed; the answer with its body read."""
    connection = http.client.HTTPConnection("127.0.0.1", server.port, timeout=60)
    connection.request(method, target, headers=headers or {})
    answer = connection.getresponse()
    answer.read()
    connection.close()
    return answer


def said(server: Server, target: str, headers: dict[str, str]) -> str:
    """The reply to a PUT."""
    connection = http.client.HTTPConnection("127.0.0.1", server.port, timeout=60)
    connection.request("PUT", target, body=b"table", headers=headers)
    words = connection.getresponse().read().decode()
    connection.close()
    return words


def handshake(server: Server, origin: str | None = None, target: str = "/_stcore/stream", **headers: str) -> int:
    """HTTP status of opening the pages' websocket; 101 is success."""
    url = f"ws://127.0.0.1:{server.port}{target}"
    try:
        with connect(url, origin=origin, additional_headers=headers, open_timeout=60):  # type: ignore[arg-type]
            return 101
    except InvalidStatus as refusal:
        return refusal.response.status_code


@pytest.mark.slow
def test_printed_link_uses_configured_port(server: Server) -> None:
    link = urlsplit(server.link)
    assert (link.hostname, link.port, link.path) == ("127.0.0.1", server.port, "/signin")


@pytest.mark.slow
def test_user_without_home_gets_temporary_home(monkeypatch: pytest.MonkeyPatch) -> None:
    def unknown() -> Path:
        raise RuntimeError("Could not determine home directory.")

    monkeypatch.setenv("HOME", "/home/ada")
    see_to_home()
    assert os.environ["HOME"] == "/home/ada"
    monkeypatch.setattr(Path, "home", unknown)
    see_to_home()
    assert os.environ["HOME"] == tempfile.gettempdir()


@pytest.mark.slow
def test_stranger_gets_nothing(server: Server) -> None:
    page = ask(server, "GET", "/", HTML)
    assert (page.status, page.getheader("location")) == (303, "/signin")
    assert page.getheader("x-frame-options") == "DENY"
    for target in (
        "/_stcore/health",
        "/_stcore/metrics",
        "/_stcore/host-config",
        "/static/",
        "/signin/../_stcore/health",
    ):
        assert ask(server, "GET", target).status == 401, target
    assert ask(server, "GET", "/healthz").status == 200
    assert handshake(server) == 403
    assert handshake(server, Cookie=f"winnow_signin_{server.port}=forged") == 403
    assert handshake(server, **{"X-Winnow-Person": "1"}) == 403


@pytest.mark.slow
def test_printed_link_signs_in_once(server: Server) -> None:
    link = urlsplit(server.link)
    target = f"{link.path}?{link.query}"
    assert ask(server, "HEAD", target).status == 200
    signed_in = ask(server, "GET", target)
    assert (signed_in.status, signed_in.getheader("location")) == (303, "/")
    assert ask(server, "GET", target).status == 403

    cookie = (signed_in.getheader("set-cookie") or "").partition(";")[0]
    host = f"127.0.0.1:{server.port}"
    assert ask(server, "GET", "/", {"Cookie": cookie}).status == 200
    assert handshake(server, origin=f"http://{host}", Cookie=cookie) == 101
    assert handshake(server, origin="http://127.0.0.1:1", Cookie=cookie) == 403
    assert handshake(server, origin="http://evil.example", Cookie=cookie) == 403
    assert handshake(server, Cookie=cookie, Host="evil.example") == 400
    assert ask(server, "GET", "/", {"Cookie": cookie, "Host": "evil.example"}).status == 400

    address, headers = f"ws://{host}/_stcore/stream", {"Cookie": cookie}
    with connect(address, additional_headers=headers, open_timeout=60) as websocket:
        assert ask(server, "POST", "/signout", {"Cookie": cookie, "Origin": f"http://{host}"}).status == 303
        websocket.send(b"a key press")
        with pytest.raises(ConnectionClosed) as closed:
            list(websocket)  # the rest of the data, then the end
    assert closed.value.rcvd is not None
    assert closed.value.rcvd.code == 4401
    assert handshake(server, Cookie=cookie) == 403

    printed = "\n".join(server.lines)
    assert printed.count(link.query) == 1  # the link itself, and nothing that logs requests
    assert cookie.partition("=")[2] not in printed


def cookies(server: Server) -> tuple[dict[str, str], dict[str, str]]:
    """Cookies for a new sign-in of the owner, and of an annotator."""
    home = open_home(Settings.from_environment({"WINNOW_HOME": str(server.home)}))
    try:
        owner = team.ensure_owner(home).id
        name = f"Ada {secrets.token_hex(4)}"
        links = team.make_start_link(home), team.make_link(Seat(home, owner), name)
        owners, adas = ({"Cookie": f"winnow_signin_{server.port}={team.redeem_link(home, link)}"} for link in links)
    finally:
        home.close()
    return owners, adas


@pytest.mark.slow
def test_streamlit_upload_route_is_closed(server: Server) -> None:
    owners, adas = cookies(server)
    for path in ("/_stcore/upload_file/session/file", "/_stcore/upload_file/a%20b/c"):
        assert ask(server, "PUT", path).status == 401
        for one in (owners, adas):
            assert "There is no such address here." in said(server, path, one)


def session_of(server: Server, cookie: dict[str, str], wanted: str = "") -> str:
    """The id of the session of a page that opens its websocket and asks to resume this session."""
    url, told = f"ws://127.0.0.1:{server.port}/_stcore/stream", ForwardMsg()
    names = [Subprotocol(one) for one in ("streamlit", "none", wanted)[: 3 if wanted else 2]]
    with connect(url, additional_headers=cookie, subprotocols=names, open_timeout=60) as page:
        page.send(BackMsg(rerun_script=ClientState()).SerializeToString())
        while told.WhichOneof("type") != "new_session":
            told.ParseFromString(bytes(page.recv(timeout=120)))  # type: ignore[arg-type]
    return told.new_session.initialize.session_id


@pytest.mark.slow
def test_session_is_resumed_by_its_own_sign_in_only(server: Server) -> None:
    owners, adas = cookies(server)
    again, _ = cookies(server)
    mine = session_of(server, owners)
    assert session_of(server, owners, mine) == mine
    assert session_of(server, adas, mine) != mine, "somebody else"
    assert session_of(server, again, mine) != mine, "another browser of the same person"
    assert session_of(server, owners, mine) == mine, "and it is still there for whose it is"


@pytest.mark.slow
def test_sigterm_stops_server_cleanly(server: Server) -> None:
    assert server.stop() in (0, -15)
    assert not re.search(r"Traceback|Error", "\n".join(server.lines))
    assert not (server.home / "winnow.sqlite3-wal").exists()  # the database was closed, not abandoned


# The training processes of a server: as many as set, only when needed, restarted after a death


SLEEPS = "import sys; sys.stdin.read()"


@pytest.fixture
def crew(home: Home, monkeypatch: pytest.MonkeyPatch) -> Any:
    """Two idle workers, which only the test looks after."""

    started: list[subprocess.Popen[bytes]] = []

    def start() -> subprocess.Popen[bytes]:
        started.append(subprocess.Popen([sys.executable, "-c", SLEEPS], stdin=subprocess.PIPE))
        return started[-1]

    monkeypatch.setattr(lifespan, "_start", start)
    monkeypatch.setattr(lifespan, "LOOK_EVERY", 0.0)
    made = WorkerCrew(replace(home, settings=replace(home.settings, workers=2)), warming.Beside())
    yield made
    made.stop()
    for one in started:
        assert one.poll() is not None
        assert one.stdin is not None
        one.stdin.close()


def alive(crew: WorkerCrew) -> int:
    return sum(worker.poll() is None for worker in crew._workers)


def test_workers_start_for_map_layout(home: Home, crew: WorkerCrew) -> None:
    owner = team.ensure_owner(home).id
    seat = Seat(home, owner, text_project(home, owner))
    crew._look()
    assert alive(crew) == 0
    instance_map(seat)
    crew._look()
    assert alive(crew) == 2


def test_workers_start_only_when_project_needs_them(home: Home, crew: WorkerCrew) -> None:
    owner = team.ensure_owner(home).id
    crew._look()
    assert alive(crew) == 0
    project = small_project(home, owner)
    crew._look()
    assert alive(crew) == 0, "its model follows each answer"
    managing.change_learner(Seat(home, owner, project), model="clpl")
    crew._look()
    assert alive(crew) == 2
    crew._look()
    assert alive(crew) == 2


def test_workers_start_for_requested_backup(home: Home, crew: WorkerCrew) -> None:
    crew._look()
    assert alive(crew) == 0
    keeping.ask(home.backups_dir, None)
    crew._look()
    assert alive(crew) == 2


def test_dead_worker_is_restarted_and_all_stop_with_server(
    home: Home, crew: WorkerCrew, caplog: pytest.LogCaptureFixture
) -> None:
    small_project(home, team.ensure_owner(home).id, model="clpl")
    crew._look()
    victim = crew._workers[0]
    victim.kill()
    victim.wait()
    crew._look()
    assert alive(crew) == 2
    assert victim not in crew._workers
    assert "another is started" in caplog.text
    crew.stop()
    assert alive(crew) == 0
    crew._look()
    assert alive(crew) == 0, "none is started at the end"


def test_idle_workers_end_and_start_again_for_new_work(
    home: Home, crew: WorkerCrew, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    owner = team.ensure_owner(home).id
    project = small_project(home, owner, model="clpl")
    crew._look()
    assert alive(crew) == 2
    for due in training.due(home):
        training.Worker(home, "one").train(due)
    crew._look()
    for one in crew._workers:
        assert one.stdin is not None
        one.stdin.close()
        assert one.wait() == 0
    monkeypatch.setattr(lifespan, "QUIET_AFTER", 0.0)
    crew._look()
    assert alive(crew) == 0
    assert "another is started" not in caplog.text
    monkeypatch.setattr(lifespan, "QUIET_AFTER", math.inf)
    managing.rename_project(Seat(home, owner, project), "Birds", "")
    crew._look()
    assert alive(crew) == 2


STANDS_BACK = """
import os, sys
from pathlib import Path

sys.path.insert(0, {root!r})
import worker

worker._SHARE = Path({share!r})
before = os.nice(0)
worker._step_back()
alone = os.getsid(0) == os.getpid()
Path({said!r}).write_text(f"{{alone}} {{os.nice(0) == min(before + 10, 19)}}")
"""


def test_worker_lowers_its_priority_in_own_session(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    share, said, program = tmp_path / "share", tmp_path / "said", tmp_path / "stands_back.py"
    root = str(Path(worker.__file__).parent)
    program.write_text(STANDS_BACK.format(root=root, share=str(share), said=str(said)))
    monkeypatch.setattr(lifespan, "_PROGRAM", program)
    with lifespan._start() as started:
        assert started.wait(60) == 0
    assert said.read_text() == "True True"
    assert share.read_text() == "10"


@pytest.mark.parametrize(
    ("errors", "tries"), [([], 1), ([BlockingIOError(), BlockingIOError()], 3), ([PermissionError()], 1)]
)
def test_lowering_session_share_is_retried(monkeypatch: pytest.MonkeyPatch, errors: list[OSError], tries: int) -> None:
    asked: list[str] = []

    class Share:
        def write_text(self, share: str) -> None:
            asked.append(share)
            if len(asked) <= len(errors):
                raise errors[len(asked) - 1]

    monkeypatch.setattr(worker, "_SHARE", Share())
    monkeypatch.setattr(worker.time, "sleep", lambda _seconds: None)
    worker._step_back_as_session()
    assert asked == ["10"] * tries


@pytest.mark.parametrize(
    ("address", "certificate", "wanted"),
    [
        ("", None, "http://127.0.0.1:8501"),
        ("0.0.0.0", None, "http://127.0.0.1:8501"),  # noqa: S104 - compared with, not listened on
        ("::", None, "http://127.0.0.1:8501"),
        ("::1", None, "http://[::1]:8501"),
        ("winnow.example.org", "cert.pem", "https://winnow.example.org:8501"),
    ],
)
def test_base_url_is_reachable_from_local_browser(
    monkeypatch: pytest.MonkeyPatch, address: str, certificate: str | None, wanted: str
) -> None:
    options = {"server.address": address, "server.sslCertFile": certificate, "server.port": 8501}
    monkeypatch.setattr("web.lifespan.config.get_option", options.__getitem__)
    assert base_url() == wanted


# Headers and health


@pytest.mark.parametrize("path", ["/", "/signin", "/signin?link=x", "/healthz", "/nothing", "/signout"])
def test_every_answer_has_security_headers(client: TestClient, home: Home, path: str) -> None:
    for _signed_in in (False, True):
        answer = client.get(path)
        assert {name: answer.headers.get(name) for name in HEADERS} == HEADERS
        client.cookies.set(COOKIE, team.redeem_link(home, team.make_start_link(home)))


def test_no_one_may_frame_winnow_or_run_foreign_scripts() -> None:
    policy = HEADERS["content-security-policy"]
    assert "frame-ancestors 'none'" in policy
    assert "http:" not in policy
    assert "*" not in policy


def test_policy_allows_script_files_and_two_inline_scripts() -> None:
    (scripts,) = [one for one in HEADERS["content-security-policy"].split("; ") if one.startswith("script-src")]
    assert "unsafe" not in scripts
    assert scripts.split("'sha256-")[0] == "script-src 'self' blob: "
    assert {one for one in scripts.split() if "sha256" in one} == set(hashes_of(document("annotate")))
    assert scripts.count("'sha256-") == 2
    # echo -n 'a = 1' | openssl dgst -sha256 -binary | base64
    assert hashes_of("<script src='x'></script><script>a = 1</script>") == [
        "'sha256-tbwf/ZCRL7GL7259gJCRksemSSiWMgFW1n+68QTGVEo='"
    ]


def test_health_is_bad_if_database_file_is_missing(client: TestClient, home: Home) -> None:
    path, away = home.settings.home / "winnow.sqlite3", home.settings.home / "away"
    path.rename(away)
    for _ in range(2):
        answer = client.get("/healthz")
        assert (answer.status_code, answer.json()) == (503, {"status": "database does not answer"})
    away.rename(path)
    assert client.get("/healthz").status_code == 200


def test_health_is_bad_if_database_is_damaged(client: TestClient, home: Home) -> None:
    home.database.close()  # all that was stored is in the file itself
    assert client.get("/healthz").status_code == 200
    path = home.settings.home / "winnow.sqlite3"
    path.write_bytes(b"x" * path.stat().st_size)
    answer = client.get("/healthz")
    assert (answer.status_code, answer.json()) == (503, {"status": "database does not answer"})


@pytest.mark.parametrize(("harm", "words"), [(filled, "full"), (lambda _: full_disk(), "File too large")])
def test_health_is_bad_if_nothing_can_be_written(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, harm: Callable[[Path], AbstractContextManager[None]], words: str
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


def test_health_reports_failed_backup_with_status_200(client: TestClient, home: Home) -> None:
    failed = BackupWork(keeping.FAILED, datetime.now(UTC), fault=f"{home.settings.home} is full.")
    keeping.note_work(home.backups_dir, failed)
    answer = client.get("/healthz")
    assert (answer.status_code, answer.json()["status"]) == (200, "ok")
    assert "failed, damaged or overdue" in answer.json()["backups"]
    assert str(home.settings.home) not in answer.text, "it is open to all"
    keeping.note_work(home.backups_dir, dataclasses.replace(failed, state=keeping.DONE))
    assert client.get("/healthz").json() == {"status": "ok"}


def test_page_stays_if_database_cannot_name_person(client: TestClient, home: Home) -> None:
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


def test_health_is_open_and_asks_database(client: TestClient, home: Home, monkeypatch: pytest.MonkeyPatch) -> None:
    answer = client.get("/healthz")
    assert (answer.status_code, answer.json()) == (200, {"status": "ok"})
    (home.settings.home / "winnow.sqlite3").rename(home.settings.home / "away")
    (home.settings.home / "winnow.sqlite3").mkdir()
    home.database.close()
    answer = client.get("/healthz")
    assert answer.status_code == 503
    assert str(home.settings.home) not in answer.text


# Page text instead of Streamlit's own errors


@pytest.mark.parametrize(
    ("error", "words"),
    [
        (DatabaseReplacedError(Path("/secret"), Loss.GONE), "was deleted or moved away"),
        (ZeroDivisionError("secret"), problems.UNKNOWN),
    ],
)
def test_page_shows_every_error_with_fix(error: Exception, words: str, monkeypatch: pytest.MonkeyPatch) -> None:
    said: list[str] = []
    monkeypatch.setattr(st, "error", lambda text, icon: said.append(f"{icon} {text}"))
    assert problems.say(error) is True
    assert words in said[0]
    assert "Fix: " in said[0]
    assert "secret" not in said[0]


# Refusals for programs


def test_problem_matches_rfc_9457() -> None:
    said = problem(404, "There is none.", {"retry-after": "5"})
    assert (said.status_code, said.media_type) == (404, "application/problem+json")
    assert said.headers["retry-after"] == "5"
    assert bytes(said.body) == (b'{"type":"about:blank","title":"Not Found","status":404,"detail":"There is none."}')


def test_problem_with_lone_surrogate_can_be_encoded() -> None:
    assert b"got ?" in bytes(problem(422, "got \ud800").body)


def test_problem_for_unknown_call_names_docs_and_allowed_method() -> None:
    said = no_call(405, {"allow": "GET"})
    assert (said.status_code, said.headers["allow"]) == (405, "GET")
    assert b"Method Not Allowed: there is no such call. Fix: use one that /api/v1/docs lists" in bytes(said.body)


@pytest.mark.proof
def test_load_pages_loads_modules_of_first_page() -> None:
    """The first page of a server took 0.8 s of processor time, 0.3 s after this."""
    told = (
        "import inspect, sys; from web import lifespan; before = set(sys.modules); lifespan.load_pages(); "
        "parts = [f'pages.parts.{one}' for one in ('charts', 'one_label.progress', 'label_vectors.progress')]; "
        "print(*(one for one in parts "
        "if one in before or one not in sys.modules), len(inspect.modulesbyfile) > 100)"
    )
    done = subprocess.run([sys.executable, "-c", told], cwd=ROOT, capture_output=True, text=True, check=True)
    assert done.stdout.strip() == "True", done.stdout
