"""Comparisons of few models, forests of few trees, and few settings of the kernel ridge: all of them take seconds.
`test_registry` makes every model, and `tests/plcore/kernel` tests the choice of settings."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace

import pytest

from plcore.evaluation.learners import LEARNER_ENTRIES
from plcore.kernel import ridge
from plcore.loop.one_label import comparing
from plcore.loop.registry import MODEL_ENTRIES


@pytest.fixture
def compare_only(monkeypatch: pytest.MonkeyPatch) -> Callable[..., None]:
    """A function of model names: projects then compare only these."""

    def narrow(*names: str) -> None:
        monkeypatch.setattr(comparing, "read_learners", lambda _: [LEARNER_ENTRIES[name] for name in names])

    return narrow


@pytest.fixture(autouse=True)
def small_models(monkeypatch: pytest.MonkeyPatch) -> None:
    """Forests have ten trees, and the kernel ridge chooses among two values of alpha."""
    forest = MODEL_ENTRIES["forest"]
    monkeypatch.setitem(MODEL_ENTRIES, "forest", replace(forest, options={**forest.options, "n_estimators": 10}))
    monkeypatch.setattr(ridge, "ALPHAS", (0.1, 0.5))
