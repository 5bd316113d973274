"""Doubts: unusual tables are reported in words, and ordinary ones raise none."""

from __future__ import annotations

from dataclasses import replace

import pytest

from plcore import LabelTable, Roles, suggest_roles
from plcore.tables import read_cells
from plcore.tables.roles.doubts import Doubt, find_doubts
from plcore.tables.roles.facts import share_by_models


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


def test_names_that_contain_each_other_are_not_joined_in_every_way() -> None:
    long = "&".join(["aa"] * 40) + "&zz"  # of parts of one, two or three names: in about 10 ** 10 ways
    found = told(HEAD + rows(6, f"aa|aa&aa,{{k}}\naa&aa&aa|{long},{{k}}\n"))
    assert found["mixed-separators"].stops
    assert found["mixed-separators"].message.startswith("2 classes are made of")


def test_ordinary_table_raises_none() -> None:
    assert told("id,candidates,truth,w,kind\n1,a|b,a,1,x\n2,b,b,2,y\n3,a|b,b,3,x\n4,a,a,4,y\n") == {}


HEAD = "candidates,w\n"
NUMBERED = HEAD + rows(9, "film:0.{k}|education:0.1{k},{k}\n")
QUOTED = HEAD + rows(4, "\"['wren', 'robin']\",{k}\n\"['owl', 'robin']\",{k}\n")
ALIKE = HEAD + "Wren|robin,1\nwren|caf\u00e9,2\ncafe|tea time,3\nteatime|robin,4\n"
NOTHING = HEAD + "wren|nan,1\nrobin|wren,2\n"
CODES = HEAD + rows(9, "ICD10:1{k}|ICD9:2,{k}\n")
SLASHES = HEAD + "wren/robin,1\nrobin,2\nwren/robin,3\nAC/DC,4\nwren,5\nowl/,6\n"
SCORES = "p_a,p_b,w\n0.9,0.1,1\n0.4,0.3,2\n0.3,0.2,3\n"
EXPERT = "candidates,w,expert\n" + rows(9, "a|b,{k}.5,a\n") + rows(2, "a|b,{k}.7,jay\n")
NO_HEADER = "".join(f"wren|robin,{k}.5\nrobin,{k}.7\n" for k in range(9))
PERCENT = HEAD + "wren 60%|robin 40%,1\nowl 50 %|robin 50%,2\n{},3\n"
AS_LIST, AT_HALF, AT_FIFTH = (
    {"form": "list"},
    {"cut": "threshold", "cut_at": 0.5},
    {"cut": "threshold", "cut_at": 0.2},
)


@pytest.mark.parametrize(
    ("name", "csv", "changed", "words"),
    [
        ("many-classes", HEAD + rows(60, "n{k}|m,{k}.5\n"), {},
         "There are 61 classes for 60 rows, the first of them 'm', 'n0', 'n1'"),
        ("numbers-in-names", NUMBERED, AS_LIST, "'education:0.10'"),
        ("json-in-names", QUOTED, {"form": "list", "separator": ","}, "'robin']"),
        ("numbers-as-names", HEAD + rows(6, "0.{k}1|0.{k}2,{k}\n"), {}, "Most class names are decimal numbers"),
        ("names-alike", ALIKE, {}, "'Wren' and 'wren'"),
        ("names-alike", ALIKE, {}, "'cafe' and 'caf\u00e9'"),
        ("names-alike", ALIKE, {}, "'tea time' and 'teatime'"),
        ("names-alike", HEAD + "1|2,1\n1.0|2,2\nrobin|2,3\n", {}, "'1' and '1.0'"),
        ("names-alike", HEAD + "owl|hawk,1\nowl?|hawk,2\nrobin|owl,3\n", {}, "'owl' and 'owl?'"),
        ("several-meant", HEAD + "owl|hawk,1\nnot owl,2\nrobin|owl,3\n", {}, "'not owl' is a class of this table"),
        ("several-meant", HEAD + "owl|hawk,1\n*,2\nunknown,3\n", {}, "'*', 'unknown' are classes of this table"),
        ("several-questions", "cat,dog,day,night,w\n" + 3 * "1,0,1,0,.5\n0,1,1,0,2.5\n0,1,0,1,3\n", {},
         "in each of 2 groups of columns, 'cat', 'dog' and 'day', 'night'"),
        ("label-beside", "best,others,w\n" + 3 * "cat,dog|owl,.5\ndog,cat,2.5\nowl,cat|dog,3\n",
         {"candidates": "others", "truth": None, "categories": ()}, "Column 'best' names a class in every row"),
        ("read-as-empty", NOTHING, {}, "'nan' among the labels is read as an empty cell."),
        ("nothing-as-class", NOTHING, {"ignored": ()}, "'nan' is a class of this table"),
        ("nothing-as-class", HEAD + "wren|?,1\nrobin|...,2\nwren|C++,3\n", {},
         "'...', '?' are classes of this table"),
        ("nothing-to-ask", HEAD + "a,1\nb,2\n", {}, ""),
        ("nothing-to-ask", "label_a,label_b,w\n1,0,1\n0,0,2\n", {}, ""),
        ("repeated-ids", "task_id,candidates,w\n1,a|b,1\n1,b,2\n2,a,3\n", {},
         "Column 'task_id' looks like an id, but 1 row repeats one, so it is not used. "
         "Fix: Give each row an id. If each row is one vote on an item, call the columns"),
        ("leak", "candidates,w,sort\na|b,1,a\nb,2,b\na,3,a\na|b,4,b\n", {"truth": None, "categories": ("sort",)},
         "'sort'"),
        ("unused", "candidates,w,remark\na|b,1,first one\nb,2,another\na,3,third\n", {}, "'remark'"),
        ("may-be-truth", EXPERT, {},
         "Most cells of 'expert' name a class, but others do not: 'jay'. The column is ignored."),
        ("may-be-truth", EXPERT, {}, "Fix: If it holds true labels, choose it as the column of true labels"),
        ("under-threshold", SCORES, AT_HALF, "In 2 rows no label reaches 0.5: all their labels stay candidates."),
        ("numbers-as-weights", CODES, {}, "as in 'ICD10:10|ICD9:2'"),
        ("split-apart", SLASHES, {},
         "Cells were split at '/', into parts that nothing else names: 'AC/DC', 'owl/'."),
        ("split-apart", HEAD + '"Smith, John",1\n"Doe, Jane",2\n"Roe, Jim",3\n', {}, "'Doe, Jane'"),
        ("no-header", NO_HEADER, {}, "The header holds labels: 'wren|robin'."),
        ("no-header", "wren,robin,w\nwren,robin,1\nrobin,robin,2\nrobin,wren,2\n",
         {"annotators": ("wren", "robin"), "categories": ()}, ""),
        ("numbers-in-names", PERCENT.format("emu"), {}, "'owl 50 %'"),
        ("weights-in-names", PERCENT.format("wren"), {}, ""),
    ],
)  # fmt: skip
def test_unusual_tables_are_reported(name: str, csv: str, changed: dict[str, object], words: str) -> None:
    """words : the message if they end as a sentence, or part of it"""
    found = told(csv, **changed)[name]
    assert words == found.message if words.endswith(".") else words in str(found)
    assert found.stops or name != "weights-in-names"


@pytest.mark.parametrize(
    ("name", "csv", "changed"),
    [
        ("many-classes", HEAD + rows(8, "n{k}|m,{k}.5\n"), {}),
        ("numbers-in-names", NUMBERED, {}),
        ("numbers-in-names", HEAD + "wren|2% milk,1\nowl 50%|robin,2\nwren,3\n", {}),
        ("nothing-as-class", HEAD + "wren|+,1\nrobin|-,2\n", {}),
        ("several-questions", "cat,dog,day,night,w\n" + 3 * "1,0,1,0,.5\n0,1,1,0,2.5\n0,1,0,0,3\n", {}),
        (
            "label-beside",
            "best,others,w\n" + 3 * "cat,dog|owl,.5\ndog,cat,2.5\nowl,owl|dog,3\n",
            {"candidates": "others", "truth": None, "categories": ()},
        ),
        ("several-meant", HEAD + "spam|not spam,1\nspam,2\nnot spam,3\n", {}),
        ("nothing-to-ask", "label_a,label_b,w\n1,,1\n0,0,2\n", {}),
        ("under-threshold", SCORES, AT_FIFTH),
        ("numbers-as-weights", CODES.replace(":2,", ":0.5,"), {}),
        ("split-apart", SLASHES.replace("AC/DC", "owl").replace("owl/", "owl"), {}),
        ("split-apart", SLASHES.replace("/", "|"), {}),
        ("split-apart", HEAD + '"wren, robin",1\nrobin,2\n"wren, owl",3\n', {}),
        ("no-header", NO_HEADER.replace("wren|robin,0.5", "birds,w"), {}),
    ],
)
def test_harmless_tables_are_not_reported(name: str, csv: str, changed: dict[str, object]) -> None:
    assert name not in told(csv, **changed)


def test_lists_in_quotes_raise_no_doubt() -> None:
    assert told(QUOTED).keys() == set()


@pytest.mark.parametrize(
    ("column", "cells"), [("group", ["x", "y", "x", "y", "x", "y"]), ("code", ["7", "9", "7", "9", "7", "9"])]
)
def test_feature_that_reveals_the_label_is_reported(column: str, cells: list[str]) -> None:
    lines = "".join(f"a|b,{'ab'[k % 2]},{cell},{k}.5\n" for k, cell in enumerate(cells))
    assert f"'{column}' reveals the label" in told(f"candidates,truth,{column},w\n{lines}")["leak"].message
    mixed = lines.replace("a|b,a,", "a|b,b,", 1)
    assert "leak" not in told(f"candidates,truth,{column},w\n{mixed}")


def test_most_important_doubt_comes_first_as_a_sentence() -> None:
    cells = read_cells(b"task_id,candidates,w\n1,a,1\n1,b,2\n")
    found = find_doubts(LabelTable.from_cells(cells, suggest_roles(cells)))
    assert [one.name for one in found][:2] == ["nothing-to-ask", "repeated-ids"]
    assert all(one.message.endswith(".") and f"{one}".count(" Fix: ") == 1 for one in found)


def test_class_named_like_nested_lists_is_only_a_name() -> None:
    deep = "[" * 3_000 + "]" * 3_000
    assert "many-classes" not in told(f"candidates,w\n{deep}|wren,1\nwren|robin,2\nrobin|wren,3\n", form="list")


@pytest.mark.parametrize(
    ("name", "cells", "share"),
    [
        ("annotator", ["Claude", "Marie"], 0.0),
        ("annotator", ["claude-3", "Marie"], 0.5),
        ("labeled_by", ["gpt-4o", "claude"], 1.0),
        ("model", ["claude"], 1.0),
        ("source", ["Bert Haan", "Ann"], 0.0),
        ("source", ["bert-base", "Ann"], 0.5),
        ("place", ["gpt-4o", "model"], 0.0),
    ],
)
def test_models_are_told_from_people_of_the_same_name(name: str, cells: list[str], share: float) -> None:
    assert share_by_models(name, cells) == share
