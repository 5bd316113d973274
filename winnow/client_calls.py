"""How the client of a server makes its calls: where to, as whom, and how long it goes on."""

from __future__ import annotations

import time
from collections.abc import Callable
from typing import TypeVar

import httpx2

from winnow.client_values import WinnowError

Made = TypeVar("Made")

PATIENCE = 60.0
"""Seconds for which a call waits in all, where nobody says more, to be made again: a server is started anew in them,
and a minute in which too many calls were made is over."""
_FIRST_PAUSE, _LONGEST_PAUSE = 0.5, 30.0
"""Seconds before a call is made for the second time, and the longest; each pause is twice the one before, or what the
server asks for."""
_PASSES = frozenset({429, 502, 503, 504})
"""What passes by itself: the server is busy, or is started again."""


def address_of(url: str) -> str:
    """The address without its last slash. Raises ValueError where it is none."""
    if not url.strip().lower().startswith(("http://", "https://")):
        raise ValueError(
            f"An address begins with http:// or https://. Got {url!r:.80}. Fix: as people open it."
        )
    return url.strip().rstrip("/")


def secret_of(token: str) -> str:
    """The token, without what stands around it in a file. Raises ValueError without it, where it is none."""
    token = token.strip()
    if not token or not all("!" <= one <= "~" for one in token):
        raise ValueError(
            "A token is one word of letters, digits, - and _; this is none. Fix: make one on the page My account."
        )
    return token


def persevering(once: Callable[[], Made], patience: float) -> Made:
    """What a call gives, made again while what hinders it passes by itself. Raises WinnowError.

    patience : seconds that all pauses in between may take
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
    """What a reply that is no success says."""
    try:
        words = str(reply.json()["detail"])
    except (ValueError, KeyError, TypeError):
        words = reply.text[:200] or reply.reason_phrase
    asked = reply.headers.get("retry-after", "")
    return WinnowError(reply.status_code, words, float(asked) if asked.isdecimal() else 0.0)
