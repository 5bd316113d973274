"""Plug-ins: what other installed distributions declare by entry points, found in one way for every group.

A declaration is a small object. It is imported wherever Winnow runs, so it must not import what it declares: it names
it, as "package.module:name", and `import_part` imports that when it is used.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from importlib import import_module
from importlib.metadata import EntryPoint, entry_points
from typing import Generic, TypeVar

DeclaredT = TypeVar("DeclaredT")
DeclaredT_co = TypeVar("DeclaredT_co", covariant=True)

PREFIX = "plugin-"
"""Prefix of plug-in names in stored settings; no name of Winnow's own has it."""
PART = re.compile(r"[A-Za-z_][\w.]*:[A-Za-z_][\w.]*")
"""A name to import, as in entry points."""
NAME = re.compile(r"[a-z][a-z0-9-]{0,39}")
"""Names of plug-ins, which become parts of file names."""


class PluginError(ValueError):
    """A plug-in is not installed, is broken, or may not run in this process."""


@dataclass(frozen=True)
class Plugin(Generic[DeclaredT_co]):
    """An entry point of a group, and where it comes from.

    distribution, version : of the package that has it
    declared : its declaration, None if it is left out      fault : why it is left out, with the fix; None if it is not
    """

    group: str
    name: str
    distribution: str
    version: str
    declared: DeclaredT_co | None
    fault: str | None

    @property
    def source(self) -> str:
        """Return distribution and version, such as "winnow-example 1.0"."""
        return f"{self.distribution} {self.version}"


def check_declared(words: str, how: str, **parts: str) -> None:
    """Raise ValueError for a wrong declaration.

    words : must be one line, a name, a colon and a description      how : what that says      parts : must be such as
        `PART`
    """
    name, colon, rest = words.partition(": ")
    if not name.strip() or not colon or not rest.strip() or "\n" in words:
        raise ValueError(f"words must be one line, 'NAME: {how}'. Got {words!r}.")
    for field, part in parts.items():
        if not PART.fullmatch(part):
            raise ValueError(f"{field} must be 'package.module:name'. Got {part!r}.")


def find_plugins(group: str, sort: type[DeclaredT]) -> tuple[Plugin[DeclaredT], ...]:
    """Return the plug-ins of a group, sorted by name and distribution. sort : the class of their declarations

    Broken ones are included, with their fault; nothing is raised.
    """
    found: list[Plugin[DeclaredT]] = []
    taken: dict[str, str] = {}
    for point in sorted(entry_points(group=group), key=lambda one: (one.name, _origin(one))):
        declared, fault = None, None
        if point.name in taken:
            fault = f"The name {point.name!r} is taken by {taken[point.name]}. Fix: uninstall one of the two."
        elif not NAME.fullmatch(point.name):
            fault = (
                f"The name {point.name!r} is not allowed. Fix: use 1 to 40 lower-case letters, digits and hyphens, a "
                "letter first."
            )
        else:
            declared, fault = _declaration(point, sort)
        distribution, version = _origin(point)
        if fault is None:
            taken[point.name] = f"{distribution} {version}"
        found.append(Plugin(group, point.name, distribution, version, declared, fault))
    return tuple(found)


def _origin(point: EntryPoint) -> tuple[str, str]:
    return ("?", "?") if point.dist is None else (str(point.dist.name), str(point.dist.version))


def _declaration(point: EntryPoint, sort: type[DeclaredT]) -> tuple[DeclaredT | None, str | None]:
    """Return the declaration, or None and the fault."""
    try:
        declared = point.load()
    except Exception as error:  # code of others: any fault is theirs, and must not stop Winnow
        why = f"{type(error).__name__}: {error}"
        return None, f"{point.value} cannot be imported ({why}). Fix: install it again, or another version of it."
    if not isinstance(declared, sort):
        return None, (
            f"{point.value} must be a {sort.__name__}. Got {type(declared).__name__}. Fix: install a version of it "
            "that fits this Winnow."
        )
    return declared, None


_barred: list[str] = []


@contextmanager
def parts_barred(why: str) -> Iterator[None]:
    """Import no part of a plug-in in this process during the block, only declarations. why : for the message"""
    _barred.append(why)
    try:
        yield
    finally:
        _barred.remove(why)


def import_part(reference: str) -> object:
    """Import what a declaration names. reference : "package.module:name"

    Raises PluginError if it cannot be imported, or may not be in this process.
    """
    if _barred:
        raise PluginError(f"{reference} is part of a plug-in: {_barred[-1]}")
    module, _, path = reference.partition(":")
    try:
        found: object = import_module(module)
        for name in path.split("."):
            found = getattr(found, name)
    except Exception as error:
        raise PluginError(
            f"{reference} of a plug-in cannot be imported ({type(error).__name__}: {error}). Fix: install the plug-in "
            "again with all that it needs."
        ) from error
    return found
