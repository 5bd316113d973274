"""Sign-ins that were found in the database, for as long as nobody has committed anything to it since.

A page asks for a hundred files at once, and each is for those alone who are signed in. To hear whether the database has
changed takes a fraction of the time that the sign-in takes; what has ended, here or by another process, changes it.
"""

from __future__ import annotations

import threading
from datetime import datetime
from typing import TYPE_CHECKING

from sqlalchemy.exc import SQLAlchemyError

from db import sign_ins
from db.engine import Database, DatabaseUnavailableError

if TYPE_CHECKING:
    from db.sign_ins import SignedIn


class KnownBrowsers:
    """What was found since the latest commit, by the SHA-256 of the sign-in's secret."""

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._state: tuple[object, ...] = ()
        self._found: dict[str, SignedIn] = {}

    def find(self, database: Database, secret_hash: str, now: datetime) -> SignedIn | None:
        """`sign_ins.find`, from the database where it is not known to say the same as before.

        Of PostgreSQL it is always asked for: there the one question takes as long as the other.
        """
        if not database.is_sqlite:
            return _asked(database, secret_hash, now)
        try:  # before it is asked, never after
            state = (database.times_replaced, *database.stamp())
        except (SQLAlchemyError, DatabaseUnavailableError):
            return _asked(database, secret_hash, now)  # it may be told all the same, and else why not
        with self._lock:
            if state != self._state:
                self._state, self._found = state, {}
            known = self._found.get(secret_hash)
        if known is not None and now < known.expires_at:
            return known
        found = _asked(database, secret_hash, now)
        with self._lock:
            if found is not None and state == self._state:
                self._found[secret_hash] = found
        return found


def _asked(database: Database, secret_hash: str, now: datetime) -> SignedIn | None:
    with database.read(single=True) as session:
        return sign_ins.find(session, secret_hash, now)
