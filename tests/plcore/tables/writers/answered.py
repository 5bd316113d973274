"""Answered detector tables, as the writers receive them."""

from __future__ import annotations

from functools import lru_cache
from typing import Any

import numpy as np

from plcore import LabelTable
from plcore.tables.writers.disambiguated import Disambiguated
from tests.plcore.tables.readers.tools.detector_tables import BIRDNET, read_detections
from tests.plcore.tables.writers.tables import opens

AT = "2026-05-01T10:20:30.5+00:00"


@lru_cache(64)
def _read(data: bytes) -> LabelTable:
    return opens(read_detections(data))


def answered(
    data: bytes = BIRDNET,
    answers: dict[int, tuple[str, ...] | str] | None = None,
    renamed: dict[str, str] | None = None,
    **columns: str,
) -> Disambiguated:
    """The items of a table of detections with ann's answers about some.

    answers : {row: the labels that she left}, or a kind of answer that leaves none; by their present names
    renamed : {class: its present name}
    columns : cells that all rows have in addition to
    """
    table, renamed = _read(data), renamed or {}
    classes = tuple(renamed.get(name, name) for name in table.classes)
    after, source = table.candidates.copy(), np.full(table.n_rows, "open", dtype=object)
    given: list[dict[str, Any]] = []
    for row, said in (answers or {}).items():
        labels = [] if isinstance(said, str) else list(said)
        kind = said if isinstance(said, str) else "is" if len(said) == 1 else "among"
        given.append(
            {
                "row": row,
                "person": "ann",
                "kind": kind,
                "labels": labels,
                "at": AT,
                "seconds": 1.0,
                "model_version": None,
            }
        )
        source[row] = "bad" if kind == "bad" else "person"
        if kind not in ("skip", "unsure"):
            after[row] = [name in labels for name in classes]
    ones = after.sum(axis=1) == 1
    return Disambiguated(
        ids=table.ids,
        cells=table.cells.assign(**columns),
        classes=classes,
        candidates_before=table.candidates,
        candidates_after=after,
        weights=table.candidate_weights,
        label=np.where(ones, after.argmax(axis=1), -1),
        source=source,
        probability=np.full(table.n_rows, np.nan),
        answers=given,
        renamed=renamed,
    )
