"""The multi-label loop: live == rebuilt, whenever a fit finished; held-out cells are never learnt or asked about."""

from __future__ import annotations

import json

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy import sparse

from plcore import AnswerError, Entry
from plcore.loop.label_vectors import learner
from plcore.loop.label_vectors.learner import MATRICES, LabelVectorLearner, check_fit
from plcore.loop.label_vectors.pool import LabelVectorPool
from plcore.loop.label_vectors.reports import LabelVectorPoint
from plcore.loop.label_vectors.settings import LabelVectorSettings
from tests.plcore.loop.fake_vectors import FakeVectors, due, rebuilt, vectors

QUESTIONS = ["instance", "diagnosis", "cell"]
CRITERIA = ["entropy", "variance", "information", "random"]


def ready(table, options):
    """A learner with its first model."""
    learner = LabelVectorLearner(table, options)
    learner.adopt(learner.job().run())
    return learner


def answers(question, truth, seq, annotator="ann"):
    """The entries of a right answer to a question."""
    row, said = question.row, truth[question.row]
    asked = [
        (name, said[place])
        for place, name in enumerate(question.labels)
        if (question.label is None and question.cells[place] == -1) or question.label == name
    ]
    entries = []
    for kind, value in (("yes", 1), ("no", 0)):
        names = tuple(name for name, right in asked if right == value)
        if names:
            entries.append(Entry(seq + len(entries), kind, row, annotator, names))
    return entries


def lived(options, seed, length, table=None):
    """A learner that lived through questions, answers, skips, doubts, undoing, with fits that come in late."""
    table, truth = table or vectors(seed=seed)
    random = np.random.default_rng(seed)
    learner, log, job = LabelVectorLearner(table, options), [], None
    while learner.seq < length:
        job = job or (learner.job() if random.random() < 0.5 else None)
        if job is not None and random.random() < 0.4:
            learner.adopt(job.run())
            job = None
        annotator = str(random.choice(["ann", "bob"]))
        question = learner.next_question(annotator)
        if question is None:
            break
        seq, luck = learner.seq + 1, random.random()
        about = () if question.label is None else (question.label,)
        standing = [entry for row in range(len(truth)) for entry in learner.state(row).entries]
        if luck < 0.1:
            entries = [Entry(seq, "skip", question.row, annotator, about)]
        elif luck < 0.2:
            entries = [Entry(seq, "unsure", question.row, annotator, about)]
        elif luck < 0.25:
            entries = [Entry(seq, "bad", question.row, annotator)]
        elif luck < 0.4 and standing:
            target = standing[int(random.integers(len(standing)))]
            entries = [Entry(seq, "withdraw", target.row, annotator, target=target.seq)]
        else:
            entries = answers(question, truth, seq, annotator)
        for entry in entries:
            learner.apply(entry)
        log += entries
    return learner, log


def assert_same_state(one, other, points=True):
    for name in ("seq", "model_version", "done"):
        assert getattr(one, name) == getattr(other, name)
    np.testing.assert_array_equal(one.cells, other.cells)
    np.testing.assert_array_equal(one._model.proba(), other._model.proba())
    np.testing.assert_array_equal(one._model.scores, other._model.scores)
    assert one.progress() == other.progress()
    if points:
        assert one.curve[-1] == other.curve[-1]
    for annotator in ("ann", "bob", "new"):
        assert one.next_question(annotator) == other.next_question(annotator)
    left, right = one.export_cells(), other.export_cells()
    np.testing.assert_array_equal(left.probabilities, right.probabilities)
    np.testing.assert_array_equal(left.sources, right.sources)


@given(st.sampled_from(QUESTIONS), st.sampled_from(CRITERIA), st.sampled_from([0.0, 0.3]), st.integers(0, 10**6))
@settings(max_examples=15)
def test_live_learner_equals_rebuilt_one(question, criterion, control_share, seed):
    options = LabelVectorSettings(
        question=question, criterion=criterion, control_share=control_share, seed=seed % 7, refresh_every=4, max_iter=3
    )
    table, truth = vectors(n=12, L=3, seed=seed)
    live, log = lived(options, seed, 12, (table, truth))
    if (job := live.job()) is not None:
        live.adopt(job.run())
    assert_same_state(live, rebuilt(table, options, log))


def test_late_fit_uses_the_state_of_its_moment():
    """A job run late, after other entries, gives what it would have given at once."""
    table, truth = vectors()
    learner = ready(table, LabelVectorSettings(refresh_every=3))
    for _ in range(3):
        learner.apply(answers(learner.next_question("ann"), truth, learner.seq + 1)[0])
    assert due(learner) == 3
    job = learner.job()
    at_once = job.run()
    for _ in range(2):
        learner.apply(answers(learner.next_question("ann"), truth, learner.seq + 1)[0])
    late = job.run()
    np.testing.assert_array_equal(at_once.model.proba(), late.model.proba())
    assert at_once.point == late.point
    assert learner.adopt(late)
    assert due(learner) is None
    assert learner.model_version == 5
    assert learner.version_published == 3
    assert not learner.adopt(at_once)  # the same fit twice is harmless
    assert [point.seq for point in learner.curve] == [0, 3]


def test_shares_of_rows_match_those_of_questions():
    table, _ = vectors()
    options = LabelVectorSettings()
    assert LabelVectorLearner(table, options).shares_of(np.array([0])) is None, "before the first model"
    learner = ready(table, options)
    question = learner.next_question("ann")
    shares, threshold = learner.shares_of(np.array([question.row]))
    unknown = np.array(question.cells) == -1
    np.testing.assert_array_equal(shares[0][unknown], np.array(question.probabilities)[unknown])
    assert threshold == learner.progress().threshold


def test_newer_fit_stays_due_when_an_older_one_finishes():
    table, truth = vectors()
    options = LabelVectorSettings(refresh_every=2)
    learner = ready(table, options)
    log = []
    jobs = []
    for _ in range(4):
        log += answers(learner.next_question("ann"), truth, learner.seq + 1)
        learner.apply(log[-1])
        jobs.append(learner.job())
    learner.adopt(jobs[1].run())
    assert due(learner) == 4
    learner.adopt(learner.job().run())
    assert due(learner) is None
    assert_same_state(learner, rebuilt(table, options, log))
    assert learner.job() is None
    younger = LabelVectorLearner(table, options)
    with pytest.raises(ValueError, match="only those from 0 up to 0"):
        younger.adopt(jobs[3].run())


@pytest.mark.parametrize("question", QUESTIONS)
def test_controls_and_test_rows_never_train(question):
    """Whatever is answered about controls, the model is the same; test rows are not asked about."""
    table, truth = vectors(n=30, L=4, known=0.2, full=0.4, seed=3)
    options = LabelVectorSettings(question=question, control_share=0.4, refresh_every=5)
    one, other = ready(table, options), ready(table, options)
    assert one.test_rows.any()
    assert one.pool.control_cells.any()
    assert not (one.pool.control_cells & one.test_rows[:, None]).any()
    blind = 0
    for _ in range(30):
        asked, same = one.next_question("ann"), other.next_question("ann")
        if asked is None:
            break
        for part in ("row", "label", "strategy", "score", "predicted", "undecided"):
            assert getattr(asked, part) == getattr(same, part)
        assert not one.test_rows[asked.row]
        if asked.strategy == "control":
            blind += 1
            flipped = 1 - truth
            right, wrong = answers(asked, truth, one.seq + 1), answers(asked, flipped, one.seq + 1)
            both = len(right) == len(wrong)
            first, second = (right, wrong) if both else (right, right)
        else:
            first = second = answers(asked, truth, one.seq + 1)
        for entry in first:
            one.apply(entry)
        for entry in second:
            other.apply(entry)
        for one_of_both in (one, other):
            if due(one_of_both) is not None:
                one_of_both.adopt(one_of_both.job().run())
    assert blind > 3
    assert other.seq == one.seq
    np.testing.assert_array_equal(one._model.proba(), other._model.proba())
    assert one.progress().control != other.progress().control
    changed = truth.copy()
    changed[one.test_rows] = 1 - changed[one.test_rows]
    cells = np.where(table.label_vectors >= 0, changed, -1)
    twisted = ready(FakeVectors(table.X, cells), options)
    np.testing.assert_array_equal(twisted._model.proba(), ready(table, options)._model.proba())
    assert twisted.curve[0].held_out != ready(table, options).curve[0].held_out


def test_controls_are_drawn_with_the_given_probability():
    table, truth = vectors(n=300, L=6, known=0.0, full=0.0, seed=1)
    learner = LabelVectorLearner(table, LabelVectorSettings(control_share=0.25))  # without a model: fast
    blind = []
    for _ in range(400):
        asked = learner.next_question("ann")
        blind.append(asked.strategy == "control")
        learner.apply(answers(asked, truth, learner.seq + 1)[0])
    assert 0.18 < np.mean(blind) < 0.32
    sample = learner.pool.control_sample()
    assert len(sample.rows) == sum(blind)
    np.testing.assert_array_equal(sample.values, truth[sample.rows, sample.columns])


@pytest.mark.parametrize("question", ["cell", "instance"])
def test_controls_do_not_depend_on_the_criterion(question):
    """Otherwise a criterion could choose the cells that measure it, and criteria would not be comparable."""
    table, truth = vectors(n=40)
    pools = [
        LabelVectorPool(table, LabelVectorSettings(question=question, criterion=name, control_share=0.3, seed=3))
        for name in CRITERIA
    ]
    due = []
    while True:
        (first,) = {tuple(pool.controls_left(pool.open)) for pool in pools}
        due.append({pool.control_is_due() for pool in pools})
        if not first:
            break
        ((row, label),) = first
        said = range(len(table.classes)) if label is None else [table.classes.index(label)]
        kinds = {True: "yes", False: "no"}
        for seq, column in enumerate(said, start=pools[0].seq + 1):
            entry = Entry(seq, kinds[bool(truth[row, column])], row, "ann", (table.classes[column],))
            for pool in pools:
                pool.apply(entry)
    assert len(due) > 5
    assert all(len(one) == 1 for one in due)
    assert {True, False} == set.union(*due)
    assert all(np.array_equal(pool.control_cells, pools[0].control_cells) for pool in pools)


def test_controls_answered_out_of_turn_wait():
    table, truth = vectors(n=900, L=5, known=0.0, full=0.0)
    learner = LabelVectorLearner(table, LabelVectorSettings(control_share=0.3))
    pool = learner.pool
    drawn = pool._controls
    order = list(zip(drawn._rows.tolist(), drawn._columns.tolist(), strict=True))
    assert len({row for row, _ in order[:6]}) == 6

    def tell(place, kind="answer", annotator="ann"):
        row, label = place[0], learner.classes[place[1]]
        kind = ("yes" if truth[place] else "no") if kind == "answer" else kind
        learner.apply(Entry(learner.seq + 1, kind, row, annotator, (label,)))

    tell(order[1])
    assert len(pool.control_sample().rows) == 0
    tell(order[0])
    assert len(pool.control_sample().rows) == 2
    tell(order[3])
    tell(order[2], "unsure", "bob")  # no annotator has to answer: the draw continues without it
    assert len(pool.control_sample().rows) == 3
    tell(order[4], "skip")
    tell(order[5])
    assert len(pool.control_sample().rows) == 3
    learner.apply(Entry(learner.seq + 1, "bad", order[4][0], "ann"))
    assert len(pool.control_sample().rows) == 4


@pytest.mark.parametrize("criterion", CRITERIA)
@pytest.mark.parametrize("question", QUESTIONS)
def test_questions_continue_until_all_cells_are_known(question, criterion):
    table, truth = vectors(n=12, L=3, known=0.3, full=0.2)
    options = LabelVectorSettings(question=question, criterion=criterion, control_share=0.2, max_iter=2)
    learner = ready(table, options)
    asked_cells = 0
    while (asked := learner.next_question("ann")) is not None:
        assert learner.may_ask(asked.row, "ann", asked.label)
        assert (asked.label is None) == (question == "instance")
        assert all(0 < p < 1 for p, cell in zip(asked.probabilities, asked.cells, strict=True) if cell == -1)
        assert all(p == cell for p, cell in zip(asked.probabilities, asked.cells, strict=True) if cell != -1)
        assert asked.strategy in (options.asked_by, "control")
        assert np.isfinite(asked.score)
        place = None if asked.label is None else asked.labels.index(asked.label)
        said = np.array(asked.probabilities) > 0.5
        if place is None:
            names = [asked.labels[c] for c in range(3) if said[c] and asked.cells[c] == -1]
            assert json.loads(asked.predicted) == names
        else:
            assert asked.predicted == ("yes" if said[place] else "no")
        for entry in answers(asked, truth, learner.seq + 1):
            asked_cells += len(entry.labels)
            learner.apply(entry)
    assert learner.done
    held = learner.test_rows
    np.testing.assert_array_equal(learner.cells[~held], truth[~held])
    assert asked_cells == (table.label_vectors[~held] == -1).sum()
    progress = learner.progress()
    assert progress.entropy == 0
    assert progress.unasked == progress.ambiguous_left == 0
    assert progress.share_known == 1
    assert dict(progress.by_kind)["yes"] + dict(progress.by_kind)["no"] == asked_cells


def test_diagnosis_asks_for_one_label_of_each_row_first():
    table, truth = vectors(n=15, L=4, known=0.0, full=0.0)
    learner = ready(table, LabelVectorSettings(question="diagnosis"))
    rows = []
    for _ in range(30):
        asked = learner.next_question("ann")
        rows.append(asked.row)
        learner.apply(answers(asked, truth, learner.seq + 1)[0])
    assert sorted(rows[:15]) == sorted(rows[15:]) == list(range(15))


def test_best_cell_by_the_criterion_is_asked():
    """Entropy, variance and information ask what the sensing learner itself would ask."""
    table, _ = vectors(n=30, L=5, known=0.3, full=0.0)
    for question, kind in (("cell", "pair"), ("instance", "instance")):
        for criterion in ("entropy", "variance", "information"):
            learner = ready(table, LabelVectorSettings(question=question, criterion=criterion))
            best = learner._model._sensing.next(kind, 1, criterion)[0]
            asked = learner.next_question("ann")
            if question == "cell":
                assert (asked.row, asked.labels.index(asked.label)) == tuple(best)
            else:
                assert asked.row == best
            rows, _, scores = learner.ranking()
            assert rows[0] == asked.row
            assert scores[0] == asked.score
            assert (np.diff(scores) <= 0).all()
            assert set(rows) == set(np.flatnonzero((table.label_vectors == -1).any(axis=1)))


def test_excluded_or_reserved_row_is_not_asked():
    table, _ = vectors(n=20, L=4, known=0.0, full=0.0)
    learner = ready(table, LabelVectorSettings())
    first = learner.next_question("ann")
    second = learner.next_question("ann", exclude={(first.row, first.label)})
    assert (second.row, second.label) != (first.row, first.label)
    assert learner.next_question("ann", exclude={first.row}).row != first.row
    learner.apply(Entry(1, "unsure", first.row, "ann", (first.label,)))
    assert learner.next_question("bob") == first
    after = learner.next_question("ann")
    assert (after.row, after.label) != (first.row, first.label)
    assert not learner.may_ask(first.row, "ann", first.label)
    assert learner.may_ask(first.row, "ann")
    assert learner.may_ask(first.row, "bob", first.label)
    learner.apply(Entry(2, "unsure", first.row, "ann"))
    assert not learner.may_ask(first.row, "ann")
    learner.apply(Entry(3, "bad", after.row, "bob"))
    assert not learner.may_ask(after.row, "bob")
    with pytest.raises(AnswerError, match="a bad item"):
        learner.question_for(after.row)
    with pytest.raises(AnswerError, match="is not a label"):
        learner.question_for(first.row, "nothing")
    with pytest.raises(AnswerError, match="row must be"):
        learner.may_ask(20, "ann")


def test_skipped_question_comes_back():
    table, _ = vectors(n=20, L=4, known=0.0, full=0.0)
    learner = ready(table, LabelVectorSettings())
    first = learner.next_question("ann")
    skipped = [(first.row, first.label)]
    learner.apply(Entry(1, "skip", first.row, "ann", (first.label,)))
    assert learner.next_question("bob") == first
    while learner.seq < 20:
        asked = learner.next_question("ann")
        assert (asked.row, asked.label) not in skipped
        skipped.append((asked.row, asked.label))
        learner.apply(Entry(learner.seq + 1, "skip", asked.row, "ann", (asked.label,)))
    asked = learner.next_question("ann")
    learner.apply(Entry(21, "skip", asked.row, "ann", (asked.label,)))
    assert learner.next_question("ann") == first
    table, _ = vectors(n=2, L=2, known=0.0, full=0.0)
    learner = ready(table, LabelVectorSettings())
    for seq, label in enumerate(("l1", "l0"), start=1):
        learner.apply(Entry(seq, "skip", 0, "ann", (label,)))
    assert learner.next_question("ann", exclude={1}).label == "l1"  # only skipped ones are left: the oldest first


def test_questions_work_before_the_first_model():
    table, truth = vectors(n=20, L=4, known=0.0, full=0.0)
    cells = table.label_vectors.copy()
    cells[:5, 1] = 1
    learner = LabelVectorLearner(FakeVectors(table.X, cells))
    assert due(learner) == 0
    asked = learner.next_question("ann")
    assert (asked.strategy, asked.predicted) == ("random", None)
    assert learner.question_for(7).probabilities == (0.5, 6 / 7, 0.5, 0.5)
    assert learner.progress().entropy is None
    assert learner.curve == []
    shown = learner.export_cells()
    assert np.isnan(shown.probabilities[cells == -1]).all()
    learner.apply(answers(asked, truth, 1)[0])
    learner.adopt(learner.job().run())  # points of the start, and of the answer since
    assert learner.model_version == 1
    assert learner.version_published == 0


def test_cells_are_formatted_as_text():
    table, _ = vectors(n=10, L=3, known=0.0, full=0.0)
    learner = LabelVectorLearner(table)
    yes, no = Entry(1, "yes", 2, "ann", ("l2", "l0")), Entry(2, "no", 2, "ann", ("l2",))
    folded = learner.pool.fold.fold_of(2, [yes, no])
    assert learner.pool.words(folded, ("l2", "l1", "l0")) == ("0", "", "1")
    assert learner.pool.words(folded, ()) == ()
    assert learner.pool.words(learner.pool.fold.fold_of(2, [yes, Entry(2, "bad", 2, "ann")]), ()) == ("bad",)


@pytest.mark.parametrize("question", ["cell", "instance"])
def test_points_round_trip_through_json(question):
    table, truth = vectors(n=60, L=6, full=0.5)
    learner = ready(table, LabelVectorSettings(question=question, control_share=0.5, refresh_every=8))
    while learner.seq < 40:
        for entry in answers(learner.next_question("ann"), truth, learner.seq + 1):
            learner.apply(entry)
        if due(learner):
            learner.adopt(learner.job().run())
    points = learner.curve
    assert len(points) > 1
    assert points[-1].control.accuracy is not None
    assert bool(points[-1].control.at) is (question == "instance")
    read = [LabelVectorPoint.from_json(json.loads(json.dumps(point.to_json()))) for point in points]
    assert read == points
    assert points[0].held_out.micro_f1.low < points[0].held_out.micro_f1.high
    later = LabelVectorLearner(table, learner.settings)
    later.restore_curve(read)
    later.restore_curve(read[1:])
    assert later.curve == points
    assert later.progress().held_out is None  # there is no model yet
    later.adopt(later.job().run())
    assert later.curve == points[:1], "it ends with the model in place"
    assert later.progress().held_out == points[0].held_out


def test_points_stored_without_intervals_are_read():
    table, _ = vectors(n=60, L=6, full=0.5)
    point = ready(table, LabelVectorSettings()).curve[0]
    stored = point.to_json()
    held = stored["held_out"]
    old = held | {name: held[name]["value"] for name in ("macro_f1", "micro_f1")}
    old["precision"] = [[t, share["value"]] for t, share in held["precision"]]
    read = LabelVectorPoint.from_json(json.loads(json.dumps(stored | {"held_out": old})))
    assert read.held_out.micro_f1.value == point.held_out.micro_f1.value
    assert [(t, share.value) for t, share in read.held_out.precision] == [
        (t, share.value) for t, share in point.held_out.precision
    ]
    assert np.isnan(read.held_out.macro_f1.low)
    assert np.isnan(read.held_out.precision[0][1].high)
    assert read.control == point.control


@pytest.mark.proof
def test_held_out_figures_rise_with_answers():
    """Figures after the answers are higher than before."""
    table, truth = vectors(n=200, L=5, d=4, known=0.0, full=0.35, seed=11)
    learner = LabelVectorLearner(table, LabelVectorSettings(seed=1, refresh_every=30, test_share=0.9))
    learner.adopt(learner.job().run())
    first = learner.curve[0].held_out
    while learner.seq < 300 and (asked := learner.next_question("ann")):
        learner.apply(answers(asked, truth, learner.seq + 1)[0])
        if due(learner):
            learner.adopt(learner.job().run())
    last = learner.progress().held_out
    assert last.micro_f1.value > first.micro_f1.value + 0.03
    assert last.micro_f1.low > 0.6
    assert dict(last.precision)[1].value >= dict(first.precision)[1].value
    assert learner.curve[-1].entropy < learner.curve[0].entropy


@pytest.mark.parametrize("question", QUESTIONS)
@pytest.mark.parametrize("case", ["never yes", "never known", "nothing known", "K above L", "one row"])
def test_unusual_tables_are_accepted(case, question):
    table, truth = vectors(n=1 if case == "one row" else 16, L=3, full=0.0, seed=8)
    cells = table.label_vectors.copy()
    if case == "never yes":
        truth[:, 1] = 0
        cells[:, 1] = np.where(cells[:, 1] >= 0, 0, -1)
    elif case == "never known":
        cells[:, 1] = -1
    elif case in ("nothing known", "one row"):
        cells[:] = -1
    options = LabelVectorSettings(
        question=question, n_components=9 if case == "K above L" else None, control_share=0.2, refresh_every=6
    )
    learner = ready(FakeVectors(table.X, cells), options)
    while (asked := learner.next_question("ann")) is not None:
        assert np.isfinite(asked.probabilities).all()
        for entry in answers(asked, truth, learner.seq + 1):
            learner.apply(entry)
        if due(learner):
            learner.adopt(learner.job().run())
    np.testing.assert_array_equal(learner.cells, np.where(cells >= 0, cells, truth))
    assert learner.progress().control.cells == learner.pool.control_cells.sum()


# Features that no model of label vectors can be fitted to are refused with a fix.


NAMES = ("width", "height", "weight")


def test_valid_features_pass():
    check_fit(np.ones((5, 3)), NAMES)
    check_fit(np.ones((5, 3)), NAMES, memory=MATRICES * 9 * 8)
    check_fit(sparse.csr_matrix((5, 3)), NAMES)
    check_fit(np.full((5, 3), 1e50), NAMES)


def test_limit_applies_to_the_smaller_of_rows_and_features(monkeypatch):
    monkeypatch.setattr(learner, "LARGEST", 4)
    check_fit(np.ones((900, 4)), NAMES)
    check_fit(sparse.csr_matrix((4, 900)), NAMES)
    with pytest.raises(ValueError, match=r"^5 rows of 6 features are too many: .* at most 4 are allowed. Fix: import"):
        check_fit(np.ones((5, 6)), NAMES)


def test_features_too_large_for_memory_are_refused():
    X = sparse.csr_matrix((6000, 40_000))
    check_fit(X, NAMES, memory=3 * 10**9)
    with pytest.raises(ValueError, match=r"6,000 rows of 40,000 features need about 2.6 GB of memory; 2.0 GB may be"):
        check_fit(X, NAMES, memory=2 * 10**9)


@pytest.mark.parametrize("kind", [np.asarray, sparse.csr_matrix])
@pytest.mark.parametrize("value", [1e51, -1e60])
def test_number_too_large_is_named(kind, value):
    X = np.ones((5, 3))
    X[3, 1] = value
    with pytest.raises(ValueError, match=r"Row 4, column 'height': the number is 1e\+(51|60) times") as refused:
        check_fit(kind(X), NAMES)
    assert "leave its cell empty" in str(refused.value)
