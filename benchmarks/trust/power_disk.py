"""Possible contents of a disk after a power cut, from the journal of `power_journal.c`.

The model is harsher than most file systems. Unsynced writes may be there, or not, or in part, in any order,
in sectors of 512 bytes; a file may have its later length and zeros in it. A created, changed or removed name
is certain only after its folder was synced; before that, the changes of names may stop at any point, or be
there in any selection. A rename is complete or did not happen.
"""

from __future__ import annotations

import json
import os
import random
import struct
import subprocess
from collections import deque
from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path, PurePosixPath

HEAD = struct.Struct("<c3xIIQQ")
SECTOR = 512
SAID = b"A"
"""Op of an acknowledgement, recorded by the person who received it."""
NOT_KEPT = "-shm"
"""SQLite's index of its log: changed through a mapping, and rebuilt by the process that opens the database
first."""


@dataclass(frozen=True)
class Op:
    """One record. inode : of the file or folder      offset : of the write, or the new length"""

    kind: bytes
    inode: int
    offset: int
    a: bytes
    b: bytes


def read_journal(path: Path) -> list[Op]:
    data, at, found = path.read_bytes(), 0, []
    while at < len(data):
        kind, n_a, n_b, inode, offset = HEAD.unpack_from(data, at)
        at += HEAD.size
        found.append(Op(kind, inode, offset, data[at : at + n_a], data[at + n_a : at + n_a + n_b]))
        at += n_a + n_b
    return found


def say(journal: str, *words: str) -> None:
    """Record an acknowledgement."""
    text = json.dumps(words).encode()
    file = os.open(journal, os.O_WRONLY | os.O_APPEND | os.O_CREAT | os.O_CLOEXEC, 0o600)
    try:
        os.write(file, HEAD.pack(SAID, len(text), 0, 0, 0) + text)
    finally:
        os.close(file)


def build(source: Path, library: Path) -> None:
    """Compile the library. Raises FileNotFoundError if there is no gcc."""
    subprocess.run(["gcc", "-O2", "-shared", "-fPIC", "-o", str(library), str(source), "-ldl"], check=True)


def put(content: bytearray, op: Op) -> None:
    """Apply a write, or a change of length."""
    end = op.offset + (len(op.a) if op.kind == b"w" else 0)
    if len(content) < end:
        content.extend(bytes(end - len(content)))
    if op.kind == b"w":
        content[op.offset : end] = op.a
    else:
        del content[end:]


@dataclass
class File:
    """live : as processes see it      lasting : synced content      pending : (when, change) since"""

    live: bytearray = field(default_factory=bytearray)
    lasting: bytearray = field(default_factory=bytearray)
    pending: list[tuple[int, Op]] = field(default_factory=list)

    def sync(self, begun: int) -> None:
        """Make all changes before this moment permanent."""
        for _, op in (one for one in self.pending if one[0] < begun):
            put(self.lasting, op)
        self.pending = [one for one in self.pending if one[0] >= begun]

    def after_cut(self, dice: random.Random) -> bytes:
        content = bytearray(self.lasting)
        way = dice.choice(("nothing", "all", "the first", "sectors"))
        ops = [op for _, op in self.pending]
        if way == "all":
            return bytes(self.live)
        if way == "the first" and ops:
            whole = dice.randrange(len(ops))
            for op in ops[:whole]:
                put(content, op)
            for piece in sectors(ops[whole]):
                if dice.random() < 0.5:
                    break
                put(content, piece)
        elif way == "sectors":
            share = dice.random()
            for op in ops:
                for piece in sectors(op):
                    if dice.random() < share:
                        put(content, piece)
        if len(content) < len(self.live) and dice.random() < 0.3:
            content.extend(bytes(len(self.live) - len(content)))
        return bytes(content)


def sectors(op: Op) -> Iterator[Op]:
    """Yield the parts of a change that a disk may write separately."""
    if op.kind != b"w":
        yield op
        return
    at = 0
    while at < len(op.a):
        n = SECTOR - (op.offset + at) % SECTOR
        yield Op(b"w", op.inode, op.offset + at, op.a[at : at + n], b"")
        at += n


Names = dict[str, File | None]
"""Paths; the value of a folder is None."""
Change = tuple[bytes, str, str, "File | None"]


def rename_in(names: Names, change: Change) -> None:
    """Apply the change of a name, as far as still possible."""
    kind, a, b, file = change
    if kind in b"cml":
        names[b or a] = file
    elif kind == b"r":
        names.pop(a, None)
        names[b] = file
    else:
        names.pop(a, None)


class Disk:
    """The files below a folder, initially empty, reconstructed from the records one by one."""

    def __init__(self, root: Path, inode: int) -> None:
        self.root, self.now = str(root), 0
        self.files: dict[int, File] = {}
        self.folders = {inode: self.root}
        self.names: Names = {}
        self.lasting: Names = {}
        self.pending: list[tuple[int, Change]] = []
        self._begun: dict[int, deque[int]] = {}

    def take(self, op: Op) -> None:
        """Apply the next record."""
        self.now += 1
        kind, a, b = op.kind, os.fsdecode(op.a) if op.kind in b"cmlrud" else "", os.fsdecode(op.b)
        if kind in b"wt":
            file = self.files.setdefault(op.inode, File())
            put(file.live, op)
            file.pending.append((self.now, op))
        elif kind in b"([":
            self._begun.setdefault(op.inode, deque()).append(self.now)
        elif kind in b")]":
            self._sync(op.inode, self._begun[op.inode].popleft(), everything=kind == b"]")
        elif kind in b"cmlrud":
            file = None
            if kind == b"c":
                file = self.files[op.inode] = File()
            elif kind == b"m":
                self.folders[op.inode] = a
            else:
                file = self.names.get(a)
            if kind == b"r" and a in self.names and file is None:
                raise NotImplementedError(f"a folder is renamed: {a}")
            change = kind, a, b, file
            rename_in(self.names, change)
            self.pending.append((self.now, change))

    def _sync(self, inode: int, begun: int, *, everything: bool) -> None:
        for file in self.files.values() if everything else filter(None, [self.files.get(inode)]):
            file.sync(begun)
        folder = self.folders.get(inode)
        kept = []
        for when, change in self.pending:
            inside = folder in {str(PurePosixPath(path).parent) for path in change[1:3] if path}
            if when < begun and (everything or inside):
                rename_in(self.lasting, change)
            else:
                kept.append((when, change))
        self.pending = kept

    def after_cut(self, dice: random.Random) -> dict[str, bytes | None]:
        """Return a possible set of files, by path below the folder; None for a folder."""
        names, changes = dict(self.lasting), [change for _, change in self.pending]
        way = dice.choice(("nothing", "all", "the first", "any"))
        share = dice.random()
        if way == "the first":
            changes = changes[: dice.randrange(len(changes) + 1)]
        elif way == "any":
            changes = [change for change in changes if dice.random() < share]
        for change in changes if way != "nothing" else ():
            rename_in(names, change)
        return self._below(
            names, {path: None if file is None else file.after_cut(dice) for path, file in names.items()}
        )

    def as_seen(self) -> dict[str, bytes | None]:
        """Return the files as processes see them now."""
        return self._below(
            self.names, {path: None if file is None else bytes(file.live) for path, file in self.names.items()}
        )

    def _below(self, names: Names, contents: dict[str, bytes | None]) -> dict[str, bytes | None]:
        """Drop names in folders that do not exist."""
        there = {self.root} | {path for path, file in names.items() if file is None}
        found = {}
        for path, content in contents.items():
            above = {str(one) for one in PurePosixPath(path).parents if str(one).startswith(self.root)}
            if above <= there and not path.endswith(NOT_KEPT):
                found[os.path.relpath(path, self.root)] = content
        return found


def lay_down(found: dict[str, bytes | None], folder: Path) -> None:
    """Create these files in a new folder."""
    folder.mkdir(mode=0o700)
    for path, content in sorted(found.items()):
        if content is None:
            (folder / path).mkdir(mode=0o700, exist_ok=True)
        else:
            (folder / path).write_bytes(content)
