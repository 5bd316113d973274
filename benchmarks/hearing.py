"""From an answer to the next recording drawn, in a real browser: thirty detections of a detector's table, as a bird
owner answers them (`tests/browser/test_bird_owner.py`).

Measured inside the page, from the press to the next question's spectrogram on the canvas. The next one is fetched while
the person listens: three seconds of it, or, for the line below, none.
"""

from __future__ import annotations

import tempfile
from pathlib import Path

import numpy as np
from playwright.sync_api import Page, sync_playwright

from benchmarks import report
from tests.browser import room
from tests.browser.conftest import ARGUMENTS
from tests.browser.obtain import obtain
from tests.browser.server import Server
from tests.browser.test_bird_owner import packed, raven

QUESTIONS = 15
LISTENED = (3_000, 0)  # ms before each answer

DRAWN = """
(key) => new Promise((resolve, reject) => {
  setTimeout(() => reject(new Error("not drawn within half a minute")), 30000);
  const inside = (css) => {
    for (const node of document.querySelectorAll("*")) {
      const found = node.shadowRoot?.querySelector(css);
      if (found) return found;
    }
    return document.querySelector(css);
  };
  const before = inside(".card").dataset.token;
  const begun = performance.now();
  const look = () => {
    const card = inside(".card");
    if (card && card.dataset.token !== before && inside(".spectrogram.there")) resolve(performance.now() - begun);
    else requestAnimationFrame(look);
  };
  window.dispatchEvent(new KeyboardEvent("keydown", { key, bubbles: true, cancelable: true, composed: true }));
  look();
})
"""


def main() -> None:
    with tempfile.TemporaryDirectory() as folder, sync_playwright() as playwright:
        server = Server(Path(folder) / "home").start()
        browser = playwright.chromium.launch(executable_path=obtain(), args=ARGUMENTS)
        try:
            page = browser.new_page(viewport={"width": 1280, "height": 800})
            page.goto(server.link)
            begin(page, server)
            rows = [line(page, listened) for listened in LISTENED]
        finally:
            browser.close()
            server.stop()
    head = "| listened before the answer | median, ms | slowest of 15, ms |\n|---|---:|---:|\n"
    target = "The target is 300 ms after the first, where the next one could be fetched ahead."
    report.write(
        "hearing",
        "From an answer to the next spectrogram",
        head + "\n".join(rows) + f"\n\n{target}",
        ("streamlit", "scipy", "soundfile"),
    )


def begin(page: Page, server: Server) -> None:
    """Import the table and its recordings; look at the first question."""
    page.goto(f"{server.base}/import")
    page.locator(room.TABLE_BOX).set_input_files(
        {"name": "Dawn chorus.zip", "mimeType": "application/zip", "buffer": packed(raven())}
    )
    page.get_by_role("button", name="Create project").click(timeout=60_000)
    page.locator(room.CARD).wait_for(timeout=60_000)
    page.locator(".spectrogram.there").wait_for()
    page.evaluate(DRAWN, "1")  # the first waits for what a server makes once


def line(page: Page, listened: int) -> str:
    times = []
    for _ in range(QUESTIONS):
        page.wait_for_timeout(listened)
        times.append(float(page.evaluate(DRAWN, "1")))
    return f"| {listened / 1000:g} s | {np.median(times):.0f} | {max(times):.0f} |"


if __name__ == "__main__":
    main()
