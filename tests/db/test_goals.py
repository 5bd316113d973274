"""What people have set for themselves, and their day as the log has it."""

from __future__ import annotations

from datetime import timedelta

from db import entries, members
from db.engine import Database
from db.members import StoredGoal
from tests.db.conftest import NOW, add_project, new_entry

LATER = NOW + timedelta(hours=1)


def test_a_goal_is_one_person_s_at_one_project(database: Database) -> None:
    birds, frogs = add_project(database), add_project(database, "frogs")
    goal = StoredGoal(40, None, 50, None, "2026-03-01")
    with database.write() as session:
        members.put_goal(session, birds, 1, StoredGoal(10, 20, None))
        members.put_goal(session, birds, 1, goal)
    with database.read() as session:
        assert members.get(session, birds, 1) == goal
        assert members.get(session, birds, 2) is None
        assert members.get(session, frogs, 1) is None


def test_a_rest_keeps_what_is_set(database: Database) -> None:
    project = add_project(database)
    with database.write() as session:
        members.put_goal(session, project, 1, StoredGoal(40, 30, None, None, "2026-03-01"))
        members.note_rest(session, project, 1, LATER, 50)
        members.note_rest(session, project, 2, LATER, 50)
    with database.read() as session:
        assert members.get(session, project, 1) == StoredGoal(40, 30, None, LATER, "2026-03-01")
        assert members.get(session, project, 2) == StoredGoal(None, None, 50, LATER, None)


def test_the_day_has_one_s_own_entries_from_its_first_moment_on(database: Database) -> None:
    project = add_project(database)
    add_project(database, "another")
    with database.write() as session:
        for change in (
            {"row": 0, "at": NOW},
            {"row": 1, "at": LATER, "seconds": 4.0},
            {"row": 1, "at": LATER, "person_id": 2},
            {"row": 2, "at": LATER, "kind": "skip"},
            {"row": 3, "at": LATER, "note": "simulated"},
            {"row": 1, "at": LATER, "kind": "withdraw", "target_seq": 2, "revision": 1},
            {"row": 0, "at": LATER, "kind": "withdraw", "target_seq": 1, "revision": 1},
        ):
            entries.append(session, new_entry(project, **change))
        entries.append(session, new_entry(project + 1, at=LATER))

    def since(moment: object, *kinds: str) -> list[tuple[str, str, float | None, bool]]:
        with database.read() as session:
            found = members.entries_since(session, project, 1, moment, kinds, "simulated")  # type: ignore[arg-type]
        return [(one.kind, one.token, one.seconds, one.withdrawn) for one in found]

    assert since(LATER, "is", "skip") == [
        ("is", "1.1.None.0", 4.0, True),
        ("skip", "1.2.None.0", None, False),
    ]
    assert since(NOW, "is") == [("is", "1.0.None.0", None, True), ("is", "1.1.None.0", 4.0, True)]
    assert since(LATER + timedelta(seconds=1), "is") == []
    with database.read() as session:
        everything = members.entries_since(session, project, 1, LATER, ("is",))
    assert [(one.token, one.at) for one in everything] == [("1.1.None.0", LATER), ("1.3.None.0", LATER)]
