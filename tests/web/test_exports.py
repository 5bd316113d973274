"""`/exports/PROJECT/KEY`: who gets a prepared file, with which headers, and who does not."""

from __future__ import annotations

import pytest
from starlette.testclient import TestClient

from tests.web.conftest import COOKIE
from tests.workflow.world import answer_next, file_of, small_project
from web.headers import HEADERS
from workflow.exporting import files
from workflow.exporting.files import ExportChoice
from workflow.people import members, team
from workflow.projects import managing
from workflow.seat import Seat
from workflow.server.home import Home


@pytest.fixture
def seat(home: Home) -> Seat:
    owner = team.ensure_owner(home).id
    project = small_project(home, owner)
    answer_next(home, owner, project)
    return Seat(home, owner, project)


@pytest.fixture
def key(seat: Seat) -> str:
    """Of a file that is ready."""
    made = files.prepare(seat, ExportChoice("jsonl"), "small")
    files.wait(seat, made)
    return made


@pytest.fixture
def signed_in(client: TestClient, home: Home, seat: Seat) -> TestClient:
    client.cookies.set(COOKIE, team.redeem_link(home, team.make_start_link(home)))
    return client


def address(seat: Seat, key: str) -> str:
    return f"/exports/{seat.project_id}/{key}"


def test_the_file_is_stored_and_never_shown(signed_in: TestClient, seat: Seat, key: str) -> None:
    answer = signed_in.get(address(seat, key))
    assert (answer.status_code, answer.content) == (200, file_of(seat, "jsonl"))
    assert answer.headers["content-disposition"] == 'attachment; filename="small-winnowed.jsonl"'
    assert answer.headers["content-type"] == "application/octet-stream"
    assert answer.headers["cache-control"] == "no-store"
    assert answer.headers["x-content-type-options"] == "nosniff"
    assert answer.headers["content-security-policy"] == HEADERS["content-security-policy"]
    part = signed_in.get(address(seat, key), headers={"range": "bytes=0-9"})
    assert (part.status_code, part.content) == (206, answer.content[:10]), "a download that broke off goes on"
    assert signed_in.head(address(seat, key)).status_code == 200


def test_without_a_sign_in_there_is_nothing(client: TestClient, seat: Seat, key: str) -> None:
    assert client.get(address(seat, key)).status_code == 401
    client.cookies.set(COOKIE, "forged")
    forged = client.get(address(seat, key), headers={"x-winnow-person": str(seat.person_id)})
    assert forged.status_code == 401


def test_an_annotator_is_refused_though_they_know_the_address(
    client: TestClient, home: Home, seat: Seat, key: str
) -> None:
    client.cookies.set(COOKIE, team.redeem_link(home, team.make_link(seat, "Bob")))
    members.share(Seat(home, seat.person_id), "Bob", [seat.project_id or 0], "reviewer")
    answer = client.get(address(seat, key))
    assert (answer.status_code, "Only the owner" in answer.text) == (403, True)


def test_other_names_are_not_found(signed_in: TestClient, home: Home, seat: Seat, key: str) -> None:
    second = small_project(home, seat.person_id, "second")
    for path in (
        address(seat, "x" * len(key)),
        address(seat, key[:-1]),
        address(seat, f"{key}/"),
        address(seat, f"..%2F{key}"),
        address(seat, "..%2Fwinnow.sqlite3"),
        address(seat, "%00"),
        f"/exports/{second}/{key}",
        f"/exports/99/{key}",
        f"/exports/one/{key}",
        f"/exports/{key}",
        "/exports/",
    ):
        assert signed_in.get(path).status_code in (404, 307), path
    assert "prepare it anew" in signed_in.get(address(seat, "x")).text


def test_it_goes_with_its_project_and_when_it_is_removed(signed_in: TestClient, seat: Seat, key: str) -> None:
    managing.archive_project(seat)
    assert signed_in.get(address(seat, key)).status_code == 404
    managing.restore_project(seat)
    assert signed_in.get(address(seat, key)).status_code == 200
    files.remove(seat, key)
    assert signed_in.get(address(seat, key)).status_code == 404


def test_nothing_can_be_put_there(signed_in: TestClient, seat: Seat, key: str) -> None:
    assert signed_in.put(address(seat, key), content=b"x").status_code == 405
    assert signed_in.post(address(seat, key)).status_code == 405
    assert signed_in.delete(address(seat, key)).status_code == 405


def test_a_project_that_no_number_can_be_is_not_found(signed_in: TestClient, key: str) -> None:
    assert signed_in.get(f"/exports/{10**30}/{key}").status_code == 404
