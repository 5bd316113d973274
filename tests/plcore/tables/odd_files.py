"""Odd files, made by code, each with its expected result: right, refused with a message, or right with a named
doubt."""

from __future__ import annotations

from tests.plcore.tables import odd_binaries, odd_spelling, odd_texts, odd_weights
from tests.plcore.tables.odd_entry import Odd

ODD_FILES: tuple[Odd, ...] = (*odd_weights.FILES, *odd_spelling.FILES, *odd_texts.FILES, *odd_binaries.FILES)
