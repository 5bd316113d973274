"""From every earlier version of the tables, with data in them: what was answered stays, what was asked is answered."""

from __future__ import annotations

import shutil
from datetime import UTC, datetime
from pathlib import Path
from typing import Any, NamedTuple

import pytest
from alembic import command
from alembic.config import Config
from sqlalchemy import Connection, MetaData, Table, insert, select, text

from db import entries
from db.base import Base
from db.copies import look_into
from db.engine import MIGRATIONS, Database, revisions
from plcore.loop import EntryKind
from tests.databases import BOTH
from tests.migrated import lay_database
from tests.workflow.world import annotator, answer_next, opened, small_project
from workflow import answering, undoing
from workflow.home import open_home
from workflow.people import team
from workflow.seat import Seat
from workflow.settings import Settings

Rows = dict[str, list[dict[str, Any]]]
OF_AN_EARLIER_TIME = ("people", "projects", "entries", "questions")
HEAD, *EARLIER = revisions()


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
        shown = answering.next_question(Seat(home, person, project))
        assert shown is not None
        choices[person] = shown.choices
    with home.database.read() as session:
        rows = {
            name: [dict(one._mapping) for one in session.execute(select(Base.metadata.tables[name]))]
            for name in (*OF_AN_EARLIER_TIME, "members")
        }
    home.close()
    return There(folder, rows, choices)


def fill(connection: Connection, rows: Rows) -> None:
    """Put these rows into tables of an earlier version, as far as it has their columns."""
    sqlite = connection.dialect.name == "sqlite"
    for name in OF_AN_EARLIER_TIME:
        table = Table(name, MetaData(), autoload_with=connection)
        for row in rows[name]:
            values = {key: value for key, value in row.items() if key in table.c and value is not None}
            if sqlite:  # as every version has stored times there
                values = {
                    key: value.replace(tzinfo=None) if isinstance(value, datetime) else value
                    for key, value in values.items()
                }
            connection.execute(insert(table).values(values))
    if not sqlite:  # numbers were given here
        for name in ("people", "projects"):
            connection.execute(text(f"SELECT setval('{name}_id_seq', 100)"))


def begin(url: str, revision: str, rows: Rows) -> None:
    """A database of this version with these rows."""
    config = Config()
    config.set_main_option("script_location", str(MIGRATIONS))
    made = Database(url)
    with made._writer.begin() as connection:
        config.attributes["connection"] = connection
        command.upgrade(config, revision)
        fill(connection, rows)
        if revision >= "0008":
            connection.execute(insert(Base.metadata.tables["members"]), rows["members"])
    made.close()


@pytest.mark.parametrize("revision", sorted(EARLIER))
@pytest.mark.parametrize("where", BOTH)
def test_what_was_open_before_is_answered_after(
    where: str, revision: str, there: There, tmp_path: Path, request: pytest.FixtureRequest
) -> None:
    rows = there.rows
    shutil.copytree(there.folder / "tables", tmp_path / "tables")
    settings = {"WINNOW_HOME": str(tmp_path)}
    if where == "postgres":
        settings["WINNOW_DATABASE_URL"] = request.getfixturevalue("postgres_url")
    made = Settings.from_environment(settings)
    begin(made.database_url, revision, rows)
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
            saved = answering.submit_answer(seat, *said)  # the screen of before, which nobody has loaded anew
            assert (saved.seq, saved.row, saved.repeated) == (len(log) + number, asked["row"], False)
            assert answering.submit_answer(seat, *said).repeated
        assert all(answering.next_question(Seat(home, person, 1)) for person in (1, 2))
        with opened(home, 1, 1) as learner:
            assert learner.seq == len(log) + 2
        with home.database.read() as session:
            last = entries.after(session, 1, len(log))
        assert all(one.at >= before for one in last)
        home.database.copy_to(tmp_path / "copy.sqlite3")
        assert look_into(tmp_path / "copy.sqlite3", EntryKind.ROWS).revision == HEAD, "a backup takes it"
    finally:
        home.close()


def test_every_earlier_version_is_tried() -> None:
    assert sorted(EARLIER)[0] == "0001"
    assert sorted(EARLIER) == [f"{number:04}" for number in range(1, int(HEAD))]
