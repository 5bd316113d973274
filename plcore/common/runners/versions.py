"""What a process computes with: its code, Python, and the packages that results depend on."""

from __future__ import annotations

import sys
from functools import cache
from hashlib import sha256
from importlib.metadata import version
from pathlib import Path

PACKAGES = ("numba", "numpy", "scikit-learn", "scipy")
"""Whose versions have to be the same everywhere, beside those that Dask itself asks for: results depend on them."""


def code_and_versions() -> dict[str, str]:
    """What a process computes with: the source of plcore, Python and the packages it rests on."""
    python = ".".join(map(str, sys.version_info[:3]))
    return {"plcore": _sources(), "Python": python} | {name: _version(name) for name in PACKAGES}


def code_here() -> str:
    """What this process computes with, as it stands in the names of parts."""
    return " ".join(code_and_versions().values())


def check_code(code: str) -> None:
    """Raises RuntimeError in a process that computes with something else than whoever asked: a worker that came when
    the others had been looked at, whose results would lie under a name that is not theirs."""
    here = code_here()
    if here != code:
        raise RuntimeError(
            f"a worker has other versions than whoever asked: {here}, there {code} (plcore, Python, "
            f"{', '.join(PACKAGES)}). Fix: install the same; start it anew."
        )


@cache
def _sources() -> str:
    """Read once, when plcore has just been loaded: what a worker has loaded does not change with the files."""
    folder = Path(__file__).parents[2]
    sources = sha256()
    for path in sorted(folder.rglob("*.py")):
        sources.update(path.relative_to(folder).as_posix().encode() + path.read_bytes())
    return sources.hexdigest()[:12]


@cache
def _version(name: str) -> str:
    """Read once: each job has them in its name."""
    return version(name)
