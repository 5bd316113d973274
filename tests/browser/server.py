"""A Winnow server for a test, with its own folder, port and process, which a test may kill."""

from __future__ import annotations

import os
import queue
import re
import signal
import socket
import subprocess
import sys
import threading
import time
from collections.abc import Mapping
from pathlib import Path

from tests.browser.loaded import Forked
from tests.conftest import ROOT
from workflow.server.settings import Settings

START = [sys.executable, "app.py"]
"""The command of `make run`."""
LINK = re.compile(r"https?://\S+/signin\?link=\S+")


def free_port() -> int:
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return int(probe.getsockname()[1])


class Server:
    """Start with ``start()``; ``link`` is the sign-in link it printed.

    command : command that starts it; None: forked from a process that has loaded the app, which takes a quarter of the
        time
    cwd : the folder the command is started in      more : further variables of its environment
    """

    def __init__(
        self,
        home: Path,
        port: int | None = None,
        command: list[str] | None = None,
        cwd: Path = ROOT,
        more: Mapping[str, str] | None = None,
    ) -> None:
        self.home = home
        self.cwd = cwd
        self.port = port or free_port()
        self.command = command
        self.base = f"http://127.0.0.1:{self.port}"
        own = {"WINNOW_HOME": str(self.home), "WINNOW_PORT": str(self.port)}
        self.environment = {**os.environ, "WINNOW_DATABASE_URL": "", **own, **(more or {})}
        self.database_url = Settings.from_environment(self.environment).database_url
        self.lines: list[str] = []
        self.link = ""
        self.process: subprocess.Popen[str] | Forked | None = None

    def start(self, timeout: float = 240) -> Server:
        """Returns once the link is printed."""
        self.process = self._begin()
        found: queue.Queue[str] = queue.Queue()
        self._reader = threading.Thread(target=self._read, args=(self.process, found), daemon=True)
        self._reader.start()
        try:
            self.link = found.get(timeout=timeout)
        except queue.Empty:
            self.stop()
            raise AssertionError("no sign-in link was printed:\n" + "\n".join(self.lines)) from None
        return self

    def _begin(self) -> subprocess.Popen[str] | Forked:
        if self.command is None:
            return Forked(self.environment)
        return subprocess.Popen(
            self.command,
            cwd=self.cwd,
            env=self.environment,
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            text=True,
            start_new_session=True,
        )

    def _read(self, process: subprocess.Popen[str] | Forked, found: queue.Queue[str]) -> None:
        assert process.stdout is not None
        with process.stdout:
            for line in process.stdout:
                self.lines.append(line.rstrip())
                if match := LINK.search(line):
                    found.put(match.group())

    def kill(self) -> None:
        """kill -9: nothing in the process can clean up."""
        assert self.process is not None
        os.killpg(self.process.pid, signal.SIGKILL)
        self.process.wait(timeout=60)
        self._reader.join(timeout=60)

    def stop(self) -> int | None:
        """SIGTERM, like a service manager. Returns the exit status."""
        if self.process is None or self.process.poll() is not None:
            return self.process.returncode if self.process else None
        self.process.terminate()
        deadline = time.monotonic() + 60
        while self.process.poll() is None and time.monotonic() < deadline:
            time.sleep(0.05)
        if self.process.poll() is None:
            self.kill()
        self._reader.join(timeout=60)
        return self.process.returncode
