"""Two projects about the same rows, linked: species, then behaviour."""

from __future__ import annotations

import numpy as np
import pandas as pd

from plcore import LabelTable, LearnerSettings, Roles
from workflow.projects import linking, managing
from workflow.seat import Seat

SPECIES, BEHAVIOUR = ("robin", "thrush", "wren"), ("feeding", "flying")


def two_labels_frame(n: int = 30, seed: int = 5) -> pd.DataFrame:
    """Rows with candidates of two questions; every third row needs no answer to the second."""
    rng = np.random.default_rng(seed)
    sure = np.arange(n) % 3 == 2
    return pd.DataFrame(
        {
            "id": [f"r{k}" for k in range(n)],
            "size": rng.normal(size=n).round(3),
            "species": ["|".join(sorted(rng.choice(SPECIES, 2, replace=False))) for _ in range(n)],
            "behaviour": ["flying" if one else "feeding|flying" for one in sure],
        }
    )


def table_of(frame: pd.DataFrame, column: str, **more: object) -> LabelTable:
    roles = {"id": "id", "numbers": ("size",), "separator": "|", **more}
    return LabelTable.from_frame(frame, Roles(candidates=column, **roles))  # type: ignore[arg-type]


def linked_projects(seat: Seat, checks: float = 0.0, **settings: object) -> list[Seat]:
    """The owner's seats at species and at behaviour, which has this share of blind checks."""
    frame = two_labels_frame()
    own = LearnerSettings(n_neighbors=3, strategy="random", **settings)  # type: ignore[arg-type]
    new = [
        managing.NewProject("species", table_of(frame, "species"), own),
        managing.NewProject(
            "behaviour", table_of(frame, "behaviour"), LearnerSettings(n_neighbors=3, control_share=checks, seed=4)
        ),
    ]
    ids = managing.create_projects(seat, new)
    linking.link(seat.at(ids[0]), ids[1:])
    return [seat.at(one) for one in ids]
