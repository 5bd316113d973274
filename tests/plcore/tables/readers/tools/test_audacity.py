"""Label tracks: lines without a header, about a recording that they do not name."""

from __future__ import annotations

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from plcore import TableError
from plcore.tables.readers.tools.sound_detectors import about_recording, looks_like_labels, read_labels
from tests.plcore.tables.readers.tools.detector_tables import AUDACITY, items, read_detections
from tests.plcore.tables.writers.tables import MAY, noted
from tests.plcore.tables.zips import WAV, make_zip


def test_a_track_is_told_from_tables() -> None:
    assert looks_like_labels(AUDACITY)
    assert looks_like_labels(b"0,5\t3,25\twren\r\n")
    assert looks_like_labels(b"0.5\t3.25\twren\n\\\t100.0\t2000.0\n")
    assert looks_like_labels(AUDACITY * 500)
    for other in (
        b"",
        b"\n",
        b"start\tend\tlabel\n0\t3\twren\n",
        b"0\t1\t2\n3\t4\t5\n",
        b"0,3,wren\n",
        b"0\t3\n",
    ):
        assert not looks_like_labels(other)


def test_the_cells_of_a_track() -> None:
    reading = read_labels(
        b"0,5\t3.25\twren\n\n\\\t100.0\t2000.0\n4\t5\ta b\t0.5\n", "songs/a.BirdNET.results.txt"
    )
    assert reading.cells.to_dict("records") == [
        {"Recording": "a", "Start (s)": "0.5", "End (s)": "3.25", "Label": "wren", "Score": ""},
        {"Recording": "a", "Start (s)": "4", "End (s)": "5", "Label": "a b", "Score": "0.5"},
    ]
    assert reading.cells.index.tolist() == [1, 4]
    assert noted(reading, "1 lines with frequencies")


def test_odd_lines_are_refused_with_their_line() -> None:
    with pytest.raises(TableError, match=r"(?i)line 2.*start, end and label"):
        read_labels(b"0\t1\twren\noops\n", "a.txt")
    with pytest.raises(TableError, match="no labels"):
        read_labels(b"\\\t1\t2\n", "a.txt")


@pytest.mark.parametrize(
    ("track", "recording"),
    [
        ("a.txt", "rec/A.wav"),
        ("x/B.BirdNET.results.txt", "b.flac"),
        ("Z\u00fcrich.labels.txt", "Zu\u0308rich.mp3"),
    ],
)
def test_the_recording_is_called_as_the_track_is(track: str, recording: str) -> None:
    files = {"rec/A.wav": WAV, "b.flac": b"fLaC", "Zu\u0308rich.mp3": b"ID3", track: AUDACITY}
    reading = read_detections(make_zip(files), "a.zip")
    assert {one[0] for one in items(reading)} == {recording.replace("u\u0308", "\u00fc")}


def test_or_it_is_the_only_one() -> None:
    reading = read_detections(make_zip({"Label Track.txt": AUDACITY, "a.wav": WAV, "b.png": b""}), "a.zip")
    assert {one[0] for one in items(reading)} == {"a.wav"}
    assert reading.suggest_roles().audio == "recording"


def test_otherwise_nobody_can_tell() -> None:
    with pytest.raises(TableError, match="Nobody can tell"):
        read_detections(make_zip({"Label Track.txt": AUDACITY, "a.wav": WAV, "b.wav": WAV}), "a.zip")
    with pytest.raises(TableError, match="no recording"):
        about_recording(read_labels(AUDACITY, "a.txt"), ["a.png"])


@pytest.mark.parametrize(
    "name", ["x/Wald.BirdNET.results.csv", "Wald.Table.1.selections.txt", "Wald.selection.table.txt"]
)
def test_tables_of_other_tools_that_name_no_recording_are_about_theirs(name: str) -> None:
    """As BirdNET wrote CSV before it had a column of files, and Raven writes a selection table of one file."""
    table = b"Start (s),End (s),Scientific name,Common name,Confidence\n0,3,Parus major,Great tit,0.5\n"
    if name.endswith(".txt"):
        table = b"Selection\tBegin Time (s)\tEnd Time (s)\tSpecies\n1\t0\t3\twren\n"
    assert items(read_detections(table, name)) == [("Wald", "0", "3")]
    packed = make_zip({name: table, "rec/wald.WAV": WAV, "b.wav": WAV + b"b"})
    assert items(read_detections(packed, "a.zip")) == [("rec/wald.WAV", "0", "3")]


WORDS = st.text(MAY.filter(lambda one: one not in "\t\r\n"), max_size=6)


@given(st.lists(st.tuples(st.floats(0, 1e5), WORDS), min_size=1, max_size=5))
@settings(max_examples=60, deadline=None)
def test_any_labels_without_tabs(rows: list[tuple[float, str]]) -> None:
    text = "".join(f"{start:.6f}\t{start + 1:.6f}\t{label}\n" for start, label in rows)
    reading = read_labels(text.encode(), "a.txt")
    assert reading.cells["Label"].tolist() == [label for _, label in rows]
