"""Unquoted commas: repaired if the numbers determine their place, otherwise refused."""

from __future__ import annotations

import csv

import pytest
from hypothesis import given
from hypothesis import strategies as st

from plcore import TableError
from plcore.tables.readers.recognise import quote_commas
from tests.plcore.tables.readers.tools.detector_tables import BIRDNET, items, read_detections
from tests.plcore.tables.writers.tables import noted

HEADER = "Start (s),End (s),Scientific name,Common name,Confidence,File"


def repaired(line: str, header: str = HEADER) -> list[str]:
    data, _ = quote_commas(f"{header}\n{line}\n".encode())
    return next(csv.reader([data.decode().split("\n")[1]]))


@pytest.mark.parametrize(
    ("line", "cells"),
    [
        ("0,3,Parus major,Great tit,0.5,a.wav", ["0", "3", "Parus major", "Great tit", "0.5", "a.wav"]),
        ("0,3,Parus major,Great tit, male,0.5,a.wav", ["0", "3", "Parus major", "Great tit, male", "0.5", "a.wav"]),
        (
            "0,3,Parus major,Great tit,0.5,C:\\a, b,c.wav",
            ["0", "3", "Parus major", "Great tit", "0.5", "C:\\a, b,c.wav"],
        ),
        ("0,3,P m,tit, m,0.5,x, y.wav", ["0", "3", "P m", "tit, m", "0.5", "x, y.wav"]),
    ],
)  # fmt: skip
def test_unquoted_commas_are_repaired_if_the_columns_allow_it(line: str, cells: list[str]) -> None:
    assert repaired(line) == cells


def test_more_columns_after_path() -> None:
    header = f"{HEADER},lat,lon,week,species_list,model"
    line = "0,3,P m,tit,0.5,x, y.wav,47.5,-8.25,,a, b.txt,m"
    assert repaired(line, header) == [
        *("0", "3", "P m", "tit", "0.5"),
        "x, y.wav",
        "47.5",
        "-8.25",
        "",
        "a, b.txt",
        "m",
    ]


def test_paths_of_kaleidoscope_count_from_right() -> None:
    header = "INDIR,FOLDER,IN FILE,OFFSET,DURATION,scientific_name,common_name,confidence"
    assert repaired("/a, b,c,d.wav,0,3,P m,tit,0.5", header)[:4] == ["/a, b", "c", "d.wav", "0"]


@pytest.mark.parametrize("line", ["0,3,P m,tit,0.5,0.25,a.wav", "0,3,P m,tit,a.wav,b", '0,3,P m,"tit, m",0.5,a,b.wav'])
def test_ambiguous_line_is_refused_with_its_number(line: str) -> None:
    with pytest.raises(TableError, match="line 2"):
        read_detections(f"{HEADER}\n{line}\n".encode())


def test_repair_is_reported_with_its_line_and_lines_keep_their_numbers() -> None:
    reading = read_detections(BIRDNET)
    assert noted(reading, "3 rows have a comma", "line 2")
    assert items(reading)[0][0] == "C:\\rec\\Wald, früh.wav"
    broken = BIRDNET.replace(b"0.25,C:\\rec\\b.wav", b"x,C:\\rec\\b.wav")
    with pytest.raises(TableError, match=r"line 5"):
        read_detections(broken)


def test_other_tables_are_left_alone() -> None:
    for data in (b"", b"a,b\n1,2,3\n", b"Start (s),End (s)\n1,2,3\n", "ä,b\n".encode()):
        assert quote_commas(data) == (data, ())
    quoted = f'{HEADER}\r\n0,3,P m,"tit, m",0.5,a.wav\r\n'.encode()
    assert quote_commas(quoted) == (quoted, ())


TEXT = st.text("ab,. é", min_size=1, max_size=8).filter(lambda text: text.strip(" ,") == text)
WORDS = TEXT.filter(lambda text: not any(part.strip(" .").isdigit() for part in text.split(",")))


@given(WORDS, WORDS)
def test_any_words_round_trip(common: str, path: str) -> None:
    """As long as no part of them is a number: then only one place is left for the score."""
    assert repaired(f"0.0,3.0,P m,{common},0.5,{path}")[3:] == [common, "0.5", path]
