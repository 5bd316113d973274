"""What every command opens: the home of this process, and the owner's seat in it."""

from __future__ import annotations

import logging
from collections.abc import Iterator
from contextlib import contextmanager
from typing import TYPE_CHECKING

import click

if TYPE_CHECKING:
    from workflow.home import Home
    from workflow.seat import Seat


@contextmanager
def home() -> Iterator[Home]:
    """The home of this process, closed at the end."""
    from sqlalchemy.exc import OperationalError

    from workflow.home import close_home
    from workflow.home import home as home_of_process

    silent = (
        logging.NullHandler()
    )  # a server's log wants the traceback of what it could not write, a shell one line
    logging.getLogger("winnow").addHandler(silent)
    try:
        yield home_of_process()
    except OperationalError as error:
        raise click.ClickException(f"The database does not answer: {error.orig}") from None
    finally:
        close_home()
        logging.getLogger("winnow").removeHandler(silent)


def owner(here: Home) -> Seat:
    """The owner's seat, at no project."""
    from workflow.people import team
    from workflow.seat import Seat

    return Seat(here, team.ensure_owner(here).id)
