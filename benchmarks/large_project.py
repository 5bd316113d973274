"""A project of many rows, from Parquet parts to labels in a file: what every step costs, and what the opened one holds.

`python -m benchmarks large_project` takes up to 300,000 rows, and with neighbours that are drawn up to 3,000,000.
`python -m benchmarks.large_project --rows 20000` takes as many as one likes, `--drawn` with drawn neighbours, and
writes no result. `--folder PLACE` keeps what is measured there: the same command goes on where another was stopped.
"""

from __future__ import annotations

import argparse
import json
import os
import shutil
import statistics
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any, NamedTuple

import pyarrow.parquet as pq

from benchmarks import report
from benchmarks.cluster import BLOCK, CANDIDATES, CLASSES, PAGE, TICK, D, children_of
from benchmarks.import_rows import drawn_graph, resident
from benchmarks.ten_million import write_table
from plcore.loop.one_label import asking

ROWS = 100_000, 300_000
DRAWN = 100_000, 300_000, 1_000_000, 3_000_000
"""Sizes with neighbours that are drawn at random: finding them is measured by `neighbors` and `cluster`."""
ENOUGH, MORE = 1_000_000, 10_000_000
"""Rows that tell of more, and so many."""
ANSWERS = 10
EVERY = 0.05
STEPS = {
    "import": "import: parts read and checked, the project made and stored",
    "open": "opened, to the first question",
    "press": "a press: the median of ten answers, each with the next question",
    "queue": "the first page of the queue",
    "search": "a search in the queue",
    "progress": "Progress",
    "export": "`winnow export` to Parquet",
}
TIMES = "press", "queue", "search", "progress"
"""Steps that people wait for."""


class Cost(NamedTuple):
    """cpu : seconds      own, mapped : bytes at the peak of each, of one process: its own, and pages of mapped files"""

    cpu: float
    own: int = 0
    mapped: int = 0


def watched(command: list[str], environment: dict[str, str]) -> tuple[str, Cost]:
    """What a command prints, and what it costs with all its children."""
    process = subprocess.Popen(command, stdout=subprocess.PIPE, text=True, env={**os.environ, **environment})
    seconds: dict[int, float] = {}
    own = mapped = 0
    while process.poll() is None:
        for pid in children_of(process.pid):
            try:
                stat = Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()
                _, whole, shared, *_ = map(int, Path(f"/proc/{pid}/statm").read_text().split())
            except OSError:
                continue
            seconds[pid] = (int(stat[11]) + int(stat[12])) / TICK
            own, mapped = max(own, (whole - shared) * PAGE), max(mapped, shared * PAGE)
        time.sleep(EVERY)
    assert process.stdout is not None
    said = process.stdout.read()
    if process.returncode:
        raise subprocess.CalledProcessError(process.returncode, command)
    return said, Cost(sum(seconds.values()), own, mapped)


def import_drawn(table: Path) -> None:
    """What `winnow import` does, with `drawn_graph`."""
    from workflow import importing
    from workflow.home import open_home
    from workflow.people import team
    from workflow.seat import Seat
    from workflow.settings import Settings

    asking.find_graph = drawn_graph  # type: ignore[attr-defined]
    home = open_home(Settings.from_environment())
    seat = Seat(home, team.ensure_owner(home).id)
    upload, read = importing.read_as_named(table, {})
    number = importing.create(seat, "rows", read, importing.settings_for(read, {}), "", upload)
    home.close()
    print(f"Project {number}: {read.n_rows} rows")


def visit() -> dict[str, Any]:
    """Open project 1 of WINNOW_HOME and use it as people do: CPU seconds of each step, MB before and after opening."""
    from workflow import answering, progress, queue
    from workflow.home import open_home
    from workflow.people import pressing, team
    from workflow.seat import Seat
    from workflow.settings import Settings

    home = open_home(Settings.from_environment())
    seat = Seat(home, team.ensure_owner(home).id).at(1)
    found: dict[str, Any] = {"before": resident()}

    def timed(step: str, call: Callable[[], Any]) -> Any:
        begun = time.process_time()
        result = call()
        found[step] = time.process_time() - begun
        return result

    question = timed("open", lambda: answering.next_question(seat))
    found["after"] = resident()
    presses = []
    for _ in range(ANSWERS):
        begun = time.process_time()
        choice = [question.choices[0]]
        question = pressing.press(
            seat, question.token, "is", choice, shown=question.shown, zone="UTC"
        ).after.question
        presses.append(time.process_time() - begun)
    found["press"] = statistics.median(presses)
    for _ in range(2):  # the second look counts: the first makes what is kept
        timed("queue", lambda: queue.list_queue(seat))
        timed("search", lambda: queue.list_queue(seat, "class 07 09"))
        found["recall"] = timed("progress", lambda: progress.read_progress(seat)).recall
    found["used"] = resident()
    home.close()
    return found


def measure(folder: Path, n_rows: int, drawn: bool) -> dict[str, Any]:
    """All steps at so many rows; CPU seconds and memory."""
    called = f"{n_rows}-drawn" if drawn else f"{n_rows}"
    noted, home = folder / f"measured-{called}.json", folder / f"home-{called}"
    if noted.exists():
        found: dict[str, Any] = json.loads(noted.read_text())
        return found
    shutil.rmtree(home, ignore_errors=True)  # of one that was stopped
    table = write_table(folder / f"table-{n_rows}", n_rows)
    environment = {"WINNOW_HOME": str(home)}
    winnow, ours = ([sys.executable, "-m", name] for name in ("winnow", "benchmarks.large_project"))
    command = [*ours, "--drawn", "--import", str(table)] if drawn else [*winnow, "import", str(table)]
    said, imported = watched(command, environment)
    assert f"Project 1: {n_rows} rows" in said
    said, _ = watched([*ours, "--visit"], environment)
    found = json.loads(said.splitlines()[-1])
    target = folder / f"labels-{called}.parquet"
    _, exported = watched([*winnow, "export", "1", "--to", str(target)], environment)
    assert pq.read_metadata(target).num_rows == n_rows
    found["costs"] = {"import": imported._asdict(), "export": exported._asdict()}
    found["disk"] = {"parts": size_of(table), "home": size_of(home), "labels": target.stat().st_size}
    shutil.rmtree(home)
    target.unlink()
    noted.write_text(json.dumps(found))
    return found


def size_of(folder: Path) -> int:
    return sum(path.stat().st_size for path in folder.rglob("*") if path.is_file())


def cpu_of(found: dict[str, Any], step: str) -> float:
    return float(found[step] if step in found else found["costs"][step]["cpu"])


def tables(measured: dict[int, dict[str, Any]]) -> str:
    """What was measured, by size."""
    sizes = list(measured)
    head = " | ".join(f"{n:,}" for n in sizes)
    bar = "--:|" * len(sizes)
    times = "\n".join(step_line(step, [cpu_of(one, step) for one in measured.values()]) for step in STEPS)
    memory = "\n".join(
        f"| {what} | " + " | ".join(f"{figure(one):,.0f}" for one in measured.values()) + " |"
        for what, figure in MEMORY.items()
    )
    return f"""
| CPU | {head} |
|---|{bar}
{times}

| MB | {head} |
|---|{bar}
{memory}
"""


HEAD = f"""
Rows of `curved` of [neighbors](neighbors.md): {D} features as a column of lists of single precision, {CLASSES} classes
with {CANDIDATES} candidates a row, as Parquet files of {BLOCK:,} rows in a folder. Import and export are commands in
processes of their own; the project is opened and used in another. CPU seconds of all processes of a step, milliseconds
of what people wait for; wall times are left out, for others used the machine. Memory is that of the largest process of
a step, its own apart from pages of mapped files, which the system takes back at will. Targets: what grows grows as the
rows or less, a press does not.

The command `winnow import` finds the neighbours, exactly or by cells, whichever is cheaper:
"""
WITH_DRAWN = """
With neighbours drawn at random in place of the search, whose cost is that of [neighbors](neighbors.md):
"""


def step_line(step: str, seconds: list[float]) -> str:
    unit, factor = ("ms", 1e3) if step in TIMES else ("s", 1.0)
    figures = " | ".join(f"{factor * one:,.1f}" for one in seconds)
    return f"| {STEPS[step]}, {unit} | {figures} |"


def peak(step: str, part: str) -> Callable[[dict[str, Any]], float]:
    return lambda found: found["costs"][step][part] / 1e6


def on_disk(what: str) -> Callable[[dict[str, Any]], float]:
    return lambda found: found["disk"][what] / 1e6


MEMORY: dict[str, Callable[[dict[str, Any]], float]] = {
    "import, its own": peak("import", "own"),
    "import, mapped files": peak("import", "mapped"),
    "opened project, its own, without what a process has that opened none": lambda found: (
        found["after"]["own"] - found["before"]["own"]
    ),
    "the same after ten answers, queue, search and Progress": lambda found: (
        found["used"]["own"] - found["before"]["own"]
    ),
    "export, its own": peak("export", "own"),
    "on disk: the parts": on_disk("parts"),
    "on disk: the project, its table and its neighbours": on_disk("home"),
    "on disk: the labels": on_disk("labels"),
}


def ahead(measured: dict[int, dict[str, Any]]) -> str:
    """What more rows would take by the two largest sizes; nothing where these are too few to tell."""
    if len(measured) < 2 or max(measured) < ENOUGH:
        return ""
    (fewer, small), (most, large) = list(measured.items())[-2:]

    def a_row(figure: Callable[[dict[str, Any]], float]) -> float:
        return (figure(large) - figure(small)) / (most - fewer)

    held = a_row(MEMORY["opened project, its own, without what a process has that opened none"]) * 1e6
    making = a_row(MEMORY["import, its own"]) * 1e6
    cpu = {step: a_row(lambda found, step=step: cpu_of(found, step)) for step in ("open", "export")}
    return f"""
Between the last two sizes a row more takes {held:,.0f} bytes of the opened project's own memory and {making:,.0f} at
the peak of the import, {1e6 * cpu["open"]:.1f} CPU microseconds to open and {1e6 * cpu["export"]:.1f} to export.
By that, which is reckoned and not measured, {MORE:,} rows would hold {held * MORE / 1e9:.1f} GB open, take
{making * MORE / 1e9:.1f} GB to import, and {cpu["open"] * MORE:,.0f} CPU seconds to open and
{cpu["export"] * MORE:,.0f} to export; the search for neighbours beside ([scale](../../docs/scale.md)).
""".strip()


def main() -> None:
    parser = argparse.ArgumentParser()
    parser.add_argument(
        "--rows", type=int, action="append", help="as often as wanted; nothing is written then"
    )
    parser.add_argument("--drawn", action="store_true", help="with neighbours that are drawn at random")
    parser.add_argument("--import", type=Path, dest="table", help="what the process does that imports so")
    parser.add_argument("--folder", type=Path, help="kept")
    parser.add_argument("--visit", action="store_true", help="what the process does that opens the project")
    parser.add_argument("names", nargs="*")  # `python -m benchmarks large_project` leaves its own name here
    asked = parser.parse_args()
    if asked.visit:
        print(json.dumps(visit()), flush=True)
        os._exit(0)  # nothing is left to be ended in order
    if asked.table:
        import_drawn(asked.table)
        return
    with tempfile.TemporaryDirectory(dir=report.RESULTS.parent) as place:
        folder = asked.folder or Path(place)

        def at(sizes: Sequence[int], *, drawn: bool) -> str:
            measured = {n_rows: measure(folder, n_rows, drawn) for n_rows in sizes}
            return f"{tables(measured)}\n{ahead(measured)}"

        if asked.rows:
            print(at(asked.rows, drawn=asked.drawn))
            return
        text = f"{HEAD}{at(ROWS, drawn=False)}{WITH_DRAWN}{at(DRAWN, drawn=True)}"
    report.write(
        "large_project", "A project of many rows", text, ("numpy", "pyarrow", "scikit-learn", "numba")
    )


if __name__ == "__main__":
    main()
