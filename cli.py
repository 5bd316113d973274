"""The command line: the pages' use cases, run as the owner. In the checkout `python cli.py`, installed
`winnow`.

Only click is imported before a command needs more, so that help and a mistyped command respond at once.
"""

from __future__ import annotations

import atexit
import errno
import gc
import os
import re
import runpy
import signal
import socket
import sys
import threading
from collections.abc import Mapping
from contextlib import suppress
from dataclasses import asdict
from pathlib import Path
from typing import TYPE_CHECKING, NoReturn

import click

from winnow_labels import __version__
from winnow_labels.backup_commands import BACKUP_COMMANDS
from winnow_labels.column_options import column_options, file_options
from winnow_labels.commands import FILE_COMMANDS, snapshot
from winnow_labels.encoder_commands import encoders
from winnow_labels.options import (
    FLAG,
    WRITTEN,
    cluster_option,
    counted,
    home,
    is_json,
    json_option,
    owner,
    refusal,
    say,
    settings_with,
    write_document,
)
from winnow_labels.people_commands import PEOPLE_COMMANDS
from winnow_labels.places import FileOptions, on_disk
from winnow_labels.rank_command import rank, simulate
from winnow_labels.suggest_command import suggest

if TYPE_CHECKING:
    from workflow.server.settings import Settings

_NO_PORT = 1
"""Exit status with which Streamlit ends a server that gets no port; it is not used only for that."""
REFUSED = 2
"""Exit status of a refused command; standard error has a line for each problem."""
INTERRUPTED = 130
"""Exit status after Ctrl-C, as in shells."""


def run() -> NoReturn:
    """Run the command line and end the process: with 0, or with REFUSED and a line for each problem, which
    with `--json` are also a document."""
    # One BLAS thread, like a server: the same sums in the same order, no matter which process computes them.
    # The search for neighbours also uses half the CPU time, since threads busy-wait for each other. NumPy is
    # not loaded yet.
    os.environ["OPENBLAS_NUM_THREADS"] = "1"
    # Imports make many objects that stay. Looking for garbage among them takes a tenth of a short command's time.
    gc.set_threshold(50_000)
    atexit.register(gc.freeze)  # one more look when the process ends takes a third of a short command's time
    try:
        status = main(prog_name="winnow", standalone_mode=False)
    except click.exceptions.NoArgsIsHelpError as asked_nothing:
        asked_nothing.show()
        sys.exit(REFUSED)
    except click.UsageError as error:
        _refuse(error.format_message(), error.ctx)
    except click.ClickException as error:
        _refuse(error.format_message())
    except click.Abort:
        sys.exit(INTERRUPTED)
    except Exception as error:
        if not isinstance(error, _refusals()):
            raise
        _refuse(_words(error))
    sys.exit(status)


@click.group(context_settings={"help_option_names": ["-h", "--help"]})
@click.version_option(__version__, prog_name="winnow")
def main() -> None:
    """Use Winnow from a shell. It works next to a running server, on the same data (WINNOW_HOME)."""


for command in (*FILE_COMMANDS, *BACKUP_COMMANDS, *PEOPLE_COMMANDS, encoders, rank, simulate, snapshot, suggest):
    main.add_command(command)


@main.command("serve")
@click.option(
    "--with-parent",
    is_flag=True,
    help="For programs: stop when standard input ends, and do not start next to another server on this data.",
)
@json_option
def serve(with_parent: bool) -> object:
    """Start the server and print a sign-in link. With --json, prints the document on one line when it is
    ready.

    WINNOW_HOST and WINNOW_PORT set its address, WINNOW_HOME its data folder.
    """
    from workflow.backups import staging
    from workflow.server.running import running, terminal

    terminal.as_json = is_json()
    # Errors of settings, backups or data are reported as in every command; in this order, because the backup
    # may be what repairs the data.
    settings = staging.settings_at_start()
    with home() as here:
        others = running(here.servers_dir) if with_parent else []
    if others:
        raise click.ClickException(
            f"A server runs on the data in {settings.home} already: {others[0]}. Fix: use that one, stop it, or name "
            "another folder."
        )
    if with_parent:
        threading.Thread(target=_stop_with_parent, daemon=True).start()
    program = Path(__file__).with_name("app.py")
    given, sys.argv = sys.argv, [str(program)]  # Streamlit looks for .streamlit/config.toml next to it
    try:
        runpy.run_path(str(program), run_name="__main__")
    except SystemExit as ended:
        if ended.code == _NO_PORT and isinstance(ended.__context__, OSError):
            raise _cannot_listen(
                settings,
                "another program uses it, or this user is not allowed to",
                "end that program, or set WINNOW_PORT to another port",
            ) from None
        if isinstance(ended.code, int) and ended.code and is_json():
            write_document(refusal("The server could not start. Fix: read the message on standard error.", ended.code))
        raise
    except OSError as error:
        if error.errno != errno.EADDRNOTAVAIL and not isinstance(error, socket.gaierror):
            raise
        raise _cannot_listen(settings, f"{error.strerror}", "set WINNOW_HOST to an address of this machine") from None
    finally:
        sys.argv = given
    return WRITTEN


def _stop_with_parent() -> None:
    """Stop, as after SIGTERM, when standard input ends because the parent closed it or ended."""
    while os.read(0, 1024):
        pass
    signal.raise_signal(signal.SIGTERM)


def _cannot_listen(settings: Settings, why: str, fix: str) -> click.ClickException:
    where = f"port {settings.port} of {settings.host}"
    return click.ClickException(f"Winnow cannot listen at {where}: {why}. Fix: {fix}.")


@main.command("plugins")
@json_option
def plugins() -> object:
    """List the installed plug-ins with package and version; a broken one with the reason why it is left out."""
    from workflow.models.plugins import list_plugins

    found = list_plugins()
    for one in found:
        say(f"{one.group}\t{one.name}\t{one.source}\t{one.fault or 'in use'}")
    if not found:
        say("No plug-ins are installed.", err=True)
    return {"plugins": [asdict(one) for one in found]}


@main.command("projects")
@json_option
def list_projects() -> object:
    """List the projects."""
    from workflow.projects import managing

    with home() as here:
        listed = managing.list_projects(owner(here))
    for project in listed:
        say(f"{project.id}\t{project.name}\t{project.answered} answered, {project.left} open")
    if not listed and not is_json():
        say("There is no project yet. To create one: winnow import FILE", err=True)
    return [project.to_json() for project in listed]


@main.command("compare")
@json_option
@cluster_option("FILE|PROJECT_ID")
@file_options
@column_options
def compare(what: str, cluster: str | None, files: FileOptions, columns: Mapping[str, object]) -> object:
    """Compare the models on the rows of a project, or of a table in any format. Nothing is stored or changed.

    Each row is held out once. Kappa is how much more often than by chance a model's predictions are
    among the candidates: it needs no true labels. Accuracy is by blind checks of a project, by true labels of
    a file. One fit is one block of work, for --cluster; the figures do not depend on who computes them.
    """
    from workflow import importing
    from workflow.models import choosing

    told = any(files.values()) or any(value is not None for value in columns.values())
    if re.fullmatch("[0-9]+", what) and told:
        raise click.ClickException(
            f"The column roles of project {what} are fixed. Fix: remove the column and row options, or name a file."
        )

    def tell(done: int, total: int, model: str) -> None:
        click.echo(f"\r{done} of {counted(total, 'fit')}, {model:<20}", nl=done == total, err=True)

    progress, settings = tell if sys.stderr.isatty() else None, settings_with(cluster)
    if re.fullmatch("[0-9]+", what):
        with home() as here:
            found = choosing.measure(owner(here).at(int(what)), progress, settings)
    else:
        file, beside = on_disk(what, files)
        table = importing.read_as_named(file, columns, **beside)[1]
        found = choosing.measure_table(table, progress, settings)
    say(found.lines())
    return found.to_json()


def _refuse(message: str, asked: click.Context | None = None) -> NoReturn:
    """Print an error and exit. message : a line for each problem      asked : the command, if it was mistyped"""
    as_json = FLAG in sys.argv[1:]
    if asked is not None and not as_json:
        say(f"{asked.get_usage()}\nHelp: {asked.command_path} -h", err=True)
    for problem in message.splitlines():
        say(f"Error: {problem}", err=True)
    if as_json:
        with suppress(OSError):  # standard output itself may have failed; the lines above report it
            write_document(refusal(message, REFUSED))
    sys.exit(REFUSED)


def _words(error: Exception) -> str:
    """Return the text of an error; for a system error about a file, its name first."""
    if not isinstance(error, OSError) or error.strerror is None:
        return str(error)
    if error.filename is None:
        return f"Reading or writing failed: {error.strerror}."
    named = os.fsdecode(error.filename)
    return f"{named}: {error.strerror}. Fix: choose another, or give this user access."


def _refusals() -> tuple[type[Exception], ...]:
    """Return the errors of use cases, with messages for users. Any other error is a bug and shows its
    traceback."""
    from workflow.access import NotAllowed, NotFound
    from workflow.answering.loop import AnswerError, StaleQuestion
    from workflow.answering.oracle import NoTruth
    from workflow.backups.manifest import BackupError
    from workflow.exporting.snapshots import SnapshotError
    from workflow.importing import CannotLearn, TableError
    from workflow.importing.encoding import EncoderError
    from workflow.importing.more_rows import RowsError
    from workflow.log.columns import LogError
    from workflow.models.choosing import CannotCompare, CannotSimulate
    from workflow.models.language.requests import LanguageModelError
    from workflow.models.large_tables import RankingError
    from workflow.people.members import MemberError
    from workflow.people.team import LinkError, PersonNameError
    from workflow.people.tokens import TokenError
    from workflow.projects.managing import ProjectNameError
    from workflow.saving import NotSaved
    from workflow.server.home import LostTableError, NoRoomError
    from workflow.server.settings import SettingsError

    refused = (AnswerError, BackupError, NotAllowed, NotFound, NotSaved, ProjectNameError, RowsError)
    cannot = (
        CannotCompare,
        CannotLearn,
        CannotSimulate,
        EncoderError,
        LanguageModelError,
        LinkError,
        LogError,
        LostTableError,
        MemberError,
        NoRoomError,
        NoTruth,
        PersonNameError,
        RankingError,
        SettingsError,
        SnapshotError,
        StaleQuestion,
        TableError,
        TokenError,
        OSError,
    )
    return (*refused, *cannot)


if __name__ == "__main__":
    run()
