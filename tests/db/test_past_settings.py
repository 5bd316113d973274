"""Settings of before, in order, project by project."""

from __future__ import annotations

from datetime import timedelta

from db import projects
from db.engine import Database
from db.projects import PastSettings
from tests.db.conftest import NOW, add_project


def test_what_was_in_force_is_listed_in_order(database: Database) -> None:
    birds, frogs = add_project(database), add_project(database, "frogs")
    later = NOW + timedelta(hours=1)
    with database.write() as session:
        projects.add_past_setting(session, birds, {"model": "a", "C": None}, 7, NOW)
        projects.add_past_setting(session, birds, {"model": "b"}, 7, later)
        projects.add_past_setting(session, frogs, {"model": "c"}, 0, NOW)
    with database.read() as session:
        assert projects.list_past_settings(session, birds) == [
            PastSettings(7, NOW, {"model": "a", "C": None}),
            PastSettings(7, later, {"model": "b"}),
        ]
        assert projects.list_past_settings(session, frogs) == [PastSettings(0, NOW, {"model": "c"})]
