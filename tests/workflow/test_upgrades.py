"""From tables as the steps before 0.2.0 made them, with data in them: what was answered stays, what was asked is
answered."""

from __future__ import annotations

import shutil
from datetime import UTC, datetime
from pathlib import Path
from typing import Any, NamedTuple

import pytest
from sqlalchemy import insert, select

from db import entries
from db.base import Base
from db.copies import look_into
from db.engine import Database, revisions
from plcore.loop import EntryKind
from tests.migrated import lay_database, lay_steps
from tests.workflow.world import annotator, answer_next, opened, small_project
from workflow.answering import loop, undoing
from workflow.people import team
from workflow.seat import Seat
from workflow.server.home import open_home
from workflow.server.settings import Settings

Rows = dict[str, list[dict[str, Any]]]
TABLES = ("people", "projects", "entries", "questions", "members")


class There(NamedTuple):
    """rows : of its tables      choices : of the question that is before each person"""

    folder: Path
    rows: Rows
    choices: dict[int, tuple[str, ...]]


@pytest.fixture(scope="module")
def there(tmp_path_factory: pytest.TempPathFactory) -> There:
    """A home in which the owner (1) and Ada (2) have answered at project 1, and each has a question before them."""
    folder = tmp_path_factory.mktemp("home")
    lay_database(folder)
    home = open_home(Settings.from_environment({"WINNOW_HOME": str(folder)}))
    owner = team.ensure_owner(home).id
    project = small_project(home, owner)
    ada = annotator(home, owner, "Ada")
    assert (owner, ada, project) == (1, 2, 1)
    for person in (owner, ada, owner):
        answer_next(home, person, project)
    undoing.undo(Seat(home, owner, project))
    choices = {}
    for person in (owner, ada):
        shown = loop.next_question(Seat(home, person, project))
        assert shown is not None
        choices[person] = shown.choices
    with home.database.read() as session:
        rows = {
            name: [dict(one._mapping) for one in session.execute(select(Base.metadata.tables[name]))]
            for name in TABLES
        }
    home.close()
    return There(folder, rows, choices)


def test_what_was_open_before_is_answered_after(there: There, tmp_path: Path) -> None:
    rows = there.rows
    shutil.copytree(there.folder / "tables", tmp_path / "tables")
    lay_steps(tmp_path / "winnow.sqlite3")
    made = Settings.from_environment({"WINNOW_HOME": str(tmp_path)})
    begun = Database(made.database_url)
    with begun.write() as session:
        for name in TABLES:
            session.execute(insert(Base.metadata.tables[name]), rows[name])
    begun.close()
    before = datetime.now(UTC)
    home = open_home(made)
    try:
        with home.database.read() as session:
            log = entries.after(session, 1, 0)
        told = [(one["seq"], one["kind"], one["row"], one["token"], one["at"]) for one in rows["entries"]]
        assert [(one.seq, one.kind, one.row, one.token, one.at) for one in log] == told
        assert {one["person_id"] for one in rows["questions"]} == {1, 2}
        for number, asked in enumerate(rows["questions"], 1):
            seat = Seat(home, asked["person_id"], 1)
            said = asked["token"], "is", there.choices[asked["person_id"]][:1]
            saved = loop.submit_answer(seat, *said)  # the screen of before, which nobody has loaded anew
            assert (saved.seq, saved.row, saved.repeated) == (len(log) + number, asked["row"], False)
            assert loop.submit_answer(seat, *said).repeated
        assert all(loop.next_question(Seat(home, person, 1)) for person in (1, 2))
        with opened(home, 1, 1) as learner:
            assert learner.seq == len(log) + 2
        with home.database.read() as session:
            last = entries.after(session, 1, len(log))
        assert all(one.at >= before for one in last)
        home.database.copy_to(tmp_path / "copy.sqlite3")
        assert look_into(tmp_path / "copy.sqlite3", EntryKind.ROWS).revision == revisions()[0], (
            "a backup takes it"
        )
    finally:
        home.close()
