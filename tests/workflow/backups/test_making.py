"""A backup is made while people answer; a failed one leaves nothing behind."""

from __future__ import annotations

import sqlite3
from contextlib import closing
from pathlib import Path

import pytest

from db.engine import revisions
from plcore.tables import read_kept_names
from tests.databases import on_both, on_sqlite
from tests.workflow.backups.drill import files_of, three_projects
from tests.workflow.world import answer_next, full_disk
from workflow.backups import making
from workflow.backups.archive import check_archive
from workflow.backups.manifest import DATABASE, BackupError
from workflow.server.home import Home


@on_both
def test_backup_lists_its_contents(home: Home, owner: int, tmp_path: Path) -> None:
    for project in three_projects(home, owner)[:1]:
        answer_next(home, owner, project)
    told: list[tuple[int, int]] = []
    made = making.make(home, tmp_path / "b.zip", lambda done, total: told.append((done, total)))
    assert made == check_archive(tmp_path / "b.zip")
    assert made.counts == {"projects": 3, "entries": 1, "people": 1}
    assert made.schema == revisions()[0]
    assert (made.missing, made.damaged) == ((), ())
    assert {one.name: one.sha256 for one in made.members if one.name != DATABASE} == files_of(home.settings.home)
    assert told == sorted(told)
    assert told[-1][0] == told[-1][1]


def test_half_written_files_are_left_out_of_backup(home: Home, owner: int, tmp_path: Path) -> None:
    three_projects(home, owner)
    before = files_of(home.settings.home).keys()
    (home.tables_dir / ".new-abc.part").write_text("half")
    (home.media_dir / ".new-abc").mkdir()
    (home.media_dir / ".new-abc" / "a.png").write_text("half")
    made = making.make(home, tmp_path / "b.zip")
    assert {one.name for one in made.members} == {*before, DATABASE}


@pytest.mark.parametrize("stray", ["tables/old copy.parquet", "media/ab/.DS_Store", "media/ab/Thumbs.db"])
def test_foreign_files_are_left_out_of_backup(home: Home, owner: int, tmp_path: Path, stray: str) -> None:
    three_projects(home, owner)
    before = files_of(home.settings.home).keys()
    path = home.settings.home / stray
    path.parent.mkdir(exist_ok=True)
    path.write_bytes(b"not Winnow's")
    made = making.make(home, tmp_path / "b.zip")
    assert {one.name for one in made.members} == {*before, DATABASE}
    assert made.missing == ()
    assert making.strays(home.tables_dir, home.media_dir) == [stray]


@on_both
def test_missing_or_damaged_files_are_named_in_backup(home: Home, owner: int, tmp_path: Path) -> None:
    three_projects(home, owner)
    pictures = sorted(name for name in files_of(home.settings.home) if name.startswith("media/"))
    (table, *_) = (f"tables/{one.name}" for one in home.tables_dir.glob("*.parquet") if not read_kept_names(one))
    (home.settings.home / pictures[0]).unlink()
    (home.settings.home / pictures[1]).write_bytes(b"overwritten")
    (home.settings.home / table).write_bytes(b"overwritten")
    made = making.make(home, tmp_path / "b.zip")
    assert made.missing == (pictures[0],)
    assert set(made.damaged) == {pictures[1], table}
    (home.settings.home / table).unlink()
    assert table in making.make(home, tmp_path / "c.zip").missing


def nothing_but(folder: Path, *names: str) -> bool:
    return sorted(path.name for path in folder.iterdir()) == sorted(names)


def test_full_disk_leaves_no_trace(home: Home, project: int, tmp_path: Path) -> None:
    folder = tmp_path / "there"
    folder.mkdir()
    with full_disk(), pytest.raises(BackupError, match=r"could not be written \(.*Fix: make room on the disk"):
        making.make(home, folder / "b.zip")
    assert nothing_but(folder)
    making.make(home, folder / "b.zip")
    assert nothing_but(folder, "b.zip")


def test_disk_filling_up_leaves_no_backup(
    home: Home, owner: int, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    three_projects(home, owner)
    folder = tmp_path / "there"
    folder.mkdir()

    def full(*_: object) -> None:
        raise OSError(28, "No space left on device")

    monkeypatch.setattr("workflow.backups.archive._add", full)
    with pytest.raises(BackupError, match="No space left on device"):
        making.make(home, folder / "b.zip")
    assert nothing_but(folder)


def test_backup_written_wrongly_is_noticed(
    home: Home, project: int, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A written backup is read again before it gets its name."""
    from workflow.backups import archive

    seal = archive._seal

    def bad(file: object, path: Path) -> None:
        seal(file, path)  # type: ignore[arg-type]
        with path.open("r+b") as disk:
            disk.seek(5000)
            byte = disk.read(1)
            disk.seek(5000)
            disk.write(bytes([byte[0] ^ 1]))

    monkeypatch.setattr("workflow.backups.archive._seal", bad)
    folder = tmp_path / "there"
    folder.mkdir()
    with pytest.raises(BackupError, match=r"damaged at winnow\.sqlite3"):
        making.make(home, folder / "b.zip")
    assert nothing_but(folder)


@on_sqlite
def test_damaged_database_cannot_be_backed_up(home: Home, owner: int, project: int, tmp_path: Path) -> None:
    for _ in range(5):
        answer_next(home, owner, project)
    home.database.close()
    path = home.settings.home / "winnow.sqlite3"
    data = path.read_bytes()
    at = data.rindex(b'["ant"')  # in a page of entries
    page = at - at % 4096
    path.write_bytes(data[:page] + b"\xff" * 4096 + data[page + 4096 :])
    folder = tmp_path / "there"
    folder.mkdir()
    with pytest.raises(BackupError, match="Fix: "):
        making.make(home, folder / "b.zip")
    assert nothing_but(folder)


def test_missing_folder_and_existing_file_are_refused(home: Home, project: int, tmp_path: Path) -> None:
    with pytest.raises(BackupError, match="There is no folder"):
        making.make(home, tmp_path / "nowhere" / "b.zip")
    (tmp_path / "mine.zip").write_text("mine")
    with pytest.raises(BackupError, match="There is a file"):
        making.make(home, tmp_path / "mine.zip")


@on_sqlite
def test_foreign_tables_are_backed_up_and_triggers_refused(home: Home, project: int, tmp_path: Path) -> None:
    with closing(sqlite3.connect(home.settings.home / "winnow.sqlite3")) as there:
        there.executescript("CREATE TABLE _litestream_seq (x); CREATE INDEX mine ON entries (at)")
        making.make(home, tmp_path / "a.zip")
        there.execute("CREATE TRIGGER evil AFTER INSERT ON people BEGIN SELECT 1; END")
        with pytest.raises(BackupError, match=r"is whole, but the trigger 'evil' .* Fix: drop it") as raised:
            making.make(home, tmp_path / "b.zip")
        assert "restore" not in str(raised.value)
        there.execute("DROP TRIGGER evil")
    making.make(home, tmp_path / "b.zip")
