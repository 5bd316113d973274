"""Labels of rows that several people answer: who differs is never certain, who waits is pending."""

from __future__ import annotations

import numpy as np
import pytest

from plcore.loop.one_label import heard as module
from plcore.loop.one_label.heard import MOST_SURE
from tests.plcore.loop.one_label.test_several import CLASSES, learner_of, tell


def said(learner, row=0):
    found = learner.disambiguate()
    label = int(found.labels[row])
    return found.sources[row], CLASSES[label] if label >= 0 else None, float(found.confidence[row])


@pytest.mark.parametrize(
    ("fold", "answers", "source", "label"),
    [
        ("majority", ["ann is ant", "bob is bee"], "disputed", None),
        ("latest", ["ann is ant", "bob is bee"], "disputed", None),
        ("intersection", ["ann is ant", "bob is bee"], "disputed", None),
        ("intersection", ["ann among ant bee", "bob is bee"], "combined", "bee"),
        ("majority", ["ann is ant", "bob is ant"], "oracle", "ant"),
        ("majority", ["ann bad", "bob is bee"], "disputed", None),
        ("majority", ["ann is ant"], "pending", "ant"),
        ("majority", ["ann is ant", "bob is bee", "eva verdict bee"], "verdict", "bee"),
    ],
)
def test_two_annotators_a_row(fold, answers, source, label):
    learner = learner_of(["abc", "abc", "abcd"], overlap=2, fold=fold)
    tell(learner, *answers)
    got = said(learner)
    assert got[:2] == (source, label)
    if source in ("combined", "oracle", "pending"):
        assert 0 < got[2] <= MOST_SURE
    elif source == "disputed":
        assert np.isnan(got[2])


@pytest.mark.parametrize("fold", ["majority", "latest", "dawid-skene"])
def test_a_majority_of_three_is_combined_below_one(fold):
    learner = learner_of(["abc", "abc", "abcd"], overlap=3, fold=fold)
    tell(learner, "ann is ant", "bob is bee")
    assert said(learner)[0] == "pending", "the third has not answered"
    tell(learner, "cem is ant")
    assert said(learner)[:2] == ("combined", "ant")
    assert said(learner)[2] < 1
    assert not said(learner, 1)[0].startswith(("pending", "disputed"))


def test_people_decide_neither_pending_nor_disputed_rows():
    learner = learner_of(["abc"] * 4, overlap=2, fold="latest")
    tell(learner, "ann is ant", "bob is ant", row=0)
    tell(learner, "ann is ant", "bob is bee", row=1)
    tell(learner, "ann is ant", row=2)
    taken = learner.take_labels()
    assert taken.answered.tolist() == [True, False, False, False]
    assert learner.pool.answers_per_label() == {"ant": 1}
    pending, disputed = module.undecided_rows(learner.pool)
    assert (np.flatnonzero(pending).tolist(), np.flatnonzero(disputed).tolist()) == ([2], [1])


def test_disputed_rows_have_a_most_likely_label():
    learner = learner_of(["abc"] * 12, overlap=2, fold="majority")
    for row in range(10):
        tell(learner, "ann is ant", "cem is ant", row=row)
    tell(learner, "ann is ant", "bob is bee", row=10)
    found = learner.disambiguate()
    assert (found.labels[10], CLASSES[found.likeliest[10]]) == (-1, "ant")
    assert 0.3 < found.likelihood[10] < 1
    np.testing.assert_array_equal(found.likeliest[:10], found.labels[:10])


def test_one_annotator_is_as_before():
    learner = learner_of(["abc", "abcd"])
    tell(learner, "ann is ant")
    assert said(learner) == ("oracle", "ant", 1.0)


def test_rows_that_one_person_answers_in_a_project_for_several_stay_certain():
    learner = learner_of(["abc"] * 8, overlap=2, overlap_share=0.5, fold="majority")
    single = int(np.flatnonzero(learner.pool.asked.rule.wanted == 1)[0])
    tell(learner, "ann is ant", row=single)
    assert said(learner, single) == ("oracle", "ant", 1.0)


def test_too_many_people_and_classes_give_the_share_of_the_votes(monkeypatch):
    learner = learner_of(["abc"] * 3, overlap=3, fold="majority")
    tell(learner, "ann is ant", "bob is ant", "cem is bee")
    monkeypatch.setattr(module, "MOST_CELLS", 10)
    assert said(learner)[2] == pytest.approx(2 / 3)


def test_everybody_says_bad():
    learner = learner_of(["abc"] * 2, overlap=2, fold="majority")
    tell(learner, "ann bad", "bob bad")
    assert said(learner)[:2] == ("bad", None)
