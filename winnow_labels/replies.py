"""Replies of a Winnow server as dataclasses, and answers to send. Programs import them from `winnow_labels.client`."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, fields
from typing import Any, TypeVar
from uuid import uuid4

Made = TypeVar("Made")

ONE_TEXT = "The labels are a list of texts. Got {0!r:.80}. Fix: [{0!r:.80}]."


class WinnowError(Exception):
    """The server's refusal, with its message.

    status : of HTTP; 0 if the server could not be reached      again : seconds before a retry; 0: none
    """

    def __init__(self, status: int, words: str, again: float = 0.0) -> None:
        super().__init__(words)
        self.status, self.again = status, again


@dataclass(frozen=True)
class WinnowChoice:
    """A label that a row may have.

    share : the model's probability, in [0, 1]; None if there is no model yet
    known : if labels are asked one by one, whether it is known to be right; None: not asked
    """

    label: str
    description: str
    share: float | None
    known: bool | None


@dataclass(frozen=True)
class WinnowQuestion:
    """A question for the person of the token.

    row : its number, from 0      text, features, images, audio : as shown to people
    label : if labels are asked one by one, the label in question; None: all of them
    is_it : for a yes/no question, whether it is one of these      answers : the accepted kinds
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
    """A stored answer. seq : its number in the project's log"""

    seq: int
    kind: str
    row: int
    row_id: str
    labels: Sequence[str]


@dataclass(frozen=True)
class WinnowRowAnswer:
    """An answer to send about a row of your choice. key : identifies it; see `WinnowProject.answer_row`"""

    row: int
    kind: str
    labels: Sequence[str] = ()
    key: str = field(default_factory=lambda: uuid4().hex)
    label: str | None = None
    note: str | None = None
    flagged: bool = False

    def __post_init__(self) -> None:
        if isinstance(self.labels, str):
            raise TypeError(ONE_TEXT.format(self.labels))


@dataclass(frozen=True)
class WinnowOutcome:
    """The outcome of one answer of many. status : of HTTP, as if it were sent alone

    answer : the stored answer, None if it was refused      detail : why it was refused
    """

    status: int
    answer: WinnowAnswer | None
    detail: str | None


@dataclass(frozen=True)
class WinnowAdded:
    """The result of adding rows. rows : number of rows in the project now      added : number of new ones

    known : rows that it already had, by id or else by number; they stay      new_classes : labels new to it
    dropped, empty : sent columns that it does not have, and its columns that were not sent
    notes : what was read as missing, and oddities of the table with the new rows
    reading : how the project's table is read, with the new rows
    doubts : of a dry run, those that would stop the import: name, message and fix
    """

    rows: int
    added: int
    known: Sequence[str]
    new_classes: Sequence[str]
    dropped: Sequence[str]
    empty: Sequence[str]
    notes: Sequence[str] = ()
    reading: str = ""
    doubts: Sequence[Mapping[str, Any]] = ()


@dataclass(frozen=True)
class WinnowWeighed:
    """The result of sending another model's scores. seq : the latest entry that has them      rows : count sent

    weighed : rows whose candidates are now weighted by them      silent : those without a candidate's score
    outside : rows whose highest score is of a class that is not a candidate
    """

    seq: int
    rows: int
    weighed: int
    silent: int
    outside: int


def made_of(kind: type[Made], said: Mapping[str, object]) -> Made:
    """Return the reply as this class, ignoring fields of later server versions."""
    return kind(**{one.name: said[one.name] for one in fields(kind)})  # type: ignore[arg-type]
