"""The command `rank`: the open rows of a project in question order, or the first rows of a table on disk."""

from __future__ import annotations

import re
import sys
from collections.abc import Mapping
from dataclasses import asdict
from pathlib import Path

import click

from winnow_labels.column_options import column_options, file_options
from winnow_labels.options import block_bar, cluster_option, home, is_json, json_option, owner, say, settings_with
from winnow_labels.places import FileOptions, on_disk


@click.command("rank")
@click.option("--candidates", metavar="COLUMN", help="FILES only: column of candidate lists.")
@click.option(
    "--number",
    "numbers",
    multiple=True,
    metavar="COLUMN",
    help="FILES only: feature column, of numbers or lists of numbers. Can be repeated.",
)
@click.option("--top", "most", type=click.IntRange(min=1), help="FILES only: number of rows to list.  [default: 1000]")
@click.option(
    "--neighbors", "n_neighbors", type=click.IntRange(min=2), help="FILES only: neighbours per row.  [default: 10]"
)
@click.option(
    "--recall",
    type=click.FloatRange(0.0, 1.0, min_open=True),
    help="FILES only: minimum recall of the neighbour search; 1 finds all neighbours.  [default: 0.98]",
)
@click.option("--block", type=click.IntRange(min=100), help="FILES only: rows per block.  [default: 100000]")
@click.option("--reverse", is_flag=True, help="FILES only: also write the reverse neighbour lists.")
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
) -> object:
    """Write the open rows of PROJECT_ID in question order, with score and reason, as CSV.

    For FILES, a table too large for a project, rank the first rows to ask about, block by block. FILES is a
    folder of Parquet files with a column of lists of candidates and columns of numbers, an .npz file of X (n,
    d) and S (n, m), or a folder with X.npy and S.npy. Results are stored in WINNOW_HOME/blocks: the same
    command continues after an interruption.
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
            raise click.UsageError("Block and column options work with FILES only; a project uses its own settings.")
        return _rank_project(int(what))
    from workflow.models.large_tables import rank_on

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


def _rank_project(project_id: int) -> object:
    from workflow.rows.queue import queue_csv, queue_rows

    with home() as here:
        seat = owner(here).at(project_id)
        if is_json():
            return {"queue": [asdict(one) for one in queue_rows(seat)]}
        data = queue_csv(seat, wait=True)
    sys.stdout.buffer.write(data)
    return None


# The command `simulate`: answers questions with the hidden true labels, in a project or in runs on a file.

ANSWERS = 50
"""Default number of answers in a project."""
STRATEGIES = ("apl", "random")


@click.command("simulate")
@click.option(
    "--answers",
    type=click.IntRange(min=1),
    help="Number of answers per run.  [default: 50; FILE: a tenth of the open rows]",
)
@click.option(
    "--strategy",
    "strategies",
    multiple=True,
    metavar="NAME",
    help="FILE only: question strategy. Can be repeated.  [default: apl, random]",
)
@click.option("--runs", type=click.IntRange(min=1), help="FILE only: runs per strategy.  [default: 5]")
@click.option("--model", "learner", metavar="NAME", help="FILE only: model.  [default: plknn]")
@click.option("--seed", type=click.IntRange(min=0), help="FILE only: seed of the runs.  [default: 0]")
@json_option
@cluster_option("PROJECT_ID|FILE")
@file_options
@column_options
def simulate(
    what: str,
    answers: int | None,
    strategies: tuple[str, ...],
    runs: int | None,
    learner: str | None,
    seed: int | None,
    cluster: str | None,
    files: FileOptions,
    columns: Mapping[str, object],
) -> object:
    """Answer the next questions of PROJECT_ID with the table's hidden true labels: a dry run that you can
    watch.

    In the log these answers carry the note 'simulated'. They are permanent: use a project made for the
    purpose.

    For a FILE with true labels nothing is stored: labelling runs are replayed, each with other held-out rows,
    and the mean error of each strategy on these is written as CSV. One run is one block of work, for
    --cluster. Finished runs are stored in WINNOW_HOME/blocks: the same command continues after an
    interruption.
    """
    told = {"runs": runs, "learner": learner, "seed": seed}
    options = {name: value for name, value in told.items() if value is not None}
    if re.fullmatch("[0-9]+", what):
        about_file = any(files.values()) or any(value is not None for value in columns.values())
        if options or strategies or cluster is not None or about_file:
            raise click.UsageError("Strategy, run and column options work with a FILE only, not with a project.")
        return _answer(int(what), ANSWERS if answers is None else answers)
    from workflow import importing
    from workflow.models.choosing import replay_table

    if answers is not None:
        options["budget"] = answers
    settings = settings_with(cluster)
    file, beside = on_disk(what, files)
    table = importing.read_as_named(file, columns, **beside)[1]
    found = replay_table(settings, table, strategies or STRATEGIES, progress=block_bar(), **options)
    say(found.told(), err=True)
    if not is_json():
        click.echo(found.to_csv(), nl=False)
    return found.to_json()


def _answer(project_id: int, answers: int) -> dict[str, int]:
    from workflow.answering import oracle
    from workflow.projects import managing

    if answers > oracle.MOST:
        raise click.ClickException(f"--answers must be at most {oracle.MOST:,}. Got {answers}.")
    with home() as here:
        seat = owner(here).at(project_id)
        done = oracle.answer_for_me(seat, answers)
        left = managing.get_project(seat).left
    still = "open row is" if left == 1 else "open rows are"
    say(f"{done} answered with the hidden truth; {left} {still} left.")
    return {"answered": done, "open": left}
