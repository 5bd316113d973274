"""Recordings of a table: found, checked against their length, described, stored, used as features."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import numpy as np
import pandas as pd
import pytest

from plcore import LabelTable, Roles, TableError, suggest_roles
from plcore.tables import find_doubts, read_table, with_rows
from plcore.tables.columns import Finder
from plcore.tables.media.cells import check_media, parse_recordings, rows_by_recording, segment_of
from plcore.tables.media.files import MediaFiles
from plcore.tables.media.sound import SOUND_NAMES, describe_sound
from tests.plcore.tables.media.sound.recordings import noise, tone, written
from tests.plcore.tables.zips import make_zip

LOW, HIGH = (written(np.concatenate([tone(hertz, 2), noise(1)])).getvalue() for hertz in (300, 3000))
M4A = b"\x00\x00\x00\x20ftypM4A " + bytes(200)
ROLES = Roles(candidates="c", audio="file", start="from", end="to", sound_features=True)
SEGMENTS = (("low.wav", "0", "1"), ("low.wav", "1", "2"), ("high.wav", "0", "1"), ("high.wav", "", "2"))


def zipped(segments: tuple[tuple[str, str, str], ...] = SEGMENTS, **more: bytes) -> bytes:
    lines = "".join(f"wren|robin,{','.join(one)}\n" for one in segments)
    files = {"low.wav": LOW, "high.wav": HIGH, **{name.replace("_", "."): data for name, data in more.items()}}
    return make_zip({"t.csv": f"c,file,from,to\n{lines}".encode(), **files})


def table_of(data: bytes, roles: Roles = ROLES) -> LabelTable:
    reading = read_table(data)
    return LabelTable.from_cells(reading.cells, roles, reading.files)


def refused(data: bytes, roles: Roles = ROLES) -> str:
    with pytest.raises(TableError) as caught:
        table_of(data, roles)
    return str(caught.value)


def test_each_segment_of_a_shared_file_is_described(tmp_path: Path) -> None:
    table = table_of(zipped())
    sounds = table.media.sounds
    (tmp_path / "low.wav").write_bytes(LOW)
    (tmp_path / "high.wav").write_bytes(HIGH)
    for row, (name, start, end) in enumerate(SEGMENTS):
        expected = describe_sound(tmp_path / name, float(start or 0), float(end))
        np.testing.assert_array_equal(sounds[row], expected)
    assert len(table.media.kept_names()) == 2
    table.write(tmp_path / "t.parquet")
    back = LabelTable.read(tmp_path / "t.parquet")
    np.testing.assert_array_equal(back.media.sounds, sounds)
    features = back.features().fit(back)
    assert features.feature_names_ == tuple(f"file: {name}" for name in SOUND_NAMES)
    np.testing.assert_array_equal(features.transform(back), sounds.astype(float))


def test_sound_is_a_default_feature_and_a_zip_of_clips_suffices() -> None:
    data = make_zip(
        {"t.csv": b"file,candidates\nlow.wav,wren|robin\nhigh.wav,robin\n", "low.wav": LOW, "high.wav": HIGH}
    )
    reading = read_table(data)
    roles = reading.suggest_roles()
    assert (roles.audio, roles.sound_features, roles.start) == ("file", True, None)
    table = LabelTable.from_cells(reading.cells, roles, reading.files)
    assert table.media.sounds is not None
    assert table.media.segments is None
    assert not np.allclose(*table.media.sounds)


def test_sound_is_not_a_feature_next_to_an_embedding() -> None:
    cells = pd.DataFrame({"file": ["a.wav"] * 2, "candidates": ["a|b", "b"], "embedding": ["[1, 2]"] * 2}, dtype="str")
    assert not suggest_roles(cells, files=True).sound_features


def test_segment_beyond_the_end_names_its_row() -> None:
    words = refused(zipped((*SEGMENTS, ("low.wav", "7", "8"))))
    assert "Row 5" in words
    assert "column 'from': the segment starts at 7 s, but the recording ends at 3 s" in words


def test_segments_are_checked_even_without_sound_features() -> None:
    roles = replace(ROLES, sound_features=False, categories=("from",), start=None)
    assert table_of(zipped(), roles).media.sounds is None
    late = zipped((("low.wav", "7", "8"), ("low.wav", "0", "1")))
    cells = read_table(late)
    finder = Finder(None)
    found = parse_recordings(cells.cells, replace(ROLES, sound_features=False), cells.files, finder)
    assert found.sounds is None
    assert [(one.row, one.column) for one in finder.problems] == [(1, "from")]


def test_undecodable_recording_is_kept_with_a_doubt() -> None:
    table = table_of(zipped((*SEGMENTS, ("call.m4a", "0", "1")), call_m4a=M4A))
    sounds = table.media.sounds
    assert np.isnan(sounds[4]).all()
    assert not np.isnan(sounds[:4]).any()
    said = [one.message for one in find_doubts(table) if one.name == "unheard"]
    assert said == ["Recordings that cannot be decoded, so that they play but nothing is learnt from them: 1."]
    features = table.features().fit(table).transform(table)
    np.testing.assert_allclose(features[4], sounds[:4].mean(axis=0, dtype=float))


def test_sound_features_need_a_decodable_recording() -> None:
    assert "no recording to learn from" in refused(zipped((("call.m4a", "", ""),), call_m4a=M4A))
    assert "no recording to learn from" in refused(zipped((("", "", ""),)))
    beside = table_of(zipped((("call.m4a", "", "2"),), call_m4a=M4A), replace(ROLES, end=None, numbers=("to",)))
    assert beside.features().fit(beside).transform(beside)[0, 1:].tolist() == [0] * len(SOUND_NAMES)


def test_missing_file_is_reported_per_row_and_missing_zip_once() -> None:
    words = refused(zipped((*SEGMENTS, ("gone.wav", "0", "1"), ("gone.wav", "1", "2"))))
    assert "Row 5" in words
    assert "row 6" in words
    finder = Finder(None)
    parse_recordings(read_table(zipped()).cells, ROLES, None, finder)
    assert len(finder.problems) == 4
    assert "this is a CSV alone" in str(finder.problems[0])


def test_every_file_is_opened_once_for_all_its_segments(monkeypatch: pytest.MonkeyPatch) -> None:
    reading = read_table(zipped())
    files = reading.files
    opened: list[str] = []
    plain = files.archive.open

    def counted(name: str) -> object:
        opened.append(name)
        return plain(name)

    monkeypatch.setattr(files.archive, "open", counted)
    told: list[float] = []
    check_media(files, reading.cells, ROLES, told.append)
    assert sorted(opened) == ["high.wav", "high.wav", "low.wav", "low.wav"]  # once for its name, once for its sound
    assert told[0] == 0
    assert told == sorted(told)
    LabelTable.from_cells(reading.cells, ROLES, files)
    assert len(opened) == 4


def test_added_rows_are_described() -> None:
    roles = replace(ROLES, id="id")
    reading = read_table(zipped())
    first = LabelTable.from_cells(reading.cells.assign(id=list("abcd")), roles, reading.files)
    later = read_table(zipped((("high.wav", "1", "2"),)))
    grown = with_rows(first, later.cells.assign(id=["e"]), later.files).table
    assert grown.media.sounds.shape == (5, len(SOUND_NAMES))
    np.testing.assert_array_equal(grown.media.segments[4], [1, 2])  # type: ignore[index]


def test_rows_are_grouped_by_recording_with_segments() -> None:
    cells = pd.DataFrame({"f": [" a", "b", "", "a"]}, dtype="str")
    assert rows_by_recording(cells, "f") == {"a": [0, 3], "b": [1]}
    assert segment_of(None, 3) == (None, None)
    assert segment_of(np.array([[np.nan, 2.0], [1.0, np.nan]]), 0) == (None, 2.0)
    assert segment_of(np.array([[np.nan, 2.0], [1.0, np.nan]]), 1) == (1.0, None)


def test_sound_features_require_a_recording_column() -> None:
    with pytest.raises(TableError, match="Learning from recordings is on, but no column"):
        LabelTable.from_cells(read_table(zipped()).cells, replace(ROLES, audio=None), MediaFiles(None))  # type: ignore[arg-type]
