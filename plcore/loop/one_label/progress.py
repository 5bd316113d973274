"""Where the work stands, by a pool and the point of the curve after its latest entry."""

from __future__ import annotations

from typing import Any

import numpy as np

from plcore.loop.one_label.pool import OneLabelPool
from plcore.loop.one_label.reports import CurvePoint, Progress


def progress_of(pool: OneLabelPool[Any], now: CurvePoint) -> Progress:
    """now : the model in place, after the pool's latest entry"""
    return Progress(
        answers=pool.answers,
        answered=pool.counts.answered,
        bad=int(np.count_nonzero(pool.bad)),
        ambiguous_left=pool.n_open,
        candidates_left=now.candidates_left,
        settled=now.settled,
        accuracy=now.accuracy,
        n_train=len(pool.train),
        n_test=int(np.count_nonzero(pool.test_rows)),
        model_version=now.model_version,
        control=now.control,
        n_control=int(np.count_nonzero(pool.control_rows)),
    )
