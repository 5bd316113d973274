"""Winnow from a shell: the use cases of the pages, as the owner. `python cli.py --help`."""

from __future__ import annotations

import sys
from pathlib import Path

import click

from workflow import backup as backups
from workflow import exporting, importing, labeling, oracle, projects, ranking, team, vector_ranking
from workflow.access import NotFound
from workflow.home import Home, close_home, home
from workflow.learners import WrongKind
from workflow.saving import NotSaved
from workflow.settings import SettingsError


@click.group()
def main() -> None:
    """Winnow from a shell. It works beside a running server, on the same data (WINNOW_HOME)."""
    try:
        home()
    except (SettingsError, OSError) as error:
        raise click.ClickException(str(error)) from None


@main.command("link")
def link() -> None:
    """Print a new one-time sign-in link for the owner of the running server. An unused earlier one ends."""
    if not home().address_file.exists():
        raise click.ClickException(
            "No server is running on this data. Start one: make run. It prints a link."
        )
    click.echo(f"{home().address_file.read_text()}/signin?link={team.make_start_link(home())}")


@main.command("projects")
def list_projects() -> None:
    """List the projects."""
    for project in projects.list_projects(home(), _owner(home())):
        click.echo(f"{project.id}\t{project.name}\t{project.answered} answered, {project.left} open")


@main.command("import")
@click.argument("file", type=click.Path(exists=True, dir_okay=False, path_type=Path))
@click.option("--name", help="Name of the project; default: the file's name.")
@click.option("--candidates", help="The column that lists the candidates; default: guessed from the file.")
@click.option("--separator", help="What stands between candidates; default: guessed.")
@click.option("--truth", help="The column of true labels; default: guessed from its name.")
def import_table(
    file: Path, name: str | None, candidates: str | None, separator: str | None, truth: str | None
) -> None:
    """Make a project from FILE, a CSV or a zip of one CSV with the images and recordings its cells name.

    Refused whole, with row, column and fix, if any cell or file is wrong.
    """
    try:
        upload = importing.read_upload(file)
        chosen = {"candidates": candidates, "separator": separator, "truth": truth}
        roles = importing.adjusted(upload.suggest_roles(), chosen)
        table = importing.LabelTable.from_cells(upload.cells, roles, upload.files)
        project_id = importing.create(home(), _owner(home()), name or file.stem, table)
    except (importing.TableError, importing.CannotLearn, projects.ProjectNameError) as error:
        raise click.ClickException(str(error)) from None
    click.echo(f"Project {project_id}: {table.n_rows} rows, {len(table.classes)} classes.")


@main.command("export")
@click.argument("project_id", type=int)
@click.option("--log", is_flag=True, help="The answer log instead of the table.")
@click.option(
    "--to", "target", type=click.Path(path_type=Path), help="File to write; default: standard output."
)
def export(project_id: int, log: bool, target: Path | None) -> None:
    """Write the disambiguated table of PROJECT_ID as CSV."""
    use_case = exporting.export_log if log else exporting.export_csv
    try:
        data = use_case(home(), _owner(home()), project_id)
    except NotFound as error:
        raise click.ClickException(str(error)) from None
    if target is None:
        sys.stdout.buffer.write(data)
        return
    try:
        target.write_bytes(data)
    except OSError as error:
        raise click.ClickException(f"Nothing was written: {error}") from None


@main.command("rank")
@click.argument("project_id", type=int)
def rank(project_id: int) -> None:
    """Write the open rows of PROJECT_ID in asking order, with score and reason, as CSV."""
    try:
        if projects.get_project(home(), _owner(home()), project_id).vectors:
            data = vector_ranking.queue_csv(home(), _owner(home()), project_id, wait=True)
        else:
            data = ranking.queue_csv(home(), _owner(home()), project_id)
    except NotFound as error:
        raise click.ClickException(str(error)) from None
    sys.stdout.buffer.write(data)


@main.command("simulate")
@click.argument("project_id", type=int)
@click.option(
    "--answers", type=click.IntRange(1, oracle.MOST), default=50, show_default=True, help="How many."
)
def simulate(project_id: int, answers: int) -> None:
    """Answer the next questions of PROJECT_ID with the true labels that its table hides: a dry run, seen live.

    In the log these answers carry the note 'simulated'. They stay: use a project made for the purpose.
    """
    try:
        done = oracle.answer_for_me(home(), _owner(home()), project_id, answers)
    except (NotFound, WrongKind, oracle.NoTruth, labeling.NotSaved, labeling.StaleQuestion) as error:
        raise click.ClickException(str(error)) from None
    left = projects.get_project(home(), _owner(home()), project_id).left
    click.echo(f"{done} answered with the hidden truth; {left} open rows are left.")


@main.command("backup")
@click.argument("folder", type=click.Path(file_okay=False, path_type=Path))
def backup(folder: Path) -> None:
    """Copy the database, the tables and their files into FOLDER (new or empty) while Winnow runs."""
    try:
        backups.backup(home(), folder)
    except (backups.BackupError, OSError) as error:
        raise click.ClickException(str(error)) from None
    click.echo(f"Backed up to {folder}. To restore: WINNOW_HOME={folder} make run")


def _owner(here: Home) -> int:
    return team.ensure_owner(here).id


if __name__ == "__main__":
    try:
        main()
    except NotSaved as error:
        sys.exit(f"Error: {error}")
    finally:
        close_home()
