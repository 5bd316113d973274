"""Images, and the map, in the browser."""

from __future__ import annotations

import io
import json
import re
import wave
from collections.abc import Callable

import pytest
from playwright.sync_api import Page, expect

from plcore import LabelTable, LearnerSettings
from tests.browser import room
from tests.browser.server import Server
from tests.browser.shared.conftest import OWNER
from tests.plcore.tables.zips import make_zip, picture
from tests.workflow.alike_world import alike_project
from workflow import importing
from workflow.answering import loop
from workflow.rows import instance_map
from workflow.seat import Seat
from workflow.server.home import Home

# Several pictures of a row, larger and brighter by key, its caption, small pictures in lists, a point of
# the map


pytestmark = pytest.mark.browser
ROWS = 6
SEEN = "A man cleans the window of a large house on day"


@pytest.fixture
def burst(home: Home, name: str) -> Seat:
    """A project whose rows have three pictures, 60, 61 and 62 pixels wide plus 60 for every row."""
    rows = "".join(
        f"r{n},wren|robin,{n}_0.png|{n}_1.png,{n}_2.png,North gate,day {n},{SEEN} {n}\n" for n in range(ROWS)
    )
    files = {f"{n}_{k}.png": picture(9 * n + k, size=(60 + k, 40)) for n in range(ROWS) for k in range(3)}
    read = importing.read_upload(
        make_zip({"t.csv": f"id,candidates,image,more,place,day,seen\n{rows}".encode(), **files})
    )
    chosen = {"caption": ["place", "day", "seen"], "image_features": True, "text": ""}
    table = importing.check(read, importing.adjusted(read.suggest_roles(), chosen, read.cells)).table
    assert table is not None
    seat = Seat(home, OWNER)
    return Seat(home, OWNER, importing.create(seat, name, table, LearnerSettings(n_neighbors=2, control_share=0)))


def width(page: Page, selector: str, wanted: int) -> None:
    expect(page.locator(selector)).to_have_js_property("naturalWidth", wanted)


def test_arrows_switch_pictures_on_card_and_in_zoom(page: Page, server: Server, burst: Seat) -> None:
    assert burst.project_id is not None
    room.annotate(page, server, burst.project_id)
    large, count = ".zoom .image", page.locator(".turning [role=status]")
    row = room.row_id(page)
    expect(page.locator(".rowname .caption")).to_have_text(f"North gate · day {row.removeprefix('r')}")
    expect(page.locator(".rowname .caption")).to_have_attribute("title", re.compile("^place: North gate\nday: day .$"))
    expect(page.locator(".context")).to_have_text(f"seen{SEEN} {row.removeprefix('r')}")
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
    width(page, large, 61)  # the card shows the last viewed picture
    assert room.row_id(page) == row

    room.answer(page, "wren")
    width(page, large, 60)
    expect(count).to_have_text("1 of 3 pictures")


def test_lists_show_thumbnails_and_map_point_its_row(page: Page, server: Server, burst: Seat) -> None:
    loop.submit_answer(burst, loop.ask_next(burst, 3).token, "is", ["wren"])
    for name in ("queue", "review"):
        page.goto(f"{server.base}/{name}?project={burst.project_id}")
        small = page.locator(".line .thumb img").first
        assert re.fullmatch(r"files/[0-9a-f]{64}\.png/small", small.get_attribute("src") or "")
        expect(small).not_to_have_js_property("naturalWidth", 0)
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


# Boxes of a detector


FOUND = (("1", 0.91, (0.1, 0.25, 0.3, 0.5)), ("2", 0.4, (0.7, 0.02, 0.28, 0.4)))
"""Category, confidence and place of the detection in each picture except the last, which was not processed."""


@pytest.fixture
def detected(home: Home, name: str) -> Seat:
    """A project from MegaDetector's JSON with its pictures."""
    images = [
        {
            "file": f"cam/{n}.jpg",
            "detections": [
                {"category": kind, "conf": score, "bbox": place, "classifications": [["0", 0.7], ["1", 0.2]]}
                for kind, score, place in FOUND
            ]
            if n < ROWS - 1
            else None,
        }
        for n in range(ROWS)
    ]
    whole = {
        "info": {"format_version": "1.4"},
        "detection_categories": {"1": "animal", "2": "<i>person</i>"},
        "classification_categories": {"0": "fox", "1": "deer"},
        "images": images,
    }
    files = {f"cam/{n}.jpg": picture(9 * n, "JPEG", (640, 480)) for n in range(ROWS)}
    read = importing.read_upload(make_zip({"md.json": json.dumps(whole).encode(), **files}))
    table = importing.check(read, read.suggest_roles()).table
    assert table is not None
    settings = LearnerSettings(n_neighbors=2, control_share=0)
    return Seat(home, OWNER, importing.create(Seat(home, OWNER), name, table, settings))


def boxes_are_in_place(page: Page, image: str) -> None:
    """Each box is where the file says, relative to the displayed picture, to within 2 pixels."""
    page.locator(f"{image}.there").wait_for()
    around = room.place_of(page.locator(image))
    drawn = page.locator(f"{image} + .boxes .box")
    expect(drawn).to_have_text(["<i>person</i> 0.40", "animal 0.91"])
    for one, (_, _, (left, top, width, height)) in zip(drawn.all(), reversed(FOUND), strict=True):
        found = room.place_of(one)
        assert (found["x"], found["y"], found["width"], found["height"]) == pytest.approx(
            (
                around["x"] + left * around["width"],
                around["y"] + top * around["height"],
                width * around["width"],
                height * around["height"],
            ),
            abs=2,
        )


@pytest.mark.parametrize("size", [(1280, 800), pytest.param((390, 844), marks=pytest.mark.proof)])
def test_boxes_are_drawn_at_detector_positions(
    page: Page, server: Server, detected: Seat, size: tuple[int, int]
) -> None:
    page.set_viewport_size({"width": size[0], "height": size[1]})
    loop.ask_next(detected, 1)
    room.annotate(page, server, detected.project_id or 0)
    boxes_are_in_place(page, ".zoom .image")
    page.locator(".zoom").click()
    zoomed = ".zooming .stage img"
    boxes_are_in_place(page, zoomed)
    page.keyboard.press("+")
    page.keyboard.press("ArrowRight")
    boxes_are_in_place(page, zoomed)
    page.keyboard.press("Shift+Z")
    expect(page.locator(".zooming .boxes")).to_be_hidden()
    expect(page.locator(".zooming .boxing")).to_have_attribute("aria-pressed", "false")
    page.keyboard.press("z")
    expect(page.locator(".zooming")).to_have_count(0)
    expect(page.locator(".zoom .boxes")).to_be_hidden()

    page.reload()
    switch = page.locator(".rowname .boxing")
    expect(switch).to_have_attribute("aria-pressed", "false")
    expect(page.locator(".zoom .boxes")).to_be_hidden()
    page.keyboard.press("Shift+Z")
    expect(switch).to_have_attribute("aria-pressed", "true")
    boxes_are_in_place(page, ".zoom .image")
    page.keyboard.press("?")
    expect(page.locator(".sheet dt", has_text="Shift + Z")).to_be_visible()


@pytest.mark.proof
def test_boxes_are_drawn_on_opened_row_of_queue(page: Page, server: Server, detected: Seat) -> None:
    loop.ask_next(detected, ROWS - 1)
    room.annotate(page, server, detected.project_id or 0)
    page.locator(".image.there").wait_for()
    expect(page.locator(".boxes, .boxing")).to_have_count(0)
    page.goto(f"{server.base}/queue?project={detected.project_id}")
    room.open_line(page, "cam/1.jpg")
    boxes_are_in_place(page, ".framed img")
    page.locator(".boxing").click()
    expect(page.locator(".framed .boxes")).to_be_hidden()


def test_many_features_are_folded_below_most_telling_ones(page: Page, server: Server, home: Home, name: str) -> None:
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
    expect(shut.locator(".feature")).to_have_count(0)
    shut.locator("summary").click()
    expect(shut.locator(".feature")).to_have_count(24 - telling.count())


# A zip of pictures and recordings, from the upload to the card, with the security headers of the real
# server


IMAGES_ROWS = 8


def recording() -> bytes:
    """A tenth of a second of silence."""
    out = io.BytesIO()
    with wave.open(out, "wb") as sound:
        sound.setnchannels(1)
        sound.setsampwidth(2)
        sound.setframerate(8000)
        sound.writeframes(bytes(1600))
    return out.getvalue()


def test_zip_of_pictures_is_imported_shown_and_played(
    page: Page, server: Server, errors_of: Callable[[Page], list[str]]
) -> None:
    errors, refused = errors_of(page), []
    page.on("console", lambda line: refused.append(line.text) if "Content Security Policy" in line.text else None)
    rows = "".join(f"r{n},wren|robin,pictures/{n}.jpg,calls/{n % 2}.wav\n" for n in range(IMAGES_ROWS))
    files = {f"pictures/{n}.jpg": picture(n, "JPEG", (120 + n, 90)) for n in range(IMAGES_ROWS)}
    files |= {f"calls/{n}.wav": recording() for n in range(2)}
    data = make_zip({"birds.csv": f"id,candidates,image,call\n{rows}".encode(), **files})
    page.goto(f"{server.base}/import")
    expect(page.get_by_text("Sounds or pictures in a zip")).to_be_visible()
    page.locator(room.TABLE_BOX).set_input_files({"name": "birds.zip", "mimeType": "application/zip", "buffer": data})
    expect(page.get_by_text("9 different files are named by the rows")).to_be_visible()
    page.get_by_role("button", name="Create project").click()
    page.locator(room.CARD).wait_for()

    number = int(room.row_id(page).removeprefix("r"))
    shown = page.locator("img.image")
    expect(shown).to_have_js_property("naturalWidth", 120 + number)
    assert shown.get_attribute("src").startswith("files/")
    box = shown.bounding_box()
    assert box is not None
    assert abs(box["width"] / box["height"] - (120 + number) / 90) < 0.02, "the box is the image, nothing next to it"
    expect(shown).to_have_css("background-color", "rgb(255, 255, 255)")  # behind transparent elements
    expect(page.locator("audio")).to_have_js_property("duration", 0.1)
    room.answer(page, "wren")
    expect(page.locator("img.image")).to_have_js_property(
        "naturalWidth", 120 + int(room.row_id(page).removeprefix("r"))
    )
    assert not errors
    assert not refused


# Map in a real browser: coloured as the address says, a click shows a row and asks it, a lasso asks many at
# once


def test_map_click_asks_row_and_lasso_asks_batch(
    page: Page, server: Server, home: Home, name: str, errors_of: Callable[[Page], list[str]]
) -> None:
    errors = errors_of(page)
    seat = alike_project(home, OWNER, name, control_share=0.0)
    project = seat.project_id
    assert instance_map.instance_map(seat).coming
    # Not left to the worker, which other tests' projects may keep busy for minutes.
    (wished,) = (one for one in instance_map.wishes(home) if one.project_id == project)
    instance_map.fulfil(home, wished)
    page.goto(f"{server.base}/map?project={project}")
    marks = page.locator(".js-plotly-plot .scatterlayer .trace")
    marks.first.wait_for()
    drawn_in = marks.first.locator(".point").first.evaluate("mark => getComputedStyle(mark).fill")
    assert "rgb(0, 0, " not in drawn_in, "the browser puts the theme's colour in the place of its name"
    page.get_by_role("radiogroup", name="Colour by").get_by_text("State").click()
    page.get_by_text("Open rows").wait_for()
    expect(page).to_have_url(re.compile("colour=State"))
    page.reload()
    page.get_by_text("Open rows").wait_for()
    marks.first.wait_for()
    page.get_by_text("(t-SNE)").wait_for()
    still_open = room.place_of(marks.last.locator(".point").last)  # they are drawn above all others
    page.mouse.click(still_open["x"] + still_open["width"] / 2, still_open["y"] + still_open["height"] / 2)
    ask = page.get_by_role("button", name="Ask this row")
    ask.wait_for()
    row = page.get_by_role("heading", name=re.compile("^Row r")).inner_text().removeprefix("Row ")
    ask.click()
    expect(page.locator(room.CARD)).to_have_attribute("data-row", row)

    page.goto(f"{server.base}/map?project={project}")
    marks.first.wait_for()
    page.locator(".js-plotly-plot").hover()
    page.locator("[data-title='Lasso Select']").click()
    plot = room.place_of(page.locator(".js-plotly-plot .nsewdrag"))
    left, top, right, low = 4, 40, plot["width"] - 4, plot["height"] - 4
    page.mouse.move(plot["x"] + left, plot["y"] + top)
    page.mouse.down()
    for x, y in ((right, top), (right, low), (left, low), (left, top)):
        page.mouse.move(plot["x"] + x, plot["y"] + y, steps=8)
    page.mouse.up()
    together = page.get_by_role("button", name=re.compile("^View [0-9]+ of them together$"))
    together.click()
    page.locator(".tiles").wait_for()
    assert page.locator(".tick").count() > 1
    assert not errors
