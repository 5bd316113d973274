"""Rate limits: passwords by name and by address, links by address, clicks and API calls by person, and lines that
strangers cause in the audit.

Counted in the memory of this process: a restart resets the counts, and a second server process has its own
(docs/nginx.md has the figures).
"""

from __future__ import annotations

import ipaddress
import math
import time

from limits import RateLimitItemPerMinute
from limits.storage import MemoryStorage
from limits.strategies import FixedWindowRateLimiter, MovingWindowRateLimiter

PER_NAME = RateLimitItemPerMinute(5, 5)
PER_ADDRESS = RateLimitItemPerMinute(30, 5)
LINKS_PER_ADDRESS = RateLimitItemPerMinute(60, 5)
PRESSES_PER_PERSON = RateLimitItemPerMinute(1200, 1)
CALLS_PER_PERSON = RateLimitItemPerMinute(6000, 1)
NOTED_PER_ADDRESS = RateLimitItemPerMinute(20, 60)
NOTED = RateLimitItemPerMinute(500, 60)
LONGEST = 200
"""Characters of a name used in the counts, because strangers may type anything."""
MINUTES = 5
"""Minutes after which a name or an address may try again, at the latest."""


class Attempts:
    """Counts of recent attempts. Of many simultaneous ones, no more than the limit pass."""

    def __init__(self) -> None:
        self._storage = MemoryStorage()
        self._limiter = MovingWindowRateLimiter(self._storage)
        self._rough = FixedWindowRateLimiter(self._storage)  # stores a number, not every time

    def may_try(self, name: str, address: str) -> bool:
        """Count an attempt with this name from this address; False if either has tried too often.

        Unknown names count like known ones, so a limit does not reveal whether a name exists.
        """
        # The address first: a client over its limit does not use up the attempts of other people's names.
        return self._limiter.hit(PER_ADDRESS, "address", network(address)) and self._limiter.hit(
            PER_NAME, "name", folded(name)
        )

    def must_wait(self, name: str, address: str) -> int:
        """Return the seconds until an attempt with this name from this address would pass; 0: at once."""
        limits = ((PER_ADDRESS, "address", network(address)), (PER_NAME, "name", folded(name)))
        return max(self._until(*limit) for limit in limits)

    def must_wait_for_links(self, address: str) -> int:
        """Return the seconds until this address may use a link again, after too many invalid ones; 0: at once.

        Valid links do not count: a hundred students may sign in from one address.
        """
        return self._until(LINKS_PER_ADDRESS, "links", network(address))

    def link_failed(self, address: str) -> None:
        """Count an invalid link from this address."""
        self._limiter.hit(LINKS_PER_ADDRESS, "links", network(address))

    def may_press(self, person_id: int) -> bool:
        """Count a click of this person; False above 1,200 a minute, more than anyone can click."""
        return self._rough.hit(PRESSES_PER_PERSON, "presses", str(person_id))

    def may_call(self, person_id: int) -> bool:
        """Count an API call of this person; False above 6,000 a minute."""
        return self._rough.hit(CALLS_PER_PERSON, "calls", str(person_id))

    def _until(self, limit: RateLimitItemPerMinute, *names: str) -> int:
        if self._limiter.test(limit, *names):
            return 0
        reset = self._limiter.get_window_stats(limit, *names).reset_time
        return max(1, math.ceil(reset - time.time()))

    def succeeded(self, name: str) -> None:
        """Forget the attempts with this name, because its person has signed in."""
        self._limiter.clear(PER_NAME, "name", folded(name))

    def may_note(self, address: str) -> bool:
        """Whether one more refusal may be recorded: strangers must not fill the disk."""
        return self._limiter.hit(NOTED_PER_ADDRESS, "noted", network(address)) and self._limiter.hit(
            NOTED, "noted by all"
        )


def folded(name: str) -> str:
    """Fold a name for comparison: case and extra spaces do not matter."""
    return " ".join(name.split()).casefold()[:LONGEST]


def network(address: str) -> str:
    """Return the key of an address in the counts: for IPv6 the /64 of one customer, else the address itself. A server
    that listens to both sees IPv4 clients as mapped IPv6 addresses, which count as IPv4."""
    try:
        found = ipaddress.ip_address(address)
    except ValueError:
        return address
    found = getattr(found, "ipv4_mapped", None) or found
    return str(ipaddress.ip_network((found, 64), strict=False)) if found.version == 6 else str(found)
