"""Strangers who open sockets, and one person who opens tabs, do not stop others from answering."""

from __future__ import annotations

import asyncio
import logging
import socket
import sys
import time
from collections.abc import AsyncIterator, Iterator
from contextlib import ExitStack, asynccontextmanager
from pathlib import Path

import pytest
import uvicorn
from starlette.applications import Starlette
from starlette.middleware import Middleware
from starlette.routing import Mount
from starlette.types import ASGIApp, Message, Receive, Scope, Send
from uvicorn.server import ServerState
from websockets.exceptions import InvalidStatus

from tests.attacks import world
from tests.attacks.cases import ADA, HOST, OWNER, Case
from tests.attacks.test_attacks import answer, drawn, page_of, wire
from tests.browser.server import Server
from tests.live_page import LivePage
from web.api.calls import Bounded
from web.operating import connections
from web.operating.connections import PAGES_A_PERSON, OpenPages, OwnConnections, SaidOnce

LIMITED = (
    "import os, resource, sys; resource.setrlimit(resource.RLIMIT_NOFILE, (256, {hard})); "
    "os.execv(sys.executable, [sys.executable, 'app.py'])"
)
AT_ONCE = 20.0
"""How many times longer an answer may take than before the strangers came; about 1 is usual."""
BESIDE = 200
"""File descriptors of a server that has been busy, after the strangers have left."""


@pytest.fixture
def server(tmp_path: Path, hard: int) -> Iterator[Server]:
    """A server whose processes begin with 256 files. hard : their hard limit"""
    running = Server(tmp_path / "home", command=[sys.executable, "-c", LIMITED.format(hard=hard)]).start()
    yield running
    running.stop()


def descriptors(server: Server) -> int:
    assert server.process is not None
    return len(list(Path(f"/proc/{server.process.pid}/fd").iterdir()))


def fastest(page: LivePage) -> float:
    """Seconds of the fastest of three answers."""
    times = []
    for _ in range(3):
        begun = time.perf_counter()
        assert "skipped" in page.press("skip", [])
        times.append(time.perf_counter() - begun)
    return min(times)


@pytest.mark.slow
@pytest.mark.proof
@pytest.mark.parametrize(("hard", "sockets", "tabs"), [(1024, 600, 40), (4096, 1_500, 300)])
def test_idle_sockets_and_many_tabs_leave_room_for_a_press(server: Server, sockets: int, tabs: int) -> None:
    there = world.make(server)
    before = descriptors(server)
    cookie = f"winnow_signin_{server.port}={there.cookies[OWNER]}"
    with LivePage(server.port, cookie, f"project={there.open_project}") as page:
        alone = fastest(page)
    with ExitStack() as opened:
        refused = 0
        for _ in range(tabs):
            try:
                drawn(opened.enter_context(page_of(server, there, ADA)))
            except InvalidStatus:
                refused += 1
        assert tabs - refused == PAGES_A_PERSON
        status, came = answer(server, wire(Case("one more", ADA, target="/annotate"), there), hangs=False)
        assert status == 429
        assert b"Fix: close one" in came
        for _ in range(sockets):
            opened.enter_context(socket.create_connection(("127.0.0.1", server.port)))
        with LivePage(server.port, cookie, f"project={there.open_project}") as page:
            assert fastest(page) < AT_ONCE * alone
    while descriptors(server) > before + BESIDE:  # the test's own timeout ends it
        time.sleep(0.05)
    status, came = answer(server, wire(Case("healthy", target="/healthz"), there), hangs=False)
    assert status == 200
    assert b"server:" not in came.lower()
    for head, body in ((b"X-A: a\r\n b", b""), (b"Transfer-Encoding: chunked\r\nContent-Length: 4", b"0\r\n\r\n")):
        host = HOST.format(port=server.port).encode()
        request = b"POST /signin HTTP/1.1\r\nHost: " + host + b"\r\n" + head + b"\r\n\r\n" + body
        assert answer(server, request, hangs=False)[0] == 400, head
    assert not [line for line in server.lines if "Traceback" in line]


async def _ok(_scope: Scope, receive: Receive, send: Send) -> None:
    await receive()
    await send({"type": "http.response.start", "status": 200, "headers": [(b"content-length", b"0")]})
    await send({"type": "http.response.body"})


def talk(port: int, *pieces: bytes) -> list[bytes]:
    """Reply after each piece, and finally b"" if the server closes the connection."""
    with socket.create_connection(("127.0.0.1", port)) as wire:
        came = []
        for piece in pieces:
            wire.sendall(piece)
            came.append(wire.recv(65_536)[:12])
        return came


HEAD = b"POST / HTTP/1.1\r\nHost: a\r\n"
WHOLE, HALF = HEAD + b"\r\n", HEAD + b"Content-Length: 9\r\n\r\nabc"
GOT = b"HTTP/1.1 200"
PIECE = {"type": "http.response.body", "body": bytes(65_536), "more_body": True}


@pytest.mark.parametrize(
    ("pieces", "back"),
    [((b"GET",), [b""]), ((WHOLE, b"G"), [GOT, b""]), ((HALF, b"d"), [GOT, b""]), ((WHOLE, WHOLE), [GOT, GOT])],
    ids=["no whole head", "no second head", "a body that no one reads", "two requests"],
)
def test_incomplete_request_is_closed_in_time(
    monkeypatch: pytest.MonkeyPatch, pieces: tuple[bytes, ...], back: list[bytes]
) -> None:
    monkeypatch.setattr(connections, "WHOLE_WITHIN", 0.2)

    assert asyncio.run(heard(_ok, *pieces)) == back


def test_unread_reply_is_given_up(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(connections, "SILENCE", 0.2)

    async def asked() -> None:
        given_up = asyncio.Event()

        async def endless(_scope: Scope, receive: Receive, send: Send) -> None:
            await send({"type": "http.response.start", "status": 200})
            for _ in range(1_000):  # 66 MB, more than all buffers on the way
                await send(PIECE)
            given_up.set()

        async with serving(endless) as port:
            with socket.create_connection(("127.0.0.1", port)) as wire:
                wire.sendall(WHOLE + WHOLE)  # the second one pauses the reading of this connection
                async with asyncio.timeout(120):
                    await given_up.wait()

    asyncio.run(asked())


def test_slowly_read_reply_is_not_cut_off() -> None:
    class Wire(asyncio.Transport):
        left, aborted = 50_000, False

        def set_protocol(self, protocol: asyncio.BaseProtocol) -> None:
            self.protocol = protocol

        def get_protocol(self) -> asyncio.BaseProtocol:
            return self.protocol

        def get_write_buffer_size(self) -> int:
            return self.left

        def abort(self) -> None:
            self.aborted = True

    config = uvicorn.Config(_ok)
    config.load()

    async def taken() -> list[bool]:
        connection = connections.TimedConnection(config=config, server_state=ServerState(), app_state={})
        wire = Wire()
        wire.set_protocol(connection)
        connection.connection_made(wire)
        seen = []
        for left in (30_000, 10_000, 9_000):
            wire.left = left
            connection._give_up(20.0)
            seen.append(wire.aborted)
        connection._go_on()
        return seen

    assert asyncio.run(taken()) == [False, False, True]


def test_oversized_request_is_answered_413() -> None:
    sent = b"POST / HTTP/1.1\r\nHost: a\r\nContent-Length: 40000000\r\n\r\n" + bytes(40_000_000)
    assert asyncio.run(heard(Bounded(_ok), sent)) == [b"HTTP/1.1 413"]


async def heard(app: ASGIApp, *pieces: bytes) -> list[bytes]:
    """Return what a client hears from a server of this app."""
    async with serving(app) as port:
        return await asyncio.to_thread(talk, port, *pieces)


@asynccontextmanager
async def serving(app: ASGIApp) -> AsyncIterator[int]:
    """The port of a server of this app."""
    served = Starlette(routes=[Mount("/", app)], middleware=[Middleware(OwnConnections)])
    with socket.socket() as listening:
        listening.bind(("127.0.0.1", 0))
        listening.listen()
        server = uvicorn.Server(uvicorn.Config(served, log_level="error"))
        task = asyncio.create_task(server.serve([listening]))
        try:
            yield listening.getsockname()[1]
        finally:
            server.should_exit = True
            await task


def test_failed_accepts_are_logged_once_a_minute(caplog: pytest.LogCaptureFixture) -> None:
    loop, said = asyncio.new_event_loop(), SaidOnce()
    loop.close()
    with caplog.at_level(logging.ERROR):
        for _ in range(2_048):
            said.say(loop, {"message": "socket.accept() out of system resource", "exception": OSError(24, "Too many")})
    (line,) = (one.getMessage() for one in caplog.records)
    assert line.startswith("No connection can be accepted: [Errno 24] Too many. Fix: raise the limit of open files")


def test_flood_of_messages_is_read_at_a_pace_for_each_person(monkeypatch: pytest.MonkeyPatch) -> None:
    slept: list[float] = []

    async def sleep(seconds: float) -> None:
        slept.append(seconds)

    monkeypatch.setattr(connections, "AT_ONCE", 4)
    monkeypatch.setattr(connections, "A_SECOND", 0.001)
    monkeypatch.setattr(asyncio, "sleep", sleep)

    async def flood() -> Message:
        return {"type": "websocket.receive", "bytes": b""}

    async def greeting() -> Message:
        return {"type": "websocket.connect"}

    async def waits(times: int, *pages: Receive) -> list[int]:
        """The seconds, in thousands, that these pages wait while each reads this many messages."""
        slept.clear()
        for _ in range(times):
            for page in pages:
                await page()
        return [round(one / 1000) for one in slept]

    async def all_of() -> None:
        pages = OpenPages()
        with pages.opened(1) as one, pages.opened(1) as again, pages.opened(2) as other:
            assert await waits(2, one.keep(flood), again.keep(flood)) == [], "the first four"
            assert await waits(2, one.keep(flood), again.keep(flood)) == [1, 2, 3, 4]
            assert await waits(4, other.keep(flood)) == [], "other people do not wait for them"
            assert await waits(50, one.keep(greeting)) == []

    asyncio.run(all_of())
