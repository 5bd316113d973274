"""Why a row is asked: which targets it decides, and which answer would change what."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from plcore.common.types import BoolArray, IntArray
from plcore.query.effects import Rule
from plcore.query.possible import exact_possible
from plcore.query.sets import sets_of_targets


@dataclass(frozen=True)
class AnswerEffect:
    """What one answer would do to one target: its label sets before and after, as class numbers, ascending.

    Possible labels are exact under rule "pl", else approximate (APL).
    """

    target: int
    answer: int  # the class number answered
    winners: tuple[tuple[int, ...], tuple[int, ...]]  # before, after
    necessary: tuple[tuple[int, ...], tuple[int, ...]]
    possible: tuple[tuple[int, ...], tuple[int, ...]]


@dataclass(frozen=True)
class Explanation:
    """Why a row has its score."""

    row: int
    score: float  # summed shares of the decisions counted by the rule
    candidates: int  # how many labels the row may still have
    targets: tuple[int, ...]  # targets that count this row among their neighbours
    changes: tuple[int, ...]  # those whose winners, necessary or possible labels one answer could change
    undecided: int  # targets not settled now, over all
    answers: tuple[AnswerEffect, ...] = ()  # by target, then answer: every answer that changes something


def answer_effects(rule: Rule, row: int, targets: IntArray, slots: IntArray) -> tuple[AnswerEffect, ...]:
    """What each answer about `row`, neighbour number slots[i] of targets[i], would change for these targets."""
    answers = np.flatnonzero(
        (rule.masks[row, np.arange(rule.n_classes) >> 6] >> np.arange(rule.n_classes) % 64) & 1
    )
    if not len(targets):
        return ()
    # A small graph of its own: each target once as it is, and once for each answer.
    copies = len(answers) + 1
    single = np.zeros((len(answers), rule.masks.shape[1]), dtype=np.int64)
    single[np.arange(len(answers)), answers >> 6] = np.left_shift(np.int64(1), answers & 63)
    rows = rule.neighbors[targets]
    masks = np.concatenate([rule.masks[rows.ravel()], single])
    neighbors = np.repeat(np.arange(rows.size).reshape(rows.shape), copies, axis=0)
    place = np.arange(len(targets) * copies).reshape(-1, copies)
    neighbors[place[:, 1:], slots[:, None]] = rows.size + np.arange(len(answers))
    graph = neighbors.astype(np.int32), np.repeat(rule.weights[targets], copies, axis=0), masks
    sets = sets_of_targets(place.ravel(), *graph, rule.n_classes)
    if rule.rule == "pl":
        possible, _ = exact_possible(place.ravel(), *graph, rule.n_classes, rule.max_nodes)
        sets = sets._replace(possible=possible)
    found = []
    for number, target in enumerate(targets.tolist()):
        before, after = place[number, 0], place[number, 1:]
        moved = np.zeros(len(answers), dtype=bool)
        for each in sets:
            moved |= (each[after] != each[before]).any(axis=1)
        for at in np.flatnonzero(moved):
            pairs = ((_labels(each[before]), _labels(each[after[at]])) for each in sets)
            found.append(AnswerEffect(target, int(answers[at]), *pairs))
    return tuple(found)


def _labels(mask: BoolArray) -> tuple[int, ...]:
    return tuple(np.flatnonzero(mask).tolist())
