"""After a restart with a long log: the first question, Progress, the answer log as a file, a press."""

from __future__ import annotations

import io
from collections.abc import Callable

import numpy as np

from benchmarks import homes
from benchmarks.answering.growing import add_paired
from benchmarks.answering.press import presses
from benchmarks.harness import Table, clocked, folder, load_average, page, sized, trees
from workflow.answering import loop
from workflow.exporting import files
from workflow.projects import progress

TITLE = "After a restart with a long log"
PACKAGES = ("SQLAlchemy", "numpy", "numba")
LENGTHS = sized((20_000, 200_000), tiny=(50,))
PRESSES = sized(20, tiny=2)
WHAT = (
    "first question", "Progress", "Progress once more", "Export: the answer log", "a press",
    "first question after another restart",
)  # fmt: skip


def one_run(length: int) -> list[float]:
    """In a process of its own: CPU seconds of each of WHAT."""
    with folder() as place:
        with homes.owner_of(place) as owner:
            number = homes.project(owner, "long", length).project_id or 0
        with homes.owner_of(place) as owner:
            seat = owner.at(number)
            choice = files.ExportChoice("log", files.ALL, files.ABOVE)
            steps: tuple[Callable[[], object], ...] = (
                lambda: loop.next_question(seat),
                lambda: progress.read_progress(seat),
                lambda: progress.read_progress(seat),
                lambda: files.take(seat, choice).write(io.BytesIO(), lambda _done: None),
            )
            found = [clocked(step)[1] for step in steps]
            found.append(float(np.median([sum(one[:2]) for one in presses(seat, PRESSES)])) / 1e3)

        def again() -> None:
            with homes.owner_of(place) as owner:
                loop.next_question(owner.at(number))

        return [*found, clocked(again)[1]]


def measure() -> str:
    table = Table("entries | what | CPU seconds" + " | before | times less" * (len(trees()) > 1))
    for length in LENGTHS:
        add_paired(table, WHAT, f"{length:,}", one_run, length, digits=3)
    return page(
        f"""CPU seconds of the process; one label, PL-KNN, {homes.LONG_ROWS:,} rows, three candidates each. Of 200,000
entries most answer a row once more. Least of three runs. *A press*: the median of {PRESSES}, with the next question and
all that the page asks beside. *Another restart*: the first has left a checkpoint. {load_average()}""",
        table,
    )
