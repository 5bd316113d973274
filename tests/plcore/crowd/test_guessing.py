"""Detection of guessing and too fast annotators: rates by simulation, the evidence by hand."""

from __future__ import annotations

import math

import numpy as np
import pytest

from plcore.crowd import DawidSkene, check_guessing, least_honest, probabilities_by_answers, too_fast, who_is_guessing
from plcore.crowd.guessing import LOOK_AT, TOLD_AT, TOLD_THEN

PERSONS = 2000
FIRST, LONG = 30, 300


def told(right, rng, persons=PERSONS, answers=LONG, chance=0.25):
    """(persons,) number of answers until reported; right : probability that an answer is correct."""
    hits = (rng.random((persons, answers)) < right).astype(float)
    chances = np.full(answers, chance)
    return np.array([check_guessing(row, chances).told_after or np.inf for row in hits])


@pytest.mark.parametrize("choices", [2, 4, 10])
def test_guesser_is_reported_soon_and_least_honest_annotator_hardly_ever(choices):
    rng = np.random.default_rng(choices)
    chance = 1 / choices
    assert (told(chance, rng, answers=FIRST, chance=chance) <= FIRST).mean() >= 0.95
    assert (told(float(least_honest(chance)), rng, 1000, chance=chance) <= LONG).mean() <= 0.02


@pytest.mark.parametrize("choices", [2, 3, 4, 5, 6, 8, 10, 15, 20])
def test_false_alarm_rate_of_the_least_honest_is_within_bounds(choices):
    """Computed exactly over the number of wrong answers: the evidence depends on nothing else."""
    h = float(least_honest(1 / choices))
    right, wrong = (check_guessing([hit], [1 / choices]).evidence for hit in (1, 0))
    shares, told = np.zeros(LONG + 2), 0.0
    shares[0] = 1.0
    errors = np.arange(len(shares))
    for answers in range(1, LONG + 1):
        shares = shares * h + np.concatenate([[0.0], shares[:-1] * (1 - h)])
        evidence = errors * np.log(wrong) + (answers - errors) * np.log(right)
        out = evidence >= np.log(TOLD_THEN if answers == LOOK_AT else TOLD_AT)
        told += shares[out].sum()
        shares[out] = 0.0
    assert told <= 0.008


def test_threshold_is_lower_at_the_thirtieth_answer():
    right, wrong = (check_guessing([hit], [0.25]).evidence for hit in (1, 0))
    errors = next(k for k in range(30) if wrong**k * right ** (30 - k) >= TOLD_THEN)
    assert wrong**errors * right ** (30 - errors) < TOLD_AT
    answers = [1] * (30 - errors) + [0] * errors
    assert not check_guessing(answers[:-1], [0.25] * 29).guessing
    assert check_guessing(answers, [0.25] * 30).told_after == 30
    later = check_guessing([*answers, 1, 1], [0.25] * 32)
    assert later.told_after == 30, "it stays told"
    assert not check_guessing([1, *answers], [0.25] * 31).guessing, "at the thirtieth alone"


def test_consensus_averages_the_own_and_the_pooled_posterior():
    """This is less overconfident than each person's own matrix alone."""
    rng = np.random.default_rng(5)
    y = rng.integers(4, size=200)
    rows, who = (np.repeat(np.arange(200), 2), rng.permuted(np.tile(np.arange(6), (200, 1)), axis=1)[:, :2].ravel())
    said = np.where(rng.random(400) < 0.7, y[rows], rng.integers(4, size=400))
    masks, free = np.eye(4, dtype=bool)[said], np.ones((201, 4), dtype=bool)
    model = DawidSkene().fit_masks(rows, who, masks, free)
    found = probabilities_by_answers(rows, who, masks, free)
    assert (found[200] == 0).all(), "no one has said anything of it"
    own = model.label_distributions_[:200]
    alike = model.posterior_masks(rows, who + 100, masks, free)[:200]
    np.testing.assert_allclose(found[:200], (own + alike) / 2)
    best = found[:200].argmax(axis=1)
    gap = {
        name: shares.max(axis=1).mean() - (shares.argmax(axis=1) == y).mean()
        for name, shares in (("own", own), ("found", found[:200]))
    }
    assert abs(gap["found"]) < abs(gap["own"])
    assert (best == y).mean() > 0.75
    np.testing.assert_array_equal(found, probabilities_by_answers(rows, who, masks, free, model))


def test_least_honest_accuracy_matches_known_values():
    found = least_honest([1 / 2, 1 / 3, 1 / 4, 1 / 10, 0.6, 1.0])
    np.testing.assert_allclose(found, [0.875, 11 / 15, 0.7, 0.64, 0.6, 1.0])
    many = np.linspace(0.01, 0.59, 100)
    assert (least_honest(many) > many).all()
    assert (least_honest(many) < 1).all()


def test_evidence_is_a_supermartingale_for_honest_annotators():
    """The mean of the evidence of one answer is 1 for the least honest, and less for everyone better."""
    for chance in (0.5, 0.3, 0.1):
        right, wrong = (check_guessing([hit], [chance]).evidence for hit in (1, 0))
        h = float(least_honest(chance))
        assert h * right + (1 - h) * wrong == pytest.approx(1)
        assert 0.99 * right + 0.01 * wrong < 1
        assert check_guessing([chance], [chance]).evidence == pytest.approx(1), "what no one knows tells nothing"


def test_evidence_matches_values_computed_by_hand():
    check = check_guessing([0, 1, 0, 0, 0, 0, 0, 1], [0.25] * 8)
    assert check.answers == 8
    assert check.right == 2
    assert check.chance == 2
    assert check.evidence == pytest.approx((0.25 / 0.7) ** 2 * (0.75 / 0.3) ** 6)
    # 2.5, 0.89, 2.2, 5.6, 14, 35, 87, 31: never 200
    assert not check.guessing
    more = check_guessing([0, 1, *[0] * 6, 1], [0.25] * 9)
    assert more.told_after == 8, "at 219, and still told though the ninth is right"
    assert more.guessing
    assert check.sentence == ("Agrees with the others on about 2 of 8 answers. Random guessing would give about 2.")
    assert not check_guessing([1] * 8, [0.25] * 8).guessing
    assert math.isfinite(check_guessing([0] * 5000, [0.25] * 5000).evidence)


def test_uninformative_answers_are_left_out():
    check = check_guessing([0, 0, 0, 1], [1.0, 0.0, 0.6, 0.5])
    assert (check.answers, check.right, check.chance) == (1, 1, 0.5)
    empty = check_guessing([], [])
    assert (empty.guessing, empty.told_after, empty.answers, empty.evidence) == (False, None, 0, 1.0)


def test_probabilities_are_checked():
    with pytest.raises(ValueError, match="vectors of one length"):
        check_guessing([1, 0], [0.5])
    with pytest.raises(ValueError, match="right must be probabilities"):
        check_guessing([2.0], [0.5])
    with pytest.raises(ValueError, match=r"chance must be probabilities.*Got nan at place 1"):
        check_guessing([1.0, 1.0], [0.5, np.nan])


def crowd(rng, kind, n=60, m=4, shares=(0.25,) * 4):
    """Votes of three honest people (0.85) and one of `kind` on all rows, the truth."""
    y = rng.choice(m, n, p=shares)
    votes = [(row, who, int(y[row] if rng.random() < 0.85 else rng.integers(m))) for row in range(n) for who in "abc"]
    said = {"any": rng.integers(m, size=n), "first": np.zeros(n, int), "commonest": np.full(n, np.argmax(shares))}
    return votes + [(row, "guesser", int(said[kind][row])) for row in range(n)], y


@pytest.mark.parametrize("kind", ["any", "first"])
def test_guesser_among_honest_people_is_reported(kind):
    rng = np.random.default_rng(0)
    runs = [who_is_guessing(crowd(rng, kind)[0]) for _ in range(40)]
    soon = [checks["guesser"].told_after or np.inf for checks in runs]
    assert np.mean(np.array(soon) <= FIRST) >= 0.95
    assert not any(checks[who].guessing for checks in runs for who in "abc")


def test_always_naming_the_commonest_class_counts_as_guessing():
    """Right in nearly half of the rows, but chance is the share of that class, not one in four."""
    rng = np.random.default_rng(1)
    votes, _ = crowd(rng, "commonest", n=150, shares=(0.1, 0.45, 0.35, 0.1))
    check = who_is_guessing(votes)["guesser"]
    assert check.guessing
    assert check.chance == pytest.approx(check.right, rel=0.05)


def test_known_truth_and_candidates_are_used():
    rng = np.random.default_rng(2)
    votes, y = crowd(rng, "any")
    truth = np.eye(4)[y]
    checks = who_is_guessing(votes, known=truth)
    assert checks["guesser"].guessing
    assert checks["guesser"].right == sum(votes[180 + row][2] == y[row] for row in range(60))
    assert not checks["a"].guessing
    half = truth.copy()
    half[:30] = 0
    assert who_is_guessing(votes, known=half)["a"].answers == 30, "rows of which nothing is known tell nothing"
    inside = np.zeros((60, 4), dtype=bool)
    inside[np.arange(60), y] = True
    assert who_is_guessing(votes, inside, truth)["a"].answers == 0, "one choice tells nothing"
    with pytest.raises(ValueError, match="known must be probabilities"):
        who_is_guessing(votes, known=truth[:3])


def test_one_person_alone_cannot_be_judged():
    checks = who_is_guessing([(row, "a", row % 3) for row in range(50)])
    assert checks["a"].answers == 0
    assert not checks["a"].guessing
    apart = who_is_guessing([(0, "a", "x"), (1, "b", "y")])
    assert apart["a"].answers == 0


def test_set_answers_are_compared_with_the_chance_of_the_set():
    truth = np.eye(4)[[0, 1, 2, 3]]
    check = who_is_guessing([(row, "a", {row, (row + 1) % 4}) for row in range(4)], known=truth)["a"]
    assert check.right == 4
    assert check.chance == pytest.approx(2)


def test_too_fast_annotators_are_reported():
    rng = np.random.default_rng(0)
    others = np.exp(rng.normal(np.log(4), 0.5, 200))
    check = too_fast(np.full(12, 0.5), others)
    assert check.too_fast
    assert check.faster == 1
    assert check.seconds == 0.5
    assert check.answers == 12
    assert check.sentence.startswith("Half of the 12 answers took less than 0.5 s, half of the others'")
    assert "100% were faster" in check.sentence
    assert not too_fast(others[:50] * 0.5, others).too_fast, "quick is not too quick"
    assert not too_fast([0.5] * 9, others).too_fast, "too few answers"
    assert not too_fast([0.5] * 12, others[:29]).too_fast, "too few of the others"
    assert not too_fast([*[0.5] * 9, *[4.0] * 11], others).too_fast, "half of them"


def test_invalid_times_are_left_out():
    check = too_fast([0.5] * 11 + [np.nan, -1, 0, np.inf], [4.0] * 40)
    assert check.answers == 11
    assert check.too_fast
    nobody = too_fast([], [4.0])
    assert (nobody.too_fast, nobody.answers, nobody.faster) == (False, 0, 0.0)
    assert np.isnan(nobody.seconds)
    assert np.isnan(too_fast([1.0], []).others_seconds)
    with pytest.raises(ValueError, match="must be a sequence"):
        too_fast(1.0, [2.0])
