"""The command that makes, lists and checks named snapshots of a project."""

from __future__ import annotations

from dataclasses import asdict
from typing import Any

import click

from winnow.json_option import NotWell, json_option
from winnow.opening import home, owner
from winnow.terminal import say


@click.command("snapshot")
@click.argument("project_id", type=int)
@click.argument("name", required=False)
@click.option("--check", is_flag=True, help="Whether NAME, or every snapshot, still is what it was.")
@json_option
def snapshot(project_id: int, name: str | None, check: bool) -> Any:
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
            checked = {"checked": [asdict(one) for one in found]}
            return checked if all(one.holds for one in found) else NotWell(checked)
        made = [snapshots.make_snapshot(seat, name)] if name is not None else snapshots.list_snapshots(seat)
        for each in made:
            say(f"{each.name}\tentry {each.seq}\t{each.made_at:%Y-%m-%d %H:%M} UTC\t{each.by}\t{each.sha256}")
    return {"snapshots": [asdict(one) for one in made]}
