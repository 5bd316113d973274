"""Column metadata that Hugging Face's `datasets` writes to Parquet files: label columns and their class names.

The metadata of the Arrow schema has JSON under `huggingface`: `{"info": {"features": {column: {...}}}}` (datasets,
src/datasets/features/features.py). Files written by Winnow also have JSON under `winnow`: the original columns of the
table, and the columns of the candidates.
"""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass, field

import pyarrow as pa

from plcore.tables.readers.candidate_rows import Json

_KEY, _OWN_KEY = b"huggingface", b"winnow"
_DTYPES: Mapping[pa.DataType, str] = {
    pa.float16(): "float16",
    pa.float32(): "float32",
    pa.float64(): "float64",
    pa.date32(): "date32",
    pa.date64(): "date64",
}
"""Types that have another name in `datasets` than in Arrow."""
_LISTS = ("Sequence", "List", "LargeList")


@dataclass(frozen=True)
class DatasetFeatures:
    """Class names of columns with one label per row, and of columns with a set of labels.

    known : whether the file has such metadata
    """

    labels: dict[str, list[str]] = field(default_factory=dict)
    sets: dict[str, list[str]] = field(default_factory=dict)
    known: bool = False

    def class_names(self) -> list[list[str]]:
        """Return the distinct lists of class names."""
        found: list[list[str]] = []
        for names in (*self.labels.values(), *self.sets.values()):
            if names not in found:
                found.append(names)
        return found


def read_features(schema: pa.Schema) -> DatasetFeatures:
    """Read the features of a schema; empty if there are no readable ones."""
    try:
        written = json.loads((schema.metadata or {})[_KEY])["info"]["features"]
        items = list(written.items())
    except (KeyError, TypeError, ValueError, AttributeError, RecursionError):
        return DatasetFeatures()
    labels, sets = {}, {}
    for column, feature in items:
        if (names := _names(feature)) is not None:
            labels[column] = names
        elif (names := _names(_inside(feature))) is not None:
            sets[column] = names
    return DatasetFeatures(labels, sets, known=True)


def _names(feature: Json) -> list[str] | None:
    """Return the class names of a ClassLabel; None for anything else."""
    if not isinstance(feature, dict) or feature.get("_type") != "ClassLabel":
        return None
    names = feature.get("names")
    if isinstance(names, dict):  # as in the YAML of a dataset card: {"0": "wren", ...}
        names = list(names.values())
    if not isinstance(names, list):
        return None
    texts = [name for name in names if isinstance(name, str)]
    return texts if len(texts) == len(names) else None


def _inside(feature: Json) -> Json:
    """Return the feature of a list's items; None for anything else."""
    if isinstance(feature, list) and len(feature) == 1:
        return feature[0]
    if isinstance(feature, dict) and feature.get("_type") in _LISTS:
        return feature.get("feature")
    return None


@dataclass(frozen=True)
class Told:
    """Metadata of a file that Winnow wrote.

    original : the columns that came with the table
    candidates : the column of candidates, read as JSON; for label vectors, of the labels that are right
    id : the column of ids
    not_labels : for label vectors, the column of labels that are not right
    truth, voters : columns, "" if there are none; None in files of older releases, which do not store them
    """

    original: tuple[str, ...]
    candidates: str
    id: str
    not_labels: str | None = None
    truth: str | None = ""
    voters: str | None = ""


def written_metadata(schema: pa.Schema, labels: Mapping[str, Sequence[str]], told: Told) -> dict[bytes, bytes]:
    """Return the metadata of a schema to write.

    labels : class names of the columns with class numbers, or lists of them      told : for `read_told`
    """
    features = {
        field.name: _feature(field.type, {"names": list(labels[field.name]), "_type": "ClassLabel"})
        if field.name in labels
        else _feature(field.type)
        for field in schema
    }
    written = {_KEY: {"info": {"features": features}}, _OWN_KEY: asdict(told)}
    return {key: json.dumps(value).encode() for key, value in written.items()}


def read_told(schema: pa.Schema) -> Told | None:
    """Read what `written_metadata` wrote; None if Winnow did not write the file."""
    try:
        told = json.loads((schema.metadata or {})[_OWN_KEY])
        others = {name: told.get(name) for name in ("not_labels", "truth", "voters")}
        return Told(
            tuple(map(str, told["original"])),
            str(told["candidates"]),
            str(told["id"]),
            **{name: None if column is None else str(column) for name, column in others.items()},
        )
    except (KeyError, TypeError, ValueError, AttributeError, RecursionError):
        return None


def _feature(kind: pa.DataType, label: Json = None) -> Json:
    """Describe a type as a feature; `label` is the feature of class numbers.

    Lists are written as JSON lists, which old and new releases of `datasets` can read.
    """
    if pa.types.is_list(kind):
        return [_feature(kind.value_type, label)]
    if pa.types.is_large_list(kind):
        return {"feature": _feature(kind.value_type, label), "_type": "LargeList"}
    if pa.types.is_dictionary(kind):
        return _feature(kind.value_type)
    if pa.types.is_struct(kind):
        return {field.name: _feature(field.type) for field in kind}
    return label or {"dtype": _DTYPES.get(kind, str(kind)), "_type": "Value"}
