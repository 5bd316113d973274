"""Lines of libsvm and svmlight, `1,3 5:0.2 7:1`: the labels of a row, and its features that are not 0."""

from __future__ import annotations

import io
import json
import re

import numpy as np

from plcore.common.words import quoted
from plcore.tables.formats.reading import TableReading, check_size, json_candidates, refusal, text_table
from plcore.tables.formats.values import float_text
from plcore.tables.frame_text import numbers_as_text

_NUMBER = r"[+-]?(?:\d+\.?\d*|\.\d+)(?:[eE][+-]?\d+)?"
_LINE = re.compile(rf"\s*(?:{_NUMBER}(?:,{_NUMBER})*)?(?:\s+\d{{1,9}}:{_NUMBER})*\s*(?:#.*)?".encode())
_PAIR = re.compile(rb"\s\d{1,9}:")
_QUERY = re.compile(rb"\sqid:")
_SEEN = 20


def looks_like_libsvm(data: bytes) -> bool:
    """Whether the first lines of a text are all of labels and pairs of feature and value."""
    lines = [
        line for line in data[:100_000].splitlines()[:_SEEN] if line.strip() and not line.startswith(b"#")
    ]
    lines = [_QUERY.sub(b" 0:", line) for line in lines]
    return any(_PAIR.search(line) for line in lines) and all(
        _LINE.fullmatch(line) for line in lines[:-1] or lines
    )


def read_libsvm(data: bytes) -> TableReading:
    """The table of such lines: the labels as a JSON list of candidates, and a column `xK` for each feature K.

    Raises TableError: a line that is no such line, query ids, too many cells.
    """
    rows = 0
    for number, line in enumerate(data.split(b"\n"), start=1):
        if _QUERY.search(line):
            fix = "Remove the qid: pairs."
            raise refusal("the line has a query id (qid:), which is for rankings.", fix, line=number)
        if not _LINE.fullmatch(line):
            message = (
                f"the line is not labels and pairs as in 1,3 5:0.2: {quoted(line.decode(errors='replace'))}."
            )
            raise refusal(message, "Correct the line.", row=rows + 1, line=number)
        rows += bool(line.partition(b"#")[0].strip())
    from sklearn.datasets import load_svmlight_file  # 3 MB in every process that loads it

    largest = max((int(found) for found in re.findall(rb"\s(\d{1,9}):", data)), default=0)
    check_size(rows, largest + 2)
    try:
        X, y = load_svmlight_file(io.BytesIO(data), multilabel=True, zero_based=True)
    except ValueError as error:
        raise refusal(
            f"The lines cannot be read ({error}).", "Give the features of a line in rising order."
        ) from error
    dense = X.toarray()
    first = 0 if dense[:, :1].any() else 1  # most count features from 1
    names = [f"x{k}" for k in range(first, dense.shape[1])]
    lists = [
        json.dumps([float_text(float(label)) for label in labels]) if len(labels) else "" for labels in y
    ]
    columns = [numbers_as_text(np.ascontiguousarray(dense[:, k])) for k in range(first, dense.shape[1])]
    cells = text_table(["candidates", *names], [lists, *columns])
    return TableReading(cells, "libsvm lines", json_candidates("candidates", numbers=tuple(names)))
