"""Set masses: compared with plain loops, detection of sources, effects of answers, and use in PLKernelRidge."""

from __future__ import annotations

import numpy as np
import pandas as pd
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy import sparse
from sklearn.datasets import load_digits

from plcore import PLKernelRidge
from plcore.kernel.rounds import Rounds
from plcore.labels.set_masses import SetMasses, as_rows, draw_whole_sources, read_sources, show_in_sets, sources_by_set
from plcore.labels.weights import prior_labels

GIVEN = {"kernel": "rbf", "alpha": 0.1, "class_mass": 0.5}


def plain_pull(labels, sources, imported, candidates, weights, power):
    """The step in plain loops, a source at a time."""
    found = labels.copy()
    for source in set(sources):
        rows = [i for i in range(len(labels)) if sources[i] == source]
        n = sum(weights[i] for i in rows)
        if n <= 1:
            continue
        m = labels.shape[1]
        answers = [sum(weights[i] for i in rows if candidates[i].sum() == 1 and candidates[i, c]) for c in range(m)]
        a = sum(answers)
        shares = [sum(weights[i] * imported[i, c] for i in rows) / n for c in range(m)]
        target = [answers[c] + (n - a) * (4 * shares[c] + answers[c]) / (4 + a) for c in range(m)]
        for _ in range(3):
            sums = [sum(weights[i] * found[i, c] for i in rows) for c in range(m)]
            for i in rows:
                for c in range(m):
                    found[i, c] *= ((target[c] + 0.5) / (sums[c] + 0.5)) ** power
                found[i] /= found[i].sum()
    return found


@st.composite
def scenes(draw):
    """Sources (n,), sets as imported and as they are, weights, and soft labels inside the latter."""
    rng = np.random.default_rng(draw(st.integers(0, 2**32 - 1)))
    n, m = draw(st.integers(1, 14)), draw(st.integers(1, 5))
    imported = rng.random((n, m)) < 0.6
    imported[np.arange(n), rng.integers(m, size=n)] = True
    candidates = imported.copy()
    answered = rng.random(n) < 0.3
    candidates[answered] = np.eye(m, dtype=bool)[[rng.choice(np.flatnonzero(one)) for one in imported[answered]]]
    soft = rng.random((n, m)) * candidates + 1e-3 * candidates
    weights = draw(st.sampled_from([np.ones(n), rng.integers(0, 3, size=n).astype(float)]))
    return rng.integers(4, size=n), imported, candidates, weights, soft / soft.sum(axis=1, keepdims=True)


@given(scenes(), st.sampled_from([0.5, 1.0]))
def test_set_masses_match_plain_loops(scene, power):
    sources, imported, candidates, weights, soft = scene
    prior = prior_labels(imported)
    masses = SetMasses.among(sources, prior, candidates, weights)
    found = masses.pull(soft, power)
    expected = plain_pull(soft, sources, prior, candidates, weights, power)
    np.testing.assert_allclose(found, expected, atol=1e-12)
    assert (found[~candidates] == 0).all()
    moved = soft * np.exp(masses.log_factors(soft, power))
    np.testing.assert_allclose(moved / moved.sum(axis=1, keepdims=True), found, atol=1e-12)
    np.testing.assert_array_equal(masses.answered(imported).answered(candidates).targets, masses.targets)
    again = SetMasses.from_arrays(masses.to_arrays()).answered(candidates)
    np.testing.assert_array_equal(again.pull(soft, power), found)


def test_row_of_weight_two_equals_two_rows():
    sources, prior = np.array([0, 0, 0, 1]), np.full((4, 2), 0.5)
    soft = np.array([[0.9, 0.1], [0.9, 0.1], [0.8, 0.2], [0.9, 0.1]])
    free = np.ones((4, 2), dtype=bool)
    twice = SetMasses.among(sources, prior, free, np.array([2.0, 0.0, 1.0, 1.0]))
    each = SetMasses.among(sources, prior, free, np.ones(4))
    np.testing.assert_allclose(twice.pull(soft, 1.0)[[0, 2]], each.pull(soft, 1.0)[[0, 2]], atol=1e-12)
    np.testing.assert_array_equal(each.pull(soft, 1.0)[3], soft[3])


def test_names_of_a_photo_are_shared_out_among_its_faces():
    """Three rows that all look most like the first name, one of them a little less."""
    soft = np.array([[0.9, 0.1], [0.6, 0.4]])
    masses = SetMasses.among(np.zeros(2, dtype=int), np.full((2, 2), 0.5), np.ones((2, 2), bool), np.ones(2))
    found = masses.pull(soft, 1.0)
    assert found.argmax(axis=1).tolist() == [0, 1]
    answered = masses.answered(np.array([[True, True], [True, False]]))
    assert answered.targets[0, 0] > masses.targets[0, 0], "who was seen once may be there again"


def seen(sets, X=None, weights=None):
    """`sources_by_set`, by default for rows that all differ."""
    n = len(sets)
    X = np.arange(n, dtype=float)[:, None] if X is None else X
    return sources_by_set(sets, X, np.ones(n) if weights is None else weights)


class TestSources:
    def test_row_without_source_is_a_source_of_its_own(self):
        assert len(set(read_sources(["a", None, "a", np.nan, "b", None, "", ""], 8).tolist())) == 7
        assert read_sources(["a", None, "b", "", ""], 5) is None
        codes = read_sources(pd.Series([3, 3, 7], index=[9, 8, 7]), 3)
        assert (codes[0] == codes[1], codes[0] == codes[2]) == (True, False)

    def test_wrong_number_of_sources_is_refused(self):
        with pytest.raises(ValueError, match="the source of each of the 3 rows"):
            PLKernelRidge().fit(np.zeros((3, 1)), np.ones((3, 2), dtype=bool), groups=["a", "b"])

    def test_runs_of_equal_sets_are_sources_and_random_sets_are_not(self):
        rng = np.random.default_rng(0)
        sets = rng.random((60, 8)) < 0.4
        sets[:, :2] = True
        runs = np.repeat(sets, 4, axis=0)
        codes = seen(runs)
        assert codes is not None
        assert all(len(set(codes[start : start + 4])) == 1 for start in range(0, 240, 4))
        assert seen(runs[rng.permutation(240)]) is None
        assert seen(sets) is None
        assert seen(np.ones((50, 3), dtype=bool)) is None, "one set for all is not a source"
        assert seen(np.eye(3, dtype=bool)[rng.integers(3, size=50)]) is None

    @pytest.mark.parametrize("make", [np.asarray, sparse.csr_array])
    def test_repeated_rows_are_not_a_source(self, make):
        sets = np.random.default_rng(0).random((60, 8)) < 0.4
        sets[:, :2] = True
        X = np.random.default_rng(1).normal(size=(60, 3))
        assert seen(np.repeat(sets, 4, axis=0), make(np.repeat(X, 4, axis=0))) is None
        each = np.arange(240, dtype=float)[:, None]
        assert seen(np.repeat(sets, 4, axis=0), make(each), (np.arange(240) % 4 == 0).astype(float)) is None
        assert seen(np.repeat(sets, 4, axis=0), make(each), (np.arange(240) % 2).astype(float)) is not None

    def test_given_sources_need_sets_that_are_equal_beyond_chance(self):
        rng = np.random.default_rng(0)
        of = rng.permutation(np.repeat(np.arange(40), 3))
        sets = (rng.random((40, 8)) < 0.4) | np.eye(8, dtype=bool)[rng.integers(8, size=40)]
        assert show_in_sets(of, sets[of])
        assert not show_in_sets(of, rng.permutation(sets[of]))
        assert not show_in_sets(of, np.ones((120, 8), dtype=bool)), "one set for all is not a source"
        assert not show_in_sets(np.arange(120), sets[of])
        assert not show_in_sets(of, np.eye(8, dtype=bool)[of % 8]), "nothing is ambiguous"

    def test_rows_of_weight_zero_count_as_one(self):
        np.testing.assert_array_equal(as_rows(np.array([0.0, 1, 3])), [1, 1, 3])
        np.testing.assert_array_equal(as_rows(np.array([0.0, 0.25, 0.75])), [0.5, 0.25, 0.75])
        np.testing.assert_array_equal(as_rows(np.zeros(2)), [1, 1])

    def test_sources_are_drawn_as_a_whole(self):
        sources = np.repeat(np.arange(20), 3)
        rows = draw_whole_sources(sources, np.arange(10, 60), 12, np.random.RandomState(0))
        inside = np.bincount(sources[rows], minlength=20)
        assert 10 <= len(rows) <= 12
        assert all(size in (0, (sources[10:] == number).sum()) for number, size in enumerate(inside))

    @pytest.mark.parametrize("seed", range(8))
    def test_too_large_sources_are_drawn_by_rows(self, seed):
        sources = np.repeat(np.arange(4), [3000, 3000, 3, 3])
        rows = draw_whole_sources(sources, np.arange(6006), 1500, np.random.RandomState(seed))
        assert len(rows) == 1500
        some = np.append(np.zeros(3000, dtype=int), np.arange(1, 2001))
        found = draw_whole_sources(some, np.arange(5000), 1500, np.random.RandomState(seed))
        assert len(found) == 1500
        assert found.min() >= 3000, "the others fit"


def pictures(seed, n=300):
    """Pictures of three to six digits, whose caption names them: X, sets, y, the picture of each row."""
    X, y = load_digits(return_X_y=True)
    rng = np.random.default_rng(seed)
    rows = rng.permutation(len(y))[:n]
    sizes = rng.integers(3, 7, size=n)
    of = np.repeat(np.arange(n), sizes)[:n]
    named = np.zeros((n, 10), dtype=bool)
    named[of, y[rows]] = True
    return X[rows] + rng.normal(scale=8, size=(n, X.shape[1])), named[of], y[rows], of


class TestModel:
    @pytest.mark.parametrize("named", [pytest.param(False, marks=pytest.mark.proof), True])
    def test_rows_of_one_picture_explain_each_other(self, named):
        """A hard row gets the label that the other rows of its image leave."""
        gains = []
        for seed in range(3):
            X, sets, y, of = pictures(seed)
            given = {"groups": of} if named else {}
            on, off = PLKernelRidge().fit(X, sets, **given), PLKernelRidge(set_mass=0).fit(X, sets, **given)
            assert off.set_mass_ == 0
            gains.append((on.transduction_ == y).mean() - (off.transduction_ == y).mean())
        assert min(gains) > -0.01
        assert np.mean(gains) > 0.01

    def test_held_out_rows_of_weight_zero_stay_in_their_source(self):
        """The whole picture tells more than its training rows alone, even about these rows."""
        X, sets, y, of = pictures(0)
        held = np.random.default_rng(0).random(len(X)) < 0.4
        alone = PLKernelRidge(set_mass=1.0).fit(X[~held], sets[~held], groups=of[~held])
        with_held = PLKernelRidge(set_mass=1.0).fit(X, sets, (~held).astype(float), groups=of)
        np.testing.assert_allclose(alone.rounds_.ridge.weights.sum(), with_held.rounds_.ridge.weights.sum())
        right = (with_held.transduction_ == y)[~held].mean()
        assert right > (alone.transduction_ == y[~held]).mean()
        apart = np.where(held, np.nan, of)  # rows without a source take no part
        without = PLKernelRidge(set_mass=1.0).fit(X, sets, (~held).astype(float), groups=apart)
        np.testing.assert_allclose(without.label_distributions_[~held], alone.label_distributions_, atol=1e-6)

    def test_folds_keep_rows_of_weight_zero_in_their_source_unscored(self):
        X, sets, _, of = pictures(0)
        held = np.random.default_rng(0).random(len(X)) < 0.4
        found = {}
        for mass in (0.0, 1.0):
            given = {"set_mass": mass, "scaling": None}
            alone = PLKernelRidge(**given).fit(X[~held], sets[~held], groups=of[~held])
            whole = PLKernelRidge(**given).fit(X, sets, (~held).astype(float), groups=of)
            found[mass] = alone.candidate_accuracy_, whole.candidate_accuracy_
        assert found[0.0][0] == found[0.0][1]
        assert found[1.0][0] != found[1.0][1], "they have a say in what their picture's other rows are"

    def test_row_order_does_not_affect_the_chosen_set_mass(self):
        X, sets, _, of = pictures(0)
        found = set()
        for seed in range(3):
            order = np.random.default_rng(seed).permutation(len(X))
            model = PLKernelRidge().fit(X[order], sets[order], groups=of[order])
            found.add((model.kernel_, model.alpha_, model.class_mass_, model.candidate_accuracy_))
        assert len(found) == 1

    def test_without_sources_the_model_is_identical_to_set_mass_zero(self):
        X, sets, _, _ = pictures(0)
        shuffled = np.random.default_rng(0).permutation(len(X))
        on = PLKernelRidge().fit(X[shuffled], sets[shuffled])
        off = PLKernelRidge(set_mass=0).fit(X[shuffled], sets[shuffled])
        assert on.set_mass_ == 0
        np.testing.assert_array_equal(on.label_distributions_, off.label_distributions_)

    def test_sets_determined_by_the_label_are_not_sources(self):
        """Rows sorted by class with the sets {y, y + 1} form runs too, but only ten of them."""
        y = load_digits().target
        order = np.argsort(y, kind="stable")[::3]
        sets = np.eye(10, dtype=bool)[y] | np.eye(10, dtype=bool)[(y + 1) % 10]
        assert seen(sets[order]) is None
        runs = np.repeat(np.random.default_rng(0).random((60, 10)) < 0.4, 5, axis=0)
        assert seen(runs | sets[order][:300]) is not None

    @pytest.mark.filterwarnings("ignore:More than 97")
    @settings(max_examples=10)
    @given(scenes(), st.booleans())
    def test_relabel_equals_a_fresh_fit_with_sources(self, scene, named):
        sources, imported, candidates, weights, _ = scene
        if not weights.any():
            return
        X = np.random.default_rng(0).normal(size=(len(sources), 3))
        given = {"groups": sources} if named else {}
        how = GIVEN | {"set_mass": 0.5}
        model = PLKernelRidge(**how).fit(X, imported, weights, **given)
        model.relabel(candidates, imported=imported)
        fresh = PLKernelRidge(**how).fit(X, candidates, weights, imported=imported, **given)
        np.testing.assert_array_equal(model.label_distributions_, fresh.label_distributions_)
        np.testing.assert_array_equal(model.effect_scores(), fresh.effect_scores())

    def test_set_masses_do_not_depend_on_the_scale_of_weights(self):
        X, sets, _, of = pictures(1)
        model = PLKernelRidge(**GIVEN, set_mass=1.0).fit(X, sets, groups=of)
        shares = PLKernelRidge(**GIVEN, set_mass=1.0).fit(X, sets, np.full(len(X), 1 / len(X)), groups=of)
        assert len(shares.rounds_.sources.rows) == len(model.rounds_.sources.rows) > 0
        np.testing.assert_allclose(shares.rounds_.sources.targets, model.rounds_.sources.targets)

    def test_sources_of_one_row_are_ignored(self):
        X, sets, _, _ = pictures(1)
        model = PLKernelRidge(**GIVEN, set_mass=1.0).fit(X, sets, groups=np.arange(len(X)))
        assert model.set_mass_ == 0

    def test_answer_affects_only_rows_of_its_picture(self):
        X, sets, y, of = pictures(1)
        model = PLKernelRidge(**GIVEN, set_mass=1.0).fit(X, sets, groups=of)
        row = int(np.flatnonzero(np.bincount(of)[of] > 3)[0])
        before = model.rounds_.sources
        model.update(row, np.eye(10, dtype=bool)[y[row]])
        after = model.rounds_.sources
        place = after.of[list(after.rows).index(row)]
        assert after.targets[place, y[row]] > before.targets[place, y[row]]
        assert np.array_equal(np.delete(after.targets, place, 0), np.delete(before.targets, place, 0))

    def test_class_scores_equal_one_more_round(self):
        X, sets, _, of = pictures(2)
        model = PLKernelRidge(**GIVEN, set_mass=1.0, max_iter=60).fit(X, sets, groups=of)
        rounds, prior = model.rounds_, prior_labels(sets)
        own = np.where(sets, rounds.class_scores(model.label_distributions_, prior), -np.inf)
        soft = np.exp(own - own.max(axis=1, keepdims=True))
        one_more = rounds.settle(prior, 1, model.label_distributions_).labels
        np.testing.assert_allclose(soft / soft.sum(axis=1, keepdims=True), one_more, atol=1e-9)

    def test_set_masses_round_trip_and_older_files_have_none(self):
        X, sets, _, of = pictures(2)
        model = PLKernelRidge(**GIVEN, set_mass=0.5).fit(X, sets, groups=of)
        arrays, prior = model.rounds_.to_arrays(), prior_labels(sets)
        again = Rounds.from_arrays(arrays)
        np.testing.assert_array_equal(again.settle(prior, 5).labels, model.rounds_.settle(prior, 5).labels)
        answered = model.rounds_.answered(np.eye(10, dtype=bool)[sets.argmax(axis=1)]).to_arrays()
        for name, one in arrays.items():
            np.testing.assert_array_equal(answered[name], one, err_msg=f"{name}: versions share the file")
        older = {name: one for name, one in arrays.items() if not name.startswith(("set_mass", "source"))}
        plain = PLKernelRidge(**GIVEN, set_mass=0).fit(X, sets)
        np.testing.assert_array_equal(
            Rounds.from_arrays(older).settle(prior, 5).labels, plain.rounds_.settle(prior, 5).labels
        )
