"""Strategies of plug-ins: their declarations, what their function gets, and what happens when it fails."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest
from scipy.stats import entropy

from plcore import ActiveLearner
from plcore.arrays import Plugin, parts_barred
from plcore.evaluation.replays import REPLAYED
from plcore.loop import Entry
from plcore.loop.one_label import LearnerSettings, OneLabelPool, Trainer
from plcore.query import STRATEGY_ENTRIES, RowsKnown, StrategyPlugin
from plcore.query.plugged import STRATEGY_GROUP, order_rows
from plcore.query.registry import plugged_strategy
from tests.plcore.loop.fake_table import blobs

HERE = "tests.plcore.query.test_plugged"
WORDS, NAME = "Entropy: the model knows least", "plugin-entropy"


def by_entropy(known: RowsKnown) -> np.ndarray:
    return entropy(known.shares, axis=1)


def by_number(known: RowsKnown) -> list[int]:
    return list(range(len(known.answered)))


def failing(known: RowsKnown) -> np.ndarray:
    raise KeyError(len(known.shares))


def short(known: RowsKnown) -> np.ndarray:
    return known.shares[1:, 0]


def endless(known: RowsKnown) -> np.ndarray:
    return np.full(len(known.shares), np.inf)


def plug_in(monkeypatch: pytest.MonkeyPatch, function: str, version: str = "1.0") -> None:
    declared = StrategyPlugin(WORDS, f"{HERE}:{function}", "The shares say least about this row")
    plugin = Plugin(STRATEGY_GROUP, "entropy", "winnow-entropy", version, declared, None)
    monkeypatch.setitem(STRATEGY_ENTRIES, NAME, plugged_strategy(plugin, declared))


def test_wrong_declaration_is_refused() -> None:
    with pytest.raises(ValueError, match=r"words must be one line, 'NAME: what it asks first'\. Got 'Entropy'"):
        StrategyPlugin("Entropy", "a:b")
    with pytest.raises(ValueError, match=r"score must be 'package\.module:name'\. Got 'a'"):
        StrategyPlugin(WORDS, "a")


def test_entry_names_distribution_and_version(monkeypatch: pytest.MonkeyPatch) -> None:
    plug_in(monkeypatch, "by_entropy")
    entry = STRATEGY_ENTRIES[NAME]
    assert entry.words == f"{WORDS} (winnow-entropy 1.0)"
    assert entry.logged == "plugin-entropy (winnow-entropy 1.0)"
    assert STRATEGY_ENTRIES["margin"].logged == "margin"


@pytest.mark.parametrize("model", ["clpl", "kernelridge"])
def test_version_stores_question_order(monkeypatch: pytest.MonkeyPatch, model: str) -> None:
    plug_in(monkeypatch, "by_entropy")
    table, y = blobs(n=60)
    settings = LearnerSettings(model=model, strategy=NAME)
    learner = ActiveLearner(table, settings)
    assert (learner.strategy, learner.next_question("ann").strategy) == ("margin", "margin"), "no version yet"
    version = Trainer(OneLabelPool(table, settings)).train()
    footing = version.footing
    learner.publish(version.scores, [version.point], None if footing is None else footing.effects, version.order)
    rows, scores = learner.ranking()
    expected = entropy(learner.shares_of(rows), axis=1)
    np.testing.assert_allclose(scores, expected, rtol=1e-5, atol=1e-7)
    assert (np.diff(scores) <= 0).all()
    question = learner.next_question("ann")
    assert (question.row, question.strategy) == (rows[0], "plugin-entropy (winnow-entropy 1.0)")
    learner.apply(Entry(1, "is", question.row, "ann", (table.classes[y[question.row]],)))
    assert learner.next_question("ann").row == rows[1], "the order is that of the version"
    if footing is not None:
        pool = learner.pool
        now = pool.candidates[pool.train]
        learner.follow(footing.update(now, version.scores, pool.train, with_effects=False, weights=None))
        assert learner.next_question("ann").row == rows[1]


def test_strategy_function_gets_rows_known_to_version(monkeypatch: pytest.MonkeyPatch) -> None:
    plug_in(monkeypatch, "by_number")
    table, y = blobs(n=60)
    pool = OneLabelPool(table, LearnerSettings(model="clpl", strategy=NAME, control_share=0.2, seed=3))
    row, bad = (int(one) for one in pool.train[pool.sizes[pool.train] > 1][:2])
    pool.apply(Entry(1, "is", row, "ann", (table.classes[y[row]],)))
    pool.apply(Entry(2, "bad", bad, "ann"))
    seen: list[RowsKnown] = []
    counted = by_number
    monkeypatch.setattr(f"{HERE}.by_number", lambda known: seen.append(known) or counted(known))
    version = Trainer(pool).train()
    (known,) = seen
    train = pool.train
    np.testing.assert_array_equal(known.candidates, pool.candidates[train])
    np.testing.assert_array_equal(known.answered, pool.answered[train])
    assert known.features.shape[0] == len(train) < len(y), "held-out rows and blind checks are not among them"
    assert known.seed == 3
    sums = known.shares.sum(axis=1)
    np.testing.assert_allclose(sums, train != bad)
    assert not known.shares[~known.candidates].any()
    np.testing.assert_array_equal(version.order.scores, np.arange(len(train)))


@pytest.mark.parametrize(
    ("function", "why"),
    [
        ("failing", r"failing failed \(KeyError: \d+\)\. Fix: ask the plug-in's author"),
        ("short", r"short must return (\d+) finite numbers\. Got shape \(\d+,\)\. Fix"),
        ("endless", r"endless must return (\d+) finite numbers\. Got shape \(\1,\), \1 of them not finite\. Fix"),
        ("WORDS", r"WORDS must return \d+ finite numbers"),
        ("gone", r"gone of a plug-in cannot be imported \(AttributeError: .* Fix: install the plug-in again"),
    ],
)
def test_failure_is_named_and_rows_follow_the_margin(monkeypatch: pytest.MonkeyPatch, function: str, why: str) -> None:
    plug_in(monkeypatch, function)
    table, _ = blobs(n=60)
    settings = LearnerSettings(model="clpl", strategy=NAME)
    learner, plain = (ActiveLearner(table, one) for one in (settings, replace(settings, strategy="margin")))
    version = Trainer(OneLabelPool(table, settings)).train()
    for one in (learner, plain):
        one.publish(version.scores, [version.point], None, version.order)
    assert (version.order.scores, learner.strategy) == (None, "margin")
    with pytest.raises(AssertionError, match=why):
        raise AssertionError(learner.order_fault)
    np.testing.assert_array_equal(learner.ranking()[0], plain.ranking()[0])
    assert learner.next_question("ann").strategy == "margin"


def test_function_is_not_imported_where_parts_are_barred() -> None:
    nothing = np.zeros((0, 2))
    with parts_barred("not here."):
        order = order_rows(f"{HERE}:by_number", RowsKnown(nothing, nothing > 0, nothing[:, 0] > 0, nothing, 0))
    assert order.scores is None
    assert order.fault == f"{HERE}:by_number is part of a plug-in: not here."


def test_key_names_strategy_only_if_versions_store_its_order(monkeypatch: pytest.MonkeyPatch) -> None:
    plain = LearnerSettings(model="clpl").model_key
    assert LearnerSettings(model="clpl", strategy="moves").model_key == plain
    assert LearnerSettings(model="clpl", strategy=NAME).model_key == plain, "the plug-in is not there"
    keys = {plain}
    for version in ("1.0", "1.1"):
        plug_in(monkeypatch, "by_number", version)
        keys.add(LearnerSettings(model="clpl", strategy=NAME).model_key)
    assert len(keys) == 3
    votes = LearnerSettings(model="plknn", strategy=NAME)
    assert votes.strategy_entry.name == "apl"
    assert votes.model_key == LearnerSettings(model="plknn").model_key


def test_order_of_another_size_is_refused(monkeypatch: pytest.MonkeyPatch) -> None:
    plug_in(monkeypatch, "by_number")
    table, _ = blobs(n=60)
    settings = LearnerSettings(model="clpl", strategy=NAME)
    version = Trainer(OneLabelPool(table, settings)).train()
    wrong = replace(version.order, scores=version.order.scores[1:])
    with pytest.raises(ValueError, match="order must be of the 40 training rows"):
        ActiveLearner(table, settings).publish(version.scores, [version.point], None, wrong)


def test_settings_with_missing_plugin_use_default_strategy() -> None:
    settings = LearnerSettings(strategy="plugin-lost")
    assert LearnerSettings.from_json(settings.to_json()) == settings
    assert settings.strategy_entry.name == "apl"
    assert LearnerSettings(model="clpl", strategy="plugin-lost").strategy_entry.name == "margin"
    assert "plugin-lost" not in REPLAYED
