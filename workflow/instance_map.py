"""The map of a project's rows: where each lies by its features, how it stands, what it is, and who answered it."""

from __future__ import annotations

import threading
from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any
from weakref import WeakKeyDictionary

import numpy as np

from db import answers
from workflow.access import NotAllowed, Right
from workflow.answering import ask_next
from workflow.common import map_layouts
from workflow.common.found import names_of
from workflow.common.map_places import features_of, more_to_show, principal_axes, rows_on_map
from workflow.kinds.mapping import NamedRows
from workflow.models import leases
from workflow.queue import may_see_order

if TYPE_CHECKING:
    from db.projects import Project
    from plcore import LabelTable
    from plcore.loop import Learner
    from workflow.common.opened import Opened
    from workflow.seat import Seat

STATES = ("open", "answered", "given", "held out", "bad")


@dataclass(frozen=True)
class InstanceMap:
    """Arrays over the k rows on the map.

    places : (k, 2) where they lie: beside those most like them where they are `laid_out`, else their first two
        principal components
    states : (k,) number in STATES
    labels : of each row its candidates now; of label vectors the labels known to be right
    classes : their names, which `named` numbers
    explained : share of the variance of the features that the two components hold
    coming : a worker is to lay them out      layout_fault : why it cannot, "" where nothing keeps it
    can_ask : whether this person may have a row asked that they choose (`ask_row`)
    """

    rows: np.ndarray
    row_ids: tuple[str, ...]
    places: np.ndarray
    states: np.ndarray
    labels: tuple[tuple[str, ...], ...]
    classes: tuple[str, ...]
    named: NamedRows
    explained: float
    laid_out: bool
    coming: bool
    layout_fault: str
    n_rows: int
    can_ask: bool


@dataclass(frozen=True)
class _Places:
    """more : whether two axes may be too few      laid_out : a worker has placed the rows"""

    rows: np.ndarray
    places: np.ndarray
    explained: float
    more: bool
    laid_out: bool = False


# Where a row lies does not depend on the answers: computed once for a learner's table, by one thread.
_known: WeakKeyDictionary[Learner, _Places] = WeakKeyDictionary()
_placing = threading.Lock()


def instance_map(seat: Seat) -> InstanceMap:
    """Where the rows lie, and the state of each. The learner is locked for a moment only: nobody waits for a question.

    Raises
    ------
    NotAllowed, NotFound
    """
    with seat.learner() as opened:
        learner, table, project = opened.learner, opened.learner.table, opened.project
    with _placing:
        found = _known.get(learner) or _place(table)
        found, fault = _laid_out(seat, project, found)
        _known[learner] = found
    rows = found.rows.tolist()
    with seat.learner() as opened:
        states = _row_states(opened)[found.rows]
        labels = opened.kind.labels_on_map(opened.learner, rows)
        named = opened.kind.named_on_map(opened.learner, rows)
        classes = tuple(opened.learner.classes)
        can_ask = opened.may(Right.ANSWER) and may_see_order(opened)
    return InstanceMap(
        rows=found.rows,
        row_ids=tuple(map(table.id_of, found.rows)),
        places=found.places,
        states=states,
        labels=labels,
        classes=classes,
        named=named,
        explained=found.explained,
        laid_out=found.laid_out,
        coming=found.more and not found.laid_out and not fault and seat.home.settings.workers > 0,
        layout_fault=fault,
        n_rows=table.n_rows,
        can_ask=can_ask,
    )


def is_waited_for(seat: Seat) -> bool:
    """Whether the layout that `coming` speaks of is neither made by now nor given up. Raises NotAllowed, NotFound."""
    with seat.reading() as reading:
        project = reading.project
    rows = rows_on_map(project.n_rows)
    return map_layouts.kept(seat.home, project.table_hash, rows) is None and not _fault(seat, project)


def answered_by(seat: Seat, rows: Sequence[int]) -> tuple[str, ...]:
    """Who gave the latest answer to each of these rows that was not taken back, "" where nobody did. For who may see
    everybody's answers.

    Raises
    ------
    NotAllowed, NotFound
    """
    kinds = seat.kind.ANSWERS
    with seat.reading(Right.REVIEW) as reading:
        found = answers.latest_people(reading.session, reading.project.id, kinds, rows)
        names = names_of(reading.session)
    return tuple(names.get(found[row], "") if row in found else "" for row in rows)


def ask_row(seat: Seat, row: int) -> Any:
    """Ask this person about a row of the map; of label vectors whose labels are asked one by one, about the open label
    that is in doubt most. Returns the shown question.

    Raises
    ------
    NotAllowed
        The person does not own the project, which has blind checks: that a row cannot be chosen would show that it is
        one.
    AnswerError, NotSaved, NotFound
        As `workflow.answering.ask_next`.
    """
    with seat.learner(Right.ANSWER) as opened:
        if not may_see_order(opened):
            raise NotAllowed("In a project with blind checks the owner alone chooses which row is asked.")
        label = (
            opened.kind.label_to_ask(opened.learner, row) if 0 <= row < opened.learner.table.n_rows else None
        )
    return ask_next(seat, row, label)


def _row_states(opened: Opened[Any]) -> np.ndarray:
    """(n,) number in STATES. Control rows, or rows with control cells, look like all others: they are asked blindly."""
    pool = opened.learner.pool
    answered, still_open = opened.kind.answered_and_open(opened.learner)
    states = np.full(len(pool.bad), STATES.index("given"))
    states[answered] = STATES.index("answered")
    states[still_open] = STATES.index("open")  # answered or not: it can still be asked
    states[pool.test_rows] = STATES.index("held out")
    states[pool.bad] = STATES.index("bad")
    return states


def _place(table: LabelTable) -> _Places:
    """Where the rows lie by the principal axes of their features, fitted on the rows shown."""
    rows = rows_on_map(table.n_rows)
    X = features_of(table, rows)
    places, explained = principal_axes(X)
    return _Places(rows, places, explained, more_to_show(X))


def _laid_out(seat: Seat, project: Project, found: _Places) -> tuple[_Places, str]:
    """The layout that a worker has made; where there is none, the axes, and why there will be none: "" while one is
    being made, which is wished for here, or where there is no more to show than the axes do."""
    if found.laid_out or not found.more:
        return found, ""
    places = map_layouts.kept(seat.home, project.table_hash, found.rows)
    if places is not None:
        return replace(found, places=places, laid_out=True), ""
    return found, _fault(seat, project)


def _fault(seat: Seat, project: Project) -> str:
    """Why nobody lays out the map; "" where a worker is to, for whom the wish is left here."""
    if fault := map_layouts.wish(seat.home, project.id, project.table_hash).fault:
        return fault
    with seat.reading() as reading:
        return leases.resting(reading.session, project.id, project.table_hash, map_layouts.TASK) or ""
