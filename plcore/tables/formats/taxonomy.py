"""Labels that are places in a tree, as Label Studio's taxonomies give them -> classes, and groups of classes."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable
from dataclasses import dataclass
from typing import Any

from plcore.common.words import listed
from plcore.tables.formats.reading import refusal
from plcore.tables.formats.record_values import a_name, refuse

Path = tuple[str, ...]
"""The parts of a label from the root on, as in ("Corvus", "Corvus corax"); a plain label has one part."""

JOINT = " / "


@dataclass(frozen=True)
class Taxonomy:
    """The classes are the leaves of the tree, as far as it is known.

    meaning : of each path its classes, those below it if there are any
    groups : names of the places that are no leaves, each with the classes below it
    """

    meaning: dict[Path, tuple[str, ...]]
    groups: dict[str, tuple[str, ...]]


def a_path(value: Any, row: int | None, where: str) -> Path:
    """A label, or a list with the parts of one."""
    if isinstance(value, list):
        if not value:
            raise refuse(
                row, where, "the place in the taxonomy has no parts.", "Write at least one, or remove it."
            )
        return tuple(a_name(part, row, where) for part in value)
    return (a_name(value, row, where),)


def taxonomy_of(paths: Iterable[Path]) -> Taxonomy:
    """The tree of these paths and all that lead to them.

    A place is called by its last part, by the whole path where several have that one. Raises TableError where that
    still does not tell two of them apart.
    """
    wanted = dict.fromkeys(paths)
    nodes = dict.fromkeys(path[:depth] for path in wanted for depth in range(1, len(path) + 1))
    last = Counter(path[-1] for path in nodes)
    names = {path: path[-1] if last[path[-1]] == 1 else JOINT.join(path) for path in nodes}
    twice = [name for name, count in Counter(names.values()).items() if count > 1]
    if twice:
        raise refusal(
            f"Several labels of the taxonomy would be called {listed(twice)}.", "Rename one of each."
        )
    inner = {path[:-1] for path in nodes}
    below: dict[Path, list[str]] = {}
    for path in nodes:
        if path not in inner:
            for depth in range(1, len(path) + 1):
                below.setdefault(path[:depth], []).append(names[path])
    return Taxonomy(
        {path: tuple(below[path]) for path in wanted},
        {names[path]: tuple(below[path]) for path in nodes if path in inner},
    )
