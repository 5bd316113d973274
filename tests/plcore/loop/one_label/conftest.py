"""Comparisons of few models, and forests of few trees: all of them take seconds, and `test_registry` makes every
model."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace

import pytest

from plcore.evaluation.learners import LEARNER_ENTRIES
from plcore.loop.one_label import comparing
from plcore.loop.registry import MODEL_ENTRIES


@pytest.fixture
def compare_only(monkeypatch: pytest.MonkeyPatch) -> Callable[..., None]:
    """A function of model names: projects then compare only these."""

    def narrow(*names: str) -> None:
        monkeypatch.setattr(comparing, "read_learners", lambda _: [LEARNER_ENTRIES[name] for name in names])

    return narrow


@pytest.fixture
def few_trees(monkeypatch: pytest.MonkeyPatch) -> None:
    """Forests of projects have ten trees."""
    forest = MODEL_ENTRIES["forest"]
    monkeypatch.setitem(MODEL_ENTRIES, "forest", replace(forest, options={**forest.options, "n_estimators": 10}))
