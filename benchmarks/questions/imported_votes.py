"""Votes that a table came with: labels by counts and by Dawid-Skene, the two weights that an import can give."""

from __future__ import annotations

import numpy as np
import pandas as pd

from benchmarks.harness import Table, page, sized
from benchmarks.questions.crowd import SEEDS, SETS, sets, vote
from plcore import LabelTable, Roles

TITLE = "Votes that a table came with"
PACKAGES = ("numpy", "numba", "pandas")
PEOPLE, OVERLAPS = sized(((5, 10, 20), (2, 3, 5)), tiny=((5,), (2,)))


def read(rows: np.ndarray, who: np.ndarray, said: np.ndarray, people: int, weights: str) -> LabelTable:
    """The table of these votes (v,), a column for each annotator, as the Import page reads it."""
    names = [f"annotator_{person}" for person in range(people)]
    cells = np.full((int(rows.max()) + 1, people), "", dtype=object)
    cells[rows, who] = [f"c{label:02}" for label in said]
    frame = pd.DataFrame(cells, columns=names, dtype="str").assign(w="1")
    return LabelTable.from_cells(frame, Roles(annotators=tuple(names), numbers=("w",), vote_weights=weights))


def right(table: LabelTable, y: np.ndarray) -> float:
    """How often the heaviest candidate is the true one; where several are, what drawing one gets right on average."""
    weights = table.candidates * 1.0 if table.candidate_weights is None else table.candidate_weights
    truth = np.array([f"c{label:02}" for label in y])
    best = weights == weights.max(axis=1, keepdims=True)
    hits = best & (np.array(table.classes) == truth[:, None])
    return float((hits.any(axis=1) / best.sum(axis=1)).mean())


def measure() -> str:
    table, better = Table("set | people | votes a row | counts | Dawid-Skene | gain"), 0
    for place, name in enumerate(SETS):
        for people, overlap in ((one, other) for one in PEOPLE for other in OVERLAPS):
            found = []
            for seed in range(SEEDS):
                _, y, candidates = list(sets(seed))[place]
                votes = vote(
                    y, candidates, people, overlap, False, np.random.default_rng([seed, people, overlap])
                )
                found.append(
                    [right(read(*votes, people, weights), y) for weights in ("counts", "dawid-skene")]
                )
            counts, believed = np.mean(found, axis=0)
            better += believed - counts >= 0.01
            table.add(name, people, overlap, f"{counts:.3f}", f"{believed:.3f}", f"{believed - counts:+.3f}")
    return page(
        f"""How often the heaviest candidate of a row is the true one. Annotators are right in 45 to 95 %, each with
mistakes of their own, and choose among all classes; the candidates of a row are the labels that were voted. Means of
{SEEDS} runs. Dawid-Skene is better by 0.01 and more in **{better} of {len(table.rows)}** lines.""",
        table,
    )
