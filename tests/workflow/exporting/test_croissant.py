"""Croissant's metadata: MLCommons' own reader finds no error in it, and reads the records beside it."""

from __future__ import annotations

import csv
import dataclasses
import hashlib
import json
from pathlib import Path
from typing import Any

import mlcroissant
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from tests.workflow.exporting.cards import FACTS
from workflow.exporting.card_text import CardDetails
from workflow.exporting.croissant import describe_file, write_croissant

# Of rdflib and pandas, as mlcroissant uses them.
pytestmark = [
    pytest.mark.filterwarnings("ignore:ConjunctiveGraph is deprecated:DeprecationWarning"),
    pytest.mark.filterwarnings("ignore:The inplace keyword in DataFrame.reset_index"),
]

GIVEN = CardDetails(
    license="cc-by-4.0", languages=("en",), url="https://example.org/birds", demographics="Two teachers."
)
COLUMNS = ["id", "x|1", "wörd, x", "wörd; x", " "]


@pytest.fixture
def no_network(monkeypatch: pytest.MonkeyPatch) -> None:
    def refuse(*_: object, **__: object) -> None:
        raise AssertionError("the network was asked")

    monkeypatch.setattr("socket.socket.connect", refuse)


def write_csv(path: Path) -> Path:
    with path.open("w", encoding="utf-8", newline="") as file:
        csv.writer(file).writerows([COLUMNS, ["a", "1", "ü", "x", "-"], ["b", "2", "", "y", "+"]])
    return path


def write_parquet(path: Path) -> Path:
    columns = {
        "id": ["a", "b"],
        "n": [1, 2],
        "share": [0.25, 0.5],
        "flag": [True, False],
        "winnow_candidates": [["wren", "robin"], ["wren"]],
    }
    pq.write_table(pa.table(columns), path)
    return path


def metadata(*files: Path, given: CardDetails = GIVEN, **changes: Any) -> str:
    described = [describe_file(one) for one in files]
    return write_croissant(dataclasses.replace(FACTS, **changes), given, described, "Winnow 9.9")


def opened(text: str, beside: Path) -> mlcroissant.Dataset:
    path = beside / "metadata.json"
    path.write_text(text, encoding="utf-8")
    dataset = mlcroissant.Dataset(jsonld=path)
    assert not dataset.metadata.ctx.issues.errors
    return dataset


def plain(value: Any) -> Any:
    if isinstance(value, bytes):
        return value.decode()
    return [plain(one) for one in value] if isinstance(value, list) else value


def records(dataset: mlcroissant.Dataset, record_set: str) -> list[list[Any]]:
    return [[plain(cell) for cell in one.values()] for one in dataset.records(record_set=record_set)]


@pytest.mark.usefixtures("no_network")
def test_the_records_of_csv_and_parquet_are_read(tmp_path: Path) -> None:
    files = write_csv(tmp_path / "my birds.csv"), write_parquet(tmp_path / "birds.parquet")
    dataset = opened(metadata(*files), tmp_path)
    assert [one.uuid for one in dataset.metadata.record_sets] == [
        "records/my_birds.csv",
        "records/birds.parquet",
    ]
    assert records(dataset, "records/birds.parquet") == [
        ["a", 1, 0.25, True, ["wren", "robin"]],
        ["b", 2, 0.5, False, ["wren"]],
    ]
    first, second = records(dataset, "records/my_birds.csv")
    assert first == ["a", "1", "ü", "x", "-"]
    assert second[0] == "b"
    assert second[3:] == ["y", "+"]


@pytest.mark.usefixtures("no_network")
def test_a_file_that_was_changed_is_not_read(tmp_path: Path) -> None:
    path = write_csv(tmp_path / "birds.csv")
    dataset = opened(metadata(path), tmp_path)
    path.write_text(path.read_text() + "c,3,z,z,z\n")
    with pytest.raises(mlcroissant.GenerationError, match=r"Download\(birds.csv\)") as caught:
        records(dataset, "records/birds.csv")
    assert "Hash" in str(caught.value.__cause__)


def test_what_is_known_is_in_the_rai_fields(tmp_path: Path) -> None:
    found = opened(metadata(), tmp_path).metadata
    assert found.name == "Birds"
    assert found.description == "Songs from a garden."
    assert found.data_annotation_protocol == ["Listen twice.\nThen decide."]
    assert found.data_annotation_platform == ["Winnow 9.9"]
    assert found.annotations_per_item == "1 on 98 rows, 2 on 1 rows"
    assert found.annotator_demographics == ["Two teachers."]
    assert found.machine_annotation_tools == ["plknn", "kernelridge"]
    assert found.data_annotation_analysis == [
        "Accuracy on checks: 0.900 (95 % interval 0.800 to 0.950, n = 50)"
    ]
    assert found.license == ["cc-by-4.0"]
    assert found.url == "https://example.org/birds"


def test_what_is_not_known_is_left_out(tmp_path: Path) -> None:
    text = metadata(
        given=CardDetails(), guidelines="", description="", per_row={}, sources={"oracle": 1}, last=None
    )
    found = opened(text, tmp_path).metadata
    assert not found.annotator_demographics
    assert not {"license", "url", "description", "inLanguage", "dateModified"} & set(json.loads(text))
    rai = {name for name in json.loads(text) if name.startswith("rai:")}
    assert rai == {"rai:dataAnnotationPlatform", "rai:dataAnnotationAnalysis"}


def test_a_file_is_named_with_its_hash_its_size_and_its_type(tmp_path: Path) -> None:
    path = tmp_path / "birds.npz"
    path.write_bytes(b"1234")
    (one,) = json.loads(metadata(path))["distribution"]
    assert one["sha256"] == hashlib.sha256(b"1234").hexdigest()
    assert one["contentSize"] == "4 B"
    assert one["encodingFormat"] == "application/octet-stream"
    assert json.loads(metadata(path)).get("recordSet") is None, "its columns are not known"
    for name, media_type in (("x.csv", "text/csv"), ("x.JSONL", "application/jsonlines")):
        (tmp_path / name).write_text("a\n")
        assert describe_file(tmp_path / name).media_type == media_type


def test_columns_of_an_empty_file_are_none(tmp_path: Path) -> None:
    (tmp_path / "empty.csv").write_text("")
    assert describe_file(tmp_path / "empty.csv").columns == {}


def test_ids_without_blanks_are_all_different(tmp_path: Path) -> None:
    (fields,) = (one["field"] for one in json.loads(metadata(write_csv(tmp_path / "a b.csv")))["recordSet"])
    ids = [one["@id"] for one in fields]
    assert ids == [f"records/a_b.csv/{name}" for name in ("id", "x_1", "wörd_x", "wörd_x-2", "_")]
    assert [one["name"] for one in fields] == COLUMNS


def test_names_of_any_kind_are_valid(tmp_path: Path) -> None:
    opened(metadata(name='Vögel "der" Nacht \U0001f989\n', description="a\u2028b"), tmp_path)
