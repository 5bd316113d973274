"""The places an annotator is not asked about: those they are unsure about and, for a while, those they
skipped."""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from dataclasses import replace
from typing import Any, Self, cast

import numpy as np

from plcore.arrays.checks import check_choice, check_int, is_real
from plcore.arrays.types import AnyArray
from plcore.loop.entries import Entry, EntryKind, Place
from plcore.loop.entry_fold import EntryFold
from plcore.loop.packed import packed, unpacked

SKIP_LASTS = 20
"""Further entries of the same annotator after which a place they skipped comes back."""


class Standings:
    """For each annotator, the places not to ask them about, by their latest entry about each place that was not
    withdrawn.

    about : returns the labels of its row that an entry is about; None stands for the row as a whole
    rests : kinds of entries after which a place rests: the annotator has said all they can for now, and the place comes
        back after SKIP_LASTS further entries
    aside : excluded annotators: their places stay open for others, but not for them
    """

    def __init__(
        self,
        fold: EntryFold[Any],
        about: Callable[[Entry], Iterable[str | None]],
        rests: Collection[str] = (EntryKind.SKIP,),
        aside: Collection[str] = frozenset(),
    ) -> None:
        self._fold, self._about, self._rests = fold, about, rests
        self._count: dict[str, int] = {}
        self._number: dict[int, int] = {}  # seq -> number of entries of that annotator at that time
        self._aside = frozenset(aside)
        self._in_vain: dict[str, set[Place]] = {}
        self._unsure: dict[str, set[Place]] = {}
        self._resting: dict[str, dict[Place, int]] = {}  # annotator -> place -> seq of the entry
        self._latest: dict[str, int] = {}  # annotator -> row

    def record(self, entry: Entry) -> None:
        """Record an entry already applied by the fold."""
        self._count[entry.annotator] = self._number[entry.seq] = self._count.get(entry.annotator, 0) + 1
        touched = entry if entry.target is None else self._fold.entry(entry.target)
        annotator, row = touched.annotator, touched.row
        if annotator == entry.annotator:
            self._latest[annotator] = int(row)
        unsure = self._unsure.setdefault(annotator, set())
        resting = self._resting.setdefault(annotator, {})
        in_vain = self._in_vain.setdefault(annotator, set())
        own = [other for other in self._fold.entries(row) if other.annotator == annotator]
        latest = {label: other for other in own for label in self._about(other)}
        for label in self._about(touched):
            place = Place(row, label)
            unsure.discard(place)
            resting.pop(place, None)
            in_vain.discard(place)
            standing = latest.get(label)
            if standing is None:
                continue
            if standing.kind == EntryKind.UNSURE:
                unsure.add(place)
            elif annotator in self._aside and standing.kind != EntryKind.SKIP:
                in_vain.add(place)
            elif standing.kind in self._rests:
                resting[place] = standing.seq

    def to_arrays(self) -> dict[str, AnyArray]:
        """Return the state as arrays, for a checkpoint."""
        numbers = self._number
        return {
            "counts": packed(self._count),
            "numbers": np.array([list(numbers), list(numbers.values())], dtype=np.int64),
            "in_vain": packed({who: sorted(places, key=_named) for who, places in self._in_vain.items()}),
            "unsure": packed({who: sorted(places, key=_named) for who, places in self._unsure.items()}),
            "resting": packed({who: list(places.items()) for who, places in self._resting.items()}),
            "latest": packed(self._latest),
        }

    def put_back(self, arrays: Mapping[str, AnyArray]) -> None:
        """Replace the state with the output of `to_arrays`."""
        self._count, self._latest = unpacked(arrays["counts"]), unpacked(arrays["latest"])
        self._number = dict(zip(*arrays["numbers"].tolist(), strict=True))
        in_vain, unsure, resting = (unpacked(arrays[name]) for name in ("in_vain", "unsure", "resting"))
        self._in_vain = {who: {Place(*one) for one in places} for who, places in in_vain.items()}
        self._unsure = {who: {Place(*one) for one in places} for who, places in unsure.items()}
        self._resting = {who: {Place(*one): seq for one, seq in places} for who, places in resting.items()}

    def count(self, annotator: str) -> int:
        """Return the number of entries by this annotator, including withdrawn ones."""
        return self._count.get(annotator, 0)

    def latest(self, annotator: str) -> int | None:
        """Return the row of the last entry that this annotator made or withdrew; None before the first."""
        return self._latest.get(annotator)

    def unsure(self, annotator: str) -> set[Place]:
        """Return the places never to ask this annotator about again: they are unsure, or their answers are excluded."""
        return self._unsure.get(annotator, set()) | self._in_vain.get(annotator, set())

    def unsure_by_anybody(self) -> set[Place]:
        """Return the places that at least one annotator is unsure about."""
        return set().union(*self._unsure.values())

    def put_aside(self, annotator: str) -> set[Place]:
        """Return the places not to ask this annotator about now."""
        return self.unsure(annotator).union(self.resting(annotator))

    def resting(self, annotator: str) -> list[Place]:
        """Return the places that this annotator recently skipped or narrowed to several candidates, oldest first."""
        now = self._count.get(annotator, 0)
        recent = [
            (seq, place)
            for place, seq in self._resting.get(annotator, {}).items()
            if now - self._number[seq] < SKIP_LASTS
        ]
        return [place for _, place in sorted(recent, key=lambda one: one[0])]


def _named(place: Place) -> tuple[int, str]:
    """Return the sort key of a place: the row as a whole comes before its labels."""
    return place.row, place.label or ""


# Several people answering the same questions: code shared by all kinds of project.

EVERYBODY = np.iinfo(np.int64).max
"""Number of people for a question that is for everyone."""


class OverlapSettings:
    """The settings for several annotators per row. The settings of each kind of project are a dataclass with
    these fields.

    overlap, overlap_share : annotators per question for a random share in (0, 1] of the rows; one annotator for each
        other row
    agree : once this many of them agree, no one else is asked; None: always ask all
    checks_by_all : whether blind checks are asked of everyone
    fold : rule that combines several answers into one; the first rule of each kind is "latest"
    own_since : seq of the entry after which people answer independently, without seeing other answers; None:
        each answer builds on the previous ones
    """

    overlap: int
    overlap_share: float
    agree: int | None
    checks_by_all: bool
    fold: str
    own_since: int | None

    def check_overlap(self, folds: Sequence[str]) -> None:
        """Raise ValueError naming the setting that is wrong. folds : the rules of the kind"""
        check_choice("fold", self.fold, folds)
        check_int("overlap", self.overlap, 1)
        if self.agree is not None:
            check_int("agree", self.agree, 2)
            if self.agree > self.overlap:
                raise ValueError(f"agree must be at most overlap, {self.overlap}. Got {self.agree!r}.")
        if not is_real(self.overlap_share) or not 0 < self.overlap_share <= 1:
            raise ValueError(f"overlap_share must be in (0, 1]. Got {self.overlap_share!r}.")
        if not isinstance(self.checks_by_all, bool):
            raise ValueError(f"checks_by_all must be True or False. Got {self.checks_by_all!r}.")
        if self.own_since is not None:
            check_int("own_since", self.own_since, 0)

    @property
    def several(self) -> bool:
        """Return whether people answer independently: several per question, or answers merged by a rule."""
        return self.own_since is not None or self._wants_several

    @property
    def _wants_several(self) -> bool:
        return self.overlap > 1 or self.checks_by_all or self.fold != "latest"

    @property
    def is_latest_of_several(self) -> bool:
        """Return whether the latest of several answers counts even if they differ, which deserves a warning."""
        return self.overlap > 1 and self.fold == "latest"

    def beginning(self, earlier: Self, seq: int) -> Self:
        """Return these settings as successors of the earlier ones, from entry `seq` on.

        Independent answers are final: once people have answered independently, they always do, so that earlier answers
        keep their meaning."""
        since = seq if self._wants_several else None
        if earlier.several:
            since = earlier.own_since or 0
        made: Self = replace(cast("Any", self), own_since=since)  # settings of every kind are a dataclass
        return made

    @property
    def overlap_parts(self) -> tuple[object, ...]:
        """Return the parts of the settings that change how the log is read; empty if annotators do not answer
        independently."""
        if not self.several:
            return ()
        return self.own_since, self.fold, self.overlap, float(self.overlap_share).hex(), self.agree


def by_person(entries: Sequence[Entry], since: int) -> dict[str, list[Entry]]:
    """Return {annotator: their entries} of the answers to a row, in order.

    Earlier entries, up to `since`, count as those of the last annotator at that time, unless this annotator has
    answered again."""
    found: dict[str, list[Entry]] = {}
    for one in entries:
        if one.seq > since:
            found.setdefault(one.annotator, []).append(one)
    together = [one for one in entries if one.seq <= since]
    if together:
        found.setdefault(together[-1].annotator, together)
    return found
