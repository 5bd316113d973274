"""Tables of monitoring stations: detections of BirdNET-Pi and BirdNET-Go, and the observations of Camtrap DP.

Layouts: Nachtzuster/BirdNET-Pi, `scripts/createdb.sh`; tphakala/birdnet-go, `internal/datastore/model.go`;
tdwg/camtrap-dp 1.0, `observations-table-schema.json`.
"""

from __future__ import annotations

from bisect import bisect_left, bisect_right
from collections import Counter, defaultdict
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import replace
from types import MappingProxyType

import pandas as pd

from plcore.tables.problems import refusal
from plcore.tables.readers.candidate_rows import At, Best, Cells, Row, json_text, read_each, rows_reading
from plcore.tables.readers.mapping import Fields, RecordTool, TableTool
from plcore.tables.readers.reading import (
    Fingerprint,
    TableReading,
    by_plain_name,
    moment_in,
    names,
    refusing,
    scores_of,
    texts_of,
)
from plcore.tables.readers.records import flat_cells
from plcore.tables.readers.tools.detections import (
    CONFIDENCE,
    ITEM,
    LEAST_WEIGHT,
    NOTHING,
    NOTHING_WORDS,
    ORIGINAL_ROWS,
    SCIENTIFIC,
    OriginalRow,
    fill_unscored,
    genera,
    original_row,
    scored_reading,
    unscored_notes,
)
from plcore.tables.readers.tools.speciesnet import PATH

CLIP = "clip"
_NOTHING = ("", "NA", "NaN", "nan")
_TYPES = ("human", "vehicle", "blank")


def _read_pi(cells: pd.DataFrame, called: str) -> TableReading:
    columns = by_plain_name(cells.columns)
    scores = scores_of(cells, columns["confidence"])
    # A person has changed the name: the station then writes the score 0.
    verdicts = [_RIGHT if score == 0 else "" for score in scores]
    notes = []
    if corrected := sum(map(bool, verdicts)):
        notes.append(
            f"Items with a confidence of 0: {corrected}. BirdNET-Pi writes 0 if a person changed the name, so that "
            "name is the true label."
        )
    texts = {name: texts_of(cells, columns.get(name)) for name in _STATION}
    texts["clip"] = [
        _clip(date, name or latin, file)
        for date, name, latin, file in zip(
            *(texts[name] for name in ("date", "com_name", "sci_name", "file_name")), strict=True
        )
    ]
    return _station(texts, scores, verdicts, called, notes)


def _read_go(cells: pd.DataFrame, called: str) -> TableReading:
    """Read a table of BirdNET-Go, whose reviews are `correct` or `false_positive`, in the same way. Raises
    TableError."""
    columns = {plain.replace("_", ""): name for plain, name in by_plain_name(cells.columns).items()}
    names_ = ("date", "time", "scientificname", "commonname", "week", "clipname")
    told = zip((*_STATION[:5], "clip"), names_, strict=True)
    texts = {name: texts_of(cells, columns.get(own)) for name, own in told}
    verdicts = [text.lower() for text in texts_of(cells, columns.get("verified"))]
    notes = [
        f"Reviewed as {word}: {count}, {meaning}."
        for word, meaning in ((_RIGHT, "a true label"), (_WRONG, "a label that is ruled out"))
        if (count := verdicts.count(word))
    ]
    return _station(texts, scores_of(cells, columns.get("confidence")), verdicts, called, notes)


_STATION = ("date", "time", "sci_name", "com_name", "week", "file_name")
_RIGHT, _WRONG = "correct", "false_positive"


def _station(
    texts: Mapping[str, Sequence[str]],
    scores: Sequence[float | None],
    verdicts: Sequence[str],
    called: str,
    notes: Iterable[str],
) -> TableReading:
    """Read one row for each date and time. texts : of each detection, by the names in `_STATION`, and its clip

    verdicts : a person's verdict on each detection: `_RIGHT`, `_WRONG`, or anything else for none
    """
    rows: dict[str, Row] = {}
    heard: dict[str, dict[str, str]] = {}
    right: dict[str, set[str]] = {}
    for place, label in enumerate(texts["com_name"]):
        date, time, latin = texts["date"][place], texts["time"][place], texts["sci_name"][place]
        label = label or latin
        label = NOTHING if label.casefold() in NOTHING_WORDS else label
        item = f"{date} {time}"
        row = rows.setdefault(item, Row({ITEM: item, "date": date, "week": texts["week"][place], CLIP: ""}))
        row.cells[CLIP] = row.cells[CLIP] or texts["clip"][place]
        heard.setdefault(item, {})[label] = latin
        if verdicts[place] == _RIGHT:
            right.setdefault(item, set()).add(label)
            row.weights.setdefault(label, scores[place] or 1.0)
        elif verdicts[place] == _WRONG:
            row.ruled_out.add(label)
        else:
            score, before = scores[place], row.weights.get(label)
            row.weights[label] = before if score is None else max(score, before or 0.0)
    unclear = sum(len(labels) > 1 for labels in right.values())
    for item, row in rows.items():
        top = fill_unscored(row.weights)
        row.cells[CONFIDENCE] = "" if top is None else repr(top)
        row.cells[SCIENTIFIC] = "; ".join(f"{name} ({label})" for label, name in heard[item].items() if name)
        said = right.get(item, set())
        if len(said) == 1:
            row.truth = next(iter(said))
        elif not said and row.weights and NOTHING not in row.weights:
            row.name(NOTHING, max(1.0 - (top or 0.0), LEAST_WEIGHT))
    said_of = ["Rows of one date and time are one item: their species are its candidates.", *notes]
    said_of += unscored_notes(scores)
    if unclear:
        said_of.append(f"Items with several such names, which have no single true label: {unclear}.")
    known = {label: name for names_ in heard.values() for label, name in names_.items() if name}
    reading = rows_reading(
        list(rows.values()),
        called,
        describing=(CLIP,),
        row_id=ITEM,
        classes=[NOTHING],
        notes=said_of,
        groups=genera(known),
    )
    numbers = ("week",) if all(row.cells["week"] for row in rows.values()) else (CONFIDENCE,)
    roles = replace(reading.suggest_roles(), numbers=numbers, categories=(), text=None, caption=(SCIENTIFIC,))
    return replace(reading, roles=roles)


def _clip(date: str, label: str, file: str) -> str:
    folder = label.replace(" ", "_").replace("'", "")
    return f"BirdSongs/Extracted/By_Date/{date}/{folder}/{file}" if file else ""


OBSERVATIONS, _MEDIA, _DEPLOYMENTS = PACKAGE = ("observations.csv", "media.csv", "deployments.csv")
_IDS = {"media": "mediaID", "event": "eventID"}
_SHOWN_MEDIA = ("timestamp", "filePath", "fileMediatype")
_SHOWN_DEPLOYMENT = ("locationName", "latitude", "longitude")


MEDIUM, EVENT = LEVELS = "media", "event"
"""The levels of observations: possible kinds of item. Both cover the same animals, so only one is read."""


def levels_of(cells: pd.DataFrame) -> tuple[str, ...]:
    """Return the levels of Camtrap DP's observations that name an item, media before events."""
    columns = by_plain_name(cells.columns)
    levels = texts_of(cells, columns["observationlevel"])
    ids = {level: texts_of(cells, columns.get(name.lower())) for level, name in _IDS.items()}
    return tuple(
        level
        for level in LEVELS
        if any(one == level and item not in _NOTHING for one, item in zip(levels, ids[level], strict=True))
    )


def items_of(reading: TableReading) -> tuple[str, ...]:
    """Return the possible kinds of item of Camtrap DP's observations, in their default reading; none for other
    files."""
    if reading.others:
        return (MEDIUM, *reading.others)
    is_table = reading.roles is None and CAMTRAP_OBSERVATIONS.fits(reading.cells)
    return levels_of(reading.cells) if is_table else ()


def read_by(reading: TableReading, level: str) -> TableReading:
    """Read the same file with another kind of item. level : one of `items_of`. Raises TableError"""
    if level == MEDIUM:
        return reading
    if reading.others:
        return reading.others[level]()
    found = _read_observations(reading.cells, CAMTRAP_OBSERVATIONS.name, wanted=level)
    return replace(found, files=reading.files, notes=(*reading.notes, *found.notes))


def read_package(tables: Mapping[str, pd.DataFrame], level: str | None = None) -> TableReading:
    """Read one row for each medium of a Camtrap DP, or for each event if no observation is about a medium.

    tables : by the names of their files      level : one of `LEVELS`, to choose
    Media without an observation are rows, too. The pictures of an event are the media of its deployment that were taken
    from eventStart to eventEnd; if there is none, the media that observations of the event name. Raises TableError.
    """
    media = _by_id(tables.get(_MEDIA), "mediaid")
    deployments = _by_id(tables.get(_DEPLOYMENTS), "deploymentid")
    return _read_observations(tables[OBSERVATIONS], "Camtrap DP", media, deployments, level)


def _by_id(cells: pd.DataFrame | None, key: str) -> dict[str, dict[str, str]]:
    """Return the rows of a table of the package by id, their cells by plain name."""
    if cells is None:
        return {}
    columns = by_plain_name(cells.columns)
    texts = {plain: texts_of(cells, name) for plain, name in columns.items()}
    ids = texts.get(key, [])
    return {one: {plain: column[row] for plain, column in texts.items()} for row, one in enumerate(ids)}


def _facts(known: Mapping[str, str], wanted: Sequence[str]) -> Cells:
    return {name: known[name.lower()] for name in wanted if name.lower() in known}


def _about_medium(known: Mapping[str, str]) -> Cells:
    """Return the known facts about a medium; its path if it is a picture in the package: addresses are shown, never
    fetched."""
    path = known.get("filepath", "")
    is_picture = known.get("filemediatype", "image/").startswith("image/") and "://" not in path
    return {**_facts(known, _SHOWN_MEDIA), PATH: path if is_picture else ""}


def _read_observations(
    cells: pd.DataFrame,
    called: str,
    media: Mapping[str, Mapping[str, str]] = MappingProxyType({}),
    deployments: Mapping[str, Mapping[str, str]] = MappingProxyType({}),
    wanted: str | None = None,
) -> TableReading:
    """Read one row for each medium or event. Raises TableError.

    media, deployments : of the package by id, if included      wanted : one of `LEVELS`, to choose
    """
    columns = by_plain_name(cells.columns)

    def texts(name: str) -> Sequence[str]:
        found = texts_of(cells, columns.get(name.lower()))
        return ["" if text in _NOTHING else text for text in found]

    level = texts("observationLevel")
    wanted = wanted or (MEDIUM if MEDIUM in level else EVENT)
    of_media, id_name = wanted == MEDIUM, _IDS[wanted]
    ids, kinds, species = texts(id_name), texts("observationType"), texts("scientificName")
    methods, people = texts("classificationMethod"), texts("classifiedBy")
    places, starts, ends = texts("deploymentID"), texts("eventStart"), texts("eventEnd")
    during = _media_by_time(media)
    named = _media_by_event(level, texts(_IDS[MEDIUM]), texts(_IDS[EVENT]), media)
    scores = scores_of(cells, columns.get("classificationprobability"))
    rows: dict[str, Row] = {}
    best: defaultdict[str, Best] = defaultdict(dict)
    tops: dict[str, float] = {}
    seen: dict[str, set[str]] = {}
    said = Counter[str]()
    records = cells.to_dict("records")
    kept: dict[str, list[OriginalRow]] = {}
    others: list[OriginalRow] = []
    for place, item in enumerate(ids):
        record = {str(name): text for name, text in records[place].items()}
        if level[place] != wanted or not item:
            said["other"] += 1
            # They are exported with the preceding item, so that the first rows of the items stay in order.
            (kept[next(reversed(kept))] if kept else others).append(original_row(place, [], "", record))
            continue
        facts: Cells = {id_name: item, "deploymentID": places[place], "eventStart": starts[place]}
        if item not in rows:
            about = _about_medium(media[item]) if of_media and item in media else {}
            if not of_media and media:
                shown = during(places[place], starts[place], ends[place]) or named[item]
                paths = [str(path) for one in shown if (path := _about_medium(one)[PATH])]
                about = {PATH: "|".join(paths), "media": len(shown)}
                said["without"] += not paths
            rows[item] = Row({**facts, **about, **_facts(deployments.get(places[place], {}), _SHOWN_DEPLOYMENT)})
        row = rows[item]
        kept.setdefault(item, []).append(original_row(place, [], "", record))
        kind, method = kinds[place], methods[place]
        if kind in ("unknown", "unclassified", ""):
            said[kind or "unclassified"] += 1
            continue
        label = kind if kind in _TYPES else species[place] or kind
        own = kept[item][-1]
        own["labels"], own["scientific"] = [label], "" if label == kind else label
        if method == "human":
            row.name(label, 1.0, people[place] or "human")
            seen.setdefault(item, set()).add(label)
        else:
            score = scores[place]
            row.name_best(label, score, people[place] or method or None, best[item])
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
    for number, (item, row) in enumerate(rows.items()):
        row.cells[CONFIDENCE] = repr(tops[item]) if item in tops else ""
        row.cells[ORIGINAL_ROWS] = json_text([*kept.get(item, ()), *(others if number == 0 else ())])
    several = len({row.cells["deploymentID"] for row in rows.values()}) > 1
    present = {name for row in rows.values() for name in row.cells}
    learned = {
        "numbers": () if several else (CONFIDENCE,),
        "categories": ("deploymentID",) if several else (),
        "caption": tuple(name for name in ("eventStart", *_SHOWN_DEPLOYMENT) if name in present),
    }
    form = called if of_media else f"{called}, an item an event"
    return scored_reading(list(rows.values()), form, "", learned, row_id=id_name, notes=_camtrap_notes(said, wanted))


def _media_by_time(media: Mapping[str, Mapping[str, str]]) -> Callable[[str, str, str], list[Mapping[str, str]]]:
    """Return a function that finds the media of a deployment between two moments, both included, earliest first."""
    times: dict[str, list[tuple[float, str]]] = defaultdict(list)
    for item, known in media.items():
        if (moment := moment_in(known.get("timestamp", ""))) is not None:
            times[known.get("deploymentid", "")].append((moment, item))
    moments: dict[str, list[float]] = {}
    for deployment, one in times.items():
        one.sort()
        moments[deployment] = [moment for moment, _ in one]

    def during(deployment: str, start: str, end: str) -> list[Mapping[str, str]]:
        first = moment_in(start)
        last = first if (found := moment_in(end)) is None else found
        if first is None or last is None:
            return []
        known = moments.get(deployment, [])
        begin, stop = bisect_left(known, first), bisect_right(known, last)
        return [media[item] for _, item in times.get(deployment, [])[begin:stop]]

    return during


def _media_by_event(
    level: Sequence[str], ids: Sequence[str], events: Sequence[str], media: Mapping[str, Mapping[str, str]]
) -> Mapping[str, list[Mapping[str, str]]]:
    """Return the media that observations of an event are about, by its id, each once."""
    found: dict[str, dict[str, Mapping[str, str]]] = defaultdict(dict)
    for one, item, event in zip(level, ids, events, strict=True):
        if one == MEDIUM and item in media:
            found[event][item] = media[item]
    return defaultdict(list, {event: list(known.values()) for event, known in found.items()})


def _camtrap_notes(said: Counter[str], wanted: str) -> list[str]:
    other, choice = ("events", "an event") if wanted == MEDIUM else ("media", "a medium")
    told = {
        "other": f"Observations about {other} that were not read, because they describe the same animals: "
        f"{said['other']}. An item can be {choice} instead.",
        "without": "Events without a picture, as no medium of their deployment was taken between eventStart and "
        f"eventEnd: {said['without']}.",
        "unknown": f"Observations of type unknown, whose observer could not tell: {said['unknown']}.",
        "unclassified": f"Observations that are unclassified, so not looked at yet: {said['unclassified']}.",
        "unseen": f"Media without an observation, which no one has classified: {said['unseen']}.",
        "several": f"Items in which people saw several species, which may be several animals: {said['several']}. "
        "Winnow asks for one class an item.",
    }
    weighed = "Observations by a machine are candidates that weigh their probability; those by people are votes."
    return [weighed, *(note for what, note in told.items() if said[what])]


BIRDNET_PI = TableTool(
    "BirdNET-Pi detections",
    _read_pi,
    Fingerprint(names("date", "time", "sci_name", "com_name", "confidence", "cutoff", "overlap")),
)
"""`BirdDB.txt`, or the table `detections` of the station's database as CSV."""

BIRDNET_GO = RecordTool(
    "BirdNET-Go detections",
    (Fields({"speciesCode": object, "scientificName": object, "commonName": object, "confidence": object}),),
    lambda records, called: _read_go(flat_cells(read_each(records, At.object)), called),
)
"""Detections as its API returns them."""

BIRDNET_GO_NOTES = TableTool(
    "BirdNET-Go table of detections",
    _read_go,
    Fingerprint(names("date", "time", "species_code", "scientific_name", "common_name", "confidence", "clip_name")),
)
"""The table `notes` of the station's database as CSV; `verified` may be joined from `note_reviews`."""


BIRDNET_GO_SUMMARY = TableTool(
    "BirdNET-Go summary of species",
    refusing(
        "BirdNET-Go's summary of species counts detections, but lists none of them.",
        "Import what its API returns at /api/v2/detections, or the table notes of its database as CSV.",
    ),
    Fingerprint(names("common name", "scientific name", "count", "avg confidence")),
)

CAMTRAP_OBSERVATIONS = TableTool(
    "Camtrap DP observations",
    _read_observations,
    Fingerprint(names("observationid", "deploymentid", "observationlevel", "observationtype")),
)
"""`observations.csv` of a Camtrap DP: an item is a medium; or an event, on request or if no observation is about a
medium."""
