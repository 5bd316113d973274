"""The file of a backup: a zip in which every byte is checked.

Its members are never compressed, so a backup needs exactly the reported space. The last member, `manifest.json`, has
the size and SHA-256 of all others. The zip's comment ends the file: the manifest's SHA-256, then that of all previous
bytes. So any changed byte is found, and in most cases the member it belongs to.
"""

from __future__ import annotations

import hashlib
import json
import os
import re
import struct
import zipfile
from collections.abc import Callable, Iterable, Iterator
from dataclasses import asdict, replace
from pathlib import Path
from typing import IO, BinaryIO

from plcore.arrays import counted
from workflow.backups.manifest import MANIFEST, BackupError, DamagedError, Manifest, PackedFile, understand
from workflow.files.stored import whole_file

MOST_OF_MANIFEST = 1 << 28
"""Maximum bytes of a manifest; that of a million images has a tenth of them."""

Tell = Callable[[int, int], None]
"""Called with the number of bytes done and the total."""

_NAMES = re.compile(
    r"winnow\.sqlite3|project\.json|tables/[0-9a-f]{64}\.parquet"
    r"|media/(?P<folder>[0-9a-f]{2})/(?P=folder)[0-9a-f]{62}\.[0-9a-z]{1,8}"
)
_MARK = b"winnow-backup "
_COMMENT = len(_MARK) + 64 + 1 + 64
_END = 22 + _COMMENT  # the zip's last record, with the comment
_LOCAL = struct.Struct("<4s22xHH")  # signature, lengths of name and extra field
_PIECE = 1 << 20


def is_ours(name: str) -> bool:
    """Return whether a file with this name, relative to the data folder, may be in a backup, apart from the
    manifest."""
    return _NAMES.fullmatch(name) is not None


def write_archive(
    path: Path, manifest: Manifest, sources: Iterable[tuple[str, Path]], tell: Tell | None = None
) -> Manifest:
    """Write the file completely or not at all, and read it again from the disk before it gets its name.

    manifest : all but members and damaged      sources : name in the file, and current path

    Raises BackupError, OSError.
    """
    if path.exists():
        raise BackupError(f"There is a file {path} already. Fix: name another one.")
    with whole_file(path) as file:
        return write_into(file, manifest, sources, tell)


def write_into(
    file: BinaryIO, manifest: Manifest, sources: Iterable[tuple[str, Path]], tell: Tell | None = None
) -> Manifest:
    """Write the backup as `write_archive`, into a new file that is already open. Raises BackupError, OSError."""
    sized = [(name, source, source.stat().st_size) for name, source in sources]
    total, done, members = sum(size for *_, size in sized), 0, []
    Path(file.name).chmod(0o600)  # it holds the hashes of passwords
    with zipfile.ZipFile(file, "w", zipfile.ZIP_STORED) as archive:
        for name, source, size in sized:
            members.append(_add(archive, name, source, size))
            done += size
            if tell is not None:
                tell(done, 2 * total)
        damaged = tuple(one.name for one in members if _is_other(one))
        made = replace(manifest, members=tuple(members), damaged=damaged)
        data = json.dumps(asdict(made), indent=1, ensure_ascii=False).encode()
        archive.writestr(zipfile.ZipInfo(MANIFEST), data)
        archive.comment = _MARK + hashlib.sha256(data).hexdigest().encode() + b" " + b"0" * 64
    _seal(file, Path(file.name))
    check_archive(Path(file.name), None if tell is None else lambda read, _: tell(total + read, 2 * total))
    return made


def _add(archive: zipfile.ZipFile, name: str, source: Path, size: int) -> PackedFile:
    """Add a file. It still has the size taken before: these files never change."""
    found, info = hashlib.sha256(), zipfile.ZipInfo(name)
    info.file_size = size
    written = 0
    with source.open("rb") as given, archive.open(info, "w") as kept:
        while piece := given.read(_PIECE):
            kept.write(piece)
            found.update(piece)
            written += len(piece)
    return PackedFile(name, written, found.hexdigest())


def _is_other(member: PackedFile) -> bool:
    """Return whether a file named by its content has other content."""
    called = Path(member.name).stem
    return len(called) == 64 and called != member.sha256


def _seal(file: BinaryIO, path: Path) -> None:
    """Write the last 64 bytes, the hash of all others, and drop the file from memory caches."""
    file.flush()
    with path.open("rb") as written:
        whole = _hash(written, 0, path.stat().st_size - 64)
    file.seek(-64, os.SEEK_END)
    file.write(whole.encode())
    file.flush()
    os.fsync(file.fileno())
    if hasattr(os, "posix_fadvise"):  # the next read must come from the disk
        os.posix_fadvise(file.fileno(), 0, 0, os.POSIX_FADV_DONTNEED)


def check_archive(path: Path, tell: Tell | None = None, called: str = "") -> Manifest:
    """Read the whole file; return its manifest if every byte is unchanged.

    called : the file's name for users, if it is another one

    Raises DamagedError, which names the place; BackupError if it is not a backup, or of a newer format; OSError.
    """
    name = called or path.name
    with path.open("rb") as file:
        manifest, places = _read_manifest(file, name)
        done = 0
        for member in manifest.members:
            start, size = places[member.name]
            found = _hash(file, start, size)
            if (size, found) != (member.size, member.sha256):
                raise DamagedError(name, member.name, _words(member.size, member.sha256), _words(size, found))
            done += size
            if tell is not None:
                tell(done, manifest.size)
        file.seek(-64, os.SEEK_END)
        said = file.read(64).decode("ascii", "replace")
        found = _hash(file, 0, path.stat().st_size - 64)
        if said != found:
            raise DamagedError(name, "the bytes between its members", f"SHA-256 {said!r} of the whole", repr(found))
    return manifest


def extract_all(path: Path, manifest: Manifest, folder: Path, tell: Tell | None = None, called: str = "") -> None:
    """Write all members into a folder, each under its name. Arguments and errors as for `check_archive`."""
    name = called or path.name
    with path.open("rb") as file:
        places, done = _read_manifest(file, name)[1], 0
        for member in manifest.members:
            target = folder / member.name
            target.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
            _copy_out(file, name, member, places[member.name], target)
            done += member.size
            if tell is not None:
                tell(done, manifest.size)


def is_project_file(name: str) -> bool:
    """Return whether a member with this name is a table of a project, or a file of one, at its place below the data
    folder."""
    return bool(_NAMES.fullmatch(name)) and name.startswith(("tables/", "media/"))


def _copy_out(file: BinaryIO, name: str, member: PackedFile, place: tuple[int, int], target: Path) -> None:
    found = hashlib.sha256()
    with target.open("xb") as written:
        target.chmod(0o600)
        for piece in _pieces(file, *place):
            written.write(piece)
            found.update(piece)
    if found.hexdigest() != member.sha256:
        raise DamagedError(name, member.name, f"SHA-256 {member.sha256}", found.hexdigest())


def _read_manifest(file: BinaryIO, name: str) -> tuple[Manifest, dict[str, tuple[int, int]]]:
    """Return the manifest, and the place of each member's bytes: first byte, number of bytes."""
    comment = _read_comment(file, name)
    places = _read_places(file, name)
    if MANIFEST not in places:
        raise DamagedError(name, MANIFEST, "it among the members", counted(len(places), "other"))
    start, size = places.pop(MANIFEST)
    if size > MOST_OF_MANIFEST:
        raise DamagedError(name, MANIFEST, f"at most {MOST_OF_MANIFEST:,} bytes", f"{size:,}")
    file.seek(start)
    data = file.read(size)
    said, found = (comment[len(_MARK) : len(_MARK) + 64].decode("ascii", "replace"), hashlib.sha256(data).hexdigest())
    if said != found:
        raise DamagedError(name, MANIFEST, f"SHA-256 {said}", found)
    manifest = understand(data, name)
    listed = [one.name for one in manifest.members]
    if sorted(listed) != sorted(places):
        other = sorted(set(listed) ^ set(places))
        raise DamagedError(name, other[0] if other else MANIFEST, "the members that the manifest lists", "others")
    return manifest, places


def _read_comment(file: BinaryIO, name: str) -> bytes:
    file.seek(0, os.SEEK_END)
    length = file.tell()
    file.seek(0)
    begins = file.read(4)
    file.seek(max(length - _COMMENT, 0))
    comment = file.read(_COMMENT)
    if not comment.startswith(_MARK):
        if begins not in (b"PK\x03\x04", b"PK\x05\x06"):
            raise BackupError(f"{name} is not a backup of Winnow. Fix: name a file written by `winnow backup`.")
        raise DamagedError(
            name, f"its end, byte {length:,}", f"the seal that ends every backup ({_MARK.decode()}…)", "other bytes"
        )
    return comment


def _read_places(file: BinaryIO, name: str) -> dict[str, tuple[int, int]]:
    """Return the place of each member's bytes, by name. Only plain members with valid names, stored one after another,
    are accepted."""
    length = file.seek(0, os.SEEK_END)
    try:
        with zipfile.ZipFile(file) as archive:
            listed = archive.infolist()
    except (zipfile.BadZipFile, NotImplementedError, ValueError, OverflowError, struct.error, EOFError) as error:
        raise DamagedError(name, "the list of its members", "the list of a zip", str(error)) from error
    places: dict[str, tuple[int, int]] = {}
    end = 0
    for one in sorted(listed, key=lambda one: one.header_offset):
        place = one.filename
        if place != MANIFEST and not is_ours(place):
            raise DamagedError(name, repr(place), "a file of Winnow's, inside its folders", "an invalid name")
        if place in places:
            raise DamagedError(name, place, "it once", "it twice")
        if one.compress_type != zipfile.ZIP_STORED or one.compress_size != one.file_size or one.flag_bits & 1:
            raise DamagedError(name, place, "bytes as they are", "compressed or encrypted ones")
        start = _start(file, one, name)
        if one.header_offset < end or start + one.file_size > length - _END:
            raise DamagedError(
                name, place, "bytes of its own in the file", "a place of another member, or outside the file"
            )
        places[place] = start, one.file_size
        end = start + one.file_size
    return places


def _start(file: BinaryIO, info: zipfile.ZipInfo, name: str) -> int:
    """Return the first byte of a member: after its own header, whose length is not in zipfile's list."""
    file.seek(max(info.header_offset, 0))
    header = file.read(_LOCAL.size)
    if len(header) < _LOCAL.size or header[:4] != b"PK\x03\x04":
        raise DamagedError(name, info.filename, f"its beginning at byte {info.header_offset:,}", "other bytes")
    _, called, extra = _LOCAL.unpack(header)
    return info.header_offset + _LOCAL.size + int(called) + int(extra)


def _hash(file: IO[bytes], start: int, size: int) -> str:
    found = hashlib.sha256()
    for piece in _pieces(file, start, size):
        found.update(piece)
    return found.hexdigest()


def _pieces(file: IO[bytes], start: int, size: int) -> Iterator[bytes]:
    file.seek(start)
    while size > 0 and (piece := file.read(min(size, _PIECE))):
        yield piece
        size -= len(piece)


def _words(size: int, sha256: str) -> str:
    return f"{size:,} bytes with SHA-256 {sha256}"
