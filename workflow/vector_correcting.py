"""Correcting a row of label vectors, as `workflow.correcting`: by new entries alone.

A label becomes right or not right by a `yes` or a `no`. It becomes not known again where the file left it empty: what
people said of it is withdrawn, and what these entries said of other labels is said once more.
"""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any

from plcore import AnswerError, Entry
from plcore.loop.label_vectors.fold import UNKNOWN, VALUES
from workflow import access
from workflow.correcting import begin, finish
from workflow.history import SECOND
from workflow.labeling import checked_note
from workflow.turns import StaleQuestion, take_cell_turn
from workflow.vector_showing import cells_stamp

if TYPE_CHECKING:
    from db import entries
    from db.people import Person
    from plcore import LabelTable
    from plcore.loop.label_vectors.pool import LabelVectorPool
    from workflow.home import Home
    from workflow.standing import Saved

KINDS = ("labels", "bad")
"""What a correction can say: something about labels, or that the row is a bad item."""


def correct(
    home: Home,
    person_id: int,
    project_id: int,
    row: int,
    token: str,
    kind: str,
    changes: Mapping[str, int] | None = None,
    *,
    shown: str | None = None,
    note: str | None = None,
    flagged: bool = False,
) -> Saved:
    """Answer a row anew, exactly once. The owner may, and whoever has answered something of the row themselves.

    kind : one of KINDS
    changes : {label: 1 right, 0 not right, -1 not known any more}; all other labels stay as they are. Without any, and
        where the flag changes, all that people said of the row is said again. It brings a bad item back.
    shown : `vector_review.VectorRowReview.shown` of the screen it was given on
    A token that was used gives the earlier entry with ``repeated`` set; nothing is stored.

    Raises
    ------
    StaleQuestion
        This person has said something else about the row since it was opened, or its labels stand differently.
        Nothing is stored.
    AnswerError
        The correction does not fit the row, or the note is too long. Nothing is stored.
    NotSaved, NotAllowed, NotFound, WrongKind
    """
    note, changes = checked_note(note), dict(changes or {})
    with take_cell_turn(home, person_id, project_id) as turn:
        told, earlier = begin(turn, row, token)
        if earlier is not None:
            return earlier
        pool = turn.learner.pool
        if shown is not None and shown != row_stamp(pool, row):
            raise StaleQuestion(
                "The labels of this row have changed since you opened it. Fix: open it again."
            )
        person = access.require_person(turn.session, person_id)
        _check(pool, row, person, kind, changes)
        still = still_said(pool, row, pool.fold.entries(row))
        was_flagged = any(one.flagged and one.seq in still for one in told)
        gone: list[Entry] = []
        said: list[tuple[str, tuple[str, ...]]] = [("bad", ())]
        if kind == "labels":
            gone, said = _plan(pool, row, changes, anew=not changes or flagged != was_flagged)
        if not gone and not said:
            if changes:
                raise AnswerError("Every label named stands so already. Fix: name one that is wrong.")
            raise AnswerError("Nobody has said yes or no about a label of this row. Fix: name a label.")
        if flagged and not was_flagged and not said:
            raise AnswerError(
                "An answer that is taken back carries no flag. Fix: take the flag away, or say of a label whether it "
                "is right."
            )
        more: dict[str, Any] = {
            "strategy": "review",
            "model_version": turn.learner.model_version,
            "note": note,
            "flagged": flagged,
        }
        predicted = _said_before(told)
        writer = turn.writer(row, None)
        for number, one in enumerate(gone):
            if not person.is_owner and one.annotator != turn.annotator:
                raise AnswerError(
                    "Only the owner takes back what somebody else has said. Fix: say of a label whether it is right."
                )
            # The correction's own token goes with its first answer: by that, undo finds the second.
            own = token if not said and number == 0 else f"withdraw.{one.seq}"
            stored = writer.write("withdraw", token=own, target=one.seq, **more)
        for number, (what, labels) in enumerate(said):
            said_of = {label: predicted[label] for label in labels if label in predicted}
            stored = writer.write(
                what,
                labels,
                token=token + SECOND * number,
                predicted=json.dumps(said_of) if said_of else None,
                **more,
            )
        return finish(turn, stored)


def model_said(one: entries.Entry) -> dict[str, str]:
    """{label: "yes" or "no"} what the model had said, when people were asked, of the labels that the answer names.

    It was asked about one label, or about those of a row that were not known; a correction keeps what was said of the
    labels it names. Labels of which the model was not asked are left out.
    """
    if one.predicted is None or one.kind not in VALUES:
        return {}
    if one.label is not None:
        return {one.label: one.predicted}
    said = json.loads(one.predicted)
    if isinstance(said, dict):
        return said
    asked = [label for label, cell in zip(one.labels, one.before, strict=True) if cell == ""]
    return {label: "yes" if label in said else "no" for label in asked}


def _said_before(told: Sequence[entries.Entry]) -> dict[str, str]:
    """As `model_said`, by all entries about a row that were not taken back; the latest counts."""
    gone = {one.target_seq for one in told if one.kind == "withdraw"}
    return {label: said for one in told if one.seq not in gone for label, said in model_said(one).items()}


def forgettable(pool: LabelVectorPool[LabelTable], row: int, person: Person) -> tuple[str, ...]:
    """The labels of the row that this person may make not known: people answered them, the file left them empty; and
    for who is not an owner, nobody else has named them.
    """
    now = pool.fold.fold(row)
    others = {
        label
        for one in pool.fold.entries(row)
        for label in one.labels
        if one.kind in VALUES and not person.is_owner and one.annotator != str(person.id)
    }
    free = (now.seqs > 0) & (pool.original[row] == UNKNOWN)
    return tuple(
        label for label, is_free in zip(pool.classes, free, strict=True) if is_free and label not in others
    )


def still_said(
    pool: LabelVectorPool[LabelTable], row: int, told: Sequence[Entry]
) -> dict[int, tuple[str, ...]]:
    """{seq: labels} of the answers about a row that count, with the labels that stand as they said.

    Of a row that is out, the answer that took it out; else whatever set a label, as the fold has it; and who was unsure
    about a label, or about the row, while it is not known. told : entries about the row, none withdrawn, in order
    """
    found: dict[int, tuple[str, ...]] = {}
    named: set[str] = set()
    later: set[tuple[str, str | None]] = set()  # who has said something of what, after the entry looked at
    unsure: list[Entry] = []
    for one in reversed(told):
        if one.kind == "bad" and not named:
            return {one.seq: ()}
        about = (*one.labels, None) if one.kind in VALUES else one.labels or (None,)
        if one.kind in VALUES:
            if labels := tuple(label for label in one.labels if label not in named):
                found[one.seq] = labels
                named.update(labels)
        elif one.kind == "unsure" and (one.annotator, about[0]) not in later:
            unsure.append(one)
        later.update((one.annotator, label) for label in about)
    if unsure:
        given = {
            label for label, cell in zip(pool.classes, pool.original[row], strict=True) if cell != UNKNOWN
        }
        unknown = set(pool.classes) - given - named
        found |= {one.seq: one.labels for one in unsure if unknown.intersection(one.labels or unknown)}
    return found


def row_stamp(pool: LabelVectorPool[LabelTable], row: int) -> str:
    """Names the labels of a row as they stand, and whether it is out."""
    return cells_stamp((*pool.cells[row].tolist(), int(pool.bad[row])))


def _check(
    pool: LabelVectorPool[LabelTable], row: int, person: Person, kind: str, changes: Mapping[str, int]
) -> None:
    if kind not in KINDS or (kind == "bad" and changes):
        raise AnswerError(f"A correction is 'labels', or 'bad' without labels. Got {kind!r}, {changes}.")
    free = forgettable(pool, row, person)
    for label, cell in changes.items():
        pool.check_label(label)
        if cell not in (1, 0, UNKNOWN):
            raise AnswerError(f"{label!r} is 1, 0 or -1 (not known). Got {cell!r}.")
        if cell == UNKNOWN and label not in free:
            raise AnswerError(
                f"{label!r} cannot be made not known: nobody has answered it, the file says it, or somebody else has "
                "said it, which the owner alone takes back. Fix: say whether it is right."
            )


def _plan(
    pool: LabelVectorPool[LabelTable], row: int, changes: Mapping[str, int], *, anew: bool
) -> tuple[list[Entry], list[tuple[str, tuple[str, ...]]]]:
    """The entries to withdraw, and what to say then as (kind, labels): a `no`, a `yes` or both, the `yes` last.

    anew : also of labels that people answered and that stay as they are
    """
    fold, told = pool.fold, pool.fold.entries(row)
    now = fold.fold(row)
    wanted = dict(zip(pool.classes, now.cells.tolist(), strict=True)) | dict(changes)
    forgotten = {label for label, cell in changes.items() if cell == UNKNOWN}
    gone = [one for one in told if one.kind in VALUES and forgotten.intersection(one.labels)]
    left = fold.fold_of(row, [one for one in told if one not in gone])
    named = [
        (
            kind,
            tuple(
                label
                for label, column in fold.column.items()
                if wanted[label] == value and (left.cells[column] != value or (anew and now.seqs[column]))
            ),
        )
        for kind, value in (("no", 0), ("yes", 1))
    ]
    said = [(kind, labels) for kind, labels in named if labels]
    if left.out and not said:
        gone += [one for one in told if one.kind == "bad"]
    return gone, said
