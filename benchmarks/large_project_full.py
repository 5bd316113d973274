"""Projects of one, three and ten million rows, their neighbours searched: `large_project` where that takes longest.

It takes an hour of a core and 25 GB of disk. `python -m benchmarks.large_project_full --folder PLACE` keeps what is
measured there: the same command goes on where another was stopped. `TMPDIR` names the folder that holds what a learner
has in files.
"""

from __future__ import annotations

import argparse
import tempfile
from pathlib import Path

from benchmarks import report
from benchmarks.large_project import HEAD, measure, tables

SIZES = 1_000_000, 3_000_000, 10_000_000


def main() -> None:
    parser = argparse.ArgumentParser()
    parser.add_argument("--folder", type=Path, help="kept")
    parser.add_argument(
        "names", nargs="*"
    )  # `python -m benchmarks large_project_full` leaves its own name here
    asked = parser.parse_args()
    with tempfile.TemporaryDirectory(dir=report.RESULTS.parent) as place:
        measured = {n_rows: measure(asked.folder or Path(place), n_rows, drawn=False) for n_rows in SIZES}
    recall = ", ".join(f"{one['recall']:.3f} at {n_rows:,} rows" for n_rows, one in measured.items())
    report.write(
        "large_project_full",
        "A project of many rows, their neighbours searched",
        f"{HEAD}{tables(measured)}\nOf the true neighbours of a sample the search found {recall}.\n",
        ("numpy", "pyarrow", "scikit-learn", "numba"),
    )


if __name__ == "__main__":
    main()
