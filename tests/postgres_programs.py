"""Finds PostgreSQL's programs for the tests, or installs them if possible: as root with apt."""

from __future__ import annotations

import os
import shutil
import subprocess
from pathlib import Path

_PROGRAMS = ("initdb", "pg_ctl", "postgres")

PLACES = ("/usr/lib/postgresql", "/usr/local/pgsql", "/opt/homebrew/opt", "/usr/local/opt", "/usr")
"""Folders below which packages put the server's programs, which are not on PATH: Debian, manual, macOS, Red Hat."""


def find() -> Path | None:
    """The folder of initdb, pg_ctl and postgres, the newest version; or None."""
    on_path = shutil.which("initdb")
    folders = [Path(on_path).resolve().parent] if on_path else []
    for place in PLACES:
        folders += sorted(Path(place).glob("*/bin"), key=_version, reverse=True)
    return next((one for one in folders if all((one / name).exists() for name in _PROGRAMS)), None)


def _version(folder: Path) -> int:
    return int("".join(filter(str.isdigit, folder.parent.name)) or 0)


def obtain() -> Path | None:
    """The folder of the programs, installed now if needed and possible."""
    if found := find():
        return found
    if os.geteuid() == 0 and shutil.which("apt-get"):
        print("Installing PostgreSQL for the tests (Debian package, once) ...", flush=True)
        quiet = {"env": {**os.environ, "DEBIAN_FRONTEND": "noninteractive"}, "stdout": subprocess.DEVNULL}
        subprocess.run(["apt-get", "update", "-qq"], check=False, **quiet)
        install = ["apt-get", "install", "-y", "-qq", "--no-install-recommends", "postgresql"]
        subprocess.run(install, check=False, **quiet)
    return find()


if __name__ == "__main__":
    if obtain() is None:
        print(f"No PostgreSQL for the tests ({', '.join(_PROGRAMS)}). Fix: install the package 'postgresql'.")
