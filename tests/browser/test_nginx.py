"""Behind nginx with TLS and below a path, with the file from docs/nginx.md."""

from __future__ import annotations

import http.client
import re
import subprocess
import sys
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from urllib.parse import urlsplit

import pytest
from playwright.sync_api import Browser, Page, expect
from websockets.exceptions import InvalidStatus
from websockets.sync.client import connect
from websockets.typing import Origin

from tests import nginx
from tests.browser import room
from tests.browser.server import Server, free_port
from tests.conftest import ROOT
from tests.nginx import Proxy
from tests.workflow.world import small_frame

pytestmark = pytest.mark.browser


@pytest.fixture(scope="module")
def ports() -> tuple[int, int]:
    return free_port(), free_port()


@pytest.fixture(scope="module")
def server(tmp_path_factory: pytest.TempPathFactory, ports: tuple[int, int]) -> Iterator[Server]:
    nginx.found_or_not_run()
    public = {"WINNOW_PUBLIC_URL": f"https://localhost:{ports[0]}/winnow", "WINNOW_TRUSTED_PROXIES": "127.0.0.1"}
    running = Server(tmp_path_factory.mktemp("server") / "home", more=public).start()
    yield running
    running.stop()


@pytest.fixture(scope="module")
def proxy(tmp_path_factory: pytest.TempPathFactory, server: Server, ports: tuple[int, int]) -> Iterator[Proxy]:
    with nginx.running(tmp_path_factory.mktemp("nginx"), *ports, server.port) as running:
        yield running


@pytest.fixture(scope="module")
def page(browser: Browser, server: Server, proxy: Proxy) -> Iterator[Page]:
    """Signed in by the printed link."""
    context = browser.new_context(ignore_https_errors=True, accept_downloads=True)
    opened = context.new_page()
    opened.goto(server.link)
    opened.get_by_role("heading", name="Projects").wait_for()
    yield opened
    context.close()


def ask(proxy: Proxy, target: str, **headers: str) -> http.client.HTTPResponse:
    connection = http.client.HTTPSConnection("localhost", proxy.port, timeout=60, context=proxy.tls)
    connection.request("GET", target, headers=headers)
    answer = connection.getresponse()
    answer.read()
    connection.close()
    return answer


def handshake(proxy: Proxy, origin: str, cookie: str) -> int:
    """HTTP status of opening the pages' websocket; 101 is success."""

    def knock() -> int:
        address = f"wss://localhost:{proxy.port}/winnow/_stcore/stream"
        try:
            with connect(  # without a limit: the machine may pause for a minute
                address, ssl=proxy.tls, origin=Origin(origin), additional_headers={"Cookie": cookie}, open_timeout=None
            ):
                return 101
        except InvalidStatus as refusal:
            return refusal.response.status_code

    with ThreadPoolExecutor(1) as beside:  # Playwright's loop runs in this thread
        return beside.submit(knock).result()


def cookie_of(page: Page) -> str:
    (found,) = [one for one in page.context.cookies() if one["name"].startswith("winnow_signin_")]
    return f"{found['name']}={found['value']}"


def test_printed_links_have_public_address(server: Server, proxy: Proxy) -> None:
    assert server.link.startswith(f"{proxy.base}/signin?link=")
    done = subprocess.run(
        [sys.executable, "cli.py", "link"], cwd=ROOT, env=server.environment, capture_output=True, text=True, check=True
    )
    assert done.stdout.startswith(f"{proxy.base}/signin?link=")


def test_plain_http_redirects_to_https(proxy: Proxy) -> None:
    connection = http.client.HTTPConnection("localhost", proxy.plain_port, timeout=60)
    connection.request("GET", "/winnow/annotate")
    answer = connection.getresponse()
    assert (answer.status, answer.getheader("location")) == (301, "https://localhost/winnow/annotate")
    connection.close()


def test_strangers_are_sent_to_sign_in_below_path(proxy: Proxy) -> None:
    answer = ask(proxy, "/winnow/annotate", Accept="text/html")
    assert (answer.status, answer.getheader("location")) == (303, "/winnow/signin")
    assert answer.getheader("strict-transport-security")
    assert ask(proxy, "/winnow").status == 301
    beside = ask(proxy, "/signin")
    assert beside.status in (403, 404), "what is next to the path is not Winnow's"
    assert (beside.getheader("server") or "").startswith("nginx")
    assert ask(proxy, "/winnow/signin", Host="elsewhere.example").status == 400


def test_cookies_are_secure_and_limited_to_path(page: Page) -> None:
    cookies = page.context.cookies()
    ours = [one for one in cookies if one["name"].startswith("winnow_signin_")]
    assert [(one["path"], one["secure"], one["httpOnly"]) for one in ours] == [("/winnow/", True, True)]
    assert {one["path"] for one in cookies} == {"/winnow/"}, "Streamlit's too"


def test_websocket_needs_same_scheme_host_and_port(page: Page, proxy: Proxy) -> None:
    cookie = cookie_of(page)
    assert handshake(proxy, proxy.origin, cookie) == 101
    for other in (
        f"http://localhost:{proxy.port}",
        f"http://localhost:{proxy.plain_port}",
        "https://localhost",
        "https://elsewhere.example",
        "null",
    ):
        assert handshake(proxy, other, cookie) == 403, other
    assert handshake(proxy, proxy.origin, "winnow_signin=forged") == 403


def test_answers_files_and_exports_pass_through_nginx(page: Page, server: Server, proxy: Proxy) -> None:
    failed: list[str] = []
    page.on("response", lambda one: failed.append(f"{one.status} {one.url}") if one.status >= 400 else None)
    page.goto(f"{proxy.base}/annotate?project=1")
    page.locator(room.CARD).wait_for()
    shown = room.token(page)
    page.keyboard.press(room.first_key(page))
    room.wait_for_next(page, shown)
    assert len(room.log_of(server, 1)) == 1
    room.go_to(page, "Data", "Export")
    expect(page).to_have_url(re.compile(f"^{re.escape(proxy.base)}/export"))
    page.get_by_role("heading", name="Export").wait_for()
    page.goto(f"{proxy.base}/account")
    expect(page.get_by_text("127.0.0.1").first).to_be_visible()
    # Streamlit's pages look below their own address, too, for where it begins.
    assert [one for one in failed if not re.search("/(annotate|account)/_stcore/", one)] == []


@pytest.mark.proof
def test_import_and_export_pass_through_nginx(page: Page, proxy: Proxy) -> None:
    room.import_csv(page, proxy.base, small_frame(), "behind")
    room.go_to(page, "Data", "Export")
    page.get_by_role("button", name=re.compile("^Download .* (row|line)s?$")).click()
    page.get_by_role("link", name=re.compile("^Download ")).wait_for()
    room.drawn(page)
    with page.expect_download() as waiting:
        page.get_by_role("link", name=re.compile("^Download")).click()
    assert waiting.value.url.startswith(f"{proxy.base}/exports/")
    assert waiting.value.path().read_bytes().startswith(b"id,")


def test_signing_out_redirects_to_sign_in_below_path(page: Page, proxy: Proxy) -> None:
    page.goto(f"{proxy.base}/signout")
    page.get_by_role("button", name="Sign out").click()
    expect(page).to_have_url(f"{proxy.base}/signin?left=1")
    assert urlsplit(page.url).scheme == "https"
    assert not [one for one in page.context.cookies() if one["name"].startswith("winnow_signin_")]
