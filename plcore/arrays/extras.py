"""Which packages of the extra `plcore[tables]` are missing."""

from __future__ import annotations

from importlib.util import find_spec

NEEDED_BY_TABLES = ("arff", "PIL", "pyarrow", "python_calamine", "soundfile")
"""Packages that the extra installs, by import name."""


def missing_for_tables() -> list[str]:
    """Return the names of the packages that cannot be imported."""
    return [name for name in NEEDED_BY_TABLES if find_spec(name) is None]
