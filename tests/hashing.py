"""Hashes of passwords: cheap ones, for the tests that are not about the hashes."""

from __future__ import annotations

from collections.abc import Iterator

import pytest
from argon2 import PasswordHasher

from workflow.people import passwords

REAL = passwords._HASHER
CHEAP = PasswordHasher(time_cost=1, memory_cost=8, parallelism=1)


@pytest.fixture(scope="session", autouse=True)
def cheap_passwords() -> Iterator[None]:
    """Hash cheaply in this process: a real hash takes a tenth of a second of CPU time. For a conftest to import."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(passwords, "_HASHER", CHEAP)
        passwords._nobodys.cache_clear()
        yield
