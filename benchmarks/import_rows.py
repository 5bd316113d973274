"""A CSV file of a million rows becomes a project, is opened by another process, searched and exported."""

from __future__ import annotations

import json
import logging
import os
import resource
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any, TypeVar

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.csv

from benchmarks import report
from plcore.common import large_array
from plcore.loop.one_label import asking
from plcore.neighbors.graph import Graph
from plcore.neighbors.votes import WEIGHT_UNIT

ROWS, NUMBERS, CLASSES = 1_000_000, 64, 10
_AT_ONCE = 100_000
_PLACES = 5
SEARCH = "row77 class3"

Result = TypeVar("Result")


def write_table(path: Path, n: int) -> None:
    """Numbers that lie around their class, candidates that hold it, and the truth of one row in twenty."""
    rng = np.random.default_rng(0)
    names = np.array([f"class{number}" for number in range(CLASSES)])
    centres = rng.normal(size=(CLASSES, NUMBERS))
    with path.open("wb") as file:
        for start in range(0, n, _AT_ONCE):
            rows = min(_AT_ONCE, n - start)
            right, other = rng.integers(CLASSES, size=(2, rows))
            numbers = np.round(centres[right] + rng.normal(size=(rows, NUMBERS)), _PLACES)
            pairs = np.char.add(np.char.add(names[right], "|"), names[other])
            table = {
                "item": [f"row{start + row}" for row in range(rows)],
                **{
                    f"x{place}": pc.cast(pa.array(numbers[:, place]), pa.string()) for place in range(NUMBERS)
                },
                "candidates": np.where(right == other, names[right], pairs),
                "truth": np.where(rng.random(rows) < 0.05, names[right], ""),
            }
            options = pa.csv.WriteOptions(include_header=start == 0, quoting_style="none")
            pa.csv.write_csv(pa.table(table), file, options)


def resident() -> dict[str, float]:
    """MB of this process now: all, and without the pages of mapped files, which the system takes back at will."""
    lines = Path("/proc/self/status").read_text().splitlines()
    found = {
        line.split(":")[0]: int(line.split()[1]) / 1e3
        for line in lines
        if line.startswith(("VmRSS", "RssAnon"))
    }
    return {"resident": found["VmRSS"], "own": found["RssAnon"]}


def peak() -> float:
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1e3


def timed(call: Callable[[], Result]) -> tuple[Result, float, float]:
    """What came of it, CPU seconds of this process, and seconds by the clock."""
    cpu, clock = time.process_time(), time.perf_counter()
    result = call()
    return result, time.process_time() - cpu, time.perf_counter() - clock


def drawn_graph(X: Any, unseen: Any | None, settings: Any) -> Graph:
    """Neighbours at random, each once: finding the true ones is measured by `neighbors`."""
    rng = np.random.default_rng(0)
    n, k = X.shape[0], settings.n_neighbors
    n_held = 0 if unseen is None else unseen.shape[0]
    made: list[Any] = []
    for n_rows, own in ((n, 1), (n_held, 0)):
        neighbors, weights = (large_array((n_rows, k), kind) for kind in (np.int32, np.int64))
        for first in range(0, n_rows, _AT_ONCE):
            rows = np.arange(first, min(first + _AT_ONCE, n_rows))
            begin = rows if own else rng.integers(n, size=len(rows))
            neighbors[rows, :own] = begin[:, None][:, :own]
            steps = rng.integers(1, n // k, size=(len(rows), k - own)).cumsum(axis=1)  # less than once around
            neighbors[rows, own:] = (begin[:, None] + steps) % n
            weights[rows] = WEIGHT_UNIT
        made += [neighbors, weights]
    return Graph(*made, "approximate", 1.0)


def by_polars(path: Path) -> dict[str, Any]:
    """The bare read of the same file."""
    import polars

    frame, cpu, _ = timed(lambda: polars.read_csv(path))
    return {"cpu": cpu, "peak": peak(), "rows": len(frame)}


def imported(path: Path) -> dict[str, Any]:
    """Read, checked and stored as a server does it; then the project is made, with `drawn_graph`."""
    from workflow import importing
    from workflow.common import limited

    costs: dict[str, tuple[float, float]] = {}

    class Costs(logging.Handler):
        def emit(self, record: logging.LogRecord) -> None:
            if isinstance(record.args, tuple) and len(record.args) == 3:
                name, cpu, megabytes = record.args
                costs[str(name)] = (float(str(cpu)), float(str(megabytes)))

    logger = logging.getLogger("winnow")
    logger.setLevel(logging.DEBUG)
    logger.addHandler(Costs())
    limited.start()
    home, seat = open_seat(path.parent)
    small = path.parent / "small.csv"
    write_table(small, 1_000)
    read = importing.check(first := importing.read_upload(small), first.suggest_roles())  # all is loaded then
    before = resident()
    upload, cpu_read, _ = timed(lambda: importing.read_upload(path))
    checked, cpu_check, _ = timed(lambda: importing.check(upload, upload.suggest_roles()))
    table = checked.table
    assert table is not None
    assert read.table is not None
    _, cpu_store, _ = timed(lambda: home.store_table(table))
    after = resident()
    asking.find_graph = drawn_graph  # type: ignore[attr-defined]
    jobs = {name: costs[name] for name in ("read", "check")}
    project, cpu_create, _ = timed(
        lambda: importing.create(seat, "rows", table, importing.settings_for(table, {}), "", upload)
    )
    home.close()
    own = cpu_read + cpu_check + cpu_store
    return {
        "jobs": jobs,
        "own": own,
        "grown": {name: after[name] - before[name] for name in after},
        "create": cpu_create,
        "project": project,
    }


def opened(folder: Path, project: int) -> dict[str, Any]:
    """The project in a process that has just begun: opened, searched, exported."""
    from workflow import exporting, queue

    home, seat = open_seat(folder)
    seat = seat.at(project)
    before = resident()

    def open_it() -> None:
        with seat.learner():
            pass

    _, cpu, _ = timed(open_it)
    now, most = resident(), peak()
    queue.list_queue(seat)
    view, cpu_search, _ = timed(lambda: queue.list_queue(seat, SEARCH))
    begun = time.process_time()
    first: list[float] = []
    taken = exporting.take(seat, exporting.ExportChoice("csv"))

    class Sink:
        """Knows when the first bytes came."""

        def __init__(self, file: Any) -> None:
            self._file = file

        def write(self, data: bytes) -> int:
            if not first:
                first.append(time.process_time() - begun)
            return int(self._file.write(data))

    with (folder / "export.csv").open("wb") as file:
        taken.write(Sink(file), lambda _: None)  # type: ignore[arg-type]
    cpu_export = time.process_time() - begun
    home.close()
    return {
        "before": before,
        "now": now,
        "most": most,
        "cpu": cpu,
        "search": cpu_search,
        "matching": view.matching,
        "export": cpu_export,
        "first": first[0],
        "after": resident(),
    }


def open_seat(folder: Path) -> tuple[Any, Any]:
    from workflow.home import open_home
    from workflow.people import team
    from workflow.seat import Seat
    from workflow.settings import Settings

    home = open_home(Settings.from_environment({"WINNOW_HOME": str(folder / "home")}))
    return home, Seat(home, team.ensure_owner(home).id)


def in_a_process(*told: str, module: str = "benchmarks.import_rows") -> dict[str, Any]:
    """What a step gives back that a process of its own has done."""
    done = subprocess.run(
        [sys.executable, "-m", module, *told],
        check=True,
        stdout=subprocess.PIPE,
        text=True,
    )
    found: dict[str, Any] = json.loads(done.stdout.splitlines()[-1])
    return found


STEPS: dict[str, Callable[..., dict[str, Any]]] = {
    "polars": lambda path: by_polars(Path(path)),
    "import": lambda path: imported(Path(path)),
    "open": lambda folder, project: opened(Path(folder), int(project)),
}


def main() -> None:
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        path = folder / "rows.csv"
        write_table(path, ROWS)
        size = path.stat().st_size / 1e6
        bare = in_a_process("polars", str(path))
        came = in_a_process("import", str(path))
        there = in_a_process("open", name, str(came["project"]))
        people = in_a_process(str(path), module="benchmarks.import_beside")
    report.write(
        "import_rows",
        "A million rows: import, opening, search, export",
        told(size, bare, came, there, people),
        PACKAGES,
    )


PACKAGES = ("pyarrow", "pandas", "numpy", "polars")


def told(
    size: float, bare: dict[str, Any], came: dict[str, Any], there: dict[str, Any], people: dict[str, Any]
) -> str:
    jobs = came["jobs"]
    whole = sum(cpu for cpu, _ in jobs.values()) + came["own"]
    lines = [
        ("read to stored project, CPU s of polars' bare read", f"{whole / bare['cpu']:.1f} times", "5 times"),
        (
            "peak of the process that reads and checks",
            f"{max(most for _, most in jobs.values()):,.0f} MB",
            "1,500 MB",
        ),
        ("growth of the server, without mapped pages", f"{came['grown']['own']:,.0f} MB", "50 MB"),
        (
            "somebody else's answers meanwhile, p95 by the clock",
            f"{np.percentile(people['meanwhile'], 95):,.0f} ms",
            "150 ms",
        ),
        ("opening after a restart: resident then", f"{there['now']['resident']:,.0f} MB", "1,200 MB"),
        ("queue search, CPU", f"{1e3 * there['search']:,.0f} ms", "300 ms"),
        ("export as CSV, CPU", f"{there['export']:.1f} s", "30 s"),
        ("its first byte, CPU", f"{there['first']:.2f} s", "1 s"),
    ]
    table = "\n".join(f"| {what} | {figure} | at most {target} |" for what, figure, target in lines)
    parts = ", ".join(f"{name} {cpu:.1f} s and {most:,.0f} MB" for name, (cpu, most) in jobs.items())
    mapped, made, bases = came["grown"]["resident"], came["create"], there["before"]["resident"]
    then, after = there["now"]["own"], there["after"]["own"]
    return f"""
A CSV file of {ROWS:,} rows, {size:,.0f} MB: {NUMBERS} columns of numbers, an id, candidates among {CLASSES} classes,
some truths. Each step in a process of its own; CPU seconds.

| what | measured | target |
|---|---|---|
{table}

polars {bare["cpu"]:.1f} s, {bare["peak"]:,.0f} MB. The limited processes: {parts}. The server meanwhile
{came["own"]:.1f} s; with mapped pages, which the system takes back at will, it has {mapped:,.0f} MB more.
Somebody answers in another project at a server of the same machine, a tenth of a second after each question, while the
file is read and checked: {len(people["meanwhile"])} answers, half within {np.median(people["meanwhile"]):,.0f} ms; at
rest p95 is {np.percentile(people["alone"], 95):,.0f} ms.
Making the project of the stored table, with neighbours drawn at random (finding them: `neighbors`): {made:.0f} s.
Opening it after a restart: {there["cpu"]:.1f} s, at most {there["most"]:,.0f} MB; then {then:,.0f} MB
without mapped pages, {bases:,.0f} MB before. The search finds {there["matching"]:,} rows. After the export
{after:,.0f} MB without mapped pages.
"""


if __name__ == "__main__":
    print(json.dumps(STEPS[sys.argv[1]](*sys.argv[2:])))
    sys.stdout.flush()
    os._exit(0)  # nothing is left to be ended in order
