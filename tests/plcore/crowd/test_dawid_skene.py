"""Dawid-Skene inside candidates: against plain loops, against crowd-kit, and what must hold of any votes."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pandas as pd
import pytest
from hypothesis import given
from hypothesis import strategies as st
from sklearn.base import clone
from sklearn.exceptions import NotFittedError

from plcore.crowd import DawidSkene, majority
from plcore.crowd import dawid_skene as module
from plcore.crowd.dawid_skene import PRIORS, even, run_rounds, shares_of_votes, sort_votes
from plcore.labels import CandidateError
from tests.plcore.crowd.crowd_kit import ANSWERS, CLASSES, PEOPLE, ROUNDS, ROWS, some_votes
from tests.plcore.crowd.plain_em import plain_evidence, plain_fit

N, M = 6, 4


@st.composite
def crowds(draw):
    """votes {(row, who): set}, candidates [set]: small crowds, some with set votes or rows without votes."""
    sets = st.sets(st.integers(0, M - 1), min_size=1)
    votes = draw(st.dictionaries(st.tuples(st.integers(0, N - 1), st.integers(0, 3)), sets, min_size=1, max_size=14))
    return votes, draw(st.lists(sets, min_size=N, max_size=N))


def arrays(votes, candidates):
    rows, who = (np.array([key[place] for key in votes], dtype=np.int64) for place in (0, 1))
    masks = np.array([[c in said for c in range(M)] for said in votes.values()])
    return rows, who, masks, np.array([[c in inside for c in range(M)] for inside in candidates])


def simulate(rng, n=400, m=4, people=8, overlap=3, accuracy=(0.5, 0.95)):
    right = rng.uniform(*accuracy, people)
    y = rng.integers(m, size=n)
    rows = np.repeat(np.arange(n), overlap)
    who = np.concatenate([rng.permutation(people)[:overlap] for _ in range(n)])
    said = np.where(rng.random(len(rows)) < right[who], y[rows], rng.integers(m, size=len(rows)))
    return y, right, rows, who, said


@given(crowds(), st.sampled_from([0.3, 1.0]), st.integers(1, 5))
def test_fit_matches_plain_loops(crowd, strength, rounds):
    votes, candidates = crowd
    model = DawidSkene(strength, max_iter=rounds).fit_masks(*arrays(votes, candidates))
    found, masses, theta, pooled, history = plain_fit(votes, candidates, M, strength, rounds)
    if model.converged_ or model.n_iter_ < rounds:
        return  # it stopped earlier, when further rounds no longer change anything visible
    np.testing.assert_allclose(model.objective_, history, rtol=0, atol=1e-6)
    np.testing.assert_allclose(model.label_distributions_, found, atol=1e-4)
    np.testing.assert_allclose(model.class_masses_, masses, atol=1e-4)
    np.testing.assert_allclose(model.pooled_confusion_, pooled, atol=1e-4)
    for who, matrix in theta.items():
        np.testing.assert_allclose(model.confusion_[who], matrix, atol=1e-4)


@pytest.mark.parametrize("strength", [0.3, 1.0])
def test_two_rounds_match_plain_loops_to_the_last_digits(strength):
    """Two rounds: the fit never ends after the first."""
    rng = np.random.default_rng(3)
    votes = {
        (row, who): set(rng.choice(M, rng.integers(1, M), replace=False).tolist())
        for row in range(5)
        for who in rng.permutation(4)[:3].tolist()
    }
    candidates = [set(rng.choice(M, rng.integers(2, M + 1), replace=False).tolist()) for _ in range(N)]
    model = DawidSkene(strength, max_iter=2).fit_masks(*arrays(votes, candidates))
    found, masses, theta, pooled, history = plain_fit(votes, candidates, M, strength, 2)
    np.testing.assert_allclose(model.objective_, history, rtol=1e-12)
    np.testing.assert_allclose(model.label_distributions_, found, atol=1e-12)
    np.testing.assert_allclose(model.class_masses_, masses, atol=1e-12)
    np.testing.assert_allclose(model.pooled_confusion_, pooled, atol=1e-12)
    for who, matrix in theta.items():
        np.testing.assert_allclose(model.confusion_[who], matrix, atol=1e-12)


def test_without_prior_it_matches_crowd_kit():
    model = DawidSkene(prior_strength=0, max_iter=ROUNDS).fit(some_votes())
    assert model.classes_.tolist() == list(range(CLASSES))
    assert model.annotators_ == tuple(range(PEOPLE))
    told = np.loadtxt(ANSWERS)
    assert told.shape == (ROWS, CLASSES)
    np.testing.assert_allclose(model.label_distributions_, told, atol=1e-7)


@given(crowds(), st.sampled_from([0.1, 1.0, 3.0]))
def test_invariants_hold_for_any_votes(crowd, strength):
    votes, candidates = crowd
    rows, who, masks, matrix = arrays(votes, candidates)
    model = DawidSkene(strength).fit_masks(rows, who, masks, matrix)
    assert model.n_iter_ == len(model.objective_) <= 100
    found = model.label_distributions_
    assert (found[~matrix] == 0).all()
    np.testing.assert_allclose(found.sum(axis=1), 1)
    without = ~np.isin(np.arange(N), rows)
    np.testing.assert_array_equal(found[without], even(matrix)[without])
    assert set(model.confusion_) == set(who.tolist())
    for confusion in (*model.confusion_.values(), model.pooled_confusion_):
        np.testing.assert_allclose(confusion.sum(axis=1), 1)
    np.testing.assert_array_equal(model.posterior_masks(rows, who, masks, matrix), found)


@given(crowds(), st.randoms(use_true_random=False))
def test_order_of_votes_people_and_rows_changes_nothing(crowd, random):
    votes, candidates = crowd
    rows, who, masks, matrix = arrays(votes, candidates)
    model = DawidSkene().fit_masks(rows, who, masks, matrix)
    order = random.sample(range(len(rows)), len(rows))
    again = DawidSkene().fit_masks(rows[order], who[order], masks[order], matrix)
    np.testing.assert_array_equal(again.label_distributions_, model.label_distributions_)
    names, places = (np.array(random.sample(range(size), size)) for size in (4, N))
    moved = np.empty_like(matrix)
    moved[places] = matrix
    # Sums in another order differ in the last digits, and might end the rounds one earlier.
    one, other = (
        DawidSkene(max_iter=3).fit_masks(*parts)
        for parts in ((rows, who, masks, matrix), (places[rows], names[who], masks, moved))
    )
    np.testing.assert_allclose(other.label_distributions_[places], one.label_distributions_, atol=1e-5)
    for person, confusion in one.confusion_.items():
        np.testing.assert_allclose(other.confusion_[names[person]], confusion, atol=1e-5)


@given(crowds())
def test_full_candidate_sets_equal_no_candidates(crowd):
    votes = [(row, who, said) for (row, who), said in crowd[0].items()]
    classes = sorted({name for _, _, said in votes for name in said})
    rows = max(row for row, _, _ in votes) + 1
    free = pd.DataFrame(np.ones((rows, len(classes)), dtype=bool), columns=classes)
    model, other = DawidSkene().fit(votes), DawidSkene().fit(votes, free)
    np.testing.assert_array_equal(model.label_distributions_, other.label_distributions_)
    assert model.classes_.tolist() == other.classes_.tolist()


@given(st.lists(st.tuples(st.integers(0, M - 1), st.sets(st.integers(0, M - 1), min_size=1)), min_size=1))
def test_one_annotator_alone_is_believed(rows):
    """An answer inside the candidates is the likeliest class, however often the others were named."""
    votes = [(row, "a", said) for row, (said, _) in enumerate(rows)]
    inside = pd.DataFrame([[c in others | {said} for c in range(M)] for said, others in rows], columns=range(M))
    model = DawidSkene(max_iter=1).fit(votes, inside)
    assert model.label_distributions_.argmax(axis=1).tolist() == [said for said, _ in rows]


def test_good_people_outweigh_majority_of_guessers():
    """Three guessers against two experts: the majority is often wrong, the model is not."""
    rng = np.random.default_rng(0)
    y, _, rows, who, said = simulate(rng, people=5, overlap=5)
    said = np.where(who < 2, np.where(rng.random(len(said)) < 0.95, y[rows], said), rng.integers(4, size=len(said)))
    votes = list(zip(rows.tolist(), who.tolist(), said.tolist(), strict=True))
    model = DawidSkene().fit(votes)
    right = (model.label_distributions_.argmax(axis=1) == y).mean()
    assert right > 0.93
    assert right > (majority(votes) == y).mean() + 0.1
    assert model.confusion_[0].diagonal().min() > 0.85
    assert model.confusion_[4].diagonal().mean() < 0.4


def test_confusions_are_found():
    rng = np.random.default_rng(1)
    y, right, rows, who, said = simulate(rng, n=4000)
    model = DawidSkene().fit_masks(rows, who, np.eye(4, dtype=bool)[said], np.ones((4000, 4), dtype=bool))
    expected = right + (1 - right) / 4
    found = np.array([model.confusion_[person].diagonal().mean() for person in range(8)])
    np.testing.assert_allclose(found, expected, atol=0.05)
    assert model.converged_
    assert (model.label_distributions_.argmax(axis=1) == y).mean() > 0.85


def test_annotator_with_few_votes_gets_the_pooled_matrix():
    rng = np.random.default_rng(2)
    _, _, rows, who, said = simulate(rng, accuracy=(0.9, 0.9))
    votes = [*zip(rows.tolist(), who.tolist(), said.tolist(), strict=True), (0, 99, int(said[0]))]
    model = DawidSkene().fit(votes)
    assert np.abs(model.confusion_[99] - model.pooled_confusion_).max() < 0.1
    assert np.abs(model.confusion_[99] - model.pooled_confusion_).max() > 0
    strong = DawidSkene(prior_strength=1e6).fit(votes)
    coin = np.where(np.eye(4, dtype=bool), 0.8, 0.2 / 3)
    np.testing.assert_allclose(strong.confusion_[3], coin, atol=1e-3)


def test_set_vote_sums_over_its_members():
    votes = [(0, "a", "x"), (0, "b", {"x", "y"}), (1, "a", "y"), (1, "b", "y"), (2, "a", "z"), (2, "b", ["z", "x"])]
    model = DawidSkene().fit(votes)
    theta = model.confusion_
    joint = model.class_masses_ * theta["a"][:, 0] * theta["b"][:, [0, 1]].sum(axis=1)
    np.testing.assert_allclose(model.label_distributions_[0], joint / joint.sum())


def test_posterior_of_one_row_uses_the_fitted_parameters():
    model = DawidSkene().fit(some_votes())
    seen = [vote for vote in some_votes() if vote[0] == 0]
    np.testing.assert_allclose(model.posterior(seen)[0], model.label_distributions_[0], atol=1e-12)
    theta = model.pooled_confusion_
    joint = model.class_masses_ * theta[:, 1] * theta[:, 2]
    strangers = model.posterior([(0, 77, 1), (0, 78, 2)])
    np.testing.assert_allclose(strangers[0], joint / joint.sum())
    masks = np.eye(CLASSES, dtype=bool)[[1, 2]]
    both = model.posterior_masks(np.zeros(2, int), np.array([77, 78]), masks, np.ones((2, CLASSES), dtype=bool))
    np.testing.assert_array_equal(both[0], strangers[0])
    np.testing.assert_array_equal(both[1], np.full(CLASSES, 1 / CLASSES))
    inside = pd.DataFrame([[True, True, False, False]], columns=range(CLASSES))
    assert (model.posterior([(0, 77, 1)], inside)[0, 2:] == 0).all()
    with pytest.raises(ValueError, match="there is no class 9"):
        model.posterior([(0, 1, 9)])
    with pytest.raises(ValueError, match="the classes that were fitted"):
        model.posterior([(0, 1, 1)], np.ones((1, 7), dtype=bool))


def test_posterior_accepts_candidates_in_any_form():
    columns = ["wren", "emu", "kea"]
    votes = [(0, "a", "wren"), (1, "a", "kea"), (1, "b", "emu"), (2, "b", "emu")]
    model = DawidSkene().fit(votes, pd.DataFrame(np.ones((3, 3), dtype=bool), columns=columns))
    expected = model.posterior([(0, "c", "emu")], pd.DataFrame([[0, 1, 1]], columns=columns))
    assert expected[0, 0] == 0
    for same in ([{"emu", "kea"}], np.array([[False, True, True]])):
        np.testing.assert_array_equal(model.posterior([(0, "c", "emu")], same), expected)
    with pytest.raises(ValueError, match="the classes that were fitted"):
        model.posterior([(0, "c", "emu")], [{"emu", "owl"}])


def test_last_vote_of_a_person_on_a_row_counts():
    votes = some_votes()
    row, who, said = votes[0]
    changed = [(row, who, (said + 1) % CLASSES), *votes]
    one, other = DawidSkene().fit(votes), DawidSkene().fit(changed)
    np.testing.assert_array_equal(one.label_distributions_, other.label_distributions_)
    rows, people, labels = (np.array(part) for part in zip(*changed, strict=True))
    free = np.ones((ROWS, CLASSES), dtype=bool)
    again = DawidSkene().fit_masks(rows, people, np.eye(CLASSES, dtype=bool)[labels], free)
    np.testing.assert_array_equal(again.label_distributions_, one.label_distributions_)
    assert again.posterior_masks(rows, people, np.eye(CLASSES, dtype=bool)[labels], free).shape == (ROWS, CLASSES)


def test_candidates_outvote_everyone():
    """Votes outside the candidates only change which candidate is likelier."""
    model = DawidSkene().fit([(0, "a", "x"), (0, "b", "x"), (1, "a", "y")], [{"y", "z"}, {"x", "y", "z"}])
    assert model.label_distributions_[0, 0] == 0
    assert model.label_distributions_[0].sum() == pytest.approx(1)


def test_model_follows_the_scikit_learn_interface():
    model = clone(DawidSkene(prior_strength=2.0, max_iter=7, random_state=3))
    assert model.get_params() == {"prior_strength": 2.0, "max_iter": 7, "random_state": 3}
    assert model.fit([(0, "a", "x"), (1, "a", "y")]) is model
    assert clone(model).fit([(0, "a", "only")]).label_distributions_.tolist() == [[1.0]]
    with pytest.raises(NotFittedError):
        DawidSkene().posterior([(0, "a", "x")])


def test_many_votes_on_one_row_do_not_underflow():
    model = DawidSkene().fit([(0, who, who % 2) for who in range(4001)])
    assert np.isfinite(model.label_distributions_).all()
    assert np.isfinite(model.objective_).all()


def test_invalid_arguments_are_refused(monkeypatch):
    one = np.zeros(1, dtype=int)
    mask, free = np.eye(2, dtype=bool)[:1], np.ones((1, 2), dtype=bool)
    with pytest.raises(ValueError, match="prior_strength must be a number of at least 0"):
        DawidSkene(prior_strength=-1).fit_masks(one, one, mask, free)
    with pytest.raises(ValueError, match="max_iter must be an int of at least 1"):
        DawidSkene(max_iter=0).fit_masks(one, one, mask, free)
    with pytest.raises(ValueError, match="rows must be whole numbers"):
        DawidSkene().fit_masks(one + 0.5, one, mask, free)
    with pytest.raises(ValueError, match="must match"):
        DawidSkene().fit_masks(one, one, mask, np.ones((1, 3), dtype=bool))
    with pytest.raises(ValueError, match=r"Vote 0: the row must be in 0\.\.0"):
        DawidSkene().fit_masks(one + 4, one, mask, free)
    with pytest.raises(ValueError, match="0 classes"):
        DawidSkene().fit_masks(one, one, ~(mask | ~mask), free)
    with pytest.raises(CandidateError, match="row 0"):
        DawidSkene().fit_masks(one, one, mask, ~free)
    monkeypatch.setattr(module, "MOST_CELLS", 7)
    with pytest.raises(ValueError, match="1 annotators with 2 classes are 8 cells"):
        DawidSkene().fit_masks(one, one, mask, free)


def test_vote_shares_match_known_values():
    votes = sort_votes(np.array([2, 0]), np.array([0, 0]), np.array([[1, 1, 0], [0, 0, 1]], dtype=bool), 3)
    assert votes.voted.tolist() == [True, False, True]
    inside = np.array([[1, 1, 0], [1, 0, 1], [0, 1, 1]], dtype=bool)
    assert shares_of_votes(votes, inside).tolist() == [[0.5, 0.5, 0], [0.5, 0, 0.5], [0, 1, 0]]


def test_model_restored_from_parameters_gives_the_same_posteriors():
    rng = np.random.default_rng(0)
    rows, people = np.repeat(np.arange(20), 3), np.tile([2, 5, 9], 20)
    masks = np.eye(3, dtype=bool)[rng.integers(3, size=60)]
    candidates = np.ones((20, 3), dtype=bool)
    fitted = DawidSkene().fit_masks(rows, people, masks, candidates)
    again = DawidSkene.from_parameters(
        fitted.annotators_, **{name: one.copy() for name, one in fitted.parameters().items()}
    )
    strangers = np.where(people == 9, 4, people)
    for who in (people, strangers):
        np.testing.assert_array_equal(
            again.posterior_masks(rows, who, masks, candidates), fitted.posterior_masks(rows, who, masks, candidates)
        )
    np.testing.assert_array_equal(again.confusion_[5], fitted.confusion_[5])
    assert not hasattr(again, "label_distributions_")


@pytest.mark.parametrize("strength", [0.3, 1.0])
@pytest.mark.parametrize(("shrinkage", "shared"), PRIORS)
def test_evidence_matches_plain_loops(strength, shrinkage, shared):
    _, _, rows, who, said = simulate(np.random.default_rng(0))
    votes, free = sort_votes(rows, who, np.eye(4, dtype=bool)[said], 400), np.ones((400, 4), dtype=bool)
    found = run_rounds(votes, free, 8, strength, shrinkage, 100, shared=shared)
    each = dict(zip(zip(rows.tolist(), who.tolist(), strict=True), said.tolist(), strict=True))
    expected = plain_evidence(each, found.distributions, 4, strength, shrinkage, shared)
    assert found.evidence == pytest.approx(expected, abs=1e-6)


def test_vote_for_all_classes_carries_no_information():
    """The evidence is a bound: such a vote lowers it by less than log 4."""
    _, _, rows, who, said = simulate(np.random.default_rng(0))
    masks = np.eye(4, dtype=bool)[said]
    free = np.ones((400, 4), dtype=bool)
    without = run_rounds(sort_votes(rows, who, masks, 400), free, 8, 1.0, 20.0, 100)
    rows, who = np.append(rows, 0), np.append(who, 8)
    masks = np.vstack([masks, np.ones((1, 4), dtype=bool)])
    asked = run_rounds(sort_votes(rows, who, masks, 400), free, 9, 1.0, 20.0, 100)
    np.testing.assert_allclose(asked.distributions, without.distributions, atol=1e-5)
    assert -np.log(4) < asked.evidence - without.evidence < 1e-3


@pytest.mark.parametrize(
    ("mistakes", "best"), [("even", (np.inf, False)), ("own", (20, False)), ("shared", (20, True))]
)
def test_prior_with_the_highest_evidence_beats_the_worst(mistakes, best):
    """A coin fits best if people err evenly, own matrices if each makes different mistakes, and the matrix
    of all where all take the same classes for each other."""
    rng, m, people = np.random.default_rng(1), 5, 8
    y = rng.integers(m, size=1000)
    rows, who = np.repeat(np.arange(1000), 3), np.tile(np.arange(people), 375)
    right = rng.uniform(0.5, 0.9, people)[who]
    taken_for = rng.dirichlet(np.full(m - 1, 0.5), (people, m)).cumsum(axis=2)
    drawn = 1 + (taken_for[who, y[rows]] < rng.random((len(rows), 1))).sum(axis=1).clip(max=m - 2)
    off = {"even": rng.integers(1, m, size=len(rows)), "own": drawn, "shared": np.ones(len(rows), dtype=int)}
    said = np.where(rng.random(len(rows)) < right, y[rows], (y[rows] + off[mistakes]) % m)
    masks, free = np.eye(m, dtype=bool)[said], np.ones((1000, m), dtype=bool)
    model = DawidSkene().fit_masks(rows, who, masks, free)
    assert (model.shrinkage_, model.shared_) == best
    votes = sort_votes(rows, who, masks, 1000)
    fits = [run_rounds(votes, free, people, 1.0, one[0], 100, shared=one[1]) for one in PRIORS]
    accuracy = [float((fit.distributions.argmax(axis=1) == y).mean()) for fit in fits]
    assert (model.label_distributions_.argmax(axis=1) == y).mean() == accuracy[PRIORS.index(best)]
    assert accuracy[PRIORS.index(best)] > min(accuracy)


# The anaesthetists of Dawid and Skene (1979): five grade 45 patients, the first of them three times.


VOTES = [
    (row, person, int(grade))
    for row, line in enumerate(Path(__file__).with_name("anaesthetists.txt").read_text().splitlines())
    for person, grade in enumerate(line.replace(" ", ""))
]


def test_masses_match_the_published_answer_and_the_default_prior_keeps_the_rare_class():
    plain, model = DawidSkene(prior_strength=0, max_iter=1000).fit(VOTES), DawidSkene().fit(VOTES)
    for one, within in ((plain, 6e-4), (model, 5e-3)):
        np.testing.assert_allclose(one.class_masses_, [0.422, 0.401, 0.111, 0.067], atol=within)
    labels = [one.label_distributions_.argmax(axis=1) for one in (plain, model)]
    assert labels[1].tolist() == labels[0].tolist()
    assert model.shared_, "doctors take a grade for the one next to it"


def test_perfect_annotator_is_believed_on_a_rare_class():
    """Two in a hundred rows are of class 2, and both people always name it."""
    truth = [0] * 49 + [1] * 49 + [2] * 2
    model = DawidSkene().fit([(row, who, one) for row, one in enumerate(truth) for who in "ab"])
    assert model.label_distributions_.argmax(axis=1).tolist() == truth
    assert model.confusion_["a"][2, 2] > 0.9
