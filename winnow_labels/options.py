"""`--json`, an option of every command: one document on standard output, for programs; messages go to
standard error.

A command returns the document's content, with the same names as in the HTTP API; without `--json` it is
ignored. An error is a document, too: a problem (RFC 9457) with the exit status.
"""

from __future__ import annotations

import json
import logging
import os
import re
import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from datetime import datetime
from functools import wraps
from pathlib import Path
from typing import TYPE_CHECKING, NamedTuple

import click

if TYPE_CHECKING:
    from workflow.seat import Seat
    from workflow.server.home import Home
    from workflow.server.settings import Settings

FLAG = "--json"
_KEY = "winnow.json"
NOT_WELL = 2
"""Exit status of a command that found a problem."""


WRITTEN = object()
"""Returned by a command that has written its document itself."""


class NotWell(NamedTuple):
    """Returned by a command that found a problem; it ends with `NOT_WELL`."""

    document: object


def json_option(command: Callable[..., object]) -> Callable[..., None]:
    """Add the option `--json`. The command returns the document, or `NotWell` with it; paths in it are text,
    times ISO 8601."""

    @click.option(FLAG, "as_json", is_flag=True, help="One JSON document on standard output, for programs.")
    @wraps(command)
    def told(as_json: bool, **given: object) -> None:
        click.get_current_context().meta[_KEY] = as_json
        found = command(**given)
        if as_json and found is not WRITTEN:
            write_document(found.document if isinstance(found, NotWell) else found)
        if isinstance(found, NotWell):
            raise click.exceptions.Exit(NOT_WELL)

    return told


def is_json() -> bool:
    """Return whether the current command is to write a document."""
    context = click.get_current_context(silent=True)
    return context is not None and bool(context.meta.get(_KEY))


def write_document(document: object) -> None:
    """Write it on standard output, with terminal control characters escaped as JSON allows."""
    from workflow.server.running import escaped

    click.echo(escaped(json.dumps(document, indent=2, ensure_ascii=False, allow_nan=False, default=_plain)))


def refusal(words: str, status: int) -> dict[str, object]:
    """Return an error as a problem. status : exit status of the command"""
    return {"type": "about:blank", "title": "Not done", "detail": words, "exit_status": status}


def _plain(value: object) -> str:
    if isinstance(value, datetime):
        return value.isoformat()
    if isinstance(value, Path):
        return str(value)
    if isinstance(value, bytes):
        return value.hex()
    raise TypeError(f"{value!r} has no JSON form")


# A command's argument, and `--cluster [ADDRESS]` for its long work, the same in all commands.

SETTING = "WINNOW_CLUSTER"
_OF_SETTING = ""
"""Value of the option without an address."""
_ADDRESS = re.compile(r"processes(:.*)?|\w+://.*")


def cluster_option(metavar: str) -> Callable[[Callable[..., object]], Callable[..., object]]:
    """Add the argument `what` of a command, called `metavar` in its help, and the option, passed as
    `cluster`: an address, '' if none is named, None if the option was not given.

    They are added together because an option with an optional value takes the word that follows. If that word
    is not an address and `what` is missing, it becomes `what`.
    """

    def with_option(command: Callable[..., object]) -> Callable[..., object]:
        @click.argument("what", metavar=metavar, required=False)
        @click.option(
            "--cluster",
            is_flag=False,
            flag_value=_OF_SETTING,
            metavar="[ADDRESS]",
            help="Run on a Dask scheduler, such as tcp://10.0.0.1:8786, or in local processes, such as processes:4. "
            f"Without ADDRESS: on that of {SETTING}.  [default: {SETTING}, else this process]",
        )
        @wraps(command)
        def told(what: str | None, cluster: str | None, **given: object) -> object:
            if what is None and cluster and not _ADDRESS.fullmatch(cluster):
                what, cluster = cluster, _OF_SETTING
            if what is None:
                raise click.MissingParameter(param_type="argument", param_hint=f"'{metavar}'")
            return command(what=what, cluster=cluster, **given)

        return told

    return with_option


def settings_with(cluster: str | None) -> Settings:
    """Return the settings, with the option in place of WINNOW_CLUSTER if it names an address. Raises
    SettingsError, and UsageError for an option without an address if none is configured."""
    from workflow.server.settings import Settings

    named = (cluster or "").strip()  # blanks are not an address, as in settings
    if cluster is not None and not named and not os.environ.get(SETTING, "").strip():
        raise click.UsageError(
            f"--cluster without an address uses {SETTING}, which is not set. Fix: name an address, such as "
            "--cluster tcp://10.0.0.1:8786 or --cluster processes:4; or leave --cluster out to run in this process."
        )
    return Settings.from_environment(os.environ | ({SETTING: named} if named else {}))


# Output of commands must be safe: names given by users must not move the cursor or change colours.

BAR = 24
"""Width of a progress bar in characters."""


def counted(count: int, one: str) -> str:
    """Return a number of things, such as "1 row" or "1797 rows", for people and programs alike. one : the
    singular"""
    return f"{count} {one}" if count == 1 else f"{count} {one}s"


def say(text: object, *, err: bool = False) -> None:
    """Print lines that may contain users' text; on standard error if standard output has a document."""
    from workflow.server.running import escaped

    click.echo(escaped(str(text)), err=err or is_json())


def block_bar() -> Callable[[str, int, int], None] | None:
    """Return a function that draws on standard error how many blocks of each kind are done; None if no one
    watches."""
    return _draw if sys.stderr.isatty() else None


def _draw(what: str, done: int, total: int) -> None:
    full = BAR * done // max(total, 1)
    bar = "#" * full + "-" * (BAR - full)
    click.echo(f"\r[{bar}] {what}: {done:,} of {total:,}{'':<20}", nl=done == total, err=True)


def megabytes() -> Callable[[int, int], None] | None:
    """Return a function that shows on standard error how many bytes of all are done; None if no one watches."""

    def tell(done: int, total: int) -> None:
        click.echo(f"\r{done / 1e6:,.1f} of {total / 1e6:,.1f} MB", nl=done == total, err=True)

    return tell if sys.stderr.isatty() else None


# Setup of every command: the home of this process, and the owner's seat in it.


@contextmanager
def home() -> Iterator[Home]:
    """Yield the home of this process and close it at the end."""
    from sqlalchemy.exc import OperationalError

    from workflow.server.home import close_home
    from workflow.server.home import home as home_of_process

    silent = logging.NullHandler()  # a server's log needs the traceback of a failed write, a shell only one line
    logging.getLogger("winnow").addHandler(silent)
    try:
        yield home_of_process()
    except OperationalError as error:
        raise click.ClickException(f"The database does not answer: {error.orig}") from None
    finally:
        close_home()
        logging.getLogger("winnow").removeHandler(silent)


def owner(here: Home) -> Seat:
    """Return the owner's seat, without a project."""
    from workflow.people import team
    from workflow.seat import Seat

    return Seat(here, team.ensure_owner(here).id)
