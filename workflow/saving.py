"""Writing what a person has done: it is stored whole, or they are told in words that it was not."""

from __future__ import annotations

import logging
from collections.abc import Iterator
from contextlib import contextmanager
from typing import TYPE_CHECKING

from sqlalchemy.exc import DBAPIError, IntegrityError, InterfaceError, OperationalError
from sqlalchemy.exc import TimeoutError as NoConnectionError

from db.engine import DatabaseReplacedError, DatabaseUnavailableError, is_damaged

__all__ = [
    "DatabaseReplacedError",
    "NotSaved",
    "saving",
    "saving_files",
    "saying_why",
    "why_nothing_is_saved",
]

if TYPE_CHECKING:
    from sqlalchemy.orm import Session

    from workflow.home import Home

logger = logging.getLogger("winnow")


class NotSaved(RuntimeError):  # noqa: N818 - a state of affairs, which the page words
    """Nothing could be written, to the database or beside it: a full disk, a lost connection, a database file that is
    not at its place any more. Nothing was stored."""


@contextmanager
def saving(home: Home) -> Iterator[Session]:
    """A write transaction, as ``Database.write``, that raises NotSaved where the database cannot be written."""
    with saying_why(), home.database.write() as session:
        yield session


@contextmanager
def saying_why() -> Iterator[None]:
    """Raises NotSaved where the database fails the block, before or while it writes."""
    try:
        yield
    except (DBAPIError, NoConnectionError, DatabaseUnavailableError) as error:
        why = _why(error)
        if why is None:
            raise
        logger.exception("The database could not be written.")
        raise NotSaved(why) from error


def _why(error: Exception) -> str | None:
    """Why the database could not be written, in words for everybody; None where it is not the database's fault."""
    if isinstance(error, DatabaseReplacedError):
        return str(error)
    if isinstance(error, DBAPIError) and is_damaged(error):
        return (
            "The database file is damaged: something else has written to it. Nothing was stored. Fix: stop Winnow, "
            "put a backup in its place, start it again."
        )
    if isinstance(error, IntegrityError):
        return "Somebody else has stored the same at this moment. Nothing was stored; try again."
    if isinstance(error, OperationalError | InterfaceError | NoConnectionError | DatabaseUnavailableError):
        return "The database could not be written (is the disk full?). Nothing was stored; try again."
    return None


def why_nothing_is_saved(home: Home) -> str | None:
    """Why nothing can be stored any more, before anybody tries, in words for everybody; None where it can."""
    try:
        home.database.check_file()
    except DatabaseReplacedError as error:
        return str(error)
    return None


@contextmanager
def saving_files() -> Iterator[None]:
    """Raises NotSaved where the files that the block writes cannot be written."""
    try:
        yield
    except OSError as error:
        logger.exception("The data folder could not be written.")
        raise NotSaved(
            f"The files could not be written to the data folder ({error.strerror or error}). Nothing was stored. "
            "Fix: make room on the disk, then try again."
        ) from error
