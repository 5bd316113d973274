"""What it costs to look after every commit: is the file still there, how high is the database, is that noted?"""

from __future__ import annotations

import time
from collections.abc import Callable
from datetime import UTC, datetime

import numpy as np
from sqlalchemy import event

from benchmarks.harness import Table, folder, page, sized
from db import people
from db.engine import Database
from db.identity import Note

TITLE = "Looking after every commit"
PACKAGES = ("SQLAlchemy",)
ROUNDS, COMMITS = sized((15, 100), tiny=(2, 3))


def committing(database: Database) -> Callable[[int], float]:
    """Return a call that commits COMMITS lines and returns the CPU seconds of one."""

    def commit(round_: int) -> float:
        begun = time.process_time()
        for number in range(COMMITS):
            with database.write() as session:
                people.add(session, f"person {round_ * COMMITS + number}", "annotator", datetime.now(UTC))
        return (time.process_time() - begun) / COMMITS

    return commit


def measure() -> str:
    with folder() as place:
        database = Database(f"sqlite:///{place}/winnow.sqlite3", Note(place / "database.seen"))
        plain = Database(f"sqlite:///{place}/plain.sqlite3")
        for one in (database, plain):
            one.migrate()
        event.remove(plain._writer, "commit", plain._count)
        for name in ("check_file", "_check_before_commit", "_after_commit"):  # what is measured
            setattr(plain, name, lambda: None)
        calls = committing(plain), committing(database)
        # By turns, so that what else the machine does meets both.
        bare, whole = np.median([[call(at) for call in calls] for at in range(ROUNDS)], axis=0)
        for one in (database, plain):
            one.close()
    table = Table("commit | CPU µs | ratio")
    table.add("without", f"{bare * 1e6:.0f}", 1)
    table.add("looked after", f"{whole * 1e6:.0f}", f"{whole / bare:.2f}")
    return page(
        f"""{ROUNDS} rounds of {COMMITS} commits of one line to SQLite, by turns with and without the looks at file, log
and header, the height and the note outside of the database; CPU time, the medians.""",
        table,
        f"It adds {(whole - bare) * 1e3:.3f} ms; at most 0.2 ms was asked for.",
    )
