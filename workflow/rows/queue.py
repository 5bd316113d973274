"""The queue: every open row except blind checks, in question order, with its score and the reason."""

from __future__ import annotations

import csv
import io
from typing import Any

from db import answers
from plcore.loop import Learner
from workflow.access import NotAllowed, Right
from workflow.answering.history import SAYS_SOMETHING
from workflow.kinds import needed
from workflow.kinds.kind import Queueing
from workflow.opened import Opened
from workflow.rows import meaning
from workflow.rows.finding import QueueFilter as QueueFilter
from workflow.rows.finding import QueueSearch, check_row, rows_with, words_of
from workflow.rows.meaning import Meaning
from workflow.rows.meaning import NoMeaningError as NoMeaningError
from workflow.seat import Seat


def list_queue(seat: Seat, search: str = "", page: int = 0, *, only: QueueFilter = QueueFilter.ALL) -> object:
    """Return a page of the open rows that contain the words searched for, in question order: the `QueueView` of the
    project's kind.

    Raises
    NotAllowed : The person is not an owner and the project has blind checks: rows missing in the queue would be
        revealed as such. Or they are not a reviewer, and want only some of the rows.
    """
    words, held = words_of(search), None
    if words:
        with seat.learner(Right.ANSWER) as opened:
            _check_may_see(opened)
            table = opened.learner.table
        held = rows_with(table, words)  # while no one waits for the learner
    flagged = _flagged(seat)
    with seat.learner(Right.ANSWER) as opened:
        _check_may_see(opened, only)
        if words and opened.learner.table is not table:  # more rows came meanwhile
            held = rows_with(opened.learner.table, words)
        wanted = QueueSearch(words=search, held=held, page=page, only=only, flagged=flagged)
        return _queue(opened).listed(opened, wanted)


def list_nearest(
    seat: Seat, search: str = "", like: int | None = None, page: int = 0, *, only: QueueFilter = QueueFilter.ALL
) -> object:
    """Return a page of the open rows by similarity in meaning to the search words, or to the row `like`, nearest first:
    the `QueueView` of the project's kind. Rows without a vector are left out.

    like : number of a row; the words are then ignored

    Raises
    NoMeaningError : They cannot be compared, in words with the fix.
    NotAllowed : As for `list_queue`.
    """
    with seat.learner(Right.ANSWER) as opened:
        _check_may_see(opened, only)
        table = opened.learner.table
    if like is not None:
        check_row(table, like)
        wanted = meaning.wanted_row(table, like)
    else:
        wanted = meaning.wanted_words(seat.home, table, search)
    near = meaning.similarities(table, wanted)  # while no one waits for the learner
    flagged = _flagged(seat)
    with seat.learner(Right.ANSWER) as opened:
        _check_may_see(opened, only)
        if opened.learner.table is not table:  # more rows came meanwhile
            near = meaning.similarities(opened.learner.table, wanted)
        return _queue(opened).listed(opened, QueueSearch(near=near, page=page, only=only, flagged=flagged))


def _flagged(seat: Seat) -> dict[int, set[int]]:
    """Return the flagged answers by row, for those who may see everyone's answers."""
    with seat.reading(Right.ANSWER) as reading:
        if reading.whose is not None:
            return {}
        return answers.flagged(reading.session, reading.project.id, SAYS_SOMETHING)


def search_ways(seat: Seat) -> Meaning:
    """How the queue can be searched by meaning. Raises NotAllowed as `list_queue`."""
    with seat.learner(Right.ANSWER) as opened:
        _check_may_see(opened)
        table = opened.learner.table
    return meaning.ways(seat.home, table)


def _queue(opened: Opened[Learner]) -> Queueing[Opened[Learner]]:
    return needed(opened.kind, opened.kind.QUEUE, "queue")


def may_see_order(opened: Opened[Learner]) -> bool:
    """Return whether this person may see which rows can be chosen. In a project with blind checks that would reveal
    them."""
    return opened.may(Right.OWN) or not opened.learner.pool.blind_rows.any()


def _check_may_see(opened: Opened[Learner], only: QueueFilter = QueueFilter.ALL) -> None:
    if only is not QueueFilter.ALL and opened.whose is not None:
        raise NotAllowed("Only reviewers and the owner see which rows others have answered. Fix: list all rows.")
    if not may_see_order(opened):
        raise NotAllowed(
            "In a project with blind checks the queue is for the owner: it would show which they are. Fix: open "
            "Answer, which asks about the rows in the same order."
        )


def queue_rows(seat: Seat) -> list[Any]:
    """Return the whole queue as rows of the project's kind. It waits as `queue_csv` can. Raises the same errors."""
    seat.settle()
    with seat.learner(Right.OWN) as opened:
        return list(_queue(opened).rows(opened))


def queue_csv(seat: Seat, *, wait: bool = False) -> bytes:
    """The whole queue as CSV. Raises NotAllowed unless the person is an owner.

    wait : first wait for the model that is fitted in this process: until there is one, the order is random
    """
    if wait:
        seat.settle()
    text = io.StringIO()
    writer = csv.writer(text)  # lines end in CR LF, so any line break in a cell is quoted
    with seat.learner(Right.OWN) as opened:
        writer.writerows(_queue(opened).lines(opened))
    return text.getvalue().encode()
