"""How often may be tried: passwords by name and by address, links by address, presses and calls of programs by
person, and lines that strangers cause in the audit.

Counted in memory, by this process: a restart forgets it, and a second server process counts for itself (docs/nginx.md
says the figures).
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
"""Characters of a name by which it is counted: what strangers type is kept for as long as it counts."""
MINUTES = 5
"""After which a name or an address may try again, at the latest."""


class Attempts:
    """Recent attempts. Of many at once no more are let through than may be."""

    def __init__(self) -> None:
        self._storage = MemoryStorage()
        self._limiter = MovingWindowRateLimiter(self._storage)
        self._rough = FixedWindowRateLimiter(self._storage)  # of which a number is kept, and not every moment

    def may_try(self, name: str, address: str) -> bool:
        """Count an attempt with this name from this address; False if either has tried too often.

        Names of no one count like others: that a name is limited tells nothing about it.
        """
        # The address first: who is over its limit does not use up the attempts of other people's names.
        return self._limiter.hit(PER_ADDRESS, "address", network(address)) and self._limiter.hit(
            PER_NAME, "name", folded(name)
        )

    def must_wait(self, name: str, address: str) -> int:
        """Seconds after which an attempt with this name from this address would be let through; 0: at once."""
        limits = ((PER_ADDRESS, "address", network(address)), (PER_NAME, "name", folded(name)))
        return max(self._until(*limit) for limit in limits)

    def must_wait_for_links(self, address: str) -> int:
        """Seconds for which no link is looked at for this address, from which too many came that do not work; 0: none.

        Those that work are not counted: a class of a hundred may come by theirs from one address.
        """
        return self._until(LINKS_PER_ADDRESS, "links", network(address))

    def link_failed(self, address: str) -> None:
        """Count a link from this address that does not work."""
        self._limiter.hit(LINKS_PER_ADDRESS, "links", network(address))

    def may_press(self, person_id: int) -> bool:
        """Count a press of this person; False beyond what hands can do: 1,200 a minute."""
        return self._rough.hit(PRESSES_PER_PERSON, "presses", str(person_id))

    def may_call(self, person_id: int) -> bool:
        """Count a call of a program of this person; False beyond 6,000 a minute."""
        return self._rough.hit(CALLS_PER_PERSON, "calls", str(person_id))

    def _until(self, limit: RateLimitItemPerMinute, *names: str) -> int:
        if self._limiter.test(limit, *names):
            return 0
        reset = self._limiter.get_window_stats(limit, *names).reset_time
        return max(1, math.ceil(reset - time.time()))

    def succeeded(self, name: str) -> None:
        """Forget the attempts with this name: its person was among them."""
        self._limiter.clear(PER_NAME, "name", folded(name))

    def may_note(self, address: str) -> bool:
        """Whether one more refusal may be written down: strangers must not fill the disk."""
        return self._limiter.hit(NOTED_PER_ADDRESS, "noted", network(address)) and self._limiter.hit(
            NOTED, "noted by all"
        )


def folded(name: str) -> str:
    """A name as it is compared: however it is spelt."""
    return " ".join(name.split()).casefold()[:LONGEST]


def network(address: str) -> str:
    """Key of an address in the counts: of IPv6 the /64 that one customer has, else the address itself. An IPv4
    client of a server that listens to both is written as IPv6, and counts as what it is."""
    try:
        found = ipaddress.ip_address(address)
    except ValueError:
        return address
    found = getattr(found, "ipv4_mapped", None) or found
    return str(ipaddress.ip_network((found, 64), strict=False)) if found.version == 6 else str(found)
