"""Connections to a server of this process send what there is, whatever made the socket that they come by."""

from __future__ import annotations

import asyncio
import fcntl
import logging
import os
import socket
import subprocess
import sys
from contextlib import suppress
from pathlib import Path

import pytest
from streamlit import config

from web import lifespan
from web.server import MOST, answer_at_once


def listening() -> socket.socket:
    """As Streamlit makes it: of no protocol that it names."""
    made = socket.socket(family=socket.AF_INET)
    made.bind(("127.0.0.1", 0))
    made.listen()
    return made


async def sends_at_once(listener: socket.socket) -> bool:
    """Whether a connection that asyncio takes there does."""
    found: asyncio.Future[int] = asyncio.get_running_loop().create_future()

    def come(_: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        taken = writer.get_extra_info("socket")
        found.set_result(taken.getsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY))
        writer.close()

    async with await asyncio.start_server(come, sock=listener):
        _, writer = await asyncio.open_connection(*listener.getsockname())
        told = await found
        writer.close()
    return told != 0


def test_by_itself_a_connection_waits() -> None:
    """What this is for: where it fails, asyncio or Streamlit does it, and the module can go."""
    assert not asyncio.run(sends_at_once(listening()))


def test_a_connection_sends_what_there_is() -> None:
    listener = listening()
    answer_at_once()
    assert asyncio.run(sends_at_once(listener))


def test_other_descriptors_stay_as_they_are() -> None:
    reading, writing = os.pipe()
    apart, pair = socket.socket(), socket.socketpair()
    answer_at_once()
    assert apart.getsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY) == 0  # it listens to nobody
    pair[0].send(b"and this")
    assert pair[1].recv(10) == b"and this"
    os.write(writing, b"still open")
    assert os.read(reading, 10) == b"still open"
    os.close(writing)
    assert os.read(reading, 10) == b"", "somebody else has it open"
    os.close(reading)
    for one in (apart, *pair):
        one.close()


def test_no_descriptor_is_left_open() -> None:
    def numbers() -> set[int]:
        """Of all that is open."""
        found = set()
        for one in range(2 * MOST):
            with suppress(OSError):
                os.fstat(one)
                found.add(one)
        return found

    before = numbers()
    answer_at_once()
    assert numbers() <= before


def test_locks_of_files_are_kept_and_given_back(tmp_path: Path) -> None:
    """That of SQLite's file belongs to the process, which loses it with any descriptor of the file that it closes; that
    of the data folder to what was opened, which a copy of the descriptor keeps open."""
    kept, given_back = tmp_path / "database", tmp_path / "in-use"
    with kept.open("w") as database, given_back.open("w") as in_use:
        fcntl.lockf(database, fcntl.LOCK_EX)
        fcntl.flock(in_use, fcntl.LOCK_EX)
        answer_at_once()
        in_use.close()
        with given_back.open("w") as again:
            fcntl.flock(again, fcntl.LOCK_EX | fcntl.LOCK_NB)
        trying = "import fcntl, sys; fcntl.lockf(open(sys.argv[1], 'w'), fcntl.LOCK_EX | fcntl.LOCK_NB)"
        tried = subprocess.run([sys.executable, "-c", trying, kept], capture_output=True, check=False)
        assert b"BlockingIOError" in tried.stderr


def test_the_server_does_so_as_it_starts(monkeypatch: pytest.MonkeyPatch) -> None:
    class ReachedError(Exception):
        pass

    def stop() -> None:
        raise ReachedError

    monkeypatch.setattr(lifespan, "home", stop)  # what a start opens next
    # What else it sets for the whole process is not for the tests that come later.
    access = logging.getLogger("uvicorn.access")
    monkeypatch.setattr(access, "disabled", access.disabled)
    monkeypatch.setattr(sys, "setswitchinterval", lambda _: None)
    monkeypatch.setattr(config, "set_option", lambda *_: None)
    listener = listening()

    async def start() -> bool:
        with pytest.raises(ReachedError):
            async with lifespan.lifespan(None):  # type: ignore[arg-type]
                pass
        return await sends_at_once(listener)

    assert asyncio.run(start())
