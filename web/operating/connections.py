"""Limits for connections, so that many open ones do not lock others out.

Uvicorn accepts every connection and waits indefinitely for its request. By systemd's default a process may
open 1,024 files, so that a thousand idle sockets would exhaust them.
"""

from __future__ import annotations

import asyncio
import gc
import logging
import re
import time
from collections import Counter, defaultdict
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

import h11
from starlette.types import ASGIApp, Message, Receive, Scope, Send
from uvicorn.lifespan.on import LifespanOn
from uvicorn.protocols.http.h11_impl import H11Protocol

from workflow.server.running import most_files, most_pages

WHOLE_WITHIN = 20.0
"""Seconds within which the head of a request must be complete, from the start of the connection or the
previous reply."""
SILENCE = 90.0
"""Seconds without further bytes of a body before the request is dropped. Routes that read a body answer
earlier with a message; this is for bodies that no one reads, and for replies that the client does not
accept."""
SLOWEST = 500.0
"""Minimum bytes a second at which a client must accept a pending reply."""
PAGES_A_PERSON = 20
"""Maximum websockets of one person at once."""
AT_ONCE, A_SECOND = 100, 10.0
"""Messages of all pages of one person that are read at once, and how many a second after that. A page runs its script
for each, and thousands a second would leave no time for anyone else."""
WAITING = 1_000
"""Maximum connections that wait for a request; beyond these the longest waiting one is closed."""
SAID_EVERY = 60.0
"""Seconds between two identical lines of the log."""
COLLECTED_EVERY = 32
"""Closed pages between two garbage collections. Streamlit keeps the last 128 sessions for people who return;
others hold three descriptors each until they are collected."""

logger = logging.getLogger("winnow")
_FOLDED = re.compile(rb"\n[ \t]")
_END_OF_HEAD = re.compile(rb"\n\r?\n")


class Strict(h11.Connection):
    """A connection that refuses requests that two programs may interpret differently: a folded header line,
    and a length together with chunks (RFC 9112, sections 5.2 and 6.1)."""

    def next_event(self) -> Any:
        """Return h11's next event. Raises h11.RemoteProtocolError."""
        if self.their_state is h11.IDLE and _FOLDED.search(_END_OF_HEAD.split(self.trailing_data[0], 1)[0]):
            raise h11.RemoteProtocolError("a folded line")
        event = super().next_event()
        if isinstance(event, h11.Request):
            names = {name for name, _ in event.headers}
            if {b"content-length", b"transfer-encoding"} <= names:
                raise h11.RemoteProtocolError("Content-Length next to Transfer-Encoding")
        return event


class TimedConnection(H11Protocol):
    """Uvicorn's connection, closed if its request is not complete in time, its reply is not accepted, or
    others need its place."""

    def __init__(self, *given: Any, **more: Any) -> None:
        super().__init__(*given, **more)
        self.conn = Strict(h11.SERVER)
        self._timer: asyncio.TimerHandle | None = None
        self._left = 0  # unsent bytes of replies when the timer was set

    def connection_made(self, transport: asyncio.Transport) -> None:  # type: ignore[override]  # as uvicorn's
        """Wait for the first request. If there are too many, close the longest waiting connection; if none
        waits, this one."""
        super().connection_made(transport)
        self._look()
        while len(_waiting) > min(WAITING, most_files() // 4):
            longest = next(iter(_waiting))
            longest._go_on()
            longest.transport.abort()
            self.connections.discard(longest)  # asyncio would do it a moment later, when more may have come
        if len(self.connections) > most_files() // 2:
            transport.abort()

    def connection_lost(self, exc: Exception | None) -> None:
        """Stop all timers."""
        self._go_on()
        super().connection_lost(exc)

    def handle_events(self) -> None:
        """Process what has arrived, and wait for what is missing."""
        super().handle_events()
        self._look()

    def on_response_complete(self) -> None:
        """Wait for the next request."""
        super().on_response_complete()
        self._look()

    def pause_writing(self) -> None:
        """Wait until the client accepts the reply."""
        super().pause_writing()
        self._look()

    def resume_writing(self) -> None:
        """Continue sending."""
        super().resume_writing()
        self._look()

    def _look(self) -> None:
        if self.transport.get_protocol() is not self:  # it has become a websocket
            self._go_on()
        elif self.cycle is None or self.cycle.response_complete:  # also if it closes after its reply was accepted
            if self not in _waiting:
                self._go_on()
                _waiting[self] = None
                self._end_after(WHOLE_WITHIN)
        else:
            self._go_on()
            if self.cycle.more_body or self.flow.write_paused:
                self._end_after(SILENCE)

    def _end_after(self, seconds: float) -> None:
        self._left = self.transport.get_write_buffer_size()
        self._timer = self.loop.call_later(seconds, self._give_up, seconds)

    def _give_up(self, seconds: float) -> None:
        takes = self._left - self.transport.get_write_buffer_size() >= SLOWEST * seconds
        waits_for_us = self.flow.read_paused and not self.flow.write_paused and self not in _waiting
        if takes or waits_for_us:
            self._end_after(seconds)
        else:
            self.transport.abort()

    def _go_on(self) -> None:
        _waiting.pop(self, None)
        if self._timer is not None:
            self._timer.cancel()
            self._timer = None


_waiting: dict[TimedConnection, None] = {}
"""Connections of this process whose request has not arrived, longest waiting first."""


class OwnConnections:
    """ASGI middleware: at the server's start, makes uvicorn use `TimedConnection` and omit its name from
    replies.

    Streamlit creates uvicorn's configuration and has no option for either, so it is reached through the
    lifespan event, the only exchange between uvicorn and the application before the first connection.
    """

    def __init__(self, app: ASGIApp) -> None:
        self._app = app

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        begun_by = getattr(receive, "__self__", None)
        if scope["type"] == "lifespan" and isinstance(begun_by, LifespanOn):
            config = begun_by.config
            config.http_protocol_class = TimedConnection
            config.encoded_headers = [pair for pair in config.encoded_headers if pair[0] != b"server"]
            asyncio.get_running_loop().set_exception_handler(SaidOnce().say)
        await self._app(scope, receive, send)


class SaidOnce:
    """Logs one line a minute if no connection can be accepted; asyncio would log a traceback for each, up to
    2,048 at a time.

    asyncio itself waits a second before it accepts again.
    """

    def __init__(self) -> None:
        self._said = -SAID_EVERY

    def say(self, loop: asyncio.AbstractEventLoop, context: dict[str, Any]) -> None:
        """Log an error of an event loop; used as its exception handler."""
        if not str(context.get("message")).startswith("socket.accept()"):
            loop.default_exception_handler(context)
        elif time.monotonic() - self._said >= SAID_EVERY:
            self._said = time.monotonic()
            logger.error(
                "No connection can be accepted: %s. Fix: raise the limit of open files (LimitNOFILE= in the unit; "
                "winnow doctor shows it).",
                context.get("exception"),
            )


class MessagePace:
    """The pace at which messages of one person's pages are read. The others stay on the connection, and with the
    sender."""

    def __init__(self) -> None:
        self._read_until = 0.0

    def keep(self, receive: Receive) -> Receive:
        """Return `receive` at this pace."""

        async def receive_paced() -> Message:
            message = await receive()
            if message["type"] == "websocket.receive":
                now = time.monotonic()
                self._read_until = max(self._read_until, now - AT_ONCE / A_SECOND) + 1 / A_SECOND
                if self._read_until > now:
                    await asyncio.sleep(self._read_until - now)
            return message

        return receive_paced


class OpenPages:
    """The open websockets, by the person whose page it is."""

    def __init__(self) -> None:
        self._of: Counter[int] = Counter()
        self._paces: defaultdict[int, MessagePace] = defaultdict(MessagePace)
        self._closed = 0

    @property
    def total(self) -> int:
        """Pages of all people."""
        return self._of.total()

    def may_open(self, person_id: int) -> bool:
        """Return whether this person may open another page."""
        return self._of[person_id] < PAGES_A_PERSON and self.total < most_pages()

    @contextmanager
    def opened(self, person_id: int) -> Iterator[MessagePace]:
        """Count a page for the duration of the block; yields the pace of its person's pages."""
        self._of[person_id] += 1
        try:
            yield self._paces[person_id]
        finally:
            self._of[person_id] -= 1
            if not self._of[person_id]:
                del self._of[person_id], self._paces[person_id]
            self._closed += 1
            if self._closed % COLLECTED_EVERY == 0:
                gc.collect()


open_pages = OpenPages()
"""For this process."""
