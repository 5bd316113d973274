"""Caddy for the tests of its recipe: the program on PATH, or from Debian's package, unpacked but not installed, because
installing it would start a service on port 80."""

from __future__ import annotations

import shutil
import subprocess
from pathlib import Path

import pytest

from tests.conftest import REQUIRED, ROOT

_UNPACKED = ROOT / ".cache" / "caddy"


def find() -> str | None:
    """The program's path, or None."""
    return shutil.which("caddy") or shutil.which("caddy", path=str(_UNPACKED / "usr" / "bin"))


def fetch() -> None:
    """Unpack Debian's package."""
    _UNPACKED.mkdir(parents=True, exist_ok=True)
    subprocess.run(["apt-get", "download", "-qq", "caddy"], cwd=_UNPACKED, check=False)
    for package in _UNPACKED.glob("caddy_*.deb"):
        subprocess.run(["dpkg-deb", "--extract", package.name, "."], cwd=_UNPACKED, check=False)
        package.unlink()


def found_or_not_run() -> Path:
    """The program. If it is missing, the test is not run; it fails if no test may be left out."""
    path = find()
    if path is None:
        words = "NOT RUN with Caddy: it is not there. Fix: apt install caddy, or make browser"
        (pytest.fail if REQUIRED else pytest.skip)(words)
    return Path(str(path))
