"""Values that must be there, of functions that may find nothing."""

from __future__ import annotations

from typing import TypeVar

Found = TypeVar("Found")


def present(found: Found | None) -> Found:
    """The same, which is not None."""
    assert found is not None
    return found
