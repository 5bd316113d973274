"""A proxy between Winnow and PostgreSQL that cuts the connection during a commit, before or after the server receives
it."""

from __future__ import annotations

import select
import shutil
import socket
import tempfile
import threading
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path

from sqlalchemy import make_url

BEGIN, COMMIT = b"BEGIN ISOLATION", b"\0\0\0\x0bCOMMIT\0"
READS, PASSES = b"READ ONLY", b"synchronous_commit = off"
"""Messages after the first from clients that only read, or do not wait for the disk."""


class Proxy:
    """A proxy. url : leads through it

    cuts : "before" the server receives the next durable commit, "after" it has replied, or never (None); then
        everything continues
    closed : whether it refuses new connections after the cut
    """

    def __init__(self, url: str) -> None:
        self._there = Path(str(make_url(url).query["host"])) / ".s.PGSQL.5432"
        self.folder = Path(tempfile.mkdtemp(prefix="winnow-pp-"))  # short: a socket's path has 100 characters
        self.url = url.partition("?")[0] + f"?host={self.folder}"
        self.cuts: str | None = None
        self.closed = False
        self.times = 0
        self._listener = socket.socket(socket.AF_UNIX)
        self._listener.bind(str(self.folder / self._there.name))
        self._listener.listen(50)
        threading.Thread(target=self._take, daemon=True).start()

    def _take(self) -> None:
        with suppress(OSError):  # the connection is closed
            while True:
                mine, _ = self._listener.accept()
                if self.closed and self.times:
                    mine.close()
                    continue
                threading.Thread(target=self._pass_on, args=(mine,), daemon=True).start()

    def _pass_on(self, mine: socket.socket) -> None:
        with mine, socket.socket(socket.AF_UNIX) as server, suppress(OSError):
            server.connect(str(self._there))
            lasts = False
            while True:
                ready, _, _ = select.select([mine, server], [], [])
                for one, other in ((mine, server), (server, mine)):
                    if one not in ready:
                        continue
                    if not (data := one.recv(1 << 16)):
                        return
                    if one is mine and BEGIN in data:
                        lasts = READS not in data
                    lasts = lasts and PASSES not in data
                    how = self.cuts if one is mine and lasts and COMMIT in data else None
                    if how is not None:
                        self.cuts = None
                        self.times += 1
                        if how == "after":
                            server.sendall(data)
                            server.recv(1 << 16)
                        return
                    other.sendall(data)

    def close(self) -> None:
        self._listener.close()
        shutil.rmtree(self.folder)


@contextmanager
def proxied(url: str) -> Iterator[Proxy]:
    proxy = Proxy(url)
    try:
        yield proxy
    finally:
        proxy.close()
