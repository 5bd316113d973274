"""Doubtful sets: rows whose truth may not be among their candidates, found by left-out scores without clean labels.

A wrong set misleads its neighbours: most of the loss comes from good rows whose labels turn wrong in the rounds. Single
candidates are the worst, because they are certain from the start. So the rounds run four times, each time from scratch.
In between, an EM on the leave-one-out scores F estimates o_i, how likely the truth of each row is outside:

    P = softmax(F / T_o) over all classes;   a_i = (m/k) sum of P_ic inside,   b_i = (m/(m - k)) sum of P_ic outside
    o_i = e_k b_i / (e_k b_i + (1 - e_k) a_i);   e_k the mean of o_i over the sets of size k, by 20 rows pulled to half
    of the mean of all;   T_o where sum_i log(e_k b_i + (1 - e_k) a_i) is largest

m/k and m/(m - k) are the chances of an evenly drawn set of size k, given its truth: without them every row ends up
outside. In the next pass the label of a row with o_i > 0.5 is (1 - o_i) Q inside + o_i softmax(F / T_o) outside. The
class masses are those of such mixtures.

If sets depend on the label, single candidates may be what distinguishes the classes, and doubting them ruins the fit.
So `plcore.kernel.choice` uses doubts only if predictions for held-out rows agree more with the labels of these rows,
and are inside the sets about as often and as confidently. Requiring the latter to improve, as an earlier version did,
left Lost unchanged in one of two draws: there, sets without the truth count against it.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import NamedTuple

import numpy as np

from plcore.arrays.types import BoolArray, FloatArray, IntArray, RoundProgress
from plcore.kernel.rounds import Doubts, Rounds, Settled
from plcore.kernels import softmax_rows
from plcore.labels.set_masses import SetMasses, as_rows
from plcore.labels.weights import ClassMasses

PASSES = 4
PASS_ROUNDS = 15  # of each pass except the last
OUTSIDE_TEMPERATURES = (0.05, 0.08, 0.12, 0.18, 0.27, 0.4, 0.6, 1.0)
FIRST_RATE, EM_ROUNDS, PRIOR_ROWS = 0.05, 30, 20.0
DOUBTED = 0.5
"""Rows whose probability exceeds this are doubted in the next pass."""
SINGLES = 0.8
"""How much single candidates are doubted at the start, if the choice allows it."""
FEWEST_CHECKS, CLEAR = 10, 0.2
"""Fewest blind checks of single candidates that decide the start by their wrong share, and the least such share."""


class OutsideEstimate(NamedTuple):
    """outside : (n,) how likely the truth of each row is not a candidate      temperature : T_o
    shares : (n, m) P, of each class at that temperature"""

    outside: FloatArray
    temperature: float
    shares: FloatArray


@dataclass(frozen=True, eq=False)
class Sets:
    """Candidates (n, m), their soft labels now and as imported (n, m), whether a person answered each row (n,), which
    is then never doubted, and the source of each row, None for none."""

    candidates: BoolArray
    prior: FloatArray
    imported: FloatArray
    answered: BoolArray
    sources: IntArray | None

    @property
    def possible(self) -> BoolArray:
        """Return (m,) the classes that are a candidate of some row."""
        return np.asarray(self.candidates.any(axis=0))

    @property
    def open(self) -> BoolArray:
        """Return (n,) rows whose truth may be outside: not answered, and not every class is a candidate."""
        return ~self.answered & ~self.candidates[:, self.possible].all(axis=1)


def estimate_outside(
    scores: FloatArray, candidates: BoolArray, weights: FloatArray, doubtable: BoolArray
) -> OutsideEstimate:
    """Run the EM described above.

    scores : (n, m) left-out      candidates : (n, m); classes that no row has are ignored
    weights : (n,) weights of the rows in the rates      doubtable : (n,) rows that may be outside; the result is 0 for
        the others
    """
    possible = candidates.any(axis=0)
    sizes, m = candidates.sum(axis=1), int(possible.sum())
    counted = np.where(doubtable, weights, 0.0)
    every = np.broadcast_to(possible, candidates.shape)
    rows = np.bincount(sizes, counted)
    best, found = (-np.inf, OutsideEstimate(np.zeros(len(scores)), OUTSIDE_TEMPERATURES[0], np.zeros(scores.shape)))
    tiny = np.finfo(float).tiny
    for temperature in OUTSIDE_TEMPERATURES:
        shares = softmax_rows(scores / temperature, every)
        within = (shares * candidates).sum(axis=1)
        inside = np.maximum(within, tiny) * m / sizes
        beyond = np.maximum(1.0 - within, tiny) * m / np.maximum(m - sizes, 1)
        rates = np.full(len(rows), FIRST_RATE)
        for _ in range(EM_ROUNDS):
            wrong = rates[sizes] * beyond
            outside = np.where(doubtable, wrong / (wrong + (1.0 - rates[sizes]) * inside), 0.0)
            mean = float(counted @ outside) / max(float(counted.sum()), tiny)
            even = PRIOR_ROWS * min(mean, 0.5) / 2
            rates = (np.bincount(sizes, counted * outside) + even) / (rows + PRIOR_ROWS)
        likely = float(counted @ np.log(rates[sizes] * beyond + (1.0 - rates[sizes]) * inside))
        if likely > best:
            best, found = likely, OutsideEstimate(outside, temperature, shares)
    return found


def settle_in_doubt(
    rounds: Rounds, sets: Sets, start: float, max_iter: int, progress: RoundProgress | None = None
) -> tuple[Rounds, Settled, FloatArray]:
    """Run all passes; return the rounds of the last pass, their final state, and the outside probabilities
    (n,).

    rounds : without doubts      start : how much open single candidates are doubted in the first pass, in [0, 1]
    max_iter : rounds of the last pass; those before have up to 15      progress : as for `Rounds.settle`
    """
    beyond = sets.possible & ~sets.candidates
    shares = beyond / np.maximum(beyond.sum(axis=1, keepdims=True), 1)
    doubts = Doubts(
        np.where(sets.open & (sets.candidates.sum(axis=1) == 1), start, 0.0), OUTSIDE_TEMPERATURES[0], beyond
    )
    for number in range(PASSES):
        last = number == PASSES - 1
        rounds = _doubting(rounds, sets, doubts, shares)
        settled = rounds.settle(sets.prior, max_iter if last else min(PASS_ROUNDS, max_iter), progress=progress)
        found = estimate_outside(
            rounds.ridge.left_out_scores(settled.labels), sets.candidates, rounds.ridge.weights, sets.open
        )
        shares = found.shares * beyond
        total = shares.sum(axis=1, keepdims=True)
        shares /= np.where(total > 0, total, 1.0)
        if not last:
            doubted = np.where(found.outside > DOUBTED, found.outside, 0.0)
            doubts = Doubts(doubted, found.temperature, beyond)
    return rounds, settled, found.outside


def _doubting(rounds: Rounds, sets: Sets, doubts: Doubts, shares: FloatArray) -> Rounds:
    """Return the rounds with these doubts, and masses to which doubted rows add shares (n, m) outside their sets."""
    part = doubts.shares[:, None]
    told, weights = (1.0 - part) * sets.imported + part * shares, rounds.ridge.weights
    sources = None
    if rounds.sources is not None and sets.sources is not None:
        sure = sets.candidates | (part > 0)  # a doubted single candidate is not an answer
        sources = SetMasses.among(sets.sources, told, sure, as_rows(weights))
    return replace(rounds, masses=ClassMasses.of(told, weights), sources=sources, doubts=doubts)


def starts_to_try(checks: tuple[int, int] | None) -> tuple[tuple[float, ...], float | None]:
    """Return the starts to try in turn on held-out sets, and the start that blind checks decide, or None.

    checks : (wrong, all) of randomly drawn single candidates that were checked. With fewer than ten, held-out sets
        judge 0 and SINGLES. With ten or more, the wrong share is the start if it is at least 0.2; below that, single
        candidates are not doubted at the start.
    """
    if checks is None or checks[1] < FEWEST_CHECKS:
        return (0.0, SINGLES), None
    share = checks[0] / checks[1]
    return ((), share) if share >= CLEAR else ((0.0,), None)


def read_checks(checks: tuple[int, int] | None) -> tuple[int, int] | None:
    """Return the checks. Raises ValueError unless they are two counts, wrong <= checked."""
    if checks is None:
        return None
    try:
        wrong, checked = (int(one) for one in checks)
    except (TypeError, ValueError):
        wrong, checked = -1, -1
    if not 0 <= wrong <= checked:
        raise ValueError(
            f"single_checks must be (wrong, checked), two counts with 0 <= wrong <= checked. Got {checks!r}. "
            "Fix: count the single candidates that a person checked blindly, and those of them that are wrong."
        )
    return wrong, checked


def read_answered(answered: object, prior: FloatArray, imported: FloatArray) -> BoolArray:
    """Return (n,) the rows that a person answered: those given, and those whose candidates differ from the imported
    ones, judged by their soft labels (n, m).

    Raises ValueError if `answered` is not bool (n,).
    """
    changed = np.asarray(((prior > 0) != (imported > 0)).any(axis=1))
    if answered is None:
        return changed
    given = np.asarray(answered)
    if given.dtype != bool or given.shape != changed.shape:
        raise ValueError(
            f"answered must be bool of shape {changed.shape}, one for each row. Got {given.dtype} of shape "
            f"{given.shape}."
        )
    return np.asarray(given | changed)
