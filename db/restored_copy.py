"""A copy of the database that is about to be put in the place of another: nobody gets in by what has ended since.

A backup knows sign-ins and tokens that were ended after it was made, and links that were used: with it they would be
good again. Its tables may be of any earlier version.
"""

from __future__ import annotations

import json
import sqlite3
from contextlib import closing
from datetime import UTC, datetime
from pathlib import Path

_HAS = "SELECT count(*) FROM sqlite_master WHERE type = 'table' AND name = ?"
_END_SIGN_INS = "UPDATE sign_ins SET ended_at = :now WHERE ended_at IS NULL AND expires_at > :now"
_END_LINKS = "UPDATE links SET expires_at = :now WHERE used_at IS NULL AND expires_at > :now"
_END_TOKENS = (
    "UPDATE tokens SET ended_at = :now WHERE ended_at IS NULL AND (expires_at IS NULL OR expires_at > :now)"
)
_NOTE = "INSERT INTO events (at, what, details, address) VALUES (:now, :what, :details, '')"


def end_access(copy: Path, at: datetime, what: str, file: str) -> None:
    """End every sign-in, link and token of this SQLite file that is open at that moment, and note it as an event.

    what : the event's word, stored as it is      file : whose copy it is, for the event
    Raises sqlite3.Error; nothing was changed then.
    """
    now = at.astimezone(UTC).strftime("%Y-%m-%d %H:%M:%S.%f")  # as SQLAlchemy stores moments in SQLite
    with closing(sqlite3.connect(copy)) as there, there:
        sign_ins = there.execute(_END_SIGN_INS, {"now": now}).rowcount
        links = there.execute(_END_LINKS, {"now": now}).rowcount
        has = {one: there.execute(_HAS, (one,)).fetchone() == (1,) for one in ("events", "tokens")}
        tokens = there.execute(_END_TOKENS, {"now": now}).rowcount if has["tokens"] else 0
        if has["events"]:  # both came with later versions
            details = json.dumps({"file": file, "sign_ins": sign_ins, "links": links, "tokens": tokens})
            there.execute(_NOTE, {"now": now, "what": what, "details": details})
