"""Streamlit's upload route, which keeps in memory whatever it is sent: owners alone, one file at a time."""

from __future__ import annotations

import asyncio
import contextlib
from collections.abc import AsyncIterator, Awaitable, Callable

import pytest
from starlette.applications import Starlette
from starlette.requests import ClientDisconnect, Request
from starlette.responses import Response
from starlette.routing import Route
from starlette.types import Message
from streamlit.web.server.starlette.starlette_routes import BASE_ROUTE_UPLOAD_FILE

from tests.web.conftest import COOKIE
from web import guard, server
from workflow.home import Home
from workflow.people import team
from workflow.seat import Seat
from workflow.settings import Settings

PATH = f"/{BASE_ROUTE_UPLOAD_FILE}/session/file"


class Uploads:
    """In the place of Streamlit: `begun` files whose first byte came, `kept` those that came whole."""

    def __init__(self) -> None:
        self.begun, self.kept = 0, []
        self.app = Starlette(
            routes=[
                Route(f"/{BASE_ROUTE_UPLOAD_FILE}/{{session}}/{{file}}", self.put, methods=["PUT", "DELETE"])
            ],
            middleware=server.middleware(Settings.from_environment()),
        )

    async def put(self, request: Request) -> Response:
        data = b""
        async for chunk in request.stream():
            self.begun += not data
            data += chunk
        self.kept.append(data)
        return Response(status_code=204)

    async def ask(
        self,
        secret: str | None,
        method: str = "PUT",
        path: str = PATH,
        parts: AsyncIterator[bytes] | None = None,
    ) -> tuple[int, str]:
        """Status and words of the answer to one request of who holds this secret."""
        cookie = [] if secret is None else [(b"cookie", f"{COOKIE}={secret}".encode())]
        scope = {
            "type": "http",
            "method": method,
            "path": path,
            "raw_path": path.encode(),
            "query_string": b"",
            "headers": [(b"host", b"127.0.0.1:8501"), *cookie],
            "server": ("127.0.0.1", 8501),
        }
        body, answer = parts or whole(b"table"), []

        async def receive() -> Message:
            try:
                return {"type": "http.request", "body": await anext(body), "more_body": True}
            except StopAsyncIteration:
                return {"type": "http.request", "body": b"", "more_body": False}
            except ConnectionError:
                return {"type": "http.disconnect"}

        async def send(message: Message) -> None:
            answer.append(message)

        with contextlib.suppress(ClientDisconnect):  # the server logs it
            await self.app(scope, receive, send)
        words = b"".join(message.get("body", b"") for message in answer).decode()
        return (answer[0]["status"] if answer else 0), words


async def whole(data: bytes) -> AsyncIterator[bytes]:
    yield data


@pytest.fixture
def uploads(home: Home) -> Uploads:
    return Uploads()


@pytest.fixture
def owner(home: Home) -> str:
    return team.redeem_link(home, team.make_start_link(home))


@pytest.fixture
def ada(home: Home, owner: str) -> str:
    return team.redeem_link(home, team.make_link(Seat(home, team.ensure_owner(home).id), "Ada"))


async def until(condition: Callable[[], bool]) -> None:
    while not condition():
        await asyncio.sleep(0)


def run(test: Callable[[], Awaitable[None]]) -> None:
    asyncio.run(asyncio.wait_for(test(), 60))


@pytest.mark.parametrize("method", ["PUT", "DELETE"])
def test_only_owners_upload(uploads: Uploads, owner: str, ada: str, method: str) -> None:
    async def test() -> None:
        for secret, status in ((None, 401), (ada, 403), (owner, 204)):
            for path in (PATH, f"{PATH}.2"):
                found, words = await uploads.ask(secret, method, path)
                assert found == status
                if status == 403:
                    assert words == "Only owners upload files. Fix: ask an owner to import the table."

    run(test)
    assert uploads.kept == [b"table", b"table"]


def test_one_file_at_a_time(uploads: Uploads, owner: str) -> None:
    async def test() -> None:
        go_on = asyncio.Event()

        async def slow() -> AsyncIterator[bytes]:
            yield b"first half, "
            await go_on.wait()
            yield b"second half"

        first = asyncio.create_task(uploads.ask(owner, parts=slow()))
        await until(lambda: uploads.begun == 1)
        for _ in range(3):
            assert await uploads.ask(owner, path=f"{PATH}.2") == (
                429,
                "Another file is being uploaded. Fix: try again when it is done.",
            )
        assert (await uploads.ask(owner, "DELETE", parts=whole(b"")))[0] == 204, (
            "taking a file away needs no room"
        )
        go_on.set()
        assert (await first)[0] == 204
        assert (await uploads.ask(owner, path=f"{PATH}.2"))[0] == 204

    run(test)
    assert uploads.kept == [b"", b"first half, second half", b"table"]


def test_an_upload_that_breaks_off_or_falls_silent_keeps_nobody_out(
    uploads: Uploads, owner: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(guard, "SILENCE", 0.01)

    async def test() -> None:
        async def silent() -> AsyncIterator[bytes]:
            yield b"first half, "
            await asyncio.Event().wait()

        async def broken() -> AsyncIterator[bytes]:
            yield b"first half, "
            raise ConnectionError

        assert await uploads.ask(owner, parts=silent()) == (408, "The upload fell silent.")
        assert await uploads.ask(owner, parts=broken()) == (500, "Internal Server Error")
        assert (await uploads.ask(owner))[0] == 204

    run(test)
    assert uploads.begun == 3
    assert uploads.kept == [b"table"]
