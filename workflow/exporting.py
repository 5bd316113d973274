"""Files that a project gives out: its table with the labels people have made exact, and the log they come from."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pandas as pd

from db import entries, people
from workflow.common.log_csv import write_log

if TYPE_CHECKING:
    from workflow.seat import Seat

LOG = "log"
"""Name of the file that is the log, in projects of every kind."""


def export_file(seat: Seat, name: str = "table") -> bytes:
    """A file of the project. name : one of `FILES` in the `exporting` of its kind, or LOG

    Raises
    ------
    NotAllowed
        The person is not an owner.
    NotFound
        No such project.
    ValueError
        The project has no such file.
    """
    if name == LOG:
        return export_log(seat)
    with seat.learner(owner=True) as opened:
        files = opened.kind.FILES
        if name not in files:
            raise ValueError(f"A file is one of {', '.join((*files, LOG))}. Got {name!r}.")
        return files[name](opened)


def export_log(seat: Seat) -> bytes:
    """The log as CSV (see `workflow.common.log_csv`): every answer, skip, withdrawal and change of classes with who,
    when, why and what it changed, in the words it was given in. Raises as ``export_file``.
    """
    with seat.learner(owner=True) as opened:
        names = {one.id: one.name for one in people.listed(opened.session)}
        log = entries.after(opened.session, opened.project_id, 0)
        ids = list(map(str, opened.learner.table.ids))
    return b"".join(write_log(log, names, ids))


def sources(seat: Seat) -> dict[str, int]:
    """How many labels come from each source. Raises as ``export_file``."""
    with seat.learner(owner=True) as opened:
        return opened.kind.sources(opened)


def preview(seat: Seat, n_rows: int) -> pd.DataFrame:
    """The first rows of the table as it would be exported, what is added first. Raises as ``export_file``."""
    with seat.learner(owner=True) as opened:
        return opened.kind.preview(opened, n_rows)
