"""Lists of labels as programs print them, and cells that could hold up a pattern."""

from __future__ import annotations

import pytest

from plcore.tables.roles.written_lists import read_cell


@pytest.mark.parametrize(
    "cell",
    [
        "frozenset({'cat', 'dog'})",
        "set(['cat', 'dog'])",
        "array(['cat', 'dog'], dtype=object)",
        "np.array( ['cat', 'dog'] , dtype='str')",
        "pd.core.Index(['cat', 'dog'], dtype='object', name='labels')",
        "dict_keys(['cat', 'dog'])",
        "array(['cat' 'dog'], dtype=object)",
        "Counter({'cat': 2, 'dog': 1})",
    ],
)
def test_lists_inside_a_call_are_read(cell: str) -> None:
    assert sorted(name for name, _ in read_cell(cell) or ()) == ["cat", "dog"]


@pytest.mark.parametrize("cell", ["set()", "set(cat)", "len(['cat'])", "set(['cat'], 2)", "set(['cat']", "set([)"])
def test_other_calls_are_not_lists(cell: str) -> None:
    assert read_cell(cell) is None


LONG = 90_000
"""Number of characters at which a quadratic pattern would take a quarter of an hour for 30 cells."""


@pytest.mark.parametrize(
    "cell",
    [
        "set([]" + " " * LONG + "x",
        "set([]" + " " * LONG + "x)",
        "set(" + "[]" * (LONG // 2) + ", a=",
        "set([" + "], " * (LONG // 3) + "x)",
        "set([1]" + ", a=1" * (LONG // 5) + ", a=,)",
        "a." * (LONG // 2) + "set([1]",
        "<a" + ".a" * (LONG // 2) + ": 1",
        "np.str_('" * (LONG // 9),
    ],
    ids=lambda cell: f"{cell[:8]!r}...{cell[-8:]!r}",
)
def test_long_hostile_cells_are_parsed_in_linear_time(cell: str) -> None:
    assert [read_cell(cell + "," * k) for k in range(30)] == [None] * 30
