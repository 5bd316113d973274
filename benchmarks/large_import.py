"""CSV files that grow become projects: what is in memory meanwhile, of each process and of all of them together."""

from __future__ import annotations

import os
import subprocess
import sys
import tempfile
import threading
from pathlib import Path
from typing import Any

import numpy as np

from benchmarks import report
from benchmarks.import_rows import CLASSES, NUMBERS, drawn_graph, open_seat, write_table

ROWS = (250_000, 500_000, 1_000_000, 2_000_000, 9_000_000)
FILE_GB = 5
_EVERY = 0.1


class Watch:
    """What a process and all that it has started have in memory, looked at every tenth of a second until it ends.

    own : MB that no file holds, of all processes, what they share counted once; by what is done      mapped : the same
        with pages of mapped files, which the system takes back at will      worker : MB that no file holds, of the
        process that has the most besides the first; what it shares with its parent is among them
    """

    def __init__(self, root: int) -> None:
        self.doing = "check"
        self.own: dict[str, float] = {}
        self.mapped = self.worker = 0.0
        self._root = root
        self._ended = threading.Event()
        self._thread = threading.Thread(target=self._look)
        self._thread.start()

    def end(self) -> None:
        self._ended.set()
        self._thread.join()

    def _look(self) -> None:
        while not self._ended.wait(_EVERY):
            seen = {number: found for number in _family(self._root) if (found := _memory(number))}
            self.own[self.doing] = max(
                self.own.get(self.doing, 0.0), sum(found["Pss_Anon"] for found in seen.values())
            )
            self.mapped = max(self.mapped, sum(found["Pss"] for found in seen.values()))
            others = (found["Anonymous"] for number, found in seen.items() if number != self._root)
            self.worker = max(self.worker, *others, 0.0)


def _family(root: int) -> list[int]:
    """The numbers of a process and of all that descend from it."""
    parents = {}
    for path in Path("/proc").glob("[0-9]*/stat"):
        try:
            parents[int(path.parent.name)] = int(path.read_text().rpartition(")")[2].split()[1])
        except OSError:  # it has ended
            continue
    found = [root]
    for one in found:
        found += [number for number, parent in parents.items() if parent == one]
    return found


def _memory(number: int) -> dict[str, float]:
    """What the system says of a process's memory, MB; nothing of one that has ended."""
    try:
        lines = Path(f"/proc/{number}/smaps_rollup").read_text().splitlines()[1:]
    except OSError:
        return {}
    return {name: int(value.split()[0]) * 1.024e-3 for name, value in (line.split(":") for line in lines)}


def imported(path: Path) -> None:
    """What `winnow import` does, with neighbours at random."""
    from plcore.loop.one_label import asking
    from workflow import importing

    home, seat = open_seat(path.parent)
    upload, table = importing.read_as_named(path, {})
    print("checked", flush=True)
    asking.find_graph = drawn_graph  # type: ignore[attr-defined]
    importing.create(seat, "rows", table, importing.settings_for(table, {}), "", upload)
    home.close()


def measured(rows: int) -> dict[str, Any]:
    """What an import of so many rows has in memory at most."""
    with tempfile.TemporaryDirectory() as name:
        path = Path(name) / "rows.csv"
        write_table(path, rows)
        size = path.stat().st_size / 1e6
        command = [sys.executable, "-m", "benchmarks.large_import", str(path)]
        with subprocess.Popen(command, stdout=subprocess.PIPE, text=True) as process:
            watch = Watch(process.pid)
            assert process.stdout is not None
            for _ in process.stdout:
                watch.doing = "make"
        watch.end()
        if process.returncode:
            raise RuntimeError(f"The import of {rows:,} rows has failed.")
    return {"rows": rows, "size": size, "worker": watch.worker, "mapped": watch.mapped, **watch.own}


def main() -> None:
    found = [measured(rows) for rows in ROWS]
    report.write(
        "large_import",
        "Larger and larger files: memory of an import",
        told(found),
        ("pyarrow", "pandas", "numpy"),
    )


def told(found: list[dict[str, Any]]) -> str:
    lines = "\n".join(
        f"| {one['rows']:,} | {one['size']:,.0f} MB | {one['worker']:,.0f} MB | {one['check']:,.0f} MB | "
        f"{one['make']:,.0f} MB | {one['mapped']:,.0f} MB |"
        for one in found
    )
    checking, making = _line(found, "check"), _line(found, "make")
    rows = FILE_GB * 1e3 / (found[-1]["size"] / found[-1]["rows"])
    expected = making[1] + making[0] * rows
    return f"""
{NUMBERS} columns of numbers, an id, candidates among {CLASSES} classes, some truths. A process does what
`winnow import` does, but for the search: neighbours are drawn at random (finding them: `neighbors`). Memory is what no
file holds, looked at every {_EVERY} s; what processes share counts once, but for the worker alone. The last column is
with pages of mapped files, which the system takes back at will.

| rows | file | reading and checking: worker | all processes | making the project | with pages |
|---|---|---|---|---|---|
{lines}

A row more is {1e6 * checking[0]:,.0f} bytes more up to the checked table, and {1e6 * making[0]:,.0f} while the project
is made (straight lines through the figures). So a file of {FILE_GB} GB, {rows / 1e6:.1f} million rows, takes about
{expected:,.0f} MB to become a project, where 2,000 MB are the target, without the search for neighbours. Features and
neighbours of all rows lie in files, as do the lists of whose neighbours they are.
"""


def _line(found: list[dict[str, Any]], what: str) -> tuple[float, float]:
    """MB for each row, and MB of none."""
    slope, start = np.polyfit([one["rows"] for one in found], [one[what] for one in found], 1)
    return float(slope), float(start)


if __name__ == "__main__":
    imported(Path(sys.argv[1]))
    sys.stdout.flush()
    os._exit(0)  # nothing is left to be ended in order
