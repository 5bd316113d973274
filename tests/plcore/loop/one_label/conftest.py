"""Comparisons of few models: those of all take seconds, and `test_registry` makes every model."""

from __future__ import annotations

from collections.abc import Callable

import pytest

from plcore.evaluation.learners import LEARNER_ENTRIES
from plcore.loop.one_label import comparing


@pytest.fixture
def compare_only(monkeypatch: pytest.MonkeyPatch) -> Callable[..., None]:
    """Call with names of models: projects then compare these, and no others."""

    def narrow(*names: str) -> None:
        monkeypatch.setattr(comparing, "read_learners", lambda _: [LEARNER_ENTRIES[name] for name in names])

    return narrow
