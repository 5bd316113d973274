"""Rows that wait for annotators: `RowsToAsk` if each answer builds on the last, `RowsForSeveral` if people answer
independently."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence

import numpy as np

from plcore.arrays.types import AnyArray, BoolArray, FloatArray, IntArray
from plcore.loop.entries import EntryKind
from plcore.loop.one_label.fold import CandidateFold, FoldedCandidates
from plcore.loop.one_label.settings import LearnerSettings
from plcore.loop.one_label.several import Several, View, disagreement
from plcore.loop.standings import EVERYBODY


class RowsToAsk:
    """Rows that are asked about until one candidate is left, by any annotator.

    sizes : (n,) the current number of candidates, shared with the pool
    """

    rule: Several | None = None
    """Merges the answers of several people; None: each answer builds on the previous ones."""

    def __init__(self, sizes: IntArray) -> None:
        self._sizes = sizes

    def take(self, row: int, fold: CandidateFold) -> Sequence[int]:  # noqa: ARG002 - the sizes say it all
        """Record a row whose entries have changed; return the other rows that must be folded again."""
        return ()

    def settle(self, row: int, folded: FoldedCandidates) -> None:
        """Record the new fold of the row."""

    def to_arrays(self, rows: IntArray) -> dict[str, AnyArray]:  # noqa: ARG002 - the sizes say it all
        """Return the state as arrays, for a checkpoint. rows : rows that answers may have changed"""
        return {}

    def put_back(self, rows: IntArray, arrays: Mapping[str, AnyArray], fold: CandidateFold) -> None:
        """Restore the output of `to_arrays` for these rows. fold : has the entries already"""

    def views(self, row: int) -> Sequence[View]:  # noqa: ARG002 - all answers are one
        """Return each person's view of a row if people answer independently, by the seq of their latest answer that
        counts."""
        return ()

    def disputed(self) -> Mapping[int, float]:
        """Return {row: degree of disagreement} of the rows that people disagree on and no verdict has
        resolved."""
        return {}

    def places_left(self, row: int) -> int:
        """Return how many people may be asked about the row at the same time."""
        return int(self._sizes[row] >= 2)

    def waiting(self) -> BoolArray:
        """Return bool (n,) rows that someone can be asked about."""
        return np.asarray(self._sizes >= 2)

    def open(self) -> BoolArray:
        """Return bool (n,) the waiting rows that count as open. Rows meant for everyone stop counting once
        enough people have answered."""
        return self.waiting()

    def answers_left(self) -> IntArray:
        """Return (n,) the number of people still to answer each open row; 0 for other rows."""
        return np.asarray(self.open(), dtype=np.int64)

    def fresh(self) -> BoolArray:
        """Return bool (n,) the waiting rows that a strategy may choose: those without enough answers so far."""
        return self.waiting()

    def of_row(self, row: int) -> tuple[bool, bool, bool]:
        """Return (waiting, open, fresh) of one row."""
        waits = bool(self._sizes[row] >= 2)
        return waits, waits, waits

    def has_begun(self, row: int, annotator: str | None) -> bool:  # noqa: ARG002 - everyone may see all answers
        """Return whether someone else has answered the row and this annotator must not see the answer."""
        return False

    def begun(self) -> Iterable[int]:
        """Return training rows that wait for another person's answer, ordered by their first answer."""
        return ()

    def is_over(self, row: int, annotator: str) -> bool:  # noqa: ARG002 - anyone may continue a row
        """Return whether this annotator is done with the row."""
        return False

    def weights(
        self,
        rows: IntArray,  # noqa: ARG002 - of any row
        candidates: BoolArray,  # noqa: ARG002
        known: FloatArray | None,
    ) -> FloatArray | None:
        """Return weights (r, m) of these candidates (r, m) of rows, None if all count equally.

        known : the weights given by the table
        """
        return known


class RowsForSeveral(RowsToAsk):
    """Rows that are asked about until enough people have answered.

    first : bool (n, m) candidates before any answer      drawn : (n,) rows for several people
    control, held : (n,) blind checks; blind checks and test rows
    """

    rule: Several

    def __init__(
        self, settings: LearnerSettings, first: BoolArray, drawn: BoolArray, control: BoolArray, held: BoolArray
    ) -> None:
        super().__init__(first.sum(axis=1))
        wanted = np.where(drawn, settings.overlap, 1)
        at_first = np.minimum(wanted, settings.agree or EVERYBODY)
        if settings.checks_by_all:
            wanted, at_first = (np.where(control, EVERYBODY, one) for one in (wanted, at_first))
        self.rule = Several(settings, wanted, first)
        self._enough, self._held = settings.overlap, held
        self._places: IntArray = np.where(self._sizes >= 2, at_first, 0)
        self._answers: IntArray = np.zeros(len(first), dtype=np.int64)  # number of people whose answers count
        self._past: CandidateFold | None = None  # after a checkpoint, entries of some rows are not yet loaded
        self._views: dict[int, list[View]] = {}
        self._over: dict[int, frozenset[str]] = {}
        self._begun: dict[int, None] = {}
        self._apart: dict[int, float] = {}
        self._by_verdict: set[int] = set()

    def take(self, row: int, fold: CandidateFold) -> Sequence[int]:
        views = self._look(row, fold)
        if self.rule.model is None:
            return ()
        heard = [view for view in views if not view.folded.out]
        sets = np.array([view.folded.left for view in heard], dtype=bool)
        people, learn = [view.annotator for view in heard], not self._held[row]
        changed = self.rule.model.keep(row, people, sets, learn=learn)
        return [one for one in changed if one != row]

    def _look(self, row: int, fold: CandidateFold) -> list[View]:
        """Compute each person's view of a row, and who is done with it."""
        answers = [one for one in fold.counted(row, aside=True) if one.kind != EntryKind.VERDICT]
        counted = [one for one in fold.counted(row) if one.kind != EntryKind.VERDICT]
        everybody = self.rule.views(answers, lambda some: fold.chain(row, some))
        views = everybody
        if len(counted) < len(answers):
            views = self.rule.views(counted, lambda some: fold.chain(row, some))
        early = {one.annotator for one in answers if one.seq <= self.rule.since}
        self._over[row] = frozenset(early.union(view.annotator for view in everybody if view.over))
        self._views[row] = views
        self._answers[row] = len(views)
        return views

    def _views_of(self, row: int) -> list[View]:
        if row not in self._views and self._past is not None:
            self._look(row, self._past)
        return self._views.get(row, [])

    def settle(self, row: int, folded: FoldedCandidates) -> None:
        views = self._views_of(row)
        self._places[row] = self.rule.places_left(row, views, folded) if self._sizes[row] >= 2 else 0
        if views and self._places[row] and not self._held[row]:
            self._begun.setdefault(row)
        else:
            self._begun.pop(row, None)
        is_settled = folded.answer is not None and folded.answer.kind == EntryKind.VERDICT
        (self._by_verdict.add if is_settled else self._by_verdict.discard)(row)
        self._apart.pop(row, None)
        if not is_settled and (apart := disagreement(views)):
            self._apart[row] = apart

    def to_arrays(self, rows: IntArray) -> dict[str, AnyArray]:
        arrays = {
            "places": self._places[rows],
            "answers": self._answers[rows],
            "begun": np.array(list(self._begun), dtype=np.int64),
            "by_verdict": np.array(sorted(self._by_verdict), dtype=np.int64),
            "apart_rows": np.array(list(self._apart), dtype=np.int64),
            "apart": np.array(list(self._apart.values()), dtype=np.float64),
        }
        model = {} if self.rule.model is None else self.rule.model.to_arrays()
        return arrays | {f"model.{name}": one for name, one in model.items()}

    def put_back(self, rows: IntArray, arrays: Mapping[str, AnyArray], fold: CandidateFold) -> None:
        self._past, self._views, self._over = fold, {}, {}
        self._places[rows], self._answers[rows] = arrays["places"], arrays["answers"]
        self._begun = dict.fromkeys(arrays["begun"].tolist())
        self._by_verdict = set(arrays["by_verdict"].tolist())
        self._apart = dict(zip(arrays["apart_rows"].tolist(), arrays["apart"].tolist(), strict=True))
        if self.rule.model is not None:
            self.rule.model.put_back({name.removeprefix("model."): one for name, one in arrays.items()})

    def views(self, row: int) -> Sequence[View]:
        return tuple(self._views_of(row))

    def disputed(self) -> Mapping[int, float]:
        return self._apart

    def places_left(self, row: int) -> int:
        return int(self._places[row])

    def waiting(self) -> BoolArray:
        return np.asarray(self._places > 0)

    def open(self) -> BoolArray:
        return np.asarray((self._places > 0) & (self._answers < self._enough))

    def answers_left(self) -> IntArray:
        left = np.minimum(
            self._places, self._enough - self._answers
        )  # rows for everyone count as open until enough people have answered
        return np.asarray(np.where(self.open(), left, 0), dtype=np.int64)

    def fresh(self) -> BoolArray:
        return np.asarray((self._places > 0) & (self._answers == 0))

    def of_row(self, row: int) -> tuple[bool, bool, bool]:
        waits, answers = bool(self._places[row] > 0), int(self._answers[row])
        return waits, waits and answers < self._enough, waits and answers == 0

    def has_begun(self, row: int, annotator: str | None) -> bool:
        return any(view.annotator != annotator for view in self._views_of(row))

    def begun(self) -> Iterable[int]:
        return tuple(self._begun)

    def is_over(self, row: int, annotator: str) -> bool:
        self._views_of(row)
        return annotator in self._over.get(row, ())

    def weights(self, rows: IntArray, candidates: BoolArray, known: FloatArray | None) -> FloatArray | None:
        if self.rule.model is None:
            return known
        voted, shares = self.rule.model.shares()
        left = ~np.isin(voted, list(self._by_verdict))  # a reviewer has narrowed the row further than the annotators
        voted, shares = voted[left], shares[left]
        _, places, found = np.intersect1d(rows, voted, assume_unique=True, return_indices=True)
        if not len(places):
            return known
        weights = candidates.astype(float) if known is None else known.copy()
        weights[places] = shares[found] * candidates[places]
        return weights
