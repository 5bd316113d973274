"""Where a project stands for one person: the counts, and what they saved last."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from typing import TYPE_CHECKING

from db import entries, questions
from plcore import ActiveLearner
from workflow.history import Given, history_of, latest_standing, latest_withdrawn
from workflow.stopping import has_proof, known_or_sure, rules_of, stop_view_of

if TYPE_CHECKING:
    from workflow.home import Home
    from workflow.learners import Learner

RESERVED_FOR = timedelta(minutes=2)
"""How long a row shown to one person is not offered to another."""


@dataclass(frozen=True)
class Saved:
    """What was stored for one press. ``repeated``: it had been stored before, nothing was added now."""

    seq: int
    kind: str
    row: int
    row_id: str
    labels: tuple[str, ...]
    repeated: bool = False


@dataclass(frozen=True)
class Standing:
    """Counts are rows, or labels where these are asked about one by one; ``settled`` is a share; ``elsewhere`` rows
    are before other people now.

    has_proof : as in `workflow.progress.ProgressView`; False of label vectors
    done : no answer can change a decision any more
    stop : what the owner's stop rules that are reached say, in words; empty while none is
    last : this person's latest entry      history : their answers, newest first
    undoable, redoable : seq of the answer that undo would take back, that redo would give again
    classes : every class of the project, in its order
    """

    answered: int
    left: int
    elsewhere: int
    settled: float
    has_proof: bool
    done: bool
    stop: str
    last: Saved | None
    undoable: int | None
    redoable: int | None
    history: tuple[Given, ...]
    classes: tuple[str, ...]


def standing(home: Home, person_id: int, project_id: int) -> Standing:
    """The counts, the rows open before other people, and this person's latest entry.

    Raises
    ------
    NotAllowed, NotFound
    """
    since = datetime.now(UTC) - RESERVED_FOR
    with home.learners.open_to_read(home, person_id, project_id) as opened:
        session, learner = opened.session, opened.learner
        found = entries.latest(session, project_id, person_id, 1)
        history = history_of(session, learner, person_id, project_id)
        taken = questions.reserved_rows(session, project_id, person_id, since)
        rules = rules_of(opened.project)
        answered, left, settled = counts(learner)
        reached = stop_view_of(learner, rules).reached
        last = saved_of(learner, found[0]) if found else None
        return Standing(
            answered=answered,
            left=left,
            elsewhere=len(taken),
            settled=settled,
            has_proof=isinstance(learner, ActiveLearner) and has_proof(learner),
            done=learner.done,
            stop=" ".join(verdict.words for verdict in reached),
            last=last,
            undoable=latest_standing(history),
            redoable=latest_withdrawn(history),
            history=history,
            classes=learner.classes,
        )


def counts(learner: Learner) -> tuple[int, int, float]:
    """(answered, left, share settled, or of label vectors known or sure), as every page tells them; nothing is worked
    out by a model for it, for it runs after every answer.

    answered : rows that have an answer and are not open any more, as one candidate is left or they are out; of label
        vectors labels with an answer, or, where whole rows are asked about, rows with one, bad items too
    left : rows, or labels, that are open: they can still be asked about
    """
    if not isinstance(learner, ActiveLearner):
        pool = learner.pool
        answered, left = int(pool.answered.sum()), int(pool.open.sum())
        if learner.settings.by_row:
            answered = int((pool.answered.any(axis=1) | pool.bad).sum())
            left = int(pool.open.any(axis=1).sum())
        return answered, left, known_or_sure(learner)
    now = learner.progress()
    return learner.pool.n_answered, now.ambiguous_left, now.settled


def saved_of(learner: Learner, entry: entries.Entry, *, repeated: bool = False) -> Saved:
    """A stored entry in the words of a page."""
    row_id = str(learner.table.ids[entry.row])
    return Saved(entry.seq, entry.kind, entry.row, row_id, tuple(entry.labels), repeated)
