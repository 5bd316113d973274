"""Calls that need a capability of the project's kind are refused with a message if the kind lacks it."""

from __future__ import annotations

import pytest
from starlette.testclient import TestClient

from tests.third_kind import add_triage
from tests.web.api.conftest import program
from tests.workflow.world import small_table
from web.api.made import make_api
from workflow.people import team
from workflow.projects import managing
from workflow.seat import Seat
from workflow.server.home import Home


@pytest.fixture
def triage_seat(monkeypatch: pytest.MonkeyPatch, home: Home) -> Seat:
    add_triage(monkeypatch)
    owner = team.ensure_owner(home).id
    return Seat(home, owner, managing.create_project(Seat(home, owner), "triage", small_table()))


@pytest.mark.parametrize(("way", "call"), [("POST", "question"), ("GET", "figures"), ("GET", "predictions")])
def test_call_without_its_capability_is_refused(server: TestClient, triage_seat: Seat, way: str, call: str) -> None:
    reply = program(server, triage_seat).request(way, f"/projects/{triage_seat.project_id}/{call}")
    assert reply.status_code == 404
    assert "Projects of triage have no" in reply.json()["detail"]


@pytest.mark.parametrize("call", ["", "/rows", "/log", "/export?file=csv"])
def test_call_without_needed_capability_is_answered(server: TestClient, triage_seat: Seat, call: str) -> None:
    asked = program(server, triage_seat).get(f"/projects/{triage_seat.project_id}{call}")
    assert asked.status_code == 200


@pytest.mark.usefixtures("triage_seat")
def test_document_lists_the_third_kind() -> None:
    schemas = make_api().openapi()["components"]["schemas"]
    assert schemas["ListedProject"]["properties"]["kind"]["enum"][0] == "triage"
