"""Disks that are full or read-only, as closely as this machine allows."""

from __future__ import annotations

import errno
import os
import subprocess
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest

from plcore.arrays import array_files


def _mount(*options: str) -> None:
    done = subprocess.run(["mount", *options], capture_output=True, text=True, check=False)
    if not done.returncode:
        return
    said = f"NOT RUN without the right to mount: {done.stderr.strip()}"
    if os.environ.get("WINNOW_REQUIRE_DATA"):  # CI: it fails instead of skipping
        pytest.fail(said)
    pytest.skip(said)


def no_room_for_arrays(monkeypatch: pytest.MonkeyPatch) -> None:
    """Force arrays of every size into files, for which there is no room."""

    def full(*_: object) -> None:
        raise OSError(errno.ENOSPC, "No space left on device")

    monkeypatch.setattr(array_files, "IN_MEMORY", 0)
    monkeypatch.setattr(array_files, "_make_room", full)


@contextmanager
def small_disk(folder: Path, megabytes: int = 4) -> Iterator[Path]:
    """A file system of this size at the folder, which is created and removed afterwards. Only root may do this."""
    folder.mkdir(parents=True)
    _mount("-t", "tmpfs", "-o", f"size={megabytes}m,mode=0700", "tmpfs", str(folder))
    try:
        yield folder
    finally:
        subprocess.run(["umount", "--lazy", str(folder)], check=True)


@contextmanager
def filled(folder: Path) -> Iterator[None]:
    """Fill the folder's file system to the last byte meanwhile."""
    filler = folder / "filler"
    with filler.open("wb", buffering=0) as file:
        for size in (65536, 512):
            try:
                while True:
                    file.write(b"x" * size)
            except OSError:
                pass
    try:
        yield
    finally:
        filler.unlink()


@contextmanager
def read_only(folder: Path) -> Iterator[None]:
    """Make everything below the folder read-only meanwhile, even for root. The folder is a `small_disk`."""
    _mount("-o", "remount,ro", str(folder))
    try:
        yield
    finally:
        _mount("-o", "remount,rw", str(folder))
