"""A project of texts: three topics with their own words among shared words."""

from __future__ import annotations

import numpy as np
import pandas as pd

from plcore import LabelTable, LearnerSettings, Roles
from workflow.projects import managing
from workflow.seat import Seat
from workflow.server.home import Home

TOPICS = {
    "birds": ["feather", "wing", "nest", "egg"],
    "ships": ["anchor", "harbour", "sail", "crew"],
    "music": ["violin", "chord", "melody", "concert"],
}
SHARED = ["the", "old", "near", "with", "people", "today", "small", "and"]


def text_frame(n: int = 60) -> pd.DataFrame:
    """Texts of eight words, three of them of the topic; two candidates each, and the truth."""
    rng = np.random.default_rng(4)
    names = list(TOPICS)
    rows = []
    for number in range(n):
        topic = names[number % 3]
        words = [*rng.choice(TOPICS[topic], 3, replace=False), *rng.choice(SHARED, 5, replace=False)]
        other = names[(number + 1 + rng.integers(2)) % 3]
        candidates = "|".join(sorted({topic, other}))
        rows.append((f"t{number}", candidates, topic, " ".join(rng.permutation(words).tolist())))
    return pd.DataFrame(rows, columns=["id", "candidates", "truth", "text"])


def text_table(frame: pd.DataFrame | None = None) -> LabelTable:
    """The table of `text_frame`, or of another with its columns."""
    roles = Roles(candidates="candidates", id="id", truth="truth", text="text")
    return LabelTable.from_frame(text_frame() if frame is None else frame, roles)


def text_project(home: Home, owner: int, name: str = "texts", **settings: object) -> int:
    table = text_table()
    given = {"truth_role": "hidden", "n_neighbors": 4, "seed": 1, **settings}
    return managing.create_project(Seat(home, owner), name, table, LearnerSettings(**given))  # type: ignore[arg-type]
