"""The manifest and its icons: for whoever is signed in, and what they say of themselves is so."""

from __future__ import annotations

import struct
from urllib.parse import urljoin

from starlette.testclient import TestClient

from tests.web.conftest import COOKIE
from web.document import MANIFEST_TYPE, PATH
from web.headers import HEADERS
from workflow.people import team
from workflow.seat import Seat
from workflow.server.home import Home

ADDRESS = f"{PATH}/manifest.webmanifest"


def test_the_icons_are_as_large_as_the_manifest_says(client: TestClient, home: Home) -> None:
    assert client.get(ADDRESS, headers={"accept": "*/*"}).status_code == 401
    seat = Seat(home, team.ensure_owner(home).id)
    client.cookies.set(COOKIE, team.redeem_link(home, team.make_link(seat, "Ada")))
    answer = client.get(ADDRESS)
    assert answer.headers["content-type"].startswith(MANIFEST_TYPE)
    assert answer.headers["content-security-policy"] == HEADERS["content-security-policy"]
    said = answer.json()
    assert urljoin(ADDRESS, said["start_url"]) == urljoin(ADDRESS, said["scope"]) == "/"
    assert {one["purpose"] for one in said["icons"]} == {"any", "maskable"}
    assert {one["sizes"] for one in said["icons"]} == {"192x192", "512x512"}
    for one in said["icons"]:
        icon = client.get(urljoin(ADDRESS, one["src"]))
        assert icon.headers["content-type"] == one["type"]
        width, height = struct.unpack(">II", icon.content[16:24])  # the header of a PNG
        assert f"{width}x{height}" == one["sizes"]
    for other in ("icon-64.png", "icon-..%2F..%2Ficon.png"):
        assert client.get(f"{PATH}/{other}").status_code == 404
