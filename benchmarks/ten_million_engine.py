"""Ten answers and a label for every row of `benchmarks.ten_million`, by the engine of the query alone, in one process.

`python -m benchmarks.ten_million_engine FOLDER TABLE` prints CPU seconds as JSON. All parts are there: nothing is
computed again but what is measured.
"""

from __future__ import annotations

import csv
import json
import os
import sys
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq

from benchmarks.cluster import BLOCK, PAGE, K
from plcore import compile_kernels
from plcore.common.runners import Inline, map_part
from plcore.neighbors import RowParts, find_parts, scale_rows
from plcore.neighbors.graph import neighbor_weights
from plcore.query import EffectRanker
from plcore.tables import find_row_files, read_in_parts

FOUND, TOLD, EXPORTED = "ranking.csv", "ranking.txt", "labels.parquet"
ANSWERS = 10


class NotDone(Inline):
    """Refuses to do anything: all parts have to be there."""

    def map(self, function: Callable[[Any], Any], jobs: Any) -> Any:
        for job in jobs:
            raise RuntimeError(f"This part is missing: {job}.")
        return iter(())


def own_memory() -> int:
    _, resident, shared, *_ = map(int, Path("/proc/self/statm").read_text().split())
    return (resident - shared) * PAGE


def graph_of(folder: Path, table: Path) -> tuple[Any, Any, Any, tuple[str, ...]]:
    """neighbors int32 (n, K), weights int64 (n, K), candidates bool (n, m), the classes; from the parts."""
    blocks, runner = folder / "home" / "blocks", NotDone()
    files = find_row_files(table, blocks)
    read = read_in_parts(runner, blocks, files, BLOCK)
    rows = RowParts(blocks, read.rows, BLOCK, files.n_rows, files.n_features)
    found = find_parts(runner, scale_rows(runner, rows), K - 1)
    neighbors = np.empty((files.n_rows, K), dtype=np.int32)
    weights = np.empty((files.n_rows, K), dtype=np.int64)
    for name in found.names:
        part = map_part(blocks / name)
        own, distances = part["row"], np.zeros((len(part), K))
        distances[:, 1:] = np.sqrt(part["squared"])
        neighbors[own, 0], neighbors[own, 1:] = own, part["neighbors"]
        weights[own] = neighbor_weights(distances, "linear")
    packed = map_part(blocks / read.candidates)
    sets = np.unpackbits(packed, axis=1, bitorder="little", count=len(read.classes)).view(bool)
    return neighbors, weights, sets, read.classes


def export(path: Path, ranker: EffectRanker, classes: tuple[str, ...]) -> int:
    """Write the label with most votes of every row, block by block; bytes."""
    names = pa.array(classes)
    schema = pa.schema([("row", pa.int64()), ("label", pa.dictionary(pa.int32(), pa.string()))])
    with pq.ParquetWriter(path, schema) as file:
        for first in range(0, ranker.n_targets_, BLOCK):
            rows = np.arange(first, min(first + BLOCK, ranker.n_targets_))
            labels = pa.DictionaryArray.from_arrays(
                pa.array(ranker.votes_.most(rows).astype(np.int32)), names
            )
            file.write_table(pa.table([pa.array(rows + 1), labels], schema=schema))
    return path.stat().st_size


def main(folder: Path, table: Path) -> None:
    compile_kernels()
    told: dict[str, Any] = {}
    before, begun = own_memory(), time.process_time()

    def took() -> float:
        nonlocal begun
        since, begun = begun, time.process_time()
        return begun - since

    neighbors, weights, sets, classes = graph_of(folder, table)
    told["read"] = took()
    ranker = EffectRanker("apl", K).fit_graph(neighbors, weights, sets, np.arange(len(neighbors)))
    told["fit"] = took()
    rows, _ = int(ranker.next()[0]), ranker.settled_
    told["first"] = took()
    with (folder / FOUND).open() as file:
        ranked = [int(line["row"]) - 1 for line in csv.DictReader(file)]
    best = ranker.top(len(ranked)).tolist()
    if best != ranked:
        raise RuntimeError("The blocks have ranked the rows otherwise than one process does.")
    told["same"] = len(ranked)
    took()
    told["answers"] = []
    row = rows
    for _ in range(ANSWERS):  # answered with the first candidate
        ranker.update(row, np.arange(len(classes)) == sets[row].argmax())
        row, _ = int(ranker.next()[0]), ranker.settled_
        told["answers"].append(took())
    told["resident"] = own_memory() - before
    took()
    told["exported"] = export(folder / EXPORTED, ranker, classes)
    told["export"] = took()
    print(json.dumps(told))


if __name__ == "__main__":
    os.environ["OMP_NUM_THREADS"] = "1"
    main(Path(sys.argv[1]), Path(sys.argv[2]))
