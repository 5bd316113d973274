"""Two people, two projects, one of them shared: what is not shared is not there, and a new role counts at once."""

from __future__ import annotations

import re
from typing import Any

import pytest
from playwright.sync_api import Browser, Page, expect

from plcore import LearnerSettings
from tests.browser import room
from tests.browser.server import Server
from tests.plcore.tables.zips import WAV, make_zip, picture
from tests.workflow.files.test_finding import CSV, FILES, kept
from workflow import importing
from workflow.people import members, team
from workflow.seat import Seat
from workflow.server.home import Home

pytestmark = pytest.mark.browser

OWNER, SHARED = 1, 1
GONE = "There is no project {} here, or nobody has shared it with you"


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
    box = page.get_by_role("combobox", name="Share with them")
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


def test_what_is_not_shared_is_not_there(page: Page, server: Server, browser: Browser, secret: int) -> None:
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


def test_who_becomes_a_viewer_is_stopped_at_the_next_press(
    page: Page, server: Server, browser: Browser, home: Home
) -> None:
    ada = invited(page, server, browser, "Ada")
    room.annotate(ada, server, SHARED)
    room.answer(ada, room.labels_on_screen(ada)[0])
    page.goto(f"{server.base}/settings?project={SHARED}")
    page.get_by_role("tab", name="Sharing").click()
    room.type_choice(page, page.get_by_role("combobox", name="Role of Ada"), "Viewer")
    expect(page.get_by_test_id("stToast")).to_contain_text("Ada is a viewer now")
    ada.keyboard.press(room.key_for(ada, room.labels_on_screen(ada)[0]))
    refused = ada.get_by_text("Only annotators, reviewers and the owner may do this; Ada is a viewer")
    expect(refused.first).to_be_visible()
    expect(ada.locator(room.CARD)).to_have_count(0)
    assert len(room.log_of(server, SHARED)) == 1
    ada.reload()
    expect(ada.get_by_text("This page is for those who answer.")).to_be_visible()
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


def test_a_group_is_made_and_added_at_once(page: Page, server: Server, home: Home) -> None:
    for name in ("Ada", "Bob"):
        team.make_link(Seat(home, OWNER), name)
    page.goto(f"{server.base}/people")
    page.get_by_role("textbox", name="Name of a new group").fill("Experts")
    for name in ("Ada", "Bob"):
        room.type_choice(page, page.get_by_role("combobox", name="People in it").last, name)
    page.keyboard.press("Escape")  # the list stays open for more
    page.get_by_role("button", name="Make the group").click()
    expect(page.get_by_test_id("stToast")).to_contain_text("Experts is made")
    page.goto(f"{server.base}/settings?project={SHARED}")
    page.get_by_role("tab", name="Sharing").click()
    page.get_by_text("Nobody else sees this project yet").wait_for()
    page.get_by_role("button", name="Add the group").click()
    expect(page.get_by_test_id("stToast")).to_contain_text("2 people added")
    found = {one.name: one.role for one in members.list_members(Seat(home, OWNER, SHARED)).members}
    assert found == {"owner": "owner", "Ada": "annotator", "Bob": "annotator"}
