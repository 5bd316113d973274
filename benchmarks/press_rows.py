"""A key press at a table of a million rows and at one of ten thousand: CPU on the server's side, and in a browser."""

from __future__ import annotations

import tempfile
from pathlib import Path

import numpy as np
from playwright.sync_api import sync_playwright

from benchmarks import latency, report
from benchmarks.press_run import FIRST, long_table, presses
from tests.browser import room
from tests.browser.conftest import ARGUMENTS
from tests.browser.obtain import obtain
from tests.browser.server import Server
from workflow import projects
from workflow.home import Home, open_home
from workflow.people import team
from workflow.seat import Seat
from workflow.settings import Settings

ROWS = 10_000, 1_000_000
PRESSES = 200


def cpu_of(home: Home, ids: list[int]) -> np.ndarray:
    """(PRESSES, sizes) CPU ms of each press, the projects in turns."""
    seat = Seat(home, team.ensure_owner(home).id)
    going = [presses(seat.at(one), FIRST + PRESSES) for one in ids]
    return np.array([[next(one)[0] for one in going] for _ in range(FIRST + PRESSES)])[FIRST:]


def in_browser(folder: Path, ids: list[int]) -> list[np.ndarray]:
    """Milliseconds from key to next question, of each project."""
    server = Server(folder).start()
    try:
        with sync_playwright() as playwright:
            browser = playwright.chromium.launch(executable_path=obtain(), args=ARGUMENTS)
            page = browser.new_page(viewport={"width": 1280, "height": 800})
            page.add_init_script(latency.WATCH)
            page.goto(server.link)
            found = []
            for one in ids:
                page.goto(f"{server.base}/annotate?project={one}")
                page.locator(room.CARD).wait_for(timeout=120_000)
                found.append(latency.measure(page, lambda: "1"))
            browser.close()
            return found
    finally:
        server.stop()


def main() -> None:
    with tempfile.TemporaryDirectory() as folder:
        home = open_home(Settings.from_environment({"WINNOW_HOME": str(Path(folder) / "home")}))
        try:
            seat = Seat(home, team.ensure_owner(home).id)
            ids = [projects.create_project(seat, f"{n:,}", *long_table(n)) for n in ROWS]
            cpu = np.median(cpu_of(home, ids), axis=0)
        finally:
            home.close()
        times = in_browser(Path(folder) / "home", ids)
    lines = [
        f"| {n:,} | {cpu[place]:.2f} | {cpu[place] / cpu[0]:.2f} | {np.percentile(times[place], 50):.0f} | "
        f"{np.percentile(times[place], 95):.0f} |"
        for place, n in enumerate(ROWS)
    ]
    report.write(
        "press_rows",
        "A key press, by the size of the table",
        f"""
PL-KNN with effect scores, 16 features, 10 classes, three candidates a row. CPU of the thread that answers, for the
answer, the next question and the standing beside the card, SQLite, median of {PRESSES} presses, the projects in turns
in one process. Then {latency.PRESSES} answers by keyboard in Chromium on the same machine, from key to next question.
Target: at a million rows at most 1.3 times the CPU at ten thousand, and p95 at most 100 ms.

| rows | CPU ms | of the first | p50 ms | p95 ms |
|--:|--:|--:|--:|--:|
"""
        + "\n".join(lines)
        + "\n",
        ("streamlit", "numpy", "SQLAlchemy", "playwright"),
    )


if __name__ == "__main__":
    main()
