"""A model of seconds: it finds effects that were put in, is the ridge of others, and believes new people little."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from sklearn.linear_model import Ridge

from plcore.query import FORMS, SecondsModel, SecondsPrior

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


def test_before_anybody_has_answered_it_is_the_prior():
    model = SecondsModel()
    at = np.exp(0.6**2 / 2)  # of the median, the mean of a log-normal variable
    assert model.expected("Ann", "which", 4) == pytest.approx(4.0 * at)
    assert model.expected(None, "is", 1) == pytest.approx(4.0 * 0.55 * at)
    assert model.expected("Ann", "which", 8) / model.expected("Ann", "which", 4) == pytest.approx(2**0.3)
    assert model.expected("Ann", "group", 3) / model.expected("Ann", "is", 1) == pytest.approx(3**0.3)
    assert (model.n_used_, model.n_dropped_, model.people_) == (0, 0, {})
    slow = SecondsModel(SecondsPrior(which=40.0, yes_no=0.25))
    assert slow.expected("Ann", "is", 1) == pytest.approx(10.0 * at)


def test_effects_that_were_put_in_are_found():
    model = SecondsModel().fit(*answers(6000))
    assert model.slope_ == pytest.approx(0.45, abs=0.03)
    for form, effect in EFFECTS.items():
        assert model.forms_[form] == pytest.approx(effect, abs=0.05)
    assert model.people_["Cem"] - model.people_["Ann"] == pytest.approx(0.9, abs=0.04)
    assert model.noise_ == pytest.approx(0.4, abs=0.01)
    mean = np.exp(1.2 + 0.5 + 0.45 * np.log(6) + 0.4**2 / 2)
    assert model.expected("Cem", "which", 6) == pytest.approx(mean, rel=0.05)
    again = SecondsModel().fit(*answers(50, seed=1)).fit(*answers(6000))
    assert again.people_ == model.people_  # what was learnt before is forgotten


def test_it_is_the_ridge_of_scikit_learn_around_the_prior():
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
    # Ridge has one penalty for all and none around a prior: the columns are scaled, and the prior is taken off before.
    scaled = Ridge(alpha=1.0, fit_intercept=False, tol=1e-12).fit(
        X / np.sqrt(penalties), np.log(seconds) - X @ start
    )
    found = start + scaled.coef_ / np.sqrt(penalties)
    model = SecondsModel().fit(seconds, people, forms, shown)
    np.testing.assert_allclose(
        [model.mean_, *[*model.forms_.values()][1:], model.slope_], found[:4], rtol=1e-9
    )
    np.testing.assert_allclose([model.people_[one] for one in PEOPLE], found[4:], rtol=1e-9)
    left = np.log(seconds) - X @ found
    assert model.noise_ == pytest.approx(np.sqrt((left @ left + 20 * 0.36) / 60))


def test_a_new_person_is_like_all_and_becomes_themselves_slowly():
    seconds, people, forms, shown = answers(3000)
    of_all = SecondsModel().fit(seconds, people, forms, shown)
    assert of_all.expected("Dee", "is", 1) == of_all.expected(None, "is", 1)
    ratios = []
    for n in (1, 10, 1000):
        fast = np.full(n, of_all.expected(None, "which", 5) / 4)  # somebody who takes a quarter of the time
        model = SecondsModel().fit(
            [*seconds, *fast], [*people, *["Dee"] * n], [*forms, *["which"] * n], [*shown, *[5] * n]
        )
        ratios.append(float(model.expected("Dee", "which", 5) / model.expected(None, "which", 5)))
    assert 0.4 < ratios[0] < 0.7
    assert ratios[0] > ratios[1] > ratios[2]
    at = np.exp(model.noise_**2 / 2)
    assert model.expected("Dee", "which", 5) == pytest.approx(fast[0] * at, rel=0.05)  # by now all their own


def test_breaks_and_times_that_are_none_are_dropped():
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
def test_the_order_of_the_answers_says_nothing(seed, n):
    seconds, people, forms, shown = answers(n, seed)
    order = np.random.default_rng(seed).permutation(n)
    model = SecondsModel().fit(seconds, people, forms, shown)
    mixed = SecondsModel().fit(
        seconds[order], [people[i] for i in order], [forms[i] for i in order], shown[order]
    )
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
