"""Verdicts on each row of the file: true, false or open, never from a model."""

from __future__ import annotations

import numpy as np
import pandas as pd
import pytest
from hypothesis import given
from hypothesis import strategies as st

from plcore.tables.readers.tools.detections import NOTHING
from plcore.tables.writers.verdicts import PeoplesVerdict, has_original_rows, original_columns, original_rows, verdicts
from tests.plcore.tables.readers.tools.detector_tables import BIRDNET
from tests.plcore.tables.writers.answered import AT, answered
from tests.plcore.tables.writers.tables import small_table


def states(answers: dict[int, tuple[str, ...] | str], **more: dict[str, str]) -> list[str]:
    table = answered(answers=answers, **more)  # type: ignore[arg-type]
    return [row.verified[0] for piece in original_rows(table) for row in piece]


@pytest.mark.parametrize(
    ("answers", "wanted"),
    [
        ({}, ["", "", "", ""]),
        ({0: ("Great tit",)}, ["true", "false", "", ""]),
        ({0: (NOTHING,)}, ["false", "false", "", ""]),
        ({0: ("Great tit", "Coal tit")}, ["", "", "", ""]),
        ({0: ("Coal tit", NOTHING)}, ["false", "", "", ""]),
        ({2: ("Great tit",)}, ["", "", "", "false"]),
        ({1: "bad"}, ["", "", "", ""]),
        ({1: "skip"}, ["", "", "", ""]),
    ],
)
def test_answer_decides_the_rows_of_its_item(answers: dict[int, tuple[str, ...] | str], wanted: list[str]) -> None:
    assert states(answers) == wanted


def test_prediction_is_not_a_verdict() -> None:
    table = answered()
    table.candidates_after[:] = table.candidates_after.argmax(axis=1)[:, None] == np.arange(len(table.classes))
    table.source[:] = "model"
    assert verdicts(table) == [PeoplesVerdict()] * 3


@pytest.mark.parametrize("source", ["pending", "disputed"])
def test_undecided_row_has_no_verdict(source: str) -> None:
    table = answered(answers={0: ("Great tit",)})
    table.source[0] = source
    assert verdicts(table)[0] == PeoplesVerdict()
    assert [row.verified[0] for piece in original_rows(table) for row in piece] == [""] * 4


def test_verdict_has_annotator_and_time() -> None:
    (piece,) = original_rows(answered(answers={0: ("Coal tit",)}))
    assert [row.verified for row in piece] == [
        ("false", "Coal tit", "ann", AT),
        ("true", "Coal tit", "ann", AT),
        *[("", "", "", "")] * 2,
    ]


def test_renamed_and_merged_classes_are_used() -> None:
    renamed = {"Great tit": "Kohlmeise"}
    assert states({0: ("Kohlmeise",)}, renamed=renamed) == ["true", "false", "", ""]
    merged = {"Great tit": "tit", "Coal tit": "tit"}
    assert states({0: ("tit",)}, renamed=merged) == ["true", "true", "", ""]


def test_row_for_several_classes_is_true_if_one_of_them_is() -> None:
    one, two = PeoplesVerdict(frozenset(["a"]), "a", "ann", "now"), PeoplesVerdict(frozenset(["a", "b"]))
    assert one.of(["a", "b"])[0] == two.of(["a", "b"])[0] == "true"
    assert two.of(["c"])[0] == "false"
    assert two.of(["a"]) == PeoplesVerdict().of(["a"]) == PeoplesVerdict(frozenset()).of(["a"]) == ("", "", "", "")


def test_row_without_a_class_has_no_verdict_but_the_found_label() -> None:
    assert PeoplesVerdict(frozenset(["a"]), "a", "ann", "now").of([]) == ("", "a", "ann", "now")


def test_none_of_these_confirms_no_class_even_if_one_is_left() -> None:
    """The project has one more class, but ruling out the others does not prove it."""
    table = answered(answers={0: ("Eurasian Blackbird",)})
    table.answers[0].update(kind="none", labels=[])
    table.source[0] = "remaining"
    assert verdicts(table)[0].label == ""
    assert [row.verified[:2] for piece in original_rows(table) for row in piece][:2] == [("false", "")] * 2


def test_rows_keep_the_order_of_the_file() -> None:
    lines = BIRDNET.decode().splitlines()
    mixed = "\n".join([lines[0], lines[1], lines[3], lines[2], lines[4]]).encode()
    table = answered(mixed)
    for size in (1, 3, 100):
        pieces = list(original_rows(table, size))
        assert max(map(len, pieces)) <= size
        found = [row for piece in pieces for row in piece]
        assert [row.cells["Confidence"] for row in found] == ["0.8125", "0.5", "0.125", "0.25"]
        assert [row.item for row in found] == [0, 1, 0, 2]


def test_rows_of_added_files_come_after() -> None:
    first = answered()
    cells = pd.concat([first.cells, first.cells.iloc[:1]], ignore_index=True)
    second = answered(answers={0: (NOTHING,)})
    parts = [np.concatenate([getattr(first, name), getattr(first, name)[:1]]) for name in ("ids", "source")]
    grown = second.__class__(
        *(parts[0], cells, first.classes),
        *(np.vstack([array, array[:1]]) for array in (first.candidates_before, second.candidates_after)),
        *(None, np.full(4, -1), parts[1], np.full(4, np.nan), second.answers),
    )
    (piece,) = original_rows(grown)
    assert [row.item for row in piece] == [0, 0, 1, 2, 3, 3]


def test_other_tables_have_no_such_rows() -> None:
    table = small_table()
    assert not has_original_rows(table.cells)
    assert not has_original_rows(table.cells.assign(original_rows="x"))
    assert has_original_rows(answered().cells)
    assert list(original_rows(table)) == []
    assert original_columns(table) == ()
    assert original_columns(answered())[0] == "Start (s)"


@given(st.lists(st.tuples(st.integers(0, 2), st.integers(1, 15)), max_size=3))
def test_verdicts_match_the_remaining_labels(given_answers: list[tuple[int, int]]) -> None:
    """By brute force over the remaining labels of each item."""
    names = ("Coal tit", "Eurasian Blackbird", "Great tit", NOTHING)
    answers = {row: tuple(name for bit, name in enumerate(names) if bits >> bit & 1) for row, bits in given_answers}
    labels = [(0, "Great tit"), (0, "Coal tit"), (1, "Great tit"), (2, "Eurasian Blackbird")]
    wanted = []
    for row, label in labels:
        left = answers.get(row)
        wanted.append("" if left is None else "false" if label not in left else "true" if len(left) == 1 else "")
    assert states(answers) == wanted  # type: ignore[arg-type]
