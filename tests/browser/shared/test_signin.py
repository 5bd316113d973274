"""Sign-in, accounts and sharing in the browser."""

from __future__ import annotations

import asyncio
import re
import urllib.error
import urllib.request
from collections.abc import Iterator
from typing import Any

import pytest
import websockets
from playwright.sync_api import Browser, BrowserContext, Locator, Page, expect

from plcore import LearnerSettings
from tests.browser import room
from tests.browser.server import Server
from tests.browser.shared.conftest import OWNER, Room, follow, member
from tests.plcore.tables.zips import WAV, make_zip, picture
from tests.workflow.files.test_finding import CSV, FILES, kept
from tests.workflow.world import opened, small_frame, small_project, somebody
from workflow import importing
from workflow.answering import loop
from workflow.people import figures, members, team
from workflow.seat import Seat
from workflow.server.home import Home

# Signed in or refused, against the real server: HTTP, websocket, links, sign-out


pytestmark = pytest.mark.browser


@pytest.fixture
def others(browser: Browser) -> Iterator[BrowserContext]:
    """The browser of another person."""
    made = browser.new_context(viewport={"width": 1280, "height": 800})
    yield made
    made.close()


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
    """101 if the server accepts the websocket, else the status of the refusal."""

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


def test_access_needs_sign_in(server: Server, others: BrowserContext) -> None:
    assert status(f"{server.base}/", Accept="text/html") == 303
    assert status(f"{server.base}/_stcore/health") == 401
    assert status(f"{server.base}/_stcore/metrics") == 401
    assert status(f"{server.base}/healthz") == 200
    assert websocket_status(server) == 403
    assert websocket_status(server, cookie=f"winnow_signin_{server.port}=forged") == 403
    page = others.new_page()
    page.goto(server.base)
    expect(page.get_by_role("heading", name="Sign in")).to_be_visible()


def test_link_works_once_and_signing_out_ends_it(server: Server, others: BrowserContext, home: Home) -> None:
    link = f"{server.base}/signin?link={team.make_link(Seat(home, OWNER), 'Lea')}"
    page = follow(others, link)
    secret = next(c["value"] for c in others.cookies() if c["name"] == f"winnow_signin_{server.port}")
    cookie = f"winnow_signin_{server.port}={secret}"
    assert websocket_status(server, cookie) == 101
    assert websocket_status(server, cookie, origin="http://127.0.0.1:9") == 403, "another site's page"
    assert (status(server.link), status(link)) == (403, 403), "both links were used"
    assert "winnow_signin" not in page.evaluate("document.cookie"), "scripts cannot read the cookie"
    page.get_by_role("button", name="Sign out").click()
    expect(page.get_by_role("heading", name="Sign in")).to_be_visible()
    assert websocket_status(server, cookie) == 403
    assert status(f"{server.base}/", Accept="text/html", Cookie=cookie) == 303


def test_invited_annotator_answers_next_to_owner(
    server: Server, others: BrowserContext, page: Page, here: Room
) -> None:
    page.goto(f"{server.base}/people")
    page.get_by_label("Name of the annotator").fill("Ivo")
    room.type_choice(page, page.get_by_role("combobox", name="Projects"), here.name)
    room.close_choices(page)
    page.get_by_role("button", name="Create sign-in link").click()
    link = page.get_by_test_id("stCode").inner_text().strip()
    ada = others.new_page()
    ada.goto(link)
    ada.reload()  # looking at an invitation does not use it up
    ada.get_by_role("button", name="Sign in").click()
    ada.get_by_role("heading", name="Projects").wait_for()
    expect(ada.get_by_test_id("stTopNavSection").filter(has_text="Data")).to_have_count(0)
    room.annotate(page, server, here.project)
    room.annotate(ada, server, here.project)
    assert room.row_id(page) != room.row_id(ada), "one row is not before two people"
    room.answer(ada, ada.locator(".choice .label").first.inner_text())
    room.answer(page, page.locator(".choice .label").first.inner_text())
    expect(page.locator(".counts")).to_contain_text("2 answered")
    ada.goto(f"{server.base}/export?project={here.project}")
    expect(ada.get_by_text("Only owners can open this page.")).to_be_visible()
    expect(ada.get_by_role("button", name=re.compile("^Download .* (row|line)s?$"))).to_have_count(0)


# Passwords, links made again, browsers ended and the audit, as an owner and an annotator see them


GOOD = "four plain words here"


def invite(page: Page, server: Server, name: str) -> str:
    """Create a link for this person; returns its address."""
    page.goto(f"{server.base}/people")
    page.get_by_label("Name of the annotator").fill(name)
    page.get_by_role("button", name="Create sign-in link").click()
    return page.get_by_test_id("stCode").inner_text().strip()


def box_of(page: Page, name: str) -> Locator:
    """The box of this person on the People page."""
    named = page.locator("strong", has_text=re.compile(f"^{name}$"))
    return page.get_by_test_id("stVerticalBlock").filter(has=named).last


def sign_in(page: Page, name: str, password: str) -> None:
    """Fill in the form of the sign-in page, which comes back if it is refused."""
    page.get_by_label("Name").fill(name)
    page.get_by_label("Password").fill(password)
    page.get_by_role("button", name="Sign in").click()


def test_password_is_set_and_signs_in(page: Page, server: Server, others: BrowserContext) -> None:
    ada = follow(others, invite(page, server, "Pia"))
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
    ada.goto(f"{server.base}/signin")
    sign_in(ada, "pia", "a wrong password")
    expect(ada.get_by_text("Name or password is wrong.")).to_be_visible()
    sign_in(ada, "pia", GOOD)
    ada.get_by_role("heading", name="Projects").wait_for()
    ada.context.clear_cookies()
    ada.goto(f"{server.base}/signin")
    for _ in range(5):
        sign_in(ada, "Pia", "a wrong password")
        expect(ada.get_by_text("Name or password is wrong.")).to_be_visible()
    sign_in(ada, "Pia", GOOD)
    expect(ada.get_by_text("Too many attempts")).to_be_visible()
    page.goto(f"{server.base}/audit")
    expect(page.get_by_role("table")).to_be_visible()
    expect(page.get_by_role("button", name="All as CSV")).to_be_visible()
    for line in server.lines:
        assert GOOD not in line


def test_new_link_replaces_old_and_warns_of_local_address(page: Page, server: Server, others: BrowserContext) -> None:
    first = invite(page, server, "Bea")
    expect(page.get_by_text("Others cannot use this link")).to_be_visible()
    hers = box_of(page, "Bea")
    hers.get_by_role("button", name="New link").click()
    expect(hers.get_by_text("2 open links")).to_be_visible()
    shown = page.get_by_test_id("stCode")
    expect(shown).not_to_contain_text(first)
    second = shown.inner_text().strip()
    bea = follow(others, first)
    page.reload()
    expect(hers.get_by_text("1 browser signed in")).to_be_visible()
    expect(hers.get_by_role("button", name="Revoke links")).to_have_count(0)
    bea.context.clear_cookies()
    bea.goto(second)
    expect(bea.get_by_text("This link does not work")).to_be_visible()


@pytest.mark.proof
def test_revoked_link_is_no_longer_shown_on_team(page: Page, server: Server, home: Home, here: Room) -> None:
    invite(page, server, "Rob")
    page.get_by_role("button", name="Dismiss").click()
    members.share(Seat(home, OWNER), "Rob", [here.project], "annotator")
    page.goto(f"{server.base}/team?project={here.project}")
    page.get_by_role("button", name="New link for Rob").click()
    expect(page.get_by_test_id("stCode")).to_be_visible()
    page.get_by_role("button", name="Revoke links of Rob").click()
    expect(page.get_by_role("button", name="Revoke links of Rob")).to_have_count(0)
    expect(page.get_by_test_id("stCode")).to_have_count(0)


@pytest.mark.parametrize(
    "ended_by",
    ["the owner", *(pytest.param(one, marks=pytest.mark.proof) for one in ("the person", "ending the access"))],
)
def test_page_with_ended_sign_in_says_so_at_next_press(
    page: Page, browser: Browser, others: BrowserContext, home: Home, here: Room, ended_by: str
) -> None:
    server, name = here.server, f"Nora of {ended_by}"
    ada = member(browser, server, home, here.project, name)
    room.annotate(ada, server, here.project)
    key, before = room.first_key(ada), len(here.log())
    if ended_by == "the person":
        second = follow(others, invite(page, server, name))
        second.goto(f"{server.base}/account")
        second.get_by_role("button", name="Sign out all others").click()
        expect(second.get_by_role("button", name="Sign out all others")).to_have_count(0)
    else:
        page.goto(f"{server.base}/people")
        room.drawn(page)  # or the last of them might not be there yet
        what, then = ("Browsers", "Sign out") if ended_by == "the owner" else ("End access", "End access now")
        hers = box_of(page, name)
        hers.get_by_role("button", name=what).click()
        page.get_by_test_id("stPopoverBody").get_by_role("button", name=then).click()
        expect(hers.get_by_text("not signed in").or_(hers.get_by_text("access ended"))).to_be_visible()
    ada.keyboard.press(key)
    expect(ada.get_by_text("This browser was signed out")).to_be_visible()
    assert len(here.log()) == before, "the press was not stored, as the page says"
    ada.context.close()


# Two people, two projects, one of them shared: the other is not visible, and a new role applies at once


GONE = "There is no project {} here, or no one has shared it with you"


@pytest.fixture
def secret(home: Home, server: Server) -> int:
    """A project with pictures that is not shared; returns its id."""
    upload = importing.read_upload(make_zip({"birds.csv": CSV.encode(), "call.wav": WAV, **FILES}))
    checked = importing.check(upload, upload.suggest_roles())
    assert checked.table is not None
    return importing.create(Seat(home, OWNER), "Secret birds", checked.table, LearnerSettings(n_neighbors=3))


def fetched(page: Page, address: str) -> tuple[int, str]:
    """Status and text of the reply to this page's person."""
    found: list[Any] = page.evaluate(
        "async (address) => { const got = await fetch(address); return [got.status, await got.text()]; }", address
    )
    return found[0], found[1]


def test_project_that_is_not_shared_is_hidden(
    page: Page, browser: Browser, home: Home, here: Room, secret: int
) -> None:
    server = here.server
    page.goto(server.base)
    ada = member(browser, server, home, here.project, "Sam")
    expect(ada.get_by_text("The first question is ready")).to_be_visible()
    expect(ada.get_by_text("Secret birds")).to_have_count(0)
    words = []
    for number in (secret, 7_777):
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


def test_annotator_made_viewer_is_stopped_at_next_press(page: Page, browser: Browser, home: Home, here: Room) -> None:
    server, shared = here.server, here.project
    ada = member(browser, server, home, shared, "Vera")
    room.annotate(ada, server, shared)
    room.answer(ada, room.labels_on_screen(ada)[0])
    key = room.first_key(ada)
    page.goto(f"{server.base}/settings?project={shared}")
    page.get_by_role("tab", name="Team").click()
    room.type_choice(page, page.get_by_role("combobox", name="Role of Vera"), "Viewer")
    expect(page.get_by_test_id("stToast")).to_contain_text("Vera is a viewer now")
    ada.keyboard.press(key)
    refused = ada.get_by_text("Only annotators, reviewers and the owner may do this; Vera is a viewer")
    expect(refused.first).to_be_visible()
    expect(ada.locator(room.CARD)).to_have_count(0)
    assert len(here.log()) == 1
    ada.reload()
    expect(ada.get_by_text("This page is for annotators.")).to_be_visible()
    navigation = ada.get_by_test_id("stTopNavLink")
    expect(navigation.get_by_text("Progress", exact=True)).to_be_visible()
    expect(navigation.get_by_text("Answer", exact=True)).to_have_count(0)
    (vera,) = (one.id for one in team.list_people(Seat(home, OWNER)) if one.name == "Vera")
    members.remove_member(Seat(home, OWNER, shared), vera)
    ada.goto(f"{server.base}/progress?project={shared}")
    expect(ada.get_by_text(GONE.format(shared))).to_be_visible()
    ada.goto(server.base)
    expect(ada.get_by_text("The owner has not shared a project with you yet")).to_be_visible()
    assert team.get_person(Seat(home, vera)).name == "Vera"
    ada.context.close()


@pytest.mark.proof
def test_group_is_made_and_added_to_project(page: Page, server: Server, home: Home, here: Room) -> None:
    for name in ("Gil", "Gus"):
        team.make_link(Seat(home, OWNER), name)
    page.goto(f"{server.base}/people")
    page.get_by_role("textbox", name="New group").fill(f"Experts {here.name}")
    for name in ("Gil", "Gus"):
        room.type_choice(page, page.get_by_role("combobox", name="People in it").last, name)
    room.close_choices(page)
    page.get_by_role("button", name="Create group").click()
    expect(page.get_by_test_id("stToast")).to_contain_text(f"Experts {here.name} is created")
    page.goto(f"{server.base}/settings?project={here.project}")
    page.get_by_role("tab", name="Team").click()
    page.get_by_text("Only you see this project").wait_for()
    page.get_by_role("button", name="Add the group").click()
    expect(page.get_by_test_id("stToast")).to_contain_text("2 people added")
    found = {one.name: one.role for one in members.list_members(Seat(home, OWNER, here.project)).members}
    assert found == {"owner": "owner", "Gil": "annotator", "Gus": "annotator"}


# Three people answer with overlap 2; the Team page counts them correctly, one is excluded and included again


def answer(seat: Seat, *, right: bool) -> None:
    question = loop.next_question(seat)
    assert question is not None
    true = str(small_frame().truth[question.view.row])
    wrong = next(one for one in question.choices if one != true)
    loop.submit_answer(seat, question.token, "is", [true if right else wrong])


def labels(home: Home, project: int) -> list[list[bool]]:
    with opened(home, OWNER, project) as learner:
        found: list[list[bool]] = learner.candidates.tolist()
        return found


def test_annotator_is_excluded_and_included_again(page: Page, server: Server, home: Home, name: str) -> None:
    project = small_project(home, OWNER, name, overlap=2, fold="majority", test_share=0.3)
    people = {one: somebody(home, OWNER, one) for one in ("Ada", "Ben", "Cem")}
    for one in people:
        members.share(Seat(home, OWNER), one, [project], "annotator")
    ada, ben, cem = (Seat(home, person, project) for person in people.values())
    for _ in range(10):
        answer(ada, right=True)
        answer(ben, right=True)
        answer(cem, right=False)
    before = labels(home, project)
    counted = {one.name: one for one in figures.team(Seat(home, OWNER, project)).people}
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
