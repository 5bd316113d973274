"""A question about a label vector: what is asked of whom, why, and what the model says of it."""

from __future__ import annotations

import json
from typing import Any

import numpy as np

from plcore.common.types import FloatArray
from plcore.loop.base import CONTROL, OVERLAP
from plcore.loop.label_vectors.asking import PlaceChooser
from plcore.loop.label_vectors.fold import UNKNOWN
from plcore.loop.label_vectors.model import LabelVectorModel
from plcore.loop.label_vectors.pool import LabelVectorPool
from plcore.loop.label_vectors.reports import LabelVectorQuestion


def question_of(
    pool: LabelVectorPool[Any],
    chooser: PlaceChooser,
    model: LabelVectorModel | None,
    model_version: int,
    row: int,
    label: str | None,
    annotator: str | None,
) -> LabelVectorQuestion:
    """The question about one label of a row, or about all of it, with the cells that are before this annotator; None:
    as all answers leave them. Raises AnswerError for test rows, bad items and labels that do not exist."""
    column, row = pool.check_label(label), pool.check_asked(row)
    cells, begun = pool.cells_for(row, annotator), pool.has_begun(row, annotator)
    own = pool.control_cells[row]
    blind = bool(own.any() if column is None and chooser.by_row else column is not None and own[column])
    hidden = begun
    if blind:  # no model learns from it: it shows what the other question would show that comes in its place
        hidden = (begun and bool((pool.answered[row] & ~own).any())) or _begun_waits(pool, annotator)
    says = model is not None and not hidden
    shares = (
        model.proba([row])[0] if model is not None and says else frequencies(pool, row if hidden else None)
    )
    shares = np.where(cells == UNKNOWN, shares, cells)
    predicted = None
    if model is not None and says:
        yes = shares > model.threshold
        asked = [name for name, said in zip(pool.classes, yes & (cells == UNKNOWN), strict=True) if said]
        predicted = json.dumps(asked) if column is None else ("yes" if yes[column] else "no")
    strategy, score = (CONTROL, pool.settings.control_share) if blind else (OVERLAP, 0.0)
    if not blind and not (begun and (column is None or pool.answered[row, column])):
        strategy, score = chooser.strategy(model), chooser.score_of(model, row, column)
    return LabelVectorQuestion(
        row=row,
        label=label,
        labels=pool.classes,
        probabilities=tuple(shares.tolist()),
        cells=tuple(cells.tolist()),
        strategy=strategy,
        score=score,
        model_version=model_version,
        predicted=predicted,
        undecided=int(pool.open.sum()),
    )


def frequencies(pool: LabelVectorPool[Any], but: int | None = None) -> FloatArray:
    """(L,) probability of yes by the known cells of each label (rule of succession). but : a row that is left out"""
    own = np.full(len(pool.classes), UNKNOWN) if but is None else pool.learnt(but)
    return np.asarray((pool.learnt_yes - (own == 1) + 1) / (pool.learnt_known - (own != UNKNOWN) + 2))


def _begun_waits(pool: LabelVectorPool[Any], annotator: str | None) -> bool:
    """Whether something that others have begun waits for this annotator: no model's shares are shown with it."""
    if pool.several is None or annotator is None:
        return False
    return next(pool.begun(pool.allowed(pool.standings.put_aside(annotator), annotator)), None) is not None
