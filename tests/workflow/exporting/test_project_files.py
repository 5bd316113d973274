"""Which files there are, and which one a name asks for."""

from __future__ import annotations

import pytest

from plcore import read_cells
from workflow.exporting.project_files import (
    LOG,
    LOG_FORMATS,
    TABLE,
    ExportChoice,
    file_called,
    files_of,
    find_file,
)
from workflow.kinds import KINDS, Kind, label_vectors, one_label


@pytest.mark.parametrize("kind", KINDS.values(), ids=KINDS)
def test_a_project_gives_out_its_table_in_all_formats_and_its_log(kind: Kind) -> None:
    files = files_of(kind)
    assert list(files) == [*kind.FORMATS, *kind.GIVEN_BACK, "dataset", *LOG_FORMATS]
    assert next(iter(files)) == ExportChoice().file == "csv"
    for name, file in files.items():
        assert find_file(kind, name).form is file.form
        assert file.by_rows == (name not in LOG_FORMATS) == (file.sort == TABLE)
        assert file_called(kind, f"birds{file.form.suffix}", file.sort) == name
    with pytest.raises(ValueError, match=r"A file is one of csv, .*, dataset, log, sealed-log\. Got ''"):
        find_file(kind, "")


@pytest.mark.parametrize("kind", KINDS.values(), ids=KINDS)
def test_files_of_certain_tools_are_offered_only_for_their_tables(kind: Kind) -> None:
    files = files_of(kind, read_cells(b"candidates,x\na|b,1\n"))
    assert list(files) == [*kind.FORMATS, "dataset", *LOG_FORMATS]
    for name in kind.GIVEN_BACK:
        with pytest.raises(ValueError, match="A file is one of"):
            find_file(kind, name, read_cells(b"candidates,x\na|b,1\n"))


def test_a_choice_that_there_is_not_is_refused() -> None:
    with pytest.raises(ValueError, match=r"The rows are one of all, sure, answered. Got 'some'"):
        ExportChoice(rows="some")
    with pytest.raises(ValueError, match=r"in \[0, 1\] on. Got 90"):
        ExportChoice(above=90)


@pytest.mark.parametrize(
    ("called", "name"),
    [
        ("birds.csv", "csv"),
        ("BIRDS.CSV", "csv"),
        ("birds.parquet", "parquet"),
        ("birds.jsonl", "jsonl"),
        ("birds.npz", "npz"),
        ("birds.labelstudio.json", "labelstudio"),
        ("birds.json", "labelstudio"),
        ("birds.votes.csv", "votes"),
        ("birds.prodigy.jsonl", "prodigy"),
        ("birds.zip", "dataset"),
        ("", "csv"),
    ],
)
def test_the_name_of_a_file_tells_its_format(called: str, name: str) -> None:
    assert file_called(one_label, called) == name


@pytest.mark.parametrize("called", ["birds", "birds.xls", "csv", ".parquet.bak"])
def test_a_name_that_tells_nothing_is_refused(called: str) -> None:
    with pytest.raises(
        ValueError, match=r"one of \.csv, \.parquet, .*Got '.*Fix: another ending, or --format"
    ):
        file_called(one_label, called)
    with pytest.raises(ValueError, match=r"one of \.csv, \.jsonl\. Got"):
        file_called(one_label, "log.parquet", LOG)
    assert file_called(one_label, "log.csv", LOG) == "log"


def test_label_vectors_know_no_plain_json() -> None:
    assert file_called(label_vectors, "scenes.cells.csv") == "cells"
    with pytest.raises(ValueError, match=r"\.cells\.csv, .*Got 'scenes.json'"):
        file_called(label_vectors, "scenes.json")
