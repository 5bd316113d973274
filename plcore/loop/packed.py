"""Parts of checkpoints: named arrays. Texts and lists are stored as JSON bytes, so that no pickle is
needed."""

from __future__ import annotations

import json
from collections.abc import Mapping
from typing import Any

import numpy as np

from plcore.arrays.types import AnyArray


def packed(value: object) -> AnyArray:
    """Return a JSON value as an array uint8 (b,)."""
    return np.frombuffer(json.dumps(value, separators=(",", ":")).encode(), dtype=np.uint8)


def unpacked(array: AnyArray) -> Any:
    """Return the packed value; tuples become lists. Raises ValueError for invalid bytes."""
    return json.loads(array.tobytes())


def joined(parts: Mapping[str, Mapping[str, AnyArray]]) -> dict[str, AnyArray]:
    """Return the arrays of all parts, with the part's name as prefix."""
    return {f"{name}.{key}": one for name, arrays in parts.items() for key, one in arrays.items()}


def part(arrays: Mapping[str, AnyArray], name: str) -> dict[str, AnyArray]:
    """Return the arrays of one part of `joined`, under their own names."""
    return {key.removeprefix(f"{name}."): one for key, one in arrays.items() if key.startswith(f"{name}.")}
