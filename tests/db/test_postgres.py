"""What only PostgreSQL has. The other tests of this folder run on it as well, through the `database` fixture."""

from __future__ import annotations

import pytest
from sqlalchemy import text
from sqlalchemy.exc import DBAPIError

from db import entries
from db.engine import Database

from .conftest import add_project, new_entry

pytestmark = pytest.mark.postgres


def test_truncating_the_log_is_refused(postgres: Database) -> None:
    with pytest.raises(DBAPIError, match="append-only"), postgres.write() as session:
        session.execute(text("TRUNCATE entries"))


def test_entries_of_one_project_wait_for_each_other_and_others_do_not(postgres: Database) -> None:
    one, two = add_project(postgres, "one"), add_project(postgres, "two")
    with postgres.write() as first:
        entries.append(first, new_entry(one))
        with postgres.write() as second:
            entries.append(second, new_entry(two))
        with postgres.write() as third:
            third.execute(text("SET LOCAL lock_timeout = '50ms'"))
            with pytest.raises(DBAPIError, match="lock timeout"):
                entries.append(third, new_entry(one, row=4))
    with postgres.write() as session:
        assert entries.append(session, new_entry(one, row=4)).seq == 2


def test_looking_for_news_leaves_no_transaction_open(postgres: Database) -> None:
    postgres.stamp()
    with postgres.read() as session:
        states = session.execute(
            text(
                "SELECT state FROM pg_stat_activity WHERE datname = current_database() "
                "AND backend_type = 'client backend' AND pid <> pg_backend_pid()"
            )
        )
        assert states.scalars().all() == ["idle"]
