"""Passwords, links made again, browsers ended and the audit, as an owner and an annotator see them."""

from __future__ import annotations

from collections.abc import Iterator

import pytest
from playwright.sync_api import Browser, BrowserContext, Page, expect

from tests.browser import room
from tests.browser.server import Server
from workflow.people import members
from workflow.seat import Seat
from workflow.server.home import Home

pytestmark = pytest.mark.browser

GOOD = "four plain words here"


@pytest.fixture
def others(context: BrowserContext) -> Iterator[BrowserContext]:
    """The browser of somebody else."""
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
    """Somebody's page, signed in by a link."""
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


def test_a_password_is_set_and_signs_in_again_and_a_wrong_one_does_not(
    page: Page, server: Server, others: BrowserContext
) -> None:
    ada = follow(others, invite(page, server, "Ada"))
    ada.goto(f"{server.base}/account")
    expect(ada.get_by_text("this one")).to_be_visible()
    ada.get_by_label("New password", exact=True).fill(GOOD)
    ada.get_by_label("New password again").fill("something else")
    ada.get_by_role("button", name="Set the password").click()
    expect(ada.get_by_text("The two passwords differ")).to_be_visible()
    expect(ada.get_by_label("New password", exact=True)).to_have_value("")
    ada.get_by_label("New password", exact=True).fill(GOOD)
    ada.get_by_label("New password again").fill(GOOD)
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


def test_a_link_is_made_again_with_one_press_and_says_that_others_cannot_reach_it(
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
    expect(page.get_by_role("button", name="End open links")).to_have_count(0)
    bea.context.clear_cookies()
    bea.goto(second)
    expect(bea.get_by_text("This link does not work")).to_be_visible()


@pytest.mark.parametrize("ended_by", ["the owner", "the person", "ending the access"])
def test_a_page_whose_sign_in_has_ended_stops_at_its_next_press_and_says_so(
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
        what, then = ("Browsers", "Sign out") if ended_by == "the owner" else ("End access", "End it now")
        page.get_by_role("button", name=what).last.click()
        page.get_by_test_id("stPopoverBody").get_by_role("button", name=then).click()
        expect(page.get_by_text("not signed in").or_(page.get_by_text("access ended"))).to_be_visible()
    ada.keyboard.press(ada.locator(".choice").first.get_attribute("data-key") or "")
    expect(ada.get_by_text("This browser was signed out")).to_be_visible()
    assert len(room.log_of(server, 1)) == before, "the press was not stored, as the page says"
