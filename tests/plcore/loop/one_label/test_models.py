"""Models trained elsewhere, the margin strategy, and blind checks."""

from __future__ import annotations

import numpy as np
import pytest

from plcore.compiling import STEPS
from plcore.evaluation.estimates import ControlCounts
from plcore.kernels.scores import margins, softmax_margins, softmax_rows
from plcore.loop.base import CONTROL
from plcore.loop.entries import Entry
from plcore.loop.one_label.learner import ActiveLearner
from plcore.loop.one_label.models import softmax_inside
from plcore.loop.one_label.pool import OneLabelPool
from plcore.loop.one_label.settings import LearnerSettings
from plcore.loop.one_label.training import Trainer, standardized_features
from plcore.loop.registry import MODEL_ENTRIES, Upkeep
from tests.plcore.loop.fake_table import blobs


def run(table, y, n=30, **settings):
    """A learner after n truthful answers, and its log."""
    learner, log = ActiveLearner(table, LearnerSettings(**settings)), []
    for seq in range(1, n + 1):
        question = learner.next_question("ann")
        if question is None:
            break
        log.append(Entry(seq, "is", question.row, "ann", (learner.classes[y[question.row]],)))
        learner.apply(log[-1])
    return learner, log


# Models trained elsewhere


TRAINED = sorted(name for name, one in MODEL_ENTRIES.items() if one.upkeep is Upkeep.TRAINED)


@pytest.mark.parametrize("model", TRAINED)
def test_version_depends_only_on_table_settings_and_log(model):
    table, y = blobs(n=120, truth="all")
    settings = LearnerSettings(model=model, strategy="margin")
    pool, again = OneLabelPool(table, settings), OneLabelPool(table, settings)
    trainer = Trainer(pool)
    first = trainer.train()
    rows = pool.train[pool.candidates[pool.train].sum(axis=1) >= 2][:15]
    log = [Entry(k + 1, "is", int(row), "ann", (table.classes[y[row]],)) for k, row in enumerate(rows)]
    for entry in log:
        pool.apply(entry)
        again.apply(entry)
    later, rebuilt = trainer.train(), Trainer(again).train()
    assert (first.number, later.number) == (0, 15)
    np.testing.assert_array_equal(later.scores, rebuilt.scores)
    assert later.point == rebuilt.point
    assert later.point.candidates_left < first.point.candidates_left
    assert later.point.accuracy >= 0.75


def test_current_model_is_used_until_the_next_version_is_published():
    table, y = blobs(n=120, truth="all")
    settings = LearnerSettings(model="plsvc", strategy="margin")
    learner, pool = ActiveLearner(table, settings), OneLabelPool(table, settings)
    trainer = Trainer(pool)
    start = learner.next_question("ann")
    assert start.predicted is None  # no model yet: even shares, and no accuracy
    assert len(set(start.probabilities)) == 1
    assert learner.progress().accuracy is None
    assert learner.version_published is None
    first = trainer.train()
    learner.publish(first.scores, [first.point])
    assert learner.version_published == 0
    question = learner.next_question("ann")
    shares = learner.label_distributions
    assert question.predicted == learner.classes[int(shares[question.row].argmax())]
    entry = Entry(1, "is", question.row, "ann", (learner.classes[y[question.row]],))
    learner.apply(entry)
    pool.apply(entry)
    assert learner.model_version == 0
    assert learner.next_question("ann").model_version == 0
    second = trainer.train()
    learner.publish(second.scores, [second.point])
    assert learner.model_version == 1
    assert [point.model_version for point in learner.curve] == [0, 1]
    assert learner.progress().accuracy == second.point.accuracy
    with pytest.raises(ValueError, match="after 1, in order"):
        learner.publish(second.scores, [second.point])
    with pytest.raises(ValueError, match="shape"):
        learner.publish(second.scores[:-1], [second.point.__class__(2, 1, None, 0.0, 0, 2)])
    with pytest.raises(ValueError, match="follows each answer"):
        ActiveLearner(table).publish(first.scores, [first.point])


def test_loading_all_versions_at_once_equals_publishing_them_in_turn():
    table, y = blobs(n=120, truth="all")
    settings = LearnerSettings(model="clpl", strategy="margin")
    live, pool = ActiveLearner(table, settings), OneLabelPool(table, settings)
    trainer, log, points = Trainer(pool), [], []
    for seq in range(25):
        if seq % 5 == 0:
            version = trainer.train()
            live.publish(version.scores, [version.point])
            points.append(version.point)
        row = live.next_question("ann").row
        log.append(Entry(seq + 1, "is", row, "ann", (live.classes[y[row]],)))
        live.apply(log[-1])
        pool.apply(log[-1])
    rebuilt = ActiveLearner(table, settings)
    for entry in log:
        rebuilt.apply(entry)
    rebuilt.publish(version.scores, points)
    assert rebuilt.curve == live.curve
    assert rebuilt.progress() == live.progress()
    assert rebuilt.next_question("ann") == live.next_question("ann")
    np.testing.assert_array_equal(rebuilt.disambiguate().labels, live.disambiguate().labels)


def test_trained_label_is_inside_candidates():
    table, y = blobs(n=120, truth="none")
    settings = LearnerSettings(model="lmplane", strategy="random")
    learner = ActiveLearner(table, settings)
    version = Trainer(OneLabelPool(table, settings)).train()
    learner.publish(version.scores, [version.point])
    result = learner.disambiguate()
    assert table.candidates[np.arange(len(y)), result.labels].all()
    assert set(result.sources) <= {"given", "model"}
    assert (result.labels == y).mean() > 0.85


def test_margin_asks_about_the_closest_best_two_labels():
    table, _ = blobs(n=120, truth="none")
    settings = LearnerSettings(model="plsvc", strategy="margin")
    learner = ActiveLearner(table, settings)
    version = Trainer(OneLabelPool(table, settings)).train()
    learner.publish(version.scores, [version.point])
    shares = softmax_inside(version.scores.astype(float), table.candidates)
    ordered = np.sort(shares, axis=1)
    gap = np.where(table.candidates.sum(axis=1) >= 2, ordered[:, -1] - ordered[:, -2], np.inf)
    question = learner.next_question("ann")
    assert question.row == gap.argmin()
    assert question.score == pytest.approx(1 - gap.min())
    rows, scores = learner.ranking()
    assert rows[0] == question.row
    assert (np.diff(scores) <= 0).all()


def test_margin_with_neighbours_is_updated_after_each_answer():
    table, y = blobs(n=120, truth="all")
    live, log = run(table, y, n=20, strategy="margin", n_neighbors=5)
    rebuilt = ActiveLearner(table, LearnerSettings(strategy="margin", n_neighbors=5))
    for entry in log:
        rebuilt.apply(entry)
    assert rebuilt.next_question("ann") == live.next_question("ann")


def test_effect_strategies_work_with_trained_models():
    table, _ = blobs(n=120, truth="all")
    settings = LearnerSettings(model="plsvc", strategy="apl", n_neighbors=5)
    assert ActiveLearner(table, settings).next_question("ann").row == (
        ActiveLearner(table, LearnerSettings(strategy="apl", n_neighbors=5)).next_question("ann").row
    )


def test_softmax_is_zero_outside_the_candidates():
    scores = np.array([[1.0, 2.0, 3.0], [-np.inf, -np.inf, 5.0], [900.0, 0.0, 0.0], [1.0, 1.0, 1.0]])
    sets = np.array([[1, 1, 0], [1, 1, 0], [1, 1, 1], [0, 0, 0]], dtype=bool)
    shares = softmax_inside(scores, sets)
    assert shares[0].tolist() == pytest.approx([1 / (1 + np.e), np.e / (1 + np.e), 0])
    assert shares[1].tolist() == [0.5, 0.5, 0]  # the model has never met either of them
    assert shares[2].tolist() == [1, 0, 0]
    assert shares[3].tolist() == [0, 0, 0]


def test_margins_computed_without_shares_match_those_from_shares():
    random = np.random.default_rng(0)
    scores, sets = random.normal(size=(500, 6)) * 3, random.random((500, 6)) < 0.5
    scores[random.random(scores.shape) < 0.2] = -np.inf  # classes that the model has never met
    rows = random.permutation(500)[:300]
    shares = np.sort(softmax_inside(scores, sets)[rows], axis=1)
    expected = shares[:, -1] - shares[:, -2]
    for dtype, tolerance in ((np.float64, 1e-12), (np.float32, 1e-6)):
        found = softmax_margins(scores.astype(dtype), sets, rows)
        np.testing.assert_allclose(found, expected, rtol=0, atol=tolerance)


@pytest.mark.parametrize("model", ["plknn", "clpl", "perceptron-max"])
def test_margins_are_updated_after_every_kind_of_entry(model):
    """Only the rows that an entry touches are looked at again; the queue is that of a learner which looks at all."""
    table, _ = blobs(n=120, truth="none")
    settings = LearnerSettings(model=model, strategy="margin", n_neighbors=5)
    live, log, random = ActiveLearner(table, settings), [], np.random.default_rng(4)
    version = Trainer(OneLabelPool(table, settings)).train() if settings.is_trained else None
    for seq in range(1, 61):
        if version is not None and seq == 31:
            live.publish(version.scores, [version.point])
        row = int(random.choice(live.ranking()[0]))
        choices = live.state(row).candidates
        kind = random.choice(["is", "not", "none", "bad", "unsure", "withdraw"])
        gone = {one.target for one in log}
        standing = [one for one in log if one.kind != "withdraw" and one.seq not in gone]
        if kind == "withdraw" and standing:
            one = standing[int(random.integers(len(standing)))]
            entry = Entry(seq, "withdraw", one.row, "ann", (), one.seq)
        elif kind in ("is", "not"):
            entry = Entry(seq, str(kind), row, "ann", choices[:1])
        elif kind == "none" and len(choices) == len(live.classes):
            entry = Entry(seq, "skip", row, "ann")
        else:
            entry = Entry(seq, "skip" if kind == "withdraw" else str(kind), row, "ann")
        live.apply(entry)
        log.append(entry)
        live.ranking()
    fresh = ActiveLearner(table, settings)
    for entry in log:
        fresh.apply(entry)
    if version is not None:
        fresh.publish(version.scores, [version.point])
    for mine, theirs in zip(live.ranking(), fresh.ranking(), strict=True):
        np.testing.assert_array_equal(mine, theirs)
    assert {one.kind for one in log} >= {"is", "not", "none", "bad", "unsure", "withdraw"}


@pytest.mark.parametrize("dtype", [np.float32, np.float64])
def test_equal_scores_give_even_shares_and_no_margin(dtype):
    nan, inf = np.nan, np.inf
    some = [[nan, 1, 2], [1, nan, 2], [1, 2, nan], [inf, 1, 2], [inf, inf, 2], [-inf] * 3, [nan] * 3]
    scores, rows = np.array(some, dtype=dtype), np.arange(len(some))
    every, alone, none = (np.zeros(scores.shape, dtype=bool) for _ in range(3))
    every[:], alone[:, 0] = True, True
    np.testing.assert_array_equal(softmax_inside(scores, every), np.full(scores.shape, 1 / 3))
    assert softmax_margins(scores, every, rows).tolist() == [0.0] * len(rows)
    np.testing.assert_array_equal(softmax_inside(scores, alone), alone)
    assert softmax_margins(scores, alone, rows).tolist() == [1.0] * len(rows)
    assert not softmax_inside(scores, none).any()
    assert not softmax_margins(scores, none, rows).any()
    # Labels outside the candidates do not count.
    assert softmax_margins(scores[:1], np.array([[False, True, True]]), rows[:1])[0] == pytest.approx(
        np.tanh(0.5), abs=1e-12
    )


def test_loading_a_version_compiles_no_margin_kernels(tmp_path):
    table, _ = blobs(n=120, truth="all")
    settings = LearnerSettings(model="plsvc", strategy="margin")
    learner, version = ActiveLearner(table, settings), Trainer(OneLabelPool(table, settings)).train()
    np.save(tmp_path / "1.npy", version.scores)
    dict(STEPS)["margins"]()
    known = [len(one.signatures) for one in (margins, softmax_margins, softmax_rows)]
    learner.publish(np.load(tmp_path / "1.npy", mmap_mode="r"), [version.point])
    assert learner.next_question("ann") is not None
    assert [len(one.signatures) for one in (margins, softmax_margins, softmax_rows)] == known


# Blind checks


def test_control_rows_are_a_seeded_share_and_never_train():
    table, _ = blobs(n=400, truth="none")
    drawn = [OneLabelPool(table, LearnerSettings(control_share=0.1, seed=seed)).control_rows for seed in range(200)]
    assert all(rows.sum() == 40 for rows in drawn)
    frequency = np.mean(drawn, axis=0)
    assert abs(frequency.mean() - 0.1) < 1e-12
    assert frequency.max() < 0.2  # 200 draws with probability 0.1: five standard deviations
    table, y = blobs(n=150, truth="none")
    learner, _ = run(table, y, n=200, control_share=0.2, n_neighbors=5)
    pool = learner.pool
    answered = pool.control_rows & pool.answered
    assert answered.sum() == (pool.control_rows & (table.candidates.sum(axis=1) >= 2)).sum()


def test_control_questions_have_known_probability_and_look_like_others():
    table, y = blobs(n=900, m=4, truth="none", q=0.6)
    learner, log = run(table, y, n=400, control_share=0.15, n_neighbors=5)
    share = np.mean([learner.pool.control_rows[entry.row] for entry in log])
    assert abs(share - 0.15) < 0.054  # three standard errors
    fresh = ActiveLearner(table, LearnerSettings(control_share=0.15, n_neighbors=5))
    for entry in log:
        if fresh.pool.control_is_due():
            break
        fresh.apply(entry)
    blind = fresh.next_question("ann")
    assert fresh.pool.control_rows[blind.row]
    assert blind.strategy == CONTROL
    assert blind.score == 0.15
    stand_in = fresh.question_for(int(fresh.pool.train[fresh._chooser._strategy.next(2)[1]]))
    assert (blind.decides, blind.undecided) == (stand_in.decides, stand_in.undecided)
    assert blind.predicted in blind.choices
    assert sum(blind.probabilities) == pytest.approx(1)


def test_control_counts_are_hits_on_answered_control_rows():
    table, y = blobs(n=300, truth="none", q=0.3)
    learner, _ = run(table, y, n=120, control_share=0.2, n_neighbors=5)
    pool, said = learner.pool, learner._model.said
    wanted = ControlCounts()
    counts = dict.fromkeys(("right_asked", "asked", "right_free", "free"), 0)
    for place, row in enumerate(pool.held):
        single = table.candidates[row].sum() == 1
        if not single and not pool.answered[row]:
            continue
        name = "free" if single else "asked"
        counts[name] += 1
        counts[f"right_{name}"] += int(said[place] == y[row])
    assert learner.progress().control == type(wanted)(**counts)
    assert counts["asked"] > 10
    assert counts["free"] > 10


def test_without_control_share_no_controls_are_drawn():
    table, y = blobs(n=90, truth="all")
    learner, log = run(table, y, n=30, n_neighbors=5)
    assert not learner.pool.control_rows.any()
    assert learner.progress().control == ControlCounts()
    assert CONTROL not in {learner.question_for(entry.row).strategy for entry in log}
    assert len(log) == 30


# Online models


ONLINE_NAMES = sorted(name for name, one in MODEL_ENTRIES.items() if one.upkeep is Upkeep.ONLINE)


def same_state(one, other):
    assert one.progress() == other.progress()
    np.testing.assert_array_equal(one.label_distributions, other.label_distributions)
    assert one.next_question("ann") == other.next_question("ann")


@pytest.mark.parametrize("model", ONLINE_NAMES)
def test_online_model_learns_each_answer_immediately(model):
    table, y = blobs(n=200, truth="all")
    settings = {"model": model, "strategy": "margin"}
    live, log = run(table, y, n=40, **settings)
    assert live.model_version == 40
    rebuilt = ActiveLearner(table, LearnerSettings(**settings))
    for entry in log:
        rebuilt.apply(entry)
    same_state(rebuilt, live)
    assert live.curve == rebuilt.curve
    # Ten lines of NumPy: the same passes, then one round for each answer.
    pool = OneLabelPool(table, LearnerSettings(**settings))
    X = standardized_features(pool)
    plain = MODEL_ENTRIES[model].make().fit(X[pool.train], pool.first[pool.train])
    wrong = []
    for entry in log:
        sets = np.eye(4, dtype=bool)[[y[entry.row]]]
        wrong.append(plain.predict(X[[entry.row]])[0] != y[entry.row])
        plain.partial_fit(X[[entry.row]], sets)
    assert live.curve[-1].progressive_error == np.mean(wrong)
    held = plain.predict(X[pool.held])
    assert live.progress().accuracy == np.mean(held == y[pool.held])


@pytest.mark.parametrize("model", ONLINE_NAMES)
def test_undo_and_correction_equal_learning_the_current_answers_only(model):
    table, y = blobs(n=200, truth="all")
    settings = LearnerSettings(model=model, strategy="margin")
    learner, log = run(table, y, n=12, model=model, strategy="margin")
    undone, corrected, bad = log[3], log[5], log[7]
    others = [k for k in np.flatnonzero(table.candidates[corrected.row]) if k != y[corrected.row]]
    late = [
        Entry(13, "withdraw", undone.row, "ann", (), 4),
        Entry(14, "is", corrected.row, "ann", (learner.classes[others[0]],)),
        Entry(15, "bad", bad.row, "ann"),
    ]
    for entry in late:
        learner.apply(entry)
    fresh = ActiveLearner(table, settings)
    standing = [entry for entry in log if entry not in (undone, corrected, bad)] + late[1:]
    for entry in standing:
        fresh.apply(entry)
    np.testing.assert_array_equal(learner.label_distributions, fresh.label_distributions)
    assert learner.curve[-1].progressive_error == fresh.curve[-1].progressive_error
    learner.apply(Entry(16, "withdraw", bad.row, "ann", (), 15))
    learner.apply(Entry(17, "withdraw", corrected.row, "ann", (), 14))
    plain = ActiveLearner(table, settings)
    for entry in log:
        if entry != undone:
            plain.apply(entry)
    np.testing.assert_array_equal(learner.label_distributions, plain.label_distributions)


def test_all_rows_can_be_bad():
    table, _ = blobs(n=12, truth="none")
    learner = ActiveLearner(table, LearnerSettings(model="perceptron-max", strategy="margin"))
    for row in range(12):
        learner.apply(Entry(row + 1, "bad", row, "ann"))
    assert learner.next_question("ann") is None
    assert learner.done


@pytest.mark.parametrize("model", ONLINE_NAMES)
def test_repeated_answer_and_detour_leave_no_trace(model):
    table, y = blobs(n=200, truth="all")
    settings = LearnerSettings(model=model, strategy="margin")
    learner, log = run(table, y, n=8, model=model, strategy="margin")
    first, other = log[2], log[5]
    late = [
        Entry(9, "is", first.row, "bob", first.labels),  # again, by someone else
        Entry(10, "withdraw", other.row, "ann", (), other.seq),
        Entry(11, "withdraw", first.row, "ann", (), first.seq),  # now bob's is the one that counts
    ]
    for entry in late:
        learner.apply(entry)
        fresh = ActiveLearner(table, settings)
        for one in (*log, *late[: late.index(entry) + 1]):
            fresh.apply(one)
        np.testing.assert_array_equal(learner.label_distributions, fresh.label_distributions)
    plain = ActiveLearner(table, settings)
    for entry in (*(one for one in log if one not in (first, other)), late[0]):
        plain.apply(entry)
    np.testing.assert_array_equal(learner.label_distributions, plain.label_distributions)


def test_control_answer_changes_only_the_version_number():
    table, y = blobs(n=200, truth="none", q=0.6)
    learner = ActiveLearner(table, LearnerSettings(control_share=0.2, n_neighbors=5))
    row = int(learner.pool.control_left()[0])
    before = learner.label_distributions
    learner.apply(Entry(1, "is", row, "ann", (learner.classes[y[row]],)))
    assert learner.model_version == 1, "else the version on the screen would tell which question was blind"
    after = learner.label_distributions
    np.testing.assert_array_equal(after[~learner.pool.control_rows], before[~learner.pool.control_rows])


@pytest.mark.parametrize("model", ["plknn", "plsvc", *ONLINE_NAMES])
def test_answers_to_control_rows_never_reach_the_model(model):
    """Not even through later answers, which make an online model replay its rounds."""
    table, y = blobs(n=150, truth="none", q=0.6)
    strategy = "margin" if model == "plsvc" else "apl"
    settings = LearnerSettings(control_share=0.3, n_neighbors=5, model=model, strategy=strategy)
    learners = [ActiveLearner(table, settings) for _ in range(2)]
    pool, asked = learners[0].pool, []
    for seq in range(1, 41):
        control = seq % 3 == 0
        rows = pool.control_left() if control else pool.train[pool.sizes[pool.train] >= 2]
        row = int(rows[0])
        wrong = next(k for k in np.flatnonzero(table.candidates[row]) if k != y[row])
        for learner, label in zip(learners, (y[row], wrong if control else y[row]), strict=True):
            learner.apply(Entry(seq, "is", row, "ann", (learner.classes[label],)))
        asked += [row] if control else []
    # A correction takes an online model back to its start.
    first = int(np.flatnonzero(pool.answered & ~pool.control_rows)[0])
    for learner in learners:
        learner.apply(Entry(41, "bad", first, "ann"))
    assert pool.control_rows[asked].all()
    assert len(asked) == 13
    if model == "plsvc":
        told = [Trainer(learner.pool).train().scores for learner in learners]
    else:
        told = [learner.label_distributions[~pool.control_rows] for learner in learners]
        said = [learner._model.said for learner in learners]
        np.testing.assert_array_equal(*said)
        errors = [learner.curve[-1].progressive_error for learner in learners]
        assert errors[0] == errors[1]
    np.testing.assert_array_equal(*told)


def test_features_of_all_models_are_fitted_on_training_rows_only():
    table, _ = blobs(n=150)
    pool = OneLabelPool(table, LearnerSettings(control_share=0.2, model="plsvc", strategy="margin"))
    X = standardized_features(pool)
    np.testing.assert_array_equal(table.made[-1].fitted_rows, pool.train)
    np.testing.assert_allclose(X[pool.train].mean(axis=0), 0, atol=1e-12)
    assert (np.abs(X[pool.held].mean(axis=0)) > 1e-3).any()


def test_skipped_control_rows_wait_for_the_others():
    table, _ = blobs(n=300, truth="none", q=0.6)
    learner = ActiveLearner(table, LearnerSettings(control_share=0.3, n_neighbors=5))
    asked = []
    for seq in range(1, 61):
        question = learner.next_question("ann")
        if learner.pool.control_rows[question.row]:
            asked.append(question.row)
            learner.apply(Entry(seq, "skip", question.row, "ann"))
        else:
            learner.apply(Entry(seq, "is", question.row, "ann", question.choices[:1]))
    assert len(asked) > 10
    assert len(set(asked)) == len(asked), "each is skipped once before any comes again"


def test_control_rows_are_never_exact_and_bad_rows_never_train():
    table, _ = blobs(n=200, truth=0.5)
    settings = LearnerSettings(control_share=0.3, truth_role="given", model="plsvc", strategy="margin")
    pool = OneLabelPool(table, settings)
    assert pool.exact.any()
    assert not (pool.control_rows & pool.exact).any()
    # A control row is judged by its answer, not by the truth in the table.
    hidden = OneLabelPool(table, LearnerSettings(control_share=0.3, test_share=0.0))
    ambiguous = hidden.control_rows[hidden.held] & (table.candidates[hidden.held].sum(axis=1) >= 2)
    assert (hidden.known()[ambiguous] == -1).all()
    trained = Trainer(pool)
    before = trained.train().scores
    rows = [int(row) for row in pool.train if pool.sizes[row] >= 2][:30]
    for seq, row in enumerate(rows, start=1):
        pool.apply(Entry(seq, "bad", row, "ann"))
    kept = np.setdiff1d(pool.train, rows)
    X = standardized_features(pool)
    plain = MODEL_ENTRIES["plsvc"].make().fit(X[kept], pool.candidates[kept])
    after = trained.train().scores
    np.testing.assert_allclose(after, plain.decision_function(X), rtol=1e-5, atol=1e-6)
    assert not np.allclose(before, after)


def test_model_key_depends_on_the_drawn_rows():
    base = LearnerSettings(model="plsvc")
    others = [
        LearnerSettings(model="plsvc", **{name: value})
        for name, value in (("C", 2.0), ("test_share", 0.2), ("control_share", 0.1), ("seed", 1))
    ]
    keys = {one.model_key for one in (base, *others)}
    assert len(keys) == 5
    assert base.model_key == LearnerSettings(model="plsvc", train_every=9, strategy="margin").model_key
    assert LearnerSettings(model="plsvc", C=1).model_key == LearnerSettings(model="plsvc", C=1.0).model_key


@pytest.mark.parametrize("model", ["plknn", "perceptron-average", "kernelridge"])
def test_shares_of_many_rows_match_those_of_questions(model: str) -> None:
    table, y = blobs()
    learner, _ = run(table, y, n=8, model=model, control_share=0.2)
    rows = np.flatnonzero(learner.pool.asked.waiting() & ~learner.test_rows)
    inside = learner.candidates[rows]
    shares = learner.shares_asked(rows, inside)
    for row, own, said in zip(rows.tolist(), inside, shares, strict=True):
        assert tuple(said[own].tolist()) == learner.question_for(row).probabilities
        assert not said[~own].any()
