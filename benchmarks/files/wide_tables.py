"""A wide table beside a long one of as many cells: what a column costs beyond its cells."""

from __future__ import annotations

import statistics
from pathlib import Path

import numpy as np

from benchmarks.harness import Table, clocked, folder, page, sized
from plcore.tables import LabelTable, find_doubts, lacks_rows, read_stored, read_table, store_reading

TITLE = "Tables of many columns"
PACKAGES = ("pandas", "pyarrow")
WIDE = sized(((3, 4_000), (3, 10_000), (100, 4_000), (1_000, 1_000)), tiny=((3, 40),))
COLUMNS = 4
"""Of the long table."""
RUNS = sized(3, tiny=1)


def csv(rows: int, columns: int) -> bytes:
    """Return a table of numbers with ids and candidates."""
    numbers = np.random.default_rng(0).normal(size=(rows, columns)).round(4).tolist()
    head = ",".join(["id", "labels", *(f"e{place}" for place in range(columns))])
    lines = (f"r{row},{'ab'[row % 2]}|c,{','.join(map(str, one))}" for row, one in enumerate(numbers))
    return "\n".join([head, *lines, ""]).encode()


def all_the_way(data: bytes, place: Path) -> None:
    """From the bytes to a stored table and back again, roles guessed and every cell checked."""
    reading = read_table(data, "t.csv")
    store_reading(reading, place)
    roles = reading.suggest_roles()
    lacks_rows(reading, roles)
    table = LabelTable.from_cells(read_stored(place).cells, roles)
    find_doubts(table)
    table.write(place / "table.parquet")
    LabelTable.read(place / "table.parquet")


def taken(data: bytes) -> float:
    with folder() as place:
        return clocked(lambda: all_the_way(data, place))[1]


def measure() -> str:
    taken(csv(10, COLUMNS))  # what is loaded at the first file
    table = Table(
        "rows x columns of numbers | CPU s | ms a column | CPU s of as many cells in four columns | ratio"
    )
    for rows, columns in WIDE:
        wide, long = csv(rows, columns), csv(rows * columns // COLUMNS, COLUMNS)
        pairs = [(taken(wide), taken(long)) for _ in range(RUNS)]
        seconds, others = (statistics.median(side) for side in zip(*pairs, strict=True))
        figures = seconds, 1000 * seconds / columns, others
        table.add(f"{rows:,} x {columns:,}", *(f"{one:.2f}" for one in figures), f"{seconds / others:.1f}")
    return page(
        table, "The target is 2 s for 4,000 columns, as the embeddings of a large model have; it took 12 s."
    )
