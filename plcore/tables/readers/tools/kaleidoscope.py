"""Kaleidoscope Pro's `id.csv`, `cluster.csv` and `meta.csv`: identifications in recordings, read and written back.

A line is a segment of a recording. `AUTO ID` and the columns `ALTERNATE`, or the columns `TOP1MATCH`, are its
candidates; `MANUAL ID` is a person's identification. Kaleidoscope appends a star to some of the names.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from functools import partial
from typing import BinaryIO

import pandas as pd

from plcore.arrays.words import counted
from plcore.tables.columns import Finder
from plcore.tables.readers.candidate_rows import Row, json_text, rows_reading
from plcore.tables.readers.mapping import TableTool
from plcore.tables.readers.reading import (
    Fingerprint,
    TableReading,
    by_plain_name,
    names,
    number_in,
    plain_name,
    refusing,
    texts_of,
)
from plcore.tables.readers.tools.detections import (
    CONFIDENCE,
    END,
    ITEM,
    LEAST_WEIGHT,
    NO_RECORDINGS,
    NOTHING,
    ORIGINAL_ROWS,
    RECORDING,
    SCIENTIFIC,
    START,
    original_row,
    seconds_text,
)
from plcore.tables.text.arrow import csv_header, csv_lines
from plcore.tables.writers.disambiguated import Disambiguated, Tell
from plcore.tables.writers.verdicts import first_original, original_columns, original_rows
from plcore.tables.writers.writing import FileFormat

MANUAL = "manual id"

_PATH = ("indir", "folder", "in file")
_NOISE, _NO_ID = "noise", "noid"
_MEASURED = (
    "pulses", "matching", "margin", "n", "fc", "sc", "dur", "fmax", "fmin", "fmean", "tbc", "fk", "tk", "s1", "tc",
    "qual",
)  # fmt: skip
_ALONE = f"{NO_RECORDINGS}. To hear them, put them into one zip with it; their base names are enough."
_CODES = re.compile(r"[A-Z]{4,6}(?:\s+[A-Z]{4,6})+", re.ASCII)
_CLUSTER = re.compile(r"\.\d+$")


Proposals = list[dict[str, float | None]]
"""The candidates of each line with their weights, best first."""


Propose = Callable[[pd.DataFrame, dict[str, str]], Proposals]


def _reading(cells: pd.DataFrame, called: str, propose: Propose, about: str) -> TableReading:
    """Read one row for each line. Raises TableError.

    propose : returns the candidates of each line, from the cells and their columns by plain name
    about : a note about the candidates
    """
    columns = by_plain_name(cells.columns)
    finder = Finder.of(cells)
    start = _numbers(cells, columns["offset"], finder)
    length = _numbers(cells, columns["duration"], finder)
    finder.refuse()
    paths = _paths(cells, columns)
    channels = texts_of(cells, columns.get("channel"))
    proposed = propose(cells, columns)
    manual = texts_of(cells, columns.get(MANUAL))
    measured = [columns[name] for name in _MEASURED if name in columns]
    named = _names(paths, channels, start, length)
    rows: list[Row] = []
    said = Counter[str]()
    for place, record in enumerate(cells.to_dict("records")):
        kept = {str(name): str(text) for name, text in record.items()}
        weights = proposed[place]
        top = next(iter(weights.values()), None)
        row = Row(
            {
                ITEM: named[place],
                RECORDING: paths[place],
                START: seconds_text(start[place]),
                END: seconds_text(start[place] + length[place]),
                CONFIDENCE: "" if top is None else repr(top),
                SCIENTIFIC: "",
                **{name: kept[name] for name in measured},
            }
        )
        judged = [label for part in _ids(manual[place]) if (label := _class(part)) is not None]
        _judge(row, weights, judged, said)
        first = next(iter(weights), None)
        row.cells[ORIGINAL_ROWS] = json_text([original_row(place, [first] if first else [], "", kept)])
        rows.append(row)
    reading = rows_reading(
        rows, called, describing=measured, row_id=ITEM, classes=[NOTHING], notes=[about, *_notes(said)], has_rows=True
    )
    roles = reading.suggest_roles()
    if not (roles.numbers or roles.categories):  # as for other tables of detections
        roles = replace(roles, numbers=(START,))
    return replace(reading, roles=roles, notes=(*reading.notes, _ALONE))


def _ids(text: str) -> list[str]:
    """Split the species of a cell at commas, and codes such as MYOLUC MYOSEP at blanks."""
    parts = [part.strip() for part in text.split(",")]
    return [one for part in parts for one in (part.split() if _CODES.fullmatch(part) else [part])]


def _paths(cells: pd.DataFrame, columns: Mapping[str, str]) -> list[str]:
    """Return the path of each line's recording. columns : by plain name"""
    return [
        "/".join(part.replace("\\", "/").rstrip("/") for part in parts if part)
        for parts in zip(*(texts_of(cells, columns.get(name)) for name in _PATH), strict=True)
    ]


def _numbers(cells: pd.DataFrame, column: str, finder: Finder) -> list[float]:
    found = []
    for row, text in enumerate(texts_of(cells, column)):
        value = _number(text)
        if value is None:
            finder.add(row, column, f"expected seconds, got {text!r}.", "Write a number from 0 on.")
        found.append(value or 0.0)
    return found


def _number(text: str) -> float | None:
    value = number_in(text.replace(",", "."))
    return value if value is not None and 0 <= value < 1e9 else None


def _class(text: str) -> str | None:
    """Return the class of an identification; None if Kaleidoscope could not name the sound."""
    low = text.lower()
    return None if low in ("", _NO_ID) else NOTHING if low == _NOISE else text


def _by_ratio(cells: pd.DataFrame, columns: dict[str, str]) -> Proposals:
    """Weigh AUTO ID by its match ratio; the alternatives share the rest and never weigh more."""
    automatic = texts_of(cells, columns["auto id"])
    others = [texts_of(cells, name) for plain, name in columns.items() if plain.startswith("alternate")]
    ratios = [
        one if (one := _number(text)) is not None and 0 < one <= 1 else None
        for text in texts_of(cells, columns.get("match ratio"))
    ]
    found: Proposals = []
    for text, ratio, *more in zip(automatic, ratios, *others, strict=True):
        first = _class(text)
        weights: dict[str, float | None] = {} if first is None else {first: ratio}
        rest = list(dict.fromkeys(label for one in more if (label := _class(one)) and label not in weights))
        light = None
        if ratio is not None and first is not None and rest:
            light = round(max(min(ratio, 1 - ratio) / len(rest), LEAST_WEIGHT * ratio), 6)
        found.append(weights | dict.fromkeys(rest, light))
    return found


def _by_distance(cells: pd.DataFrame, columns: dict[str, str]) -> Proposals:
    """Return the matches of a line, weighted by 1 / (1 + distance), without the cluster number."""
    pairs = [
        (texts_of(cells, columns[f"top{place}match"]), texts_of(cells, columns.get(f"top{place}dist")))
        for place in (1, 2, 3)
        if f"top{place}match" in columns
    ]
    found: Proposals = []
    for row in range(len(cells)):
        weights: dict[str, float | None] = {}
        for matches, distances in pairs:
            label = _class(_CLUSTER.sub("", matches[row]))
            distance = _number(distances[row])
            if label is not None and label not in weights:
                weights[label] = None if distance is None else round(1 / (1 + distance), 6)
        found.append(weights)
    return found


def _judge(row: Row, weights: dict[str, float | None], manual: Sequence[str], said: Counter[str]) -> None:
    """Set the candidates of a row, and a person's verdict if there is one."""
    for label, weight in weights.items():
        row.name(label, weight)
    if len(manual) == 1:
        said["true"] += 1
        row.truth = manual[0]
    elif manual:
        said["several"] += 1
    weighs = any(weight is not None for weight in weights.values())
    for label in manual:
        if weights and label not in weights:
            said["added"] += 1
        if label not in weights and (weights or len(manual) > 1):
            row.name(label, LEAST_WEIGHT if weighs else None)


def _notes(said: Counter[str]) -> list[str]:
    notes = []
    if said["true"]:
        notes.append(f"MANUAL ID is the true label of {counted(said['true'], 'row')}.")
    if said["several"]:
        notes.append(
            f"MANUAL ID names several species in {counted(said['several'], 'row')}, which is not a single true label."
        )
    if said["added"]:
        notes.append(
            f"MANUAL ID names {counted(said['added'], 'time')} what Kaleidoscope did not propose: it is a candidate "
            "there, too."
        )
    return notes


def _names(paths: Sequence[str], channels: Sequence[str], start: Sequence[float], length: Sequence[float]) -> list[str]:
    """Return a name for each row: base name and seconds; with path and channel if those are not unique."""
    spans = [f"{seconds_text(begin)}-{seconds_text(begin + long)} s" for begin, long in zip(start, length, strict=True)]
    found = [f"{path.rpartition('/')[2]} {span}" for path, span in zip(paths, spans, strict=True)]
    for longer in (
        [f"{path} {span}" for path, span in zip(paths, spans, strict=True)],
        [f"{p} {span}, channel {c}" for p, span, c in zip(paths, spans, channels, strict=True)],
    ):
        times = Counter(found)
        found = [name if times[name] == 1 else other for name, other in zip(found, longer, strict=True)]
    return found


_PLACED = ("indir", "in file", "offset", "duration")
KALEIDOSCOPE_IDS = TableTool(
    "Kaleidoscope id.csv",
    partial(
        _reading,
        propose=_by_ratio,
        about="Candidates are AUTO ID, which weighs its match ratio, and the alternates, which share the rest. "
        "NoID names none: every class stays possible there.",
    ),
    Fingerprint(names(*_PLACED, "auto id")),
)
KALEIDOSCOPE_CLUSTERS = TableTool(
    "Kaleidoscope cluster.csv",
    partial(
        _reading,
        propose=_by_distance,
        about="Candidates are the matches of each line. TOP1DIST is a distance, where less is nearer: a match weighs "
        "1 / (1 + distance). Numbers of clusters are dropped, as in name.3.",
    ),
    Fingerprint(names(*_PLACED, "top1match", "top1dist", "top2dist"), never=names("auto id")),
)


KALEIDOSCOPE_META = TableTool(
    "Kaleidoscope meta.csv",
    refusing(
        "Kaleidoscope's meta.csv describes recordings, but names nothing that was heard in them.",
        "Put it into one zip with id.csv or cluster.csv.",
    ),
    Fingerprint(
        names("indir", "folder", "in file"),
        one_of=(names("duration", "date", "time", "timestamp", "length"),),
        never=names("offset", "auto id", "top1match", "top1dist", "confidence"),
    ),
)
"""Facts about each recording, such as its date, place and device."""
_SHOWN_META = 4


def with_metadata(readings: Sequence[TableReading]) -> TableReading | None:
    """Add the facts in `meta.csv` about their recordings to the lines of `id.csv` or `cluster.csv`; None if these are
    other files.

    The facts are displayed and exported, but not used for training. Raises TableError as the tools do.
    """
    tools = (KALEIDOSCOPE_IDS, KALEIDOSCOPE_CLUSTERS)
    about = [one for one in readings if one.roles is None and KALEIDOSCOPE_META.fits(one.cells)]
    tables = [(tool, one) for one in readings for tool in tools if one.roles is None and tool.fits(one.cells)]
    if len(readings) != 2 or len(about) != 1 or len(tables) != 1:
        return None
    ((tool, table),) = tables
    reading, meta = tool.read(table.cells), about[0].cells
    columns = by_plain_name(meta.columns)
    places = {path: place for place, path in reversed(list(enumerate(_paths(meta, columns))))}
    at = [places.get(path) for path in reading.cells[RECORDING]]
    known = {plain_name(name) for name in (*reading.cells.columns, *table.cells.columns)}
    own = [name for plain, name in columns.items() if plain not in (*_PATH, *known)]
    facts = {name: ["" if place is None else meta[name].iloc[place] for place in at] for name in own}
    cells = reading.cells.assign(
        **{name: pd.Series(one, index=reading.cells.index, dtype="str") for name, one in facts.items()}
    )
    found = sum(place is not None for place in at)
    note = f"meta.csv describes the recordings of {found:,} of {counted(len(at), 'row')}."
    caption = tuple(name for name in own if any(facts[name]))[:_SHOWN_META]
    roles = replace(reading.suggest_roles(), caption=caption)
    form = f"{tool.name}, {KALEIDOSCOPE_META.name}"
    return replace(reading, cells=cells, roles=roles, format=form, notes=(*reading.notes, note))


def is_kaleidoscope(cells: pd.DataFrame) -> bool:
    """Whether a table was read from Kaleidoscope's identifications."""
    columns = pd.DataFrame(columns=list(first_original(cells)))
    return KALEIDOSCOPE_IDS.fits(columns) or KALEIDOSCOPE_CLUSTERS.fits(columns)


def write_kaleidoscope(table: Disambiguated, file: BinaryIO, tell: Tell) -> None:
    """Write the same rows, columns and order, with MANUAL ID filled from people's answers. Kaleidoscope shows no other
    columns."""
    columns = list(original_columns(table))
    manual = next((name for name in columns if plain_name(name) == MANUAL), None)
    if manual is None:
        manual = "MANUAL ID"
        columns.append(manual)
    file.write(csv_header(columns))
    for piece in original_rows(table):
        texts = []
        for row in piece:
            # Only people's decisions are written; Kaleidoscope's word for nothing is Noise.
            label = row.verdict.label
            said = "Noise" if label == NOTHING else label or str(row.cells.get(manual, ""))
            texts.append([said if name == manual else str(row.cells.get(name, "")) for name in columns])
        file.write(csv_lines(texts))
        tell(max(row.item for row in piece))
    tell(len(table.ids))


KALEIDOSCOPE_FORMAT = FileFormat(
    "kaleidoscope",
    "Kaleidoscope id.csv, verified",
    ".id.csv",
    "The table as it came, with what people said in MANUAL ID, as Kaleidoscope Pro opens it.",
    write_kaleidoscope,
    is_kaleidoscope,
)
