"""A project whose rows have many candidates and whose model is good: shortlists are short."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import replace

import numpy as np
import pandas as pd

from plcore import LabelTable, LearnerSettings, Roles
from tests.workflow.world import opened
from workflow.answering import loop, room
from workflow.projects import managing
from workflow.seat import Seat
from workflow.server.home import Home

CLASSES = ("ant", "bee", "cat", "dog", "eel", "fox", "gnu", "hen")


def long_sets(n: int = 200, seed: int = 0) -> tuple[pd.DataFrame, np.ndarray]:
    """(the frame, the true classes (n,)): eight classes far apart, six of which are candidates of each row, including
    the truth."""
    rng, m = np.random.default_rng(seed), len(CLASSES)
    truth = rng.integers(m, size=n)
    points = rng.normal(size=(n, m)) + 4 * np.eye(m)[truth]
    sets = [sorted({y, *rng.permutation([k for k in range(m) if k != y])[:5]}) for y in truth.tolist()]
    cells = ["|".join(CLASSES[k] for k in one) for one in sets]
    columns = {f"x{k}": points[:, k].round(4) for k in range(m)}
    return pd.DataFrame(
        {"id": [f"r{row}" for row in range(n)], "candidates": cells, "truth": np.array(CLASSES)[truth], **columns}
    ), truth


def shortlist_project(
    home: Home, owner: int, promise: float | None = 0.9, n: int = 200, **settings: object
) -> tuple[int, list[str]]:
    """(the project, the truth of each row). Nothing is held out except the blind checks, three of ten rows."""
    frame, truth = long_sets(n)
    numbers = tuple(name for name in frame if name.startswith("x"))
    roles = Roles(candidates="candidates", truth="truth", id="id", numbers=numbers)
    chosen = {"test_share": 0.0, "control_share": 0.3} | settings
    project = managing.create_project(
        Seat(home, owner),
        "long",
        LabelTable.from_frame(frame, roles),
        LearnerSettings(**chosen),  # type: ignore[arg-type]
    )
    want(Seat(home, owner, project), promise)
    return project, [CLASSES[y] for y in truth]


def want(seat: Seat, promise: float | None) -> None:
    """Set this promise in the settings."""
    room.change_room(seat, replace(room.room_of(seat), shortlist=promise))


def checks_left(home: Home, owner: int, project: int) -> list[int]:
    """The unanswered blind checks, in the order they were drawn."""
    with opened(home, owner, project) as learner:
        return [int(row) for row in learner.pool.control_left() if not learner.pool.answered[row]]


def answer_rows(seat: Seat, rows: Iterable[int], truth: list[str], *, none: Iterable[int] = ()) -> None:
    """Answer these drawn rows with the truth; some of them with "none of these"."""
    wrong = set(none)
    for row in rows:
        question = loop.ask_next(seat, row, drawn=True)
        kind, labels = ("none", []) if row in wrong else ("is", [truth[row]])
        loop.submit_answer(seat, question.token, kind, labels)
