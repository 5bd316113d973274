"""Labels of rows answered by several people: which are pending, which are disputed, and how likely each is right.

As for one true label (`plcore.loop.one_label.heard`), a label of a row is *pending* while more people are to answer it.
It is *disputed* if all have answered and as many say yes as no, or as many call the row a bad item.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from plcore.arrays.types import AnyArray, BoolArray, FloatArray, IntArray
from plcore.crowd import DawidSkene
from plcore.crowd.dawid_skene import MOST_CELLS, MOST_SURE
from plcore.loop.label_vectors.fold import UNKNOWN, VectorTable
from plcore.loop.label_vectors.pool import LabelVectorPool


@dataclass(frozen=True, eq=False)
class HeardCells:
    """The cells that people answered independently, without those resolved by a verdict or in the import. All arrays
    are (c,), by row and column.

    pending, disputed, apart : bool; apart: people differ      together : bool, at least two people answered
    share : probability of yes, in (0, 1), by Dawid and Skene's model of the annotators
    """

    rows: IntArray
    columns: IntArray
    pending: BoolArray
    disputed: BoolArray
    apart: BoolArray
    together: BoolArray
    share: FloatArray


def heard_cells(pool: LabelVectorPool[VectorTable]) -> HeardCells | None:
    """Return the current `HeardCells` of a pool; None if people do not answer independently."""
    if pool.several is None:
        return None
    places: list[IntArray] = []  # rows and columns
    counts: list[IntArray] = []  # votes for yes, for no, and for a bad item
    who: list[tuple[int, IntArray, AnyArray]] = []  # annotator, their cells, and what they said
    tied: list[BoolArray] = []
    people: dict[str, int] = {}
    count = 0
    for row in np.flatnonzero(pool.answered.any(axis=1)).tolist():
        if pool.bad[row] or pool.test_rows[row]:
            continue
        views = pool.several.views(row)
        said = np.array([view.said for view in views if not view.out], dtype=np.int8)
        said = said.reshape(-1, len(pool.classes))
        settled = pool.fold.settled(row)
        said[:, settled | (pool.original[row] != UNKNOWN)] = UNKNOWN
        named = np.flatnonzero((said != UNKNOWN).any(axis=0))
        out = np.full(len(named), sum(view.out for view in views))
        places.append(np.stack([np.full(len(named), row), named], axis=1))
        counts.append(np.stack([(said[:, named] == 1).sum(axis=0), (said[:, named] == 0).sum(axis=0), out], axis=1))
        for view, own in zip([one for one in views if not one.out], said[:, named], strict=True):
            answered = np.flatnonzero(own != UNKNOWN)
            who.append((people.setdefault(view.annotator, len(people)), count + answered, own[answered]))
        tied.append(pool.several.rule.tied(row, views, settled)[named])
        count += len(named)
    if not count:
        return None
    rows, columns = np.concatenate(places).T
    votes, pending = np.concatenate(counts), pool.several.open[rows, columns]
    cells = np.concatenate([one for _, one, _ in who])
    answers = np.concatenate([said for _, _, said in who])
    annotators = np.repeat([person for person, _, _ in who], [len(one) for _, one, _ in who])
    return HeardCells(
        rows=rows,
        columns=columns,
        pending=pending,
        disputed=np.concatenate(tied) & ~pending,
        apart=(votes > 0).sum(axis=1) > 1,
        together=votes.sum(axis=1) > 1,
        share=_shares(cells, annotators, answers, ~pool.control_cells[rows, columns]),
    )


def _shares(cells: IntArray, annotators: IntArray, answers: AnyArray, learnt: BoolArray) -> FloatArray:
    """Return (c,) the probability of yes of each cell, from votes (v,) about cells. learnt : bool (c,), cells by which
    annotators are judged; blind checks measure the model, so it learns nothing from them."""
    masks = np.stack([answers == 0, answers == 1], axis=1)
    if 4 * (int(annotators.max()) + 2) > MOST_CELLS:
        votes = np.zeros((len(learnt), 2))
        np.add.at(votes, cells, masks)
        return np.asarray(np.clip(votes[:, 1] / votes.sum(axis=1), 1 - MOST_SURE, MOST_SURE))
    teach = learnt[cells] if learnt[cells].any() else np.ones(len(cells), dtype=bool)
    free = np.ones((len(learnt), 2), dtype=bool)
    model = DawidSkene().fit_masks(cells[teach], annotators[teach], masks[teach], free)
    said = model.posterior_masks(cells, annotators, masks, free)[:, 1]
    return np.asarray(np.clip(said, 1 - MOST_SURE, MOST_SURE))
