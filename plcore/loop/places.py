"""Places: what a question can be about, in a project of any kind."""

from __future__ import annotations

from collections.abc import Iterable
from typing import NamedTuple


class Place(NamedTuple):
    """A row, or one label of it."""

    row: int
    label: str | None = None
    """None: the row as a whole."""


def as_places(places: Iterable[int | tuple[int, str | None]]) -> set[Place]:
    """Row numbers and (row, label) pairs as places."""
    return {Place(*one) if isinstance(one, tuple) else Place(int(one)) for one in places}
