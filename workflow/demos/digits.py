"""The demo that a first start makes: scikit-learn's handwritten digits with candidate sets.

Candidates come from the Bayes contamination model (Nguyen, Destercke and Masson, AAAI 2017, section 5), in
which the labels a classifier finds likely are the ones that join; a third of the rows are held out as truth.
"""

from __future__ import annotations

import base64
import io

import numpy as np
import pandas as pd
from PIL import Image
from sklearn.datasets import load_digits

from db import people, projects
from plcore import LabelTable, LearnerSettings, Roles
from plcore.evaluation import contaminate
from workflow.projects.managing import ProjectNameError, create_project
from workflow.seat import Seat
from workflow.server.home import Home

NAME = "Demo: handwritten digits"
DESCRIPTION = (
    "1,797 small scans of handwritten digits. Nine of ten rows carry several candidate digits; "
    "your answers make them exact. A third of the rows is held out to measure accuracy."
)
LABELS = tuple("0123456789")
"""Each is its own key."""
CONTAMINATED_SHARE = 0.9
JOIN_PROBABILITY = 0.9
SEED = 7
SETTINGS = LearnerSettings(n_neighbors=5, truth_role="hidden")
"""Truth that is given would leave nothing to ask."""


def ensure_demo(home: Home) -> int | None:
    """Make the demo project if no project was ever made. Returns its number, None if nothing was made."""
    with home.database.read() as session:
        if projects.count(session):
            return None
        owner = people.first_owner(session)
    if owner is None:
        raise LookupError("The demo project needs an owner. Fix: call ensure_owner(home) first.")
    try:
        return create_project(Seat(home, owner.id), NAME, demo_table(), SETTINGS, DESCRIPTION)
    except ProjectNameError:
        return None  # another process of the same home has made it a moment ago


def demo_table() -> LabelTable:
    """The table of its project."""
    return LabelTable.from_cells(*demo_cells())


def demo_cells() -> tuple[pd.DataFrame, Roles]:
    """The digits as a file someone could have uploaded: image, candidates, truth and 64 pixel columns."""
    digits = load_digits()
    candidates = contaminate(
        digits.target, model="bayes", p=CONTAMINATED_SHARE, q=JOIN_PROBABILITY, X=digits.data, random_state=SEED
    )
    pixels = [f"pixel_{row}_{column}" for row in range(8) for column in range(8)]
    cells = pd.DataFrame(digits.data.astype(int).astype(str), columns=pixels)
    cells.insert(0, "image", [_png(image) for image in digits.images])
    cells.insert(1, "candidates", ["|".join(LABELS[digit] for digit in np.flatnonzero(row)) for row in candidates])
    cells.insert(2, "digit", [LABELS[digit] for digit in digits.target])
    return cells.astype("str"), Roles(
        candidates="candidates", separator="|", truth="digit", image="image", numbers=tuple(pixels)
    )


def _png(image: np.ndarray) -> str:
    grey = Image.fromarray((255 - image * (255 / 16)).astype(np.uint8))
    out = io.BytesIO()
    grey.save(out, "PNG")
    return "data:image/png;base64," + base64.b64encode(out.getvalue()).decode()
