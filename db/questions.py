"""The question now open before each person; it also reserves its row for them."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from dataclasses import asdict, dataclass, fields
from datetime import datetime
from typing import Any

from sqlalchemy import (
    ColumnElement,
    Integer,
    Table,
    Text,
    and_,
    bindparam,
    case,
    cast,
    delete,
    func,
    insert,
    literal,
    null,
    select,
    union_all,
    update,
)
from sqlalchemy import delete as sql_delete
from sqlalchemy.orm import Session

from db import members
from db.base import Base, columns_of
from db.members import StoredGoal
from db.models import BatchRow, QuestionRow
from db.people import Person
from db.projects import LARGEST, Project

LONGEST = 3600.0
"""Seconds after which the annotator cannot have worked on a question all the time."""


@dataclass(frozen=True, kw_only=True)
class OpenQuestion:
    """A question before a person, as it was shown.

    label : the one asked about, None if the whole row is the question
    token : names this showing: person, row, label or none, revision (entries of this person about it before)
    strategy, score, model_version, decides, undecided, predicted : why it is asked, and what the model says
    shown_at : when it was first shown; the seconds spent count from it. It and `paused_at` are of a monotonic clock
        (`workflow.answering.turn`)
    reserved_at : when it was last shown      reserved_until : when its row is offered to others again
    paused_at : when the person left it: until they come back its row is free; None while they are there
    asked : how it was put, as the entry will store it
    """

    project_id: int
    person_id: int
    row: int
    token: str
    revision: int
    strategy: str
    score: float
    model_version: int
    decides: int
    undecided: int
    shown_at: datetime
    reserved_at: datetime
    reserved_until: datetime
    label: str | None = None
    predicted: str | None = None
    paused_at: datetime | None = None
    asked: dict[str, object] | None = None

    def seconds(self, now: datetime) -> float | None:
        """Seconds spent on it so far, without the pause; None beyond LONGEST. now : by the same clock as `shown_at`

        The question may have been shown by a process whose clock differs: 0 if it was shown in the future by ours.
        """
        spent = ((self.paused_at or now) - self.shown_at).total_seconds()
        return None if spent > LONGEST else max(0.0, spent)

    def shown_by(self, now: datetime) -> datetime:
        """When it was first shown, moved forward by the length of a pause that ends now."""
        return self.shown_at + (now - self.paused_at) if self.paused_at else self.shown_at


_TABLE = Base.metadata.tables["questions"]
COLUMNS = columns_of("questions", OpenQuestion)
"""The columns that `as_question` reads."""
_NAMES = tuple(one.name for one in fields(OpenQuestion))
# Built once: they run for every answer, and to build one takes as long as to run it.
_THEIRS = (_TABLE.c.project_id == bindparam("project")) & (_TABLE.c.person_id == bindparam("person"))
_OPEN = select(*COLUMNS).where(_THEIRS)
_CLOSE = sql_delete(_TABLE).where(_THEIRS)
_PUT = insert(_TABLE)
_HAND_BACK = (
    update(_TABLE).where(_THEIRS, _TABLE.c.reserved_until > bindparam("now")).values(reserved_until=bindparam("now"))
)


def put(session: Session, question: OpenQuestion, *, alone: bool = False) -> None:
    """Open a question before a person, in place of the one that was open. alone : none is"""
    if not alone:
        delete_question(session, question.project_id, question.person_id)
    session.execute(_PUT, vars(question) | {"label": question.label or ""})


def get(session: Session, project_id: int, person_id: int) -> OpenQuestion | None:
    """The question open before this person; None if there is none."""
    found = session.execute(_OPEN, {"project": project_id, "person": person_id}).one_or_none()
    return None if found is None else as_question(found)


def as_question(found: Sequence[Any]) -> OpenQuestion:
    """The question of these values of COLUMNS."""
    values = dict(zip(_NAMES, found, strict=True))
    return OpenQuestion(**(values | {"label": values["label"] or None}))


def delete_question(session: Session, project_id: int, person_id: int) -> None:
    """Close the person's question; harmless when none is open."""
    session.execute(_CLOSE, {"project": project_id, "person": person_id})


# Questions that are open in a person's programs at the same time, each leased for some minutes.

_LEASES = Base.metadata.tables["leases"]
_LEASE = columns_of("leases", OpenQuestion)


def lease(session: Session, leases: Sequence[OpenQuestion], now: datetime) -> None:
    """Lease these questions of one project, replacing those with the same token and expired leases."""
    if leases:
        again = _LEASES.c.token.in_([one.token for one in leases])
        over = _LEASES.c.reserved_until <= now
        session.execute(sql_delete(_LEASES).where(_LEASES.c.project_id == leases[0].project_id, again | over))
        session.execute(insert(_LEASES), [vars(one) | {"label": one.label or ""} for one in leases])


def take_lease(
    session: Session, project_id: int, person_id: int, about: str | tuple[int, str | None]
) -> OpenQuestion | None:
    """End the lease of a question to this person's programs and return the question; None if it was not leased.

    about : its token, or its row and label
    """
    here = [_LEASES.c.project_id == project_id, _LEASES.c.person_id == person_id]
    if isinstance(about, str):
        here.append(_LEASES.c.token == about)
    else:
        here += [_LEASES.c.row == about[0], _LEASES.c.label == (about[1] or "")]
    found = session.execute(select(*_LEASE).where(*here)).first()
    if found is None:
        return None
    session.execute(sql_delete(_LEASES).where(*here))
    return as_question(found)


def _end_leases(session: Session, project_id: int, *whose: ColumnElement[bool]) -> None:
    session.execute(sql_delete(_LEASES).where(_LEASES.c.project_id == project_id, *whose))


# Batches: rows shown to a person together, to be confirmed with one click, and reserved for them.


@dataclass(frozen=True)
class RowTogether:
    """One row of a batch. share, predicted : the model's share of the batch's label, and its own prediction"""

    row: int
    share: float
    predicted: str | None


@dataclass(frozen=True, kw_only=True)
class StoredBatch:
    """A person's latest batch in a project.

    number : names each showing; it only grows, from a random start
    label : the label that a click gives to all rows      rows : empty once they are confirmed
    strategy, model_version : how they were found, and by which model
    shown_at : when it was first shown to the person, or shown again after it was handed back: the seconds spent count
    from
        it, and its rows were then as they were shown
    reserved_until : when its rows are offered to others again
    taken_out : rows of earlier batches that the person wants to be asked about alone
    """

    project_id: int
    person_id: int
    number: int
    label: str
    rows: tuple[RowTogether, ...]
    strategy: str
    model_version: int
    shown_at: datetime
    reserved_until: datetime
    taken_out: tuple[int, ...] = ()


_BATCHES_TABLE = Base.metadata.tables["batches"]


def put_batch(session: Session, batch: StoredBatch) -> None:
    """Store a person's batch in place of the one before."""
    here = (BatchRow.project_id == batch.project_id, BatchRow.person_id == batch.person_id)
    session.execute(delete(BatchRow).where(*here))
    values = asdict(batch) | {
        "rows": [list(asdict(one).values()) for one in batch.rows],
        "taken_out": list(batch.taken_out),
    }
    session.execute(insert(BatchRow).values(values))


def get_batch(session: Session, project_id: int, person_id: int) -> StoredBatch | None:
    """The latest batch of this person; None if there was none."""
    here = (BatchRow.project_id == project_id, BatchRow.person_id == person_id)
    found = session.execute(select(*_BATCHES_TABLE.c).where(*here)).one_or_none()
    if found is None:
        return None
    values = dict(found._mapping)
    rows = tuple(RowTogether(*one) for one in values["rows"])
    return StoredBatch(**(values | {"rows": rows, "taken_out": tuple(values["taken_out"])}))


def close_batch(session: Session, project_id: int, person_id: int | None = None) -> None:
    """Release the rows of a person's batch, or of everyone's; harmless if there are none."""
    query = update(BatchRow).where(BatchRow.project_id == project_id).values(rows=[])
    session.execute(query if person_id is None else query.where(BatchRow.person_id == person_id))


def hand_back_batch(session: Session, project_id: int, person_id: int, now: datetime) -> None:
    """Offer the rows of the person's batch to others; they stay in it until someone else gets them."""
    session.execute(
        update(BatchRow)
        .where(BatchRow.project_id == project_id, BatchRow.person_id == person_id, BatchRow.reserved_until > now)
        .values(reserved_until=now)
    )


# Reservations: rows on people's screens, alone or in a batch.

_QUESTIONS, _BATCHES = Base.metadata.tables["questions"], Base.metadata.tables["batches"]
_WHOLLY = 1_000_000
"""Greater than the number of annotators that a row can need."""
# Built once, and a single statement: it runs for every answer.
_OF_OTHERS = union_all(
    select(
        _QUESTIONS.c.row,
        _QUESTIONS.c.label,
        cast(null(), _BATCHES.c.rows.type).label("rows"),
        literal(1).label("people"),
    ).where(
        _QUESTIONS.c.project_id == bindparam("project"),
        _QUESTIONS.c.person_id != bindparam("person"),
        _QUESTIONS.c.reserved_until > bindparam("now"),
        _QUESTIONS.c.paused_at.is_(None),
    ),
    select(cast(null(), Integer), cast(null(), Text), _BATCHES.c.rows, literal(1)).where(
        _BATCHES.c.project_id == bindparam("project"),
        _BATCHES.c.person_id != bindparam("person"),
        _BATCHES.c.reserved_until > bindparam("now"),
    ),
    # A person is not asked about a row that is open in one of their programs.
    select(
        _LEASES.c.row,
        _LEASES.c.label,
        cast(null(), _BATCHES.c.rows.type),
        case((_LEASES.c.person_id == bindparam("person"), _WHOLLY), else_=1),
    ).where(_LEASES.c.project_id == bindparam("project"), _LEASES.c.reserved_until > bindparam("now")),
)


def reserved_places(
    session: Session, project_id: int, except_person: int, now: datetime
) -> Counter[tuple[int, str | None]]:
    """{(row, label asked about or None): how many others have it open now}. Rows open in this person's own programs
    count as `_WHOLLY`: the person is not asked about them again."""
    others = {"project": project_id, "person": except_person, "now": now}
    found: Counter[tuple[int, str | None]] = Counter()
    for row, label, together, people in session.execute(_OF_OTHERS, others):
        if row is not None:
            found[row, label or None] += people
        else:
            found.update((one, None) for one, *_ in together)
    return found


def close_reservations(session: Session, project_id: int) -> None:
    """Close everything that is open in the project: what the screens show may no longer be right."""
    session.execute(sql_delete(QuestionRow).where(QuestionRow.project_id == project_id))
    close_batch(session, project_id)
    _end_leases(session, project_id)


def close(session: Session, project_id: int, person_id: int) -> None:
    """Close what is open before this person; harmless when nothing is."""
    delete_question(session, project_id, person_id)
    close_batch(session, project_id, person_id)
    _end_leases(session, project_id, _LEASES.c.person_id == person_id)


def hand_back_reservations(session: Session, project_id: int, person_id: int, now: datetime) -> None:
    """Offer the person's open rows to others; they stay theirs until someone else gets them."""
    session.execute(_HAND_BACK, {"project": project_id, "person": person_id, "now": now})
    hand_back_batch(session, project_id, person_id, now)


# Person, role, project and length of its log: the statement that begins every transaction at a project.

_PEOPLE, _MEMBERS, _PROJECTS, _ENTRIES, _ENTERING_QUESTIONS, _GOALS = (
    Base.metadata.tables[name] for name in ("people", "members", "projects", "entries", "questions", "goals")
)
_HERE = bindparam("project_id", type_=Integer)
_LAST_SEQ = select(func.max(_ENTRIES.c.seq)).where(_ENTRIES.c.project_id == _HERE).scalar_subquery()
_WHO = (*columns_of("people", Person), _MEMBERS.c.role, _LAST_SEQ, *columns_of("projects", Project))


def _theirs(table: Table) -> ColumnElement[bool]:
    """The person's rows in this table at this project."""
    return and_(table.c.person_id == _PEOPLE.c.id, table.c.project_id == _HERE)


_FROM = _PEOPLE.outerjoin(_MEMBERS, _theirs(_MEMBERS)).outerjoin(_PROJECTS, _PROJECTS.c.id == _HERE)
_IS_HERE = _PEOPLE.c.id == bindparam("person_id")
_COMING = select(*_WHO).select_from(_FROM).where(_IS_HERE)
_TO_ANSWER = (
    select(*_WHO, *COLUMNS, _GOALS.c.person_id, *members.COLUMNS)
    .select_from(_FROM.outerjoin(_ENTERING_QUESTIONS, _theirs(_ENTERING_QUESTIONS)).outerjoin(_GOALS, _theirs(_GOALS)))
    .where(_IS_HERE)
)
_CUT = len(fields(Person))
_END, _GOAL = len(_WHO), len(_WHO) + len(COLUMNS)


@dataclass(frozen=True)
class Before:
    """The open question and the own settings of the person who answers; None if there are none."""

    question: OpenQuestion | None
    goal: StoredGoal | None


@dataclass(frozen=True)
class Entering:
    """A person, disabled or not, at a project.

    role : theirs in the project, None if they are not members of it      project : None if there is none
    height : seq of the project's latest entry, 0 before the first      before : None if it was not asked for
    """

    person: Person
    role: str | None
    project: Project | None
    height: int
    before: Before | None = None


def find(session: Session, person_id: int, project_id: int, *, to_answer: bool = False) -> Entering | None:
    """The person with this id at this project; None if there is no such person.

    to_answer : with what is before them
    """
    # The database may refuse other numbers, which come from a URL or a shell.
    wanted = {"person_id": person_id, "project_id": project_id if 0 < project_id <= LARGEST else 0}
    found = session.execute(_TO_ANSWER if to_answer else _COMING, wanted).one_or_none()
    if found is None:
        return None
    role, height, *project = found[_CUT:_END]
    return Entering(
        Person(*found[:_CUT]),
        role,
        None if project[0] is None else Project(*project),
        height or 0,
        _before(found) if to_answer else None,
    )


def _before(found: Sequence[Any]) -> Before:
    question, (whose, *goal) = found[_END:_GOAL], found[_GOAL:]
    return Before(None if question[0] is None else as_question(question), None if whose is None else StoredGoal(*goal))
