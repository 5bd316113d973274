"""Several people's answers to one row: how many people are asked, and the rule that merges their answers.

Each person sees only the result of their own answers (`CandidateFold.view`). Everything here follows from the entries
that count, by `seq`, and from the settings.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from typing import NamedTuple

import numpy as np

from plcore.arrays.types import AnyArray, BoolArray, FloatArray, IntArray
from plcore.crowd import DawidSkene, set_distances
from plcore.loop.entries import Entry, EntryKind
from plcore.loop.one_label.fold import Chain, FoldedCandidates
from plcore.loop.one_label.settings import LearnerSettings
from plcore.loop.packed import packed, unpacked
from plcore.loop.standings import EVERYBODY, by_person

# The model of the annotators in a project: Dawid and Skene's, restricted to the candidates of each row.
#
# Its result for a row depends on the answers to the row and on each person's reliability at the last fit. It is
# refitted whenever the number of entries has grown by a fiftieth, so that the same log always gives the same labels.

LEAST_SHARE = 0.05
"""Candidates whose probability is below this share of the most probable one's are ruled out."""
FIT_EVERY = 50
"""The model is refitted after a share of 1 / FIT_EVERY more entries."""


class AnnotatorModel:
    """The annotator model of a project.

    first : bool (n, m), the candidates before any answer"""

    def __init__(self, first: BoolArray) -> None:
        self._first = first
        self._model: DawidSkene | None = None  # None without answers
        self._numbers: dict[str, int] = {}
        self._sets: dict[int, tuple[IntArray, BoolArray]] = {}  # row -> its annotators, and the candidates each allows
        self._taught: set[int] = set()  # rows that annotators are judged by, if they have answers
        self._shares: dict[int, FloatArray] = {}
        self._entries = self._fitted_at = 0

    def keep(self, row: int, annotators: Sequence[str], sets: BoolArray, *, learn: bool = True) -> Sequence[int]:
        """Record the candidates that each annotator allows for a row, bool (a, m), after one more entry about it;
        return the rows whose candidates may have changed.

        learn : whether annotators are judged by this row too. Held-out rows measure the model, so it learns nothing
            from them, not even whom to trust.
        """
        self._entries += 1
        self._sets.pop(row, None)
        self._shares.pop(row, None)
        if learn:
            self._taught.add(row)
        if len(annotators):
            self._sets[row] = self._number(annotators), sets
        if self._entries - self._fitted_at >= max(1, self._fitted_at // FIT_EVERY):
            self._fitted_at = self._entries
            return self._fit(row)
        if len(annotators):
            self._shares[row] = self._posterior(row, *self._sets[row])
        return (row,)

    def left(self, row: int, annotators: Sequence[str], sets: BoolArray) -> BoolArray:
        """Return (m,) the candidates that these answers, bool (a, m), leave a row, by the model as last fitted."""
        return _likely(self._posterior(row, self._number(annotators), sets))

    def shares(self) -> tuple[IntArray, FloatArray]:
        """Return (rows, shares (r, m)): the model's result for every row that has answers."""
        rows = np.array(sorted(self._shares), dtype=np.int64)
        shares = np.array([self._shares[row] for row in rows.tolist()], dtype=np.float64)
        return rows, shares.reshape(len(rows), self._first.shape[1])

    def to_arrays(self) -> dict[str, AnyArray]:
        """Return the state for a checkpoint: the model as last fitted, and the answers since."""
        people = [one for one, _ in self._sets.values()]
        sets = [one for _, one in self._sets.values()]
        rows, shares = self.shares()
        m = self._first.shape[1]
        arrays = {
            "names": packed(list(self._numbers)),
            "counts": np.array([self._entries, self._fitted_at], dtype=np.int64),
            "taught": np.array(sorted(self._taught), dtype=np.int64),
            "rows": np.array(list(self._sets), dtype=np.int64),
            "sizes": np.array([len(one) for one in people], dtype=np.int64),
            "people": np.concatenate([np.zeros(0, dtype=np.int64), *people]),
            "sets": np.concatenate([np.zeros((0, m), dtype=bool), *sets]),
            "share_rows": rows,
            "shares": shares,
        }
        if self._model is not None:
            arrays |= {f"fitted_{name}": one for name, one in self._model.parameters().items()}
            arrays["fitted_people"] = np.array(self._model.annotators_, dtype=np.int64)
        return arrays

    def put_back(self, arrays: Mapping[str, AnyArray]) -> None:
        """Restore the output of `to_arrays`, in place of all entries so far."""
        self._numbers = {name: number for number, name in enumerate(unpacked(arrays["names"]))}
        self._entries, self._fitted_at = arrays["counts"].tolist()
        self._taught = set(arrays["taught"].tolist())
        ends = arrays["sizes"].cumsum()[:-1]
        parts = zip(np.split(arrays["people"], ends), np.split(arrays["sets"], ends), strict=True)
        self._sets = dict(zip(arrays["rows"].tolist(), parts, strict=False))  # without rows there is one empty part
        self._shares = dict(zip(arrays["share_rows"].tolist(), arrays["shares"], strict=True))
        self._model = None
        if "fitted_people" in arrays:
            people = tuple(arrays["fitted_people"].tolist())
            self._model = DawidSkene.from_parameters(people, arrays["fitted_masses"], arrays["fitted_confusions"])

    def _number(self, annotators: Sequence[str]) -> IntArray:
        known = self._numbers
        return np.array([known.setdefault(name, len(known)) for name in annotators], dtype=np.int64)

    def _fit(self, row: int) -> list[int]:
        """Fit the model to all answers it may learn from; return the row, and the others whose candidates have
        changed."""
        rows, before = sorted(self._sets), self._shares
        self._model = None
        if learnt := [one for one in rows if one in self._taught]:
            self._model = DawidSkene().fit_masks(*self._votes_of(learnt))
        if not rows:
            self._shares = {}
            return [row]
        votes = self._votes_of(rows)
        model = self._model or DawidSkene().fit_masks(*votes)
        shares = model.posterior_masks(*votes)
        self._shares = dict(zip(rows, shares, strict=True))
        known = np.array([one in before for one in rows], dtype=bool)
        differs = ~known
        if known.any():
            earlier = np.array([before[one] for one in rows if one in before])
            differs[known] = (_likely(earlier) != _likely(shares[known])).any(axis=1)
        changed = np.array(rows, dtype=np.int64)[differs].tolist()
        return list(dict.fromkeys([row, *changed]))

    def _votes_of(self, rows: Sequence[int]) -> tuple[IntArray, IntArray, BoolArray, BoolArray]:
        """Return the votes of these rows in the form for `DawidSkene.fit_masks`, with each row's index in the list."""
        places = np.repeat(np.arange(len(rows)), [len(self._sets[one][0]) for one in rows])
        annotators = np.concatenate([self._sets[one][0] for one in rows])
        sets = np.concatenate([self._sets[one][1] for one in rows])
        candidates = self._first[np.asarray(rows)].copy()
        np.logical_or.at(candidates, places, sets)
        return places, annotators, sets, candidates

    def _posterior(self, row: int, annotators: IntArray, sets: BoolArray) -> FloatArray:
        votes = (np.zeros(len(annotators), np.int64), annotators, sets, (self._first[row] | sets.any(axis=0))[None])
        model = self._model or DawidSkene().fit_masks(*votes)
        return np.asarray(model.posterior_masks(*votes)[0])


def _likely(shares: FloatArray) -> BoolArray:
    """Return the candidates that are not ruled out, for distributions (..., m)."""
    return np.asarray(shares >= LEAST_SHARE * shares.max(axis=-1, keepdims=True))


class View(NamedTuple):
    """One person's view of a row. seq : seq of their latest answer      over : they have said all they can about it"""

    annotator: str
    seq: int
    folded: FoldedCandidates
    over: bool

    @property
    def label(self) -> int | None:
        """The one class that they chose; None if they left several, or marked the item as bad."""
        left = np.flatnonzero(self.folded.votes)
        return int(left[0]) if len(left) == 1 else None


def disagreement(views: Sequence[View]) -> float:
    """Return the disagreement, 0 to 1, of the people who have said all they can; 0 if there are fewer than two.

    It is the mean distance between two of them, by `plcore.crowd.set_distances` of the candidates they left. A bad item
    is a set of its own."""
    said = [(*view.folded.votes.tolist(), view.folded.out) for view in views if view.over]
    if len(set(said)) < 2:
        return 0.0
    return float(set_distances(np.array(said)).sum() / (len(said) * (len(said) - 1)))


class Several:
    """The rule of a project.

    wanted : (n,) number of people who are to answer each row; EVERYBODY for rows that are for everyone
    first : bool (n, m), the candidates before any answer
    model : annotator model, if the rule uses one
    """

    def __init__(self, settings: LearnerSettings, wanted: IntArray, first: BoolArray) -> None:
        self.since = settings.own_since or 0
        self.wanted = wanted
        self._rule, self._agree, self._overlap = settings.fold, settings.agree, settings.overlap
        self.model = AnnotatorModel(first) if settings.fold == "dawid-skene" else None

    def views(self, entries: Sequence[Entry], chain: Chain) -> list[View]:
        """Return each person's view of a row, by the seq of their latest answer.

        entries : answers that count, in order
        """
        found = []
        for annotator, own in by_person(entries, self.since).items():
            folded = chain(own)
            over = own[-1].kind != EntryKind.NOT or folded.votes.sum() < 2
            found.append(View(annotator, own[-1].seq, folded, over))
        return sorted(found, key=lambda view: view.seq)

    def merge(self, row: int, entries: Sequence[Entry], chain: Chain) -> FoldedCandidates:
        """Return the merged fold of a row by the rule, from answers that count.

        A row is a bad item if more than half of its annotators say so, those still to answer included. Otherwise the
        other people's answers decide; without any, the row stays as imported.
        """
        views = self.views(entries, chain)
        if not views:
            return chain(())
        first = chain(()).left
        heard = [view for view in views if not view.folded.out]
        asked = max(len(views), self._overlap if self.wanted[row] == EVERYBODY else int(self.wanted[row]))
        out = 2 * (len(views) - len(heard)) > asked
        left = self._left(row, heard) if heard else first
        return FoldedCandidates(left, out, entries[-1])

    def _left(self, row: int, heard: list[View]) -> BoolArray:
        sets = np.array([view.folded.left for view in heard])
        if self._rule == "majority":
            votes = sets.sum(axis=0)
            return np.asarray(votes == votes.max())
        if self._rule == "intersection":
            common = sets.all(axis=0)
            return np.asarray(common if common.any() else sets.any(axis=0))
        if self.model is not None:
            return self.model.left(row, [view.annotator for view in heard], sets)
        return np.asarray(sets[-1])

    def places_left(self, row: int, views: Sequence[View], folded: FoldedCandidates) -> int:
        """Return the number of further people to ask now about a row with at least two candidates at first.

        It is 0 if a verdict or enough answers have resolved the row. It is at most the number that `agree` still needs.
        """
        if folded.out or (folded.answer is not None and folded.answer.kind == EntryKind.VERDICT):
            return 0
        left = int(self.wanted[row]) - sum(view.over for view in views)
        if self._agree is not None and self.wanted[row] != EVERYBODY:
            said = Counter(view.label for view in views if view.over and view.label is not None)
            left = min(left, self._agree - max(said.values(), default=0))
        return max(0, left)
