"""The connection of a client to a Winnow server: retries, files, lines, progress."""

from __future__ import annotations

import json
import sys
import time
from collections.abc import Callable, Iterable, Iterator
from pathlib import Path
from types import TracebackType
from typing import Any, BinaryIO, Self

import httpx2

from winnow_labels.replies import Made, WinnowError

PATIENCE = 60.0
"""Seconds for which a call is retried in all by default: enough for a restart of the server, or for a rate
limit of a minute to pass."""
_FIRST_PAUSE, _LONGEST_PAUSE = 0.5, 30.0
"""Seconds before the first retry, and the longest pause; each pause is twice the previous one, or what the
server requests."""
_PASSES = frozenset({429, 502, 503, 504})
"""Temporary errors: the server is busy, or restarts."""


def address_of(url: str) -> str:
    """Return the address without its last slash. Raises ValueError if it is invalid."""
    if not url.strip().lower().startswith(("http://", "https://")):
        raise ValueError(
            f"An address begins with http:// or https://. Got {url!r:.80}. Fix: give the address that people open."
        )
    return url.strip().rstrip("/")


def secret_of(token: str) -> str:
    """Return the token without surrounding whitespace. Raises ValueError if it is missing or invalid."""
    token = token.strip()
    if not token or not all("!" <= one <= "~" for one in token):
        raise ValueError(
            "A token is one word of letters, digits, - and _; this is not one. Fix: create one on the page My account."
        )
    return token


def persevering(once: Callable[[], Made], patience: float) -> Made:
    """Return the result of a call, retried while the problem is temporary. Raises WinnowError.

    patience : maximum seconds of all pauses together
    """
    pause = _FIRST_PAUSE
    while True:
        try:
            return once()
        except httpx2.TransportError as error:
            refusal, least = WinnowError(0, f"The server did not answer: {error}"), 0.0
            refusal.__cause__ = error
        except WinnowError as refused:
            if refused.status not in _PASSES:
                raise
            refusal, least = refused, refused.again
        if patience <= 0:
            raise refusal
        slept = min(max(pause, least), patience)
        time.sleep(slept)
        patience -= slept
        pause = min(2 * pause, _LONGEST_PAUSE)


def refusal_of(reply: httpx2.Response) -> WinnowError:
    """Return the error of a failed reply."""
    try:
        words = str(reply.json()["detail"])
    except (ValueError, KeyError, TypeError):
        words = reply.text[:200] or reply.reason_phrase
    asked = reply.headers.get("retry-after", "")
    return WinnowError(reply.status_code, words, float(asked) if asked.isdecimal() else 0.0)


PIECE = 1 << 20
"""Bytes of a file sent at a time."""
_QUIET_FOR = 1.0
"""Seconds after which a call says how far it is: shorter ones say nothing."""


class ProgressLine:
    """A line on standard error that says how far a call is.

    words : what is done      shown : None: if someone watches, in a terminal or a notebook
    """

    def __init__(self, words: str, shown: bool | None) -> None:
        self._words, self._begun, self._said = words, time.monotonic(), False
        self._shown = sys.stderr.isatty() or "ipykernel" in sys.modules if shown is None else shown

    def __call__(self, done: int, total: int) -> None:
        if self._shown and total and time.monotonic() - self._begun >= _QUIET_FOR:
            self._said = True
            line = f"{self._words}: {done / total:.0%} ({done:,} of {total:,})"
            print(f"\r{line:<79}", end="", file=sys.stderr, flush=True)  # noqa: T201 - for the person who waits

    def end(self) -> None:
        """Leave the line unchanged."""
        if self._said:
            print(file=sys.stderr)  # noqa: T201


class WinnowConnection:
    """A connection to a Winnow server, as the person of a token.

    url : its address in a browser      seconds : to wait for a reply
    patience : maximum seconds to keep retrying repeatable calls if a connection breaks, or the server is busy
    or restarts; 0: no retries
    progress : whether long calls say how far they are; None: in terminals and notebooks
    transport : how requests are sent; None: httpx2's default
    Raises ValueError if address or token is invalid.
    """

    def __init__(
        self,
        url: str,
        token: str,
        *,
        seconds: float = 60.0,
        patience: float = PATIENCE,
        progress: bool | None = None,
        transport: httpx2.BaseTransport | None = None,
    ) -> None:
        self._patience, self._shown = patience, progress
        self._http = httpx2.Client(
            base_url=f"{address_of(url)}/api/v1",
            headers={"authorization": f"Bearer {secret_of(token)}"},
            timeout=seconds,
            transport=transport,
        )

    def __repr__(self) -> str:
        return f"{type(self).__name__}({str(self._http.base_url).removesuffix('/api/v1/')!r})"

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: type[BaseException] | BaseException | TracebackType | None) -> None:
        self.close()

    def close(self) -> None:
        """Close the connections."""
        self._http.close()

    def ask(self, method: str, path: str, *, again: bool = True, **options: Any) -> Any:
        """Return the JSON of a reply; None if it has no body. Raises WinnowError.

        again : it may be retried if there is no reply
        """

        def once() -> Any:
            reply = self._http.request(method, path, **options)
            if not reply.is_success:
                raise refusal_of(reply)
            if not reply.content:
                return None
            try:
                return reply.json()
            except ValueError as error:
                raise WinnowError(
                    reply.status_code, f"{reply.url} is not a Winnow server: it did not return JSON."
                ) from error

        return persevering(once, self._patience if again else 0.0)

    def progress(self, words: str) -> ProgressLine:
        """Return the progress of a call."""
        return ProgressLine(words, self._shown)

    def upload(self, path: Path) -> str:
        """Send a file; return the key that names it. Raises WinnowError, OSError."""
        size, tell = path.stat().st_size, self.progress(f"Sending {path.name}")
        with path.open("rb") as body:
            found = self.ask(
                "POST",
                "/uploads",
                again=False,
                params={"name": path.name},
                content=_pieces(body, lambda done: tell(done, size)),
                headers={"content-type": "application/octet-stream", "content-length": str(size)},
            )
        tell.end()
        return str(found["key"])

    def lines(self, path: str) -> Iterator[dict[str, Any]]:
        """Yield the JSON of each line of a reply that begins with line `start`; if the connection breaks, the rest
        of a new one. Raises WinnowError."""
        start = 0

        def once() -> httpx2.Response:
            asked = self._http.build_request("GET", path, params={"start": start})
            reply = self._http.send(asked, stream=True)
            if not reply.is_success:
                reply.read()
                raise refusal_of(reply)
            return reply

        while True:
            reply, begun = persevering(once, self._patience), start
            try:
                for line in _lines_of(reply.iter_bytes()):
                    yield json.loads(line)
                    start += 1
            except httpx2.TransportError as error:
                if start == begun:
                    raise WinnowError(0, f"The connection broke again: {error}") from error
            else:
                return
            finally:
                reply.close()

    def fetch(self, path: str, target: Path, **options: Any) -> None:
        """Write a reply to a file: all of it or nothing. Raises WinnowError, OSError."""
        aside = target.with_name(f".{target.name}.part")

        def once() -> None:
            with self._http.stream("GET", path, **options) as reply:
                if not reply.is_success:
                    reply.read()
                    raise refusal_of(reply)
                with aside.open("wb") as file:
                    for piece in reply.iter_bytes():
                        file.write(piece)

        try:
            persevering(once, self._patience)
            aside.replace(target)
        finally:
            aside.unlink(missing_ok=True)


def _pieces(body: BinaryIO, tell: Callable[[int], None]) -> Iterator[bytes]:
    done = 0
    while piece := body.read(PIECE):
        yield piece
        done += len(piece)
        tell(done)


def _lines_of(pieces: Iterable[bytes]) -> Iterator[bytes]:
    """Yield lines, each of which ends in a line feed; other marks may be inside of JSON texts."""
    left = b""
    for piece in pieces:
        *whole, left = (left + piece).split(b"\n")
        yield from whole
