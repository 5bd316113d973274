"""A table whose built-in features and vectors disagree."""

from __future__ import annotations

import numpy as np
import pandas as pd

from plcore import LabelTable, Roles

CLASSES = ("owl", "robin", "wren")


def deceived_table(n: int = 150, *, hard: bool = False) -> tuple[LabelTable, np.ndarray]:
    """A table whose vectors tell the class. Its texts tell nothing but the candidates: the truth, and one that uses
    the text. hard : whether the vectors are noisy and three
    columns of skewed numbers, too, tell nothing"""
    rng = np.random.default_rng(0)
    y, said = rng.integers(3, size=n), rng.integers(3, size=n)
    vectors = np.eye(3)[y] + rng.normal(scale=0.6 if hard else 0.1, size=(n, 3))
    sets = ["|".join(sorted({CLASSES[a], CLASSES[b]})) for a, b in zip(y, said, strict=True)]
    words = [f"seen near {('pond', 'oak', 'barn')[b]} at {rng.integers(9)}" for b in said]
    cells = pd.DataFrame({"c": sets, "t": words}, dtype="str")
    names = ("x", "y", "z") if hard else ()
    for name in names:
        cells[name] = [f"{value:.6f}" for value in rng.exponential(size=n) ** 2]
    roles = Roles(candidates="c", text="t", embedding="v", numbers=names)
    return LabelTable.from_cells(cells, roles, arrays={"v": vectors}), y
