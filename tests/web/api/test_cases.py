"""Small files in shapes that people post, as projects that programs extend and export."""

from __future__ import annotations

import io
from dataclasses import replace

import pandas as pd
import pytest
from starlette.testclient import TestClient

from plcore import LabelTable, LearnerSettings, read_cells, suggest_roles
from plcore.tables import describe, read_table, shaped
from plcore.tables.readers.registry import shape_name
from tests.plcore.tables.pairs import PAIRS
from tests.plcore.tables.right_readings import REFUSED, RIGHT, path_of
from tests.web.api.conftest import program
from tests.workflow.photos import photos_csv
from workflow import importing
from workflow.people import team
from workflow.projects import managing
from workflow.seat import Seat
from workflow.server.home import Home

FEW = ("api_rows.csv", "label_studio_min.json", "slash_in_one_row.csv", "tags_nan.csv")
"""Cases that run in `make check` and `make test`. The rest is read here as in the tests of the library."""
NEW = "a new row"


def table_of(name: str) -> LabelTable:
    """The table of a case, with every role guessed."""
    reading = read_table(path_of(name))
    if shape_name(reading) is not None:
        reading = shaped(reading)
    return LabelTable.from_cells(reading.cells, reading.suggest_roles(), reading.files, reading.arrays)


def candidates(table: LabelTable, export: pd.DataFrame) -> list[str]:
    """The candidates of each row in an export; for label vectors the cells, with ? for not asked."""
    if table.label_vectors is None:
        return export["winnow_candidates_before"].tolist()
    yes, no = (("1", "1.0", "yes", "y", "x", "true"), ("0", "0.0", "no", "n", "false"))  # with the names in the file
    said = {**dict.fromkeys(yes, "1"), **dict.fromkeys(no, "0")}
    columns = [export[name].str.lower().map(said).fillna("?") for name in table.roles.label_columns]
    return ["".join(cells) for cells in zip(*columns, strict=True)]


def first_row(table: LabelTable) -> dict[str, str]:
    return {str(column): str(cell) for column, cell in table.cells.iloc[0].items()}


@pytest.mark.parametrize(
    "name",
    [
        pytest.param(one, marks=() if one in FEW else pytest.mark.proof)
        for one in RIGHT
        if not one.endswith(".zip")  # rows that programs send bring no recordings
    ],
)
def test_api_reads_expected_candidates_of_each_case(server: TestClient, home: Home, name: str) -> None:
    right, table = RIGHT[name], table_of(name)
    owner = Seat(home, team.ensure_owner(home).id)
    seat = owner.at(importing.create(owner, name, table))
    api, at = program(server, seat), f"/projects/{seat.project_id}"
    cells = first_row(table)
    # A segment of a recording is recognized by its times, not by its name.
    cells[next(name for name in ("recording", table.roles.id, *cells) if name in cells)] = NEW
    added = api.post(f"{at}/rows", json={"rows": [cells]})
    assert added.status_code == 201, added.text
    assert (added.json()["rows"], added.json()["new_classes"]) == (right.count + 1, [])
    assert f"Learnt from: {right.learnt}" in added.json()["reading"]
    written = api.get(f"{at}/export", params={"file": "csv"})
    export = pd.read_csv(io.BytesIO(written.content), dtype="str", keep_default_na=False)
    found = candidates(table, export)
    assert found[: len(right.rows)] == list(right.rows)
    assert (len(found), found[-1]) == (right.count + 1, right.rows[0])


@pytest.mark.parametrize("name", ["g15_mixed_sep.csv", "shares_in_one_row.csv", "slash_in_one_row.csv"])
def test_ambiguous_rows_are_refused_until_accepted(server: TestClient, home: Home, name: str) -> None:
    table = table_of(name)
    column, ordinary = table.cells[table.roles.candidates], ("wren|robin", "wren", "robin", "jay")
    odd = dict(table.cells[~column.isin(ordinary)].iloc[0])
    owner = Seat(home, team.ensure_owner(home).id)
    kept = LabelTable.from_cells(table.cells[column.isin(ordinary)].reset_index(drop=True), table.roles)
    seat = owner.at(importing.create(owner, name, kept))
    api, at, stops = program(server, seat), f"/projects/{seat.project_id}/rows", RIGHT[name].stops
    refused = api.post(at, json={"rows": [odd]})
    assert (refused.status_code, f'send "accept": ["{stops}"]' in refused.json()["detail"]) == (422, True)
    assert "read here as" in refused.json()["detail"]
    assert api.get(at).json()["total"] == kept.n_rows, "nothing is stored"
    added = api.post(at, json={"rows": [odd], "accept": [stops]})
    assert (added.status_code, added.json()["added"]) == (201, 1), added.text


def test_reply_describes_reading_as_page_and_cli_do(server: TestClient, home: Home) -> None:
    table = table_of("api_rows.csv")
    owner = Seat(home, team.ensure_owner(home).id)
    seat = owner.at(importing.create(owner, "birds", table))
    row = {"id": NEW, "text": "one more thing", "x": "1", "cands": "NA|jay", "y": ""}
    added = program(server, seat).post(f"/projects/{seat.project_id}/rows", json={"rows": [row]}).json()
    with seat.learner() as opened:
        assert added["reading"] == str(describe(opened.learner.table, "the project's table"))


@pytest.mark.parametrize("name", [
    "g15_mixed_sep.csv", "api_rows.csv", "md16.json", "g12_na_parquet.parquet", "holes_x.csv", "g16_bn_order.zip",
    "g16_bn_headeronly.zip",
])  # fmt: skip
def test_readings_call_describes_file_and_stores_nothing(server: TestClient, home: Home, name: str) -> None:
    right, owner = RIGHT[name], Seat(home, team.ensure_owner(home).id)
    said = program(server, owner).post("/readings", params={"name": name}, content=path_of(name).read_bytes())
    assert said.status_code == 200, said.text
    found = said.json()
    assert found["reading"].startswith(f"Read as {right.said}")
    assert f"Learnt from: {right.learnt}" in found["reading"]
    assert (found["rows"], found["n_classes"]) == (right.count, len(found["classes"]))
    assert [one["name"] for one in found["doubts"] if one["stops"]] == ([right.stops] if right.stops else [])
    assert managing.list_projects(owner) == []


def test_further_texts_are_named_and_needed_by_new_rows(server: TestClient, home: Home) -> None:
    owner = Seat(home, team.ensure_owner(home).id)
    api = program(server, owner)
    assert api.post("/readings", params={"name": "p.csv"}, content=PAIRS).json()["roles"]["more_texts"] == ["premise"]
    chosen = {"name": "p.csv", "roles": '{"more_texts": [""]}'}
    assert "more_texts" not in api.post("/readings", params=chosen, content=PAIRS).json()["roles"]
    seat = owner.at(importing.create(owner, "pairs", LabelTable.read_csv(PAIRS, suggest_roles(read_cells(PAIRS)))))
    at, row = f"/projects/{seat.project_id}/rows", {"id": NEW, "labels": "harbour|bakery", "hypothesis": "so it goes"}
    refused = api.post(at, json={"rows": [row]})
    assert (refused.status_code, "no column 'premise'" in refused.json()["detail"]) == (422, True)
    assert api.post(at, json={"rows": [row | {"premise": "an old man waits"}]}).status_code == 201
    last = api.get(at, params={"start": 26}).json()["rows"]
    (found,) = ((one["text"], one["texts"], one["caption"]) for one in last)
    assert found == ("so it goes", {"premise": "an old man waits", "hypothesis": "so it goes"}, {})


@pytest.mark.slow
def test_api_refuses_cases_with_fix(server: TestClient, home: Home) -> None:
    api = program(server, Seat(home, team.ensure_owner(home).id))
    for name, refused in REFUSED.items():
        said = api.post("/readings", params={"name": name}, content=path_of(name).read_bytes())
        assert said.status_code == 422, name
        assert refused.words in said.json()["detail"], name
        assert "Fix: " in said.json()["detail"], name


def test_readings_call_follows_chosen_item_and_unlabelled(server: TestClient, home: Home) -> None:
    api, file = program(server, Seat(home, team.ensure_owner(home).id)), path_of("md16.json").read_bytes()
    found = api.post("/readings", params={"name": "md.json", "item": "detection"}, content=file).json()
    assert "an item a detection: 4 rows" in found["reading"]
    file = path_of("camtrap_levels.csv").read_bytes()
    found = api.post("/readings", params={"name": "observations.csv", "item": "event"}, content=file).json()
    assert "an item an event: 2 rows" in found["reading"]
    refused = api.post(
        "/readings", params={"name": "a.csv", "item": "detection"}, content=b"id,labels,x\n1,a|b,2\n2,b,5\n"
    )
    assert (refused.status_code, "no such choice" in refused.json()["detail"]) == (422, True)
    nulls = path_of("null_among_candidates.jsonl").read_bytes()
    assert api.post("/readings", content=nulls).status_code == 422
    assert api.post("/readings", params={"unlabelled": "leave-out"}, content=nulls).json()["rows"] == 19


def test_classes_of_unlabelled_file_are_a_parameter(server: TestClient, home: Home) -> None:
    api, texts = program(server, Seat(home, team.ensure_owner(home).id)), b"text\na small bird\nsome large bird\n"
    assert "name the classes" in api.post("/readings", content=texts).json()["detail"]
    found = api.post("/readings", params={"classes": "wren,robin"}, content=texts).json()
    assert (found["rows"], found["classes"]) == (2, ["robin", "wren"])


def test_dry_run_reports_doubts_and_stores_nothing(server: TestClient, home: Home) -> None:
    table = table_of("g15_mixed_sep.csv")
    plain = table.cells[table.roles.candidates].isin(("wren|robin", "wren", "robin", "jay"))
    kept = LabelTable.from_cells(table.cells[plain].reset_index(drop=True), table.roles)
    owner = Seat(home, team.ensure_owner(home).id)
    seat = owner.at(importing.create(owner, "birds", kept))
    api, at = program(server, seat), f"/projects/{seat.project_id}/rows"
    rows = [{str(name): str(cell) for name, cell in table.cells[~plain].iloc[0].items()}]
    would = api.post(at, json={"rows": rows, "dry_run": True})
    assert (would.status_code, would.json()["rows"], would.json()["added"]) == (200, kept.n_rows + 1, 1)
    assert [one["name"] for one in would.json()["doubts"]] == ["mixed-separators"]
    accepted = api.post(at, json={"rows": rows, "dry_run": True, "accept": ["mixed-separators"]})
    assert accepted.json()["doubts"] == []
    assert api.get(at).json()["total"] == kept.n_rows, "nothing is stored"


def test_rows_and_readings_name_source_of_row(server: TestClient, home: Home) -> None:
    owner = Seat(home, team.ensure_owner(home).id)
    reading = importing.read_upload(photos_csv())
    table = LabelTable.from_cells(reading.cells, replace(reading.suggest_roles(), source="shot", categories=()))
    seat = Seat(home, owner.person_id, importing.create(owner, "faces", table, LearnerSettings()))
    api = program(server, seat)
    found = api.get(f"/projects/{seat.project_id}/rows").json()["rows"]
    cells = table.cells["shot"]
    assert [one["source"] for one in found] == [{"shot": f"{cell} (3 rows)"} for cell in cells]
    ordered = b"\n".join([b"id,photo,names,x", *sorted(b"%d,p%d,a|b,1" % (n, n // 3) for n in range(9))])
    told = api.post("/readings", content=ordered).json()
    assert told["roles"]["source"] == "photo"
    assert "source 'photo' (3 sources of several rows)" in told["reading"]
