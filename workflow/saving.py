"""Writing a person's actions: each is stored completely, or they are told in words that it was not, or may not have
been."""

from __future__ import annotations

import logging
import os
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from typing import TYPE_CHECKING

from sqlalchemy.exc import DBAPIError, IntegrityError, InterfaceError, OperationalError
from sqlalchemy.exc import TimeoutError as NoConnectionError

from db.base import is_cut_off, is_gone, is_held, is_read_only, lacks_a_table
from db.engine import DatabaseBusyError, DatabaseUnavailableError, is_damaged
from db.engine import DatabaseReplacedError as DatabaseReplacedError
from db.identity import lock_for_writing
from db.opened_file import DamagedPagesError as DamagedPagesError

if TYPE_CHECKING:
    from sqlalchemy.orm import Session

    from workflow.server.home import Home

logger = logging.getLogger("winnow")

_READ_ONLY = "25006"  # read_only_sql_transaction: a standby, or a database an administrator has closed


STORE_FAULTS = (DBAPIError, NoConnectionError, DatabaseUnavailableError)
"""Errors of the database if it cannot be read or written; `why_it_failed` has words for it."""
LEAST_FREE = 256 * 1024
"""Bytes that are left where the next answers are certain to have room."""


class NotSaved(RuntimeError):  # noqa: N818 - a state of affairs, which the page words
    """Nothing could be written, to the database or next to it: a full disk, a lost connection, a database file that is
    not at its place any more. Nothing was stored; or, where the connection was lost during the commit and PostgreSQL
    cannot be asked what became of it, it is not known, which the message says."""


@contextmanager
def saving(home: Home, *, lasting: bool = True, project: int | None = None) -> Iterator[Session]:
    """A write transaction, as ``Database.write``, that raises NotSaved where the database cannot be written."""
    with raising_not_saved(), home.database.write(lasting=lasting, project=project) as session:
        yield session


@contextmanager
def raising_not_saved() -> Iterator[None]:
    """Raises NotSaved where the database fails the block, before or while it writes."""
    try:
        yield
    except STORE_FAULTS as error:
        raise NotSaved(words_for_fault(error)) from error


def why_it_failed(error: BaseException) -> str | None:
    """Why the database could not be read or written, in words for everyone; None if it is not the store's fault."""
    if isinstance(error, IntegrityError):
        return "Someone else has stored the same at this moment. Nothing was stored; try again."
    if isinstance(error, DatabaseUnavailableError) and not isinstance(error, DatabaseBusyError):
        return str(error)
    if isinstance(error, DBAPIError):
        if is_damaged(error) or lacks_a_table(error):
            return (
                "The database is damaged: something else has written to it, or a part of it is missing. Nothing was "
                f"stored. Fix: stop Winnow, {_PUT_BACK}, start it again."
            )
        if getattr(error.orig, "sqlstate", None) == _READ_ONLY:
            return (
                "The database could not be written: PostgreSQL has it to read only. Nothing was stored. Fix: let it be "
                "written again (a standby is promoted, a disk has room), then try again."
            )
        if is_held(error):
            return (
                "The database could not be written: another change has blocked this one for half a minute. "
                "Nothing was stored; try again. Fix, if it stays: see in PostgreSQL (pg_stat_activity) "
                "which transaction is open so long, and end it."
            )
        if is_cut_off(error):
            return "This took too long, and PostgreSQL has ended it. Nothing was stored; try again."
        if is_gone(error):
            return (
                "The database could not be written or read: the connection to PostgreSQL was lost. Nothing was stored. "
                "Fix: start PostgreSQL; Winnow then continues by itself."
            )
        if is_read_only(error):
            return _NOT_NOW.format("The database could not be written: it is read only.", "let it be written")
    if isinstance(error, OperationalError | InterfaceError | NoConnectionError | DatabaseUnavailableError):
        return "The database could not be written (is the disk full?). Nothing was stored; try again."
    return None


_NOT_NOW = "{} Nothing was stored. Fix: {}; Winnow then continues by itself."
_PUT_BACK = "put a backup in its place (winnow restore FILE --replace; winnow doctor says more)"
_noted: list[str] = []


def words_for_fault(error: BaseException) -> str:
    """Why the store failed, in words for everyone; it is noted, too. Re-raises any other error."""
    why = why_it_failed(error)
    if why is None:
        raise error
    note_fault(error, why)
    return why


def note_fault(error: BaseException, why: str) -> None:
    """Log it with all that is known, but only once where the same continues."""
    if _noted == [why]:
        logger.error("Again: %s", why)
        return
    _noted[:] = [why]
    logger.error("The store failed.", exc_info=error)


class FaultLog:
    """Messages of a process that waits for the store: a line when it fails, a line when it answers again."""

    def __init__(self) -> None:
        self._said: str | None = None

    def say(self, error: Exception, what: str) -> None:
        """Report a fault that is not the store's: `what`, with all details, every time."""
        why = why_it_failed(error) if isinstance(error, STORE_FAULTS) else None
        if why is None:
            logger.error(what, exc_info=error)
        elif why != self._said:
            logger.error("%s Until then this process waits.", why)
            self._said = why

    def well(self) -> None:
        """To be called where the store has answered."""
        if self._said is not None:
            logger.warning("The store answers again.")
            self._said = None


def why_nothing_is_saved(home: Home) -> str | None:
    """Why nothing can be stored any more, before anyone tries, in words for everyone; None if it can.

    Takes microseconds: a quota, or a limit of this process, is noticed by the first press alone.
    """
    try:
        home.database.check_file()
    except DatabaseReplacedError as error:
        return str(error)
    path = home.database.path
    for place in {home.settings.home, *([] if path is None else [path.parent])}:
        try:
            disk = os.statvfs(place)
        except OSError:
            return _NOT_NOW.format("The data folder is gone.", "put it back")
        if disk.f_flag & os.ST_RDONLY or not os.access(place, os.W_OK):
            return _NOT_NOW.format("The data folder is read only.", "let it be written")
        if (disk.f_bfree if os.geteuid() == 0 else disk.f_bavail) * disk.f_frsize < LEAST_FREE:
            return _NOT_NOW.format("The disk of the data folder is full.", "make room on it")
    if path is not None and not os.access(path, os.W_OK):
        return _NOT_NOW.format("The database file is read only.", "let it be written")
    return None


def why_not_now(home: Home) -> str | None:
    """Why no one can write to the database now, found by taking its write lock; None if someone can. Nothing is
    written. It waits for other writers, half a minute at most."""
    try:
        with suppress(_LockTakenError), home.database.write(lasting=False) as session:
            lock_for_writing(session)
            raise _LockTakenError  # rolls back
    except STORE_FAULTS as error:
        return words_for_fault(error)
    return None


class _LockTakenError(Exception):
    """Raised and caught in `why_not_now`."""


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
