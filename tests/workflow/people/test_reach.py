from __future__ import annotations

import pytest
from starlette.applications import Starlette
from starlette.middleware.trustedhost import TrustedHostMiddleware
from starlette.responses import PlainTextResponse
from starlette.routing import Route
from starlette.testclient import TestClient

from workflow.people.team import allows, is_this_machine, why_out_of_reach
from workflow.server.settings import Settings


def settings(**values: str) -> Settings:
    return Settings.from_environment(values)


@pytest.mark.parametrize(
    "host", ["127.0.0.1", "localhost", "LOCALHOST", "[::1]", "::1", "127.9.9.9", "a.localhost"]
)
def test_links_with_a_name_of_the_machine_itself_are_for_nobody_else(host: str) -> None:
    assert is_this_machine(host)
    why = why_out_of_reach(settings(), host) or ""
    for fix in ("Others cannot use this link", "WINNOW_HOST", "WINNOW_ALLOWED_HOSTS", "reverse proxy"):
        assert fix in why


def test_where_the_server_has_a_name_it_is_said_which_to_use() -> None:
    there = settings(WINNOW_HOST="192.0.2.1", WINNOW_ALLOWED_HOSTS="winnow.example.org,*.example.net")
    why = why_out_of_reach(there, "127.0.0.1") or ""
    assert "open Winnow as 192.0.2.1 or winnow.example.org and make the link there" in why
    assert why_out_of_reach(there, "winnow.example.org") is None
    assert why_out_of_reach(there, "a.example.net") is None
    assert "WINNOW_ALLOWED_HOSTS" in (why_out_of_reach(there, "other.example.org") or "")


def test_behind_a_proxy_on_the_same_machine_the_name_is_enough() -> None:
    behind = settings(WINNOW_ALLOWED_HOSTS="winnow.example.org")
    assert behind.host == "127.0.0.1"
    assert why_out_of_reach(behind, "winnow.example.org") is None
    assert "Others cannot use this link" in (why_out_of_reach(behind, "localhost") or "")


@pytest.mark.parametrize("host", ["192.168.0.7", "winnow.example.org", "localhost.example.org", ""])
def test_other_names_are_not_this_machine(host: str) -> None:
    assert not is_this_machine(host)


@pytest.mark.parametrize(
    "host", ["winnow.example.org", "A.example.net", "example.net", "evil.example", "localhost"]
)
def test_hosts_are_allowed_as_the_server_allows_them(host: str) -> None:
    allowed = settings(WINNOW_ALLOWED_HOSTS="winnow.example.org,*.example.net").allowed_hosts
    app = TrustedHostMiddleware(
        Starlette(routes=[Route("/", lambda _request: PlainTextResponse("in"))]), allowed, www_redirect=False
    )
    with TestClient(app, base_url=f"http://{host}") as client:
        assert (client.get("/").status_code == 200) is allows(allowed, host)
