"""Streamlit's scripts come packed to who is signed in and takes them so, and are what they were."""

from __future__ import annotations

import gzip

import pytest
from starlette.testclient import TestClient
from streamlit.file_util import get_static_dir

from tests.web.conftest import COOKIE
from web.packed import files, packed
from workflow.people import team
from workflow.seat import Seat
from workflow.server.home import Home

SCRIPT = max(files(), key=lambda name: files()[name].stat().st_size * (files()[name].suffix == ".js"))
STYLE = next(name for name in files() if name.endswith(".css"))


@pytest.fixture
def ada(client: TestClient, home: Home) -> TestClient:
    """An annotator's browser."""
    seat = Seat(home, team.ensure_owner(home).id)
    client.cookies.set(COOKIE, team.redeem_link(home, team.make_link(seat, "Ada")))
    return client


@pytest.mark.parametrize(("name", "kind"), [(SCRIPT, "text/javascript"), (STYLE, "text/css")])
def test_a_file_comes_packed_and_whole(ada: TestClient, name: str, kind: str) -> None:
    answer = ada.get(name, headers={"accept-encoding": "br, GZIP"})
    assert answer.status_code == 200
    assert answer.headers["content-encoding"] == "gzip"
    assert answer.headers["content-type"].startswith(kind)
    assert "immutable" in answer.headers["cache-control"]
    assert answer.headers["x-content-type-options"] == "nosniff", "the headers of all answers stand on it"
    assert answer.content == files()[name].read_bytes()
    assert int(answer.headers["content-length"]) == len(packed(files()[name]))


def test_packing_is_worth_it_and_done_once() -> None:
    path = files()[SCRIPT]
    assert len(packed(path)) < path.stat().st_size / 2
    assert packed(path) is packed(path)
    assert gzip.decompress(packed(path)) == path.read_bytes()


@pytest.mark.parametrize(
    "headers",
    [
        {"accept-encoding": "identity"},
        {"accept-encoding": ""},
        {"accept-encoding": "gzip;q=0"},
        {"accept-encoding": "gzip", "range": "bytes=0-9"},
    ],
)
def test_who_does_not_take_it_or_wants_a_part_is_left_to_streamlit(
    ada: TestClient, headers: dict[str, str]
) -> None:
    assert "content-encoding" not in ada.get(SCRIPT, headers=headers).headers


@pytest.mark.parametrize(
    "name", ["/static/js/none.js", "/static/../index.html", "/static/js/../../index.html", "/favicon.png"]
)
def test_no_other_name_opens_anything(ada: TestClient, name: str) -> None:
    assert name not in files()
    assert "content-encoding" not in ada.get(name, headers={"accept-encoding": "gzip"}).headers
    assert all(path.is_relative_to(get_static_dir()) for path in files().values())


def test_nobody_gets_it_who_is_not_signed_in(client: TestClient) -> None:
    answer = client.get(SCRIPT, headers={"accept-encoding": "gzip"})
    assert answer.status_code in (303, 401, 403)
    assert "content-encoding" not in answer.headers
