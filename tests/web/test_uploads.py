"""The upload route: who may use it, before a byte is read; the size limit; and nothing is left of interrupted
uploads."""

from __future__ import annotations

import asyncio
import contextlib
from collections.abc import AsyncIterator, Awaitable, Callable
from dataclasses import replace
from pathlib import Path

import pytest
from starlette.requests import ClientDisconnect
from starlette.testclient import TestClient
from starlette.types import Message

from tests.web.conftest import BASE, COOKIE, app_of
from web import uploads
from web.uploads import PIECE, TYPE
from workflow.files.arriving import MB
from workflow.importing import MAX_UPLOAD_MB, arrivals
from workflow.people import team
from workflow.seat import Seat
from workflow.server.home import Home

HEADERS = {"content-type": TYPE}


@pytest.fixture
def owner(home: Home) -> str:
    return team.redeem_link(home, team.make_start_link(home))


@pytest.fixture
def ada(home: Home, owner: str) -> str:
    return team.redeem_link(home, team.make_link(Seat(home, team.ensure_owner(home).id), "Ada"))


@pytest.fixture
def signed_in(client: TestClient, owner: str) -> TestClient:
    client.cookies.set(COOKIE, owner)
    return client


def lying(home: Home) -> list[Path]:
    return sorted(home.uploads_dir.iterdir()) if home.uploads_dir.exists() else []


def run(test: Callable[[], Awaitable[None]]) -> None:
    asyncio.run(asyncio.wait_for(test(), 60))


async def send(secret: str | None, parts: AsyncIterator[bytes], length: int | None = None) -> tuple[int, str, int]:
    """A request as a server passes it on: status, text, and how often its body was read."""
    headers = [(b"host", b"127.0.0.1:8501"), (b"content-type", TYPE.encode())]
    if secret is not None:
        headers.append((b"cookie", f"{COOKIE}={secret}".encode()))
    if length is not None:
        headers.append((b"content-length", str(length).encode()))
    scope = {
        "type": "http",
        "method": "POST",
        "scheme": "http",
        "path": arrivals.PATH,
        "raw_path": arrivals.PATH.encode(),
        "query_string": b"name=birds.csv",
        "headers": headers,
        "server": ("127.0.0.1", 8501),
    }
    answer, asked = list[Message](), 0

    async def receive() -> Message:
        nonlocal asked
        asked += 1
        try:
            return {"type": "http.request", "body": await anext(parts), "more_body": True}
        except StopAsyncIteration:
            return {"type": "http.request", "body": b"", "more_body": False}
        except ConnectionError:
            return {"type": "http.disconnect"}

    async def back(message: Message) -> None:
        answer.append(message)

    with contextlib.suppress(ClientDisconnect):
        await app_of()(scope, receive, back)
    words = b"".join(message.get("body", b"") for message in answer).decode()
    return (answer[0]["status"] if answer else 0), words, asked


async def pieces(*data: bytes) -> AsyncIterator[bytes]:
    for one in data:
        yield one


def test_file_is_complete_for_its_uploader(signed_in: TestClient, home: Home) -> None:
    data = bytes(range(256)) * 10_000
    answer = signed_in.post(f"{arrivals.PATH}?name=..%2FV%C3%B6gel.zip", content=data, headers=HEADERS)
    assert answer.status_code == 201
    said = answer.json()
    assert (said["name"], said["size"]) == ("Vögel.zip", len(data))
    file = arrivals.find(Seat(home, team.ensure_owner(home).id), said["key"])
    assert file is not None
    assert file.path.read_bytes() == data
    assert lying(home) == [file.path]


def test_refused_upload_is_not_read(home: Home, owner: str, ada: str) -> None:
    async def test() -> None:
        for secret, wanted in ((None, 401), ("forged", 401), (ada, 403)):
            status, words, asked = await send(secret, pieces(b"table"))
            assert (status, asked) == (wanted, 0)
            if wanted == 403:
                assert words == "Only owners upload files. Fix: ask an owner to import the table."
        status, words, asked = await send(owner, pieces(b"table"), MAX_UPLOAD_MB * MB + 1)
        assert (status, asked) == (413, 0)
        assert words.startswith(f"The file is larger than {MAX_UPLOAD_MB} MB. Fix: ")

    run(test)
    assert lying(home) == []


def test_upload_limit_holds_without_content_length(home: Home, owner: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(arrivals, "MAX_UPLOAD_MB", 2)

    async def endless() -> AsyncIterator[bytes]:
        while True:
            yield b"x" * 65_536

    async def test() -> None:
        status, _words, asked = await send(owner, endless())
        assert status == 413
        assert asked <= (2 * MB + PIECE) // 65_536 + 2, "no more is read than may be kept"

    run(test)
    assert lying(home) == []


def test_upload_accepts_pieces_of_any_size(home: Home, owner: str) -> None:
    async def test() -> None:
        for parts in ([b"x"] * 3000, [b"x" * (PIECE + 1)] * 2, [b"", b"", b"a", b""], []):
            status, words, _asked = await send(owner, pieces(*parts))
            assert status == 201
            assert f'"size":{sum(map(len, parts))}' in words

    run(test)
    assert [path.stat().st_size for path in lying(home)].count(0) == 1


def test_uploads_run_one_at_a_time_and_stalled_ones_end(
    home: Home, owner: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    async def test() -> None:
        begun, refused = asyncio.Event(), asyncio.Event()

        async def silent() -> AsyncIterator[bytes]:
            yield b"x" * PIECE
            begun.set()
            await refused.wait()
            yield b"x" * PIECE
            await asyncio.Event().wait()

        async def broken() -> AsyncIterator[bytes]:
            yield b"x" * PIECE
            raise ConnectionError

        first = asyncio.create_task(send(owner, silent()))
        await begun.wait()
        status, words, asked = await send(owner, pieces(b"x"))
        assert (status, words.split(".")[0], asked) == (429, "Another file of yours is being uploaded", 0)
        monkeypatch.setattr(uploads, "SILENCE", 0.05)
        refused.set()
        assert (await first)[:2] == (408, "The upload stopped. Fix: try again.")
        assert lying(home) == []
        await send(owner, broken())
        assert lying(home) == []
        assert (await send(owner, pieces(b"x")))[0] == 201

    run(test)
    assert len(lying(home)) == 1


def test_full_upload_quota_is_reported(signed_in: TestClient, home: Home) -> None:
    object.__setattr__(home, "settings", replace(home.settings, upload_mb=1))
    answer = signed_in.post(arrivals.PATH, content=b"x" * (MB + 1), headers=HEADERS)
    assert (answer.status_code, "WINNOW_UPLOAD_MB" in answer.text) == (507, True)


@pytest.mark.parametrize(
    "sent_as",
    ["text/plain", "multipart/form-data; boundary=x", "application/x-www-form-urlencoded", "", f"{TYPE}; a=b"],
)
def test_upload_with_form_content_type_is_refused(signed_in: TestClient, sent_as: str) -> None:
    headers = {"content-type": sent_as} if sent_as else {}
    assert signed_in.post(arrivals.PATH, content=b"x", headers=headers).status_code == 415


def test_other_sites_and_other_methods_are_refused(signed_in: TestClient, home: Home) -> None:
    for origin in ("http://evil.example", "null"):
        headers = {**HEADERS, "origin": origin}
        assert signed_in.post(arrivals.PATH, content=b"x", headers=headers).status_code == 403
    assert signed_in.post(arrivals.PATH, content=b"x", headers={**HEADERS, "origin": BASE}).status_code == 201
    key = lying(home)[0].name
    for method in ("GET", "PUT", "DELETE", "HEAD"):
        assert signed_in.request(method, arrivals.PATH).status_code == 405
        assert signed_in.request(method, f"{arrivals.PATH}/{key}").status_code == 404
