"""How rows with candidates stand on the map."""

from __future__ import annotations

import numpy as np
import pytest

from tests.workflow.world import answer_next, small_project, somebody
from workflow.access import Role
from workflow.answering import loop
from workflow.kinds.one_label import rows as mapping
from workflow.kinds.one_label.rows import MAP, named_on_map
from workflow.people import members
from workflow.seat import Seat
from workflow.server.home import Home


def test_answered_and_open_rows_and_what_each_may_be(home: Home, owner: int, project: int) -> None:
    seat = Seat(home, owner, project)
    said = answer_next(home, owner, project)
    question = loop.next_question(seat)
    assert question is not None
    loop.submit_answer(seat, question.token, "not", question.choices[:1], shown=question.shown)
    bad = loop.next_question(seat)
    assert bad is not None
    loop.submit_answer(seat, bad.token, "bad")
    with seat.learner() as opened:
        learner = opened.learner
        answered, still_open = learner.pool.answered_rows, learner.pool.open_rows
        assert set(np.flatnonzero(answered)) == {said.row, question.view.row, bad.view.row}
        assert still_open.sum() >= learner.pool.n_open
        assert not still_open[said.row]
        first, second, third = learner.pool.labels_shown([said.row, question.view.row, bad.view.row])
        assert first == said.labels
        assert second == question.choices[1:]
        assert third == ()


def test_a_row_is_named_as_its_question_would_name_it(home: Home, owner: int, project: int) -> None:
    seat = Seat(home, owner, project)
    said = answer_next(home, owner, project)
    bad = loop.next_question(seat)
    assert bad is not None
    loop.submit_answer(seat, bad.token, "bad")
    with seat.learner() as opened:
        learner = opened.learner
        rows = list(range(learner.table.n_rows))
        named = named_on_map(learner, rows)
        left = learner.candidates.sum(axis=1)
        assert named.known.tolist() == (left == 1).tolist()
        assert learner.classes[named.classes[said.row]] == said.labels[0]
        assert named.classes[bad.view.row] == -1
        assert np.isnan(named.doubt[[said.row, bad.view.row]]).all()
        still = np.flatnonzero(learner.pool.asked.waiting() & ~learner.test_rows)
        assert len(still) > 5
        for row in still.tolist():
            question = learner.question_for(row, annotator=str(owner))
            assert learner.classes[named.classes[row]] == question.predicted
            assert named.doubt[row] == pytest.approx(1 - max(question.probabilities))
        assert MAP.label_to_ask is None, "a question is about all labels of a row"


def test_of_very_many_classes_some_rows_are_looked_at(
    home: Home, owner: int, project: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    with Seat(home, owner, project).learner() as opened:
        learner = opened.learner
        rows = list(range(learner.table.n_rows))
        every = named_on_map(learner, rows)
        monkeypatch.setattr(mapping, "MOST_SHARES", 5 * len(learner.classes))
        some = named_on_map(learner, rows)
    looked = ~np.isnan(some.doubt)
    assert 0 < looked.sum() <= 5 < (~np.isnan(every.doubt)).sum()
    np.testing.assert_array_equal(some.doubt[looked], every.doubt[looked])
    np.testing.assert_array_equal(some.known, every.known)


def test_nothing_is_said_before_there_is_a_model(home: Home, owner: int) -> None:
    seat = Seat(home, owner, small_project(home, owner, model="plsvc"))
    with seat.learner() as opened:
        named = named_on_map(opened.learner, list(range(opened.learner.table.n_rows)))
    assert (named.classes[~named.known] == -1).all()
    assert np.isnan(named.doubt).all()


def test_nobody_sees_what_others_have_begun(home: Home, owner: int) -> None:
    ada = somebody(home, owner, "Ada")
    project = small_project(home, owner, overlap=2, fold="majority", test_share=0.5)
    members.give_role(Seat(home, owner, project), [ada], Role.ANNOTATOR)
    said = answer_next(home, ada, project)
    with Seat(home, owner, project).learner() as opened:
        named = named_on_map(opened.learner, [said.row])
        fresh = np.flatnonzero(opened.learner.pool.fresh())
        others = named_on_map(opened.learner, fresh.tolist())
    assert (named.classes.tolist(), named.known.tolist()) == ([-1], [False])
    assert np.isnan(named.doubt).all()
    assert (others.classes >= 0).all()
