"""Reports of a LabelVectorLearner: questions, progress, points of its curve, rows as they are."""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import asdict, dataclass
from typing import Any

from plcore.loop.entries import Entry
from plcore.loop.label_vectors.registry import BMLCS
from plcore.sensing.metrics import EVEN

AT = (1, 3, 5)
"""Labels of a row that precision is measured at."""


@dataclass(frozen=True)
class LabelVectorQuestion:
    """A row, or one label of it, to ask about, and why. `labels`, `probabilities` and `cells` are in class order."""

    row: int
    label: str | None  # None: all labels of the row that are not known
    labels: tuple[str, ...]
    probabilities: tuple[float, ...]
    """For yes; 1 or 0 if the cell is known; base rates before the first model."""
    cells: tuple[int, ...]  # 1, 0, -1 not asked
    strategy: str  # the criterion, or "control"
    score: float
    model_version: int
    predicted: str | None
    """By the model: "yes" or "no"; of a whole row a JSON list of its labels; None before the first model."""
    decides: int = 0  # as in plcore.Question; nothing is proven here
    undecided: int = 0  # cells that can still be asked


@dataclass(frozen=True)
class Share:
    """A share with its 95% interval, all in [0, 1]; low and high NaN for a point stored before it had one."""

    value: float
    low: float
    high: float


@dataclass(frozen=True)
class ControlEstimate:
    """How good the model is on cells that it has not learnt, by blind checks; None if nothing can be said.

    cells : controls answered      yes : answered yes      said_yes : the model says yes
    """

    cells: int = 0
    yes: int = 0
    said_yes: int = 0
    accuracy: Share | None = None
    precision: Share | None = None
    recall: Share | None = None
    f1: Share | None = None
    at: tuple[tuple[int, Share], ...] = ()  # precision at 1, 3, 5, where whole rows are drawn


@dataclass(frozen=True)
class HeldOut:
    """The model on the test rows: precision at 1, 3, 5 (those up to the number of labels), macro and micro F1."""

    rows: int
    precision: tuple[tuple[int, Share], ...]
    macro_f1: Share
    micro_f1: Share

    @classmethod
    def from_json(cls, data: Mapping[str, Any]) -> HeldOut:
        """As `LabelVectorPoint.to_json` wrote it, with plain numbers too, as it did before there were intervals."""
        precision = tuple((int(t), _share(share)) for t, share in data["precision"])
        return cls(int(data["rows"]), precision, _share(data["macro_f1"]), _share(data["micro_f1"]))


def _share(data: Mapping[str, float] | float) -> Share:
    return Share(**data) if isinstance(data, Mapping) else Share(float(data), math.nan, math.nan)


@dataclass(frozen=True)
class PredictorComparison:
    """BML-CS and one-vs-all on known cells that neither was shown.

    cells, yes : judged, and yes of them; a cell hidden in several trials counts in each
    bmlcs, onevsall : micro F1      error : standard error of their difference, paired by row
    """

    cells: int
    yes: int
    bmlcs: float
    onevsall: float
    error: float

    @property
    def lead(self) -> float:
        """By how much one-vs-all is ahead."""
        return self.onevsall - self.bmlcs


@dataclass(frozen=True)
class LabelVectorPoint:
    """A model version, fitted to the answers up to the entry `seq`, and where the work stood then."""

    seq: int
    answers: int
    yes: int  # labels answered yes, no
    no: int
    unasked: int  # cells that could still be asked
    entropy: float  # of these, sum of the entropies of yes or no, in bits
    held_out: HeldOut | None
    control: ControlEstimate = ControlEstimate()
    predictor: str = BMLCS  # the model that predicts
    comparison: PredictorComparison | None = None  # by which it was chosen
    threshold: float = EVEN  # above which probability it says yes

    @property
    def model_version(self) -> int:
        """As in plcore.CurvePoint."""
        return self.seq

    def to_json(self) -> dict[str, object]:
        """Plain values for `json.dumps`; `from_json` reads them."""
        return asdict(self)

    @classmethod
    def from_json(cls, data: Mapping[str, Any]) -> LabelVectorPoint:
        """The point that `to_json` wrote."""
        values = dict(data)
        held, control = values.pop("held_out"), dict(values.pop("control"))
        for name in ("accuracy", "precision", "recall", "f1"):
            if control[name] is not None:
                control[name] = Share(**control[name])
        control["at"] = tuple((int(t), Share(**share)) for t, share in control.get("at", ()))
        held = None if held is None else HeldOut.from_json(held)
        if (compared := values.pop("comparison", None)) is not None:
            values["comparison"] = PredictorComparison(**compared)
        return cls(**values, held_out=held, control=ControlEstimate(**control))


@dataclass(frozen=True)
class LabelVectorProgress:
    """Where the work stands. Test rows are counted in `n_test` only."""

    answers: int  # unwithdrawn answers: entries yes, no, bad
    by_kind: tuple[tuple[str, int], ...]  # labels answered yes and no; entries bad, unsure, skip; unwithdrawn
    answered: int  # rows with at least one of them
    answered_cells: int
    bad: int  # rows marked as bad items
    unasked: int  # cells that can still be asked
    ambiguous_left: int  # rows with such cells
    share_known: float  # of the cells not known at import, that are known now or belong to a bad item
    entropy: float | None  # left in the unasked cells, in bits; None before the first model
    held_out: HeldOut | None
    control: ControlEstimate
    n_control: int  # cells drawn as blind checks
    n_train: int
    n_test: int
    model_version: int
    predictor: str | None  # the model that predicts; None before the first
    comparison: PredictorComparison | None  # by which it was chosen
    threshold: float  # above which probability it says yes
    fitted: int | None  # seq of the last entry the model was fitted to as a whole


@dataclass(frozen=True)
class LabelVectorState:
    """One row as it is; cells in class order, 1, 0, -1 not asked."""

    row: int
    original: tuple[int, ...]  # at import
    cells: tuple[int, ...]  # now, also of a bad item
    bad: bool
    test: bool
    answer: Entry | None  # the latest answer that counts
    entries: tuple[Entry, ...]  # all unwithdrawn entries, in order
