"""Proxies and the public address."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterator

import pytest
from starlette.applications import Starlette
from starlette.requests import Request
from starlette.responses import PlainTextResponse
from starlette.routing import Route
from starlette.testclient import TestClient
from starlette.websockets import WebSocketDisconnect

import workflow.server.home
from tests.present import present
from tests.web.conftest import BASE, COOKIE, app_of
from tests.web.test_guard import GUARD_STREAM, HTML, refused
from web import guard, proxies
from web.guard import ENDED
from web.proxies import PublicAddress
from workflow.people import audited, browsers, team
from workflow.seat import Seat
from workflow.server.home import Home
from workflow.server.settings import Settings, SignInSettings

# Signing in through a trusted proxy only


PROXY, STRANGER = ("10.0.0.5", 50_000), ("203.0.113.9", 50_000)
ADA = {"x-forwarded-user": "ada"}
From = Callable[[tuple[str, int]], TestClient]


@pytest.fixture
def there(home: Home, monkeypatch: pytest.MonkeyPatch) -> Home:
    """The process's home behind a proxy in 10.0.0.0/24, where Ada and Bob are known."""
    monkeypatch.setenv("WINNOW_PROXY_USER_HEADER", "X-Forwarded-User")
    monkeypatch.setenv("WINNOW_TRUSTED_PROXIES", "10.0.0.0/24")
    workflow.server.home.close_home()
    here = workflow.server.home.home()
    for name in ("Ada", "Bob"):
        team.make_link(Seat(here, team.ensure_owner(here).id), name)
    return here


@pytest.fixture
def come_from(there: Home) -> Iterator[From]:
    opened: list[TestClient] = []

    def connect(peer: tuple[str, int]) -> TestClient:
        made = TestClient(app_of(), base_url=BASE, follow_redirects=False, client=peer)
        opened.append(made.__enter__())
        return made

    yield connect
    for one in opened:
        one.__exit__(None, None, None)


def name_of(here: Home, client: TestClient) -> str:
    found = present(browsers.signed_in(here, client.cookies[COOKIE]))
    return found.person.name


def test_user_header_of_proxy_signs_in_and_is_checked_each_time(come_from: From, there: Home) -> None:
    client = come_from(PROXY)
    page = client.get("/", headers={**HTML, **ADA})
    assert (page.status_code, page.headers["location"]) == (303, "/signin")
    answer = client.get("/signin", headers=ADA)
    assert (answer.status_code, answer.headers["location"]) == (303, "/")
    assert name_of(there, client) == "Ada"
    assert client.get("/", headers=ADA).status_code == 200
    assert not refused(client, headers=ADA)
    assert client.get("/").status_code == 401, "signed out at the proxy is signed out here"
    assert refused(client)


def test_websocket_signed_in_by_proxy_is_rechecked(
    come_from: From, there: Home, monkeypatch: pytest.MonkeyPatch
) -> None:
    client = come_from(PROXY)
    client.get("/signin", headers=ADA)
    monkeypatch.setattr(guard, "BELIEVED_FOR", 0.0)
    monkeypatch.setattr(guard, "QUIET", 0.01)
    with client.websocket_connect(GUARD_STREAM, headers=ADA) as websocket, pytest.raises(WebSocketDisconnect) as cut:
        websocket.receive_json()
    assert cut.value.code == 1012, "the page opens another"
    assert refused(client), "whom the proxy has signed out meanwhile is out"
    monkeypatch.setattr(guard, "BELIEVED_FOR", 1e6)
    assert not refused(client, headers=ADA)
    with client.websocket_connect(GUARD_STREAM, headers=ADA) as websocket:
        websocket.send_text("key")
        assert websocket.receive_json()[0] == "key"
    link = come_from(PROXY)
    link.get("/signin", params={"link": team.make_start_link(there)})
    monkeypatch.setattr(guard, "BELIEVED_FOR", 0.0)
    monkeypatch.setattr(guard, "QUIET", 0.0)
    with link.websocket_connect(GUARD_STREAM) as websocket:  # only Winnow's own sign-in
        websocket.send_text("key")
        assert websocket.receive_json()[0] == "key"


def test_returning_proxy_user_keeps_one_sign_in(come_from: From, there: Home) -> None:
    client = come_from(PROXY)
    client.get("/signin", headers=ADA)
    mine = client.cookies[COOKIE]
    found = present(browsers.signed_in(there, mine))
    for _ in range(3):
        assert client.get("/signin", headers=ADA).status_code == 303
    assert client.cookies[COOKIE] == mine
    ada = Seat(there, found.person.id)
    assert len(browsers.my_browsers(ada)) == 1
    browsers.sign_out(there, mine)
    client.get("/signin", headers=ADA)
    assert client.cookies[COOKIE] != mine
    assert len(browsers.my_browsers(ada)) == 1
    assert len(browsers.my_browsers(Seat(there, found.person.id + 1))) == 0


@pytest.mark.parametrize("peer", [("::ffff:10.0.0.5", 1), ("::ffff:0a00:0005", 1)])
def test_ipv4_mapped_proxy_address_is_trusted(come_from: From, there: Home, peer: tuple[str, int]) -> None:
    client = come_from(peer)
    client.get("/signin", headers=ADA)
    assert name_of(there, client) == "Ada"
    assert come_from(("::ffff:203.0.113.9", 1)).get("/", headers=ADA).status_code == 401


@pytest.mark.parametrize("peer", [STRANGER, ("127.0.0.1", 1), ("10.0.1.5", 1), ("::1", 1), ("testclient", 1)])
def test_header_from_untrusted_address_is_ignored(come_from: From, peer: tuple[str, int]) -> None:
    client = come_from(peer)
    for headers in (
        ADA,
        {"X-FORWARDED-USER": "ada"},
        {**ADA, "x-forwarded-for": "10.0.0.5"},
        {**ADA, "x-forwarded-for": "10.0.0.5:50000", "forwarded": "for=10.0.0.5", "x-real-ip": "10.0.0.5"},
    ):
        answer = client.get("/signin", headers=headers)
        assert answer.status_code == 200
        assert COOKIE not in client.cookies
        assert client.get("/", headers=headers).status_code == 401
        assert refused(client, headers=headers)


def test_proxy_cookie_is_refused_from_untrusted_address(come_from: From) -> None:
    inside, outside = come_from(PROXY), come_from(STRANGER)
    inside.get("/signin", headers=ADA)
    outside.cookies.set(COOKIE, inside.cookies[COOKIE])
    assert outside.get("/", headers=ADA).status_code == 401


def test_cookie_of_another_proxy_user_is_refused(come_from: From, there: Home) -> None:
    client = come_from(PROXY)
    client.get("/signin", headers=ADA)
    bob = {"x-forwarded-user": "bob"}
    assert client.get("/", headers=bob).status_code == 401
    assert refused(client, headers=bob)
    assert refused(client, headers={"x-forwarded-user": "eve"})
    assert client.get("/signin", headers=bob).status_code == 303
    assert name_of(there, client) == "Bob"


def test_repeated_or_empty_user_header_is_ignored(come_from: From) -> None:
    client = come_from(PROXY)
    twice = [("x-forwarded-user", "ada"), ("x-forwarded-user", "bob")]
    assert client.get("/signin", headers=twice).status_code == 200
    assert client.get("/signin", headers={"x-forwarded-user": "  "}).status_code == 200
    assert COOKIE not in client.cookies


def test_links_work_behind_proxy_without_user_header(come_from: From, there: Home) -> None:
    client = come_from(PROXY)
    client.get("/signin", params={"link": team.make_start_link(there)})
    assert client.get("/").status_code == 200


def test_unknown_proxy_user_is_refused_and_audited(come_from: From, there: Home) -> None:
    answer = come_from(PROXY).get("/signin", headers={"x-forwarded-user": "<i>eve"})
    assert answer.status_code == 403
    assert "&lt;i&gt;eve" in answer.text
    owner = Seat(there, team.ensure_owner(there).id)
    first = audited.audit_lines(owner, audited.EventFilter())[0]
    assert (first.what, first.details) == ("sign-in refused", "why: not known here; browser: Another program")


def test_signed_out_proxy_user_stays_out_until_sign_in(come_from: From) -> None:
    client = come_from(PROXY)
    client.get("/signin", headers=ADA)
    left = client.post("/signout", headers={**ADA, "origin": BASE})
    page = client.get(left.headers["location"], headers=ADA)
    assert (page.status_code, "You are signed out" in page.text) == (200, True)
    assert COOKIE not in client.cookies
    ended = client.get("/signin?ended=1", headers=ADA)
    assert "This browser was signed out" in ended.text
    assert client.get("/signin", headers=ADA).status_code == 303


def test_address_and_scheme_are_read_from_trusted_proxy_only(come_from: From, there: Home) -> None:
    said = {**ADA, "x-forwarded-for": "198.51.100.1, 203.0.113.50", "x-forwarded-proto": "https"}
    answer = come_from(PROXY).get("/signin", headers=said)
    assert "Secure" in answer.headers["set-cookie"]
    owner = Seat(there, team.ensure_owner(there).id)
    assert audited.audit_lines(owner, audited.EventFilter())[0].address == "203.0.113.50"
    answer = come_from(STRANGER).get("/signin", headers=said, params={"link": team.make_start_link(there)})
    assert "Secure" not in answer.headers["set-cookie"]
    assert audited.audit_lines(owner, audited.EventFilter())[0].address == "203.0.113.9"


def test_user_header_is_ignored_without_setting(client: TestClient, home: Home) -> None:
    team.make_link(Seat(home, team.ensure_owner(home).id), "ada")
    assert client.get("/signin", headers=ADA).status_code == 200
    assert COOKIE not in client.cookies


def test_uvicorn_trusts_no_proxy_if_winnow_does(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv(proxies.UVICORNS, raising=False)
    assert proxies.keep_uvicorn_out(SignInSettings()) == {}
    assert proxies.UVICORNS not in os.environ, "as it always was"
    trusting = Settings.from_environment({"WINNOW_TRUSTED_PROXIES": "127.0.0.1"}).sign_in
    assert proxies.keep_uvicorn_out(trusting) == {proxies.UVICORNS: ""}
    assert os.environ[proxies.UVICORNS] == ""
    assert proxies.keep_uvicorn_out(trusting) == {}, "nothing is left to be told"


# Winnow below a path of a shared host, and behind a proxy that ends TLS


PUBLIC = "https://example.org/winnow"
PUBLIC_ADDRESS_HTML = {"accept": "text/html"}


@pytest.fixture
def public_address_client(home: Home, monkeypatch: pytest.MonkeyPatch) -> Iterator[TestClient]:
    """Headers of a proxy that ends TLS and keeps the path."""
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
def test_redirects_stay_below_public_path(public_address_client: TestClient, home: Home, before: str) -> None:
    assert public_address_client.get(f"{before}/", headers=PUBLIC_ADDRESS_HTML).headers["location"] == "/winnow/signin"
    team.ensure_owner(home)
    link = team.make_start_link(home)
    answer = public_address_client.get(f"{before}/signin?link={link}")
    assert (answer.status_code, answer.headers["location"]) == (303, "/winnow/")
    (cookie,) = answer.headers.get_list("set-cookie")
    assert cookie.startswith("winnow_signin_443_winnow="), "whichever server behind the address made it"
    assert "Path=/winnow/" in cookie
    assert "Secure" in cookie, "no one reaches it but by https"
    secret = {"cookie": cookie.partition(";")[0]}
    assert public_address_client.get(f"{before}/account", headers=secret).json() == ["1"]
    left = public_address_client.post(f"{before}/signout", headers=secret | {"origin": "https://example.org"})
    assert left.headers["location"] == "/winnow/signin?left=1"
    assert "Path=/winnow/" in left.headers["set-cookie"]


def test_public_path_without_slash_redirects_to_slash(public_address_client: TestClient) -> None:
    assert public_address_client.get("/winnow?a=b").headers["location"] == "/winnow/?a=b"
    assert public_address_client.get("/winnowing").status_code == 401, "another name"


def test_sign_in_page_links_stay_below_public_path(public_address_client: TestClient) -> None:
    text = public_address_client.get("/winnow/signin").text
    assert '<base href="/winnow/">' in text
    assert 'action="signin"' in text
    for quoted in ('href="/s', 'action="/'):
        assert quoted not in text


def test_posts_are_accepted_from_public_origin_only(public_address_client: TestClient, home: Home) -> None:
    team.ensure_owner(home)
    cookie = cookie_of(home)
    for origin, status in (
        ("https://example.org", 303),
        ("http://example.org", 403),
        ("https://example.org:8443", 403),
        ("null", 403),
    ):
        answer = public_address_client.post("/winnow/signout", headers=cookie | {"origin": origin})
        assert answer.status_code == status, origin


def test_websocket_needs_public_path_and_origin(public_address_client: TestClient, home: Home) -> None:
    team.ensure_owner(home)
    cookie = cookie_of(home)
    address = "ws://example.org/winnow/_stcore/stream"
    with public_address_client.websocket_connect(address, headers=cookie | {"origin": "https://example.org"}) as socket:
        socket.send_text("a")
        assert socket.receive_json()[0] == "a"
        public_address_client.post("/winnow/signout", headers=cookie)
        socket.send_text("b")
        assert f"/winnow{ENDED}".encode() in socket.receive_bytes()
    cookie = cookie_of(home)
    for origin in ("http://example.org", "https://elsewhere.example"):
        with (
            pytest.raises(WebSocketDisconnect),
            public_address_client.websocket_connect(address, headers=cookie | {"origin": origin}),
        ):
            pass


def test_only_public_host_is_allowed(public_address_client: TestClient) -> None:
    assert public_address_client.get("/healthz").status_code == 200
    assert public_address_client.get("/winnow/healthz").status_code == 200
    assert public_address_client.get("/healthz", headers={"host": "elsewhere.example"}).status_code == 400


def test_foreign_redirects_are_kept_and_cookies_get_public_path() -> None:
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


def test_addresses_are_unchanged_without_public_url(home: Home) -> None:
    with TestClient(app_of(), base_url=BASE, follow_redirects=False) as plain:
        assert plain.get("/", headers=PUBLIC_ADDRESS_HTML).headers["location"] == "/signin"
        assert '<base href="/">' in plain.get("/signin").text
        cookie = plain.get(f"/signin?link={team.make_start_link(home)}").headers["set-cookie"]
        assert "Path=/;" in cookie
        assert "Secure" not in cookie
