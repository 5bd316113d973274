"""Every test of the query modules runs on SQLite and on PostgreSQL."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

import pytest

from db import entries, people, projects
from db.engine import Database
from db.questions import OpenQuestion
from tests.databases import backend, postgres_databases, postgres_server, postgres_url
from tests.migrated import lay_database

__all__ = ["backend", "postgres_databases", "postgres_server", "postgres_url"]

NOW = datetime(2026, 3, 1, 12, 0, tzinfo=UTC)


@pytest.fixture
def sqlite_url(tmp_path: Path) -> str:
    return f"sqlite:///{tmp_path / 'winnow.sqlite3'}"


@pytest.fixture
def empty(backend: str, request: pytest.FixtureRequest) -> Iterator[Database]:
    """A database without any table."""
    made = Database(request.getfixturevalue(f"{backend}_url"))
    yield made
    made.close()


@pytest.fixture
def database(backend: str, request: pytest.FixtureRequest, tmp_path: Path) -> Iterator[Database]:
    """A database with all tables and no rows."""
    if backend == "sqlite":
        url = f"sqlite:///{lay_database(tmp_path)}"
    else:
        url = request.getfixturevalue("postgres_databases")()
    made = Database(url)
    yield made
    made.close()


@pytest.fixture
def sqlite(tmp_path: Path, sqlite_url: str) -> Iterator[Database]:
    lay_database(tmp_path)
    made = Database(sqlite_url)
    yield made
    made.close()


def add_project(database: Database, name: str = "birds") -> int:
    """A project; its first owner is person 1, an annotator is person 2."""
    with database.write() as session:
        if people.first_owner(session) is None:
            people.add(session, "ada", "owner", NOW)
            people.add(session, "bob", "annotator", NOW)
        return projects.add(
            session,
            name=name,
            table_hash="0" * 64,
            roles={"candidates": "c", "numbers": ["x"]},
            settings={"n_neighbors": 3},
            description="",
            n_rows=5,
            n_classes=2,
            n_to_ask=4,
            created_by=1,
            created_at=NOW,
        )


def new_entry(project_id: int, revision: int = 0, **changes: object) -> entries.NewEntry:
    values: dict[str, object] = {
        "project_id": project_id,
        "kind": "is",
        "row": 3,
        "person_id": 1,
        "revision": revision,
        "at": NOW,
        "labels": ("wren",),
        "before": ("robin", "wren"),
        "after": ("wren",),
    } | changes
    values.setdefault("token", f"{values['person_id']}.{values['row']}.{values.get('label')}.{values['revision']}")
    return entries.NewEntry(**values)  # type: ignore[arg-type]


def new_question(project_id: int, **changes: Any) -> OpenQuestion:
    """A question about row 3 that is open for person 1."""
    question = OpenQuestion(
        project_id=project_id, person_id=1, row=3, token="1.3.0", revision=0, strategy="apl", score=0.5,
        model_version=2, decides=4, undecided=9, shown_at=NOW, reserved_at=NOW,
        reserved_until=NOW + timedelta(seconds=1),
    )  # fmt: skip
    return replace(question, **changes)


@pytest.fixture
def postgres(postgres_url: str) -> Iterator[Database]:
    made = Database(postgres_url)
    made.migrate()
    yield made
    made.close()
