"""Entries about the cells of one row: before and after of an entry are the cells it is about."""

from __future__ import annotations

from typing import TYPE_CHECKING

from plcore import AnswerError, Entry
from workflow.writing import EntryWriter

if TYPE_CHECKING:
    from db import entries
    from workflow.turns import CellTurn


class CellWriter(EntryWriter):
    """Writes about a row, or one label of it: what was asked about."""

    _turn: CellTurn

    changed = "That label, or row, stands differently now."

    def said_now(self, entry: entries.Entry) -> tuple[str, ...]:
        return entry.labels  # of label vectors, whose classes do not change

    def check(self, entry: Entry) -> None:
        self._turn.learner.check(entry)
        if entry.target is not None and entry.target not in [one.seq for one in self._kept]:
            raise AnswerError(f"Entry {entry.target} does not stand any more.")

    def stood(self, entry: Entry) -> tuple[str, ...]:
        learner = self._turn.learner
        about = entry.labels if entry.target is None else learner.pool.fold.entry(entry.target).labels
        return learner.words(learner.pool.fold.fold_of(self._row, self._kept), about)
