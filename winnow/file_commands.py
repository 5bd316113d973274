"""The commands that read or write files: import, append, encode, export, verify."""

from __future__ import annotations

import re
import sys
from collections.abc import Mapping
from dataclasses import asdict
from pathlib import Path
from typing import Any

import click

from winnow.column_options import column_options, file_options, setting_option
from winnow.export_command import export_options, teller
from winnow.json_option import is_json, json_option
from winnow.opening import home, owner
from winnow.terminal import say


def _shares(
    _context: click.Context, _option: click.Parameter, given: tuple[str, ...]
) -> tuple[tuple[str, str], ...]:
    """(name, role) of each; a name may hold colons, so a role is what stands behind the last one."""
    found = (one.rpartition(":") for one in given)
    return tuple((name, role) if colon else (role, "annotator") for name, colon, role in found)


@click.command("import")
@click.argument("file", type=click.Path(exists=True, path_type=Path))
@click.option("--name", help="Name of the project; default: the file's name.")
@click.option("--description", default="", help="What the annotators should know.")
@click.option(
    "--share",
    "shared",
    multiple=True,
    metavar="NAME[:ROLE]",
    callback=_shares,
    help="Let this person see it, as owner, reviewer, annotator (default) or viewer. As often as needed.",
)
@file_options
@setting_option
@column_options
@json_option
def import_table(
    file: Path,
    name: str | None,
    description: str,
    shared: tuple[tuple[str, str], ...],
    files: Mapping[str, Any],
    settings: Mapping[str, Any],
    columns: Mapping[str, Any],
) -> Any:
    """Make a project from FILE, a table, or a zip or folder of one with the images and recordings its cells name; or
    from a folder of Parquet files with the same columns.

    What is odd about it is said on standard error. Refused whole, with row, column and fix, if any cell or file is
    wrong.
    """
    from workflow import importing, projects
    from workflow.people import members

    with home() as here:
        seat, name = owner(here), name or file.stem or file.resolve().stem  # of "." the folder's
        # What is refused anyway is said before a file is read, which may take long, and before anything is made.
        importing.check_new(seat, name, description)
        for person, role in shared:
            members.share(seat, person, [], role)
        upload, table = importing.read_as_named(file, columns, **files)
        chosen = importing.settings_for(table, settings)
        odd = (*importing.made_before(seat, upload), *importing.find_doubts(table))
        notes = [*upload.notes, *map(str, (*odd, *importing.doubts_about(table, chosen)))]
        for said in notes:
            say(said, err=True)
        project_id = importing.create(seat, name, table, chosen, description, upload)
        for person, role in shared:
            members.share(seat, person, [project_id], role)
        made = projects.get_project(seat.at(project_id))
    say(f"Project {project_id}: {table.n_rows} rows, {len(table.classes)} classes.")
    return made.to_json() | {"notes": notes}


@click.command("encode")
@click.argument("what", metavar="FILE|PROJECT_ID")
@click.option(
    "--encoder",
    "name",
    required=True,
    help="A folder with model.onnx and encoder.json, or the name of one in WINNOW_HOME/encoders.",
)
@click.option(
    "--out",
    "target",
    type=click.Path(dir_okay=False, path_type=Path),
    help="Of a FILE: the file to write, .npz or .parquet; `import --embeddings` takes it.",
)
@file_options
@column_options
@json_option
def encode(
    what: str, name: str, target: Path | None, files: Mapping[str, Any], columns: Mapping[str, Any]
) -> Any:
    """Make a vector of each row by an ONNX model of your own: of its images, texts or recordings.

    Those of a FILE are written to another; those of a project are what it learns from, besides, from then on. It needs
    ONNX Runtime: pip install 'winnow[onnx]'. Nothing is fetched.
    """
    from workflow.importing import encoding

    is_project = re.fullmatch("[0-9]+", what) is not None
    told = any(files.values()) or any(value is not None for value in columns.values())
    if is_project and (told or target is not None):
        raise click.UsageError(
            "--out and the options of columns and rows belong to a FILE, not to a project."
        )
    if not is_project and target is None:
        raise click.UsageError("Name the file to write: --out vectors.npz.")

    def tell(done: int, total: int, kind: str) -> None:
        click.echo(f"\r{done:,} of {total:,} ({kind})", nl=done == total, err=True)

    progress = tell if sys.stderr.isatty() else None
    with home() as here:
        folder = Path(name) if Path(name).is_dir() else encoding.folder_of(here, name)
        encoder = encoding.Encoder(folder)  # before the table, which may take long to read
        if target is None:
            notes = encoding.encode_project(owner(here).at(int(what)), encoder, progress)
            done = f"Project {what} learns from vectors of its rows."
        else:
            notes = encoding.encode_file(Path(what), target, encoder, columns, files, progress)
            done = f"{target}: vectors of the rows of {what}."
    for said in notes:
        say(said, err=True)
    say(done)
    return {"id": int(what) if target is None else None, "file": target, "notes": notes}


@click.command("append")
@click.argument("project_id", type=int)
@click.argument("file", type=click.Path(exists=True, path_type=Path))
@file_options
@click.option("--label-column", "labels", multiple=True, help="A new column of labels. As often as needed.")
@json_option
def append_rows(project_id: int, file: Path, files: Mapping[str, Any], labels: tuple[str, ...]) -> Any:
    """Add the rows of FILE that PROJECT_ID does not have yet. It has the same columns as the project's first file.

    Refused whole, with row, column and fix, if any cell or file is wrong.
    """
    from workflow import importing
    from workflow.importing import more_rows

    with home() as here:
        seat = owner(here).at(project_id)
        upload = importing.read_paths(file, **files)
        addition = more_rows.read_rows(seat, upload, labels)
        n_rows = more_rows.add_rows(seat, addition)
    grown = addition.grown
    notes = [*upload.notes, *map(str, addition.doubts)]
    for said in (
        f"{len(grown.known)} rows are there already and stay as they are." if grown.known else "",
        f"New labels: {', '.join(grown.new_classes)}." if grown.new_classes else "",
        f"Columns left out: {', '.join(grown.dropped)}." if grown.dropped else "",
        f"Columns empty in the new rows: {', '.join(grown.empty)}." if grown.empty else "",
        *notes,
    ):
        if said:
            say(said, err=True)
    say(f"Project {project_id}: {grown.n_new} rows added, {n_rows} in all.")
    return {
        "rows": n_rows,
        "added": grown.n_new,
        "known": grown.known,
        "new_classes": grown.new_classes,
        "dropped": grown.dropped,
        "empty": grown.empty,
        "notes": notes,
    }


@click.command("export")
@click.argument("project_id", type=int)
@export_options
@json_option
def export(
    project_id: int,
    target: Path | None,
    name: str | None,
    rows: str,
    above: float | None,
    details: Mapping[str, Any],
    log: bool,
    as_of: str | None,
) -> Any:
    """Write the disambiguated table of PROJECT_ID, as CSV or in another format; as it is now, or as it was."""
    from workflow import exporting

    if target is None and is_json():
        raise click.UsageError("With --json standard output is the document. Name a file: --to labels.csv.")

    with home() as here:
        seat = owner(here).at(project_id)
        sort = exporting.LOG if log else exporting.TABLE
        try:
            name = name or exporting.file_for(seat, "" if target is None else target.name, sort)
            least = exporting.ABOVE if above is None else above
            card = exporting.CardDetails.told(**details)
            then = None if as_of is None else exporting.read_as_of(as_of)
            taken = exporting.take(seat, exporting.ExportChoice(name, rows, least, card, then))
        except ValueError as error:
            raise click.ClickException(str(error)) from None
        if target is None:
            taken.write(sys.stdout.buffer, teller(taken.total))
            return None
        exporting.write_file(taken, target, teller(taken.total))
    return {"file": target, "format": name, "bytes": target.stat().st_size}


@click.command("verify")
@click.argument("what", metavar="FILE|PROJECT_ID")
@click.option("--project", "project_id", type=int, help="Is FILE how the log of this project begins?")
@json_option
def verify(what: str, project_id: int | None) -> Any:
    """Check the chain of a log written as JSON Lines, or the log of a project against its table.

    The first line or entry that is wrong is named. A log written anew as a whole holds too: note its head elsewhere.
    """
    from workflow.outgoing import verifying

    file = None if project_id is None and re.fullmatch("[0-9]+", what) else Path(what)
    if file is not None and project_id is None:
        found: tuple[verifying.Verified, ...] = (verifying.verify_file(file),)
    else:
        with home() as here:
            seat = owner(here).at(int(what) if project_id is None else project_id)
            found = verifying.verify_project(seat, file)
    say("\n".join(map(str, found)))
    return {"holds": [asdict(one) for one in found]}


FILE_COMMANDS = (import_table, append_rows, encode, export, verify)
