"""Streamlit's addresses: which are open to whoever is signed in, and that all others are not there."""

from __future__ import annotations

import ast
from pathlib import Path

import pytest
from starlette.testclient import TestClient
from starlette.websockets import WebSocketDisconnect
from streamlit.file_util import get_static_dir

from tests.conftest import ROOT
from tests.web.conftest import BASE, COOKIE
from web.closed import HOST_CONFIG, STREAM, STREAMLITS
from web.document import PAGES
from workflow.people import team
from workflow.seat import Seat
from workflow.server.home import Home

STATIC = next(
    f"/static/js/{path.name}" for path in Path(get_static_dir(), "static", "js").iterdir() if path.is_file()
)


@pytest.fixture
def ada(client: TestClient, home: Home) -> TestClient:
    """An annotator's browser."""
    seat = Seat(home, team.ensure_owner(home).id)
    client.cookies.set(COOKIE, team.redeem_link(home, team.make_link(seat, "Ada")))
    return client


def page_addresses() -> set[str]:
    """What pages/main.py calls its pages."""
    found: set[str] = set()
    for node in ast.walk(ast.parse((ROOT / "pages" / "main.py").read_text())):
        if isinstance(node, ast.Call):
            found |= {
                key.value.value
                for key in node.keywords
                if key.arg == "url_path" and isinstance(key.value, ast.Constant)
            }
            if (
                isinstance(node.func, ast.Name)
                and node.func.id in ("entry", "at_project", "ours")
                and isinstance(node.args[3], ast.Constant)
            ):
                found.add(node.args[3].value)
    return found


def test_every_page_has_its_address() -> None:
    assert set(PAGES) == page_addresses()


@pytest.mark.parametrize("page", PAGES)
def test_pages_are_there(ada: TestClient, page: str) -> None:
    assert ada.get(f"/{page}").status_code in (200, 500)  # 500: the one that breaks on purpose


@pytest.mark.parametrize("path", [STATIC, "/_stcore/health", "/favicon.png", "/manifest.json"])
def test_what_pages_need_is_there(ada: TestClient, path: str) -> None:
    assert ada.get(path).status_code == 200
    assert ada.head(path).status_code == 200
    for method in ("POST", "PUT", "DELETE", "PATCH", "OPTIONS"):
        assert ada.request(method, path).status_code == 405, method


@pytest.mark.parametrize(
    "path",
    [
        "/_stcore/metrics",
        "/_stcore/metrics/",
        "/_stcore/script-health-check",
        "/_stcore/message",
        "/_stcore/",
        "/_stcore/agent/mcp",
        "/_stcore/agent/run",
        "/_stcore/bidi-components/a/b.js",
        "/component/a/index.html",
        "/component/",
        "/auth/login",
        "/auth/logout",
        "/oauth2callback",
        "/app/static/secrets.toml",
        "/Annotate",
        "/annotate/_stcore/metrics",
        "/nothing",
        "/static/",
        "/static/js/none.js",
        "/static/../index.html",
        "/index.html",
        "/.streamlit/config.toml",
        "/home/",
        "/files/..%2fx",
        "/files/%00",
    ],
)
@pytest.mark.parametrize("method", ["GET", "POST", "PUT"])
def test_all_others_are_not(ada: TestClient, path: str, method: str) -> None:
    answer = ada.request(method, path)
    assert answer.status_code == 404
    assert "There is no such address here." in answer.text


def test_no_host_may_speak_to_a_page_that_it_frames(ada: TestClient) -> None:
    answer = ada.get(HOST_CONFIG)
    assert answer.json()["allowedOrigins"] == []
    assert "streamlit" not in answer.text
    assert ada.post(HOST_CONFIG).status_code == 405


def test_there_is_one_websocket(ada: TestClient) -> None:
    socket = BASE.replace("http", "ws")
    with ada.websocket_connect(f"{socket}{STREAM}"):
        pass
    for path in ("/", "/annotate", f"{STREAM}/", "/_stcore/health", "/signin", "/annotate/_stcore/stream"):
        with pytest.raises(WebSocketDisconnect), ada.websocket_connect(f"{socket}{path}"):
            pass  # pragma: no cover


def test_streamlit_has_all_that_is_open() -> None:
    """A name that Streamlit gave up would stand here for nothing."""
    from streamlit.web.server.starlette import starlette_routes

    its = {
        value for name, value in vars(starlette_routes).items() if "ROUTE" in name and isinstance(value, str)
    }
    for path in (*STREAMLITS, HOST_CONFIG):
        if path.startswith(("/_stcore", "/media", "/static")):
            assert any(path[1:].startswith(one) for one in its), path


@pytest.mark.parametrize("name", ["a.csv", "a/b", "", "..%2Fx", "a" * 300])
def test_files_that_no_page_was_told_of_are_not_there(ada: TestClient, name: str) -> None:
    for method in ("GET", "HEAD", "POST", "PUT"):
        assert ada.request(method, f"/media/{name}").status_code == 404
