"""Work that is asked for and that a worker does: how it is found and how its state changes, whatever the work is."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, fields
from datetime import datetime
from typing import Any, Generic, TypeVar

from sqlalchemy import Select, insert, select, update
from sqlalchemy.orm import Session

from db.base import Base
from db.entries import lock

WAITING, RUNNING = "waiting", "running"
DONE, CANCELLED, FAILED = "done", "cancelled", "failed"
UNFINISHED = (WAITING, RUNNING)


@dataclass(frozen=True)
class Request:
    """What all such work has.

    asked_by : a person; None where it was due by itself
    state : "waiting" | "running" | "done" | "cancelled" | "failed"
    done, total : steps so far, and in all (0: not known yet)      fault : why it failed
    """

    id: int
    project_id: int
    asked_by: int | None
    asked_at: datetime
    state: str
    done: int
    total: int
    fault: str | None
    ended_at: datetime | None

    @property
    def unfinished(self) -> bool:
        """Whether it waits or runs."""
        return self.state in UNFINISHED


RequestT = TypeVar("RequestT", bound=Request)


class Requests(Generic[RequestT]):
    """The rows of one table. kind : what they are read as; its fields are the table's columns"""

    def __init__(self, table: str, kind: type[RequestT]) -> None:
        self._table = Base.metadata.tables[table]
        self._kind = kind
        self._columns = select(*(self._table.c[one.name] for one in fields(kind)))

    def ask(
        self, session: Session, project_id: int, *, asked_by: int | None, asked_at: datetime, **more: Any
    ) -> int:
        """Ask for the work at a project; its id, or that of the one which is unfinished: none is doubled.

        more : the columns of this kind
        """
        lock(session, project_id)
        before = self.latest(session, project_id)
        if before is not None and before.unfinished:
            return before.id
        values = {
            "project_id": project_id,
            "asked_by": asked_by,
            "asked_at": asked_at,
            "state": WAITING,
            "done": 0,
            "total": 0,
        }
        made = insert(self._table).values(values | more).returning(self._table.c.id)
        return int(session.execute(made).scalar_one())

    def latest(self, session: Session, project_id: int, state: str | None = None) -> RequestT | None:
        """The project's latest, of any state or of this one."""
        query = self._columns.where(self._table.c.project_id == project_id)
        query = query if state is None else query.where(self._table.c.state == state)
        return next(iter(self._all(session, query.order_by(self._table.c.id.desc()).limit(1))), None)

    def get(self, session: Session, request_id: int) -> RequestT | None:
        """The one with this id."""
        return next(iter(self._all(session, self._columns.where(self._table.c.id == request_id))), None)

    def unfinished(self, session: Session) -> list[RequestT]:
        """Those of all projects that wait or run, in the order they were asked for."""
        waiting = self._columns.where(self._table.c.state.in_(UNFINISHED))
        return self._all(session, waiting.order_by(self._table.c.id))

    def change(
        self,
        session: Session,
        request_id: int,
        values: Mapping[str, Any],
        states: Sequence[str] = UNFINISHED,
    ) -> bool:
        """Change it where it is in one of these states. False, and nothing is changed, where it is in another: of two
        who end it one does."""
        here = update(self._table).where(self._table.c.id == request_id, self._table.c.state.in_(states))
        changed = session.execute(here.values(dict(values)).returning(self._table.c.id))
        return changed.scalar_one_or_none() is not None

    def _all(self, session: Session, query: Select[Any]) -> list[RequestT]:
        return [self._kind(**row._mapping) for row in session.execute(query)]
