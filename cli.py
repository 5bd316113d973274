"""The command line: the use cases of the pages, as the owner. In the checkout `python cli.py`, installed `winnow`.

Nothing but click is imported before a command needs it, so that help and a mistyped command cost no one a wait.
"""

from __future__ import annotations

import json
import logging
import re
import runpy
import sys
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Any, NoReturn

import click

from winnow import __version__
from winnow.column_options import column_options, file_options, setting_option
from winnow.export_command import export_options, teller

if TYPE_CHECKING:
    from workflow.home import Home
    from workflow.seat import Seat

REFUSED = 2
"""Exit status of a command that did not do what it was asked to; one line on standard error says why."""
INTERRUPTED = 130
"""Exit status after Ctrl-C, as shells have it."""


def run() -> NoReturn:
    """Do what the command line says and end the process: with 0, or with REFUSED and one line that says why."""
    try:
        status = main(standalone_mode=False)
    except click.exceptions.NoArgsIsHelpError as asked_nothing:
        asked_nothing.show()
        sys.exit(REFUSED)
    except click.ClickException as error:
        _refuse(error.format_message())
    except click.Abort:
        sys.exit(INTERRUPTED)
    except Exception as error:
        if not isinstance(error, _refusals()):
            raise
        _refuse(str(error))
    sys.exit(status)


@click.group()
@click.version_option(__version__, prog_name="winnow")
def main() -> None:
    """Winnow from a shell. It works beside a running server, on the same data (WINNOW_HOME)."""


@main.command("serve")
def serve() -> None:
    """Start the server and print a sign-in link.

    WINNOW_HOST and WINNOW_PORT say where it listens, WINNOW_HOME where its data are.
    """
    with _home():
        pass  # what is wrong with the settings or the data is said as every command says it
    program = Path(__file__).with_name("app.py")
    sys.argv = [str(program)]  # Streamlit looks for .streamlit/config.toml beside it
    runpy.run_path(str(program), run_name="__main__")


@main.command("link")
def link() -> None:
    """Print a new one-time sign-in link for the owner of the running server. An unused earlier one ends."""
    from workflow import team

    with _home() as here:
        if not here.address_file.exists():
            raise click.ClickException(
                "No server is running on this data. Start one: winnow serve (or make run). It prints a link."
            )
        click.echo(f"{here.address_file.read_text()}/signin?link={team.make_start_link(here)}")


@main.command("projects")
@click.option("--json", "as_json", is_flag=True, help="As a JSON list, for programs.")
def list_projects(as_json: bool) -> None:
    """List the projects."""
    from workflow import projects

    with _home() as here:
        listed = projects.list_projects(_owner(here))
    if as_json:
        click.echo(json.dumps([project.to_json() for project in listed], indent=2, ensure_ascii=False))
        return
    for project in listed:
        click.echo(f"{project.id}\t{project.name}\t{project.answered} answered, {project.left} open")


@main.command("import")
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

    with _home() as here:
        upload, table = importing.read_as_named(file, columns, rows=rows, as_it_is=as_it_is)
        seat, chosen = _owner(here), importing.settings_for(table, settings)
        odd = (*importing.made_before(seat, upload), *importing.find_doubts(table))
        for said in (*upload.notes, *map(str, (*odd, *importing.doubts_about(table, chosen)))):
            click.echo(said, err=True)
        project_id = importing.create(seat, name or file.stem, table, chosen, description, upload.source_hash)
    click.echo(f"Project {project_id}: {table.n_rows} rows, {len(table.classes)} classes.")


@main.command("append")
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
    from workflow import importing, more_rows

    with _home() as here:
        seat = _owner(here).at(project_id)
        upload = importing.read_upload(file, rows=None if rows is None else (rows, None), as_it_is=as_it_is)
        addition = more_rows.read_rows(seat, upload, labels)
        n_rows = more_rows.add_rows(seat, addition)
    grown = addition.grown
    for said in (
        f"{len(grown.known)} rows are there already and stay as they are." if grown.known else "",
        f"New labels: {', '.join(grown.new_classes)}." if grown.new_classes else "",
        f"Columns left out: {', '.join(grown.dropped)}." if grown.dropped else "",
        f"Columns empty in the new rows: {', '.join(grown.empty)}." if grown.empty else "",
    ):
        if said:
            click.echo(said, err=True)
    click.echo(f"Project {project_id}: {grown.n_new} rows added, {n_rows} in all.")


@main.command("export")
@click.argument("project_id", type=int)
@export_options
def export(
    project_id: int, target: Path | None, name: str | None, rows: str, above: float | None, log: bool
) -> None:
    """Write the disambiguated table of PROJECT_ID, as CSV or in another format."""
    from workflow import exporting

    with _home() as here:
        seat = _owner(here).at(project_id)
        sort = exporting.LOG if log else exporting.TABLE
        try:
            name = name or exporting.file_for(seat, "" if target is None else target.name, sort)
            least = exporting.ABOVE if above is None else above
            taken = exporting.take(seat, exporting.ExportChoice(name, rows, least))
        except ValueError as error:
            raise click.ClickException(str(error)) from None
        if target is None:
            taken.write(sys.stdout.buffer, teller(taken.total))
        else:
            exporting.write_file(taken, target, teller(taken.total))


@main.command("verify")
@click.argument("what", metavar="FILE|PROJECT_ID")
@click.option("--project", "project_id", type=int, help="Is FILE how the log of this project begins?")
def verify(what: str, project_id: int | None) -> None:
    """Check the chain of a log written as JSON Lines, or the log of a project against its table.

    The first line or entry that is wrong is named. A log written anew as a whole holds too: note its head elsewhere.
    """
    from workflow import verifying

    file = None if project_id is None and re.fullmatch("[0-9]+", what) else Path(what)
    if file is not None and project_id is None:
        click.echo(verifying.verify_file(file))
        return
    with _home() as here:
        seat = _owner(here).at(int(what) if project_id is None else project_id)
        click.echo("\n".join(map(str, verifying.verify_project(seat, file))))


@main.command("rank")
@click.argument("project_id", type=int)
def rank(project_id: int) -> None:
    """Write the open rows of PROJECT_ID in asking order, with score and reason, as CSV."""
    from workflow.queue import queue_csv

    with _home() as here:
        data = queue_csv(_owner(here).at(project_id), wait=True)
    sys.stdout.buffer.write(data)


@main.command("compare")
@click.argument("what", metavar="FILE|PROJECT_ID")
@click.option("--json", "as_json", is_flag=True, help="As JSON, for programs.")
@file_options
@column_options
def compare(what: str, as_json: bool, rows: Path | None, as_it_is: bool, columns: Mapping[str, Any]) -> None:
    """Compare the models on the rows of a project, or of a table of any format. Nothing is stored or adopted.

    Each row is held out once. Consistency is how much more often than by chance a model's predictions are among the
    candidates: it needs no true label. Accuracy is by blind checks of a project, by true labels of a file.
    """
    from workflow import importing
    from workflow.models import choosing

    told = rows is not None or as_it_is or any(value is not None for value in columns.values())
    if re.fullmatch("[0-9]+", what) and told:
        raise click.ClickException(
            f"What the columns of project {what} are is settled. Fix: leave the options of columns and rows out, or "
            "name a file."
        )

    def tell(done: int, total: int, model: str) -> None:
        click.echo(f"\r{done} of {total} fits, {model:<20}", nl=done == total, err=True)

    progress = tell if sys.stderr.isatty() else None
    if re.fullmatch("[0-9]+", what):
        with _home() as here:
            found = choosing.measure(_owner(here).at(int(what)), progress)
    else:
        table = importing.read_as_named(Path(what), columns, rows=rows, as_it_is=as_it_is)[1]
        found = choosing.measure_table(table, progress)
    click.echo(json.dumps(found.to_json(), indent=2) if as_json else found.lines())


@main.command("simulate")
@click.argument("project_id", type=int)
@click.option("--answers", type=click.IntRange(min=1), default=50, show_default=True, help="How many.")
def simulate(project_id: int, answers: int) -> None:
    """Answer the next questions of PROJECT_ID with the true labels that its table hides: a dry run, seen live.

    In the log these answers carry the note 'simulated'. They stay: use a project made for the purpose.
    """
    from workflow import oracle, projects

    if answers > oracle.MOST:
        raise click.ClickException(f"--answers must be at most {oracle.MOST:,}. Got {answers}.")
    with _home() as here:
        seat = _owner(here).at(project_id)
        done = oracle.answer_for_me(seat, answers)
        left = projects.get_project(seat).left
    click.echo(f"{done} answered with the hidden truth; {left} open rows are left.")


@main.command("backup")
@click.argument("folder", type=click.Path(file_okay=False, path_type=Path))
def backup(folder: Path) -> None:
    """Copy the database, the tables and their files into FOLDER (new or empty) while Winnow runs."""
    from workflow import backup as backups

    with _home() as here:
        backups.backup(here, folder)
    click.echo(f"Backed up to {folder}. To restore: start Winnow with WINNOW_HOME={folder}.")


@contextmanager
def _home() -> Iterator[Home]:
    """The home of this process, closed at the end."""
    from sqlalchemy.exc import OperationalError

    from workflow.home import close_home, home

    silent = (
        logging.NullHandler()
    )  # a server's log wants the traceback of what it could not write, a shell one line
    logging.getLogger("winnow").addHandler(silent)
    try:
        yield home()
    except OperationalError as error:
        raise click.ClickException(f"The database does not answer: {error.orig}") from None
    finally:
        close_home()
        logging.getLogger("winnow").removeHandler(silent)


def _owner(here: Home) -> Seat:
    """The owner's seat, at no project."""
    from workflow import team
    from workflow.seat import Seat

    return Seat(here, team.ensure_owner(here).id)


def _refuse(message: str) -> NoReturn:
    """A table may have many problems: each ends with its fix, so that they can follow one another in one line."""
    click.echo("Error: " + " ".join(message.split("\n")), err=True)
    sys.exit(REFUSED)


def _refusals() -> tuple[type[Exception], ...]:
    """What use cases refuse with, in words for the person. Anything else is a fault and shows its traceback."""
    from workflow.access import NotAllowed, NotFound
    from workflow.answering import AnswerError, StaleQuestion
    from workflow.backup import BackupError
    from workflow.common.log_columns import LogError
    from workflow.importing import CannotLearn, TableError
    from workflow.models.choosing import CannotCompare
    from workflow.oracle import NoTruth
    from workflow.projects import ProjectNameError
    from workflow.saving import NotSaved
    from workflow.settings import SettingsError

    refused = (AnswerError, BackupError, NotAllowed, NotFound, NotSaved, ProjectNameError, StaleQuestion)
    cannot = (CannotCompare, CannotLearn, LogError, NoTruth, SettingsError, TableError, OSError)
    return (*refused, *cannot)


if __name__ == "__main__":
    run()
