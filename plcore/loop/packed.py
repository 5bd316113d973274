"""Texts and lists among arrays of numbers, in the files of checkpoints: as JSON in bytes, so that no pickle is read."""

from __future__ import annotations

import json
from typing import Any

import numpy as np

from plcore.common.types import AnyArray


def packed(value: Any) -> AnyArray:
    """uint8 (b,): what JSON can say, as an array."""
    return np.frombuffer(json.dumps(value, separators=(",", ":")).encode(), dtype=np.uint8)


def unpacked(array: AnyArray) -> Any:
    """What was packed; tuples come back as lists. Raises ValueError for other bytes."""
    return json.loads(array.tobytes())
