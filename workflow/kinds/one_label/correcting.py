"""What a correction of a row with candidates stores: an answer of the reviewer's, which counts as any other. Where
people answer for themselves, and the reviewer is none of those who answered the row, it is a verdict.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from db import entries
from plcore import AnswerError, Entry
from plcore.loop import EntryKind, Place
from plcore.loop.one_label import ANSWERS
from workflow.access import Right
from workflow.common.answers import Given
from workflow.common.found import taken_back
from workflow.common.places import second_token
from workflow.kinds.one_label.turn import Learner, OneLabelTurn

CORRECTIONS = (EntryKind.IS, EntryKind.AMONG, EntryKind.NOT, EntryKind.NONE, EntryKind.BAD)
"""Kinds of corrections."""


def correct(
    turn: OneLabelTurn,
    row: int,
    token: str,
    given: Given,
    changes: Mapping[str, int],
    log: Sequence[entries.LogEntry],
) -> entries.LogEntry:
    """Write the entries of a correction; the last of them.

    Where its labels are none of the row's candidates, an entry `none` goes before the answer: none of those was right.
    Where people answer for themselves, a reviewer who has not answered the row settles it: what they say is no further
    opinion among the others but one verdict, of the labels that the correction would leave.
    changes : empty; label vectors have some      log : every entry about the row

    Raises AnswerError where the correction does not fit the row.
    """
    kind, labels = given.kind, given.labels
    if kind not in CORRECTIONS:
        raise AnswerError(f"A correction is one of {', '.join(CORRECTIONS)}. Got {kind!r}.")
    if changes:
        raise AnswerError(f"A correction of candidates names labels, not {dict(changes)}.")
    withdrawn = taken_back(log)
    predicted = [one.predicted for one in log if one.predicted is not None and one.seq not in withdrawn]
    facts: dict[str, Any] = {
        "strategy": "review",
        "model_version": turn.learner.model_version,
        "predicted": predicted[-1] if predicted else None,  # what the model said before people spoke
        "note": given.note,
        "flagged": given.flagged,
    }
    writer, learner = turn.writer(Place(row)), turn.learner
    if _settles(turn, log, withdrawn):
        return writer.write(EntryKind.VERDICT, _settled(learner, row, given), token=token, **facts)
    try:
        learner.check(Entry(learner.seq + 1, kind, row, turn.annotator, labels))
    except AnswerError:
        wanted = {EntryKind.IS: len(labels) == 1, EntryKind.AMONG: len(labels) >= 1}
        fits = wanted.get(EntryKind(kind), False)
        if not fits or len(set(labels)) != len(labels) or not set(labels) <= set(learner.classes):
            raise
        writer.write(EntryKind.NONE, token=token, **facts)
        if not set(labels) <= {*writer.left, *learner.state(row).original}:
            raise
        return writer.write(kind, labels, token=second_token(token, 1), **facts)
    return writer.write(kind, labels, token=token, **facts)


def _settles(turn: OneLabelTurn, log: Sequence[entries.LogEntry], withdrawn: set[int | None]) -> bool:
    """Whether it is a verdict: of a reviewer who has given no answer to this row that stands."""
    own = [one for one in log if one.person_id == turn.person_id and one.seq not in withdrawn]
    answered = any(one.kind in ANSWERS and one.kind != EntryKind.VERDICT for one in own)
    return turn.learner.settings.several and turn.opened.may(Right.REVIEW) and not answered


def _settled(learner: Learner, row: int, given: Given) -> tuple[str, ...]:
    """The labels of the verdict. Raises AnswerError where there would be none, or they do not fit the kind."""
    kind, labels, left = given.kind, given.labels, learner.state(row).candidates
    if (
        len(labels) != 1
        if kind in (EntryKind.IS, EntryKind.NOT)
        else bool(labels) != (kind == EntryKind.AMONG)
    ):
        raise AnswerError(f"A correction of kind {kind!r} does not take {list(labels)}.")
    if kind in (EntryKind.IS, EntryKind.AMONG, EntryKind.BAD):
        return labels
    ruled_out = left if kind == EntryKind.NONE else labels
    among = learner.classes if kind == EntryKind.NONE else left
    rest = tuple(label for label in among if label not in ruled_out)
    if not rest:
        raise AnswerError(
            "That would leave no label at all. Fix: say which one it is, or that it is a bad item."
        )
    return rest
