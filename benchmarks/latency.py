"""Key press to next question, in a real browser against a real server, on BirdSong.

Measured inside the page: from the keydown event to the first frame in which the card carries the next token.
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
from tests.conftest import DATA

PRESSES = 100

# An init script, so that its listener comes before the card's own, which lets no later one see the key.
WATCH = """
(() => {
  window.times = [];
  const card = () => {
    for (const node of document.querySelectorAll("*")) {
      const found = node.shadowRoot?.querySelector(".card");
      if (found) return found;
    }
  };
  window.addEventListener("keydown", (event) => {
    const begun = performance.now(), token = card()?.dataset.token;
    const look = () => {
      const now = card();
      if (now && now.dataset.token !== token) window.times.push(performance.now() - begun);
      else requestAnimationFrame(look);
    };
    requestAnimationFrame(look);
  }, true);
})();
"""


def measure(page: Page, truth: dict[str, str]) -> np.ndarray:
    """Milliseconds of PRESSES answers given as an oracle would, half a second apart."""
    for _ in range(PRESSES):
        room.answer(page, truth[room.row_id(page)])
        page.wait_for_timeout(500)
    return np.array(page.evaluate("window.times"))


def main() -> None:
    frame = room.birdsong_frame(DATA)
    truth = dict(zip(frame.id, frame.bird, strict=True))
    with tempfile.TemporaryDirectory() as folder, sync_playwright() as playwright:
        server = Server(Path(folder) / "home").start()
        try:
            browser = playwright.chromium.launch(executable_path=obtain(), args=ARGUMENTS)
            page = browser.new_page(viewport={"width": 1280, "height": 800})
            page.add_init_script(WATCH)
            page.goto(server.link)
            room.import_csv(page, server.base, frame, "birdsong")
            times = measure(page, truth)
            browser.close()
        finally:
            server.stop()
    assert len(times) == PRESSES
    p50, p95 = np.percentile(times, [50, 95])
    report.write(
        "latency",
        "Key press to next question",
        f"""
BirdSong (4,998 rows, 38 features, 13 classes; 3,332 trained on), Chromium headless on the same machine as the
server, {PRESSES} answers half a second apart. Each answer is one synchronous commit to SQLite before the next
question is shown. Target: p95 at most 100 ms.

| presses | p50 ms | p95 ms | max ms |
|---|---|---|---|
| {PRESSES} | {p50:.0f} | {p95:.0f} | {times.max():.0f} |
""",
        ("streamlit", "numpy", "SQLAlchemy", "playwright"),
    )


if __name__ == "__main__":
    main()
