"""What SpeciesNet says of pictures of camera traps: JSON with five classes each, in a taxonomy, and the scores of them.

Layout: README of google/cameratrapai, "Output format". A class is `id;class;order;family;genus;species;common name`;
`;;;;;;blank`, `;;;;;;human` and `;;;;;;vehicle` are no animals.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, replace

import pandas as pd

from plcore.arrays.words import quoted
from plcore.tables.media.file_tree import FilesByBaseName, FileTree, repeated_names
from plcore.tables.media.files import IMAGE_ENDINGS, MediaFiles
from plcore.tables.readers.candidate_rows import (
    Cells,
    Json,
    JsonObject,
    Records,
    Row,
    a_list,
    a_name,
    a_number,
    an_object,
    json_text,
    read_each,
    refuse,
    rows_reading,
)
from plcore.tables.readers.mapping import Fields, RecordTool
from plcore.tables.readers.reading import TableReading
from plcore.tables.readers.tools.detections import (
    CONFIDENCE,
    ITEM,
    LEAST_WEIGHT,
    ORIGINAL_ROWS,
    SCIENTIFIC,
    original_row,
)

PREDICTIONS, PATH = "predictions", "filepath"
BLANK = "blank"
"""The class of pictures of nothing."""

_UNKNOWN = "no cv result"
_ANIMAL, _HUMAN = "animal", "human"
_ANSWERS = ("classifications", "prediction", "prediction_score", "prediction_source")
_OWN = (ITEM, CONFIDENCE, SCIENTIFIC, ORIGINAL_ROWS)
NO_PICTURES = "No pictures came with the file"
ALONE = (
    f"{NO_PICTURES}: only the highest score is learned from. To see them, put them into one zip with "
    "the file; folders above those that tell them apart are not needed."
)


@dataclass(frozen=True)
class Taxon:
    """A class of SpeciesNet.

    ranks : its class, order, family and genus; "" where it is not that exact      species : epithet or ""
    common : name
    """

    ranks: tuple[str, ...]
    species: str
    common: str

    @property
    def scientific(self) -> str:
        """Genus and species, or the most exact rank; "" of what is no animal."""
        genus = self.ranks[-1]
        if genus and self.species:
            return f"{genus.capitalize()} {self.species}"
        return next((name.capitalize() for name in reversed(self.ranks) if name), "")

    def holds(self, other: Taxon) -> bool:
        """Whether it is a rank above another class. `animal`, which has none, is above all that have one but people."""
        mine, theirs = (*self.ranks, self.species), (*other.ranks, other.species)
        if self.common == _ANIMAL and not any(mine):
            return any(theirs) and other.common != _HUMAN
        return mine != theirs and any(mine) and all(a in ("", b) for a, b in zip(mine, theirs, strict=True))


def _read(pictures: Records, name: str) -> TableReading:
    """One row for each picture; classes and groups by the taxonomy. Raises TableError."""
    found = read_each(pictures, _scored)
    labels = _labels(taxon for scores in found for taxon in scores)
    rows = [
        _row(an_object(one, place + 1, None), scores, labels, place)
        for place, (one, scores) in enumerate(zip(pictures, found, strict=True))
    ]
    reading = rows_reading(
        rows, name, describing=(), row_id=ITEM, classes=[BLANK], groups=groups_of(labels), has_rows=True
    )
    roles = replace(reading.suggest_roles(), numbers=(CONFIDENCE,), caption=(SCIENTIFIC,))
    return replace(reading, roles=roles, notes=(*reading.notes, ALONE))


def with_pictures(reading: TableReading) -> TableReading:
    """The same with the pictures that came beside it, found by their base names; as it is where none came."""
    files = reading.files
    if not names_pictures(reading.cells) or files is None or not isinstance(files.archive, FileTree):
        return reading
    if not any(name.lower().endswith(IMAGE_ENDINGS) for name in files.archive.names()):
        return reading
    seen = replace(reading.suggest_roles(), image=PATH, image_features=True, numbers=(), categories=())
    notes = tuple(note for note in reading.notes if not note.startswith(NO_PICTURES))
    found = FilesByBaseName(files.archive, repeated_names(reading.cells[PATH]))
    return replace(reading, roles=seen, files=MediaFiles(found), notes=notes)


def names_pictures(cells: pd.DataFrame) -> bool:
    """Whether these are cells whose column of paths names the picture of each item."""
    return {PATH, ITEM} <= set(cells.columns)


def _pictures(records: Records) -> Records:
    """The records of the pictures."""
    if len(records) == 1 and isinstance(records[0], dict):
        inside = records[0].get(PREDICTIONS)
        if isinstance(inside, list):
            return inside
    return records


def _scored(record: JsonObject, row: int) -> dict[Taxon, float]:
    """The classes of a picture with their scores; the ensemble's own class, unless it is a rank above one of them."""
    a_name(record.get(PATH), row, PATH, "a path")
    found: dict[Taxon, float] = {}
    if (given := record.get("classifications")) is not None:
        inside = an_object(given, row, "classifications")
        classes = a_list(inside.get("classes"), row, "classifications.classes")
        scores = a_list(inside.get("scores"), row, "classifications.scores")
        if len(classes) != len(scores):
            message = f"expected a score for each of the {len(classes)} classes, got {len(scores)}."
            raise refuse(row, "classifications.scores", message, "Write one number for each class.")
        for place, (text, score) in enumerate(zip(classes, scores, strict=True)):
            taxon = _taxon(text, row, f"classifications.classes[{place}]")
            number = a_number(score, row, f"classifications.scores[{place}]", "a score")
            if taxon is not None:
                found[taxon] = max(number, found.get(taxon, 0.0))
    if record.get("prediction") is not None:
        taxon = _taxon(record["prediction"], row, "prediction")
        score = record.get("prediction_score")
        number = 1.0 if score is None else a_number(score, row, "prediction_score", "a score")
        if taxon is not None and not any(taxon.holds(other) for other in found):
            found[taxon] = max(number, found.get(taxon, 0.0))
    return found


def _taxon(value: Json, row: int | None, where: str) -> Taxon | None:
    """A class; None where it says that nothing is known."""
    parts = [part.strip() for part in a_name(value, row, where, "a class").split(";")]
    if len(parts) != 7 or not any(parts[1:]):
        message = f"expected id;class;order;family;genus;species;common name, got {quoted(str(value))}."
        raise refuse(row, where, message, "Write the class as SpeciesNet does.")
    if parts[6] == _UNKNOWN:
        return None
    return Taxon(tuple(parts[1:5]), parts[5], parts[6])


def _labels(taxa: Iterable[Taxon]) -> dict[Taxon, str]:
    """The class of each: its common name, with the scientific one where several have that; else that alone."""
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
    own: Cells = {name: value for name, value in record.items() if name not in (*_ANSWERS, *_OWN)}
    own |= {
        ITEM: record[PATH],
        CONFIDENCE: "" if top is None else repr(top),
        SCIENTIFIC: "; ".join(
            f"{taxon.scientific} ({labels[taxon]})" for taxon in scores if taxon.scientific
        ),
        ORIGINAL_ROWS: json_text([original_row(place, *_said(record, scores, labels), record)]),
    }
    row = Row(own)
    for taxon, score in scores.items():
        row.name(labels[taxon], max(score, LEAST_WEIGHT / 100))
    if scores and BLANK not in row.weights:
        row.name(BLANK, max(1.0 - (top or 0.0), LEAST_WEIGHT))
    return row


def _said(
    record: JsonObject, scores: Mapping[Taxon, float], labels: Mapping[Taxon, str]
) -> tuple[list[str], str]:
    """What SpeciesNet decided: the classes that this stands for, those below a rank of several; and its name."""
    text = record.get("prediction")
    said = (
        max(scores, key=scores.__getitem__, default=None)
        if text is None
        else _taxon(text, None, "prediction")
    )
    if said is None:
        return [], ""
    return [label for taxon, label in labels.items() if taxon == said or said.holds(taxon)], said.scientific


def groups_of(labels: Mapping[Taxon, str]) -> dict[str, tuple[str, ...]]:
    """The classes below each name of a rank; of ranks with the same classes only the most exact."""
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
