"""Servers and workers that start in a second: forked from a process that has loaded the packages, and has opened
nothing. From there on they are `app.py` and `worker.py` as anybody starts them, each the first of a process group.
"""

from __future__ import annotations

import importlib
import json
import os
import runpy
import signal
import subprocess
import sys
import time
from collections.abc import Mapping
from contextlib import suppress
from pathlib import Path

from benchmarks.harness import ROOT
from tests.browser.server import LINK, free_port
from workflow.files import limited

LOADED = ("streamlit", "web.server", "web.problems", "web.lifespan", "workflow.demos.digits", "worker")
PATIENCE = 300.0  # seconds that a server may need to start


class Loaded:
    """The process that all are forked from. `close` ends it, and not what was forked."""

    def __init__(self, folder: Path, more: Mapping[str, str] | None = None) -> None:
        self.folder = folder  # of what the forked processes print
        self._count = 0
        self._process = subprocess.Popen(
            [sys.executable, "-m", "benchmarks.trust.forked"],
            cwd=ROOT,
            env={**os.environ, **(more or {})},
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            text=True,
        )

    def fork(self, program: str, environment: Mapping[str, str]) -> Forked:
        """A new process that runs this file of the checkout."""
        assert self._process.stdin is not None
        assert self._process.stdout is not None
        self._count += 1
        said = self.folder / f"{self._count}.log"
        self._process.stdin.write(json.dumps([program, dict(environment), str(said)]) + "\n")
        self._process.stdin.flush()
        return Forked(int(self._process.stdout.readline()), said)

    def close(self) -> None:
        assert self._process.stdin is not None
        self._process.stdin.close()
        self._process.wait()


class Forked:
    """pid : of the process, and of its group      said : the file with what it prints"""

    def __init__(self, pid: int, said: Path) -> None:
        self.pid, self.said = pid, said

    def is_there(self) -> bool:
        try:
            os.kill(self.pid, 0)
        except ProcessLookupError:
            return False
        return True

    def kill(self) -> None:
        """kill -9 to it and all that it has started. Returns once it is gone."""
        sessions = [self.pid, *started_by(self.pid)]  # each worker has one of its own
        for pid in sessions:
            with suppress(ProcessLookupError):
                os.killpg(pid, signal.SIGKILL)
        until = time.monotonic() + 10
        while self.is_there():
            if time.monotonic() > until:
                raise RuntimeError(f"process {self.pid} does not end")
            time.sleep(0.005)


def started_by(parent: int) -> list[int]:
    """Process ids of the training processes that this one has started."""
    found = []
    for path in Path("/proc").glob("[0-9]*/cmdline"):
        try:
            its = int((path.parent / "stat").read_text().rsplit(")", 1)[1].split()[1])
            if its == parent and b"worker.py" in path.read_bytes():
                found.append(int(path.parent.name))
        except OSError:
            continue  # it has ended
    return found


class ForkedServer:
    """A server of this home at a port of its own."""

    def __init__(self, loaded: Loaded, home: Path, more: Mapping[str, str]) -> None:
        self.loaded, self.port = loaded, free_port()
        self.environment = {"WINNOW_HOME": str(home), "WINNOW_PORT": str(self.port), **more}
        self.process: Forked | None = None

    def start(self) -> None:
        """Returns once the sign-in link is printed."""
        self.process = self.loaded.fork("app.py", self.environment)
        until = time.monotonic() + PATIENCE
        while not LINK.search(self.lines()):
            if time.monotonic() > until or not self.process.is_there():
                raise RuntimeError("the server has not started: " + self.lines()[-2000:])
            time.sleep(0.01)

    def lines(self) -> str:
        """What it has printed since it was started last."""
        return self.process.said.read_text() if self.process and self.process.said.exists() else ""

    def kill(self) -> None:
        if self.process is not None:
            self.process.kill()


def _become(program: str, environment: Mapping[str, str], said: str) -> None:
    """In the child: what a process of this program's own would have been given."""
    signal.signal(signal.SIGCHLD, signal.SIG_DFL)
    os.setsid()
    out = os.open(said, os.O_WRONLY | os.O_CREAT | os.O_APPEND)
    nothing = os.open(os.devnull, os.O_RDONLY)
    for descriptor, number in ((nothing, 0), (out, 1), (out, 2)):
        os.dup2(descriptor, number)
    os.environ.update(environment)
    limited.start = lambda: None  # nobody sends files, and it would load what reads them for seconds
    sys.argv = [program]
    runpy.run_path(str(ROOT / program), run_name="__main__")


def main() -> None:
    signal.signal(signal.SIGCHLD, signal.SIG_IGN)  # nobody waits for what is forked
    parts = (f"pages.parts.{path.stem}" for path in sorted((ROOT / "pages" / "parts").glob("*.py")))
    for name in (*LOADED, *parts):
        importlib.import_module(name)
    from workflow.server.warming import warm_up

    warm_up(lambda _: None)
    for line in sys.stdin:
        asked = json.loads(line)
        pid = os.fork()
        if not pid:
            try:
                _become(*asked)
            finally:
                os._exit(0)
        sys.stdout.write(f"{pid}\n")
        sys.stdout.flush()


if __name__ == "__main__":
    main()
