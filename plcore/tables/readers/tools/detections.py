"""Detections in recordings, one per row -> one item for each segment of a recording, with its detections.

An item is (recording, start, end): its rows are the candidates, with their scores as weights. Overlapping segments stay
separate items. Every item may also be `NOTHING`, which weighs 1 minus the highest score. The original rows are stored
in the column `ORIGINAL_ROWS`, so that the same table can be exported with people's answers
(`plcore.tables.writers.verdicts`).
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from itertools import groupby
from typing import Any, TypedDict, TypeGuard

import numpy as np
import pandas as pd

from plcore.arrays.words import counted, either
from plcore.tables.media.file_tree import RECORDINGS, FilesByBaseName, FileTree, base_name
from plcore.tables.media.files import MediaFiles
from plcore.tables.readers.candidate_rows import Json, Row, json_in, json_text, rows_reading
from plcore.tables.readers.reading import TableReading

NOTHING = "noise / nothing"
"""The class for sounds of no species; detectors call it `nocall` or `Noise`."""
NO_SPECIES = {
    **dict.fromkeys(("Human non-vocal", "Human vocal", "Human whistle"), "human"),
    **dict.fromkeys(("Engine", "Environmental", "Fireworks", "Gun", "Power tools", "Siren"), "unknown"),
    "Dog": "animal",
}
"""Classes of BirdNET that are not species, with their observation type in Camtrap DP. BirdNET repeats the word as the
scientific name."""
NOTHING_WORDS = frozenset(("nocall", "no call", "noise", "nothing", NOTHING))

ITEM, RECORDING, START, END, CONFIDENCE, SCIENTIFIC, ORIGINAL_ROWS = (
    "item", "recording", "start", "end", "confidence", "scientific_names", "original_rows",
)  # fmt: skip
"""The columns of the items: a name; the path as imported; seconds; the highest score; `Parus major (Great tit)`; JSON
of `OriginalRow`s."""

VERIFIED = ("verified", "verified_label", "verified_by", "verified_at")
"""The columns that an export adds: `true`, `false` or nothing; the label, if known; who decided it, and when."""

BOXES, WHOLE_FILE = "boxes", "megadetector_file"
"""Columns of MegaDetector's files: the boxes of an item as JSON; the rest of the file, in the first row."""

BOX_SIDES = ("box_left", "box_top", "box_width", "box_height")
"""Columns with the box of an item that is one detection, as shares of the picture."""

LEAST_WEIGHT = 0.01
"""Smallest weight of `NOTHING`, if the highest score is 1: a weight of 0 would exclude it."""
_KEPT = {"row": int, "labels": list, "scientific": str, "cells": dict}
MOST_RECORDINGS = 50
NO_RECORDINGS = "No recordings came with the table"
ALONE = (
    f"{NO_RECORDINGS}: it can be answered, but nothing is heard, and only the recording and the second in it are learnt"
    " from. To hear them, put them into one zip with the table; their base names are enough."
)


class OriginalRow(TypedDict):
    """A row of the file: its number (from 1), the classes it is evidence for, and its original cells."""

    row: int
    labels: list[str]
    scientific: str
    cells: dict[str, object]


@dataclass(frozen=True)
class Detection:
    """A species or sound named by a row of the file; a row with several of them has consecutive detections.

    row : from 0      start, end : seconds of the recording      name : as in the file; "" for none
    scientific : name, "" if there is none      score : None if there is none      cells : the original row
    right : a person's verdict on it; None if there is none      true : the names that a person gave the sound instead
    """

    row: int
    recording: str
    start: float
    end: float
    name: str
    scientific: str
    score: float | None
    cells: Mapping[str, str]
    right: bool | None = None
    true: tuple[str, ...] = ()

    @property
    def key(self) -> tuple[int, str, str]:
        """Its row and the names there."""
        return (self.row, self.name, self.scientific)


@dataclass
class _Item:
    recording: str
    start: float
    end: float
    detections: list[Detection] = field(default_factory=list)


def detections_reading(detections: Sequence[Detection], format_name: str, notes: Iterable[str] = ()) -> TableReading:
    """Read these detections, one row for each item in order of first occurrence.

    Of several rows for one species in one segment, the highest score counts. Genera with at least two species are
    groups.
    """
    labels = _labels(detections)
    items: dict[tuple[str, float, float], _Item] = {}
    for one in detections:
        key = (one.recording, one.start, one.end)
        items.setdefault(key, _Item(*key)).detections.append(one)
    said = list(notes)
    again = len(detections) - sum(len({labels[one.key] for one in item.detections}) for item in items.values())
    if again:
        said.append(
            f"A species is listed {counted(again, 'time')} more for a segment that has it already: "
            "the highest score counts."
        )
    if overlapping := _overlapping(list(items.values())):
        said.append(
            f"{counted(overlapping, 'stretch', 'stretches')} {either(overlapping, 'overlaps', 'overlap')} one before "
            "in the same recording: each stays a question of its own."
        )
    said += verdict_notes([(one.right, one.true) for one in detections])
    top = max((one.score for one in detections if one.score is not None), default=None)
    said += unscored_notes([one.score for one in detections])
    scale = None if top is None else max(1.0, top)
    rows = [
        _row(item, labels, scale, name) for item, name in zip(items.values(), _names(list(items.values())), strict=True)
    ]
    known = {labels[one.key]: one.scientific for one in detections if one.scientific}
    several = 1 < len({row.cells[RECORDING] for row in rows}) <= MOST_RECORDINGS
    # A score is the detector's opinion, so a weight: it does not describe the sound.
    learned = {
        "numbers": (START,),
        "categories": (RECORDING,) if several else (),
        "caption": (SCIENTIFIC,) if known else (),
    }
    return scored_reading(rows, format_name, ALONE, learned, classes=[NOTHING], notes=said, groups=genera(known))


def scored_reading(
    rows: Sequence[Row], format_name: str, alone: str, roles: Mapping[str, Any], row_id: str = ITEM, **about: Any
) -> TableReading:
    """Read these rows of a detector, whose original columns are neither shown nor learnt from.

    alone : a note about the files that did not come with the table      roles : those of the columns that are used
    row_id, about : as in `rows_reading`
    """
    reading = rows_reading(rows, format_name, describing=(), row_id=row_id, has_rows=True, **about)
    notes = (*reading.notes, alone) if alone else reading.notes
    return replace(reading, roles=replace(reading.suggest_roles(), **roles), notes=notes)


def with_recordings(reading: TableReading) -> TableReading:
    """Return the reading with the recordings uploaded with it, matched by base name; unchanged if there are none."""
    files, roles = reading.files, reading.suggest_roles()
    if files is None or not isinstance(files.archive, FileTree):
        return reading
    if not any(name.lower().endswith(RECORDINGS) for name in files.archive.names()):
        return reading
    places = replace(roles, audio=RECORDING, start=START, end=END, sound_features=True)
    heard = replace(places, numbers=(), categories=())
    notes = tuple(note for note in reading.notes if not note.startswith(NO_RECORDINGS))
    return replace(reading, roles=heard, files=MediaFiles(FilesByBaseName(files.archive)), notes=notes)


def is_detections(cells: pd.DataFrame) -> bool:
    """Whether these are the cells of a reading made by `detections_reading`."""
    return {ITEM, RECORDING, START, END, ORIGINAL_ROWS} <= set(cells.columns)


def serving_columns(cells: pd.DataFrame) -> frozenset[str]:
    """Columns for exporting a file in its own format, or for drawing; they are not shown as text."""
    known = {ORIGINAL_ROWS, BOXES, WHOLE_FILE}
    return frozenset(known & set(cells.columns)) if ORIGINAL_ROWS in cells else frozenset()


def named_beside(cells: pd.DataFrame, others: pd.DataFrame) -> pd.DataFrame:
    """Return the items of one table of detections, renamed to match another table, without collisions: recordings of
    two stations often have the same names. Unchanged unless both are tables of detections."""
    if not (is_detections(cells) and is_detections(others)):
        return cells
    known = {tuple(key): name for *key, name in others[[RECORDING, START, END, ITEM]].to_numpy().tolist()}
    taken, names = set(known.values()), []
    for recording, start, end, name in cells[[RECORDING, START, END, ITEM]].to_numpy().tolist():
        own = _named(recording, start, end) if name in taken else name
        names.append(known.get((recording, start, end), own))
    return cells.assign(**{ITEM: pd.Series(names, index=cells.index, dtype="str")})


def _named(recording: str, start: str, end: str) -> str:
    return f"{recording} {start}-{end} s"


def original_row(row: int, labels: Sequence[str], scientific: str, cells: Mapping[str, object]) -> OriginalRow:
    """Return the stored facts about a row of the file, counted from 0."""
    return {"row": row + 1, "labels": list(labels), "scientific": scientific, "cells": dict(cells)}


def genera(scientific: Mapping[str, str]) -> dict[str, tuple[str, ...]]:
    """Return the labels of each genus with two or more, unless a label has the name of the genus. scientific : {label:
    name}"""
    found: dict[str, list[str]] = defaultdict(list)
    for label, name in sorted(scientific.items()):
        genus = name.split()[0]
        if genus != name and genus not in scientific:
            found[genus].append(label)
    return {genus: tuple(labels) for genus, labels in found.items() if len(labels) > 1}


def seconds_text(seconds: float) -> str:
    """Write seconds as short as possible: 3, 4.5."""
    return np.format_float_positional(round(seconds, 6), trim="-")


def _labels(detections: Sequence[Detection]) -> dict[tuple[int, str, str], str]:
    """Return the class of each by its key: its name, plus the scientific one if several species share the name; else
    the scientific name."""
    species: dict[str, set[str]] = defaultdict(set)
    for one in detections:
        species[one.name].add(one.scientific)
    found = {}
    for one in detections:
        plain = one.name or one.scientific
        if _is_nothing(plain):
            found[one.key] = NOTHING
        elif one.name and one.scientific and len(species[one.name]) > 1:
            found[one.key] = f"{one.name} ({one.scientific})"
        else:
            found[one.key] = plain
    return found


def _is_nothing(name: str) -> bool:
    return name.casefold() in NOTHING_WORDS


def _row(item: _Item, labels: Mapping[tuple[int, str, str], str], scale: float | None, name: str) -> Row:
    """Return the row of an item. scale : the highest possible score; None if nothing has one"""
    scores: dict[str, float | None] = {}
    for one in item.detections:
        label, before = labels[one.key], scores.get(labels[one.key])
        scores[label] = one.score if before is None else max(before, one.score or 0.0)
    top = max((score for score in scores.values() if score is not None), default=None)
    unscored = scale if top is None else top
    scientific = {labels[one.key]: one.scientific for one in item.detections if one.scientific}
    kept = []
    for number, found in groupby(item.detections, key=lambda one: one.row):
        first, *others = found
        named = [labels[one.key] for one in (first, *others)]
        kept.append(original_row(number, named, first.scientific, first.cells))
    row = Row(
        {
            ITEM: name,
            RECORDING: item.recording,
            START: seconds_text(item.start),
            END: seconds_text(item.end),
            CONFIDENCE: "" if top is None else repr(top),
            SCIENTIFIC: "; ".join(f"{latin} ({label})" for label, latin in scientific.items()),
            ORIGINAL_ROWS: json_text(kept),
        }
    )
    for label, score in scores.items():
        weight = unscored if score is None else score
        row.name(label, weight if scale is None else max(weight or 0.0, LEAST_WEIGHT * scale / 100))
    if NOTHING not in scores:
        row.name(NOTHING, None if scale is None else max(scale - (top or 0.0), LEAST_WEIGHT * scale))
    latin = {name: label for label, name in scientific.items()}
    true = [NOTHING if _is_nothing(name) else latin.get(name, name) for one in item.detections for name in one.true]
    right = [labels[one.key] for one in item.detections if one.right and not one.true]
    wrong = [labels[one.key] for one in item.detections if one.right is False]
    judge(row, {*true, *right}, wrong, NOTHING)
    return row


def judge(row: Row, right: Collection[str], wrong: Collection[str], nothing: str) -> None:
    """Set people's verdicts on the labels of a row: a single right one is the true label; wrong ones are ruled out.

    nothing : the class that every row has in addition. If it would be the only one left, no person has named it, so
        every class that is not ruled out is possible.
    """
    right = {*right}
    for label in {*wrong} - right:
        row.ruled_out.add(label)
        row.weights.pop(label, None)
    if row.ruled_out and row.weights.keys() <= {nothing} and nothing not in right:
        row.weights.clear()
    weighs = any(weight is not None for weight in row.weights.values())
    for label in right:
        if label not in row.weights and row.weights:
            row.name(label, LEAST_WEIGHT if weighs else None)
    if len(right) == 1:
        (row.truth,) = right


def verdict_notes(verdicts: Iterable[tuple[bool | None, Collection[str]]]) -> list[str]:
    """Report the verdicts that people gave in the file. verdicts : whether the label is right, and the true names"""
    given = [*verdicts]
    counts = (
        ("confirmed", sum(bool(right) for right, _ in given), "their label is the true one"),
        ("rejected", sum(right is False for right, _ in given), "their label is ruled out"),
        ("named", sum(bool(true) and not right for right, true in given), "that name is the true label"),
    )
    return [f"Rows that a person has {word}: {count:,}; {meaning}." for word, count, meaning in counts if count]


def fill_unscored(weights: dict[str, float | None]) -> float | None:
    """Give the labels without a score the highest one of the item, or 1 if it has none; return the highest score."""
    top = max((weight for weight in weights.values() if weight is not None), default=None)
    weights.update({label: top or 1.0 for label, weight in weights.items() if weight is None})
    return top


def unscored_notes(scores: Collection[float | None]) -> list[str]:
    """Report detections without a score, if others have one. scores : of all detections"""
    count = sum(score is None for score in scores)
    if not 0 < count < len(scores):
        return []
    each = either(count, "has no score: it weighs", "have no score: each weighs")
    return [
        f"{counted(count, 'detection')} {each} as much as the best one of its item, or 1 if none there has a score."
    ]


def _names(items: Sequence[_Item]) -> list[str]:
    """Return a name for each item: base name and seconds; with the whole path if two recordings have the same name."""
    paths: dict[str, set[str]] = defaultdict(set)
    for item in items:
        paths[base_name(item.recording)].add(item.recording)
    names = []
    for item in items:
        base = base_name(item.recording)
        called = base if len(paths[base]) == 1 else item.recording
        names.append(_named(called, seconds_text(item.start), seconds_text(item.end)))
    return names


def _overlapping(items: Sequence[_Item]) -> int:
    """Count the segments that begin before an earlier one in their recording has ended."""
    count, recording, last = 0, None, 0.0
    for item in sorted(items, key=lambda one: (one.recording, one.start, one.end)):
        if item.recording != recording:
            recording, last = item.recording, 0.0
        count += item.start < last
        last = max(last, item.end)
    return count


def read_original(cell: str) -> list[OriginalRow]:
    """Return the rows stored in a cell of `ORIGINAL_ROWS`; none if it holds something else."""
    kept = json_in(cell) if cell else []
    found = [one for one in kept if _is_original(one)] if isinstance(kept, list) else []
    return found if isinstance(kept, list) and len(found) == len(kept) else []


def _is_original(value: Json) -> TypeGuard[OriginalRow]:
    if not (isinstance(value, dict) and value.keys() == _KEPT.keys()):
        return False
    labels = value["labels"]
    return (
        all(isinstance(value[name], kind) for name, kind in _KEPT.items())
        and isinstance(labels, list)
        and all(isinstance(label, str) for label in labels)
    )


def columns_of(cells: Iterable[str]) -> tuple[str, ...]:
    """Return the columns of the rows stored in these cells, in order of first occurrence."""
    names: dict[str, None] = {}
    for cell in cells:
        for kept in read_original(cell):
            names |= dict.fromkeys(kept["cells"])
    return tuple(names)
