"""A seat: the person at this Winnow, and the project. Every use case takes one.

A use case opens its transactions through the seat, so that none can forget to check the person's rights. Methods that
need a learner import the code that opens one: it loads all of plcore, for seconds, and most commands need no learner.
"""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, replace
from functools import partial
from typing import TYPE_CHECKING

from db.entries import DuplicateEntry
from workflow import access
from workflow.access import EVERYTHING, Right, TokenScope
from workflow.opened import Opened, Reading
from workflow.saving import raising_not_saved, saving

if TYPE_CHECKING:
    from sqlalchemy.orm import Session

    from plcore.loop import Learner
    from workflow.answering.turn import AnyTurn
    from workflow.kinds import AnyKind
    from workflow.server.home import Home


@dataclass(frozen=True)
class Seat:
    """A person and a project. Making one checks nothing; each of its methods checks again.

    Every use case that takes a seat raises NotAllowed and NotFound as ``reading`` does, and NotSaved if it writes.
    Their docstrings name other errors, and other reasons, alone.

    project_id : None if a use case is about no project, or about several
    narrowed : what a program may do of what its person may
    """

    home: Home
    person_id: int
    project_id: int | None = None
    narrowed: TokenScope = EVERYTHING

    def at(self, project_id: int) -> Seat:
        """The same person at a project."""
        return replace(self, project_id=project_id)

    @property
    def everywhere(self) -> Seat:
        """The same person at no project: what is of this Winnow as a whole is its owners', no matter who owns a
        project."""
        return replace(self, project_id=None)

    @contextmanager
    def reading(self, right: Right = Right.SEE, *, changes: bool = False) -> Iterator[Reading]:
        """A transaction that reads.

        right : that the person must have; at no project, all but SEE belong to the owners of this Winnow
        changes : something is changed afterwards, which a token that may not is told at once

        Raises
        NotAllowed : The person is unknown or disabled, or has not this right; or the token is narrowed to other
            projects, or to less.
        NotFound : There is no such project, or it is archived or in the bin; in the same words as if there is none,
            this person is not a member of it.
        """
        with self.home.database.read() as session:
            yield self._enter(session, right, changes=changes)

    @contextmanager
    def writing(self, right: Right = Right.ANSWER, *, changes: bool = True) -> Iterator[Reading]:
        """A transaction that writes no entry of the log: the learner stays as it is. changes : False if it only notes
        that something was read

        Raises as ``reading``, and NotSaved where the database cannot be written.
        """
        with saving(self.home) as session:
            yield self._enter(session, right, changes=changes)

    @contextmanager
    def owning(self, *, anywhere: bool = False) -> Iterator[Reading]:
        """A transaction that writes, for owners alone; no one else writes at the project until it has ended, so that
        what is changed of it is what was read. anywhere : the project may be archived or in the bin

        Raises as ``reading``, and NotSaved where the database cannot be written.
        """
        with saving(self.home, project=self.project_id) as session:
            yield self._enter(session, Right.OWN, changes=True, anywhere=anywhere)

    @contextmanager
    def learner(self, right: Right = Right.SEE, *, changes: bool = False) -> Iterator[Opened[Learner]]:
        """The project with its learner, which has applied the whole log; one thread at a time has it. changes : as in
        ``reading``

        Raises as ``reading``.
        """
        from workflow.kinds.opening import open_to_read

        with open_to_read(
            self.home, self._here, lambda session: self._enter(session, right, changes=changes)
        ) as opened:
            yield opened

    @contextmanager
    def turn(self, right: Right = Right.ANSWER, *, lasting: bool = True) -> Iterator[AnyTurn]:
        """This person's turn at the project: a transaction that writes, at whose beginning the learner reads the rest
        of the log. After the commit the learner applies the entries of the block.

        lasting : False if it only reserves: after a power cut the reservation may be gone, and the turn has waited
            for no disk

        Raises
        StaleQuestion : What the block writes had been stored already, by another tab or process.
        NotSaved, NotAllowed, NotFound
        """
        from workflow.answering.turn import StaleQuestion
        from workflow.kinds.opening import open_to_write

        try:
            enter = partial(self._enter, right=right, changes=True, to_answer=True)
            with raising_not_saved(), open_to_write(self.home, self._here, enter, lasting=lasting) as opened:
                yield opened.kind.make_turn(opened)
        except DuplicateEntry as error:
            raise StaleQuestion("This question was answered a moment ago, in another tab.") from error

    @contextmanager
    def alone(self) -> Iterator[None]:
        """No one else in this process uses the project's learner meanwhile. Raises as ``reading``, but not always."""
        from workflow.kinds.opening import find_slot

        with find_slot(self.home, self._here, self._enter).lock:
            yield

    @property
    def kind(self) -> AnyKind:
        """The kind of the project. Raises as ``reading``."""
        from workflow.kinds.opening import find_kind

        return find_kind(self.home, self._enter)

    def settle(self) -> None:
        """Wait until this process has fitted the project's model, where that is due. Raises as ``reading``."""
        with self.learner():
            pass  # begins the fit that is due
        self.home.shelf.settle(self._here)

    @property
    def _here(self) -> int:
        if self.project_id is None:
            raise LookupError("This seat is at no project. Fix: give it a project_id.")
        return self.project_id

    def _enter(
        self,
        session: Session,
        right: Right = Right.SEE,
        *,
        changes: bool = False,
        anywhere: bool = False,
        to_answer: bool = False,
    ) -> Reading:
        """Check the person and what their token may do, and find the project, inside this transaction. Raises as
        ``reading``."""
        self.narrowed.require_place(self.project_id, right, changes=changes)  # does not reveal what exists
        if self.project_id is None:
            rights = access.role_here(session, self.person_id)
            access.require_right(rights, right)
            self.narrowed.require_action(None, right, changes=changes)
            return Reading(rights.person, rights.role, session, only=self.narrowed.projects)
        rights, project, found = access.at_project(
            session, self.person_id, self.project_id, anywhere=anywhere, to_answer=to_answer
        )
        access.require_right(rights, right)
        self.narrowed.require_action(self.project_id, right, changes=changes)
        only = self.narrowed.projects
        return Reading(rights.person, rights.role, session, project, found.height, found.before, only=only)
