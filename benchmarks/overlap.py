"""A press with several people at a row: what it costs beside one answer a row, until many rows are answered."""

from __future__ import annotations

import tempfile
import time
from pathlib import Path

import numpy as np

from benchmarks import report
from plcore.loop import EntryKind
from tests.workflow.crowd import crowd_project
from workflow import answering
from workflow.home import open_home
from workflow.seat import Seat
from workflow.settings import Settings

ROWS, ANSWERED, PEOPLE = 4_000, 2_000, 20
MEASURED = 500  # presses, the last ones
RULES = ((1, "latest"), (3, "majority"), (3, "dawid-skene"))


def press_until(overlap: int, fold: str) -> np.ndarray:
    """Seconds of every press, from the answer to the person's next question, until ANSWERED rows have their answers.

    People take turns, as they come: each press is the next person's.
    """
    with tempfile.TemporaryDirectory() as folder:
        home = open_home(Settings.from_environment({"WINNOW_HOME": str(Path(folder) / "home")}))
        project, people = crowd_project(home, PEOPLE, ROWS, overlap=overlap, fold=fold)
        seats = [Seat(home, person, project) for person in people]
        shown = [answering.next_question(seat) for seat in seats]
        rng, times = np.random.default_rng(0), []
        for number in range(ANSWERED * overlap):
            at = number % PEOPLE
            question = shown[at]
            label = question.choices[int(rng.random() < 0.2)]
            begun = time.perf_counter()
            answering.submit_answer(seats[at], question.token, EntryKind.IS, [label])
            shown[at] = answering.next_question(seats[at])
            times.append(time.perf_counter() - begun)
        home.close()
    return np.array(times)


def main() -> None:
    lines = []
    for overlap, fold in RULES:
        times = press_until(overlap, fold)
        last = 1000 * times[-MEASURED:]
        found = " | ".join(f"{np.percentile(last, at):.1f}" for at in (50, 95, 100))
        lines.append(f"| {overlap} | {fold} | {len(times):,} | {len(times) / times.sum():.0f} | {found} |")
    report.write(
        "overlap",
        "Presses with several people at a row",
        f"""
{PEOPLE} people take turns at a project of {ROWS:,} rows, 3 classes, PL-KNN, on SQLite, until {ANSWERED:,} rows
have their answers; no browser. A press is the answer, stored, and the person's next question. The rate is of all
presses, the times are of the last {MEASURED}.

| people a row | rule | presses | a second | p50 ms | p95 ms | max ms |
|---|---|---|---|---|---|---|
"""
        + "\n".join(lines)
        + "\n",
        ("numpy", "SQLAlchemy"),
    )


if __name__ == "__main__":
    main()
