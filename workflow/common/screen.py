"""In which order a screen shows labels, and the stamp that says later what it showed."""

from __future__ import annotations

import hashlib
from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING
from weakref import WeakKeyDictionary

if TYPE_CHECKING:
    from plcore.loop import Learner
    from workflow.common.room import RoomSettings

# {person: (token, order)} beside each learner while it lives; nothing is lost with it but an order on a screen. Read
# and written only while the learner is open, that is by one thread at a time.
_orders: WeakKeyDictionary[Learner, dict[int, tuple[str, tuple[str, ...]]]] = WeakKeyDictionary()


def stamp(parts: Sequence[str]) -> str:
    """A short hash of these choices. A screen sends it back with an answer, so that it is known what it showed."""
    return hashlib.blake2s("\0".join(parts).encode(), digest_size=8).hexdigest()


def screen_order(
    learner: Learner, room: RoomSettings, person_id: int, token: str, shares: Mapping[str, float]
) -> tuple[str, ...]:
    """The labels in the order of the screen, which the answering room sets.

    token : of the question shown. As long as a person has it before them the order stays, whatever the model learns
    shares : {label: what the model gives it}, in class order
    """
    orders = _orders.setdefault(learner, {})
    if room.order == "fixed":
        orders.pop(person_id, None)
        return tuple(shares)
    earlier, order = orders.get(person_id, ("", ()))
    kept = [label for label in order if label in shares] if earlier == token else []
    added = sorted((label for label in shares if label not in kept), key=lambda label: -shares[label])
    orders[person_id] = token, (*kept, *added)
    return (*kept, *added)
