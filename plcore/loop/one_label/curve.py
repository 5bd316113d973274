"""The curve of a learner: where the work stood at the start, and after each entry or version that moved it."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import numpy as np

from plcore.common.types import AnyArray, FloatArray
from plcore.evaluation.estimates import ControlCounts
from plcore.loop.one_label.reports import CurvePoint

_COUNTS = ("seq", "answers", "candidates_left", "model_version")
_CONTROL = ("right_asked", "asked", "right_free", "free")
_SHARES = ("settled", "accuracy", "progressive_error")


class LearnerCurve:
    """start : the point before any entry      points : it and those after it, in order; None: none came yet"""

    def __init__(self, start: CurvePoint, points: Sequence[CurvePoint] | None = None) -> None:
        self.start = start
        self._points = [start] if points is None else list(points)
        self._past: Mapping[str, AnyArray] | None = None  # points before these, which nobody has asked for

    @classmethod
    def from_arrays(cls, arrays: Mapping[str, AnyArray]) -> LearnerCurve:
        """The curve of which `to_arrays` gave these."""
        start = _points_of({name: one[:1] for name, one in arrays.items()})[0]
        curve = cls(start, ())
        curve._past = arrays
        return curve

    @property
    def version(self) -> int:
        """`model_version` of the latest point."""
        return self._points[-1].model_version if self._points else int(self._latest_past()["counts"][0, 3])

    def append(self, point: CurvePoint) -> None:
        self._points.append(point)

    def points(self) -> list[CurvePoint]:
        """All of them, a new list."""
        if self._past is not None:
            self._points[:0] = _points_of(self._past)
            self._past = None
        return list(self._points)

    def to_arrays(self) -> dict[str, AnyArray]:
        """`counts` int64 (p, 8) and `shares` (p, 3), NaN for None, of the points."""
        columns = _columns_of(self._points)
        if self._past is not None:
            columns = {name: np.concatenate([self._past[name], one]) for name, one in columns.items()}
        return columns

    def start_alone(self) -> dict[str, AnyArray]:
        """As `to_arrays`, of the start: the curve of a learner whose versions come anew."""
        return _columns_of([self.start])

    def _latest_past(self) -> dict[str, AnyArray]:
        assert self._past is not None  # noqa: S101 - a curve has its start at least
        return {name: one[-1:] for name, one in self._past.items()}


def _columns_of(points: Sequence[CurvePoint]) -> dict[str, AnyArray]:
    counts = [
        [*(getattr(one, name) for name in _COUNTS), *(getattr(one.control, name) for name in _CONTROL)]
        for one in points
    ]
    shares = [[getattr(one, name) for name in _SHARES] for one in points]
    return {
        "counts": np.array(counts, dtype=np.int64).reshape(-1, len(_COUNTS) + len(_CONTROL)),
        "shares": np.array(shares, dtype=np.float64).reshape(-1, len(_SHARES)),  # None becomes NaN
    }


def _points_of(columns: Mapping[str, AnyArray]) -> list[CurvePoint]:
    shares: FloatArray = columns["shares"]
    told = shares.astype(object)
    told[np.isnan(shares)] = None
    return [
        CurvePoint(
            seq=seq,
            answers=answers,
            candidates_left=left,
            model_version=version,
            control=ControlCounts(*control),
            settled=settled,
            accuracy=accuracy,
            progressive_error=error,
        )
        for (seq, answers, left, version, *control), (settled, accuracy, error) in zip(
            columns["counts"].tolist(), told.tolist(), strict=True
        )
    ]
