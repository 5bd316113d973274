"""Snapshots: one name, one state."""

from __future__ import annotations

from dataclasses import replace
from datetime import timedelta

import pytest

from db import snapshots
from db.engine import Database
from db.snapshots import NameTakenError, StoredSnapshot
from tests.db.conftest import NOW, add_project

ONE = StoredSnapshot("first", 7, NOW, 1, {"model": "a"}, None, "a" * 64, "b" * 64)


def test_a_name_is_one_of_its_project(database: Database) -> None:
    birds, frogs = add_project(database), add_project(database, "frogs")
    second = replace(ONE, name="Second", made_at=NOW + timedelta(hours=1), model_version=5)
    with database.write() as session:
        snapshots.add(session, birds, second)
        snapshots.add(session, birds, ONE)
        snapshots.add(session, frogs, ONE)
    with pytest.raises(NameTakenError, match="a snapshot 'first' already"), database.write() as session:
        snapshots.add(session, birds, replace(ONE, seq=9))
    with database.read() as session:
        assert snapshots.listed(session, birds) == [ONE, second]
        assert snapshots.get(session, birds, "first") == ONE
        assert snapshots.get(session, birds, "third") is None
        assert snapshots.listed(session, frogs) == [ONE]
