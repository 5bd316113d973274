"""The routes and middleware of app.py around a stand-in for Streamlit, with a home of the test."""

from __future__ import annotations

import os
from collections.abc import Iterator
from pathlib import Path

import pytest
from starlette.applications import Starlette
from starlette.middleware import Middleware
from starlette.requests import Request
from starlette.responses import JSONResponse, PlainTextResponse
from starlette.routing import Route, WebSocketRoute
from starlette.testclient import TestClient
from starlette.websockets import WebSocket
from streamlit.web.server.starlette.starlette_path_security_middleware import PathSecurityMiddleware

import workflow.server.home
from tests.hashing import cheap_passwords
from tests.migrated import lay_database
from web import server
from workflow.server.home import Home
from workflow.server.settings import Settings

__all__ = ["cheap_passwords"]

BASE = "http://127.0.0.1:8501"
COOKIE = "winnow_signin_8501"


@pytest.fixture
def home(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Home]:
    """The process's home, in a folder of the test."""
    for key in [one for one in os.environ if one.startswith("WINNOW_")]:
        monkeypatch.delenv(key)
    monkeypatch.setenv("WINNOW_HOME", str(tmp_path / "home"))
    workflow.server.home.close_home()
    lay_database(tmp_path / "home")
    yield workflow.server.home.home()
    workflow.server.home.close_home()


def app_of(*, with_documents: bool = False) -> Starlette:
    """The app for the process's home with its current settings.

    with_documents : whether all pages have their documents; else `/` returns who asks, and two more addresses what they
        receive
    """
    told = [Route("/", _who), Route("/account", _which_sign_in), Route("/progress", _broken)]
    return Starlette(
        routes=[
            *([] if with_documents else told),
            *server.ROUTES,
            WebSocketRoute("/{path:path}", _echo),
            Route("/{path:path}", _who, methods=["GET", "POST", "PUT", "DELETE", "PATCH"]),  # any address at all
        ],
        # Streamlit's own comes next: it answers "Bad Request" to a part of the addresses that are none.
        middleware=[*server.middleware(Settings.from_environment()), Middleware(PathSecurityMiddleware)],
    )


@pytest.fixture
def client(home: Home) -> Iterator[TestClient]:
    with TestClient(app_of(), base_url=BASE, follow_redirects=False, raise_server_exceptions=False) as made:
        yield made


async def _who(request: Request) -> JSONResponse:
    return JSONResponse(request.headers.getlist("x-winnow-person"))


async def _which_sign_in(request: Request) -> JSONResponse:
    return JSONResponse(request.headers.getlist("x-winnow-sign-in"))


async def _broken(_request: Request) -> PlainTextResponse:
    raise ZeroDivisionError


async def _echo(websocket: WebSocket) -> None:
    await websocket.accept()
    async for message in websocket.iter_text():
        await websocket.send_json([message, *websocket.headers.getlist("x-winnow-person")])
