"""Timelapse's table of observations, read and written back, alone or together with MegaDetector's JSON."""

from __future__ import annotations

import json
import re
from collections.abc import Sequence
from dataclasses import replace
from typing import BinaryIO

import pandas as pd
import pyarrow as pa

from plcore.arrays.words import listed
from plcore.tables.problems import refusal
from plcore.tables.readers.candidate_rows import (
    CANDIDATES,
    OPEN_ROWS,
    SOURCES,
    JsonObject,
    Row,
    json_text,
    rows_reading,
)
from plcore.tables.readers.mapping import TableTool
from plcore.tables.readers.reading import Fingerprint, TableReading, by_plain_name, first_named, names, texts_of
from plcore.tables.readers.tools.detections import ITEM, serving_columns
from plcore.tables.readers.tools.megadetector import is_megadetector
from plcore.tables.readers.tools.speciesnet import NO_PICTURES, PATH
from plcore.tables.roles.facts import never_labels
from plcore.tables.roles.sample import key_of
from plcore.tables.text.arrow import csv_header, csv_rows
from plcore.tables.writers.disambiguated import Disambiguated, Tell
from plcore.tables.writers.verdicts import verdicts
from plcore.tables.writers.writing import FileFormat

FOLDER, FILE, DELETE = "relativepath", "file", "deleteflag"
VERIFIED_BY = "verifiedby"
_OBSERVER = (
    *("observer", "observername", "analyst", "annotator", "reviewer", "identifiedby", "classifiedby"),
    *("user", "username"),
)

_FIXED = (
    *("rootfolder", FILE, FOLDER, "folder", "imagequality", "datetime", "date", "time", "utcoffset"),
    *(DELETE, "markfordeletion"),
)
_CALLED = re.compile(r"species|taxon|animal|label|identification|classification", re.IGNORECASE)
_SEVERAL = re.compile(r",(?=\S)")  # Timelapse writes no space between the items of a MultiChoice
_ALONE = f"{NO_PICTURES}. To see them, put them into one zip with it, in the folders of RelativePath."
_FLAGS = frozenset(("true", "false"))
_MOST_WORDS = 4


def _read(cells: pd.DataFrame, called: str) -> TableReading:
    columns = by_plain_name(cells.columns)
    voters = label_columns(cells)
    if not voters:
        others = [name for plain, name in columns.items() if plain not in _FIXED]
        raise refusal(
            f"No column of {listed(others) if others else 'the template'} holds species.",
            "Enter what is in some pictures in Timelapse and export them again, or call the column Species.",
        )
    flagged = texts_of(cells, first_named(columns, DELETE, "markfordeletion"))
    deleted = [flag.lower() == "true" for flag in flagged]
    paths = [
        "/".join(part for part in (folder.replace("\\", "/").strip("/"), file) if part)
        for folder, file in zip(texts_of(cells, columns[FOLDER]), texts_of(cells, columns[FILE]), strict=True)
    ]
    who = first_named(columns, *_OBSERVER)
    observers = texts_of(cells, who)
    # One row for each observer of a picture; several rows by one observer are several animals, each an item.
    by_row = len(set(paths)) < len(paths) == len(set(zip(paths, observers, strict=True)))
    rows: list[Row] = []
    of_picture: dict[str, Row] = {}
    for place, record in enumerate(cells.to_dict("records")):
        if deleted[place]:
            continue
        row = of_picture.get(paths[place]) if by_row else None
        if row is None:
            facts = {str(name): text for name, text in record.items()}
            row = of_picture[paths[place]] = Row({ITEM: paths[place], PATH: paths[place], **facts})
            rows.append(row)
        elif row.cells[voters[0]] != record[voters[0]]:
            row.cells[voters[0]] = ""  # because it has no observer
        for voter in voters:
            for label in filter(None, map(str.strip, _SEVERAL.split(str(record[voter])))):
                row.name(label, 1.0, observers[place] or voter if by_row else voter if len(voters) > 1 else None)
    if not rows:
        raise refusal("Every picture is marked for deletion.", "Clear DeleteFlag for those to be labelled.")
    notes = [f"The labels are those of {listed(voters)}: empty cells are pictures not looked at yet."]
    if by_row:
        notes.append(
            f"Pictures have a row for each observer, who is a voter: the column {listed([str(who)])} names them."
        )
    elif len(voters) > 1:
        notes.append(f"{len(voters)} columns hold the same labels, so each is a voter of its own.")
    if gone := sum(deleted):
        notes.append(f"{gone} picture{'s are' if gone > 1 else ' is'} marked for deletion (DeleteFlag) and left out.")
    describing = [name for plain, name in columns.items() if plain not in (*_FIXED, *_OBSERVER) and name not in voters]
    learned = [name for name in describing if not _is_flag(cells[name])]
    reading = rows_reading(rows, called, describing=learned, row_id=ITEM, notes=notes, has_rows=True)
    roles = replace(reading.suggest_roles(), text=None)
    if not (roles.numbers or roles.categories):  # the camera's place is known for every picture
        roles = replace(roles, categories=(columns[FOLDER],))
    return replace(reading, roles=roles, notes=(*reading.notes, _ALONE))


TIMELAPSE = TableTool(
    "Timelapse image data",
    _read,
    Fingerprint(names(FILE, FOLDER), one_of=(names(DELETE, "markfordeletion"), names("datetime", "date"))),
)


def label_columns(cells: pd.DataFrame) -> list[str]:
    """Return the columns of species: the first one with such a name, or else with few words, and those with the same
    words, like Species and Species2, or the columns of several observers."""
    columns = by_plain_name(cells.columns)
    others = {*_FIXED, *_OBSERVER, VERIFIED_BY, ITEM, PATH, CANDIDATES, SOURCES, *serving_columns(cells)}
    free = [
        name
        for plain, name in columns.items()
        if plain not in others
        and not never_labels(key_of(name))
        and _holds_words(cells[name], few=not _CALLED.search(name))
    ]
    levels = [re.split(r"[\\/]", path) for path in cells[columns[FOLDER]]]
    first = next((name for name in free if _CALLED.search(name)), None)
    varied = [name for name in free if not _is_constant(cells[name])]
    first = first or next((name for name in (*varied, *free) if not _is_level(cells[name], levels)), None)
    if first is None:
        return []
    return [first, *(name for name in free if name != first and _alike(cells[first], cells[name]))]


def _is_constant(column: pd.Series[str]) -> bool:
    """Whether every cell is the same word, such as the alias of the folder above all others."""
    return len(column) > 1 and column.nunique() == 1


def _is_level(column: pd.Series[str], levels: Sequence[Sequence[str]]) -> bool:
    """Whether each cell repeats a folder of its path: Timelapse writes a column for each level, by its alias."""
    return all(cell.strip() in parts for cell, parts in zip(column, levels, strict=True))


def _alike(one: pd.Series[str], other: pd.Series[str]) -> bool:
    """Whether most words of the column with fewer words are in the other, too."""
    words = [set(column.str.strip()) - {""} for column in (one, other)]
    return 2 * len(words[0] & words[1]) >= min(map(len, words))


def _holds_words(column: pd.Series[str], *, few: bool) -> bool:
    """Whether the cells are words, not numbers or flags. few : whether they have to repeat"""
    filled = column.str.strip()
    filled = filled[filled != ""]
    if not len(filled) or _is_flag(column) or pd.to_numeric(filled, errors="coerce").notna().any():
        return False
    is_short = bool((filled.str.count(r"\s+") < _MOST_WORDS).all())
    most = max(2, len(filled) // 2, len(filled) if len(filled) < 5 else 0)
    return is_short and (not few or filled.nunique() <= most)


def _is_flag(column: pd.Series[str]) -> bool:
    return set(column.str.strip().str.lower()) <= _FLAGS


def is_timelapse(cells: pd.DataFrame) -> bool:
    """Whether a table was read from Timelapse's table."""
    return {ITEM, PATH} <= set(cells.columns) and TIMELAPSE.fits(cells)


def write_timelapse(table: Disambiguated, file: BinaryIO, tell: Tell) -> None:
    """Write a CSV that Timelapse imports: File, RelativePath and the column of species, with people's answers.

    A picture has one verdict, so only the first column of species is written. The others hold other observers' answers.
    Timelapse keeps columns that the file lacks, and refuses columns that its template lacks, so VerifiedBy is written
    only if the table came with it. Undecided pictures keep their original cell; those without one are left out. So are
    MegaDetector's pictures that Timelapse's table lacks: it only updates, and accepts no row without a File.
    """
    columns = by_plain_name(table.cells.columns)
    label = label_columns(table.cells)[0]
    by = columns.get(VERIFIED_BY)
    where = [columns[FILE], columns[FOLDER]]
    file.write(csv_header([*where, label, *([] if by is None else [by])]))
    for piece in table.pieces(tell=tell):
        said = verdicts(piece)
        cells = piece.cells[where].assign(
            label=[one.label or old for one, old in zip(said, piece.cells[label], strict=True)]
        )
        if by is not None:
            cells["by"] = [one.person if one.label else old for one, old in zip(said, piece.cells[by], strict=True)]
        known = cells[(cells[where[0]] != "") & (cells["label"] != "")]
        file.write(csv_rows([pa.array(known[name], pa.large_string()) for name in known]))


TIMELAPSE_FORMAT = FileFormat(
    "timelapse",
    "Timelapse CSV",
    ".timelapse.csv",
    "File, RelativePath and the species that people named, as Timelapse imports them: a label a picture, in the first "
    "column of species. The columns of other observers stay as they are there.",
    write_timelapse,
    is_timelapse,
)


DETECTOR = "MegaDetector"


def with_observers(readings: Sequence[TableReading]) -> TableReading | None:
    """Return MegaDetector's pictures with the votes of Timelapse's observers; None if these are other files.

    Pictures are matched by RelativePath and File. The columns of Timelapse stay, so that its table can be written.
    Raises TableError as `TIMELAPSE.read` does.
    """
    detected = [one for one in readings if is_megadetector(one.cells)]
    tables = [one for one in readings if one.roles is None and TIMELAPSE.fits(one.cells)]
    if len(readings) != 2 or len(detected) != 1 or len(tables) != 1:
        return None
    found, observed = detected[0], TIMELAPSE.read(tables[0].cells)
    places = {item: place for place, item in reversed(list(enumerate(observed.cells[ITEM])))}
    at = [places.get(item.replace("\\", "/")) for item in found.cells[ITEM]]
    votes = _objects(observed.cells[CANDIDATES])
    people = _objects(observed.cells[SOURCES]) if SOURCES in observed.cells else [{}] * len(votes)
    before = _objects(found.cells[CANDIDATES])
    sets, sources = [], []
    for place, weights in zip(at, before, strict=True):
        said = {} if place is None else votes[place]
        sets.append({name: weights.get(name, 0) + said.get(name, 0) for name in (*weights, *said)})
        who = {} if place is None else people[place]
        sources.append(
            {
                name: [
                    *([DETECTOR] if name in weights else []),
                    *(who.get(name) or (["Timelapse"] if name in said else [])),
                ]
                for name in sets[-1]
            }
        )
    classes = {name for one in sets for name in one}
    texts = [json_text(one or sorted(classes)) for one in sets]
    own = [name for name in observed.cells.columns if name not in (ITEM, PATH, CANDIDATES, SOURCES)]
    beside = {
        name: ["" if place is None else observed.cells[name].iloc[place] for place in at]
        for name in own
        if name not in found.cells.columns
    }
    columns = {**beside, CANDIDATES: texts, SOURCES: [json_text(one) if one else "" for one in sources]}
    cells = found.cells.assign(
        **{name: pd.Series(values, index=found.cells.index, dtype="str") for name, values in columns.items()}
    )
    matched = sum(place is not None for place in at)
    said = (one for one in observed.notes if not (one.startswith(NO_PICTURES) or OPEN_ROWS in one))
    notes = dict.fromkeys((*found.notes, *said))
    note = (
        f"Pictures of MegaDetector that are in Timelapse's table, too: {matched:,} of {len(at):,}. A vote there weighs "
        "1, a class of the detector its score."
    )
    roles = replace(found.suggest_roles(), voters=SOURCES)
    return replace(found, cells=cells, format=f"{found.format}, {observed.format}", roles=roles, notes=(*notes, note))


def _objects(cells: pd.Series[str]) -> list[JsonObject]:
    """Return the objects in these cells; empty for an unweighted list, which leaves every class possible."""
    found = [json.loads(cell) if cell else {} for cell in cells]
    return [one if isinstance(one, dict) else {} for one in found]
