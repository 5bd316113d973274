"""What Hugging Face's `datasets` writes about the columns of a Parquet file: which are labels, and their names.

It stands as JSON in the metadata of the Arrow schema, under `huggingface`: `{"info": {"features": {column: {...}}}}`
(datasets, src/datasets/features/features.py).
"""

from __future__ import annotations

import json
from dataclasses import dataclass, field
from typing import Any

import pyarrow as pa

_LISTS = ("Sequence", "List", "LargeList")


@dataclass(frozen=True)
class DatasetFeatures:
    """Class names of the columns with one label a row, and of those with a set of labels.

    known : whether the file has such metadata
    """

    labels: dict[str, list[str]] = field(default_factory=dict)
    sets: dict[str, list[str]] = field(default_factory=dict)
    known: bool = False

    def class_names(self) -> list[list[str]]:
        """The different lists of class names."""
        found: list[list[str]] = []
        for names in (*self.labels.values(), *self.sets.values()):
            if names not in found:
                found.append(names)
        return found


def read_features(schema: pa.Schema) -> DatasetFeatures:
    """The features of a schema; none where there is nothing that can be read."""
    try:
        written = json.loads((schema.metadata or {})[b"huggingface"])["info"]["features"]
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


def _names(feature: Any) -> list[str] | None:
    """The class names of a ClassLabel; None of anything else."""
    if not isinstance(feature, dict) or feature.get("_type") != "ClassLabel":
        return None
    names = feature.get("names")
    if isinstance(names, dict):  # as it stands in the YAML of a card: {"0": "wren", ...}
        names = list(names.values())
    return names if isinstance(names, list) and all(isinstance(name, str) for name in names) else None


def _inside(feature: Any) -> Any:
    """The feature of the items of a list; None of anything else."""
    if isinstance(feature, list) and len(feature) == 1:
        return feature[0]
    if isinstance(feature, dict) and feature.get("_type") in _LISTS:
        return feature.get("feature")
    return None
