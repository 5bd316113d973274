"""Tables of BirdNET, Raven, Kaleidoscope, Audacity and R, in the layouts that these write."""

from __future__ import annotations

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from plcore import TableError, read_cells
from plcore.tables.readers.tools.detections import NOTHING
from plcore.tables.readers.tools.sound_detectors import DETECTION_TABLES, holds_detections
from plcore.tables.text.arrow import to_csv_bytes
from tests.plcore.tables.readers.tools.detector_tables import (
    AUDACITY,
    BIRDNET,
    GO_RAVEN,
    KALEIDOSCOPE,
    R_FORM,
    RAVEN,
    items,
    originals,
    read_detections,
)
from tests.plcore.tables.writers.tables import LABELS, TEXTS, candidates, frame, read_or_refuse

TABLES = {"birdnet": BIRDNET, "raven": RAVEN, "kaleidoscope": KALEIDOSCOPE, "r": R_FORM, "go": GO_RAVEN}


@pytest.mark.parametrize("name", TABLES)
def test_each_table_has_one_layout(name: str) -> None:
    cells = read_cells(TABLES[name].replace(b"Wald, ", b"Wald "))
    assert sum(layout.fits(cells) for layout in DETECTION_TABLES) == 1
    assert holds_detections(cells)


@pytest.mark.parametrize(
    "header", ["start,end,label", "task,worker,label", "file,label,score", "text,start,end"]
)
def test_other_tables_are_none(header: str) -> None:
    assert not holds_detections(read_cells(f"{header}\n1,2,3\n".encode()))


def test_birdnet() -> None:
    reading = read_detections(BIRDNET)
    assert reading.format == "BirdNET table of detections"
    assert items(reading)[0] == ("C:\\rec\\Wald, früh.wav", "0", "3")
    assert candidates(reading)[0] == {"Great tit": 0.8125, "Coal tit": 0.125, NOTHING: 0.1875}
    assert reading.cells["scientific_names"][0] == "Parus major (Great tit); Periparus ater (Coal tit)"
    assert originals(reading)[2][0] == {
        "row": 4,
        "labels": ["Eurasian Blackbird"],
        "scientific": "Turdus merula",
        "cells": {
            "Start (s)": "0.0",
            "End (s)": "3.0",
            "Scientific name": "Turdus merula",
            "Common name": "Eurasian Blackbird",
            "Confidence": "0.25",
            "File": "C:\\rec\\b.wav",
        },
    }


def test_raven_counts_from_the_begin_of_each_file() -> None:
    """A table of several files has a clock that runs on; the offset does not."""
    reading = read_detections(RAVEN, "birds.txt")
    assert items(reading) == [("/a/b.wav", "0", "3"), ("/a/c.wav", "0", "3")]
    assert candidates(reading) == [{"Great Tit": 0.75, "Coal Tit": 0.25, NOTHING: 0.25}, {NOTHING: 1}]


def test_raven_with_other_columns_in_another_order() -> None:
    reading = read_detections(GO_RAVEN)
    assert items(reading) == [("b.wav", "3", "6")]
    assert list(candidates(reading)[0]) == ["Great Tit", NOTHING]


def test_kaleidoscope_names_files_by_their_parts() -> None:
    reading = read_detections(KALEIDOSCOPE)
    assert items(reading) == [("/data/site1/a.wav", "3", "6")]
    assert originals(reading)[0][0]["cells"]["lat"] == "47.5"
    newer = b"confidence,INDIR,FOLDER,IN FILE,OFFSET,DURATION,TOP1MATCH\n0.5,/d,s,a.wav,0,3,Great Tit\n"
    assert list(candidates(read_detections(newer))[0]) == ["Great Tit", NOTHING]


def test_the_form_of_r_packages() -> None:
    reading = read_detections(R_FORM)
    assert items(reading) == [("C:/a/x.wav", "0", "3")]
    assert "verify" in originals(reading)[0][0]["cells"]


def test_names_in_one_cell_are_two() -> None:
    header = b"Selection\tBegin Time (s)\tEnd Time (s)\tSpecies\tBegin File\n"
    for label, latin in (("Parus major_Great tit", "Parus major"), ("Great tit, female", ""), ("A_b", "")):
        reading = read_detections(header + f"1\t0\t3\t{label}\ta.wav\n".encode())
        assert originals(reading)[0][0]["scientific"] == latin
        assert candidates(reading) == [["Great tit" if latin else label, NOTHING]]


def test_a_common_name_is_one_whatever_stands_in_it() -> None:
    header = "Selection\tBegin Time (s)\tEnd Time (s)\tCommon Name\tBegin File\n"
    for label in ("Great tit, Kohlmeise (Parus major)", "Parus major_Great tit"):
        reading = read_detections(f"{header}1\t0\t3\t{label}\ta.wav\n".encode())
        assert candidates(reading) == [[label, NOTHING]]


@pytest.mark.parametrize(
    ("old", "new", "said"),
    [
        (b"0.0,3.0,Parus major,Great tit,0.8125", b"x,3.0,Parus major,Great tit,0.8125", "got 'x'"),
        (b"0.0,3.0,Parus major,Great tit,0.8125", b"-1,3.0,Parus major,Great tit,0.8125", "got '-1'"),
        (
            b"0.0,3.0,Parus major,Great tit,0.8125",
            b"4,3.0,Parus major,Great tit,0.8125",
            "ends 1 seconds before",
        ),
        (b"0.0,3.0,Parus major,Great tit,0.8125", b"3,3.0,Parus major,Great tit,0.8125", "has no length"),
        (b"0.0,3.0,Parus major,Great tit,0.8125", b"0,3.0,Parus major,Great tit,high", "a score"),
        (b"0.0,3.0,Parus major,Great tit,0.8125", b"0,3.0,,,0.8125", "the label is empty"),
        (b"Great tit,0.8125,C:\\rec\\Wald", b"Great tit,0.8125,", "names no recording"),
    ],
)
def test_odd_cells_are_refused_with_row_line_and_fix(old: bytes, new: bytes, said: str) -> None:
    data = BIRDNET.replace(", früh.wav".encode(), b"").replace(old, new, 1)
    with pytest.raises(TableError) as caught:
        read_detections(data)
    assert said in str(caught.value)
    assert "Row 1 (line 2)" in str(caught.value)
    assert all(problem.fix for problem in caught.value.problems)


def test_a_table_without_a_recording_or_a_name_is_refused_with_the_column_to_add() -> None:
    with pytest.raises(TableError, match="Begin Path"):
        read_detections(b"Begin Time (s),End Time (s),Species\n0,3,wren\n", "")


def test_a_table_that_a_spreadsheet_wrote_with_decimal_commas_is_the_same_table() -> None:
    lines = BIRDNET.replace(", früh".encode(), b"").decode().replace(",", ";").replace(".", ",")
    plain = read_detections(BIRDNET.replace(", früh".encode(), b""))
    found = read_detections(lines.replace("b,wav", "b.wav").replace("Wald,wav", "Wald.wav").encode())
    assert items(found) == items(plain)
    assert candidates(found) == candidates(plain)
    assert originals(found)[0][0]["cells"]["Confidence"] == "0,8125", "given back as it came"


def test_a_wrong_time_is_one_problem_though_it_serves_as_begin_and_as_clock() -> None:
    with pytest.raises(TableError) as caught:
        read_detections(
            b"Start (s),End (s),Scientific name,Common name,Confidence,File\nx,3,P m,Tit,1,a.wav\n"
        )
    assert len(caught.value.problems) == 1


def test_scores_may_be_missing() -> None:
    data = BIRDNET.replace(b"0.8125", b"NA").replace(b"0.125", b"").replace(", früh".encode(), b"")
    assert candidates(read_detections(data))[0] == {"Great tit": 0.0001, "Coal tit": 0.0001, NOTHING: 1}


@given(st.lists(st.tuples(LABELS, LABELS, st.floats(0, 1)), min_size=1, max_size=4))
@settings(max_examples=60, deadline=None)
def test_any_labels_and_paths_that_csv_can_hold(rows: list[tuple[str, str, float]]) -> None:
    table = frame(
        *(
            {
                "Start (s)": "0",
                "End (s)": "3",
                "Scientific name": "",
                "Common name": name,
                "Confidence": score,
                "File": f"x{path}",
            }
            for name, path, score in rows
        )
    )
    reading = read_detections(to_csv_bytes(table))
    kept = sorted((one["row"], one["cells"]) for cell in originals(reading) for one in cell)
    assert [cells for _, cells in kept] == table.to_dict("records")
    assert len(kept) == len(rows)


@given(st.lists(st.tuples(TEXTS, TEXTS, TEXTS, TEXTS), min_size=1, max_size=4))
@settings(max_examples=80, deadline=None)
def test_any_cells_are_a_reading_or_a_refusal_in_words(rows: list[tuple[str, ...]]) -> None:
    names = ("IN FILE", "OFFSET", "DURATION", "common_name")
    cells = frame(*(dict(zip(names, row, strict=True)) for row in rows))
    layout = next(layout for layout in DETECTION_TABLES if layout.fits(cells))
    read_or_refuse(layout.read, cells)


def test_label_tracks_have_a_layout_of_their_own() -> None:
    reading = read_detections(AUDACITY, "x.txt")
    assert items(reading) == [("x", "0", "3"), ("x", "3", "6")]
    assert candidates(reading) == [{"Great Tit": 0.5, NOTHING: 0.5}, {NOTHING: 1}]
