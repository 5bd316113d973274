"""A database or a folder that cannot be written: every use case reports it, and stores nothing."""

from __future__ import annotations

import contextlib
import math
from collections.abc import Callable, Iterator
from dataclasses import replace

import pytest
from sqlalchemy import make_url, text
from sqlalchemy.orm import Session

from db import engine, entries, projects
from db.engine import Database
from plcore import LabelTable
from tests.databases import on_both, on_postgres, on_sqlite
from tests.postgres_proxy import Proxy, proxied
from tests.workflow.world import annotator, answer_next, full_disk, small_project, stored, unwritable
from workflow import saving
from workflow.answering import loop, room, undoing
from workflow.people import browsers, team
from workflow.projects import classes, managing, progress
from workflow.rows import reviewing
from workflow.seat import Seat
from workflow.server.home import Home, open_home
from workflow.server.settings import SettingsError
from workflow.server.shelf import Shelf

Use = Callable[[Home, int, int], object]


USES: dict[str, Use] = {
    "answer": lambda home, owner, project: answer_next(home, owner, project),
    "undo": lambda home, owner, project: undoing.undo(Seat(home, owner, project)),
    "rename": lambda home, owner, project: managing.rename_project(Seat(home, owner, project), "new", ""),
    "archive": lambda *where: managing.archive_project(Seat(*where)),
    "bin": lambda *where: managing.bin_project(Seat(*where)),
    "learner": lambda home, owner, project: managing.change_learner(Seat(home, owner, project), n_neighbors=7),
    "strategy": lambda home, owner, project: managing.change_learner(Seat(home, owner, project), strategy="random"),
    "room": lambda home, owner, project: room.change_room(Seat(home, owner, project), room.RoomSettings("look")),
    "rules": lambda home, owner, project: progress.change_stop_rules(
        Seat(home, owner, project), progress.StopRules(budget=3)
    ),
    "add a class": lambda home, owner, project: classes.change_classes(Seat(home, owner, project), 0, "add", ["eel"]),
    "merge": lambda home, owner, project: classes.change_classes(
        Seat(home, owner, project), 0, "merge", ["bee", "ant"]
    ),
    "invite": lambda home, owner, _: team.make_link(Seat(home, owner), "Bob"),
    "end access": lambda home, owner, _: team.disable_person(Seat(home, owner), owner + 1),
    "own link": lambda home, _owner, _project: team.make_start_link(home),
}


@pytest.mark.parametrize(
    ("name", "backend"),
    [*((name, "sqlite") for name in USES), pytest.param("answer", "postgres", marks=pytest.mark.postgres)],
    indirect=["backend"],
)
def test_full_disk_is_reported_by_every_use_case(home: Home, owner: int, project: int, name: str) -> None:
    annotator(home, owner, "Ada")
    answer_next(home, owner, project)
    loop.next_question(Seat(home, owner, project))
    before = stored(home)
    with unwritable(home), pytest.raises(saving.NotSaved, match="could not be written"):
        USES[name](home, owner, project)
    assert stored(home) == before
    USES[name](home, owner, project)  # and once it can be written again, it is
    assert stored(home) != before


@on_sqlite
@pytest.mark.parametrize("name", ["answer", "merge", "own link"])
def test_saved_is_never_shown_for_moved_database(home: Home, owner: int, project: int, name: str) -> None:
    annotator(home, owner, "Ada")
    answer_next(home, owner, project)
    loop.next_question(Seat(home, owner, project))
    path, away = home.settings.home / "winnow.sqlite3", home.settings.home / "away"
    before = stored(home)
    assert saving.why_nothing_is_saved(home) is None
    path.rename(away)
    for _ in range(2):
        with pytest.raises(
            saving.NotSaved, match=r"deleted or moved away .*Nothing was stored\. Fix: put the right file"
        ):
            USES[name](home, owner, project)
        assert saving.why_nothing_is_saved(home)
    assert stored(home) == before, "what was stored can still be read"
    assert managing.get_project(Seat(home, owner, project)).answered == 1
    away.rename(path)
    assert saving.why_nothing_is_saved(home) is None
    USES[name](home, owner, project)
    assert stored(home) != before


@on_sqlite
def test_question_is_refused_if_database_cannot_be_opened(home: Home, owner: int) -> None:
    """Before every question, a reading connection looks for a model trained by a worker."""
    project = small_project(home, owner, model="plsvc")
    loop.next_question(Seat(home, owner, project))
    home.shelf.slot(project).looked_at = -math.inf
    home.database._reader.dispose()
    path, away = home.settings.home / "winnow.sqlite3", home.settings.home / "away"
    path.rename(away)
    with pytest.raises(saving.NotSaved, match=r"deleted or moved away .*Nothing was stored\. Fix: put the right file"):
        loop.next_question(Seat(home, owner, project))
    away.rename(path)
    assert answer_next(home, owner, project)


@on_sqlite
def test_saved_answers_survive_replaced_database(home: Home, owner: int, project: int) -> None:
    """Seven answers while the file is replaced by an older copy: each is saved or refused; none is lost."""
    saved = []
    for turn in range(7):
        if turn == 2:
            home.database.copy_to(home.settings.home / "copy.sqlite3")
        if turn == 3:
            (home.settings.home / "copy.sqlite3").replace(home.settings.home / "winnow.sqlite3")
        with contextlib.suppress(saving.NotSaved):
            saved.append(answer_next(home, owner, project).row)
    home.close()
    with pytest.raises(SettingsError, match="older than the one that was seen last"):
        open_home(home.settings)
    (rescued,) = home.settings.home.glob("winnow.sqlite3.rescued-*")
    rescued.replace(home.settings.home / "winnow.sqlite3")
    again = open_home(home.settings)
    try:
        with again.database.read() as session:
            stored = [entry.row for entry in entries.after(session, project, 0)]
    finally:
        again.close()
    assert stored == saved
    assert len(saved) == 3


@on_sqlite
def test_overwritten_database_is_reported(home: Home, owner: int, project: int) -> None:
    answer_next(home, owner, project)
    home.database.close()  # all that was stored is in the file itself
    answer_next(home, owner, project)
    home.database.close()
    loop.next_question(Seat(home, owner, project))
    path = home.settings.home / "winnow.sqlite3"
    path.write_bytes(b"x" * path.stat().st_size)
    with pytest.raises(saving.NotSaved, match=r"The database file was overwritten .*Nothing was stored\. Fix: put the"):
        room.change_room(Seat(home, owner, project), room.RoomSettings("look"))


def test_restore_and_sign_in_report_failed_save(home: Home, owner: int, project: int) -> None:
    managing.archive_project(Seat(home, owner, project))
    link = team.make_link(Seat(home, owner), "Ada")
    signed_in = team.redeem_link(home, team.make_link(Seat(home, owner), "Bob"))
    with unwritable(home):
        for use in (
            lambda: managing.restore_project(Seat(home, owner, project)),
            lambda: team.redeem_link(home, link),
            lambda: browsers.sign_out(home, signed_in),
        ):
            with pytest.raises(saving.NotSaved, match="could not be written"):
                use()
    assert browsers.person_of(home, signed_in) is not None
    assert team.redeem_link(home, link), "the link was not used up"


@on_both
def test_failed_save_creates_no_partial_project(home: Home, owner: int, monkeypatch: pytest.MonkeyPatch) -> None:
    """The table's file fits, the database row does not."""
    store = Home.store_table
    with monkeypatch.context() as late, contextlib.ExitStack() as disk:

        def store_and_fill(self: Home, table: LabelTable) -> str:
            stored = store(self, table)
            disk.enter_context(unwritable(self))
            return stored

        late.setattr(Home, "store_table", store_and_fill)
        with pytest.raises(saving.NotSaved, match="database could not be written"):
            small_project(home, owner, "other")
    assert managing.list_projects(Seat(home, owner)) == []


@on_both
def test_taking_write_lock_changes_nothing(home: Home) -> None:
    before, stamp = home.database.identity(), home.database.stamp()
    assert saving.why_not_now(home) is None
    assert home.database.identity() == before
    assert home.database.stamp() == stamp or not home.database.is_sqlite, "no one is to look for news"
    team.ensure_owner(home)  # and the lock is free


@on_postgres
def test_read_only_database_is_reported(home: Home, owner: int) -> None:
    alter = f"ALTER DATABASE {make_url(home.settings.database_url).database}"
    with home.database.write() as session:
        session.execute(text(f"{alter} SET default_transaction_read_only = on"))
    home.database.close()  # connected clients do not notice
    try:
        with pytest.raises(saving.NotSaved, match=r"to read only\. Nothing was stored\. Fix: "):
            team.make_start_link(home)
        assert "to read only. Nothing was stored. Fix: " in str(saving.why_not_now(home))
    finally:
        with home.database.write() as session:
            session.execute(text("SET TRANSACTION READ WRITE"))
            session.execute(text(f"{alter} RESET default_transaction_read_only"))


@on_sqlite
def test_locked_database_is_reported(home: Home, owner: int, project: int, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("db.engine.BUSY_SECONDS", 0.05)
    with home.database.write():
        assert "could not be written" in str(saving.why_not_now(home))
        with pytest.raises(saving.NotSaved, match="could not be written"):
            room.change_room(Seat(home, owner, project), room.RoomSettings("look"))


def test_full_disk_under_tables_is_reported_and_makes_no_project(home: Home, owner: int) -> None:
    with full_disk(), pytest.raises(saving.NotSaved, match=r"data folder \(File too large\)"):
        small_project(home, owner, "other")
    assert not list(home.tables_dir.iterdir()), "no half of a file is left"
    assert managing.list_projects(Seat(home, owner)) == []
    assert small_project(home, owner, "other")


def test_stored_change_of_classes_is_not_reported_as_failed(
    home: Home, owner: int, project: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    real = projects.change

    def full(session: Session, project_id: int, **values: object) -> None:
        if values.keys() == {"n_to_ask"}:
            raise saving.NotSaved("full")
        real(session, project_id, **values)

    monkeypatch.setattr("db.projects.change", full)
    assert classes.change_classes(Seat(home, owner, project), 0, "add", ["eel"])[-1] == "eel"
    assert [one.name for one in classes.classes_view(Seat(home, owner, project)).classes][-1] == "eel"


def test_not_saved_is_one_exception() -> None:
    assert loop.NotSaved is reviewing.NotSaved is saving.NotSaved


@on_sqlite
def test_replaced_database_discards_learner(home: Home, owner: int, project: int) -> None:
    """The database is replaced by a copy used elsewhere: only that copy's answers count."""
    path, copy = home.settings.home / "winnow.sqlite3", home.settings.home / "copy.sqlite3"
    seat = Seat(home, owner, project)
    home.database.copy_to(copy)
    for _ in range(2):
        answer_next(home, owner, project)
    elsewhere = replace(home, database=Database(f"sqlite:///{copy}"), shelf=Shelf())
    for _ in range(5):
        question = loop.next_question(Seat(elsewhere, owner, project))
        loop.submit_answer(Seat(elsewhere, owner, project), question.token, "unsure")
    elsewhere.database.close()
    path.rename(home.settings.home / "away")
    with pytest.raises(saving.NotSaved, match="deleted or moved away"):
        answer_next(home, owner, project)
    copy.rename(path)
    assert answer_next(home, owner, project), "it is the same database, with at least as many changes"
    assert managing.get_project(seat).answered == 1
    assert home.database.times_replaced == 1


def wait(home: Home, project: int) -> None:
    with saving.saving(home) as session:
        session.execute(text("SET LOCAL lock_timeout = '20ms'"))
        entries.lock(session, project)


@on_postgres
def test_waiting_for_hanging_transaction_is_reported(home: Home, owner: int, project: int) -> None:
    with home.database.write() as held:
        entries.lock(held, project)
        with pytest.raises(saving.NotSaved, match="half a minute"):
            wait(home, project)
    answer_next(home, owner, project)


def hang(home: Home) -> None:
    with saving.saving(home) as session:
        mine = session.execute(text("SELECT pg_backend_pid()")).scalar_one()
        session.execute(text("SET idle_in_transaction_session_timeout = '1ms'"))
        there = 1
        while there:  # until the server has ended it
            with home.database.read() as other:
                found = text("SELECT count(*) FROM pg_stat_activity WHERE pid = :pid")
                there = other.execute(found, {"pid": mine}).scalar_one()
        session.execute(text("SELECT 1"))


@on_postgres
def test_ended_transaction_is_reported(home: Home) -> None:
    with pytest.raises(saving.NotSaved, match=r"took too long|connection to PostgreSQL was lost"):
        hang(home)


@pytest.fixture
def proxy(home: Home) -> Iterator[Proxy]:
    with proxied(home.settings.database_url) as made:
        yield made


@pytest.fixture
def behind(home: Home, proxy: Proxy) -> Iterator[Home]:
    """The same home, which reaches PostgreSQL through a proxy."""
    made = replace(home, database=Database(proxy.url), shelf=Shelf())
    yield made
    made.shelf.close()
    made.database.close()


@on_postgres
@pytest.mark.parametrize("name", sorted(USES.keys() - {"own link"}))  # whose first transaction has nothing to store
def test_commit_with_lost_reply_is_not_reported_as_failed(
    home: Home, owner: int, project: int, behind: Home, proxy: Proxy, name: str
) -> None:
    annotator(home, owner, "Ada")
    answer_next(home, owner, project)
    loop.next_question(Seat(behind, owner, project))
    before = stored(home)
    proxy.cuts = "before"
    with pytest.raises(saving.NotSaved, match=r"connection to PostgreSQL was lost\. Nothing was stored"):
        USES[name](behind, owner, project)
    assert stored(home) == before
    proxy.cuts = "after"
    USES[name](behind, owner, project)
    assert proxy.times == 2
    assert stored(home) != before


@on_postgres
@pytest.mark.parametrize("how", ["before", "after"])
def test_unknown_commit_is_reported_and_answer_stored_once(
    home: Home, owner: int, project: int, behind: Home, proxy: Proxy, how: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(engine, "PATIENCE", 0.0)
    question = loop.next_question(Seat(behind, owner, project))
    proxy.cuts, proxy.closed = how, True
    words = "unknown whether it was stored: check before you repeat it"
    with pytest.raises(saving.NotSaved, match=words) as said:
        loop.submit_answer(Seat(behind, owner, project), question.token, "is", [question.choices[0]])
    assert "Nothing was stored" not in str(said.value)
    proxy.closed = False
    again = loop.submit_answer(Seat(behind, owner, project), question.token, "is", [question.choices[0]])
    assert again.repeated == (how == "after")
    assert managing.get_project(Seat(home, owner, project)).answered == 1
    proxy.cuts, proxy.closed, proxy.times = how, True, 0
    with pytest.raises(saving.NotSaved, match=words):
        managing.rename_project(Seat(behind, owner, project), "new", "")
    assert managing.get_project(Seat(home, owner, project)).name == ("small" if how == "before" else "new")
