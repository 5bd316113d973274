"""`winnow doctor`: check this Winnow, report problems, and suggest fixes.

It writes no files but its own, so that it can check a home that cannot be opened.
"""

from __future__ import annotations

import hashlib
import importlib.metadata
import os
import secrets
import shutil
import sqlite3
import stat
import statistics
import sys
import tempfile
import time
import tomllib
from collections.abc import Iterator
from contextlib import closing
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path
from typing import TYPE_CHECKING

from packaging.requirements import Requirement
from sqlalchemy import make_url, text
from sqlalchemy.exc import DBAPIError

from db.base import lacks_a_table
from db.copies import AlienObjectError, CopyFacts, DamagedCopyError, check_copy, look_at
from db.engine import Database, how_to_open, revisions, writer_of
from db.sqlite import path_in
from plcore.arrays import counted, either
from plcore.loop import EntryKind
from winnow_labels import __version__
from workflow.backups import keeping, manifest
from workflow.backups.making import named_files, strays
from workflow.server import running

if TYPE_CHECKING:
    from workflow.server.settings import Settings


# Findings of the doctor about the machine: the installed packages, and the speed of its disk.

SLOWEST_COMMIT = 0.05
"""Maximum seconds of a commit: every answer needs one."""
SLOWEST_WRITING = 5e6
"""Minimum bytes per second."""
COMMITS, WRITTEN = 20, 1 << 24
_OLDEST_PYTHON = (3, 11)
_PROJECT = Path(__file__).parents[2] / "pyproject.toml"


@dataclass(frozen=True)
class Finding:
    """One finding. what : its name      says : one sentence      fix : '' if all is well"""

    what: str
    says: str
    fix: str = ""

    def __str__(self) -> str:
        return f"ok   {self.what}: {self.says}" if not self.fix else f"NOT  {self.what}: {self.says} Fix: {self.fix}"


def installation() -> Finding:
    where = f"Winnow {__version__}, Python {sys.version.split()[0]}"
    wrong = []
    for line in _required():
        needs = Requirement(line)
        if needs.marker is not None and not needs.marker.evaluate({"extra": "tables"}):
            continue
        try:
            found = importlib.metadata.version(needs.name)
        except importlib.metadata.PackageNotFoundError:
            wrong.append(f"{needs.name} is missing")
            continue
        if not needs.specifier.contains(found, prereleases=True):
            wrong.append(f"{needs.name} is {found}, not {needs.specifier}")
    if sys.version_info < _OLDEST_PYTHON:
        wrong.append(f"Python must be {'.'.join(map(str, _OLDEST_PYTHON))} or later")
    if wrong:
        return Finding(
            "installation",
            f"{where}: {'; '.join(dict.fromkeys(wrong))}.",
            "install Winnow again, in an environment of its own.",
        )
    return Finding("installation", f"{where}, and every package it needs.")


def _required() -> list[str]:
    """Return the requirements of both distributions: from the wheels, or from the checkout's pyproject.toml files."""
    if not _PROJECT.exists():
        return [*(importlib.metadata.requires("winnow-labels") or []), *(importlib.metadata.requires("plcore") or [])]
    own, library = (
        tomllib.loads(path.read_text())["project"] for path in (_PROJECT, _PROJECT.parent / "plcore" / "pyproject.toml")
    )
    app = [line for line in own["dependencies"] if Requirement(line).name != "plcore"]
    return [*app, *library["dependencies"], *library["optional-dependencies"]["tables"]]


def speeds(folder: Path) -> Iterator[Finding]:
    """Measure how long a commit takes as the database makes it, and how fast files are written."""
    try:
        with tempfile.TemporaryDirectory(dir=folder, prefix=".doctor-") as scratch:
            seconds = statistics.median(_commits(Path(scratch) / "try.sqlite3"))
            begun = time.perf_counter()
            with (Path(scratch) / "try").open("wb") as file:
                file.write(secrets.token_bytes(WRITTEN))
                os.fsync(file.fileno())
            rate = WRITTEN / (time.perf_counter() - begun)
    except (OSError, sqlite3.Error) as error:
        yield Finding("speed", f"nothing could be written to {folder}: {error}.", "make room on the disk.")
        return
    slow = "use a disk of this machine: each answer waits for a commit."
    yield Finding("commit", f"{1000 * seconds:.1f} ms.", slow if seconds > SLOWEST_COMMIT else "")
    yield Finding("writing", f"{rate / 1e6:.0f} MB/s.", slow if rate < SLOWEST_WRITING else "")


def _commits(path: Path) -> list[float]:
    found = []
    with closing(sqlite3.connect(path, isolation_level=None)) as there:
        there.execute("PRAGMA journal_mode=WAL")
        there.execute("PRAGMA synchronous=FULL")
        there.execute("CREATE TABLE tried (number INTEGER)")
        for number in range(COMMITS):
            begun = time.perf_counter()
            there.execute("INSERT INTO tried VALUES (?)", (number,))
            found.append(time.perf_counter() - begun)
    return found


LEAST_FREE = 1 << 30
"""Minimum free bytes, in addition to twice the size of the database."""
DURABLE = ("fsync", "full_page_writes")
"""PostgreSQL settings without which a power cut damages the database. If `synchronous_commit` is off, Winnow sets it
itself."""


def examine(settings: Settings) -> Iterator[Finding]:
    """Run all checks, one after another, the slow ones last."""
    yield installation()
    yield from _home(settings)
    if not settings.home.is_dir():
        return
    facts = None
    for finding, found in _store(settings):
        yield finding
        facts = found or facts
    if facts is not None:
        yield _files(settings, facts)
    yield _backups(settings)
    yield _caches(settings)
    yield _disk(settings)
    yield _open_files()
    if os.access(settings.home, os.W_OK):
        yield from speeds(settings.home)


def _home(settings: Settings) -> Iterator[Finding]:
    home = settings.home
    if not home.exists():
        yield Finding("data folder", f"{home} is not there; the first start of Winnow makes it.")
        return
    if not home.is_dir() or not os.access(home, os.W_OK | os.X_OK):
        yield Finding(
            "data folder",
            f"{home} is not a folder that this user may write to.",
            "set WINNOW_HOME to one, or let this user write it.",
        )
        return
    mode = stat.S_IMODE(home.stat().st_mode)
    if mode & 0o077:
        yield Finding(
            "data folder", f"{home} can be read by other users of this machine ({mode:o}).", f"chmod 700 {home}"
        )
        return
    yield Finding("data folder", f"{home}, for this user alone; {_use(home)}.")


def _use(home: Path) -> str:
    if not (home / running.NAME).exists():
        return "never opened"
    try:
        with running.alone(home):
            return "no Winnow has it open"
    except running.InUseError:
        return "a Winnow has it open"


def _store(settings: Settings) -> Iterator[tuple[Finding, CopyFacts | None]]:
    url = make_url(settings.database_url)
    if url.get_backend_name() != "sqlite":
        yield from _postgresql(settings)
        return
    path = path_in(str(url.database))
    tables = sum(1 for _ in (settings.home / "tables").glob("*.parquet"))
    if not path.exists():
        if tables:
            yield (
                Finding(
                    "database",
                    f"{path} is not there, but {counted(tables, 'table')} of projects {either(tables, 'is', 'are')}.",
                    _restore(settings),
                ),
                None,
            )
        else:
            yield Finding("database", f"{path} is not there yet; the first start of Winnow makes it."), None
        return
    if not path.stat().st_size:
        yield Finding("database", f"{path} is empty (0 bytes).", _restore(settings)), None
        return
    try:
        facts = check_copy(path, EntryKind.ROWS, live=True)
    except DamagedCopyError as error:
        yield Finding("database", f"{path} is damaged: {error}.", _restore(settings)), None
        return
    except AlienObjectError as error:
        yield Finding("database", f"{path}: {error}, and no backup can be made.", error.fix), None
        return
    beside = f" Not Winnow's, and no harm: {', '.join(facts.beside)}." if facts.beside else ""
    yield (
        Finding(
            "database", f"{path} is whole: {path.stat().st_size:,} bytes, {manifest.counted(facts.counts)}.{beside}"
        ),
        facts,
    )
    yield _tables(facts.revision), None


def _tables(revision: str) -> Finding:
    newest = revisions()[0]
    if revision == newest:
        return Finding("tables", f"revision {revision}, the newest.")
    if revision in revisions():
        return Finding("tables", f"revision {revision}; the next start makes a copy and brings them to {newest}.")
    return Finding("tables", f"written by {writer_of(revision)}.", f"{how_to_open(revision)}.")


def _postgresql(settings: Settings) -> Iterator[tuple[Finding, CopyFacts | None]]:
    database = Database(settings.database_url)
    try:
        if database.is_new():
            yield Finding("database", "PostgreSQL answers; the first start of Winnow makes the tables."), None
            return
        with database.read() as session:
            facts = look_at(session, EntryKind.ROWS)
            off = [name for name in DURABLE if session.execute(text(f"SHOW {name}")).scalar_one() == "off"]
    except DBAPIError as error:
        said = " ".join(str(error.orig).split())
        if lacks_a_table(error):
            says, fix = f"PostgreSQL answers, but a part of Winnow is missing: {said}.", _restore(settings)
        else:
            says, fix = f"PostgreSQL does not answer: {said}.", "start it, or correct WINNOW_DATABASE_URL."
        yield Finding("database", says, fix), None
        return
    finally:
        database.close()
    if off:
        are = either(len(off), "is", "are")
        says = f"PostgreSQL answers, but {' and '.join(off)} {are} off: a power cut damages the database."
        fix = f"set {' and '.join(f'{name} = on' for name in off)} in postgresql.conf, and reload it."
        yield Finding("database", says, fix), facts
    else:
        yield Finding("database", f"PostgreSQL answers: {manifest.counted(facts.counts)}."), facts
    yield _tables(facts.revision), None


def _restore(settings: Settings) -> str:
    good = [one for one in keeping.kept(settings.backups_dir) if not one.fault]
    file = good[0].path if good else "FILE"
    return f"stop Winnow and restore a backup: winnow restore {file} --replace"


def _files(settings: Settings, facts: CopyFacts) -> Finding:
    """Check the files: tables are read, images and recordings are only looked for, as there may be a million."""
    tables_dir, media_dir = settings.home / "tables", settings.home / "media"
    named = named_files(facts, tables_dir, media_dir)
    missing = sorted(name for name in named if not (settings.home / name).is_file())
    damaged = sorted(
        name
        for name in (f"tables/{one}.parquet" for one in facts.table_hashes)
        if name not in missing and _sha256(settings.home / name) != Path(name).stem
    )
    for names, how in ((missing, "missing"), (damaged, "damaged")):
        if names:
            more = f" and {len(names) - 1} more" if len(names) > 1 else ""
            return Finding("files", f"{names[0]}{more} {how}.", "put them back from a backup, which is a zip.")
    tables = len(facts.table_hashes)
    media = len(named) - tables
    whole = f"{counted(tables, 'table')} {either(tables, 'is', 'are')} whole"
    beside = counted(media, "image or recording", "images and recordings")
    there = f"{whole}, {beside} {either(media, 'is', 'are')} there"
    alien = strays(tables_dir, media_dir)
    if not alien:
        return Finding("files", f"{there}.")
    more = f", and {len(alien) - 1} more" if len(alien) > 1 else ""
    return Finding("files", f"{there}. Not Winnow's, and in no backup: {alien[0]}{more}.")


def _sha256(path: Path) -> str:
    with path.open("rb") as file:
        return hashlib.file_digest(file, "sha256").hexdigest()


def _backups(settings: Settings) -> Finding:
    worried = keeping.why_worried(settings, datetime.now(UTC))
    if worried:
        return Finding("backups", worried, "winnow backup makes one now.")
    made, by_itself = keeping.kept(settings.backups_dir), settings.backups.every is not None
    how = "by themselves" if by_itself else "not automatic (WINNOW_BACKUPS=daily:7 schedules them)"
    if not made:
        return Finding("backups", f"none in {settings.backups_dir}; {how}.")
    age = datetime.now(UTC) - made[0].made_at
    return Finding(
        "backups",
        f"{len(made)} in {settings.backups_dir}, the latest {counted(round(age.total_seconds() / 3600), 'hour')} "
        f"old; {how}.",
    )


def _caches(settings: Settings) -> Finding:
    found = []
    for name in ("cache", "thumbnails", "models", "exports"):
        files = [path for path in (settings.home / name).rglob("*") if path.is_file()]
        found.append(f"{name} {sum(path.stat().st_size for path in files) / 1e6:.0f} MB")
    return Finding(
        "files that are recreated", f"{', '.join(found)}; any of these folders may be removed while Winnow is stopped."
    )


def _disk(settings: Settings) -> Finding:
    free = shutil.disk_usage(settings.home).free
    url = make_url(settings.database_url)
    path = path_in(str(url.database)) if url.get_backend_name() == "sqlite" else settings.home
    least = max(LEAST_FREE, 2 * path.stat().st_size if path.is_file() else 0)
    says = f"{free / 1e9:.1f} GB free."
    return Finding("disk", says, "" if free >= least else f"make room: {least / 1e9:.1f} GB should be free.")


def _open_files() -> Finding:
    """Report how many files a server of this user may open; it raises the limit itself, as far as it may."""
    files, pages = running.most_files(raised=True), running.most_pages(raised=True)
    says = f"a server raises its limit from {running.most_files():,} to {files:,}: {counted(pages, 'open page')}."
    fix = "let it have 65536 (LimitNOFILE= in the systemd unit, --ulimit nofile= of a container, or ulimit -Hn)."
    return Finding("open files", says, "" if pages >= running.PAGES else fix)
