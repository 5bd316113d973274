"""Classes by the names that they have now."""

from __future__ import annotations

from collections.abc import Sequence

from plcore.loop import ClassError, ClassMap


def names_now(class_map: ClassMap, names: Sequence[str | None]) -> tuple[str, ...]:
    """The present names of classes, each once, from names of any time; a class that was taken back keeps its own."""
    known = []
    for name in names:
        try:
            known.append(class_map.now(name or ""))
        except ClassError:
            known.append(name or "")
    return tuple(dict.fromkeys(known))
