"""The command `simulate`: questions answered with the truth that a table hides, in a project or in runs on a file."""

from __future__ import annotations

import re
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import click

from winnow.cluster_option import cluster_option, settings_with
from winnow.column_options import column_options, file_options
from winnow.json_option import is_json, json_option
from winnow.opening import home, owner
from winnow.terminal import block_bar, say

ANSWERS = 50
"""In a project, where nobody says how many."""
STRATEGIES = ("apl", "random")


@click.command("simulate")
@click.option(
    "--answers",
    type=click.IntRange(min=1),
    help="How many, in each run on a FILE.  [default: 50; of a FILE a tenth of the rows that can be asked about]",
)
@click.option(
    "--strategy",
    "strategies",
    multiple=True,
    metavar="NAME",
    help="Of a FILE: a strategy to ask by, as often as needed.  [default: apl, random]",
)
@click.option("--runs", type=click.IntRange(min=1), help="Of a FILE: runs by each strategy.  [default: 5]")
@click.option("--model", "learner", metavar="NAME", help="Of a FILE: what learns.  [default: plknn]")
@click.option("--seed", type=click.IntRange(min=0), help="Of a FILE: of the runs.  [default: 0]")
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
    files: Mapping[str, Any],
    columns: Mapping[str, Any],
) -> Any:
    """Answer the next questions of PROJECT_ID with the true labels that its table hides: a dry run, seen live.

    In the log these answers carry the note 'simulated'. They stay: use a project made for the purpose.

    Of a FILE with true labels nothing is stored: labelling runs are replayed, each with other rows held out, and the
    mean error of each strategy on these is written as CSV. One run is one block of work, for --cluster. The runs that
    are done lie in WINNOW_HOME/blocks: the same command goes on where another was interrupted.
    """
    told = {"runs": runs, "learner": learner, "seed": seed}
    options = {name: value for name, value in told.items() if value is not None}
    if re.fullmatch("[0-9]+", what):
        about_file = any(files.values()) or any(value is not None for value in columns.values())
        if options or strategies or cluster is not None or about_file:
            raise click.UsageError(
                "Options about strategies, runs and columns are of a FILE, not of a project."
            )
        return _answer(int(what), ANSWERS if answers is None else answers)
    from workflow import importing
    from workflow.models.replaying import replay_table

    if answers is not None:
        options["budget"] = answers
    settings = settings_with(cluster)
    table = importing.read_as_named(Path(what), columns, **files)[1]
    found = replay_table(settings, table, strategies or STRATEGIES, progress=block_bar(), **options)
    say(found.told(), err=True)
    if not is_json():
        click.echo(found.to_csv(), nl=False)
    return found.to_json()


def _answer(project_id: int, answers: int) -> dict[str, int]:
    from workflow import oracle, projects

    if answers > oracle.MOST:
        raise click.ClickException(f"--answers must be at most {oracle.MOST:,}. Got {answers}.")
    with home() as here:
        seat = owner(here).at(project_id)
        done = oracle.answer_for_me(seat, answers)
        left = projects.get_project(seat).left
    say(f"{done} answered with the hidden truth; {left} open rows are left.")
    return {"answered": done, "open": left}
