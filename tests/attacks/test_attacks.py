"""Every attack of the corpus on one live server: none succeeds, no data changes, and no memory leaks."""

from __future__ import annotations

import re
import socket
from collections.abc import Iterator
from contextlib import suppress
from dataclasses import replace
from pathlib import Path

import pytest
from sqlalchemy import text
from streamlit.proto.BackMsg_pb2 import BackMsg
from streamlit.proto.ClientState_pb2 import ClientState
from streamlit.proto.ForwardMsg_pb2 import ForwardMsg
from websockets.exceptions import ConnectionClosed
from websockets.sync.client import ClientConnection, connect
from websockets.typing import Subprotocol

from tests.attacks import world
from tests.attacks.cases import ADA, CASES, EVE, HOST, NOBODY, OWNER, Case
from tests.attacks.world import SECRET, World
from tests.browser.server import Server
from web.document import PAGES
from workflow.people import team
from workflow.seat import Seat

pytestmark = pytest.mark.slow

PATIENCE = 60.0
TABLES = ("people", "projects", "entries", "members", "links", "sign_ins", "tokens")


@pytest.fixture(scope="module")
def server(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Server]:
    running = Server(tmp_path_factory.mktemp("attacked") / "home").start()
    yield running
    running.stop()


@pytest.fixture(scope="module")
def there(server: Server) -> World:
    return world.make(server)


def filled(said: str, words: dict[str, str]) -> str:
    for name, word in words.items():
        said = said.replace(f"{{{name}}}", word)
    return said


def wire(case: Case, there: World) -> bytes:
    """The request as it goes over the wire."""
    headers = [(name, filled(value, there.words)) for name, value in case.headers]
    names = {name.lower() for name, _ in headers}
    if "host" not in names:
        headers.insert(0, ("Host", filled(HOST, there.words)))
    if case.who != NOBODY and "cookie" not in names:
        headers.append(("Cookie", f"winnow_signin_{there.words['port']}={there.cookies[case.who]}"))
    if case.body and not names & {"content-length", "transfer-encoding"}:
        headers.append(("Content-Length", str(len(case.body))))
    if "connection" not in names:
        headers.append(("Connection", "close"))
    lines = [f"{case.method} {filled(case.target, there.words)} HTTP/1.1"]
    lines += [f"{name}: {value}" for name, value in headers]
    body = case.body
    for name in ("used", "dead"):
        body = body.replace(f"{{{name}}}".encode(), there.words[name].encode())
    return "\r\n".join([*lines, "", ""]).encode() + body


def answer(server: Server, request: bytes, *, hangs: bool) -> tuple[int, bytes]:
    """Status and the rest of the reply; status 0 if the server only closes the connection."""
    came = b""
    with socket.create_connection(("127.0.0.1", server.port), PATIENCE) as wire:
        if hangs:
            wire.settimeout(1.0)
        with suppress(BrokenPipeError, ConnectionResetError):  # refused before all of it was read
            wire.sendall(request)
        with suppress(TimeoutError, ConnectionResetError):
            while piece := wire.recv(65_536):
                came += piece
                if came.startswith(b"HTTP/1.1 101"):
                    break
    found = re.match(rb"HTTP/1\.1 (\d{3})", came)
    return int(found[1]) if found else 0, came


def stored(server: Server) -> dict[str, list[object]]:
    """All that an attack could have changed, except when a browser was last active and who was refused."""
    home = world.opened(server)
    try:
        with home.database.read() as session:
            return {
                name: sorted(
                    str({key: value for key, value in row._mapping.items() if "seen" not in key})
                    for row in session.execute(text(f"SELECT * FROM {name}"))  # noqa: S608
                )
                for name in TABLES
            }
    finally:
        home.close()


def memory(server: Server) -> int:
    """kB of memory of the server's process, without file pages, which come and go as the system decides."""
    assert server.process is not None
    status = Path(f"/proc/{server.process.pid}/status").read_text()
    found = re.search(r"RssAnon:\s+(\d+)", status)
    assert found is not None
    return int(found[1])


def test_corpus_has_300_distinct_cases() -> None:
    names = [case.name for case in CASES]
    assert len(names) == len(set(names)) >= 300


def test_no_attack_gets_through(server: Server, there: World) -> None:
    look_at_all_pages(server, there)  # modules are loaded only once
    before, held = stored(server), memory(server)
    through = []
    for case in CASES:
        status, came = answer(server, wire(case, there), hangs=case.hangs)
        redirected = status == 303 and b"\r\nlocation: /signin\r\n" in came.lower()
        if not (status in case.refused or redirected or status == 0) or SECRET.encode() in came:
            through.append(f"{case.name}: {came[:40]!r}")
    assert not through, "\n".join(through)
    assert stored(server) == before
    folder = server.home / "uploads"
    assert not folder.exists() or list(folder.iterdir()) == []
    look_at_all_pages(server, there)
    after = memory(server)
    assert after <= 1.2 * held, f"{held:,} kB before, {after:,} kB after"
    assert answer(server, wire(Case("healthy", target="/healthz"), there), hangs=False)[0] == 200
    assert not [line for line in server.lines if "Traceback" in line]


def test_attack_targets_answer_their_rightful_person(server: Server, there: World) -> None:
    """The attacks must fail because of what they try, not because of their form."""
    for target in ("/", "/annotate", "/files/{picture}", "/files/{picture}/small", "/_stcore/health"):
        assert answer(server, wire(Case("own", OWNER, target=target), there), hangs=False)[0] == 200, target
    for who in (OWNER, ADA, EVE):
        socket_ = next(case for case in CASES if case.name == "forged cookie opens a websocket")
        assert (
            answer(server, wire(Case("own", who, target=socket_.target, headers=socket_.headers), there), hangs=False)[
                0
            ]
            == 101
        )


def page_of(server: Server, there: World, who: str, session: str = "") -> ClientConnection:
    cookie = {"Cookie": f"winnow_signin_{server.port}={there.cookies[who]}"}
    names = [Subprotocol(one) for one in ("streamlit", "none", session) if one]
    url = f"ws://127.0.0.1:{server.port}/_stcore/stream"
    return connect(url, additional_headers=cookie, subprotocols=names, max_size=None, open_timeout=PATIENCE)


def drawn(page: ClientConnection, name: str = "", query: str = "") -> bytes:
    """All that the server sends until it has drawn this page."""
    page.send(BackMsg(rerun_script=ClientState(page_name=name, query_string=query)).SerializeToString())
    came, told = b"", ForwardMsg()
    while told.WhichOneof("type") != "script_finished":
        frame = page.recv(timeout=PATIENCE)
        assert isinstance(frame, bytes)
        told.ParseFromString(frame)
        came += frame
    return came


def look_at_all_pages(server: Server, there: World) -> None:
    for who in (OWNER, ADA, EVE):
        with page_of(server, there, who) as page:
            for name in PAGES:
                drawn(page, name, f"project={there.open_project}")


@pytest.mark.parametrize("every", [False, pytest.param(True, marks=pytest.mark.proof)], ids=["some", "every"])
@pytest.mark.parametrize("who", [ADA, EVE])
def test_no_page_shows_project_that_is_not_shared(server: Server, there: World, who: str, every: bool) -> None:
    """Every page with the secret project, and with another number or `every` one."""
    with page_of(server, there, OWNER) as page:
        for name in ("", "queue", "settings"):
            assert SECRET.encode() in drawn(page, name, f"project={there.project}"), "the owner sees it"
    with page_of(server, there, who) as page:
        others = (there.project + 1, 999, -1)
        for at, name in enumerate(PAGES):
            for project in (there.project, *(others if every else others[at % 3 : at % 3 + 1])):
                assert SECRET.encode() not in drawn(page, name, f"project={project}"), (name, project)


@pytest.mark.parametrize("who", [ADA, EVE])
def test_session_of_another_person_cannot_be_resumed(server: Server, there: World, who: str) -> None:
    with page_of(server, there, OWNER) as page:
        told = ForwardMsg()
        page.send(BackMsg(rerun_script=ClientState()).SerializeToString())
        while told.WhichOneof("type") != "new_session":
            frame = page.recv(timeout=PATIENCE)
            assert isinstance(frame, bytes)
            told.ParseFromString(frame)
        mine = told.new_session.initialize.session_id
    with page_of(server, there, who, mine) as theirs:
        assert mine.encode() not in drawn(theirs)


def test_page_file_is_served_only_to_its_session(server: Server, there: World) -> None:
    home = world.opened(server)
    owner = Seat(home, team.ensure_owner(home).id)
    fresh = team.redeem_link(home, team.make_link(owner, "Has just come"))
    home.close()
    with page_of(server, there, OWNER) as page:
        names = set(re.findall(rb"/media/[\w.]+", drawn(page)))
    assert names, "the page's picture at least"
    there.cookies["fresh"] = fresh
    for name in names:
        case = Case("file", target=name.decode())
        for who, status in ((OWNER, 200), ("fresh", 404), ("forged", 401)):
            assert answer(server, wire(replace(case, who=who), there), hangs=False)[0] == status, who
    with page_of(server, there, "fresh") as page:
        named = set(re.findall(rb"/media/[\w.]+", drawn(page)))
    for name in named:
        case = Case("file", "fresh", target=name.decode())
        assert answer(server, wire(case, there), hangs=False)[0] == 200


@pytest.mark.parametrize(
    "message",
    [
        BackMsg(debug_shutdown_runtime=True),
        BackMsg(debug_disconnect_websocket=True),
        BackMsg(load_git_info=True),
        BackMsg(set_run_on_save=True),
        BackMsg(clear_cache=True),
        BackMsg(stop_script=True),
        b"",
        b"\xff" * 100,
        b"x" * 1_000_000,
        "text",
    ],
    ids=lambda one: str(one)[:30].strip(),
)
def test_no_websocket_message_stops_server(server: Server, there: World, message: BackMsg | bytes | str) -> None:
    with page_of(server, there, ADA) as page, suppress(ConnectionClosed):  # that page is closed, and no other
        page.send(message.SerializeToString() if isinstance(message, BackMsg) else message)
        drawn(page)
    with page_of(server, there, OWNER) as page:
        assert SECRET.encode() in drawn(page)
