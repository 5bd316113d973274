"""A comparison without its fits: tests set its findings. Real measurements are tested in `plcore`."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any

import numpy as np
import pandas as pd
import pytest

from plcore.loop.one_label import comparing


@dataclass
class Findings:
    """Findings of comparisons. kappas : of each model, the best first      before : called between fits with (done,
    total, name)

    inside : called in each fit, which then reports the progress
    consistency : candidate accuracy of every model; None: halfway from its kappa to 1
    """

    kappas: dict[str, float] = field(default_factory=lambda: {"clpl": 0.8, "plknn": 0.5})
    accuracies: dict[str, float] = field(default_factory=dict)
    parameters: dict[str, dict[str, Any]] = field(default_factory=dict)
    before: Callable[[int, int, str], object] = lambda *_: None
    inside: Callable[[], object] | None = None
    consistency: float | None = None
    calls: list[int] = field(default_factory=list)

    def compare_learners(
        self, X: Any, candidates: Any, learners: Any = None, *, y_true: Any = None, progress: Any = None, **_: Any
    ) -> pd.DataFrame:
        self.calls.append(len(candidates))
        for done, name in enumerate(self.kappas):
            self.before(done, len(self.kappas), name)
            if progress is not None:
                progress(done, len(self.kappas), name)
            if self.inside is not None and progress is not None:
                self.inside()
                progress(done, len(self.kappas), name)
        known = y_true is not None
        lines = [
            {
                "learner": name,
                "parameters": self.parameters.get(name, {}),
                "candidate_accuracy": (1 + kappa) / 2 if self.consistency is None else self.consistency,
                "kappa": kappa,
                "accuracy": self.accuracies.get(name, 0.5) if known else np.nan,
                "seconds": 0.25,
                "chosen": number == 0,
                "note": "",
            }
            for number, (name, kappa) in enumerate(self.kappas.items())
        ]
        return pd.DataFrame(lines)


@pytest.fixture
def findings(monkeypatch: pytest.MonkeyPatch) -> Findings:
    """Set the findings of comparisons from now on."""
    found = Findings()
    monkeypatch.setattr(comparing, "compare_learners", found.compare_learners)
    return found
