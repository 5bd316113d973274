"""Several annotators per label: the rules, and that replaying a log gives the same result as live."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from plcore import AnswerError, Entry
from plcore.loop import ClassChange, EntryKind, Place
from plcore.loop.label_vectors.controls import CellCounts, count_row
from plcore.loop.label_vectors.heard import heard_cells
from plcore.loop.label_vectors.learner import LabelVectorLearner, frequencies
from plcore.loop.label_vectors.pool import LabelVectorPool
from plcore.loop.label_vectors.settings import FOLDS, LabelVectorSettings
from tests.plcore.loop.fake_vectors import FakeVectors, rebuilt, vectors
from tests.plcore.loop.taking_in import take_in

PEOPLE = ("ann", "bob", "cem")
LABELS = "abcd"


def pool_of(cells: list[str], changes: tuple[ClassChange, ...] = (), **options: object) -> LabelVectorPool:
    """Rows as "1.0.": yes, not asked, no, not asked."""
    rows = [[{"1": 1, "0": 0, ".": -1}[mark] for mark in row] for row in cells]
    X = np.arange(2.0 * len(rows)).reshape(-1, 2)
    table = FakeVectors(X, rows, tuple(LABELS))
    return LabelVectorPool(table, LabelVectorSettings(**{"test_share": 0.0, **options}), changes)


def tell(pool: LabelVectorPool, *answers: str, row: int = 0) -> str:
    """Answers as "ann yes ab", one after the other; what they leave of the row, "bad" before it if it is out."""
    for one in answers:
        person, kind, *labels = one.split()
        pool.apply(Entry(pool.seq + 1, kind, row, person, tuple(labels[0]) if labels else ()))
    left = "".join({1: "1", 0: "0", -1: "."}[cell] for cell in pool.cells[row].tolist())
    return f"bad {left}" if pool.bad[row] else left


@pytest.mark.parametrize(
    ("fold", "answers", "left"),
    [
        ("latest", ["ann yes a", "bob no a"], "0..."),
        ("latest", ["ann yes a", "bob no a", "ann yes b"], "01.."),  # each label by itself
        ("latest", ["ann yes a", "bob no a", "ann yes a"], "1..."),
        ("majority", ["ann yes a", "bob no a"], "...."),
        ("majority", ["ann yes a", "bob no a", "cem yes ab"], "11.."),
        ("majority", ["ann yes ab", "bob no a", "bob yes a"], "11.."),
        ("majority", ["ann yes a", "ann no a"], "0..."),  # who changes their mind has one vote
        ("majority", ["ann yes a", "bob bad"], "1..."),
        ("majority", ["ann bad", "bob bad", "cem yes a"], "bad 1..."),
        ("majority", ["ann yes a", "bob yes a", "eva wrong a"], "0..."),
        ("majority", ["eva wrong a", "ann yes a", "bob yes a"], "0..."),
        ("majority", ["eva verdict", "ann yes a"], "bad 1..."),
        ("majority", ["eva verdict", "ann yes a", "eva right b"], "11.."),
    ],
)
def test_rules_give_the_expected_cells(fold: str, answers: list[str], left: str) -> None:
    assert tell(pool_of(["...."], overlap=3, fold=fold), *answers) == left


def test_majority_corrects_an_imported_cell_and_a_tie_keeps_it() -> None:
    pool = pool_of(["1..."], overlap=2, fold="majority")
    assert tell(pool, "ann no a") == "0..."
    assert tell(pool, "bob yes a") == "1..."
    assert not pool.is_open(0, "a"), "no one is asked about it"


def test_one_bad_item_answer_excludes_a_row_for_one_annotator() -> None:
    pool = pool_of(["...."], question="cell", fold="majority")
    assert tell(pool, "ann yes a", "bob bad") == "bad 1..."
    assert tell(pool_of(["...."], overlap=2), "ann yes a", "bob bad") == "1..."


def test_each_label_waits_for_all_its_annotators() -> None:
    pool = pool_of(["....", "1..."], overlap=3, agree=2, question="cell")
    assert pool.places_left(Place(0, "a")) == 2, "more could not be needed now"
    assert pool.places_left(Place(1, "a")) == 0, "the file knows it"
    tell(pool, "ann yes a")
    assert pool.places_left(Place(0, "a")) == 1
    assert pool.is_open(0, "a")
    assert not pool.may_ask(Place(0, "a"), "ann")
    assert pool.may_ask(Place(0, "b"), "ann")
    tell(pool, "bob no a")
    assert pool.places_left(Place(0, "a")) == 1
    tell(pool, "cem no a")
    assert pool.places_left(Place(0, "a")) == 0
    assert not pool.is_open(0, "a")
    assert pool.n_answered == 1
    assert pool.n_open == 6
    tell(pool, "eva right b")
    assert pool.places_left(Place(0, "b")) == 0, "a reviewer has settled it"


def test_whole_row_is_answered_when_the_last_annotator_finishes() -> None:
    pool = pool_of(["....", "...."], overlap=2, question="instance")
    assert pool.places_left(Place(0)) == 2
    tell(pool, "ann yes a", "ann no bcd")
    assert (pool.n_answered, pool.n_open) == (0, 2)
    assert not pool.may_ask(Place(0), "ann")
    assert pool.may_ask(Place(0), "bob")
    assert list(pool.begun(pool.allowed((), "bob"))) == [Place(0)]
    assert not list(pool.begun(pool.allowed((), "ann")))
    assert not pool.fresh()[0].any()
    tell(pool, "bob yes ab", "bob no cd")
    assert (pool.n_answered, pool.n_open) == (1, 1)
    assert pool.places_left(Place(0)) == 0


def test_whole_row_asks_only_about_unanswered_labels() -> None:
    """The others may already be settled, by a reviewer or by questions about single labels."""
    pool = pool_of(["....", "...."], overlap=2, question="instance")
    tell(pool, "eva right b")
    assert pool.fresh()[0].tolist() == [True, False, True, True]
    tell(pool, "ann yes a")
    assert not pool.fresh()[0].any(), "it is begun"
    for person in ("ann", "bob"):
        assert pool.may_ask(Place(0), person)
        assert list(pool.begun(pool.allowed((), person))) == [Place(0)]
    tell(pool, "ann no cd")
    assert not list(pool.begun(pool.allowed((), "ann")))
    tell(pool, "bob no acd")
    assert pool.places_left(Place(0)) == 0


@pytest.mark.parametrize(("question", "left"), [("cell", [16, 15, 13, 12]), ("instance", [4, 4, 4, 3])])
def test_each_answer_lowers_the_number_left(question: str, left: list[int]) -> None:
    pool = pool_of(["....", "...."], overlap=2, question=question)
    by_row = pool.settings.by_row
    found = [pool.several.answers_left(by_row=by_row)]
    for said in ("ann yes a", "ann no bc", "ann no d"):
        tell(pool, said)
        found.append(pool.several.answers_left(by_row=by_row))
    assert found == left
    for said in ("bob yes a", "bob no bcd"):
        tell(pool, said)
    assert pool.several.answers_left(by_row=by_row) == left[0] // 2


def test_given_share_of_rows_goes_to_several_annotators() -> None:
    pool = pool_of(["...."] * 40, overlap=3, overlap_share=0.25, seed=3)
    places = [pool.places_left(Place(row)) for row in range(40)]
    assert places.count(3) == 10
    assert places.count(1) == 30


@pytest.mark.parametrize("question", ["instance", "cell"])
def test_blind_checks_go_to_all_annotators(question: str) -> None:
    pool = pool_of(["...."] * 20, control_share=0.2, checks_by_all=True, question=question)
    row, column = (int(found[0]) for found in np.nonzero(pool.control_cells))
    place = Place(row, None if question == "instance" else LABELS[column])
    before = pool.n_open
    for person in PEOPLE:
        assert pool.may_ask(place, person)
        tell(pool, f"{person} yes {LABELS if question == 'instance' else LABELS[column]}", row=row)
        assert not pool.may_ask(place, person)
    assert pool.may_ask(place, "dan")
    assert pool.n_open == before - 1
    assert not list(pool.begun(pool.allowed((), "dan"))), "it comes by the draw"


def test_answers_of_others_are_hidden_and_no_one_is_asked_twice() -> None:
    table, _ = vectors(n=14, L=4, known=0.2, full=0.2, seed=2)
    learner = LabelVectorLearner(table, LabelVectorSettings(overlap=2, test_share=0.0, refresh_every=3))
    learner.adopt(learner.job().run())
    first = learner.next_question("ann")
    assert first.predicted is not None
    open_ = [name for name, cell in zip(first.labels, first.cells, strict=True) if cell == -1]
    alone = LabelVectorLearner(table, LabelVectorSettings(overlap=2, test_share=0.0, refresh_every=3))
    alone.adopt(alone.job().run())
    learner.apply(Entry(1, "yes", first.row, "ann", tuple(open_)))
    begun = learner.next_question("bob")
    assert (begun.row, begun.strategy, begun.predicted) == (first.row, "overlap", None)
    assert begun.cells == first.cells
    assert begun.probabilities == tuple(
        np.where(np.array(first.cells) == -1, frequencies(alone.pool, first.row), first.cells).tolist()
    )
    assert learner.question_for(first.row, annotator="ann").cells != first.cells
    assert learner.next_question("ann").row != first.row
    learner.apply(Entry(2, "no", first.row, "bob", tuple(open_)))
    assert learner.next_question("cem").row != first.row


@pytest.mark.parametrize("question", ["instance", "cell"])
@pytest.mark.parametrize("overlap", [1, 2])
def test_shared_blind_check_looks_like_other_questions(question: str, overlap: int) -> None:
    """It shows a prediction whenever the question in its place would, even if others have answered it."""
    table, y = vectors(n=60, L=4, known=0.2, full=0.2, seed=2)
    options = LabelVectorSettings(
        question=question,
        control_share=0.3,
        checks_by_all=True,
        own_since=0,
        test_share=0.0,
        refresh_every=10**6,
        overlap=overlap,
    )
    learner = LabelVectorLearner(table, options)
    learner.adopt(learner.job().run())
    checks, shown = learner.pool.control_cells, {True: [], False: []}
    for number in range(50):
        who = "ann" if number < 25 else "bob"
        asked = learner.next_question(who)
        columns = [i for i, cell in enumerate(asked.cells) if cell == -1]
        if asked.label is not None:
            columns = [learner.classes.index(asked.label)]
        if who == "bob":
            shown[bool(checks[asked.row, columns].any())].append(asked.predicted is None)
        for i in columns:
            kind, labels = "yes" if y[asked.row, i] else "no", (learner.classes[i],)
            learner.apply(Entry(learner.seq + 1, kind, asked.row, who, labels))
    assert shown[True], "blind checks were among them"
    assert set(shown[True]) <= set(shown[False])


def test_earlier_answers_count_as_one_once_annotators_answer_independently() -> None:
    earlier = LabelVectorSettings()
    later = LabelVectorSettings(overlap=2, fold="majority").beginning(earlier, seq=2)
    assert later.own_since == 2
    assert LabelVectorSettings().beginning(later, seq=9).several, "what was said alone stays said alone"
    pool = pool_of(["...."], overlap=3, fold="majority", own_since=2)
    assert tell(pool, "ann yes ab", "bob no a") == "01.."
    assert pool.cells_for(0, "cem").tolist() == [-1] * 4
    assert not pool.may_ask(Place(0, "a"), "ann"), "she has answered it all the same"
    assert pool.may_ask(Place(0, "c"), "ann")
    assert tell(pool, "cem yes a") == ".1.."
    assert tell(pool, "dan yes a") == "11.."


def test_rules_of_several_annotators_are_in_the_key_of_models() -> None:
    keys = {LabelVectorSettings(model="bmlcs", **one).model_key for one in ({}, {"overlap": 2}, {"fold": "majority"})}
    assert len(keys) == 3


def test_excluded_answers_do_not_count_and_are_not_requested_again() -> None:
    changes = (ClassChange(1, "aside", ("bob",)),)
    pool = pool_of(["....", "...."], changes, overlap=2, fold="majority", question="cell")
    pool.takes_change(1)
    assert tell(pool, "bob yes a") == "...."
    assert pool.places_left(Place(0, "a")) == 2
    assert not pool.may_ask(Place(0, "a"), "bob")
    assert tell(pool, "ann no a") == "0..."


any_settings = st.builds(
    LabelVectorSettings,
    question=st.sampled_from(["instance", "diagnosis", "cell"]),
    model=st.just("bmlcs"),
    overlap=st.integers(1, 3),
    overlap_share=st.sampled_from([0.5, 1.0]),
    agree=st.none(),
    fold=st.sampled_from(FOLDS),
    checks_by_all=st.booleans(),
    control_share=st.sampled_from([0.0, 0.3]),
    own_since=st.sampled_from([0, 9]),
    test_share=st.just(0.2),
    refresh_every=st.just(4),
)
KINDS = ("yes", "yes", "no", "no", "bad", "unsure", "skip", "withdraw", "right", "wrong", "verdict")


def random_entry(rng: np.random.Generator, pool: LabelVectorPool, seq: int) -> Entry | None:
    """About one of the first five rows, possible or not; None if nothing stands that could be withdrawn."""
    kind, person, target = str(rng.choice(KINDS)), str(rng.choice(PEOPLE)), None
    row = int(rng.integers(5))
    if kind == "withdraw":
        standing = [one for place in range(5) for one in pool.state(place).entries]
        if not standing:
            return None
        chosen = standing[int(rng.integers(len(standing)))]
        row, target, person = chosen.row, chosen.seq, chosen.annotator
    count = int(rng.integers(1, 5)) if kind in ("yes", "no", "right", "wrong") else 0
    labels = tuple(rng.permutation(pool.classes)[:count].tolist())
    return Entry(seq, kind, row, person, labels, target)


def lived(seed: int, options: LabelVectorSettings, length: int = 30):
    """A learner that lived through random entries, those that it did not refuse, with fits that come in late."""
    rng = np.random.default_rng(seed)
    table, _ = vectors(n=10, L=3, seed=seed)
    learner, log = LabelVectorLearner(table, options), []
    for seq in range(1, length + 1):
        if (job := learner.job()) is not None and rng.random() < 0.3:
            learner.adopt(job.run())
        entry = random_entry(rng, learner.pool, seq)
        if entry is not None:
            take_in([learner], entry, log)
    return learner, log, table


@given(st.integers(0, 10**6), any_settings)
@settings(max_examples=20)
def test_replay_equals_live_and_withdrawing_all_restores_imported_labels(
    seed: int, options: LabelVectorSettings
) -> None:
    learner, log, table = lived(seed, options)
    if (job := learner.job()) is not None:
        learner.adopt(job.run())
    again = rebuilt(table, options, log)
    for name in ("cells", "open", "answered", "bad", "unknown", "learnt_yes", "learnt_known"):
        np.testing.assert_array_equal(getattr(learner.pool, name), getattr(again.pool, name))
    np.testing.assert_array_equal(learner._model.proba(), again._model.proba())
    assert learner.progress() == again.progress()
    for person in (*PEOPLE, "new"):
        assert learner.next_question(person) == again.next_question(person)
    learnt = learner.pool.learnt_cells()
    np.testing.assert_array_equal(learner.pool.learnt_yes, (learnt == 1).sum(axis=0))
    np.testing.assert_array_equal(learner.pool.learnt_known, (learnt != -1).sum(axis=0))
    for entry in [one for row in range(10) for one in learner.state(row).entries]:
        learner.apply(Entry(learner.seq + 1, EntryKind.WITHDRAW, entry.row, entry.annotator, target=entry.seq))
    new = LabelVectorPool(table, options)
    for name in ("cells", "open", "answered", "bad", "learnt_yes", "learnt_known"):
        np.testing.assert_array_equal(getattr(learner.pool, name), getattr(new, name))
    assert not list(learner.pool.begun(learner.pool.allowed((), "new")))
    places = [Place(row, label) for row in range(10) for label in (None, *learner.classes)]
    assert [learner.pool.places_left(one) for one in places] == [new.places_left(one) for one in places]


@given(st.integers(0, 10**6), any_settings.filter(lambda one: one.own_since == 0), st.sampled_from([None, 2]))
@settings(max_examples=15)
def test_annotators_are_asked_until_nothing_is_left(seed: int, options: LabelVectorSettings, agree: int | None) -> None:
    """No label gets too many answers, no annotator sees one twice, and every label gets its number."""
    if agree is not None and options.overlap >= agree:
        options = LabelVectorSettings(**{**options.to_json(), "agree": agree})
    rng = np.random.default_rng(seed)
    table, truth = vectors(n=6, L=4, seed=seed)
    learner = LabelVectorLearner(table, options)
    learner.adopt(learner.job().run())
    people, asked = [f"p{number}" for number in range(4)], set()
    working = list(people)
    counts = np.zeros(truth.shape, dtype=int)
    while working:
        person = str(rng.choice(working))
        question = learner.next_question(person)
        if question is None:
            working.remove(person)
            continue
        assert (question.row, question.label, person) not in asked
        assert learner.pool.places_left(Place(question.row, question.label)) > 0
        asked.add((question.row, question.label, person))
        for place, (name, cell) in enumerate(zip(question.labels, question.cells, strict=True)):
            if question.label == name or (question.label is None and cell == -1):
                right = bool(truth[question.row, place]) == bool(rng.random() < 0.8)
                kind = EntryKind.YES if right else EntryKind.NO
                learner.apply(Entry(learner.seq + 1, kind, question.row, person, (name,)))
                counts[question.row, place] += 1
    pool = learner.pool
    holes = (pool.original == -1) & ~pool.test_rows[:, None]
    assert (counts[~holes] == 0).all()
    wanted = np.broadcast_to(pool.several.rule.wanted[:, None], counts.shape)
    checks = pool.control_cells & options.checks_by_all
    assert (counts[checks] == len(people)).all()
    rest = holes & ~checks
    if options.agree is None:
        np.testing.assert_array_equal(counts[rest], wanted[rest])
    else:
        assert (counts[rest] <= wanted[rest]).all()
        assert (counts[rest] >= np.minimum(wanted[rest], options.agree)).all()
    assert pool.n_open == 0
    assert learner.done


# Counts updated per changed row equal a recount of all cells, after any entries.


def recounted(pool: LabelVectorPool) -> tuple[int, int, int, int, float]:
    """(answered, open, begun, holes, share known), over all cells."""
    done, begun = pool.answered & ~pool.open, pool.answered & pool.open
    holes = (pool.original == -1) & ~pool.test_rows[:, None]
    unknown = int((pool.unknown & (pool.original == -1)).sum())
    share = 1 - unknown / int(holes.sum()) if holes.any() else 1.0
    if pool.settings.by_row:
        rows = (done.any(axis=1) & ~begun.any(axis=1)) | pool.bad
        started = int(begun.any(axis=1).sum())
        return int(rows.sum()), int(pool.open.any(axis=1).sum()), started, int(holes.sum()), share
    return int(done.sum()), int(pool.open.sum()), int(begun.sum()), int(holes.sum()), share


@given(st.integers(0, 10**6), any_settings)
@settings(max_examples=20)
def test_counts_match_a_recount_after_any_entries(seed: int, options: LabelVectorSettings) -> None:
    rng = np.random.default_rng(seed)
    table, _ = vectors(n=10, L=4, seed=seed)
    pool = LabelVectorPool(table, options)
    taken = 0
    for seq in range(1, 41):
        entry = random_entry(rng, pool, seq)
        try:
            if entry is not None:
                pool.apply(entry)
                taken += 1
        except AnswerError:
            continue
        assert (*pool.counted[:2], pool.counted.begun, pool.n_holes, pool.share_known) == recounted(pool)
    assert taken > 3  # otherwise the walk tests nothing
    disputed = pending = np.zeros(0, dtype=int)
    if (heard := heard_cells(pool)) is not None:
        disputed, pending = heard.rows[heard.disputed], heard.rows[heard.pending]
    assert pool.n_disputed == (len(set(disputed) - set(pending)) if pool.settings.by_row else len(disputed))


@pytest.mark.parametrize(
    ("answered", "open_", "bad", "by_row", "counts"),
    [
        ([1, 1, 0], [0, 0, 1], False, False, (2, 1, 0)),
        ([1, 1, 0], [0, 1, 1], False, False, (1, 2, 1)),
        ([1, 1, 0], [0, 1, 1], False, True, (0, 1, 1)),
        ([1, 1, 1], [1, 1, 0], False, True, (0, 1, 1)),
        ([1, 1, 0], [0, 0, 1], False, True, (1, 1, 0)),
        ([0, 0, 0], [0, 0, 0], True, True, (1, 0, 0)),
        ([0, 0, 0], [0, 0, 0], True, False, (0, 0, 0)),
    ],
)
def test_row_counts_match_values_computed_by_hand(
    answered: list[int], open_: list[int], bad: bool, by_row: bool, counts: tuple[int, int, int]
) -> None:
    found = count_row(np.array(answered, bool), np.array(open_, bool), 3, bad=bad, by_row=by_row)
    done, still_open, begun = counts
    assert found == CellCounts(done, still_open, 3, begun)
