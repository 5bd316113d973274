"""The guard in front of every address."""

from __future__ import annotations

import ast
import asyncio
from collections.abc import Iterator
from contextlib import suppress
from datetime import timedelta
from pathlib import Path
from urllib.parse import urlencode

import pytest
from hypothesis import given
from hypothesis import strategies as st
from starlette.requests import Request
from starlette.testclient import TestClient, WebSocketDenialResponse, WebSocketTestSession
from starlette.types import Message
from starlette.websockets import WebSocketDisconnect
from streamlit.file_util import get_static_dir
from streamlit.proto.ForwardMsg_pb2 import ForwardMsg

from tests.clocks import ahead
from tests.conftest import ROOT
from tests.web.conftest import BASE, COOKIE, app_of
from tests.workflow.world import full_disk
from web.closed import HOST_CONFIG, STREAM, STREAMLITS
from web.document import PAGES
from web.guard import ENDED, SEEN_EVERY
from web.signin import MOST_BYTES, FormError, read_form
from workflow.people import browsers, team
from workflow.seat import Seat
from workflow.server.home import Home

# guard


GUARD_STREAM = f"{BASE.replace('http', 'ws')}/_stcore/stream"
HTML = {"accept": "text/html,application/xhtml+xml"}


@pytest.fixture
def signed_in(client: TestClient, home: Home) -> TestClient:
    client.cookies.set(COOKIE, team.redeem_link(home, team.make_start_link(home)))
    return client


def sent_away(websocket: WebSocketTestSession) -> bool:
    """Whether the page is asked to leave when its sign-in has ended, and is then disconnected."""
    told = ForwardMsg()
    told.ParseFromString(websocket.receive_bytes())
    with pytest.raises(WebSocketDisconnect) as cut:
        websocket.receive_json()
    return told.auth_redirect.url == ENDED and cut.value.code == 4401


def refused(client: TestClient, **options: object) -> bool:
    try:
        with client.websocket_connect(GUARD_STREAM, **options):
            return False
    except WebSocketDisconnect as refusal:
        return refusal.code == 4401


def test_without_sign_in_pages_redirect_and_rest_is_401(client: TestClient) -> None:
    page = client.get("/", headers=HTML)
    assert (page.status_code, page.headers["location"]) == (303, "/signin")
    for path in (
        "/",
        "/_stcore/health",
        "/_stcore/metrics",
        "/media/x",
        "/static/x",
        "/signin/",
        "/healthz/",
        "//signin",
    ):
        assert client.get(path).status_code == 401, path
    assert client.post("/", headers=HTML).status_code == 401
    assert client.post("/signout").status_code == 401


def test_missing_or_forged_cookie_opens_nothing(client: TestClient, subtests: pytest.Subtests) -> None:
    for cookie in [None, "", "forged", "a" * 43, '"', "\u00e9", "x; y=\x01"]:
        with subtests.test(repr(cookie)):
            headers = {} if cookie is None else {"cookie": f"{COOKIE}={cookie}".encode()}
            assert client.get("/", headers=headers).status_code == 401
            assert refused(client, headers=headers)


def test_cookies_of_other_programs_do_not_hide_sign_in(signed_in: TestClient) -> None:
    mine = f"{COOKIE}={signed_in.cookies[COOKIE]}"
    signed_in.cookies.clear()
    for other in ('a={"b": [1, 2]}', "_xsrf=2|f00|x", "broken", 'a="', "=;;"):
        assert signed_in.get("/", headers={"cookie": f"{other}; {mine}"}).status_code == 200, other


def test_link_s_secret_is_not_sign_in(client: TestClient, home: Home) -> None:
    client.cookies.set(COOKIE, team.make_start_link(home))
    assert client.get("/").status_code == 401


def test_signed_in_person_is_passed_to_app(signed_in: TestClient, home: Home) -> None:
    owner = str(team.ensure_owner(home).id)
    assert signed_in.get("/").json() == [owner]
    with signed_in.websocket_connect(GUARD_STREAM) as websocket:
        websocket.send_text("key")
        assert websocket.receive_json() == ["key", owner]


@pytest.mark.parametrize("header", ["x-winnow-person", "X-Winnow-Person", "X-WINNOW-PERSON"])
def test_person_named_by_client_is_dropped(client: TestClient, home: Home, header: str) -> None:
    assert client.get("/", headers={header: "1"}).status_code == 401
    assert refused(client, headers={header: "1"})
    owner = team.ensure_owner(home).id
    client.cookies.set(COOKIE, team.redeem_link(home, team.make_link(Seat(home, owner), "bob")))
    bob = str(owner + 1)
    assert client.get("/", headers={header: str(owner)}).json() == [bob]
    with client.websocket_connect(GUARD_STREAM, headers={header: str(owner)}) as websocket:
        websocket.send_text("key")
        assert websocket.receive_json() == ["key", bob]


def test_signing_out_ends_open_websocket(signed_in: TestClient) -> None:
    with signed_in.websocket_connect(GUARD_STREAM) as websocket:
        websocket.send_text("one")
        websocket.receive_json()
        assert signed_in.post("/signout", headers={"origin": BASE}).status_code == 303
        websocket.send_text("two")
        assert sent_away(websocket)
    assert refused(signed_in)


def test_disabling_person_ends_open_websocket(client: TestClient, home: Home) -> None:
    owner = team.ensure_owner(home).id
    client.cookies.set(COOKIE, team.redeem_link(home, team.make_link(Seat(home, owner), "bob")))
    with client.websocket_connect(GUARD_STREAM) as websocket:
        team.disable_person(Seat(home, owner), owner + 1)
        websocket.send_text("two")
        assert sent_away(websocket)
    assert client.get("/").status_code == 401


def test_sign_in_ends_after_two_weeks(signed_in: TestClient, monkeypatch: pytest.MonkeyPatch) -> None:
    assert signed_in.get("/").status_code == 200
    monkeypatch.setattr(browsers, "datetime", ahead(browsers.SIGN_IN_LIFE + timedelta(seconds=1)))
    assert signed_in.get("/").status_code == 401


@pytest.mark.parametrize(
    "origin",
    [
        "http://evil.example",
        "http://127.0.0.1:3000",
        "http://localhost:8501",
        "null",
        "",
        "garbage",
        "http://[",
        "ws://127.0.0.1:8501",
        "127.0.0.1:8501",
        "http://",
        "://127.0.0.1:8501",
    ],
)
def test_other_sites_cannot_open_websocket_or_change_anything(signed_in: TestClient, origin: str) -> None:
    assert refused(signed_in, headers={"origin": origin})
    for path in ("/", "/signout"):
        assert signed_in.post(path, headers={"origin": origin}).status_code == 403
    assert signed_in.get("/", headers={"origin": origin}).status_code == 200
    assert not refused(signed_in, headers={"origin": BASE})
    assert signed_in.post("/signout", headers={"origin": BASE}).status_code == 303


@pytest.mark.parametrize("site", ["cross-site", "same-site"])
def test_cross_site_fetch_is_refused(signed_in: TestClient, site: str) -> None:
    assert signed_in.post("/signout", headers={"sec-fetch-site": site}).status_code == 403
    assert refused(signed_in, headers={"sec-fetch-site": site, "origin": BASE})
    assert signed_in.get("/", headers={"sec-fetch-site": site}).status_code == 200, "a link may lead here"
    assert signed_in.post("/signout", headers={"sec-fetch-site": "same-origin"}).status_code == 303


def test_plain_http_origin_is_another_site_over_tls(home: Home) -> None:
    with TestClient(app_of(), base_url="https://127.0.0.1:8501", follow_redirects=False) as client:
        secret = team.redeem_link(home, team.make_start_link(home))
        cookie = {"cookie": f"{COOKIE}={secret}"}
        stream = "wss://127.0.0.1:8501/_stcore/stream"
        for origin, right in ((BASE, False), (BASE.replace("http", "https"), True)):
            asked = {**cookie, "origin": origin}
            if right:
                with client.websocket_connect(stream, headers=asked):
                    pass
            else:
                with pytest.raises(WebSocketDisconnect), client.websocket_connect(stream, headers=asked):
                    pass  # pragma: no cover
            assert client.post("/signout", headers=asked).status_code == (303 if right else 403)


def test_wrong_host_is_refused_before_anything_else(signed_in: TestClient, subtests: pytest.Subtests) -> None:
    for host in ["evil.example", "127.0.0.1.evil.example", "www.localhost", "", "127.0.0.1@evil"]:
        with subtests.test(host):
            for path in ("/", "/signin", "/healthz"):
                answer = signed_in.get(path, headers={"host": host})
                assert answer.status_code == 400
                assert "x-frame-options" in answer.headers
            with (
                pytest.raises(WebSocketDenialResponse) as caught,
                signed_in.websocket_connect(GUARD_STREAM, headers={"host": host}),
            ):
                pass  # pragma: no cover
            assert caught.value.status_code == 400


@pytest.mark.parametrize("host", ["localhost:8501", "127.0.0.1", "LOCALHOST"])
def test_own_hosts_are_served(signed_in: TestClient, host: str) -> None:
    assert signed_in.get("/healthz", headers={"host": host}).status_code == 200


def test_missing_database_is_reported_and_open_pages_stay(signed_in: TestClient, home: Home) -> None:
    with signed_in.websocket_connect(GUARD_STREAM) as page:
        (home.settings.home / "winnow.sqlite3").unlink()
        page.send_text("a press")
        assert page.receive_json()[0] == "a press"
        assert signed_in.get("/").status_code == 200, "what was stored can still be looked at"
        home.database._reader.dispose()  # no connection is left, and none can be opened
        page.send_text("another")
        assert page.receive_json()[0] == "another"
        answer = signed_in.get("/")
        assert (answer.status_code, "Nothing was stored" in answer.text) == (503, True)
        assert refused(signed_in)


@pytest.mark.parametrize("header", ["x-winnow-sign-in", "X-Winnow-Sign-In"])
def test_sign_in_number_sent_by_client_is_ignored(signed_in: TestClient, home: Home, header: str) -> None:
    (mine,) = browsers.my_browsers(Seat(home, team.ensure_owner(home).id))
    answer = signed_in.get("/account", headers={header: "77"})
    assert answer.json() == [str(mine.id)]


def test_ended_sign_in_closes_its_own_websocket_only(client: TestClient, home: Home) -> None:
    owner = team.ensure_owner(home).id
    seat = Seat(home, owner)
    first = team.redeem_link(home, team.make_start_link(home))
    (one,) = browsers.my_browsers(seat)
    second = team.redeem_link(home, team.make_start_link(home))
    client.cookies.set(COOKIE, first)
    with client.websocket_connect(GUARD_STREAM) as page:
        client.cookies.set(COOKIE, second)
        with client.websocket_connect(GUARD_STREAM) as other:
            browsers.end_my_browser(seat, one.id)
            page.send_text("a press")
            assert sent_away(page)
            other.send_text("a press")
            assert other.receive_json()[0] == "a press"


def test_last_seen_time_is_stored_at_intervals(
    signed_in: TestClient, home: Home, monkeypatch: pytest.MonkeyPatch
) -> None:
    seen: list[int] = []
    monkeypatch.setattr(browsers, "see", lambda _home, number: seen.append(number))
    now = [1000.0]
    monkeypatch.setattr("web.guard.time.monotonic", lambda: now[0])
    for wait in (0.0, 1.0, SEEN_EVERY, 1.0):
        now[0] += wait
        assert signed_in.get("/").status_code == 200
    assert len(seen) == 2


def test_sign_in_works_if_audit_fails(signed_in: TestClient) -> None:
    with full_disk():
        assert signed_in.get("/").status_code == 200


# Streamlit's addresses: some are open to anyone who is signed in, all others do not exist


STATIC = next(f"/static/js/{path.name}" for path in Path(get_static_dir(), "static", "js").iterdir() if path.is_file())


@pytest.fixture
def ada(client: TestClient, home: Home) -> TestClient:
    """An annotator's browser."""
    seat = Seat(home, team.ensure_owner(home).id)
    client.cookies.set(COOKIE, team.redeem_link(home, team.make_link(seat, "Ada")))
    return client


def page_addresses() -> set[str]:
    """Page names in pages/main.py."""
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


def test_addresses_list_every_page() -> None:
    assert set(PAGES) == page_addresses()


def test_every_page_is_routed(ada: TestClient, subtests: pytest.Subtests) -> None:
    for page in PAGES:
        with subtests.test(page):
            assert ada.get(f"/{page}").status_code in (200, 500)  # 500: the one that breaks on purpose


def test_files_of_pages_answer_get_and_head_only(ada: TestClient, subtests: pytest.Subtests) -> None:
    for path in [STATIC, "/_stcore/health", "/favicon.png", "/manifest.json"]:
        with subtests.test(path):
            assert ada.get(path).status_code == 200
            assert ada.head(path).status_code == 200
            for method in ("POST", "PUT", "DELETE", "PATCH", "OPTIONS"):
                assert ada.request(method, path).status_code == 405, method


UNLISTED = (
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
)


@pytest.mark.parametrize("method", ["GET", "POST", "PUT"])
def test_unlisted_address_is_404(ada: TestClient, method: str) -> None:
    for path in UNLISTED:
        answer = ada.request(method, path)
        assert answer.status_code == 404, path
        assert "There is no such address here." in answer.text, path


def test_host_config_allows_no_origin(ada: TestClient) -> None:
    answer = ada.get(HOST_CONFIG)
    assert answer.json()["allowedOrigins"] == []
    assert "streamlit" not in answer.text
    assert ada.post(HOST_CONFIG).status_code == 405


def test_only_stream_address_accepts_websocket(ada: TestClient) -> None:
    socket = BASE.replace("http", "ws")
    with ada.websocket_connect(f"{socket}{STREAM}"):
        pass
    for path in ("/", "/annotate", f"{STREAM}/", "/_stcore/health", "/signin", "/annotate/_stcore/stream"):
        with pytest.raises(WebSocketDisconnect), ada.websocket_connect(f"{socket}{path}"):
            pass  # pragma: no cover


def test_open_streamlit_addresses_exist_in_streamlit() -> None:
    """A name that Streamlit has dropped should not stay here."""
    from streamlit.web.server.starlette import starlette_routes

    its = {value for name, value in vars(starlette_routes).items() if "ROUTE" in name and isinstance(value, str)}
    for path in (*STREAMLITS, HOST_CONFIG):
        if path.startswith(("/_stcore", "/media", "/static")):
            assert any(path[1:].startswith(one) for one in its), path


def test_unannounced_files_are_not_served(ada: TestClient, subtests: pytest.Subtests) -> None:
    for name in ["a.csv", "a/b", "", "..%2Fx", "a" * 300]:
        with subtests.test(name):
            for method in ("GET", "HEAD", "POST", "PUT"):
                assert ada.request(method, f"/media/{name}").status_code == 404


# Forms


FORM = b"application/x-www-form-urlencoded"


def read(*chunks: bytes, kind: bytes = FORM) -> tuple[dict[str, str], int]:
    """The form in these chunks, and how many of them were read."""
    left: Iterator[bytes] = iter(chunks)
    asked = 0

    async def receive() -> Message:
        nonlocal asked
        asked += 1
        return {"type": "http.request", "body": next(left, b""), "more_body": asked < len(chunks)}

    request = Request({"type": "http", "method": "POST", "headers": [(b"content-type", kind)]}, receive)
    return asyncio.run(read_form(request)), asked


@given(st.dictionaries(st.text(max_size=20), st.text(max_size=40), max_size=5), st.integers(1, 50))
def test_small_form_is_read_from_pieces_of_any_size(fields: dict[str, str], size: int) -> None:
    body = urlencode(fields).encode()
    pieces = [body[at : at + size] for at in range(0, len(body), size)] or [b""]
    found, _ = read(*pieces)
    assert found == fields


@given(st.binary(max_size=200))
def test_arbitrary_bytes_are_read_as_form_or_refused(body: bytes) -> None:
    with suppress(FormError):
        assert len(read(body)[0]) <= 20


def test_form_body_is_read_up_to_its_limit() -> None:
    asked = 0

    async def endless() -> Message:
        nonlocal asked
        asked += 1
        return {"type": "http.request", "body": b"x" * 1024, "more_body": True}

    request = Request({"type": "http", "method": "POST", "headers": [(b"content-type", FORM)]}, endless)
    with pytest.raises(FormError) as refused:
        asyncio.run(read_form(request))
    assert refused.value.status == 413
    assert asked == MOST_BYTES // 1024 + 1


def test_incomplete_form_times_out(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("web.signin.WHOLE_WITHIN", 0.1)

    async def trickle() -> Message:
        await asyncio.sleep(0)
        return {"type": "http.request", "body": b"", "more_body": True}

    request = Request({"type": "http", "method": "POST", "headers": [(b"content-type", FORM)]}, trickle)
    with pytest.raises(FormError) as refused:
        asyncio.run(read_form(request))
    assert refused.value.status == 408


@pytest.mark.parametrize("kind", [b"multipart/form-data; boundary=x", b"application/json", b"text/plain"])
def test_form_of_other_content_type_is_refused(kind: bytes) -> None:
    with pytest.raises(FormError) as refused:
        read(b"name=ada", kind=kind)
    assert refused.value.status == 415


def test_too_many_fields_are_refused_and_first_duplicate_wins() -> None:
    with pytest.raises(FormError):
        read(b"a=1&" * 21)
    assert read(b"link=one&link=two")[0] == {"link": "one"}
    assert read(b"name=ada", kind=FORM + b"; charset=utf-8")[0] == {"name": "ada"}
