"""Code shared by the loops of all kinds of project: the pool of rows, and the verbs of a learner."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Collection, Sequence
from itertools import pairwise
from typing import Any, Generic, Protocol, TypeVar

import numpy as np

from plcore.arrays.types import AnyArray, BoolArray, IntArray, is_whole
from plcore.loop.entries import AnswerError, Entry, Place, check_form
from plcore.loop.entry_fold import EntryFold
from plcore.loop.standings import Standings

CONTROL = "control"
"""Strategy of a blind question, which is asked to measure the model."""


class Drawing(Protocol):
    """The part of the settings by which a `Pool` draws rows."""

    @property
    def seed(self) -> int: ...
    @property
    def test_share(self) -> float: ...
    @property
    def control_share(self) -> float: ...
    @property
    def overlap_share(self) -> float: ...


OVERLAP = "overlap"
"""Strategy of a question about a row that others have answered and one more person is to."""

TableT_co = TypeVar("TableT_co", covariant=True)
SettingsT = TypeVar("SettingsT", bound=Drawing)
FoldT = TypeVar("FoldT", bound=EntryFold[Any])


def row_batches(n: int, starts: Sequence[int]) -> tuple[range, ...]:
    """The rows of the import and of each addition. n : how many rows there are      starts : the first of each addition

    An addition of no rows, which gave those that were there embeddings, is no batch.
    Raises ValueError where an addition begins beyond the rows there are.
    """
    edges = [0, *starts, n]
    if 0 in starts or any(a > b for a, b in pairwise(edges)):
        raise ValueError(f"Rows were added after {list(starts)} rows, but the table has {n}.")
    return tuple(range(a, b) for a, b in pairwise(edges) if a < b)


class Pool(ABC, Generic[TableT_co, SettingsT, FoldT]):
    """How every row of a table stands after the entries applied so far. All of it follows from table, settings and
    log alone.

    seq : number of the last entry applied      answers : entries that are answers and were not withdrawn
    test_rows : bool (n,), rows held out to measure the model; no one is asked about them
    bad : bool (n,), rows that people marked as bad items
    batches : the rows of the import, and of each time that more came; each has draws of its own
    changed_until : seq of the latest change of classes or rows that the pool was made under; 0 for none
    """

    KINDS: tuple[str, ...]
    """Kinds of entries about rows that such a pool applies."""

    table: TableT_co
    settings: SettingsT
    classes: tuple[str, ...]
    fold: FoldT
    standings: Standings
    test_rows: BoolArray
    bad: BoolArray
    batches: tuple[range, ...]
    changed_until: int
    seq: int
    answers: int

    # Entries

    def check(self, entry: Entry) -> None:
        """Raise AnswerError if `apply` would refuse the entry; changes nothing."""
        check_form(entry, self.KINDS)
        if entry.seq <= self.seq:
            raise AnswerError(
                f"Entry {entry.seq} comes too late: entries up to {self.seq} are applied. "
                "Entries must come in the order of seq, each once."
            )
        self.fold.check(entry)

    def takes_change(self, seq: int) -> bool:
        """Whether the pool has classes and rows as the change written in entry `seq` leaves them; that entry then
        counts as applied."""
        if seq > self.changed_until:
            return False
        self.seq = seq
        return True

    def pass_over(self, seq: int) -> None:
        """Count entry `seq` as applied: it is of kind "model", and says nothing of rows or classes."""
        self.seq = seq

    @abstractmethod
    def apply(self, entry: Entry) -> object | None:
        """Take in one entry and return what it changed for models, something false if nothing. Raises AnswerError,
        and changes nothing, if the entry is impossible."""

    # Rights to be asked

    @abstractmethod
    def is_open(self, row: int, label: str | None = None) -> bool:
        """Whether people can be asked about the row, or this label of it: something of it is not known yet."""

    def places_left(self, place: Place) -> int:
        """How many people may have the place before them now."""
        return int(self.is_open(*place))

    def may_ask(self, place: Place, annotator: str) -> bool:
        """Whether this annotator can be asked about the place: it is open, and they have not said that they are unsure
        about it. What they only skipped can be asked again."""
        aside = self.standings.unsure(annotator)
        return self.is_open(*place) and place not in aside and Place(place.row) not in aside

    def control_is_due(self, ahead: int = 0) -> bool:
        """Whether the next question is a blind check: with probability `control_share`, redrawn for each entry.

        ahead : the question after this many further entries is meant
        """
        share = self.settings.control_share
        return bool(
            share and np.random.default_rng([self.settings.seed, 3, self.seq + ahead]).random() < share
        )

    # How things stand

    @property
    @abstractmethod
    def n_answered(self) -> int:
        """How many rows, or labels of rows where questions are about these, have an answer and are not open."""

    @property
    @abstractmethod
    def n_open(self) -> int:
        """How many of these can still be asked about, blind checks among them."""

    @property
    def n_to_ask(self) -> int:
        """How much a person could be asked about before any answer."""
        return self.n_open

    @property
    @abstractmethod
    def answered_rows(self) -> BoolArray:
        """(n,) rows that have an answer."""

    @property
    @abstractmethod
    def open_rows(self) -> BoolArray:
        """(n,) rows of which something can still be asked."""

    @property
    @abstractmethod
    def blind_rows(self) -> BoolArray:
        """(n,) rows that are, or have, a blind check."""

    # Labels that are safe to show: never other people's answers while annotators answer independently.

    @abstractmethod
    def shown_to_all(self) -> BoolArray:
        """(n,) a new array: rows whose answered labels anyone may see, also next to a question; no held-out row and no
        blind check among them."""

    @abstractmethod
    def answered_labels(self, row: int) -> tuple[str, ...]:
        """The labels that people have given such a row."""

    @abstractmethod
    def labels_shown(self, rows: Sequence[int]) -> tuple[tuple[str, ...], ...]:
        """The labels that each of these rows may have, as anyone may see them; none of a bad item."""

    @abstractmethod
    def labels_at(self, entry: Entry) -> tuple[str, ...]:
        """The labels that the log stores as `before`, or `after`, of an entry while the pool is as it is now."""

    def check_row(self, row: int) -> int:
        """The row number as an int. Raises AnswerError where there is no such row."""
        n = len(self.test_rows)
        if not is_whole(row) or not 0 <= row < n:
            raise AnswerError(f"row must be in 0..{n - 1}. Got {row!r}.")
        return int(row)

    def check_asked(self, row: int) -> int:
        """As `check_row`. Raises AnswerError for test rows and bad items too: no one is asked about them."""
        row = self.check_row(row)
        if self.test_rows[row] or self.bad[row]:
            raise AnswerError(
                f"Row {row} is not asked: it is {'held out' if self.test_rows[row] else 'a bad item'}."
            )
        return row

    def _draw_test_rows(self, eligible: BoolArray) -> BoolArray:
        """(n,) bool, a seeded share of the eligible rows (n,); at least one row is left to learn from."""
        first, *later = (self._drawn(eligible, batch, self.settings.test_share) for batch in self.batches)
        test = np.zeros(len(eligible), dtype=bool)
        test[np.concatenate([first[: len(self.batches[0]) - 1], *later])] = True
        return test

    def _drawn_for_several(self) -> BoolArray:
        """(n,) the rows that several people are to answer: a seeded share of all."""
        drawn = np.zeros(len(self.test_rows), dtype=bool)
        for batch in self.batches:
            drawn[self._drawn(~drawn, batch, self.settings.overlap_share, 4)] = True
        return drawn

    def _drawn(self, eligible: AnyArray, batch: range, share: float, *purpose: int) -> IntArray:
        """A seeded share of the eligible places (n, ...) in the rows of one batch, by flat index, in random order. The
        rows of a later batch change nothing in the draws of those before."""
        within = np.zeros(eligible.shape, dtype=bool)
        within[batch.start : batch.stop] = eligible[batch.start : batch.stop]
        places = np.flatnonzero(within)
        seed = [self.settings.seed, *purpose, *((batch.start,) if batch.start else ())]
        random = np.random.default_rng(seed if len(seed) > 1 else seed[0])
        return random.permutation(places)[: int(share * len(places) + 0.5)]


class Learner(Protocol):
    """The loop over a pool in two verbs, `apply(entry)` and `next_question(annotator)`. No database, no clock.

    The same table, settings and entries, with the same models, always give the same state and the same next question.
    """

    @property
    def settings(self) -> Any: ...
    @property
    def pool(self) -> Pool[Any, Any, Any]: ...
    @property
    def table(self) -> Any: ...
    @property
    def classes(self) -> tuple[str, ...]: ...
    @property
    def model_version(self) -> int: ...
    @property
    def waits(self) -> bool:
        """Whether neighbours are found elsewhere, and another learner takes the place of this one then."""

    @property
    def has_model(self) -> bool:
        """Whether the model says anything yet."""

    @property
    def proves_done(self) -> bool:
        """Whether `share_settled` is proved about predictions; else it is a share of rows or labels."""

    @property
    def version_published(self) -> int | None:
        """The entry up to which the model in place was trained as a whole; None before the first such model."""

    @property
    def seq(self) -> int: ...
    @property
    def done(self) -> bool: ...
    @property
    def curve(self) -> Sequence[Any]: ...

    def check(self, entry: Entry) -> None: ...
    def apply(self, entry: Entry) -> None: ...
    def may_ask(self, row: int, annotator: str, label: str | None = None) -> bool: ...
    def next_question(
        self,
        annotator: str,
        exclude: Collection[int | tuple[int, str | None]] = frozenset(),
        *,
        ahead: int = 0,
    ) -> Any: ...
    def question_for(self, row: int, label: str | None = None, annotator: str | None = None) -> Any: ...
    def get_ready(self) -> None: ...
    def checkpoint(self) -> dict[str, AnyArray]:
        """The state from which another learner of the same table, settings and changes continues."""

    @property
    def share_settled(self) -> float:
        """The share, in [0, 1], of the work that is done."""

    def state(self, row: int) -> Any: ...
    def progress(self) -> Any: ...
