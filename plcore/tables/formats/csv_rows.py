"""The disambiguated table as CSV: the original columns, their text exactly as it came, then what became of each row.

`winnow_candidates_before`, `winnow_candidates` the candidates then and now; `winnow_weights` what speaks for those now,
where anything was weighed; `winnow_label`; `winnow_source` where it comes from; `winnow_confidence` its probability;
`winnow_annotator`, `winnow_answered_at` and `winnow_seconds` of the answer that decided; `winnow_model_version` where a
model did; `winnow_outside`, where blind checks have shown it to happen, how likely the truth is none of the candidates.
Where no column holds the ids, `winnow_id` does. Where several people answer a row, `winnow_people` is how
many did, and `winnow_answers` what each said, verdicts too: a JSON list of objects with `person`, `kind` and `labels`.
"""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, BinaryIO

import numpy as np
import pyarrow as pa

from plcore.common.types import FloatArray
from plcore.tables.csv_writing import csv_header, csv_rows
from plcore.tables.formats.disambiguated import DECIDING, VERDICT, Disambiguated, Tell, names_beside
from plcore.tables.formats.record_values import json_text

MARKS = ("|", ";", ",", "/", "\t")
"""What may stand between the labels of a cell, in the order in which they are tried."""

ID = "winnow_id"
WEIGHTS = "winnow_weights"
OUTSIDE = "winnow_outside"
ADDED = (
    ID,
    "winnow_candidates_before",
    "winnow_candidates",
    WEIGHTS,
    "winnow_label",
    "winnow_source",
    "winnow_confidence",
    "winnow_annotator",
    "winnow_answered_at",
    "winnow_seconds",
    "winnow_model_version",
    OUTSIDE,
    "winnow_people",
    "winnow_answers",
)
PEOPLES = set(DECIDING) - {VERDICT}
"""Kinds of answers by which somebody counts as one who answered."""
OF_SEVERAL = {"winnow_people", "winnow_answers"}
"""Columns of tables that several people answer."""


@dataclass(frozen=True)
class CellForm:
    """How the labels of a cell are listed: with this mark between them; None: as JSON, which reads back whatever the
    labels hold. `plcore.tables.roles.Roles` is told by `form` and `separator`."""

    separator: str | None

    def form(self, *, weighted: bool = False) -> str:
        """`Roles.form` of such cells."""
        if self.separator is None:
            return "json"
        return "weighted" if weighted else "list"

    def listed(self, names: Collection[str]) -> str:
        """A cell of labels; empty where there are none."""
        if self.separator is None:
            return json_text(list(names)) if names else ""
        return self.separator.join(names)

    def weighted(self, weights: Mapping[str, float | None]) -> str:
        """A cell of labels with their weights, as in `a:0.6|b:0.3`."""
        if self.separator is None:
            return json_text(weights) if weights else ""
        return self.separator.join(f"{name}:{weight!r}" for name, weight in weights.items())


def cell_form(classes: Sequence[str]) -> CellForm:
    """The first mark that no label holds; JSON where none is free, or where a label has several lines."""
    if any("\n" in name for name in classes):
        return CellForm(None)
    return CellForm(next((mark for mark in MARKS if not any(mark in name for name in classes)), None))


def write_csv(table: Disambiguated, file: BinaryIO, tell: Tell) -> None:
    """Write the table as CSV (UTF-8, comma, LF), some thousand rows at a time."""
    form = cell_form(table.classes)
    absent = ({ID} if table.id_column() is not None else set()) | (
        {WEIGHTS} if table.weights is None else set()
    )
    absent |= set() if table.several else OF_SEVERAL
    absent |= {OUTSIDE} if table.outside is None else set()
    added = [name for name in ADDED if name not in absent]
    columns = [str(name) for name in table.cells.columns]
    new_names = names_beside(columns, added)
    file.write(csv_header([*(new_names.get(name, name) for name in columns), *added]))
    done = 0
    for piece in table.pieces():
        found = _added(piece, form)
        originals = [pa.array(piece.cells.iloc[:, place], pa.large_string()) for place in range(len(columns))]
        file.write(csv_rows([*originals, *(pa.array(found[name], pa.large_string()) for name in added)]))
        done += len(piece.ids)
        tell(done)


def _added(piece: Disambiguated, form: CellForm) -> dict[str, Sequence[str] | pa.LargeStringArray]:
    """The cells of the columns that are added."""
    rows = range(len(piece.ids))
    given = piece.answers_by_row() if piece.several else {}
    by, version = piece.deciding(), piece.model_version or ""
    names = np.array([*piece.classes, ""], dtype=object)  # the last is that of an open label
    weighted = [] if piece.weights is None else piece.weighted(after=True)
    cells = (
        piece.ids,
        piece.listed(form.listed),
        piece.listed(form.listed, after=True),
        [form.weighted(weights) for weights in weighted],
        names[np.maximum(piece.label, -1)],
        piece.source,
        _shares(piece.probability),
        [_said(answer, "person") for answer in by],
        [_said(answer, "at") for answer in by],
        [_said(answer, "seconds") for answer in by],
        np.where(piece.source == "model", version, "").astype(object),
        [] if piece.outside is None else _shares(piece.outside),
        _n_people(given, rows) if piece.several else [],
        [_answers(given.get(row, ())) for row in rows] if piece.several else [],
    )
    return dict(zip(ADDED, cells, strict=True))


def _shares(numbers: FloatArray) -> list[str]:
    return ["" if share != share else f"{share:.4f}" for share in numbers.tolist()]


def _n_people(given: Mapping[int, Sequence[dict[str, Any]]], rows: range) -> list[str]:
    """How many people answered each row."""
    return [str(len({one["person"] for one in given.get(row, ()) if one["kind"] in PEOPLES})) for row in rows]


def _answers(given: Sequence[dict[str, Any]]) -> str:
    """What each person said, in order; empty where nobody did."""
    parts = ("person", "kind", "labels")
    return json_text([{name: one[name] for name in parts} for one in given]) if given else ""


def _said(answer: dict[str, Any] | None, name: str) -> str:
    value = None if answer is None else answer.get(name)
    return "" if value is None else str(value)
