"""Compile every kernel ahead of time, so that no user has to wait for the compiler later."""

from __future__ import annotations

import time
from collections.abc import Callable
from functools import partial

import numpy as np
from numba.core import event
from scipy import sparse

from plcore.arrays.candidate_sets import FEW_CLASSES
from plcore.arrays.types import BoolArray, IntArray, StepProgress
from plcore.crowd import DawidSkene
from plcore.kernel import PLKernelRidge
from plcore.kernels.margin import add_rows
from plcore.kernels.scores import margins, softmax_margins
from plcore.loop.one_label.models import softmax_inside
from plcore.margin import PLSVC, LMPlaneClassifier, M3PLClassifier
from plcore.neighbors.classifier import PLKNeighborsClassifier
from plcore.neighbors.search import compile_search
from plcore.online import PLPegasos
from plcore.query import EffectRanker, effect_scores, possible_labels, winners
from plcore.sensing import BMLCSClassifier


def _graph(unit: int) -> tuple[IntArray, IntArray, BoolArray]:
    """Return a graph of six rows and three targets. unit : the weight; large weights use the int64 code
    path."""
    sets = np.array([[1, 1, 0], [0, 1, 1], [1, 0, 1], [1, 1, 1], [1, 0, 0], [0, 1, 0]], dtype=bool)
    neighbors = np.array([[0, 1, 2, 4], [1, 2, 3, 5], [2, 3, 4, 0]])
    return neighbors, np.array([[3, 3, 2, 2], [2, 2, 2, 1], [4, 3, 2, 1]]) * unit, sets


def _sets() -> None:
    winners(*_graph(1))


def _effects() -> None:
    for rule in ("mw", "apl"):
        effect_scores(*_graph(1), rule=rule)


def _wide_weights() -> None:
    effect_scores(*_graph(2**40), rule="apl")


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
        ranker.votes_.most(np.arange(3))
        ranker.update(0, [True, False, False])


def _many_classes() -> None:
    neighbors, weights, sets = _graph(1)
    wide = np.zeros((len(sets), FEW_CLASSES + 1), dtype=bool)
    wide[:, : sets.shape[1]] = sets
    ranker = EffectRanker("pl").fit_graph(neighbors, weights, wide, np.arange(3))
    assert ranker.votes_.votes.size  # noqa: S101  (made when asked for)
    ranker.votes_.most(np.arange(3))


def _scaled_votes() -> None:
    rows, sets = np.array([[0.0, 1.0], [1.0, 0.0]]), np.ones((2, 2), dtype=bool)
    PLKNeighborsClassifier().fit(rows, sets, sample_weight=[1.0, 2.0]).update(0, [True, False])


def _online() -> None:
    rows, sets = np.array([[0.0, 1.0], [1.0, 0.0]]), np.eye(2, dtype=bool)
    for X in (rows, sparse.csr_matrix(rows)):
        learner = PLPegasos(average=True, max_iter=1).fit(X, sets)
        learner.predict_then_learn(X, sets)


def _margin() -> None:
    """Compile the margin learners. Scores have one layout for all feature types, so three fits cover all
    kernels but one."""
    rows, sets = np.array([[0.0, 1.0], [1.0, 0.0], [1.0, 1.0]]), np.eye(3, dtype=bool)
    sets[0, 1] = True
    for learner in (PLSVC(), LMPlaneClassifier(max_iter=2), M3PLClassifier(max_iter=1)):
        learner.fit(rows, sets)
    add_rows(np.array([0, 1]), np.zeros(1, dtype=np.int64), np.zeros(1), rows[:1], np.zeros((3, 2)))  # of larger tables


def _margins() -> None:
    sets = np.eye(2, dtype=bool)
    for dtype in (np.float32, np.float64):  # of trained models, of online learners
        margins(softmax_inside(np.zeros((2, 2), dtype=dtype), sets))
    scores = np.zeros((2, 2), dtype=np.float32)
    softmax_margins(scores, sets, np.arange(2))
    scores.flags.writeable = False  # read-only as when mapped from a file, which Numba compiles as a different type
    softmax_margins(scores, sets, np.arange(2))


def _soft_labels() -> None:
    PLKernelRidge("rbf", alpha=0.1, class_mass=0.5).fit(np.array([[0.0, 1.0], [1.0, 0.0]]), np.ones((2, 2), dtype=bool))


def _sensing() -> None:
    learner = BMLCSClassifier(mode="fast").fit(np.array([[0.0, 1.0], [1.0, 0.0]]), np.eye(2, dtype=bool))
    learner.predict(np.array([[0.5, 0.5]]))


def _crowd() -> None:
    votes = np.array([0, 0, 1]), np.array([0, 1, 0]), np.array([[1, 0], [0, 1], [1, 1]], dtype=bool)
    free = np.ones((2, 2), dtype=bool)
    DawidSkene(max_iter=1).fit_masks(*votes, free).posterior_masks(*votes, free)


# Steps by name, those first that a new project waits for. Each calls the code with the argument types that the product
# uses.
STEPS: tuple[tuple[str, Callable[[], None]], ...] = (
    ("label sets", _sets),
    ("effect scores", _effects),
    ("ranking", _ranker),
    ("neighbour search", compile_search),
    ("many classes", _many_classes),
    ("scaled votes", _scaled_votes),
    ("exact possible labels", _search),
    ("wide weights", _wide_weights),
    ("online learners", _online),
    ("margin learners", _margin),
    ("margins", _margins),
    ("soft labels", _soft_labels),
    ("label vectors", _sensing),
    ("annotators", _crowd),
)
APART = frozenset(
    {"neighbour search", "online learners", "margin learners", "margins", "soft labels", "label vectors", "annotators"}
)
"""Steps that share no kernel with the others: a second process can compile them meanwhile."""


class _Compiler(event.Listener):
    """Reports once when the compiler next begins. Numba calls it for every kernel without machine code on
    disk."""

    def __init__(self) -> None:
        self.say: Callable[[], object] | None = None

    def on_start(self, event: event.Event) -> None:  # noqa: ARG002
        say, self.say = self.say, None
        if say is not None:
            say()

    def on_end(self, event: event.Event) -> None:
        pass


def compile_kernels(
    progress: StepProgress | None = None, compiling: StepProgress | None = None, apart: bool | None = None
) -> float:
    """Compile all kernels for the argument types in use; near instant when their machine code is on disk.

    progress : called as progress(steps done, steps in all, name of the next step), at the end with ""
    compiling : called in the same way when a step actually starts the compiler
    apart : True: only the steps of `APART`; False: only the others; None: all
    Returns the elapsed seconds. The machine code is stored in `__pycache__` next to the sources, or in a user
    folder if that is not writable.
    """
    begun, compiler = time.perf_counter(), _Compiler()
    with event.install_listener("numba:compile", compiler):
        for done, (name, step) in enumerate(STEPS):
            if apart is not None and apart != (name in APART):
                continue
            if progress is not None:
                progress(done, len(STEPS), name)
            compiler.say = None if compiling is None else partial(compiling, done, len(STEPS), name)
            step()
    if progress is not None:
        progress(len(STEPS), len(STEPS), "")
    return time.perf_counter() - begun
