"""Requests of this process: counted for `/metrics`, and written to the log with the id of each."""

from __future__ import annotations

import logging
import math
import secrets
import time
from bisect import bisect_left
from collections import Counter, deque
from dataclasses import dataclass, field

import streamlit as st
import streamlit.logger
from starlette.types import ASGIApp, Message, Receive, Scope, Send
from streamlit.runtime.scriptrunner import get_script_run_ctx
from uvicorn.config import LOGGING_CONFIG

from workflow.answering import press
from workflow.server import logs
from workflow.server.settings import Settings

logger = logging.getLogger("winnow.access")

REQUEST_HEADER = "x-winnow-request"
"""Header by which pages learn the id of their request; any sent by the client is dropped."""
LONGEST = 300
"""Maximum characters of a path in the log."""
BOUNDS = (0.005, 0.01, 0.025, 0.05, 0.1, 0.15, 0.25, 0.5, 1.0, 2.5, 5.0, 10.0)
"""Upper bounds of the histogram of presses, in seconds."""
RECENT = 1_000
"""Number of latest presses for the quantiles."""
STORED, REFUSED, FAILED = "stored", "refused", "failed"
OUTCOMES = (STORED, REFUSED, FAILED)
_NO_RESPONSE = 500
"""Status that uvicorn or Starlette sends if the application ends without a response."""
_UPGRADED = 101
_POLICY = 403


@dataclass
class Traffic:
    """Counts since the start of the process. Only the event loop changes them, so they need no lock.

    requests : by HTTP status      presses : by outcome      in_bound : presses by the first of `BOUNDS` that they are
    within, the last for longer ones      seconds : of all presses      recent : seconds of the latest presses
    """

    requests: Counter[int] = field(default_factory=Counter)
    presses: Counter[str] = field(default_factory=lambda: Counter(dict.fromkeys(OUTCOMES, 0)))
    in_bound: list[int] = field(default_factory=lambda: [0] * (len(BOUNDS) + 1))
    seconds: float = 0.0
    recent: deque[float] = field(default_factory=lambda: deque(maxlen=RECENT))

    def note(self, status: int, seconds: float, *, is_press: bool) -> None:
        """Count a request that was answered."""
        self.requests[status] += 1
        if is_press:
            self.presses[STORED if status < 400 else REFUSED if status < 500 else FAILED] += 1
            self.in_bound[bisect_left(BOUNDS, seconds)] += 1
            self.seconds += seconds
            self.recent.append(seconds)

    def quantile(self, share: float) -> float | None:
        """Return the seconds within which this share of the recent presses was answered; None before the first."""
        if not self.recent:
            return None
        return sorted(self.recent)[math.ceil(share * len(self.recent)) - 1]


traffic = Traffic()
"""For this process."""


class Observed:
    """ASGI middleware: gives each request an id, counts it when it is answered, and writes the access log if the
    settings want one: address of the client, method, path, status and time.

    Neither query, headers nor body are logged: sign-in links, tokens and cookies are in these. It comes behind
    `TrustedProxies`, so that the address is the client's.
    """

    def __init__(self, app: ASGIApp, settings: Settings) -> None:
        self._app = app
        self._presses = (f"{press.PATH}/", f"{settings.base_path}{press.PATH}/")
        self._logs = settings.access_log

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] == "lifespan":
            await self._app(scope, receive, send)
            return
        exchange = _Exchange(scope)
        number = secrets.token_hex(4)
        logs.request_id.set(number)
        header = REQUEST_HEADER.encode()
        others = [pair for pair in scope["headers"] if pair[0].lower() != header]
        scope = {**scope, "headers": [*others, (header, number.encode())]}

        async def send_observed(message: Message) -> None:
            await send(message)
            if exchange.follow(message):
                self._note(exchange)

        try:
            await self._app(scope, receive, send_observed)
        except BaseException:
            exchange.status = exchange.status or _NO_RESPONSE
            raise
        finally:
            if not exchange.noted:  # a websocket, or a response that was never complete
                self._note(exchange)

    def _note(self, exchange: _Exchange) -> None:
        exchange.noted = True
        seconds, status = time.perf_counter() - exchange.begun, exchange.status or _NO_RESPONSE
        is_press = exchange.method == "POST" and exchange.path.startswith(self._presses)
        traffic.note(status, seconds, is_press=is_press)
        if self._logs:
            fields = {
                "client": exchange.client,
                "method": exchange.method,
                "path": exchange.path,
                "status": status,
                "milliseconds": round(1000 * seconds, 1),
            }
            logger.info(
                "%(client)s %(method)s %(path)s %(status)d %(milliseconds)s ms", fields, extra={"fields": fields}
            )


class _Exchange:
    """A request and the course of its response. status : 0 before it is known"""

    def __init__(self, scope: Scope) -> None:
        self.begun = time.perf_counter()
        self.method: str = scope.get("method", "WEBSOCKET")
        raw: bytes = scope.get("raw_path") or scope["path"].encode()  # without the query
        self.path = raw[:LONGEST].decode("ascii", "backslashreplace")
        self.client: str = (scope.get("client") or ("-",))[0]
        self.status = 0
        self.noted = False

    def follow(self, message: Message) -> bool:
        """Take note of a message to the client; return whether it ends the response of an HTTP request. What the
        application does afterwards, such as preparing the next question, is not counted."""
        kind = message["type"]
        if kind in ("http.response.start", "websocket.http.response.start"):
            self.status = message["status"]
        elif kind == "websocket.accept":
            self.status = _UPGRADED
        elif kind == "websocket.close":
            self.status = self.status or _POLICY
        return kind == "http.response.body" and not message.get("more_body", False)


def log_as_set(settings: Settings) -> None:
    """Write the log of this process as the settings want it, what Streamlit and uvicorn log included."""
    streamlit.logger.setup_formatter = _without_handler
    # Else uvicorn gives its loggers handlers. Our own lines report start and stop; uvicorn's lines about websockets
    # have the query, which may be a sign-in link.
    levels = {name: {"level": "WARNING"} for name in ("uvicorn", "uvicorn.error")}
    LOGGING_CONFIG["loggers"] = levels
    for name in levels:
        logging.getLogger(name).setLevel(logging.WARNING)
    logs.set_up(settings, "server", _request_of)


def _without_handler(logger: logging.Logger) -> None:
    """Replace Streamlit's own function, which gives each of its loggers, whenever it is made, a handler of its own."""
    logger.handlers.clear()
    logger.propagate = True


def _request_of() -> str:
    """Return the id of the request for which this thread works; of a page's script, that of its websocket."""
    number = logs.request_id.get()
    if number or get_script_run_ctx(suppress_warning=True) is None:
        return number
    return st.context.headers.get(REQUEST_HEADER, "")
