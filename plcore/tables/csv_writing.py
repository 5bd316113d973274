"""The text of cells -> CSV that `read_cells` reads back cell for cell: UTF-8, comma, LF."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

import pandas as pd
import pyarrow as pa
import pyarrow.compute as pc

from plcore.tables.text_columns import bytes_of, in_one_piece

_QUOTE, _COMMA, _LINE_END, _NOTHING = (pa.scalar(text, pa.large_string()) for text in ('"', ",", "\n", ""))
_SIGNS = tuple(sign.encode() for sign in ',;\t"\r\n\ufeff')
_AT_ONCE = 10_000


def to_csv_bytes(frame: pd.DataFrame) -> bytes:
    """A frame of str, of at least one row and column, as CSV. Quotes stand only where they are needed."""
    table = pa.table(
        [pa.array(frame.iloc[:, place], pa.large_string()) for place in range(frame.shape[1])],
        names=[str(place) for place in range(frame.shape[1])],
    )
    return b"".join([csv_header([str(name) for name in frame.columns]), *_pieces(table)])


def _pieces(table: pa.Table) -> Iterator[bytes]:
    for start in range(0, table.num_rows, _AT_ONCE):
        yield csv_rows(table.slice(start, _AT_ONCE).columns)


def csv_header(names: Sequence[str]) -> bytes:
    """The first line, with the names of the columns."""
    return csv_rows([pa.array([name], pa.large_string()) for name in names])


def csv_rows(columns: Sequence[pa.Array | pa.ChunkedArray]) -> bytes:
    """The lines of some rows. columns : large_string, as long as each other, none missing"""
    # Every character that any of the delimiters, line ends or byte order marks could be taken for is put in quotes.
    needs_quotes = '[,;\t"\r\n\ufeff]' if len(columns) > 1 else '[,;\t|"\r\n\ufeff]|^$'
    written = []
    for column in map(in_one_piece, columns):
        text = bytes_of(column)  # one look at all cells: those of most columns need no quotes
        if len(columns) > 1 and not any(sign in text for sign in _SIGNS):
            written.append(column)
            continue
        needs = pc.match_substring_regex(column, needs_quotes)
        if pc.any(needs).as_py():
            inside = pc.replace_substring(column, '"', '""')
            column = pc.if_else(needs, pc.binary_join_element_wise(_QUOTE, inside, _QUOTE, _NOTHING), column)
        written.append(column)
    *others, last = written
    ended = pc.binary_join_element_wise(last, _LINE_END, _NOTHING)
    return bytes_of(pc.binary_join_element_wise(*others, ended, _COMMA))
