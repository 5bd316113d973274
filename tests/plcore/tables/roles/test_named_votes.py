"""Votes with named voters: read from every form, kept through storage, added rows and merged classes."""

from __future__ import annotations

import hashlib
import json
from pathlib import Path
from tempfile import TemporaryDirectory

import numpy as np
import pandas as pd
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from plcore import LabelTable, Roles, TableError, read_cells
from plcore.crowd import DawidSkene
from plcore.loop import ClassChange, ClassMap, with_classes
from plcore.tables import NamedVotes, read_table, to_csv_bytes, with_rows
from plcore.tables.readers.registry import joined, shaped
from plcore.tables.roles.named_votes import joined_votes

Lines = set[tuple[str, str, str]]
ANN_BOB: Lines = {("1", "Ann", "wren"), ("1", "Bob", "owl"), ("2", "Ann", "owl"), ("2", "Bob", "owl")}
COLUMNS = b"id,Ann,Bob,w\n1,wren,owl,3\n2,owl,owl,4\n"
BY_COLUMN = Roles(annotators=("Ann", "Bob"), id="id", numbers=("w",))
ROWS = b"id,w\n1,3\n2,4\n"
LONG = b"task,worker,label\n1,Ann,wren\n1,Bob,owl\n2,Ann,owl\n2,Bob,owl\n"
ARGILLA = [
    {"id": "1", "w": 3, "bird.responses": ["wren", "owl"], "bird.responses.users": ["Ann", "Bob"],
     "bird.responses.status": ["submitted", "submitted"]},
    {"id": "2", "w": 4, "bird.responses": ["owl", "owl"], "bird.responses.users": ["Ann", "Bob"],
     "bird.responses.status": ["submitted", "submitted"]},
]  # fmt: skip


def lines(table: LabelTable) -> Lines:
    votes = table.votes
    return {
        (str(table.ids[row]), votes.voters[who], table.classes[label])
        for row, who, label in zip(votes.rows, votes.who, votes.labels, strict=True)
    }


def label_studio() -> bytes:
    def task(number: int, weight: int, said: dict[str, str]) -> dict[str, object]:
        annotations = [
            {"id": place, "completed_by": {"id": place, "email": who},
             "result": [{"from_name": "bird", "to_name": "t", "type": "choices", "value": {"choices": [label]}}]}
            for place, (who, label) in enumerate(said.items())
        ]  # fmt: skip
        return {"id": number, "data": {"w": weight}, "annotations": annotations, "predictions": []}

    tasks = [task(1, 3, {"Ann": "wren", "Bob": "owl"}), task(2, 4, {"Ann": "owl", "Bob": "owl"})]
    return json.dumps(tasks).encode()


def of_file(data: bytes, name: str, rows: bytes | None = None) -> LabelTable:
    reading = read_table(data, name)
    reading = joined(reading, read_table(rows, "rows.csv")) if rows else shaped(reading)
    return LabelTable.from_cells(reading.cells, reading.suggest_roles())


@pytest.mark.parametrize(
    "table",
    [
        lambda: LabelTable.read_csv(COLUMNS, BY_COLUMN),
        lambda: of_file(LONG, "votes.csv", ROWS),
        lambda: of_file(label_studio(), "tasks.json"),
        lambda: of_file("\n".join(map(json.dumps, ARGILLA)).encode(), "records.jsonl"),
    ],
    ids=["a column for each", "a vote in each row", "Label Studio", "Argilla"],
)
def test_voters_are_kept_for_every_form(table: object) -> None:
    assert lines(table()) == ANN_BOB  # type: ignore[operator]


def test_counts_without_names_have_no_voters() -> None:
    counts = Roles(candidates="c", form="weighted", numbers=("w",))
    assert LabelTable.read_csv(b"c,w\nwren:2|owl:1,1\nowl:3,2\n", counts).votes is None


def test_votes_round_trip_through_csv() -> None:
    table = of_file(LONG, "votes.csv", ROWS)
    again = of_file(to_csv_bytes(table.cells), "cells.csv")
    assert (again.roles.voters, lines(again)) == (table.roles.voters, ANN_BOB)


def test_table_without_voters_is_stored_unchanged(tmp_path: Path) -> None:
    """The hash is that of a file written before votes were stored."""
    table = LabelTable.read_csv(b"c,w\nwren|owl,1\nowl,2\n", Roles(candidates="c", numbers=("w",)))
    digest = table.write(tmp_path / "t.parquet")
    assert digest == hashlib.sha256((tmp_path / "t.parquet").read_bytes()).hexdigest()
    assert b"votes:" not in (tmp_path / "t.parquet").read_bytes()
    assert b"voters" not in (tmp_path / "t.parquet").read_bytes()
    assert LabelTable.read(tmp_path / "t.parquet").votes is None


@pytest.mark.parametrize(
    ("cell", "words"),
    [
        ("[1]", "expected who named each label"),
        ('{"wren": "Ann"}', "expected who named each label"),
        ('{"wren": [""]}', "expected who named each label"),
        ('{"eagle": ["Ann"]}', "'eagle' has a voter, but is not a candidate"),
        ('{"owl": ["Ann"]}', "'owl' has a voter, but is not a candidate"),
    ],
)
def test_invalid_voter_names_its_row(cell: str, words: str) -> None:
    cells = pd.DataFrame({"c": ['["wren", "tit"]', '["owl"]'], "s": [cell, ""], "w": ["1", "2"]}, dtype="str")
    with pytest.raises(TableError, match=words) as caught:
        LabelTable.from_cells(cells, Roles(candidates="c", form="json", voters="s", numbers=("w",)))
    assert [(one.row, one.column) for one in caught.value.problems] == [(1, "s")]


def test_votes_of_one_row_are_found_by_label() -> None:
    votes = NamedVotes.of([1, 0, 1, 1], [1, 0, 0, 1], [2, 1, 2, 0], ["Ann", "Bob"])
    assert votes.who_said(1, 2) == ("Ann", "Bob")
    assert (votes.who_said(1, 0), votes.who_said(0, 0), votes.who_said(5, 0)) == (("Bob",), (), ())
    rows, who, masks = votes.sets(3)
    assert (rows.tolist(), who.tolist()) == ([0, 1, 1], [0, 0, 1])
    assert masks.tolist() == [[False, True, False], [False, False, True], [True, False, True]]


LINES = st.lists(st.tuples(st.integers(0, 4), st.integers(0, 2), st.integers(0, 3)), max_size=20)


@given(LINES, LINES, st.permutations(range(4)))
def test_joined_votes_combine_both_tables(
    first: list[tuple[int, ...]], more: list[tuple[int, ...]], column: list[int]
) -> None:
    def votes(given_: list[tuple[int, ...]], names: list[str]) -> NamedVotes:
        return NamedVotes.of(*(np.array(given_, dtype=int).reshape(-1, 3).T), names)  # type: ignore[misc]

    own, other = votes(first, ["a", "b", "c"]), votes(more, ["c", "d", "a"])
    found = joined_votes(own, other, 5, 4, np.array(column))
    told = {(int(r), found.voters[w], int(k)) for r, w, k in zip(found.rows, found.who, found.labels, strict=True)}
    names = ["c", "d", "a"]
    wanted = {(r, "abc"[w], k) for r, w, k in first}
    assert told == wanted | {(r + 5, names[w], column[k]) for r, w, k in more if r < 4}
    assert len(told) == len(found)


BIRDS = ["wren", "owl", "tit"]
CELLS = st.lists(st.lists(st.sampled_from([*BIRDS, ""]), min_size=3, max_size=3), min_size=2, max_size=8)


@settings(max_examples=settings().max_examples * 2 // 5)
@given(CELLS, st.integers(1, 7))
def test_votes_survive_storage_new_rows_and_merged_classes(said: list[list[str]], at: int) -> None:
    said = [["wren", "owl", "tit"], *([row[0] or "owl", *row[1:]] for row in said)]
    people = ("Ann", "Bob", "Cy")
    frame = pd.DataFrame(said, columns=list(people), dtype="str").assign(w="1")
    frame.insert(0, "id", [f"r{place}" for place in range(len(frame))])
    roles = Roles(annotators=people, id="id", numbers=("w",))
    wanted = {
        (f"r{row}", person, label)
        for row, labels in enumerate(said)
        for person, label in zip(people, labels, strict=True)
        if label
    }
    table = LabelTable.from_cells(frame, roles)
    assert lines(table) == wanted
    with TemporaryDirectory() as folder:
        table.write(Path(folder) / "t.parquet")
        again = LabelTable.read(Path(folder) / "t.parquet")
        assert lines(again) == wanted
        assert again.write(Path(folder) / "u.parquet") == table.write(Path(folder) / "v.parquet")
    at = min(at, len(frame) - 1)
    grown = with_rows(LabelTable.from_cells(frame.iloc[:at], roles), frame.iloc[at:]).table
    assert lines(grown) == wanted
    merged = ClassMap(table.classes, [ClassChange(1, "merge", ("owl", "tit"))])
    assert lines(with_classes(table, merged)) == {(r, who, "tit" if k == "owl" else k) for r, who, k in wanted}


def test_new_rows_can_have_other_voters_or_none() -> None:
    table = of_file(LONG, "votes.csv", ROWS)
    more = read_cells(b'id,w,candidates\n3,1,"[""tit""]"\n')
    assert lines(with_rows(table, more).table) == ANN_BOB
    more = of_file(b"task,worker,label\n3,Cy,kite\n3,Ann,wren\n", "v.csv", b"id,w\n3,4\n").cells
    grown = with_rows(table, more, classes={"kite": "owl"}).table
    assert lines(grown) == ANN_BOB | {("3", "Cy", "owl"), ("3", "Ann", "wren")}


def test_dawid_skene_weights_are_its_distributions() -> None:
    said = b"id,Ann,Bob,Cy,w\n1,wren,owl,owl,3\n2,owl,owl,owl,4\n3,wren,wren,owl,4\n4,owl,wren,owl,4\n5,,tit,,4\n"
    people = ("Ann", "Bob", "Cy")
    roles = Roles(annotators=people, id="id", numbers=("w",), vote_weights="dawid-skene")
    table = LabelTable.read_csv(said, roles)
    assert table.candidate_weights is not None
    model = DawidSkene().fit_masks(*table.votes.sets(3), table.candidates)
    np.testing.assert_allclose(table.candidate_weights, model.label_distributions_, atol=2e-9)
    assert ((table.candidate_weights > 0) == table.candidates).all()
    plain = LabelTable.read_csv(said, Roles(annotators=people, id="id", numbers=("w",)))
    assert (plain.candidates == table.candidates).all()
    assert lines(plain) == lines(table)


def test_dawid_skene_weights_are_cut_like_others() -> None:
    said = "id,Ann,Bob,Cy,w\n" + "".join(f"{n},{'owl' if n % 7 else 'wren'},wren,wren,1\n" for n in range(30))
    roles = Roles(annotators=("Ann", "Bob", "Cy"), id="id", numbers=("w",), vote_weights="dawid-skene")
    cut = Roles.from_json(roles.to_json() | {"cut": "top", "cut_at": 1})
    assert LabelTable.read_csv(said.encode(), cut).candidates.sum(axis=1).max() == 1


def test_weighing_votes_without_voters_is_refused() -> None:
    cells = pd.DataFrame({"c": ['["wren", "tit"]', '["owl"]'], "s": ["", ""], "w": ["1", "2"]}, dtype="str")
    roles = Roles(candidates="c", form="json", voters="s", numbers=("w",), vote_weights="dawid-skene")
    with pytest.raises(TableError, match="nothing says who voted"):
        LabelTable.from_cells(cells, roles)
