"""Log entries of an answer about a row's candidates."""

from __future__ import annotations

from collections import Counter
from collections.abc import Collection, Mapping, Sequence

import numpy as np

from db import entries, questions
from db.answers import CORRECTION
from plcore import ActiveLearner, AnswerError, Entry, LabelTable, Question
from plcore.arrays import BoolArray, FloatArray, IntArray
from plcore.loop import EntryKind, Place
from plcore.loop.one_label import ANSWERS, OneLabelPool, weighs_own
from plcore.query import FEWEST, KNOWN, RIGHT, sure_from, sure_rows
from workflow.access import Right
from workflow.answering.asked import AskedAs, Given, QuestionForm, stamp
from workflow.answering.history import place_of, second_token
from workflow.answering.turn import EntryWriter, Facts, StaleQuestion, Turn
from workflow.kinds.kind import Batching
from workflow.kinds.one_label.shortlists import IN_FULL_A_CHECK
from workflow.kinds.one_label.showing import ShownQuestion
from workflow.rows.finding import taken_back

Learner = ActiveLearner[LabelTable]
OneTurn = Turn[Learner, Question, ShownQuestion]
"""A person's turn at a project of one true label: `workflow.kinds.one_label.turn.OneLabelTurn`."""


class OneLabelWriter(EntryWriter):
    """A writer of entries about a row; they can change only its candidates."""

    _turn: OneTurn

    CHANGED = "The candidates of that row are others now."

    @property
    def left(self) -> tuple[str, ...]:
        """The candidates that the person sees after the entries written so far, in class order; none for a bad item."""
        pool = self._turn.learner.pool
        return pool.names(pool.fold.view(self._place.row, self._kept, self._turn.annotator).votes)

    def state(self, entry: Entry) -> tuple[str, ...]:  # noqa: ARG002 - the same for every entry
        return self.left

    def labels_now(self, entry: entries.LogEntry) -> tuple[str, ...]:
        called = self._turn.learner.pool.class_map.called_now(entry.labels, entry.seq)
        assert called is not None  # noqa: S101 - asked its position on the keyboard as before
        return called

    def check(self, entry: Entry) -> None:
        if self._seq == self._turn.learner.seq:
            self._turn.learner.check(entry)
            return
        # The learner has not applied the entries before this one.
        if entry.kind == EntryKind.IS and not set(entry.labels) <= set(self.left):
            raise AnswerError(f"{', '.join(entry.labels)!r} is not among what is left: {', '.join(self.left)}.")
        if entry.target is not None and entry.target not in [one.seq for one in self._kept]:
            raise AnswerError(f"Entry {entry.target} no longer counts.")


def answer(turn: OneTurn, question: questions.OpenQuestion, given: Given) -> entries.LogEntry:
    """Write the entries of an answer; returns the last one.

    "none" with labels means one of these classes, perhaps a group, whatever the candidates are. It is stored as `is` or
    `among` those of them that are candidates. If none is a candidate, `none` and then the same for all of them are
    stored, both or neither.

    question : the open one      given.shown : `ShownQuestion.shown`

    Raises
    StaleQuestion : "none", "not" or an answer about a group refers to the candidates on the screen, but these have
        changed.
    AnswerError : The answer does not fit the question.
    """
    kind, labels = given.kind, names_now(turn, given.labels)
    if kind in (EntryKind.NONE, EntryKind.NOT) or halves_of(question, labels):
        _check_shown(turn, question, given.shown)
    writer = OneLabelWriter(turn, place_of(question))
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


def halves_of(question: questions.OpenQuestion, candidates: Sequence[str]) -> tuple[set[str], ...]:
    """Return the candidates left by yes and by no to a group question; nothing for other questions."""
    how = AskedAs.from_json(question.asked or {"form": QuestionForm.WHICH})
    if how.form != QuestionForm.GROUP:
        return ()
    return set(how.about), set(candidates) - set(how.about)


def names_now(turn: OneTurn, labels: tuple[str, ...]) -> tuple[str, ...]:
    """Return the present names of the classes that these names on a screen mean, each once. Unknown names stay as they
    are.

    A screen may be from before a change of the classes. A name that was ever used always means its class.
    """
    class_map = turn.learner.pool.class_map
    if not class_map.changes:
        return labels
    known = class_map.known_names
    return tuple(dict.fromkeys(class_map.now(label) if label in known else label for label in labels))


def _check_shown(turn: OneTurn, question: questions.OpenQuestion, shown: str | None) -> None:
    """Raise StaleQuestion if the row's candidates have changed since they were shown."""
    pool = turn.learner.pool
    now = pool.names(pool.candidates_for(question.row, turn.annotator))
    whose = turn.person_id if turn.learner.settings.several else None
    changed = entries.changed_since(turn.session, turn.project_id, question.row, question.reserved_at, whose)
    same = {stamp(names) for names in pool.class_map.earlier_names(now)}
    if changed or (shown is not None and shown not in same):
        raise StaleQuestion(
            f"The candidates of this row have changed since it was shown; they are now {', '.join(now)}."
        )


# Entries of a correction of a row with candidates: an answer by the reviewer, which counts like any other. With
# independent answers, it is a verdict if the reviewer has not answered the row.

CORRECTIONS = (EntryKind.IS, EntryKind.AMONG, EntryKind.NOT, EntryKind.NONE, EntryKind.BAD)
"""Kinds of corrections."""


def correct(
    turn: OneTurn, row: int, token: str, given: Given, changes: Mapping[str, int], log: Sequence[entries.LogEntry]
) -> entries.LogEntry:
    """Write the entries of a correction; returns the last one.

    If none of its labels is a candidate of the row, an entry `none` precedes the answer: no candidate was right. With
    independent answers, a reviewer who has not answered the row settles it: the correction is not one more vote but a
    verdict for the labels it would leave.
    changes : empty; used only by label vectors      log : every entry about the row

    Raises AnswerError if the correction does not fit the row.
    """
    kind, labels = given.kind, given.labels
    if kind not in CORRECTIONS:
        raise AnswerError(f"A correction is one of {', '.join(CORRECTIONS)}. Got {kind!r}.")
    if changes:
        raise AnswerError(f"A correction of candidates names labels, not {dict(changes)}.")
    withdrawn = taken_back(log)
    predicted = [one.predicted for one in log if one.predicted is not None and one.seq not in withdrawn]
    facts: Facts = {
        "strategy": CORRECTION,
        "model_version": turn.learner.model_version,
        "predicted": predicted[-1] if predicted else None,  # the prediction before people answered
        "note": given.note,
        "flagged": given.flagged,
    }
    writer, learner = OneLabelWriter(turn, Place(row)), turn.learner
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


def _settles(turn: OneTurn, log: Sequence[entries.LogEntry], withdrawn: set[int | None]) -> bool:
    """Whether the correction is a verdict: by a reviewer with no answer to this row that still counts."""
    own = [one for one in log if one.person_id == turn.person_id and one.seq not in withdrawn]
    answered = any(one.kind in ANSWERS and one.kind != EntryKind.VERDICT for one in own)
    return turn.learner.settings.several and turn.opened.may(Right.REVIEW) and not answered


def _settled(learner: Learner, row: int, given: Given) -> tuple[str, ...]:
    """Return the labels of the verdict. Raises AnswerError if there would be none, or they do not fit the kind."""
    kind, labels, left = given.kind, given.labels, learner.state(row).candidates
    if len(labels) != 1 if kind in (EntryKind.IS, EntryKind.NOT) else bool(labels) != (kind == EntryKind.AMONG):
        raise AnswerError(f"A correction of kind {kind!r} does not take {list(labels)}.")
    if kind in (EntryKind.IS, EntryKind.AMONG, EntryKind.BAD):
        return labels
    ruled_out = left if kind == EntryKind.NONE else labels
    among = learner.classes if kind == EntryKind.NONE else left
    rest = tuple(label for label in among if label not in ruled_out)
    if not rest:
        raise AnswerError("That would leave no label at all. Fix: choose the right one, or mark a bad item.")
    return rest


# Rows with candidates that are confirmed together: a `workflow.kinds.kind.Batching`.

TableLearner = ActiveLearner[LabelTable]

MOST_SHARES = 5_000_000
"""Limit of rows times classes for computing shares; above it, a random sample of rows."""


class _OneLabel:
    """The batching of one-label projects; see the protocol."""

    def find_sure(self, learner: TableLearner, annotator: str, barred: Collection[int]) -> tuple[str, list[int]] | str:
        pool = learner.pool
        if not learner.has_model:
            waits = "Neighbours are still being found" if learner.waits else "The model is still being trained"
            return f"{waits}. After that, the rows that the model is sure of are shown together."
        if weighs_own(pool):
            return (
                "Predictions for these rows also use the weights of their candidates, unlike predictions for rows "
                "with a known label. So their accuracy cannot be measured, and rows are asked about one by one. "
                "PL-KNN does not use these weights."
            )
        allowed = _waiting(learner, annotator)
        allowed[list(barred)] = False
        allowed &= ~_asked_alone(learner)
        rows = _sample(pool, np.flatnonzero(allowed))
        known, right = _known(learner)
        at_least = sure_from(known, right)
        if at_least is None:
            return (
                "The rows with a known label do not show clearly enough that the model is right about "
                f"{100 * RIGHT:.0f}% of its most confident rows, so confirming many at once might not pay. Answer rows "
                "one by one: each answer improves the model, and this measurement."
            )
        shares = _shares(learner, rows)
        sure = sure_rows(shares, at_least=at_least)
        found = [row for row in rows[sure].tolist() if pool.may_ask(Place(row), annotator)]
        if not found:
            return (
                f"Rows are shown together if the model predicts the same label for at least {FEWEST} open ones, with "
                f"{100 * at_least:.0f}% or more. Some are still asked about individually. There are none now: "
                "answer rows one by one, and the model gets more confident."
            )
        return pool.classes[int(shares[sure[0]].argmax())], found

    def may_stand(self, learner: TableLearner, annotator: str, row: int, label: str) -> bool:
        return bool(_waiting(learner, annotator)[row]) and self.may_confirm(learner, annotator, row, label)

    def may_confirm(self, learner: TableLearner, annotator: str, row: int, label: str) -> bool:
        pool = learner.pool
        own = pool.candidates_for(row, annotator)
        return pool.may_ask(Place(row), annotator) and bool(own[pool.classes.index(label)])

    def name_now(self, learner: TableLearner, label: str) -> str:
        return learner.pool.class_map.now(label)

    def labels_of(self, learner: TableLearner, annotator: str, rows: Sequence[int]) -> Mapping[str, int]:
        pool, waiting = learner.pool, _waiting(learner, annotator)
        here = np.array([row for row in rows if waiting[row] and pool.may_ask(Place(row), annotator)], dtype=int)
        if not len(here):
            return {}
        counts = Counter(dict(zip(pool.classes, pool.candidates[here].sum(axis=0).tolist(), strict=True)))
        share = dict(zip(pool.classes, _shares(learner, here).sum(axis=0).tolist(), strict=True))
        order = sorted(pool.classes, key=lambda label: -share[label])
        return {label: counts[label] for label in order if counts[label]}

    def shares(self, learner: TableLearner, rows: Sequence[int], label: str) -> list[tuple[float, str | None]]:
        if not rows:
            return []
        found, place = _shares(learner, np.array(rows)), learner.classes.index(label)
        named = [learner.classes[best] if learner.has_model else None for best in found.argmax(axis=1).tolist()]
        return list(zip(found[:, place].tolist(), named, strict=True))

    def checked(self, learner: TableLearner, at_least: float) -> tuple[int, int]:
        shares, right = _known(learner)
        sure = shares >= at_least
        return int(right[sure].sum()), int(sure.sum())


BATCHING: Batching[TableLearner] = _OneLabel()


def count_sure(learner: TableLearner) -> int | None:
    """Return the number of open rows without an answer whose label the model is sure of: those at a share above which
    it is right for 95% of the rows with a known label. Estimated from a sample in large tables. None if that cannot be
    measured, or no share is good enough."""
    if not learner.has_model:
        return None
    known, right = _known(learner)
    at_least = sure_from(known, right) if len(known) >= KNOWN else None
    if at_least is None:
        return None
    rows = np.flatnonzero(learner.pool.fresh() & ~learner.pool.test_rows)
    if not rows.size:
        return 0
    sample = _sample(learner.pool, rows)
    return round(float((_shares(learner, sample).max(axis=1) >= at_least).mean()) * rows.size)


def _known(learner: TableLearner) -> tuple[FloatArray, BoolArray]:
    """Return (k,) each, for the rows with a known label that the model was not trained on: its share of the label it
    predicts among their first candidates, and whether that is right. None if these rows are not representative."""
    pool = learner.pool
    known = pool.known()
    judged = (known >= 0) & (pool.first.take(pool.held, axis=0).sum(axis=1) >= 2)
    rows = pool.held[judged]
    if not len(rows) or weighs_own(pool):
        return np.zeros(0), np.zeros(0, dtype=bool)
    largest, said = np.zeros(len(rows)), np.zeros(len(rows), dtype=np.int64)
    block = max(1, MOST_SHARES // len(pool.classes))
    for part in (slice(begin, begin + block) for begin in range(0, len(rows), block)):
        shares = learner.shares_asked(rows[part], pool.first[rows[part]])
        largest[part], said[part] = shares.max(axis=1), shares.argmax(axis=1)
    return largest, said == known[judged]


def _sample(pool: OneLabelPool[LabelTable], rows: IntArray) -> IntArray:
    """Return these rows, sorted; only a random sample of them if their shares would take long to compute."""
    most = MOST_SHARES // len(pool.classes)
    if len(rows) <= most:
        return rows
    return np.sort(np.random.default_rng(pool.settings.seed).permutation(rows)[:most])


def _shares(learner: TableLearner, rows: np.ndarray) -> FloatArray:
    """Return (r, m), the shares as the questions about these rows would show them."""
    return learner.shares_asked(rows, learner.pool.candidates[rows])


def _waiting(learner: TableLearner, annotator: str) -> BoolArray:
    """Return (n,) rows that wait for their first answer, except held-out rows, blind checks, and rows that this
    annotator is unsure of or has deferred. Their predictions reveal no one's answer."""
    pool = learner.pool
    waiting = np.array(pool.fresh() & ~pool.test_rows & ~pool.control_rows)
    aside = [*pool.standings.unsure(annotator), *pool.standings.resting(annotator)]
    waiting[[place.row for place in aside]] = False
    return waiting


def _asked_alone(learner: TableLearner) -> BoolArray:
    """Return (n,) rows that are never in a batch.

    If they were only blind checks, an annotator who has confirmed all other rows would recognize them. So each check
    comes with as many ordinary rows as are shown in full (decision 31), the same ones for everyone. They are not drawn
    one by one, because in small projects that could leave too few.
    """
    pool, alone = learner.pool, np.zeros(learner.table.n_rows, dtype=bool)
    several = pool.first.sum(axis=1) >= 2
    ordinary = np.flatnonzero(several & ~pool.test_rows & ~pool.control_rows)
    drawn = np.random.default_rng([learner.settings.seed, 8]).random(len(alone))[ordinary]
    checks = int((several & pool.control_rows).sum())
    number = min(IN_FULL_A_CHECK * checks, len(ordinary))
    alone[ordinary[np.argsort(drawn, kind="stable")[:number]]] = True
    return alone
