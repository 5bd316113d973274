"""What an answer to a question about a label vector stores. What is not answered stays *not asked*."""

from __future__ import annotations

from db import entries, questions
from plcore import AnswerError
from plcore.loop import EntryKind
from workflow.common.answers import Given
from workflow.common.places import place_of, second_token
from workflow.common.turn import StaleQuestion
from workflow.kinds.label_vectors.showing import vector_stamp
from workflow.kinds.label_vectors.turn import WHOLE_ROW, LabelVectorTurn


def answer(turn: LabelVectorTurn, question: questions.OpenQuestion, given: Given) -> entries.LogEntry:
    """Write the entries of an answer; the last of them.

    An answer to the whole row names the labels that are right: it is stored as a `no` and a `yes`, both or neither,
    about the labels that were not known and those that it changes. given.shown : `ShownVector.shown`

    Raises
    ------
    StaleQuestion
        A whole row is answered whose labels have changed since it was shown.
    AnswerError
        The answer does not fit the question.
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
    turn: LabelVectorTurn, question: questions.OpenQuestion, right: tuple[str, ...], shown: str | None
) -> list[tuple[str, tuple[str, ...]]]:
    """What an answer to a whole row says, as (kind, labels): a `no`, a `yes`, or both, the `yes` last."""
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
