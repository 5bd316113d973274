"""The classes of a project over time. Each addition, renaming or merge of classes, and each addition of rows, is a log
entry.

A class as first introduced, at import or by an `add`, is a *root*; a class is a named set of roots. A name once used
belongs to its roots for good, so it means the same class in every entry and no other class can take it. Questions and
answers under earlier classes keep their meaning (see `plcore.loop.one_label.fold`). Withdrawing the latest change
restores the names and sets before it. A name introduced by a rename stays known as a name of its class.
"""

from __future__ import annotations

import dataclasses
import unicodedata
from bisect import bisect_left
from collections.abc import Iterable, Iterator, KeysView, Sequence
from functools import cached_property
from itertools import takewhile
from math import isqrt
from typing import Any, NamedTuple, TypeVar

import numpy as np

from plcore.arrays.candidate_sets import CandidateSets
from plcore.arrays.types import AnyArray, BoolArray, IntArray
from plcore.loop.changes import ASIDE, ROWS, ClassChange, ClassError, aside_after

# Map values per class to the new classes after a merge, renaming, addition or withdrawal.

NAMED = 20
"""Number of classes named in a message; the others are counted."""
MOST_HELD = 5_000_000
"""Maximum number of names in a map when rows add classes: each change stores all current names, 16 bytes each. About
3,150 classes can be added to 3 classes, 49 to 100,000."""


def moved(values: AnyArray, places: AnyArray, m: int) -> AnyArray:
    """Return (..., m): for each new class, the sum of the values of the classes mapped to it, or for bools, whether any
    is set.

    values : (..., k), or `CandidateSets`      places : (k,) the new number of each class, -1 to drop it
    """
    if isinstance(values, CandidateSets):
        return values.mapped(places, m)
    sums = np.zeros((*values.shape[:-1], m), dtype=values.dtype)
    if values.ndim == 1:  # a single row; there are many of them
        goes = places >= 0
        np.add.at(sums, places[goes], values[goes])
        return sums
    for number, place in enumerate(places.tolist()):
        if place >= 0:
            sums[..., place] += values[..., number]
    return sums


def class_names(names: Sequence[str]) -> str:
    """Return the names of classes for a message."""
    more = f" and {len(names) - NAMED:,} more" if len(names) > NAMED else ""
    return ", ".join(names[:NAMED]) + more


class Era(NamedTuple):
    """The classes from the entry after `seq` until the next change."""

    seq: int
    names: tuple[str, ...]
    roots: tuple[frozenset[int], ...]  # roots of each class
    n_known: int  # roots 0 to n_known - 1 existed at that time


class ClassMap:
    """The effective classes after these changes, and the current meaning of every earlier name.

    classes : classes of the table: the class names at import and, if rows were added, the classes added until then
    changes : in the order of seq

    Raises ClassError if a change is impossible after the previous ones.

    Attributes
    ----------
    classes : the effective names, in order: imported classes first, a merged class in place of its parts,
        added classes last.
    seq : seq of the latest change, 0 without any.
    latest : the change that can be withdrawn now, or None.
    aside : the annotators whose answers do not count.
    taken_back : seq of the latest withdrawal of a change, 0 without any. Names shown before it may have meant
        more classes than now.
    """

    def __init__(self, classes: Sequence[str], changes: Iterable[ClassChange] = ()) -> None:
        changes = tuple(changes)
        last = max((place for place, change in enumerate(changes) if change.kind == ROWS), default=0)
        added = {change.names[0] for change in changes[:last] if change.kind == "add"}
        self.tabled = tuple(classes)
        self.imported = tuple(takewhile(lambda name: name not in added, classes))
        self.changes: tuple[ClassChange, ...] = ()
        n = len(self.imported)
        self.eras = [Era(0, self.imported, tuple(frozenset([k]) for k in range(n)), n)]
        self._root = {name: number for number, name in enumerate(self.imported)}  # root of every name ever used
        self._dead: set[int] = set()
        self.taken_back = 0
        self._standing: list[tuple[ClassChange, Era]] = []  # changes not withdrawn, each with the era before it
        for change in changes:
            self._take(change)
        self.classes = self.eras[-1].names
        self.seq = self.eras[-1].seq
        self.latest = self._standing[-1][0] if self._standing else None
        #: (n_roots,) the effective column of each root, -1 if its `add` was withdrawn
        self.columns = np.full(self.eras[-1].n_known, -1)
        for column, roots in enumerate(self.eras[-1].roots):
            self.columns[list(roots)] = column
        self.alive: BoolArray = self.columns >= 0
        try:
            self._tabled = [self._root[name] for name in self.tabled]  # the root of each class of the table
        except KeyError as error:
            raise ClassError(f"The table has a class {error.args[0]!r} that was never added.") from None

    @property
    def column_of_tabled(self) -> IntArray:
        """Return (n_tabled,) the effective column of each class of the table, -1 if its `add` was withdrawn."""
        return np.asarray(self.columns[self._tabled])

    @property
    def aside(self) -> frozenset[str]:
        return aside_after(self.changes)

    def changed(self, change: ClassChange) -> ClassMap:
        """Return the map after one more change; this one is not modified. Raises ClassError."""
        return ClassMap(self.tabled, (*self.changes, change))

    def now(self, name: str) -> str:
        """Return the effective name of the class that this earlier or current name belongs to. Raises
        ClassError."""
        root = self._root.get(name)
        if root is None:
            raise ClassError(f"{name!r} is not a class and never was. The classes: {class_names(self.classes)}.")
        return self.classes[int(self.columns[root])]

    def names_of(self, name: str) -> tuple[str, ...]:
        """Return every name, including the current one, that the class with this effective name ever had."""
        return self._names_of.get(name, ())

    @property
    def known_names(self) -> KeysView[str]:
        """Return every name that is or was the name of a class."""
        return self._root.keys()

    def earlier_names(self, names: Sequence[str]) -> Iterator[tuple[str, ...]]:
        """Yield the earlier names of these effective classes, latest first.

        There is one tuple, in the class order of its time, for each era in which all of them were the same classes as
        now. A class into which another was merged since is not the same."""
        present = {self.eras[-1].roots[self.classes.index(name)] for name in names}
        for era in reversed(self.eras):
            if present <= set(era.roots):
                yield tuple(name for name, roots in zip(era.names, era.roots, strict=True) if roots in present)

    def called_now(self, names: Sequence[str], seq: int) -> tuple[str, ...] | None:
        """Return the current names of the classes that had these names when the entry with this seq was
        written.

        None if one of them is no longer the same class: merged since, or withdrawn.
        """
        if not self.changes:
            return tuple(names)
        then = self.era(seq)
        roots = dict(zip(then.names, then.roots, strict=True))
        called = [self._called.get(roots[name]) for name in names]
        return None if None in called else tuple(one for one in called if one is not None)

    @cached_property
    def _called(self) -> dict[frozenset[int], str]:
        return dict(zip(self.eras[-1].roots, self.classes, strict=True))

    @cached_property
    def _names_of(self) -> dict[str, tuple[str, ...]]:
        found: dict[str, list[str]] = {}
        for one in self._root:
            found.setdefault(self.now(one), []).append(one)
        return {name: tuple(names) for name, names in found.items()}

    def era(self, seq: int) -> Era:
        """Return the classes under which the entry with this seq was written."""
        return self.eras[max(0, bisect_left(self.eras, seq, key=lambda era: era.seq) - 1)]

    def roots(self, names: Iterable[str], era: Era) -> BoolArray:
        """Return bool (n_roots,) the roots of these classes of an era. Raises ClassError for a name that was
        no class then."""
        mask = np.zeros(len(self.columns), dtype=bool)
        for name in names:
            if name not in era.names:
                raise ClassError(f"{name!r} is not a class. The classes: {class_names(era.names)}.")
            mask[list(era.roots[era.names.index(name)])] = True
        return mask & self.alive

    @property
    def first_names(self) -> dict[str, str]:
        """Return {every name that is or was a class: the first name of its root}.

        The first names, in the order of their roots, are the classes of a table when rows are added now."""
        first: dict[int, str] = {}
        for name, root in self._root.items():
            first.setdefault(root, name)
        return {name: first[root] for name, root in sorted(self._root.items(), key=lambda one: one[1])}

    @property
    def n_addable(self) -> int:
        """Number of classes that rows may still add, each by its own change, until the map holds MOST_HELD
        names."""
        m = len(self.classes)
        left = max(0, MOST_HELD - sum(len(era.names) for era in self.eras))
        return (isqrt((2 * m + 1) ** 2 + 8 * left) - 2 * m - 1) // 2  # k m + k (k + 1) / 2 <= left

    @property
    def before_rows(self) -> tuple[int, ...]:
        """Return each `seq` that this map may have had before the latest additions of rows, newest first.

        The list goes back to the latest other change. New classes of rows were added by the entries right before them.
        """
        left, found = list(self.changes), []
        while left and left[-1].kind == ROWS:
            seq = left.pop().seq
            found.append(left[-1].seq if left else 0)
            while left and (left[-1].kind, left[-1].seq) == ("add", seq - 1):
                seq = left.pop().seq
                found.append(left[-1].seq if left else 0)
        return tuple(found)

    def rooted(self, columns: AnyArray) -> AnyArray:
        """Return (..., n_roots): the values of the classes of the table (..., n_tabled), ordered by root. Not a copy if
        the order is the same."""
        if self._tabled == list(range(len(self.columns))):
            return columns
        return moved(columns, np.array(self._tabled), len(self.columns))

    def onto(self, roots: AnyArray) -> AnyArray:
        """Return (..., m): for each effective class, the sum over its roots, or for bools, whether any is set.

        roots : (..., n_roots)"""
        return moved(roots, self.columns, len(self.classes))

    def _take(self, change: ClassChange) -> None:
        before = self.eras[-1]
        if change.seq <= before.seq:
            raise ClassError(f"Changes of classes come in the order of seq. Got {change.seq} after {before.seq}.")
        names, roots = list(before.names), list(before.roots)
        n_known = before.n_known
        if change.kind == "back":
            self._take_back(change)
            return
        if change.kind == ASIDE:
            if change.names[0] in self.aside:
                raise ClassError(f"The answers of annotator {change.names[0]!r} are excluded already.")
            self._begin_same(change)
            return
        if change.kind == ROWS:  # added rows may have any of the classes, so earlier changes can no longer be withdrawn
            self._standing.clear()
            self._begin_same(change)
            return
        if change.kind == "add":
            self._check_new(change.names[0])
            names.append(change.names[0])
            roots.append(frozenset([n_known]))
            self._root[change.names[0]] = n_known
            n_known += 1
        elif change.kind == "rename":
            old, new = change.names
            place = self._place(old)
            self._check_new(new, of=old)
            names[place] = new
            self._root.setdefault(new, self._root[old])
        else:
            away, into = (self._place(name) for name in change.names)
            if away == into:
                raise ClassError(f"{names[into]!r} cannot be merged into itself. Fix: choose two classes.")
            if len(names) == 2:
                raise ClassError("Merging the last two classes would leave nothing to decide between them.")
            roots[into] |= roots[away]
            del names[away], roots[away]
        self._standing.append((change, before))
        self._begin(change, tuple(names), tuple(roots), n_known)

    def _take_back(self, change: ClassChange) -> None:
        if self.aside != aside_after([*self.changes, change]):
            self._begin_same(change)
            return
        latest = self._standing[-1][0] if self._standing else None
        if latest is None or latest.seq != change.target:
            can = f"the latest is entry {latest.seq}" if latest else "there is none"
            raise ClassError(f"Only the latest change of classes can be undone: {can}. Got {change.target!r}.")
        taken, earlier = self._standing.pop()
        self.taken_back = change.seq
        if taken.kind == "add":  # as if it had never been added
            self._dead.add(earlier.n_known)
            self._root = {name: root for name, root in self._root.items() if root not in self._dead}
        self._begin(change, earlier.names, earlier.roots, self.eras[-1].n_known)

    def _begin_same(self, change: ClassChange) -> None:
        """Begin an era with unchanged classes."""
        before = self.eras[-1]
        self._begin(change, before.names, before.roots, before.n_known)

    def _begin(
        self, change: ClassChange, names: tuple[str, ...], roots: tuple[frozenset[int], ...], n_known: int
    ) -> None:
        self.eras.append(Era(change.seq, names, roots, n_known))
        self.changes = (*self.changes, change)

    def _place(self, name: str) -> int:
        names = self.eras[-1].names
        if name not in names:
            raise ClassError(f"{name!r} is not a class. The classes: {class_names(names)}.")
        return names.index(name)

    def _check_new(self, name: str, of: str | None = None) -> None:
        """Raise ClassError unless the name is new or an earlier name of the class `of`."""
        era = self.eras[-1]
        if not name or name != name.strip():
            raise ClassError(f"A class needs a name without blanks around it. Got {name!r}. Fix: type another.")
        if any(unicodedata.category(mark) in ("Cc", "Zl", "Zp") for mark in name):
            raise ClassError(
                f"A class needs a name of one line, without control characters. Got {name!r}. Fix: type another."
            )
        if name in era.names:
            hint = "Fix: choose another name, or merge the two." if of else "Fix: choose another name."
            raise ClassError(f"There is a class {name!r} already. {hint}")
        if name in self._root:
            owner = next(k for k, roots in enumerate(era.roots) if self._root[name] in roots)
            if of is None or era.names[owner] != of:
                raise ClassError(
                    f"{name!r} is an earlier name of {era.names[owner]!r} and still means it in older answers. "
                    "Fix: choose another name."
                )


# A table under the effective classes of its project.

TableT = TypeVar("TableT")


def with_classes(table: TableT, class_map: ClassMap) -> TableT:
    """Return the table under the effective classes, a new dataclass of the same type with the same cells.

    A merged class is a candidate if any of its classes was, with the sum of their weights. An added class is never a
    candidate. True labels are mapped. `table.classes` must be the classes at import."""
    if not class_map.changes:
        return table
    given: Any = table
    if tuple(given.classes) != class_map.tabled:
        raise ClassError(f"The table has other classes than the map: {given.classes} and {class_map.tabled}.")
    truth, weights = given.truth, given.candidate_weights
    if truth is not None:
        column = np.maximum(class_map.column_of_tabled, 0)
        truth = np.where(truth >= 0, column[truth], -1).astype(np.int64)
    weights = None if weights is None else class_map.onto(class_map.rooted(weights))
    candidates = class_map.onto(class_map.rooted(given.candidates))
    mapped = {"candidates": candidates, "candidate_weights": weights, "truth": truth}
    if (votes := getattr(given, "votes", None)) is not None:
        mapped["votes"] = votes.relabelled(class_map.column_of_tabled)
    changed: TableT = dataclasses.replace(given, classes=class_map.classes, **mapped)
    return changed
