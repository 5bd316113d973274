"""ActiveLearner: questions, held-out rows and reports."""

from __future__ import annotations

import numpy as np
import pytest

from plcore import ActiveLearner, AnswerError, Entry, LearnerSettings, PLKNeighborsClassifier
from plcore.neighbors.graph import NeighborGraph
from plcore.query import STRATEGIES, EffectRanker, necessary_labels, possible_labels
from tests.plcore.loop.fake_table import FakeTable, blobs

SETTINGS = LearnerSettings(n_neighbors=5)


def answer(learner, seq, row, label, annotator="ann"):
    learner.apply(Entry(seq, "is", row, annotator, (learner.classes[label],)))


def test_held_out_rows_are_a_seeded_share_of_rows_with_known_truth():
    table, _ = blobs(120, truth=0.5)
    labelled = np.flatnonzero(table.truth >= 0)
    learner = ActiveLearner(table, SETTINGS)
    assert learner.test_rows.sum() == round(len(labelled) / 3)
    assert (table.truth[learner.test_rows] >= 0).all()
    np.testing.assert_array_equal(learner.test_rows, ActiveLearner(table, SETTINGS).test_rows)
    other = ActiveLearner(table, LearnerSettings(seed=1))
    assert (other.test_rows != learner.test_rows).any()
    assert ActiveLearner(table, LearnerSettings(test_share=0)).test_rows.sum() == 0
    assert ActiveLearner(table, LearnerSettings(test_share=0.5)).test_rows.sum() == int(len(labelled) / 2 + 0.5)
    assert ActiveLearner(blobs(truth="none")[0], SETTINGS).test_rows.sum() == 0
    one = ActiveLearner(FakeTable([[0.0], [1.0]], np.ones((2, 2)), np.array([0, 1])), LearnerSettings(test_share=0.99))
    assert one.test_rows.sum() == 1  # some rows are left to learn from


def test_features_are_fitted_on_training_rows_only():
    table, _ = blobs()
    learner = ActiveLearner(table, SETTINGS)
    np.testing.assert_array_equal(table.made[-1].fitted_rows, np.flatnonzero(~learner.test_rows))


@pytest.mark.parametrize("weights", ["linear", "uniform"])
def test_model_matches_the_estimator(weights):
    table, y = blobs()
    learner = ActiveLearner(table, LearnerSettings(n_neighbors=5, weights=weights))
    options = {"n_neighbors": 5, "weights": weights, "scaling": None}
    train, test = np.flatnonzero(~learner.test_rows), np.flatnonzero(learner.test_rows)
    features = table.made[-1]
    for seq in range(1, 12):
        X = features.transform(table, train)
        model = PLKNeighborsClassifier(**options).fit(X, learner.candidates[train])
        np.testing.assert_array_equal(learner.label_distributions[train], model.label_distributions_)
        assert np.isnan(learner.label_distributions[test]).all()
        assert learner.progress().accuracy == model.score(features.transform(table, test), y[test])
        ranker = EffectRanker(**options).fit(X, learner.candidates[train])
        question = learner.next_question("ann")
        assert question.row == train[ranker.next()[0]]
        assert question.score == ranker.scores_.max()
        answer(learner, seq, question.row, y[question.row])


def test_held_out_labels_do_not_affect_the_model():
    table, y = blobs()
    learner = ActiveLearner(table, SETTINGS)
    test = learner.test_rows
    other_sets, other_truth = table.candidates.copy(), table.truth.copy()
    other_sets[test] = True
    other_truth[test] = (other_truth[test] + 1) % 4
    other = ActiveLearner(FakeTable(table.X, other_sets, other_truth), SETTINGS)
    np.testing.assert_array_equal(other.test_rows, test)
    for seq in range(1, 30):
        question = learner.next_question("ann")
        assert question == other.next_question("ann")
        answer(learner, seq, question.row, y[question.row])
        answer(other, seq, question.row, y[question.row])
    np.testing.assert_array_equal(learner.label_distributions, other.label_distributions)
    assert learner.progress().settled == other.progress().settled
    assert learner.progress().accuracy != other.progress().accuracy
    with pytest.raises(AnswerError, match="held out to measure"):
        answer(learner, 99, int(np.flatnonzero(test)[0]), 0)


@pytest.mark.parametrize("strategy", STRATEGIES)
def test_hidden_truth_does_not_affect_the_model(strategy):
    table, y = blobs()
    settings = LearnerSettings(n_neighbors=5, strategy=strategy)
    learner = ActiveLearner(table, settings)
    hidden = np.where(learner.test_rows, table.truth, (table.truth + 1) % 4)
    other = ActiveLearner(FakeTable(table.X, table.candidates, hidden), settings)
    np.testing.assert_array_equal(other.test_rows, learner.test_rows)
    for seq in range(1, 31):
        question = learner.next_question("ann")
        assert question == other.next_question("ann")
        answer(learner, seq, question.row, y[question.row])
        answer(other, seq, question.row, y[question.row])
    np.testing.assert_array_equal(learner.label_distributions, other.label_distributions)
    assert learner.progress() == other.progress()
    assert learner.curve == other.curve
    assert len(learner.curve) == 31


def test_given_truth_is_used_for_training():
    table, _ = blobs()
    hidden = ActiveLearner(table, SETTINGS)
    settings = LearnerSettings(n_neighbors=5, truth_role="given")
    given = ActiveLearner(table, settings)
    np.testing.assert_array_equal(given.test_rows, hidden.test_rows)
    np.testing.assert_array_equal(hidden.candidates, table.candidates)
    train = ~given.test_rows
    assert (given.candidates[train].sum(axis=1) == 1).all()
    np.testing.assert_array_equal(given.candidates[train].argmax(axis=1), table.truth[train])
    np.testing.assert_array_equal(given.original, table.candidates)
    assert given.next_question("ann") is None
    assert given.progress().settled == 1.0
    assert given.progress().accuracy > hidden.progress().accuracy
    result = given.disambiguate()
    assert set(result.sources) == {"truth"}
    np.testing.assert_array_equal(result.labels, table.truth)
    row = int(np.flatnonzero(train)[0])
    with pytest.raises(AnswerError, match="exact label was given"):
        given.apply(Entry(1, "bad", row, "ann"))
    held = int(np.flatnonzero(~train)[0])
    np.testing.assert_array_equal(given.candidates[~train], table.candidates[~train])
    with pytest.raises(AnswerError, match="held out to measure"):
        given.apply(Entry(1, "bad", held, "ann"))


def test_held_out_row_without_votes_counts_as_wrong():
    sets = [[1, 1], [1, 0], [0, 1], [0, 1]]
    table = FakeTable([[0.0], [0.1], [5.0], [6.0]], sets, np.array([0, -1, -1, -1]))
    learner = ActiveLearner(table, LearnerSettings(n_neighbors=1, test_share=0.9))
    assert learner.test_rows.tolist() == [True, False, False, False]
    assert learner.progress().accuracy == 1.0
    learner.apply(Entry(1, "bad", 1, "ann"))  # its only neighbour
    assert learner.progress().accuracy == 0.0


@pytest.mark.parametrize("row", [-1, 90, 1.7, 1.0, "1", None, True])
def test_wrong_rows_are_refused(row):
    learner = ActiveLearner(blobs()[0], SETTINGS)
    for ask in (
        learner.state,
        learner.question_for,
        learner.answer_of,
        learner.candidates_of,
        lambda wrong: learner.may_ask(wrong, "ann"),
    ):
        with pytest.raises(AnswerError, match=r"row must be in 0\.\.89"):
            ask(row)


def test_unknown_row_numbers_can_be_excluded():
    learner = ActiveLearner(blobs()[0], LearnerSettings(n_neighbors=5, test_share=0.0))
    for row in range(89):
        if learner.may_ask(row, "ann"):
            learner.apply(Entry(row + 1, "unsure", row, "ann"))
    assert learner.may_ask(89, "ann")
    question = learner.next_question("ann", exclude={-1, 999})
    assert question.row == 89
    assert learner.next_question("ann", exclude={89}) is None


def test_progress_and_curve_match_a_recount():
    table, y = blobs()
    learner = ActiveLearner(table, SETTINGS)
    train = ~learner.test_rows
    sizes = table.candidates[train].sum(axis=1)
    start = learner.progress()
    assert start.ambiguous_left == (sizes >= 2).sum()
    assert start.candidates_left == (sizes - 1).sum()
    assert (start.n_train, start.n_test) == (train.sum(), (~train).sum())
    assert [point.seq for point in learner.curve] == [0]

    rows = [row for row in range(90) if train[row] and table.candidates[row].sum() >= 2]
    answer(learner, 1, rows[0], y[rows[0]])
    learner.apply(Entry(2, "skip", rows[1], "ann"))
    answer(learner, 3, rows[0], y[rows[0]])  # adds no information
    learner.apply(Entry(4, "unsure", rows[1], "ann"))
    learner.apply(Entry(5, "bad", rows[2], "ann"))
    learner.apply(Entry(6, "withdraw", rows[1], "ann", target=4))
    assert [(point.seq, point.answers, point.model_version) for point in learner.curve] == [
        (0, 0, 0),
        (1, 1, 1),
        (5, 3, 5),
    ]
    progress = learner.progress()
    assert (progress.answers, progress.answered, progress.bad) == (3, 2, 1)
    assert progress.model_version == learner.model_version == 5
    size = table.candidates.sum(axis=1) - 1
    assert progress.candidates_left == start.candidates_left - size[rows[0]] - size[rows[2]]
    learner.apply(Entry(7, "withdraw", rows[2], "ann", target=5))
    learner.apply(Entry(8, "withdraw", rows[0], "ann", target=3))  # the first answer still stands
    assert learner.model_version == 7
    learner.apply(Entry(9, "withdraw", rows[0], "ann", target=1))
    after = learner.progress()
    assert (after.answers, after.answered, after.bad) == (0, 0, 0)
    assert (after.settled, after.accuracy, after.candidates_left) == (
        start.settled,
        start.accuracy,
        start.candidates_left,
    )
    assert ActiveLearner(blobs(truth="none")[0], SETTINGS).progress().accuracy is None


def test_disambiguate_names_its_sources():
    table, y = blobs(150, q=0.25)
    learner = ActiveLearner(table, SETTINGS)
    bad = learner.next_question("ann").row
    learner.apply(Entry(1, "bad", bad, "ann"))
    for seq in range(2, 20):
        question = learner.next_question("ann")
        answer(learner, seq, question.row, y[question.row])
    narrowed = learner.next_question("ann").row
    learner.apply(Entry(20, "not", narrowed, "ann", (learner.state(narrowed).candidates[0],)))
    result = learner.disambiguate()
    train = np.flatnonzero(~learner.test_rows)
    graph = NeighborGraph(table.made[-1].transform(table, train), 5, "linear", None).own_neighbors()
    candidates = learner.candidates[train]
    votes = np.zeros(candidates.shape, dtype=np.int64)
    necessary = np.zeros(candidates.shape, dtype=bool)
    for place, (rows, weights) in enumerate(zip(*graph, strict=True)):
        voting = candidates[rows].any(axis=1)  # bad rows cast no vote
        votes[place] = (weights[voting, None] * candidates[rows[voting]]).sum(axis=0)
        compact = np.flatnonzero(voting)
        necessary[place] = necessary_labels(
            np.arange(len(compact))[None], weights[None, voting], candidates[rows[voting]]
        )[0]
    for place, row in enumerate(train.tolist()):
        own = learner.candidates[row]
        source, label, sure = result.sources[row], result.labels[row], result.confidence[row]
        if row == bad:
            assert (source, label) == ("bad", -1)
            assert np.isnan(sure)
            continue
        assert own[label]
        share = votes[place, label] / votes[place, own].sum()
        if own.sum() == 1:
            assert source == ("given" if learner.answer_of(row) is None else "person")
            assert sure == 1
        elif (necessary[place] & own).sum() == 1:
            assert source == "necessary"
            assert (necessary[place] & own)[label]
            assert sure == pytest.approx(share)
        else:
            assert source == "model"
            assert label == np.where(own, votes[place], -1).argmax()
            assert sure == pytest.approx(share)
    test = learner.test_rows
    np.testing.assert_array_equal(result.labels[test], table.truth[test])
    assert set(result.sources) == {"given", "person", "truth", "necessary", "model", "bad"}
    assert (result.sources == "person").sum() >= 18


def test_effect_of_an_entry_is_reported():
    table, _ = blobs()
    learner, other = ActiveLearner(table, SETTINGS), ActiveLearner(table, SETTINGS)
    row = learner.next_question("ann").row
    first, last = learner.state(row).candidates[0], learner.state(row).candidates[-1]
    entries = [
        Entry(1, "not", row, "ann", (first,)),
        Entry(2, "is", row, "ann", (last,)),
        Entry(3, "bad", row, "bob"),
        Entry(4, "withdraw", row, "bob", target=3),
        Entry(5, "skip", row, "bob"),
        Entry(6, "withdraw", row, "ann", target=2),
    ]
    for entry in entries:
        after = learner.candidates_after(entry)
        assert learner.progress() == other.progress()  # still as without it
        learner.apply(entry)
        other.apply(entry)
        np.testing.assert_array_equal(learner.candidates[row], after)
    with pytest.raises(AnswerError, match="comes too late"):
        learner.candidates_after(entries[0])


def test_only_open_training_rows_may_be_asked():
    table, y = blobs()
    learner = ActiveLearner(table, SETTINGS)
    for row in range(90):
        open_row = table.candidates[row].sum() >= 2 and not learner.test_rows[row]
        assert learner.may_ask(row, "ann") == open_row
    row = learner.next_question("ann").row
    learner.apply(Entry(1, "skip", row, "ann"))
    assert learner.may_ask(row, "ann")
    learner.apply(Entry(2, "unsure", row, "ann"))
    assert not learner.may_ask(row, "ann")
    assert learner.may_ask(row, "bob")
    answer(learner, 3, row, y[row], "bob")
    assert not learner.may_ask(row, "bob")


def test_returned_arrays_are_copies():
    table, _ = blobs()
    learner = ActiveLearner(table, SETTINGS)
    question = learner.next_question("ann")
    learner.candidates[:] = False
    learner.curve.clear()
    assert learner.next_question("ann") == question
    assert len(learner.curve) == 1
    for shared in (learner.original, learner.test_rows):
        with pytest.raises(ValueError, match="read-only"):
            shared[0] = True


# Questions of an ActiveLearner per annotator, and rows it does not ask about.


def test_finished_rows_are_not_asked_about():
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


def test_excluded_and_skipped_rows_are_not_asked():
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


def test_skipped_row_comes_back_after_twenty_entries():
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


def test_oldest_skipped_rows_come_back_first_when_nothing_else_is_left():
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


def test_question_includes_choices_and_reason():
    table, _ = blobs(truth="none")
    learner = ActiveLearner(table, SETTINGS)
    X = table.made[-1].transform(table, np.arange(90))
    neighbors, weights = NeighborGraph(X, 5, "linear", None).own_neighbors()
    for row in range(90):
        question = learner.question_for(row)
        own = table.candidates[row]
        assert question.choices == tuple(np.array(learner.classes)[own])
        votes = sum(w * table.candidates[r] for r, w in zip(neighbors[row][1:], weights[row][1:], strict=True))
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


def test_narrowed_row_waits_like_a_skipped_one():
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


def test_blind_checks_come_in_order_with_already_seen_ones_last():
    table, _ = blobs(60)
    learner = ActiveLearner(table, LearnerSettings(n_neighbors=5, control_share=0.4, test_share=0.2))
    pool, rng, late = learner.pool, np.random.default_rng(0), {int(learner.pool.control_left()[2])}
    controls = [row for row in pool.control_left().tolist() if row not in late]
    for seq, row in enumerate(rng.choice(controls, 6, replace=False).tolist(), start=1):
        learner.apply(Entry(seq, ("skip", "unsure")[seq % 2], row, "ann"))
    # By hand: sorted by whether there are entries, which keeps the order of the draw among equals.
    expected = sorted(controls, key=lambda row: bool(pool.own_entries(row, "ann")))
    assert list(learner._chooser._controls("ann", late)) == expected != controls
