"""Further texts of a row: guessed, stored, appended, displayed, and learnt from."""

from __future__ import annotations

import json
from dataclasses import replace
from pathlib import Path

import numpy as np
import pandas as pd
import pytest

from plcore import FeatureTransformer, LabelTable, Roles, TableError, read_cells, suggest_roles
from plcore.kernel import PLKernelRidge
from plcore.tables import describe
from plcore.tables.growing import with_rows
from tests.plcore.tables.pairs import PAIRS, pair

WORDS = "a man in a red coat walks his dog along the river {}"


def pairs(**roles: object) -> LabelTable:
    return LabelTable.read_csv(PAIRS, replace(suggest_roles(read_cells(PAIRS)), **roles))  # type: ignore[arg-type]


def predicted(table: LabelTable) -> list[str]:
    """The predictions for the two open rows, which have the same hypothesis."""
    X = FeatureTransformer().fit(table).transform(table)
    named = pd.DataFrame(np.asarray(table.candidates), columns=list(table.classes))
    return list(PLKernelRidge(random_state=0).fit(X, named).predict(X[:2]))


def test_premise_is_guessed_as_further_text() -> None:
    table = pairs()
    assert (table.roles.text_columns, table.roles.caption) == (("hypothesis", "premise"), ())
    assert describe(table, "CSV").learnt_from == "text 'premise', text 'hypothesis'"


def test_rows_with_equal_hypotheses_are_told_apart_by_their_premises() -> None:
    assert predicted(pairs()) == ["harbour", "bakery"]
    alone = predicted(pairs(more_texts=(), caption=("premise",)))
    assert alone[0] == alone[1], "a caption is not learnt from"


def test_each_text_is_a_block_of_the_same_weight() -> None:
    table = pairs()
    features = FeatureTransformer().fit(table)
    X = features.transform(table)
    assert [features.feature_names_[one.columns.start].partition(":")[0] for one in features.blocks_] == [
        "hypothesis",
        "premise",
    ]
    for one in features.blocks_:
        block = X[:, one.columns].toarray()
        assert ((block - block.mean(axis=0)) ** 2).sum(axis=1).mean() == pytest.approx(1)


def test_text_without_words_adds_no_block() -> None:
    table = pairs()
    table = LabelTable.from_frame(table.cells.assign(premise="..."), table.roles)
    features = FeatureTransformer().fit(table)
    alone = FeatureTransformer().fit(pairs(more_texts=()))
    assert features.feature_names_ == alone.feature_names_
    assert (features.transform(table) != alone.transform(table)).nnz == 0


def test_stored_table_has_further_texts(tmp_path: Path) -> None:
    table = pairs()
    table.write(tmp_path / "t.parquet")
    read = LabelTable.read(tmp_path / "t.parquet")
    assert read.roles == table.roles
    assert predicted(read) == ["harbour", "bakery"]


def test_roles_without_further_texts_are_stored_as_before() -> None:
    assert "more_texts" not in Roles(candidates="c", text="t").to_json()
    roles = Roles(candidates="c", text="t", more_texts=("p",))
    assert Roles.from_json(json.loads(json.dumps(roles.to_json()))) == roles


def test_appended_rows_need_their_further_texts() -> None:
    table = pairs()
    line = pair("new", "harbour|bakery", "an old baker kneads the dough", "somebody is busy")
    grown = with_rows(table, read_cells(f"id,labels,premise,hypothesis\n{line}".encode())).table
    assert grown.cells["premise"].tolist()[-1] == "an old baker kneads the dough"
    with pytest.raises(TableError, match="no column 'premise'"):
        with_rows(table, read_cells(b"id,labels,hypothesis\nnew,harbour|bakery,somebody is busy\n"))


@pytest.mark.parametrize(
    ("columns", "text", "more"),
    [
        (("prompt", "response_a", "response_b"), "response_a", ("prompt", "response_b")),
        (("question", "answer"), "question", ("answer",)),
        (("text", "rationale"), "text", ()),
        (("text", "explanation"), "text", ()),
        (("text", "reasoning"), "text", ()),
        (("text", "why"), "text", ()),
        (("text", "notes"), "text", ()),
        (("text", "annotator_notes"), "text", ()),
        (("text", "text_en"), "text", ()),
        (("text", "translated_text"), "text", ()),
        (("text", "location"), "text", ()),
    ],
)
def test_texts_about_the_answer_are_no_further_texts(
    columns: tuple[str, ...], text: str, more: tuple[str, ...]
) -> None:
    n = 30
    cells = {"id": [f"r{k}" for k in range(n)], "labels": ["yes|no"] * n}
    cells |= {name: [f"{WORDS.format(k)} {name}" for k in range(n)] for name in columns}
    roles = suggest_roles(pd.DataFrame(cells))
    assert (roles.text, roles.more_texts) == (text, more)


def test_further_texts_need_a_text() -> None:
    with pytest.raises(TableError, match="further texts, but no column holds the first"):
        pairs(text=None)
    with pytest.raises(TableError, match="both a further text and part of the caption"):
        pairs(caption=("premise",))
