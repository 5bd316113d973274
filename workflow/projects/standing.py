"""The state of a project for one person: the counts, and their last answer."""

from __future__ import annotations

from collections.abc import Collection
from dataclasses import dataclass, replace
from datetime import UTC, datetime
from functools import lru_cache
from hashlib import blake2s

from db import questions
from plcore.loop import Learner
from workflow import kinds
from workflow.access import Right
from workflow.answering.asked import Saved, saved_of
from workflow.answering.history import OwnAnswer, latest_standing, latest_withdrawn
from workflow.answering.undoing import own_answers
from workflow.answering.walking import Walk
from workflow.opened import Opened
from workflow.rows.row import RowView, row_view
from workflow.seat import Seat

__all__ = ["LAST", "OwnAnswer", "Saved", "Standing", "last_ten", "standing"]

LAST = 10
"""Number of answers that the history shows with their rows."""


@dataclass(frozen=True)
class Standing:
    """The state of a project as one person's question card shows it.

    answered, left : answered and open rows, or labels if questions are about these
    begun : open ones that have an answer and wait for that of another annotator
    put_off : open ones that this person recently skipped or could not tell
    elsewhere : rows for this person that are on other people's screens now
    settled : the share, in [0, 1], shown on the Progress page as "Settled", or "Known or sure"
    has_proof : whether `settled` is proven about predictions; else it is a share of rows or labels
    done : whether no answer can change a decision any more
    stop : the sentences of the owner's stop rules that are met; empty if none is
    last : this person's latest entry      history : their answers, newest first
    undoable, redoable : seq of the answer that undo would withdraw, or redo restore; None: there is none
    classes : every class of the project, in its order
    may_export : whether this person may export the project
    height : seq of the log's latest entry; of two states the one with the higher is newer
    frame : a stamp of what surrounds the card: classes, and all of the owner's settings for answering
    walk : the other projects that ask about the same row; None if there are none
    """

    answered: int
    left: int
    begun: int
    put_off: int
    elsewhere: int
    settled: float
    has_proof: bool
    done: bool
    stop: str
    last: Saved | None
    undoable: int | None
    redoable: int | None
    history: tuple[OwnAnswer, ...]
    classes: tuple[str, ...]
    may_export: bool
    height: int
    frame: str
    walk: Walk | None = None


def standing(seat: Seat) -> Standing:
    """Return the counts, the rows on other people's screens, and this person's latest entry."""
    now = datetime.now(UTC)
    with seat.learner(Right.ANSWER) as opened:
        here = opened.session, opened.project_id, opened.person_id
        return standing_in(opened, questions.reserved_places(*here, now))


def standing_in(opened: Opened[Learner], reserved: Collection[tuple[int, str | None]]) -> Standing:
    """Return the same for a project that is open for this person, or just was, in a thread that still has its learner.
    Reads the database only if `Opened.own_log` was not read before.

    reserved : places on other people's screens
    """
    learner, kind = opened.learner, opened.kind
    history = own_answers(opened)
    pool, annotator = learner.pool, str(opened.person_id)
    reached = kind.stop_view(learner, kinds.stop_rules(opened.project)).reached
    return Standing(
        answered=pool.n_answered,
        left=pool.n_open,
        begun=pool.n_begun,
        put_off=sum(pool.is_open(*place) for place in pool.standings.put_aside(annotator)),
        elsewhere=len({row for row, label in reserved if learner.may_ask(row, annotator, label)}),
        settled=learner.share_settled,
        has_proof=learner.proves_done,
        done=learner.done,
        stop=" ".join(verdict.words for verdict in reached),
        last=_last(opened),
        undoable=latest_standing(history),
        redoable=latest_withdrawn(history),
        history=history,
        classes=learner.classes,
        may_export=opened.may(Right.OWN),
        height=learner.seq,
        frame=_stamp(opened.project.room, _of_classes(learner.classes)),
    )


@lru_cache(maxsize=64)
def _of_classes(classes: tuple[str, ...]) -> str:
    """Return a stamp of all names, cached because there may be many and every click needs it."""
    return _stamp(classes)


def _stamp(*parts: object) -> str:
    return blake2s(repr(parts).encode(), digest_size=8).hexdigest()


def _last(opened: Opened[Learner]) -> Saved | None:
    """Return the result of the person's latest click."""
    own = opened.own_log
    return None if own.last is None else replace(saved_of(opened.learner, own.last), rows=len(own.rows))


def last_ten(seat: Seat) -> tuple[tuple[int, RowView], ...]:
    """Return the rows of this person's last LAST answers, each with the seq of its answer, newest first. On demand:
    most questions are answered without looking back."""
    with seat.learner(Right.ANSWER) as opened:
        table = opened.learner.table
        return tuple((one.seq, row_view(table, one.row)) for one in own_answers(opened)[:LAST])
