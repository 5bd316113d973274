"""Parts of checkpoints: arrays under names, among them texts and lists, as JSON in bytes, so that no pickle is
read."""

from __future__ import annotations

import json
from collections.abc import Mapping
from typing import Any

import numpy as np

from plcore.arrays.types import AnyArray


def packed(value: object) -> AnyArray:
    """uint8 (b,): what JSON can say, as an array."""
    return np.frombuffer(json.dumps(value, separators=(",", ":")).encode(), dtype=np.uint8)


def unpacked(array: AnyArray) -> Any:
    """The packed data; tuples come back as lists. Raises ValueError for other bytes."""
    return json.loads(array.tobytes())


def joined(parts: Mapping[str, Mapping[str, AnyArray]]) -> dict[str, AnyArray]:
    """The arrays of all parts, each named after its part."""
    return {f"{name}.{key}": one for name, arrays in parts.items() for key, one in arrays.items()}


def part(arrays: Mapping[str, AnyArray], name: str) -> dict[str, AnyArray]:
    """The ones of one part of `joined`, under their own names."""
    return {key.removeprefix(f"{name}."): one for key, one in arrays.items() if key.startswith(f"{name}.")}
