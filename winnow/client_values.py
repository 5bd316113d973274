"""What a Winnow server gives its client, as values with names (`winnow.client`)."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, fields
from typing import Any, TypeVar

Made = TypeVar("Made")


class WinnowError(Exception):
    """The server refuses, in its words.

    status : of HTTP; 0 where it could not be reached      again : seconds after which it says to try again; 0: none
    """

    def __init__(self, status: int, words: str, again: float = 0.0) -> None:
        super().__init__(words)
        self.status, self.again = status, again


@dataclass(frozen=True)
class WinnowChoice:
    """A label that a row may have.

    share : what the model gives it, in [0, 1]; None where there is no model yet
    known : in a project of label vectors, whether it is known to be right; None: not asked
    """

    label: str
    description: str
    share: float | None
    known: bool | None


@dataclass(frozen=True)
class WinnowQuestion:
    """A question that is before the person of the token.

    row : its number, from 0      text, features, images, audio : what people would see of it
    label : in a project of label vectors, the label asked about; None: all of them
    is_it : where it is asked in yes and no, whether it is one of these      answers : the kinds that it takes
    """

    token: str
    shown: str
    row: int
    row_id: str
    text: str | None
    features: Mapping[str, str]
    images: Sequence[str]
    audio: str | None
    label: str | None
    is_it: Sequence[str] | None
    choices: Sequence[WinnowChoice]
    answers: Sequence[str]
    why: str


@dataclass(frozen=True)
class WinnowAnswer:
    """What was stored. seq : its number in the project's log"""

    seq: int
    kind: str
    row: int
    row_id: str
    labels: Sequence[str]


@dataclass(frozen=True)
class WinnowAdded:
    """What became of rows that were sent. rows : how many the project has now      added : how many of them are new

    known : those that it had already, by id or else by number, which stay      new_classes : labels that no row had
    dropped, empty : columns that were sent and it does not have, and its columns that were not sent
    """

    rows: int
    added: int
    known: Sequence[str]
    new_classes: Sequence[str]
    dropped: Sequence[str]
    empty: Sequence[str]


@dataclass(frozen=True)
class WinnowWeighed:
    """What became of another model's scores. seq : the latest entry that has them      rows : how many were sent

    weighed : rows whose candidates weigh by them now      silent : rows of whose candidates they say nothing
    outside : rows whose highest score is of a class that is no candidate
    """

    seq: int
    rows: int
    weighed: int
    silent: int
    outside: int


def made_of(kind: type[Made], said: Mapping[str, Any]) -> Made:
    """What was said, as this class; what a later server says besides is passed over."""
    return kind(**{one.name: said[one.name] for one in fields(kind)})  # type: ignore[arg-type]
