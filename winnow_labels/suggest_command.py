"""`winnow suggest`: weight the candidates of a project by a pretrained model's scores."""

from __future__ import annotations

import sys

import click

from winnow_labels.options import counted, home, json_option, owner, say


@click.command("suggest")
@click.argument("project_id", type=int)
@click.option("--with", "name", required=True, help="The name of a model in WINNOW_HOME/encoders.")
@click.option("--non-commercial", is_flag=True, help="My use is non-commercial: accepts a non-commercial licence.")
@json_option
def suggest(project_id: int, name: str, non_commercial: bool) -> object:
    """Weight the candidates of PROJECT_ID by a classifier's scores, or by the similarity of texts and class
    names.

    No label changes, and nothing is downloaded.
    """
    from workflow.models import suggesting

    def tell(done: int, total: int, kind: str) -> None:
        click.echo(f"\r{done:,} of {total:,} ({kind})", nl=done == total, err=True)

    progress = tell if sys.stderr.isatty() else None
    with home() as here:
        found = suggesting.suggest(owner(here).at(project_id), name, non_commercial=non_commercial, on_step=progress)
    for note in found.notes:
        say(note, err=True)
    if found.unknown:
        shown = ", ".join(found.unknown[:5])
        more = f" and {len(found.unknown) - 5:,} more" if len(found.unknown) > 5 else ""
        say(f"{name} does not know these classes: {shown}{more}.", err=True)
    rows = counted(found.rows, "row")
    say(f"Project {project_id}: {name} scored {rows}; its scores now weigh the candidates of {found.weighed:,}.")
    if found.outside:
        say(f"In {counted(found.outside, 'row')}, the model's best class is not among the candidates.")
    return {
        "id": project_id,
        "rows": found.rows,
        "weighed": found.weighed,
        "outside": found.outside,
        "classes": list(found.classes),
        "unknown": list(found.unknown),
        "notes": list(found.notes),
    }
