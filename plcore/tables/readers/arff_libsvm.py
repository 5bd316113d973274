"""Text formats of benchmarks: ARFF (Weka, MULAN, MEKA), and the lines of libsvm, svmlight and fastText."""

from __future__ import annotations

import html
import io
import json
import re
from collections.abc import Sequence
from typing import Any

import arff
import numpy as np

from plcore.arrays.words import listed, quoted
from plcore.tables.problems import check_size, refusal
from plcore.tables.readers.reading import TableReading, cell_text, float_text, json_candidates, text_table
from plcore.tables.roles.roles import Roles
from plcore.tables.text.frames import numbers_as_text

# Possessive, because over a million blank lines other patterns would backtrack through all ways to split them.
_START = re.compile(rb"(?:[^\S\n]*+(?:%[^\n]*+)?\n)*+\s*+@relation\b", re.IGNORECASE)
_SPARSE = re.compile(r"^[^\S\n]*+@data\b[^\n]*+\n(?:[^\S\n]*+(?:%[^\n]*+)?\n)*+\s*+\{", re.IGNORECASE | re.MULTILINE)
_LABEL = re.compile(r"<label\s[^>]*?name\s*=\s*(?:\"([^\"]*)\"|'([^']*)')", re.IGNORECASE)
_MEKA = re.compile(r"-C\s+(-?\d+)")
_NUMBERS = ("NUMERIC", "REAL", "INTEGER")


def looks_like_arff(data: bytes) -> bool:
    """Whether a text (UTF-8) starts like ARFF."""
    return _START.match(data[:100_000]) is not None


def read_arff(data: bytes, labels_xml: str | None = None) -> TableReading:
    """Read the table of an ARFF file (UTF-8), dense or sparse. `?` is an empty cell; for a label, it means "not asked".

    labels_xml : MULAN's list of labels, the text of an XML file
    Raises TableError, with the line: invalid ARFF, or an XML file with other attributes.
    """
    text = data.decode()
    sparse = _SPARSE.search(text) is not None
    try:
        found = arff.loads(text, return_type=arff.LOD if sparse else arff.DENSE)
    except arff.ArffException as error:
        line = getattr(error, "line", None)
        message = f"This is not valid ARFF: {str(error)[:200].rstrip('.')}."
        line = line if isinstance(line, int) and line > 0 else None
        raise refusal(message, "Correct the line, or export the table again.", line=line) from error
    except MemoryError:
        raise
    except Exception as error:  # liac-arff raises various errors for bad lines
        raise refusal(f"This is not valid ARFF ({str(error)[:200]}).", "Export the table again.") from error
    attributes: Sequence[tuple[str, object]] = found["attributes"]
    rows: Sequence[Any] = found["data"]
    check_size(len(rows), len(attributes))
    names = [name for name, _ in attributes]
    columns = [
        [cell_text(row.get(k, _omitted(kind)) if sparse else row[k]) for row in rows]
        for k, (_, kind) in enumerate(attributes)
    ]
    labels = _labels(names, str(found["relation"]), labels_xml)
    cells = text_table(names, columns)
    numbers = tuple(name for name, kind in attributes if kind in _NUMBERS and name not in labels)
    words = tuple(name for name, kind in attributes if isinstance(kind, list) and name not in labels)
    roles = Roles(label_columns=labels, label_vectors=True, numbers=numbers, categories=words) if labels else None
    return TableReading(cells, "ARFF of label vectors" if labels else "ARFF", roles)


def _omitted(kind: object) -> object:
    """Return the value that a sparse row omits: 0, or the first of the listed values."""
    return kind[0] if isinstance(kind, list) else 0 if kind in _NUMBERS else ""


def _labels(names: Sequence[str], relation: str, labels_xml: str | None) -> tuple[str, ...]:
    if labels_xml is not None:
        labels = [html.unescape(double or single) for double, single in _LABEL.findall(labels_xml)]
        unknown = [label for label in labels if label not in names]
        if unknown or not labels:
            message = f"The XML file names {listed(unknown)}, no attributes of the ARFF file."
            if not labels:
                message = "The XML file names no labels."
            raise refusal(message, 'Write <label name="..."></label> for each attribute that is a label.')
        return tuple(labels)
    said = _MEKA.search(relation)
    count = int(said.group(1)) if said else 0
    if abs(count) > len(names):
        raise refusal(f"-C {count} says more labels than there are attributes.", "Correct the relation's name.")
    return tuple(names[:count] if count >= 0 else names[count:])


_NUMBER = r"[+-]?(?:\d+\.?\d*|\.\d+)(?:[eE][+-]?\d+)?"
_LINE = re.compile(rf"\s*(?:{_NUMBER}(?:,{_NUMBER})*)?(?:\s+\d{{1,9}}:{_NUMBER})*\s*(?:#.*)?".encode())
_PAIR = re.compile(rb"\s\d{1,9}:")
_QUERY = re.compile(rb"\sqid:")
_SEEN = 20


def looks_like_libsvm(data: bytes) -> bool:
    """Whether the first lines of a text all consist of labels and feature:value pairs."""
    lines = [line for line in data[:100_000].splitlines()[:_SEEN] if line.strip() and not line.startswith(b"#")]
    lines = [_QUERY.sub(b" 0:", line) for line in lines]
    return any(_PAIR.search(line) for line in lines) and all(_LINE.fullmatch(line) for line in lines[:-1] or lines)


def read_libsvm(data: bytes) -> TableReading:
    """Read libsvm lines: the labels as a JSON list of candidates, and a column `xK` for each feature K.

    Raises TableError: an invalid line, query ids, too many cells.
    """
    rows = 0
    for number, line in enumerate(data.split(b"\n"), start=1):
        if _QUERY.search(line):
            fix = "Remove the qid: pairs."
            raise refusal("the line has a query id (qid:), which is for rankings.", fix, line=number)
        if not _LINE.fullmatch(line):
            message = f"the line is not labels and pairs as in 1,3 5:0.2: {quoted(line.decode(errors='replace'))}."
            raise refusal(message, "Correct the line.", row=rows + 1, line=number)
        rows += bool(line.partition(b"#")[0].strip())
    from sklearn.datasets import load_svmlight_file  # adds 3 MB to each process

    largest = max((int(found) for found in re.findall(rb"\s(\d{1,9}):", data)), default=0)
    check_size(rows, largest + 2)
    try:
        X, y = load_svmlight_file(io.BytesIO(data), multilabel=True, zero_based=True)
    except ValueError as error:
        raise refusal(f"The lines cannot be read ({error}).", "Give the features of a line in rising order.") from error
    dense = X.toarray()
    first = 0 if dense[:, :1].any() else 1  # most count features from 1
    names = [f"x{k}" for k in range(first, dense.shape[1])]
    lists = [json.dumps([float_text(float(label)) for label in labels]) if len(labels) else "" for labels in y]
    columns = [numbers_as_text(np.ascontiguousarray(dense[:, k])) for k in range(first, dense.shape[1])]
    cells = text_table(["candidates", *names], [lists, *columns])
    return TableReading(cells, "libsvm lines", json_candidates("candidates", numbers=tuple(names)))


_TAG = re.compile(r"(?<!\S)__label__(\S+)")


def looks_like_fasttext(data: bytes) -> bool:
    """Whether a text (UTF-8) starts with a label of fastText."""
    return _TAG.match(data[:1_000].decode(errors="replace")) is not None


def read_fasttext(data: bytes) -> TableReading:
    """Read fastText lines: their labels, each a word after `__label__`, as a JSON list of candidates, and their text.

    Raises TableError: a comma behind a label, which may be part of it or end it.
    """
    lists: list[str] = []
    texts: list[str] = []
    for number, line in enumerate(data.decode().split("\n"), start=1):
        labels = list(dict.fromkeys(_TAG.findall(line)))
        if odd := next((label for label in labels if label.endswith(",") or "__label__" in label), None):
            message = f"the label {quoted(odd)} has no space behind it, so its end is not known."
            raise refusal(
                message, "Write a space behind each label, as fastText does.", row=len(lists) + 1, line=number
            )
        if line.strip():
            lists.append(json.dumps(labels, ensure_ascii=False) if labels else "")
            texts.append(_TAG.sub("", line).strip())
    check_size(len(lists), 2)
    cells = text_table(["candidates", "text"], [lists, texts])
    return TableReading(cells, "fastText lines", json_candidates("candidates", text="text"))
