"""The command `rank`: the open rows of a project in asking order, or the first rows of a table on disk."""

from __future__ import annotations

import re
import sys
from dataclasses import asdict
from pathlib import Path
from typing import Any

import click

from winnow.cluster_option import cluster_option, settings_with
from winnow.json_option import is_json, json_option
from winnow.opening import home, owner
from winnow.terminal import block_bar, say


@click.command("rank")
@click.option("--candidates", metavar="COLUMN", help="Of FILES: the column of lists of candidates.")
@click.option(
    "--number",
    "numbers",
    multiple=True,
    metavar="COLUMN",
    help="Of FILES: a column of numbers, or of lists of them, to compare rows by. As often as needed.",
)
@click.option("--top", "most", type=click.IntRange(min=1), help="Of FILES: how many rows.  [default: 1000]")
@click.option(
    "--neighbors", "n_neighbors", type=click.IntRange(min=2), help="Of FILES: of a row.  [default: 10]"
)
@click.option(
    "--recall",
    type=click.FloatRange(0.0, 1.0, min_open=True),
    help="Of FILES: least share of the true neighbours to find; 1 finds all of them.  [default: 0.98]",
)
@click.option("--block", type=click.IntRange(min=100), help="Of FILES: rows in a block.  [default: 100000]")
@click.option(
    "--reverse", is_flag=True, help="Of FILES: also leave the lists of whose neighbour each row is."
)
@json_option
@cluster_option("PROJECT_ID|FILES")
def rank(
    what: str,
    cluster: str | None,
    candidates: str | None,
    numbers: tuple[str, ...],
    most: int | None,
    n_neighbors: int | None,
    recall: float | None,
    block: int | None,
    reverse: bool,
) -> Any:
    """Write the open rows of PROJECT_ID in asking order, with score and reason, as CSV.

    Of FILES the first rows to ask about of a table too large for a project, in blocks: a folder of Parquet files with
    a column of lists of candidates and columns of numbers, an .npz file of X (n, d) and S (n, m), or a folder with
    X.npy and S.npy. What is found lies in WINNOW_HOME/blocks: the same command goes on where another was interrupted.
    """
    told = {
        "candidates": candidates,
        "numbers": numbers,
        "most": most,
        "n_neighbors": n_neighbors,
        "recall": recall,
        "block": block,
        "reverse": reverse,
    }
    options = {name: value for name, value in told.items() if value}
    if re.fullmatch("[0-9]+", what):
        if options or cluster is not None:
            raise click.UsageError(
                "Options about blocks and columns are of FILES, not of a project, which has its settings."
            )
        return _rank_project(int(what))
    from workflow.outgoing.large_tables import rank_on

    settings, path = settings_with(cluster), Path(what)
    if not path.exists():
        raise click.UsageError(f"There is no {path}. Fix: name the id of a project, or a table on disk.")
    if recall == 1:
        options = options | {"search": "exact"}
    ranking = rank_on(settings, path, progress=block_bar(), **options)
    say(ranking.told(), err=True)
    if not is_json():
        sys.stdout.buffer.write(ranking.to_csv())
        return None
    lines = zip(ranking.rows, ranking.scores, ranking.candidates, strict=True)
    return {
        "queue": [
            {"place": place, "row": row, "candidates": names, "score": score}
            for place, (row, score, names) in enumerate(lines, start=1)
        ]
    }


def _rank_project(project_id: int) -> Any:
    from workflow.queue import queue_csv, queue_rows

    with home() as here:
        seat = owner(here).at(project_id)
        if is_json():
            return {"queue": [asdict(one) for one in queue_rows(seat)]}
        data = queue_csv(seat, wait=True)
    sys.stdout.buffer.write(data)
    return None
