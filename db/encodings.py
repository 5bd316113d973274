"""Encodings: vectors of a project's rows by an encoder of the owner's own, asked for by a person, made by a worker."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, fields
from datetime import datetime
from typing import Any

from sqlalchemy import Select, insert, select, update
from sqlalchemy.orm import Session

from db.entries import lock
from db.models import Base, EncodingRow

WAITING, RUNNING = "waiting", "running"
DONE, CANCELLED, FAILED = "done", "cancelled", "failed"
_UNFINISHED = (WAITING, RUNNING)


@dataclass(frozen=True)
class Encoding:
    """One encoding. encoder : its name

    state : "waiting" | "running" | "done" | "cancelled" | "failed"
    done, total : things encoded so far, and in all (0: not known yet)
    notes : of one that is done, a sentence each about rows left out      fault : why it failed
    """

    id: int
    project_id: int
    asked_by: int
    asked_at: datetime
    encoder: str
    state: str
    done: int
    total: int
    notes: list[str]
    fault: str | None
    ended_at: datetime | None

    @property
    def unfinished(self) -> bool:
        """Whether it waits or runs."""
        return self.state in _UNFINISHED


_TABLE = Base.metadata.tables["encodings"]
_COLUMNS = select(*(_TABLE.c[one.name] for one in fields(Encoding)))


def ask(session: Session, project_id: int, *, asked_by: int, asked_at: datetime, encoder: str) -> int:
    """Ask for an encoding of the project's rows; its id, or that of the one which is unfinished: none is doubled."""
    lock(session, project_id)
    before = latest(session, project_id)
    if before is not None and before.unfinished:
        return before.id
    values = {
        "project_id": project_id,
        "asked_by": asked_by,
        "asked_at": asked_at,
        "encoder": encoder,
        "state": WAITING,
        "done": 0,
        "total": 0,
        "notes": [],
    }
    return session.execute(insert(EncodingRow).values(values).returning(EncodingRow.id)).scalar_one()


def latest(session: Session, project_id: int, state: str | None = None) -> Encoding | None:
    """The project's latest encoding, of any state or of this one."""
    query = _COLUMNS.where(_TABLE.c.project_id == project_id).order_by(_TABLE.c.id.desc()).limit(1)
    found = _all(session, query if state is None else query.where(_TABLE.c.state == state))
    return found[0] if found else None


def unfinished(session: Session) -> list[Encoding]:
    """Those of all projects that wait or run, in the order they were asked for."""
    return _all(session, _COLUMNS.where(_TABLE.c.state.in_(_UNFINISHED)).order_by(_TABLE.c.id))


def begin(session: Session, encoding_id: int) -> bool:
    """A worker begins it, or begins it anew after another has died of it. False where it is over."""
    return _change(session, encoding_id, {"state": RUNNING, "done": 0, "total": 0}, _UNFINISHED)


def note(session: Session, encoding_id: int, done: int, total: int) -> bool:
    """Say how far it is. False where it is over: somebody has cancelled it."""
    return _change(session, encoding_id, {"done": done, "total": total}, _UNFINISHED)


def end(session: Session, encoding_id: int, state: str, at: datetime, *, fault: str | None = None) -> bool:
    """It is over, "cancelled" or "failed". False, and nothing is changed, where it was over before."""
    return _change(session, encoding_id, {"state": state, "ended_at": at, "fault": fault}, _UNFINISHED)


def end_done(session: Session, encoding_id: int, at: datetime, notes: Sequence[str]) -> bool:
    """Its vectors are stored, and so it is done: where somebody has cancelled it a moment too late, too. False where
    that was known before.
    """
    told = {"state": DONE, "ended_at": at, "fault": None, "notes": list(notes)}
    return _change(session, encoding_id, told, (*_UNFINISHED, CANCELLED, FAILED))


def _change(session: Session, encoding_id: int, values: Mapping[str, Any], states: Sequence[str]) -> bool:
    here = update(_TABLE).where(_TABLE.c.id == encoding_id, _TABLE.c.state.in_(states))
    return bool(session.execute(here.values(values).returning(_TABLE.c.id)).scalar_one_or_none())


def _all(session: Session, query: Select[Any]) -> list[Encoding]:
    return [Encoding(**row._mapping) for row in session.execute(query)]
