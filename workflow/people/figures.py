"""Figures by person: of everybody, for owners and reviewers; of oneself, for everybody who answers."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

import numpy as np
import numpy.typing as npt

from db import entries
from plcore.crowd import DawidSkene
from workflow.access import Right
from workflow.people.agreement import TeamAgreement, agreement_of
from workflow.people.person_figures import PersonFigures, figures_of, warnings
from workflow.people.said import read_said

if TYPE_CHECKING:
    from workflow.people.said import Place, Said
    from workflow.seat import Seat

__all__ = ["FEWEST_CONFUSED", "OWN_STEP", "PersonConfusion", "Team", "confusion", "log_seq", "mine", "team"]

FEWEST_CONFUSED = 30
"""Answers shared with others below which a confusion is not shown."""
OWN_STEP = 10
"""What people see of themselves grows by so many shared answers at once, so that no single answer is told right or
wrong, or a blind check told from other rows."""


@dataclass(frozen=True)
class Team:
    """people : those with warnings first, then whoever has answered most; everybody who has said something
    against : in words, what answers to blind checks are held against
    """

    people: tuple[PersonFigures, ...]
    agreement: TeamAgreement
    against: str


@dataclass(frozen=True)
class PersonConfusion:
    """What one person says, by what the row is: shares (m, m), [is, said], by the model of Dawid and Skene."""

    classes: tuple[str, ...]
    shares: npt.NDArray[np.float64]
    n_shared: int


def log_seq(seat: Seat) -> int:
    """Seq of the latest entry: the figures change with it alone. Raises NotAllowed unless the person may answer."""
    with seat.reading(Right.ANSWER) as reading:
        return entries.last_seq(reading.session, reading.project.id)


def team(seat: Seat) -> Team:
    """The figures of everybody, and how far they agree. Raises NotAllowed unless the person reviews, NotFound."""
    said = read_said(seat, Right.REVIEW)
    told = warnings(said)
    found = [
        replace(figures_of(said, person_id), warnings=told.get(person_id, ())) for person_id in _people(said)
    ]
    found.sort(key=lambda one: (not one.warnings or one.aside, -one.answers, one.name))
    return Team(tuple(found), agreement_of(said), _against(said))


def mine(seat: Seat) -> PersonFigures:
    """One's own figures. What goes by others' answers counts in steps of OWN_STEP. Raises NotAllowed, NotFound."""
    said = read_said(seat, Right.ANSWER)
    return figures_of(said, seat.person_id, at_most=OWN_STEP)


def confusion(seat: Seat, person_id: int) -> PersonConfusion | None:
    """One person's confusion, where several have answered the same; None where nobody shares an answer with them.

    Raises NotAllowed unless the seat's person reviews, NotFound.
    """
    said = read_said(seat, Right.REVIEW)
    votes = [one for one in said.votes if one.person_id == person_id or one.person_id not in said.aside]
    people_at: dict[Place, set[int]] = {}
    for one in votes:
        people_at.setdefault((one.row, one.label), set()).add(one.person_id)
    shared = [one for one in votes if len(people_at[one.row, one.label]) > 1]
    own = sum(one.person_id == person_id for one in shared)
    if not own:
        return None
    number: dict[Place, int] = {}
    triples = [
        (number.setdefault((one.row, one.label), len(number)), one.person_id, one.names) for one in shared
    ]
    model = DawidSkene().fit(triples)
    classes = tuple(str(name) for name in model.classes_)
    return PersonConfusion(classes, np.asarray(model.confusion_[person_id]), own)


def _people(said: Said) -> list[int]:
    return sorted({one.person_id for one in said.log})


def _against(said: Said) -> str:
    """In words."""
    asked = [one for one in said.votes if one.check]
    known = sum(one.known is not None for one in asked)
    if known and known == len(asked):
        return "Held against the label that a verdict gives."
    if known:
        return "Held against the label that a verdict gives, else against what most of the others said."
    return "Held against what most of the others said, without the person's own answer."
