"""Compile every kernel at one time, so that no person waits for a compiler in the middle of their work."""

from __future__ import annotations

import time
from collections.abc import Callable

import numpy as np

from plcore._types import BoolArray, IntArray
from plcore.query import EffectRanker, effect_scores, possible_labels, winners
from plcore.search import compile_search


def _graph(unit: int) -> tuple[IntArray, IntArray, BoolArray]:
    """Six rows, three targets. unit: a weight; large ones take the int64 lanes."""
    sets = np.array([[1, 1, 0], [0, 1, 1], [1, 0, 1], [1, 1, 1], [1, 0, 0], [0, 1, 0]], dtype=bool)
    neighbors = np.array([[0, 1, 2, 4], [1, 2, 3, 5], [2, 3, 4, 0]])
    return neighbors, np.array([[3, 3, 2, 2], [2, 2, 2, 1], [4, 3, 2, 1]]) * unit, sets


def _sets() -> None:
    winners(*_graph(1))


def _effects() -> None:
    effect_scores(*_graph(1), rule="mw")
    for unit in (1, 2**40):
        effect_scores(*_graph(unit), rule="apl")


def _search() -> None:
    possible_labels(*_graph(1))


def _ranker() -> None:
    neighbors, weights, sets = _graph(1)
    for rule in ("mw", "pl"):
        ranker = EffectRanker(rule).fit_graph(neighbors, weights, sets, np.arange(3))
        ranker.next(1)
        ranker.next(1, among=np.ones(6, dtype=bool))
        ranker.next(2)
        ranker.explain(0)
        assert ranker.votes_.votes.size and ranker.settled_ >= 0  # noqa: S101, PT018  (both are made when asked for)
        ranker.update(0, [True, False, False])


# What there is to compile, by name. Each step calls the code as the product calls it.
STEPS: tuple[tuple[str, Callable[[], None]], ...] = (
    ("label sets", _sets),
    ("effect scores", _effects),
    ("exact possible labels", _search),
    ("ranking", _ranker),
    ("neighbour search", compile_search),
)


def compile_kernels(progress: Callable[[int, int, str], None] | None = None) -> float:
    """Compile all kernels for the argument types in use; near instant when their machine code is on disk.

    progress : called as progress(steps done, steps in all, name of the next step), at the end with ""
    Returns the seconds it took. The machine code lies in `__pycache__` beside the sources, or in a folder of
    the user's where that cannot be written.
    """
    begun = time.perf_counter()
    for done, (name, step) in enumerate(STEPS):
        if progress is not None:
            progress(done, len(STEPS), name)
        step()
    if progress is not None:
        progress(len(STEPS), len(STEPS), "")
    return time.perf_counter() - begun
