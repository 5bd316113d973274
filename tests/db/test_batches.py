"""Batches: one open batch a person, its rows reserved for them."""

from __future__ import annotations

from collections import Counter
from dataclasses import replace
from datetime import UTC, datetime, timedelta

from sqlalchemy.orm import Session

from db import questions
from db.engine import Database
from db.questions import RowTogether, StoredBatch
from tests.db.conftest import add_project

NOW = datetime(2026, 1, 1, 12, tzinfo=UTC)
LATER = NOW + timedelta(minutes=2)


def batch(project: int, person: int, *rows: int) -> StoredBatch:
    return StoredBatch(
        project_id=project,
        person_id=person,
        number=1,
        label="bee",
        rows=tuple(RowTogether(row, 0.75, "bee" if row % 2 else None) for row in rows),
        strategy="batch",
        model_version=7,
        shown_at=NOW,
        reserved_until=LATER,
        taken_out=(9,),
    )


def reserved(
    session: Session, project: int, person: int, now: datetime = NOW
) -> Counter[tuple[int, str | None]]:
    return questions.reserved_places(session, project, person, now)


def test_a_batch_comes_back_as_it_was_stored_and_replaces_the_one_before(database: Database) -> None:
    project = add_project(database)
    with database.write() as session:
        assert questions.get_batch(session, project, 1) is None
        questions.put_batch(session, batch(project, 1, 3, 4))
        assert questions.get_batch(session, project, 1) == batch(project, 1, 3, 4)
        second = replace(batch(project, 1, 5), number=2)
        questions.put_batch(session, second)
        assert questions.get_batch(session, project, 1) == second
        assert questions.get_batch(session, project, 2) is None


def test_its_rows_are_reserved_beside_questions(database: Database) -> None:
    project = add_project(database)
    with database.write() as session:
        questions.put_batch(session, batch(project, 1, 3, 4))
        questions.put_batch(session, batch(project, 2, 4, 5))
        assert reserved(session, project, 1) == {(4, None): 1, (5, None): 1}
        assert reserved(session, project, 3) == {(3, None): 1, (4, None): 2, (5, None): 1}
        assert not reserved(session, project + 1, 3)
        assert not reserved(session, project, 3, LATER)
        questions.hand_back_reservations(session, project, 1, NOW)
        assert reserved(session, project, 3) == {(4, None): 1, (5, None): 1}
        kept = questions.get_batch(session, project, 1)
        assert kept is not None
        assert len(kept.rows) == 2, "they stay theirs until somebody else has them"


def test_what_is_closed_keeps_its_number(database: Database) -> None:
    project = add_project(database)
    with database.write() as session:
        for person in (1, 2):
            questions.put_batch(session, batch(project, person, person))
        questions.close(session, project, 1)
        assert questions.get_batch(session, project, 1) == batch(project, 1)
        assert questions.get_batch(session, project, 2) == batch(project, 2, 2)
        questions.close_reservations(session, project)
        assert questions.get_batch(session, project, 2) == batch(project, 2)
        assert questions.get(session, project, 1) is None
