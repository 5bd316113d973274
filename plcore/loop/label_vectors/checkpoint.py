"""What the entries so far have made of a learner of label vectors, as arrays, and one that goes on from there.

With a checkpoint a learner need not take in again what came before it; it stands, to the last bit, where one stands
that has taken in every entry. No model is in it: BML-CS is fitted anew at every start, to the cells as they stood when
a fit was due last, and learns the answers since in their order. So both are in it, the cells of then and these answers.

A checkpoint is of one table, one set of settings and changes of the rows, and of this code. Nothing of that is checked
here: whoever keeps it does (`workflow.kinds.checkpoints`).
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any

import numpy as np

from plcore.common.types import AnyArray
from plcore.loop.label_vectors.cell_counts import CellCounts
from plcore.loop.label_vectors.controls import ControlSample
from plcore.loop.label_vectors.fold import UNKNOWN
from plcore.loop.label_vectors.model import RefreshJob
from plcore.loop.label_vectors.pool import LabelVectorPool, VectorChange
from plcore.loop.packed import joined, packed, part, unpacked

_OF_ROWS = ("cells", "bad", "answered")


def take(pool: LabelVectorPool[Any], due: RefreshJob, since: Sequence[VectorChange]) -> dict[str, AnyArray]:
    """What the entries so far have made of the pool. New arrays: nothing in them changes when the pool goes on.

    due : the fit that was due last      since : what has changed after it
    """
    fold = pool.fold.to_arrays()
    rows = np.unique(fold["columns"][:, 1])  # of the others nothing has been said
    arrays = {
        "pool.numbers": np.array([pool.seq, pool.answers, *pool.counted], dtype=np.int64),
        "pool.counts": packed(pool.counts),
        "pool.learnt": np.stack([pool.learnt_yes, pool.learnt_known]),
        "pool.rows": rows,
        **{f"pool.{name}": getattr(pool, name)[rows] for name in _OF_ROWS},
        "due.numbers": np.array([due.seq, due.answers, due.yes, due.no], dtype=np.int64),
        "due.cells": due.cells[rows],
        "due.open": due.open[rows],
        "due.control": np.stack([*due.control]).astype(np.int64),
        "since.places": np.array([(one.seq, one.row) for one in since], dtype=np.int64).reshape(-1, 2),
        "since.values": np.array([one.values for one in since], dtype=np.int8).reshape(-1, len(pool.classes)),
    }
    parts = {"fold": fold, "standings": pool.standings.to_arrays()}
    if pool.several is not None:
        parts["several"] = pool.several.to_arrays(rows)
    return arrays | joined(parts)


def put_back(
    pool: LabelVectorPool[Any], X: Any, arrays: Mapping[str, AnyArray]
) -> tuple[RefreshJob, list[VectorChange]]:
    """Let a new pool of the same table, settings and changes stand where that one stood of which `take` gave these;
    the fit that was due last, and what has changed after it. X : features, as a fit takes them"""
    pool.seq, pool.answers, *counted = arrays["pool.numbers"].tolist()
    pool.counted = CellCounts(*counted)
    pool.counts = unpacked(arrays["pool.counts"])
    pool.learnt_yes, pool.learnt_known = (one.copy() for one in arrays["pool.learnt"])
    rows = arrays["pool.rows"]
    for name in _OF_ROWS:
        getattr(pool, name)[rows] = arrays[f"pool.{name}"]
    pool.fold.put_back(part(arrays, "fold"))
    pool.standings.put_back(part(arrays, "standings"))
    if pool.several is None:
        pool.open[rows] = (pool.cells[rows] == UNKNOWN) & ~pool.bad[rows, None]
    else:
        pool.several.put_back(rows, part(arrays, "several"), pool.fold)
    places = zip(arrays["since.places"].tolist(), arrays["since.values"], strict=True)
    since = [VectorChange(seq, row, values) for (seq, row), values in places]
    return _due(pool, X, rows, arrays), since


def _due(pool: LabelVectorPool[Any], X: Any, rows: AnyArray, arrays: Mapping[str, AnyArray]) -> RefreshJob:
    """The fit that was due last: as one of now, but for the rows that entries are about."""
    job = RefreshJob.of(pool, X)
    job.cells[rows], job.open[rows] = arrays["due.cells"], arrays["due.open"]
    places, columns, values = arrays["due.control"]
    seq, answers, yes, no = arrays["due.numbers"].tolist()
    control = ControlSample(places, columns, values.astype(job.cells.dtype))
    return replace(job, seq=seq, answers=answers, yes=yes, no=no, control=control)
