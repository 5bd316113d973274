"""The helper forks for whoever holds its socket, several at once, and ends with them."""

from __future__ import annotations

import json
import os
import select
import socket
import subprocess
import sys
from pathlib import Path

import pytest

from workflow.files.limited import Bounds, asking, helper

pytestmark = pytest.mark.slow

LONG = 3600
"""Seconds that nothing takes here, on a machine that is busy either."""


@pytest.fixture
def control() -> socket.socket:
    mine, theirs = socket.socketpair()
    with theirs:
        assert helper.main.__name__ in asking._PROGRAM
        process = subprocess.Popen([sys.executable, "-c", asking._PROGRAM], stdin=theirs.fileno())
    with mine:
        yield mine
    assert process.wait(LONG) == 0


def begin(control: socket.socket, path: Path, folder: Path) -> socket.socket:
    mine, theirs = socket.socketpair()
    with theirs:
        socket.send_fds(control, [b"j"], [theirs.fileno()])
    given = {"file": [str(path), None], "rows": None, "vectors": None, "as_it_is": False}
    request = {
        "job": "read",
        "given": given,
        "folder": str(folder),
        "bounds": Bounds(200, 60, LONG).to_json(),
    }
    mine.sendall(json.dumps(request).encode() + b"\n")
    return mine


def answer(job: socket.socket) -> dict[str, object]:
    with job, job.makefile("r") as lines:
        found: dict[str, object] = {}
        for line in filter(str.strip, lines):
            found |= json.loads(line)
    return found


def test_jobs_do_not_wait_for_each_other(control: socket.socket, tmp_path: Path) -> None:
    os.mkfifo(tmp_path / "slow.csv")
    (tmp_path / "quick.csv").write_text("id,labels\n1,a|b\n")
    slow = begin(control, tmp_path / "slow.csv", tmp_path)
    assert "result" in answer(begin(control, tmp_path / "quick.csv", tmp_path))
    (tmp_path / "slow.csv").write_text("id,labels\n1,c|d\n")  # what it waited for
    said = answer(slow)
    assert "result" in said
    assert isinstance(said["ended"], dict)
    assert said["ended"]["code"] == 0


def test_what_is_done_does_not_wait_for_what_began_later(control: socket.socket, tmp_path: Path) -> None:
    os.mkfifo(tmp_path / "first.csv")
    os.mkfifo(tmp_path / "later.csv")
    first = begin(control, tmp_path / "first.csv", tmp_path)
    later = begin(control, tmp_path / "later.csv", tmp_path)
    (tmp_path / "first.csv").write_text("id,labels\n1,a|b\n")
    assert "result" in answer(first)  # which reads to the end of the socket
    (tmp_path / "later.csv").write_text("id,labels\n1,c|d\n")
    assert "result" in answer(later)


def test_whoever_goes_away_does_no_harm(control: socket.socket, tmp_path: Path) -> None:
    (tmp_path / "quick.csv").write_text("id,labels\n1,a|b\n")
    begin(control, tmp_path / "quick.csv", tmp_path).close()
    assert "result" in answer(begin(control, tmp_path / "quick.csv", tmp_path))


def test_a_child_that_nobody_listens_to_says_nothing() -> None:
    mine, theirs = socket.socketpair()
    assert helper._send(mine, {"step": 0.5}, before=b"\n")
    assert theirs.recv(100) == b'\n{"step": 0.5}\n'
    theirs.close()
    assert not helper._send(mine, {"step": 0.6})
    mine.close()


def test_the_child_of_whoever_goes_away_is_ended(control: socket.socket, tmp_path: Path) -> None:
    os.mkfifo(tmp_path / "slow.csv")
    job = begin(control, tmp_path / "slow.csv", tmp_path)
    held = os.open(tmp_path / "slow.csv", os.O_WRONLY)  # waits until the child has it open
    (tmp_path / "quick.csv").write_text("id,labels\n1,a|b\n")
    kept = begin(control, tmp_path / "quick.csv", tmp_path)
    job.close()
    gone = select.poll()
    gone.register(held, 0)  # told once nobody can read it any more
    assert gone.poll(LONG * 1000)
    os.close(held)
    assert "result" in answer(kept), "and nobody else's"
