"""Which rows to ask about first in a table that is too large for a project, computed in blocks.

Intermediate results are part files in the folder `blocks` of the data folder. A restart with the same table reuses
them; once the ranking is done the folder can be deleted.
"""

from __future__ import annotations

import csv
import io
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

import numpy as np

from plcore.arrays import counted
from plcore.blocks import BlockError, BlockProgress, Runner, RunnerError, map_part, remove_halves
from plcore.neighbors import NeighborParts, RecallError, RowParts, find_parts, reverse_parts, scale_rows
from plcore.query import first_ranking
from plcore.tables import find_row_files, read_in_parts
from workflow.server.jobs import open_blocks
from workflow.server.settings import Settings

BLOCK = 100_000
"""Rows in a block: tasks of seconds, 25 MB with 64 features."""


class RankingError(ValueError):
    """The rows cannot be ranked; the message says which block, or what is missing."""


@dataclass(frozen=True)
class LargeRanking:
    """The first rows to ask about, best first, with their scores and candidates, and how their neighbours were found.

    reverse : parts of the lists of rows that have each row as a neighbour; empty unless requested
    """

    rows: tuple[int, ...]
    scores: tuple[float, ...]
    candidates: tuple[tuple[str, ...], ...]
    n_rows: int
    found: NeighborParts
    reverse: tuple[str, ...]

    def told(self) -> str:
        """How it was found, as a sentence."""
        if self.found.kind == "exact":
            return f"{counted(self.n_rows, 'row')}; exact neighbours."
        return (
            f"{counted(self.n_rows, 'row')}; neighbours by {self.found.n_probed} of "
            f"{counted(self.found.n_cells, 'cell')}, "
            f"{self.found.recall:.3f} of the true ones on a sample."
        )

    def to_csv(self) -> bytes:
        """Write place and row, from 1, score, and candidates joined by `|`."""
        text = io.StringIO()
        writer = csv.writer(text)  # lines end in CR LF: a line break in a cell of either sort is then quoted
        writer.writerow(("place", "row", "score", "candidates"))
        for place, (row, score, names) in enumerate(zip(self.rows, self.scores, self.candidates, strict=True), start=1):
            writer.writerow((place, row + 1, score, "|".join(names)))
        return text.getvalue().encode()


def rank_on(
    settings: Settings, path: Path, *, progress: BlockProgress | None = None, **options: object
) -> LargeRanking:
    """Rank a table like `rank_files`, with the runner and data folder of these settings. Raises RankingError,
    TableError, OSError."""
    try:
        with open_blocks(settings) as (runner, folder):
            return rank_files(runner, path, folder, progress=progress, **options)  # type: ignore[arg-type]
    except (BlockError, RunnerError, RecallError) as error:
        raise RankingError(str(error)) from error


def rank_files(
    runner: Runner,
    path: Path,
    folder: Path,
    *,
    candidates: str | None = None,
    numbers: Sequence[str] = (),
    n_neighbors: int = 10,
    most: int = 1000,
    search: str = "auto",
    recall: float = 0.98,
    block: int = BLOCK,
    reverse: bool = False,
    progress: BlockProgress | None = None,
) -> LargeRanking:
    """Return the `most` rows of a table to ask about first.

    path, candidates, numbers : as `plcore.tables.find_row_files`      folder : of parts
    n_neighbors : of a row, including itself      search, recall : as `plcore.neighbors.find_parts`
    block : rows in a block      reverse : keep the reverse lists, too
    Raises TableError, BlockError, RunnerError, RecallError; ValueError for more neighbours than rows.
    """
    files = find_row_files(path, folder, candidates, numbers)
    if not 2 <= n_neighbors <= files.n_rows:
        raise RankingError(f"n_neighbors must be from 2 to the number of rows, {files.n_rows:,}. Got {n_neighbors}.")
    table = read_in_parts(runner, folder, files, block, progress)
    rows = RowParts(folder, table.rows, block, files.n_rows, files.n_features)
    found = find_parts(
        runner, scale_rows(runner, rows, progress), n_neighbors - 1, search=search, recall=recall, progress=progress
    )
    first, scores = first_ranking(runner, found, table.candidates, len(table.classes), most, progress=progress)
    lists: tuple[str, ...] = ()
    if reverse:
        lists = reverse_parts(runner, folder, found.names, files.n_rows, block, progress)
    remove_halves(folder)
    packed = map_part(folder / table.candidates)[first]
    sets = np.unpackbits(packed, axis=1, bitorder="little", count=len(table.classes))
    names = tuple(tuple(table.classes[label] for label in np.flatnonzero(one)) for one in sets)
    return LargeRanking(tuple(first.tolist()), tuple(scores.tolist()), names, files.n_rows, found, lists)
