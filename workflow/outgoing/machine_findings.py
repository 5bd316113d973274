"""What the doctor finds of the machine: the packages that are installed, how fast its disk is."""

from __future__ import annotations

import importlib.metadata
import os
import secrets
import sqlite3
import statistics
import sys
import tempfile
import time
import tomllib
from collections.abc import Iterator
from contextlib import closing
from dataclasses import dataclass
from pathlib import Path

from packaging.requirements import Requirement

from winnow import __version__

SLOWEST_COMMIT = 0.05
"""Seconds that a commit may take: there is one in every answer."""
SLOWEST_WRITING = 5e6
"""Bytes a second."""
COMMITS, WRITTEN = 20, 1 << 24
_OLDEST_PYTHON = (3, 11)
_PROJECT = Path(__file__).parents[2] / "pyproject.toml"


@dataclass(frozen=True)
class Finding:
    """What was found of one thing. what : its name      says : one sentence      fix : '' where all is well"""

    what: str
    says: str
    fix: str = ""

    def __str__(self) -> str:
        return (
            f"ok   {self.what}: {self.says}"
            if not self.fix
            else f"NOT  {self.what}: {self.says} Fix: {self.fix}"
        )


def installation() -> Finding:
    where = f"Winnow {__version__}, Python {sys.version.split()[0]}"
    wrong = []
    for line in _required():
        needs = Requirement(line)
        if needs.marker is not None and not needs.marker.evaluate({"extra": ""}):
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
            f"{where}: {'; '.join(wrong)}.",
            "install Winnow anew, in an environment of its own.",
        )
    return Finding("installation", f"{where}, and every package it needs.")


def _required() -> list[str]:
    """What must be installed, as pyproject.toml says it: of the wheel, or of the checkout."""
    if _PROJECT.exists():
        return list(tomllib.loads(_PROJECT.read_text())["project"]["dependencies"])
    return importlib.metadata.requires("winnow") or []


def speeds(folder: Path) -> Iterator[Finding]:
    """How long a commit takes as the database makes them, and how fast files are written."""
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
