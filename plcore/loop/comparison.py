"""Result of a model comparison, and the model that a project should use."""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import asdict, dataclass
from typing import Any

from plcore.arrays.types import WORDS
from plcore.evaluation.learners import WITHIN

FEWEST_AHEAD = 6
"""Minimum lead of a model, in rows. A lead of five rows proves nothing: even if all five are right for one model alone,
the exact paired test gives 2 / 2**5 = 0.06.
"""
FEWEST_ROWS = 20
"""Held-out rows below which models are not compared: differences would be due to chance, so hundreds of fits
would be wasted."""


class TooFewRowsError(ValueError):
    """The table has too few rows to compare models, but is otherwise valid."""


@dataclass(frozen=True)
class ModelFigures:
    """Figures of one model on held-out rows. They are None if the model could not be measured; `note` gives the reason.

    C : value of its parameter C in this measurement; None for the default, or if it has none
    consistency : share of its predictions inside their candidate sets      kappa : the same, corrected for chance
    accuracy : share of correct predictions among rows with known truth, None if there are none
    seconds : CPU seconds of all its fits
    """

    model: str
    C: float | None = None
    consistency: float | None = None
    kappa: float | None = None
    accuracy: float | None = None
    seconds: float = 0.0
    note: str = ""


FEWEST_ANSWERED = 40
"""Answered rows below which features are not compared. Candidate consistency cannot compare them: it favours
the features that the candidates were made with."""
BELOW_WORDS = 0.01
"""Accuracy that the current features may lose against the built-in ones."""


@dataclass(frozen=True)
class FeatureComparison:
    """Feature sets compared on the same answered rows, each held out once.

    accuracy : share of the rows predicted as answered, by feature set (one of `plcore.arrays.types.FEATURE_SETS`)
    model : the model that was fitted      rows : number of rows
    """

    accuracy: Mapping[str, float]
    model: str
    rows: int

    def choice(self, in_force: str) -> str:
        """Return the features to use.

        The current ones stay unless others have FEWEST_AHEAD more rows right, or the current ones are more than
        BELOW_WORDS less accurate than the built-in ones."""
        shares = self.accuracy
        if self.rows < FEWEST_ANSWERED or not {in_force, WORDS} <= set(shares):
            return in_force
        best = max(shares, key=lambda use: (shares[use], use == in_force))
        far = (shares[best] - shares[in_force]) * self.rows >= FEWEST_AHEAD - 0.5
        below = shares[WORDS] - shares[in_force] > BELOW_WORDS + 1e-12
        return best if far or below else in_force


@dataclass(frozen=True)
class ModelComparison:
    """Models compared on the same held-out rows.

    figures : in the order tried      best : best by the criterion; None if nothing could be measured
    rows : number of held-out rows      checks : number of them with known truth; if 0, only kappa decides
    features : None if there is no choice of features, or too few rows are answered
    """

    figures: tuple[ModelFigures, ...]
    best: str | None
    rows: int
    checks: int = 0
    features: FeatureComparison | None = None

    def of(self, model: str) -> ModelFigures:
        """Return the figures of a model; all None if it was not compared."""
        return next((one for one in self.figures if one.model == model), ModelFigures(model))

    def choice(self, in_force: str | None) -> str | None:
        """Return the model to use; None if nothing could be measured.

        in_force : model chosen by the previous comparison; None before the first. It stays if the lead of the best
            model is within the noise: in kappa at most WITHIN, or fewer than FEWEST_AHEAD more predictions inside their
            sets, or, if truth is known, fewer than FEWEST_AHEAD more correct predictions.
        """
        if self.best is None or in_force is None:
            return self.best
        return in_force if self._is_hardly_better(self.of(self.best), self.of(in_force)) else self.best

    def _is_hardly_better(self, best: ModelFigures, now: ModelFigures) -> bool:
        if best.kappa is None or now.kappa is None or best.consistency is None or now.consistency is None:
            return False
        few_rows = (best.consistency - now.consistency) * self.rows < FEWEST_AHEAD - 0.5
        if best.kappa - now.kappa > WITHIN + 1e-12 and not few_rows:
            return False
        if best.accuracy is None or now.accuracy is None:
            return True
        return (best.accuracy - now.accuracy) * self.checks < FEWEST_AHEAD - 0.5

    def lines(self) -> str:
        """Return the comparison as lines of tab-separated text for a terminal, the best model first."""
        lines = ["model\tkappa\taccuracy\tseconds\tnote"]
        for one in sorted(self.figures, key=lambda one: math.inf if one.kappa is None else -one.kappa):
            shares = ["" if share is None else f"{share:.3f}" for share in (one.kappa, one.accuracy)]
            note = "; ".join(part for part in ("best" if one.model == self.best else "", one.note) if part)
            lines.append("\t".join([one.model, *shares, f"{one.seconds:.1f}", " ".join(note.split())]))
        by = f"; accuracy on {self.checks} of known truth" if self.checks else ""
        return "\n".join([*lines, f"Each of {self.rows} rows was held out once{by}."])

    def to_json(self) -> dict[str, object]:
        """Return plain values for `json.dumps`."""
        return asdict(self)

    @classmethod
    def from_json(cls, stored: Mapping[str, Any]) -> ModelComparison:
        """Restore the result of `to_json`."""
        features = stored.get("features")
        return cls(
            **{
                **stored,
                "figures": tuple(ModelFigures(**one) for one in stored["figures"]),
                "features": None if features is None else FeatureComparison(**features),
            }
        )
