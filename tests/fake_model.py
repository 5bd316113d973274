"""A language model on 127.0.0.1 behind `/v1/chat/completions`: good, wrong, refusing, busy, slow, or cut off."""

from __future__ import annotations

import json
import re
import sys
import threading
from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any


def labels(*pairs: tuple[int, object]) -> str:
    """The text of a reply that lists these numbers and weights."""
    return json.dumps({"labels": [{"number": number, "weight": weight} for number, weight in pairs]})


def logprobs(content: str, tops: dict[str, float]) -> dict[str, Any]:
    """The log-probabilities of a reply: a token a character but for numbers, and `tops` at every number."""
    tokens = re.findall(r"\d+|\D", content)
    listed = [{"token": token, "logprob": log} for token, log in tops.items()]
    return {"content": [{"token": one, "logprob": tops.get(one, -9.0), "top_logprobs": listed} for one in tokens]}


class FakeModel:
    """A model whose reply is `reply(numbers, text)`; numbers : {class: number in the prompt}.

    faults : (status, headers, body) that answer the next requests instead, None for a good reply; body None: cut off
    takes : options of a request that the server knows; others get 400      has_logprobs : whether it sends them
    usage : tokens it reports, None: none      asked : texts, in the order of their requests
    bodies, headers : of the requests      gate : called before each reply
    """

    def __init__(self, reply: Callable[[dict[str, int], str], str]) -> None:
        self.reply = reply
        self.faults: list[tuple[int, dict[str, str], str | None] | None] = []
        self.takes = {"response_format", "logprobs"}
        self.tops: Callable[[dict[str, int], str], dict[str, float]] | None = None
        self.usage: tuple[int, int] | None = (100, 20)
        self.asked: list[str] = []
        self.bodies: list[dict[str, Any]] = []
        self.headers: list[dict[str, str]] = []
        self.gate: Callable[[], None] = lambda: None
        self.url = ""
        self._lock = threading.Lock()

    def counts(self) -> Counter[str]:
        """How often each text was answered."""
        return Counter(self.asked)

    def answer(self, body: dict[str, Any], headers: dict[str, str]) -> tuple[int, dict[str, str], str | None]:
        """Status, headers and body of a reply."""
        with self._lock:
            self.bodies.append(body)
            self.headers.append(headers)
            fault = self.faults.pop(0) if self.faults else None
        self.gate()
        if fault is not None:
            return fault
        if {"response_format", "logprobs"} & set(body) - self.takes:
            return 400, {}, '{"error": {"message": "unknown option"}}'
        system, text = (one["content"] for one in body["messages"])
        numbers = {name: int(number) for number, name in re.findall(r"^(\d+): (.*)$", system, re.M)}
        content = self.reply(numbers, text)
        choice: dict[str, Any] = {"message": {"role": "assistant", "content": content}, "finish_reason": "stop"}
        if self.tops is not None and "logprobs" in body:
            choice["logprobs"] = logprobs(content, self.tops(numbers, text))
        said: dict[str, Any] = {"choices": [choice]}
        if self.usage is not None:
            said["usage"] = dict(zip(("prompt_tokens", "completion_tokens"), self.usage, strict=True))
        with self._lock:
            self.asked.append(text)
        return 200, {}, json.dumps(said)


def knows(truth: dict[str, Sequence[str]]) -> Callable[[dict[str, int], str], str]:
    """A model that lists these classes of a text, with weights 60, 30, 10."""

    def reply(numbers: dict[str, int], text: str) -> str:
        return labels(*zip((numbers[name] for name in truth[text]), (60, 30, 10), strict=False))

    return reply


@contextmanager
def serving_model(model: FakeModel) -> Iterator[FakeModel]:
    """Serve it from a thread, at the address in `url`."""

    class Handler(BaseHTTPRequestHandler):
        protocol_version = "HTTP/1.1"
        wbufsize = -1  # headers and body in one packet: otherwise each reply takes 40 ms

        def do_GET(self) -> None:
            content = json.dumps({"data": [{"id": "other"}, {"id": "m"}]}).encode()
            self.send_response(200)
            self.send_header("Content-Length", str(len(content)))
            self.end_headers()
            self.wfile.write(content)

        def do_POST(self) -> None:
            body = json.loads(self.rfile.read(int(self.headers["content-length"])))
            status, headers, said = model.answer(body, {key.lower(): value for key, value in self.headers.items()})
            content = b"" if said is None else said.encode()
            self.send_response(status)
            for name, value in headers.items():
                self.send_header(name, value)
            self.send_header("Content-Length", str(len(content) if said is not None else 100))
            self.end_headers()
            self.wfile.write(content if said is not None else b'{"choices"')
            if said is None:
                self.close_connection = True

        def log_message(self, *args: object) -> None:
            pass

    class Server(ThreadingHTTPServer):
        daemon_threads = True

        def handle_error(self, *_: object) -> None:
            if not isinstance(sys.exception(), (ConnectionError, ValueError)):  # a client that was killed
                super().handle_error(*_)

    server = Server(("127.0.0.1", 0), Handler)
    model.url = f"http://127.0.0.1:{server.server_address[1]}/v1"
    thread = threading.Thread(target=server.serve_forever, kwargs={"poll_interval": 0.01})
    thread.start()
    try:
        yield model
    finally:
        server.shutdown()
        server.server_close()
        thread.join()
