"""Code shared by the loops of all kinds of project: the pool of rows, and the interface of a learner."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Collection, Sequence
from itertools import pairwise
from typing import Any, Generic, Protocol, TypeVar

import numpy as np

from plcore.arrays.checks import is_whole
from plcore.arrays.types import AnyArray, BoolArray, IntArray
from plcore.loop.entries import AnswerError, Entry, Place, check_form
from plcore.loop.entry_fold import EntryFold
from plcore.loop.standings import Standings

CONTROL = "control"
"""Strategy name of a blind check, which is asked to measure the model."""


class Drawing(Protocol):
    """The settings with which a `Pool` draws rows."""

    @property
    def seed(self) -> int: ...
    @property
    def test_share(self) -> float: ...
    @property
    def control_share(self) -> float: ...
    @property
    def overlap_share(self) -> float: ...


OVERLAP = "overlap"
"""Strategy name of a question about a row that others have answered and that waits for another person."""

TableT_co = TypeVar("TableT_co", covariant=True)
SettingsT = TypeVar("SettingsT", bound=Drawing)
FoldT = TypeVar("FoldT", bound=EntryFold[Any])


def row_batches(n: int, starts: Sequence[int]) -> tuple[range, ...]:
    """Return the rows of the import and of each addition. n : number of rows      starts : the first row of
    each addition

    An addition without rows (one that only added embeddings) is not a batch. Raises ValueError if an addition
    begins beyond the last row.
    """
    edges = [0, *starts, n]
    if 0 in starts or any(a > b for a, b in pairwise(edges)):
        raise ValueError(f"Rows were added after {list(starts)} rows, but the table has {n}.")
    return tuple(range(a, b) for a, b in pairwise(edges) if a < b)


class Pool(ABC, Generic[TableT_co, SettingsT, FoldT]):
    """The state of every row after the entries applied so far. It is determined by the table, the settings and the log.

    seq : number of the last entry applied      answers : entries that are answers and were not withdrawn
    test_rows : bool (n,), rows held out to measure the model, never asked about
    bad : bool (n,), rows that people marked as bad items
    batches : the rows of the import and of each later addition; each batch has its own random draws
    changed_until : seq of the latest change of classes or rows before the pool was created; 0 for none
    """

    KINDS: tuple[str, ...]
    """Kinds of entries about rows that this pool applies."""

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
        """Return whether the pool already includes the change of classes or rows of entry `seq`; if so, mark
        the entry as applied."""
        if seq > self.changed_until:
            return False
        self.seq = seq
        return True

    def pass_over(self, seq: int) -> None:
        """Mark entry `seq` as applied: it is of kind "model" and concerns neither rows nor classes."""
        self.seq = seq

    @abstractmethod
    def apply(self, entry: Entry) -> object | None:
        """Apply one entry and return the change that models must learn, or a falsy value for none. Raises
        AnswerError, and changes nothing, if the entry is impossible."""

    # Which questions may be asked

    @abstractmethod
    def is_open(self, row: int, label: str | None = None) -> bool:
        """Return whether the row, or this label of it, is still unknown and can be asked about."""

    def places_left(self, place: Place) -> int:
        """Return how many people may be asked about the place at the same time."""
        return int(self.is_open(*place))

    def may_ask(self, place: Place, annotator: str) -> bool:
        """Return whether this annotator can be asked about the place: it is open and they did not answer "unsure".
        Skipped places can be asked about again."""
        aside = self.standings.unsure(annotator)
        return self.is_open(*place) and place not in aside and Place(place.row) not in aside

    def control_is_due(self, ahead: int = 0) -> bool:
        """Return whether the next question is a blind check: with probability `control_share`, redrawn for
        each entry.

        ahead : look ahead to the question after this many further entries
        """
        share = self.settings.control_share
        return bool(share and np.random.default_rng([self.settings.seed, 3, self.seq + ahead]).random() < share)

    # State

    @property
    @abstractmethod
    def n_answered(self) -> int:
        """Return the number of rows (or labels, if questions are about labels) that are answered and not
        open."""

    @property
    @abstractmethod
    def n_open(self) -> int:
        """Return the number of rows (or labels) that can still be asked about, including blind checks."""

    @property
    @abstractmethod
    def n_begun(self) -> int:
        """Return the number of open rows (or labels) that have an answer and wait for that of another annotator; 0 if
        each answer builds on the last."""

    @property
    def n_to_ask(self) -> int:
        """Return the number of rows (or labels) that could be asked about before any answer."""
        return self.n_open

    @property
    @abstractmethod
    def answered_rows(self) -> BoolArray:
        """Return bool (n,) the rows that have an answer."""

    @property
    @abstractmethod
    def open_rows(self) -> BoolArray:
        """Return bool (n,) the rows that can still be asked about, at least in part."""

    @property
    @abstractmethod
    def blind_rows(self) -> BoolArray:
        """Return bool (n,) the rows that are, or contain, a blind check."""

    # Labels that are safe to show: never the answers of others while annotators answer independently.

    @abstractmethod
    def shown_to_all(self) -> BoolArray:
        """Return a new array bool (n,): rows whose answered labels anyone may see, even next to a question;
        held-out rows and blind checks are excluded."""

    @abstractmethod
    def answered_labels(self, row: int) -> tuple[str, ...]:
        """Return the labels that people have given a row of `shown_to_all`."""

    @abstractmethod
    def labels_shown(self, rows: Sequence[int]) -> tuple[tuple[str, ...], ...]:
        """Return the possible labels of each of these rows that anyone may see; none for a bad item."""

    @abstractmethod
    def labels_at(self, entry: Entry) -> tuple[str, ...]:
        """Return the labels that the log stores as `before` or `after` of an entry, given the current state of the
        pool."""

    def check_row(self, row: int) -> int:
        """Return the row number as an int. Raises AnswerError if there is no such row."""
        n = len(self.test_rows)
        if not is_whole(row) or not 0 <= row < n:
            raise AnswerError(f"row must be in 0..{n - 1}. Got {row!r}.")
        return int(row)

    def check_asked(self, row: int) -> int:
        """Check the row like `check_row`. Raises AnswerError for test rows and bad items too; they are never asked
        about."""
        row = self.check_row(row)
        if self.test_rows[row] or self.bad[row]:
            raise AnswerError(f"Row {row} is not asked: it is {'held out' if self.test_rows[row] else 'a bad item'}.")
        return row

    def _draw_test_rows(self, eligible: BoolArray) -> BoolArray:
        """Draw test rows, bool (n,): a seeded share of the eligible rows (n,). At least one row is left for
        training."""
        first, *later = (self._drawn(eligible, batch, self.settings.test_share) for batch in self.batches)
        test = np.zeros(len(eligible), dtype=bool)
        test[np.concatenate([first[: len(self.batches[0]) - 1], *later])] = True
        return test

    def _drawn_for_several(self) -> BoolArray:
        """Draw the rows (n,) that several people will answer: a seeded share of all."""
        drawn = np.zeros(len(self.test_rows), dtype=bool)
        for batch in self.batches:
            drawn[self._drawn(~drawn, batch, self.settings.overlap_share, 4)] = True
        return drawn

    def _drawn(self, eligible: AnyArray, batch: range, share: float, *purpose: int) -> IntArray:
        """Draw a seeded share of the eligible places (n, ...) in the rows of one batch: flat indices in
        random order. Later batches do not change earlier draws."""
        within = np.zeros(eligible.shape, dtype=bool)
        within[batch.start : batch.stop] = eligible[batch.start : batch.stop]
        places = np.flatnonzero(within)
        seed = [self.settings.seed, *purpose, *((batch.start,) if batch.start else ())]
        random = np.random.default_rng(seed if len(seed) > 1 else seed[0])
        return random.permutation(places)[: int(share * len(places) + 0.5)]


class Learner(Protocol):
    """The loop over a pool: `apply(entry)` and `next_question(annotator)`. It uses no database and no clock.

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
        """Whether the neighbour search runs in another process. If so, a learner with the neighbours will replace this
        one."""

    @property
    def has_model(self) -> bool:
        """Whether the model can predict yet."""

    @property
    def proves_done(self) -> bool:
        """Whether `share_settled` is a proof about predictions; otherwise it is a share of rows or labels."""

    @property
    def version_published(self) -> int | None:
        """The last entry in the training data of the current model version; None before the first version."""

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
        self, annotator: str, exclude: Collection[int | tuple[int, str | None]] = frozenset(), *, ahead: int = 0
    ) -> Any: ...
    def question_for(self, row: int, label: str | None = None, annotator: str | None = None) -> Any: ...
    def get_ready(self) -> None: ...
    def checkpoint(self) -> dict[str, AnyArray]:
        """Return the state from which another learner of the same table, settings and changes can
        continue."""

    @property
    def share_settled(self) -> float:
        """Return the share, in [0, 1], of the work that is done."""

    def state(self, row: int) -> Any: ...
    def progress(self) -> Any: ...
