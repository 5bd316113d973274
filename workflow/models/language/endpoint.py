"""The client of a language model: an OpenAI-compatible server at an address that the owner gives."""

from __future__ import annotations

import ipaddress
import json
import socket
import time
from collections.abc import Callable, Mapping
from datetime import UTC, datetime
from email.utils import parsedate_to_datetime
from typing import Any
from urllib.parse import urlsplit

import httpx2

from workflow.models.language.requests import LanguageModelError

_MOST_BYTES = 4_000_000
"""Bytes of a reply: that of a chat with log-probabilities has less than 100,000."""
_BUSY = frozenset({408, 425, 429, 500, 502, 503, 504, 529})
_OF_REQUEST = frozenset({400, 413, 422})
_SAID = 300
"""Characters of a server's words in a message."""
_LONGEST_WAIT = 7 * 86_400.0
Resolve = Callable[[str, int], list[str]]
"""Returns the addresses of a host and port. Raises OSError."""


class EndpointError(LanguageModelError):
    """The server cannot be used, or refuses every request."""


class RequestRefusedError(LanguageModelError):
    """The server refuses this request; it may accept another."""


class BusyError(ValueError):
    """The server did not answer now. after : seconds that it asks to wait; 0 if it does not say

    charged : whether it may have answered, and count the tokens
    """

    def __init__(self, words: str, after: float = 0.0, *, charged: bool = True) -> None:
        super().__init__(words)
        self.after, self.charged = after, charged


def addresses_of(host: str, port: int) -> list[str]:
    """Return the addresses of a host. Raises OSError."""
    return sorted({str(one[4][0]) for one in socket.getaddrinfo(host, port, type=socket.SOCK_STREAM)})


class ChatEndpoint:
    """An OpenAI-compatible server with one of its models.

    url : base address, such as http://localhost:11434/v1      key : sent as a bearer token, never shown or stored
    seconds : for which a reply is waited for
    hosts : those that the operator allows, *.example.org for all of a domain; None: any
    own : whether addresses of this machine can be used although `hosts` does not list them
    Raises EndpointError for an address that is not an address, not allowed, or link-local.

    Attributes
    ----------
    host : of the address      is_own : whether that is this machine
    """

    def __init__(
        self,
        url: str,
        model: str,
        key: str | None = None,
        *,
        seconds: float = 120.0,
        hosts: tuple[str, ...] | None = None,
        own: bool = True,
        resolve: Resolve = addresses_of,
        clock: Callable[[], float] = time.monotonic,
    ) -> None:
        self.url, self.model, self.seconds = url.strip().rstrip("/"), model, seconds
        self._key, self._clock = key, clock
        self.host, self.is_own = _checked_host(self.url, hosts, resolve, own=own, has_key=key is not None)
        headers = {} if key is None else {"authorization": f"Bearer {key}"}
        self._http = httpx2.Client(headers=headers, timeout=seconds, follow_redirects=False)

    def __repr__(self) -> str:
        return f"ChatEndpoint({self.url!r}, {self.model!r})"

    def close(self) -> None:
        """Close the connections."""
        self._http.close()

    def complete(self, body: Mapping[str, Any]) -> object:
        """Return the JSON of a reply. Raises BusyError, RequestRefusedError, EndpointError."""
        return self._send("POST", "chat/completions", body)

    def models(self) -> list[str]:
        """Return the names of the server's models. Raises EndpointError."""
        try:
            listed = self._send("GET", "models", None)
            return sorted(str(one["id"]) for one in listed["data"])  # type: ignore[index]
        except (BusyError, RequestRefusedError) as error:
            raise EndpointError(f"{error} Fix: check the address.") from error
        except (TypeError, KeyError):
            raise EndpointError(f"{self.host} did not reply with a list of models. Fix: check the address.") from None

    def _send(self, method: str, path: str, body: Mapping[str, Any] | None) -> object:
        begun = self._clock()
        try:
            with self._http.stream(method, f"{self.url}/{path}", json=body) as reply:
                content = b""
                for piece in reply.iter_bytes():
                    content += piece
                    if len(content) > _MOST_BYTES or self._clock() - begun > self.seconds:
                        raise BusyError(f"{self.host} did not end its reply.")
        except httpx2.ConnectError as error:
            raise BusyError(f"{self.host} cannot be reached: {error}", charged=False) from None
        except (httpx2.TransportError, httpx2.DecodingError) as error:
            raise BusyError(f"{self.host} broke the connection or was too slow: {type(error).__name__}.") from None
        self._require_success(reply, content)
        try:
            return json.loads(content)
        except (ValueError, RecursionError):
            raise BusyError(f"{self.host} did not reply in JSON.") from None

    def _require_success(self, reply: httpx2.Response, content: bytes) -> None:
        status = reply.status_code
        if reply.is_success:
            return
        said = content.decode(errors="replace")[: 10 * _SAID]
        if self._key:
            said = said.replace(self._key, "***")
        said = " ".join(said.split())[:_SAID]
        words = f"{self.host} replied with status {status}: {said or reply.reason_phrase}"
        if status in _BUSY:
            raise BusyError(words, _seconds(reply.headers.get("retry-after", "")), charged=status != 429)
        if status in _OF_REQUEST:
            raise RequestRefusedError(words)
        if reply.is_redirect:
            words = f"{self.host} redirects to another address, which is not followed. Fix: give the final address."
        raise EndpointError(words)


def _seconds(wanted: str) -> float:
    """Return the seconds of a Retry-After: a number or a date; 0 if it is neither."""
    if wanted.strip().isdecimal():
        return min(float(wanted), _LONGEST_WAIT)
    try:
        at = parsedate_to_datetime(wanted)
    except (TypeError, ValueError):
        return 0.0
    return min(max(0.0, (at.astimezone(UTC) - datetime.now(UTC)).total_seconds()), _LONGEST_WAIT)


def _checked_host(
    url: str, hosts: tuple[str, ...] | None, resolve: Resolve, *, own: bool, has_key: bool
) -> tuple[str, bool]:
    """Return the host of an address, and whether it is this machine. Raises EndpointError."""
    try:
        at = urlsplit(url)
        host, port = at.hostname or "", at.port or (443 if at.scheme == "https" else 80)
    except ValueError:
        at, host, port = urlsplit(""), "", 0
    if at.scheme not in ("http", "https") or not host or at.username is not None or at.query or at.fragment:
        raise EndpointError(
            "The address of a language model begins with http:// or https://, and contains no name, key or query, "
            "such as http://localhost:11434/v1."
        )
    listed = hosts is not None and any(
        host == one or (one.startswith("*.") and host.endswith(one[1:])) for one in hosts
    )
    if hosts is not None and not listed:
        raise EndpointError(
            "Suggestions by language models are switched off on this machine (WINNOW_SUGGESTIONS=off)."
            if not hosts
            else f"The operator does not allow {host}. Fix: use one of {', '.join(hosts)}, or ask the operator to add "
            "it to WINNOW_SUGGESTIONS."
        )
    try:
        found = [ipaddress.ip_address(one.partition("%")[0]) for one in resolve(host, port)]
    except (OSError, ValueError):
        raise EndpointError(f"There is no host {host}. Fix: check the address.") from None
    plain = [one.ipv4_mapped or one if isinstance(one, ipaddress.IPv6Address) else one for one in found]
    if not listed and any(one.is_link_local or one.is_unspecified or one.is_multicast for one in plain):
        raise EndpointError(
            f"{host} is a link-local address, where machines keep secrets of their own. Fix: use another address; an "
            "operator can allow this one with WINNOW_SUGGESTIONS."
        )
    if not own and not listed and any(one.is_loopback for one in plain):
        raise EndpointError(
            f"{host} is the machine of this server, whose other programs trust each other. Fix: use another address; "
            "an operator can allow this one with WINNOW_SUGGESTIONS."
        )
    if has_key and at.scheme == "http" and any(one.is_global for one in plain):
        raise EndpointError(f"The key would travel to {host} unencrypted. Fix: use https://.")
    return host, all(one.is_loopback for one in plain)
