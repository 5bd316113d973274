"""A question as a page shows it: its candidates in order, the features that distinguish them, and why it is asked."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any
from weakref import WeakKeyDictionary

import numpy as np
from scipy import sparse

from plcore import ActiveLearner, LabelTable, Question
from plcore.query import LabelMoments, label_moments, most_telling, speaks_for
from plcore.tables import TextFeatures, marks_of
from workflow.answering.asked import AskedAs, QuestionForm, screen_order, stamp
from workflow.answering.room_settings import Groups, RoomSettings
from workflow.kinds.one_label.settings import reason
from workflow.rows.row import RowView, row_view, voters_of, votes_in, weight_words, weights_in

# The words of a row's texts that are evidence for each of its candidates, marked on the question card.

MOST_SHARES = 400_000
"""Limit of rows times classes of the sample."""

SHARES_LAST = 10
"""Entries until the model predicts the sample again. Answers about its rows count at once."""

MOST_CANDIDATES = 20
"""Limit of the candidates whose words are marked, those with the largest shares."""

MOST_MARKS = 12
"""Limit of the pieces of text marked for one candidate, those with the strongest evidence."""

WEAKEST = 0.2
"""Share of the strongest piece's evidence below which a piece is not marked."""

MOST_CHARACTERS = 20_000
"""Characters of a text that are searched, from its beginning."""


@dataclass(frozen=True)
class SpeakingMark:
    """A piece of a text that is evidence for a candidate, in characters from start to before end. column : of the
    text      strength : in (0, 1], 1 for the strongest piece of the question."""

    column: str
    start: int
    end: int
    label: str
    strength: float


@dataclass
class _Sample:
    """Data cached with a learner. place : {row: its number in the sample}
    words : for each column of texts its features and the CSC of the sample

    said : (r, m) the model's shares as they were after entry `seq`
    """

    rows: np.ndarray
    place: dict[int, int]
    words: dict[str, tuple[TextFeatures, Any]]
    said: np.ndarray | None = None
    seq: int = 0

    def shares(self, learner: ActiveLearner[LabelTable]) -> np.ndarray:
        """Return (r, m) the model's shares, 0 for candidates that answers have ruled out since."""
        if self.said is None or learner.seq - self.seq >= SHARES_LAST:
            self.said, self.seq = learner.shares_of(self.rows), learner.seq
        left = self.said * learner.pool.candidates[self.rows]
        total = left.sum(axis=1, keepdims=True)
        return np.asarray(left / np.where(total > 0, total, 1.0))


# Used only while the learner is open, by one thread at a time.
_samples: WeakKeyDictionary[ActiveLearner[LabelTable], _Sample] = WeakKeyDictionary()


def learn_words(learner: ActiveLearner[LabelTable]) -> None:
    """Process the texts of the sample. It takes seconds: do not call it while someone waits for a question."""
    if learner.table.roles.text is not None and learner not in _samples:
        _samples[learner] = _sample(learner)


def speaking_marks(learner: ActiveLearner[LabelTable], row: int, candidates: Sequence[str]) -> tuple[SpeakingMark, ...]:
    """Return the pieces of the row's texts that favour one of its candidates over the others, in order; none if there
    is no text or only one candidate, and before `learn_words`.

    candidates : of the row, those with the largest shares first
    A sample row counts for a candidate by the model's share of it. No held-out row is in the sample, and the row does
    not count for itself, so that a blind check is marked like any other question.
    """
    sample = _samples.get(learner)
    labels = list(candidates[:MOST_CANDIDATES])
    if sample is None or len(labels) < 2:
        return ()
    columns = learner.table.text_columns
    shares = sample.shares(learner)[:, [learner.classes.index(label) for label in labels]]
    pieces = []
    for column, text in zip(columns, _texts(learner.table, row, columns), strict=True):
        features, X = sample.words[column]
        own = features.transform([text])
        worth = np.zeros((len(features.names_), len(labels)))
        worth[own.indices] = speaks_for(X, shares, own.indices, own.data, sample.place.get(row))
        pieces += [(column, mark) for mark in marks_of(features, text, worth)]
    if not pieces:
        return ()
    strengths = np.array([mark.worth for _, mark in pieces])  # (pieces, k)
    most = float(strengths.max())
    if most <= 0:
        return ()
    found = []
    for place, label in enumerate(labels):
        best = np.argsort(-strengths[:, place], kind="stable")[:MOST_MARKS]
        found += [
            SpeakingMark(column, mark.start, mark.end, label, float(strengths[one, place] / most))
            for one, (column, mark) in ((one, pieces[one]) for one in best.tolist())
            if strengths[one, place] >= WEAKEST * most
        ]
    return tuple(sorted(found, key=lambda mark: (columns.index(mark.column), mark.start, mark.end)))


def _texts(table: LabelTable, row: int, columns: tuple[str, ...]) -> list[str]:
    """Return the beginnings of these texts of a row, as they are searched."""
    return [cell.strip()[:MOST_CHARACTERS] for cell in table.cells_of(row, columns)]


def _sample(learner: ActiveLearner[LabelTable]) -> _Sample:
    size = min(SAMPLE, max(MOST_SHARES // len(learner.classes), 1))
    rows = np.sort(np.random.default_rng(0).permutation(learner.pool.train)[:size])
    columns, words = learner.table.text_columns, {}
    cells = [_texts(learner.table, row, columns) for row in rows.tolist()]
    for number, column in enumerate(columns):
        texts = [row[number] for row in cells]
        features = TextFeatures().fit(texts)
        words[column] = (features, sparse.csc_matrix(features.transform(texts)))
    return _Sample(rows, {row: number for number, row in enumerate(rows.tolist())}, words)


SAMPLE = 2_000
"""Rows that the moments of the features are computed from, drawn with a fixed seed; fewer for many classes."""

MOST_TOLD = 5_000_000
"""Limit of rows times classes for using the model's own label distributions: above it they would take seconds."""

MOMENTS_LAST = 25
"""Versions of the model until the moments are computed again: one answer hardly changes them."""


@dataclass(frozen=True)
class Candidate:
    """One line of the card.

    probability : the model's share for the label, without the row's own vote
    weight : the label's weight in the table, in words: "0.46", "3 of 5 votes"; "" if all weigh the same
    given : the same as a number; 0 if there is none
    voters : people who named it before the import, for reviewers and owners; empty for others, or if unknown
    """

    label: str
    description: str
    probability: float
    weight: str = ""
    voters: tuple[str, ...] = ()
    given: float = 0.0


@dataclass(frozen=True)
class Telling:
    """The number columns that best distinguish the two most probable candidates, best first."""

    between: tuple[str, str]
    columns: tuple[str, ...]


@dataclass(frozen=True)
class YesNo:
    """A yes or no question: whether the row is one of these candidates.

    name : of the label or the group; "" for a group that has lost its name meanwhile
    description : of the label      probability : their combined share
    """

    name: str
    labels: tuple[str, ...]
    description: str
    probability: float


@dataclass(frozen=True)
class ShownQuestion:
    """A question as a page shows it.

    choices, probabilities : the candidates in class order      candidates : the same in display order
    strategy : as it is logged. Never displayed, because it would reveal the blind checks
    score, decides, undecided, predicted : as in `plcore.Question`
    why : a sentence about the project's strategy      shown : stamp of the choices, for `submit_answer`
    telling : the columns to mark, None if there is nothing to mark
    marks : the pieces of the text that favour one candidate over the others
    coming : the row likely to be asked next, if rows have files
    groups : the groups with some but not all of the candidates, each with its candidates
    yes_no : the yes or no question; None if it is "which of these?"
    first : how many candidates are shown at first; a key shows the others
    votes : number of people who voted on the row before; 0 if none did, or it is unknown
    """

    token: str
    view: RowView
    choices: tuple[str, ...]
    probabilities: tuple[float, ...]
    strategy: str
    score: float
    decides: int
    undecided: int
    model_version: int
    predicted: str | None
    candidates: tuple[Candidate, ...]
    why: str
    shown: str
    n_classes: int
    telling: Telling | None = field(default=None, compare=False)
    groups: Groups = field(default_factory=dict)
    yes_no: YesNo | None = None
    marks: tuple[SpeakingMark, ...] = field(default=(), compare=False)
    coming: RowView | None = field(default=None, compare=False)
    first: int | None = None
    votes: int = 0
    scored_by: str | None = None

    @property
    def behind(self) -> int:
        """Number of candidates that are hidden at first."""
        return 0 if self.first is None else len(self.candidates) - self.first


@dataclass
class _Memory:
    """Data cached with a learner: the moments of its features, which are slow to compute.

    sample : numbers of the rows they come from      version : of the model they were computed with
    """

    sample: np.ndarray | None = None
    moments: LabelMoments | None = None
    version: int = 0


# Used only while the learner is open, by one thread at a time.
_memories: WeakKeyDictionary[ActiveLearner[LabelTable], _Memory] = WeakKeyDictionary()


def word_question(
    learner: ActiveLearner[LabelTable],
    room: RoomSettings,
    person_id: int,
    asked: Question,
    token: str,
    how: AskedAs,
    groups: Groups,
    coming: RowView | None = None,
    *,
    with_voters: bool = False,
) -> ShownQuestion:
    """Return the question with its token, the row as it is in the file, and its candidates in the order of the room.

    how : its form      groups : those with some but not all of the candidates
    with_voters : whether the person may see the imported votes by voter
    """
    memory = _memories.setdefault(learner, _Memory())
    shares = dict(zip(asked.choices, asked.probabilities, strict=True))
    order = screen_order(learner, room, person_id, token, shares)
    short = how.form == QuestionForm.WHICH and how.first is not None and how.choices == len(how.first)
    first = how.first if short and how.choices < len(order) else None
    if first is not None:
        order = (*first, *(label for label in order if label not in first))
    weights, given = weight_words(learner.table, asked.row), weights_in(learner.table, asked.row)
    voters = voters_of(learner.table, asked.row) if with_voters else {}
    return ShownQuestion(
        token=token,
        view=row_view(learner.table, asked.row),
        choices=asked.choices,
        probabilities=asked.probabilities,
        strategy=asked.strategy,
        score=asked.score,
        decides=asked.decides,
        undecided=asked.undecided,
        model_version=asked.model_version,
        predicted=asked.predicted,
        candidates=tuple(
            Candidate(
                label,
                room.descriptions.get(label, ""),
                shares[label],
                weights.get(label, ""),
                voters.get(label, ()),
                given.get(label, 0.0),
            )
            for label in order
        ),
        # Never use the question's own strategy: a blind check must look like any other question.
        why=reason(learner.strategy, asked.decides, asked.undecided, counted=learner.proves_done, waits=learner.waits),
        shown=stamp(asked.choices),
        n_classes=len(learner.classes),
        telling=_telling(memory, learner, shares),
        groups=groups,
        yes_no=_yes_no(room, how, groups, shares),
        marks=speaking_marks(learner, asked.row, sorted(shares, key=lambda label: -shares[label])),
        coming=coming,
        first=None if first is None else len(first),
        votes=votes_in(learner.table, asked.row),
        scored_by=learner.table.roles.scored_by,
    )


def _yes_no(room: RoomSettings, how: AskedAs, groups: Groups, shares: dict[str, float]) -> YesNo | None:
    if how.form == QuestionForm.WHICH:
        return None
    named = next((name for name, members in groups.items() if members == how.about), "")
    is_one = how.form == QuestionForm.IS
    return YesNo(
        name=how.about[0] if is_one else named,
        labels=how.about,
        description=room.descriptions.get(how.about[0], "") if is_one else "",
        probability=sum(shares[label] for label in how.about),
    )


def _telling(memory: _Memory, learner: ActiveLearner[LabelTable], shares: dict[str, float]) -> Telling | None:
    columns = learner.table.roles.numbers
    best = sorted(shares, key=lambda label: -shares[label])[:2]
    if len(columns) < 2 or len(best) < 2:
        return None
    if memory.moments is None or learner.model_version - memory.version >= MOMENTS_LAST:
        memory.moments, memory.version = _moments(memory, learner), learner.model_version
    first, second = (learner.classes.index(label) for label in best)
    found = most_telling(memory.moments, first, second, min(5, -(-len(columns) // 4)))
    return Telling((best[0], best[1]), tuple(columns[place] for place in found)) if len(found) else None


def _moments(memory: _Memory, learner: ActiveLearner[LabelTable]) -> LabelMoments:
    """Return the moments by the model's label distributions; in huge tables by equal shares of each row's
    candidates."""
    if memory.sample is None:
        rows = np.flatnonzero(~learner.test_rows)
        drawn = np.random.default_rng(0).permutation(rows)[: min(SAMPLE, max(1, MOST_TOLD // len(learner.classes)))]
        memory.sample = np.sort(drawn)
    sample = memory.sample
    if learner.original.size <= MOST_TOLD:
        distributions = learner.shares_of(sample)
    else:
        candidates = np.array([learner.candidates_of(int(row)) for row in sample])
        distributions = candidates / np.maximum(candidates.sum(axis=1, keepdims=True), 1)
    return label_moments(learner.table.numbers[sample], distributions)
