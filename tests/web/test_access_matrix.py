"""Every address as every role, as in `addresses.py` and so in docs/access.md."""

from __future__ import annotations

import pytest
from starlette.testclient import TestClient

from plcore import LearnerSettings
from tests.plcore.tables.zips import WAV, make_zip, picture
from tests.web import addresses
from tests.web.conftest import COOKIE
from tests.workflow.answering.malformed import PRESS
from tests.workflow.files.test_finding import CSV, FILES, kept
from tests.workflow.sounds import RECORDINGS, segments_project
from web import bearer, document, server
from web.uploads import TYPE
from workflow import importing
from workflow.access import RIGHTS, Right, Role
from workflow.exporting import files as exporting
from workflow.importing import arrivals
from workflow.people import browsers, members, team
from workflow.seat import Seat
from workflow.server.home import Home

PICTURE, SOUND = kept(picture(2)), kept(RECORDINGS["calls/0.wav"], "wav")
NOBODY = "no member"


@pytest.fixture
def seat(home: Home) -> Seat:
    """The owner at a project with pictures, with another project with recordings."""
    owner = Seat(home, team.ensure_owner(home).id)
    upload = importing.read_upload(make_zip({"birds.csv": CSV.encode(), "call.wav": WAV, **FILES}))
    checked = importing.check(upload, upload.suggest_roles())
    assert checked.table is not None
    segments_project(home, owner.person_id)
    return owner.at(importing.create(owner, "birds", checked.table, LearnerSettings(n_neighbors=3)))


def sign_in(client: TestClient, seat: Seat, role: str) -> int:
    """Sign in a person with this role in both projects; returns their id."""
    nowhere = Seat(seat.home, seat.person_id)
    secret = team.redeem_link(seat.home, team.make_link(nowhere, "Eve"))
    client.cookies.set(COOKIE, secret)
    person = browsers.person_of(seat.home, secret)
    assert person is not None
    if role != NOBODY:
        for project in range(1, (seat.project_id or 0) + 1):
            members.give_role(nowhere.at(project), [person.id], role)
    return person.id


def prepared(seat: Seat, person: int) -> str:
    """The address of a file that this person prepared while they owned the project."""
    made = exporting.prepare(Seat(seat.home, person, seat.project_id), exporting.ExportChoice(), "birds")
    exporting.wait(seat, made)
    return f"/exports/{seat.project_id}/{made}"


def asked(path: str, address: str) -> str:
    """An address of this route."""
    files = {"small": PICTURE, "spectrogram": SOUND}
    name = files.get(path.rpartition("/")[2], PICTURE)
    return address if path.startswith("/exports") else path.replace("{name}", name)


def test_every_route_is_in_access_matrix() -> None:
    open_to_all = {*addresses.OPEN, *addresses.OPEN_WITH_PROVIDER}
    ours = {
        *open_to_all,
        *addresses.SIGNED_IN,
        *addresses.AT_A_PROJECT,
        *addresses.PRESSED,
        *addresses.OF_ANY_PROJECT,
        *addresses.OF_WINNOW,
        *addresses.OF_OPERATORS,
        bearer.API,  # what is below it: tests/web/api/test_access.py
    }
    pages = {f"/{page}" for page in document.PAGES}  # as "/"; the table of pages adds the roles
    assert {route.path for route in server.ROUTES} - pages <= ours
    assert ours - {route.path for route in server.ROUTES} == {"/_stcore/stream"}
    assert set(addresses.OF_ANY_PROJECT) == {arrivals.PATH}


@pytest.mark.parametrize("role", [*Role, NOBODY])
def test_every_role_is_answered_as_access_matrix_says(client: TestClient, seat: Seat, role: str) -> None:
    person = sign_in(client, seat, Role.OWNER)
    address = prepared(seat, person)
    if role == NOBODY:
        for project in range(1, (seat.project_id or 0) + 1):
            members.remove_member(seat.at(project), person)
    else:
        sign_in(client, seat, role)
    rights = RIGHTS[Role(role)] if role in list(Role) else frozenset[Right]()
    for path, right in addresses.AT_A_PROJECT.items():
        wanted = 200 if right in rights else 404 if role == NOBODY else 403
        assert client.get(asked(path, address)).status_code == wanted, path
    for path in (*addresses.OF_WINNOW, *addresses.OF_OPERATORS):
        assert client.get(asked(path, address)).status_code == 403, path
    for path in (*addresses.OPEN, "/", *(f"/{page}" for page in document.PAGES if page != "progress"), "/signout"):
        assert client.get(path).status_code == 200, path
    for path in addresses.OPEN_WITH_PROVIDER:
        assert client.get(path).status_code == 404, path
    for path, right in addresses.PRESSED.items():
        there = client.post(path.replace("{project:int}", str(seat.project_id)), json=PRESS)
        assert there.status_code == (409 if right in rights else 403), "a press that fits no question"
        nowhere = client.post(path.replace("{project:int}", "99"), json=PRESS)
        same = nowhere.text.replace("project 99", f"project {seat.project_id}") == there.text
        assert (nowhere.status_code, same) == (403, role == NOBODY)
    upload = client.post(arrivals.PATH, content=b"x", headers={"content-type": TYPE})
    assert upload.status_code == (201 if Right.OWN in rights else 403)


def test_non_member_is_answered_like_missing_project(client: TestClient, seat: Seat) -> None:
    """Status, text and headers are those of a missing file or project."""
    address = prepared(seat, sign_in(client, seat, Role.OWNER))
    client.cookies.clear()
    person = sign_in(client, seat, Role.OWNER)
    for project in range(1, (seat.project_id or 0) + 1):
        members.remove_member(seat.at(project), person)
    unknown = {"small": kept(picture(98)), "spectrogram": kept(b"RIFF", "wav")}
    for path in addresses.AT_A_PROJECT:
        there = client.get(asked(path, address))
        if path.startswith("/exports"):
            gone = client.get(address.replace(f"/{seat.project_id}/", "/99/"))
            assert there.text.replace(f"project {seat.project_id} ", "project 99 ") == gone.text
        else:
            name = unknown.get(path.rpartition("/")[2], kept(picture(98)))
            gone = client.get(path.replace("{name}", name))
            assert there.text == gone.text == "There is no such file here."
        assert there.status_code == gone.status_code == 404
        headers = [{**one.headers, "content-length": ""} for one in (there, gone)]
        assert headers[0] == headers[1]


def test_without_sign_in_only_open_addresses_answer(client: TestClient, seat: Seat) -> None:
    for path in addresses.OPEN:
        assert client.get(path).status_code == 200
    for path in addresses.OF_OPERATORS:
        assert client.get(path).status_code == 403
    closed = [asked(path, "/exports/1/x") for path in (*addresses.AT_A_PROJECT, *addresses.OF_WINNOW)]
    for path in (*closed, "/", "/signout", "/scripts/1.js", arrivals.PATH):
        assert client.get(path).status_code == 401, path


def test_disabled_person_is_signed_out(client: TestClient, seat: Seat) -> None:
    person = sign_in(client, seat, Role.OWNER)
    address = prepared(seat, person)
    team.disable_person(Seat(seat.home, seat.person_id), person)
    for path in addresses.AT_A_PROJECT:
        assert client.get(asked(path, address)).status_code == 401, path
