"""Description of labels for a data set, by kind of project."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from workflow.projects.figures import LabelCount


@dataclass(frozen=True)
class Measure:
    """A measured share in [0, 1] with its 95% interval.

    words : of what      n : measured on how many rows, or labels of rows
    """

    words: str
    value: float
    low: float
    high: float
    n: int


@dataclass(frozen=True)
class Described:
    """Description of a project's labels, by kind.

    before, after : what a row had at import and what it has now, in words and figures
    labels : how many rows have each class, by answers and as given      set_aside : rows that are bad items
    test_rows, blind_checks : how many were drawn to measure the model      model : that predicts now
    """

    before: str
    after: str
    labels: tuple[LabelCount, ...]
    set_aside: int
    test_rows: int
    blind_checks: int
    measures: tuple[Measure, ...]
    model: str
