"""Tables of monitoring stations: BirdNET-Pi's detections and the observations of Camtrap DP.

Layouts: Nachtzuster/BirdNET-Pi, `scripts/createdb.sh`; tdwg/camtrap-dp 1.0, `observations-table-schema.json`.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import replace
from types import MappingProxyType

import pandas as pd

from plcore.tables.readers.candidate_rows import Cells, Row, rows_reading
from plcore.tables.readers.mapping import TableTool
from plcore.tables.readers.reading import (
    Fingerprint,
    TableReading,
    by_plain_name,
    names,
    numbers_of,
    refusal,
    texts_of,
)
from plcore.tables.readers.tools.detections import (
    CONFIDENCE,
    ITEM,
    LEAST_WEIGHT,
    NOTHING,
    NOTHING_WORDS,
    SCIENTIFIC,
    genera,
)
from plcore.tables.readers.tools.speciesnet import PATH

CLIP = "clip"
_NOTHING = ("", "NA", "NaN", "nan")
_TYPES = ("human", "vehicle", "blank")


def _read_station(cells: pd.DataFrame, called: str) -> TableReading:
    """One row for each date and time, with what was heard then. Raises TableError."""
    columns = by_plain_name(cells.columns)
    dates, times = texts_of(cells, columns["date"]), texts_of(cells, columns["time"])
    latin, common = texts_of(cells, columns["sci_name"]), texts_of(cells, columns["com_name"])
    files, weeks = texts_of(cells, columns.get("file_name")), texts_of(cells, columns.get("week"))
    scores = _scores(cells, columns["confidence"])
    rows: dict[str, Row] = {}
    heard: dict[str, dict[str, str]] = {}
    corrected: dict[str, set[str]] = {}
    for place, label in enumerate(common):
        label = label or latin[place]
        label = NOTHING if label.casefold() in NOTHING_WORDS else label
        item = f"{dates[place]} {times[place]}"
        row = rows.setdefault(item, Row({ITEM: item, "date": dates[place], "week": weeks[place], CLIP: ""}))
        row.cells[CLIP] = row.cells[CLIP] or _clip(dates[place], label, files[place])
        heard.setdefault(item, {})[label] = latin[place]
        score = scores[place]
        if score == 0:  # a person has changed the name: the station then writes 0
            corrected.setdefault(item, set()).add(label)
        else:
            row.weights[label] = max(score or 0.0, row.weights.get(label) or 0.0)
    unclear = sum(len(labels) > 1 for labels in corrected.values())
    for item, row in rows.items():
        top = max((weight for weight in row.weights.values() if weight is not None), default=None)
        row.cells[CONFIDENCE] = "" if top is None else repr(top)
        row.cells[SCIENTIFIC] = "; ".join(f"{name} ({label})" for label, name in heard[item].items() if name)
        said = corrected.get(item, set())
        for label in said:
            row.weights.setdefault(label, 1.0)
        if len(said) == 1:
            row.truth = next(iter(said))
        elif not said and NOTHING not in row.weights:
            row.name(NOTHING, max(1.0 - (top or 0.0), LEAST_WEIGHT))
    notes = ["Rows of one date and time are one item: their species are its candidates."]
    if corrected:
        notes.append(
            f"Items with a confidence of 0: {len(corrected)}. BirdNET-Pi writes 0 if a person changed the name, so "
            "that name is the true label."
        )
    if unclear:
        notes.append(f"Items with several such names, which have no single true label: {unclear}.")
    known = {label: name for names_ in heard.values() for label, name in names_.items() if name}
    reading = rows_reading(
        list(rows.values()),
        called,
        describing=(CLIP,),
        row_id=ITEM,
        classes=[NOTHING],
        notes=notes,
        groups=genera(known),
    )
    numbers = (CONFIDENCE, *(("week",) if all(weeks) else ()))
    roles = replace(reading.suggest_roles(), numbers=numbers, categories=(), text=None, caption=(SCIENTIFIC,))
    return replace(reading, roles=roles)


def _scores(cells: pd.DataFrame, column: str | None) -> list[float | None]:
    return numbers_of(cells, column, "a score from 0 to 1", most=1.0)


def _clip(date: str, label: str, file: str) -> str:
    """The path of a clip below the station's folder."""
    folder = label.replace(" ", "_").replace("'", "")
    return f"BirdSongs/Extracted/By_Date/{date}/{folder}/{file}" if file else ""


OBSERVATIONS, _MEDIA, _DEPLOYMENTS = PACKAGE = ("observations.csv", "media.csv", "deployments.csv")
_SHOWN_MEDIA = ("timestamp", "filePath", "fileMediatype")
_SHOWN_DEPLOYMENT = ("locationName", "latitude", "longitude")


def read_package(tables: Mapping[str, pd.DataFrame]) -> TableReading:
    """One row for each medium of a Camtrap DP, or for each event. tables : by the names of their files

    Media without an observation are rows, too. Raises TableError.
    """
    media = _by_id(tables.get(_MEDIA), "mediaid")
    deployments = _by_id(tables.get(_DEPLOYMENTS), "deploymentid")
    return _read_observations(tables[OBSERVATIONS], "Camtrap DP", media, deployments)


def _by_id(cells: pd.DataFrame | None, key: str) -> dict[str, dict[str, str]]:
    """The rows of a table of the package by id, their cells by plain name."""
    if cells is None:
        return {}
    columns = by_plain_name(cells.columns)
    texts = {plain: texts_of(cells, name) for plain, name in columns.items()}
    ids = texts.get(key, [])
    return {one: {plain: column[row] for plain, column in texts.items()} for row, one in enumerate(ids)}


def _facts(known: Mapping[str, str], wanted: Sequence[str]) -> Cells:
    return {name: known[name.lower()] for name in wanted if name.lower() in known}


def _about_medium(known: Mapping[str, str]) -> Cells:
    """What is known of a medium; its path if it is a picture in the package: addresses are shown, never fetched."""
    path = known.get("filepath", "")
    is_picture = known.get("filemediatype", "image/").startswith("image/") and "://" not in path
    return {**_facts(known, _SHOWN_MEDIA), PATH: path if is_picture else ""}


def _read_observations(
    cells: pd.DataFrame,
    called: str,
    media: Mapping[str, Mapping[str, str]] = MappingProxyType({}),
    deployments: Mapping[str, Mapping[str, str]] = MappingProxyType({}),
) -> TableReading:
    """One row for each medium or event. Raises TableError.

    media, deployments : of the package by id, if they came with it
    """
    columns = by_plain_name(cells.columns)

    def texts(name: str) -> Sequence[str]:
        found = texts_of(cells, columns.get(name.lower()))
        return ["" if text in _NOTHING else text for text in found]

    level = texts("observationLevel")
    of_media = any(one == "media" for one in level)
    wanted, id_name = ("media", "mediaID") if of_media else ("event", "eventID")
    ids, kinds, species = texts(id_name), texts("observationType"), texts("scientificName")
    methods, people = texts("classificationMethod"), texts("classifiedBy")
    places, starts = texts("deploymentID"), texts("eventStart")
    scores = _scores(cells, columns.get("classificationprobability"))
    rows: dict[str, Row] = {}
    tops: dict[str, float] = {}
    seen: dict[str, set[str]] = {}
    said = Counter[str]()
    for place, item in enumerate(ids):
        if level[place] != wanted or not item:
            said["other"] += 1
            continue
        facts: Cells = {id_name: item, "deploymentID": places[place], "eventStart": starts[place]}
        if item not in rows:
            about = _about_medium(media[item]) if of_media and item in media else {}
            rows[item] = Row(
                {**facts, **about, **_facts(deployments.get(places[place], {}), _SHOWN_DEPLOYMENT)}
            )
        row = rows[item]
        kind, method = kinds[place], methods[place]
        if kind in ("unknown", "unclassified", ""):
            said[kind or "unclassified"] += 1
            continue
        label = kind if kind in _TYPES else species[place] or kind
        if method == "human":
            row.name(label, 1.0, people[place] or "human")
            seen.setdefault(item, set()).add(label)
        else:
            score = scores[place]
            row.name(label, score, people[place] or method or None)
            tops[item] = max(score or 0.0, tops.get(item, 0.0))
    said["several"] = sum(len(labels) > 1 for labels in seen.values())
    if of_media:
        for item, known in media.items():
            if item not in rows:
                said["unseen"] += 1
                at = known.get("deploymentid", "")
                facts = {id_name: item, "deploymentID": at, "eventStart": "", **_about_medium(known)}
                rows[item] = Row({**facts, **_facts(deployments.get(at, {}), _SHOWN_DEPLOYMENT)})
    if not rows:
        raise refusal(
            f"No observation names a {wanted}: the column {id_name} is empty.",
            "Export the observations with mediaID or eventID.",
        )
    for item, row in rows.items():
        row.cells[CONFIDENCE] = repr(tops[item]) if item in tops else ""
    reading = rows_reading(
        list(rows.values()),
        called,
        describing=(),
        row_id=id_name,
        notes=_camtrap_notes(said, wanted),
        has_rows=True,
    )
    several = len({row.cells["deploymentID"] for row in rows.values()}) > 1
    roles = replace(
        reading.suggest_roles(),
        numbers=(CONFIDENCE,),
        categories=("deploymentID",) if several else (),
        caption=tuple(name for name in ("eventStart", *_SHOWN_DEPLOYMENT) if name in reading.cells),
    )
    return replace(reading, roles=roles)


def _camtrap_notes(said: Counter[str], wanted: str) -> list[str]:
    notes = [
        "Observations by a machine are candidates that weigh their probability; those by people are votes."
    ]
    if said["other"]:
        other = "events" if wanted == "media" else "media"
        notes.append(
            f"Observations about {other} that were not read, for they tell of the same animals: {said['other']}."
        )
    if said["unknown"]:
        notes.append(f"Observations of type unknown, whose observer could not tell: {said['unknown']}.")
    if said["unclassified"]:
        notes.append(f"Observations that are unclassified, so not looked at yet: {said['unclassified']}.")
    if said["unseen"]:
        notes.append(f"Media without an observation, which nobody has classified: {said['unseen']}.")
    if said["several"]:
        notes.append(
            f"Items in which people saw several species, which may be several animals: {said['several']}. Winnow asks "
            "for one class an item."
        )
    return notes


BIRDNET_PI = TableTool(
    "BirdNET-Pi detections",
    _read_station,
    Fingerprint(names("date", "time", "sci_name", "com_name", "confidence", "cutoff", "overlap")),
)
"""`BirdDB.txt`, or the table `detections` of the station's database as CSV."""

CAMTRAP_OBSERVATIONS = TableTool(
    "Camtrap DP observations",
    _read_observations,
    Fingerprint(names("observationid", "deploymentid", "observationlevel", "observationtype")),
)
"""`observations.csv` of a Camtrap DP: an item is a medium, or an event if no observation is about a medium."""
