"""Rows answered by several people: which are pending, which are disputed, and the class probabilities by their answers.

A row is *pending* while more people are to answer it. It is *disputed* if all have answered, they differ, and the
project's rule does not decide: several candidates are left, or two classes have equally many votes. The rule
"dawid-skene" breaks such ties by how reliable each annotator is.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Protocol

import numpy as np

from plcore.arrays.types import BoolArray, FloatArray, IntArray
from plcore.crowd import DawidSkene
from plcore.crowd.dawid_skene import MOST_CELLS, MOST_SURE
from plcore.loop.one_label.asked import RowsToAsk
from plcore.loop.one_label.settings import LearnerSettings
from plcore.loop.one_label.several import View


class HeardPool(Protocol):
    """The part of `plcore.loop.one_label.pool.OneLabelPool` that this module reads."""

    classes: tuple[str, ...]
    settings: LearnerSettings
    sizes: IntArray
    first: BoolArray
    answered: BoolArray
    by_verdict: BoolArray
    test_rows: BoolArray
    control_rows: BoolArray

    @property
    def asked(self) -> RowsToAsk: ...
    def disputed(self) -> Mapping[int, float]: ...
    def views(self, row: int) -> Sequence[View]: ...


@dataclass(frozen=True, eq=False)
class HeardRows:
    """A snapshot of the rows that have counting answers of people who answer independently.

    rows : (r,) ascending, without rows resolved by a verdict
    pending, disputed, apart : bool (r,); apart: people differ      together : bool (r,), at least two people answered
    places, who, masks : (v,), (v,), bool (v, m): each view's index in `rows`, its person, and the candidates they left
    first : bool (r, m) candidates before any answer, plus those that people left
    learnt : bool (r,), training rows
    """

    rows: IntArray
    pending: BoolArray
    disputed: BoolArray
    apart: BoolArray
    together: BoolArray
    places: IntArray
    who: IntArray
    masks: BoolArray
    first: BoolArray
    learnt: BoolArray

    def posterior(self) -> FloatArray:
        """Return (r, m) the probability of each class, at most MOST_SURE, by Dawid and Skene's model of the annotators.

        It is 0 if everyone marked the item as bad. With too many people and classes for the model, it is the share of
        the votes."""
        found = np.zeros(self.first.shape)
        heard = np.bincount(self.places, minlength=len(self.rows)) > 0
        if not heard.any():
            return found
        n_people, m = int(self.who.max()) + 1, self.first.shape[1]
        if (n_people + 1) * m * m > MOST_CELLS:
            np.add.at(found, self.places, self.masks / self.masks.sum(axis=1, keepdims=True))
            shares = found / np.maximum(found.sum(axis=1, keepdims=True), 1.0)
            return np.asarray(np.minimum(shares, MOST_SURE))
        teach = self.learnt[self.places]
        if not teach.any():
            teach = np.ones(len(teach), dtype=bool)
        model = DawidSkene().fit_masks(self.places[teach], self.who[teach], self.masks[teach], self.first)
        said = model.posterior_masks(self.places, self.who, self.masks, self.first)
        return np.where(heard[:, None], np.minimum(said, MOST_SURE), 0.0)


def undecided_rows(pool: HeardPool) -> tuple[BoolArray, BoolArray]:
    """Return (pending, disputed), both bool (n,)."""
    n, m = len(pool.sizes), len(pool.classes)
    disputed = np.zeros(n, dtype=bool)
    if pool.asked.rule is None:
        return np.zeros(n, dtype=bool), disputed
    pending = pool.asked.open() & pool.answered & ~pool.by_verdict & ~pool.test_rows
    breaks_ties = pool.settings.fold == "dawid-skene"
    for row in pool.disputed():
        if pending[row] or pool.sizes[row] == 0:
            continue
        votes = np.zeros(m + 1)
        for view in pool.views(row):
            votes += np.append(view.folded.votes, view.folded.out)
        tied = (votes == votes.max()).sum() > 1
        disputed[row] = pool.sizes[row] > 1 or (tied and not breaks_ties)
    return pending, disputed


def heard_rows(pool: HeardPool) -> HeardRows | None:
    """Return the current `HeardRows` of a pool; None if people do not answer independently."""
    rule, m = pool.asked.rule, len(pool.classes)
    if rule is None:
        return None
    rows = np.flatnonzero(pool.answered & ~pool.by_verdict & ~pool.test_rows)
    pending, disputed = undecided_rows(pool)
    people: dict[str, int] = {}
    places, who, masks = [], [], []
    together = np.zeros(len(rows), dtype=bool)
    for place, row in enumerate(rows.tolist()):
        views = pool.views(row)
        together[place] = len(views) > 1
        for view in views:
            if view.folded.out:
                continue
            places.append(place)
            who.append(people.setdefault(view.annotator, len(people)))
            masks.append(view.folded.left)
    sets = np.array(masks, dtype=bool).reshape(len(masks), m)
    at = np.array(places, dtype=np.int64)
    first = np.array(pool.first[rows], dtype=bool).reshape(len(rows), m)
    np.logical_or.at(first, at, sets)
    return HeardRows(
        rows=rows,
        pending=pending[rows],
        disputed=disputed[rows],
        apart=np.isin(rows, list(pool.disputed())),
        together=together,
        places=at,
        who=np.array(who, dtype=np.int64),
        masks=sets,
        first=first,
        learnt=~pool.control_rows[rows],
    )
