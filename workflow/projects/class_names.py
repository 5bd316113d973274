"""Groups of classes, as a genus is a group of its species: read from a file, and translated to the current classes.

Groups are stored with the names that their classes had at that time. A name always belongs to its class
(`plcore.loop.classes`), so renames and merges need not change the groups.
"""

from __future__ import annotations

import unicodedata
from collections.abc import Iterator, Mapping, Sequence

from plcore.arrays import forbidden_in_name, quoted
from plcore.loop import ClassError, ClassMap
from plcore.tables import MAX_PROBLEMS, Problem, TableError, TableReading
from workflow.answering.room_settings import GROUP_LENGTH, MOST_GROUPED, Groups


def groups_now(groups: Groups, class_map: ClassMap) -> dict[str, tuple[str, ...]]:
    """Return the groups under the present names of their classes, each once; only those with at least two classes."""
    known, called = class_map.known_names, class_map.now if class_map.changes else str
    found = {}
    for name, classes in groups.items():
        present = tuple(dict.fromkeys(called(one) for one in classes if one in known))
        if len(present) > 1:
            found[name] = present
    return found


def among_candidates(groups: Groups, candidates: Sequence[str]) -> dict[str, tuple[str, ...]]:
    """Return, for each group with some but not all of the candidates, its candidates in order; groups with several
    candidates first."""
    found = {}
    for name, classes in groups.items():
        inside = set(classes)
        here = tuple(one for one in candidates if one in inside)
        if 0 < len(here) < len(candidates):
            found[name] = here
    return dict(sorted(found.items(), key=lambda group: len(group[1]) == 1))


def limit_groups(groups: Groups, classes: Sequence[str]) -> dict[str, tuple[str, ...]]:
    """Return the groups with only those of their classes that are given, without empty groups."""
    known = set(classes)
    kept = {name: tuple(one for one in members if one in known) for name, members in groups.items()}
    return {name: members for name, members in kept.items() if members and name not in known}


def read_groups(reading: TableReading, class_map: ClassMap) -> dict[str, tuple[str, ...]]:
    """Read the groups of a file, from its taxonomy if it has one, else from its columns: the first names a class, the
    others its groups, such as its genus and its family. A cell may be empty, but not a whole row.

    Raises TableError if a class is not in the project, a group is named like a class, or something is missing.
    """
    if reading.groups:
        found = limit_groups(reading.groups, list(class_map.known_names))
        if not found:
            raise TableError(_whole("No class of the file's taxonomy is in the project.", "Choose the project's own."))
    else:
        members: dict[str, dict[str, None]] = {}
        for name, group in _pairs(reading, class_map):
            members.setdefault(group, {})[name] = None
        found = {group: tuple(classes) for group, classes in members.items()}
    if (total := sum(map(len, found.values()))) > MOST_GROUPED:
        raise TableError(
            _whole(
                f"The groups have {total:,} classes together; at most {MOST_GROUPED:,} are allowed.",
                "Leave a level of the tree out.",
            )
        )
    return found


def _pairs(reading: TableReading, class_map: ClassMap) -> list[tuple[str, str]]:
    """Return each class with each group it is in, by present names."""
    cells = reading.cells
    columns = [str(name) for name in cells.columns]
    if len(columns) < 2:
        raise TableError(
            _whole(
                "The file has one column; groups take two or more.",
                "Put the class into the first, its group into the next, such as: class,genus",
            )
        )
    if (heading := _composed(columns[0])) in class_map.known_names:
        raise TableError(
            _whole(
                f"The first line is taken for the headings of the columns, but {quoted(heading)} is a class.",
                "Put a line above it, such as: class,group",
            )
        )
    pairs: list[tuple[str, str]] = []
    problems: list[Problem] = []
    lines = cells.index if cells.index.name == "line" else [None] * len(cells)
    for number, (line, row) in enumerate(zip(lines, cells.itertuples(index=False), strict=True), start=1):
        name, *groups = (_composed(str(cell)) for cell in row)
        groups = [" ".join(group.split()) for group in groups]
        wrong = list(_wrong(name, dict(zip(columns[1:], groups, strict=True)), columns[0], class_map))
        at = None if line is None else int(line)
        problems += [Problem(number, at, column, message, fix) for column, message, fix in wrong]
        if not wrong:
            pairs += [(class_map.now(name), group) for group in groups if group]
    if problems:
        raise TableError(*problems[:MAX_PROBLEMS])
    return pairs


def _wrong(name: str, groups: Mapping[str, str], first: str, class_map: ClassMap) -> Iterator[tuple[str, str, str]]:
    """Yield (column, problem, fix) for a row. groups : {column: name of the group, '' for none}"""
    if not name:
        yield first, "No class is named.", "Name one, or remove the row."
    elif name not in class_map.known_names:
        yield (
            first,
            f"{quoted(name)} is not a class of the project.",
            "Correct the name, add the class first, or remove the row.",
        )
    if not any(groups.values()):
        yield next(iter(groups)), "No group is named.", "Name one, or remove the row."
    for column, group in groups.items():
        if group in class_map.known_names:
            yield (
                column,
                f"The group {quoted(group)} has the name of a class.",
                f"Call it otherwise, such as {quoted(group + ' (any)')}.",
            )
        elif len(group) > GROUP_LENGTH:
            yield (
                column,
                f"The group's name has {len(group)} characters; at most {GROUP_LENGTH} are allowed.",
                "Shorten it.",
            )
        elif (found := forbidden_in_name(group)) is not None:
            yield column, f"The group's name holds {found}, which none may.", "Take it out."


def _composed(text: str) -> str:
    """Normalize the text as class names are (`plcore.tables.roles.cells`)."""
    return unicodedata.normalize("NFC", text).strip()


def _whole(message: str, fix: str) -> Problem:
    return Problem(None, None, None, message, fix)


# Classes by their present names.


def names_now(class_map: ClassMap, names: Sequence[str | None]) -> tuple[str, ...]:
    """Return the present names of classes, each once, from names of any time; a withdrawn class keeps its own name."""
    known = []
    for name in names:
        try:
            known.append(class_map.now(name or ""))
        except ClassError:
            known.append(name or "")
    return tuple(dict.fromkeys(known))
