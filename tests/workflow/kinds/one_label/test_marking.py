"""The words that speak for a candidate: those of its topic, by the plain formula, never by a held-out row."""

from __future__ import annotations

import numpy as np
import pytest
from scipy import sparse

from plcore.query import speaks_for
from tests.workflow.text_world import TOPICS, text_frame, text_project
from tests.workflow.world import opened, small_project
from workflow.answering import loop
from workflow.kinds.one_label import showing
from workflow.kinds.one_label.showing import learn_words, speaking_marks
from workflow.seat import Seat
from workflow.server.home import Home


def test_the_words_of_a_topic_speak_for_it(home: Home, owner: int) -> None:
    project = text_project(home, owner)
    assert loop.next_question(Seat(home, owner, project)).marks == (), "nobody waits for them"
    loop.get_ready(Seat(home, owner, project))
    seen = 0
    for _ in range(5):
        question = loop.next_question(Seat(home, owner, project))
        text = question.view.text
        marked = {(text[mark.start : mark.end], mark.label) for mark in question.marks}
        truth = text_frame()["truth"][question.view.row]
        for word in set(text.split()) & set(TOPICS[truth]):
            seen += (word, truth) in marked
            assert not any(word == other and label != truth for other, label in marked)
        assert max(mark.strength for mark in question.marks) == 1
        assert [mark.start for mark in question.marks] == sorted(mark.start for mark in question.marks)
        loop.submit_answer(Seat(home, owner, project), question.token, "is", [truth])
    assert seen >= 12, "of fifteen"


def test_the_marks_are_the_formula_s(home: Home, owner: int) -> None:
    project = text_project(home, owner, control_share=0.2)
    with opened(home, owner, project) as learner:
        pool = learner.pool
        row = int(pool.train[0])
        candidates = pool.names(pool.candidates[row])
        learn_words(learner)
        marks = speaking_marks(learner, row, candidates)
        sample = showing._samples[learner]
        assert sample.rows.tolist() == pool.train.tolist(), "no held-out row"
        x = sample.features.transform([learner.table.cells["text"][row]])
        numbers = [learner.classes.index(label) for label in candidates]
        shares = learner.shares_of(sample.rows)[:, numbers]
        X = sparse.csc_matrix(sample.features.transform(learner.table.cells["text"][sample.rows]))
        worth = dict(zip(x.indices.tolist(), speaks_for(X, shares, x.indices, x.data, 0), strict=True))
        text = learner.table.cells["text"][row]
        found = {}
        for word in text.split():
            parts = [column for _, _, column in sample.features.columns_of(word)]
            times = [
                sum(p == q for o in text.split() for _, _, q in sample.features.columns_of(o)) for p in parts
            ]
            found[word] = sum(
                (worth[column] / often for column, often in zip(parts, times, strict=True)), np.zeros(2)
            )
    most = max(value.max() for value in found.values())
    for mark in marks:
        wanted = found[text[mark.start : mark.end]][candidates.index(mark.label)] / most
        assert mark.strength == pytest.approx(wanted)
    assert len(marks) == sum((value >= showing.WEAKEST * most).sum() for value in found.values())


def test_a_row_ruled_out_counts_at_once_and_the_model_is_asked_again_later(home: Home, owner: int) -> None:
    project = text_project(home, owner)
    loop.get_ready(Seat(home, owner, project))
    question = loop.next_question(Seat(home, owner, project))
    loop.submit_answer(Seat(home, owner, project), question.token, "is", [question.choices[0]])
    with opened(home, owner, project) as learner:
        sample = showing._samples[learner]
        shares = sample.shares(learner)[sample.place[question.view.row]]
        assert shares[learner.classes.index(question.choices[0])] == 1
        np.testing.assert_allclose(shares.sum(), 1)
        assert sample.seq == 0
        learner.pool.seq += showing.SHARES_LAST
        sample.shares(learner)
        assert sample.seq == learner.seq


def test_nothing_is_marked_without_text_or_with_one_candidate(home: Home, owner: int) -> None:
    numbers, texts = small_project(home, owner), text_project(home, owner)
    loop.get_ready(Seat(home, owner, numbers))
    assert loop.next_question(Seat(home, owner, numbers)).marks == ()
    with opened(home, owner, numbers) as learner:
        assert learner not in showing._samples
    with opened(home, owner, texts) as learner:
        learn_words(learner)
        assert speaking_marks(learner, 0, learner.classes[:1]) == ()


def test_at_most_so_many_marks_and_characters(
    home: Home, owner: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    project = text_project(home, owner)
    monkeypatch.setattr(showing, "MOST_MARKS", 1)
    monkeypatch.setattr(showing, "MOST_CHARACTERS", 20)
    loop.get_ready(Seat(home, owner, project))
    marks = loop.next_question(Seat(home, owner, project)).marks
    labels = [mark.label for mark in marks]
    assert len(labels) == len(set(labels))
    assert marks
    assert max(mark.end for mark in marks) <= 20
