"""Settings of before, in order, project by project."""

from __future__ import annotations

from datetime import timedelta

from db import past_settings
from db.engine import Database
from db.past_settings import PastSettings
from tests.db.conftest import NOW, add_project


def test_what_was_in_force_is_listed_in_order(database: Database) -> None:
    birds, frogs = add_project(database), add_project(database, "frogs")
    later = NOW + timedelta(hours=1)
    with database.write() as session:
        past_settings.add(session, birds, {"model": "a", "C": None}, 7, NOW)
        past_settings.add(session, birds, {"model": "b"}, 7, later)
        past_settings.add(session, frogs, {"model": "c"}, 0, NOW)
    with database.read() as session:
        assert past_settings.listed(session, birds) == [
            PastSettings(7, NOW, {"model": "a", "C": None}),
            PastSettings(7, later, {"model": "b"}),
        ]
        assert past_settings.listed(session, frogs) == [PastSettings(0, NOW, {"model": "c"})]
