"""What people say of the rows of a project, one vote for each person and place, whatever its kind."""

from __future__ import annotations

from typing import NamedTuple


class Vote(NamedTuple):
    """What one person says of a place at last.

    label : None where the whole row is asked about      names : the classes that they leave, by their present names
    choices : what they could have said      predicted : what the model had said when they were asked; None: nothing
    check : a blind check      known : what is right, by a verdict; None: there is none
    """

    row: int
    label: str | None
    person_id: int
    names: frozenset[str]
    choices: frozenset[str]
    predicted: str | None
    check: bool
    known: frozenset[str] | None
