"""Answers in the log: how many there are, how long they took, and those of one person."""

from __future__ import annotations

import json
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, field, replace
from datetime import datetime
from typing import NamedTuple, TypeVarTuple

from sqlalchemy import ColumnElement, Select, Text, and_, bindparam, case, cast, exists, false, func, or_, select, true
from sqlalchemy.orm import Session, aliased

from db.base import Base, columns_of
from db.entries import NO_ROW, LogEntry, as_entry, every_column
from db.models import EntryRow, ProjectRow

Columns = TypeVarTuple("Columns")

_TABLE = Base.metadata.tables["entries"]
# Built once: it runs for every answer, and building it takes as long as running it.
_WITHDRAWAL = _TABLE.alias()
_HISTORY = (
    select(
        *(
            _TABLE.c[name]
            for name in ("seq", "kind", "row", "label", "labels", "token", "before", "note", "flagged", "at")
        ),
        # Only one key: reading all of `asked` for a hundred entries costs as much as the rest.
        _TABLE.c.asked["batch"].as_string(),
        _WITHDRAWAL.c.seq,
        _WITHDRAWAL.c.person_id,
    )
    .outerjoin(
        _WITHDRAWAL, (_WITHDRAWAL.c.project_id == bindparam("project")) & (_WITHDRAWAL.c.target_seq == _TABLE.c.seq)
    )
    .where(
        _TABLE.c.project_id == bindparam("project"),
        _TABLE.c.person_id == bindparam("person"),
        _TABLE.c.row != NO_ROW,
        _TABLE.c.target_seq.is_(None),
    )
    .order_by(_TABLE.c.seq.desc())
    .limit(bindparam("limit"))
)


@dataclass(frozen=True)
class PastEntry:
    """The parts of an entry that a list of a person's answers needs.

    batch : the batch that `asked` names; None if it names none
    withdrawal, withdrawn_by : seq and person of the entry that withdrew this one; None if none did
    """

    seq: int
    kind: str
    row: int
    label: str | None
    labels: tuple[str, ...]
    token: str
    before: tuple[str, ...]
    note: str | None
    flagged: bool
    at: datetime
    batch: str | None
    withdrawal: int | None
    withdrawn_by: int | None


def history(session: Session, project_id: int, person_id: int, limit: int) -> list[PastEntry]:
    """This person's latest `limit` entries about rows, newest first; withdrawals are left out."""
    rows = session.execute(_HISTORY, {"project": project_id, "person": person_id, "limit": limit})
    return [
        PastEntry(seq, kind, row, label or None, tuple(labels), token, tuple(before), *more)
        for seq, kind, row, label, labels, token, before, *more in rows
    ]


def count(
    session: Session,
    project_id: int,
    answers: Collection[str],
    *,
    strategy: str | None = None,
    before: int | None = None,
    person_id: int | None = None,
) -> int:
    """Count the answers that were not withdrawn.

    answers : kinds of entries that are answers      strategy : count only questions asked by this strategy
    person_id : count only this person's answers
    before : count as of just before the entry with this seq; None: the present
    """
    withdrawal = aliased(EntryRow)
    withdrawn = select(withdrawal.seq).where(withdrawal.project_id == project_id, withdrawal.target_seq == EntryRow.seq)
    found = select(func.count()).where(EntryRow.project_id == project_id, EntryRow.kind.in_(answers))
    if before is not None:
        withdrawn = withdrawn.where(withdrawal.seq < before)
        found = found.where(EntryRow.seq < before)
    if strategy is not None:
        found = found.where(EntryRow.strategy == strategy)
    if person_id is not None:
        found = found.where(EntryRow.person_id == person_id)
    return session.execute(found.where(~withdrawn.exists())).scalar_one()


def answered_rows(session: Session, project_id: int, answers: Collection[str]) -> int:
    """Count the rows that have an answer that was not withdrawn and at most one label in `after` of their latest
    entry.

    answers : the kinds of entries that are answers
    """
    here = EntryRow.project_id == project_id
    latest = select(func.max(EntryRow.seq)).where(here).group_by(EntryRow.row)
    decided = select(EntryRow.row).where(here, EntryRow.seq.in_(latest), func.json_array_length(EntryRow.after) < 2)
    return session.execute(
        select(func.count(func.distinct(EntryRow.row))).where(
            here, EntryRow.kind.in_(answers), EntryRow.row.in_(decided), ~_withdrawn()
        )
    ).scalar_one()


def answers_of(
    session: Session, project_id: int, answers: Collection[str], without: Collection[int] = ()
) -> list[tuple[int, str, tuple[str, ...]]]:
    """(row, kind, labels) of every answer that was not withdrawn, in order. answers : the kinds that are answers
    without : people whose answers are left out"""
    found = select(EntryRow.row, EntryRow.kind, EntryRow.labels).where(
        EntryRow.project_id == project_id, EntryRow.kind.in_(answers), ~_withdrawn()
    )
    if without:
        found = found.where(EntryRow.person_id.not_in(without))
    return [(row, kind, tuple(labels)) for row, kind, labels in session.execute(found.order_by(EntryRow.seq))]


def latest_people(session: Session, project_id: int, answers: Collection[str], rows: Collection[int]) -> dict[int, int]:
    """Return {row: person who gave its latest answer that was not withdrawn}; rows without one are left out.

    answers : the kinds that are answers      rows : some thousands at most
    """
    here = EntryRow.project_id == project_id
    latest = (
        select(func.max(EntryRow.seq))
        .where(here, EntryRow.row.in_(rows), EntryRow.kind.in_(answers), ~_withdrawn())
        .group_by(EntryRow.row)
    )
    found = select(EntryRow.row, EntryRow.person_id).where(here, EntryRow.seq.in_(latest))
    return {one.row: one.person_id for one in session.execute(found)}


def latest_seconds(
    session: Session,
    project_id: int,
    limit: int,
    without_kinds: Collection[str] = (),
    without_note: str | None = None,
    person_id: int | None = None,
) -> list[float]:
    """Seconds spent on each of the project's latest entries, newest first, without withdrawals and without rows
    confirmed in a batch: their share of the batch's seconds says nothing about a person's pace.

    without_kinds, without_note : entries of these kinds, or with this note, do not count either
    person_id : only entries of this person
    """
    spent = select(EntryRow.seconds).where(
        EntryRow.project_id == project_id, EntryRow.seconds.is_not(None), EntryRow.asked["batch"].as_string().is_(None)
    )
    if person_id is not None:
        spent = spent.where(EntryRow.person_id == person_id)
    if without_note is not None:
        spent = spent.where(EntryRow.note.is_distinct_from(without_note))
    answers = (
        spent.where(EntryRow.kind.not_in(without_kinds), EntryRow.target_seq.is_(None))
        .order_by(EntryRow.seq.desc())
        .limit(limit)
    )
    return [seconds for seconds in session.execute(answers).scalars() if seconds is not None]


@dataclass(frozen=True)
class TimedAnswer:
    """Cost of an answer. choices : number of labels before it      asked : how its question was put, None if
    unknown"""

    person_id: int
    seconds: float
    choices: int
    asked: dict[str, object] | None


def timed(
    session: Session, project_id: int, answers: Collection[str], limit: int, without_note: str
) -> list[TimedAnswer]:
    """The latest answers whose seconds are known, newest first. Withdrawn answers count: the time was spent.

    answers : the kinds that are answers      without_note : answers with this note are left out
    """
    found = (
        select(EntryRow.person_id, EntryRow.seconds, EntryRow.before, EntryRow.asked)
        .where(
            EntryRow.project_id == project_id,
            EntryRow.kind.in_(answers),
            EntryRow.seconds.is_not(None),
            EntryRow.note.is_distinct_from(without_note),
        )
        .order_by(EntryRow.seq.desc())
        .limit(limit)
    )
    return [
        TimedAnswer(person_id, float(seconds or 0.0), len(before), asked)
        for person_id, seconds, before, asked in session.execute(found)
    ]


def _withdrawn() -> ColumnElement[bool]:
    """True for an entry that a later one withdraws."""
    withdrawal = aliased(EntryRow)
    return (
        select(withdrawal.seq)
        .where(withdrawal.project_id == EntryRow.project_id, withdrawal.target_seq == EntryRow.seq)
        .exists()
    )


@dataclass(frozen=True, slots=True)
class SaidEntry:
    """The parts of an entry about a row that statistics about people need, as they are in the log."""

    seq: int
    kind: str
    row: int
    label: str
    labels: list[str]
    after: list[str]
    person_id: int
    token: str
    predicted: str | None
    seconds: float | None
    note: str | None
    at: datetime
    asked: dict[str, object] | None


_SAID = select(*columns_of("entries", SaidEntry), _TABLE.c.target_seq).where(
    _TABLE.c.project_id == bindparam("project"), _TABLE.c.row != NO_ROW
)


def said(session: Session, project_id: int) -> list[SaidEntry]:
    """Return every entry about a row that was not withdrawn, in order; withdrawals are left out."""
    rows = session.execute(_SAID.order_by(_TABLE.c.seq), {"project": project_id}).all()
    withdrawn = {row[-1] for row in rows if row[-1] is not None}
    return [SaidEntry(*row[:-1]) for row in rows if row[-1] is None and row[0] not in withdrawn]


# Finding answered rows: each row's latest answer that was not withdrawn, or all of its answers, filtered and paged
# in SQL; and every entry about one row.


CORRECTION = "review"
"""The strategy of an entry that corrects a row: someone chose the row on the Review page."""


@dataclass(frozen=True, kw_only=True)
class Wanted:
    """A filter of answers; by default it accepts every answer.

    kinds : kinds of entries to search      every : every such entry counts; False: only the latest of each row
    person_id : search only this person's entries
    labels : the answer names one of these      flagged : it was marked for a second look
    corrected : it corrects a row (see `CORRECTION`)
    disagrees : it is of an `exact` kind, and its label differs from the model's prediction at that time
    exact : kinds of entries that give exactly one label, for `disagrees`
    by_kind : its kind is compared with the prediction, not its label. A prediction for a whole row, which is JSON, then
        always differs: the caller compares it
    whole : it is about a whole row, not about one label of it
    now : {earlier name: present name} of renamed labels, for `disagrees`
    """

    kinds: Sequence[str]
    person_id: int | None = None
    labels: Sequence[str] = ()
    flagged: bool = False
    disagrees: bool = False
    corrected: bool = False
    now: Mapping[str, str] = field(default_factory=dict)
    every: bool = False
    exact: Sequence[str] = ()
    by_kind: bool = False
    whole: bool = False


FILTERS = ("flagged", "disagrees", "corrected")
"""Fields of `Wanted` that are filters, each on or off."""


class Tally(NamedTuple):
    """Counts of wanted answers.

    listed : all of them      flagged, disagreeing, corrected : those left if they must also be flagged, disagree, or
        be corrections
    """

    listed: int
    flagged: int
    disagreeing: int
    corrected: int


class FoundPlace(NamedTuple):
    """A wanted answer, and whether it passes each filter of `Wanted`, `FILTERS`."""

    seq: int
    row: int
    flagged: bool
    disagrees: bool
    corrected: bool


def of_row(session: Session, project_id: int, row: int) -> list[LogEntry]:
    """Every entry about this row, withdrawn ones and withdrawals too, in order; found by index."""
    query = every_column().where(EntryRow.project_id == project_id, EntryRow.row == row)
    return [as_entry(one) for one in session.execute(query.order_by(EntryRow.seq))]


def any_answer(session: Session, project_id: int, kinds: Sequence[str], person_id: int | None) -> bool:
    """Whether anyone, or this person, ever gave an answer of these kinds, withdrawn or not."""
    query = select(EntryRow.seq).where(EntryRow.project_id == project_id, EntryRow.kind.in_(kinds))
    if person_id is not None:
        query = query.where(EntryRow.person_id == person_id)
    return session.execute(query.limit(1)).first() is not None


def begun(session: Session, project_ids: Collection[int], kinds: Sequence[str], person_id: int) -> set[int]:
    """The projects among these in which the person ever gave an answer of these kinds, withdrawn or not."""
    given = exists().where(
        EntryRow.project_id == ProjectRow.id, EntryRow.person_id == person_id, EntryRow.kind.in_(kinds)
    )
    return set(session.scalars(select(ProjectRow.id).where(ProjectRow.id.in_(project_ids), given)))


def count_rows(session: Session, project_id: int, kinds: Sequence[str], person_id: int | None) -> int:
    """Count the rows with an answer of these kinds that was not withdrawn, by anyone or this person: the answers that
    `tally` lists for them without a wish, in a third of the time."""
    found = select(func.count(EntryRow.row.distinct())).where(
        EntryRow.project_id == project_id, EntryRow.kind.in_(kinds), EntryRow.seq.not_in(_taken_back(project_id))
    )
    if person_id is not None:
        found = found.where(EntryRow.person_id == person_id)
    return session.execute(found).scalar_one()


def tally(session: Session, project_id: int, wanted: Wanted) -> Tally:
    """Count the wanted answers in one statement."""
    rules = _rules(wanted)
    on = [rule for name, rule in rules.items() if getattr(wanted, name)]
    counts = (func.count(case((and_(true(), *on, more), 1))) for more in (true(), *rules.values()))
    return Tally._make(session.execute(select(*counts).where(_is_wanted(project_id, unfiltered(wanted)))).one())


def narrowed(places: Sequence[FoundPlace], on: Collection[str]) -> tuple[list[FoundPlace], Tally]:
    """Return the places that pass the filters that are on, and the counts as `tally` counts. on : some of FILTERS"""
    left = [one for one in places if all(getattr(one, name) for name in on)]
    return left, Tally(len(left), *(sum(getattr(one, name) for one in left) for name in FILTERS))


def unfiltered(wanted: Wanted) -> Wanted:
    """Return the same wish without its filters."""
    return replace(wanted, flagged=False, disagrees=False, corrected=False)


def page(session: Session, project_id: int, wanted: Wanted, offset: int, limit: int) -> list[LogEntry]:
    """Return up to `limit` wanted answers after the first `offset`, newest first."""
    query = _newest_first(every_column().where(_is_wanted(project_id, wanted))).offset(offset).limit(limit)
    return [as_entry(row) for row in session.execute(query)]


def places(session: Session, project_id: int, wanted: Wanted) -> list[FoundPlace]:
    """All wanted answers, newest first, for callers that filter further in Python."""
    passes = (case((rule, true()), else_=false()) for rule in _rules(wanted).values())
    query = select(EntryRow.seq, EntryRow.row, *passes).where(_is_wanted(project_id, wanted))
    return [FoundPlace(*one) for one in session.execute(query.order_by(EntryRow.seq.desc()))]


def flagged(session: Session, project_id: int, kinds: Sequence[str]) -> dict[int, set[int]]:
    """{row: seqs of its flagged answers of these kinds that were not withdrawn}; rows without any are left out."""
    found: dict[int, set[int]] = {}
    for row, seq in session.execute(
        select(EntryRow.row, EntryRow.seq).where(
            EntryRow.project_id == project_id,
            EntryRow.flagged.is_(True),
            EntryRow.kind.in_(kinds),
            EntryRow.seq.not_in(_taken_back(project_id)),
        )
    ):
        found.setdefault(row, set()).add(seq)
    return found


def with_seqs(session: Session, project_id: int, seqs: Sequence[int]) -> list[LogEntry]:
    """These entries, the newest first; at most a page of them."""
    query = _newest_first(every_column().where(EntryRow.project_id == project_id, EntryRow.seq.in_(seqs)))
    return [as_entry(row) for row in session.execute(query)]


def count_naming(session: Session, project_id: int, names: Sequence[str], answers: Sequence[str]) -> int:
    """Count the answers, not withdrawn, that name one of these labels. answers : kinds of entries that are answers"""
    return session.execute(
        select(func.count()).where(
            EntryRow.project_id == project_id,
            EntryRow.kind.in_(answers),
            EntryRow.seq.not_in(_taken_back(project_id)),
            _names_one_of(names),
        )
    ).scalar_one()


def _is_wanted(project_id: int, wanted: Wanted) -> ColumnElement[bool]:
    looked_at = [
        EntryRow.project_id == project_id,
        EntryRow.kind.in_(wanted.kinds),
        EntryRow.seq.not_in(_taken_back(project_id)),
    ]
    if wanted.person_id is not None:
        looked_at.append(EntryRow.person_id == wanted.person_id)
    wishes = looked_at
    if not wanted.every:
        latest = select(func.max(EntryRow.seq)).where(*looked_at).group_by(EntryRow.row)
        wishes = [EntryRow.project_id == project_id, EntryRow.seq.in_(latest)]
    if wanted.labels:
        wishes.append(_names_one_of(wanted.labels))
    if wanted.whole:
        wishes.append(EntryRow.label == "")
    return and_(*wishes, *(rule for name, rule in _rules(wanted).items() if getattr(wanted, name)))


def _rules(wanted: Wanted) -> dict[str, ColumnElement[bool]]:
    """Return {filter of FILTERS: its condition}."""
    return {
        "flagged": EntryRow.flagged.is_(True),
        "disagrees": _disagrees(wanted),
        "corrected": EntryRow.strategy == CORRECTION,
    }


def _disagrees(wanted: Wanted) -> ColumnElement[bool]:
    answered = EntryRow.kind.expression if wanted.by_kind else _as_now(EntryRow.labels[0].as_string(), wanted.now)
    predicted = _as_now(EntryRow.predicted.expression, wanted.now)
    return and_(EntryRow.kind.in_(wanted.exact), EntryRow.predicted.is_not(None), predicted != answered)


def _as_now(name: ColumnElement[str | None], now: Mapping[str, str]) -> ColumnElement[str | None]:
    return case(dict(now), value=name, else_=name) if now else name


def _taken_back(project_id: int) -> Select[int | None]:
    return select(EntryRow.target_seq).where(EntryRow.project_id == project_id, EntryRow.target_seq.is_not(None))


def _names_one_of(labels: Sequence[str]) -> ColumnElement[bool]:
    """Labels are stored as a JSON list: a name is in it if removing the name's JSON text changes the list's text.

    LIKE would not do: in SQLite it ignores case.
    """
    kept = cast(EntryRow.labels, Text)
    return or_(*(func.replace(kept, json.dumps(label), "") != kept for label in labels))


def _newest_first(query: Select[*Columns]) -> Select[*Columns]:
    return query.order_by(EntryRow.seq.desc())
