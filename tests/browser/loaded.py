"""Servers forked from one process that has loaded what `app.py` imports: loading it takes seconds, a fork none.

The server of a test runs `app.py` from its first line, with its own session and environment. Only the imports are
already done, and its helper starts with the first file to read: most tests have none, and it loads for two seconds.
Tests of the start itself start their own Python (`START` in `server.py`). A test can also `run` a few lines of code in
such a process.

    python -m tests.browser.loaded

starts that process. It has one thread. A request is a line of JSON over its standard input, a socket, together with
three descriptors: for the server's input and its output, and a socket that receives the server's process id and, once
it has ended, its exit status. A keeper, forked for each server, waits for it. When the tests end, the socket closes,
and the process ends.
"""

from __future__ import annotations

import atexit
import gc
import importlib
import json
import os
import runpy
import select
import signal
import socket
import subprocess
import sys
from collections.abc import Mapping
from contextlib import suppress
from functools import cache
from pathlib import Path
from typing import TextIO

from workflow.files import limited

ROOT = Path(__file__).resolve().parents[2]
MOST = 2**20
"""Bytes of a request, which is an environment."""


class Forked:
    """A running server, with the interface of `subprocess.Popen`.

    code : run instead of `app.py`
    """

    def __init__(self, environment: Mapping[str, str], code: str | None = None) -> None:
        reading, writing = os.pipe()
        given, giving = os.pipe()
        self._keeper, theirs = socket.socketpair()
        with theirs:
            request = json.dumps({"environment": dict(environment), "code": code}).encode() + b"\n"
            socket.send_fds(_loaded(), [request], [given, writing, theirs.fileno()])
        os.close(given)
        os.close(writing)
        self.stdin = os.fdopen(giving, "w", encoding="utf-8")
        self.stdout: TextIO | None = os.fdopen(reading, encoding="utf-8")
        self._lines = self._keeper.makefile()
        begun = self._lines.readline()
        if not begun:
            raise AssertionError("the process that loads app.py has ended: see its output")
        self.pid = int(begun)
        self.returncode: int | None = None

    def poll(self) -> int | None:
        if self.returncode is None and select.select([self._keeper], [], [], 0)[0]:
            self.wait()
        return self.returncode

    def wait(self, timeout: float | None = None) -> int:
        if self.returncode is None:
            if not select.select([self._keeper], [], [], timeout)[0]:
                raise subprocess.TimeoutExpired("app.py", timeout or 0.0)
            self.returncode = int(self._lines.readline())
            self._lines.close()
            self._keeper.close()
            self.stdin.close()
        return self.returncode

    def terminate(self) -> None:
        if self.poll() is None:
            with suppress(ProcessLookupError):
                os.kill(self.pid, signal.SIGTERM)


def run(environment: Mapping[str, str], code: str) -> int:
    """Run this code in a process that has loaded the app. Returns the exit status, -9 if the process was killed."""
    process = Forked(environment, code)
    assert process.stdout is not None
    with process.stdout:
        sys.stdout.write(process.stdout.read())
    return process.wait(300)


@cache
def _loaded() -> socket.socket:
    """The socket to the process, which is started when the first test of this process wants a server."""
    ours, theirs = socket.socketpair()
    with theirs:
        command = [sys.executable, "-m", __spec__.name]
        process = subprocess.Popen(command, stdin=theirs, cwd=ROOT, start_new_session=True)

    def end() -> None:
        ours.close()
        process.wait()

    atexit.register(end)
    return ours


def _serve(tests: socket.socket) -> str | None:
    """Fork for each request. Returns in each child, with the code to run if it is not `app.py`. Ends with the tests."""
    signal.signal(signal.SIGCHLD, signal.SIG_IGN)  # no one waits for a keeper
    while True:
        request, descriptors, _, _ = socket.recv_fds(tests, MOST, 3)
        if not request:
            os._exit(0)
        while not request.endswith(b"\n"):
            request += tests.recv(MOST)
        given, output, keeper = descriptors
        if os.fork() == 0:
            signal.signal(signal.SIGCHLD, signal.SIG_DFL)
            asked = json.loads(request)
            _keep(asked["environment"], given, output, socket.socket(fileno=keeper))
            return asked["code"]
        for descriptor in descriptors:
            os.close(descriptor)


def _keep(environment: dict[str, str], given: int, output: int, told: socket.socket) -> None:
    """Fork once more, for the server, and return in it. Report its process id, and its exit status."""
    number = os.fork()
    if number:
        os.close(given)
        os.close(output)
        told.sendall(f"{number}\n".encode())
        _, status = os.waitpid(number, 0)
        told.sendall(f"{os.waitstatus_to_exitcode(status)}\n".encode())
        os._exit(0)
    told.close()
    os.setsid()
    os.dup2(given, sys.stdin.fileno())
    for descriptor in (sys.stdout.fileno(), sys.stderr.fileno()):
        os.dup2(output, descriptor)
    os.close(given)
    os.close(output)
    os.environ.clear()
    os.environ.update(environment)


def _load() -> None:
    """Import what a running server has imported, and load the compiled kernels, without looking for garbage meanwhile.
    Servers do not look through it either."""
    gc.disable()
    for name in ("web.server", "web.lifespan", "workflow.demos.digits"):
        importlib.import_module(name)
    from workflow.server.warming import warm_up

    warm_up(lambda share, _left: None)  # otherwise each forked server would compile
    gc.freeze()
    gc.enable()


if __name__ == "__main__":
    _load()
    with socket.socket(fileno=os.dup(sys.stdin.fileno())) as asking:
        code = _serve(asking)
    program = ROOT / "app.py"
    sys.argv = [str(program)]  # Streamlit looks for .streamlit/config.toml next to it
    sys.path[0] = str(ROOT)
    limited.start = lambda: None
    if code is None:
        runpy.run_path(str(program), run_name="__main__")
    else:
        exec(code, {"__name__": "__main__"})  # noqa: S102 - a test's own
