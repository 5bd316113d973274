"""How often may be tried: passwords by name and by address, and lines that strangers cause in the audit.

Counted in memory, by this process: a restart forgets it, and a second server process counts for itself.
"""

from __future__ import annotations

import ipaddress

from limits import RateLimitItemPerMinute
from limits.storage import MemoryStorage
from limits.strategies import MovingWindowRateLimiter

PER_NAME = RateLimitItemPerMinute(5, 5)
PER_ADDRESS = RateLimitItemPerMinute(30, 5)
NOTED_PER_ADDRESS = RateLimitItemPerMinute(20, 60)
NOTED = RateLimitItemPerMinute(500, 60)
LONGEST = 200
"""Characters of a name by which it is counted: what strangers type is kept for as long as it counts."""
MINUTES = 5
"""After which a name or an address may try again, at the latest."""


class Attempts:
    """What was tried lately. Of many at once no more are let through than may be."""

    def __init__(self) -> None:
        self._storage = MemoryStorage()
        self._limiter = MovingWindowRateLimiter(self._storage)

    def may_try(self, name: str, address: str) -> bool:
        """Count an attempt with this name from this address; False where either has tried too often.

        Names of nobody count like others: that a name is limited tells nothing about it.
        """
        # The address first: who is over its limit does not use up the attempts of other people's names.
        return self._limiter.hit(PER_ADDRESS, "address", network(address)) and self._limiter.hit(
            PER_NAME, "name", folded(name)
        )

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
    """What an address counts as: of IPv6 the /64 that one customer has, else the address itself. An IPv4 client of a
    server that listens to both is written as IPv6, and counts as what it is."""
    try:
        found = ipaddress.ip_address(address)
    except ValueError:
        return address
    found = getattr(found, "ipv4_mapped", None) or found
    return str(ipaddress.ip_network((found, 64), strict=False)) if found.version == 6 else str(found)
