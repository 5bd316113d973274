"""A small world for the use cases: a home in a temporary folder, an owner, annotators, a project."""

from __future__ import annotations

import io
import resource
from collections.abc import Iterator
from contextlib import contextmanager
from functools import cache
from typing import Any

import numpy as np
import pandas as pd
from sqlalchemy import select, text

from db import entries
from db import projects as stored_projects
from db.base import Base
from plcore import LabelTable, LearnerSettings, Roles, read_cells
from tests.present import present
from workflow.answering import loop
from workflow.exporting import files
from workflow.exporting.as_of import AsOf
from workflow.kinds.one_label import training
from workflow.people import browsers, members, team
from workflow.projects import managing, progress, standing
from workflow.rows import queue
from workflow.seat import Seat
from workflow.server.home import Home


def small_frame(n: int = 60, seed: int = 3) -> pd.DataFrame:
    """Three well separated classes; most rows carry a false candidate; the truth is known."""
    rng = np.random.default_rng(seed)
    truth = rng.integers(3, size=n)
    points = rng.normal(size=(n, 2)) + 4 * np.eye(3)[truth][:, :2]
    names = np.array(["ant", "bee", "cat"])
    candidates = []
    for label in truth:
        others = [k for k in range(3) if k != label]
        extra = [k for k in others if rng.random() < 0.6]
        candidates.append("|".join(names[sorted([label, *extra])]))
    return pd.DataFrame(
        {
            "id": [f"r{k}" for k in range(n)],
            "candidates": candidates,
            "truth": names[truth],
            "x": points[:, 0].round(4),
            "y": points[:, 1].round(4),
        }
    )


ROLES = Roles(candidates="candidates", truth="truth", id="id", numbers=("x", "y"))


@cache
def small_table(n: int = 60) -> LabelTable:
    """The table of `small_frame`, immutable and shared by all tests."""
    return LabelTable.from_frame(small_frame(n), ROLES)


def small_project(home: Home, owner: int, name: str = "small", **settings: object) -> int:
    return managing.create_project(Seat(home, owner), name, small_table(), LearnerSettings(n_neighbors=4, **settings))  # type: ignore[arg-type]


def somebody(home: Home, owner: int, name: str) -> int:
    """A signed-in person of this name who is a member of no project."""
    secret = team.redeem_link(home, team.make_link(Seat(home, owner), name))
    person = present(browsers.person_of(home, secret))
    return person.id


def annotator(home: Home, owner: int, name: str, role: str = "annotator") -> int:
    """A signed-in person of this name, with this role in every existing project."""
    person = somebody(home, owner, name)
    members.share(Seat(home, owner), name, managing.project_names(Seat(home, owner)), role)
    return person


def answer_next(home: Home, person: int, project: int, choice: int = 0) -> standing.Saved:
    question = present(loop.next_question(Seat(home, person, project)))
    return loop.submit_answer(Seat(home, person, project), question.token, "is", [question.choices[choice]])


def count_entries(home: Home) -> int:
    with home.database.read() as session:
        return int(session.execute(text("SELECT count(*) FROM entries")).scalar_one())


def log(home: Home, project: int) -> list[entries.LogEntry]:
    with home.database.read() as session:
        return entries.after(session, project, 0)


def log_of(seat: Seat) -> list[entries.LogEntry]:
    return log(seat.home, seat.project_id or 0)


@contextmanager
def full_disk() -> Iterator[None]:
    """Meanwhile, every write to a file by this process fails as on a full disk."""
    soft, hard = resource.getrlimit(resource.RLIMIT_FSIZE)
    resource.setrlimit(resource.RLIMIT_FSIZE, (0, hard))  # Python ignores the signal: writing fails with EFBIG
    try:
        yield
    finally:
        resource.setrlimit(resource.RLIMIT_FSIZE, (soft, hard))


@contextmanager
def unwritable(home: Home) -> Iterator[None]:
    """Meanwhile, the disk of the database is full."""
    if home.database.is_sqlite:
        with full_disk():
            yield
        return
    names = ", ".join(table.name for table in Base.metadata.sorted_tables)
    with home.database.write() as session:
        session.execute(text(_FILL.format(tables=names)))
    try:
        yield
    finally:
        with home.database.write() as session:
            session.execute(text("DROP FUNCTION is_full CASCADE"))


# PostgreSQL errors of a full disk, at every writing line.
_FILL = """
CREATE FUNCTION is_full() RETURNS trigger LANGUAGE plpgsql AS $$ BEGIN
    RAISE EXCEPTION USING ERRCODE = 'disk_full', MESSAGE = 'No space left on device';
END $$;
DO $$ DECLARE one regclass; BEGIN
    FOREACH one IN ARRAY '{{{tables}}}'::regclass[] LOOP
        EXECUTE 'CREATE TRIGGER a_full_disk BEFORE INSERT OR UPDATE OR DELETE ON ' || one ||
            ' EXECUTE FUNCTION is_full()';
    END LOOP;
END $$
"""


def stored(home: Home) -> dict[str, list[tuple[object, ...]]]:
    """Every row of every table."""
    with home.database.read() as session:
        return {
            table.name: sorted(map(tuple, session.execute(select(table))), key=repr)
            for table in Base.metadata.sorted_tables
        }


def counts_agreed(home: Home, person: int, project: int) -> tuple[int, int]:
    """(answered, left) on Home, which Annotate, Progress and the queue must share."""
    summary = managing.get_project(Seat(home, person, project))
    now = standing.standing(Seat(home, person, project))
    view = progress.read_progress(Seat(home, person, project))
    shown = queue.list_queue(Seat(home, person, project))
    found = summary.answered, summary.left
    assert shown.open == summary.left
    if summary.by_row:  # else a row is listed once, however many of its labels are open
        assert shown.open == shown.listed + shown.blind
    assert found == (now.answered, now.left) == (view.answered, view.left)
    return found


@contextmanager
def opened(home: Home, person: int, project: int) -> Iterator[Any]:
    """The project's learner, caught up with the log."""
    with Seat(home, person, project).learner() as found:
        yield found.learner


def file_of(
    seat: Seat, name: str = "csv", rows: str = files.ALL, above: float = files.ABOVE, as_of: AsOf | None = None
) -> bytes:
    """A file exported from the project."""
    file = io.BytesIO()
    files.take(seat, files.ExportChoice(name, rows, above, as_of=as_of)).write(file, lambda _done: None)
    return file.getvalue()


def exported(home: Home, person: int, project: int) -> pd.DataFrame:
    """The project's exported table, as CSV."""
    return read_cells(file_of(Seat(home, person, project))).reset_index(drop=True)


def exported_cells(home: Home, person: int, project: int) -> pd.DataFrame:
    """One line for each label of each row, for label vectors."""
    return read_cells(file_of(Seat(home, person, project), "cells")).reset_index(drop=True)


def newest_version(home: Home, project: int) -> int:
    """The newest published model version; -1 if there is none."""
    with home.database.read() as session:
        return training.newest_version(session, stored_projects.get(session, project))
