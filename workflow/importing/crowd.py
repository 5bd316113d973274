"""The crowd that voted before an import: its inter-annotator agreement, and the accuracy of each voter."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import TYPE_CHECKING, cast
from weakref import WeakKeyDictionary

import numpy as np

from plcore import LabelTable
from plcore.arrays import BoolArray, FloatArray, IntArray
from plcore.crowd import LEAST_ROWS, DawidSkene, krippendorff_alpha, probabilities_by_answers, who_is_guessing
from plcore.tables import NamedVotes
from workflow.access import Right

if TYPE_CHECKING:
    from workflow.seat import Seat

MOST_VOTES = 100_000
MOST_CELLS = 50_000_000
"""Limit for votes, and for votes times classes. Above it, figures use rows drawn with a fixed seed."""

MOST_ALPHA = 20_000
"""Limit of the votes used for Krippendorff's alpha and its interval."""

RESAMPLES = 500


@dataclass(frozen=True)
class Voter:
    """A person, model or function that voted before the import.

    votes : number of their votes      agreement : how often they agree with another voter on the same row, nan if no
        other voted on their rows
    accuracy : how often they are right, as Dawid-Skene estimates it: the diagonal of their confusion matrix, weighted
        by how often each class occurs; nan if it cannot be estimated
    warning : a sentence if they seem to guess, else ""
    """

    name: str
    votes: int
    agreement: float
    accuracy: float
    warning: str


@dataclass(frozen=True)
class EarlierVotes:
    """Facts about the imported votes. voters : those with most votes first

    n_votes, n_rows : of the table      share : share of its rows that the figures use
    alpha, low, high : Krippendorff's alpha with its 95% confidence interval, nan if `why_no_alpha` gives a reason
    """

    voters: tuple[Voter, ...]
    n_votes: int
    n_rows: int
    share: float
    alpha: float
    low: float
    high: float
    why_no_alpha: str


_known: WeakKeyDictionary[LabelTable, EarlierVotes] = WeakKeyDictionary()


def earlier_votes(seat: Seat, on_step: Callable[[float], None] | None = None) -> EarlierVotes | None:
    """Describe the votes in the project's table; None if it does not name voters, or names only one.

    on_step : as for ``reliability``. Raises NotAllowed unless the person is an owner or a reviewer, NotFound.
    """
    with seat.learner(Right.REVIEW) as opened:
        table = opened.learner.table
    return reliability(table, on_step)  # others can use the learner meanwhile


def reliability(table: LabelTable, on_step: Callable[[float], None] | None = None) -> EarlierVotes | None:
    """Describe the votes of a table that is not a project yet. on_step : called now and then with the share done, in
    [0, 1]"""
    if table.votes is None or len(np.unique(table.votes.who)) < 2:
        return None
    if table not in _known:
        _known[table] = _found(table.votes, table.candidates, on_step or (lambda _share: None))
    return _known[table]


def _found(votes: NamedVotes, candidates: BoolArray, on_step: Callable[[float], None]) -> EarlierVotes:
    rows, who, masks, share = _drawn(votes, candidates.shape[1])
    voted = np.unique(rows)
    rows, candidates = np.searchsorted(voted, rows), candidates[voted]
    named = np.zeros_like(candidates)
    np.logical_or.at(named, rows, masks)
    if not (candidates & ~named).any():
        # If the votes themselves are the candidates, they do not show what there was to choose from: rows with full
        # agreement would have one candidate, and on the others everyone would look as bad as chance.
        candidates = np.ones_like(candidates)
    on_step(0.05)
    agreement = _agreement(rows, who, masks, len(votes.voters))
    accuracy, warnings = _believed(rows, who, masks, candidates, len(votes.voters), on_step)
    alpha, low, high = _alpha(rows, who, masks)
    on_step(1.0)
    pairs = np.unique(np.column_stack([votes.rows, votes.who]), axis=0)
    counts = np.bincount(pairs[:, 1], minlength=len(votes.voters))
    voters = [
        Voter(name, int(counts[a]), float(agreement[a]), float(accuracy[a]), warnings[a])
        for a, name in enumerate(votes.voters)
        if counts[a]
    ]
    voters.sort(key=lambda one: (-one.votes, one.name))
    n_rows = len(np.unique(votes.rows))
    return EarlierVotes(tuple(voters), len(pairs), n_rows, share, alpha, low, high, getattr(alpha, "reason", ""))


def _drawn(votes: NamedVotes, m: int) -> tuple[IntArray, IntArray, BoolArray, float]:
    """Return the votes on all rows, or on a sample small enough to compute with; and the share of rows used."""
    most = min(MOST_VOTES, MOST_CELLS // m)
    share = min(1.0, most / max(len(votes), 1))
    if share < 1:
        voted = np.unique(votes.rows)
        kept = np.random.default_rng(0).random(len(voted)) < share
        inside = np.isin(votes.rows, voted[kept])
        votes = NamedVotes.of(votes.rows[inside], votes.who[inside], votes.labels[inside], votes.voters)
    return (*votes.sets(m), share)


def _agreement(rows: IntArray, who: IntArray, masks: BoolArray, people: int) -> FloatArray:
    """(people,) how often each agrees with another voter, over all pairs of votes on one row."""
    _, said = np.unique(np.packbits(masks, axis=1), axis=0, return_inverse=True)
    same_row = np.bincount(rows)[rows] - 1
    _, pair, count = np.unique(np.column_stack([rows, said.ravel()]), axis=0, return_inverse=True, return_counts=True)
    alike = np.bincount(who, weights=count[pair.ravel()] - 1, minlength=people)
    others = np.bincount(who, weights=same_row, minlength=people)
    found: FloatArray = np.divide(alike, others, out=np.full(people, np.nan), where=others > 0)
    return found


def _believed(
    rows: IntArray,
    who: IntArray,
    masks: BoolArray,
    candidates: BoolArray,
    people: int,
    on_step: Callable[[float], None],
) -> tuple[FloatArray, list[str]]:
    """(people,) how often each is right, and a warning for each; nan and no warnings if there are too many people."""
    accuracy, warnings = np.full(people, np.nan), [""] * people
    try:
        model = DawidSkene().fit_masks(rows, who, masks, candidates)
    except ValueError:  # more people and classes than its matrices can hold
        return accuracy, warnings
    on_step(0.4)
    order = np.argsort(who, kind="stable")
    begin = np.searchsorted(who[order], np.arange(people + 1))
    by_row = np.searchsorted(rows, np.arange(len(candidates) + 1))  # votes ascend by row
    for a in range(people):
        own = order[begin[a] : begin[a + 1]]
        if not len(own):
            continue
        accuracy[a] = float(model.class_masses_ @ np.diag(model.confusion_[a]))
        # Combine the others' answers about these rows, weighted by accuracy: one step instead of a fit per person.
        seen = rows[own]
        size = by_row[seen + 1] - by_row[seen]
        at = np.repeat(np.arange(len(own)), size)
        votes = np.repeat(by_row[seen] - np.concatenate([[0], np.cumsum(size)[:-1]]), size) + np.arange(len(at))
        others = who[votes] != a
        at, votes = at[others], votes[others]
        if not len(votes):
            continue
        known = probabilities_by_answers(at, who[votes], masks[votes], candidates[seen], model)
        theirs = [(row, a, np.flatnonzero(mask).tolist()) for row, mask in enumerate(masks[own])]
        checked = who_is_guessing(theirs, candidates[seen], known)[a]
        warnings[a] = checked.sentence if checked.guessing else ""
        on_step(0.4 + 0.5 * (a + 1) / people)
    return accuracy, warnings


def _alpha(rows: IntArray, who: IntArray, masks: BoolArray) -> tuple[float, float, float]:
    last = int(rows[min(len(rows), MOST_ALPHA) - 1])  # sampled rows are interchangeable, so use the first
    kept = rows <= last
    lines = zip(rows[kept].tolist(), who[kept].tolist(), masks[kept], strict=True)
    votes = [(row, person, np.flatnonzero(mask).tolist()) for row, person, mask in lines]
    found = krippendorff_alpha(votes, n_bootstrap=RESAMPLES, random_state=0, least_rows=LEAST_ROWS)
    return cast("tuple[float, float, float]", found)
