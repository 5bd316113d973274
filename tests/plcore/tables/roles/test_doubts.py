"""Doubts: what is odd is told in words, and an ordinary table raises none."""

from __future__ import annotations

from dataclasses import replace

import pytest

from plcore import LabelTable, Roles, suggest_roles
from plcore.tables import read_cells
from plcore.tables.roles.doubts import Doubt, find_doubts


def told(csv: str, **changed: object) -> dict[str, Doubt]:
    cells = read_cells(csv.encode())
    roles: Roles = replace(suggest_roles(cells), **changed)  # type: ignore[arg-type]
    return {one.name: one for one in find_doubts(LabelTable.from_cells(cells, roles))}


def rows(n: int, line: str) -> str:
    return "".join(line.format(k=k, parity="odd" if k % 2 else "even") for k in range(n))


@pytest.mark.parametrize(
    "names", [("low", "medium", "high", "unknown"), ("Decision 1", "Decision 2", "Market 2"),
              ("black", "bear", "black bear"), ("11 " * 60 + "x", "y"), ("a" + " " * 2_000 + "b", "c")],
)  # fmt: skip
def test_ordinary_names_do_not_stop_import(names: tuple[str, ...]) -> None:
    rows = [f"{k * k % 11},{names[k % len(names)]}|{names[(k + 1) % len(names)]}" for k in range(12)]
    cells = read_cells(("w,candidates\n" + "\n".join(rows) + "\n").encode())
    found = find_doubts(LabelTable.from_cells(cells, Roles(numbers=("w",), candidates="candidates")))
    assert not [one.name for one in found if one.stops]


def test_ordinary_table_raises_none() -> None:
    assert told("id,candidates,truth,w,kind\n1,a|b,a,1,x\n2,b,b,2,y\n3,a|b,b,3,x\n4,a,a,4,y\n") == {}


def test_more_classes_than_twentieth_of_rows() -> None:
    found = told("candidates,w\n" + rows(60, "n{k}|m,{k}.5\n"))["many-classes"]
    assert found.message.startswith("There are 61 classes for 60 rows, the first of them 'm', 'n0', 'n1'")
    assert "many-classes" not in told("candidates,w\n" + rows(8, "n{k}|m,{k}.5\n"))


def test_numbers_in_class_names() -> None:
    csv = "candidates,w\n" + rows(9, "film:0.{k}|education:0.1{k},{k}\n")
    assert "'education:0.10'" in told(csv, form="list")["numbers-in-names"].message
    assert "numbers-in-names" not in told(csv)


def test_code_in_class_names() -> None:
    csv = "candidates,w\n" + rows(4, "\"['wren', 'robin']\",{k}\n\"['owl', 'robin']\",{k}\n")
    assert "'robin']" in told(csv, form="list", separator=",")["json-in-names"].message
    assert told(csv).keys() == set()


def test_decimal_numbers_as_names() -> None:
    csv = "candidates,w\n" + rows(6, "0.{k}1|0.{k}2,{k}\n")
    assert "Most class names are decimal numbers" in told(csv)["numbers-as-names"].message


def test_names_that_are_nearly_equal() -> None:
    found = told("candidates,w\nWren|robin,1\nwren|caf\u00e9,2\ncafe|tea time,3\nteatime|robin,4\n")[
        "names-alike"
    ]
    for pair in ("'Wren' and 'wren'", "'cafe' and 'caf\u00e9'", "'tea time' and 'teatime'"):
        assert pair in found.message


def test_what_stands_for_nothing() -> None:
    csv = "candidates,w\nwren|nan,1\nrobin|wren,2\n"
    assert told(csv)["read-as-empty"].message == "'nan' among the labels is read as an empty cell."
    assert told(csv, ignored=())["nothing-as-class"].message.startswith("'nan' is a class of this table")


def test_nothing_to_ask() -> None:
    assert "nothing-to-ask" in told("candidates,w\na,1\nb,2\n")
    assert "nothing-to-ask" in told("label_a,label_b,w\n1,0,1\n0,0,2\n")
    assert "nothing-to-ask" not in told("label_a,label_b,w\n1,,1\n0,0,2\n")


def test_id_that_repeats() -> None:
    found = told("task_id,candidates,w\n1,a|b,1\n1,b,2\n2,a,3\n")["repeated-ids"]
    assert found.message == "Column 'task_id' looks like an id, but 1 row repeats one, so it is not used."
    assert "If each row is one vote on an item, call the columns" in found.fix


@pytest.mark.parametrize(
    ("column", "cells"), [("group", ["x", "y", "x", "y", "x", "y"]), ("code", ["7", "9", "7", "9", "7", "9"])]
)
def test_feature_that_tells_label(column: str, cells: list[str]) -> None:
    lines = "".join(f"a|b,{'ab'[k % 2]},{cell},{k}.5\n" for k, cell in enumerate(cells))
    assert f"'{column}' tells the label" in told(f"candidates,truth,{column},w\n{lines}")["leak"].message
    mixed = lines.replace("a|b,a,", "a|b,b,", 1)
    assert "leak" not in told(f"candidates,truth,{column},w\n{mixed}")


def test_feature_that_names_labels() -> None:
    csv = "candidates,w,sort\na|b,1,a\nb,2,b\na,3,a\na|b,4,b\n"
    assert "leak" in told(csv, truth=None, categories=("sort",))


def test_columns_no_one_uses() -> None:
    csv = "candidates,w,remark\na|b,1,first one\nb,2,another\na,3,third\n"
    assert "'remark'" in told(csv)["unused"].message


def test_rows_that_no_threshold_reaches() -> None:
    csv = "p_a,p_b,w\n0.9,0.1,1\n0.4,0.3,2\n0.3,0.2,3\n"
    found = told(csv, cut="threshold", cut_at=0.5)["under-threshold"]
    assert found.message == "In 2 rows no label reaches 0.5: all their labels stay candidates."
    assert "under-threshold" not in told(csv, cut="threshold", cut_at=0.2)


def test_what_matters_most_comes_first_and_reads_as_sentence() -> None:
    cells = read_cells(b"task_id,candidates,w\n1,a,1\n1,b,2\n")
    found = find_doubts(LabelTable.from_cells(cells, suggest_roles(cells)))
    assert [one.name for one in found][:2] == ["nothing-to-ask", "repeated-ids"]
    assert all(one.message.endswith(".") and f"{one}".count(" Fix: ") == 1 for one in found)


def test_whole_numbers_after_names_may_be_part_of_them() -> None:
    csv = "candidates,w\n" + rows(9, "ICD10:1{k}|ICD9:2,{k}\n")
    found = told(csv)["numbers-as-weights"]
    assert "as in 'ICD10:10|ICD9:2'" in found.message
    assert "numbers-as-weights" not in told(csv.replace(":2,", ":0.5,"))


def test_what_seldom_separator_has_split_is_reported() -> None:
    csv = "candidates,w\nwren/robin,1\nrobin,2\nwren/robin,3\nAC/DC,4\nwren,5\nowl/,6\n"
    found = told(csv)["split-apart"]
    assert found.message == "Cells were split at '/', into parts that nothing else names: 'AC/DC', 'owl/'."
    assert "split-apart" not in told(csv.replace("AC/DC", "owl").replace("owl/", "owl"))
    assert "split-apart" not in told(csv.replace("/", "|"))


def test_one_next_to_one_point_nought_is_reported() -> None:
    found = told("candidates,w\n1|2,1\n1.0|2,2\nrobin|2,3\n")["names-alike"]
    assert "'1' and '1.0'" in found.message


def test_first_row_that_was_taken_for_header() -> None:
    csv = "".join(f"wren|robin,{k}.5\nrobin,{k}.7\n" for k in range(9))
    assert told(csv)["no-header"].message == "The header holds labels: 'wren|robin'."
    votes = "wren,robin,w\n" + "wren,robin,1\nrobin,robin,2\nrobin,wren,2\n"
    assert "no-header" in told(votes, annotators=("wren", "robin"), categories=())
    assert "no-header" not in told(csv.replace("wren|robin,0.5", "birds,w"))


def test_comma_that_is_in_every_name_is_reported() -> None:
    people = 'candidates,w\n"Smith, John",1\n"Doe, Jane",2\n"Roe, Jim",3\n'
    assert "'Doe, Jane'" in told(people)["split-apart"].message
    assert "split-apart" not in told('candidates,w\n"wren, robin",1\nrobin,2\n"wren, owl",3\n')


def test_percentages_in_names_are_reported() -> None:
    csv = "candidates,w\nwren 60%|robin 40%,1\nowl 50 %|robin 50%,2\n{},3\n"
    assert "'owl 50 %'" in told(csv.format("emu"))["numbers-in-names"].message
    assert told(csv.format("wren"))["weights-in-names"].stops
    assert "numbers-in-names" not in told("candidates,w\nwren|2% milk,1\nowl 50%|robin,2\nwren,3\n")


def test_marks_in_place_of_label_are_reported() -> None:
    found = told("candidates,w\nwren|?,1\nrobin|...,2\nwren|C++,3\n")["nothing-as-class"]
    assert found.message.startswith("'...', '?' are classes of this table")
    assert "nothing-as-class" not in told("candidates,w\nwren|+,1\nrobin|-,2\n")


def test_class_named_like_very_deep_lists_is_only_name() -> None:
    deep = "[" * 3_000 + "]" * 3_000
    assert "many-classes" not in told(
        f"candidates,w\n{deep}|wren,1\nwren|robin,2\nrobin|wren,3\n", form="list"
    )
