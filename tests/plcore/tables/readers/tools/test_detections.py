"""Tables of detections in recordings, and label tracks of Audacity."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from plcore import LabelTable, TableError, read_cells
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
from plcore.tables.readers.tools.sound_detectors import (
    DETECTION_TABLES,
    holds_detections,
    looks_like_labels,
    read_labels,
)
from tests.plcore.tables.media.sound.recordings import calls, tone, written
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
from tests.plcore.tables.writers.tables import LABELS, MAY, TEXTS, candidates, frame, noted, opens, read_or_refuse
from tests.plcore.tables.zips import WAV, make_zip

SONG, TONE = (written(sound).getvalue() for sound in (calls(6.0, 8000), tone(880, 3.0)))


def heard(
    row: int, name: str, score: float | None = 0.5, start: float = 0.0, file: str = "a.wav", latin: str = ""
) -> Detection:
    return Detection(row, file, start, start + 3.0, name, latin, score, {"Label": name})


def test_rows_of_one_segment_are_candidates_and_noise_weighs_the_rest() -> None:
    reading = detections_reading(
        [heard(0, "wren", 0.75), heard(1, "robin", 0.25), heard(2, "wren", 0.5, start=3.0)], "test"
    )
    assert candidates(reading) == [{"wren": 0.75, "robin": 0.25, NOTHING: 0.25}, {"wren": 0.5, NOTHING: 0.5}]
    assert items(reading) == [("a.wav", "0", "3"), ("a.wav", "3", "6")]
    assert reading.cells["item"].tolist() == ["a.wav 0-3 s", "a.wav 3-6 s"]
    assert reading.cells["confidence"].tolist() == ["0.75", "0.5"]
    assert not noted(reading, "overlap")
    assert opens(reading).ids.tolist() == ["a.wav 0-3 s", "a.wav 3-6 s"]


def test_class_of_nothing_is_always_a_candidate_with_some_weight() -> None:
    sure, scaled = (
        detections_reading([heard(0, "wren", score), heard(1, "robin", 0.5, 9.0)], "t") for score in (1.0, 80.0)
    )
    assert candidates(sure) == [{"wren": 1, NOTHING: 0.01}, {"robin": 0.5, NOTHING: 0.5}]
    assert candidates(scaled) == [{"wren": 80, NOTHING: 0.8}, {"robin": 0.5, NOTHING: 79.5}]
    unscored = detections_reading([heard(0, "wren", None)], "t")
    assert candidates(unscored) == [["wren", NOTHING]]
    assert unscored.suggest_roles().numbers == ("start",)
    assert unscored.suggest_roles().caption == ()


@pytest.mark.parametrize("word", ["nocall", "Noise", "NOCALL", NOTHING])
def test_names_of_detectors_for_nothing_map_to_that_class(word: str) -> None:
    reading = detections_reading([heard(0, word, 1.0), heard(1, "wren", 0.5, 3.0)], "t")
    assert candidates(reading)[0] == {NOTHING: 1}


def test_overlapping_stretches_stay_apart_and_are_reported() -> None:
    rows = [heard(place, "wren", 0.5, start) for place, start in enumerate([0.0, 1.5, 3.0, 10.0])]
    reading = detections_reading([*rows, heard(4, "wren", 0.5, 1.0, "b.wav")], "t")
    assert len(reading.cells) == 5
    assert noted(reading, "2 stretches overlap one before")


def test_highest_score_of_a_repeated_species_counts() -> None:
    reading = detections_reading([heard(0, "wren", 0.25), heard(1, "wren", 0.75), heard(2, "wren", 0.5)], "t")
    assert candidates(reading) == [{"wren": 0.75, NOTHING: 0.25}]
    assert noted(reading, "2 times more", "highest")
    assert [kept["row"] for kept in originals(reading)[0]] == [1, 2, 3]


def test_species_of_one_common_name_are_distinguished() -> None:
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
    rows = [heard(0, "wren", file="x\\a.wav"), heard(1, "wren", file="y/a.wav"), heard(2, "wren", file="y/b.wav")]
    reading = detections_reading(rows, "t")
    assert reading.cells["item"].tolist() == ["x\\a.wav 0-3 s", "y/a.wav 0-3 s", "b.wav 0-3 s"]
    assert reading.suggest_roles().categories == ("recording",)


def test_genus_of_two_species_is_a_group() -> None:
    known = {"Great tit": "Parus major", "Japanese tit": "Parus minor", "Blackbird": "Turdus merula", "Apus": "Apus"}
    assert genera(known) == {"Parus": ("Great tit", "Japanese tit")}
    assert genera({"Parus": "Parus minor", "b": "Parus major"}) == {}


def test_table_without_recordings_is_read_with_note() -> None:
    reading = read_detections(BIRDNET)
    assert is_detections(reading.cells)
    assert noted(reading, "No recordings came with the table")
    roles = reading.suggest_roles()
    assert (roles.id, roles.audio, roles.numbers, roles.categories) == ("item", None, ("start",), ("recording",))
    assert roles.caption == ("scientific_names",)
    assert opens(reading).n_rows == 3


def test_recordings_are_found_by_base_names() -> None:
    data = make_zip({"t.csv": BIRDNET, "clips/wald, fru\u0308h.WAV": SONG, "b.wav": TONE})
    reading = read_detections(data, "birds.zip")
    roles = reading.suggest_roles()
    assert (roles.audio, roles.start, roles.end) == ("recording", "start", "end")
    assert (roles.sound_features, roles.numbers, roles.categories) == (True, (), ())
    assert not noted(reading, "No recordings")
    table = LabelTable.from_cells(reading.cells, roles, reading.files)
    assert table.media.segments.tolist() == [[0, 3], [3, 6], [0, 3]]
    assert table.media.audio is not None
    assert len(set(table.media.audio)) == 2
    assert table.cells["recording"][0] == "C:\\rec\\Wald, früh.wav", "a cell keeps its text"


def test_without_zip_nothing_is_added() -> None:
    reading = detections_reading([heard(0, "wren")], "t")
    assert with_recordings(reading) is reading
    assert not is_detections(reading.cells.drop(columns="item"))


def test_stored_rows_are_read_back_and_other_values_are_none() -> None:
    reading = read_detections(BIRDNET)
    cells = reading.cells["original_rows"].tolist()
    assert [kept["row"] for cell in cells for kept in read_original(cell)] == [1, 2, 3, 4]
    assert columns_of(cells) == (*("Start (s)", "End (s)", "Scientific name", "Common name", "Confidence", "File"),)
    for odd in ("", "x", "1", "{}", "[1]", '[{"row": 1}]', "[" * 5000):
        assert read_original(odd) == []


@given(st.lists(st.tuples(LABELS, st.floats(0, 1), st.integers(0, 3), st.sampled_from("ab")), min_size=1, max_size=8))
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
def test_seconds_are_short_and_as_exact_as_microsecond(seconds: float) -> None:
    assert abs(float(seconds_text(seconds)) - seconds) < 1e-6
    assert seconds_text(3.0) == "3"
    assert original_row(0, ["a"], "", {})["row"] == 1


def test_items_match_existing_table_and_other_tables_are_unchanged() -> None:
    two, one = (read_detections(BIRDNET).cells, read_detections(BIRDNET.replace(b"C:\\rec\\b.wav", b"D:\\b.wav")).cells)
    assert named_beside(two, two)["item"].tolist() == two["item"].tolist()
    assert named_beside(one, two)["item"].tolist()[-1] == "D:\\b.wav 0-3 s"
    renamed = two.assign(item=["x", "y", "z"])
    assert named_beside(two, renamed)["item"].tolist() == ["x", "y", "z"]
    plain = two.drop(columns="end")
    assert named_beside(plain, renamed) is plain
    assert named_beside(two, renamed.drop(columns="end")) is two


TABLES = {"birdnet": BIRDNET, "raven": RAVEN, "kaleidoscope": KALEIDOSCOPE, "r": R_FORM, "go": GO_RAVEN}


@pytest.mark.parametrize("name", TABLES)
def test_each_table_has_one_layout(name: str) -> None:
    cells = read_cells(TABLES[name].replace(b"Wald, ", b"Wald "))
    assert sum(layout.fits(cells) for layout in DETECTION_TABLES) == 1
    assert holds_detections(cells)


@pytest.mark.parametrize("header", ["start,end,label", "task,worker,label", "file,label,score", "text,start,end"])
def test_other_tables_are_none(header: str) -> None:
    assert not holds_detections(read_cells(f"{header}\n1,2,3\n".encode()))


def test_birdnet_tables_are_read() -> None:
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
            "Start (s)": "0.0", "End (s)": "3.0", "Scientific name": "Turdus merula",
            "Common name": "Eurasian Blackbird", "Confidence": "0.25", "File": "C:\\rec\\b.wav",
        },
    }  # fmt: skip


def test_raven_counts_from_begin_of_each_file() -> None:
    """A table of several files has a clock that runs on; the offset does not."""
    reading = read_detections(RAVEN, "birds.txt")
    assert items(reading) == [("/a/b.wav", "0", "3"), ("/a/c.wav", "0", "3")]
    assert candidates(reading) == [{"Great Tit": 0.75, "Coal Tit": 0.25, NOTHING: 0.25}, {NOTHING: 1}]


def test_raven_selection_may_name_several_species() -> None:
    """People add the columns Species 2 and Species 3 for species that sing at the same time."""
    reading = read_detections(
        b"Selection\tBegin Time (s)\tEnd Time (s)\tBegin File\tSpecies\tSpecies 2\tSpecies 3\n"
        b"1\t0\t3\ta.wav\tGreat Tit\tCoal Tit\t\n2\t3\t6\ta.wav\tCoal Tit\t\t\n"
        b"3\t6\t9\ta.wav\tGreat Tit\tCoal Tit\tParus major_Marsh Tit\n"
    )
    pair = {"Great Tit", "Coal Tit"}
    assert [set(found) - {NOTHING} for found in candidates(reading)] == [pair, {"Coal Tit"}, pair | {"Marsh Tit"}]
    assert [one["labels"] for one in originals(reading)[0]] == [["Great Tit", "Coal Tit"]]
    assert not any("more for a segment" in note for note in reading.notes)


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


def test_tables_of_r_packages_are_read() -> None:
    reading = read_detections(R_FORM)
    assert items(reading) == [("C:/a/x.wav", "0", "3")]
    assert "verify" in originals(reading)[0][0]["cells"]


def test_names_in_one_cell_are_two() -> None:
    header = b"Selection\tBegin Time (s)\tEnd Time (s)\tSpecies\tBegin File\n"
    for label, latin in (("Parus major_Great tit", "Parus major"), ("Great tit, female", ""), ("A_b", "")):
        reading = read_detections(header + f"1\t0\t3\t{label}\ta.wav\n".encode())
        assert originals(reading)[0][0]["scientific"] == latin
        assert candidates(reading) == [["Great tit" if latin else label, NOTHING]]


def test_common_name_is_one_whatever_is_in_it() -> None:
    header = "Selection\tBegin Time (s)\tEnd Time (s)\tCommon Name\tBegin File\n"
    for label in ("Great tit, Kohlmeise (Parus major)", "Parus major_Great tit"):
        reading = read_detections(f"{header}1\t0\t3\t{label}\ta.wav\n".encode())
        assert candidates(reading) == [[label, NOTHING]]


@pytest.mark.parametrize(
    ("old", "new", "said"),
    [
        (b"0.0,3.0,Parus major,Great tit,0.8125", b"x,3.0,Parus major,Great tit,0.8125", "got 'x'"),
        (b"0.0,3.0,Parus major,Great tit,0.8125", b"-1,3.0,Parus major,Great tit,0.8125", "got '-1'"),
        (b"0.0,3.0,Parus major,Great tit,0.8125", b"4,3.0,Parus major,Great tit,0.8125", "ends 1 seconds before"),
        (b"0.0,3.0,Parus major,Great tit,0.8125", b"3,3.0,Parus major,Great tit,0.8125", "has no length"),
        (b"0.0,3.0,Parus major,Great tit,0.8125", b"0,3.0,Parus major,Great tit,high", "a score"),
        (b"0.0,3.0,Parus major,Great tit,0.8125", b"0,3.0,,,0.8125", "the label is empty"),
        (b"Great tit,0.8125,C:\\rec\\Wald", b"Great tit,0.8125,", "names no recording"),
    ],
)  # fmt: skip
def test_odd_cells_are_refused_with_row_line_and_fix(old: bytes, new: bytes, said: str) -> None:
    data = BIRDNET.replace(", früh.wav".encode(), b"").replace(old, new, 1)
    with pytest.raises(TableError) as caught:
        read_detections(data)
    assert said in str(caught.value)
    assert "Row 1 (line 2)" in str(caught.value)
    assert all(problem.fix for problem in caught.value.problems)


def test_table_without_recording_or_name_is_refused_with_column_to_add() -> None:
    with pytest.raises(TableError, match="Begin Path"):
        read_detections(b"Begin Time (s),End Time (s),Species\n0,3,wren\n", "")


def test_table_that_spreadsheet_wrote_with_decimal_commas_is_the_same_table() -> None:
    lines = BIRDNET.replace(", früh".encode(), b"").decode().replace(",", ";").replace(".", ",")
    plain = read_detections(BIRDNET.replace(", früh".encode(), b""))
    found = read_detections(lines.replace("b,wav", "b.wav").replace("Wald,wav", "Wald.wav").encode())
    assert items(found) == items(plain)
    assert candidates(found) == candidates(plain)
    assert originals(found)[0][0]["cells"]["Confidence"] == "0,8125", "given back as it came"


def test_wrong_time_is_one_problem_though_it_serves_as_begin_and_as_clock() -> None:
    with pytest.raises(TableError) as caught:
        read_detections(b"Start (s),End (s),Scientific name,Common name,Confidence,File\nx,3,P m,Tit,1,a.wav\n")
    assert len(caught.value.problems) == 1


def test_scores_may_be_missing() -> None:
    data = BIRDNET.replace(b"0.8125", b"NA").replace(b"0.125", b"").replace(", früh".encode(), b"")
    reading = read_detections(data)
    assert candidates(reading)[0] == {"Great tit": 1, "Coal tit": 1, NOTHING: 1}
    assert any(note.startswith("2 detections have no score: each weighs as much as the best") for note in reading.notes)


@given(st.lists(st.tuples(TEXTS, TEXTS, TEXTS, TEXTS), min_size=1, max_size=4))
def test_any_cells_are_read_or_refused_with_message(rows: list[tuple[str, ...]]) -> None:
    names = ("IN FILE", "OFFSET", "DURATION", "common_name")
    cells = frame(*(dict(zip(names, row, strict=True)) for row in rows))
    layout = next(layout for layout in DETECTION_TABLES if layout.fits(cells))
    read_or_refuse(layout.read, cells)


def test_label_tracks_have_layout_of_their_own() -> None:
    reading = read_detections(AUDACITY, "x.txt")
    assert items(reading) == [("x", "0", "3"), ("x", "3", "6")]
    assert candidates(reading) == [{"Great Tit": 0.5, NOTHING: 0.5}, {NOTHING: 1}]


def test_track_is_reported_from_tables() -> None:
    assert looks_like_labels(AUDACITY)
    assert looks_like_labels(b"0,5\t3,25\twren\r\n")
    assert looks_like_labels(b"0.5\t3.25\twren\n\\\t100.0\t2000.0\n")
    assert looks_like_labels(AUDACITY * 500)
    for other in (b"", b"\n", b"start\tend\tlabel\n0\t3\twren\n", b"0\t1\t2\n3\t4\t5\n", b"0,3,wren\n", b"0\t3\n"):
        assert not looks_like_labels(other)


def test_cells_of_track() -> None:
    reading = read_labels(b"0,5\t3.25\twren\n\n\\\t100.0\t2000.0\n4\t5\ta b\t0.5\n", "songs/a.BirdNET.results.txt")
    assert reading.cells.to_dict("records") == [
        {"Recording": "a", "Start (s)": "0.5", "End (s)": "3.25", "Label": "wren", "Score": ""},
        {"Recording": "a", "Start (s)": "4", "End (s)": "5", "Label": "a b", "Score": "0.5"},
    ]
    assert reading.cells.index.tolist() == [1, 4]
    assert noted(reading, "Lines with frequencies, left out, as a question is about a stretch of time: 1.")


def test_odd_lines_are_refused_with_their_line() -> None:
    with pytest.raises(TableError, match=r"(?i)line 2.*start, end and label"):
        read_labels(b"0\t1\twren\noops\n", "a.txt")
    with pytest.raises(TableError, match="no labels"):
        read_labels(b"\\\t1\t2\n", "a.txt")


@pytest.mark.parametrize(
    ("track", "recording"),
    [("a.txt", "rec/A.wav"), ("x/B.BirdNET.results.txt", "b.flac"), ("Z\u00fcrich.labels.txt", "Zu\u0308rich.mp3")],
)  # fmt: skip
def test_recording_is_called_as_track_is(track: str, recording: str) -> None:
    files = {"rec/A.wav": WAV, "b.flac": b"fLaC", "Zu\u0308rich.mp3": b"ID3", track: AUDACITY}
    reading = read_detections(make_zip(files), "a.zip")
    assert {one[0] for one in items(reading)} == {recording.replace("u\u0308", "\u00fc")}


def test_label_track_without_a_name_uses_the_only_recording() -> None:
    reading = read_detections(make_zip({"Label Track.txt": AUDACITY, "a.wav": WAV, "b.png": b""}), "a.zip")
    assert {one[0] for one in items(reading)} == {"a.wav"}
    assert reading.suggest_roles().audio == "recording"


def test_label_track_with_several_recordings_is_refused() -> None:
    with pytest.raises(TableError, match="It is unknown"):
        read_detections(make_zip({"Label Track.txt": AUDACITY, "a.wav": WAV, "b.wav": WAV}), "a.zip")


def test_label_tracks_without_recordings_are_called_after_their_files() -> None:
    """Two stations have the same file names, so the folder is a part of the name."""
    packed = make_zip({"n/A.txt": AUDACITY, "s/A.BirdNET.results.txt": AUDACITY, "b.png": b""})
    reading = read_detections(packed, "a.zip")
    assert items(reading) == [("n/A", "0", "3"), ("n/A", "3", "6"), ("s/A", "0", "3"), ("s/A", "3", "6")]
    assert noted(reading, "No recordings came with the table")
    alone = read_detections(make_zip({"A.txt": AUDACITY}), "a.zip")
    assert items(alone) == [("A", "0", "3"), ("A", "3", "6")]
    assert opens(alone).roles.numbers == ("start",)


@pytest.mark.parametrize(
    "name", ["x/Wald.BirdNET.results.csv", "Wald.Table.1.selections.txt", "Wald.selection.table.txt"]
)
def test_tables_of_other_tools_that_name_no_recording_are_about_theirs(name: str) -> None:
    """As older versions of BirdNET wrote CSV without a column of files, and Raven writes a selection table of one
    file."""
    table = b"Start (s),End (s),Scientific name,Common name,Confidence\n0,3,Parus major,Great tit,0.5\n"
    if name.endswith(".txt"):
        table = b"Selection\tBegin Time (s)\tEnd Time (s)\tSpecies\n1\t0\t3\twren\n"
    assert items(read_detections(table, name)) == [("Wald", "0", "3")]
    packed = make_zip({name: table, "rec/wald.WAV": WAV, "b.wav": WAV + b"b"})
    assert items(read_detections(packed, "a.zip")) == [("rec/wald.WAV", "0", "3")]


WORDS = st.text(MAY.filter(lambda one: one not in "\t\r\n"), max_size=6)


@given(st.lists(st.tuples(st.floats(0, 1e5), WORDS), min_size=1, max_size=5))
def test_any_labels_without_tabs(rows: list[tuple[float, str]]) -> None:
    text = "".join(f"{start:.6f}\t{start + 1:.6f}\t{label}\n" for start, label in rows)
    reading = read_labels(text.encode(), "a.txt")
    assert reading.cells["Label"].tolist() == [label for _, label in rows]
