"""Detections become items: stretches of recordings, with candidates, weights, nothing as a class, and genera."""

from __future__ import annotations

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from plcore import LabelTable
from plcore.tables.readers.tools.detections import (
    NOTHING,
    Detection,
    columns_of,
    detections_reading,
    genera,
    is_detections,
    named_beside,
    original_row,
    read_original,
    seconds_text,
    with_recordings,
)
from tests.plcore.tables.media.sound.recordings import calls, tone, written
from tests.plcore.tables.readers.tools.detector_tables import BIRDNET, items, originals, read_detections
from tests.plcore.tables.writers.tables import LABELS, candidates, noted, opens
from tests.plcore.tables.zips import make_zip

SONG, TONE = (written(sound).getvalue() for sound in (calls(6.0, 8000), tone(880, 3.0)))


def heard(
    row: int, name: str, score: float | None = 0.5, start: float = 0.0, file: str = "a.wav", latin: str = ""
) -> Detection:
    return Detection(row, file, start, start + 3.0, name, latin, score, {"Label": name})


def test_rows_of_one_stretch_are_its_candidates_and_nothing_weighs_what_is_left() -> None:
    reading = detections_reading(
        [heard(0, "wren", 0.75), heard(1, "robin", 0.25), heard(2, "wren", 0.5, start=3.0)], "test"
    )
    assert candidates(reading) == [
        {"wren": 0.75, "robin": 0.25, NOTHING: 0.25},
        {"wren": 0.5, NOTHING: 0.5},
    ]
    assert items(reading) == [("a.wav", "0", "3"), ("a.wav", "3", "6")]
    assert reading.cells["item"].tolist() == ["a.wav 0-3 s", "a.wav 3-6 s"]
    assert reading.cells["confidence"].tolist() == ["0.75", "0.5"]
    assert not noted(reading, "overlap")
    assert opens(reading).ids.tolist() == ["a.wav 0-3 s", "a.wav 3-6 s"]


def test_nothing_is_always_a_candidate_and_of_some_weight() -> None:
    sure, scaled = (
        detections_reading([heard(0, "wren", score), heard(1, "robin", 0.5, 9.0)], "t")
        for score in (1.0, 80.0)
    )
    assert candidates(sure) == [{"wren": 1, NOTHING: 0.01}, {"robin": 0.5, NOTHING: 0.5}]
    assert candidates(scaled) == [{"wren": 80, NOTHING: 0.8}, {"robin": 0.5, NOTHING: 79.5}]
    unscored = detections_reading([heard(0, "wren", None)], "t")
    assert candidates(unscored) == [["wren", NOTHING]]
    assert unscored.suggest_roles().numbers == ("start",)
    assert unscored.suggest_roles().caption == ()


@pytest.mark.parametrize("word", ["nocall", "Noise", "NOCALL", NOTHING])
def test_what_detectors_call_nothing_is_that_class(word: str) -> None:
    reading = detections_reading([heard(0, word, 1.0), heard(1, "wren", 0.5, 3.0)], "t")
    assert candidates(reading)[0] == {NOTHING: 1}


def test_overlapping_stretches_stay_apart_and_are_told() -> None:
    rows = [heard(place, "wren", 0.5, start) for place, start in enumerate([0.0, 1.5, 3.0, 10.0])]
    reading = detections_reading([*rows, heard(4, "wren", 0.5, 1.0, "b.wav")], "t")
    assert len(reading.cells) == 5
    assert noted(reading, "2 overlap one before")


def test_of_one_species_twice_the_highest_score_counts() -> None:
    reading = detections_reading([heard(0, "wren", 0.25), heard(1, "wren", 0.75), heard(2, "wren", 0.5)], "t")
    assert candidates(reading) == [{"wren": 0.75, NOTHING: 0.25}]
    assert noted(reading, "2 times more", "highest")
    assert [kept["row"] for kept in originals(reading)[0]] == [1, 2, 3]


def test_species_of_one_common_name_are_told_apart() -> None:
    reading = detections_reading(
        [
            heard(0, "tit", latin="Parus major"),
            heard(1, "tit", 0.25, latin="Parus minor"),
            heard(2, "", latin="Apus apus"),
        ],
        "t",
    )
    assert list(candidates(reading)[0]) == ["tit (Parus major)", "tit (Parus minor)", "Apus apus", NOTHING]
    assert reading.groups == {"Parus": ("tit (Parus major)", "tit (Parus minor)")}


def test_recordings_of_one_base_name_have_items_of_their_own() -> None:
    rows = [
        heard(0, "wren", file="x\\a.wav"),
        heard(1, "wren", file="y/a.wav"),
        heard(2, "wren", file="y/b.wav"),
    ]
    reading = detections_reading(rows, "t")
    assert reading.cells["item"].tolist() == ["x\\a.wav 0-3 s", "y/a.wav 0-3 s", "b.wav 0-3 s"]
    assert reading.suggest_roles().categories == ("recording",)


def test_a_genus_of_two_species_is_a_group() -> None:
    known = {
        "Great tit": "Parus major",
        "Japanese tit": "Parus minor",
        "Blackbird": "Turdus merula",
        "Apus": "Apus",
    }
    assert genera(known) == {"Parus": ("Great tit", "Japanese tit")}
    assert genera({"Parus": "Parus minor", "b": "Parus major"}) == {}


def test_alone_it_is_a_table_and_says_what_is_missing() -> None:
    reading = read_detections(BIRDNET)
    assert is_detections(reading.cells)
    assert noted(reading, "No recordings came with the table")
    roles = reading.suggest_roles()
    assert (roles.id, roles.audio, roles.numbers) == ("item", None, ("confidence",))
    assert roles.caption == ("scientific_names",)
    assert opens(reading).n_rows == 3


def test_with_recordings_they_are_played_by_their_base_names() -> None:
    data = make_zip({"t.csv": BIRDNET, "clips/wald, fru\u0308h.WAV": SONG, "b.wav": TONE})
    reading = read_detections(data, "birds.zip")
    roles = reading.suggest_roles()
    assert (roles.audio, roles.start, roles.end) == ("recording", "start", "end")
    assert (roles.sound_features, roles.numbers, roles.categories) == (True, (), ())
    assert not noted(reading, "No recordings")
    table = LabelTable.from_cells(reading.cells, roles, reading.files)
    assert table.media.segments is not None
    assert table.media.segments.tolist() == [[0, 3], [3, 6], [0, 3]]
    assert table.media.audio is not None
    assert len(set(table.media.audio)) == 2
    assert table.cells["recording"][0] == "C:\\rec\\Wald, früh.wav", "a cell keeps its text"


def test_without_a_zip_nothing_is_added() -> None:
    reading = detections_reading([heard(0, "wren")], "t")
    assert with_recordings(reading) is reading
    assert not is_detections(reading.cells.drop(columns="item"))


def test_kept_rows_are_read_back_and_anything_else_is_none() -> None:
    reading = read_detections(BIRDNET)
    cells = reading.cells["original_rows"].tolist()
    assert [kept["row"] for cell in cells for kept in read_original(cell)] == [1, 2, 3, 4]
    assert columns_of(cells) == (
        *("Start (s)", "End (s)", "Scientific name", "Common name", "Confidence", "File"),
    )
    for odd in ("", "x", "1", "{}", "[1]", '[{"row": 1}]', "[" * 5000):
        assert read_original(odd) == []


@given(
    st.lists(
        st.tuples(LABELS, st.floats(0, 1), st.integers(0, 3), st.sampled_from("ab")), min_size=1, max_size=8
    )
)
@settings(max_examples=60, deadline=None)
def test_no_row_is_lost_and_none_is_merged_over_stretches(rows: list[tuple[str, float, int, str]]) -> None:
    found = [heard(n, name, score, float(start), file) for n, (name, score, start, file) in enumerate(rows)]
    reading = detections_reading(found, "t")
    kept = [one for cell in originals(reading) for one in cell]
    assert sorted(one["row"] for one in kept) == list(range(1, len(rows) + 1))
    assert len(reading.cells) == len({(start, file) for _, _, start, file in rows})
    for item, sets, own in zip(items(reading), candidates(reading), originals(reading), strict=True):
        assert NOTHING in sets
        assert set(sets) == {label for one in own for label in one["labels"]} | {NOTHING}
        assert {(rows[one["row"] - 1][3], str(rows[one["row"] - 1][2])) for one in own} == {item[:2]}


@given(st.floats(0, 1e6))
def test_seconds_are_short_and_as_exact_as_a_microsecond(seconds: float) -> None:
    assert abs(float(seconds_text(seconds)) - seconds) < 1e-6
    assert seconds_text(3.0) == "3"
    assert original_row(0, ["a"], "", {})["row"] == 1


def test_items_are_called_as_in_the_table_that_has_them_and_other_tables_stay_as_they_are() -> None:
    two, one = (
        read_detections(BIRDNET).cells,
        read_detections(BIRDNET.replace(b"C:\\rec\\b.wav", b"D:\\b.wav")).cells,
    )
    assert named_beside(two, two)["item"].tolist() == two["item"].tolist()
    assert named_beside(one, two)["item"].tolist()[-1] == "D:\\b.wav 0-3 s"
    renamed = two.assign(item=["x", "y", "z"])
    assert named_beside(two, renamed)["item"].tolist() == ["x", "y", "z"]
    plain = two.drop(columns="end")
    assert named_beside(plain, renamed) is plain
    assert named_beside(two, renamed.drop(columns="end")) is two
