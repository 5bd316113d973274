"""`winnow doctor`: what is well with this Winnow, what is not, and what to do about it.

It opens nothing for writing but files of its own, so that it can be asked about a home that cannot be opened.
"""

from __future__ import annotations

import hashlib
import os
import shutil
import stat
from collections.abc import Iterator
from datetime import UTC, datetime
from pathlib import Path
from typing import TYPE_CHECKING

from sqlalchemy import make_url, text
from sqlalchemy.exc import DBAPIError

from db.copies import AlienObjectError, CopyFacts, DamagedCopyError, look_at, look_into
from db.engine import Database, revisions
from db.faults import lacks_a_table
from db.sqlite_engine import path_in
from plcore.loop import EntryKind
from workflow.common import in_use
from workflow.outgoing.backups import keeping
from workflow.outgoing.backups.making import named_files, strays
from workflow.outgoing.backups.manifest import counted
from workflow.outgoing.machine_findings import Finding, installation, speeds

if TYPE_CHECKING:
    from workflow.settings import Settings

LEAST_FREE = 1 << 30
"""Bytes that should be free, and twice the database."""
DURABLE = ("fsync", "full_page_writes")
"""Settings of PostgreSQL's without which a power cut damages the database. Where `synchronous_commit` is off, Winnow
sets it for itself."""


def examine(settings: Settings) -> Iterator[Finding]:
    """Look at everything, one after another: the slow last."""
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
            f"{home} is no folder that this user may write.",
            "set WINNOW_HOME to one, or let this user write it.",
        )
        return
    mode = stat.S_IMODE(home.stat().st_mode)
    if mode & 0o077:
        yield Finding(
            "data folder",
            f"{home} can be read by other users of this machine ({mode:o}).",
            f"chmod 700 {home}",
        )
        return
    yield Finding("data folder", f"{home}, for this user alone; {_use(home)}.")


def _use(home: Path) -> str:
    if not (home / in_use.NAME).exists():
        return "never opened"
    try:
        with in_use.alone(home):
            return "no Winnow has it open"
    except in_use.InUseError:
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
                    f"{path} is not there, but {_several(tables, 'table')} of projects {_are(tables)}.",
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
        facts = look_into(path, EntryKind.ROWS, live=True)
    except DamagedCopyError as error:
        yield Finding("database", f"{path} is damaged: {error}.", _restore(settings)), None
        return
    except AlienObjectError as error:
        yield Finding("database", f"{path}: {error}, and no backup can be made.", error.fix), None
        return
    beside = f" Not Winnow's, and no harm: {', '.join(facts.beside)}." if facts.beside else ""
    yield (
        Finding(
            "database", f"{path} is whole: {path.stat().st_size:,} bytes, {counted(facts.counts)}.{beside}"
        ),
        facts,
    )
    yield _tables(facts.revision), None


def _tables(revision: str) -> Finding:
    newest = revisions()[0]
    if revision == newest:
        return Finding("tables", f"revision {revision}, the newest.")
    if revision in revisions():
        return Finding(
            "tables", f"revision {revision}; the next start makes a copy and brings them to {newest}."
        )
    return Finding(
        "tables",
        f"revision {revision}, which this Winnow ({newest}) does not know.",
        "start the newer Winnow that wrote it, or restore a backup from before.",
    )


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
        says = f"PostgreSQL answers, but {' and '.join(off)} {_are(len(off))} off: a power cut damages the database."
        fix = f"set {' and '.join(f'{name} = on' for name in off)} in postgresql.conf, and reload it."
        yield Finding("database", says, fix), facts
    else:
        yield Finding("database", f"PostgreSQL answers: {counted(facts.counts)}."), facts
    yield _tables(facts.revision), None


def _restore(settings: Settings) -> str:
    good = [one for one in keeping.kept(settings.backups_dir) if not one.fault]
    file = good[0].path if good else "FILE"
    return f"stop Winnow and restore a backup: winnow restore {file} --replace"


def _files(settings: Settings, facts: CopyFacts) -> Finding:
    """Tables are read, images and recordings are only looked for: there may be a million."""
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
            return Finding(
                "files", f"{names[0]}{more} {how}.", "put them back from a backup, which is a zip."
            )
    tables = len(facts.table_hashes)
    media = len(named) - tables
    beside = _several(media, "image or recording", "images and recordings")
    there = f"{_several(tables, 'table')} {_are(tables)} whole, {beside} {_are(media)} there"
    alien = strays(tables_dir, media_dir)
    if not alien:
        return Finding("files", f"{there}.")
    more = f", and {len(alien) - 1} more" if len(alien) > 1 else ""
    return Finding("files", f"{there}. Not Winnow's, and in no backup: {alien[0]}{more}.")


def _several(count: int, name: str, several: str | None = None) -> str:
    return f"{count:,} {name if count == 1 else several or f'{name}s'}"


def _are(count: int) -> str:
    return "is" if count == 1 else "are"


def _sha256(path: Path) -> str:
    with path.open("rb") as file:
        return hashlib.file_digest(file, "sha256").hexdigest()


def _backups(settings: Settings) -> Finding:
    worried = keeping.why_worried(settings, datetime.now(UTC))
    if worried:
        return Finding("backups", worried, "winnow backup makes one now.")
    made, by_itself = keeping.kept(settings.backups_dir), settings.backups.every is not None
    how = "by themselves" if by_itself else "none by themselves (WINNOW_BACKUPS=daily:7 has them made)"
    if not made:
        return Finding("backups", f"none in {settings.backups_dir}; {how}.")
    age = datetime.now(UTC) - made[0].made_at
    return Finding(
        "backups",
        f"{len(made)} in {settings.backups_dir}, the latest {_several(round(age.total_seconds() / 3600), 'hour')} "
        f"old; {how}.",
    )


def _caches(settings: Settings) -> Finding:
    found = []
    for name in ("cache", "thumbnails", "models", "exports"):
        files = [path for path in (settings.home / name).rglob("*") if path.is_file()]
        found.append(f"{name} {sum(path.stat().st_size for path in files) / 1e6:.0f} MB")
    return Finding(
        "what is made again",
        f"{', '.join(found)}; any of these folders may be removed while Winnow is stopped.",
    )


def _disk(settings: Settings) -> Finding:
    free = shutil.disk_usage(settings.home).free
    url = make_url(settings.database_url)
    path = path_in(str(url.database)) if url.get_backend_name() == "sqlite" else settings.home
    least = max(LEAST_FREE, 2 * path.stat().st_size if path.is_file() else 0)
    says = f"{free / 1e9:.1f} GB free."
    return Finding("disk", says, "" if free >= least else f"make room: {least / 1e9:.1f} GB should be free.")
