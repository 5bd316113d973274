"""What it costs to look after every commit: is the file still there, how high is the database, is that noted?"""

from __future__ import annotations

import tempfile
import time
from collections.abc import Callable
from datetime import UTC, datetime
from pathlib import Path

import numpy as np
from sqlalchemy import event

from benchmarks import report
from db import people
from db.engine import Database
from db.identity import Note

ROUNDS, COMMITS = 15, 100


def cpu(call: Callable[[int], object], first: int) -> float:
    """CPU seconds of this many calls, a call."""
    begun = time.process_time()
    for number in range(COMMITS):
        call(first + number)
    return (time.process_time() - begun) / COMMITS


def main() -> None:
    with tempfile.TemporaryDirectory() as folder:
        database = Database(f"sqlite:///{folder}/winnow.sqlite3", Note(Path(folder) / "database.seen"))
        database.migrate()
        plain = Database(f"sqlite:///{folder}/plain.sqlite3")
        plain.migrate()
        _do_without(plain)

        def commit_to(one: Database) -> Callable[[int], None]:
            def commit(number: int) -> None:
                with one.write() as session:
                    people.add(session, f"person {number}", "annotator", datetime.now(UTC))

            return commit

        with_it, without = [], []
        for at in range(ROUNDS):  # by turns, so that what else the machine does meets both
            with_it.append(cpu(commit_to(database), at * COMMITS))
            without.append(cpu(commit_to(plain), at * COMMITS))
        database.close()
        plain.close()
    whole, bare = np.median(with_it), np.median(without)
    report.write(
        "commit_checks",
        "Looking after every commit",
        f"""
{ROUNDS} rounds of {COMMITS} commits of one line to SQLite, by turns with and without the looks at file, log and
header, the height and the note outside of the database; CPU time, the medians.

| commit | CPU µs | ratio |
|---|---|---|
| without | {bare * 1e6:.0f} | 1 |
| looked after | {whole * 1e6:.0f} | {whole / bare:.2f} |

It adds {(whole - bare) * 1e3:.3f} ms; at most 0.2 ms was asked for.
""",
        ("SQLAlchemy",),
    )


def _do_without(database: Database) -> None:
    """Take from it what this benchmark measures."""
    event.remove(database._writer, "commit", database._count)
    for name in ("check_file", "_check_before_commit", "_after_commit"):
        setattr(database, name, lambda: None)


if __name__ == "__main__":
    main()
