"""Members of projects and their roles. Owners of this Winnow are not listed: every project is theirs."""

from __future__ import annotations

from collections.abc import Collection, Sequence
from dataclasses import asdict, dataclass, replace
from datetime import datetime

from sqlalchemy import bindparam, delete, exists, func, insert, or_, select, update
from sqlalchemy.orm import Session

from db.base import Base, columns_of
from db.models import (
    DisputeNoteRow,
    EntryRow,
    ExampleRow,
    GoalRow,
    GroupMemberRow,
    GroupRow,
    MemberRow,
    PersonRow,
    QualificationRow,
)
from db.people import Person


@dataclass(frozen=True)
class Member:
    """`role` is 'owner', 'reviewer', 'annotator' or 'viewer'; `added_by` a person, None if no one added them."""

    project_id: int
    person_id: int
    role: str
    added_at: datetime
    added_by: int | None


_PEOPLE, _TABLE = Base.metadata.tables["people"], Base.metadata.tables["members"]
_PERSON = columns_of("people", Person)


def roles_of(session: Session, person_id: int) -> dict[int, str]:
    """{project: role} of a person, also of projects that are not in use."""
    found = select(MemberRow.project_id, MemberRow.role).where(MemberRow.person_id == person_id)
    return {one.project_id: one.role for one in session.execute(found)}


def listed(session: Session, project_id: int) -> list[tuple[Person, Member]]:
    """The members of a project, disabled people too, in the order of their names."""
    found = (
        select(*_PERSON, *columns_of("members", Member))
        .join(_TABLE, _TABLE.c.person_id == _PEOPLE.c.id)
        .where(_TABLE.c.project_id == project_id)
        .order_by(_PEOPLE.c.name, _PEOPLE.c.id)
    )
    cut = len(_PERSON)
    return [(Person(*row[:cut]), Member(*row[cut:])) for row in session.execute(found)]


def concerned(session: Session, project_id: int, kinds: Sequence[str]) -> list[Person]:
    """People who can be seen in a project, in order of arrival: its members, the owners of this Winnow, and everyone
    who has ever made an entry of one of these kinds in it."""
    member = exists().where(MemberRow.project_id == project_id, MemberRow.person_id == PersonRow.id)
    entry = exists().where(
        EntryRow.project_id == project_id, EntryRow.person_id == PersonRow.id, EntryRow.kind.in_(kinds)
    )
    found = select(*_PERSON).where(or_(PersonRow.role == "owner", member, entry)).order_by(_PEOPLE.c.id)
    return [Person(*row) for row in session.execute(found)]


def put(session: Session, project_id: int, person_id: int, role: str, *, at: datetime, by: int | None) -> None:
    """Make a person a member, or give a member another role. For a member, who added them, and when, stays."""
    key = MemberRow.project_id == project_id, MemberRow.person_id == person_id
    if session.execute(update(MemberRow).where(*key).values(role=role).returning(MemberRow.role)).first():
        return
    values = {"project_id": project_id, "person_id": person_id, "role": role, "added_at": at, "added_by": by}
    session.execute(insert(MemberRow).values(values))


def remove(session: Session, project_id: int, person_id: int) -> None:
    """End a membership; harmless if there is none."""
    key = MemberRow.project_id == project_id, MemberRow.person_id == person_id
    session.execute(delete(MemberRow).where(*key))


def owners(session: Session, project_id: int) -> list[int]:
    """The people, by id, who own a project and may sign in: its own owners, and those of this Winnow."""
    own = exists().where(
        MemberRow.project_id == project_id, MemberRow.person_id == PersonRow.id, MemberRow.role == "owner"
    )
    found = select(PersonRow.id).where(PersonRow.disabled_at.is_(None), or_(PersonRow.role == "owner", own))
    return list(session.execute(found.order_by(PersonRow.id)).scalars())


# Groups: people under a name, to be invited to a project at once.


@dataclass(frozen=True)
class Group:
    """people : ids, in order"""

    id: int
    name: str
    people: tuple[int, ...]


def list_groups(session: Session) -> list[Group]:
    """All groups in the order of their names."""
    within: dict[int, list[int]] = {}
    for group_id, person_id in session.execute(
        select(GroupMemberRow.group_id, GroupMemberRow.person_id).order_by(GroupMemberRow.person_id)
    ):
        within.setdefault(group_id, []).append(person_id)
    found = session.execute(select(GroupRow.id, GroupRow.name).order_by(GroupRow.name))
    return [Group(number, name, tuple(within.get(number, ()))) for number, name in found]


def find(session: Session, group_id: int) -> Group | None:
    """The group with this id; None if there is none."""
    return next((one for one in list_groups(session) if one.id == group_id), None)


def add(session: Session, name: str, people: Collection[int], at: datetime) -> int:
    """Make a group and return its id; IntegrityError where the name is taken."""
    made = insert(GroupRow).values({"name": name, "created_at": at}).returning(GroupRow.id)
    group_id = session.execute(made).scalar_one()
    _fill(session, group_id, people)
    return group_id


def change(session: Session, group_id: int, name: str, people: Collection[int]) -> None:
    """Give a group another name and other people."""
    session.execute(update(GroupRow).where(GroupRow.id == group_id).values(name=name))
    session.execute(delete(GroupMemberRow).where(GroupMemberRow.group_id == group_id))
    _fill(session, group_id, people)


def remove_group(session: Session, group_id: int) -> None:
    """Take a group away, not its people; harmless if there is none."""
    session.execute(delete(GroupMemberRow).where(GroupMemberRow.group_id == group_id))
    session.execute(delete(GroupRow).where(GroupRow.id == group_id))


def _fill(session: Session, group_id: int, people: Collection[int]) -> None:
    rows = [{"group_id": group_id, "person_id": one} for one in sorted(set(people))]
    if rows:
        session.execute(insert(GroupMemberRow), rows)


# People's own settings for a project (a daily goal, breaks), and their progress on a day.


@dataclass(frozen=True)
class StoredGoal:
    """answers, minutes : the goal of a day      break_after : minutes until a break is offered; None: never
    rested_at : when the person came back from their latest pause
    reached_on : the day on which they were notified that the goal is reached"""

    answers: int | None
    minutes: int | None
    break_after: int | None
    rested_at: datetime | None = None
    reached_on: str | None = None


_GOALS_TABLE = Base.metadata.tables["goals"]
# Built once: it runs for every answer, and to build it takes as long as to run it.
COLUMNS = columns_of("goals", StoredGoal)
_THEIRS = select(*COLUMNS).where(
    _GOALS_TABLE.c.project_id == bindparam("project"), _GOALS_TABLE.c.person_id == bindparam("person")
)


@dataclass(frozen=True)
class TimedEntry:
    """An entry of a person about a row: its token, seconds, moment, and whether it was withdrawn."""

    seq: int
    kind: str
    token: str
    seconds: float | None
    at: datetime
    withdrawn: bool


def get(session: Session, project_id: int, person_id: int) -> StoredGoal | None:
    """Settings of this person; None if they have set nothing."""
    found = session.execute(_THEIRS, {"project": project_id, "person": person_id}).one_or_none()
    return None if found is None else StoredGoal(*found)


def put_goal(session: Session, project_id: int, person_id: int, goal: StoredGoal) -> None:
    """Store it, replacing the previous one."""
    here = (GoalRow.project_id == project_id, GoalRow.person_id == person_id)
    session.execute(delete(GoalRow).where(*here))
    session.execute(insert(GoalRow).values(project_id=project_id, person_id=person_id, **asdict(goal)))


def note_rest(session: Session, project_id: int, person_id: int, at: datetime, break_after: int | None) -> None:
    """Note that the person came back from a pause. break_after : stored if they have no settings yet"""
    goal = get(session, project_id, person_id) or StoredGoal(None, None, break_after)
    put_goal(session, project_id, person_id, replace(goal, rested_at=at))


def entries_since(
    session: Session,
    project_id: int,
    person_id: int,
    since: datetime,
    kinds: Collection[str],
    without_note: str | None = None,
) -> list[TimedEntry]:
    """This person's entries of these kinds from that moment on, in order. without_note : those with this do not count

    Moments grow with the log, so that only its end is read.
    """
    before = (
        select(EntryRow.seq)
        .where(EntryRow.project_id == project_id, EntryRow.at < since)
        .order_by(EntryRow.seq.desc())
        .limit(1)
        .scalar_subquery()
    )
    later = (EntryRow.project_id == project_id, EntryRow.seq > func.coalesce(before, 0))
    withdrawn = set(session.scalars(select(EntryRow.target_seq).where(*later, EntryRow.target_seq > 0)))
    query = select(EntryRow.seq, EntryRow.kind, EntryRow.token, EntryRow.seconds, EntryRow.at).where(
        *later, EntryRow.person_id == person_id, EntryRow.kind.in_(kinds)
    )
    if without_note is not None:
        query = query.where(EntryRow.note.is_distinct_from(without_note))
    return [
        TimedEntry(seq, kind, token, seconds, at, seq in withdrawn)
        for seq, kind, token, seconds, at in session.execute(query.order_by(EntryRow.seq))
    ]


# Attempts of people to answer known rows before they start. They are not in the log, and no model learns from them.


@dataclass(frozen=True, kw_only=True)
class Attempt:
    """One attempt. attempt : its number, from 1      rows : what is asked, in order
    given : answers to the first of these rows      n_right : how many of the answers were right
    passed_at : when the person was admitted; None before that      let_in_by : who admitted them without an
    attempt"""

    person_id: int
    attempt: int
    rows: list[int]
    given: list[str]
    n_right: int
    began_at: datetime
    passed_at: datetime | None = None
    let_in_by: int | None = None

    @property
    def over(self) -> bool:
        """Whether every row has been answered."""
        return len(self.given) == len(self.rows)


def put_qualification(session: Session, project_id: int, attempt: Attempt) -> None:
    """Store the current state of an attempt."""
    row = QualificationRow
    session.execute(
        delete(row).where(
            row.project_id == project_id, row.person_id == attempt.person_id, row.attempt == attempt.attempt
        )
    )
    session.execute(insert(row).values(project_id=project_id, **asdict(attempt)))


def of_person(session: Session, project_id: int, person_id: int) -> list[Attempt]:
    """The attempts of one person, in order."""
    return [one for one in of_project(session, project_id) if one.person_id == person_id]


def of_project(session: Session, project_id: int) -> list[Attempt]:
    """The attempts of everyone, each person's in order."""
    row = QualificationRow
    found = select(*columns_of("qualifications", Attempt)).where(row.project_id == project_id)
    return [Attempt(**one._mapping) for one in session.execute(found.order_by(row.person_id, row.attempt))]


def has_entries(session: Session, project_id: int, person_id: int) -> bool:
    """Whether this person has an entry in the project's log."""
    query = select(EntryRow.seq).where(EntryRow.project_id == project_id, EntryRow.person_id == person_id)
    return session.execute(query.limit(1)).first() is not None


# Rows that an owner marked: to show what a class looks like, or to be asked before someone starts.


@dataclass(frozen=True)
class Marked:
    """A marked row. label : the class's name when it was marked      purpose : a word of the callers'"""

    row: int
    label: str
    purpose: str
    note: str
    marked_by: int
    marked_at: datetime


_EXAMPLES_TABLE = Base.metadata.tables["examples"]
_COLUMNS = select(*columns_of("examples", Marked))


def put_example(session: Session, project_id: int, marked: Marked) -> None:
    """Mark a row, in place of an earlier mark."""
    remove_example(session, project_id, marked.row)
    session.execute(insert(ExampleRow).values(project_id=project_id, **asdict(marked)))


def remove_example(session: Session, project_id: int, row: int) -> None:
    """Remove the mark; harmless if there is none."""
    session.execute(delete(ExampleRow).where(ExampleRow.project_id == project_id, ExampleRow.row == row))


def list_examples(session: Session, project_id: int, purpose: str) -> list[Marked]:
    """The rows marked for this, by row number."""
    query = _COLUMNS.where(_EXAMPLES_TABLE.c.project_id == project_id, _EXAMPLES_TABLE.c.purpose == purpose)
    return [Marked(*row) for row in session.execute(query.order_by(_EXAMPLES_TABLE.c.row))]


def of_row(session: Session, project_id: int, row: int) -> Marked | None:
    """The mark of a row; None if it has none."""
    query = _COLUMNS.where(_EXAMPLES_TABLE.c.project_id == project_id, _EXAMPLES_TABLE.c.row == row)
    found = session.execute(query).one_or_none()
    return None if found is None else Marked(*found)


# Notes next to rows that people disagree on: added, never changed.


@dataclass(frozen=True)
class DisputeNote:
    """A person's note on a row."""

    row: int
    person_id: int
    at: datetime
    text: str


def add_dispute_note(session: Session, project_id: int, note: DisputeNote) -> None:
    """Store it after those there are."""
    session.execute(insert(DisputeNoteRow).values(project_id=project_id, **asdict(note)))


def dispute_notes_of_row(session: Session, project_id: int, row: int) -> list[DisputeNote]:
    """The notes next to this row, in the order in which they were written."""
    query = (
        select(*columns_of("dispute_notes", DisputeNote))
        .where(DisputeNoteRow.project_id == project_id, DisputeNoteRow.row == row)
        .order_by(DisputeNoteRow.id)
    )
    return [DisputeNote(*one) for one in session.execute(query)]
