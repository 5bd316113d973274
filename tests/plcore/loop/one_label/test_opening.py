"""The strategy "cover": the first questions go by coverage, then those follow that suit the model."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

from plcore import ActiveLearner, Entry, LearnerSettings
from plcore.loop.one_label import CurvePoint
from plcore.neighbors.graph import NeighborGraph
from plcore.query import MaxHerding
from tests.plcore.loop.fake_table import FakeTable, blobs

SETTINGS = LearnerSettings(n_neighbors=5, strategy="cover")


def table_of(n=90, m=4, **options):
    """Nothing is known of any row."""
    table, y = blobs(n, m=m, **{"truth": "none", **options})
    return FakeTable(table.X, np.ones_like(table.candidates)), y


def answer(learner, seq, row, label, annotator="ann"):
    learner.apply(Entry(seq, "is", row, annotator, (learner.classes[label],)))


@pytest.mark.parametrize("model", ["plknn", "kernelridge", "pegasos-max"])
def test_coverage_first_then_what_suits_the_model(model):
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


def test_it_ends_early_where_the_model_knows_what_is_left():
    """Of a trained model there are even shares before its first version, then its own."""
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


def test_people_who_are_asked_at_once_are_asked_about_different_parts_of_the_table():
    table, _ = table_of()
    learner = ActiveLearner(table, SETTINGS)
    shown: list[int] = []
    for person in ("ann", "bob", "cem", "dea"):
        shown.append(learner.next_question(person, exclude=set(shown)).row)
    graph = NeighborGraph(table.made[0].transform(table, np.arange(90)), 5, "linear", None).own_neighbors()
    cover = MaxHerding(lambda rows: 1 - learner.shares_of(rows).max(axis=1))
    assert shown == cover.fit_graph(*graph, table.candidates).next(4).tolist()
    assert learner.next_question("ann").row == shown[0]  # asking changes nothing


def test_blind_checks_are_asked_like_any_other_row():
    """Their reason is that of another row, and they neither cover others nor put off what follows."""
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
            ).tolist()  # who is asked at the same time would get the second
            other = learner.question_for(int(learner.pool.train[others[1]]))
            assert (question.decides, question.undecided) == (other.decides, other.undecided)
        before = learner.ranking()
        answer(learner, seq, question.row, y[question.row])
        if blind:
            np.testing.assert_array_equal(before, learner.ranking())
    assert seen == {True, False}
    assert learner.strategy == "apl"


def test_several_people_a_row():
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


def test_old_settings_ask_as_they_did():
    stored = LearnerSettings(strategy="margin").to_json()
    assert LearnerSettings.from_json(stored).opening_entry is None
    for settings in (LearnerSettings(), LearnerSettings.from_json({})):
        assert settings.opening_entry is None
        assert settings.strategy_entry.name == "apl"
    cover = LearnerSettings(strategy="cover", model="kernelridge")
    assert cover.opening_entry is not None
    assert (cover.opening_entry.name, cover.strategy_entry.name) == ("cover", "margin")
