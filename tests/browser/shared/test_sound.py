"""Recordings on the card: drawn, marked, played by keys, the next one loaded before it is asked."""

from __future__ import annotations

import re
from collections.abc import Callable
from typing import Any

import pytest
from playwright.sync_api import Browser, Locator, Page, Route, expect

from tests.browser import room
from tests.browser.server import Server
from tests.browser.shared.conftest import OWNER
from tests.workflow.sounds import files_project, segments_project, tone
from workflow.server.home import Home

pytestmark = pytest.mark.browser

AT = "audio => audio.currentTime"
AHEAD = """now => performance.getEntriesByType("resource")
    .map(({ name }) => name)
    .find(name => name.includes("spectrogram?") && !name.includes(now))"""


@pytest.fixture
def project(home: Home, name: str) -> int:
    return segments_project(home, OWNER, name)


@pytest.fixture
def hearing(page: Page, server: Server, project: int) -> Page:
    """The card with a segment of two seconds, drawn."""
    room.play_slowly(page)
    room.annotate(page, server, project)
    drawn(page)
    return page


def drawn(page: Page) -> Locator:
    picture = page.locator(".spectrogram.there")
    picture.wait_for()
    room.settle(page)
    return picture


def audio(page: Page) -> Locator:
    return page.locator("audio.sound")


def begins(page: Page) -> float:
    """The second at which the asked segment begins; it is two seconds long."""
    return float(int(room.row_id(page).removeprefix("r")) % 6 + 1)


def wait_until(page: Page, condition: str) -> None:
    """Wait until this is true of the recording."""
    expect(audio(page)).to_have_count(1)
    audio(page).evaluate(
        f"""audio => new Promise(done => {{
            const look = () => ({condition})(audio) ? done() : setTimeout(look, 10);
            look();
        }})"""
    )


def shades(page: Page) -> list[float]:
    """The mean lightness of each of eight bands of the picture, the highest frequencies first; 0 to 255."""
    return page.locator(".picture canvas").evaluate(
        """canvas => {
            const { data, width, height } = canvas.getContext("2d").getImageData(0, 0, canvas.width, canvas.height);
            const sums = Array(8).fill(0);
            for (let at = 0; at < data.length; at += 4)
                sums[Math.floor((at / 4 / width) * 8 / height)] += (data[at] + data[at + 1] + data[at + 2]) / 3;
            return sums.map(sum => (sum * 8) / (width * height));
        }"""
    )


def test_segment_is_drawn_and_marked(hearing: Page, errors_of: Callable[[Page], list[str]]) -> None:
    page, errors, refused = hearing, errors_of(hearing), []
    page.on("console", lambda line: refused.append(line.text) if "Content Security" in line.text else None)
    page.reload()
    picture, first = drawn(page), begins(page)
    bands = shades(page)
    tone_in = 5 if int(room.row_id(page).removeprefix("r")) % 2 == 0 else 6  # 3 kHz, 1.5 kHz of 8
    assert bands.index(min(bands)) + 1 in (tone_in, tone_in + 1)
    box = page.locator(".picture").bounding_box()
    mark = page.locator(".segment").bounding_box()
    assert box is not None
    assert mark is not None
    left = max(0.0, first - 2)
    width = first + 4 - left
    assert (mark["x"] - box["x"]) / box["width"] == pytest.approx((first - left) / width, abs=0.01)
    assert mark["width"] / box["width"] == pytest.approx(2 / width, abs=0.01)
    expect(page.locator(".segment")).to_have_text("asked")
    expect(page.locator(".rowname")).to_contain_text(f"{first:.1f} to {first + 2:.1f} s of 10 s")
    expect(page.locator(".khz")).to_contain_text("kHz")
    expect(page.locator(".seconds span").first).to_have_text(f"{left:g}")
    label = page.get_by_role("img", name="Spectrogram of row").get_attribute("aria-label")
    assert f"asked: {first:.1f} to {first + 2:.1f} s" in (label or "")
    height = picture.bounding_box()
    assert height is not None
    assert height["height"] > 300, "it gets the room of the page"
    foot = page.locator(".foot").bounding_box()
    player = page.locator(".player").bounding_box()
    assert foot is not None
    assert player is not None
    assert player["y"] + player["height"] <= foot["y"], "the player is in sight"
    assert not errors
    assert not refused


def test_answered_recording_is_released_and_next_plays(hearing: Page) -> None:
    """Its player would otherwise keep a connection to the server, and a browser has only six."""
    page, row = hearing, room.row_id(hearing)
    before = audio(page).element_handle()
    page.keyboard.press("p")
    wait_until(page, "audio => !audio.paused")
    page.keyboard.press("1")
    page.locator(f'.card:not([data-row="{row}"])').wait_for()
    drawn(page)
    empty = "audio => [audio.isConnected, audio.paused, audio.networkState === HTMLMediaElement.NETWORK_EMPTY]"
    assert before.evaluate(empty) == [False, True, True]
    page.keyboard.press("p")
    wait_until(page, "audio => !audio.paused")


def test_segment_plays_from_start_to_end_and_again(hearing: Page) -> None:
    page, first = hearing, begins(hearing)
    assert audio(page).evaluate(AT) == pytest.approx(first)
    cursor = page.locator(".cursor")
    here = cursor.bounding_box()
    page.keyboard.press("p")
    wait_until(page, f"audio => audio.currentTime > {first + 0.2}")
    expect(page.get_by_role("button", name="Pause")).to_be_visible()
    wait_until(page, f"audio => audio.currentTime > {first + 0.8}")
    there = cursor.bounding_box()
    assert here is not None
    assert there is not None
    assert there["x"] > here["x"] + 20, "it follows"
    page.keyboard.press("p")
    assert audio(page).evaluate("audio => audio.paused")
    stood = audio(page).evaluate(AT)
    page.keyboard.press("p")
    wait_until(page, "audio => audio.paused")
    ended = audio(page).evaluate(AT)
    assert ended > stood
    assert ended == pytest.approx(first + 2, abs=0.3), "it stops at the end of the segment"
    page.keyboard.press("p")  # from the begin of the segment
    wait_until(page, f"audio => !audio.paused && audio.currentTime < {first + 1}")
    wait_until(page, f"audio => audio.currentTime > {first + 0.5}")
    page.keyboard.press("r")
    wait_until(page, f"audio => !audio.paused && audio.currentTime < {first + 0.5}")
    assert room.token(page)


def test_click_seeks_and_arrows_step(hearing: Page) -> None:
    page, first = hearing, begins(hearing)
    left = max(0.0, first - 2)
    width = first + 4 - left
    box = page.locator(".picture").bounding_box()
    assert box is not None
    page.locator(".picture").click(position={"x": box["width"] * 0.25, "y": 40})
    wait_until(page, f"audio => Math.abs(audio.currentTime - {left + width / 4}) < 0.05")
    page.keyboard.press("ArrowRight")
    wait_until(page, f"audio => Math.abs(audio.currentTime - {left + width / 4 + 0.5}) < 0.05")
    page.keyboard.press("ArrowLeft")
    page.keyboard.press("ArrowLeft")
    wait_until(page, f"audio => Math.abs(audio.currentTime - {left + width / 4 - 0.5}) < 0.05")
    # Beyond the segment it plays on.
    page.locator(".picture").click(position={"x": box["width"] * (first + 2.2 - left) / width, "y": 40})
    page.keyboard.press("p")
    wait_until(page, f"audio => !audio.paused && audio.currentTime > {first + 2.5}")


@pytest.mark.proof
def test_browser_remembers_loop_speed_and_scale(hearing: Page) -> None:
    page, first = hearing, begins(hearing)
    shown = room.token(page)
    page.keyboard.press("l")
    page.keyboard.press("-")
    expect(page.locator(room.CARD).get_by_role("button", name="Loop")).to_have_attribute("aria-pressed", "true")
    assert audio(page).evaluate("audio => [audio.playbackRate, audio.preservesPitch]") == [0.5, False]
    plain = shades(page)
    with page.expect_response(lambda answer: "scale=log" in answer.url):
        page.get_by_role("button", name="Log scale").click()
    expect(page.locator(".khz")).to_contain_text("0.1")
    assert shades(page) != plain
    page.keyboard.press("-")
    assert audio(page).evaluate("audio => audio.playbackRate") == 1
    page.locator(".picture").click(position={"x": page.locator(".picture").bounding_box()["width"] * 0.6, "y": 9})
    audio(page).evaluate(f"audio => {{ audio.currentTime = {first + 1.7}; }}")
    page.keyboard.press("p")
    wait_until(page, f"audio => !audio.paused && audio.currentTime < {first + 1}")
    assert room.token(page) == shown, "none of these keys is an answer"
    page.reload()
    drawn(page)
    expect(page.locator(room.CARD).get_by_role("button", name="Loop")).to_have_attribute("aria-pressed", "true")
    expect(page.get_by_role("button", name="Log scale")).to_have_attribute("aria-pressed", "true")
    expect(page.get_by_role("button", name="Half speed")).to_have_attribute("aria-pressed", "false")


def test_next_recording_is_preloaded(page: Page, server: Server, project: int) -> None:
    room.annotate(page, server, project)
    drawn(page)
    now = f"start={begins(page):g}"
    ahead = room.until(page, AHEAD, now)  # The browser fetches it when it has time.
    room.press(page, "s")
    drawn(page)
    first = begins(page)
    assert f"start={first:g}&end={first + 2:g}" in ahead.replace(".0&", "&")
    taken = page.evaluate("url => performance.getEntriesByName(url).at(-1).transferSize", ahead)
    assert taken == 0, "it came from the browser's own cache"


def test_autoplay_plays_next_recording(hearing: Page) -> None:
    page = hearing
    assert audio(page).evaluate("audio => audio.paused")
    page.get_by_role("button", name="Autoplay", exact=True).click()
    room.press(page, "s")
    drawn(page)
    wait_until(page, "audio => !audio.paused")
    page.get_by_role("button", name="Autoplay", exact=True).click()
    room.press(page, "s")
    drawn(page)
    assert audio(page).evaluate("audio => audio.paused")


@pytest.mark.proof
def test_undrawable_recording_is_played_and_explained(page: Page, server: Server, project: int) -> None:
    page.route(
        "**/spectrogram?*",
        lambda route: route.fulfill(status=415, content_type="text/plain", body="It may be damaged."),
    )
    room.play_slowly(page)
    room.annotate(page, server, project)
    expect(page.get_by_text("No picture of this sound: It may be damaged.")).to_be_visible()
    expect(page.locator(".spectrogram")).to_have_count(0)
    assert audio(page).evaluate("audio => audio.controls")
    page.keyboard.press("p")
    wait_until(page, "audio => !audio.paused")
    room.press(page, "1")
    assert [one["kind"] for one in room.log_of(server, project)] == ["is"]


def test_long_recording_is_drawn_in_part_and_answered_by_key(page: Page, server: Server, home: Home, name: str) -> None:
    project = files_project(home, OWNER, {"long.wav": tone(70, rate=4_000, hertz=500)}, name)
    room.annotate(page, server, project)
    drawn(page)
    expect(page.locator(".rowname")).to_contain_text("1 min 10 s · the first 1 min 2 s are drawn")
    expect(page.locator(".segment")).to_have_count(0)
    assert audio(page).evaluate(AT) == 0
    assert page.locator("[data-key=r], [data-key=l]").all_inner_texts() == ["R\nAgain", "L\nLoop"]
    room.press(page, "1")
    assert [one["kind"] for one in room.log_of(server, project)] == ["is"]


@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_spectrogram_follows_theme(browser: Browser, signed_in: str, server: Server, project: int, scheme: Any) -> None:
    context = browser.new_context(storage_state=signed_in, color_scheme=scheme)
    try:
        page = context.new_page()
        room.annotate(page, server, project)
        drawn(page)
        bands = shades(page)
        loud, quiet = (max, min) if scheme == "dark" else (min, max)
        assert (quiet(bands) > 128) == (scheme == "light")
        assert abs(loud(bands) - quiet(bands)) > 5
    finally:
        context.close()


@pytest.mark.proof
def test_phone_shows_choices_below_spectrogram(browser: Browser, signed_in: str, server: Server, project: int) -> None:
    context = browser.new_context(storage_state=signed_in, viewport={"width": 390, "height": 844}, has_touch=True)
    try:
        page = context.new_page()
        room.annotate(page, server, project)
        drawn(page)
        box = page.locator(".instance").bounding_box()
        assert box is not None
        assert box["height"] <= 0.4 * 844
        assert page.evaluate("document.documentElement.scrollWidth") <= 390
        for button in page.locator(".player button, .settings button").all():
            size = button.bounding_box()
            assert size is not None
            assert size["height"] >= 43.5, button.inner_text()
    finally:
        context.close()


@pytest.mark.proof
def test_review_shows_recording(page: Page, server: Server, project: int) -> None:
    room.play_slowly(page)
    room.annotate(page, server, project)
    first = begins(page)
    row = room.row_id(page)
    room.press(page, "1")
    page.goto(f"{server.base}/review?project={project}")
    room.open_line(page, row)
    drawn(page)
    expect(page.locator(".segment")).to_have_text("asked")
    expect(page.locator(".rowname")).to_contain_text(f"{first:.1f} to {first + 2:.1f} s of 10 s")
    page.get_by_role("button", name="Play", exact=True).click()
    wait_until(page, f"audio => !audio.paused && audio.currentTime > {first + 0.2}")


@pytest.mark.proof
def test_list_plays_one_recording_at_a_time(page: Page, server: Server, project: int) -> None:
    asked: list[str] = []
    page.on("request", lambda one: asked.append(one.resource_type))
    room.play_slowly(page)
    page.goto(f"{server.base}/queue?project={project}")
    marks = page.get_by_role("button", name=re.compile("^Play row "))
    marks.first.focus()
    page.keyboard.press("Enter")  # by keyboard as by a click
    wait_until(page, "audio => !audio.paused && audio.currentTime > 0")
    page.evaluate("""() => {
        const player = document.querySelector('[class*="st-key-winnow_row_"]');
        window.first = [...player.querySelectorAll("*"), player].map(one => one.shadowRoot?.querySelector("audio"))
            .find(Boolean);
    }""")
    first = audio(page).get_attribute("aria-label")
    marks.nth(1).click()
    expect(page.locator(f"audio.sound[aria-label='{first}']")).to_have_count(0)  # both exist for a moment
    wait_until(page, "audio => !audio.paused && audio.currentTime > 0")
    assert page.evaluate("window.first.paused"), "one at a time"
    page.locator(".open").nth(1).click()  # the row stays, and playback continues
    page.get_by_role("button", name="Pause", exact=True).click()
    wait_until(page, "audio => audio.paused")

    second = audio(page).get_attribute("aria-label")
    asked.clear()
    page.locator(".open").nth(2).click()  # a line other than the marked one
    expect(page.locator(f"audio.sound[aria-label='{second}']")).to_have_count(0)
    expect(audio(page)).to_have_attribute("preload", "none")
    drawn(page)
    assert audio(page).evaluate("audio => audio.paused")
    assert "media" not in asked, "nothing of it comes before it is played"


@pytest.mark.proof
def test_late_spectrogram_of_old_scale_is_dropped(hearing: Page) -> None:
    page = hearing
    held: list[Route] = []
    page.route("**/spectrogram?scale=log*", lambda route: held.append(route))
    page.get_by_role("button", name="Log scale").click()
    expect(page.get_by_role("button", name="Log scale")).to_have_attribute("aria-pressed", "true")
    with page.expect_response(lambda answer: "scale=linear" in answer.url):
        page.get_by_role("button", name="Log scale").click()
    assert held
    with page.expect_response(lambda answer: "scale=log" in answer.url):
        held[0].continue_()
    page.wait_for_timeout(300)
    expect(page.locator(".khz")).not_to_contain_text("0.1")
