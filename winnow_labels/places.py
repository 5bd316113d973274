"""Places that a command reads from and writes to: a path, or `-` for standard input and output."""

from __future__ import annotations

import shutil
import sys
from pathlib import Path
from typing import Any, BinaryIO, TypedDict

import click

STANDARD = "-"
"""Names standard input or output; a file of this name is `./-`."""
_PIECE = 1 << 20
"""Bytes copied at a time."""
_SPARE = 200_000_000
"""Bytes of the disk that a copy leaves to others."""
_IS_READ = "winnow.standard-input"


class FileOptions(TypedDict):
    """Options of a command about a file: what comes with it, and how it is read."""

    rows: str | None
    vectors: str | None
    as_it_is: bool
    ways: dict[str, str]


class FileToRead(click.Path):
    """A file, or a folder if `dir_okay`, to read; `on_disk` finds it."""

    def __init__(self, *, dir_okay: bool = True) -> None:
        super().__init__(exists=True, dir_okay=dir_okay, allow_dash=True)


def on_disk(what: str, files: FileOptions) -> tuple[Path, dict[str, Any]]:
    """Return the path of a file to read, and the other arguments of `workflow.importing.read_paths`.

    Standard input is first copied to a scratch file, which is removed when the command ends.
    Raises ClickException if it is named twice, or the disk is full.
    """
    rows, vectors = (None if one is None else path_of(one) for one in (files["rows"], files["vectors"]))
    return path_of(what), {**files, "rows": rows, "vectors": vectors}


def path_of(what: str) -> Path:
    """Return the path of a file to read, like `on_disk`."""
    if what != STANDARD:
        return Path(what)
    context = click.get_current_context()
    if sys.stdin is None or context.meta.get(_IS_READ):
        why = "is closed" if sys.stdin is None else "can be only one of the files"
        raise click.UsageError(f"Standard input {why}. Fix: name a file.")
    context.meta[_IS_READ] = True
    return _copied(sys.stdin.buffer, "standard input")


def project_name(what: str) -> str:
    """Return the name of a project made from this file. Raises UsageError for standard input, which has none."""
    if what == STANDARD:
        raise click.UsageError("Standard input has no name. Fix: name the project, such as --name birds.")
    return Path(what).stem or Path(what).resolve().stem  # of "." the folder's name


def _copied(source: BinaryIO, name: str) -> Path:
    from workflow.files.scratch import Scratch

    scratch = Scratch()
    click.get_current_context().call_on_close(lambda: scratch.close())  # keeps it until then
    target = scratch.path / name
    with target.open("xb") as file:
        while piece := source.read(_PIECE):
            if shutil.disk_usage(scratch.path).free < _SPARE:
                raise click.ClickException(
                    f"There is no room left on the disk for {name}: it is copied into {scratch.path.parent}. Fix: make "
                    "room there, or set TMPDIR to another folder."
                )
            file.write(piece)
    return target
