from __future__ import annotations

import json
from collections.abc import Callable
from dataclasses import replace
from datetime import UTC, datetime
from pathlib import Path

import pytest
from alembic import command
from alembic.autogenerate import compare_metadata
from alembic.config import Config
from alembic.migration import MigrationContext
from alembic.script import ScriptDirectory
from sqlalchemy import text
from sqlalchemy.exc import DBAPIError
from sqlalchemy.orm import Session

from db import (
    accounts,
    batches,
    comparisons,
    encodings,
    entries,
    events,
    members,
    past_settings,
    projects,
    random_orders,
    sign_ins,
    snapshots,
    trained,
)
from db.base import Base
from db.engine import MIGRATIONS, Database
from db.snapshots import StoredSnapshot
from tests.db.conftest import new_entry
from tests.db.test_batches import batch


def add_people(session: Session, **roles: str) -> None:
    """As every version of the tables had them. roles : {name: role}"""
    for name, role in roles.items():
        session.execute(
            text("INSERT INTO people (name, role, created_at) VALUES (:name, :role, '2026-01-01')"),
            {"name": name, "role": role},
        )


def add_projects(session: Session, *names: str) -> None:
    """Of the first person, as the tables have had them since there were rooms."""
    for name in names:
        session.execute(
            text(
                "INSERT INTO projects (name, table_hash, roles, settings, description, n_rows, n_classes, "
                "n_to_ask, created_at, created_by, room) "
                "VALUES (:name, '0', '{}', '{}', '', 1, 2, 1, '2026-01-01', 1, '{}')"
            ),
            {"name": name},
        )


def test_the_migrations_make_the_tables_of_the_models(database: Database) -> None:
    with database.write() as session:
        context = MigrationContext.configure(session.connection(), opts={"compare_type": True})
        assert compare_metadata(context, Base.metadata) == []
        assert context.get_current_revision() == ScriptDirectory(str(MIGRATIONS)).get_current_head()


def test_migrating_again_changes_nothing(database: Database) -> None:
    with database.write() as session:
        add_people(session, ada="owner")
    database.migrate()
    with database.read() as session:
        assert session.execute(text("SELECT name FROM people")).scalars().all() == ["ada"]


def test_tables_that_are_up_to_date_are_left_alone(
    database: Database, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("db.revisions.command.upgrade", lambda *_: pytest.fail("read every migration"))
    database.migrate()


def test_any_working_directory_will_do(
    sqlite_url: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    made = Database(sqlite_url)
    made.migrate()
    with made.read() as session:
        assert session.execute(text("SELECT version_num FROM alembic_version")).scalar_one() == "0019"
    made.close()


def move(database: Database, revision: str, way: Callable[[Config, str], None]) -> None:
    """Bring the tables to this revision, up or down."""
    config = Config()
    config.set_main_option("script_location", str(MIGRATIONS))
    with database.write() as session:
        config.attributes["connection"] = session.connection()
        way(config, revision)


def test_stop_rules_move_out_of_the_room_and_back(empty: Database) -> None:
    move(empty, "0003", command.upgrade)
    rules = {"settled": 0.9, "flat_within": None, "flat_over": 100, "budget": 7}
    rooms = [{}, {"guidelines": "Look twice."}, {"order": "fixed", "stop": rules}, {"stop": {}}]
    with empty.write() as session:
        add_people(session, ada="owner")
        for room in rooms:
            session.execute(
                text(
                    "INSERT INTO projects (name, table_hash, roles, settings, description, n_rows, n_classes, "
                    "n_to_ask, created_at, created_by, room) "
                    "VALUES ('birds', '0', '{}', '{}', '', 1, 2, 1, '2026-01-01', 1, :room)"
                ),
                {"room": json.dumps(room)},
            )
    empty.migrate()
    with empty.read() as session:
        found = [(one.room, one.stop_rules) for one in projects.everything(session)]
    assert found == [
        ({}, None),
        ({"guidelines": "Look twice."}, None),
        ({"order": "fixed"}, rules),
        ({}, {}),
    ]
    move(empty, "0003", command.downgrade)
    with empty.read() as session:
        stored = session.execute(text("SELECT room FROM projects ORDER BY id")).scalars().all()
    assert [json.loads(one) if isinstance(one, str) else one for one in stored] == rooms
    empty.migrate()
    with empty.read() as session:
        assert [(one.room, one.stop_rules) for one in projects.everything(session)] == found


def test_a_migration_that_fails_leaves_nothing_behind(sqlite_url: str) -> None:
    made = Database(sqlite_url)
    with made.write() as session:
        session.execute(
            text("CREATE TABLE questions (nonsense TEXT)")
        )  # the last table of the first migration
    with pytest.raises(Exception, match="questions already exists"):
        made.migrate()
    with made.read() as session:
        tables = session.execute(text("SELECT name FROM sqlite_master WHERE type = 'table'")).scalars().all()
    assert tables == ["questions"]
    made.close()


def test_a_training_of_an_earlier_version_is_no_obstacle_to_a_comparison(empty: Database) -> None:
    """Up with a lease that was never given back, and down again with a comparison, and up."""
    move(empty, "0004", command.upgrade)
    now = datetime(2026, 1, 1, tzinfo=UTC)
    with empty.write() as session:
        add_people(session, ada="owner")
        add_projects(session, "birds")
        session.execute(
            text(
                "INSERT INTO trainings (project_id, worker, lease_until, key, ended, deaths) "
                "VALUES (1, 'killed', '2030-01-01', 'plsvc', false, 1)"
            )
        )
    for _ in range(2):
        empty.migrate()
        with empty.write() as session:
            assert trained.training(session, 1) is None
            assert comparisons.latest(session, 1) is None
            for task in (trained.FIT, "compare"):
                assert trained.take_lease(session, 1, "one", "plsvc", now, now, task) is not None
            one = comparisons.ask(session, 1, asked_by=1, asked_at=now, seq=0, answers=0, checks=0)
            assert comparisons.begin(session, one, seq=0, answers=0, checks=0)
        move(empty, "0004", command.downgrade)


def test_encodings_come_and_go(empty: Database) -> None:
    """Up, down with one that waits, and up again: the projects stay, the encodings do not."""
    move(empty, "0006", command.upgrade)
    now = datetime(2026, 1, 1, tzinfo=UTC)
    with empty.write() as session:
        add_people(session, ada="owner")
        add_projects(session, "birds")
    for _ in range(2):
        empty.migrate()
        with empty.write() as session:
            assert encodings.unfinished(session) == []
            encodings.ask(session, 1, asked_by=1, asked_at=now, encoder="words")
            assert [one.encoder for one in encodings.unfinished(session)] == ["words"]
            assert [one.name for one in projects.everything(session)] == ["birds"]
        move(empty, "0006", command.downgrade)


def test_whoever_saw_every_project_goes_on_seeing_those_there_are(empty: Database) -> None:
    move(empty, "0007", command.upgrade)
    with empty.write() as session:
        add_people(session, owner="owner", ada="annotator", bob="annotator")
        session.execute(text("UPDATE people SET disabled_at = '2026-02-01' WHERE name = 'bob'"))
        add_projects(session, "birds", "frogs")
    for _ in range(2):
        empty.migrate()
        with empty.read() as session:
            assert members.roles_of(session, 1) == {}
            assert (
                members.roles_of(session, 2)
                == members.roles_of(session, 3)
                == {1: "annotator", 2: "annotator"}
            )
            (_, ada), _ = members.listed(session, 1)
            assert ada.added_by is None
            assert ada.added_at.tzinfo is not None
        move(empty, "0007", command.downgrade)


def test_browsers_stay_signed_in_when_the_audit_comes_and_goes(empty: Database) -> None:
    """Up, down and up again: who was signed in still is, links that were empty still work; the audit begins anew."""
    move(empty, "0007", command.upgrade)
    now, later = datetime(2026, 1, 1, tzinfo=UTC), datetime(2030, 1, 1, tzinfo=UTC)
    with empty.write() as session:
        add_people(session, ada="owner")
        session.execute(
            text(
                "INSERT INTO sign_ins (secret_hash, person_id, created_at, expires_at) "
                "VALUES ('h', 1, '2026-01-01', '2029-01-01')"
            )
        )
    for _ in range(2):
        empty.migrate()
        with empty.write() as session:
            found = sign_ins.find(session, "h", now)
            assert found is not None
            assert (found.person.name, found.how) == ("ada", "")
            assert sign_ins.find(session, "h", later) is None
            assert events.listed(session, events.EventFilter()) == []
            events.add(session, at=now, what="sign-in", person_id=1)
            accounts.change(session, 1, password_hash="x")
        move(empty, "0007", command.downgrade)


def test_the_log_stays_when_how_it_was_asked_and_rows_together_come_and_go(empty: Database) -> None:
    """Up, down with a batch, an estimate and how questions were put, and up again: every entry stays as it was, but for
    how it was asked; and the log still takes no change."""
    move(empty, "0012", command.upgrade)
    now = datetime(2026, 1, 1, tzinfo=UTC)
    with empty.write() as session:
        add_people(session, ada="owner")
        add_projects(session, "birds")
    how = {"form": "batch", "about": ["wren"], "choices": 1, "batch": "batch.1.7"}
    for turn in range(2):
        empty.migrate()
        with empty.write() as session:
            assert [one.asked for one in entries.after(session, 1, 0)] == [None] * turn
            assert batches.get(session, 1, 1) is None
            assert random_orders.latest(session, 1) is None
            entries.append(session, replace(new_entry(1, turn, person_id=1), asked=how))
            batches.put(session, batch(1, 1, 3, 4))
            random_orders.ask(session, 1, asked_by=1, asked_at=now, seq=0, answers=0)
        with empty.read() as session:
            log = entries.after(session, 1, 0)
            assert log[-1].asked == how
        move(empty, "0012", command.downgrade)
        with empty.read() as session:
            tokens = session.execute(text("SELECT token FROM entries ORDER BY seq")).scalars().all()
        assert tokens == [one.token for one in log]
        with pytest.raises(DBAPIError), empty.write() as session:
            session.execute(text("UPDATE entries SET token = 'other'"))


def test_projects_stay_when_earlier_settings_and_snapshots_come_and_go(empty: Database) -> None:
    """Up, down with some, and up again."""
    move(empty, "0016", command.upgrade)
    now = datetime(2026, 1, 1, tzinfo=UTC)
    with empty.write() as session:
        add_people(session, ada="owner")
        add_projects(session, "birds")
    for _ in range(2):
        empty.migrate()
        with empty.write() as session:
            assert past_settings.listed(session, 1) == []
            past_settings.add(session, 1, {}, 0, now)
            assert snapshots.listed(session, 1) == []
            snapshots.add(session, 1, StoredSnapshot("first", 0, now, 1, {}, None, "a", "b"))
            assert [one.name for one in projects.everything(session)] == ["birds"]
        move(empty, "0016", command.downgrade)
