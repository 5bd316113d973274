"""Two servers of one database in the browser."""

from __future__ import annotations

import http.client
import re
from collections.abc import Iterator
from pathlib import Path

import pytest
from playwright.sync_api import Browser, Page, expect

from tests import nginx
from tests.browser import room
from tests.browser.server import Server, free_port
from tests.nginx import Proxy
from tests.postgres import Server as PostgresServer
from tests.postgres import postgres_server
from tests.two_servers import make_team, stored
from tests.workflow.world import small_frame
from workflow.server.home import open_home
from workflow.server.settings import Settings

# Two servers of one Winnow behind nginx, on PostgreSQL, with the files of docs/nginx.md


__all__ = ["postgres_server"]


@pytest.fixture
def ports() -> tuple[int, int]:
    return free_port(), free_port()


@pytest.fixture
def servers(
    tmp_path_factory: pytest.TempPathFactory, ports: tuple[int, int], postgres_server: PostgresServer
) -> Iterator[tuple[Server, Server]]:
    """The printed link belongs to the second server, in place of the first one's."""
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
def two_servers_page(browser: Browser, servers: tuple[Server, Server], proxy: Proxy) -> Iterator[Page]:
    """Signed in by the printed link."""
    context = browser.new_context(ignore_https_errors=True, accept_downloads=True)
    opened = context.new_page()
    opened.goto(servers[1].link)
    opened.get_by_role("heading", name="Projects").wait_for()
    yield opened
    context.close()


def status(server: Server, target: str, page: Page) -> int:
    """Reply of this server to the signed-in browser."""
    (found,) = [one for one in page.context.cookies() if one["name"].startswith("winnow_signin_")]
    connection = http.client.HTTPConnection("127.0.0.1", server.port, timeout=60)
    connection.request("GET", target, headers={"Cookie": f"{found['name']}={found['value']}"})
    answer = connection.getresponse()
    answer.read()
    connection.close()
    return answer.status


def prepared_file(page: Page) -> str:
    """Have a file made and fetch it through nginx; returns its address behind it."""
    room.go_to(page, "Data", "Export")
    page.get_by_role("button", name=re.compile("^Download .* (row|line)s?$")).click()
    page.get_by_role("link", name=re.compile("^Download ")).wait_for()
    room.drawn(page)
    with page.expect_download() as waiting:
        page.get_by_role("link", name=re.compile("^Download")).click()
    assert waiting.value.path().read_bytes().startswith(b"id,")
    return waiting.value.url.partition("/winnow")[2]


def answer_some(page: Page, saved: dict[str, str], count: int) -> None:
    for _ in range(count):
        label = room.labels_on_screen(page)[0]
        saved[room.answer(page, label)] = label


@pytest.mark.browser
@pytest.mark.postgres
@pytest.mark.proof
def test_sign_in_is_shared_by_both_servers(
    two_servers_page: Page, servers: tuple[Server, Server], proxy: Proxy
) -> None:
    assert [status(one, "/account", two_servers_page) for one in servers] == [200, 200]
    room.import_csv(
        two_servers_page, proxy.base, small_frame(), "behind"
    )  # it is received by one server, and read by the same
    address = prepared_file(two_servers_page)
    here = [status(one, address, two_servers_page) for one in servers]
    assert sorted(here) == [200, 404], "the server that made it has it, and nginx has found that one"
    mine, other = servers if here[0] == 200 else servers[::-1]

    saved: dict[str, str] = {}
    room.annotate_at(two_servers_page, f"{proxy.base}/annotate?project=1")
    answer_some(two_servers_page, saved, 3)
    two_servers_page.keyboard.press(
        room.first_key(two_servers_page)
    )  # in flight while the process dies: stored or not, but never half
    mine.kill()
    room.annotate_at(two_servers_page, f"{proxy.base}/annotate?project=1")
    stored = {one["row"] for one in room.log_of(other, 1)}
    assert len(stored) - len(saved) in (0, 1)
    again: dict[str, str] = {}
    answer_some(two_servers_page, again, 3)
    assert not saved.keys() & again.keys(), "no one is asked again what was saved"
    log = room.log_of(other, 1)
    assert {one["kind"] for one in log} == {"is"}
    assert len({one["row"] for one in log}) == len({one["token"] for one in log}) == len(log)
    assert len(log) == len(stored) + len(again)

    mine.start()
    assert status(mine, "/account", two_servers_page) == 200
    held = two_servers_page.context.cookies()
    two_servers_page.goto(f"{proxy.base}/signout")
    two_servers_page.get_by_role("button", name="Sign out").click()
    expect(two_servers_page).to_have_url(f"{proxy.base}/signin?left=1")
    two_servers_page.context.add_cookies([one for one in held if one["name"].startswith("winnow_signin_")])  # type: ignore[misc]
    assert [status(one, "/account", two_servers_page) for one in servers] == [401, 401], "at once at both"


@pytest.mark.proof
@pytest.mark.browser
@pytest.mark.postgres
def test_open_card_continues_on_other_server_with_typed_note(
    two_servers_page: Page, servers: tuple[Server, Server], proxy: Proxy
) -> None:
    """The page is not reloaded, neither by the person nor by itself."""
    room.import_csv(two_servers_page, proxy.base, small_frame(), "open")
    address = prepared_file(two_servers_page)
    mine, other = servers if status(servers[0], address, two_servers_page) == 200 else servers[::-1]
    room.annotate_at(two_servers_page, f"{proxy.base}/annotate?project=1")
    answer_some(two_servers_page, {}, 1)
    two_servers_page.evaluate("window.stays = true")
    shown, label = room.token(two_servers_page), room.labels_on_screen(two_servers_page)[0]
    two_servers_page.keyboard.press("t")
    two_servers_page.keyboard.type("typed before")
    with two_servers_page.expect_websocket():  # the page's own, again
        mine.kill()
        two_servers_page.keyboard.type(" and after")
    two_servers_page.wait_for_load_state("networkidle")
    expect(two_servers_page.locator(".note")).to_have_value("typed before and after")
    two_servers_page.keyboard.press("Escape")
    two_servers_page.keyboard.press(room.key_for(two_servers_page, label))
    room.wait_for_next(two_servers_page, shown)
    entry = room.log_of(other, 1)[-1]
    assert (entry["token"], entry["note"]) == (shown, "typed before and after")
    answer_some(two_servers_page, {}, 2)
    assert len(room.log_of(other, 1)) == 4
    assert two_servers_page.evaluate("window.stays") is True


# A team at two servers on one PostgreSQL: no answered row is asked again, and people continue on the other server if
# theirs is killed. `python -m benchmarks two_servers` is the same with 20 people and 200 answers of each


PEOPLE, ANSWERS = 6, 12


@pytest.mark.browser
@pytest.mark.postgres
@pytest.mark.proof
def test_killed_server_does_not_stop_team_or_repeat_rows(tmp_path: Path, postgres_server: PostgresServer) -> None:
    with postgres_server.empty_database() as url:
        place = {"WINNOW_DATABASE_URL": url}
        team = make_team({"WINNOW_HOME": str(tmp_path / "home"), **place}, PEOPLE, ANSWERS)
        servers = [Server(tmp_path / "home", more=place) for _ in range(2)]
        try:
            for one in servers:
                one.start()
            team.answer(servers, kill_at=PEOPLE * ANSWERS // 2)
            home = open_home(Settings.from_environment(servers[1].environment))
            found = stored(home, team)
            home.close()
        finally:
            for one in servers:
                one.stop()
    assert team.faults == []
    assert team.behind == 0, "an answer at one server is known to each next question at the other"
    assert team.moved == PEOPLE // 2
    assert len(team.acknowledged) == PEOPLE * ANSWERS
    assert (found.lost, found.other, found.twice) == (0, 0, 0)
    assert 0 <= found.entries - len(team.acknowledged) <= team.cut, (
        "what a kill has answered is stored once or not at all"
    )
