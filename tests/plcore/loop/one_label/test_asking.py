"""What an ActiveLearner asks, whom, and when it leaves a row alone."""

from __future__ import annotations

import numpy as np
import pytest

from plcore import ActiveLearner, AnswerError, Entry, LearnerSettings
from plcore.neighbors.graph import NeighborGraph
from plcore.query import necessary_labels, possible_labels
from tests.plcore.loop.fake_table import FakeTable, blobs

SETTINGS = LearnerSettings(n_neighbors=5)


def answer(learner, seq, row, label, annotator="ann"):
    learner.apply(Entry(seq, "is", row, annotator, (learner.classes[label],)))


def test_no_question_about_rows_that_are_done():
    table, y = blobs(40)
    learner = ActiveLearner(table, SETTINGS)
    asked = []
    seq = 0
    while question := learner.next_question("ann"):
        row, seq = question.row, seq + 1
        assert not learner.test_rows[row]
        assert len(question.choices) >= 2
        asked.append(row)
        if seq % 3:
            answer(learner, seq, row, y[row])
        else:
            learner.apply(Entry(seq, "bad", row, "ann"))
    assert len(asked) == len(set(asked))
    ambiguous = np.flatnonzero((table.candidates.sum(axis=1) >= 2) & ~learner.test_rows)
    assert sorted(asked) == ambiguous.tolist()
    progress = learner.progress()
    assert progress.ambiguous_left == progress.candidates_left == 0
    assert progress.settled == 1.0
    assert progress.bad == len(asked) // 3
    assert progress.answers == progress.answered == len(asked)


def test_excluded_rows_and_unsure_rows():
    table, _ = blobs()
    learner = ActiveLearner(table, SETTINGS)
    first = learner.next_question("ann")
    second = learner.next_question("ann", exclude=frozenset({first.row}))
    assert second.row != first.row
    assert learner.next_question("ann") == first  # asking changes nothing
    learner.apply(Entry(1, "unsure", first.row, "ann"))
    assert learner.next_question("ann").row == second.row
    assert learner.next_question("bob").row == first.row
    learner.apply(Entry(2, "withdraw", first.row, "ann", target=1))
    assert learner.next_question("ann").row == first.row
    open_rows = np.flatnonzero((learner.candidates.sum(axis=1) >= 2) & ~learner.test_rows)
    assert learner.next_question("ann", exclude=set(open_rows.tolist())) is None
    for seq, row in enumerate(open_rows.tolist(), start=3):
        learner.apply(Entry(seq, "unsure", row, "ann"))
    assert learner.next_question("ann") is None
    assert learner.model_version == 0
    assert len(learner.curve) == 1


def test_a_skipped_row_comes_back_after_twenty_entries():
    table, y = blobs(120, truth="none")
    learner = ActiveLearner(table, LearnerSettings(n_neighbors=5, strategy="mw"))
    skipped = learner.next_question("ann").row
    learner.apply(Entry(1, "skip", skipped, "ann"))
    assert learner.next_question("bob").row == skipped
    order = []
    for seq in range(2, 22):  # 20 further entries of the same annotator, and some of another's
        row = learner.next_question("ann").row
        order.append(row)
        answer(learner, 10 * seq, row, y[row])
        learner.apply(Entry(10 * seq + 1, "skip", row, "bob"))
    assert skipped not in order
    assert learner.next_question("ann", exclude={skipped}) is not None
    assert learner.next_question("ann").score == max(
        learner.question_for(int(row)).score for row in np.flatnonzero(learner.candidates.sum(axis=1) >= 2)
    )
    assert skipped == max(
        np.flatnonzero(learner.candidates.sum(axis=1) >= 2),
        key=lambda row: (learner.question_for(int(row)).score, -row),
    )
    assert learner.next_question("ann").row == skipped


def test_skipped_rows_come_back_when_nothing_else_is_left_oldest_first():
    table = FakeTable([[0.0], [1.0], [5.0], [9.0]], [[1, 1], [1, 1], [1, 1], [1, 0]])
    learner = ActiveLearner(table, LearnerSettings(n_neighbors=2))
    order = []
    for seq in range(1, 4):
        order.append(learner.next_question("ann").row)
        learner.apply(Entry(seq, "skip", order[-1], "ann"))
    assert sorted(order) == [0, 1, 2]
    assert learner.next_question("ann").row == order[0]
    learner.apply(Entry(4, "skip", order[0], "ann"))
    assert learner.next_question("ann").row == order[1]
    answer(learner, 5, order[1], 0)
    assert learner.next_question("ann").row == order[2]
    assert learner.next_question("ann", exclude={order[2]}).row == order[0]
    learner.apply(Entry(6, "withdraw", order[0], "ann", target=4))  # the first skip of that row stands again
    assert learner.next_question("ann").row == order[0]
    learner.apply(Entry(7, "withdraw", order[2], "bob", target=3))
    assert learner.next_question("ann").row == order[2]


def test_question_tells_choices_and_why():
    table, _ = blobs(truth="none")
    learner = ActiveLearner(table, SETTINGS)
    X = table.made[-1].transform(table, np.arange(90))
    neighbors, weights = NeighborGraph(X, 5, "linear", None).own_neighbors()
    for row in range(90):
        question = learner.question_for(row)
        own = table.candidates[row]
        assert question.choices == tuple(np.array(learner.classes)[own])
        votes = sum(
            w * table.candidates[r] for r, w in zip(neighbors[row][1:], weights[row][1:], strict=True)
        )
        inside = np.where(own, votes, 0)
        expected = inside[own] / inside.sum() if inside.any() else np.full(own.sum(), 1 / own.sum())
        np.testing.assert_allclose(question.probabilities, expected)
        assert sum(question.probabilities) == pytest.approx(1)
        assert question.strategy == "apl"
        assert (question.decides > 0) == (question.score > 0)
        assert question.undecided == learner.question_for(0).undecided
        assert question.model_version == 0
    ambiguous = np.flatnonzero(table.candidates.sum(axis=1) >= 2)
    graph = neighbors[ambiguous], weights[ambiguous], table.candidates
    necessary, possible = necessary_labels(*graph), possible_labels(*graph)
    settled = necessary.any(axis=1) & (necessary == possible).all(axis=1)
    assert learner.question_for(0).undecided == (~settled).sum()
    assert learner.progress().settled == settled.mean()


def test_questions_about_other_rows_are_refused():
    table, _ = blobs()
    learner = ActiveLearner(table, SETTINGS)
    with pytest.raises(AnswerError, match="held out"):
        learner.question_for(int(np.flatnonzero(learner.test_rows)[0]))
    row = learner.next_question("ann").row
    learner.apply(Entry(1, "bad", row, "ann"))
    with pytest.raises(AnswerError, match="bad item"):
        learner.question_for(row)
    for call in (learner.question_for, learner.state, learner.answer_of):
        with pytest.raises(AnswerError, match=r"0\.\.89"):
            call(90)


def test_a_row_narrowed_to_several_rests_like_a_skipped_one():
    table, y = blobs(60, q=0.9)
    learner = ActiveLearner(table, SETTINGS)
    first = learner.next_question("ann")
    learner.apply(Entry(1, "among", first.row, "ann", first.choices[:2]))
    for seq in range(2, 21):
        question = learner.next_question("ann")
        assert question.row != first.row
        answer(learner, seq, question.row, y[question.row])
    assert learner.may_ask(first.row, "ann")
    assert learner.question_for(first.row).choices == first.choices[:2]
    assert learner.next_question("bob") is not None


def test_blind_checks_come_in_their_order_those_that_somebody_knows_of_last():
    table, _ = blobs(60)
    learner = ActiveLearner(table, LearnerSettings(n_neighbors=5, control_share=0.4, test_share=0.2))
    pool, rng, late = learner.pool, np.random.default_rng(0), {int(learner.pool.control_left()[2])}
    controls = [row for row in pool.control_left().tolist() if row not in late]
    for seq, row in enumerate(rng.choice(controls, 6, replace=False).tolist(), start=1):
        learner.apply(Entry(seq, ("skip", "unsure")[seq % 2], row, "ann"))
    # By hand: sorted by whether there are entries, which keeps the order of the draw among equals.
    expected = sorted(controls, key=lambda row: bool(pool.own_entries(row, "ann")))
    assert list(learner._chooser._controls("ann", late)) == expected != controls
