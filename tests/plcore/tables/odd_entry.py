"""An odd file, and its expected result."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

Wanted = Sequence[set[str] | dict[str, float]]


@dataclass(frozen=True)
class Odd:
    """A file as a user might upload it.

    Attributes
    ----------
    name : what is odd about it
    data, file : its bytes, made by code, and its file name
    rows : the candidates of the first rows, or with weights; None if it must be refused
    doubts : the names of all doubts that must be reported, except `unused`
    notes : words of the required notes
    refused : words of the error
    cells : other expected cells, by column
    truth : the true labels of the first rows
    """

    name: str
    data: bytes
    file: str = "table.csv"
    rows: Wanted | None = None
    doubts: frozenset[str] = frozenset()
    notes: tuple[str, ...] = ()
    refused: tuple[str, ...] = ()
    cells: Mapping[str, Sequence[str]] = field(default_factory=dict)
    truth: tuple[str | None, ...] = ()


def right(name: str, data: bytes | str, rows: Wanted, file: str = "table.csv", *doubts: str, **more: Any) -> Odd:
    """The expected result is this, with these doubts and no others."""
    text = data.encode() if isinstance(data, str) else data
    return Odd(name, text, file, rows, frozenset(doubts), **more)


def refused(name: str, data: bytes | str, *words: str, file: str = "table.csv") -> Odd:
    """The file must be refused with these words."""
    return Odd(name, data.encode() if isinstance(data, str) else data, file, refused=words)
