"""The real server, started as a person starts it, and asked as a browser or an attacker would."""

from __future__ import annotations

import http.client
import os
import re
import secrets
import sys
import tempfile
from collections.abc import Iterator
from pathlib import Path
from urllib.parse import urlsplit

import pytest
from streamlit.proto.BackMsg_pb2 import BackMsg
from streamlit.proto.ClientState_pb2 import ClientState
from streamlit.proto.ForwardMsg_pb2 import ForwardMsg
from websockets.exceptions import ConnectionClosed, InvalidStatus
from websockets.sync.client import connect
from websockets.typing import Subprotocol

from tests.browser.server import Server
from web.server import see_to_home
from workflow.people import team
from workflow.seat import Seat
from workflow.server.home import open_home
from workflow.server.settings import Settings

pytestmark = pytest.mark.slow  # the routes and the guard are tried without a process of their own, too

HTML = {"Accept": "text/html"}


@pytest.fixture(scope="module")
def server(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Server]:
    # `streamlit run` has bound its own port before it reads app.py: that WINNOW_PORT counts is tested too.
    running = Server(
        tmp_path_factory.mktemp("home"), command=[sys.executable, "-m", "streamlit", "run", "app.py"]
    ).start()
    yield running
    running.stop()


def ask(
    server: Server, method: str, target: str, headers: dict[str, str] | None = None
) -> http.client.HTTPResponse:
    """One request, no redirect followed; the answer with its body read."""
    connection = http.client.HTTPConnection("127.0.0.1", server.port, timeout=60)
    connection.request(method, target, headers=headers or {})
    answer = connection.getresponse()
    answer.read()
    connection.close()
    return answer


def said(server: Server, target: str, headers: dict[str, str]) -> str:
    """What a PUT is answered."""
    connection = http.client.HTTPConnection("127.0.0.1", server.port, timeout=60)
    connection.request("PUT", target, body=b"table", headers=headers)
    words = connection.getresponse().read().decode()
    connection.close()
    return words


def handshake(server: Server, origin: str | None = None, **headers: str) -> int:
    """HTTP status of opening the pages' websocket; 101 is success."""
    url = f"ws://127.0.0.1:{server.port}/_stcore/stream"
    try:
        with connect(url, origin=origin, additional_headers=headers, open_timeout=60):  # type: ignore[arg-type]
            return 101
    except InvalidStatus as refusal:
        return refusal.response.status_code


def test_the_link_is_printed_for_the_port_of_the_settings(server: Server) -> None:
    link = urlsplit(server.link)
    assert (link.hostname, link.port, link.path) == ("127.0.0.1", server.port, "/signin")


def test_a_user_that_is_a_number_alone_gets_a_home(monkeypatch: pytest.MonkeyPatch) -> None:
    def unknown() -> Path:
        raise RuntimeError("Could not determine home directory.")

    monkeypatch.setenv("HOME", "/home/ada")
    see_to_home()
    assert os.environ["HOME"] == "/home/ada"
    monkeypatch.setattr(Path, "home", unknown)
    see_to_home()
    assert os.environ["HOME"] == tempfile.gettempdir()


def test_a_stranger_gets_nothing(server: Server) -> None:
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


def test_one_sign_in_by_the_printed_link(server: Server) -> None:
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
            list(websocket)  # what was on its way, then the end
    assert closed.value.rcvd is not None
    assert closed.value.rcvd.code == 4401
    assert handshake(server, Cookie=cookie) == 403

    printed = "\n".join(server.lines)
    assert printed.count(link.query) == 1  # the link itself, and nothing that logs requests
    assert cookie.partition("=")[2] not in printed


def cookies(server: Server) -> tuple[dict[str, str], dict[str, str]]:
    """Of a new sign-in of the owner, and of an annotator."""
    home = open_home(Settings.from_environment({"WINNOW_HOME": str(server.home)}))
    try:
        owner = team.ensure_owner(home).id
        name = f"Ada {secrets.token_hex(4)}"
        links = team.make_start_link(home), team.make_link(Seat(home, owner), name)
        owners, adas = (
            {"Cookie": f"winnow_signin_{server.port}={team.redeem_link(home, link)}"} for link in links
        )
    finally:
        home.close()
    return owners, adas


def test_the_upload_route_of_streamlit_is_there_for_nobody(server: Server) -> None:
    owners, adas = cookies(server)
    for path in ("/_stcore/upload_file/session/file", "/_stcore/upload_file/a%20b/c"):
        assert ask(server, "PUT", path).status == 401
        for one in (owners, adas):
            assert "There is no such address here." in said(server, path, one)


def session_of(server: Server, cookie: dict[str, str], wanted: str = "") -> str:
    """The id of the session of a page that opens its websocket, asking to have this one back."""
    url, told = f"ws://127.0.0.1:{server.port}/_stcore/stream", ForwardMsg()
    names = [Subprotocol(one) for one in ("streamlit", "none", wanted)[: 3 if wanted else 2]]
    with connect(url, additional_headers=cookie, subprotocols=names, open_timeout=60) as page:
        page.send(BackMsg(rerun_script=ClientState()).SerializeToString())
        while told.WhichOneof("type") != "new_session":
            told.ParseFromString(bytes(page.recv(timeout=120)))  # type: ignore[arg-type]
    return told.new_session.initialize.session_id


def test_a_session_is_taken_up_by_the_sign_in_that_opened_it_alone(server: Server) -> None:
    owners, adas = cookies(server)
    again, _ = cookies(server)
    mine = session_of(server, owners)
    assert session_of(server, owners, mine) == mine
    assert session_of(server, adas, mine) != mine, "somebody else"
    assert session_of(server, again, mine) != mine, "another browser of the same person"
    assert session_of(server, owners, mine) == mine, "and it is still there for whose it is"


def test_sigterm_ends_it_cleanly(server: Server) -> None:
    assert server.stop() in (0, -15)
    assert not re.search(r"Traceback|Error", "\n".join(server.lines))
    assert not (server.home / "winnow.sqlite3-wal").exists()  # the database was closed, not abandoned
