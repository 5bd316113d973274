"""Access to the HTTP API and its document."""

from __future__ import annotations

import json
import logging
import re
from typing import Any
from urllib.parse import urljoin

import pytest
from starlette.testclient import TestClient

from tests.web import addresses
from tests.web.api.conftest import API, ONE_KIND, program, somebody_with
from tests.web.conftest import BASE, COOKIE
from tests.web.test_proxies import ADA, PROXY, STRANGER, From, come_from, there
from tests.workflow.world import full_disk
from web import bearer
from web import server as served
from web.api.made import make_api, page_of
from web.guard import SEEN_EVERY
from web.problems import TYPE
from workflow.access import RIGHTS, Right, Role
from workflow.people import members, team, tokens
from workflow.seat import Seat
from workflow.server.home import Home

# Identity of a program: only by its token, until it ends, and for the API only


_DONE = ("cancel", "resume", "archive", "restore", "compare")
"""Calls without a body that return nothing."""
ONE_LABEL = ("GET /projects/{project}/classes", "POST /projects/{project}/models/compare")
"""Calls for projects with one label per row only."""


def call(api: TestClient, seat: Seat, line: str) -> int:
    """The status of a call to this address of the table."""
    method, path = line.split()
    path = (
        path.replace("{project}", str(seat.project_id))
        .replace("{row}", "0")
        .replace("{person}", "999")
        .replace("{name}", "a" * 64 + ".png")
    )
    named = {"params": {"project": "birds"}} if line == "POST /projects" else {}
    sent: dict[str, Any] = {"json": {}, **named} if method in ("POST", "PUT") else {}
    return api.request(method, path, **sent).status_code


def test_every_call_is_in_access_matrix() -> None:
    paths = make_api().openapi()["paths"]
    made = {f"{method.upper()} {path}" for path, methods in paths.items() for method in methods}
    assert made == set(addresses.API)
    assert bearer.API in {route.path for route in served.ROUTES}


@pytest.mark.parametrize("role", [*Role, "no member"])
def test_every_role_is_answered_as_access_matrix_says(server: TestClient, seat: Seat, role: str) -> None:
    if role == "no member":
        eve = somebody_with(seat, "viewer")
        members.remove_member(seat, eve.person_id)
    else:
        eve = somebody_with(seat, role)
    api, rights = program(server, eve), RIGHTS[Role(role)] if role in list(Role) else frozenset[Right]()
    for line, right in addresses.API.items():
        status = call(api, seat, line)
        if right is None:
            assert status in (200, 404), line  # of files: no one has such a one
        elif line.endswith("back-to-words") and right in rights:
            assert status == 422, "there are no vectors"
        elif line.endswith("uploads"):  # more rows come in files, too
            assert status == (201 if right in rights else 403), line
        elif line.endswith("/exports"):
            fits = 202 if line.startswith("POST") else 200
            assert status == (fits if right in rights else 404 if role == "no member" else 403), line
        elif "{key}" in line and right in rights:
            assert status == (204 if line.startswith("DELETE") else 404), "there is no such export"
        elif "{project}" not in line:
            assert status == 403, "owners of this Winnow alone make projects, try files, and have its encoders"
        elif line.startswith(("POST", "PUT", "PATCH")) and not line.endswith(
            ("question", "questions", "back-to-words", *_DONE)
        ):
            assert status == 422, "an empty body says nothing; test_saying.py tries them with one"
        elif right in rights and (line.endswith("{person}") or line in ONE_LABEL):
            fits = line in ONE_LABEL and seat.kind.CLASSES is not None
            assert status in ((200, 204) if fits else (409, 422)), "no such person, or another kind"
        elif right in rights:
            assert status == (204 if line.endswith(_DONE) or line.startswith("DELETE") else 200), line
        else:
            assert status == (404 if role == "no member" else 403), line


@ONE_KIND
def test_request_without_valid_token_is_refused(server: TestClient, seat: Seat) -> None:
    secret = tokens.make_token(seat, "survey")
    link = team.redeem_link(seat.home, team.make_start_link(seat.home))
    wrong = (
        {},
        {"authorization": ""},
        {"authorization": "Bearer"},
        {"authorization": "Bearer "},
        {"authorization": f"Basic {secret}"},
        {"authorization": secret},
        {"authorization": f"Bearer {secret}x"},
        {"authorization": f"Bearer {link}"},
        {"authorization": "Bearer \u00e9".encode("latin-1")},
        {"x-winnow-person": "1"},
        {"cookie": f"{COOKIE}={link}"},
        {"cookie": f"{COOKIE}={secret}"},
    )
    for headers in wrong:
        for path in ("/projects", f"/projects/{seat.project_id}/log", "/nothing", ""):
            answer = server.get(f"{API}{path}", headers=headers)
            assert (answer.status_code, answer.headers["content-type"]) == (401, TYPE), (headers, path)
            assert answer.headers["www-authenticate"] == "Bearer"
    two = [("authorization", f"Bearer {secret}")] * 2
    assert server.get(f"{API}/projects", headers=two).status_code == 401
    assert server.get(f"{API}/projects", headers={"authorization": f"bEARER {secret}"}).status_code == 200


@ONE_KIND
def test_token_only_opens_http_api(server: TestClient, seat: Seat) -> None:
    headers = {"authorization": f"Bearer {tokens.make_token(seat, 'survey')}"}
    for path in ("/", "/account", "/files/x", "/exports/1/x", "/apix", "/api", "/api/v2/projects", "/api/v1x"):
        assert server.get(path, headers=headers).status_code == 401, path
    assert server.post(f"/presses/{seat.project_id}", json={}, headers=headers).status_code == 401


@ONE_KIND
def test_token_overrides_cookie(server: TestClient, seat: Seat) -> None:
    eve = somebody_with(seat, "viewer")
    api = program(server, eve)
    owners = team.redeem_link(seat.home, team.make_start_link(seat.home))
    answer = api.get(f"/projects/{seat.project_id}/log", headers={"cookie": f"{COOKIE}={owners}"})
    assert answer.status_code == 403


@ONE_KIND
def test_ended_token_is_refused_at_once(server: TestClient, seat: Seat) -> None:
    eve = somebody_with(seat, "annotator")
    api = program(server, eve)
    assert api.get("/projects").status_code == 200
    (one,) = tokens.my_tokens(eve)
    tokens.end_my_token(eve, one.id)
    assert api.get("/projects").status_code == 401


@ONE_KIND
def test_token_of_disabled_person_is_refused_at_once(server: TestClient, seat: Seat) -> None:
    eve = somebody_with(seat, "annotator")
    api = program(server, eve)
    assert api.get("/projects").status_code == 200
    team.disable_person(seat.everywhere, eve.person_id)
    assert api.get("/projects").status_code == 401
    team.make_link(seat, "Eve annotator")
    assert api.get("/projects").status_code == 401


@ONE_KIND
def test_request_from_another_site_is_refused(api: TestClient, seat: Seat) -> None:
    for headers in ({"origin": "https://evil.example"}, {"sec-fetch-site": "cross-site"}, {"origin": "null"}):
        refused = api.post(f"/projects/{seat.project_id}/question", headers=headers)
        assert refused.status_code == 403
    assert api.get("/projects", headers={"host": "evil.example"}).status_code == 400
    assert api.post(f"/projects/{seat.project_id}/question", headers={"origin": BASE}).status_code == 200


@ONE_KIND
def test_too_many_calls_are_answered_429(api: TestClient, seat: Seat, monkeypatch: pytest.MonkeyPatch) -> None:
    asked: list[int] = []
    monkeypatch.setattr(type(seat.home.attempts), "may_call", lambda _self, person: bool(asked.append(person)))
    refused = api.get("/projects")
    assert (refused.status_code, refused.headers["retry-after"]) == (429, "60")
    assert "Fix:" in refused.json()["detail"]
    assert asked == [seat.person_id]


@ONE_KIND
def test_token_use_is_recorded_at_intervals(api: TestClient, seat: Seat, monkeypatch: pytest.MonkeyPatch) -> None:
    noted: list[int] = []
    monkeypatch.setattr(tokens, "note_use", lambda _home, number: noted.append(number))
    now = [1_000.0]
    monkeypatch.setattr("web.guard.time.monotonic", lambda: now[0])
    for _ in range(3):
        api.get("/projects")
    now[0] += SEEN_EVERY
    api.get("/projects")
    (mine,) = tokens.my_tokens(seat)
    assert noted == [mine.id] * 2


@ONE_KIND
def test_token_is_in_no_log_and_no_reply(
    api: TestClient, seat: Seat, caplog: pytest.LogCaptureFixture, capfd: pytest.CaptureFixture[str]
) -> None:
    secret = api.headers["authorization"].partition(" ")[2]
    said = []
    with caplog.at_level(logging.DEBUG):
        for line in addresses.API:
            method, path = line.split()
            path = path.replace("{project}", str(seat.project_id)).replace("{name}", "x")
            answer = api.request(method, path, json={})
            said.append(answer.text + str(answer.headers))
        with full_disk():
            api.post(f"/projects/{seat.project_id}/question")
    written = capfd.readouterr()
    everything = "".join((*said, caplog.text, written.out, written.err))
    assert secret not in everything
    assert secret.removeprefix("winnow_") not in everything


@ONE_KIND
def test_document_needs_sign_in_or_token(server: TestClient, api: TestClient, seat: Seat) -> None:
    for path in sorted(bearer.DOCUMENTS):
        assert server.get(path).status_code == 401, path
        assert api.get(path.removeprefix(API)).status_code == 200, path
        assert server.get(path, headers={"authorization": "Bearer x"}).status_code == 401
    server.cookies.set(COOKIE, team.redeem_link(seat.home, team.make_start_link(seat.home)))
    for path in sorted(bearer.DOCUMENTS):
        assert server.get(path, headers={"authorization": "Bearer x"}).status_code == 401
        assert server.get(path, headers={"authorization": "Basic x"}).status_code == 200, "it is a proxy's"
        answer = server.get(path)
        assert answer.status_code == 200, path
        assert "default-src 'none'" in answer.headers["content-security-policy"]
    assert server.get(f"{API}/projects").status_code == 401, "a cookie does nothing"


# The OpenAPI document describes input and output of every call, as does its page, without other files


@pytest.fixture(scope="module")
def document() -> dict[str, Any]:
    return make_api().openapi()


def test_document_server_url_resolves_to_api_address(document: dict[str, Any]) -> None:
    (server,) = document["servers"]
    for at in ("http://127.0.0.1:8501/api/v1", "https://lab.example/winnow/api/v1"):
        assert urljoin(f"{at}/openapi.json", server["url"]) == at
    assert TestClient(make_api(), root_path="/api/v1").get("/openapi.json").json()["servers"] == [server]


def calls_of(document: dict[str, Any]) -> list[tuple[str, str, dict[str, Any]]]:
    return [
        (method.upper(), path, call) for path, methods in document["paths"].items() for method, call in methods.items()
    ]


def test_document_describes_every_call_in_full(document: dict[str, Any]) -> None:
    assert document["openapi"].startswith("3.1")
    assert json.loads(json.dumps(document)) == document
    names = [call["operationId"] for _, _, call in calls_of(document)]
    assert len(names) == len(set(names))
    for method, path, call in calls_of(document):
        assert {"401", "403", "404", "422", "429", "503"} <= set(call["responses"]), path
        assert ({"400", "408", "409", "413"} <= set(call["responses"])) == (method != "GET"), path
        assert call["security"], path
        for code in ("401", "422"):
            content = call["responses"][code]["content"]
            assert list(content) == ["application/problem+json"], path
            schema = content["application/problem+json"]["schema"]
            assert schema == {"$ref": "#/components/schemas/ToldProblem"}, path
    assert "HTTPValidationError" not in document["components"]["schemas"]


def test_docs_page_lists_every_call_and_schema(document: dict[str, Any]) -> None:
    page = page_of(document)
    for method, path, call in calls_of(document):
        assert f"{method} /api/v1{path}" in page
        assert call["summary"] in page
    for name, schema in document["components"]["schemas"].items():
        assert f'id="{name}"' in page
        assert all(f"<code>{field}</code>" in page for field in schema["properties"])
    assert not re.search(r"<script|https?://|//cdn|<link|src=", page)
    assert page.count("<h1>") == 1


def test_docs_page_escapes_markup_in_document(document: dict[str, Any]) -> None:
    odd = json.loads(json.dumps(document).replace('"Winnow"', '"<b>Winnow</b>"'))
    assert "<b>" not in page_of(odd)


# A program behind a trusted proxy is the person that the proxy names


__all__ = ["come_from", "there"]


def ada_s_token(there: Home) -> dict[str, str]:
    owner = Seat(there, team.ensure_owner(there).id)
    ada = next(one.id for one in team.list_people(owner) if one.name == "Ada")
    return {"authorization": f"Bearer {tokens.make_token(Seat(there, ada), 'survey')}"}


def test_token_is_refused_if_proxy_names_another_person(come_from: From, there: Home) -> None:
    token, client = ada_s_token(there), come_from(PROXY)
    assert client.get(f"{API}/projects", headers=token | ADA).status_code == 200
    for user in ("bob", "eve"):
        assert client.get(f"{API}/projects", headers=token | {"x-forwarded-user": user}).status_code == 401
    assert client.get(f"{API}/projects", headers=token).status_code == 200, "the proxy says nothing"


def test_user_header_from_untrusted_address_is_ignored(come_from: From, there: Home) -> None:
    token, client = ada_s_token(there), come_from(STRANGER)
    assert client.get(f"{API}/projects", headers=ADA).status_code == 401
    assert client.get(f"{API}/projects", headers=token | {"x-forwarded-user": "bob"}).status_code == 200
