"""Shortlists of questions: which choices are shown first, and how often they held the truth.

The thresholds come from the blind checks under the current model (`plcore.evaluation.shortlists`), and are computed
again with every version of it. Blind checks show all their choices, so that no answer depends on the list. Some
ordinary questions are shown in full, too, so that annotators cannot spot the checks (decision 31). The log stores the
list either way: it measures what a check's list would have been.
"""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING
from weakref import WeakKeyDictionary

import numpy as np

from db import events
from plcore import ActiveLearner, LabelTable
from plcore.evaluation import MarginThresholds, conformal_sets, margins
from plcore.loop import EntryKind
from plcore.loop.one_label import check_scores, known_checks, rate_outside, weighs_own
from workflow.answering.asked import AskedAs, QuestionForm
from workflow.answering.history import SECOND
from workflow.answering.room_settings import RoomSettings, miss_of
from workflow.kinds.shortlists import ShortlistView
from workflow.projects.class_names import names_now

if TYPE_CHECKING:
    from sqlalchemy.orm import Session

    from plcore import Question
    from workflow.opened import Opened

Learner = ActiveLearner[LabelTable]

IN_FULL_A_CHECK = 2
"""Ordinary questions shown in full per blind check: a third of the questions shown in full are checks. If at least a
third of all questions are checks, all are shown in full."""
LEAST_HIDDEN = 2
"""Fewest choices that a shortlist hides: hiding a single one saves no key press."""
TOLD = (EntryKind.IS, EntryKind.AMONG, EntryKind.NONE)
"""Answers that say where the truth is."""


@dataclass(frozen=True)
class _Shown:
    """A question with a shortlist, from an entry. alone : whether no other choice was shown next to it"""

    row: int
    kind: str
    labels: tuple[str, ...]
    first: tuple[str, ...]
    alone: bool


@dataclass
class _Memory:
    """Data cached with a learner.

    thresholds : {promise: ((version in place, last entry), thresholds)}
    shown : {seq: question} of the entries up to `seq`
    """

    thresholds: dict[float, tuple[tuple[int | None, int], MarginThresholds]] = field(default_factory=dict)
    seq: int = 0
    shown: dict[int, _Shown] = field(default_factory=dict)


# Used only while the learner is open, by one thread at a time.
_memories: WeakKeyDictionary[Learner, _Memory] = WeakKeyDictionary()


def thresholds_of(learner: Learner, promise: float) -> MarginThresholds:
    """Return the largest scores of a choice on the shortlist, by the model's confidence in the row, from the checks in
    their state when this version of the model was made; infinite if nothing may be left out. They depend only on table,
    settings, log and version."""
    if not learner.settings.model_entry.leaves_out or weighs_own(learner.pool) or _share_in_full(learner) == 1:
        return MarginThresholds(np.zeros(0), np.array([np.inf]))
    kept = _memories.setdefault(learner, _Memory()).thresholds
    now = learner.version_published, learner.seq
    if promise not in kept or kept[promise][0] != now:
        checks = check_scores(learner.pool, learner.shares_of, learner.model_version)
        kept[promise] = now, MarginThresholds.fit(*checks, miss_of(promise))
    return kept[promise][1]


def with_shortlist(
    learner: Learner, room: RoomSettings, person_id: int, asked: Question, how: AskedAs, first: tuple[str, ...] | None
) -> AskedAs:
    """Return how the question is put, with a shortlist if the room uses them and there is one: the choices shown first
    for "which of these?". For a yes or no question it is only logged, so that checks measure it in any form.

    first : the result of `shortlist` when the question was first put, a list or none: what is on someone's screen stays
    """
    if room.shortlist is None:
        return how
    choices = asked.choices
    if first is not None and not set(first) <= set(choices):
        first = shortlist(learner, room, asked)
    if first is None or how.form != QuestionForm.WHICH:
        return replace(how, first=first)
    in_full = len(choices) - len(first) < LEAST_HIDDEN or _in_full(learner, person_id, asked)
    return replace(how, choices=len(choices if in_full else first), first=first)


def shortlist(learner: Learner, room: RoomSettings, asked: Question) -> tuple[str, ...] | None:
    """Return the shortlist in display order; None if there is none, as before the first model."""
    if room.shortlist is None:
        return None
    shares = np.array([asked.probabilities])
    threshold = thresholds_of(learner, room.shortlist).of(margins(shares))
    if np.isinf(threshold).all() or asked.predicted is None:
        return None
    (on,) = conformal_sets(shares, np.ones_like(shares, dtype=bool), threshold)
    first = [place for place in range(len(asked.choices)) if on[place]]
    if room.order != "fixed":
        first.sort(key=lambda place: -asked.probabilities[place])
    return tuple(asked.choices[place] for place in first)


def _in_full(learner: Learner, person_id: int, asked: Question) -> bool:
    """Whether all choices are shown whatever the list is: for blind checks, and for a seeded share of the others."""
    if learner.pool.control_rows[asked.row]:
        return True
    drawn = np.random.default_rng([learner.settings.seed, 5, asked.row, person_id]).random()
    return bool(drawn < _share_in_full(learner))


def _share_in_full(learner: Learner) -> float:
    """Return the share of ordinary questions that are shown in full, like blind checks."""
    checks = learner.settings.control_share
    return min(1.0, IN_FULL_A_CHECK * checks / (1 - checks))


def shortlist_view(opened: Opened[Learner]) -> ShortlistView:
    """Describe how well shortlists do in the project."""
    learner, pool = opened.learner, opened.learner.pool
    room = RoomSettings.from_json(opened.project.room)
    shown = _all_shown(opened.session, opened.project_id, learner)
    checks = known_checks(pool)
    truth: dict[int, int] = dict(zip(checks.rows.tolist(), checks.truth.tolist(), strict=True))
    asked_first: dict[int, _Shown] = {}
    for one in shown.values():
        asked_first.setdefault(one.row, one)  # later ones used the row's own answer
    measured = [(asked_first[row], class_) for row, class_ in truth.items() if row in asked_first]
    standing = {entry.seq for one in shown.values() for entry in pool.fold.entries(one.row)}
    alone = [one for seq, one in shown.items() if one.alone and one.kind in TOLD and seq in standing]
    return ShortlistView(
        promise=room.shortlist,
        leaves_out=learner.settings.model_entry.leaves_out,
        weighs_own=weighs_own(pool),
        in_full=_share_in_full(learner),
        drawn=int((pool.control_rows & (pool.first.sum(axis=1) >= 2)).sum()),
        outside=rate_outside(pool),
        in_force=room.shortlist is not None
        and bool(np.isfinite(thresholds_of(learner, room.shortlist).thresholds).any()),
        held=sum(
            class_ >= 0 and learner.classes[class_] in names_now(pool.class_map, one.first) for one, class_ in measured
        ),
        measured=len(measured),
        asked=len(alone),
        none=sum(one.kind == EntryKind.NONE for one in alone),
        others=sum(one.kind != EntryKind.NONE and not set(one.labels) <= set(one.first) for one in alone),
    )


def _all_shown(session: Session, project_id: int, learner: Learner) -> dict[int, _Shown]:
    """Return {seq: question} of all entries whose question had a shortlist, without the second entry of one answer."""
    memory = _memories.setdefault(learner, _Memory())
    for entry in events.each_put(session, project_id, memory.seq, learner.seq, "first"):
        how = AskedAs.from_json(entry.asked)
        if how.first is not None and not entry.token.endswith(SECOND):
            alone = how.form == QuestionForm.WHICH and how.choices == len(how.first)
            memory.shown[entry.seq] = _Shown(entry.row, entry.kind, entry.labels, how.first, alone)
    memory.seq = learner.seq
    return memory.shown


SHORTLISTS = shortlist_view
