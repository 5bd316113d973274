"""What programs read is what the use cases give: rows, figures, the log, predictions, files."""

from __future__ import annotations

import io
import json

import pandas as pd
import pytest
from starlette.testclient import TestClient

from tests.plcore.tables.zips import picture
from tests.web.api.conftest import API, program
from tests.workflow.files.test_finding import kept, table_of
from tests.workflow.four import log
from tests.workflow.people.conftest import whats
from tests.workflow.vector_world import answer_truly
from tests.workflow.world import exported, exported_cells
from web.api import reading
from workflow import importing
from workflow.access import NotFound
from workflow.answering import loop
from workflow.exporting import for_programs
from workflow.projects import managing, progress
from workflow.seat import Seat


def at(seat: Seat, path: str = "") -> str:
    return f"/projects/{seat.project_id}{path}"


def answered(seat: Seat, times: int = 8) -> None:
    for _ in range(times):
        question = loop.next_question(seat)
        if seat.kind.NAME == "label_vectors":
            answer_truly(seat.home, seat.person_id, seat.project_id or 0, question)
        else:
            loop.submit_answer(seat, question.token, "is", question.choices[:1])


def test_projects_are_those_of_the_list(api: TestClient, seat: Seat) -> None:
    (listed,) = api.get("/projects").json()["projects"]
    assert listed == api.get(at(seat)).json()
    summary = managing.get_project(seat)
    assert (listed["id"], listed["name"], listed["kind"]) == (seat.project_id, summary.name, summary.kind)
    assert (listed["rows"], listed["open"], listed["role"]) == (summary.n_rows, summary.left, "owner")


def test_rows_are_read_in_parts_as_they_stood_in_the_file(api: TestClient, seat: Seat) -> None:
    with seat.learner() as opened:
        table = opened.learner.table
    found = []
    while len(found) < table.n_rows:
        part = api.get(at(seat, "/rows"), params={"start": len(found), "count": 7}).json()
        assert part["total"] == table.n_rows
        found += part["rows"]
    assert [one["row"] for one in found] == list(range(table.n_rows))
    assert [one["row_id"] for one in found] == list(map(str, table.ids))
    first = dict(zip(table.roles.numbers, table.cells_of(0, table.roles.numbers), strict=True))
    assert found[0]["features"] == first
    assert api.get(at(seat, "/rows?start=99999")).json()["rows"] == []


def test_figures_are_those_of_progress(api: TestClient, seat: Seat) -> None:
    answered(seat)
    seat.settle()
    found, view = api.get(at(seat, "/figures")).json(), progress.read_progress(seat)
    assert (found["answered"], found["open"]) == (view.answered, view.left)
    assert [one["answers"] for one in found["curve"]] == list(view.curve.answers)
    measure, last = found["measure"], found["curve"][-1]
    assert measure is not None
    assert (measure["value"], measure["low"], measure["high"]) == (last["value"], last["low"], last["high"])
    assert measure["low"] <= measure["value"] <= measure["high"]


def test_the_log_is_pulled_from_where_one_was(api: TestClient, seat: Seat) -> None:
    answered(seat)
    stored, found, since = log(seat.home, seat.project_id or 0), [], 0
    while True:
        part = api.get(at(seat, "/log"), params={"since": since, "count": 3}).json()
        found += part["entries"]
        since = found[-1]["seq"]
        if since == part["last"]:
            break
    assert [(one["seq"], one["kind"], one["row"], one["labels"]) for one in found] == [
        (one.seq, one.kind, one.row, list(one.labels)) for one in stored
    ]
    assert {one["annotator"] for one in found} == {"owner"}
    assert api.get(at(seat, "/log"), params={"since": since}).json() == {"entries": [], "last": since}


def test_predictions_are_what_an_export_says(api: TestClient, seat: Seat) -> None:
    answered(seat)
    seat.settle()
    found = api.get(at(seat, "/predictions?count=1000")).json()
    assert found["total"] == len(found["predictions"])
    here = (seat.home, seat.person_id, seat.project_id or 0)
    if seat.kind.NAME == "one_label":
        frame = exported(*here)
        assert [one["label"] or "" for one in found["predictions"]] == frame["winnow_label"].tolist()
        assert [one["source"] for one in found["predictions"]] == frame["winnow_source"].tolist()
    else:
        cells = exported_cells(*here)
        told = [(one["row_id"], share) for one in found["predictions"] for share in one["shares"]]
        assert [(row, share["label"], share["source"]) for row, share in told] == list(
            cells[["id", "label", "source"]].itertuples(index=False, name=None)
        )
        said = [f"{share['share']:.4f}" for _, share in told]
        assert said == cells["probability"].tolist()
    for one in found["predictions"]:
        assert all(0 <= share["share"] <= 1 for share in one["shares"] if share["share"] is not None)


@pytest.mark.parametrize("file", ["csv", "parquet", "log", "sealed-log"])
def test_a_file_is_what_the_page_gives(api: TestClient, seat: Seat, file: str) -> None:
    answered(seat)
    given = api.get(at(seat, "/export"), params={"file": file})
    assert given.status_code == 200, given.text
    assert given.headers["content-length"] == str(len(given.content))
    assert "attachment" in given.headers["content-disposition"]
    if file == "csv":
        frame = pd.read_csv(io.BytesIO(given.content), dtype=str, keep_default_na=False)
        assert len(frame) == managing.get_project(seat).n_rows
    if file == "parquet":
        assert len(pd.read_parquet(io.BytesIO(given.content))) == managing.get_project(seat).n_rows
    if file == "sealed-log":
        assert json.loads(given.content.splitlines()[-1])["entries"] == len(
            log(seat.home, seat.project_id or 0)
        )
    assert whats(seat.everywhere)[:1] == ["export taken"]
    assert list(seat.home.exports_dir.iterdir()) == [], "nothing is left behind"


def test_a_file_that_there_is_not_is_refused_in_words(api: TestClient, seat: Seat) -> None:
    refused = api.get(at(seat, "/export?file=nonsense"))
    assert refused.status_code == 422
    assert "A file is one of csv" in refused.json()["detail"]


def test_a_file_is_closed_where_its_reader_goes(seat: Seat) -> None:
    written = for_programs.file_of(seat, reading.files.ExportChoice())
    pieces = reading._pieces(written.content)
    next(pieces)
    pieces.close()  # type: ignore[attr-defined]
    assert written.content.closed


def test_images_of_rows_can_be_fetched(server: TestClient, seat: Seat) -> None:
    birds = seat.at(importing.create(seat.everywhere, "birds", table_of()))
    api = program(server, birds)
    rows = api.get(f"/projects/{birds.project_id}/rows").json()["rows"]
    address = next(one["images"][0] for one in rows if one["images"])
    assert address.startswith("/files/")
    given = api.get(address)
    assert (given.status_code, given.headers["content-type"]) == (200, "image/png")
    missing = api.get(f"/files/{kept(picture(98))}")
    assert (missing.status_code, missing.json()["detail"]) == (404, "There is no such file here.")
    with pytest.raises(NotFound):
        for_programs.rows_of(seat.at(99), 0, 1)
    assert API
