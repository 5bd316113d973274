"""No tool's fingerprint matches the file of another: all pairs of the small files in the tests."""

from __future__ import annotations

import json
from typing import Any

import pandas as pd
import pytest

from plcore import TableError, read_cells
from plcore.tables.readers.reading import Fingerprint, by_plain_name, names
from plcore.tables.readers.records import looks_like_json
from plcore.tables.readers.tools.sound_detectors import DETECTION_TABLES
from plcore.tables.text.csv import as_text
from tests.plcore.tables.readers.cases import CASES
from tests.plcore.tables.readers.test_tools import RECORD_TOOLS, RECORDS, TABLES, TOOL_TABLES

TOOLS = {
    "BirdDB.txt": "BirdNET-Pi detections",
    "ImageData.csv": "Timelapse image data",
    "addaxai_detections.csv": "AddaxAI detections",
    "anthropic_batch.jsonl": "Anthropic message batch",
    "appen_aggregated.csv": "Appen aggregated report",
    "appen_full.csv": "Appen full report",
    "appen_tainted.csv": "Appen full report",
    "argilla_nested.json": "Argilla records as JSON",
    "birdnet_go.json": "BirdNET-Go detections",
    "birdnet_go_notes.csv": "BirdNET-Go table of detections",
    "birdnet_go_summary.csv": "BirdNET-Go summary of species",
    "birdnet_head_kaleidoscope.csv": "Kaleidoscope table",
    "birdnet_head_table.txt": "Raven selection table",
    "birdnetpi_detections.csv": "BirdNET-Pi detections",
    "camtrap_levels.csv": "Camtrap DP observations",
    "doccano_all.jsonl": "doccano JSONL",
    "doccano_old.jsonl": "doccano JSONL",
    "gorilla.csv": "Gorilla task data",
    "id.csv": "Kaleidoscope id.csv",
    "kaleidoscope_id.csv": "Kaleidoscope id.csv",
    "label_studio.csv": "Label Studio CSV",
    "label_studio_1.23.2.csv": "Label Studio CSV",
    "label_studio_1.23.2.json": "Label Studio JSON",
    "label_studio_genus.json": "Label Studio JSON",
    "label_studio_min.json": "Label Studio JSON-MIN",
    "label_studio_prediction_ids.json": "Label Studio JSON",
    "ls_export.csv": "Label Studio CSV",
    "ls_export.json": "Label Studio JSON",
    "ls_min.json": "Label Studio JSON-MIN",
    "llama_cpp.jsonl": "completions of llama.cpp",
    "md16.json": "MegaDetector JSON",
    "megadetector_classified.json": "MegaDetector JSON",
    "mturk_category.csv": "Mechanical Turk results",
    "mturk_classifier.csv": "Mechanical Turk results",
    "mturk_comment.csv": "Mechanical Turk results",
    "mturk_radio.csv": "Mechanical Turk results",
    "mturk_taskanswers.csv": "Mechanical Turk results",
    "observations.csv": "Camtrap DP observations",
    "openai_batch.jsonl": "batch of a language model",
    "prolific_export.csv": "Prolific export of submissions",
    "prolific_long.csv": "Prolific answers",
    "pw_list.json": "Pytorch-Wildlife JSON",
    "pw_list_classified.json": "Pytorch-Wildlife JSON",
    "pw_timelapse.json": "MegaDetector JSON",
    "qualtrics.csv": "Qualtrics responses",
    "speciesnet_table.csv": "SpeciesNet table",
    "timelapse_two_species.csv": "Timelapse image data",
    "toloka.tsv": "Toloka assignments",
    "toloka_aggregated.tsv": "Toloka aggregated answers",
    "wrench_train.json": "WRENCH JSON",
}
"""The tool of each file."""


def records_of(data: bytes) -> list[Any]:
    try:
        value = json.loads(data)
    except ValueError:
        return [json.loads(line) for line in data.splitlines() if line.strip()]
    if isinstance(value, list):
        return value
    is_numbered = isinstance(value, dict) and all(name.isdecimal() for name in value)
    return list(value.values()) if is_numbered else [value]


def fires(data: bytes) -> list[str]:
    """The tools whose fingerprint matches a file."""
    text = as_text(data).data
    if looks_like_json(text):
        return [tool.name for tool in RECORD_TOOLS if tool.fits(records_of(text))]
    cells = read_cells(data)
    named = [tool.name for tool in TOOL_TABLES if tool.fits(cells)]
    return named or [tool.name for tool in DETECTION_TABLES if tool.fits(cells)]


def test_every_case_is_listed_with_its_tool() -> None:
    assert sorted(path.name for path in CASES.iterdir()) == sorted(TOOLS)


@pytest.mark.parametrize("name", TOOLS)
def test_file_is_recognised_only_by_its_tool(name: str) -> None:
    assert fires((CASES / name).read_bytes()) == [TOOLS[name]]


@pytest.mark.parametrize("name", TABLES)
def test_no_tool_recognises_the_table_of_another(name: str) -> None:
    cells = read_cells(TABLES[name])
    assert {tool.name for tool in TOOL_TABLES if tool.fits(cells)} <= {name}


@pytest.mark.parametrize("name", RECORDS)
def test_no_table_format_recognises_records(name: str) -> None:
    cells = pd.DataFrame([RECORDS[name]]).astype(str)
    own = {"SpeciesNet predictions": ["SpeciesNet table"]}
    assert [tool.name for tool in TOOL_TABLES if tool.fits(cells)] == own.get(name, [])


def test_coco_file_is_not_read_as_megadetector() -> None:
    coco = {"images": [{"id": 1, "file_name": "a.jpg"}], "annotations": [{"id": 1}], "categories": [{"id": 1}]}
    assert fires(json.dumps(coco).encode()) == []


MARKED = Fingerprint(names("a", "b"), starts=("x.",), one_of=(names("c", "d"),), never=names("z"))


@pytest.mark.parametrize(
    ("columns", "wanted"),
    [
        (["A*", " b ", "x.1", "d"], True),
        (["a", "b", "x.1"], False),
        (["a", "x.1", "c"], False),
        (["a", "b", "c"], False),
        (["a", "b", "c", "x.1", "Z"], False),
    ],
)
def test_fingerprint_requires_every_name_and_none_of_other_tools(columns: list[str], wanted: bool) -> None:
    assert MARKED.matches(columns) is wanted


def test_fingerprint_check_names_what_is_missing() -> None:
    with pytest.raises(TableError, match="'b' is missing"):
        MARKED.check(["a"], "Tool")
    MARKED.check(["a", "b", "c", "x.1"], "Tool")


def test_plain_names_drop_stars_and_keep_first() -> None:
    assert by_plain_name(["AUTO ID*", " auto id", "B"]) == {"auto id": "AUTO ID*", "b": "B"}
