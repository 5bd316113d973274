"""What one person answered lately: which answers count, which they took back, and which they may give again."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import TYPE_CHECKING

from db import answers, entries

if TYPE_CHECKING:
    from sqlalchemy.orm import Session

    from plcore.loop import Learner

REACH = 50
"""Answers of a person that undo, redo and the history go back over."""

SECOND = ".is"
"""Ends the token of the second entry of one press; before it stands the token of the first."""


@dataclass(frozen=True)
class OwnAnswer:
    """What one press of this person stored; `seq` is that of its last entry, `row` that entry's.

    withdrawal : seq of the entry that took it back, of the last of them; None where any of it stands
    redoable : they took it back themselves, have not given it again, and its rows are as they were when they answered
    rows : how many the press was about; of a batch of which some were taken back since, those that stand
    """

    seq: int
    kind: str
    row: int
    row_id: str
    labels: tuple[str, ...]
    note: str | None
    flagged: bool
    withdrawal: int | None
    redoable: bool
    rows: int = 1


Parts = Sequence[entries.LogEntry | answers.PastEntry]
"""The entries that one press stored, in order."""


def stored_by(session: Session, project_id: int, token: str) -> entries.LogEntry | None:
    """The entry that the press with this token stored, the second one of two; None where it stored none."""
    second = entries.with_token(session, project_id, f"{token}{SECOND}")
    return second or entries.with_token(session, project_id, token)


def denied_beside(session: Session, last: entries.LogEntry) -> tuple[str, ...]:
    """The labels of the first entry of a press, where this one is the second of it; none where it is alone."""
    if not last.token.endswith(SECOND):
        return ()
    first = entries.with_token(session, last.project_id, last.token.removesuffix(SECOND))
    return () if first is None else first.labels


def redo_token(withdrawal: int) -> str:
    """The token of the answer that undoes this withdrawal: there is only one such answer."""
    return f"redo.{withdrawal}"


def history_of(
    past: Iterable[answers.PastEntry],
    learner: Learner,
    person_id: int,
    stands_as_before: Callable[[int, Parts], bool],
) -> tuple[OwnAnswer, ...]:
    """This person's answers, newest first, at most REACH.

    past : their latest 2 REACH entries about rows, newest first; withdrawals are left out
    stands_as_before : of a row and the entries of one press, whether the row is as it was before them
    """
    found = list(past)  # two entries may be one answer, and so may be many of a batch
    by_token = {entry.token: entry for entry in found}
    together = _together(found)
    newest: dict[tuple[int, str | None], int] = {}  # row, label -> seq of the newest answer that stands

    def redoable(entry: answers.PastEntry) -> bool:
        first = by_token.get(entry.token.removesuffix(SECOND))
        return (
            entry.withdrawal is not None
            and entry.withdrawn_by == person_id  # what somebody else took back is theirs to decide
            and first is not None
            and redo_token(entry.withdrawal) not in by_token
            and newest.get((entry.row, entry.label), 0) < entry.withdrawal
            and stands_as_before(entry.row, (first, entry))
        )

    own: list[OwnAnswer] = []
    for entry in found:
        if len(own) == REACH:
            break
        if f"{entry.token}{SECOND}" in by_token:
            continue  # the second one of that press speaks for both
        parts = together.get(entry.seq, [entry])
        if parts:
            standing = [one for one in parts if one.withdrawal is None]
            own.append(
                OwnAnswer(
                    seq=entry.seq,
                    kind=entry.kind,
                    row=entry.row,
                    row_id=learner.table.id_of(entry.row),
                    labels=entry.labels,
                    note=entry.note,
                    flagged=entry.flagged,
                    withdrawal=None if standing else max(one.withdrawal or 0 for one in parts),
                    redoable=not standing and all(map(redoable, parts)),
                    rows=len(standing or parts),
                )
            )
        if entry.withdrawal is None:
            newest.setdefault((entry.row, entry.label), entry.seq)
    return tuple(own)


def _together(found: Sequence[answers.PastEntry]) -> dict[int, list[answers.PastEntry]]:
    """{seq: the entries of one press on a batch} of the last of them, which speaks for all; {seq: none} of the others.

    found : newest first. A batch of which some may be older than all of these is left out.
    """
    presses: dict[tuple[str, datetime], list[answers.PastEntry]] = {}
    for entry in found:
        if entry.batch is not None:
            presses.setdefault((entry.batch, entry.at), []).append(entry)
    spoken: dict[int, list[answers.PastEntry]] = {}
    for parts in presses.values():
        spoken |= {one.seq: [] for one in parts}
        if len(found) < 2 * REACH or parts[-1] is not found[-1]:
            spoken[parts[0].seq] = parts
    return spoken


def latest_standing(answers: Sequence[OwnAnswer]) -> int | None:
    """The seq that undo takes back."""
    return next((one.seq for one in answers if one.withdrawal is None), None)


def latest_withdrawn(answers: Sequence[OwnAnswer]) -> int | None:
    """The seq that redo gives again: of those taken back the last."""
    again = [(one.withdrawal or 0, one.seq) for one in answers if one.redoable]
    return max(again)[1] if again else None
