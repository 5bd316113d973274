"""No request causes a server error, and every reply matches the document (schemathesis)."""

from __future__ import annotations

from collections import Counter

import pytest
import schemathesis
from hypothesis import HealthCheck, Phase, given, settings
from hypothesis import strategies as st
from schemathesis.checks import not_a_server_error
from schemathesis.generation.stateful.state_machine import APIStateMachine
from schemathesis.specs.openapi.checks import (
    content_type_conformance,
    ensure_resource_availability,
    negative_data_rejection,
    response_headers_conformance,
    response_schema_conformance,
    status_code_conformance,
    use_after_free,
)
from starlette.testclient import TestClient

from tests.web.api.conftest import API, OTHER_KIND_IN_PROOFS
from workflow.seat import Seat
from workflow.server.home import Home

CHECKS = (not_a_server_error, status_code_conformance, content_type_conformance, response_schema_conformance)


def call(api: TestClient, seat: Seat, calls: int) -> Counter[int]:
    """Make this many calls allowed by the document, and a few more; returns how often each status occurred."""
    schema = schemathesis.openapi.from_dict(api.get("/openapi.json").json())
    cases = st.one_of([one.ok().as_strategy() for one in schema.get_all_operations()])
    seen: Counter[int] = Counter()

    @settings(
        max_examples=calls,
        deadline=None,
        database=None,
        derandomize=True,
        phases=[Phase.generate],
        suppress_health_check=list(HealthCheck),
    )
    @given(st.data())
    def one_call(data: st.DataObject) -> None:
        case = data.draw(cases)
        if "project" in case.path_parameters and data.draw(st.booleans()):
            case.path_parameters["project"] = seat.project_id
        response = case.call(base_url=f"http://127.0.0.1:8501{API}", app=api.app, headers=dict(api.headers))
        seen[response.status_code] += 1
        case.validate_response(response, checks=CHECKS)

    one_call()
    return seen


@OTHER_KIND_IN_PROOFS
def test_hundred_generated_calls_match_document(api: TestClient, seat: Seat) -> None:
    seen = call(api, seat, 100)
    assert seen[200]
    assert seen[422]


@pytest.mark.proof
def test_thousands_of_generated_calls_match_document(
    api: TestClient, seat: Seat, home: Home, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(type(home.attempts), "may_call", lambda _self, _person: True)
    seen = call(api, seat, 1_000)
    assert {200, 404, 422} <= set(seen)
    assert sum(seen.values()) >= 1_000


LINKED = (*CHECKS, response_headers_conformance, negative_data_rejection, ensure_resource_availability, use_after_free)
"""Every check but that of accepted data: a request that fits the document may be refused for what the project has, such
as an answer of another kind of project; and those of other methods and of tokens, which have tests of their own."""


@pytest.mark.proof
@pytest.mark.parametrize("seat", ["one_label"], indirect=True)
def test_calls_that_follow_from_replies_match_document(
    api: TestClient, seat: Seat, home: Home, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Calls with ids from earlier replies, in sequences that schemathesis infers from the document."""
    monkeypatch.setattr(type(home.attempts), "may_call", lambda _self, _person: True)
    schema = schemathesis.openapi.from_dict(api.get("/openapi.json").json())
    machine: type[APIStateMachine] = schema.as_state_machine()
    seen: Counter[int] = Counter()

    class Program(machine):  # type: ignore[misc, valid-type]
        def get_call_kwargs(self, _case: schemathesis.Case) -> dict[str, object]:
            base = f"http://127.0.0.1:8501{API}"
            return {"base_url": base, "app": api.app, "headers": dict(api.headers)}

        def validate_response(self, response: schemathesis.Response, case: schemathesis.Case, **_more: object) -> None:
            seen[response.status_code] += 1
            case.validate_response(response, checks=LINKED)

    Program.run(
        settings=settings(
            max_examples=60,
            stateful_step_count=12,
            deadline=None,
            database=None,
            derandomize=True,
            suppress_health_check=list(HealthCheck),
        )
    )
    assert {200, 404} <= set(seen)
    assert sum(seen.values()) >= 300, seen
