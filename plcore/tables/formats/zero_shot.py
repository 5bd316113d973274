"""Shortlists of models that score given labels: Hugging Face's zero-shot pipelines, and long tables of scores.

Layouts: `{"sequence", "labels": [...], "scores": [...]}` (`ZeroShotClassificationPipeline`), a list of
`{"label", "score"}` under some name (image and audio pipelines with `top_k`), and tables `id, label, score, rank`.
"""

from __future__ import annotations

from typing import Any

import pandas as pd

from plcore.common.words import listed, quoted
from plcore.tables.columns import LARGEST, Finder
from plcore.tables.csv_text import LINE_INDEX
from plcore.tables.formats.candidate_rows import Row, rows_reading
from plcore.tables.formats.reading import TableReading, refusal
from plcore.tables.formats.record_values import Records, a_list, a_name, a_number, read_each, refuse
from plcore.tables.label_text import MISSING
from plcore.tables.problems import MAX_PROBLEMS, table_error

_LOOK = 50
_IDS = (
    "id", "item", "item_id", "row", "row_id", "file", "filename", "file_name", "filepath", "path", "image", "task",
    "custom_id", "sequence",
)  # fmt: skip
_LABELS = ("label", "class", "category", "prediction", "candidate", "candidate_label")
_SCORES = ("score", "probability", "prob", "p", "confidence")
_SAID = frozenset(("labels", "scores"))


class ZeroShot:
    """One record for each input, with the labels and the score of each."""

    name = "zero-shot classification"

    def fits(self, records: Records) -> bool:
        seen = records[:_LOOK]
        return bool(seen) and all(
            isinstance(one, dict) and all(isinstance(one.get(name), list) for name in _SAID) for one in seen
        )

    def read(self, records: Records) -> TableReading:
        """One row for each record; scores are weights. Raises TableError."""
        return rows_reading(read_each(records, _scored), self.name, row_id="id", text="sequence")


def _scored(record: dict[str, Any], row: int) -> Row:
    labels = a_list(record.get("labels"), row, "labels")
    scores = a_list(record.get("scores"), row, "scores")
    if len(labels) != len(scores):
        message = f"expected a score for each of the {len(labels)} labels, got {len(scores)}."
        raise refuse(row, "scores", message, "Write one number for each label, in the same order.")
    found = Row({name: value for name, value in record.items() if name not in _SAID})
    for place, (label, score) in enumerate(zip(labels, scores, strict=True)):
        found.name(
            a_name(label, row, f"labels[{place}]"), a_number(score, row, f"scores[{place}]", "a score")
        )
    return found


class LongScores:
    """Tables in which each row is one label of an item with its score."""

    name = "table with a scored label in each row"

    def fits(self, cells: pd.DataFrame) -> bool:
        return _columns(cells) is not None

    def read(self, cells: pd.DataFrame) -> TableReading:
        """One row for each item, in the order in which they first occur; columns that are the same in all rows of an
        item describe it. Raises TableError."""
        columns = _columns(cells)
        if columns is None:
            raise refusal(
                f"No labels with scores were found in the columns {listed([str(name) for name in cells.columns])}.",
                "Name the columns id, label and score.",
            )
        item, label, score = columns
        finder = Finder(cells.index.tolist() if cells.index.name == LINE_INDEX else None)
        names = cells[item].str.strip()
        others = [str(name) for name in cells.columns if str(name) not in columns]
        same = [name for name in others if bool((cells[name].groupby(names).nunique() == 1).all())]
        dropped = [name for name in others if name not in same and name.strip().lower() != "rank"]
        notes = (
            [f"Columns {listed(dropped)} differ between labels of one item and were left out."]
            if dropped
            else []
        )
        rows: dict[str, Row] = {}
        kept = cells[[item, *same]].to_dict("records")
        lines = zip(names, cells[label].str.strip(), cells[score].str.strip(), strict=True)
        for place, (name, text, number) in enumerate(lines):
            row = rows.setdefault(name, Row({str(column): value for column, value in kept[place].items()}))
            weight = _score(number)
            if len(finder.problems) >= MAX_PROBLEMS:
                break
            if not name:
                finder.add(place, item, "the row names no item.", "Write its id, or remove the row.")
            elif not text:
                finder.add(place, label, "the label is empty.", "Write it, or remove the row.")
            elif text in MISSING:
                message = f"{quoted(text)} is no label: programs write it where they have nothing."
                finder.add(place, label, message, "Remove the row, or give the class another name.")
            elif text in row.weights:
                message = f"{quoted(name)} has the label {quoted(text)} twice."
                finder.add(place, label, message, "Keep one of the two scores.")
            elif weight is None:
                message = f"expected a score, a number from 0 on, got {quoted(number)}."
                finder.add(place, score, message, "Write such a number, or remove the row.")
            else:
                row.name(text, weight)
        if finder.problems:
            raise table_error(finder.problems)
        return rows_reading(list(rows.values()), self.name, describing=same, row_id=item, notes=notes)


def _score(text: str) -> float | None:
    try:
        score = float(text)
    except ValueError:
        return None
    return score if 0 <= score <= LARGEST else None


def _columns(cells: pd.DataFrame) -> tuple[str, str, str] | None:
    """The columns of items, labels and scores; None where they are not there, or no item has two labels."""
    low = {str(name).strip().lower(): str(name) for name in reversed(cells.columns)}
    found = [next((low[name] for name in names if name in low), None) for names in (_IDS, _LABELS, _SCORES)]
    item, label, score = found
    if item is None or label is None or score is None:
        return None
    return (item, label, score) if bool(cells[item].duplicated().any()) else None
