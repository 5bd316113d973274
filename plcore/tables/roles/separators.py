"""Doubts that stop an import because a mark may separate labels, or be a part of a name."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Callable, Iterator, Mapping, Sequence

import numpy as np

from plcore.arrays.candidate_sets import pairs_of
from plcore.arrays.words import counted, either, listed, quoted
from plcore.tables.roles.roles import marks_of
from plcore.tables.roles.sample import SELDOM, WORD, parts_known, parts_of
from plcore.tables.roles.vote_stops import Odd
from plcore.tables.table import LabelTable

_MARKS = ("|", ";", ",", "\n", " and ", "\t", *SELDOM, "->", "→", "=>", ">", "_", " ")
_STRONG = ("|", ";", ",", " or ")
"""Marks that suggest a list if one of the parts is a class."""
_EITHER = re.compile(r"(?:either|both|entweder)\s+", re.IGNORECASE)
_BETWEEN = re.compile(
    r"\s*[^\w\s]+\s*|\s{2,}"
    r"|\s+(?:x?or|and|nor|then|else|plus|v|vs|versus|und|oder|et|ou|y|o|e|en|of|och|eller|og|bzw|resp|aka|alias)\.?\s+"
)
_LONGEST, _MOST_CLASSES = 200, 300  # characters of a name, and classes, that are compared with others
_ROWS = 20_000  # rows examined
_SHOWN = 3  # labels in a message


def _mixed_separators(table: LabelTable) -> Iterator[Odd]:
    """Classes made of classes: lists with another separator, or with anything between the names, as in fox xor deer."""
    known, roles = set(table.classes), table.roles
    may_join = len(known) <= _MOST_CLASSES and not (roles.label_columns or roles.score_columns)
    lower = {name.lower(): name for name in known if may_join and WORD.search(name)}
    found: dict[str, list[str]] = {}
    at: list[str] = []
    for name in table.classes:
        inner = name.strip("[](){} ")
        if said := _EITHER.match(inner):
            inner = inner[said.end() :]
        for mark in _MARKS if inner != name else filter(name.__contains__, _MARKS):
            parts = [part.strip("'\" ?") for part in parts_of(inner, mark)]
            if len(parts) < 2 and inner == name:
                continue
            strong = mark == "|" or (roles.form == "list" and mark in _STRONG)
            listed_some = strong and len(parts) > 1 and not known.isdisjoint(parts)
            if parts and name not in parts and (listed_some or known.issuperset(parts)):
                found[name] = parts
                at += [mark] if len(parts) > 1 else []
                break
        else:
            if parts := _joined(name.lower(), lower) if len(name) <= _LONGEST and name.lower() in lower else []:
                found[name] = parts
                at.append("")
    if not found and may_join:
        found = _moving_parts(table.classes)
    name, parts = next(iter(found.items()), ("", []))
    if not found or (
        len(found) == 1 and name in (" ".join(parts), "_".join(parts)) and not _is_other_list(table, name, parts)
    ):
        return  # black bear, next to black and bear
    several = "candidate" if len(parts) == 1 else f"{len(parts)} candidates"
    message = (
        f"{counted(len(found), 'class', 'classes')} {either(len(found), 'is', 'are')} made of other classes, such as "
        f"{quoted(name)}: read here as one class, but it may list the {several} {' and '.join(map(quoted, parts))}."
    )
    fix = "If it lists candidates, write the same separator in every row."
    both = roles.separator + "".join(mark for mark in _MARKS if mark in at)
    if roles.candidates is not None and len(marks_of(both)) > len(marks_of(roles.separator)):
        fix = (
            f"If it lists candidates, choose the separator '{both}' (--separator '{both}'), which splits at each "
            "of them; or write the same separator in every row."
        )
    yield "mixed-separators", message, fix


def _moving_parts(names: Sequence[str]) -> dict[str, list[str]]:
    """Return the names that a mark splits into parts of which at least two have other places in other names, as in
    wren, robin and robin, wren: no name of one class is so."""
    for mark in ("|", ";", ","):
        lists = {name: parts for name in names if len(parts := parts_of(name, mark)) > 1}
        places: dict[str, set[int]] = {}
        for place, part in (one for parts in lists.values() for one in enumerate(parts)):
            places.setdefault(part, set()).add(place)
        if sum(len(one) > 1 for one in places.values()) > 1:
            return lists
    return {}


def _is_other_list(table: LabelTable, name: str, parts: list[str]) -> bool:
    """Whether a class is never a candidate next to others, and the classes that make it up are candidates of a row."""
    rows, classes = pairs_of(table.candidates)
    of = {name: set(rows[classes == k].tolist()) for k, name in enumerate(table.classes) if name in {name, *parts}}
    alone = np.bincount(rows)[list(of[name])].max(initial=0) == 1
    return bool(alone and set.intersection(*(of[part] for part in parts)))


def _joined(name: str, others: Mapping[str, str]) -> list[str]:
    """Return at least two of the others that, with something between each two, make up the name; [] if none do.

    others : in lower case, with their spelling
    From every place that can be reached, once: names that contain each other can be joined in a great many ways.
    """
    parts = [one for one in others if one != name and one in name]
    begins = [at for at in range(len(name)) if any(name.startswith(one, at) for one in parts)]
    left: list[tuple[int, list[str]]] = [(0, [])]
    reached = {0}
    while left:
        at, before = left.pop()
        for one in (one for one in parts if name.startswith(one, at)):
            end, found = at + len(one), [*before, others[one]]
            if end == len(name):
                return found
            further = {place for place in begins if place > end and _BETWEEN.fullmatch(name, end, place)} - reached
            left += ((place, found) for place in further)
            reached |= further
    return []


def _shared_words(table: LabelTable) -> Iterator[Odd]:
    """Names with a common last or first word, split as in Downy/Hairy Woodpecker and Parus major/caeruleus."""
    column, mark = table.roles.candidates, table.roles.separator
    if column is None or table.roles.form != "list" or mark not in SELDOM:
        return
    known = set(table.classes)
    for cell in table.cells[column].head(_ROWS).str.strip().unique():
        parts = parts_of(str(cell), mark)
        first, last = parts[0].rpartition(" ")[0], parts[-1].rpartition(" ")[2]
        before = [f"{part} {last}" for part in parts[:-1]] if " " in parts[-1] else []
        after = [f"{first} {part}" for part in parts[1:]] if first else []
        whole = next((one for one in (before, after) if one and known >= set(one)), None)
        if whole is not None:
            which = "first" if whole is before else "last"
            message = (
                f"{quoted(str(cell))} is read here as the candidates {listed(parts, _SHOWN)}, but the {which} may be "
                f"{quoted(whole[0 if whole is before else -1])}, which is a class as well."
            )
            yield "shared-words", message, "If it is, write every name in full."
            return


def _guessed_separator(table: LabelTable) -> Iterator[Odd]:
    """A separator in few cells whose parts occur nowhere else, as in Gull, Herring."""
    column, mark = table.roles.candidates, table.roles.separator
    if column is None or table.roles.form != "list":
        return
    cells = [cell for cell in table.cells[column].head(_ROWS).str.strip().tolist() if cell]
    split = Counter(cell for cell in cells if len(parts_of(cell, mark)) > 1)
    known = parts_known(cells, mark)
    odd = [cell for cell in split if not known & set(parts_of(cell, mark))]
    if mark not in SELDOM and odd and len(odd) == len(split) and 2 * sum(split.values()) <= len(cells):
        message = (
            f"{counted(sum(split.values()), 'cell')} of {len(cells):,} hold {quoted(mark)}, such as {quoted(odd[0])}: "
            f"read here as {len(parts_of(odd[0], mark))} candidates, but it may be one class with {quoted(mark)} in "
            "its name, because no other cell names the parts."
        )
        yield "few-separators", message, "If it is one class, choose another separator."


STOPPING_SEPARATORS: tuple[Callable[[LabelTable], Iterator[Odd]], ...] = (
    _shared_words,
    _guessed_separator,
    _mixed_separators,
)
