"""The commands that read or write files: import, append, export, verify."""

from __future__ import annotations

import re
import sys
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import click

from winnow.column_options import column_options, file_options, setting_option
from winnow.export_command import export_options, teller
from winnow.opening import home, owner


@click.command("import")
@click.argument("file", type=click.Path(exists=True, dir_okay=False, path_type=Path))
@click.option("--name", help="Name of the project; default: the file's name.")
@click.option("--description", default="", help="What the annotators should know.")
@file_options
@setting_option
@column_options
def import_table(
    file: Path,
    name: str | None,
    description: str,
    rows: Path | None,
    as_it_is: bool,
    settings: Mapping[str, Any],
    columns: Mapping[str, Any],
) -> None:
    """Make a project from FILE, a table or a zip of one with the images and recordings its cells name.

    What is odd about it is said on standard error. Refused whole, with row, column and fix, if any cell or file is
    wrong.
    """
    from workflow import importing

    with home() as here:
        upload, table = importing.read_as_named(file, columns, rows=rows, as_it_is=as_it_is)
        seat, chosen = owner(here), importing.settings_for(table, settings)
        odd = (*importing.made_before(seat, upload), *importing.find_doubts(table))
        for said in (*upload.notes, *map(str, (*odd, *importing.doubts_about(table, chosen)))):
            click.echo(said, err=True)
        project_id = importing.create(seat, name or file.stem, table, chosen, description, upload)
    click.echo(f"Project {project_id}: {table.n_rows} rows, {len(table.classes)} classes.")


@click.command("append")
@click.argument("project_id", type=int)
@click.argument("file", type=click.Path(exists=True, dir_okay=False, path_type=Path))
@file_options
@click.option("--label-column", "labels", multiple=True, help="A new column of labels. As often as needed.")
def append_rows(
    project_id: int, file: Path, rows: Path | None, as_it_is: bool, labels: tuple[str, ...]
) -> None:
    """Add the rows of FILE that PROJECT_ID does not have yet. It has the same columns as the project's first file.

    Refused whole, with row, column and fix, if any cell or file is wrong.
    """
    from workflow import importing
    from workflow.importing import more_rows

    with home() as here:
        seat = owner(here).at(project_id)
        upload = importing.read_upload(file, rows=None if rows is None else (rows, None), as_it_is=as_it_is)
        addition = more_rows.read_rows(seat, upload, labels)
        n_rows = more_rows.add_rows(seat, addition)
    grown = addition.grown
    for said in (
        f"{len(grown.known)} rows are there already and stay as they are." if grown.known else "",
        f"New labels: {', '.join(grown.new_classes)}." if grown.new_classes else "",
        f"Columns left out: {', '.join(grown.dropped)}." if grown.dropped else "",
        f"Columns empty in the new rows: {', '.join(grown.empty)}." if grown.empty else "",
        *upload.notes,
        *map(str, addition.doubts),
    ):
        if said:
            click.echo(said, err=True)
    click.echo(f"Project {project_id}: {grown.n_new} rows added, {n_rows} in all.")


@click.command("export")
@click.argument("project_id", type=int)
@export_options
def export(
    project_id: int,
    target: Path | None,
    name: str | None,
    rows: str,
    above: float | None,
    details: Mapping[str, Any],
    log: bool,
) -> None:
    """Write the disambiguated table of PROJECT_ID, as CSV or in another format."""
    from workflow import exporting

    with home() as here:
        seat = owner(here).at(project_id)
        sort = exporting.LOG if log else exporting.TABLE
        try:
            name = name or exporting.file_for(seat, "" if target is None else target.name, sort)
            least = exporting.ABOVE if above is None else above
            taken = exporting.take(
                seat, exporting.ExportChoice(name, rows, least, exporting.CardDetails.told(**details))
            )
        except ValueError as error:
            raise click.ClickException(str(error)) from None
        if target is None:
            taken.write(sys.stdout.buffer, teller(taken.total))
        else:
            exporting.write_file(taken, target, teller(taken.total))


@click.command("verify")
@click.argument("what", metavar="FILE|PROJECT_ID")
@click.option("--project", "project_id", type=int, help="Is FILE how the log of this project begins?")
def verify(what: str, project_id: int | None) -> None:
    """Check the chain of a log written as JSON Lines, or the log of a project against its table.

    The first line or entry that is wrong is named. A log written anew as a whole holds too: note its head elsewhere.
    """
    from workflow.outgoing import verifying

    file = None if project_id is None and re.fullmatch("[0-9]+", what) else Path(what)
    if file is not None and project_id is None:
        click.echo(verifying.verify_file(file))
        return
    with home() as here:
        seat = owner(here).at(int(what) if project_id is None else project_id)
        click.echo("\n".join(map(str, verifying.verify_project(seat, file))))


FILE_COMMANDS = (import_table, append_rows, export, verify)
