"""Read SpeciesNet predictions for camera trap images: JSON with five classes of a taxonomy each, and their scores; or
the same flattened to a table.

Layout: README of google/cameratrapai, "Output format". A class is `id;class;order;family;genus;species;common name`;
`;;;;;;blank`, `;;;;;;human` and `;;;;;;vehicle` are not animals.
"""

from __future__ import annotations

import re
from collections import defaultdict
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, replace

import pandas as pd

from plcore.arrays.words import quoted
from plcore.tables.media.file_tree import IMAGE_ENDINGS, FilesByBaseName, FileTree, repeated_names
from plcore.tables.media.files import MediaFiles
from plcore.tables.media.images import listed_images
from plcore.tables.readers.candidate_rows import At, Cells, Json, JsonObject, Records, Row, json_text, read_each
from plcore.tables.readers.mapping import Fields, RecordTool, TableTool
from plcore.tables.readers.reading import (
    Fingerprint,
    TableReading,
    by_plain_name,
    first_named,
    names,
    scores_of,
    texts_of,
)
from plcore.tables.readers.tools.detections import (
    BOX_SIDES,
    CONFIDENCE,
    ITEM,
    LEAST_WEIGHT,
    ORIGINAL_ROWS,
    SCIENTIFIC,
    VERIFIED,
    judge,
    original_row,
    scored_reading,
    verdict_notes,
)
from plcore.tables.roles.written_lists import plain_list

PREDICTIONS, PATH = "predictions", "filepath"
MEDIUM, EVENT = "mediaID", "eventID"
"""The columns with the id of a picture and of an event in a Camtrap DP."""
BLANK = "blank"
"""The class of empty pictures."""

_PATHS = (PATH, "file", "filename", "file_name", "image", "image_path", "path")
_TOP = re.compile(r"(?:top|prediction|class|pred)_?(?P<place>[1-9])(?:_(?:class|label|name|prediction))?")
_SCORES = ("score", "confidence", "prob", "probability")
_UNKNOWN = "no cv result"
_ANIMAL, _HUMAN = "animal", "human"
_ANSWERS = ("classifications", "prediction", "prediction_score", "prediction_source")
_OWN = (ITEM, CONFIDENCE, SCIENTIFIC, ORIGINAL_ROWS)
NO_PICTURES = "No pictures came with the file"
_TO_SEE = "To see them, put them into one zip with the file; folders above those that tell them apart are not needed."
ALONE = f"{NO_PICTURES}: only the highest score is learnt from. {_TO_SEE}"
ALONE_WITH_BOXES = f"{NO_PICTURES}: only the sides of the box are learnt from. {_TO_SEE}"


@dataclass(frozen=True)
class Taxon:
    """A class of SpeciesNet.

    ranks : its class, order, family and genus; "" if not identified to that rank      species : epithet or ""
    common : name
    """

    ranks: tuple[str, ...]
    species: str
    common: str

    @property
    def scientific(self) -> str:
        """Genus and species, or the most specific rank; "" if it is not an animal."""
        genus = self.ranks[-1]
        if genus and self.species:
            return f"{genus.capitalize()} {self.species}"
        return next((name.capitalize() for name in reversed(self.ranks) if name), "")

    def holds(self, other: Taxon) -> bool:
        """Whether it is a rank above another class. `animal`, which has no ranks, is above all with ranks except
        people."""
        mine, theirs = (*self.ranks, self.species), (*other.ranks, other.species)
        if self.common == _ANIMAL and not any(mine):
            return any(theirs) and other.common != _HUMAN
        return mine != theirs and any(mine) and all(a in ("", b) for a, b in zip(mine, theirs, strict=True))


def _read(pictures: Records, name: str) -> TableReading:
    """Read one row for each picture; classes and groups come from the taxonomy. Raises TableError."""
    found = read_each(pictures, _scored)
    labels = _labels(taxon for scores in found for taxon in scores)
    rows = [
        _row(At(one).object(), scores, labels, place)
        for place, (one, scores) in enumerate(zip(pictures, found, strict=True))
    ]
    learned = {"numbers": (CONFIDENCE,), "caption": (SCIENTIFIC,)}
    notes = verdict_notes(_verdict(At(one).object()) for one in pictures)
    return scored_reading(rows, name, ALONE, learned, classes=[BLANK], groups=groups_of(labels), notes=notes)


def with_pictures(reading: TableReading) -> TableReading:
    """Return the reading with the pictures uploaded with it, matched by base name; unchanged if there are none."""
    tree = None if reading.files is None else reading.files.archive
    if isinstance(tree, FilesByBaseName):
        tree = tree.files
    if not names_pictures(reading.cells) or not isinstance(tree, FileTree):
        return reading
    if not any(name.lower().endswith(IMAGE_ENDINGS) for name in tree.names()):
        return reading
    roles = reading.suggest_roles()
    # It does not distinguish the boxes of one image.
    sides = tuple(name for name in roles.numbers if name in BOX_SIDES)
    seen = replace(roles, image=PATH, image_features=True, numbers=sides, categories=())
    notes = tuple(note for note in reading.notes if not note.startswith(NO_PICTURES))
    paths = (path for cell in reading.cells[PATH] for path in listed_images(cell))
    found = FilesByBaseName(tree, repeated_names(paths))
    return replace(reading, roles=seen, files=MediaFiles(found), notes=notes)


def names_pictures(cells: pd.DataFrame) -> bool:
    """Whether these cells have a column of paths that names the picture of each item."""
    return PATH in cells.columns and not cells.columns.intersection([ITEM, MEDIUM, EVENT]).empty


def _pictures(records: Records) -> Records:
    if len(records) == 1 and isinstance(records[0], dict):
        inside = records[0].get(PREDICTIONS)
        if isinstance(inside, list):
            return inside
    return records


def _scored(record: At) -> dict[Taxon, float]:
    """Return the classes of a picture with their scores; also the ensemble's own class, unless it is a rank above one
    of them."""
    record[PATH].name("a path")
    found: dict[Taxon, float] = {}

    def add(taxon: Taxon | None, score: float) -> None:
        if taxon is not None:
            found[taxon] = max(score, found.get(taxon, 0.0))

    given = record["classifications"]
    if given.value is not None:
        classes = given["classes"].items()
        for text, score in zip(classes, given["scores"].items_for(classes, "a score", "class"), strict=True):
            add(_taxon(text), score.number("a score"))
    if (said := record["prediction"]).value is not None:
        taxon, sure = _taxon(said), record["prediction_score"].number_or(1.0, "a score")
        if taxon is not None and not any(taxon.holds(other) for other in found):
            add(taxon, sure)
    return found


def _taxon(said: At) -> Taxon | None:
    """Return a class; None if it means that nothing is known."""
    parts = [part.strip() for part in said.name("a class").split(";")]
    if len(parts) != 7 or not any(parts[1:]):
        message = f"expected id;class;order;family;genus;species;common name, got {quoted(str(said.value))}."
        raise said.refuse(message, "Write the class as SpeciesNet does.")
    return None if parts[6] == _UNKNOWN else Taxon(tuple(parts[1:5]), parts[5], parts[6])


def _labels(taxa: Iterable[Taxon]) -> dict[Taxon, str]:
    """Return the label of each taxon: its common name, plus the scientific one if several share the name; else the
    scientific name."""
    every = dict.fromkeys(taxa)
    called: dict[str, int] = defaultdict(int)
    for taxon in every:
        called[taxon.common] += 1
    found = {}
    for taxon in every:
        latin = taxon.scientific
        if not taxon.common:
            found[taxon] = latin
        elif called[taxon.common] > 1 and latin:
            found[taxon] = f"{taxon.common} ({latin})"
        else:
            found[taxon] = taxon.common
    return found


def _row(record: JsonObject, scores: Mapping[Taxon, float], labels: Mapping[Taxon, str], place: int) -> Row:
    top = max(scores.values(), default=None)
    own: Cells = {name: value for name, value in record.items() if name not in (*_ANSWERS, *_OWN, *VERIFIED)}
    own |= {
        ITEM: record[PATH],
        CONFIDENCE: "" if top is None else repr(top),
        SCIENTIFIC: "; ".join(f"{taxon.scientific} ({labels[taxon]})" for taxon in scores if taxon.scientific),
        ORIGINAL_ROWS: json_text([original_row(place, *_said(record, scores, labels), record)]),
    }
    row = Row(own)
    for taxon, score in scores.items():
        row.name(labels[taxon], max(score, LEAST_WEIGHT / 100))
    if scores and BLANK not in row.weights:
        row.name(BLANK, max(1.0 - (top or 0.0), LEAST_WEIGHT))
    right, true = _verdict(record)
    said, _ = _said(record, scores, labels)
    judge(row, [true] if true else said if right else [], said if right is False else [], BLANK)
    return row


def _verdict(record: JsonObject) -> tuple[bool | None, str]:
    """Return a person's verdict on the prediction and the true label, as in Winnow's export."""
    right, label = (record.get(name) for name in VERIFIED[:2])
    return (right if isinstance(right, bool) else None), (label if isinstance(label, str) else "")


def _said(record: JsonObject, scores: Mapping[Taxon, float], labels: Mapping[Taxon, str]) -> tuple[list[str], str]:
    """Return SpeciesNet's final prediction: the classes it stands for, which are those below it if it is a rank; and
    its name."""
    text = record.get("prediction")
    said = max(scores, key=scores.__getitem__, default=None) if text is None else _taxon(At(text))
    if said is None:
        return [], ""
    return [label for taxon, label in labels.items() if taxon == said or said.holds(taxon)], said.scientific


def _read_table(cells: pd.DataFrame, called: str) -> TableReading:
    """Read one row for each picture of a table with columns such as `prediction, prediction_score, top2, top2_score`.
    Raises TableError."""
    columns = by_plain_name(cells.columns)
    paths = texts_of(cells, first_named(columns, *_PATHS))
    places = _ranked(columns)
    scores = {place: scores_of(cells, score) for place, (_, score) in places.items()}
    labels = {place: texts_of(cells, label) for place, (label, _) in places.items()}
    lists = {name: texts_of(cells, columns.get(f"classifications.{name}")) for name in ("classes", "scores")}
    taken = {name for pair in places.values() for name in pair} | {first_named(columns, *_PATHS)}
    rest = [
        name
        for plain, name in columns.items()
        if name not in taken and not plain.startswith("classifications.") and plain != "prediction_source"
    ]
    records: list[JsonObject] = []
    for row, path in enumerate(paths):
        pairs: list[tuple[Json, Json]] = [
            (_in_taxonomy(labels[place][row]), scores[place][row]) for place in places if labels[place][row]
        ]
        classes, weights = (plain_list(lists[name][row]) or [] for name in ("classes", "scores"))
        if len(classes) == len(weights):
            pairs += [(_in_taxonomy(str(label)), weight) for label, weight in zip(classes, weights, strict=True)]
        record: JsonObject = {PATH: path, **{name: cells[name].iloc[row] for name in rest}}
        # A label without a score, as in a table with only one score, is not among the five and is left out.
        said = [(label, weight) for label, weight in pairs if weight is not None]
        record["classifications"] = {"classes": [label for label, _ in said], "scores": [weight for _, weight in said]}
        if pairs and pairs[0][1] is not None:
            record["prediction"], record["prediction_score"] = pairs[0]
        records.append(record)
    reading = _read(records, called)
    return replace(reading, cells=reading.cells.drop(columns=ORIGINAL_ROWS))


def _ranked(columns: Mapping[str, str]) -> dict[int, tuple[str, str]]:
    """Return the columns of label and score by rank, the prediction first."""
    found = {}
    for plain, name in columns.items():
        match = _TOP.fullmatch(plain)
        place = 0 if plain == "prediction" else int(match["place"]) if match else None
        stems = (plain, f"top{place}", f"top_{place}")
        score = first_named(columns, *(f"{stem}_{word}" for stem in stems for word in _SCORES))
        if place is not None and score is not None:
            found[place] = (name, score)
    return dict(sorted(found.items()))


def _in_taxonomy(text: str) -> str:
    """Return a class as SpeciesNet's JSON writes it; a plain name counts as the common name."""
    return text if ";" in text else f"{';' * 6}{text}"


def groups_of(labels: Mapping[Taxon, str]) -> dict[str, tuple[str, ...]]:
    """Return the classes below each name of a rank; of ranks with the same classes only the most specific."""
    below: dict[str, list[str]] = defaultdict(list)
    for taxon, label in sorted(labels.items(), key=lambda one: one[1]):
        for name in dict.fromkeys(name for name in taxon.ranks if name):
            below[name].append(label)
    depth = {name: place for taxon in labels for place, name in enumerate(taxon.ranks) if name}
    exact: dict[tuple[str, ...], str] = {}
    for name in sorted(below, key=depth.__getitem__):
        exact[tuple(below[name])] = name
    taken = set(labels.values())
    return {name: group for group, name in exact.items() if len(group) > 1 and name not in taken}


SPECIESNET = RecordTool(
    "SpeciesNet predictions",
    (
        Fields(
            {PATH: str},
            one_of=(("classifications", "prediction", "failures"),),
            some={"classifications": object, "prediction": object},
        ),
    ),
    _read,
    _pictures,
)


def _is_flat(cells: pd.DataFrame) -> bool:
    """Whether classes are in SpeciesNet's taxonomy, or further classes are next to its column of paths."""
    columns = by_plain_name(cells.columns)
    several = len(_ranked(columns)) > 1 or "classifications.classes" in columns
    return (several and PATH in columns) or bool(cells[columns["prediction"]].str.count(";").eq(6).any())


SPECIESNET_TABLE = TableTool(
    "SpeciesNet table",
    _read_table,
    Fingerprint(names("prediction", "prediction_score"), one_of=(frozenset(_PATHS),)),
    _is_flat,
)
"""SpeciesNet's predictions flattened to a table, with further classes in separate columns."""
