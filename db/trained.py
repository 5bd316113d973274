"""Published model versions, and which worker is training, or comparing, the models of which project."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass, replace
from datetime import datetime, timedelta
from typing import Any, Generic, TypeVar

from sqlalchemy import ColumnElement, Select, Update, func, insert, select, update
from sqlalchemy.orm import Session

from db.base import Base, columns_of
from db.entries import lock
from db.models import EncodingRow, ModelRow, TrainingRow

FIT = "fit"
"""The task of a lease that trains the project's model. Callers name the other tasks."""


@dataclass(frozen=True)
class ModelVersion:
    """`key` names the settings it was trained with, `version` the log's seq it has learnt, `seconds` the fit took."""

    project_id: int
    key: str
    version: int
    figures: dict[str, object]
    seconds: float
    made_at: datetime


def publish(
    session: Session,
    *,
    project_id: int,
    key: str,
    version: int,
    figures: Mapping[str, object],
    seconds: float,
    made_at: datetime,
) -> None:
    """Add a version; an existing one is unchanged."""
    from sqlalchemy.dialects import postgresql, sqlite  # only where models are trained: loads drivers

    adding = sqlite.insert if session.get_bind().dialect.name == "sqlite" else postgresql.insert
    version_row = adding(ModelRow).values(
        project_id=project_id, key=key, version=version, figures=dict(figures), seconds=seconds, made_at=made_at
    )
    session.execute(version_row.on_conflict_do_nothing())  # without a lock, which answers would wait for


def versions(session: Session, project_id: int, key: str, after: int = -1) -> list[ModelVersion]:
    """The versions trained with these settings, in order; only those later than `after`."""
    rows = session.execute(
        select(*ModelRow.__table__.columns)
        .where(ModelRow.project_id == project_id, ModelRow.key == key, ModelRow.version > after)
        .order_by(ModelRow.version)
    )
    return [ModelVersion(**row._mapping) for row in rows]


def latest(session: Session, project_id: int, key: str) -> ModelVersion | None:
    """The newest version trained with these settings."""
    row = session.execute(
        select(*ModelRow.__table__.columns)
        .where(ModelRow.project_id == project_id, ModelRow.key == key)
        .order_by(ModelRow.version.desc())
        .limit(1)
    ).one_or_none()
    return None if row is None else ModelVersion(**row._mapping)


@dataclass(frozen=True)
class Training:
    """The present or latest worker of a project's task, such as training its model.

    key : of the settings it trains with      lease_until : end of the lease; of an ended one, when it ended
    ended : whether the worker gave its lease back; one that died did not
    deaths : workers that have died in a row with the lease for this key
    fault : why the last training failed, None if it did not
    """

    worker: str
    key: str
    lease_until: datetime
    ended: bool
    deaths: int
    fault: str | None

    def is_held(self, now: datetime, longest: timedelta) -> bool:
        """Whether a worker holds it now. longest : that a lease lasts

        One that would last twice as long was taken when the clock was ahead: no one may wait for its end.
        """
        return not self.ended and now < self.lease_until <= now + 2 * longest


def training(session: Session, project_id: int, task: str = FIT) -> Training | None:
    """The project's latest training; None if there never was one."""
    row = session.execute(select(*columns_of("trainings", Training)).where(*_of(project_id, task))).one_or_none()
    return None if row is None else Training(**row._mapping)


def take_lease(
    session: Session, project_id: int, worker: str, key: str, now: datetime, until: datetime, task: str = FIT
) -> Training | None:
    """Give this worker the lease until then; None if another worker holds an unexpired lease.

    If another worker's lease has expired without being returned, that worker died: the death is counted.
    """
    lock(session, project_id)
    before = training(session, project_id, task)
    if before is None:
        taken = Training(worker, key, until, ended=False, deaths=0, fault=None)
        session.execute(insert(TrainingRow).values(project_id=project_id, task=task, **asdict(taken)))
        return taken
    silent = not before.ended and before.worker != worker
    if silent and before.is_held(now, until - now):
        return None
    deaths = before.deaths + silent if before.key == key else 0
    taken = replace(before, worker=worker, key=key, lease_until=until, ended=False, deaths=deaths)
    session.execute(update(TrainingRow).where(*_of(project_id, task)).values(**asdict(taken)))
    return taken


def keep_lease(session: Session, project_id: int, worker: str, until: datetime, task: str = FIT) -> None:
    """Extend a lease, unless another worker has taken it meanwhile."""
    session.execute(_held(project_id, worker, task).values(lease_until=until))


def end_lease(
    session: Session, project_id: int, worker: str, now: datetime, fault: str | None, deaths: int = 0, task: str = FIT
) -> None:
    """Let others train the project; fault: why the training failed, None if it did not."""
    session.execute(_held(project_id, worker, task).values(lease_until=now, ended=True, fault=fault, deaths=deaths))


def end_leases(session: Session, worker: str, now: datetime) -> None:
    """Release all leases of this worker, as if it had never begun: no death is counted."""
    held = update(TrainingRow).where(TrainingRow.worker == worker, ~TrainingRow.ended)
    session.execute(held.values(lease_until=now, ended=True))


def forget_fault(session: Session, project_id: int) -> None:
    """Forget why the last training failed and what it cost: the settings have changed since."""
    session.execute(update(TrainingRow).where(TrainingRow.project_id == project_id).values(fault=None, deaths=0))


def _of(project_id: int, task: str) -> tuple[ColumnElement[bool], ...]:
    return TrainingRow.project_id == project_id, TrainingRow.task == task


def _held(project_id: int, worker: str, task: str) -> Update:
    return update(TrainingRow).where(*_of(project_id, task), TrainingRow.worker == worker, ~TrainingRow.ended)


# Work that is requested and that a worker does: finding it and changing its state, for every kind of work.

WAITING, RUNNING = "waiting", "running"
DONE, CANCELLED, FAILED = "done", "cancelled", "failed"
UNFINISHED = (WAITING, RUNNING)


@dataclass(frozen=True)
class Request:
    """Fields that all kinds of requested work share.

    asked_by : a person; None if it was scheduled automatically
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
    """The rows of one table.

    kind : class of the requests; its fields are the table's columns
    fresh : values of further columns before a worker begins
    """

    def __init__(self, table: str, kind: type[RequestT], **fresh: object) -> None:
        self._table = Base.metadata.tables[table]
        self._kind = kind
        self._fresh = {"done": 0, "total": 0, **fresh}
        self._columns = select(*columns_of(table, kind))

    def ask(
        self, session: Session, project_id: int, *, asked_by: int | None, asked_at: datetime, **more: object
    ) -> int:
        """Request the work for a project; return its id, or the id of an unfinished request, which is not doubled.

        more : the columns of this kind
        """
        lock(session, project_id)
        before = self.latest(session, project_id)
        if before is not None and before.unfinished:
            return before.id
        whose = {"project_id": project_id, "asked_by": asked_by, "asked_at": asked_at}
        made = insert(self._table).values(whose | {"state": WAITING} | self._fresh | more)
        return int(session.execute(made.returning(self._table.c.id)).scalar_one())

    def latest(self, session: Session, project_id: int, state: str | None = None) -> RequestT | None:
        """The project's latest request, of any state or of this one."""
        query = self._columns.where(self._table.c.project_id == project_id)
        query = query if state is None else query.where(self._table.c.state == state)
        return next(iter(self._all(session, query.order_by(self._table.c.id.desc()).limit(1))), None)

    def get(self, session: Session, request_id: int) -> RequestT | None:
        """The request with this id."""
        return next(iter(self._all(session, self._columns.where(self._table.c.id == request_id))), None)

    def unfinished(self, session: Session) -> list[RequestT]:
        """The waiting and running requests of all projects, in the order they were made."""
        waiting = self._columns.where(self._table.c.state.in_(UNFINISHED))
        return self._all(session, waiting.order_by(self._table.c.id))

    def begin(self, session: Session, request_id: int, **more: object) -> bool:
        """Mark it as running, for the first time or after it killed another worker. False if it is over."""
        return self.change(session, request_id, {"state": RUNNING} | self._fresh | more)

    def note(self, session: Session, request_id: int, done: int, total: int, **more: object) -> bool:
        """Store the progress. False if it is over: someone has cancelled it, or another worker has ended it."""
        return self.change(session, request_id, {"done": done, "total": total} | more)

    def end(
        self, session: Session, request_id: int, state: str, at: datetime, *, fault: str | None = None, **more: object
    ) -> bool:
        """End it in this state: "done", "cancelled" or "failed". False, and nothing is changed, if it was over
        before: of two callers only one ends it."""
        return self.change(session, request_id, {"state": state, "ended_at": at, "fault": fault} | more)

    def change(
        self, session: Session, request_id: int, values: Mapping[str, object], states: Sequence[str] = UNFINISHED
    ) -> bool:
        """Change the request if it is in one of these states. False, and nothing is changed, if it is in another."""
        here = update(self._table).where(self._table.c.id == request_id, self._table.c.state.in_(states))
        changed = session.execute(here.values(dict(values)).returning(self._table.c.id))
        return changed.scalar_one_or_none() is not None

    def _all(self, session: Session, query: Select[Any]) -> list[RequestT]:
        return [self._kind(**row._mapping) for row in session.execute(query)]


# Comparisons of the models of a project: asked for by a person or scheduled automatically, done by a worker.


@dataclass(frozen=True)
class Comparison(Request):
    """One comparison.

    seq, answers, checks : the log's latest seq, the answers and those to blind checks when it began; before it has
        begun, when it was asked for
    done, total, fitting : fits so far, fits in all (0: not known yet), the model that is fitted now
    report : what was found, JSON values of the callers'; None before it is done      seconds : it took
    fault : why it failed, or why what it chose was not adopted
    """

    seq: int
    answers: int
    checks: int
    fitting: str
    report: dict[str, object] | None
    seconds: float | None


COMPARISONS = Requests("comparisons", Comparison, fitting="")


# Estimates of the accuracy in random order: scheduled automatically or requested by a person, made by a worker.

TASK = "random order"
"""The task of the leases of estimates (`db.trained`): trainings continue meanwhile."""


@dataclass(frozen=True)
class RandomOrderEstimate(Request):
    """One estimate.

    seq, answers : the log's latest seq, and the answers, when it began; before that, when it was asked for
    done, total : fits so far, and in all      report : what was found, JSON values of the callers'; None before
    """

    seq: int
    answers: int
    report: dict[str, object] | None


RANDOM_ORDERS = Requests("random_orders", RandomOrderEstimate)


# Encodings: vectors of a project's rows by an encoder of the owner's own, asked for by a person, made by a worker.


@dataclass(frozen=True)
class Encoding(Request):
    """One encoding.

    encoder : its name, '' for rows that came later, by the encoders that the others have
    notes : of one that is done, a sentence each about rows left out

    done, total : images, texts or segments
    """

    asked_by: int
    encoder: str
    notes: list[str]


ENCODINGS = Requests("encodings", Encoding, notes=[])


def failed_for_new_rows(session: Session) -> list[Encoding]:
    """The latest encoding of each project that has failed, of rows that came later."""
    latest_of = select(func.max(EncodingRow.id)).group_by(EncodingRow.project_id)
    failed = select(*columns_of("encodings", Encoding)).where(
        EncodingRow.id.in_(latest_of), EncodingRow.state == FAILED, EncodingRow.encoder == ""
    )
    return [Encoding(**row._mapping) for row in session.execute(failed.order_by(EncodingRow.id))]


def try_again(session: Session, encoding_id: int) -> bool:
    """Let a failed encoding wait again. False if it has not failed, or someone has let it wait before."""
    return ENCODINGS.change(session, encoding_id, {"state": WAITING, "ended_at": None}, (FAILED,))


def end_done(session: Session, encoding_id: int, at: datetime, notes: Sequence[str]) -> bool:
    """Mark it as done, since its vectors are stored, even if someone cancelled it a moment too late. False if it was
    marked before."""
    told = {"state": DONE, "ended_at": at, "fault": None, "notes": list(notes)}
    return ENCODINGS.change(session, encoding_id, told, (*UNFINISHED, CANCELLED, FAILED))


# Shortlists of a project's rows by a language model, asked for by a person, made by a worker.


@dataclass(frozen=True)
class Suggestion(Request):
    """One run of a language model.

    settings : what the owner chose, without the key      report : what it has found, or why it waits; None before
    """

    asked_by: int
    settings: dict[str, object]
    report: dict[str, object] | None


SUGGESTIONS = Requests("suggestions", Suggestion)
