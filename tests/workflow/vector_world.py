"""A small project of label vectors with unknown cells, whose truth the tests know."""

from __future__ import annotations

from functools import cache

import numpy as np
import pandas as pd

from plcore import LabelTable, Roles
from plcore.loop.label_vectors.settings import LabelVectorSettings
from workflow.answering import loop
from workflow.kinds.label_vectors.showing import ShownVector
from workflow.projects import managing
from workflow.projects.standing import Saved
from workflow.seat import Seat
from workflow.server.home import Home

LABELS = ("beach", "city", "field", "forest", "sunset")
NUMBERS = ("w", "x", "y", "z")
ROLES = Roles(label_columns=LABELS, label_vectors=True, id="id", numbers=NUMBERS)


def truth_frame(n: int = 40, seed: int = 1) -> pd.DataFrame:
    """(n, 5) of 0 and 1 that depend on the features."""
    random = np.random.default_rng(seed)
    features = random.normal(size=(n, len(NUMBERS)))
    right = features @ random.normal(size=(len(NUMBERS), len(LABELS))) > 0.4
    frame = pd.DataFrame(features.round(4), columns=list(NUMBERS))
    frame[list(LABELS)] = right.astype(int)
    frame.insert(0, "id", [f"r{row}" for row in range(n)])
    return frame


def vector_frame(n: int = 40, seed: int = 1, full: int = 12) -> pd.DataFrame:
    """`truth_frame` with 60% of the cells emptied in all rows except the first `full`. All cells are text."""
    frame = truth_frame(n, seed).astype(str)
    holes = np.random.default_rng(seed + 1).random((n, len(LABELS))) < 0.6
    holes[:full] = False
    frame[list(LABELS)] = frame[list(LABELS)].where(~holes, "")
    return frame.astype("str")


@cache
def vector_table() -> LabelTable:
    """The table of `vector_frame`, immutable and shared by all tests."""
    return LabelTable.from_cells(vector_frame(), ROLES)


def vector_project(home: Home, owner: int, name: str = "scenes", **settings: object) -> int:
    made = LabelVectorSettings(**{"refresh_every": 3, **settings})  # type: ignore[arg-type]
    return managing.create_project(Seat(home, owner), name, vector_table(), made)


@cache
def true_labels(row: int) -> frozenset[str]:
    """The labels that are right for this row."""
    cells = truth_frame().iloc[row]
    return frozenset(label for label in LABELS if cells[label])


def answer_truly(home: Home, person: int, project: int, question: ShownVector | None = None) -> Saved:
    """Answer this question, or the person's next one, with the truth."""
    question = question or loop.next_question(Seat(home, person, project))
    assert question is not None
    right = true_labels(question.view.row)
    if question.label is None:
        return loop.submit_answer(
            Seat(home, person, project), question.token, "labels", sorted(right), shown=question.shown
        )
    kind = "yes" if question.label in right else "no"
    return loop.submit_answer(Seat(home, person, project), question.token, kind, shown=question.shown)
