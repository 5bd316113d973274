"""Classes added, renamed and merged: names stay unique, answers keep their meaning, a rebuilt fold is the live one."""

from __future__ import annotations

import numpy as np
import pandas as pd
import pytest
from hypothesis import given
from hypothesis import strategies as st

from plcore import AnswerError, Entry, LabelTable, Roles
from plcore.arrays.candidate_sets import CandidateSets
from plcore.loop import ClassChange, ClassError, ClassMap, class_changes, with_classes
from plcore.loop.classes import class_names, moved
from plcore.loop.one_label.fold import CandidateFold, ClassFold, fold_under

FIRST = ("ant", "bee", "cat", "dog")


def mapped(*changes: tuple[str, ...], first: tuple[str, ...] = FIRST) -> ClassMap:
    """The map after these changes, entries 1, 2, ...; ("back", k) withdraws entry k."""
    made = []
    for seq, (kind, *names) in enumerate(changes, start=1):
        if kind == "back":
            made.append(ClassChange(seq, kind, target=int(names[0])))
        else:
            made.append(ClassChange(seq, kind, tuple(names)))
    return ClassMap(first, made)


def test_add_rename_and_merge_give_effective_names_in_order() -> None:
    one = mapped(("add", "eel"), ("rename", "bee", "wasp"), ("merge", "ant", "cat"))
    assert one.classes == ("wasp", "cat", "dog", "eel")
    was = ("ant", "bee", "cat", "dog", "eel", "wasp")
    assert list(dict.fromkeys(map(one.now, was))) == ["cat", "wasp", "dog", "eel"]
    assert one.names_of("cat") == ("ant", "cat")
    assert one.imported == FIRST


@pytest.mark.parametrize(
    ("change", "said"),
    [
        (("add", "bee"), "class 'bee' already"),
        (("add", " "), "without blanks"),
        (("add", " x"), "without blanks"),
        (("add", "a\nb"), "one line, without control"),
        (("rename", "bee", "cat"), "or merge the two"),
        (("rename", "bee", "bee"), "already"),
        (("rename", "fox", "owl"), "'fox' is not a class"),
        (("merge", "bee", "bee"), "into itself"),
        (("merge", "bee", "fox"), "'fox' is not a class"),
        (("back", "1"), "there is none"),
    ],
)
def test_invalid_changes_are_refused(change: tuple[str, ...], said: str) -> None:
    with pytest.raises(ClassError, match=said):
        mapped(change)


def test_earlier_name_can_be_reused_only_by_its_own_class() -> None:
    renamed = mapped(("rename", "ant", "eel"))
    for change in (ClassChange(2, "add", ("ant",)), ClassChange(2, "rename", ("bee", "ant"))):
        with pytest.raises(ClassError, match="earlier name of 'eel'"):
            renamed.changed(change)
    assert renamed.changed(ClassChange(2, "rename", ("eel", "ant"))).classes == FIRST


def test_earlier_names_are_listed_while_the_class_is_the_same() -> None:
    after = mapped(("rename", "ant", "emmet"), ("add", "eel"), ("merge", "cat", "bee"))
    assert list(after.earlier_names(("emmet", "eel"))) == [("emmet", "eel"), ("emmet", "eel")]
    assert list(after.earlier_names(("emmet",))) == [("emmet",)] * 3 + [("ant",)]
    assert list(after.earlier_names(("emmet", "bee"))) == [("emmet", "bee")], "cats were no bees before"
    assert {"ant", "emmet", "cat", "eel"} <= set(after.known_names)
    assert "fox" not in after.known_names


def test_names_in_entries_map_to_current_names_of_the_same_class() -> None:
    after = mapped(("rename", "ant", "emmet"), ("add", "eel"), ("merge", "cat", "bee"))
    assert after.called_now(("ant",), 1) == ("emmet",)
    assert after.called_now(("emmet", "eel"), 3) == ("emmet", "eel")
    assert after.called_now(("bee",), 4) == ("bee",)
    assert after.called_now(("ant", "bee"), 1) is None, "cats were no bees then"
    assert after.called_now(("cat",), 3) is None
    assert after.called_now((), 1) == ()


def test_last_two_classes_cannot_be_merged() -> None:
    with pytest.raises(ClassError, match="leave nothing to decide"):
        mapped(("merge", "a", "b"), first=("a", "b"))


def test_only_the_latest_change_can_be_withdrawn() -> None:
    one = mapped(("add", "eel"), ("rename", "eel", "owl"))
    with pytest.raises(ClassError, match="the latest is entry 2"):
        one.changed(ClassChange(3, "back", target=1))
    back = one.changed(ClassChange(3, "back", target=2))
    assert (back.classes, back.latest.seq) == ((*FIRST, "eel"), 1)
    assert back.now("owl") == "eel", "a name given meanwhile stays known"
    gone = back.changed(ClassChange(4, "back", target=1))
    assert (gone.classes, gone.latest) == (FIRST, None)
    assert gone.changed(ClassChange(5, "add", ("owl",))).classes == (*FIRST, "owl")


def test_log_entries_become_changes() -> None:
    log = [
        Entry(1, "is", 0, "1", ("ant",)),
        Entry(2, "class", -1, "1", ("merge", "ant", "bee")),
        Entry(3, "withdraw", 0, "1", target=1),
        Entry(4, "withdraw", -1, "1", target=2),
    ]
    assert class_changes(log) == (ClassChange(2, "merge", ("ant", "bee")), ClassChange(4, "back", target=2))
    assert class_changes(log)[0].labels == ("merge", "ant", "bee")
    with pytest.raises(ClassError, match="takes \\(from, into\\)"):
        ClassChange(1, "merge", ("ant",))
    with pytest.raises(ClassError, match="one of add, rename"):
        ClassChange(1, "split", ("ant",))


names = st.sampled_from([*FIRST, "eel", "fox", "gnu"])
wanted = st.one_of(
    st.tuples(st.just("add"), names),
    st.tuples(st.just("rename"), names, names),
    st.tuples(st.just("merge"), names, names),
    st.tuples(st.just("back")),
)


def accepted(steps: list[tuple[str, ...]]) -> ClassMap:
    """The map of those steps that are possible, in order."""
    one = ClassMap(FIRST)
    for seq, (kind, *given_names) in enumerate(steps, start=1):
        target = one.latest.seq if kind == "back" and one.latest else None
        try:
            one = one.changed(ClassChange(seq, kind, tuple(given_names), target))
        except ClassError:
            continue
    return one


@given(st.lists(wanted, max_size=12))
def test_names_stay_unique_and_mapping_is_idempotent(steps: list[tuple[str, ...]]) -> None:
    one = accepted(steps)
    assert len(set(one.classes)) == len(one.classes) >= 2
    for name in {*FIRST, *one.classes}:
        now = one.now(name)
        assert now in one.classes
        assert one.now(now) == now
    assert tuple(map(one.now, one.classes)) == one.classes
    within = sorted(k for roots in one.eras[-1].roots for k in roots)
    assert within == np.flatnonzero(one.alive).tolist(), "every class that counts is in exactly one set"
    everyone = [name for label in one.classes for name in one.names_of(label)]
    assert len(everyone) == len(set(everyone)), "no name belongs to two classes"


@given(st.sampled_from(FIRST), st.text("xyz", min_size=1, max_size=3), st.text("uvw", min_size=1, max_size=3))
def test_renaming_twice_equals_renaming_once(old: str, first: str, second: str) -> None:
    twice, once = mapped(("rename", old, first), ("rename", first, second)), mapped(("rename", old, second))
    assert twice.classes == once.classes
    assert [twice.now(name) for name in FIRST] == [once.now(name) for name in FIRST]


@given(st.permutations(FIRST))
def test_merged_groups_do_not_depend_on_merge_order(order: list[str]) -> None:
    a, b, c, _ = order
    one, other = mapped(("merge", a, b), ("merge", b, c)), mapped(("merge", b, c), ("merge", a, c))
    assert one.classes == other.classes
    assert [one.now(name) for name in FIRST] == [other.now(name) for name in FIRST]


def table_of(sets: list[str], truth: list[str]) -> LabelTable:
    frame = pd.DataFrame({"c": sets, "truth": truth, "x": np.arange(len(sets), dtype=float)})
    return LabelTable.from_frame(frame, Roles(candidates="c", truth="truth", numbers=("x",)))


def test_mapped_table_keeps_its_cells() -> None:
    table = table_of(["ant|bee", "bee|cat", "cat", "ant|dog"], ["ant", "", "cat", "dog"])
    one = mapped(("merge", "bee", "ant"), ("rename", "cat", "lion"), ("add", "eel"))
    now = with_classes(table, one)
    assert now.classes == ("ant", "lion", "dog", "eel")
    assert now.candidates.tolist() == [
        [True, False, False, False],
        [True, True, False, False],
        [False, True, False, False],
        [True, False, True, False],
    ]
    assert now.truth.tolist() == [0, -1, 1, 2]
    assert now.cells.equals(table.cells)
    assert table.classes == FIRST, "the table itself is as it was"
    assert with_classes(table, ClassMap(FIRST)) is table
    with pytest.raises(ClassError, match="other classes"):
        with_classes(now, one)


def test_weights_of_merged_classes_add_up() -> None:
    frame = pd.DataFrame(
        {"p": ["ant", "bee", "cat"], "q": ["ant", "cat", "cat"], "r": ["bee", "cat", "dog"], "x": [1, 2, 3]}
    )
    table = LabelTable.from_frame(frame, Roles(annotators=("p", "q", "r"), numbers=("x",)))
    assert table.candidate_weights.tolist() == [[2, 1, 0, 0], [0, 1, 2, 0], [0, 0, 2, 1]]
    one = mapped(("merge", "bee", "ant"), ("rename", "cat", "lion"), ("add", "eel"))
    now = with_classes(table, one)
    assert now.classes == ("ant", "lion", "dog", "eel")
    assert now.candidate_weights.tolist() == [[3, 0, 0, 0], [1, 2, 0, 0], [0, 2, 1, 0]]
    assert now.candidate_weights.dtype == np.float64
    assert ((now.candidate_weights > 0) == now.candidates).all()
    assert with_classes(table_of(["ant|bee", "cat|dog"], ["", ""]), one).candidate_weights is None


# Answers when classes change

SETS = np.array([[1, 1, 0, 0], [0, 1, 1, 0], [1, 1, 1, 1], [0, 0, 1, 1]], dtype=bool)


def fold_of(class_map: ClassMap, closed: dict[int, str] | None = None) -> CandidateFold:
    roots = class_map.rooted(SETS)
    first = class_map.onto(roots)
    return fold_under(class_map, roots, first, closed or {})


def left_after(log: list[Entry], row: int) -> str:
    """The candidates of a row once this log, classes and all, has been read from its beginning."""
    one = ClassMap(FIRST, class_changes(log))
    fold = replayed(one, log)
    return " ".join(name for name, may in zip(one.classes, fold.fold(row).left, strict=True) if may)


def replayed(class_map: ClassMap, log: list[Entry]) -> CandidateFold:
    fold = fold_of(class_map)
    for entry in log:
        if entry.row >= 0:
            fold.check(entry)
            fold.add(entry)
    return fold


def logged(*steps: tuple[object, ...]) -> list[Entry]:
    """(kind, row, labels) or ("class", labels) or ("withdraw", row, seq)."""
    log = []
    for seq, (kind, *rest) in enumerate(steps, start=1):
        if kind == "class":
            log.append(Entry(seq, "class", -1, "own", tuple(str(rest[0]).split())))
        elif kind == "withdraw":
            log.append(Entry(seq, "withdraw", int(rest[0]), "ann", target=int(rest[1])))
        else:
            labels = tuple(str(rest[1]).split()) if len(rest) > 1 else ()
            log.append(Entry(seq, str(kind), int(rest[0]), "ann", labels))
    return log


@pytest.mark.parametrize(
    ("steps", "left"),
    [
        ([("is", 0, "ant"), ("class", "rename ant emu")], "emu"),
        ([("is", 0, "bee"), ("class", "merge bee ant")], "ant"),
        # Ruled out before the merge: the class it went into is still possible, so nothing is removed.
        ([("not", 0, "bee"), ("class", "merge bee ant")], "ant"),
        ([("not", 1, "bee"), ("class", "merge bee ant")], "cat"),
        ([("class", "merge bee ant"), ("not", 1, "ant")], "cat"),
        # `none` of bee and cat left ant: merged with bee, ant still remains.
        ([("none", 1), ("class", "merge bee ant")], "ant dog"),
        ([("class", "merge bee ant"), ("none", 1)], "dog"),
        # Merged and withdrawn: an answer given meanwhile means both.
        ([("class", "merge bee ant"), ("is", 0, "ant"), ("withdraw", -1, 1)], "ant bee"),
        ([("is", 0, "bee"), ("class", "merge bee ant"), ("withdraw", -1, 2)], "bee"),
        ([("class", "rename ant emu"), ("is", 0, "emu"), ("withdraw", -1, 1)], "ant"),
        # An added class is open to rows that were answered `none`, before or after, and to no others.
        ([("none", 0), ("class", "add eel")], "cat dog eel"),
        ([("class", "add eel"), ("none", 2), ("is", 2, "eel")], "eel"),
        ([("class", "add eel")], "ant bee"),
        # Withdrawn: as if it had never been, and `none` of all four is skipped.
        ([("class", "add eel"), ("none", 2), ("withdraw", -1, 1)], "ant bee cat dog"),
    ],
)
def test_answers_keep_their_meaning(steps: list[tuple[object, ...]], left: str) -> None:
    log = logged(*steps)
    assert left_after(log, next(entry.row for entry in log if entry.row >= 0) if len(steps) > 1 else 0) == left


def test_new_answers_use_the_current_classes() -> None:
    log = logged(("class", "merge bee ant"))
    fold = replayed(ClassMap(FIRST, class_changes(log)), log)
    with pytest.raises(AnswerError, match="'bee' is not a class"):
        fold.check(Entry(2, "is", 0, "ann", ("bee",)))
    with pytest.raises(AnswerError, match="last candidate"):
        fold.check(Entry(2, "not", 0, "ann", ("ant",)))


def test_answered_class_cannot_silently_disappear() -> None:
    log = logged(("class", "add eel"), ("none", 0), ("is", 0, "eel"), ("withdraw", -1, 1))
    with pytest.raises(AnswerError, match="'eel', was withdrawn"):
        replayed(ClassMap(FIRST, class_changes(log)), log)


def test_fold_without_changes_is_the_plain_fold() -> None:
    assert type(fold_under(ClassMap(FIRST), SETS, SETS, {})) is CandidateFold
    assert isinstance(fold_of(mapped(("add", "eel"))), ClassFold)


def test_rows_that_accept_no_answers_keep_their_given_labels() -> None:
    fold = fold_of(mapped(("merge", "bee", "ant")), {0: "given"})
    assert fold.fold(0).left.tolist() == [True, False, False]
    with pytest.raises(AnswerError, match="given"):
        fold.check(Entry(2, "is", 0, "ann", ("ant",)))


said = st.tuples(
    st.sampled_from(["is", "among", "not", "none", "bad", "unsure", "withdraw"]),
    st.integers(0, len(SETS) - 1),
    st.integers(0, 10**6),
)
happened = st.lists(st.one_of(said, said, said, wanted.map(lambda change: ("class", change))), max_size=25)


@given(happened)
def test_rebuilt_fold_equals_live_one_and_merges_map_candidates(steps: list[tuple]) -> None:
    """A live fold, rebuilt at each change of classes only, against the law of images; at the end against a replay."""
    log: list[Entry] = []
    now, live = ClassMap(FIRST), fold_of(ClassMap(FIRST))
    for step in steps:
        seq = len(log) + 1
        if step[0] == "class":
            kind, *given_names = step[1]
            target = now.latest.seq if kind == "back" and now.latest else None
            try:
                new = now.changed(ClassChange(seq, kind, tuple(given_names), target))
                rebuilt = replayed(new, log)
            except (ClassError, AnswerError):
                continue
            if kind in ("rename", "merge"):
                for row in range(len(SETS)):
                    before, after = live.fold(row), rebuilt.fold(row)
                    names_before = [name for name, may in zip(now.classes, before.left, strict=True) if may]
                    image = {new.now(name) for name in names_before}
                    assert image == {name for name, may in zip(new.classes, after.left, strict=True) if may}
                    assert (before.out, before.answer) == (after.out, after.answer)
            log.append(
                Entry(seq, "withdraw", -1, "own", target=target)
                if kind == "back"
                else Entry(seq, "class", -1, "own", (kind, *given_names))
            )
            now, live = new, rebuilt
            continue
        kind, row, pick = step
        entry = answer_like(now, live, seq, kind, row, pick)
        try:
            live.check(entry)
        except AnswerError:
            continue
        expected = live.fold_with(entry)
        live.add(entry)
        log.append(entry)
        np.testing.assert_array_equal(live.fold(row).left, expected.left)
    again = replayed(ClassMap(FIRST, class_changes(log)), log)
    for row in range(len(SETS)):
        assert live.fold(row).left.any()
        np.testing.assert_array_equal(again.fold(row).left, live.fold(row).left)
        assert again.fold(row)[1:] == live.fold(row)[1:]


def answer_like(now: ClassMap, live: CandidateFold, seq: int, kind: str, row: int, pick: int) -> Entry:
    if kind == "withdraw":
        mine = live.entries(row)
        target = mine[pick % len(mine)].seq if mine else 0
        return Entry(seq, kind, row, "ann", target=target)
    names_now = now.classes
    if kind in ("is", "not"):
        return Entry(seq, kind, row, "ann", (names_now[pick % len(names_now)],))
    if kind == "among":
        chosen = tuple(name for place, name in enumerate(names_now) if pick >> place & 1)
        return Entry(seq, kind, row, "ann", chosen or names_now[:1])
    return Entry(seq, kind, row, "ann")


def test_names_can_contain_separators() -> None:
    for name in ("👩\u200d🚀", "می\u200cخواهم"):
        assert ClassMap(("ant", "bee"), [ClassChange(1, "add", (name,))]).classes == ("ant", "bee", name)


def test_classes_before_rows_end_at_previous_change() -> None:
    """Classes added right before rows may belong to them; a class added alone is a separate change."""

    def before(*changes: tuple[int, str, str]) -> tuple[int, ...]:
        return ClassMap(FIRST, [ClassChange(seq, kind, (name,)) for seq, kind, name in changes]).before_rows

    assert before((3, "rows", "9")) == (0,)
    assert before((3, "add", "emu"), (4, "rows", "9")) == (3, 0)
    assert before((3, "add", "emu"), (7, "rows", "9")) == (3,)
    assert before((3, "add", "emu"), (7, "add", "gnu"), (8, "rows", "9"), (11, "rows", "12")) == (8, 7, 3)
    assert before((3, "rows", "9"), (5, "add", "emu")) == ()


# Map statements to other classes: rows, matrices and sets alike; and names in messages.


PLACES = np.array([2, -1, 0, 2, 1])


@pytest.mark.parametrize("dtype", [bool, float, np.int64])
def test_classes_mapped_to_the_same_place_are_summed(dtype):
    rng = np.random.default_rng(0)
    values = (rng.random((20, 5)) < 0.4).astype(dtype)
    of_others = np.zeros((5, 4))
    of_others[np.arange(5)[PLACES >= 0], PLACES[PLACES >= 0]] = 1
    expected = (values.astype(float) @ of_others).astype(dtype)
    found = moved(values, PLACES, 4)
    assert found.dtype == values.dtype
    np.testing.assert_array_equal(found, expected)
    for row, whole in zip(values, expected, strict=True):
        np.testing.assert_array_equal(moved(row, PLACES, 4), whole)
    if dtype is bool:
        sets = moved(CandidateSets.of_mask(values), PLACES, 4)
        assert isinstance(sets, CandidateSets)
        np.testing.assert_array_equal(sets, expected)


def test_message_names_some_classes_and_counts_the_others():
    assert class_names(("a", "b")) == "a, b"
    many = [f"c{number}" for number in range(100_000)]
    assert class_names(many) == ", ".join(many[:20]) + " and 99,980 more"
