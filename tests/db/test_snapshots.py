"""Snapshots: one name, one state."""

from __future__ import annotations

from dataclasses import replace
from datetime import timedelta

import pytest

from db import projects
from db.engine import Database
from db.projects import NameTakenError, StoredSnapshot
from tests.db.conftest import NOW, add_project

ONE = StoredSnapshot("first", 7, NOW, 1, {"model": "a"}, None, "a" * 64, "b" * 64)


def test_a_name_is_one_of_its_project(database: Database) -> None:
    birds, frogs = add_project(database), add_project(database, "frogs")
    second = replace(ONE, name="Second", made_at=NOW + timedelta(hours=1), model_version=5)
    with database.write() as session:
        projects.add_snapshot(session, birds, second)
        projects.add_snapshot(session, birds, ONE)
        projects.add_snapshot(session, frogs, ONE)
    with pytest.raises(NameTakenError, match="a snapshot 'first' already"), database.write() as session:
        projects.add_snapshot(session, birds, replace(ONE, seq=9))
    with database.read() as session:
        assert projects.list_snapshots(session, birds) == [ONE, second]
        assert projects.get_snapshot(session, birds, "first") == ONE
        assert projects.get_snapshot(session, birds, "third") is None
        assert projects.list_snapshots(session, frogs) == [ONE]
