"""Files with votes of labelling functions: WRENCH's JSON, and tables with a column for each function.

WRENCH (Zhang et al., NeurIPS 2021): `{"0": {"label": 1, "weak_labels": [1, -1, 0], "data": {"text": ...}}}`, with the
names of the classes in a `label.json` of its own; or the same as rows with the fields `text`, `label`, `weak_labels`.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import Any

import numpy as np
import pandas as pd

from plcore.tables.formats.reading import TableReading, refusal
from plcore.tables.formats.record_values import (
    Records,
    a_list,
    an_object,
    cell_value,
    read_each,
    refuse,
    shown,
)
from plcore.tables.formats.weak_labels import ABSTAIN, label_matrix

_LOOK = 50
_FUNCTION = re.compile(r"(lf|labell?ing_function)[_ .\-]?\w.*", re.IGNORECASE)
_NUMBER = re.compile(r"-1|[0-9]{1,5}", re.ASCII)


class Wrench:
    """Records with `weak_labels`: a list with the vote of each function."""

    name = "WRENCH JSON"

    def fits(self, records: Records) -> bool:
        seen = _records(records)[:_LOOK]
        return bool(seen) and all(
            isinstance(one, dict) and isinstance(one.get("weak_labels"), list) for one in seen
        )

    def read(self, records: Records, classes: Sequence[str] | None = None) -> TableReading:
        """One row for each record; `label` is the true label. Raises TableError.

        classes : the names in `label.json`, by number
        """
        items = _records(records)
        found = read_each(items, _item)
        if not found:
            raise refusal("There are no rows in it.", "Choose a file with at least one record.")
        votes = [votes for votes, _, _ in found]
        lengths = {len(one) for one in votes}
        if len(lengths) > 1:
            row = next(row for row, one in enumerate(votes, start=1) if len(one) != len(votes[0]))
            message = f"expected {len(votes[0])} votes as in the first row, got {len(votes[row - 1])}."
            raise refuse(row, "weak_labels", message, "Write a vote for each function, -1 where it abstains.")
        names = dict.fromkeys(name for _, _, cells in found for name in cells)
        columns = {name: [cells.get(name) for _, _, cells in found] for name in names}
        truth = np.array([truth for _, truth, _ in found], dtype=np.int64)
        matrix = np.array(votes, dtype=np.int64).reshape(len(found), -1)
        return label_matrix(matrix, classes=classes, columns=columns, truth=truth, format_name=self.name)


def _records(records: Records) -> Sequence[Any]:
    """The records; those of a file that is one object with a record under each number."""
    if len(records) == 1 and isinstance(records[0], dict) and "weak_labels" not in records[0]:
        inside = records[0]
        if inside and all(isinstance(one, dict) and "weak_labels" in one for one in inside.values()):
            return [{"id": number, **one} for number, one in inside.items()]
    return records


def _item(record: dict[str, Any], row: int) -> tuple[list[int], int, dict[str, Any]]:
    """The votes, the true label and the cells of one record. A list of numbers becomes a column for each."""
    votes = [
        _vote(vote, row, f"weak_labels[{n}]")
        for n, vote in enumerate(a_list(record.get("weak_labels"), row, "weak_labels"))
    ]
    truth = ABSTAIN if record.get("label") is None else _vote(record["label"], row, "label")
    data = {} if record.get("data") is None else an_object(record["data"], row, "data")
    cells: dict[str, Any] = {}
    for name, value in {
        **{k: v for k, v in record.items() if k not in ("label", "weak_labels", "data")},
        **data,
    }.items():
        if isinstance(value, list) and value and all(type(one) in (int, float) for one in value):
            cells |= {f"{name} {number}": one for number, one in enumerate(value, start=1)}
        else:
            cells[name] = cell_value(value)
    return votes, truth, cells


def _vote(value: Any, row: int, where: str) -> int:
    if isinstance(value, int) and not isinstance(value, bool) and ABSTAIN <= value < 1_000_000:
        return value
    message = f"expected a class number, -1 where there is none, got {shown(value)}."
    raise refuse(row, where, message, "Write a whole number.")


class LabelMatrixTable:
    """Tables in which each function has a column of class numbers, called `lf_...`."""

    name = "table of labelling functions"

    def fits(self, cells: pd.DataFrame) -> bool:
        names = _functions(cells)
        texts = [cells[name].str.strip() for name in names]
        return (
            len(names) >= 2
            and all(bool(text.str.fullmatch(_NUMBER).all()) for text in texts)
            and any(bool((text == "-1").any()) for text in texts)
        )

    def read(self, cells: pd.DataFrame) -> TableReading:
        """One row for each row; all other columns are kept. Raises TableError."""
        names = _functions(cells)
        others = [name for name in cells.columns if name not in names]
        for name in names:
            wrong = ~cells[name].str.strip().str.fullmatch(_NUMBER)
            if bool(wrong.any()):
                row = int(np.flatnonzero(wrong)[0])
                message = f"expected a class number, -1 for none, got {shown(cells[name].iloc[row])}."
                raise refuse(row + 1, name, message, "Write a whole number.")
        if not names:
            raise refusal("No column is called lf_...", "Call the columns of the functions lf_ and a name.")
        votes = np.column_stack([cells[name].str.strip().astype(np.int64) for name in names])
        columns = {str(name): cells[name].tolist() for name in others}
        return label_matrix(votes, functions=names, columns=columns, format_name=self.name)


def _functions(cells: pd.DataFrame) -> list[str]:
    return [str(name) for name in cells.columns if _FUNCTION.fullmatch(str(name).strip())]
