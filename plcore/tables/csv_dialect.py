"""Which character stands between the cells of a CSV text, and where its header begins."""

from __future__ import annotations

import re
from itertools import islice
from typing import NamedTuple

from plcore.tables.csv_lines import quotes_are_regular, records

DELIMITERS = (b",", b";", b"\t")
PIPE = b"|"
SNIFFED_ROWS = 20
"""Rows that tell the delimiter, the header among them."""
_SAID = re.compile(rb"sep=([,;|\t])[,;|\t]*(?:\r\n|\n|\r)", re.IGNORECASE)


class Dialect(NamedTuple):
    """The delimiter; the byte where the header may begin, and its 1-based line."""

    delimiter: bytes
    start: int = 0
    line: int = 1


def find_dialect(data: bytes) -> Dialect:
    """What the first line says where it is Excel's `sep=;`; else what the first rows look like."""
    said = _SAID.match(data)
    if said is not None:
        return Dialect(said.group(1), said.end(), 2)
    return Dialect(_sniffed(data))


def _sniffed(data: bytes) -> bytes:
    """The delimiter under which the quotes of the first rows stand where quotes belong; among such delimiters the one
    that gives most rows as many cells as the header; then the one that gives the most cells.

    A pipe is that of the lists in cells (`wren|robin`), unless the header has nothing else and all rows as many.
    """
    best, best_score = DELIMITERS[0], (False, 0.0, 0)
    for delimiter in (*DELIMITERS, PIPE):
        first = list(islice(records(data, delimiter), SNIFFED_ROWS))
        if first and first[0].n_cells > 1:
            even = [record.n_cells == first[0].n_cells and not record.fault for record in first]
            regular = quotes_are_regular(data[: first[-1].end], delimiter)
            score = (regular, sum(even) / len(even), first[0].n_cells)
            if delimiter == PIPE and (best_score[2] or not (regular and all(even))):
                continue
            if score > best_score:
                best, best_score = delimiter, score
    return best
