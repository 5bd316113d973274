"""A wide table beside a long one of as many cells: what a column costs beyond its cells.

CPU seconds from the bytes of a CSV file to a stored table and back again, roles guessed and every cell checked.
"""

from __future__ import annotations

import statistics
import tempfile
import time
from pathlib import Path

import numpy as np

from benchmarks import report
from plcore.tables import LabelTable, find_doubts, lacks_rows, read_stored, read_table, store_reading

WIDE = ((3, 4_000), (3, 10_000), (100, 4_000), (1_000, 1_000))
COLUMNS = 4
"""Of the long table."""
RUNS = 3


def main() -> None:
    taken(csv(10, COLUMNS))  # what is loaded at the first file
    lines = []
    for rows, columns in WIDE:
        wide, long = (csv(*sides) for sides in ((rows, columns), (rows * columns // COLUMNS, COLUMNS)))
        pairs = [(taken(wide), taken(long)) for _ in range(RUNS)]
        seconds, others = (statistics.median(side) for side in zip(*pairs, strict=True))
        each = 1000 * seconds / columns
        lines.append(
            f"| {rows:,} x {columns:,} | {seconds:.2f} | {each:.2f} | {others:.2f} | {seconds / others:.1f} |"
        )
    head = (
        "| rows x columns of numbers | CPU s | ms a column | CPU s of as many cells in four columns | ratio |\n"
        "|---|---:|---:|---:|---:|\n"
    )
    target = "The target is 2 s for 4,000 columns, as the embeddings of a large model have; it took 12 s."
    report.write(
        "wide_tables", "Tables of many columns", f"{head}{chr(10).join(lines)}\n\n{target}", PACKAGES
    )


PACKAGES = ("pandas", "pyarrow")


def csv(rows: int, columns: int) -> bytes:
    """A table of numbers with ids and candidates."""
    numbers = np.random.default_rng(0).normal(size=(rows, columns)).round(4).tolist()
    head = ",".join(["id", "labels", *(f"e{place}" for place in range(columns))])
    lines = (f"r{row},{'ab'[row % 2]}|c,{','.join(map(str, one))}" for row, one in enumerate(numbers))
    return "\n".join([head, *lines, ""]).encode()


def taken(data: bytes) -> float:
    """CPU seconds of the whole way in."""
    with tempfile.TemporaryDirectory() as folder:
        begun = time.process_time()
        reading = read_table(data, "t.csv")
        store_reading(reading, Path(folder))
        roles = reading.suggest_roles()
        lacks_rows(reading, roles)
        stored = read_stored(Path(folder))
        table = LabelTable.from_cells(stored.cells, roles)
        find_doubts(table)
        table.write(Path(folder) / "table.parquet")
        LabelTable.read(Path(folder) / "table.parquet")
        return time.process_time() - begun


if __name__ == "__main__":
    main()
