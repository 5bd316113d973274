"""What a person can choose about a file before its columns are looked at: what an item is, which answers count."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass

from plcore.arrays.words import listed, quoted
from plcore.tables.readers.reading import TableReading, refusal
from plcore.tables.readers.tools.crowds import UNFINISHED, has_unfinished, with_answers
from plcore.tables.readers.tools.megadetector import ITEMS, items_of, read_by


@dataclass(frozen=True)
class Way:
    """A choice about a file. name : for programs      question : for people

    options : what each value means; the first is how the file is read unless somebody says
    """

    name: str
    question: str
    options: Mapping[str, str]


@dataclass(frozen=True)
class _Chooser:
    """A choice that some files have. options_of : of its values those that a file has      read : with such a value"""

    way: Way
    options_of: Callable[[TableReading], tuple[str, ...]]
    read: Callable[[TableReading, str], TableReading]


_CHOOSERS = (
    _Chooser(
        Way(
            "item",
            "What is one item?",
            dict(
                zip(
                    ITEMS,
                    (
                        "a picture or video, with all its detections",
                        "a detection, whose box alone is drawn; a picture without one stays an item",
                        "a picture, or a frame of a video",
                    ),
                    strict=True,
                )
            ),
        ),
        items_of,
        read_by,
    ),
    _Chooser(
        Way(
            "unfinished",
            "Answers of people who did not finish",
            dict(zip(UNFINISHED, ("leave them out", "count them"), strict=True)),
        ),
        lambda reading: UNFINISHED if has_unfinished(reading) else (),
        with_answers,
    ),
)
WAYS = tuple(one.way for one in _CHOOSERS)
"""All choices, each with all values that it has for any file."""


def ways_of(reading: TableReading) -> tuple[Way, ...]:
    """The choices that this file has. reading : as `read_table` gave it, in no other shape"""
    found = []
    for one in _CHOOSERS:
        values = one.options_of(reading)
        if len(values) > 1:
            found.append(
                Way(one.way.name, one.way.question, {name: one.way.options[name] for name in values})
            )
    return tuple(found)


def read_in(reading: TableReading, chosen: Mapping[str, str]) -> TableReading:
    """The file as it was chosen. chosen : values by the names of choices; what is not chosen stays as it is read first

    Raises TableError for a choice, or a value, that the file does not have.
    """
    offered = {one.name: one for one in ways_of(reading)}
    for name, value in chosen.items():
        if name not in offered or value not in offered[name].options:
            values = list(offered[name].options) if name in offered else []
            have = f"it can be {listed(values)}" if values else "this file has no such choice"
            message = f"The choice {name} cannot be {quoted(value)}: {have}."
            raise refusal(message, "Leave it out, or choose another.")
    for one in _CHOOSERS:
        if one.way.name in chosen:
            reading = one.read(reading, chosen[one.way.name])
    return reading
