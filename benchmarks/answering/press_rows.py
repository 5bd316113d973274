"""A key press at a table of a million rows and at one of ten thousand: CPU on the server's side, and in a browser."""

from __future__ import annotations

import numpy as np

from benchmarks import homes
from benchmarks.answering import latency
from benchmarks.answering.press import FIRST, presses
from benchmarks.harness import Table, folder, page, percentiles, sized
from workflow.projects import managing

TITLE = "A key press, by the size of the table"
PACKAGES = ("streamlit", "numpy", "SQLAlchemy", "playwright")
ROWS = sized((10_000, 1_000_000), tiny=(500, 1_000))
PRESSES = sized(200, tiny=3)


def measure() -> str:
    table = Table("rows | CPU ms | of the first | p50 ms | p95 ms")
    with folder() as place:
        with homes.owner_of(place / "home") as seat:
            ids = [managing.create_project(seat, f"{n:,}", *homes.long_table(n)) for n in ROWS]
            going = [presses(seat.at(one), FIRST + PRESSES) for one in ids]
            each = [[next(one)[0] for one in going] for _ in range(FIRST + PRESSES)]  # the projects in turns
            cpu = np.median(each[FIRST:], axis=0)
        with homes.browsing(place / "home", latency.WATCH) as (server, view):
            for n, one, spent in zip(ROWS, ids, cpu, strict=True):
                times = latency.presses(view, f"{server.base}/annotate?project={one}", lambda: "1")
                table.add(f"{n:,}", f"{spent:.2f}", f"{spent / cpu[0]:.2f}", *percentiles(times, 50, 95))
    return page(
        f"""PL-KNN with effect scores, 16 features, 10 classes, three candidates a row. CPU of the thread that answers,
for the answer, the next question and the standing beside the card, SQLite, median of {PRESSES} presses, the projects in
turns in one process. Then {latency.PRESSES} answers by keyboard in Chromium on the same machine, from key to next
question. Target: at a million rows at most 1.3 times the CPU at ten thousand, and p95 at most 100 ms.""",
        table,
    )
