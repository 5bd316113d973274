"""The settings of a project's answering room, as they are stored."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import asdict, dataclass, field
from typing import Any

ORDERS = ("probability", "fixed")
GUIDELINES_LENGTH = 20_000
DESCRIPTION_LENGTH = 200


class RoomError(ValueError):
    """A setting of the answering room has a value that is not allowed."""


@dataclass(frozen=True)
class RoomSettings:
    """Plain JSON values. Raises RoomError naming the setting that is wrong.

    guidelines : Markdown of the owner's, shown without HTML; at most 20,000 characters
    order : of the candidates on the screen, "probability" (the model's, highest first) or "fixed" (class order)
    descriptions : {label: one line about it}, each at most 200 characters
    """

    guidelines: str = ""
    order: str = "probability"
    descriptions: dict[str, str] = field(default_factory=dict)

    def __post_init__(self) -> None:
        _check_text("guidelines", self.guidelines, GUIDELINES_LENGTH)
        if self.order not in ORDERS:
            raise RoomError(f"order must be one of {', '.join(ORDERS)}. Got {self.order!r}.")
        if not isinstance(self.descriptions, dict):
            raise RoomError(f"descriptions must be a dict of label and text. Got {self.descriptions!r}.")
        for label, text in self.descriptions.items():
            if not isinstance(label, str):
                raise RoomError(f"descriptions: a label must be a str. Got {label!r}.")
            _check_text(f"the description of {label!r}", text, DESCRIPTION_LENGTH)
            if "\n" in text or "\r" in text:
                raise RoomError(f"the description of {label!r} must be one line. Fix: join its lines.")

    @classmethod
    def from_json(cls, stored: Mapping[str, Any]) -> RoomSettings:
        """The settings as `to_json` gave them; what is missing is as by default. Raises RoomError."""
        unknown = sorted(set(stored) - {"guidelines", "order", "descriptions"})
        if unknown:
            raise RoomError(
                f"the room has no setting {unknown[0]!r}; it has guidelines, order, descriptions."
            )
        return cls(**stored)

    def to_json(self) -> dict[str, Any]:
        return asdict(self)


def _check_text(name: str, text: Any, longest: int) -> None:
    if not isinstance(text, str):
        raise RoomError(f"{name} must be text. Got {text!r}.")
    if len(text) > longest:
        raise RoomError(
            f"{name} may have at most {longest:,} characters; it has {len(text):,}. Fix: shorten it."
        )
    if "\0" in text:
        raise RoomError(f"{name} holds a NUL character. Fix: remove it.")
