"""The command that makes, lists and checks named snapshots of a project."""

from __future__ import annotations

import click

from winnow.opening import home, owner
from winnow.terminal import say


@click.command("snapshot")
@click.argument("project_id", type=int)
@click.argument("name", required=False)
@click.option("--check", is_flag=True, help="Whether NAME, or every snapshot, still is what it was.")
def snapshot(project_id: int, name: str | None, check: bool) -> None:
    """Give the state of PROJECT_ID as it is now a NAME; without one, list those there are.

    `export --as-of NAME` writes it again. Exit status 2 where a check finds that one is not what it was.
    """
    from workflow.outgoing import snapshots

    with home() as here:
        seat = owner(here).at(project_id)
        if check:
            names = [name] if name is not None else [one.name for one in snapshots.list_snapshots(seat)]
            found = [snapshots.check_snapshot(seat, one) for one in names]
            for one in found:
                say(one.said)
            if not all(one.holds for one in found):
                raise click.exceptions.Exit(2)
            return
        made = [snapshots.make_snapshot(seat, name)] if name is not None else snapshots.list_snapshots(seat)
        for each in made:
            say(f"{each.name}\tentry {each.seq}\t{each.made_at:%Y-%m-%d %H:%M} UTC\t{each.by}\t{each.sha256}")
