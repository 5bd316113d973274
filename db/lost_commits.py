"""A commit whose answer was lost with the connection: did it come through?

PostgreSQL knows it by the number of the transaction. After a crash it may give that number to another one. It begins
its figures anew then, so that their age says whether it still knows.
"""

from __future__ import annotations

import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager, suppress

from sqlalchemy import Engine, text
from sqlalchemy.exc import DBAPIError

from db.faults import is_gone
from db.identity import Commit
from db.opened_file import DatabaseUnavailableError

PATIENCE = 5.0
"""Seconds for which the server is asked: one that is only restarted is back by then."""
PAUSE = 0.1
"""Seconds between two tries."""
# After a crash the number may be one that is still to come, which is an error: asked only where there was none.
_LOOK = text(
    "SELECT since.is_same, CASE WHEN since.is_same THEN pg_xact_status(CAST(:number AS xid8)) END FROM (SELECT "
    "pg_stat_get_bgwriter_stat_reset_time()::text IS NOT DISTINCT FROM CAST(:since AS text) AS is_same) AS since"
)


class CommitUnknownError(DatabaseUnavailableError):
    """Nobody can say whether the transaction was committed. The message is for everybody to read."""

    def __init__(self) -> None:
        super().__init__(
            "The connection to PostgreSQL was lost while this was being stored. It is not known whether it was stored: "
            "look before you do it again. An answer may be pressed again, it is stored once. Fix: start PostgreSQL; "
            "Winnow then goes on by itself."
        )


class Committing(threading.local):
    """What each thread has sent last, of what it is about; None where nothing."""

    sent: Commit | None = None


@contextmanager
def certain(committing: Committing, engine: Engine) -> Iterator[None]:
    """Around a transaction, which tells what it sends: where the connection is lost during its commit, it is asked what
    became of it. Arguments and errors as of `came_through`."""
    committing.sent = None  # that of a commit before is not of this one
    try:
        yield
    except DBAPIError as error:
        sent = committing.sent
        if sent is None or sent.number is None or not is_gone(error) or not came_through(engine, sent):
            raise


def came_through(engine: Engine, sent: Commit) -> bool:
    """Whether this commit is stored. Raises CommitUnknownError.

    engine : leads to the same database by another connection
    """
    until = time.monotonic() + PATIENCE
    while True:
        with suppress(DBAPIError):
            with engine.connect() as connection:
                knows, status = connection.execute(_LOOK, {"number": sent.number, "since": sent.since}).one()
            if not knows or status is None:
                break
            if status != "in progress":
                return bool(status == "committed")
        if time.monotonic() >= until:
            break
        time.sleep(PAUSE)
    raise CommitUnknownError
