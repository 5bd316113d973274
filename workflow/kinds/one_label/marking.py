"""The words of a row's text that speak for each of its candidates, for the question card to mark."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any
from weakref import WeakKeyDictionary

import numpy as np
from scipy import sparse

from plcore.query import speaks_for
from plcore.tables import TextFeatures, marks_of
from workflow.common.rows import text_of

if TYPE_CHECKING:
    from collections.abc import Sequence

    from plcore import ActiveLearner, LabelTable

SAMPLE = 2_000
"""Rows whose words are compared with, of those that train, drawn with a fixed seed; fewer for many classes."""

MOST_SHARES = 400_000
"""Rows times classes of the sample at most."""

SHARES_LAST = 10
"""Entries after which the model is asked anew what it says of the sample. Answers about its rows count at once."""

MOST_CANDIDATES = 20
"""Candidates whose words are marked, those with the largest shares."""

MOST_MARKS = 12
"""Pieces of the text that are marked for one candidate, those that speak most."""

WEAKEST = 0.2
"""Of the piece that speaks most for any candidate: what speaks less is not marked."""

MOST_CHARACTERS = 20_000
"""Of a text that are looked at, from its beginning."""


@dataclass(frozen=True)
class SpeakingMark:
    """A piece of the text, in characters from start to before end, that speaks for a candidate. strength : in (0, 1],
    1 for the piece that speaks most of all those of the question."""

    start: int
    end: int
    label: str
    strength: float


@dataclass
class _Sample:
    """What is kept beside a learner while it lives. place : {row: its number in the sample}      X : CSC of their texts

    said : (r, m) the model's shares as they were after entry `seq`
    """

    rows: np.ndarray
    place: dict[int, int]
    features: TextFeatures
    X: Any
    said: np.ndarray | None = None
    seq: int = 0

    def shares(self, learner: ActiveLearner[LabelTable]) -> np.ndarray:
        """(r, m) the model's shares, 0 for candidates that answers have ruled out since."""
        if self.said is None or learner.seq - self.seq >= SHARES_LAST:
            self.said, self.seq = learner.shares_of(self.rows), learner.seq
        left = self.said * learner.pool.candidates[self.rows]
        total = left.sum(axis=1, keepdims=True)
        return np.asarray(left / np.where(total > 0, total, 1.0))


# Read and written only while the learner is open, that is by one thread at a time.
_samples: WeakKeyDictionary[ActiveLearner[LabelTable], _Sample] = WeakKeyDictionary()


def learn_words(learner: ActiveLearner[LabelTable]) -> None:
    """Look through the texts of the sample, which takes seconds: not while somebody waits for a question."""
    if learner.table.roles.text is not None and learner not in _samples:
        _samples[learner] = _sample(learner)


def speaking_marks(
    learner: ActiveLearner[LabelTable], row: int, candidates: Sequence[str]
) -> tuple[SpeakingMark, ...]:
    """The pieces of the row's text that speak for one of its candidates rather than for the others, in the order of the
    text; none where there is no text or one candidate, and before `learn_words`.

    candidates : of the row, those with the largest shares first
    A row of the sample counts for a candidate by what the model gives it. No held-out row is in the sample, and the row
    does not count for itself, so that a blind question is marked like any other.
    """
    sample = _samples.get(learner)
    text = text_of(learner.table, row)[:MOST_CHARACTERS]
    labels = list(candidates[:MOST_CANDIDATES])
    if sample is None or not text or len(labels) < 2:
        return ()
    own = sample.features.transform([text])
    numbers = [learner.classes.index(label) for label in labels]
    shares = sample.shares(learner)[:, numbers]
    worth = np.zeros((len(sample.features.names_), len(labels)))
    worth[own.indices] = speaks_for(sample.X, shares, own.indices, own.data, sample.place.get(row))
    marks = marks_of(sample.features, text, worth)
    if not marks:
        return ()
    strengths = np.array([mark.worth for mark in marks])  # (pieces, k)
    most = float(strengths.max())
    if most <= 0:
        return ()
    found = []
    for place, label in enumerate(labels):
        best = np.argsort(-strengths[:, place], kind="stable")[:MOST_MARKS]
        found += [
            SpeakingMark(marks[one].start, marks[one].end, label, float(strengths[one, place] / most))
            for one in best.tolist()
            if strengths[one, place] >= WEAKEST * most
        ]
    return tuple(sorted(found, key=lambda mark: (mark.start, mark.end)))


def _sample(learner: ActiveLearner[LabelTable]) -> _Sample:
    size = min(SAMPLE, max(MOST_SHARES // len(learner.classes), 1))
    rows = np.sort(np.random.default_rng(0).permutation(learner.pool.train)[:size])
    texts = [text_of(learner.table, row)[:MOST_CHARACTERS] for row in rows.tolist()]
    features = TextFeatures().fit(texts)
    place = {row: number for number, row in enumerate(rows.tolist())}
    return _Sample(rows, place, features, sparse.csc_matrix(features.transform(texts)))
