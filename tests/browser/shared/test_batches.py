"""Batches, groups and yes/no questions in the browser."""

from __future__ import annotations

import json
import re
from collections.abc import Callable
from contextlib import suppress
from typing import Any, Literal

import pytest
from playwright.sync_api import Browser, Error, Page, expect

from plcore import LabelTable, LearnerSettings, Roles
from tests.browser import room
from tests.browser.screenshots import SIZES
from tests.browser.server import Server
from tests.browser.shared.conftest import OWNER
from tests.browser.test_every_page import findings
from tests.workflow.alike_world import alike_project
from tests.workflow.world import small_frame
from workflow.answering import batches, loop
from workflow.answering.oracle import answer_for_me
from workflow.answering.room import RoomSettings, change_room
from workflow.kinds.one_label.forms import ANEW_AFTER, FROM_ANSWERS
from workflow.projects.classes import change_classes
from workflow.projects.managing import create_project
from workflow.seat import Seat
from workflow.server.home import Home

# Many rows at once, by keys: twelve pictures confirmed but one, undone; rows chosen in the queue;
# recordings


pytestmark = pytest.mark.browser


@pytest.fixture
def pictures(home: Home, name: str) -> Seat:
    return alike_project(home, OWNER, name)


def log_of(server: Server, seat: Seat) -> list[dict[str, Any]]:
    return room.log_of(server, seat.project_id or 0)


def see_rows(page: Page, rows: list[int]) -> None:
    """Wait until exactly these rows are on the screen: a page that gets no reply for seconds loads itself again."""
    expect(page.locator(".tick")).to_have_count(len(rows))
    assert rows_on_screen(page) == rows


def open_batch(page: Page, server: Server, seat: Seat) -> list[int]:
    """Press Shift+M on the card; returns the rows of the tiles."""
    room.annotate(page, server, seat.project_id or 0)
    shown = room.token(page)
    page.keyboard.press("Shift+M")
    room.wait_for_next(page, shown)
    page.locator(".tiles").wait_for()
    return rows_on_screen(page)


def rows_on_screen(page: Page) -> list[int]:
    found: list[int] = page.locator(".tick").evaluate_all("all => all.map(one => Number(one.dataset.row))")
    return found


def taken_out(page: Page) -> list[int]:
    found: list[int] = page.locator('.tick[aria-pressed="true"]').evaluate_all(
        "all => all.map(one => Number(one.dataset.row))"
    )
    return found


def test_batch_of_pictures_is_confirmed_except_one_and_undone(
    page: Page, server: Server, pictures: Seat, errors_of: Callable[[Page], list[str]]
) -> None:
    errors = errors_of(page)
    rows = open_batch(page, server, pictures)
    assert len(rows) == 12
    page.reload()
    see_rows(page, rows)
    expect(page.get_by_role("heading", name="Are these 12 all")).to_be_visible()
    expect(page.locator(".tile img").first).to_have_js_property("naturalWidth", 240)
    confirm = page.locator(".confirm")
    expect(confirm).to_contain_text("12 are")
    page.keyboard.press("c")
    assert taken_out(page) == [rows[2]]
    expect(confirm).to_contain_text("11 are")
    expect(confirm).to_contain_text("1 is asked alone")
    foot = confirm.bounding_box()
    assert foot is not None
    assert foot["y"] + foot["height"] <= 800, "without scrolling"
    room.press(page, "Enter")

    log = log_of(server, pictures)
    kept = [row for row in rows if row != rows[2]]
    assert [(entry["row"], entry["kind"]) for entry in log] == [(row, "is") for row in kept]
    assert len({entry["at"] for entry in log}) == 1
    expect(page.locator(".saved")).to_contain_text("Saved: 11 rows are")
    assert not set(rows) & set(rows_on_screen(page)), "the next ones are others"

    room.press(page, "u")
    expect(page.locator(".saved")).to_contain_text("your answers to 11 rows were withdrawn")
    see_rows(page, kept)
    log = log_of(server, pictures)
    assert sorted(entry["target_seq"] for entry in log[11:]) == [entry["seq"] for entry in log[:11]]

    shown = room.token(page)
    page.keyboard.press("Escape")
    room.wait_for_next(page, shown)
    page.locator(".choices").wait_for()
    page.keyboard.press("h")
    history = page.locator(".history li")
    expect(history).to_have_count(1)
    expect(history).to_contain_text("11 rows are")
    assert not errors


def test_rows_stay_excluded_when_card_is_redrawn(page: Page, server: Server, pictures: Seat) -> None:
    room.annotate(page, server, pictures.project_id or 0)
    room.press(page, "1")
    rows = open_batch(page, server, pictures)
    page.keyboard.press("c")
    page.keyboard.press("d")
    page.keyboard.press("d")
    expect(page.locator(".confirm")).to_contain_text("11 are")
    # A row is answered meanwhile, and a press is dealt with: the letters move.
    question = loop.ask_next(pictures, rows[0])
    loop.submit_answer(pictures, question.token, "is", [question.choices[0]])
    room.press(page, "u")
    see_rows(page, rows[1:])
    assert taken_out(page) == [rows[2]]
    expect(page.locator(".confirm")).to_contain_text("10 are")
    stored = len(log_of(server, pictures))
    room.press(page, "Enter")
    assert [entry["row"] for entry in log_of(server, pictures)[stored:]] == [rows[1], *rows[3:]]

    others = rows_on_screen(page)
    page.keyboard.press("a")
    assert taken_out(page) == [others[0]]
    room.press(page, "Escape")
    page.locator(".choices").wait_for()
    room.press(page, "Shift+M")
    page.locator(".tiles").wait_for()
    assert set(rows_on_screen(page)) & set(others)
    assert taken_out(page) == [], "who comes back begins again"


@pytest.mark.parametrize(
    ("shown", "held"),
    [
        ("image", "Image"),
        pytest.param("text", "it stood still and then went into the wood", marks=pytest.mark.proof),
        pytest.param("sound", "A recording", marks=pytest.mark.proof),
        pytest.param("numbers", "x -", marks=pytest.mark.proof),
    ],
)
def test_tile_content_has_accessible_description(
    page: Page, server: Server, home: Home, name: str, shown: str, held: str
) -> None:
    open_batch(page, server, alike_project(home, OWNER, name, shown))
    tick = page.locator(".tick").first
    expect(tick).to_have_accessible_name(re.compile(r"^Exclude row r\d+; the model's share"))
    expect(tick).to_have_accessible_description(re.compile(held))
    tick.focus()
    page.keyboard.press("Tab")
    if shown == "sound":
        page.keyboard.press("Tab")  # over its player
    expect(page.locator(".closer").first).to_be_focused()


def test_arrows_move_frame_and_space_excludes(page: Page, server: Server, pictures: Seat) -> None:
    rows = open_batch(page, server, pictures)
    for name in ("ArrowRight", "ArrowDown", "Space"):  # with four columns: the second tile of the second line
        page.keyboard.press(name)
    assert taken_out(page) == [rows[5]]
    page.keyboard.press("Space")
    page.keyboard.press("ArrowUp")
    page.keyboard.press("ArrowUp")  # there is no tile above
    page.keyboard.press("Space")
    assert taken_out(page) == [rows[1]]
    page.keyboard.press("z")
    expect(page.get_by_role("dialog")).to_have_attribute("aria-label", f"Image of row r{rows[1]}")
    page.keyboard.press("Escape")
    expect(page.get_by_role("dialog")).to_have_count(0)
    assert taken_out(page) == [rows[1]], "Escape closes what is open, and no more"
    assert log_of(server, pictures) == []


def test_rows_ticked_in_queue_are_confirmed_together(page: Page, server: Server, pictures: Seat) -> None:
    page.goto(f"{server.base}/queue?project={pictures.project_id}")
    ticked = ("Clear", "View 2 of them together", "View 3 of them together")
    for line, button in enumerate(ticked):
        page.get_by_role("checkbox", name=re.compile("^Select row ")).nth(line).check()
        expect(page.get_by_role("button", name=button)).to_be_enabled()
    page.get_by_role("button", name=ticked[-1]).click()
    page.locator(".tiles").wait_for()
    rows = rows_on_screen(page)
    assert len(rows) == 3
    expect(page.locator(".batch")).to_contain_text("you selected these rows")
    room.press(page, "Enter")
    assert sorted(entry["row"] for entry in log_of(server, pictures)) == sorted(rows)
    assert {entry["strategy"] for entry in log_of(server, pictures)} == {"selection"}


@pytest.mark.proof
def test_recordings_have_players_and_one_plays_at_a_time(page: Page, server: Server, home: Home, name: str) -> None:
    seat = alike_project(home, OWNER, name, "sound")
    room.play_slowly(page)
    open_batch(page, server, seat)
    playing = "all => all.map(one => !one.paused)"
    expect(page.locator(".tile canvas")).to_have_count(12)
    page.keyboard.press("p")
    expect(page.locator(".tile").first.locator(".go")).to_have_attribute("aria-label", "Pause")
    page.keyboard.press("ArrowRight")
    page.keyboard.press("p")
    expect(page.locator(".tile").nth(1).locator(".go")).to_have_attribute("aria-label", "Pause")
    assert sum(page.locator("audio").evaluate_all(playing)) == 1


def test_missing_batch_is_explained_and_left_by_enter(page: Page, server: Server, home: Home, name: str) -> None:
    seat = alike_project(home, OWNER, name, "numbers", test_share=0.0)  # the accuracy of the model is unknown
    assert isinstance(batches.next_batch(seat), batches.NoBatch)
    room.annotate(page, server, seat.project_id or 0)
    page.keyboard.press("Shift+M")
    expect(page.get_by_role("heading", name="No rows to confirm together now")).to_be_visible()
    expect(page.locator(".done")).to_contain_text("one by one")
    page.keyboard.press("Enter")
    page.locator(".choices").wait_for()


# Groups of classes: from a taxonomy to one press, by the keys and by the search


TREE = {
    "Corvus": ("Corvus corax", "Corvus corone", "Corvus frugilegus"),
    "Parus": ("Parus major", "Parus minor"),
    "Troglodytes": ("Troglodytes troglodytes", "Troglodytes hiemalis"),
}
GENUS = {species: genus for genus, all_ in TREE.items() for species in all_}


def export() -> bytes:
    """An export of Label Studio: each task has two crows and two tits as labels; another task has a wren."""
    crows, tits, wrens = TREE.values()

    def task(number: int) -> dict[str, object]:
        named = wrens if number > 20 else (*crows[:2], *tits)
        paths = [[GENUS[species], species] for species in (*named, *(crows[2:] if number == 21 else ()))]
        result = [{"from_name": "bird", "to_name": "text", "type": "taxonomy", "value": {"taxonomy": paths}}]
        return {
            "id": number,
            "data": {"text": f"a bird that was heard at place number {number}"},
            "annotations": [{"id": number, "completed_by": 1, "result": result}],
        }

    return json.dumps([task(number) for number in range(24)]).encode()


@pytest.fixture
def project(page: Page, server: Server, name: str) -> int:
    page.goto(f"{server.base}/import")
    page.locator(room.TABLE_BOX).set_input_files(
        {"name": f"{name}.json", "mimeType": "application/json", "buffer": export()}
    )
    page.get_by_role("button", name="Create project").wait_for()
    expect(page.get_by_text("Groups of the taxonomy can be answers, too")).to_be_visible()
    page.get_by_role("button", name="Create project").click()
    page.locator(room.CARD).wait_for()
    found = re.search(r"project=(\d+)", page.url)
    assert found is not None
    return int(found[1])


def said(server: Server, project: int) -> list[tuple[str, list[str]]]:
    """The entries about rows."""
    log = [one for one in room.log_of(server, project) if one["row"] >= 0]
    return [(one["kind"], json.loads(one["labels"])) for one in log]


def test_group_answer_is_one_press_and_one_undo(page: Page, server: Server, home: Home, project: int) -> None:
    four = sorted([*TREE["Corvus"][:2], *TREE["Parus"]])
    while sorted(room.labels_on_screen(page)) != four:
        room.press(page, "s")
    before, row = len(said(server, project)), room.row_id(page)

    def new() -> list[tuple[str, list[str]]]:
        return said(server, project)[before:]

    # W, and the key of a group: one entry with the candidates in it.
    page.keyboard.press("w")
    dialog = page.get_by_role("dialog", name="One of a group")
    expect(dialog.locator(".label")).to_have_text(["Corvus", "Parus"])
    page.keyboard.press("w")
    expect(dialog).to_have_count(0)
    page.keyboard.press("w")
    room.press(page, "1")
    assert [(kind, sorted(labels)) for kind, labels in new()] == [("among", four[:2])]
    expect(page.locator(".saved")).to_contain_text(f"Saved: row {row} is one of Corvus corax, Corvus corone")
    room.press(page, "u")
    assert [kind for kind, _ in new()] == ["among", "withdraw"]
    assert sorted(room.labels_on_screen(page)) == four

    # By the search, without accents: a group without candidates answers that none of them is right, and one of its
    # classes is.
    change_classes(Seat(home, OWNER, project), 0, "rename", ["Troglodytes hiemalis", "Zaunkönig"])
    page.reload()
    page.locator(room.CARD).wait_for()
    page.keyboard.press("0")
    option = page.get_by_role("option")
    page.keyboard.type("ZAUNKONIG")
    expect(option.first).to_contain_text("Zaunkönig")
    search = page.get_by_role("combobox", name="Search all classes")
    search.fill("troglodytes")
    expect(option.first).to_contain_text("group, none of the candidates: ")
    room.press(page, "Enter")
    assert [kind for kind, _ in new()[2:]] == ["none", "among"]
    assert sorted(new()[3][1]) == ["Troglodytes troglodytes", "Zaunkönig"]
    room.press(page, "u")
    assert [kind for kind, _ in new()[4:]] == ["withdraw", "withdraw"]
    page.keyboard.press("0")
    search.fill("parus")
    expect(option.first).to_contain_text("group: Parus major, Parus minor")
    room.press(page, "Enter")
    assert [(kind, sorted(labels)) for kind, labels in new()[6:]] == [("among", four[2:])]
    page.keyboard.press("?")
    expect(page.get_by_role("dialog", name="Keys")).to_contain_text("Wider: it is one of a group")


# A round in yes and no, by the keys


GROUPS = {"furry": ("cat", "dog"), "insect": ("ant", "bee")}


@pytest.fixture
def yes_no_project(home: Home, name: str) -> int:
    """Rows with all four classes as candidates, three of them well separated; the first 200 are answered."""
    frame = small_frame(FROM_ANSWERS + 20)
    frame["candidates"] = "ant|bee|cat|dog"
    roles = Roles(candidates="candidates", truth="truth", id="id", numbers=("x", "y"))
    settings = LearnerSettings(n_neighbors=4, test_share=0.0, strategy="random")
    project = create_project(Seat(home, OWNER), name, LabelTable.from_frame(frame, roles), settings)
    seat = Seat(home, OWNER, project)
    change_room(seat, RoomSettings(forms="cheapest", drawn_forms=False, groups=GROUPS))
    assert answer_for_me(seat, FROM_ANSWERS) == FROM_ANSWERS
    return project


def yes_no_said(server: Server, project: int) -> list[tuple[str, list[str], str]]:
    """Kind, labels and form of the entries for yes and no questions, and the following ones."""
    return [
        (one["kind"], json.loads(one["labels"]), json.loads(one["asked"] or '{"form": ""}')["form"])
        for one in room.log_of(server, project)[FROM_ANSWERS:]
    ]


def test_yes_no_questions_are_answered_by_keys(page: Page, server: Server, yes_no_project: int) -> None:
    # The cost of questions is estimated before the first answer: on a busy machine all of them take long.
    page.goto(f"{server.base}/settings?project={yes_no_project}")
    expect(page.get_by_text("Assumed until measured")).to_be_attached()
    room.annotate(page, server, yes_no_project)
    named = page.locator(".named")

    def next_yes_no() -> tuple[str, str]:
        """Skip to a yes or no question; returns the label it names, and its row."""
        while named.count() == 0:
            room.press(page, "s")
        expect(page.get_by_role("heading", name="Is it this one?")).to_be_visible()
        return named.inner_text(), room.row_id(page)

    first, row = next_yes_no()
    before = len(yes_no_said(server, yes_no_project))
    expect(page.locator(".verdict .label")).to_have_text(["Yes", "No"])

    assert findings(page) == []

    # No, by letter: the row stays, without that candidate. Then yes, by digit.
    page.keyboard.press("Enter")  # which is not an answer
    room.press(page, "n")
    assert room.row_id(page) == row
    expect(page.locator(".saved")).to_contain_text(f"Saved: row {row} is not {first}")
    if named.count() == 0:  # among three similar rows, "which" may be more informative
        assert first not in room.labels_on_screen(page)
    room.press(page, "1")
    assert room.row_id(page) != row
    no, yes = yes_no_said(server, yes_no_project)[before:]
    assert no == ("not", [first], "is")
    assert yes[0] == "is"
    assert first not in yes[1]
    room.press(page, "u")
    assert room.row_id(page) == row
    room.press(page, "s")

    # Yes by letter, no by digit.
    likely, _ = next_yes_no()
    room.press(page, "y")
    assert yes_no_said(server, yes_no_project)[-1] == ("is", [likely], "is")
    likely, _ = next_yes_no()
    room.press(page, "2")
    assert yes_no_said(server, yes_no_project)[-1] == ("not", [likely], "is")
    room.press(page, "s")

    # One key shows all choices, on their own keys; the log has how it was asked.
    next_yes_no()
    page.keyboard.press("m")  # has no effect here
    page.keyboard.press("a")
    expect(page.get_by_role("heading", name="Which one is it?")).to_be_visible()
    expect(page.locator(".choice[data-label]")).to_have_count(4)
    chosen = page.locator(".choice[data-key='2']").get_attribute("data-label")
    room.press(page, "2")
    assert yes_no_said(server, yes_no_project)[-1] == ("is", [chosen], "is")

    # Constant parts.
    next_yes_no()
    page.keyboard.press("0")
    page.get_by_role("dialog", name="Find a class").wait_for()
    page.keyboard.press("Escape")
    expect(page.get_by_role("dialog")).to_have_count(0)
    expect(page.get_by_test_id("stApp")).to_have_attribute("data-test-script-state", "notRunning")
    dialog = page.get_by_role("dialog", name="One of a group")
    for _ in range(5):  # on a busy machine, a late redraw of the page may close a panel that a key has opened
        page.keyboard.press("w")
        with suppress(Error):
            dialog.wait_for(timeout=5000)
            break
    expect(dialog.locator(".label")).to_have_text(["furry", "insect"])
    room.press(page, "1")
    assert yes_no_said(server, yes_no_project)[-1] == ("among", ["cat", "dog"], "is")
    next_yes_no()
    room.press(page, "c")
    assert yes_no_said(server, yes_no_project)[-1][0] == "unsure"
    page.keyboard.press("?")
    expect(page.get_by_role("dialog", name="Keys")).to_contain_text("A shows all choices")
    assert len(yes_no_said(server, yes_no_project)) < ANEW_AFTER, "or how long they took here would tell"


@pytest.mark.parametrize(("suffix", "scheme"), [pytest.param("", "light", marks=pytest.mark.proof), ("-phone", "dark")])
def test_batch_page_is_accessible(
    browser: Browser, server: Server, home: Home, signed_in: str, suffix: str, scheme: Literal["light", "dark"]
) -> None:
    kinds = ("image", "sound", "numbers")
    projects = {shown: alike_project(home, OWNER, f"{shown}, {scheme}", shown).project_id for shown in kinds}
    wrong = {}
    context = browser.new_context(viewport=SIZES[suffix], color_scheme=scheme, storage_state=signed_in)  # type: ignore[arg-type]
    page = context.new_page()
    for shown, project in projects.items():
        room.annotate(page, server, project or 0)
        page.keyboard.press("Shift+M")
        page.locator(".tiles").wait_for()
        page.keyboard.press("b")
        if found := findings(page):
            wrong[shown] = found
    context.close()
    assert not wrong, "\n".join(f"{where}: {what}" for where, found in wrong.items() for what in found)
