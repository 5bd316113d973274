"""Another model's scores for rows that a table has: they take the place of the weights of these rows' candidates. Which
classes are candidates never changes."""

from __future__ import annotations

import dataclasses
from collections.abc import Mapping, Sequence
from typing import NamedTuple

import numpy as np

from plcore.tables.candidates import MAX_WEIGHTS
from plcore.tables.columns import LARGEST
from plcore.tables.growing import Grown, labels_of_no_rows
from plcore.tables.problems import Problem, TableError
from plcore.tables.table import LabelTable

LEAST_SHARE = 1e-9
"""What a candidate weighs at least, beside the heaviest of its row: one that a model gives nothing stays one."""
SMALLEST = 1 / LARGEST
"""The heaviest candidate of a row weighs this at least, or nothing: a share of less would round to no weight at all."""


class Rescored(NamedTuple):
    """grown : the table with these weights, and no new rows      n_weighed : rows that have other weights by it
    n_silent : rows none of whose candidates has a score of SMALLEST or more: they keep the weights that they had
    n_outside : rows whose highest score is that of a class which is none of their candidates
    """

    grown: Grown
    n_weighed: int
    n_silent: int
    n_outside: int


def with_scores(
    table: LabelTable,
    scores: Mapping[int, Mapping[str, float]],
    columns: Mapping[str, Sequence[int]],
    scored_by: str,
    classes: Mapping[str, str] | None = None,
) -> Rescored:
    """The table whose candidates weigh in these rows what another model says of them; other rows keep their weights.

    scores : {row: {name of a class: its score}}, finite and at least 0; a candidate that is not named has 0
    columns : {name: places in `table.classes` that it stands for}: of a class into which others were merged several,
        which share its score evenly where they are candidates; of one that came later none
    scored_by : what the model is called, kept in the roles      classes : as of `with_rows`

    Raises TableError: the table holds label vectors, or its weights would not fit the memory.
    """
    n, m = table.n_rows, len(table.classes)
    if table.roles.label_vectors:
        message = "scores weigh the candidates of one true label; this table holds label vectors."
        raise TableError(
            Problem(None, None, None, message, "Send them to a project of one true label among candidates.")
        )
    if n * m > MAX_WEIGHTS:
        message = f"{n:,} rows and {m:,} classes make {n * m:,} weights; at most {MAX_WEIGHTS:,} are kept."
        raise TableError(Problem(None, None, None, message, "Make a project of fewer rows or classes."))
    labels = labels_of_no_rows(table, classes)
    had = labels["candidate_weights"]
    weights = np.array(labels["candidates"] if had is None else had, dtype=float)
    silent = outside = 0
    for row, of_row in scores.items():
        inside = table.candidates[row]
        own = np.zeros(m)
        for name, score in of_row.items():
            among = [place for place in columns[name] if inside[place]]
            own[among] += score / max(len(among), 1)
        best = max(of_row, key=of_row.__getitem__, default=None)
        outside += best is not None and of_row[best] > 0 and not inside[list(columns[best])].any()
        heaviest = own.max()
        if heaviest < SMALLEST:
            silent += 1
        else:
            weights[row, :m] = np.where(inside, np.maximum(own, heaviest * LEAST_SHARE), 0.0)
    n_weighed = len(scores) - silent
    if n_weighed:
        labels |= {
            "candidate_weights": weights,
            "roles": dataclasses.replace(table.roles, scored_by=scored_by),
        }
    grown = dataclasses.replace(table, **labels)
    return Rescored(Grown(grown, 0, (), (), (), ()), n_weighed, silent, int(outside))


def is_score(value: object) -> bool:
    """Whether this is a number that can weigh a candidate: finite, at least 0, and none too large to calculate with."""
    return type(value) in (int, float) and 0 <= value <= LARGEST  # type: ignore[operator]


def why_no_score(value: object) -> tuple[str, str]:
    """What is wrong with a value that is no score, and the fix."""
    if type(value) in (int, float) and value > LARGEST:  # type: ignore[operator]
        return f"is more than {LARGEST:g}", "Divide all scores of the row by the largest of them."
    return (
        "is no number of 0 or more",
        "Send probabilities or counts; of log-probabilities and scores below 0 take the exponential first.",
    )
