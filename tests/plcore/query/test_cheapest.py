"""The cheapest question: gains by brute force over all truths, and the choice by gain per second."""

from __future__ import annotations

from itertools import combinations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from sklearn.linear_model import Ridge

from plcore.query import CRITERIA, FORMS, SecondsModel, SecondsPrior, cheapest_question, row_questions

N_CLASSES = 6


def prior_seconds(forms, shown):
    return SecondsModel().expected(None, forms, shown)


def alike(forms, shown):
    return np.ones(len(shown))


def entropy(p):
    p = p[p > 0]
    return float(-(p * np.log(p)).sum())


def changed(part):
    """An arbitrary function of a set, with unequal classes."""
    return float(np.dot(part, [5, 0, 2, 1, 3, 7]) / (1 + part.sum()))


def value_of(criterion, p, part):
    """Value of knowing a part of the candidates, by definition."""
    inside = np.where(part, p, 0.0) / p[part].sum()
    return {
        "classes": (p > 0).sum() - part.sum(),  # the shares of these tests are above 0 inside S
        "entropy": entropy(p) - entropy(inside),
        "error": (1 - p.max()) - (1 - inside.max()),
        "flips": changed(part),
    }[criterion]


def gain_by_truths(criterion, p, question):
    """Every class of S in turn is the truth, the answer follows from it, and what it leaves is worth U; "error" by what
    was and what will be predicted, since U of a part is not what one truth gains."""
    own, named = p > 0, np.isin(np.arange(len(p)), question.about)
    gain = 0.0
    for truth in np.flatnonzero(own):
        rest = own & (named if named[truth] else ~named)
        part = np.arange(len(p)) == truth if question.form == "which" else rest
        if criterion == "error":
            gain += p[truth] * ((np.where(part, p, 0).argmax() == truth) * 1.0 - (p.argmax() == truth) * 1.0)
        else:
            gain += p[truth] * value_of(criterion, p, part)
    return gain


@st.composite
def rows(draw, least=1):
    size = draw(st.integers(least, N_CLASSES))
    inside = draw(st.permutations(range(N_CLASSES)))[:size]
    p = np.zeros(N_CLASSES)
    p[list(inside)] = draw(st.lists(st.floats(0.01, 1.0), min_size=size, max_size=size))
    groups = draw(st.lists(st.lists(st.booleans(), min_size=N_CLASSES, max_size=N_CLASSES), max_size=4))
    return p / p.sum(), np.array(groups, dtype=bool).reshape(-1, N_CLASSES)


@given(rows(), st.sampled_from(CRITERIA))
def test_gains_match_brute_force_over_all_truths(row, criterion):
    p, groups = row
    found = row_questions(p > 0, p, alike, groups=groups, criterion=criterion, changed=changed, n_likeliest=N_CLASSES)
    for question in found:
        assert question.gain == pytest.approx(gain_by_truths(criterion, p, question), abs=1e-12)
        assert question.shown == (len(question.about) or (p > 0).sum())


@given(rows(least=2))
def test_edc_formula_holds_only_with_probabilities_inside_the_candidates(row):
    """With P(C) over S, the formula is the mean number of classes that an answer rules out. With P(C) over all classes,
    even a question with a known answer would gain, and open questions would have other values."""
    p, groups = row
    own = p > 0

    def edc(part, probability):
        return own.sum() - (probability * (own & part).sum() + (1 - probability) * (own & ~part).sum())

    for question in row_questions(own, p, alike, groups=groups, n_likeliest=N_CLASSES)[1:]:
        part = np.isin(np.arange(N_CLASSES), question.about)
        assert question.gain == pytest.approx(edc(part, p[part].sum()))
        assert question.gain == pytest.approx(gain_by_truths("classes", p, question))
        assert question.gain <= own.sum() - 1 + 1e-12  # no question is more informative than "which"
    everything = np.ones(N_CLASSES, dtype=bool)
    assert edc(everything, p.sum()) == pytest.approx(0.0)
    assert edc(everything, 0.8 * p.sum()) == pytest.approx(0.2 * own.sum())  # probabilities outside the candidates
    which = row_questions(own, p, alike)[0]
    assert which.gain == own.sum() - 1  # independent of p, so not the formula for yes or no


@given(rows(least=2), st.sampled_from(["classes", "entropy", "error"]))
def test_no_candidate_gains_more_than_the_likeliest(row, criterion):
    p, _ = row
    asked = row_questions(p > 0, p, alike, criterion=criterion, n_likeliest=N_CLASSES)[1:]
    assert asked[0].about == (int(p.argmax()),)
    assert asked[0].gain == pytest.approx(max(question.gain for question in asked))


@given(rows(least=2), st.sampled_from(CRITERIA))
def test_best_question_is_a_group_if_all_parts_are_groups(row, criterion):
    """Brute force over all yes-or-no questions."""
    p, _ = row
    inside = np.flatnonzero(p)
    parts = [part for size in range(1, len(inside)) for part in combinations(inside, size)]
    named = np.array([np.isin(np.arange(N_CLASSES), part) for part in parts])
    found = row_questions(
        p > 0, p, prior_seconds, groups=named, criterion=criterion, changed=changed, n_likeliest=N_CLASSES
    )
    assert {question.about for question in found[1:]} == {tuple(map(int, part)) for part in parts}
    best = cheapest_question(found)
    assert best.rate == pytest.approx(max(gain_by_truths(criterion, p, one) / one.seconds for one in found))


def test_available_questions_are_listed_without_duplicates():
    own = np.array([1, 1, 0, 1, 1, 0], dtype=bool)
    groups = np.array(
        [
            [1, 1, 1, 0, 0, 0],  # holds 0 and 1
            [0, 0, 0, 1, 0, 1],  # one candidate: that is "is it 3?"
            [1, 1, 0, 1, 1, 1],  # all candidates: pointless to ask
            [1, 1, 0, 0, 0, 1],  # the same two as the first
            [0, 0, 1, 0, 0, 1],  # none
        ]
    )
    found = row_questions(own, [0.1, 0.3, 9.0, 0.3, 0.1, 0], alike, groups=groups)
    assert [(one.form, one.about, one.shown) for one in found] == [
        ("which", (), 4),
        ("is", (1,), 1),
        ("is", (3,), 1),
        ("is", (0,), 1),
        ("group", (0, 1), 2),
    ]
    assert [one.gain for one in found] == pytest.approx([3, 1 + 0.375 * 2, 1 + 0.375 * 2, 1.25, 2])
    listed = row_questions(own, np.ones(6), alike, groups=groups, n_first=2)
    assert [one.shown for one in listed] == [2, 1, 1, 1, 2]
    even = row_questions(own, np.zeros(6), alike, n_likeliest=9)
    assert [one.about for one in even[1:]] == [(0,), (1,), (3,), (4,)]
    assert {one.gain for one in even[1:]} == {1.5}
    alone = row_questions(np.arange(6) == 2, np.ones(6), alike, groups=groups)
    assert [(one.form, one.gain) for one in alone] == [("which", 0.0)]
    assert cheapest_question(alone).form == "which"


def test_confident_model_asks_yes_or_no_and_uncertain_model_asks_which():
    own = np.ones(5, dtype=bool)
    sure = row_questions(own, [0.9, 0.04, 0.03, 0.02, 0.01], prior_seconds)
    torn = row_questions(own, [0.24, 0.2, 0.2, 0.18, 0.18], prior_seconds)
    assert (cheapest_question(sure).form, cheapest_question(sure).about) == ("is", (0,))
    assert cheapest_question(torn).form == "which"
    dear = row_questions(own, [0.9, 0.04, 0.03, 0.02, 0.01], lambda forms, shown: [1] + [3] * (len(forms) - 1))
    assert cheapest_question(dear).form == "which"


def test_group_is_asked_if_it_splits_the_candidates_best():
    groups = np.array([[1, 1, 1, 1, 0, 0, 0, 0]])
    found = row_questions(np.ones(8, bool), np.ones(8), alike, groups=groups, criterion="entropy")
    assert found[-1].gain == pytest.approx(np.log(2))
    found = row_questions(np.ones(8, bool), np.ones(8), lambda f, n: np.sqrt(n), groups=groups)
    assert {one.form: round(one.rate, 3) for one in found} == {"which": 2.475, "is": 1.75, "group": 2.0}


def test_ties_go_to_the_first_question_despite_rounding():
    two = row_questions([True, True], [1 / 3, 2 / 3], alike, criterion="entropy")
    assert len({round(one.gain, 12) for one in two}) == 1  # two candidates: all three questions are equally informative
    assert cheapest_question(two).form == "which"
    settled = row_questions(np.ones(3, bool), [1, 0, 0], prior_seconds, criterion="error")
    assert cheapest_question(settled).form == "which"
    equal = row_questions(np.ones(4, bool), [0.1 + 0.2, 0.3, 0.2, 0.2], prior_seconds, criterion="classes")
    assert cheapest_question(equal[1:]).about == (0,)


def test_wrong_arguments_are_refused():
    own, p = np.ones(3, bool), np.ones(3)
    with pytest.raises(ValueError, match=r"criterion must be one of 'classes'.*Got 'hope'"):
        row_questions(own, p, alike, criterion="hope")
    with pytest.raises(ValueError, match="'flips' needs `changed`"):
        row_questions(own, p, alike, criterion="flips")
    with pytest.raises(ValueError, match=r"vectors of one length. Got shapes \(3,\) and \(2,\)"):
        row_questions(own, p[:2], alike)
    with pytest.raises(ValueError, match="candidates must hold one at least"):
        row_questions(~own, p, alike)
    with pytest.raises(ValueError, match="shares must be finite numbers of at least 0"):
        row_questions(own, [1, -1, np.nan], alike)
    with pytest.raises(ValueError, match=r"groups must be \(g, 3\)"):
        row_questions(own, p, alike, groups=np.ones((2, 4)))
    with pytest.raises(ValueError, match=r"seconds must give numbers above 0. Got 0"):
        row_questions(own, p, lambda forms, shown: np.zeros(len(shown)))
    with pytest.raises(ValueError, match="questions must hold one at least"):
        cheapest_question([])


# The model of answer times: it recovers known effects, matches scikit-learn, and shrinks new annotators.


EFFECTS = {"which": 0.0, "is": -0.3, "group": 0.1}
PEOPLE = {"Ann": -0.4, "Ben": 0.1, "Cem": 0.5}


def answers(n, seed=0, noise=0.4):
    """Simulated answers, forms drawn at random: seconds, people, forms, shown."""
    rng = np.random.default_rng(seed)
    people, forms = rng.choice([*PEOPLE], n).tolist(), rng.choice(FORMS, n).tolist()
    shown = np.where(np.array(forms) == "is", 1, rng.integers(2, 20, n))
    logs = 1.2 + 0.45 * np.log(shown) + rng.normal(0, noise, n)
    logs += [PEOPLE[one] + EFFECTS[form] for one, form in zip(people, forms, strict=True)]
    return np.exp(logs), people, forms, shown


def test_times_without_answers_are_the_prior():
    model = SecondsModel()
    at = np.exp(0.6**2 / 2)  # the mean of a log-normal variable, from its median
    assert model.expected("Ann", "which", 4) == pytest.approx(4.0 * at)
    assert model.expected(None, "is", 1) == pytest.approx(4.0 * 0.55 * at)
    assert model.expected("Ann", "which", 8) / model.expected("Ann", "which", 4) == pytest.approx(2**0.3)
    assert model.expected("Ann", "group", 3) / model.expected("Ann", "is", 1) == pytest.approx(3**0.3)
    assert (model.n_used_, model.n_dropped_, model.people_) == (0, 0, {})
    slow = SecondsModel(SecondsPrior(which=40.0, yes_no=0.25))
    assert slow.expected("Ann", "is", 1) == pytest.approx(10.0 * at)


def test_simulated_effects_are_recovered():
    model = SecondsModel().fit(*answers(6000))
    assert model.slope_ == pytest.approx(0.45, abs=0.03)
    for form, effect in EFFECTS.items():
        assert model.forms_[form] == pytest.approx(effect, abs=0.05)
    assert model.people_["Cem"] - model.people_["Ann"] == pytest.approx(0.9, abs=0.04)
    assert model.noise_ == pytest.approx(0.4, abs=0.01)
    mean = np.exp(1.2 + 0.5 + 0.45 * np.log(6) + 0.4**2 / 2)
    assert model.expected("Cem", "which", 6) == pytest.approx(mean, rel=0.05)
    again = SecondsModel().fit(*answers(50, seed=1)).fit(*answers(6000))
    assert again.people_ == model.people_  # earlier learning is forgotten


def test_fit_matches_scikit_learn_ridge_around_the_prior():
    seconds, people, forms, shown = answers(40, seed=3)
    prior = SecondsPrior()
    X = np.column_stack(
        [
            np.ones(40),
            np.array(forms) == "is",
            np.array(forms) == "group",
            np.log(shown),
            *[np.array(people) == one for one in PEOPLE],
        ]
    )
    penalties = np.append(prior.penalties, [prior.noise**2 / prior.person**2] * 3)
    start = np.append(prior.common, [0, 0, 0])
    # Ridge has one penalty and no prior mean: scale the columns and subtract the prior first.
    scaled = Ridge(alpha=1.0, fit_intercept=False, tol=1e-12).fit(X / np.sqrt(penalties), np.log(seconds) - X @ start)
    found = start + scaled.coef_ / np.sqrt(penalties)
    model = SecondsModel().fit(seconds, people, forms, shown)
    np.testing.assert_allclose([model.mean_, *[*model.forms_.values()][1:], model.slope_], found[:4], rtol=1e-9)
    np.testing.assert_allclose([model.people_[one] for one in PEOPLE], found[4:], rtol=1e-9)
    left = np.log(seconds) - X @ found
    assert model.noise_ == pytest.approx(np.sqrt((left @ left + 20 * 0.36) / 60))


def test_new_annotator_starts_average_and_adapts_slowly():
    seconds, people, forms, shown = answers(3000)
    of_all = SecondsModel().fit(seconds, people, forms, shown)
    assert of_all.expected("Dee", "is", 1) == of_all.expected(None, "is", 1)
    ratios = []
    for n in (1, 10, 1000):
        fast = np.full(n, of_all.expected(None, "which", 5) / 4)  # an annotator who takes a quarter of the time
        model = SecondsModel().fit(
            [*seconds, *fast], [*people, *["Dee"] * n], [*forms, *["which"] * n], [*shown, *[5] * n]
        )
        ratios.append(float(model.expected("Dee", "which", 5) / model.expected(None, "which", 5)))
    assert 0.4 < ratios[0] < 0.7
    assert ratios[0] > ratios[1] > ratios[2]
    at = np.exp(model.noise_**2 / 2)
    assert model.expected("Dee", "which", 5) == pytest.approx(
        fast[0] * at, rel=0.05
    )  # by now entirely the annotator's own estimate


def test_breaks_and_invalid_times_are_dropped():
    usual = answers(30)
    model = SecondsModel().fit(
        [*usual[0], 301.0, 0.0, np.nan],
        [*usual[1], "Eve", "Eve", "Ann"],
        [*usual[2], "is", "is", "which"],
        [*usual[3], 1, 1, 2],
    )
    assert (model.n_used_, model.n_dropped_) == (30, 3)
    assert "Eve" not in model.people_
    assert model.expected("Ann", "which", 3) == SecondsModel().fit(*usual).expected("Ann", "which", 3)
    assert SecondsModel().fit([300.0], ["Ann"], ["which"], [2]).n_used_ == 1


@given(st.integers(0, 2**16), st.integers(1, 60))
def test_order_of_answers_does_not_matter(seed, n):
    seconds, people, forms, shown = answers(n, seed)
    order = np.random.default_rng(seed).permutation(n)
    model = SecondsModel().fit(seconds, people, forms, shown)
    mixed = SecondsModel().fit(seconds[order], [people[i] for i in order], [forms[i] for i in order], shown[order])
    kinds, numbers = ["which", "which", "is", "group"], [2, 9, 1, 4]
    for one in (*PEOPLE, None):
        expected = model.expected(one, kinds, numbers)
        assert expected.shape == (4,)
        assert (expected > 0).all()
        np.testing.assert_allclose(mixed.expected(one, kinds, numbers), expected, rtol=1e-9)


def test_wrong_answers_are_refused():
    model = SecondsModel()
    with pytest.raises(ValueError, match=r"of one length. Got \(2,\), 1, 2 and 2"):
        model.fit([1, 2], ["Ann"], ["is", "is"], [1, 1])
    with pytest.raises(ValueError, match=r"seconds must be at least 0. Got -1.0"):
        model.fit([-1.0], ["Ann"], ["is"], [1])
    with pytest.raises(ValueError, match=r"forms must be of 'which', 'is', 'group'. Got 'maybe'"):
        model.fit([1.0], ["Ann"], ["maybe"], [1])
    with pytest.raises(ValueError, match=r"numbers of labels, at least 1. Got 0.0"):
        model.expected("Ann", ["which", "is"], [3, 0])
    with pytest.raises(ValueError, match=r"which of SecondsPrior must be a number above 0. Got 0"):
        SecondsPrior(which=0)
    with pytest.raises(ValueError, match=r"slope of SecondsPrior must be a number of at least 0. Got -0.1"):
        SecondsPrior(slope=-0.1)
    assert SecondsPrior(slope=0.0).common[-1] == 0.0
