"""How a question was put, and what its screen showed: kept with the open question and with the entry it becomes."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import asdict, dataclass
from enum import StrEnum
from typing import Any


class QuestionForm(StrEnum):
    """How a question about a row is put. The log holds the values, which never change."""

    WHICH = "which"
    """Which of these is it?"""
    IS = "is"
    """Is it this one?"""
    GROUP = "group"
    """Is it one of this group?"""
    BATCH = "batch"
    """Are all of these rows this one?"""


@dataclass(frozen=True)
class FormsNow:
    """Where a project stands with the forms of its questions.

    answers : there are so far      chosen_from : answers from which on forms are chosen
    timed : answers that seconds were learnt from; 0: they are assumed
    which, yes_no : seconds of "which of these four?" and of "is it this one?", of a person like all
    """

    answers: int
    chosen_from: int
    timed: int
    which: float
    yes_no: float


@dataclass(frozen=True)
class AskedAs:
    """How a question was put.

    about : the label that "is" and "batch" ask about, the candidates of the group that "group" does; () of "which"
    drawn : the form came by chance, so that what it costs can be told from what it is chosen for
    choices : how many labels the screen offered at first
    first : the shortlist in the order of the screen, where there was one. The others stood behind a key, unless
        `choices` is more: some questions show all of them whatever the list is; of a yes or no it stood nowhere. None:
        there was no shortlist
    batch : names the rows that were answered with one press; None: the row was answered alone
    """

    form: str
    about: tuple[str, ...] = ()
    drawn: bool = False
    choices: int = 0
    first: tuple[str, ...] | None = None
    batch: str | None = None

    @classmethod
    def from_json(cls, stored: Mapping[str, Any]) -> AskedAs:
        """What `to_json` gave; what is missing is as by default."""
        lists = {name: tuple(stored[name]) for name in ("about", "first") if stored.get(name) is not None}
        return cls(**{**stored, **lists})

    def to_json(self) -> dict[str, Any]:
        """Plain values, without those that are as by default."""
        values = asdict(self)
        kept = {name: value for name, value in values.items() if value != getattr(AskedAs, name, "")}
        return {name: list(value) if isinstance(value, tuple) else value for name, value in kept.items()}


def batch_of(asked: Mapping[str, Any] | None) -> str | None:
    """The batch in which an entry was given that stores this; None where its row was answered alone."""
    return (asked or {}).get("batch")
