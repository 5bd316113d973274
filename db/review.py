"""Finding answered rows: for each row the latest answer that was not taken back, or every one, filtered and paged in
SQL; and every entry about one row.
"""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from sqlalchemy import ColumnElement, Select, Text, and_, case, cast, func, or_, select
from sqlalchemy.orm import Session

from db.entries import LogEntry, as_entry, every_column
from db.models import EntryRow


@dataclass(frozen=True, kw_only=True)
class Wanted:
    """Which answers are wanted; the defaults let every answer through.

    kinds : of entries that are looked at      every : whether each of them counts; else each row's latest alone
    person_id : only this person's entries are looked at
    labels : the answer names one of these      flagged : it was marked for a second look
    disagrees : it is of an `exact` kind, with another label than the model gave when it was asked
    exact : kinds of entries that say one label and no other, for `disagrees`
    now : {earlier name: name it has now} of labels that changed theirs, for `disagrees`
    """

    kinds: Sequence[str]
    person_id: int | None = None
    labels: Sequence[str] = ()
    flagged: bool = False
    disagrees: bool = False
    now: Mapping[str, str] = field(default_factory=dict)
    every: bool = False
    exact: Sequence[str] = ()


def of_row(session: Session, project_id: int, row: int) -> list[LogEntry]:
    """Every entry about this row, withdrawn ones and withdrawals too, in order; found by index."""
    query = every_column().where(EntryRow.project_id == project_id, EntryRow.row == row)
    return [as_entry(one) for one in session.execute(query.order_by(EntryRow.seq))]


def any_answer(session: Session, project_id: int, kinds: Sequence[str], person_id: int | None) -> bool:
    """Whether anybody, or this person, ever gave an answer of these kinds, taken back or not."""
    query = select(EntryRow.seq).where(EntryRow.project_id == project_id, EntryRow.kind.in_(kinds))
    if person_id is not None:
        query = query.where(EntryRow.person_id == person_id)
    return session.execute(query.limit(1)).first() is not None


def count(session: Session, project_id: int, wanted: Wanted) -> int:
    """How many answers are wanted."""
    found = select(EntryRow.seq).where(_is_wanted(project_id, wanted)).subquery()
    return session.execute(select(func.count()).select_from(found)).scalar_one()


def page(session: Session, project_id: int, wanted: Wanted, offset: int, limit: int) -> list[LogEntry]:
    """`limit` of the wanted answers after the first `offset`, the newest first."""
    query = _newest_first(every_column().where(_is_wanted(project_id, wanted))).offset(offset).limit(limit)
    return [as_entry(row) for row in session.execute(query)]


def places(session: Session, project_id: int, wanted: Wanted) -> list[tuple[int, int]]:
    """(seq, row) of all that are wanted, the newest first: for callers that filter further by what SQL cannot see."""
    query = select(EntryRow.seq, EntryRow.row).where(_is_wanted(project_id, wanted))
    return [(seq, row) for seq, row in session.execute(query.order_by(EntryRow.seq.desc()))]


def with_seqs(session: Session, project_id: int, seqs: Sequence[int]) -> list[LogEntry]:
    """These entries, the newest first; at most a page of them."""
    query = _newest_first(every_column().where(EntryRow.project_id == project_id, EntryRow.seq.in_(seqs)))
    return [as_entry(row) for row in session.execute(query)]


def count_naming(session: Session, project_id: int, names: Sequence[str], answers: Sequence[str]) -> int:
    """How many answers that were not taken back name one of these labels. answers : the kinds that are answers"""
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
    if wanted.flagged:
        wishes.append(EntryRow.flagged.is_(True))
    if wanted.disagrees:
        answered = _as_now(EntryRow.labels[0].as_string(), wanted.now)
        predicted = _as_now(EntryRow.predicted.expression, wanted.now)
        wishes += [EntryRow.kind.in_(wanted.exact), EntryRow.predicted.is_not(None), predicted != answered]
    return and_(*wishes)


def _as_now(name: ColumnElement[Any], now: Mapping[str, str]) -> ColumnElement[Any]:
    return case(dict(now), value=name, else_=name) if now else name


def _taken_back(project_id: int) -> Select[Any]:
    return select(EntryRow.target_seq).where(
        EntryRow.project_id == project_id, EntryRow.target_seq.is_not(None)
    )


def _names_one_of(labels: Sequence[str]) -> ColumnElement[bool]:
    """Labels are kept as a JSON list: a name is in it where taking its JSON text away changes the list's.

    LIKE would not do: SQLite's takes `A` for `a`.
    """
    kept = cast(EntryRow.labels, Text)
    return or_(*(func.replace(kept, json.dumps(label), "") != kept for label in labels))


def _newest_first(query: Select[Any]) -> Select[Any]:
    return query.order_by(EntryRow.seq.desc())
