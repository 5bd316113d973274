"""Labels that would look other than they are, or move a terminal's cursor, are refused with their place."""

from __future__ import annotations

from dataclasses import replace

import pandas as pd
import pytest

from plcore import LabelTable, Roles
from plcore.tables import TableError
from plcore.tables.growing import with_rows

ESCAPE, TURNED = "wr\x1b[2Jen", "wren\u202eneb"


def of(columns: dict[str, list[str]], roles: Roles) -> LabelTable:
    rows = len(next(iter(columns.values())))
    cells = pd.DataFrame({**columns, "n": [str(row) for row in range(rows)]}, dtype="str")
    return LabelTable.from_cells(cells, replace(roles, numbers=() if roles.text else ("n",)))


@pytest.mark.parametrize(
    ("columns", "roles", "row", "column"),
    [
        ({"heard": ["wren|tit", f"tit|{ESCAPE}", "tit|wren"]}, Roles(candidates="heard"), 2, "heard"),
        (
            {"heard": ['["a", "b"]', '["b", "\\u001b[1m"]']},
            Roles(candidates="heard", form="json"),
            2,
            "heard",
        ),
        ({"a": ["wren", "tit"], "b": ["tit", TURNED]}, Roles(choices=("a", "b")), 2, "b"),
        ({"ada": ["wren", "tit"], "ben": ["tit", ESCAPE]}, Roles(annotators=("ada", "ben")), 2, "ben"),
        ({"wren": ["1", "0"], TURNED: ["1", "1"]}, Roles(label_columns=("wren", TURNED)), None, TURNED),
        (
            {"p_wren": ["0.4", "0"], f"p_{ESCAPE}": ["1", "1"]},
            Roles(score_columns=("p_wren", f"p_{ESCAPE}"), score_prefix="p_"),
            None,
            f"p_{ESCAPE}",
        ),
        (
            {"has": ["wren;tit", "tit"], "not": ["", f"wren;{ESCAPE}"]},
            Roles(candidates="has", not_labels="not", separator=";", label_vectors=True),
            2,
            "not",
        ),
        (
            {"wren": ["1", "0"], ESCAPE: ["1", ""]},
            Roles(label_columns=("wren", ESCAPE), label_vectors=True),
            None,
            ESCAPE,
        ),
    ],
)
def test_the_first_cell_or_the_column_is_named(
    columns: dict[str, list[str]], roles: Roles, row: int | None, column: str
) -> None:
    with pytest.raises(TableError) as refused:
        of(columns, roles)
    (problem,) = refused.value.problems
    assert (problem.row, problem.column) == (row, column)
    assert "which no label may" in problem.message
    assert "terminal escape" in problem.message or "writing direction" in problem.message
    assert not set(str(problem)) & set("\x1b\u202e"), "what is said of it can be shown"


def test_names_of_every_writing_and_texts_with_lines_are_taken() -> None:
    table = of(
        {"text": ["two\nlines", "tab\there"], "heard": ["Zaunkönig|سنونو", "🐦‍⬛|日本の鳥"]},
        Roles(candidates="heard", text="text"),
    )
    assert len(table.classes) == 4


def test_rows_that_come_later_are_asked_the_same() -> None:
    table = of({"id": ["a", "b"], "heard": ["wren|tit", "tit|wren"]}, Roles(candidates="heard", id="id"))
    with pytest.raises(TableError) as refused:
        with_rows(table, pd.DataFrame({"id": ["c", "d"], "heard": ["tit", f"tit|{ESCAPE}"], "n": ["1", "2"]}))
    (problem,) = refused.value.problems
    assert (problem.row, problem.column) == (2, "heard")
