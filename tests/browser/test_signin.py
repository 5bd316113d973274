"""Sign-in, accounts and sharing in the browser."""

from __future__ import annotations

import asyncio
import re
import sys
import urllib.error
import urllib.request
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
import websockets
from playwright.sync_api import Browser, BrowserContext, Page, expect

from plcore import LearnerSettings
from tests.browser import room
from tests.browser.server import START, Server
from tests.plcore.tables.zips import WAV, make_zip, picture
from tests.workflow.files.test_finding import CSV, FILES, kept
from tests.workflow.world import annotator, opened, small_frame, small_project
from workflow import importing
from workflow.answering import loop
from workflow.people import figures, members, team
from workflow.seat import Seat
from workflow.server.home import Home

# Signed in or refused, against the real server: HTTP, websocket, links, sign-out, start by `streamlit run`


pytestmark = pytest.mark.browser


def status(address: str, **headers: str) -> int:
    """The HTTP status without following a redirect."""

    class Stay(urllib.request.HTTPRedirectHandler):
        def redirect_request(self, *_args: object) -> None:
            return None

    request = urllib.request.Request(address, headers=headers)
    try:
        with urllib.request.build_opener(Stay).open(request) as answer:
            return int(answer.status)
    except urllib.error.HTTPError as error:
        error.close()
        return error.code


def websocket_status(server: Server, cookie: str = "", origin: str | None = None) -> int:
    """101 when the server takes the websocket, else the status it refuses with."""

    async def knock() -> int:
        try:
            async with websockets.connect(
                f"ws://127.0.0.1:{server.port}/_stcore/stream",
                additional_headers={"Cookie": cookie, "X-Winnow-Person": "1"},
                origin=origin or server.base,
                subprotocols=["streamlit"],
                open_timeout=60,
            ):
                return 101
        except websockets.InvalidStatus as refusal:
            return refusal.response.status_code

    # Playwright's loop runs in this thread; a second one needs a thread of its own.
    import concurrent.futures

    with concurrent.futures.ThreadPoolExecutor(1) as pool:
        return pool.submit(asyncio.run, knock()).result()


def test_no_one_gets_in_without_link(server: Server, context: BrowserContext) -> None:
    assert status(f"{server.base}/", Accept="text/html") == 303
    assert status(f"{server.base}/_stcore/health") == 401
    assert status(f"{server.base}/_stcore/metrics") == 401
    assert status(f"{server.base}/healthz") == 200
    assert websocket_status(server) == 403
    assert websocket_status(server, cookie=f"winnow_signin_{server.port}=forged") == 403
    page = context.new_page()
    page.goto(server.base)
    expect(page.get_by_role("heading", name="Sign in")).to_be_visible()


def test_link_works_once_and_signing_out_ends_it(server: Server, context: BrowserContext, page: Page) -> None:
    secret = next(c["value"] for c in context.cookies() if c["name"] == f"winnow_signin_{server.port}")
    cookie = f"winnow_signin_{server.port}={secret}"
    assert websocket_status(server, cookie) == 101
    assert websocket_status(server, cookie, origin="http://127.0.0.1:9") == 403, "another site's page"
    assert status(server.link) == 403, "the link was used"
    assert "winnow_signin" not in page.evaluate("document.cookie"), "scripts cannot read the cookie"
    page.get_by_role("button", name="Sign out").click()
    expect(page.get_by_role("heading", name="Sign in")).to_be_visible()
    assert websocket_status(server, cookie) == 403
    assert status(f"{server.base}/", Accept="text/html", Cookie=cookie) == 303


def test_invited_annotator_answers_next_to_owner(server: Server, context: BrowserContext, page: Page) -> None:
    page.goto(f"{server.base}/people")
    page.get_by_label("Name of the annotator").fill("Ada")
    room.type_choice(page, page.get_by_role("combobox", name="Projects"), "Demo")
    page.keyboard.press("Escape")  # the list stays open for more
    page.get_by_role("button", name="Make a sign-in link").click()
    link = page.get_by_test_id("stCode").inner_text().strip()
    browser = context.browser
    assert browser is not None
    other = browser.new_context()
    ada = other.new_page()
    ada.goto(link)
    ada.reload()  # looking at an invitation does not use it up
    ada.get_by_role("button", name="Sign in").click()
    ada.get_by_role("heading", name="Projects").wait_for()
    expect(ada.get_by_test_id("stTopNavSection").filter(has_text="Data")).to_have_count(0)
    page.goto(f"{server.base}/annotate")
    ada.goto(f"{server.base}/annotate")
    page.locator(room.CARD).wait_for()
    ada.locator(room.CARD).wait_for()
    assert room.row_id(page) != room.row_id(ada), "one row is not before two people"
    room.answer(ada, ada.locator(".choice .label").first.inner_text())
    room.answer(page, page.locator(".choice .label").first.inner_text())
    expect(page.locator(".counts")).to_contain_text("2 answered")
    ada.goto(f"{server.base}/export")
    expect(ada.get_by_text("Only owners can open this page.")).to_be_visible()
    expect(ada.get_by_role("button", name="Prepare file")).to_have_count(0)
    other.close()


def test_first_start_makes_demo_and_asks_its_first_question(context: BrowserContext, tmp_path: Path) -> None:
    """How long that takes is measured in benchmarks/pages/start.py."""
    server = Server(tmp_path / "home", command=START).start()
    try:
        page = context.new_page()
        page.goto(server.link)
        page.get_by_role("button", name="Start").click()
        page.locator(".choice").first.wait_for()
    finally:
        server.stop()


def test_streamlit_run_alone_starts_the_same(context: BrowserContext, tmp_path: Path) -> None:
    command = [sys.executable, "-m", "streamlit", "run", "app.py"]
    server = Server(tmp_path / "home", command=command).start()
    try:
        assert server.link.startswith(server.base), "WINNOW_PORT counts here, too"
        page = context.new_page()
        page.goto(server.link)
        page.get_by_role("button", name="Start").click()
        page.locator(room.CARD).wait_for()
    finally:
        server.stop()


# Passwords, links made again, browsers ended and the audit, as an owner and an annotator see them


GOOD = "four plain words here"


@pytest.fixture
def others(context: BrowserContext) -> Iterator[BrowserContext]:
    """The browser of someone else."""
    browser = context.browser
    assert isinstance(browser, Browser)
    made = browser.new_context(viewport={"width": 1280, "height": 800})
    yield made
    made.close()


def invite(page: Page, server: Server, name: str) -> str:
    """The address of a link for this person."""
    page.goto(f"{server.base}/people")
    page.get_by_label("Name of the annotator").fill(name)
    page.get_by_role("button", name="Make a sign-in link").click()
    return page.get_by_test_id("stCode").inner_text().strip()


def follow(context: BrowserContext, link: str) -> Page:
    """Someone's page, signed in by a link."""
    page = context.new_page()
    page.goto(link)
    page.get_by_role("button", name="Sign in").click()
    page.get_by_role("heading", name="Projects").wait_for()
    return page


def sign_in(page: Page, server: Server, name: str, password: str) -> None:
    page.goto(f"{server.base}/signin")
    page.get_by_label("Name").fill(name)
    page.get_by_label("Password").fill(password)
    page.get_by_role("button", name="Sign in").click()


def test_password_is_set_and_signs_in_again_and_wrong_one_does_not(
    page: Page, server: Server, others: BrowserContext
) -> None:
    ada = follow(others, invite(page, server, "Ada"))
    ada.goto(f"{server.base}/account")
    expect(ada.get_by_text("this one")).to_be_visible()
    ada.get_by_label("New password", exact=True).fill(GOOD)
    ada.get_by_label("Repeat the new password").fill("something else")
    ada.get_by_role("button", name="Set the password").click()
    expect(ada.get_by_text("The two passwords differ")).to_be_visible()
    expect(ada.get_by_label("New password", exact=True)).to_have_value("")
    ada.get_by_label("New password", exact=True).fill(GOOD)
    ada.get_by_label("Repeat the new password").fill(GOOD)
    ada.get_by_role("button", name="Set the password").click()
    expect(ada.get_by_text("You have a password.")).to_be_visible()
    expect(ada.get_by_label("New password", exact=True)).to_have_value("")
    ada.goto(f"{server.base}/signout")
    ada.get_by_role("button", name="Sign out").click()
    expect(ada.get_by_text("You are signed out.")).to_be_visible()
    sign_in(ada, server, "ada", "a wrong password")
    expect(ada.get_by_text("Name or password is wrong.")).to_be_visible()
    sign_in(ada, server, "ada", GOOD)
    ada.get_by_role("heading", name="Projects").wait_for()
    ada.context.clear_cookies()
    for _ in range(5):
        sign_in(ada, server, "Ada", "a wrong password")
        expect(ada.get_by_text("Name or password is wrong.")).to_be_visible()
    sign_in(ada, server, "Ada", GOOD)
    expect(ada.get_by_text("Too many attempts")).to_be_visible()
    page.goto(f"{server.base}/audit")
    expect(page.get_by_test_id("stDataFrame")).to_be_visible()
    expect(page.get_by_role("button", name="All as CSV")).to_be_visible()
    for line in server.lines:
        assert GOOD not in line


def test_link_is_made_again_with_one_press_and_says_that_others_cannot_reach_it(
    page: Page, server: Server, others: BrowserContext
) -> None:
    first = invite(page, server, "Bea")
    expect(page.get_by_text("Others cannot use this link")).to_be_visible()
    page.get_by_role("button", name="New link").click()
    expect(page.get_by_text("2 open links")).to_be_visible()
    second = page.get_by_test_id("stCode").inner_text().strip()
    assert first != second
    bea = follow(others, first)
    page.reload()
    expect(page.get_by_text("1 browser signed in").last).to_be_visible()
    expect(page.get_by_role("button", name="Revoke links")).to_have_count(0)
    bea.context.clear_cookies()
    bea.goto(second)
    expect(bea.get_by_text("This link does not work")).to_be_visible()


def test_revoked_link_is_no_longer_shown_on_team(page: Page, server: Server, home: Home) -> None:
    invite(page, server, "Bea")
    page.get_by_role("button", name="Dismiss").click()
    members.share(Seat(home, 1), "Bea", [1], "annotator")
    page.goto(f"{server.base}/team")
    page.get_by_role("button", name="New link for Bea").click()
    expect(page.get_by_test_id("stCode")).to_be_visible()
    page.get_by_role("button", name="Revoke links of Bea").click()
    expect(page.get_by_role("button", name="Revoke links of Bea")).to_have_count(0)
    expect(page.get_by_test_id("stCode")).to_have_count(0)


@pytest.mark.parametrize("ended_by", ["the owner", "the person", "ending the access"])
def test_page_whose_sign_in_has_ended_stops_at_its_next_press_and_says_so(
    page: Page, server: Server, home: Home, others: BrowserContext, ended_by: str
) -> None:
    ada = follow(others, invite(page, server, "Ada"))
    members.share(Seat(home, 1), "Ada", [1], "annotator")
    ada.goto(f"{server.base}/annotate")
    ada.locator(room.CARD).wait_for()
    before = len(room.log_of(server, 1))
    if ended_by == "the person":
        link = invite(page, server, "Ada")
        page.goto(f"{server.base}/signout")
        page.get_by_role("button", name="Sign out").click()
        second = follow(page.context, link)  # the owner's machine is free now
        second.goto(f"{server.base}/account")
        second.get_by_role("button", name="Sign out all others").click()
        expect(second.get_by_role("button", name="Sign out all others")).to_have_count(0)
    else:
        page.goto(f"{server.base}/people")
        room.drawn(page)  # or the last of them might not be there yet
        what, then = ("Browsers", "Sign out") if ended_by == "the owner" else ("End access", "End access now")
        page.get_by_role("button", name=what).last.click()
        page.get_by_test_id("stPopoverBody").get_by_role("button", name=then).click()
        expect(page.get_by_text("not signed in").or_(page.get_by_text("access ended"))).to_be_visible()
    ada.keyboard.press(ada.locator(".choice").first.get_attribute("data-key") or "")
    expect(ada.get_by_text("This browser was signed out")).to_be_visible()
    assert len(room.log_of(server, 1)) == before, "the press was not stored, as the page says"


# Two people, two projects, one of them shared: what is not shared is not there, and a new role counts at
# once


OWNER, SHARED = 1, 1
GONE = "There is no project {} here, or no one has shared it with you"


@pytest.fixture
def secret(home: Home, server: Server) -> int:
    """A project with pictures that is not shared; its number."""
    upload = importing.read_upload(make_zip({"birds.csv": CSV.encode(), "call.wav": WAV, **FILES}))
    checked = importing.check(upload, upload.suggest_roles())
    assert checked.table is not None
    return importing.create(Seat(home, OWNER), "Secret birds", checked.table, LearnerSettings(n_neighbors=3))


def invited(page: Page, server: Server, browser: Browser, name: str) -> Page:
    """The page of a person whom the owner invites on the People page, and shares the demo with."""
    page.goto(f"{server.base}/people")
    page.get_by_role("textbox", name="Name of the annotator").fill(name)
    box = page.get_by_role("combobox", name="Projects")
    room.drawn(page)  # what is drawn late closes an open list
    box.click()
    page.get_by_role("option", name=re.compile("digits", re.IGNORECASE)).click()
    page.keyboard.press("Escape")
    page.get_by_role("button", name="Make a sign-in link").click()
    link = page.locator("code", has_text="/signin?link=").inner_text()
    theirs = browser.new_context(viewport={"width": 1280, "height": 800}).new_page()
    theirs.goto(link.strip())
    theirs.get_by_role("button", name="Sign in").click()
    theirs.get_by_role("heading", name="Projects").wait_for()
    return theirs


def fetched(page: Page, address: str) -> tuple[int, str]:
    """Status and words of what this page's person is answered."""
    found: list[Any] = page.evaluate(
        "async (address) => { const got = await fetch(address); return [got.status, await got.text()]; }",
        address,
    )
    return found[0], found[1]


def test_non_shared_is_not_there(page: Page, server: Server, browser: Browser, secret: int) -> None:
    ada = invited(page, server, browser, "Ada")
    expect(ada.get_by_text("The first question is ready")).to_be_visible()
    expect(ada.get_by_text("Secret birds")).to_have_count(0)
    words = []
    for number in (secret, 77):
        for name in ("annotate", "progress", "review", "map"):
            ada.goto(f"{server.base}/{name}?project={number}")
            said = ada.get_by_text(GONE.format(number))
            expect(said).to_be_visible()
            words.append(said.inner_text().replace(str(number), "N"))
    assert len(set(words)) == 1
    file, unknown = kept(picture(2)), kept(picture(98))
    for ending in ("", "/small", "/spectrogram"):
        there, gone = (fetched(ada, f"{server.base}/files/{name}{ending}") for name in (file, unknown))
        assert there == gone == (404, "There is no such file here.")
    status, said = fetched(ada, f"{server.base}/exports/{secret}/abc")
    assert (status, GONE.format(secret) in said) == (404, True)
    assert fetched(page, f"{server.base}/files/{file}")[0] == 200, "the owner has it"
    ada.context.close()


def test_who_becomes_viewer_is_stopped_at_next_press(
    page: Page, server: Server, browser: Browser, home: Home
) -> None:
    ada = invited(page, server, browser, "Ada")
    room.annotate(ada, server, SHARED)
    room.answer(ada, room.labels_on_screen(ada)[0])
    page.goto(f"{server.base}/settings?project={SHARED}")
    page.get_by_role("tab", name="Team").click()
    room.type_choice(page, page.get_by_role("combobox", name="Role of Ada"), "Viewer")
    expect(page.get_by_test_id("stToast")).to_contain_text("Ada is a viewer now")
    ada.keyboard.press(room.key_for(ada, room.labels_on_screen(ada)[0]))
    refused = ada.get_by_text("Only annotators, reviewers and the owner may do this; Ada is a viewer")
    expect(refused.first).to_be_visible()
    expect(ada.locator(room.CARD)).to_have_count(0)
    assert len(room.log_of(server, SHARED)) == 1
    ada.reload()
    expect(ada.get_by_text("This page is for annotators.")).to_be_visible()
    navigation = ada.get_by_test_id("stTopNavLink")
    expect(navigation.get_by_text("Progress", exact=True)).to_be_visible()
    expect(navigation.get_by_text("Answer", exact=True)).to_have_count(0)
    members.remove_member(Seat(home, OWNER, SHARED), 2)
    ada.goto(f"{server.base}/progress?project={SHARED}")
    expect(ada.get_by_text(GONE.format(SHARED))).to_be_visible()
    ada.goto(server.base)
    expect(ada.get_by_text("The owner has not shared a project with you yet")).to_be_visible()
    assert team.get_person(Seat(home, 2)).name == "Ada"
    ada.context.close()


def test_group_is_made_and_added_at_once(page: Page, server: Server, home: Home) -> None:
    for name in ("Ada", "Bob"):
        team.make_link(Seat(home, OWNER), name)
    page.goto(f"{server.base}/people")
    page.get_by_role("textbox", name="New group").fill("Experts")
    for name in ("Ada", "Bob"):
        room.type_choice(page, page.get_by_role("combobox", name="People in it").last, name)
    page.keyboard.press("Escape")  # the list stays open for more
    page.get_by_role("button", name="Create group").click()
    expect(page.get_by_test_id("stToast")).to_contain_text("Experts is made")
    page.goto(f"{server.base}/settings?project={SHARED}")
    page.get_by_role("tab", name="Team").click()
    page.get_by_text("Only you see this project").wait_for()
    page.get_by_role("button", name="Add the group").click()
    expect(page.get_by_test_id("stToast")).to_contain_text("2 people added")
    found = {one.name: one.role for one in members.list_members(Seat(home, OWNER, SHARED)).members}
    assert found == {"owner": "owner", "Ada": "annotator", "Bob": "annotator"}


# Three people answer with overlap 2; the Team page counts them right, one is excluded, and all comes back


TEAM_OWNER = 1


def answer(seat: Seat, *, right: bool) -> None:
    question = loop.next_question(seat)
    assert question is not None
    true = str(small_frame().truth[question.view.row])
    wrong = next(one for one in question.choices if one != true)
    loop.submit_answer(seat, question.token, "is", [true if right else wrong])


def labels(home: Home, project: int) -> list[list[bool]]:
    with opened(home, TEAM_OWNER, project) as learner:
        found: list[list[bool]] = learner.candidates.tolist()
        return found


def test_one_of_three_is_excluded_and_counts_again(page: Page, server: Server, home: Home) -> None:
    project = small_project(home, TEAM_OWNER, "Three people", overlap=2, fold="majority", test_share=0.3)
    ada, ben, cem = (Seat(home, annotator(home, TEAM_OWNER, name), project) for name in ("Ada", "Ben", "Cem"))
    for _ in range(10):
        answer(ada, right=True)
        answer(ben, right=True)
        answer(cem, right=False)
    before = labels(home, project)
    counted = {one.name: one for one in figures.team(Seat(home, TEAM_OWNER, project)).people}
    assert {name: one.answers for name, one in counted.items()} == {"Ada": 10, "Ben": 10, "Cem": 10}
    assert counted["Cem"].others.right == 0

    page.goto(f"{server.base}/team?project={project}")
    cem_row = page.get_by_role("row").filter(has_text="Cem")
    expect(cem_row).to_contain_text("May be guessing.")
    page.get_by_role("button", name="Details of Cem").press("Enter")
    expect(page.get_by_role("dialog")).to_contain_text("Same as the others: 0")
    page.keyboard.press("Escape")
    expect(page.get_by_role("dialog")).to_have_count(0)
    page.get_by_role("button", name="Exclude answers of Cem").press("Enter")
    page.get_by_role("dialog").get_by_role("button", name="Exclude answers").click()
    again = page.get_by_role("button", name="Include answers of Cem")
    expect(again).to_have_count(1)
    expect(cem_row).not_to_contain_text("May be guessing.")
    assert labels(home, project) != before
    again.click()
    page.get_by_role("dialog").get_by_role("button", name="Include answers").click()
    expect(cem_row).to_contain_text("May be guessing.")
    assert labels(home, project) == before
    page.get_by_role("button", name="See answers of Cem").click()
    expect(page.get_by_text("of 10 answered rows, latest first")).to_be_visible()
