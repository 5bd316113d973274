"""Questions a source at a time: which source is next, its rows one after the other, and where blind checks come."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

from plcore import LearnerSettings
from plcore.loop import Entry
from plcore.loop.one_label import ActiveLearner, Trainer
from tests.plcore.loop.fake_table import FakeTable, pictures

SETTINGS = LearnerSettings(model="kernelridge", strategy="margin", by_source=True)


def learner_of(
    settings: LearnerSettings = SETTINGS, named: bool = True
) -> tuple[ActiveLearner, np.ndarray, np.ndarray]:
    """A learner with a version, the source of each row in shuffled order, and the truth."""
    table, y = pictures()
    order = np.random.default_rng(1).permutation(len(y))
    of = table.sources[order]
    shuffled = FakeTable(table.X[order], table.candidates[order], sources=of if named else None)
    learner = ActiveLearner(shuffled, settings)
    version = Trainer(learner.pool).train()
    learner.publish(version.scores, [version.point], version.footing.effects)
    return learner, of, y[order]


def press(learner: ActiveLearner, row: int, y: np.ndarray, who: str = "Ada", kind: str = "is") -> None:
    labels = (learner.classes[y[row]],) if kind == "is" else ()
    learner.apply(Entry(learner.seq + 1, kind, row, who, labels))


def walk(learner: ActiveLearner, y: np.ndarray, count: int, who: str = "Ada") -> list[int]:
    """The rows of this many questions that one person answers."""
    rows = []
    for _ in range(count):
        rows.append(learner.next_question(who).row)
        press(learner, rows[-1], y, who)
    return rows


def runs(of: np.ndarray, rows: list[int]) -> list[int]:
    """The sources in the order asked, one entry per run."""
    asked = of[rows].tolist()
    return [one for place, one in enumerate(asked) if not place or one != asked[place - 1]]


def test_all_open_rows_of_a_source_are_asked_before_the_next_source() -> None:
    learner, of, y = learner_of()
    open_rows = [row for row in range(len(y)) if learner.pool.is_open(row)]
    rows = walk(learner, y, len(open_rows))
    assert sorted(rows) == open_rows
    begun = runs(of, rows)
    assert len(begun) == len(set(begun)), "no source is begun twice"
    for source in begun:
        own = [row for row in rows if of[row] == source]
        assert own == sorted(own)
    assert learner.next_question("Ada") is None


def test_source_with_the_highest_mean_score_is_next() -> None:
    learner, of, _ = learner_of()
    rows, scores = learner.ranking()
    means = {source: scores[of[rows] == source].mean() for source in set(of[rows].tolist())}
    best = max(means, key=means.__getitem__)
    first = learner.next_question("Ada").row
    assert of[first] == best
    assert first == rows[of[rows] == best].min()
    assert learner.question_for(first).strategy == "margin"


def test_annotators_get_different_sources_determined_by_the_log() -> None:
    learner, of, y = learner_of()
    first = learner.next_question("Ada").row
    other = learner.next_question("Bob", exclude={first}).row
    assert of[other] != of[first]
    press(learner, first, y)
    press(learner, other, y, "Bob")
    pairs = {who: learner.next_question(who).row for who in ("Ada", "Bob")}
    assert (of[pairs["Ada"]], of[pairs["Bob"]]) == (of[first], of[other])
    again = ActiveLearner(learner.table, SETTINGS, checkpoint=learner.checkpoint())
    assert {who: again.next_question(who).row for who in pairs} == pairs


def test_skipped_row_comes_back_and_withdrawal_returns_to_its_source() -> None:
    learner, of, y = learner_of()
    first = learner.next_question("Ada").row
    press(learner, first, y, kind="skip")
    second = learner.next_question("Ada").row
    assert of[second] == of[first]
    assert second != first
    rows = [second, *walk(learner, y, 1)]
    while of[rows[-1]] == of[first]:
        rows += walk(learner, y, 1)
    assert learner.next_question("Ada", exclude={rows[-1]}).row not in rows
    learner.apply(Entry(learner.seq + 1, "withdraw", rows[0], "Ada", target=2))
    assert learner.next_question("Ada").row == rows[0]


def test_next_question_is_from_the_source_of_the_shown_one() -> None:
    learner, of, y = learner_of()
    shown = learner.next_question("Ada").row
    likely = learner.next_question("Ada", exclude={shown}, ahead=1, after=shown).row
    press(learner, shown, y)
    assert learner.next_question("Ada").row == likely
    assert of[likely] == of[shown]


def test_blind_checks_start_sources_in_the_order_drawn() -> None:
    """Within a source, a row of another source would be recognised as a check; so its own source follows it."""
    learner, of, y = learner_of(replace(SETTINGS, control_share=0.15))
    order = learner.pool.control_left().tolist()
    rows = walk(learner, y, 120)
    checks = [row for row in rows if learner.pool.control_rows[row]]
    assert checks == order[: len(checks)]
    assert 0.04 < len(checks) / len(rows) < 0.25
    for place, row in enumerate(rows[1:], 1):
        if learner.pool.control_rows[row]:
            source = of[rows[place - 1]]
            before = set(rows[:place])
            open_then = [one for one in learner.pool.train.tolist() if of[one] == source and one not in before]
            assert not any(learner.pool.sizes_at_first[one] > 1 for one in open_then)


def test_blind_checks_of_finished_sources_do_not_follow_one_another() -> None:
    """After many rows in a row a check is nearly always due, but it belongs to the previous source."""
    of = np.repeat(np.arange(12), 50)
    truth = np.random.default_rng(0).integers(0, 6, len(of))
    X = np.eye(6)[truth] + np.random.default_rng(1).normal(size=(len(of), 6))
    settings = LearnerSettings(model="plknn", by_source=True, control_share=0.05, seed=3)
    learner = ActiveLearner(FakeTable(X, np.ones((len(of), 6), dtype=bool), sources=of), settings)
    is_check = learner.pool.control_rows[walk(learner, truth, len(of) - 50)]
    assert is_check.sum() > 5
    assert not (is_check[1:] & is_check[:-1]).any()


def test_without_sources_or_setting_row_order_is_unchanged() -> None:
    rows = {}
    for named, by_source in ((True, False), (False, True), (False, False)):
        learner, _, y = learner_of(replace(SETTINGS, by_source=by_source), named)
        rows[named, by_source] = walk(learner, y, 12), learner.ranking()[0][:12].tolist()
    assert rows[False, True] == rows[False, False]
    assert len(rows[True, False][0]) == 12
    with pytest.raises(ValueError, match="by_source must be True or False"):
        LearnerSettings(by_source="yes")
