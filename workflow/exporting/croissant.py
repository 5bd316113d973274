"""A data set as Croissant metadata (JSON-LD, http://mlcommons.org/croissant/1.0) with its RAI fields."""

from __future__ import annotations

import csv
import hashlib
import json
import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

import pyarrow as pa
import pyarrow.parquet as pq

from plcore.arrays import counted

if TYPE_CHECKING:
    from pathlib import Path

    from workflow.exporting.card_facts import CardFacts
    from workflow.exporting.card_text import CardDetails

TYPES = {
    ".csv": "text/csv",
    ".parquet": "application/x-parquet",
    ".jsonl": "application/jsonlines",
    ".json": "application/json",
}
"""Media types by the ending of a file's name; of all others the general one."""

CONTEXT: Mapping[str, object] = {
    "@language": "en",
    "@vocab": "https://schema.org/",
    "citeAs": "cr:citeAs",
    "column": "cr:column",
    "conformsTo": "dct:conformsTo",
    "cr": "http://mlcommons.org/croissant/",
    "rai": "http://mlcommons.org/croissant/RAI/",
    "data": {"@id": "cr:data", "@type": "@json"},
    "dataType": {"@id": "cr:dataType", "@type": "@vocab"},
    "dct": "http://purl.org/dc/terms/",
    "equivalentProperty": "cr:equivalentProperty",
    "examples": {"@id": "cr:examples", "@type": "@json"},
    "extract": "cr:extract",
    "field": "cr:field",
    "fileProperty": "cr:fileProperty",
    "fileObject": "cr:fileObject",
    "fileSet": "cr:fileSet",
    "format": "cr:format",
    "includes": "cr:includes",
    "isLiveDataset": "cr:isLiveDataset",
    "jsonPath": "cr:jsonPath",
    "key": "cr:key",
    "md5": "cr:md5",
    "parentField": "cr:parentField",
    "path": "cr:path",
    "recordSet": "cr:recordSet",
    "references": "cr:references",
    "regex": "cr:regex",
    "repeated": "cr:repeated",
    "replace": "cr:replace",
    "samplingRate": "cr:samplingRate",
    "sc": "https://schema.org/",
    "separator": "cr:separator",
    "source": "cr:source",
    "subField": "cr:subField",
    "transform": "cr:transform",
}
"""The official context of version 1.0."""


@dataclass(frozen=True)
class CardFile:
    """A file of the data set. columns : {name: (its Croissant type, whether it holds lists)}, of CSV and Parquet"""

    name: str
    media_type: str
    sha256: str
    n_bytes: int
    columns: Mapping[str, tuple[str, bool]]


def describe_file(path: Path) -> CardFile:
    """The file as the metadata name it. Raises OSError."""
    ending = path.suffix.lower()
    with path.open("rb") as file:
        found = hashlib.file_digest(file, "sha256").hexdigest()
    columns: dict[str, tuple[str, bool]] = {}
    if ending == ".csv":
        with path.open(encoding="utf-8-sig", newline="") as text:
            columns = dict.fromkeys(next(csv.reader(text), []), ("sc:Text", False))
    elif ending == ".parquet":
        columns = {field.name: _type_of(field.type) for field in pq.read_schema(path)}
    return CardFile(path.name, TYPES.get(ending, "application/octet-stream"), found, path.stat().st_size, columns)


def write_croissant(facts: CardFacts, given: CardDetails, files: Sequence[CardFile], tool: str) -> str:
    """metadata.json, to be next to the files. tool : Winnow, and its version"""
    ids = _identifiers([one.name for one in files])
    described: dict[str, object] = {
        "@context": CONTEXT,
        "@type": "sc:Dataset",
        "name": facts.name,
        "description": facts.description,
        "conformsTo": ["http://mlcommons.org/croissant/1.0", "http://mlcommons.org/croissant/RAI/1.0"],
        "license": given.license,
        "url": given.url,
        "inLanguage": list(given.languages),
        "dateCreated": facts.created_at.isoformat(),
        "dateModified": None if facts.last is None else facts.last.isoformat(),
        "distribution": [_file_object(name, one) for name, one in zip(ids, files, strict=True)],
        "recordSet": [_record_set(name, one) for name, one in zip(ids, files, strict=True) if one.columns],
        "rai:dataAnnotationProtocol": facts.guidelines,
        "rai:dataAnnotationPlatform": tool,
        "rai:dataAnnotationAnalysis": [
            f"{one.words}: {one.value:.3f} (95% interval {one.low:.3f} to {one.high:.3f}, n = {one.n})"
            for one in facts.described.measures
            if one.low == one.low
        ],
        "rai:annotationsPerItem": ", ".join(f"{n} on {counted(rows, 'row')}" for n, rows in facts.per_row.items()),
        "rai:annotatorDemographics": given.demographics,
        "rai:machineAnnotationTools": list(facts.models) if "model" in facts.sources else [],
        "rai:dataCollection": given.origin,
        "rai:dataUseCases": given.uses,
    }
    return json.dumps({name: value for name, value in described.items() if value}, indent=2, ensure_ascii=False)


def _identifiers(names: Sequence[str]) -> list[str]:
    """An id for each name: Croissant's readers take none with blanks. The results are unique for any names."""
    found: list[str] = []
    for name in names:
        plain = short = re.sub(r"[^\w.-]+", "_", name) or "_"
        number = 1
        while short in found:
            number += 1
            short = f"{plain}-{number}"
        found.append(short)
    return found


def _file_object(name: str, one: CardFile) -> dict[str, object]:
    return {
        "@type": "cr:FileObject",
        "@id": name,
        "name": one.name,
        "contentUrl": one.name,
        "encodingFormat": one.media_type,
        "contentSize": f"{one.n_bytes} B",
        "sha256": one.sha256,
    }


def _record_set(name: str, one: CardFile) -> dict[str, object]:
    fields = zip(_identifiers(list(one.columns)), one.columns.items(), strict=True)
    return {
        "@type": "cr:RecordSet",
        "@id": f"records/{name}",
        "name": f"records/{name}",
        "field": [
            {
                "@type": "cr:Field",
                "@id": f"records/{name}/{field}",
                "name": column,
                "dataType": data_type,
                **({"repeated": True} if repeated else {}),
                "source": {"fileObject": {"@id": name}, "extract": {"column": column}},
            }
            for field, (column, (data_type, repeated)) in fields
        ],
    }


def _type_of(found: pa.DataType) -> tuple[str, bool]:
    if pa.types.is_list(found) or pa.types.is_large_list(found):
        return _type_of(found.value_type)[0], True
    if pa.types.is_boolean(found):
        return "sc:Boolean", False
    if pa.types.is_integer(found):
        return "sc:Integer", False
    if pa.types.is_floating(found) or pa.types.is_decimal(found):
        return "sc:Float", False
    if pa.types.is_timestamp(found):
        return "sc:DateTime", False
    if pa.types.is_date(found):
        return "sc:Date", False
    return "sc:Text", False
