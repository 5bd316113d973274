"""What the entries so far have made of a pool, as arrays, and a pool that goes on from there.

With a checkpoint a learner need not take in again what came before it; it stands, to the last bit, where one stands
that has taken in every entry. What follows from the candidates as they stand is not in it but made anew: the votes, the
scores of the questions, the counts, an online learner's weights.

A checkpoint is of one table, one set of settings and changes of the classes, and of this code. Nothing of that is
checked here: whoever keeps it does (`workflow.kinds.checkpoints`).
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np

from plcore.common.candidate_sets import pairs_of, put_sets, rows_that_differ
from plcore.common.types import AnyArray
from plcore.loop.one_label.narrowing import Narrowing
from plcore.loop.one_label.pool import OneLabelPool
from plcore.loop.one_label.row_counts import RowCounts
from plcore.loop.packed import joined, part

_OF_ROWS = ("answered", "bad", "by_verdict", "changed_at")


def take(pool: OneLabelPool[Any], curve: Mapping[str, AnyArray]) -> dict[str, AnyArray]:
    """What the entries so far have made of the pool. New arrays: nothing in them changes when the pool goes on.

    curve : as `LearnerCurve.to_arrays` gives it
    """
    touched = pool.answered | (pool.changed_at > 0)
    touched[rows_that_differ(pool.candidates, pool.first)] = True
    rows = np.flatnonzero(touched)
    places, labels = pairs_of(pool.candidates.take(rows, axis=0))
    arrays = {
        "pool.seq": np.array([pool.seq, pool.answers], dtype=np.int64),
        "pool.rows": rows,
        "pool.places": places.astype(np.int32),
        "pool.labels": labels.astype(np.int32),
        **{f"pool.{name}": getattr(pool, name)[rows] for name in _OF_ROWS},
    }
    parts = {"asked": pool.asked.to_arrays(rows), "fold": pool.fold.to_arrays()}
    return arrays | joined(parts | {"standings": pool.standings.to_arrays(), "curve": curve})


def put_back(pool: OneLabelPool[Any], arrays: Mapping[str, AnyArray]) -> dict[str, AnyArray]:
    """Let a new pool of the same table, settings and changes stand where that one stood of which `take` gave these; the
    curve that came with it."""
    pool.seq, pool.answers = arrays["pool.seq"].tolist()
    rows = arrays["pool.rows"]
    places = arrays["pool.places"]
    put_sets(pool.candidates, rows, places, arrays["pool.labels"].astype(np.int64))
    pool.sizes[rows] = np.bincount(places, minlength=len(rows))
    for name in _OF_ROWS:
        getattr(pool, name)[rows] = arrays[f"pool.{name}"]
    pool.fold.put_back(part(arrays, "fold"))
    pool.standings.put_back(part(arrays, "standings"))
    pool.asked.put_back(rows, part(arrays, "asked"), pool.fold)
    held = pool.test_rows | pool.control_rows
    pool.narrowing = Narrowing(pool.sizes_at_first, held, pool.sizes)
    asked = pool.asked
    pool.counts = RowCounts(
        asked.waiting(), pool.train, pool.test_rows, pool.answered, asked.open(), asked.fresh()
    )
    return part(arrays, "curve")
