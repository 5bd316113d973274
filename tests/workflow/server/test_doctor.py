"""Findings of the doctor, with and without problems."""

from __future__ import annotations

import importlib.metadata
import shutil
import sqlite3
from contextlib import closing
from dataclasses import replace
from datetime import UTC, datetime
from pathlib import Path

import pytest
from sqlalchemy import text

from db.engine import revisions
from plcore.tables import read_kept_names
from tests.databases import on_postgres, on_sqlite
from tests.migrated import a_step_more
from tests.workflow.backups.drill import settings_of, three_projects
from workflow.backups import keeping, making
from workflow.backups.keeping import BackupWork
from workflow.server import doctor
from workflow.server.doctor import Finding, examine
from workflow.server.home import Home
from workflow.server.settings import Settings

WELL = {
    *("installation", "data folder", "database", "tables", "files"),
    *("backups", "files that are recreated", "disk", "open files", "commit", "writing"),
}


@pytest.fixture(autouse=True)
def room_and_speed(monkeypatch: pytest.MonkeyPatch) -> None:
    """Fake disk space and speed, whatever the machine has."""
    monkeypatch.setattr(doctor, "LEAST_FREE", 1)
    monkeypatch.setattr(doctor, "DURABLE", ())  # the tests' PostgreSQL is not started again after a power cut
    monkeypatch.setattr(doctor, "SLOWEST_COMMIT", 3600.0)
    monkeypatch.setattr(doctor, "SLOWEST_WRITING", 1.0)
    monkeypatch.setattr(doctor, "COMMITS", 2)
    monkeypatch.setattr(doctor, "WRITTEN", 1 << 16)


def found(settings: Settings) -> dict[str, Finding]:
    return {one.what: one for one in examine(settings)}


def ill(settings: Settings) -> dict[str, str]:
    return {what: str(one) for what, one in found(settings).items() if one.fix}


def test_doctor_finds_no_problem_in_used_home(home: Home, owner: int) -> None:
    three_projects(home, owner)
    said = found(home.settings)
    assert {what: str(one) for what, one in said.items() if one.fix} == {}
    assert said.keys() == WELL
    assert "a Winnow has it open" in said["data folder"].says
    assert "3 projects, 0 entries of their logs, 1 person." in said["database"].says
    assert "3 tables are whole, 5 images and recordings are there" in said["files"].says
    home.close()
    assert "no Winnow has it open" in found(home.settings)["data folder"].says


def test_doctor_leaves_no_files(home: Home, project: int) -> None:
    before = sorted(path for path in home.settings.home.rglob("*") if not path.name.startswith("winnow.sqlite3"))
    found(home.settings)
    after = sorted(path for path in home.settings.home.rglob("*") if not path.name.startswith("winnow.sqlite3"))
    assert after == before


def test_doctor_finds_no_problem_before_first_start(tmp_path: Path) -> None:
    assert ill(settings_of(tmp_path / "none")) == {}
    assert not (tmp_path / "none").exists()
    (tmp_path / "empty").mkdir(mode=0o700)
    assert ill(settings_of(tmp_path / "empty")) == {}


def test_missing_or_outdated_package_is_named(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    version = importlib.metadata.version

    def other(name: str) -> str:
        if name == "limits":
            raise importlib.metadata.PackageNotFoundError(name)
        return "0.1" if name == "numba" else version(name)

    monkeypatch.setattr(importlib.metadata, "version", other)
    said = ill(settings_of(tmp_path / "none"))["installation"]
    assert "limits is missing" in said
    assert "numba is 0.1, not >=" in said


@on_sqlite
def test_damaged_database_names_latest_backup(home: Home, project: int) -> None:
    home.backups_dir.mkdir()
    backup = home.backups_dir / making.name_at(datetime.now(UTC))
    making.make(home, backup)
    home.close()
    path = home.settings.home / "winnow.sqlite3"
    whole = path.read_bytes()
    for data, words in (
        (whole[:4096] + b"\xff" * 4096 + whole[8192:], "is damaged"),
        (b"no database" * 99, "is damaged: file is not a database"),
        (b"", "is empty (0 bytes)"),
        (None, "is not there, but 1 table of projects is"),
    ):
        path.unlink(missing_ok=True)
        if data is not None:
            path.write_bytes(data)
        said = ill(home.settings)
        assert said.keys() == {"database"}
        assert words in said["database"]
        assert said["database"].endswith(f"winnow restore {backup} --replace")


@on_sqlite
def test_older_and_newer_tables_are_distinguished(home: Home, project: int, tmp_path: Path) -> None:
    home.close()
    path = home.settings.home / "winnow.sqlite3"
    with closing(sqlite3.connect(path)) as there:
        there.execute("UPDATE alembic_version SET version_num = '9999'")
        there.commit()
    one = found(home.settings)["tables"]
    assert "written by a newer Winnow" in one.says
    assert one.fix
    with closing(sqlite3.connect(path)) as there:
        there.execute("UPDATE alembic_version SET version_num = ?", (revisions()[0],))
        there.commit()
    with a_step_more(tmp_path):
        one = found(home.settings)["tables"]
    assert "the next start makes a copy and brings them to" in one.says
    assert not one.fix


@on_sqlite
def test_database_whose_log_is_not_append_only_is_reported(home: Home, project: int) -> None:
    home.close()
    with closing(sqlite3.connect(home.settings.home / "winnow.sqlite3")) as there:
        there.execute("DROP TRIGGER entries_no_delete")
    assert "is damaged: the trigger 'entries_no_delete' is missing." in ill(home.settings)["database"]


def test_missing_or_damaged_files_are_named(home: Home, owner: int) -> None:
    three_projects(home, owner)
    first = sorted(home.media_dir.glob("*/*"))[0]
    plain = next(path for path in home.tables_dir.glob("*.parquet") if not read_kept_names(path))
    whole = plain.read_bytes()
    plain.write_bytes(b"other")
    assert f"tables/{plain.name} damaged" in ill(home.settings)["files"]
    plain.write_bytes(whole)
    first.unlink()
    assert f"media/{first.parent.name}/{first.name} missing" in ill(home.settings)["files"]
    plain.unlink()
    assert "and 1 more missing" in ill(home.settings)["files"]


def test_foreign_files_are_named(home: Home, project: int) -> None:
    (home.tables_dir / "old copy.parquet").write_bytes(b"a copy by hand")
    (home.media_dir / "ab").mkdir(parents=True)
    (home.media_dir / "ab" / ".DS_Store").touch()
    assert ill(home.settings) == {}
    said = found(home.settings)["files"].says
    assert said.endswith("Not Winnow's, and in no backup: media/ab/.DS_Store, and 1 more.")


def test_readable_by_others_or_unwritable_folder_is_reported(home: Home, project: int, tmp_path: Path) -> None:
    home.settings.home.chmod(0o755)
    assert "chmod 700" in ill(home.settings)["data folder"]
    (tmp_path / "file").touch()
    assert "is not a folder" in ill(settings_of(tmp_path / "file"))["data folder"]


def test_failed_backup_is_reported(home: Home, project: int) -> None:
    failed = BackupWork(keeping.FAILED, datetime.now(UTC), fault="The disk is full.")
    keeping.note_work(home.backups_dir, failed)
    assert "The disk is full." in ill(home.settings)["backups"]


def test_full_or_slow_disk_is_reported(home: Home, project: int, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(doctor, "LEAST_FREE", 10**18)
    monkeypatch.setattr(doctor, "SLOWEST_COMMIT", -1.0)
    monkeypatch.setattr(doctor, "SLOWEST_WRITING", 1e18)
    assert ill(home.settings).keys() == {"disk", "commit", "writing"}


def test_unwritable_disk_is_reported(home: Home, project: int, monkeypatch: pytest.MonkeyPatch) -> None:
    def full(*_: object) -> list[float]:
        raise sqlite3.OperationalError("database or disk is full")

    monkeypatch.setattr(doctor, "_commits", full)
    assert "database or disk is full" in ill(home.settings)["speed"]


def test_counts_of_one_are_singular(home: Home, project: int) -> None:
    said = found(home.settings)
    assert "1 project, 0 entries" in said["database"].says
    assert "1 table is whole, 0 images and recordings are there" in said["files"].says


@on_sqlite
def test_sqlite_url_may_be_file_uri(home: Home, project: int) -> None:
    url = home.settings.database_url.replace("sqlite:///", "sqlite:///file:") + "?mode=rw&uri=true"
    assert "1 project" in found(replace(home.settings, database_url=url))["database"].says


@on_postgres
def test_missing_postgresql_table_is_named(home: Home, project: int) -> None:
    with home.database.write() as session:
        session.execute(text("ALTER TABLE entries RENAME TO entries_of_old"))
    said = ill(home.settings)["database"]
    assert "a part of Winnow is missing: relation" in said
    assert "winnow restore FILE --replace" in said


@on_postgres
def test_unsafe_postgresql_settings_are_reported(home: Home, project: int, monkeypatch: pytest.MonkeyPatch) -> None:
    for name in ("fsync", "full_page_writes"):
        monkeypatch.setattr(doctor, "DURABLE", (name,))
        said = ill(home.settings)["database"]
        assert f"answers, but {name} is off" in said
        assert f"set {name} = on" in said
    monkeypatch.undo()
    assert doctor.DURABLE == ("fsync", "full_page_writes")


@pytest.mark.postgres
def test_unreachable_postgresql_is_reported(tmp_path: Path, postgres_url: str) -> None:
    def of(url: str) -> Settings:
        return Settings.from_environment({"WINNOW_HOME": str(tmp_path), "WINNOW_DATABASE_URL": url})

    tmp_path.chmod(0o700)
    assert "PostgreSQL answers" in found(of(postgres_url))["database"].says
    gone = of("postgresql+psycopg://nobody:x@127.0.0.1:1/none")
    assert "does not answer" in ill(gone)["database"]
    assert shutil.disk_usage(tmp_path).free


@on_sqlite
def test_foreign_database_objects_are_named(home: Home, project: int) -> None:
    with closing(sqlite3.connect(home.settings.home / "winnow.sqlite3")) as there:
        there.execute("CREATE INDEX mine ON entries (at)")
        assert found(home.settings)["database"].says.endswith("Not Winnow's, and no harm: the index 'mine'.")
        assert "database" not in ill(home.settings)
        there.execute("CREATE VIEW evil AS SELECT 1")
        assert found(home.settings)["database"].fix == 'drop it (DROP VIEW "evil").'
