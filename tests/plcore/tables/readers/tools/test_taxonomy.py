"""Places in a tree as classes and groups of them."""

from __future__ import annotations

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from plcore import TableError
from plcore.tables.readers.tools.label_studio import a_path, taxonomy_of
from tests.plcore.tables.writers.tables import HOSTILE, LABELS, read_or_refuse


def test_classes_are_leaves_by_their_last_part() -> None:
    tree = taxonomy_of([("Corvus", "corax"), ("Corvus", "corone"), ("Corvus",), ("Pica", "pica")])
    assert tree.meaning == {
        ("Corvus", "corax"): ("corax",),
        ("Corvus", "corone"): ("corone",),
        ("Corvus",): ("corax", "corone"),
        ("Pica", "pica"): ("pica",),
    }
    assert tree.groups == {"Corvus": ("corax", "corone"), "Pica": ("pica",)}


def test_parts_that_come_twice_are_told_apart_by_the_whole_path() -> None:
    tree = taxonomy_of([("Online", "Free"), ("Offline", "Free"), ("Offline", "Paid")])
    assert tree.meaning[("Online", "Free")] == ("Online / Free",)
    assert tree.groups == {"Online": ("Online / Free",), "Offline": ("Offline / Free", "Paid")}


def test_labels_without_a_tree_are_classes() -> None:
    tree = taxonomy_of([("a",), ("b",), ("a",)])
    assert tree.meaning == {("a",): ("a",), ("b",): ("b",)}
    assert tree.groups == {}
    assert taxonomy_of([]).meaning == {}


def test_names_that_would_be_the_same_are_refused() -> None:
    with pytest.raises(TableError, match="'a / b'"):
        taxonomy_of([("a", "b"), ("c", "b"), ("a / b",)])


@given(st.lists(st.lists(LABELS, min_size=1, max_size=3).map(tuple), max_size=6))
@settings(max_examples=100, deadline=None)
def test_groups_are_unions_of_leaves(paths: list[tuple[str, ...]]) -> None:
    try:
        tree = taxonomy_of(paths)
    except TableError:
        return
    leaves = {path for path in paths if not any(len(o) > len(path) and o[: len(path)] == path for o in paths)}
    below = {path: {leaf for leaf in leaves if leaf[: len(path)] == path} for path in paths}
    assert all(len(tree.meaning[leaf]) == 1 for leaf in leaves)
    assert len({tree.meaning[path] for path in leaves}) == len(leaves), (
        "different leaves are different classes"
    )
    for path in paths:
        known = {tree.meaning[leaf][0] for leaf in below[path]}
        assert known <= set(tree.meaning[path])
        if path not in leaves:
            assert len(tree.meaning[path]) > 1, "a place above classes is never certain"


def test_taxonomy_place_with_one_known_class_is_a_class_itself() -> None:
    tree = taxonomy_of([("Turdus",), ("Turdus", "merula"), ("Parus", "major"), ("Parus", "ater"), ("Parus",)])
    assert tree.meaning[("Turdus",)] == ("Turdus", "merula")
    assert tree.meaning[("Parus",)] == ("major", "ater")
    assert tree.groups == {"Parus": ("major", "ater")}


@given(HOSTILE)
def test_any_value_is_a_path_or_refused(value: object) -> None:
    path = read_or_refuse(a_path, value, 3, "value.taxonomy")
    assert path is None or all(isinstance(part, str) and part for part in path)
