"""The content of an export at one point in time: copied while the learner is open, written afterwards."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, TypeAlias

import numpy as np

from plcore.arrays import BoolArray, FloatArray, IntArray
from workflow.answering.history import SAYS_SOMETHING

if TYPE_CHECKING:
    from datetime import datetime

    from db.entries import LogEntry
    from plcore.loop import ClassChange
    from plcore.tables import FileFormat
    from workflow.projects.figures import LabelCount


AnyFormat: TypeAlias = "FileFormat[Any]"
"""A format of tables of a kind that the caller does not know."""

ANSWERED, SURE, ALL = "answered", "sure", "all"
CHOICES = (ALL, SURE, ANSWERED)
"""The rows that an export can hold: all; those whose label is known, or that the model is sure of; those that a person
decided."""
ABOVE = 0.9
"""How sure the model must be of a row, if no one says otherwise."""


@dataclass(frozen=True)
class Snapshot:
    """The state of a project's rows after the log's entry `seq`. Nothing in it changes when the learner continues.

    answered : bool (n,), a person decided
    certainty : finds (n,) how sure the label is: 1 if the file, a person or a proof gives it, else the model's
        probability; NaN if the row has none, waits for another person's answer, or is excluded
    undecided : finds (n,) bool, rows that are disputed or wait for another person's answer
    labels_of : the labels that an answer names, as they are called now
    sources_of : counts how many labels of these rows come from each source
    finish : makes of the answers up to `seq` what the writers of formats take
    """

    seq: int
    answered: BoolArray
    certainty: Callable[[], FloatArray]
    undecided: Callable[[], BoolArray]
    labels_of: Callable[[LogEntry], Sequence[str]]
    sources_of: Callable[[IntArray], Mapping[str, int]]
    finish: Callable[[Sequence[dict[str, object]]], Any]

    @property
    def n_rows(self) -> int:
        return len(self.answered)

    def rows(self, choice: str, above: float, *, with_undecided: bool = False) -> IntArray:
        """Return the numbers of the rows in an export.

        choice : one of CHOICES      above : of SURE, the least sure
        with_undecided : the disputed and pending rows, too
        """
        if choice == ALL:
            return np.arange(self.n_rows)
        chosen = self.answered if choice == ANSWERED else self.certainty() >= above
        return np.flatnonzero(chosen | self.undecided() if with_undecided else chosen)

    def counts(self, above: float, *, with_undecided: bool = False) -> dict[str, int]:
        """How many rows each of CHOICES holds."""
        return {choice: len(self.rows(choice, above, with_undecided=with_undecided)) for choice in CHOICES}

    def sources(self, choice: str = ALL, above: float = ABOVE, *, with_undecided: bool = False) -> Mapping[str, int]:
        """How many labels of the rows of this choice come from each source."""
        return self.sources_of(self.rows(choice, above, with_undecided=with_undecided))

    def whole(self, log: Iterable[LogEntry], names: Mapping[int, str]) -> Any:
        """The input of the format writers, with all rows. log : up to `seq`      names : {person: name}"""
        return self.finish(answers_in(log, names, self.labels_of))


@dataclass(frozen=True)
class Past:
    """Parts of an earlier state of a project, in addition to the entries of its log up to `seq`.

    moment : of that entry, of the project's beginning if there is none
    settings, table_hash : those of the project then      changes : of its classes and rows until then
    version : of a model that a worker trains, the one in place; None without
    """

    project_id: int
    seq: int
    moment: datetime
    settings: dict[str, Any]
    table_hash: str
    changes: tuple[ClassChange, ...]
    version: int | None


def answers_in(
    log: Iterable[LogEntry], names: Mapping[int, str], labels_of: Callable[[LogEntry], Sequence[str]]
) -> list[dict[str, object]]:
    """The answers that were not withdrawn, in order, in the form for `plcore.tables.writers.disambiguated`."""
    found: dict[int, dict[str, object]] = {}
    for entry in log:
        if entry.target_seq is not None:
            found.pop(entry.target_seq, None)
        elif entry.kind in SAYS_SOMETHING:
            found[entry.seq] = {
                "row": entry.row,
                "person": names.get(entry.person_id, ""),
                "kind": str(entry.kind),
                "labels": list(labels_of(entry)),
                "at": entry.at.isoformat(),  # to the last digit: two answers in one second are not one
                "seconds": entry.seconds,
                "model_version": None if entry.model_version < 0 else str(entry.model_version),
            }
    return list(found.values())


# The labels of a project as a card of its data set describes them.


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

    before, after : the candidates of rows at import and now, in words and figures
    labels : how many rows have each class, by answers and as given      set_aside : rows that are bad items
    test_rows, blind_checks : how many were drawn to measure the model      model : the current model
    """

    before: str
    after: str
    labels: tuple[LabelCount, ...]
    set_aside: int
    test_rows: int
    blind_checks: int
    measures: tuple[Measure, ...]
    model: str
