"""CSV files that grow become projects: what is in memory meanwhile, of each process and of all of them together."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import numpy as np

from benchmarks import homes
from benchmarks.files.import_rows import CLASSES, NUMBERS, create, write_table
from benchmarks.harness import ROOT, Table, folder, page, sized
from benchmarks.processes import Watch
from workflow import importing

TITLE = "Larger and larger files: memory of an import"
PACKAGES = ("pyarrow", "pandas", "numpy")
ROWS = sized((250_000, 500_000, 1_000_000, 2_000_000, 9_000_000), tiny=(1_000, 2_000))
FILE_GB = 5
CODE = "import sys; from benchmarks.files.large_import import imported; imported(sys.argv[1])"


def imported(name: str) -> None:
    """What `winnow import` does, with drawn neighbours."""
    path = Path(name)
    with homes.owner_of(path.parent / "home") as seat:
        upload, table = importing.read_as_named(path, {})
        print("checked", flush=True)
        homes.draw_neighbors()
        create(seat, table, upload)


def run(rows: int) -> tuple[float, Watch]:
    """Return MB of the file, and what its import has in memory at most."""
    with folder() as place:
        write_table(path := place / "rows.csv", rows)
        command = [sys.executable, "-c", CODE, str(path)]
        with (
            subprocess.Popen(command, stdout=subprocess.PIPE, text=True, cwd=ROOT) as process,
            Watch(process.pid, stage="check") as watch,
        ):
            assert process.stdout is not None
            for _ in process.stdout:
                watch.stage = "make"
            process.wait()
        if process.returncode:
            raise RuntimeError(f"The import of {rows:,} rows has failed.")
        return path.stat().st_size / 1e6, watch


def measure() -> str:
    table = Table(
        "rows | file | reading and checking: worker | all processes | making the project | with pages"
    )
    own, sizes = [], []
    for rows in ROWS:
        size, watch = run(rows)
        own.append([watch.own.get("check", 0.0), watch.own.get("make", 0.0)])
        sizes.append(size)
        table.add(f"{rows:,}", *(f"{one:,.0f} MB" for one in (size, watch.worker, *own[-1], watch.mapped)))
    (checking, making), (_, start) = np.polyfit(ROWS, own, 1)
    rows = FILE_GB * 1e3 / (sizes[-1] / ROWS[-1])
    return page(
        f"""{NUMBERS} columns of numbers, an id, candidates among {CLASSES} classes, some truths. A process does what
`winnow import` does, but for the search: neighbours are drawn (finding them: `neighbors`). Memory is what no file
holds, looked at every 0.1 s; what processes share counts once, but for the worker alone. The last column is with
pages of mapped files, which the system takes back at will.""",
        table,
        f"""A row more is {1e6 * checking:,.0f} bytes more up to the checked table, and {1e6 * making:,.0f} while the
project is made (straight lines through the figures). So a file of {FILE_GB} GB, {rows / 1e6:.1f} million rows, takes
about {start + making * rows:,.0f} MB to become a project, where 2,000 MB are the target, without the search for
neighbours. Features and neighbours of all rows are in files, as are the lists of whose neighbours they are.""",
    )
