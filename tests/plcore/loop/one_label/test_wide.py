"""A project that stores candidates as sets behaves like one that stores a matrix, entry for entry."""

from __future__ import annotations

import dataclasses

import numpy as np
import pytest

from plcore import ActiveLearner, Entry, LearnerSettings
from plcore.arrays import candidate_sets
from plcore.arrays.candidate_sets import CandidateSets
from plcore.loop.changes import ClassChange
from plcore.loop.classes import ClassMap, with_classes
from plcore.loop.one_label import FEWEST_CHECKS, Trainer
from plcore.neighbors import near
from tests.plcore.loop.fake_table import FakeTable, blobs


@pytest.fixture(autouse=True)
def sets_of_any_size(monkeypatch):
    for name in ("FEW_CELLS", "FEW_CLASSES"):
        monkeypatch.setattr(candidate_sets, name, 1)
    monkeypatch.setattr("plcore.loop.one_label.disambiguation.BLOCK_CELLS", 100)
    monkeypatch.setattr("plcore.loop.one_label.checks.BLOCK_CELLS", 100)


def wide(table):
    """The same table with sets in place of its matrix."""
    other = FakeTable(table.X, table.candidates, table.truth, table.classes)
    other.candidates = CandidateSets.of_mask(table.candidates)
    other.candidates.writeable = False
    return other


def same_tables(left, right):
    for field in dataclasses.fields(left):
        np.testing.assert_array_equal(getattr(left, field.name), getattr(right, field.name), field.name)


@pytest.mark.parametrize(
    "how",
    [
        {"strategy": "apl"},
        {"strategy": "mw", "truth_role": "given"},
        {"strategy": "cover"},
        {"strategy": "margin"},
        {"overlap": 2, "overlap_share": 0.5},
    ],
)
def test_sets_and_matrix_give_the_same_questions_and_labels(how, monkeypatch):
    settings = LearnerSettings(n_neighbors=4, control_share=0.4, test_share=0.2, **how)
    table, y = blobs(100, m=6, truth=0.3)
    dense = ActiveLearner(table, settings)
    with monkeypatch.context() as sets_near:
        sets_near.setattr(near, "FEW_CLASSES", 0)
        sparse = ActiveLearner(wide(table), settings)
    assert isinstance(sparse.pool.candidates, CandidateSets)
    rng = np.random.default_rng(0)
    for turn in range(50):
        question, twin = (one.next_question(f"ann{turn % 3}") for one in (dense, sparse))
        assert twin == question
        if question is None:
            break
        kind = ("is", "none", "not", "bad", "is", "is")[turn % 6]
        if kind == "none" and len(question.choices) == 6:
            kind = "bad"
        right = table.classes[y[question.row]]
        label = right if right in question.choices else str(rng.choice(question.choices))
        labels = (label,) if kind in ("is", "not") else ()
        if kind == "not" and len(question.choices) < 2:
            continue
        entry = Entry(dense.seq + 1, kind, question.row, f"ann{turn % 3}", labels)
        for one in (dense, sparse):
            one.apply(entry)
        assert sparse.progress() == dense.progress()
        assert sparse.state(question.row) == dense.state(question.row)
        if turn % 10 == 9:
            undo = Entry(dense.seq + 1, "withdraw", question.row, entry.annotator, target=entry.seq)
            for one in (dense, sparse):
                one.apply(undo)
    assert sparse.curve == dense.curve
    assert sparse.pool.answers_per_label() == dense.pool.answers_per_label()
    np.testing.assert_array_equal(sparse.pool.known(), dense.pool.known())
    np.testing.assert_array_equal(sparse.candidates, dense.candidates)
    np.testing.assert_array_equal(sparse.original, table.candidates)
    np.testing.assert_array_equal(sparse.label_distributions, dense.label_distributions)
    for one, twin in zip(sparse.ranking(), dense.ranking(), strict=True):
        np.testing.assert_array_equal(one, twin)
    same_tables(sparse.disambiguate(), dense.disambiguate())
    again = ActiveLearner(wide(table), settings, checkpoint=dense.checkpoint())
    assert isinstance(again.pool.candidates, CandidateSets)
    np.testing.assert_array_equal(again.candidates, dense.candidates)
    assert (again.curve, again.progress()) == (dense.curve, dense.progress())
    assert again.next_question("eve") == dense.next_question("eve")


def test_rows_at_risk_are_found_in_parts():
    table, y = blobs(200, m=5, truth="none")
    settings = LearnerSettings(n_neighbors=4, control_share=0.3)
    learners = ActiveLearner(table, settings), ActiveLearner(wide(table), settings)
    asked = learners[0].pool.control_left().tolist()[: FEWEST_CHECKS + 5]
    for seq, row in enumerate(asked, start=1):
        left = table.candidates[row]
        kind, labels = ("none", ()) if seq % 3 == 0 and not left.all() else ("is", (table.classes[y[row]],))
        for learner in learners:
            learner.apply(Entry(seq, kind, row, "ann", labels))
    dense, sparse = (learner.disambiguate() for learner in learners)
    assert dense.outside is not None
    assert np.isfinite(dense.outside).any()
    same_tables(sparse, dense)


def test_class_changes_map_sets_like_a_matrix():
    table, _ = blobs(60, m=5, truth=0.5)
    changes = (
        ClassChange(1, "add", ("new",)),
        ClassChange(2, "merge", ("c1", "c3")),
        ClassChange(3, "rename", ("c0", "zero")),
    )
    class_map = ClassMap(table.classes, changes)
    dense = class_map.onto(class_map.rooted(table.candidates))
    sparse = class_map.onto(class_map.rooted(CandidateSets.of_mask(table.candidates)))
    assert isinstance(sparse, CandidateSets)
    np.testing.assert_array_equal(sparse, dense)
    assert class_map.column_of_tabled.tolist() == [
        class_map.classes.index(class_map.now(name)) for name in table.classes
    ]
    assert with_classes(table, ClassMap(table.classes)) is table


@pytest.mark.parametrize("model", ["plsvc", "kernelridge"])
def test_models_that_score_every_class_are_refused_for_too_many_classes(model, monkeypatch):
    monkeypatch.setattr("plcore.loop.one_label.training.MOST_CELLS", 60 * 5 - 1)
    table, _ = blobs(60, m=5)
    settings = LearnerSettings(model=model)
    with pytest.raises(ValueError, match=r"60 rows and 5 classes make 300 scores; at most 299 are kept\. Fix: take"):
        Trainer(ActiveLearner(table, settings).pool)
    assert ActiveLearner(table, LearnerSettings()).next_question("ann") is not None
