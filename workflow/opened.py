"""The state of a use case while it reads or writes: a transaction, the person, the project, and its learner."""

from __future__ import annotations

from contextlib import AbstractContextManager
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Generic, Protocol, TypeVar

from workflow.access import Rights
from workflow.answering.history import OwnLog, read

if TYPE_CHECKING:
    from sqlalchemy.orm import Session

    from db.entries import LogEntry
    from db.projects import Project
    from db.questions import Before
    from plcore.loop import Learner
    from workflow.answering.history import KeptLog
    from workflow.kinds.kind import AnyKind
    from workflow.server.home import Home

LearnerT_co = TypeVar("LearnerT_co", bound="Learner", covariant=True)


@dataclass(frozen=True)
class Reading(Rights):
    """A transaction of a person whose rights were checked in it.

    at : the seat's project, None if it has none      height : seq of the project's latest entry, 0 before the first
    before : what is before the person there; None if it was not asked for
    """

    session: Session
    at: Project | None = None
    height: int = 0
    before: Before | None = None

    @property
    def project(self) -> Project:
        """The project of the seat. Raises LookupError where it is at none."""
        if self.at is None:
            raise LookupError("This seat is at no project. Fix: give it a project_id.")
        return self.at


@dataclass(frozen=True)
class Opened(Rights, Generic[LearnerT_co]):
    """A transaction at a project, with a learner that has applied every entry of the log.

    kind : does what depends on the kind of project
    kept : what people wrote lately, as far as it was read before
    before : what was before the person when the transaction began; None if it was not asked for
    written : the entries that this transaction writes, in order; the learner takes them in after the commit
    """

    home: Home
    session: Session
    project: Project
    kind: AnyKind
    learner: LearnerT_co
    kept: KeptLog
    before: Before | None = None
    written: list[LogEntry] = field(default_factory=list)

    @property
    def own_log(self) -> OwnLog:
        """The end of this person's entries."""
        here = self.session, self.project_id, self.person_id
        # This transaction may never be committed: it is read, and not kept.
        return read(*here) if self.written else self.kept.of(*here, self.learner.seq)

    @property
    def project_id(self) -> int:
        return self.project.id

    @property
    def person_id(self) -> int:
        return self.person.id


class Doors(Protocol[LearnerT_co]):
    """The part of a `workflow.seat.Seat` that a kind is given for long work. No one else can use the learner while it
    is open, so such work opens it for a part of the time only."""

    def reading(self) -> AbstractContextManager[Reading]: ...
    def learner(self) -> AbstractContextManager[Opened[LearnerT_co]]: ...
