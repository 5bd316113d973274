r"""The cheapest question about a row: the one with the largest expected gain per second.

A row with candidates S, whose shares p sum to 1, allows the questions "which of S?", "is it k?" and "is it one of C?".
Every answer leaves a part of S, and the parts form a partition of S: single classes after "which"; otherwise {k}, or C,
after *yes* and the rest of S after *no*. The expected gain of a question is

    sum over parts R of P(R) U(S, R),    P(R) = sum of p over R,

where U depends on the criterion:

    "classes"   |S| - |R|, the expected decrease of classes: EDC(C) = |S| - [ P(C) |S n C| + (1 - P(C)) |S \ C| ]
    "entropy"   the drop in entropy of p, in nats: the entropy of the parts' own masses
    "error"     the drop in 1 - (the largest share): what the likeliest class gains by knowing the part
    "flips"     the caller's own number: how many predictions change if the row has R in place of S

EDC and the expected information gain are those of Hu, Lipton, Anandkumar and Ramanan, "Active learning with partial
feedback" (ICLR 2019), who ask only yes or no, at one price. Their formula holds if p is conditional on S and sums to 1
over it. With a probability over all classes, P(C) < 1 for C = S, and a question with a known answer would gain. "which"
is no such C: it leaves one class, so the gain is |S| - 1, whatever p is.

A question that takes half the time wins if it gains more than half. The quotient is a greedy rule: it looks one answer
ahead and ignores later questions about the row.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike
from scipy import sparse
from scipy.sparse.csgraph import reverse_cuthill_mckee

from plcore.arrays.checks import check_choice, check_int
from plcore.arrays.types import BoolArray, FloatArray, IntArray, LabelsLike
from plcore.kernels.scores import FAN, build_maxima, change_maxima, find_best

CRITERIA = ("classes", "entropy", "error", "flips")
"""The possible measures of gain."""

SAME = 1e-9
"""Gains per second that differ by no more than this share of the larger count as ties, since summation order
may differ."""

SecondsOf = Callable[[Sequence[str], IntArray], ArrayLike]
Changed = Callable[[BoolArray], float]


@dataclass(frozen=True)
class RowQuestion:
    """A question about one row, and its value.

    form : "which", "is" or "group"      about : the candidates it asks yes or no about, () for "which"
    shown : number of labels to read      gain : expected, in the criterion's unit      seconds : expected
    """

    form: str
    about: tuple[int, ...]
    shown: int
    gain: float
    seconds: float

    @property
    def rate(self) -> float:
        """Return the gain per second."""
        return self.gain / self.seconds


def row_questions(
    candidates: LabelsLike,
    shares: ArrayLike,
    seconds: SecondsOf,
    *,
    groups: ArrayLike | None = None,
    criterion: str = "classes",
    changed: Changed | None = None,
    n_likeliest: int = 3,
    n_first: int | None = None,
) -> list[RowQuestion]:
    """Return the questions that may be worth asking about a row: "which", "is" of its likeliest candidates,
    its groups.

    candidates : (m,) bool, the remaining candidates of the row, at least one | shares : (m,) not negative; they are
        scaled to sum to 1 inside the candidates, and are even if all of them are 0
    seconds : seconds(forms, shown) gives (a,) expected seconds of a questions, such as
        `lambda forms, shown: model.expected(person, forms, shown)` of a `SecondsModel`
    groups : (g, m) bool, named groups of classes; None: there are none. A group is asked about if it holds at least two
        candidates but not all. Of groups with the same candidates, the first is used
    criterion : one of `CRITERIA`      changed : for "flips", changed(part) is the number for the candidates (m,) bool
    n_likeliest : number of candidates considered for "is it k?", likeliest first, ties by column. For all criteria but
        "flips" no candidate gains more than the likeliest, so 1 is enough
    n_first : number of labels that "which" shows at first, if the others are shown on request; None: all
    The order is "which", "is" by share, "group" as given. A row with one candidate has only "which", with no gain.
    Raises ValueError for another criterion, no candidate, shares that are not numbers of at least 0, other shapes, or
    "flips" without `changed`.
    """
    check_choice("criterion", criterion, CRITERIA)
    check_int("n_likeliest", n_likeliest, 0)
    own = np.asarray(candidates, dtype=bool)
    inside = np.flatnonzero(own)
    p = _shares_of(own, inside, shares)
    about = _yes_parts(own, inside, p, groups, n_likeliest)
    if criterion == "flips":
        if changed is None:
            raise ValueError("criterion 'flips' needs `changed`, which says what the candidates would change.")
        gains = _flips(own, inside, p, about, changed)
    else:
        gains = np.concatenate([[_whole(p, criterion)], _halves(p, about, criterion)])
    sizes = about.sum(axis=1)
    forms = ["which", *("is" if size == 1 else "group" for size in sizes)]
    shown = np.concatenate([[n_first or len(inside)], sizes]).astype(np.int64)
    costs = np.broadcast_to(np.asarray(seconds(forms, shown), dtype=np.float64), shown.shape)
    if not (costs > 0).all():
        raise ValueError(f"seconds must give numbers above 0. Got {costs.min()}.")
    named = [(), *(tuple(inside[part].tolist()) for part in about)]
    return [RowQuestion(*one) for one in zip(forms, named, shown.tolist(), gains.tolist(), costs.tolist(), strict=True)]


def cheapest_question(questions: Sequence[RowQuestion]) -> RowQuestion:
    """Return the question with the largest gain per second, ties to the first; a row without any gain is asked as
    "which". Raises ValueError if there are none."""
    if not questions:
        raise ValueError("questions must hold one at least.")
    best = max(question.rate for question in questions)
    return next(question for question in questions if question.rate >= best - SAME * abs(best))


def _shares_of(own: BoolArray, inside: IntArray, shares: ArrayLike) -> FloatArray:
    """Return (s,) shares inside the candidates, summing to 1."""
    given = np.asarray(shares, dtype=np.float64)
    if own.ndim != 1 or given.shape != own.shape:
        raise ValueError(
            f"candidates and shares must be vectors of one length. Got shapes {own.shape} and {given.shape}."
        )
    if not len(inside):
        raise ValueError("candidates must hold one at least. Got none.")
    p = given[inside]
    if not (p >= 0).all() or not np.isfinite(p).all():
        raise ValueError(f"shares must be finite numbers of at least 0. Got {p}.")
    total = p.sum()
    return p / total if total > 0 else np.full(len(p), 1.0 / len(p))


def _yes_parts(
    own: BoolArray, inside: IntArray, p: FloatArray, groups: ArrayLike | None, n_likeliest: int
) -> BoolArray:
    """Return (a, s) the candidates left after *yes*, for the likeliest candidates, then for the groups; none if one
    candidate is left."""
    s = len(inside)
    if s == 1:
        return np.zeros((0, s), dtype=bool)
    likeliest = np.argsort(-p, kind="stable")[:n_likeliest]
    single: BoolArray = likeliest[:, None] == np.arange(s)
    if groups is None:
        return single
    given = np.asarray(groups, dtype=bool)
    if given.ndim != 2 or given.shape[1] != len(own):
        raise ValueError(f"groups must be (g, {len(own)}), a column for every class. Got shape {given.shape}.")
    held = given[:, inside]
    size = held.sum(axis=1)
    held = held[(size >= 2) & (size < s)]
    first = {held[place].tobytes(): place for place in range(len(held))[::-1]}
    return np.concatenate([single, held[sorted(first.values())]])


def _whole(p: FloatArray, criterion: str) -> float:
    """Return the gain of "which", which leaves one class."""
    if criterion == "classes":
        return float(len(p) - 1)
    return float(_surprise(p).sum()) if criterion == "entropy" else float(1.0 - p.max())


def _halves(p: FloatArray, yes: BoolArray, criterion: str) -> FloatArray:
    """Return (a,) the gains of questions whose *yes* leaves these candidates (a, s), and whose *no* leaves the rest."""
    mass = yes @ p
    if criterion == "classes":
        size = yes.sum(axis=1)
        return np.asarray(len(p) - (mass * size + (1.0 - mass) * (len(p) - size)))
    if criterion == "entropy":
        return np.asarray(_surprise(mass) + _surprise(np.clip(1.0 - mass, 0.0, None)))
    best = np.where(yes, p, 0.0).max(axis=1) + np.where(yes, 0.0, p).max(axis=1)
    return np.asarray(best - p.max())


def _flips(own: BoolArray, inside: IntArray, p: FloatArray, yes: BoolArray, changed: Changed) -> FloatArray:
    """Return (1 + a,) the gains by the caller's function, which is not called for parts without mass."""

    def of(part: BoolArray) -> float:
        mass = float(p[part].sum())
        if not mass:
            return 0.0
        left = np.zeros_like(own)
        left[inside[part]] = True
        return mass * float(changed(left))

    singles = np.eye(len(p), dtype=bool)
    return np.array([sum(of(one) for one in singles), *(of(part) + of(~part) for part in yes)])


def _surprise(p: FloatArray) -> FloatArray:
    """Return -p log p, 0 for 0."""
    return np.asarray(-p * np.log(np.where(p > 0, p, 1.0)))


# The order of questions: blocked maxima over the scores, so that the best row is found in microseconds.

NONE_ALLOWED: BoolArray = np.zeros(0, dtype=bool)


class QuestionOrder:
    """Rows by descending key, then by their place in the tie order; rows with key -1 are never asked about.

    keys : int64 (n,), 0 or more, or -1      tie_order : int64 (n,), a permutation: the place of each row
    """

    def __init__(self, keys: IntArray, tie_order: IntArray) -> None:
        sizes = [len(keys)]
        while sizes[-1] > FAN:
            sizes.append(-(-sizes[-1] // FAN))
        self._begin: IntArray = np.concatenate([[0], np.cumsum(sizes)]).astype(np.int64)
        self._keys: IntArray = np.empty(self._begin[-1], dtype=np.int64)
        self._place_of = tie_order
        # If ties use the row number, both orders are the same.
        in_order = bool((tie_order[1:] > tie_order[:-1]).all())
        self._row_at = tie_order if in_order else np.argsort(tie_order)
        self._keys[self._place_of] = keys
        build_maxima(self._keys, self._begin)

    def change(self, rows: IntArray, keys: IntArray) -> None:
        """Give some rows new keys."""
        change_maxima(self._keys, self._begin, self._place_of[rows], keys)

    def best(self, among: BoolArray | None = None) -> int:
        """Return the first row, within `among`, bool (n,), if given; -1 if there is none."""
        most = int(self._keys[self._begin[-2] :].max())
        if most < 0:
            return -1
        allowed = NONE_ALLOWED if among is None else among
        place = find_best(self._keys, self._begin, self._row_at, allowed, among is not None, most - 1)
        if place < 0 and most > 0:
            place = find_best(self._keys, self._begin, self._row_at, allowed, among is not None, -1)
        return int(self._row_at[place]) if place >= 0 else -1


def memory_order(neighbors: ArrayLike) -> IntArray:
    """Return a permutation of the rows that puts neighbours near one another in memory, for tables of a
    million rows.

    neighbors : int (T, K) as `effect_scores`, T = n, target t being row t
    Returns int64 (n,): put row order[i] at place i (`X[order]`, `candidates[order]`) before building the graph. Each
    row's score stays the same; a ranking takes about a third less time if its rows are close in memory. Reverse
    Cuthill-McKee on the neighbour graph.
    """
    rows = np.asarray(neighbors)
    n, k = rows.shape
    graph = sparse.csr_matrix(
        (np.ones(rows.size, dtype=np.int8), rows.ravel(), np.arange(0, rows.size + 1, k)), shape=(n, n)
    )
    return np.asarray(reverse_cuthill_mckee(graph + graph.T, symmetric_mode=True), dtype=np.int64)
