"""Winnow below a path of a host that others share, and behind what ends TLS for it."""

from __future__ import annotations

from collections.abc import Iterator

import pytest
from starlette.applications import Starlette
from starlette.requests import Request
from starlette.responses import PlainTextResponse
from starlette.routing import Route
from starlette.testclient import TestClient
from starlette.websockets import WebSocketDisconnect

from tests.web.conftest import BASE, COOKIE, app_of
from web.guard import ENDED
from web.proxies import PublicAddress
from workflow.people import team
from workflow.server.home import Home
from workflow.server.settings import Settings

PUBLIC = "https://example.org/winnow"
HTML = {"accept": "text/html"}


@pytest.fixture
def client(home: Home, monkeypatch: pytest.MonkeyPatch) -> Iterator[TestClient]:
    """What a proxy sends that ends TLS and leaves the path."""
    import workflow.server.home

    monkeypatch.setenv("WINNOW_PUBLIC_URL", PUBLIC)
    workflow.server.home.close_home()
    workflow.server.home.home()
    with TestClient(app_of(), base_url="http://example.org", follow_redirects=False) as made:
        yield made


def cookie_of(home: Home) -> dict[str, str]:
    secret = team.redeem_link(home, team.make_start_link(home))
    return {"cookie": f"{COOKIE.replace('8501', '443_winnow')}={secret}"}


@pytest.mark.parametrize("before", ["/winnow", ""])
def test_redirects_stay_below_the_path_whether_a_proxy_takes_it_away_or_not(
    client: TestClient, home: Home, before: str
) -> None:
    assert client.get(f"{before}/", headers=HTML).headers["location"] == "/winnow/signin"
    team.ensure_owner(home)
    link = team.make_start_link(home)
    answer = client.get(f"{before}/signin?link={link}")
    assert (answer.status_code, answer.headers["location"]) == (303, "/winnow/")
    (cookie,) = answer.headers.get_list("set-cookie")
    assert cookie.startswith("winnow_signin_443_winnow="), "whichever server behind the address made it"
    assert "Path=/winnow/" in cookie
    assert "Secure" in cookie, "nobody reaches it but by https"
    secret = {"cookie": cookie.partition(";")[0]}
    assert client.get(f"{before}/account", headers=secret).json() == ["1"]
    left = client.post(f"{before}/signout", headers=secret | {"origin": "https://example.org"})
    assert left.headers["location"] == "/winnow/signin?left=1"
    assert "Path=/winnow/" in left.headers["set-cookie"]


def test_without_its_slash_the_start_page_would_look_beside_the_path(client: TestClient) -> None:
    assert client.get("/winnow?a=b").headers["location"] == "/winnow/?a=b"
    assert client.get("/winnowing").status_code == 401, "another name"


def test_pages_of_the_sign_in_have_their_links_below_the_path(client: TestClient) -> None:
    text = client.get("/winnow/signin").text
    assert '<base href="/winnow/">' in text
    assert 'action="signin"' in text
    for quoted in ('href="/s', 'action="/'):
        assert quoted not in text


def test_requests_are_of_the_public_origin_alone(client: TestClient, home: Home) -> None:
    team.ensure_owner(home)
    cookie = cookie_of(home)
    for origin, status in (
        ("https://example.org", 303),
        ("http://example.org", 403),
        ("https://example.org:8443", 403),
        ("null", 403),
    ):
        answer = client.post("/winnow/signout", headers=cookie | {"origin": origin})
        assert answer.status_code == status, origin


def test_the_websocket_is_below_the_path_and_of_the_public_origin(client: TestClient, home: Home) -> None:
    team.ensure_owner(home)
    cookie = cookie_of(home)
    address = "ws://example.org/winnow/_stcore/stream"
    with client.websocket_connect(address, headers=cookie | {"origin": "https://example.org"}) as socket:
        socket.send_text("a")
        assert socket.receive_json()[0] == "a"
        client.post("/winnow/signout", headers=cookie)
        socket.send_text("b")
        assert f"/winnow{ENDED}".encode() in socket.receive_bytes()
    cookie = cookie_of(home)
    for origin in ("http://example.org", "https://elsewhere.example"):
        with (
            pytest.raises(WebSocketDisconnect),
            client.websocket_connect(address, headers=cookie | {"origin": origin}),
        ):
            pass


def test_its_host_is_allowed_and_no_other(client: TestClient) -> None:
    assert client.get("/healthz").status_code == 200
    assert client.get("/winnow/healthz").status_code == 200
    assert client.get("/healthz", headers={"host": "elsewhere.example"}).status_code == 400


def test_what_leads_elsewhere_is_left_and_every_cookie_is_below_the_path() -> None:
    async def answer(_request: Request) -> PlainTextResponse:
        made = PlainTextResponse("")
        made.headers["location"] = _request.query_params["to"]
        for name in ("a", "b"):
            made.set_cookie(name, "path=/x", path="/deep")
        return made

    app = Starlette(routes=[Route("/x/y", answer)])
    settings = Settings.from_environment({"WINNOW_PUBLIC_URL": PUBLIC})
    with TestClient(PublicAddress(app, settings), follow_redirects=False) as here:
        for to, sent in (
            ("/a?b=/c", "/winnow/a?b=/c"),
            ("//evil.example/", "//evil.example/"),
            ("https://id.example.org/realm", "https://id.example.org/realm"),
            ("a", "a"),
        ):
            got = here.get("/winnow/x/y", params={"to": to})
            assert got.headers["location"] == sent
            cookies = got.headers.get_list("set-cookie")
            assert [one.replace(" ", "") for one in cookies] == [
                f'{name}="path=/x";Path=/winnow/deep;SameSite=lax' for name in ("a", "b")
            ]


def test_without_the_setting_nothing_is_changed(home: Home) -> None:
    with TestClient(app_of(), base_url=BASE, follow_redirects=False) as plain:
        assert plain.get("/", headers=HTML).headers["location"] == "/signin"
        assert '<base href="/">' in plain.get("/signin").text
        cookie = plain.get(f"/signin?link={team.make_start_link(home)}").headers["set-cookie"]
        assert "Path=/;" in cookie
        assert "Secure" not in cookie
