"""Exports of an imported file keep the types of its columns."""

from __future__ import annotations

import json
import zipfile
from pathlib import Path

import pyarrow.parquet as pq

from workflow import importing
from workflow.exporting import files
from workflow.projects import managing
from workflow.seat import Seat
from workflow.server.home import Home

TYPED = Path(__file__).parents[1] / "plcore" / "tables" / "cases" / "typed.parquet"


def written(seat: Seat, path: Path, **choice: object) -> Path:
    files.write_file(
        files.take(seat, files.ExportChoice(**choice)),  # type: ignore[arg-type]
        path,
        lambda _: None,
    )
    return path


def test_parquet_comes_back_with_its_types(home: Home, owner: int, tmp_path: Path) -> None:
    seat = Seat(home, owner)
    _, table = importing.read_as_named(TYPED, {"candidates": "candidates", "id": "id", "numbers": ("score",)})
    here = seat.at(managing.create_project(seat, "typed", table))
    source = pq.read_schema(TYPED)
    found = pq.read_schema(written(here, tmp_path / "out.parquet", file="parquet"))
    for field in source:
        names = [name for name in (f"before_{field.name}", field.name) if name in found.names]
        assert found.field(names[0]).type == field.type, field.name
    features = json.loads(found.metadata[b"huggingface"])["info"]["features"]
    assert {name: features[name]["dtype"] for name in ("id", "score", "count", "ok")} == {
        "id": "int64",
        "score": "float64",
        "count": "int32",
        "ok": "bool",
    }
    with zipfile.ZipFile(written(here, tmp_path / "set.zip", file="dataset")) as archive:
        name = "metadata.json"
        fields = json.loads(archive.read(name))["recordSet"][0]["field"]
    types = {one["source"]["extract"]["column"]: one["dataType"] for one in fields}
    assert (types["id"], types["score"], types["ok"], types["when"]) == (
        "sc:Integer",
        "sc:Float",
        "sc:Boolean",
        "sc:DateTime",
    )
