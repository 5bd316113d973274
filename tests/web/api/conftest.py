"""Programs that call the API, over the routes and middleware of app.py."""

from __future__ import annotations

import socket
import threading
from collections.abc import Iterator

import pytest
import uvicorn
from starlette.testclient import TestClient

from tests.web.conftest import BASE, app_of
from tests.workflow.four import four_class_project
from tests.workflow.vector_world import vector_project
from tests.workflow.world import annotator
from winnow_labels.client import Winnow
from workflow.people import team, tokens
from workflow.seat import Seat
from workflow.server.home import Home

API = "/api/v1"
KINDS = {"one_label": four_class_project, "label_vectors": vector_project}


@pytest.fixture
def server(home: Home) -> Iterator[TestClient]:
    """The server, for a client without a token."""
    with TestClient(app_of(), base_url=BASE, follow_redirects=False, raise_server_exceptions=False) as made:
        yield made


@pytest.fixture(params=list(KINDS))
def seat(request: pytest.FixtureRequest, home: Home) -> Seat:
    """The owner at a project of each kind, with its first model fitted, so that a question stays the same."""
    owner = team.ensure_owner(home).id
    made = Seat(home, owner, KINDS[request.param](home, owner))
    made.settle()
    return made


ONE_KIND = pytest.mark.parametrize("seat", ["one_label"], indirect=True)
"""For replies that are the same whatever the kind of the project."""
OTHER_KIND_IN_PROOFS = pytest.mark.parametrize(
    "seat", ["one_label", pytest.param("label_vectors", marks=pytest.mark.proof)], indirect=True
)


@pytest.fixture
def api(server: TestClient, seat: Seat) -> TestClient:
    """The owner's program."""
    return program(server, seat)


def program(server: TestClient, seat: Seat) -> TestClient:
    """A program of this person. Its addresses start at the API; it shares the server of the other program, and its
    event loop: otherwise each request would start one."""
    made = TestClient(server.app, base_url=f"{BASE}{API}", follow_redirects=False, raise_server_exceptions=False)
    made.portal = server.portal
    made.headers["authorization"] = f"Bearer {tokens.make_token(seat, f'tests {seat.person_id}')}"
    return made


def somebody_with(seat: Seat, role: str) -> Seat:
    """A person with this role in the project."""
    return Seat(seat.home, annotator(seat.home, seat.person_id, f"Eve {role}", role), seat.project_id)


@pytest.fixture
def url(home: Home) -> Iterator[str]:
    """The URL of a server that listens in a thread of this process."""
    with socket.socket() as bound:
        bound.bind(("127.0.0.1", 0))
        bound.listen()  # a request before the thread has begun waits, and is not refused
        server = uvicorn.Server(uvicorn.Config(app_of(), log_level="error", lifespan="off"))
        thread = threading.Thread(target=server.run, kwargs={"sockets": [bound]})
        thread.start()
        try:
            yield f"http://127.0.0.1:{bound.getsockname()[1]}"
        finally:
            server.should_exit = True
            thread.join()


@pytest.fixture
def winnow(url: str, seat: Seat) -> Iterator[Winnow]:
    with Winnow(url, tokens.make_token(seat, "notebook")) as made:
        yield made
