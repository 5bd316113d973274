"""Calls of the HTTP API."""

from __future__ import annotations

import asyncio
import io
import json
import time
from collections.abc import AsyncIterator
from typing import Any

import pandas as pd
import pytest
from sqlalchemy.exc import OperationalError
from starlette.testclient import TestClient
from starlette.types import ASGIApp, Receive, Scope, Send

from tests.plcore.tables.zips import picture
from tests.web.api.conftest import API, ONE_KIND, OTHER_KIND_IN_PROOFS, program, somebody_with
from tests.workflow.files.test_finding import kept, table_of
from tests.workflow.people.conftest import whats
from tests.workflow.vector_world import answer_truly
from tests.workflow.world import exported, exported_cells, log
from web import server
from web.api import calls, exports, reading
from web.problems import TYPE
from workflow import importing
from workflow.access import NotFound
from workflow.answering import loop
from workflow.exporting import for_programs
from workflow.importing import LongLine, TableError
from workflow.people import tokens
from workflow.projects import managing, progress
from workflow.seat import Seat

# Parts of all calls: bodies within limits, read completely; refusals as problems; messages for a failing store


def test_crowd_of_first_calls_makes_api_once(monkeypatch: pytest.MonkeyPatch) -> None:
    made: list[int] = []

    async def answered(_scope: Scope, _receive: Receive, _send: Send) -> None: ...

    def make() -> ASGIApp:
        made.append(1)
        time.sleep(0.1)
        return answered

    async def crowd() -> None:
        await asyncio.gather(*(server.call_api({}, None, None) for _ in range(20)))  # type: ignore[arg-type]

    server._api.cache_clear()
    monkeypatch.setattr("web.api.made.make_api", make)
    asyncio.run(crowd())
    server._api.cache_clear()
    assert made == [1]


UNUSABLE_BODIES = (
    (b"", 422),
    (b"{", 422),
    (b"\xff", 400),
    (b"null", 422),
    (b"[1]", 422),
    (b"[" * 40_000, 400),
    (b"1" * 5_000, 400),
    (b"[" * (calls.PARTS + 1), 413),
    (b" " * (calls.MOST + 1), 413),
    (json.dumps({"token": "\ud800", "kind": "is"}).encode(), 422),
    (json.dumps({"token": "x", "kind": "is", "labels": ["\ud800"]}).encode(), 422),
    (json.dumps({"token": "x", "kind": "is", "\ud800": 1}).encode(), 422),
    (json.dumps({"token": "a\x00b", "kind": "skip"}).encode(), 422),
)


def test_unusable_body_stores_nothing(api: TestClient, seat: Seat) -> None:
    for body, status in UNUSABLE_BODIES:
        address = f"/projects/{seat.project_id}/answers"
        refused = api.post(address, content=body, headers={"content-type": "application/json"})
        assert (refused.status_code, refused.headers["content-type"]) == (status, TYPE), (body[:50], refused.text)
        assert refused.json()["status"] == status
        assert log(seat.home, seat.project_id or 0) == []


@ONE_KIND
def test_body_with_form_content_type_is_refused(api: TestClient, seat: Seat) -> None:
    for kind in ("text/plain", "application/x-www-form-urlencoded", "multipart/form-data; boundary=x"):
        refused = api.post(
            f"/projects/{seat.project_id}/answers",
            content=b'{"token": "x", "kind": "skip"}',
            headers={"content-type": kind},
        )
        assert refused.status_code == 422, kind
        assert refused.json()["detail"] == (
            f"body: It is sent as {kind}. Fix: send JSON, with Content-Type: application/json."
        )


NOT_JSON = (
    (b'{"token": "x"}', None, "body: It is sent without Content-Type. Fix: send JSON"),
    (b"", "application/json", "body: There is none. Fix: send JSON"),
    (b'{"token": "x", }', "application/json", "body.15: It is not JSON from this character: "),
    (b"[" * 40_000, "application/json", "There was an error parsing the body"),
)


def test_body_that_is_not_json_names_missing_fields(api: TestClient, seat: Seat) -> None:
    for body, kind, words in NOT_JSON:
        given = {} if kind is None else {"content-type": kind}
        refused = api.post(f"/projects/{seat.project_id}/answers", content=body, headers=given)
        assert refused.json()["detail"].startswith(words)


@ONE_KIND
@pytest.mark.parametrize(
    ("rows", "detail"),
    [
        ([{"id": 1}], "body.rows: The cell 'id' of row 0 must be text. Fix: send \"1\" for 1."),
        ([{"c" * 100_000: "1"}], f"body.rows.0.{'c' * calls.NAMED}.[key]: String should have at most 1000 characters"),
    ],
)
def test_unusable_rows_are_refused_in_a_short_message(api: TestClient, seat: Seat, rows: Any, detail: str) -> None:
    refused = api.post(f"/projects/{seat.project_id}/rows", json={"rows": rows})
    assert (refused.status_code, refused.json()["detail"]) == (422, detail)


@ONE_KIND
def test_incomplete_body_is_refused(api: TestClient, seat: Seat, monkeypatch: pytest.MonkeyPatch) -> None:
    async def nothing(_request: object) -> AsyncIterator[bytes]:
        yield b"{"
        await asyncio.Event().wait()

    monkeypatch.setattr("starlette.requests.Request.stream", nothing)
    monkeypatch.setattr(calls, "SILENCE", 0.0)
    refused = api.post(f"/projects/{seat.project_id}/answers", json={})
    assert (refused.status_code, refused.headers["connection"]) == (408, "close")
    assert refused.headers["content-type"] == TYPE


async def at_bounded(bounded: calls.Bounded, *pieces: bytes) -> list[Any]:
    """Reply to a call with a body in these pieces."""
    left, sent = list(pieces), []

    async def receive() -> dict[str, Any]:
        return {"type": "http.request", "body": left.pop(0), "more_body": bool(left)}

    async def send(message: Any) -> None:
        sent.append(message)

    await bounded({"type": "http", "method": "POST", "headers": []}, receive, send)
    return sent


def test_total_size_of_open_bodies_is_limited(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(calls, "MOST_TOGETHER", 10)
    monkeypatch.setattr(calls, "SMALL", 0)

    async def play() -> None:
        begun, go_on = asyncio.Event(), asyncio.Event()
        bodies: list[bytes] = []

        async def app(_scope: Any, receive: Any, _send: Any) -> None:
            bodies.append((await receive())["body"])
            begun.set()
            await go_on.wait()
            if len(bodies) == 3:
                raise ZeroDivisionError

        bounded = calls.Bounded(app)
        first = asyncio.create_task(at_bounded(bounded, b"12", b"34", b"56"))
        await begun.wait()
        for _ in range(2):
            start, rest = await at_bounded(bounded, b"1", b"2345", b"6")
            assert start["status"] == 503
            assert {(b"retry-after", b"5"), (b"connection", b"close")} <= set(start["headers"])
            assert "Fix: send this one again in 5 seconds" in json.loads(rest["body"])["detail"]
        second = asyncio.create_task(at_bounded(bounded, b"1234"))  # there is room for as much
        go_on.set()
        await asyncio.gather(first, second)
        with pytest.raises(ZeroDivisionError):
            await at_bounded(bounded, b"1234567890")
        await at_bounded(bounded, b"1234567890")
        assert bodies == [b"123456", b"1234", b"1234567890", b"1234567890"]

    asyncio.run(play())


def test_small_body_does_not_wait_for_large_uploads(monkeypatch: pytest.MonkeyPatch) -> None:
    for name, size in (("MOST_TOGETHER", 10), ("MOST", 8), ("SMALL", 3)):
        monkeypatch.setattr(calls, name, size)

    async def play() -> None:
        go_on, done = asyncio.Event(), []

        async def app(_scope: Any, receive: Any, _send: Any) -> None:
            done.append((await receive())["body"])
            await go_on.wait()

        bounded = calls.Bounded(app)
        held = [asyncio.create_task(at_bounded(bounded, b"12345678"))]
        held += [asyncio.create_task(at_bounded(bounded, b"123")) for _ in range(3)]
        while len(done) < len(held):
            await asyncio.sleep(0)
        assert done == [b"12345678", b"123", b"123", b"123"]
        assert (await at_bounded(bounded, b"1234"))[0]["status"] == 503, "a larger one comes again"
        assert (await at_bounded(bounded, b"12"))[0]["status"] == 503, "and small ones have a bound, too"
        go_on.set()
        assert await asyncio.gather(*held) == [[]] * 4
        await at_bounded(bounded, b"12345678")
        assert len(done) == 5

    asyncio.run(play())


UNUSABLE_ADDRESSES = (
    ("GET", "/nothing", 404),
    ("GET", "/projects/", 404),
    ("DELETE", "/projects", 405),
    ("GET", "/projects/x", 422),
    ("GET", "/projects/0", 422),
    ("GET", f"/projects/{2**31}", 422),
    ("GET", f"/projects/{'9' * 5_000}", 422),
    ("GET", "/projects/999", 404),
    ("GET", "/projects/1/rows?count=0", 422),
    ("GET", "/projects/1/log?since=-1", 422),
    ("GET", "/projects/1/export?rows=some", 422),
    ("GET", "/projects/1/export?above=nan", 422),
    ("GET", "/files/..%2f..%2fwinnow.sqlite3", 404),
    ("GET", "/files/..%5cwinnow.sqlite3", 404),
    ("GET", "/files/%00", 404),
    ("GET", "/projects/%2e%2e/rows", 404),
    ("POST", "/projects/1%00/question", 404),
)


def test_unusable_address_or_query_is_refused(api: TestClient) -> None:
    for method, path, status in UNUSABLE_ADDRESSES:
        refused = api.request(method, path)
        assert (refused.status_code, refused.headers["content-type"]) == (status, TYPE), (path[:50], refused.text)
        assert ("Fix: " in refused.json()["detail"]) == (status != 422)


@ONE_KIND
def test_error_outside_of_calls_is_problem_json(server: TestClient, api: TestClient) -> None:
    whose = {"authorization": api.headers["authorization"]}
    for refused, status in (
        (server.get(API, headers=whose), 404),
        (server.post(f"{API}/projects", headers=whose | {"origin": "https://example.org"}), 403),
    ):
        assert (refused.status_code, refused.headers["content-type"]) == (status, TYPE), refused.text
        assert "Fix: " in refused.json()["detail"]


@ONE_KIND
@pytest.mark.parametrize(
    ("fault", "status", "words"),
    [
        (OperationalError("", {}, Exception("locked")), 503, "could not be written"),
        (LongLine("Many files are being read."), 503, "Many files are being read."),
        (TableError("No row is new."), 422, "No row is new."),
    ],
)
def test_failure_is_reported(
    api: TestClient, monkeypatch: pytest.MonkeyPatch, fault: Exception, status: int, words: str
) -> None:
    def fail(*_: Any) -> None:
        raise fault

    monkeypatch.setattr(reading.managing, "list_projects", fail)
    refused = api.get("/projects")
    assert (refused.status_code, refused.headers["content-type"]) == (status, TYPE)
    assert words in refused.json()["detail"]
    assert ("retry-after" in refused.headers) == (status == 503)


@ONE_KIND
def test_database_failure_during_sign_in_is_answered_503(
    server: TestClient, api: TestClient, monkeypatch: pytest.MonkeyPatch
) -> None:
    def fail(*_: Any) -> None:
        raise OperationalError("", {}, Exception("locked"))

    monkeypatch.setattr(tokens, "user_of", fail)
    refused = server.get(f"{API}/projects", headers={"authorization": "Bearer x"})
    assert (refused.status_code, refused.headers["content-type"]) == (503, TYPE)
    assert refused.headers["retry-after"]


@ONE_KIND
def test_long_work_uses_its_own_threads(api: TestClient, monkeypatch: pytest.MonkeyPatch) -> None:
    held: list[int] = []

    def look(*_: Any) -> None:
        held.append(calls.AT_ONCE.borrowed_tokens)
        raise TableError("No row is new.")

    monkeypatch.setattr(reading.for_programs, "file_of", look)
    monkeypatch.setattr("web.api.sent.row_records.append_rows", look)
    monkeypatch.setattr(reading.managing, "list_projects", look)
    assert api.get("/projects/1/export").status_code == 422
    assert api.post("/projects/1/rows", json={"rows": [{"a": "1"}]}).status_code == 422
    assert api.get("/projects").status_code == 422
    assert held == [0, 0, 1]


# The API returns the values of the use cases: rows, figures, the log, predictions, files


def at(seat: Seat, path: str = "") -> str:
    return f"/projects/{seat.project_id}{path}"


def answered(seat: Seat, times: int = 8) -> None:
    for _ in range(times):
        question = loop.next_question(seat)
        if seat.kind.NAME == "label_vectors":
            answer_truly(seat.home, seat.person_id, seat.project_id or 0, question)
        else:
            loop.submit_answer(seat, question.token, "is", question.choices[:1])


def test_projects_match_list(api: TestClient, seat: Seat) -> None:
    (listed,) = api.get("/projects").json()["projects"]
    assert listed == api.get(at(seat)).json()
    summary = managing.get_project(seat)
    assert (listed["id"], listed["name"], listed["kind"]) == (seat.project_id, summary.name, summary.kind)
    assert (listed["rows"], listed["open"], listed["role"]) == (summary.n_rows, summary.left, "owner")


def test_rows_are_paged_as_they_were_in_file(api: TestClient, seat: Seat) -> None:
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


def test_figures_match_progress(api: TestClient, seat: Seat) -> None:
    answered(seat)
    seat.settle()
    found, view = api.get(at(seat, "/figures")).json(), progress.read_progress(seat)
    assert (found["answered"], found["open"]) == (view.answered, view.left)
    assert found["stop"] == [one.words for one in view.stop.reached]
    assert [one["answers"] for one in found["curve"]] == list(view.curve.answers)
    measure, last = found["measure"], found["curve"][-1]
    assert measure is not None
    assert (measure["value"], measure["low"], measure["high"]) == (last["value"], last["low"], last["high"])
    assert measure["low"] <= measure["value"] <= measure["high"]


@OTHER_KIND_IN_PROOFS
def test_log_is_paged_by_since_and_matches_store(api: TestClient, seat: Seat) -> None:
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


@OTHER_KIND_IN_PROOFS
def test_predictions_match_export(api: TestClient, seat: Seat) -> None:
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


def lines_of(reply: Any) -> list[dict[str, Any]]:
    assert (reply.status_code, reply.headers["content-type"]) == (200, "application/x-ndjson"), reply.text
    return [json.loads(line) for line in reply.content.splitlines()]


def test_prediction_lines_match_pages(api: TestClient, seat: Seat, monkeypatch: pytest.MonkeyPatch) -> None:
    answered(seat)
    seat.settle()
    pages = api.get(at(seat, "/predictions?count=1000")).json()["predictions"]
    assert lines_of(api.get(at(seat, "/predictions/lines"))) == pages
    monkeypatch.setattr(for_programs, "SHARES_AT_ONCE", 7 * len(pages[0]["shares"]) + 1)
    assert lines_of(api.get(at(seat, "/predictions/lines"))) == pages, "whatever the size of the parts"
    assert lines_of(api.get(at(seat, "/predictions/lines?start=5"))) == pages[5:]
    assert lines_of(api.get(at(seat, f"/predictions/lines?start={len(pages)}"))) == []
    assert lines_of(api.get(at(seat, f"/predictions/lines?start={2**31 - 1}"))) == []


@OTHER_KIND_IN_PROOFS
def test_taken_predictions_ignore_later_answers(seat: Seat) -> None:
    answered(seat)
    seat.settle()
    before = for_programs.predictions_of(seat, 0, 1_000).items
    taken = for_programs.take_predictions(seat, 0)
    answered(seat)
    seat.settle()
    assert for_programs.predictions_of(seat, 0, 1_000).items != before
    assert [one for part in taken.parts() for one in taken.told(part)] == before


# An export as a job


def ready(api: TestClient, seat: Seat, query: str) -> dict[str, Any]:
    """An export that has been written, or has failed."""
    begun = api.post(at(seat, f"/exports?{query}"))
    assert begun.status_code == 202, begun.text
    seat.home.prepared.wait(begun.json()["key"])
    state: dict[str, Any] = api.get(at(seat, f"/exports/{begun.json()['key']}")).json()
    return state


def test_export_job_gives_same_file_as_one_call(api: TestClient, seat: Seat) -> None:
    answered(seat)
    seat.settle()
    for query in ("file=csv&rows=answered", "file=jsonl", "file=log&for_spreadsheets=true"):
        check_export_job(api, seat, query)


def check_export_job(api: TestClient, seat: Seat, query: str) -> None:
    job = ready(api, seat, query)
    assert (job["state"], job["done"], job["fault"]) == ("ready", job["total"], None)
    at_once = api.get(at(seat, f"/export?{query}"))
    fetched = api.get(at(seat, f"/exports/{job['key']}/file"))
    assert fetched.content == at_once.content
    assert len(fetched.content) == job["size"]
    assert fetched.headers["content-type"] == at_once.headers["content-type"]
    part = api.get(at(seat, f"/exports/{job['key']}/file"), headers={"range": "bytes=5-9"})
    assert (part.status_code, part.content) == (206, at_once.content[5:10])
    assert [one["key"] for one in api.get(at(seat, "/exports")).json()["exports"]][:1] == [job["key"]]


@ONE_KIND
def test_removed_export_is_not_found(api: TestClient, seat: Seat) -> None:
    key = ready(api, seat, "file=csv")["key"]
    for _ in range(2):
        assert api.delete(at(seat, f"/exports/{key}")).status_code == 204
    for path in (f"/exports/{key}", f"/exports/{key}/file"):
        refused = api.get(at(seat, path))
        assert (refused.status_code, "Fix: " in refused.json()["detail"]) == (404, True)
    assert list(seat.home.exports_dir.iterdir()) == []


@ONE_KIND
def test_only_latest_exports_of_programs_are_kept(api: TestClient, seat: Seat) -> None:
    own = exports.files.prepare(seat, exports.files.ExportChoice(), "birds")
    keys = [ready(api, seat, "file=csv")["key"] for _ in range(for_programs.MOST_EXPORTS + 2)]
    listed = [one["key"] for one in api.get(at(seat, "/exports")).json()["exports"]]
    assert listed == [*reversed(keys[2:]), own], "files of the Export page stay"


@ONE_KIND
def test_export_job_belongs_to_its_person(server: TestClient, api: TestClient, seat: Seat) -> None:
    key = ready(api, seat, "file=csv")["key"]
    other = program(server, somebody_with(seat, "owner"))
    assert other.get(at(seat, "/exports")).json() == {"exports": []}
    assert other.get(at(seat, f"/exports/{key}/file")).status_code == 404
    assert other.delete(at(seat, f"/exports/{key}")).status_code == 204
    assert api.get(at(seat, f"/exports/{key}/file")).status_code == 200


@ONE_KIND
def test_failed_export_says_why(api: TestClient, seat: Seat, monkeypatch: pytest.MonkeyPatch) -> None:
    def fail(*_: object) -> None:
        raise OSError(28, "No space left on device")

    monkeypatch.setattr("workflow.files.prepared.whole_file", fail)
    job = ready(api, seat, "file=csv")
    assert job["state"] == "failed"
    assert job["fault"]
    assert api.get(at(seat, f"/exports/{job['key']}/file")).status_code == 404


@ONE_KIND
def test_unknown_file_begins_no_export(api: TestClient, seat: Seat) -> None:
    refused = api.post(at(seat, "/exports?file=nonsense"))
    assert (refused.status_code, "A file is one of csv" in refused.json()["detail"]) == (422, True)
    assert api.get(at(seat, "/exports")).json() == {"exports": []}


def test_exported_files_match_export_page(api: TestClient, seat: Seat) -> None:
    answered(seat)
    for file in ("csv", "parquet", "log", "sealed-log"):
        check_exported_file(api, seat, file)


def check_exported_file(api: TestClient, seat: Seat, file: str) -> None:
    given = api.get(at(seat, "/export"), params={"file": file}, headers={"accept-encoding": "identity"})
    assert given.status_code == 200, given.text
    assert given.headers["content-length"] == str(len(given.content))
    assert "attachment" in given.headers["content-disposition"]
    if file == "csv":
        frame = pd.read_csv(io.BytesIO(given.content), dtype=str, keep_default_na=False)
        assert len(frame) == managing.get_project(seat).n_rows
    if file == "parquet":
        assert len(pd.read_parquet(io.BytesIO(given.content))) == managing.get_project(seat).n_rows
    if file == "sealed-log":
        assert json.loads(given.content.splitlines()[-1])["entries"] == len(log(seat.home, seat.project_id or 0))
    assert whats(seat.everywhere)[:1] == ["export created"]
    assert list(seat.home.exports_dir.iterdir()) == [], "nothing is left behind"


def test_unknown_export_file_is_refused_with_reason(api: TestClient, seat: Seat) -> None:
    for query, why in (
        ("file=nonsense", "A file is one of csv"),
        ("file=parquet&for_spreadsheets=true", "Only csv and log can be written for spreadsheets"),
    ):
        refused = api.get(at(seat, f"/export?{query}"))
        assert refused.status_code == 422
        assert why in refused.json()["detail"]


@ONE_KIND
def test_export_is_closed_when_client_disconnects(seat: Seat) -> None:
    written = for_programs.file_of(seat, exports.files.ExportChoice())
    pieces = exports._pieces(written.content)
    next(pieces)
    pieces.close()  # type: ignore[attr-defined]
    assert written.content.closed


@OTHER_KIND_IN_PROOFS
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


@ONE_KIND
def test_unknown_query_parameter_is_refused(api: TestClient, seat: Seat) -> None:
    at = f"/projects/{seat.project_id}"
    for method, path in (("GET", f"{at}/rows?Start=5"), ("GET", "/projects?count=1"), ("POST", f"{at}/question?x=")):
        refused = api.request(method, path)
        assert (refused.status_code, refused.headers["content-type"]) == (422, TYPE), path
        assert "there is no '" in refused.json()["detail"]


@ONE_KIND
def test_file_in_body_and_upload_are_refused_together(api: TestClient) -> None:
    refused = api.post("/readings", params={"upload": "key"}, content=b"id,labels\n1,a|b\n")
    assert (refused.status_code, refused.json()["detail"][:7]) == (422, "upload:")


def test_whole_numbers_may_have_a_point(api: TestClient, seat: Seat) -> None:
    """JSON has one kind of numbers: 3 and 3.0 are the same, as some languages write them."""
    assert api.put(f"/projects/{seat.project_id}/further", json={"projects": [99.0]}).status_code == 404
    refused = api.put(f"/projects/{seat.project_id}/further", json={"projects": [1.5]})
    assert (refused.status_code, "valid integer" in refused.text) == (422, True)
