"""Lists of addresses with labels and no header, as Google's AutoML and Vertex AI take them."""

from __future__ import annotations

import csv
import io
import json
import re

import pandas as pd

from plcore.arrays.words import quoted
from plcore.tables.problems import refusal
from plcore.tables.readers.reading import TableReading
from plcore.tables.text.csv import LINE_INDEX

FORMAT = "list of addresses without a header"
_USE = r'"?(?:TRAIN(?:ING)?|TEST|VALIDAT(?:E|ION)|UNASSIGNED)"?'
_ADDRESS = r'"?(?:gs|s3)://[^,\r\n]+'
_STARTS = re.compile(rf"(?:{_ADDRESS}|{_USE},\S[^\r\n]*[\r\n]+{_USE}),", re.ASCII)
_NUMBER = re.compile(r"[+-]?\d*\.\d+", re.ASCII)


def is_list_of_addresses(data: bytes) -> bool:
    """Whether a text (UTF-8) begins with an address, or with the parts of a data set that two rows belong to."""
    return _STARTS.match(data[:10_000].decode(errors="replace")) is not None


def read_addresses(data: bytes) -> TableReading:
    """Read one row for each line: perhaps the part of the data set, then the item, then its labels.

    Raises TableError for the corners of boxes among the labels.
    """
    used = re.compile(_USE)
    rows: list[tuple[str, str, list[str]]] = []
    lines = []
    reader = csv.reader(io.StringIO(data.decode(), newline=""))
    try:
        found = [(reader.line_num, [cell.strip() for cell in line]) for line in reader]
    except csv.Error as error:
        raise refusal(f"The list cannot be read ({error}).", "Export it again.", line=reader.line_num) from error
    for number, cells in found:
        if not any(cells):
            continue
        part = cells.pop(0) if used.fullmatch(cells[0]) else ""
        item, *labels = cells or [""]
        if odd := next(filter(_NUMBER.fullmatch, labels), None):
            message = f"expected labels behind the address, got {quoted(odd)}, as of the corner of a box."
            fix = "Boxes are not read: write one line for each item, with its labels."
            raise refusal(message, fix, line=number)
        rows.append((part, item, list(filter(None, labels))))
        lines.append(number)
    index = pd.Index(lines, name=LINE_INDEX)
    alone = all(len(labels) < 2 for *_, labels in rows)  # in other tools' lists, a cell may list several
    texts = ["".join(labels) if alone else json.dumps(labels, ensure_ascii=False) for *_, labels in rows]
    named = {"ml_use": [part for part, *_ in rows], "item": [item for _, item, _ in rows], "labels": texts}
    table = pd.DataFrame(named, dtype="str", index=index)
    return TableReading(table if any(named["ml_use"]) else table.drop(columns="ml_use"), FORMAT)
