"""Why a row is asked: which targets it decides, and which answer would change what."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from plcore.common.types import IntArray
from plcore.neighbors.near import NearGraph, near_graphs
from plcore.query.effects import Rule
from plcore.query.possible import near_possible
from plcore.query.sets import near_sets


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


def answer_effects(rule: Rule, targets: IntArray, slots: IntArray) -> tuple[AnswerEffect, ...]:
    """What each answer about a row, neighbour number slots[i] of targets[i], would change for these targets."""
    found: dict[int, list[AnswerEffect]] = {}
    for places, near in near_graphs(targets, rule.neighbors, rule.weights, rule.masks, rule.n_classes):
        numbers = np.arange(len(targets))[places]
        for number, own in zip(numbers.tolist(), near.targets.tolist(), strict=True):
            found[number] = _of_target(rule, near, own, int(targets[number]), int(slots[number]))
    return tuple(effect for number in sorted(found) for effect in found[number])


def _of_target(rule: Rule, near: NearGraph, own: int, target: int, slot: int) -> list[AnswerEffect]:
    """What answers about its neighbour at this slot would change for one target. own : its number in its graph"""
    rows = near.neighbors[own]
    masks = near.masks[rows]
    labels = np.arange(near.n_classes)
    answers = labels[(masks[slot, labels >> 6] >> (labels & 63)) & 1 != 0]
    if not len(answers):
        return []
    # A small graph of its own: the target once as it is, and once for each answer.
    single = np.zeros((len(answers), masks.shape[1]), dtype=np.int64)
    single[np.arange(len(answers)), answers >> 6] = np.left_shift(np.int64(1), answers & 63)
    neighbors = np.tile(np.arange(len(rows), dtype=np.int32), (len(answers) + 1, 1))
    neighbors[1:, slot] = len(rows) + np.arange(len(answers))
    weights = np.tile(near.weights[own], (len(neighbors), 1))
    every = np.arange(len(neighbors))
    graph = NearGraph(every, neighbors, weights, np.concatenate([masks, single]), near.n_classes, None)
    sets = near_sets(graph)
    if rule.rule == "pl":
        sets = sets._replace(possible=near_possible(graph, rule.max_nodes)[0])
    names = labels if near.names is None else near.names[np.flatnonzero(near.targets == own)[0]]
    moved = np.zeros(len(answers), dtype=bool)
    for each in sets:
        moved |= (each[1:] != each[0]).any(axis=1)
    return [
        AnswerEffect(
            target,
            int(names[answers[at]]),
            *((tuple(names[each[0]].tolist()), tuple(names[each[1 + at]].tolist())) for each in sets),
        )
        for at in np.flatnonzero(moved).tolist()
    ]
