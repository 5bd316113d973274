"""Reports of a LabelVectorLearner: questions, progress, curve points and row states."""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import asdict, dataclass
from typing import Any

from plcore.loop.entries import Entry
from plcore.loop.label_vectors.registry import BMLCS
from plcore.sensing.metrics import EVEN

AT = (1, 3, 5)
"""Values of k for precision at k, in labels of a row."""


@dataclass(frozen=True)
class LabelVectorQuestion:
    """A question about a row, or one label of it, and the reason for asking. `labels`, `probabilities` and `cells` are
    in class order."""

    row: int
    label: str | None  # None: all unknown labels of the row
    labels: tuple[str, ...]
    probabilities: tuple[float, ...]
    """Probability of yes; 1 or 0 if the cell is known; base rates before the first model."""
    cells: tuple[int, ...]  # 1, 0, -1 not asked
    strategy: str  # the criterion, or "control"
    score: float
    model_version: int
    predicted: str | None
    """Prediction of the model: "yes" or "no"; for a whole row a JSON list of its labels; None before the first
    model."""
    decides: int = 0  # as in plcore.Question; always 0, as nothing is proved here
    undecided: int = 0  # number of cells that can still be asked about


@dataclass(frozen=True)
class Share:
    """A share with its 95% interval, all in [0, 1]; low and high are NaN in points stored before there were
    intervals."""

    value: float
    low: float
    high: float


@dataclass(frozen=True)
class ControlEstimate:
    """Quality of the model on cells it has not learnt from, measured on blind checks; None if it cannot be estimated.

    cells : controls answered      yes : answered yes      said_yes : predicted as yes
    """

    cells: int = 0
    yes: int = 0
    said_yes: int = 0
    accuracy: Share | None = None
    precision: Share | None = None
    recall: Share | None = None
    f1: Share | None = None
    at: tuple[tuple[int, Share], ...] = ()  # precision at 1, 3, 5, if whole rows are drawn


@dataclass(frozen=True)
class HeldOut:
    """Quality of the model on the test rows: precision at 1, 3, 5 (up to the number of labels), macro and micro F1."""

    rows: int
    precision: tuple[tuple[int, Share], ...]
    macro_f1: Share
    micro_f1: Share

    @classmethod
    def from_json(cls, data: Mapping[str, Any]) -> HeldOut:
        """Restore the output of `LabelVectorPoint.to_json`, also older output with plain numbers instead of
        intervals."""
        precision = tuple((int(t), _share(share)) for t, share in data["precision"])
        return cls(int(data["rows"]), precision, _share(data["macro_f1"]), _share(data["micro_f1"]))


def _share(data: Mapping[str, float] | float) -> Share:
    return Share(**data) if isinstance(data, Mapping) else Share(float(data), math.nan, math.nan)


@dataclass(frozen=True)
class PredictorComparison:
    """BML-CS and one-vs-all on known cells hidden from both.

    cells, yes : number of hidden cells, and of yes among them; a cell hidden in several trials counts in each
    bmlcs, onevsall : micro F1      error : standard error of their difference, paired by row
    """

    cells: int
    yes: int
    bmlcs: float
    onevsall: float
    error: float

    @property
    def lead(self) -> float:
        """Return the lead of one-vs-all."""
        return self.onevsall - self.bmlcs


@dataclass(frozen=True)
class LabelVectorPoint:
    """A model version, fitted to the answers up to the entry `seq`, and the progress at that time."""

    seq: int
    answers: int
    yes: int  # labels answered yes and no
    no: int
    unasked: int  # number of cells that could still be asked about
    entropy: float  # sum of their binary entropies, in bits
    held_out: HeldOut | None
    control: ControlEstimate = ControlEstimate()
    predictor: str = BMLCS  # the model that predicts
    comparison: PredictorComparison | None = None  # comparison that chose it
    threshold: float = EVEN  # probability above which the model predicts yes

    @property
    def model_version(self) -> int:
        """Return the version, as in plcore.CurvePoint."""
        return self.seq

    def to_json(self) -> dict[str, object]:
        """Return plain values for `json.dumps`; `from_json` reads them."""
        return asdict(self)

    @classmethod
    def from_json(cls, data: Mapping[str, Any]) -> LabelVectorPoint:
        """Restore the output of `to_json`."""
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
    """Progress of the work. Test rows are counted in `n_test` only."""

    answers: int  # unwithdrawn answers: entries of kind yes, no, bad
    by_kind: tuple[tuple[str, int], ...]  # labels answered yes and no; unwithdrawn bad, unsure, skip entries
    answered: int  # rows with at least one answer
    answered_cells: int
    bad: int  # rows marked as bad items
    unasked: int  # number of cells that can still be asked about
    ambiguous_left: int  # number of rows with such cells
    share_known: float  # share of the cells unknown at import that are known now or belong to a bad item
    entropy: float | None  # remaining entropy of the unasked cells, in bits; None before the first model
    held_out: HeldOut | None
    control: ControlEstimate
    n_control: int  # number of cells drawn as blind checks
    n_train: int
    n_test: int
    model_version: int
    predictor: str | None  # the model that predicts; None before the first
    comparison: PredictorComparison | None  # comparison that chose it
    threshold: float  # probability above which it predicts yes
    fitted: int | None  # seq of the last entry in the latest full fit


@dataclass(frozen=True)
class LabelVectorState:
    """The current state of one row; cells in class order, 1, 0, -1 not asked."""

    row: int
    original: tuple[int, ...]  # at import
    cells: tuple[int, ...]  # current cells, also of a bad item
    bad: bool
    test: bool
    answer: Entry | None  # the latest answer that counts
    entries: tuple[Entry, ...]  # all unwithdrawn entries, in order
