"""Places that questions and entries are about, and the tokens of their showings."""

from __future__ import annotations

from collections.abc import Collection
from typing import Any

from plcore.loop import Place
from workflow.common.history import SECOND


def place_of(about: Any) -> Place:
    """The place of a question or an entry; without a label that is the row as a whole."""
    return Place(about.row, getattr(about, "label", None))


def overlaps(place: Place, others: Collection[Place]) -> bool:
    """Whether one of the others is the same label of the row, or either is the row as a whole."""
    return any(
        other.row == place.row and (place.label is None or other.label in (None, place.label))
        for other in others
    )


def question_token(*parts: int | str) -> str:
    """The name of one showing. parts : person, row, the place of the label where one is asked about, revision"""
    return ".".join(map(str, parts))


def second_token(token: str, number: int) -> str:
    """The token of the first (number 0) or second (1) entry of one press."""
    return token + SECOND * number
