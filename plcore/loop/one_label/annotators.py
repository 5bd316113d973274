"""The model of the annotators in a project: Dawid and Skene's, restricted to the candidates of each row.

What it says of a row follows from the answers to the row and from how right each person was, as it stood when it was
last fitted. It is fitted anew to all answers whenever they have grown by a fiftieth, counted in entries, so that the
same log gives the same labels wherever it is folded.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import numpy as np

from plcore.common.types import AnyArray, BoolArray, FloatArray, IntArray
from plcore.crowd import DawidSkene
from plcore.loop.packed import packed, unpacked

LEAST_SHARE = 0.05
"""Candidates whose probability is below this share of the most probable one's are ruled out."""
FIT_EVERY = 50
"""The model is fitted anew after a share of 1 / FIT_EVERY more entries."""


class AnnotatorModel:
    """first : bool (n, m), the candidates before any answer"""

    def __init__(self, first: BoolArray) -> None:
        self._first = first
        self._model: DawidSkene | None = None  # before there are answers
        self._numbers: dict[str, int] = {}
        self._sets: dict[int, tuple[IntArray, BoolArray]] = {}  # row -> its annotators, and what each allows
        self._taught: set[int] = set()  # rows that the annotators are judged by, where they have answers
        self._shares: dict[int, FloatArray] = {}
        self._entries = self._fitted_at = 0

    def keep(
        self, row: int, annotators: Sequence[str], sets: BoolArray, *, learn: bool = True
    ) -> Sequence[int]:
        """Take note of what each annotator allows of a row, bool (a, m), after one more entry about it; the rows whose
        candidates are others by it.

        learn : whether the annotators are judged by this row too. Held-out rows, which measure the model, teach it
            nothing, not even whom to believe.
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
        """(m,) the candidates of a row that these answers leave, bool (a, m), by the model as it was fitted last."""
        return _likely(self._posterior(row, self._number(annotators), sets))

    def shares(self) -> tuple[IntArray, FloatArray]:
        """(rows, shares (r, m)): what the model says of every row that has answers."""
        rows = np.array(sorted(self._shares), dtype=np.int64)
        shares = np.array([self._shares[row] for row in rows.tolist()], dtype=np.float64)
        return rows, shares.reshape(len(rows), self._first.shape[1])

    def to_arrays(self) -> dict[str, AnyArray]:
        """How all stands, for a checkpoint: the model as it was fitted last, and what it has heard since."""
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
        """Take in what `to_arrays` gave, in place of every entry so far."""
        self._numbers = {name: number for number, name in enumerate(unpacked(arrays["names"]))}
        self._entries, self._fitted_at = arrays["counts"].tolist()
        self._taught = set(arrays["taught"].tolist())
        ends = arrays["sizes"].cumsum()[:-1]
        parts = zip(np.split(arrays["people"], ends), np.split(arrays["sets"], ends), strict=True)
        self._sets = dict(
            zip(arrays["rows"].tolist(), parts, strict=False)
        )  # of no rows there is one empty part
        self._shares = dict(zip(arrays["share_rows"].tolist(), arrays["shares"], strict=True))
        self._model = None
        if "fitted_people" in arrays:
            people = tuple(arrays["fitted_people"].tolist())
            self._model = DawidSkene.from_parameters(
                people, arrays["fitted_masses"], arrays["fitted_confusions"]
            )

    def _number(self, annotators: Sequence[str]) -> IntArray:
        known = self._numbers
        return np.array([known.setdefault(name, len(known)) for name in annotators], dtype=np.int64)

    def _fit(self, row: int) -> list[int]:
        """Fit it to all answers it may learn from; the row, and the others whose candidates are others now."""
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
        """The votes of these rows as `DawidSkene.fit_masks` takes them, rows by their place in the list."""
        places = np.repeat(np.arange(len(rows)), [len(self._sets[one][0]) for one in rows])
        annotators = np.concatenate([self._sets[one][0] for one in rows])
        sets = np.concatenate([self._sets[one][1] for one in rows])
        candidates = self._first[np.asarray(rows)].copy()
        np.logical_or.at(candidates, places, sets)
        return places, annotators, sets, candidates

    def _posterior(self, row: int, annotators: IntArray, sets: BoolArray) -> FloatArray:
        votes = (
            np.zeros(len(annotators), np.int64),
            annotators,
            sets,
            (self._first[row] | sets.any(axis=0))[None],
        )
        model = self._model or DawidSkene().fit_masks(*votes)
        return np.asarray(model.posterior_masks(*votes)[0])


def _likely(shares: FloatArray) -> BoolArray:
    """Of distributions (..., m): the candidates that are not ruled out."""
    return np.asarray(shares >= LEAST_SHARE * shares.max(axis=-1, keepdims=True))
