"""Writing what a person has done: it is stored whole, or they are told in words that it was not."""

from __future__ import annotations

import logging
from collections.abc import Iterator
from contextlib import contextmanager
from typing import TYPE_CHECKING

from sqlalchemy.exc import InterfaceError, OperationalError
from sqlalchemy.exc import TimeoutError as NoConnectionError

from db.engine import DatabaseBusyError

if TYPE_CHECKING:
    from sqlalchemy.orm import Session

    from workflow.home import Home

logger = logging.getLogger("winnow")


class NotSaved(RuntimeError):  # noqa: N818 - a state of affairs, which the page words
    """Nothing could be written, to the database or beside it: a full disk, a lost connection. Nothing was stored."""


@contextmanager
def saving(home: Home) -> Iterator[Session]:
    """A write transaction, as ``Database.write``, that raises NotSaved where the database cannot be written."""
    try:
        with home.database.write() as session:
            yield session
    except (OperationalError, InterfaceError, NoConnectionError, DatabaseBusyError) as error:
        logger.exception("The database could not be written.")
        raise NotSaved(
            "The database could not be written (is the disk full?). Nothing was stored; try again."
        ) from error


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
