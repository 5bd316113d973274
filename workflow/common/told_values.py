"""Plain values that programs are told, whatever the kind of project: rows, numbers that may not be known, figures."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

from workflow.common.files import PATH

if TYPE_CHECKING:
    from plcore.common import AnyArray
    from workflow.common.rows import RowView


def number(value: float | None) -> float | None:
    """The number; None where it is not known: JSON has no NaN."""
    return None if value is None or not math.isfinite(value) else float(value)


def told_row(view: RowView) -> dict[str, Any]:
    """A row as programs have it: what people see of it. row : from 0

    Files are named by their addresses below that of the interface; pictures that stand in the table come as they are.
    """
    return {
        "row": view.row,
        "row_id": view.row_id,
        "text": view.text,
        "features": dict(view.features),
        "caption": dict(view.caption),
        "images": [_address(one) for one in view.images],
        "audio": None if view.audio is None else _address(view.audio),
        "segment": None if view.segment is None else [number(one) for one in view.segment],
    }


def _address(one: str) -> str:
    return f"/{one}" if one.startswith(f"{PATH.lstrip('/')}/") else one


def curve_points(answers: AnyArray, values: AnyArray, low: AnyArray, high: AnyArray) -> list[dict[str, Any]]:
    """A point for each number of answers: the figure with its 95 % interval, None where it is not known."""
    return [
        {"answers": int(count), "value": number(value), "low": number(least), "high": number(most)}
        for count, value, least, most in zip(answers, values, low, high, strict=True)
    ]


def figure(name: str, by: str, points: Sequence[dict[str, Any]]) -> dict[str, Any] | None:
    """The figure as it stands: the last point; None where nothing has measured it yet. by : what measures it"""
    last = points[-1] if points else None
    if last is None or last["value"] is None:
        return None
    return {"name": name, "by": by, "value": last["value"], "low": last["low"], "high": last["high"]}
