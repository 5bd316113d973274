"""Several pictures of a row, larger and brighter by key, its caption, small pictures in lists, a point of the map."""

from __future__ import annotations

import re

import pytest
from playwright.sync_api import Page, expect

from plcore import LabelTable, LearnerSettings
from tests.browser import room
from tests.browser.server import Server
from tests.browser.shared.conftest import OWNER
from tests.plcore.tables.zips import make_zip, picture
from workflow import importing
from workflow.answering import loop
from workflow.seat import Seat
from workflow.server.home import Home

pytestmark = pytest.mark.browser
ROWS = 6


@pytest.fixture
def burst(home: Home, name: str) -> Seat:
    """A project whose rows have three pictures, 60, 61 and 62 points wide and 60 and more for every row."""
    rows = "".join(f"r{n},wren|robin,{n}_0.png|{n}_1.png,{n}_2.png,North gate,day {n}\n" for n in range(ROWS))
    files = {f"{n}_{k}.png": picture(9 * n + k, size=(60 + k, 40)) for n in range(ROWS) for k in range(3)}
    read = importing.read_upload(
        make_zip({"t.csv": f"id,candidates,image,more,place,day\n{rows}".encode(), **files})
    )
    chosen = {"caption": ["place", "day"], "image_features": True, "text": ""}
    table = importing.check(read, importing.adjusted(read.suggest_roles(), chosen, read.cells)).table
    assert table is not None
    seat = Seat(home, OWNER)
    return Seat(
        home, OWNER, importing.create(seat, name, table, LearnerSettings(n_neighbors=2, control_share=0))
    )


def width(page: Page, selector: str, wanted: int) -> None:
    expect(page.locator(selector)).to_have_js_property("naturalWidth", wanted)


def test_the_arrows_turn_the_pictures_of_a_row_on_the_card_and_in_the_zoom(
    page: Page, server: Server, burst: Seat
) -> None:
    assert burst.project_id is not None
    room.annotate(page, server, burst.project_id)
    large, count = ".zoom .image", page.locator(".turning [role=status]")
    row = room.row_id(page)
    expect(page.locator(".rowname .caption")).to_have_text(f"North gate · day {row.removeprefix('r')}")
    expect(page.locator(".rowname .caption")).to_have_attribute(
        "title", re.compile("^place: North gate\nday: ")
    )
    width(page, large, 60)
    expect(count).to_have_text("1 of 3 pictures")
    page.keyboard.press("ArrowRight")
    width(page, large, 61)
    page.keyboard.press("ArrowLeft")
    page.keyboard.press("ArrowLeft")
    expect(count).to_have_text("3 of 3 pictures")
    expect(page.locator(large)).to_have_attribute("alt", f"Image of row {row}, 3 of 3 pictures")
    page.get_by_role("button", name="Next picture").click()
    width(page, large, 60)

    page.keyboard.press("z")
    zoomed = ".zooming .stage img"
    width(page, zoomed, 60)
    page.keyboard.press(".")
    width(page, zoomed, 61)
    page.keyboard.press("ArrowRight")
    width(page, zoomed, 62)
    page.keyboard.press("b")
    expect(page.locator(zoomed)).to_have_css("filter", "brightness(1.5)")
    page.keyboard.press("+")
    page.keyboard.press("ArrowRight")  # enlarged, the arrows move it
    width(page, zoomed, 62)
    page.keyboard.press(",")
    width(page, zoomed, 61)
    expect(page.locator(zoomed)).to_have_css("filter", "brightness(1.5)")
    for _ in range(3):
        page.keyboard.press("b")
    expect(page.locator(zoomed)).to_have_css("filter", "none")
    page.keyboard.press("z")
    expect(page.locator(".zooming")).to_have_count(0)
    width(page, large, 61)  # the card shows what was looked at last
    assert room.row_id(page) == row

    room.answer(page, "wren")
    width(page, large, 60)
    expect(count).to_have_text("1 of 3 pictures")


def test_the_lists_show_small_pictures_and_a_point_of_the_map_its_row(
    page: Page, server: Server, burst: Seat
) -> None:
    loop.submit_answer(burst, loop.ask_next(burst, 3).token, "is", ["wren"])
    for name in ("queue", "review"):
        page.goto(f"{server.base}/{name}?project={burst.project_id}")
        # The table is drawn on a canvas; what it holds for screen readers names the column.
        heading = page.locator("[data-testid=stDataFrame] [role=columnheader]", has_text="Picture")
        expect(heading).to_be_attached()
    page.goto(f"{server.base}/map?project={burst.project_id}")
    point = page.locator(".js-plotly-plot .scatterlayer .point").first
    point.wait_for()
    expect(page.get_by_text("Click a point to see its row")).to_be_visible()
    box = room.place_of(point)
    pointed = page.locator(".pointed")
    expect(pointed).to_be_hidden()
    page.mouse.move(box["x"] - 30, box["y"])
    page.mouse.move(box["x"] + box["width"] / 2, box["y"] + box["height"] / 2, steps=5)
    expect(pointed).to_be_visible()
    assert re.fullmatch(r"files/[0-9a-f]{64}\.png/small", pointed.locator("img").get_attribute("src") or "")
    expect(pointed.locator("img")).not_to_have_js_property("naturalWidth", 0)
    page.get_by_role("heading", name="Map").hover()
    expect(pointed).to_be_hidden()
    page.mouse.click(box["x"] + box["width"] / 2, box["y"] + box["height"] / 2)
    expect(page.get_by_text("Click a point to see its row")).to_have_count(0)
    pictures = page.locator("[data-testid=stMain] .pictures img")
    expect(pictures).to_have_count(3)
    expect(pictures.first).to_have_js_property("naturalWidth", 60)
    small = page.request.get(f"{server.base}/{pictures.first.get_attribute('src')}/small")
    assert (small.status, small.headers["content-type"]) == (200, "image/webp")


def test_many_features_stand_in_a_box_that_is_shut_under_those_that_tell(
    page: Page, server: Server, home: Home, name: str
) -> None:
    names = ",".join(f"f{k}" for k in range(24))
    rows = ""
    for n in range(30):
        labels = ("wren|robin", "robin", "wren")[n % 3]
        numbers = (90 * (n % 3 == 1) * (k < 4) + n * n * (k + 1) % 29 for k in range(24))
        rows += f"r{n},{labels},{','.join(map(str, numbers))}\n"
    table = LabelTable.read_csv(f"id,candidates,{names}\n{rows}".encode())
    number = importing.create(Seat(home, OWNER), name, table, LearnerSettings(n_neighbors=3))
    room.annotate(page, server, number)
    telling = page.locator(".feature.telling")
    expect(telling.first).to_be_visible()
    shut = page.locator("details.values")
    expect(shut).not_to_have_attribute("open", "")
    expect(shut.locator("summary")).to_have_text(f"{24 - telling.count()} more features")
    expect(shut.locator(".feature").first).to_be_hidden()
    shut.locator("summary").click()
    expect(shut.locator(".feature")).to_have_count(24 - telling.count())
