"""Log entries of an answer about a label vector. Labels without an answer stay *not asked*."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING

from db import entries, questions
from db.answers import CORRECTION
from plcore import AnswerError, Entry, LabelTable
from plcore.loop import VERDICTS, EntryKind, Place
from plcore.loop.label_vectors import (
    SAID,
    SETTLED,
    UNKNOWN,
    VALUES,
    FoldedVector,
    LabelVectorLearner,
    LabelVectorPool,
    LabelVectorQuestion,
)
from workflow.answering.asked import Given
from workflow.answering.history import place_of, second_token
from workflow.answering.turn import Facts, StaleQuestion, Turn
from workflow.kinds.label_vectors.showing import ShownVector, vector_stamp
from workflow.rows.finding import taken_back

if TYPE_CHECKING:
    from workflow.opened import Opened


VectorTurn = Turn[LabelVectorLearner[LabelTable], LabelVectorQuestion, ShownVector]
"""A person's turn at a project of label vectors: `workflow.kinds.label_vectors.turn.LabelVectorTurn`."""

WHOLE_ROW = "labels"
"""Kind of an answer about a whole row: these labels are right, all others are not. It is logged as a `no` and a
`yes`."""


def answer(turn: VectorTurn, question: questions.OpenQuestion, given: Given) -> entries.LogEntry:
    """Write the entries of an answer; returns the last one.

    An answer about the whole row names the right labels. It is stored as a `no` and a `yes`, both or neither, about the
    unknown labels and those that it changes. given.shown : `ShownVector.shown`

    Raises
    StaleQuestion : The answer is about a whole row, whose labels have changed since it was shown.
    AnswerError : The answer does not fit the question.
    """
    kind, labels = given.kind, given.labels
    writer = turn.writer(place_of(question))
    first, every = turn.facts(question, given)
    if kind == WHOLE_ROW:
        (said, names), *second = _parts(turn, question, labels, given.shown)
        stored = writer.write(said, names, **first, **every)
        for said, names in second:
            stored = writer.write(said, names, token=second_token(question.token, 1), **every)
        return stored
    if labels:
        raise AnswerError(f"{kind!r} takes no labels: it is about what was asked. Got {list(labels)}.")
    if kind in (EntryKind.YES, EntryKind.NO) and question.label is None:
        raise AnswerError(f"{kind!r} answers a question about one label; this one is about the whole row.")
    asked = () if question.label is None or kind == EntryKind.BAD else (question.label,)
    return writer.write(kind, asked, **first, **every)


def _parts(
    turn: VectorTurn, question: questions.OpenQuestion, right: tuple[str, ...], shown: str | None
) -> list[tuple[str, tuple[str, ...]]]:
    """Split an answer about a whole row into (kind, labels): a `no`, a `yes`, or both, the `yes` last."""
    learner = turn.learner
    if question.label is not None:
        raise AnswerError("'labels' answers a question about a whole row; this one is about one label.")
    unknown = sorted(set(right) - set(learner.classes))
    if unknown:
        raise AnswerError(f"{unknown[0]!r} is not a label of this project.")
    cells = learner.pool.cells_for(question.row, turn.annotator).tolist()
    if shown is not None and shown != vector_stamp(tuple(cells)):
        raise StaleQuestion("The labels of this row have changed since it was shown.")
    said = [(label, int(label in right), cell) for label, cell in zip(learner.classes, cells, strict=True)]
    changed = [(label, value) for label, value, cell in said if cell != value]
    named = {
        kind: tuple(label for label, value in changed if value == wanted)
        for kind, wanted in ((EntryKind.NO, 0), (EntryKind.YES, 1))
    }
    return [(kind, names) for kind, names in named.items() if names]


# Entries of a correction of a label vector: only new entries.
#
# A label becomes right or wrong by a `yes` or a `no`. It becomes unknown again if the file left it empty: people's
# answers about it are withdrawn, and what those entries said of other labels is entered again. With independent
# answers, annotators correct their own answers. A reviewer, who sees the combined result, settles labels by verdicts, a
# `right` or a `wrong`.

Pool = LabelVectorPool[LabelTable]

CORRECTIONS = (WHOLE_ROW, EntryKind.BAD)
"""Kinds of corrections: about labels, or marking the row as bad."""


def correct(
    turn: VectorTurn, row: int, token: str, given: Given, changes: Mapping[str, int], log: Sequence[entries.LogEntry]
) -> entries.LogEntry:
    """Write the entries of a correction; returns the last one.

    changes : {label: 1 right, 0 wrong, -1 unknown again}; all other labels keep their value. If it is empty, or the
        flag changes, the reviewer repeats all of people's answers about the row. Both restore a bad item.
    given.shown : `VectorRowReview.shown` of the screen it was given on      log : every entry about the row

    Raises
    StaleQuestion : The labels of the row have changed since the screen showed them.
    AnswerError : The correction does not fit the row.
    """
    pool, flagged, kind = turn.learner.pool, given.flagged, given.kind
    settles = pool.several is not None and turn.opened.whose is None
    standing, now = seen_by(turn.opened, row)
    if given.shown is not None and given.shown != row_stamp(now):
        raise StaleQuestion("The labels of this row have changed since you opened it. Fix: open it again.")
    if given.labels:
        raise AnswerError(f"A correction of a label vector names what changes, not {list(given.labels)}.")
    _check(turn.opened, row, kind, changes)
    counting = still_counting(pool, row, standing)
    was_flagged = any(one.flagged and one.seq in counting for one in log)
    to_withdraw: list[Entry] = []
    to_say: list[tuple[str, tuple[str, ...]]] = [(EntryKind.VERDICT if settles else EntryKind.BAD, ())]
    if kind == WHOLE_ROW:
        anew = not changes or flagged != was_flagged
        to_withdraw, to_say = _plan(pool, row, changes, standing, now, settles=settles, anew=anew)
    if not to_withdraw and not to_say:
        if changes:
            raise AnswerError("Every named label has this value already. Fix: name one that is wrong.")
        raise AnswerError("No one has said yes or no about a label of this row. Fix: name a label.")
    if flagged and not was_flagged and not to_say:
        raise AnswerError(
            "A withdrawn answer carries no flag. Fix: remove the flag, or answer whether a label is right."
        )
    facts: Facts = {
        "strategy": CORRECTION,
        "model_version": turn.learner.model_version,
        "note": given.note,
        "flagged": flagged,
    }
    predicted, writer = _said_before(log), turn.writer(Place(row))
    for number, one in enumerate(to_withdraw):
        if turn.opened.whose is not None and one.annotator != turn.annotator:
            raise AnswerError(
                "Only reviewers and the owner can withdraw answers of others. Fix: answer whether a label is right."
            )
        # The correction's own token is on its first answer, so that undo finds the second.
        own = token if not to_say and number == 0 else f"withdraw.{one.seq}"
        stored = writer.write(EntryKind.WITHDRAW, token=own, target=one.seq, **facts)
    for number, (what, labels) in enumerate(to_say):
        said_of = {label: predicted[label] for label in labels if label in predicted}
        facts["predicted"] = json.dumps(said_of) if said_of else None
        stored = writer.write(what, labels, token=second_token(token, number), **facts)
    return stored


def model_said(one: entries.LogEntry) -> dict[str, str]:
    """Return {label: "yes" or "no"}, the model's prediction at the time of asking, for the labels that the answer
    names.

    The question was about one label, or about the unknown labels of a row; a correction keeps the predictions of the
    labels it names. Labels without a prediction are left out.
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


def _said_before(log: Sequence[entries.LogEntry]) -> dict[str, str]:
    """Return predictions as `model_said` does, from all entries about a row that were not withdrawn; the latest
    counts."""
    withdrawn = taken_back(log)
    return {label: said for one in log if one.seq not in withdrawn for label, said in model_said(one).items()}


def seen_by(opened: Opened[LabelVectorLearner[LabelTable]], row: int) -> tuple[list[Entry], FoldedVector]:
    """Return the entries about a row that this person may see, and their combined result. With independent answers,
    people other than reviewers do not see the result of others' answers."""
    pool, standing = opened.learner.pool, opened.learner.pool.fold.entries(row)
    if pool.several is None or opened.whose is None:
        return standing, pool.fold.fold(row)
    own = [one for one in standing if one.annotator == str(opened.person_id)]
    return own, pool.view(row, own, str(opened.person_id))


def forgettable(opened: Opened[LabelVectorLearner[LabelTable]], row: int) -> tuple[str, ...]:
    """Return the labels of the row that this person may make unknown again: those that people answered and the file
    left empty. Unless the person is a reviewer, only they may have answered them. With independent answers, no one
    makes others' answers unknown: reviewers settle them."""
    pool, whose = opened.learner.pool, opened.whose
    if pool.several is not None and whose is None:
        return ()
    standing, now = seen_by(opened, row)
    others = {
        label
        for one in standing
        for label in one.labels
        if one.kind in VALUES and whose is not None and one.annotator != str(whose)
    }
    free = (now.seqs > 0) & (pool.original[row] == UNKNOWN)
    return tuple(label for label, is_free in zip(pool.classes, free, strict=True) if is_free and label not in others)


def still_counting(pool: Pool, row: int, log: Sequence[Entry]) -> dict[int, tuple[str, ...]]:
    """{seq: labels} of the answers about a row that still count, each with the labels that take their value from it.

    For a bad item, the answer that marked it counts. Otherwise the latest answer to each label counts, and every
    `unsure` about a label, or row, that is unknown. Independent answers are judged for each person separately, and so
    are verdicts. log : entries about the row, none withdrawn, in order
    """
    if pool.several is None:
        return _counting(pool, row, log)
    found: dict[int, tuple[str, ...]] = {}
    for annotator in dict.fromkeys(one.annotator for one in log):
        for verdicts in (False, True):
            own = [one for one in log if one.annotator == annotator and (one.kind in VERDICTS) == verdicts]
            found |= _counting(pool, row, own)
    return found


def _counting(pool: Pool, row: int, log: Sequence[Entry]) -> dict[int, tuple[str, ...]]:
    found: dict[int, tuple[str, ...]] = {}
    named: set[str] = set()
    later: set[tuple[str, str | None]] = set()  # (person, label) answered after the current entry
    unsure: list[Entry] = []
    for one in reversed(log):
        if one.kind in (EntryKind.BAD, EntryKind.VERDICT) and not named:
            return {one.seq: ()}
        about = (*one.labels, None) if one.kind in VALUES else one.labels or (None,)
        if one.kind in VALUES:
            if labels := tuple(label for label in one.labels if label not in named):
                found[one.seq] = labels
                named.update(labels)
        elif one.kind == EntryKind.UNSURE and (one.annotator, about[0]) not in later:
            unsure.append(one)
        later.update((one.annotator, label) for label in about)
    if unsure:
        given = {label for label, cell in zip(pool.classes, pool.original[row], strict=True) if cell != UNKNOWN}
        unknown = set(pool.classes) - given - named
        found |= {one.seq: one.labels for one in unsure if unknown.intersection(one.labels or unknown)}
    return found


def row_stamp(now: FoldedVector) -> str:
    """Return a stamp of the labels of a row as someone sees them, and of whether it is a bad item."""
    return vector_stamp((*now.cells.tolist(), int(now.out)))


def _check(opened: Opened[LabelVectorLearner[LabelTable]], row: int, kind: str, changes: Mapping[str, int]) -> None:
    pool = opened.learner.pool
    if kind not in CORRECTIONS or (kind == EntryKind.BAD and changes):
        raise AnswerError(f"A correction is 'labels', or 'bad' without labels. Got {kind!r}, {changes}.")
    free = forgettable(opened, row)
    for label, cell in changes.items():
        pool.check_label(label)
        if cell not in (1, 0, UNKNOWN):
            raise AnswerError(f"{label!r} is 1, 0 or -1 (not known). Got {cell!r}.")
        if cell == UNKNOWN and label not in free:
            raise AnswerError(
                f"{label!r} cannot be reset to unknown: it has no answer, or it comes from the file or from someone "
                "else, whose answer only reviewers and the owner can withdraw. Fix: answer whether it is right."
            )


def _plan(
    pool: Pool,
    row: int,
    changes: Mapping[str, int],
    standing: Sequence[Entry],
    now: FoldedVector,
    *,
    settles: bool,
    anew: bool,
) -> tuple[list[Entry], list[tuple[str, tuple[str, ...]]]]:
    """Return the entries to withdraw, and those to write as (kind, labels): a `no`, a `yes` or both, the `yes` last; a
    `wrong` and a `right` if the person settles the row.

    standing, now : the entries that this person corrects, and their combined result
    again : say again, too, what people answered and this correction does not change
    """
    fold = pool.fold
    wanted = dict(zip(pool.classes, now.cells.tolist(), strict=True)) | dict(changes)
    forgotten = {label for label, cell in changes.items() if cell == UNKNOWN}
    to_withdraw = [one for one in standing if one.kind in VALUES and forgotten.intersection(one.labels)]
    rest = [one for one in standing if one not in to_withdraw]
    left = fold.fold_of(row, rest) if pool.several is None or settles else fold.chain(row, rest)
    named = [
        (
            kind,
            tuple(
                label
                for label, column in fold.column.items()
                if wanted[label] == value and (left.cells[column] != value or (anew and now.seqs[column]))
            ),
        )
        for kind, value in sorted((SETTLED if settles else SAID).items(), key=lambda one: one[1])
    ]
    to_say: list[tuple[str, tuple[str, ...]]] = [(kind, labels) for kind, labels in named if labels]
    if left.out and not to_say and not settles:
        to_withdraw += [one for one in standing if one.kind == EntryKind.BAD]
    return to_withdraw, to_say
