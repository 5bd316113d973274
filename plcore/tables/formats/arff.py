"""ARFF, the tables of Weka, and what MULAN and MEKA make of it for label vectors; by liac-arff.

SciPy's reader knows neither sparse rows nor text. Which attributes are labels stands, for MULAN, in an XML file beside
(`<label name="...">`); for MEKA in the name of the relation: `-C 6` are the first six, `-C -6` the last.
"""

from __future__ import annotations

import html
import re
from collections.abc import Sequence
from typing import Any

import arff

from plcore.common.words import listed
from plcore.tables.formats.reading import TableReading, check_size, refusal, text_table
from plcore.tables.formats.values import cell_text
from plcore.tables.roles import Roles

# Without giving anything back: over a million blank lines other patterns would try all ways to part them.
_START = re.compile(rb"(?:[^\S\n]*+(?:%[^\n]*+)?\n)*+\s*+@relation\b", re.IGNORECASE)
_SPARSE = re.compile(
    r"^[^\S\n]*+@data\b[^\n]*+\n(?:[^\S\n]*+(?:%[^\n]*+)?\n)*+\s*+\{", re.IGNORECASE | re.MULTILINE
)
_LABEL = re.compile(r"<label\s[^>]*?name\s*=\s*(?:\"([^\"]*)\"|'([^']*)')", re.IGNORECASE)
_MEKA = re.compile(r"-C\s+(-?\d+)")
_NUMBERS = ("NUMERIC", "REAL", "INTEGER")


def looks_like_arff(data: bytes) -> bool:
    """Whether a text (UTF-8) begins as ARFF does."""
    return _START.match(data[:100_000]) is not None


def read_arff(data: bytes, labels_xml: str | None = None) -> TableReading:
    """The table of an ARFF file (UTF-8), dense or sparse. `?` is an empty cell: of a label, that nobody was asked.

    labels_xml : MULAN's list of the labels, the text of an XML file
    Raises TableError, with the line: no ARFF, or an XML that names other attributes.
    """
    text = data.decode()
    sparse = _SPARSE.search(text) is not None
    try:
        found = arff.loads(text, return_type=arff.LOD if sparse else arff.DENSE)
    except arff.ArffException as error:
        line = getattr(error, "line", None)
        message = f"This is no good ARFF: {str(error)[:200].rstrip('.')}."
        line = line if isinstance(line, int) and line > 0 else None
        raise refusal(message, "Correct the line, or export the table anew.", line=line) from error
    except MemoryError:
        raise
    except Exception as error:  # liac-arff stumbles over some bad lines
        raise refusal(f"This is no good ARFF ({str(error)[:200]}).", "Export the table anew.") from error
    attributes: Sequence[tuple[str, Any]] = found["attributes"]
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
    roles = (
        Roles(label_columns=labels, label_vectors=True, numbers=numbers, categories=words) if labels else None
    )
    return TableReading(cells, "ARFF of label vectors" if labels else "ARFF", roles)


def _omitted(kind: Any) -> Any:
    """What a sparse row says by leaving a value out: 0, or the first of those listed."""
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
        raise refusal(
            f"-C {count} says more labels than there are attributes.", "Correct the relation's name."
        )
    return tuple(names[:count] if count >= 0 else names[count:])
