"""From an answer to the next recording drawn, in a real browser: thirty detections of a detector's table.

As a bird owner answers them (`tests/browser/test_owner.py`), from the press to the next question's spectrogram on
the canvas. The next one is fetched while the person listens.
"""

from __future__ import annotations

import numpy as np

from benchmarks import homes
from benchmarks.harness import Table, folder, page, sized
from tests.browser import room
from tests.browser.test_owner import packed, raven

TITLE = "From an answer to the next spectrogram"
PACKAGES = ("streamlit", "scipy", "soundfile")
QUESTIONS = sized(15, tiny=2)
LISTENED = sized((3_000, 0), tiny=(0,))  # ms before each answer

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


def measure() -> str:
    table = Table(f"listened before the answer | median, ms | slowest of {QUESTIONS}, ms")
    with folder() as place, homes.browsing(place / "home") as (server, view):
        view.goto(f"{server.base}/import")
        file = {"name": "Dawn chorus.zip", "mimeType": "application/zip", "buffer": packed(raven())}
        view.locator(room.TABLE_BOX).set_input_files(file)
        view.get_by_role("button", name="Create project").click(timeout=60_000)
        view.locator(room.CARD).wait_for(timeout=60_000)
        view.locator(".spectrogram.there").wait_for()
        view.evaluate(DRAWN, "1")  # the first waits for what a server makes once
        for listened in LISTENED:
            times = []
            for _ in range(QUESTIONS):
                view.wait_for_timeout(listened)
                times.append(float(view.evaluate(DRAWN, "1")))
            table.add(f"{listened / 1000:g} s", f"{np.median(times):.0f}", f"{max(times):.0f}")
    return page(table, "The target is 300 ms after the first, where the next one could be fetched ahead.")
