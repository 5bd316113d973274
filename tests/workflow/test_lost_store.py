"""Database failures while people answer: every answer reported as saved is there afterwards.

Every scenario runs through the use cases: two answers, the failure, two answers, the repair, another answer, a restart.
"""

from __future__ import annotations

import os
import shutil
import sqlite3
from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager, ExitStack, closing, contextmanager
from pathlib import Path

import pytest
from sqlalchemy import text

from db import entries
from db.engine import Database
from db.opened_file import DatabaseReplacedError
from tests.disks import filled, read_only, small_disk
from tests.migrated import lay_database
from tests.workflow.world import answer_next, full_disk, small_project
from workflow.answering import loop
from workflow.people import team
from workflow.projects import managing
from workflow.saving import STORE_FAULTS, NotSaved, why_it_failed, why_nothing_is_saved
from workflow.seat import Seat
from workflow.server.home import Home, LostTableError, open_home
from workflow.server.settings import Settings

Harm = Callable[[Path, Path], object]
"""Given the database's path, and that of a folder with copies: `now`, `old` and `other`."""


def rescued(path: Path) -> None:
    (found,) = path.parent.glob(f"{path.name}.rescued-*")
    found.replace(path)


def back(path: Path, copies: Path) -> None:
    shutil.copyfile(copies / "now", path)


def beside(path: Path, ending: str) -> Path:
    return path.with_name(path.name + ending)


def delete_all(path: Path, _: Path) -> None:
    for ending in ("", "-wal", "-shm"):
        beside(path, ending).unlink()


def replace_by(name: str) -> Harm:
    return lambda path, copies: (copies / name).replace(path)


def overwrite_by(name: str) -> Harm:
    return lambda path, copies: shutil.copyfile(copies / name, path)


def into(path: Path, content: bytes, at: int = 0) -> None:
    with path.open("r+b") as file:
        file.seek(at)
        file.write(content)


def new_file(content: bytes) -> Harm:
    def harm(path: Path, copies: Path) -> None:
        (copies / "new").write_bytes(content)
        (copies / "new").replace(path)

    return harm


def folder_in_place(path: Path, _: Path) -> None:
    path.unlink()
    path.mkdir()


def link_to_nowhere(path: Path, copies: Path) -> None:
    path.unlink()
    path.symlink_to(copies / "nowhere")


def not_a_folder(path: Path, _: Path) -> None:
    path.rmdir()
    rescued(path)


def delete_the_folder(path: Path, _: Path) -> None:
    shutil.rmtree(path.parent)


def the_folder_from_a_backup(path: Path, copies: Path) -> None:
    path.parent.mkdir()
    back(path, copies)
    shutil.copytree(copies / "tables", path.parent / "tables")


def put_back(path: Path, _: Path) -> None:
    rescued(path)


GOES_ON = ""
"""In place of an error: answers after the harm are saved."""
GONE, OTHER = (
    "was deleted or moved away while Winnow",
    "was replaced by another one, or by an older copy while Winnow",
)
EMPTY, SHORT, OVERWRITTEN = "was emptied while", "was cut short while", "was overwritten while"

SCENARIOS: dict[str, tuple[Harm, str, Harm | None]] = {
    "deleted": (lambda path, _: path.unlink(), GONE, put_back),
    "deleted with its log": (delete_all, GONE, put_back),
    "moved away": (lambda path, c: path.rename(c / "away"), GONE, lambda path, c: (c / "away").rename(path)),
    "renamed": (
        lambda path, _: path.rename(beside(path, ".old")),
        GONE,
        lambda path, _: beside(path, ".old").rename(path),
    ),
    "folder moved": (
        lambda path, c: path.parent.rename(c / "home"),
        GONE,
        lambda path, c: (c / "home").rename(path.parent),
    ),
    "folder deleted": (delete_the_folder, GONE, the_folder_from_a_backup),
    "a link to nowhere": (link_to_nowhere, GONE, put_back),
    "a folder in its place": (folder_in_place, OTHER, not_a_folder),
    "renamed over by an older copy": (replace_by("old"), OTHER, put_back),
    "renamed over by another Winnow's": (replace_by("other"), OTHER, put_back),
    "renamed over by a table": (new_file(b"id,label\n" * 1000), OTHER, put_back),
    "renamed over by an empty file": (new_file(b""), OTHER, put_back),
    "renamed over by a copy of now": (replace_by("now"), GOES_ON, None),
    "restored while running, after it was deleted": (lambda path, _: path.unlink(), GONE, back),
    "restored while running, after an older copy": (replace_by("old"), OTHER, back),
    "emptied": (lambda path, _: os.truncate(path, 0), EMPTY, back),
    "cut to a page": (lambda path, _: os.truncate(path, 4096), SHORT, back),
    "cut to its half": (lambda path, _: os.truncate(path, path.stat().st_size // 2), SHORT, back),
    "its beginning overwritten": (lambda path, _: into(path, b"x" * 100), OVERWRITTEN, back),
    "all of it overwritten": (lambda path, _: into(path, bytes(path.stat().st_size)), OVERWRITTEN, back),
    "overwritten by an older copy": (overwrite_by("old"), OVERWRITTEN, back),
    "overwritten by another Winnow's": (overwrite_by("other"), OVERWRITTEN, back),
    "overwritten by a copy of now": (overwrite_by("now"), GOES_ON, None),
    "its log deleted": (lambda path, _: beside(path, "-wal").unlink(), GOES_ON, None),
    "the index of its log deleted": (lambda path, _: beside(path, "-shm").unlink(), GOES_ON, None),
    "its log and index deleted": (
        lambda path, _: [beside(path, ending).unlink() for ending in ("-wal", "-shm")],
        GOES_ON,
        None,
    ),
}


class Player:
    """Someone who answers, and the replies they got."""

    def __init__(self, home: Home) -> None:
        self.home = home
        self.saved: list[int] = []

    def press(self) -> str:
        """The reason of a refusal; '' if it was saved."""
        try:
            self.saved.append(answer_next(self.home, 1, 1).row)
        except (NotSaved, *STORE_FAULTS) as error:
            return str(error) if isinstance(error, NotSaved) else why_it_failed(error) or repr(error)
        return ""

    def stored(self) -> list[int]:
        """The answers found by a new start."""
        self.home.close()
        again = open_home(self.home.settings)
        try:
            with again.database.read() as session:
                rows = [entry.row for entry in entries.after(session, 1, 0)]
            with closing(sqlite3.connect(self.home.settings.home / "winnow.sqlite3")) as plain:
                assert plain.execute("PRAGMA integrity_check").fetchall() == [("ok",)]
            return rows
        finally:
            again.close()


@contextmanager
def played(folder: Path) -> Iterator[Player]:
    """Two answers in a new home in this folder."""
    folder.mkdir(exist_ok=True)
    lay_database(folder)
    home = open_home(Settings.from_environment({"WINNOW_HOME": str(folder)}))
    small_project(home, team.ensure_owner(home).id)
    player = Player(home)
    try:
        assert (player.press(), player.press()) == ("", "")
        yield player
    finally:
        home.close()


@pytest.fixture
def player(tmp_path: Path) -> Iterator[Player]:
    with played(tmp_path / "home") as made:
        yield made


@pytest.fixture
def copies(player: Player, tmp_path: Path) -> Path:
    folder = tmp_path / "copies"
    folder.mkdir()
    home = player.home.settings.home
    other = Database(f"sqlite:///{folder / 'other'}")
    other.migrate()
    other.close()
    player.home.database.copy_to(folder / "old")
    assert player.press() == ""
    player.home.database.copy_to(folder / "now")
    shutil.copytree(home / "tables", folder / "tables")
    return folder


@pytest.mark.parametrize("name", SCENARIOS)
def test_acknowledged_answers_are_never_lost(player: Player, copies: Path, name: str) -> None:
    harm, words, mend = SCENARIOS[name]
    path = player.home.settings.home / "winnow.sqlite3"
    harm(path, copies)
    for _ in range(2):
        said = player.press()
        assert bool(said) == bool(words)
        assert words in said
        if words:
            assert "Nothing was stored." in said
            assert "Fix: put the right file in its place" in said
            assert str(path) not in said
            assert why_nothing_is_saved(player.home) == said
    if mend is not None:
        mend(path, copies)
    assert why_nothing_is_saved(player.home) is None
    assert player.press() == "", "it goes on by itself"
    assert player.stored() == player.saved
    assert len(player.saved) == (4 if words else 6)


def test_process_notices_answers_acknowledged_by_another(player: Player, copies: Path) -> None:
    """It would store in the older copy, which then had as many entries as the other has acknowledged."""
    settings = player.home.settings
    worker = Database(f"sqlite:///{settings.home / 'winnow.sqlite3'}")
    try:
        with worker.write() as session:
            session.execute(text("UPDATE people SET name = name"))
        assert player.press() == ""
        (copies / "old").replace(settings.home / "winnow.sqlite3")
        with pytest.raises(DatabaseReplacedError), worker.write() as session:
            session.execute(text("UPDATE people SET name = name"))
        assert OTHER in player.press()
        rescued(settings.home / "winnow.sqlite3")
    finally:
        worker.close()
    assert player.press() == ""
    assert player.stored() == player.saved


def test_at_least_25_failures_are_tested() -> None:
    assert len(SCENARIOS) >= 25


@pytest.mark.parametrize(
    ("harm", "words"), [(read_only, "is read only"), (filled, "is full"), (lambda _: full_disk(), None)]
)
def test_full_disk_is_reported_once(
    tmp_path: Path, harm: Callable[[Path], AbstractContextManager[None]], words: str | None
) -> None:
    with ExitStack() as disk:
        folder = disk.enter_context(small_disk(tmp_path / "disk", 16))
        player = disk.enter_context(played(folder))
        player.home.database.close()
        player.home.shared.close()  # the system makes nothing read only that is open for writing
        with harm(folder):
            for _ in range(2):
                assert "could not be written" in player.press()
            said = why_nothing_is_saved(player.home)
            assert words is None if said is None else words is not None and words in said
        assert why_nothing_is_saved(player.home) is None
        assert player.press() == ""
        assert player.stored() == player.saved
        assert len(player.saved) == 3


def test_missing_database_table_is_reported_with_fix(player: Player) -> None:
    with closing(sqlite3.connect(player.home.settings.home / "winnow.sqlite3")) as other:
        other.execute("ALTER TABLE entries RENAME TO gone")
    said = player.press()
    assert "The database is damaged" in said
    assert "winnow restore FILE --replace" in said
    with closing(sqlite3.connect(player.home.settings.home / "winnow.sqlite3")) as other:
        other.execute("ALTER TABLE gone RENAME TO entries")
    assert player.press() == ""
    assert player.stored() == player.saved


@pytest.mark.parametrize("harm", ["missing", "damaged", "empty"])
def test_lost_table_file_is_reported_and_can_be_put_back(player: Player, harm: str) -> None:
    (path,) = player.home.tables_dir.glob("*.parquet")
    kept = path.read_bytes()
    path.unlink()
    if harm != "missing":
        path.write_bytes(kept[: len(kept) // 2] if harm == "damaged" else b"")
    player.home.close()
    home = open_home(player.home.settings)
    with pytest.raises(
        (LostTableError, NotSaved), match=r"is missing or damaged\. No answer is lost.*Fix: put the file back"
    ):
        loop.next_question(Seat(home, 1, 1))
    path.write_bytes(kept)
    assert answer_next(home, 1, 1)
    assert managing.get_project(Seat(home, 1, 1)).answered == 3
    home.close()
