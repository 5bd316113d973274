"""The search by columns finds the rows that a look at each row finds, whatever the letters and their case."""

from __future__ import annotations

import pandas as pd
from hypothesis import example, given
from hypothesis import strategies as st

from plcore import LabelTable, Roles
from workflow.rows.finding import rows_with, words_of

TEXT = st.text(st.sampled_from("aAbBßſKkİiéÉ 1\tσΣς"), max_size=5)


@given(st.lists(st.tuples(TEXT, TEXT), min_size=1, max_size=6), TEXT, st.booleans())
@example([("STRASSE", "x"), ("straße", "y")], "strasse", True)
@example([("\u212a", "x")], "k", False)
def test_it_finds_what_a_look_at_each_row_finds(
    rows: list[tuple[str, str]], search: str, named: bool
) -> None:
    cells = pd.DataFrame(
        {
            "id": [f" {text.strip()}{number}" for number, (text, _) in enumerate(rows)],
            "text": [text for text, _ in rows],
            "kind": [kind for _, kind in rows],
            "candidates": ["x|y"] * len(rows),
        },
        dtype="str",
    )
    roles = Roles(candidates="candidates", id="id" if named else None, text="text", categories=("kind",))
    table = LabelTable.from_cells(cells, roles)
    found = rows_with(table, words_of(search))
    assert list(found) == list(dict.fromkeys(search.casefold().split()))
    for word, held in found.items():
        looked = [
            word in " ".join((str(name), *texts)).casefold()
            for name, texts in zip(table.ids, rows, strict=True)
        ]
        assert held.tolist() == looked


def test_no_word_is_looked_for_in_nothing() -> None:
    cells = pd.DataFrame({"c": ["x|y"], "w": ["1"]}, dtype="str")
    table = LabelTable.from_cells(cells, Roles(candidates="c", numbers=("w",)))
    assert rows_with(table, words_of(" \t")) == {}
    assert rows_with(table, ["1"])["1"].tolist() == [True], "rows without ids are called by their numbers"
