"""What people have said in a project, read once for all figures of theirs."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

from db import answers
from plcore.loop import asides_after
from workflow.access import Right
from workflow.common.figures import SIMULATED
from workflow.common.found import names_of
from workflow.common.log import read_class_changes

if TYPE_CHECKING:
    from db.answers import SaidEntry
    from workflow.common.votes import Vote
    from workflow.seat import Seat

Place = tuple[int, str | None]
"""A row, and the label of it that is asked about; None: all of it."""


@dataclass(frozen=True)
class Said:
    """log : every entry about a row that was not withdrawn, in order      votes : in the order they were given
    aside : people whose answers do not count      names : {person: name} of everybody
    """

    log: Sequence[SaidEntry]
    votes: Sequence[Vote]
    aside: frozenset[int]
    names: Mapping[int, str]

    def by_place(self) -> dict[Place, list[Vote]]:
        """The votes of each place, those that are set aside too."""
        found: dict[Place, list[Vote]] = defaultdict(list)
        for one in self.votes:
            found[one.row, one.label].append(one)
        return found


def read_said(seat: Seat, right: Right) -> Said:
    """Raises NotAllowed where the seat's person has not this right, NotFound."""
    with seat.learner(right) as opened:
        kind, learner = opened.kind, opened.learner
    # Others may use the learner meanwhile: votes go by what the table and the changes of classes made of it alone.
    with seat.reading(right) as reading:
        log = answers.said(reading.session, reading.project.id)
        changes = read_class_changes(reading.session, reading.project.id)
        names = names_of(reading.session)
    aside = frozenset(int(one) for one in asides_after(changes))
    given = [one for one in log if one.note != SIMULATED]  # the oracle of a dry run knows the hidden truth
    return Said(log, kind.votes_of(learner, given), aside, names)
