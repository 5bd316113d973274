"""Project files that someone has changed and sealed again; homes to import them into, and a check in this process."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest

from tests.migrated import lay_database
from tests.workflow.backups.drill import reopened
from workflow.backups.archive import check_archive, extract_all, write_archive
from workflow.backups.manifest import CONTENT
from workflow.backups.project_content import JOB, look
from workflow.files import limited
from workflow.people import team
from workflow.seat import Seat


@pytest.fixture
def checked_here(monkeypatch: pytest.MonkeyPatch) -> None:
    """Imported project files are checked in this process, where all is loaded: a new one takes 4 s of computing for
    it. Other jobs have their own processes."""
    ask = limited.ask

    def ask_here(job: str, given: Mapping[str, Any], folder: Path, *more: Any) -> Any:
        if job != JOB:
            return ask(job, given, folder, *more)
        result = look(json.loads(json.dumps(given)), folder, lambda _share: None)
        return SimpleNamespace(result=json.loads(json.dumps(result)))

    monkeypatch.setattr(limited, "ask", ask_here)


@contextmanager
def new_home(folder: Path) -> Iterator[Seat]:
    """The seat of a new home's owner."""
    lay_database(folder)
    here = reopened(folder)
    try:
        yield Seat(here, team.ensure_owner(here).id)
    finally:
        here.close()


def forged(file: Path, folder: Path, change: Callable[[dict[str, Any]], None]) -> Path:
    """The same file with other content, sealed again."""
    manifest = check_archive(file)
    extract_all(file, manifest, folder / "aside")
    content = json.loads((folder / "aside" / CONTENT).read_text())
    change(content)
    (folder / "aside" / CONTENT).write_text(json.dumps(content))
    sources = [(one.name, folder / "aside" / one.name) for one in manifest.members]
    write_archive(folder / "forged.zip", manifest, sources)
    return folder / "forged.zip"


def with_files(file: Path, folder: Path, change: Callable[[Path], dict[str, Path]]) -> Path:
    """The same file with other members, sealed again. change : is given the folder with all members at their names;
    returns the members of the new file, and their paths"""
    extract_all(file, check_archive(file), folder / "aside")
    sources = change(folder / "aside")
    write_archive(folder / "forged.zip", check_archive(file), sorted(sources.items()))
    return folder / "forged.zip"


def members(folder: Path) -> dict[str, Path]:
    """All files below a folder, by their names in a project file."""
    return {path.relative_to(folder).as_posix(): path for path in folder.rglob("*") if path.is_file()}
