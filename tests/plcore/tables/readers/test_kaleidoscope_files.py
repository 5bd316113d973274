"""Kaleidoscope Pro's table of identifications, read and written back."""

from __future__ import annotations

import pytest

from plcore import TableError, read_cells
from plcore.tables import NATURE_FORMATS, read_table, shaped
from plcore.tables.readers.tools.detections import NOTHING
from plcore.tables.readers.tools.kaleidoscope import write_kaleidoscope
from tests.plcore.tables.readers.cases import CASES, candidates, decided, read_case, says, table_of, weights
from tests.plcore.tables.writers.tables import written


def test_candidates_are_automatic_and_alternate_ids() -> None:
    reading = read_case("kaleidoscope_id.csv")
    assert candidates(reading) == [
        {"MYOLUC", "MYOSEP", "EPTFUS"},
        {NOTHING},
        {"EPTFUS", "LASNOC", "MYOLUC", "MYOSEP", NOTHING},
        {"EPTFUS", "LASNOC"},
    ]
    assert weights(reading)[0] == {"MYOLUC": 0.68, "MYOSEP": 0.16, "EPTFUS": 0.16}
    assert reading.cells["truth"].tolist() == ["", "", "EPTFUS", ""]
    assert says(reading, "MANUAL ID names several species in 1 rows")
    roles = reading.suggest_roles()
    assert roles.numbers == ("PULSES", "MATCHING", "MARGIN")
    assert (roles.label_columns, roles.categories, roles.id) == ((), (), "item")


def test_whole_table_is_read_with_an_empty_manual_id() -> None:
    reading = read_case("id.csv")
    assert reading.cells["item"].tolist() == ["A_20240701_213000.wav 0-5 s", "A_20240701_213000.wav 5-10 s"]
    assert weights(reading)[0] == {"PIPPIP": 0.83, "PIPPYG": 0.17}
    assert reading.cells["truth"].tolist() == ["", NOTHING]
    assert reading.cells["recording"][0] == "D:/bats/night1/A_20240701_213000.wav"


HEAD = "INDIR,FOLDER,IN FILE,CHANNEL,OFFSET,DURATION,AUTO ID*,MATCH RATIO,ALTERNATE 1,MANUAL ID\n"


def read_lines(lines: str) -> list[dict[str, float | None]]:
    return weights(shaped(read_table((HEAD + lines).encode(), "id.csv")))


def test_manual_id_that_was_not_proposed_is_a_light_candidate() -> None:
    reading = shaped(read_table((HEAD + "d,f,a.wav,0,0,5,PIPPIP,0.8,,NYCNOC\n").encode(), "id.csv"))
    assert weights(reading) == [{"PIPPIP": 0.8, "NYCNOC": 0.01}]
    assert reading.cells["truth"].tolist() == ["NYCNOC"]
    assert says(reading, "MANUAL ID names 1 times what Kaleidoscope did not propose")


def test_alternates_never_weigh_more_than_the_automatic_id() -> None:
    assert read_lines("d,f,a.wav,0,0,5,A,0.3,B,\nd,f,a.wav,0,5,5,A,1,B,\nd,f,a.wav,0,10,5,A,,B,\n") == [
        {"A": 0.3, "B": 0.3},
        {"A": 1, "B": 0.01},
        {"A": None, "B": None},
    ]


def test_rows_of_two_channels_have_names_of_their_own() -> None:
    data = HEAD + "d,f,a.wav,0,0,5,A,1,,\nd,f,a.wav,1,0,5,A,1,,\nd,g,a.wav,0,0,5,B,1,,\n"
    reading = shaped(read_table(data.encode(), "id.csv"))
    assert reading.cells["item"].tolist() == [
        "d/f/a.wav 0-5 s, channel 0",
        "d/f/a.wav 0-5 s, channel 1",
        "d/g/a.wav 0-5 s",
    ]


def test_seconds_that_are_no_numbers_are_refused() -> None:
    with pytest.raises(TableError, match="expected seconds, got 'x'"):
        read_lines("d,f,a.wav,0,x,5,A,1,,\n")


def test_table_comes_back_with_manual_ids() -> None:
    before = read_cells((CASES / "kaleidoscope_id.csv").read_bytes())
    reading = read_case("kaleidoscope_id.csv")
    back = read_cells(written(write_kaleidoscope, decided(reading, {0: "MYOSEP", 1: NOTHING})))
    assert back.columns.tolist() == before.columns.tolist()
    assert back["MANUAL ID*"].tolist() == ["MYOSEP", "Noise", "EPTFUS", "EPTFUS,LASNOC"]
    assert back.drop(columns="MANUAL ID*").equals(before.drop(columns="MANUAL ID*"))
    assert NATURE_FORMATS["kaleidoscope"].fits(table_of(reading).cells)


CLUSTERS = (
    "INDIR,FOLDER,IN FILE,OFFSET,DURATION,TOP1MATCH*,TOP1DIST,TOP2MATCH,TOP2DIST,VOCALIZATIONS,MANUAL ID\n"
)


def test_cluster_matches_weigh_by_nearness() -> None:
    data = CLUSTERS + "d,f,a.wav,0,3,wren.1,0.25,robin.2,1,4,\nd,f,a.wav,3,3,.3,0.5,wren.1,1,4,wren\n"
    reading = shaped(read_table(data.encode(), "cluster.csv"))
    assert reading.format == "Kaleidoscope cluster.csv"
    assert weights(reading) == [{"wren": 0.8, "robin": 0.5}, {"wren": 0.5}]
    assert reading.cells["truth"].tolist() == ["", "wren"]
    assert says(reading, "1 / (1 + distance)")
    back = read_cells(written(write_kaleidoscope, decided(reading, {0: "robin"})))
    assert back["MANUAL ID"].tolist() == ["robin", "wren"]
