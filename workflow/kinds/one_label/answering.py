"""What an answer to a question about a row's candidates stores."""

from __future__ import annotations

from db import entries, questions
from plcore import AnswerError
from plcore.loop import EntryKind
from workflow.common.answers import Given
from workflow.common.places import place_of, second_token
from workflow.common.screen import stamp
from workflow.common.turn import StaleQuestion
from workflow.kinds.one_label.turn import OneLabelTurn, halves_of


def answer(turn: OneLabelTurn, question: questions.OpenQuestion, given: Given) -> entries.LogEntry:
    """Write the entries of an answer; the last of them.

    "none" with labels says that it is one of these classes, a group of them perhaps, whatever the candidates are: `is`
    or `among` those of them that are candidates; where none of them is, `none` and then the same of all of them are
    stored, both or neither.

    question : the open one      given.shown : `ShownQuestion.shown`

    Raises
    ------
    StaleQuestion
        "none" or "not", or what is said of a group, speak of the candidates on the screen, and come after these have
        changed.
    AnswerError
        The answer does not fit the question.
    """
    kind, labels = given.kind, names_now(turn, given.labels)
    if kind in (EntryKind.NONE, EntryKind.NOT) or halves_of(question, labels):
        _check_shown(turn, question, given.shown)
    writer = turn.writer(place_of(question))
    first, every = turn.facts(question, given)
    every["predicted"] = question.predicted and names_now(turn, (question.predicted,))[0]
    if kind != EntryKind.NONE or not labels:
        return writer.write(kind, labels, **first, **every)
    if len(set(labels)) != len(labels) or not set(labels) <= set(turn.learner.classes):
        raise AnswerError(f"'none' takes no label, or such as are classes, each once. Got {list(labels)}.")
    here = tuple(label for label in labels if label in writer.left)
    if here:
        return writer.write(_one_of(here), here, **first, **every)
    writer.write(EntryKind.NONE, **first, **every)
    return writer.write(_one_of(labels), labels, token=second_token(question.token, 1), **every)


def _one_of(labels: tuple[str, ...]) -> EntryKind:
    return EntryKind.IS if len(labels) == 1 else EntryKind.AMONG


def names_now(turn: OneLabelTurn, labels: tuple[str, ...]) -> tuple[str, ...]:
    """The present names of the classes that these names on a screen mean, each once. Unknown names stay as they are.

    A screen may be from before a change of the classes. A name that was ever used means its class for good.
    """
    class_map = turn.learner.pool.class_map
    if not class_map.changes:
        return labels
    known = class_map.known_names
    return tuple(dict.fromkeys(class_map.now(label) if label in known else label for label in labels))


def _check_shown(turn: OneLabelTurn, question: questions.OpenQuestion, shown: str | None) -> None:
    """Raise StaleQuestion where the row's candidates have changed since they were shown."""
    pool = turn.learner.pool
    now = pool.names(pool.candidates_for(question.row, turn.annotator))
    whose = turn.person_id if turn.learner.settings.several else None
    changed = entries.changed_since(turn.session, turn.project_id, question.row, question.reserved_at, whose)
    same = {stamp(names) for names in pool.class_map.earlier_names(now)}
    if changed or (shown is not None and shown not in same):
        raise StaleQuestion(
            f"The candidates of this row have changed since it was shown; they are now {', '.join(now)}."
        )
