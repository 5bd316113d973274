"""Small files in shapes that people post, as projects that programs add rows to and export."""

from __future__ import annotations

import io

import pandas as pd
import pytest
from starlette.testclient import TestClient

from plcore import LabelTable
from plcore.tables import describe, read_table, shaped
from plcore.tables.readers.registry import shape_name
from tests.plcore.tables.right_readings import RIGHT, path_of
from tests.web.api.conftest import program
from workflow import importing
from workflow.people import team
from workflow.seat import Seat
from workflow.server.home import Home

FEW = ("api_rows.csv", "label_studio_min.json", "slash_in_one_row.csv", "tags_nan.csv")
"""Cases that are tried in `make check`, too."""
NEW = "a new row"


def table_of(name: str) -> LabelTable:
    """The table of a case, with every role guessed."""
    reading = read_table(path_of(name))
    if shape_name(reading) is not None:
        reading = shaped(reading)
    return LabelTable.from_cells(reading.cells, reading.suggest_roles(), reading.files, reading.arrays)


def candidates(table: LabelTable, export: pd.DataFrame) -> list[str]:
    """The candidates of each row by an export; of label vectors the cells, with ? for what was not asked."""
    if table.label_vectors is None:
        return export["winnow_candidates_before"].tolist()
    columns = [export[name].map({"1": "1", "0": "0"}).fillna("?") for name in table.roles.label_columns]
    return ["".join(cells) for cells in zip(*columns, strict=True)]


def first_row(table: LabelTable) -> dict[str, str]:
    return {str(column): str(cell) for column, cell in table.cells.iloc[0].items()}


@pytest.mark.parametrize(
    "name", [pytest.param(one, marks=() if one in FEW else pytest.mark.slow) for one in RIGHT]
)
def test_api_has_the_right_candidates_of_each_case(server: TestClient, home: Home, name: str) -> None:
    right, table = RIGHT[name], table_of(name)
    owner = Seat(home, team.ensure_owner(home).id)
    seat = owner.at(importing.create(owner, name, table))
    api, at = program(server, seat), f"/projects/{seat.project_id}"
    cells = first_row(table)
    # A segment of a recording is known by where it is, whatever it is called.
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


@pytest.mark.parametrize("name", [one for one, right in RIGHT.items() if right.stops])
def test_api_stops_rows_with_two_readings_until_they_are_accepted(
    server: TestClient, home: Home, name: str
) -> None:
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


def test_reading_of_the_reply_is_the_sentence_of_page_and_command_line(
    server: TestClient, home: Home
) -> None:
    table = table_of("api_rows.csv")
    owner = Seat(home, team.ensure_owner(home).id)
    seat = owner.at(importing.create(owner, "birds", table))
    row = {"id": NEW, "text": "one more thing", "x": "1", "cands": "NA|jay", "y": ""}
    added = program(server, seat).post(f"/projects/{seat.project_id}/rows", json={"rows": [row]}).json()
    with seat.learner() as opened:
        assert added["reading"] == str(describe(opened.learner.table, "the project's table"))
