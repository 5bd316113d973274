"""A zip of pictures and recordings, from the upload to the card, with the security headers of the real server."""

from __future__ import annotations

import io
import wave
from collections.abc import Callable

import pytest
from playwright.sync_api import Page, expect

from tests.browser import room
from tests.browser.server import Server
from tests.plcore.tables.zips import make_zip, picture

pytestmark = pytest.mark.browser
ROWS = 8


def recording() -> bytes:
    """A tenth of a second of silence."""
    out = io.BytesIO()
    with wave.open(out, "wb") as sound:
        sound.setnchannels(1)
        sound.setsampwidth(2)
        sound.setframerate(8000)
        sound.writeframes(bytes(1600))
    return out.getvalue()


def test_a_zip_of_pictures_is_imported_shown_and_played(
    page: Page, server: Server, errors_of: Callable[[Page], list[str]]
) -> None:
    errors, refused = errors_of(page), []
    page.on(
        "console", lambda line: refused.append(line.text) if "Content Security Policy" in line.text else None
    )
    rows = "".join(f"r{n},wren|robin,pictures/{n}.jpg,calls/{n % 2}.wav\n" for n in range(ROWS))
    files = {f"pictures/{n}.jpg": picture(n, "JPEG", (120 + n, 90)) for n in range(ROWS)}
    files |= {f"calls/{n}.wav": recording() for n in range(2)}
    data = make_zip({"birds.csv": f"id,candidates,image,call\n{rows}".encode(), **files})
    page.goto(f"{server.base}/import")
    expect(page.get_by_text("Sounds or pictures in a zip")).to_be_visible()
    page.locator(room.TABLE_BOX).set_input_files(
        {"name": "birds.zip", "mimeType": "application/zip", "buffer": data}
    )
    expect(page.get_by_text("9 different files are named by the rows")).to_be_visible()
    page.get_by_role("button", name="Create project").click()
    page.locator(room.CARD).wait_for()

    number = int(room.row_id(page).removeprefix("r"))
    shown = page.locator("img.image")
    expect(shown).to_have_js_property("naturalWidth", 120 + number)
    assert shown.get_attribute("src").startswith("files/")
    box = shown.bounding_box()
    assert box is not None
    assert abs(box["width"] / box["height"] - (120 + number) / 90) < 0.02, (
        "the box is the image, nothing beside it"
    )
    expect(shown).to_have_css("background-color", "rgb(255, 255, 255)")  # under what is transparent
    expect(page.locator("audio")).to_have_js_property("duration", 0.1)
    room.answer(page, "wren")
    expect(page.locator("img.image")).to_have_js_property(
        "naturalWidth", 120 + int(room.row_id(page).removeprefix("r"))
    )
    assert not errors
    assert not refused
