"""Two servers of one Winnow behind nginx, on PostgreSQL, by the files that docs/nginx.md gives out."""

from __future__ import annotations

import http.client
import re
from collections.abc import Iterator

import pytest
from playwright.sync_api import Browser, Page, expect

from tests import nginx
from tests.browser import room
from tests.browser.server import Server, free_port
from tests.nginx import Proxy
from tests.postgres import Server as PostgresServer
from tests.postgres import postgres_server
from tests.workflow.world import small_frame

__all__ = ["postgres_server"]

pytestmark = [pytest.mark.browser, pytest.mark.postgres]


@pytest.fixture
def ports() -> tuple[int, int]:
    return free_port(), free_port()


@pytest.fixture
def servers(
    tmp_path_factory: pytest.TempPathFactory, ports: tuple[int, int], postgres_server: PostgresServer
) -> Iterator[tuple[Server, Server]]:
    """The second has taken the printed link of the first one's place."""
    nginx.found_or_not_run()
    home = tmp_path_factory.mktemp("two") / "home"
    with postgres_server.empty_database() as url:
        settings = {
            "WINNOW_DATABASE_URL": url,
            "WINNOW_PUBLIC_URL": f"https://localhost:{ports[0]}/winnow",
            "WINNOW_TRUSTED_PROXIES": "127.0.0.1",
        }
        first, second = Server(home, more=settings), Server(home, more=settings)
        try:
            first.start()
            second.start()
            yield first, second
        finally:
            first.stop()
            second.stop()


@pytest.fixture
def proxy(
    tmp_path_factory: pytest.TempPathFactory, servers: tuple[Server, Server], ports: tuple[int, int]
) -> Iterator[Proxy]:
    with nginx.running(tmp_path_factory.mktemp("nginx"), *ports, *(one.port for one in servers)) as running:
        yield running


@pytest.fixture
def page(browser: Browser, servers: tuple[Server, Server], proxy: Proxy) -> Iterator[Page]:
    """Signed in by the printed link."""
    context = browser.new_context(ignore_https_errors=True, accept_downloads=True)
    opened = context.new_page()
    opened.goto(servers[1].link)
    opened.get_by_role("heading", name="Projects").wait_for()
    yield opened
    context.close()


def status(server: Server, target: str, page: Page) -> int:
    """What this server itself answers the browser that is signed in."""
    (found,) = [one for one in page.context.cookies() if one["name"].startswith("winnow_signin_")]
    connection = http.client.HTTPConnection("127.0.0.1", server.port, timeout=60)
    connection.request("GET", target, headers={"Cookie": f"{found['name']}={found['value']}"})
    answer = connection.getresponse()
    answer.read()
    connection.close()
    return answer.status


def prepared_file(page: Page) -> str:
    """Have a file made and fetch it through nginx; its address behind it."""
    room.go_to(page, "Data", "Export")
    page.get_by_role("button", name="Prepare file").click()
    with page.expect_download() as waiting:
        page.get_by_role("link", name=re.compile("^Download")).click()
    assert waiting.value.path().read_bytes().startswith(b"id,")
    return waiting.value.url.partition("/winnow")[2]


def answer_some(page: Page, saved: dict[str, str], count: int) -> None:
    for _ in range(count):
        label = room.labels_on_screen(page)[0]
        saved[room.answer(page, label)] = label


@pytest.mark.proof
def test_a_sign_in_is_one_for_both_and_whoever_loses_one_goes_on_at_the_other(
    page: Page, servers: tuple[Server, Server], proxy: Proxy
) -> None:
    assert [status(one, "/account", page) for one in servers] == [200, 200]
    room.import_csv(page, proxy.base, small_frame(), "behind")  # it is taken in by one, and read by the same
    address = prepared_file(page)
    here = [status(one, address, page) for one in servers]
    assert sorted(here) == [200, 404], "the server that made it has it, and nginx has found that one"
    mine, other = servers if here[0] == 200 else servers[::-1]

    saved: dict[str, str] = {}
    room.annotate_at(page, f"{proxy.base}/annotate?project=1")
    answer_some(page, saved, 3)
    page.keyboard.press(
        room.first_key(page)
    )  # in flight while the process dies: stored or not, but never half
    mine.kill()
    room.annotate_at(page, f"{proxy.base}/annotate?project=1")
    stored = {one["row"] for one in room.log_of(other, 1)}
    assert len(stored) - len(saved) in (0, 1)
    again: dict[str, str] = {}
    answer_some(page, again, 3)
    assert not saved.keys() & again.keys(), "nobody is asked again what was saved"
    log = room.log_of(other, 1)
    assert {one["kind"] for one in log} == {"is"}
    assert len({one["row"] for one in log}) == len({one["token"] for one in log}) == len(log)
    assert len(log) == len(stored) + len(again)

    mine.start()
    assert status(mine, "/account", page) == 200
    held = page.context.cookies()
    page.goto(f"{proxy.base}/signout")
    page.get_by_role("button", name="Sign out").click()
    expect(page).to_have_url(f"{proxy.base}/signin?left=1")
    page.context.add_cookies([one for one in held if one["name"].startswith("winnow_signin_")])  # type: ignore[misc]
    assert [status(one, "/account", page) for one in servers] == [401, 401], "at once at both"


def test_an_open_card_goes_on_at_the_other_with_what_was_typed(
    page: Page, servers: tuple[Server, Server], proxy: Proxy
) -> None:
    """Nobody loads the page again: neither the person, nor the page by itself."""
    room.import_csv(page, proxy.base, small_frame(), "open")
    address = prepared_file(page)
    mine, other = servers if status(servers[0], address, page) == 200 else servers[::-1]
    room.annotate_at(page, f"{proxy.base}/annotate?project=1")
    answer_some(page, {}, 1)
    page.evaluate("window.stays = true")
    shown, label = room.token(page), room.labels_on_screen(page)[0]
    page.keyboard.press("t")
    page.keyboard.type("typed before")
    with page.expect_websocket():  # the page's own, anew
        mine.kill()
        page.keyboard.type(" and after")
    page.wait_for_load_state("networkidle")
    expect(page.locator(".note")).to_have_value("typed before and after")
    page.keyboard.press("Escape")
    page.keyboard.press(room.key_for(page, label))
    room.wait_for_next(page, shown)
    entry = room.log_of(other, 1)[-1]
    assert (entry["token"], entry["note"]) == (shown, "typed before and after")
    answer_some(page, {}, 2)
    assert len(room.log_of(other, 1)) == 4
    assert page.evaluate("window.stays") is True
