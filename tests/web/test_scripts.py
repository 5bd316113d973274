"""`/scripts/VERSION/NAME`: the modules of the pages, all of them and nothing else."""

from __future__ import annotations

import pytest
from starlette.testclient import TestClient

from tests.web.conftest import COOKIE
from web.headers import HEADERS
from web.scripts import FOLDER
from workflow.common.scripts import scripts_in
from workflow.home import Home
from workflow.people import team

SCRIPTS = scripts_in(FOLDER)
ADDRESS = "/" + SCRIPTS.address("card/card.js")


@pytest.fixture
def signed_in(client: TestClient, home: Home) -> TestClient:
    team.ensure_owner(home)
    client.cookies.set(COOKIE, team.redeem_link(home, team.make_start_link(home)))
    return client


def test_without_a_sign_in_there_is_nothing(client: TestClient) -> None:
    answer = client.get(ADDRESS)
    assert answer.status_code == 401
    assert b"import" not in answer.content


def test_a_module_comes_as_javascript_and_is_kept_for_ever(signed_in: TestClient) -> None:
    answer = signed_in.get(ADDRESS)
    assert (answer.status_code, answer.content) == (200, (FOLDER / "card" / "card.js").read_bytes())
    assert answer.headers["content-type"].partition(";")[0] == "text/javascript"
    assert answer.headers["cache-control"] == "private, max-age=31536000, immutable"
    assert answer.headers["x-content-type-options"] == "nosniff"
    head = signed_in.head(ADDRESS)
    assert (head.status_code, head.content) == (200, b"")


def test_every_module_is_given_out(signed_in: TestClient) -> None:
    names = [path.relative_to(FOLDER).as_posix() for path in FOLDER.rglob("*.js")]
    assert {"menu.js", "one_label/card.js", "label_vectors/card.js"} <= set(names)
    assert {signed_in.get("/" + SCRIPTS.address(name)).status_code for name in names} == {200}


@pytest.mark.parametrize(
    "address",
    [
        f"/scripts/{SCRIPTS.version}/state.py",
        f"/scripts/{SCRIPTS.version}/card/card.css",
        f"/scripts/{SCRIPTS.version}/card/types.d.ts",
        f"/scripts/{SCRIPTS.version}/%2e%2e/main.py",
        f"/scripts/{SCRIPTS.version}/card/%2e%2e/menu.js",
        f"/scripts/{SCRIPTS.version}/",
        "/scripts/0123456789abcdef/card/card.js",
        "/scripts/card/card.js",
    ],
)
def test_nothing_else_is(signed_in: TestClient, address: str) -> None:
    answer = signed_in.get(address)
    assert answer.status_code == 404
    assert "immutable" not in answer.headers.get("cache-control", "")


def test_pages_may_run_what_this_server_gives() -> None:
    policy = dict(rule.split(" ", 1) for rule in HEADERS["content-security-policy"].split("; "))
    assert "'self'" in policy["script-src"].split()
