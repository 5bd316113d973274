"""Batches, explanations answer by answer, the order of questions, and compiling ahead."""

from __future__ import annotations

import subprocess
import sys
import time

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import plcore
from plcore.kernels.compiled import code_is_there
from plcore.kernels.scores import SHARE_UNIT
from plcore.query import EffectRanker, effect_scores, memory_order, necessary_labels, possible_labels, winners
from plcore.query.cheapest import QuestionOrder
from plcore.query.ranker import lost_by_claims
from tests.conftest import ROOT
from tests.plcore.random_sets import some_sets


def problem(seed, n=60, m=4):
    rng = np.random.default_rng(seed)
    sets = some_sets(rng, n, m)
    return rng.integers(0, 6, size=(n, 2)).astype(float), sets


def plain_batch(ranker, n, among, claimed, damping):
    """The definition, on copies: claimed rows first, then the best damped row again and again."""
    neighbors, weights = ranker.votes_.neighbors, ranker.votes_.weights
    counted = ranker._counted
    share = np.rint(weights * 2.0**40 / np.maximum(weights.sum(axis=1, keepdims=True), 1)).astype(np.int64)
    claims = np.zeros(len(neighbors), dtype=int)
    left = [row for row in np.flatnonzero(among & (ranker.candidates_.sum(axis=1) >= 2)) if row not in claimed]
    picks = []
    for turn in range(len(claimed) + min(n, len(left))):
        if turn < len(claimed):
            row = claimed[turn]
        else:
            damped = np.zeros(len(ranker.candidates_), dtype=np.int64)
            parts = np.floor(share * damping ** claims[:, None].astype(float))
            np.add.at(damped, neighbors.ravel(), (parts.astype(np.int64) * counted).ravel())
            row = min(left, key=lambda one: (-damped[one], -ranker.scores_[one], one))
            left.remove(row)
            picks.append(int(row))
        claims[((neighbors == row) & counted).any(axis=1)] += 1
    return picks


@pytest.mark.parametrize("damping", [0.0, 0.5, 1.0])
@pytest.mark.parametrize("rule", ["mw", "apl", "pl"])
def test_batches_match_their_definition(rule, damping):
    for seed in range(8):
        X, sets = problem(seed)
        ranker = EffectRanker(rule, 4, damping=damping).fit(X, sets)
        rng = np.random.default_rng(seed)
        among = rng.random(60) < 0.7
        claimed = sorted(rng.choice(60, 3, replace=False).tolist())
        for n in (1, 5, 60):
            found = ranker.next(n, among, claimed).tolist()
            assert found == plain_batch(ranker, n, among, claimed, damping)
            assert ranker.next(n).tolist() == plain_batch(ranker, n, np.ones(60, dtype=bool), [], damping)
        if damping == 1.0:
            assert ranker.next(60).tolist() == ranker.top().tolist()


def test_batches_change_no_state_and_spread_questions():
    X, sets = problem(1, n=200)
    ranker = EffectRanker("apl", 5, damping=0.0).fit(X, sets)
    before = ranker.scores_

    def covered(rows):
        return len({target for row in rows for target in ranker.explain(int(row)).changes})

    batch, top = ranker.next(10), ranker.top(10)
    np.testing.assert_array_equal(ranker.scores_, before)
    assert ranker.next(10).tolist() == batch.tolist()
    assert batch[0] == top[0] == ranker.next()[0]
    assert covered(batch) > covered(top)
    first = int(batch[0])
    assert ranker.next(1, claimed=[first]).tolist() == batch[1:2].tolist()  # for a second person
    with pytest.raises(ValueError, match=r"0\.\.199"):
        ranker.next(1, claimed=[200])
    for damping in (-0.1, 1.1, float("nan")):
        with pytest.raises(ValueError, match=r"damping must be a number in \[0, 1\]"):
            EffectRanker(damping=damping).fit(X, sets)


@pytest.mark.parametrize("rule", ["mw", "apl", "pl"])
def test_explanations_list_what_each_answer_changes(rule):
    X, sets = problem(6, n=40)
    ranker = EffectRanker(rule, 3).fit(X, sets)
    neighbors, weights = ranker.votes_.neighbors, ranker.votes_.weights

    def sets_of(target, candidates):
        graph = neighbors[[target]], weights[[target]], candidates
        found = (winners(*graph), necessary_labels(*graph), possible_labels(*graph, exact=rule == "pl"))
        return [tuple(np.flatnonzero(each[0]).tolist()) for each in found]

    for row in np.flatnonzero(sets.sum(axis=1) >= 2).tolist():
        why = ranker.explain(row)
        expected = []
        for target in why.targets:
            before = sets_of(target, sets)
            for answer in np.flatnonzero(sets[row]).tolist():
                told = sets.copy()
                told[row] = np.arange(4) == answer
                after = sets_of(target, told)
                if before != after:
                    pairs = tuple(zip(before, after, strict=True))
                    expected.append((target, answer, *pairs))
        found = [(one.target, one.answer, one.winners, one.necessary, one.possible) for one in why.answers]
        assert found == expected
        assert sorted({one.target for one in why.answers}) == list(why.changes)
        brief = ranker.explain(row, answers=False)
        assert brief.answers == ()
        assert (brief.score, brief.changes, brief.targets) == (why.score, why.changes, why.targets)


@given(st.integers(0, 2**32), st.sampled_from([1, 3, 63, 64, 65, 200, 4097]), st.integers(1, 5), st.booleans())
def test_question_order_matches_sorting(seed, n, most, by_number):
    rng = np.random.default_rng(seed)
    keys, ties = rng.integers(-1, most, size=n), np.arange(n) if by_number else rng.permutation(n)
    order = QuestionOrder(keys, ties)
    for _ in range(6):
        rows = rng.integers(n, size=5)
        keys[rows] = rng.integers(-1, most)
        order.change(rows, keys[rows])
        for among in (None, rng.random(n) < 0.5, np.zeros(n, dtype=bool)):
            allowed = [r for r in range(n) if keys[r] >= 0 and (among is None or among[r])]
            best = min(allowed, key=lambda r: (-keys[r], ties[r]), default=-1)
            assert order.best(among) == best


@pytest.mark.parametrize("random_state", [None, 3])
@pytest.mark.parametrize("rule", ["mw", "apl", "pl"])
def test_next_question_is_correct_after_answers_and_undo(rule, random_state):
    n = 100
    X, sets = problem(9, n=n)
    ranker = EffectRanker(rule, 4, random_state=random_state).fit(X, sets)
    rng = np.random.default_rng(0)
    done = []
    for _ in range(60):
        among = rng.random(n) < 0.8
        assert ranker.next().tolist() == ranker.top(1).tolist()
        assert ranker.next(1, among).tolist() == ranker.top(1, among).tolist()
        if done and rng.random() < 0.3:
            ranker.update(*done.pop())
        else:
            row = int(rng.choice(ranker.top()))
            done.append((row, ranker.candidates_[row].copy()))
            ranker.update(row, rng.random(4) < 0.3)
        fresh = EffectRanker(rule, 4, random_state=random_state)
        fresh.fit_graph(ranker.votes_.neighbors, ranker.votes_.weights, np.ones((n, 4), dtype=bool), np.arange(n))
        for row in range(n):
            fresh.update(row, ranker.candidates_[row])
        np.testing.assert_array_equal(fresh.scores_, ranker.scores_)
        assert fresh.n_undecided_ == ranker.n_undecided_


def test_row_order_in_memory_does_not_affect_results():
    rng = np.random.default_rng(2)
    n = 400
    place = rng.permutation(n)
    line = (np.arange(n)[:, None] + np.array([0, 1, 2, 3, -1, -2])) % n
    neighbors = np.empty_like(line)
    neighbors[place] = place[line]
    weights, (_, sets) = rng.integers(1, 50, size=line.shape), problem(0, n=n)
    order = memory_order(neighbors)
    assert sorted(order.tolist()) == list(range(n))
    where = np.argsort(order)
    ordered = where[neighbors[order]], weights[order], sets[order]
    np.testing.assert_array_equal(effect_scores(*ordered), effect_scores(neighbors, weights, sets)[order])
    reach = np.abs(ordered[0] - np.arange(n)[:, None]).mean()
    assert reach < 20 < np.abs(neighbors - np.arange(n)[:, None]).mean()


LEFT_TO_COMPILE = """
import numpy as np
import plcore
from plcore.kernels import effects, near, placing, possible, scores, votes
steps = []
assert plcore.compile_kernels(lambda *step: steps.append(step)) > 0
assert steps[0][0] == 0 and steps[-1][0] == steps[-1][1] == len(steps) - 1, steps

def signatures():
    return {
        f"{module.__name__}.{name}": len(value.signatures)
        for module in (
            effects, near, placing, possible, scores, votes
        )
        for name, value in vars(module).items()
        if hasattr(value, "signatures") and name != "kernel"
    }

before = signatures()
assert len(before) > 20
rng = np.random.default_rng(0)
for m in (3, 70):
    X, sets = rng.random((50, 3)), rng.random((50, m)) < 0.5
    sets[:, 0] = True
    for rule in ("mw", "apl", "pl"):
        for unit in ("linear", "uniform"):
            ranker = plcore.query.EffectRanker(rule, 5, weights=unit, n_jobs=2, random_state=1).fit(X, sets)
            ranker.next(3, np.ones(50, dtype=bool), claimed=[1])
            ranker.next(1, np.ones(50, dtype=bool))
            ranker.explain(0), ranker.settled_, ranker.votes_.votes, ranker.update(3, np.arange(m) == 0)
        plcore.query.effect_scores([[0, 1]], [[2.0**20, 2.0**20]], sets, rule=rule)
    plcore.query.possible_labels([[0, 1]], [[2.0, 1.0]], sets)
model = plcore.PLKNeighborsClassifier().fit(X, sets)
model.update(0, sets[1])
model.predict(X)
after = signatures()
assert after == before, {name: after[name] for name in after if after[name] != before[name]}
twice = {n for n, c in after.items() if c > 1 and ".effects." not in n}
assert twice <= {"plcore.kernels.scores.softmax_margins", "plcore.kernels.scores.softmax_rows"}, after
"""


@pytest.mark.proof
def test_compile_kernels_leaves_nothing_to_compile():
    run = subprocess.run([sys.executable, "-c", LEFT_TO_COMPILE], cwd=ROOT, capture_output=True, text=True)
    assert run.returncode == 0, run.stderr


def test_second_call_starts_no_compiler():
    plcore.compile_kernels()
    assert code_is_there()
    compiled: list[tuple[int, int, str]] = []
    plcore.compile_kernels(compiling=lambda *step: compiled.append(step))
    assert compiled == []


# Score lost to claimed rows: exactly the score difference after damping the targets of the claims.


def lost_in_full(ranker, claimed, power):
    """(n,) the same by a loop over all targets."""
    rule, counted = ranker._rule, ranker._counted
    weights = rule.weights.astype(float)
    shares = np.rint(weights * float(SHARE_UNIT) / np.maximum(weights.sum(axis=1, keepdims=True), 1)).astype(np.int64)
    lost = np.zeros(len(ranker.candidates_), dtype=np.int64)
    for target, near in enumerate(rule.neighbors):
        times = int((np.isin(near, claimed) & counted[target]).sum())
        left = np.floor(shares[target] * power[min(times, len(power) - 1)]).astype(np.int64)
        np.add.at(lost, near[counted[target]], (shares[target] - left)[counted[target]])
    return lost


@pytest.mark.parametrize("rule", ["mw", "apl", "pl"])
@given(seed=st.integers(0, 10**6), n=st.integers(1, 9), damping=st.sampled_from([0.0, 0.5, 0.9, 1.0]))
def test_rows_lose_exactly_the_score_of_damped_targets(rule, seed, n, damping):
    X, sets = problem(seed)
    ranker = EffectRanker(rule, 4, damping=damping).fit(X, sets)
    claimed = np.sort(np.random.default_rng(seed).choice(60, n, replace=False))
    power = damping ** np.arange(4.0)  # a target claimed more often keeps the last factor
    rows, lost = lost_by_claims(claimed, ranker.votes_.index, ranker._rule, ranker._counted, power)
    assert (np.diff(rows) > 0).all()
    full = lost_in_full(ranker, claimed, power)
    np.testing.assert_array_equal(lost, full[rows])
    assert not np.delete(full, rows).any()


def seconds_beside_a_hub(n: int) -> float:
    """CPU seconds to choose the next row while another annotator has a row that all n targets use."""
    neighbors = np.stack([np.arange(n), np.zeros(n, dtype=np.int64)], axis=1)
    neighbors[0, 1] = 1
    sets = np.ones((n, 2), dtype=bool)
    ranker = EffectRanker("mw", 2).fit_graph(neighbors, np.ones_like(neighbors), sets, np.arange(n))
    assert ranker.next(1, claimed=[0]).tolist() == [1]
    spent = []
    for _ in range(5):
        begun = time.process_time()
        ranker.next(1, claimed=[0])
        spent.append(time.process_time() - begun)
    return min(spent)


def test_claimed_hub_row_does_not_cost_quadratic_time():
    assert seconds_beside_a_hub(48_000) < 7 * seconds_beside_a_hub(12_000)
