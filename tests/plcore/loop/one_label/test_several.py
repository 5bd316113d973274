"""Several annotators per row: the rules, and that replaying a log gives the same result as live."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from plcore import ActiveLearner, Entry, LearnerSettings
from plcore.arrays import BoolArray, FloatArray
from plcore.crowd.dawid_skene import MOST_SURE
from plcore.loop import ClassChange, EntryKind, Place
from plcore.loop.one_label import Trainer
from plcore.loop.one_label import heard as module
from plcore.loop.one_label.settings import FOLDS
from tests.plcore.loop.fake_table import FakeFeatures, FakeTable, blobs
from tests.plcore.loop.taking_in import take_in

CLASSES = ("ant", "bee", "cat", "dog")
PEOPLE = ("ann", "bob", "cem")
KINDS = ("is", "is", "is", "among", "not", "none", "bad", "unsure", "skip", "withdraw", "verdict")


@dataclass(frozen=True)
class Table:
    """A table that `with_classes` can change. candidates : bool (n, 4)"""

    candidates: BoolArray
    classes: tuple[str, ...] = CLASSES
    truth: None = None
    candidate_weights: None = None

    def features(self) -> FakeFeatures:
        return FakeFeatures()

    @property
    def X(self) -> FloatArray:  # noqa: N802 - as FakeTable has it
        return np.zeros((len(self.candidates), 2))


def learner_of(sets: list[str], **options: object) -> ActiveLearner[FakeTable]:
    """Rows with candidates by initial, two unlike features each."""
    rows = np.array([[name[0] in one for name in CLASSES] for one in sets])
    X = np.random.default_rng(0).normal(size=(len(rows), 2))
    return ActiveLearner(FakeTable(X, rows, classes=CLASSES), LearnerSettings(n_neighbors=2, **options))  # type: ignore[arg-type]


def places_left(learner: ActiveLearner[FakeTable], row: int) -> int:
    return learner.pool.places_left(Place(row))


def tell(learner: ActiveLearner[FakeTable], *answers: str, row: int = 0) -> tuple[str, ...]:
    """Apply answers like "ann is ant" in turn; return the remaining candidates of the row."""
    for one in answers:
        person, kind, *labels = one.split()
        learner.apply(Entry(learner.seq + 1, kind, row, person, tuple(labels)))
    return learner.state(row).candidates


@pytest.mark.parametrize(
    ("fold", "answers", "left"),
    [
        ("latest", ["ann is ant", "bob is bee"], "bee"),
        ("latest", ["ann not ant", "bob not bee"], "ant cat"),  # bob does not see ann's answer
        ("majority", ["ann is ant", "bob is bee", "cem is ant"], "ant"),
        ("majority", ["ann is ant", "bob is bee"], "ant bee"),
        ("majority", ["ann among ant bee", "bob is bee"], "bee"),
        ("majority", ["ann is ant", "bob is bee", "bob is ant"], "ant"),
        ("intersection", ["ann among ant bee", "bob among bee cat"], "bee"),
        ("intersection", ["ann is ant", "bob among bee cat"], "ant bee cat"),
        ("intersection", ["ann none", "bob among ant bee"], "ant bee dog"),
        ("majority", ["ann bad", "bob is bee"], "bee"),
        ("majority", ["ann bad", "bob bad", "cem is ant"], ""),
        ("majority", ["ann is ant", "bob is ant", "eva verdict bee"], "bee"),
        ("majority", ["ann is ant", "eva verdict", "bob is ant"], ""),
        ("dawid-skene", ["ann is ant", "bob is ant", "cem is bee"], "ant"),
        ("dawid-skene", ["ann is ant", "bob is bee"], "ant bee"),
    ],
)
def test_rules_give_the_expected_candidates(fold: str, answers: list[str], left: str) -> None:
    learner = learner_of(["abc", "abcd"], overlap=3, fold=fold)
    assert tell(learner, *answers) == tuple(left.split())


def test_answers_of_others_are_hidden_and_no_one_is_asked_twice() -> None:
    learner = learner_of(["abc", "abc"], overlap=2)
    before = learner.question_for(0, annotator="bob")
    tell(learner, "ann is ant")
    begun = learner.next_question("bob")
    assert (begun.row, begun.strategy) == (0, "overlap")
    assert (begun.choices, begun.probabilities) == (before.choices, before.probabilities)
    assert begun.predicted == before.predicted
    assert not learner.may_ask(0, "ann")
    assert learner.may_ask(0, "bob")
    assert learner.next_question("ann") is not None
    assert learner.next_question("ann").row == 1
    tell(learner, "bob is bee")
    assert places_left(learner, 0) == 0
    assert not learner.may_ask(0, "cem")
    assert [one.row for one in [learner.next_question("cem")] if one] == [1]


def test_annotator_who_ruled_out_one_label_is_asked_again() -> None:
    learner = learner_of(["abc", "abc"], overlap=2)
    tell(learner, "ann not ant")
    assert learner.may_ask(0, "ann")
    assert learner.question_for(0, annotator="ann").choices == ("bee", "cat")
    assert learner.question_for(0, annotator="bob").choices == ("ant", "bee", "cat")
    tell(learner, "ann not bee")
    assert not learner.may_ask(0, "ann")
    assert places_left(learner, 0) == 1


def test_row_is_asked_until_n_annotators_agree() -> None:
    learner = learner_of(["abc"], overlap=4, agree=2, fold="majority")
    assert places_left(learner, 0) == 2  # two more answers can suffice
    tell(learner, "ann is ant", "bob is bee")
    assert places_left(learner, 0) == 1
    tell(learner, "cem is bee")
    assert places_left(learner, 0) == 0
    assert learner.done
    tell(learner, "cem is cat")  # a correction opens it again
    assert places_left(learner, 0) == 1


def test_given_share_of_rows_goes_to_several_annotators() -> None:
    learner = learner_of(["abc"] * 40, overlap=3, overlap_share=0.25, seed=3)
    places = [places_left(learner, row) for row in range(40)]
    assert places.count(3) == 10
    assert places.count(1) == 30


def test_blind_checks_go_to_all_annotators() -> None:
    learner = learner_of(["abc"] * 20, control_share=0.2, checks_by_all=True)
    checks = np.flatnonzero(learner.pool.control_rows)
    row = int(checks[0])
    open_before = learner.pool.n_open
    for person in PEOPLE:
        assert learner.may_ask(row, person)
        tell(learner, f"{person} is ant", row=row)
        assert not learner.may_ask(row, person)
    assert learner.may_ask(row, "dan")
    assert learner.pool.n_open == open_before - 1


@pytest.mark.parametrize("model", ["plknn", "kernelridge", "clpl"])
@pytest.mark.parametrize("overlap", [1, 2])
def test_shared_blind_check_looks_like_other_questions(model: str, overlap: int) -> None:
    """If the question in its place would show a prediction, so does the check, even if others have answered it."""
    table, y = blobs(120, truth="none", q=0.6)
    options = LearnerSettings(
        model=model, control_share=0.3, checks_by_all=True, own_since=0, test_share=0.0, overlap=overlap
    )
    learner = ActiveLearner(table, options)
    if learner.settings.is_trained:
        version = Trainer(learner.pool).train()
        learner.publish(version.scores, [version.point])
    shown: dict[tuple[bool, bool], set[bool]] = {}
    for number in range(60):
        who = "ann" if number < 30 else "bob"
        question = learner.next_question(who)
        if who == "bob":
            waits = any(True for _ in learner.pool.begun(who))
            blind = bool(learner.pool.control_rows[question.row])
            shown.setdefault((waits, blind), set()).add(question.predicted is None)
        # Bob never answers one of the rows others began: a row that he skips does not wait for him.
        kind, labels = ("is", (learner.classes[y[question.row]],)) if number != 35 else ("unsure", ())
        learner.apply(Entry(learner.seq + 1, kind, question.row, who, labels))
    assert {blind for _, blind in shown} == {True, False}
    for waits in {waits for waits, _ in shown}:
        assert shown.get((waits, True), set()) <= shown.get((waits, False), set()), (waits, shown)


def test_skipped_row_of_others_hides_no_blind_check() -> None:
    learner = learner_of(["abc"] * 20, control_share=0.3, overlap=2)
    check = int(np.flatnonzero(learner.pool.control_rows)[0])
    row = int(learner.pool.train[0])
    tell(learner, "ann is ant", row=row)
    before = learner.question_for(check, annotator="bob").predicted
    tell(learner, "bob unsure", row=row)
    assert not list(learner.pool.begun("bob"))
    fresh = learner.next_question("bob", exclude=set(np.flatnonzero(learner.pool.control_rows).tolist()))
    assert fresh.row != row
    after = learner.question_for(check, annotator="bob").predicted
    assert (after is None) == (fresh.predicted is None)
    assert before is not None, "votes leave a row out, whoever has begun it"


def test_earlier_answers_count_as_one_once_annotators_answer_independently() -> None:
    earlier = LearnerSettings(n_neighbors=2)
    later = LearnerSettings(n_neighbors=2, overlap=2, fold="majority").beginning(earlier, seq=2)
    assert later.own_since == 2
    assert LearnerSettings(n_neighbors=2).beginning(later, seq=9).several, "what was said stays said alone"
    learner = learner_of(["abc"], overlap=2, fold="majority", own_since=2)
    assert tell(learner, "ann not ant", "bob is bee") == ("bee",)
    assert learner.question_for(0, annotator="cem").choices == ("ant", "bee", "cat")
    assert tell(learner, "cem is ant") == ("ant", "bee")
    assert tell(learner, "bob is ant") == ("ant",)


def test_excluded_answers_do_not_count_until_the_exclusion_is_withdrawn() -> None:
    rows = np.array([[True, True, True, False]])
    log = [Entry(1, "is", 0, "ann", ("ant",)), Entry(2, "is", 0, "bob", ("bee",))]
    aside = ClassChange(3, "aside", ("bob",))
    options = LearnerSettings(n_neighbors=1, overlap=2, fold="majority")

    def left(changes: list[ClassChange]) -> tuple[str, ...]:
        learner = ActiveLearner(Table(rows), options, changes=changes)
        for entry in log:
            learner.apply(entry)
        assert not learner.may_ask(0, "bob"), "they have answered it all the same"
        return learner.state(0).candidates

    assert left([]) == ("ant", "bee")
    assert left([aside]) == ("ant",)
    assert left([aside, ClassChange(4, "back", target=3)]) == ("ant", "bee")


def test_excluded_annotator_is_still_asked_but_nothing_twice() -> None:
    for options in (LearnerSettings(n_neighbors=1), LearnerSettings(n_neighbors=1, overlap=2)):
        learner = ActiveLearner(
            Table(np.ones((4, 4), dtype=bool)), options, changes=[ClassChange(1, "aside", ("bob",))]
        )
        learner.pool.takes_change(1)
        asked = []
        while (question := learner.next_question("bob")) is not None:
            asked.append(question.row)
            learner.apply(Entry(learner.seq + 1, "is", question.row, "bob", (question.choices[0],)))
        assert sorted(asked) == [0, 1, 2, 3]
        assert learner.pool.n_open == 4, "the rows wait for others"


def test_one_bad_item_answer_does_not_exclude_a_blind_check() -> None:
    learner = learner_of(["abc"] * 20, control_share=0.2, checks_by_all=True, overlap=3)
    row = int(np.flatnonzero(learner.pool.control_rows)[0])
    tell(learner, "ann bad", row=row)
    assert not learner.pool.bad[row]
    assert learner.may_ask(row, "bob")
    tell(learner, "bob bad", row=row)
    assert learner.pool.bad[row]


def test_blind_checks_do_not_affect_annotator_weights() -> None:
    def weights(with_checks: bool) -> FloatArray:
        learner = learner_of(["abcd"] * 40, control_share=0.5, overlap=2, fold="dawid-skene")
        checks, train = np.flatnonzero(learner.pool.control_rows), np.flatnonzero(~learner.pool.control_rows)
        for row in checks.tolist() if with_checks else ():
            tell(learner, "ann is ant", "bob is ant" if row % 4 else "bob is bee", row=row)
        tell(learner, "ann is ant", "bob is bee", row=int(train[0]))
        found = learner.pool.weights_of(train[:1], learner.pool.candidates[train[:1]])
        assert found is not None
        return found

    np.testing.assert_array_equal(weights(with_checks=True), weights(with_checks=False))


def test_verdicts_are_not_weighted_by_annotators() -> None:
    learner = learner_of(["abcd"] * 6, overlap=3, fold="dawid-skene")
    tell(learner, "ann is ant", "bob is bee", row=0)
    tell(learner, "ann is ant", "bob is bee", "eva verdict bee dog", row=1)
    rows = np.array([0, 1])
    weights = learner.pool.weights_of(rows, learner.pool.candidates[rows])
    assert weights[1].tolist() == [0.0, 1.0, 0.0, 1.0]


def lived(
    seed: int, options: LearnerSettings, length: int = 40
) -> tuple[ActiveLearner[FakeTable], list[Entry], FakeTable]:
    """A learner that lived through random entries, those that it did not refuse."""
    rng = np.random.default_rng(seed)
    table, _ = blobs(12, m=3, seed=seed, truth="none")
    learner, log = ActiveLearner(table, options), []
    for seq in range(1, length + 1):
        kind, person = str(rng.choice(KINDS)), str(rng.choice(PEOPLE))
        row, target = int(rng.integers(6)), None
        if kind == "withdraw":
            standing = [one for place in range(6) for one in learner.state(place).entries]
            if not standing:
                continue
            chosen = standing[int(rng.integers(len(standing)))]
            row, target, person = chosen.row, chosen.seq, chosen.annotator
        count = {"is": 1, "not": 1, "among": 2, "verdict": 1}.get(kind, 0)
        labels = tuple(rng.permutation(learner.classes)[:count].tolist())
        take_in([learner], Entry(seq, kind, row, person, labels, target), log)
    return learner, log, table


any_settings = st.builds(
    LearnerSettings,
    n_neighbors=st.just(3),
    overlap=st.integers(2, 4),
    overlap_share=st.sampled_from([0.5, 1.0]),
    agree=st.sampled_from([None, 2]),
    fold=st.sampled_from(FOLDS),
    checks_by_all=st.booleans(),
    control_share=st.sampled_from([0.0, 0.3]),
    own_since=st.sampled_from([None, 0, 12]),
    model=st.sampled_from(["plknn", "perceptron-average"]),
)


def test_reason_shown_for_a_begun_row_is_that_of_another_row(monkeypatch: pytest.MonkeyPatch) -> None:
    """The row's own reason would reveal the labels that others have left."""
    table, _ = blobs(30, m=3, seed=1, truth="none")
    learner = ActiveLearner(table, LearnerSettings(overlap=3, fold="majority"))
    explained: list[int] = []
    ranker = learner._chooser.ranker
    explain = ranker.explain
    monkeypatch.setattr(ranker, "explain", lambda place, **how: explained.append(place) or explain(place, **how))
    rows = [row for row in learner.pool.train.tolist() if learner.original[row].sum() == 3]
    assert len(rows) > 2
    for row in rows:
        learner.apply(Entry(learner.seq + 1, EntryKind.AMONG, row, "ada", learner.classes[:2]))
        assert learner.question_for(row, annotator="ben").strategy == "overlap"
        assert learner.pool.train[explained[-1]] != row
    assert len(explained) == len(rows)


@given(st.integers(0, 10**6), any_settings)
@settings(max_examples=20)
def test_replay_equals_live_and_withdrawing_all_restores_imported_labels(seed: int, options: LearnerSettings) -> None:
    learner, log, table = lived(seed, options)
    again = ActiveLearner(table, options)
    for entry in log:
        again.apply(entry)
    np.testing.assert_array_equal(learner.candidates, again.candidates)
    np.testing.assert_array_equal(learner.label_distributions, again.label_distributions)
    rows = np.arange(len(learner.original))
    weights, same = (one.pool.weights_of(rows, one.candidates) for one in (learner, again))
    assert (weights is None) == (same is None)
    assert np.array_equal(weights, same)
    for person in PEOPLE:
        assert learner.next_question(person) == again.next_question(person)
    standing = [one for row in range(len(rows)) for one in learner.state(row).entries]
    for entry in standing:
        learner.apply(Entry(learner.seq + 1, EntryKind.WITHDRAW, entry.row, entry.annotator, target=entry.seq))
    np.testing.assert_array_equal(learner.candidates, table.candidates)
    assert not learner.pool.answered.any()
    assert not learner.pool.bad.any()
    start = ActiveLearner(table, options)
    assert [places_left(learner, row) for row in rows] == [places_left(start, row) for row in rows]


@settings(max_examples=settings().max_examples * 2 // 5)
@given(st.integers(0, 10**6), any_settings.filter(lambda one: not one.own_since))
def test_annotators_are_asked_until_nothing_is_left(seed: int, options: LearnerSettings) -> None:
    """No row gets too many answers, no annotator sees one twice, and every row gets its number if possible."""
    rng = np.random.default_rng(seed)
    table, truth = blobs(10, m=3, seed=seed, truth="none")
    learner = ActiveLearner(table, options)
    people, asked = [f"p{number}" for number in range(5)], set()
    working = list(people)
    while working:
        person = str(rng.choice(working))
        question = learner.next_question(person)
        if question is None:
            working.remove(person)
            continue
        assert (question.row, person) not in asked
        assert places_left(learner, question.row) > 0
        asked.add((question.row, person))
        label = learner.classes[int(truth[question.row]) if rng.random() < 0.7 else int(rng.integers(3))]
        if label not in question.choices:
            label = question.choices[0]
        learner.apply(Entry(learner.seq + 1, EntryKind.IS, question.row, person, (label,)))
    counts = [sum(row == one for one, _ in asked) for row in range(10)]
    for row, count in enumerate(counts):
        wanted = learner.pool.asked.rule.wanted[row]  # type: ignore[union-attr]
        if learner.original[row].sum() < 2:
            assert count == 0
        elif learner.pool.control_rows[row] and options.checks_by_all:
            assert count == len(people)
        elif options.agree is None:
            assert count == wanted
        else:
            assert min(wanted, 2) <= count <= wanted
    assert learner.pool.n_open == 0


def test_dispute_lasts_until_a_verdict() -> None:
    learner = learner_of(["abc", "abc"], overlap=3, fold="majority")
    tell(learner, "ann is ant")
    assert not learner.pool.disputed(), "one person disagrees with no one"
    tell(learner, "bob not ant")
    assert not learner.pool.disputed(), "bob has not said all he can"
    tell(learner, "bob is bee")
    assert learner.pool.disputed() == {0: 1.0}
    assert [(view.annotator, view.label) for view in learner.pool.views(0)] == [("ann", 0), ("bob", 1)]
    tell(learner, "cem is ant")
    assert learner.pool.disputed() == {0: pytest.approx(2 / 3)}
    assert not learner.pool.by_verdict[0]
    tell(learner, "eve verdict cat")
    assert not learner.pool.disputed()
    assert learner.pool.by_verdict[0]
    assert learner.disambiguate().sources.tolist()[0] == "verdict"
    assert len(learner.pool.views(0)) == 3, "a verdict is not an opinion"
    assert not learner_of(["ab"]).pool.disputed()
    assert not learner_of(["ab"]).pool.views(0)


@pytest.mark.parametrize(
    ("answers", "apart"),
    [
        (["ann is ant", "bob is ant"], 0),
        (["ann bad", "bob bad"], 0),
        (["ann is ant", "bob bad"], 1),
        (["ann among ant bee", "bob is ant"], 1 - 2 / 3 / 2),
        (["ann among ant bee", "bob among bee cat"], 1 - 1 / 3 / 3),
        (["ann is ant", "bob bad", "cem is ant"], 2 / 3),
    ],
)
def test_disagreement_of_annotators_matches_values_by_hand(answers: list[str], apart: float) -> None:
    learner = learner_of(["abc", "abc"], overlap=3, fold="majority")
    tell(learner, *answers)
    assert learner.pool.disputed().get(0, 0) == pytest.approx(apart)


@given(st.integers(0, 10**6), any_settings.filter(lambda one: one.own_since is not None or one.overlap > 1))
@settings(max_examples=20)
def test_verdict_is_final_until_it_is_withdrawn(seed: int, options: LearnerSettings) -> None:
    learner, log, table = lived(seed, options)
    row = int(learner.pool.train[0])
    for one in learner.state(row).entries:
        if one.kind == EntryKind.VERDICT:
            learner.apply(Entry(learner.seq + 1, EntryKind.WITHDRAW, row, one.annotator, target=one.seq))
            log.append(Entry(learner.seq, EntryKind.WITHDRAW, row, one.annotator, target=one.seq))
    without = ActiveLearner(table, options)
    verdict = Entry(learner.seq + 1, EntryKind.VERDICT, row, "eve", (learner.classes[-1],))
    later = [
        Entry(learner.seq + 2 + place, EntryKind.IS, row, f"late{place}", (learner.classes[int(label)],))
        for place, label in enumerate(np.flatnonzero(learner.pool.first[row]))
    ]
    settled = np.arange(len(learner.classes)) == len(learner.classes) - 1
    for entry in (verdict, *later):
        learner.apply(entry)
        np.testing.assert_array_equal(learner.candidates_of(row), settled)
        assert places_left(learner, row) == 0
        assert row not in learner.pool.disputed()
        assert not learner.may_ask(row, "somebody else")
    learner.apply(Entry(learner.seq + 1, EntryKind.WITHDRAW, row, "eve", target=verdict.seq))
    for entry in (*log, *later):
        without.apply(entry)
    np.testing.assert_array_equal(learner.candidates_of(row), without.candidates_of(row))
    assert learner.pool.disputed() == without.pool.disputed()
    assert places_left(learner, row) == places_left(without, row)


# Labels of rows that several people answer: disputed rows are never certain, unfinished rows are pending.


def said(learner, row=0):
    found = learner.disambiguate()
    label = int(found.labels[row])
    return found.sources[row], CLASSES[label] if label >= 0 else None, float(found.confidence[row])


@pytest.mark.parametrize(
    ("fold", "answers", "source", "label"),
    [
        ("majority", ["ann is ant", "bob is bee"], "disputed", None),
        ("latest", ["ann is ant", "bob is bee"], "disputed", None),
        ("intersection", ["ann is ant", "bob is bee"], "disputed", None),
        ("intersection", ["ann among ant bee", "bob is bee"], "combined", "bee"),
        ("majority", ["ann is ant", "bob is ant"], "person", "ant"),
        ("majority", ["ann bad", "bob is bee"], "disputed", None),
        ("majority", ["ann is ant"], "pending", "ant"),
        ("majority", ["ann is ant", "bob is bee", "eva verdict bee"], "verdict", "bee"),
    ],
)
def test_label_of_a_row_with_two_annotators_is_as_expected(fold, answers, source, label):
    learner = learner_of(["abc", "abc", "abcd"], overlap=2, fold=fold)
    tell(learner, *answers)
    got = said(learner)
    assert got[:2] == (source, label)
    if source in ("combined", "person", "pending"):
        assert 0 < got[2] <= MOST_SURE
    elif source == "disputed":
        assert np.isnan(got[2])


@pytest.mark.parametrize("fold", ["majority", "latest", "dawid-skene"])
def test_majority_of_three_has_confidence_below_one(fold):
    learner = learner_of(["abc", "abc", "abcd"], overlap=3, fold=fold)
    tell(learner, "ann is ant", "bob is bee")
    assert said(learner)[0] == "pending", "the third has not answered"
    tell(learner, "cem is ant")
    assert said(learner)[:2] == ("combined", "ant")
    assert said(learner)[2] < 1
    assert not said(learner, 1)[0].startswith(("pending", "disputed"))


def test_pending_and_disputed_rows_are_not_decided_by_people():
    learner = learner_of(["abc"] * 4, overlap=2, fold="latest")
    tell(learner, "ann is ant", "bob is ant", row=0)
    tell(learner, "ann is ant", "bob is bee", row=1)
    tell(learner, "ann is ant", row=2)
    taken = learner.take_labels()
    assert taken.answered.tolist() == [True, False, False, False]
    assert learner.pool.answers_per_label() == {"ant": 1}
    pending, disputed = module.undecided_rows(learner.pool)
    assert (np.flatnonzero(pending).tolist(), np.flatnonzero(disputed).tolist()) == ([2], [1])


def test_disputed_rows_have_the_most_likely_label():
    learner = learner_of(["abc"] * 12, overlap=2, fold="majority")
    for row in range(10):
        tell(learner, "ann is ant", "cem is ant", row=row)
    tell(learner, "ann is ant", "bob is bee", row=10)
    found = learner.disambiguate()
    assert (found.labels[10], CLASSES[found.likeliest[10]]) == (-1, "ant")
    assert 0.3 < found.likelihood[10] < 1
    np.testing.assert_array_equal(found.likeliest[:10], found.labels[:10])


def test_one_annotator_gives_a_certain_label():
    learner = learner_of(["abc", "abcd"])
    tell(learner, "ann is ant")
    assert said(learner) == ("person", "ant", 1.0)


def test_single_annotator_rows_stay_certain_in_a_project_for_several():
    learner = learner_of(["abc"] * 8, overlap=2, overlap_share=0.5, fold="majority")
    single = int(np.flatnonzero(learner.pool.asked.rule.wanted == 1)[0])
    tell(learner, "ann is ant", row=single)
    assert said(learner, single) == ("person", "ant", 1.0)


def test_too_many_annotators_and_classes_use_vote_shares(monkeypatch):
    learner = learner_of(["abc"] * 3, overlap=3, fold="majority")
    tell(learner, "ann is ant", "bob is ant", "cem is bee")
    monkeypatch.setattr(module, "MOST_CELLS", 10)
    assert said(learner)[2] == pytest.approx(2 / 3)


def test_row_is_bad_if_all_annotators_say_so():
    learner = learner_of(["abc"] * 2, overlap=2, fold="majority")
    tell(learner, "ann bad", "bob bad")
    assert said(learner)[:2] == ("bad", None)
