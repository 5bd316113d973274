"""What a correction of a row with candidates stores: an answer of the reviewer's, which counts as any other."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from db import entries
from plcore import AnswerError, Entry
from plcore.loop import EntryKind, Place
from workflow.common.answers import Given
from workflow.common.found import taken_back
from workflow.common.turn import second_token
from workflow.kinds.one_label.turn import OneLabelTurn

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
