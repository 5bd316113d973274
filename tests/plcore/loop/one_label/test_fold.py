"""Folds of entry sequences into the candidates of a row, and refusals."""

from __future__ import annotations

import numpy as np
import pytest

from plcore import ActiveLearner, AnswerError, Entry, LearnerSettings
from tests.plcore.loop.fake_table import FakeTable

# Row 0 {a, b}; row 1 {a, b, c, d}; row 2 {a}; rows 3.. {c, d}
SETS = [[1, 1, 0, 0], [1, 1, 1, 1], [1, 0, 0, 0]] + [[0, 0, 1, 1]] * 5


def learner():
    table = FakeTable(np.arange(16.0).reshape(8, 2), SETS, classes=tuple("abcd"))
    return ActiveLearner(table, LearnerSettings(n_neighbors=3))


def told(*steps):
    """A learner after steps (kind, row, labels) or ("withdraw", row, seq)."""
    one = learner()
    for seq, (kind, row, *rest) in enumerate(steps, start=1):
        if kind == "withdraw":
            one.apply(Entry(seq, kind, row, "ann", target=rest[0]))
        else:
            one.apply(Entry(seq, kind, row, "ann", tuple(rest[0]) if rest else ()))
    return one


@pytest.mark.parametrize(
    ("steps", "left"),
    [
        ([("is", 0, "b")], "b"),
        ([("among", 1, "bd")], "bd"),
        ([("among", 1, "abcd")], "abcd"),
        ([("not", 1, "c")], "abd"),
        ([("not", 1, "c"), ("not", 1, "a")], "bd"),
        ([("not", 1, "c"), ("not", 1, "c")], "abd"),
        ([("none", 0)], "cd"),
        ([("none", 0), ("not", 0, "d")], "c"),
        ([("none", 0), ("is", 0, "c")], "c"),
        ([("none", 0), ("is", 0, "a")], "a"),
        ([("none", 2)], "bcd"),
        ([("unsure", 0)], "ab"),
        ([("skip", 0)], "ab"),
        ([("bad", 0)], ""),
        # The latest answer that sets candidates wins.
        ([("is", 0, "b"), ("is", 0, "a")], "a"),
        ([("not", 1, "c"), ("among", 1, "bc")], "bc"),
        ([("among", 1, "ab"), ("among", 1, "cd")], "cd"),
        ([("is", 1, "b"), ("none", 0), ("is", 1, "d")], "d"),
        ([("bad", 1), ("is", 1, "d")], "d"),
        ([("not", 1, "a"), ("bad", 1)], ""),
        ([("bad", 1), ("not", 1, "a")], ""),
        # `none` refers to the candidates left when it was asked, not to those at import.
        ([("none", 0), ("none", 0)], "ab"),
        ([("among", 1, "ab"), ("none", 1)], "cd"),
        ([("not", 1, "c"), ("none", 1)], "c"),
        ([("among", 1, "ab"), ("none", 1), ("is", 1, "a")], "a"),
        ([("is", 0, "a"), ("none", 0)], "bcd"),
        ([("bad", 0), ("none", 0)], "cd"),
        # Withdrawals: as if the entry had never been.
        ([("is", 0, "b"), ("withdraw", 0, 1)], "ab"),
        ([("is", 0, "b"), ("is", 0, "a"), ("withdraw", 0, 2)], "b"),
        ([("is", 0, "b"), ("is", 0, "a"), ("withdraw", 0, 1)], "a"),
        ([("not", 1, "a"), ("not", 1, "b"), ("withdraw", 1, 1)], "acd"),
        ([("not", 1, "a"), ("bad", 1), ("withdraw", 1, 2)], "bcd"),
        ([("bad", 1), ("not", 1, "a"), ("withdraw", 1, 1)], "bcd"),
        ([("none", 0), ("is", 0, "c"), ("withdraw", 0, 1)], "c"),
        ([("none", 0), ("not", 0, "c"), ("withdraw", 0, 1)], "ab"),
        # Both `not` answers would empty {a, b} once `none` is gone: the last candidate stays.
        ([("none", 0), ("not", 0, "a"), ("not", 0, "b"), ("withdraw", 0, 1)], "b"),
        # Without what came before, `none` would leave out every class: it is skipped, and a bad row stays out.
        ([("among", 1, "ab"), ("none", 1), ("withdraw", 1, 1)], "abcd"),
        ([("among", 1, "ab"), ("not", 1, "a"), ("none", 1), ("withdraw", 1, 1)], "a"),
        ([("among", 1, "ab"), ("bad", 1), ("none", 1), ("withdraw", 1, 1)], ""),
        ([("among", 1, "ab"), ("none", 1), ("none", 1), ("withdraw", 1, 2)], "cd"),
        ([("skip", 0), ("withdraw", 0, 1)], "ab"),
    ],
)
def test_candidates_after_steps_are_as_expected(steps, left):
    one = told(*steps)
    row = steps[0][1] if steps[-1][0] != "is" else steps[-1][1]
    assert "".join(one.state(row).candidates) == left
    assert one.candidates[row].tolist() == [name in left for name in "abcd"]
    assert one.state(row).bad == (left == "")
    untouched = [other for other in range(8) if other not in {step[1] for step in steps}]
    np.testing.assert_array_equal(one.candidates[untouched], np.array(SETS, dtype=bool)[untouched])


@pytest.mark.parametrize(
    ("steps", "kind"),
    [
        ([("is", 0, "b")], "is"),
        ([("is", 0, "b"), ("skip", 0)], "is"),
        ([("skip", 0), ("unsure", 0)], None),
        ([("is", 0, "b"), ("bad", 0)], "bad"),
        ([("is", 0, "b"), ("bad", 0), ("withdraw", 0, 2)], "is"),
        ([("is", 0, "b"), ("withdraw", 0, 1)], None),
    ],
)
def test_counting_answer_is_as_expected(steps, kind):
    answer = told(*steps).answer_of(0)
    assert (answer.kind if answer else None) == kind
    assert told(*steps).state(0).answer == answer


def entry(kind="is", row=0, labels=("a",), target=None, seq=9):
    return Entry(seq, kind, row, "ann", labels, target)


@pytest.mark.parametrize(
    ("wrong", "message"),
    [
        (entry("maybe"), "kind must be one of is, among, .* Got 'maybe'"),
        (entry(row=8), r"row must be in 0\.\.7. Got 8"),
        (entry(row=-1), "row must be"),
        (entry(row="0"), "row must be"),
        (entry(labels=()), "'is' takes one label, each once. Got \\[\\]"),
        (entry(labels=("a", "b")), "'is' takes one label"),
        (entry("not", 1, ()), "'not' takes one label"),
        (entry("not", 1, ("a", "b")), "'not' takes one label"),
        (entry("among", 1, ()), "'among' takes one label or more"),
        (entry("among", 1, ("a", "a")), "each once"),
        (entry("none"), "'none' takes no labels"),
        (entry("bad"), "'bad' takes no labels"),
        (entry("skip"), "'skip' takes no labels"),
        (entry("unsure"), "'unsure' takes no labels"),
        (entry(labels=("z",)), "'z' is not a class. The classes: a, b, c, d"),
        (entry(labels=("c",)), "'c' is not among its candidates 'a', 'b'.*'none' first"),
        (entry("among", labels=("a", "d")), "'d' is not among"),
        (entry("not", labels=("d",)), "'d' is not among"),
        (entry("not", 2), "'a' is the last candidate"),
        (entry("none", 1, ()), "every class is a candidate.*'bad'"),
        (entry(row=True), "row must be an int. Got True"),
        (entry(row=1.0), "row must be an int. Got 1.0"),
        (entry(kind=["is"]), "kind must be one of"),
        (entry(labels="a"), "labels must be a tuple of str. Got 'a'"),
        (entry(labels=None), "labels must be a tuple of str. Got None"),
        (entry(labels=["a"]), "labels must be a tuple of str"),
        (entry(labels=(1,)), "labels must be a tuple of str"),
        (entry(seq=None), "seq of an entry must be an int. Got None"),
        (entry(seq="1"), "seq of an entry must be an int. Got '1'"),
        (entry(seq=9.5), "seq of an entry must be an int. Got 9.5"),
        (entry(seq=True), "seq of an entry must be an int. Got True"),
        (entry("withdraw", labels=(), target=[]), "target must be the seq of an entry"),
        (entry("withdraw", labels=(), target=1.0), "target must be the seq of an entry"),
        (Entry(9, "is", 0, None, ("a",)), "annotator must be a str. Got None"),
        (entry(target=1), "target is"),
        (entry("withdraw", labels=()), "target is"),
        (entry("withdraw", labels=(), target=7), "no entry 7"),
        (entry("withdraw", labels=(), target=9), "no entry 9"),
        (entry("withdraw", 1, (), 1), "entry 1 is about row 0, not 1"),
        (entry("withdraw", 0, ("a",), 1), "'withdraw' has no labels"),
        (entry("withdraw", 0, (), 2), "entry 2 is already withdrawn"),
        (entry("withdraw", 0, (), 3), "no entry 3"),  # a withdrawal cannot be withdrawn
        (entry(seq=3), "comes too late: entries up to 3 are applied"),
        (entry(seq=0), "comes too late"),
    ],
)
def test_impossible_entries_are_refused_and_change_nothing(wrong, message):
    steps = [("not", 0, "b"), ("skip", 0), ("withdraw", 0, 2)]
    one, other = told(*steps), told(*steps)
    for refuse in (one.check, one.apply):
        with pytest.raises(AnswerError, match=message):
            refuse(wrong)
    assert one.seq == 3
    assert one.curve == other.curve
    assert one.progress() == other.progress()
    np.testing.assert_array_equal(one.candidates, other.candidates)
    assert one.next_question("ann") == other.next_question("ann")


def test_checking_an_entry_changes_nothing():
    one = learner()
    one.check(Entry(1, "is", 0, "ann", ("a",)))
    assert one.seq == 0
    assert one.progress().answers == 0
    one.apply(Entry(5, "is", 0, "ann", ("a",)))  # gaps in seq are fine: other projects share nothing, logs may skip
    assert one.seq == 5
