"""`/scripts/VERSION.js`: the modules of the pages as one, and nothing else."""

from __future__ import annotations

import pytest
from starlette.testclient import TestClient

from pages.parts.components import scripts_in
from tests.web.conftest import COOKIE
from web.headers import HEADERS
from web.scripts import FOLDER
from workflow.people import team
from workflow.server.home import Home

SCRIPTS = scripts_in(FOLDER)
ADDRESS = f"/{SCRIPTS.address}"


@pytest.fixture
def signed_in(client: TestClient, home: Home) -> TestClient:
    team.ensure_owner(home)
    client.cookies.set(COOKIE, team.redeem_link(home, team.make_start_link(home)))
    return client


def test_without_a_sign_in_there_is_nothing(client: TestClient) -> None:
    answer = client.get(ADDRESS)
    assert answer.status_code == 401
    assert b"function" not in answer.content


@pytest.mark.parametrize("coding", ["gzip", "identity"])
def test_they_come_as_javascript_packed_to_who_takes_it_so_and_are_kept_for_ever(
    signed_in: TestClient, coding: str
) -> None:
    answer = signed_in.get(ADDRESS, headers={"accept-encoding": coding})
    assert (answer.status_code, answer.content) == (200, SCRIPTS.joined)
    assert answer.headers.get("content-encoding", "identity") == coding
    assert (int(answer.headers["content-length"]) < len(SCRIPTS.joined) / 3) == (coding == "gzip")
    assert answer.headers["vary"] == "accept-encoding"
    assert answer.headers["content-type"].partition(";")[0] == "text/javascript"
    assert answer.headers["cache-control"] == "private, max-age=31536000, immutable"
    assert answer.headers["x-content-type-options"] == "nosniff"
    head = signed_in.head(ADDRESS)
    assert (head.status_code, head.content) == (200, b"")


def test_every_module_is_in_them() -> None:
    names = [path.relative_to(FOLDER).as_posix() for path in FOLDER.rglob("*.js")]
    assert {"menu.js", "one_label/card.js", "label_vectors/card.js"} <= set(names)
    assert set(names) == set(SCRIPTS.contents)


@pytest.mark.parametrize(
    "address",
    [
        f"/scripts/{SCRIPTS.version}",
        f"/scripts/{SCRIPTS.version}.py",
        f"/scripts/{SCRIPTS.version}.js/menu.js",
        f"/scripts/{SCRIPTS.version}/menu.js",
        f"/scripts/{SCRIPTS.version}/%2e%2e/main.py",
        "/scripts/",
        "/scripts/menu.js",
        "/scripts/%2e%2e/menu.js",
        "/scripts/0123456789abcdef.js",
    ],
)
def test_nothing_else_is(signed_in: TestClient, address: str) -> None:
    answer = signed_in.get(address)
    assert answer.status_code == 404
    assert "immutable" not in answer.headers.get("cache-control", "")


def test_pages_may_run_what_this_server_gives() -> None:
    policy = dict(rule.split(" ", 1) for rule in HEADERS["content-security-policy"].split("; "))
    assert "'self'" in policy["script-src"].split()
