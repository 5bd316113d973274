"""An earlier state of a project, opened as the present one is: its log up to an entry, folded again.

Nothing of it is stored. What it is folded from never changes: table, log, and the settings of the time.
"""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import replace
from typing import TYPE_CHECKING

from db import entries
from plcore.arrays import untold
from workflow.access import Right
from workflow.answering.history import KeptLog
from workflow.exporting.as_of import find_past
from workflow.log.reading import take_in
from workflow.opened import Opened

if TYPE_CHECKING:
    from plcore.loop import Learner
    from workflow.exporting.as_of import AsOf
    from workflow.exporting.snapshot import Past
    from workflow.kinds import AnyKind
    from workflow.seat import Seat


@contextmanager
def open_as_of(seat: Seat, as_of: AsOf | None) -> Iterator[Opened[Learner]]:
    """The project as it was then, or as it is now (None), with its learner; one thread at a time has it. For owners.

    Raises
    ------
    AsOfError
        There is no such state.
    ValueError
        The model of that time cannot be fitted.
    NotAllowed, NotFound
    """
    if as_of is None:
        with seat.learner(Right.OWN) as opened:
            seat.home.shelf.slot(opened.project_id).past.let_go()
            yield opened
        return
    with seat.reading(Right.OWN) as reading:
        past = find_past(reading.session, reading.project, as_of)
    with open_past(seat, past) as opened:
        yield opened


@contextmanager
def open_past(seat: Seat, past: Past) -> Iterator[Opened[Learner]]:
    """As `open_as_of`, of a state that was found before."""
    kept, kind = seat.home.shelf.slot(past.project_id).past, seat.kind
    state = past, seat.home.database.times_replaced
    with kept.lock:
        learner = kept.learner
        if learner is None or kept.state != state:
            kept.let_go()  # one of them in memory is enough
            learner = _build(seat, kind, past)
            kept.state, kept.learner = state, learner
        with seat.reading(Right.OWN) as reading:
            project = replace(reading.project, settings=past.settings, table_hash=past.table_hash)
            known = reading.person, reading.role, seat.home, reading.session
            yield Opened(*known, project, kind, learner, KeptLog())


def _build(seat: Seat, kind: AnyKind, past: Past) -> Learner:
    settings = kind.read_settings(past.settings)
    learner: Learner = kind.build_learner(seat.home, past.table_hash, settings, past.changes)
    if learner.waits and kind.NEIGHBORS is not None:
        kind.NEIGHBORS.find(seat.home, past.table_hash, settings, past.changes, untold)
        learner = kind.build_learner(seat.home, past.table_hash, settings, past.changes)
    with seat.reading(Right.OWN) as reading:
        take_in(learner.pool, entries.each(reading.session, past.project_id, past.seq), learner.apply)
    kind.give_model(seat.home, learner, past)
    return learner
