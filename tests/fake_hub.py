"""A hub on 127.0.0.1 that `huggingface_hub` takes for the real one: correct, wrong, cut off, busy, slow, or empty."""

from __future__ import annotations

import hashlib
import threading
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any


class FakeHub:
    """Number of requests for its files.

    files : content by path, `owner/name/revision/file`
    status : with which it answers everything, if it is not 200      after : value of Retry-After
    cut : whether each answer ends half-way      gate : second half of a file comes when it is set, None: at once
    size : what it says of each file's size, None: the right one      asked : method and path of each request
    headers : of the last request
    """

    def __init__(self, files: Mapping[str, bytes]) -> None:
        self.files = dict(files)
        self.status = 200
        self.after: str | None = None
        self.cut = False
        self.gate: threading.Event | None = None
        self.size: int | None = None
        self.asked: list[tuple[str, str]] = []
        self.headers: Mapping[str, str] = {}
        self.address = ""
        self.close: Callable[[], None] = lambda: None
        """Ends the server: from then on no one listens there."""


@contextmanager
def serving(hub: FakeHub) -> Iterator[FakeHub]:
    """Serve it from a thread, at the address in `address`."""

    class Handler(BaseHTTPRequestHandler):
        protocol_version = "HTTP/1.1"

        def do_HEAD(self) -> None:
            self._answer(body=False)

        def do_GET(self) -> None:
            self._answer(body=True)

        def _answer(self, *, body: bool) -> None:
            hub.asked.append((self.command, self.path))
            hub.headers = dict(self.headers)
            owner, name, _, revision, *rest = self.path.strip("/").split("/")
            data = hub.files.get("/".join((owner, name, revision, *rest)))
            status = 404 if data is None and hub.status == 200 else hub.status
            if status != 200 or data is None:
                self.send_response(status)
                if status == 404:
                    self.send_header("X-Error-Code", "EntryNotFound")
                if hub.after is not None:
                    self.send_header("Retry-After", hub.after)
                self.send_header("Content-Length", "0")
                self.end_headers()
                return
            self.send_response(200)
            self.send_header("ETag", f'"{hashlib.sha256(data).hexdigest()}"')
            self.send_header("X-Repo-Commit", revision)
            self.send_header("Content-Length", str(len(data) if hub.size is None or body else hub.size))
            self.end_headers()
            if body:
                self._send(data)

        def _send(self, data: bytes) -> None:
            half = len(data) // 2
            self.wfile.write(data[:half])
            self.wfile.flush()
            if hub.cut:
                self.close_connection = True
                return
            if hub.gate is not None:
                hub.gate.wait()
            self.wfile.write(data[half:])

        def log_message(self, *_: Any) -> None:
            """Say nothing."""

    class Server(ThreadingHTTPServer):
        daemon_threads = True

        def handle_error(self, *_: Any) -> None:
            """Ignore a client that disconnects in the middle."""

    server = Server(("127.0.0.1", 0), Handler)
    hub.address = f"http://127.0.0.1:{server.server_port}"
    thread = threading.Thread(target=server.serve_forever, args=(0.02,))
    thread.start()
    hub.close = server.server_close
    try:
        yield hub
    finally:
        if hub.gate is not None:
            hub.gate.set()
        server.shutdown()
        server.server_close()
        thread.join()
