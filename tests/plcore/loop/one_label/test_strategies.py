"""ActiveLearner under every strategy: the order of questions, the ranking of open rows, and being done."""

from __future__ import annotations

import csv
import io
import json
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

from plcore import ActiveLearner, AnswerError, Entry, LearnerSettings
from plcore.blocks import Blocks, Inline
from plcore.evaluation import replay_in_blocks
from plcore.loop.one_label import CurvePoint, StrategyReplays
from plcore.loop.one_label.pool import OneLabelPool
from plcore.loop.one_label.training import plain_features
from plcore.neighbors.graph import NeighborGraph
from plcore.query import STRATEGIES, EffectRanker, MaxHerding, make_strategy, necessary_labels, possible_labels, winners
from tests.plcore.loop.fake_table import FakeTable, blobs


def answer(learner, seq, row, label, annotator="ann"):
    learner.apply(Entry(seq, "is", row, annotator, (learner.classes[label],)))


@pytest.mark.parametrize("name", STRATEGIES)
def test_questions_and_ranking_follow_the_strategy(name):
    table, y = blobs(90, seed=2)
    learner = ActiveLearner(table, LearnerSettings(n_neighbors=5, strategy=name, seed=4))
    train = np.flatnonzero(~learner.test_rows)
    X = table.made[-1].transform(table, train)
    for seq in range(1, 12):
        seed = 4 if name == "random" else None
        strategy = make_strategy(name, n_neighbors=5, scaling=None, random_state=seed)
        strategy.fit(X, learner.candidates[train])
        question = learner.next_question("ann")
        assert question.row == train[strategy.next()[0]]
        assert question.strategy == name
        rows, scores = learner.ranking()
        assert rows[0] == question.row
        assert scores[0] == question.score
        np.testing.assert_array_equal(scores, strategy.scores_[np.searchsorted(train, rows)])
        open_rows = np.flatnonzero((learner.candidates.sum(axis=1) >= 2) & ~learner.test_rows)
        assert sorted(rows.tolist()) == open_rows.tolist()
        keys = list(zip((-scores).tolist(), rows.tolist(), strict=True))
        assert keys == sorted(keys)
        for most in (1, 7, len(rows) - 1, len(rows), len(rows) + 1):
            for first, all_of_them in zip(learner.ranking(most), (rows, scores), strict=True):
                np.testing.assert_array_equal(first, all_of_them[:most])
        for row, score in zip(rows[:5].tolist(), scores[:5].tolist(), strict=True):
            assert learner.question_for(row).score == score
        answer(learner, seq, question.row, y[question.row])


def test_model_and_explanations_do_not_depend_on_the_strategy():
    table, y = blobs(60, seed=5)
    learners = [ActiveLearner(table, LearnerSettings(n_neighbors=4, strategy=name)) for name in STRATEGIES]
    rows = learners[0].ranking()[0]
    for seq, row in enumerate(rows[:8].tolist(), start=1):
        questions = [learner.question_for(row) for learner in learners]
        approximate = {
            question.decides for question in questions if question.strategy != "pl"
        }  # PL's own effect may differ
        assert len(approximate) == 1
        assert len({question.undecided for question in questions}) == 1
        assert len({question.probabilities for question in questions}) == 1
        for learner in learners:
            answer(learner, seq, row, y[row])
        assert len({learner.progress() for learner in learners}) == 1
        assert len({learner.done for learner in learners}) == 1


def test_held_out_rows_and_their_timing_do_not_depend_on_strategy_or_model():
    """Otherwise estimates of two strategies would use different rows, and a strategy could choose its own checks."""
    table, y = blobs(120, seed=5, truth="none")
    options = [{"strategy": name} for name in (*STRATEGIES, "margin")]
    options += [{"strategy": "margin", "model": name} for name in ("plsvc", "pegasos-max")]
    pools = [OneLabelPool(table, LearnerSettings(n_neighbors=4, control_share=0.2, seed=3, **one)) for one in options]
    order = pools[0].control_left().tolist()
    assert len(order) > 10
    rows = np.setdiff1d(pools[0].train[pools[0].sizes[pools[0].train] >= 2], order)[:40]
    due = []
    for seq, row in enumerate(rows.tolist(), start=1):
        assert all(pool.control_left().tolist() == order for pool in pools)
        due.append({pool.control_is_due() for pool in pools})
        for pool in pools:
            pool.apply(Entry(seq, "is", row, "ann", (pool.classes[y[row]],)))
    assert all(len(said) == 1 for said in due)
    assert {True, False} == set.union(*due)


@pytest.mark.parametrize("name", STRATEGIES)
def test_every_strategy_handles_skips_bad_items_and_withdrawals(name):
    table, y = blobs(60, seed=7)
    options = LearnerSettings(n_neighbors=4, strategy=name)
    learner = ActiveLearner(table, options)
    first = learner.next_question("ann")
    learner.apply(Entry(1, "skip", first.row, "ann"))
    second = learner.next_question("ann")
    assert second.row != first.row
    learner.apply(Entry(2, "bad", second.row, "ann"))
    assert second.row not in learner.ranking()[0]
    third = learner.next_question("ann").row
    answer(learner, 3, third, y[third])
    for seq, target, row in ((4, 3, third), (5, 2, second.row), (6, 1, first.row)):
        learner.apply(Entry(seq, "withdraw", row, "ann", target=target))
    start = ActiveLearner(table, options)
    again = learner.next_question("ann")
    assert (again.row, again.score) == (first.row, first.score)
    np.testing.assert_array_equal(learner.ranking(), start.ranking())


def test_random_order_is_seeded():
    table, _ = blobs(90, truth="none")
    rankings = [
        ActiveLearner(table, LearnerSettings(strategy="random", seed=seed)).ranking()[0].tolist() for seed in (0, 0, 1)
    ]
    assert rankings[0] == rankings[1] != rankings[2]


def separated(seed):
    """Three clusters with a few false candidates: most rows need no answer."""
    table, y = blobs(60, m=3, seed=seed, truth="none", q=0.2)
    table.X += 3 * np.eye(3)[y]
    return table, y


def ask_until_done(learner, y):
    """Answer with the truth until no answer can change a decision; the entries."""
    log = []
    while not learner.done:
        question = learner.next_question("ann")
        log.append(Entry(len(log) + 1, "is", question.row, "ann", (learner.classes[y[question.row]],)))
        learner.apply(log[-1])
    return log


@pytest.mark.parametrize("name", STRATEGIES)
@pytest.mark.parametrize("seed", range(4))
def test_done_means_that_no_answer_can_change_a_decision(seed, name):
    table, y = separated(seed)
    learner = ActiveLearner(table, LearnerSettings(n_neighbors=5, strategy=name))
    log = ask_until_done(learner, y)
    assert log
    assert learner.progress().settled == 1
    left = learner.ranking()[0]
    assert len(left)  # questions are left, but their answers decide nothing
    X = table.made[-1].transform(table, np.arange(60))
    graph = NeighborGraph(X, 5, "linear", None).own_neighbors(left)
    necessary, possible = (rule(*graph, learner.candidates) for rule in (necessary_labels, possible_labels))
    assert necessary.any(axis=1).all()
    np.testing.assert_array_equal(necessary, possible)
    decided = winners(*graph, learner.candidates)
    rng = np.random.default_rng(seed)
    for row in rng.permutation(left).tolist():
        assert learner.question_for(row).decides == 0
        label = rng.choice(np.flatnonzero(learner.candidates[row]))  # whether the answer is true or not
        answer(learner, learner.seq + 1, row, label)
        assert learner.done
        np.testing.assert_array_equal(winners(*graph, learner.candidates), decided)


@pytest.mark.parametrize("seed", range(4))
def test_undoing_the_last_answer_makes_the_project_not_done(seed):
    table, y = separated(seed)
    learner = ActiveLearner(table, LearnerSettings(n_neighbors=5))
    last = ask_until_done(learner, y)[-1]
    learner.apply(Entry(last.seq + 1, "withdraw", last.row, "ann", target=last.seq))
    assert not learner.done
    assert learner.progress().settled < 1
    assert learner.question_for(last.row).undecided > 0


def test_one_open_prediction_among_hundreds_is_not_done():
    table, y = blobs(400, m=3, seed=1, truth="none", q=0.3)
    table.X += 3 * np.eye(3)[y]
    learner = ActiveLearner(table, LearnerSettings(n_neighbors=5))
    last = ask_until_done(learner, y)[-1]
    learner.apply(Entry(last.seq + 1, "withdraw", last.row, "ann", target=last.seq))
    assert 0.99 < learner.progress().settled < 1
    assert not learner.done


def test_effect_strategy_is_done_sooner():
    counts = {}
    for name in ("random", "act", "apl"):
        counts[name] = 0
        for seed in range(4):
            table, y = separated(seed)
            learner = ActiveLearner(table, LearnerSettings(n_neighbors=5, strategy=name))
            counts[name] += len(ask_until_done(learner, y))
    assert counts["apl"] < 0.5 * min(counts["random"], counts["act"])


def test_unambiguous_table_is_done_at_once():
    table = FakeTable([[0.0], [1.0], [2.0]], np.eye(3), None)
    learner = ActiveLearner(table, LearnerSettings(n_neighbors=2))
    assert learner.done
    assert learner.next_question("ann") is None
    assert [len(part) for part in learner.ranking()] == [0, 0]


def test_candidates_of_returns_a_copy():
    table, _ = blobs()
    learner = ActiveLearner(table, LearnerSettings())
    learner.candidates_of(3)[:] = False
    np.testing.assert_array_equal(learner.candidates_of(3), table.candidates[3])
    with pytest.raises(AnswerError, match=r"0\.\.89"):
        learner.candidates_of(90)


def test_two_people_are_not_asked_about_the_same_predictions():
    """The second person gets the best question after damping the predictions that the first one decides."""
    table, _ = blobs(80, seed=11)
    learner = ActiveLearner(table, LearnerSettings(n_neighbors=5))
    first = learner.next_question("ann").row
    train = np.flatnonzero(~learner.test_rows)
    ranker = EffectRanker("apl", 5)
    graph = learner.graph
    ranker.fit_graph(graph.neighbors, graph.weights, learner.candidates[train], np.arange(len(train)))
    pair = train[ranker.next(2)].tolist()
    assert pair[0] == first
    assert learner.next_question("bob", exclude={first}).row == pair[1]
    assert learner.next_question("bob", exclude={first, -1, 10**6}).row == pair[1]


# Labelling runs replayed on a table without a project: curves of strategies on rows with known truth.


def pool(known: int) -> OneLabelPool[FakeTable]:
    """120 rows, of which the first have a true label."""
    table, truth = blobs(120)
    table.truth = np.where(np.arange(120) < known, truth, -1)
    return OneLabelPool(table, LearnerSettings(test_share=0.0))


def test_curves_are_means_of_runs_on_rows_with_known_truth(tmp_path: Path) -> None:
    rows = pool(80)
    found = StrategyReplays(rows).replay(Blocks(Inline(), tmp_path), ["apl", "random"], runs=3, budget=10, seed=2)
    assert found.told() == "3 runs by each strategy on 80 rows of known truth."
    own = replay_in_blocks(
        Blocks(Inline(), tmp_path),
        plain_features(rows)[0][:80],
        rows.candidates[:80],
        rows.truth[:80],
        ["apl", "random"],
        runs=3,
        budget=10,
        seed=2,
        keep_scales=True,
    )
    assert [one.strategy for one in found.points] == ["apl"] * 11 + ["random"] * 11
    assert [one.answers for one in found.points] == [*range(11), *range(11)]
    assert [one.error for one in found.points[11:]] == pytest.approx(own[1].errors.mean(axis=0))
    assert [one.spread for one in found.points[:11]] == pytest.approx(own[0].errors.std(axis=0, ddof=1))
    lines = list(csv.reader(io.StringIO(found.to_csv())))
    assert lines[0] == ["strategy", "answers", "error", "spread"]
    assert lines[12] == ["random", "0", f"{found.points[11].error:.4f}", f"{found.points[11].spread:.4f}"]
    assert json.loads(json.dumps(found.to_json()))["points"][0]["strategy"] == "apl"


def test_one_run_has_no_spread(tmp_path: Path) -> None:
    found = StrategyReplays(pool(40)).replay(Blocks(Inline(), tmp_path), ["random"], runs=1, budget=2)
    assert [one.spread for one in found.points] == [None] * 3
    assert found.to_csv().splitlines()[1].endswith(",")


def test_replay_without_true_labels_is_refused(tmp_path: Path) -> None:
    with pytest.raises(ValueError, match="The table has no true labels"):
        StrategyReplays(pool(0)).replay(Blocks(Inline(), tmp_path), ["random"])


# The strategy "cover": coverage chooses the first questions, then the default strategy of the model.


SETTINGS = LearnerSettings(n_neighbors=5, strategy="cover")


def table_of(n=90, m=4, **options):
    """Nothing is known of any row."""
    table, y = blobs(n, m=m, **{"truth": "none", **options})
    return FakeTable(table.X, np.ones_like(table.candidates)), y


@pytest.mark.parametrize("model", ["plknn", "kernelridge", "pegasos-max"])
def test_cover_strategy_switches_to_the_default_of_the_model(model):
    table, y = table_of()
    learner = ActiveLearner(table, replace(SETTINGS, model=model))
    own = ActiveLearner(table, LearnerSettings(n_neighbors=5, model=model))
    X = table.made[0].transform(table, np.arange(90))
    graph = NeighborGraph(X, 5, "linear", None).own_neighbors()
    asked = []
    for seq in range(1, 21):
        question = learner.next_question("ann")
        cover = MaxHerding(lambda rows: 1 - learner.shares_of(rows).max(axis=1))
        cover.fit_graph(*graph, learner.candidates)
        assert cover.lasts(seq - 1) == (seq <= 8)  # two answers a class
        assert question.strategy == learner.strategy
        rows, scores = learner.ranking()
        assert (rows[0], scores[0]) == (question.row, question.score)
        if seq <= 8:
            assert question.strategy == "cover"
            assert question.row == cover.next(1)[0]
            assert question.score == cover.score_of(question.row)
        else:
            assert question.strategy == own.strategy
            assert question.row == own.next_question("ann").row
        asked.append(question.row)
        for one in (learner, own):
            answer(one, seq, question.row, y[question.row])
    assert len({y[row] for row in asked[:8]}) == 4
    learner.apply(Entry(21, "withdraw", asked[0], "ann", target=1))
    assert learner.strategy == own.strategy
    for seq, row in enumerate(asked[1:14], start=22):
        learner.apply(Entry(seq, "withdraw", row, "ann", target=seq - 20))
    assert learner.strategy == "cover"  # six answers are left


def test_coverage_ends_early_if_the_model_is_certain():
    """A trained model has even shares before its first version, then its own."""
    table, _ = table_of(m=3)
    learner = ActiveLearner(table, replace(SETTINGS, model="plsvc", test_share=0.0))
    assert learner.strategy == "cover"
    sure = np.where(np.eye(3, dtype=bool)[np.zeros(90, dtype=int)], 20.0, 0.0)
    point = replace(learner.curve[0], model_version=1)
    assert isinstance(point, CurvePoint)
    learner.apply(Entry(1, "skip", 0, "ann"))
    learner.publish(sure, [point])
    assert learner.strategy == "margin"
    assert learner.next_question("ann").strategy == "margin"


def test_simultaneous_annotators_get_different_parts_of_the_table():
    table, _ = table_of()
    learner = ActiveLearner(table, SETTINGS)
    shown: list[int] = []
    for person in ("ann", "bob", "cem", "dea"):
        shown.append(learner.next_question(person, exclude=set(shown)).row)
    graph = NeighborGraph(table.made[0].transform(table, np.arange(90)), 5, "linear", None).own_neighbors()
    cover = MaxHerding(lambda rows: 1 - learner.shares_of(rows).max(axis=1))
    assert shown == cover.fit_graph(*graph, table.candidates).next(4).tolist()
    assert learner.next_question("ann").row == shown[0]  # asking changes nothing


def test_blind_checks_look_like_other_questions():
    """They show the reason of another row, and neither cover other rows nor delay the switch."""
    table, y = table_of(120)
    learner = ActiveLearner(table, replace(SETTINGS, control_share=0.4))
    seen = set()
    for seq in range(1, 9):
        question = learner.next_question("ann")
        blind = bool(learner.pool.control_rows[question.row])
        seen.add(blind)
        assert learner.strategy == "cover"
        if blind:
            others = learner._chooser._opening.next(
                2
            ).tolist()  # another annotator at the same time would get the second
            other = learner.question_for(int(learner.pool.train[others[1]]))
            assert (question.decides, question.undecided) == (other.decides, other.undecided)
        before = learner.ranking()
        answer(learner, seq, question.row, y[question.row])
        if blind:
            np.testing.assert_array_equal(before, learner.ranking())
    assert seen == {True, False}
    assert learner.strategy == "apl"


def test_coverage_works_with_several_annotators_per_row():
    table, y = table_of()
    learner = ActiveLearner(table, replace(SETTINGS, overlap=2, own_since=0))
    first = learner.next_question("ann").row
    answer(learner, 1, first, y[first])
    assert learner.next_question("bob").row == first
    second = learner.next_question("ann").row
    assert second != first
    assert learner.next_question("ann").strategy == "cover"
    answer(learner, 2, first, y[first], "bob")
    assert learner.next_question("bob").row != first


def test_old_settings_have_no_opening_strategy():
    stored = LearnerSettings(strategy="margin").to_json()
    assert LearnerSettings.from_json(stored).opening_entry is None
    for settings in (LearnerSettings(), LearnerSettings.from_json({})):
        assert settings.opening_entry is None
        assert settings.strategy_entry.name == "apl"
    cover = LearnerSettings(strategy="cover", model="kernelridge")
    assert (cover.opening_entry.name, cover.strategy_entry.name) == ("cover", "margin")
