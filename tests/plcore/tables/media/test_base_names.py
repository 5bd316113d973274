"""Files found by paths of another machine, and never by a guess between two."""

from __future__ import annotations

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from plcore.tables.media.file_tree import Archive, FilesByBaseName, MediaError, base_name
from tests.plcore.tables.zips import WAV, contents, make_zip


def files(*names: str) -> FilesByBaseName:
    return FilesByBaseName(Archive(make_zip({"t.csv": b"a\n1\n", **{name: name.encode() for name in names}})))


@pytest.mark.parametrize(
    "path",
    [
        "C:\\rec\\a.wav",
        "/data/x/a.wav",
        "a.wav",
        " A.WAV ",
        "..\\..\\a.wav",
        "\\\\server\\share\\a.wav",
        "file:///x/a.wav",
    ],
)
def test_a_path_of_another_machine_is_found_by_its_last_part(path: str) -> None:
    found = files("clips/a.wav", "b.wav")
    assert found.find(path) == "clips/a.wav"
    assert contents(found, "clips/a.wav") == b"clips/a.wav"


def test_accents_in_two_pieces_and_capitals_make_no_difference() -> None:
    assert files("Zaunko\u0308nig.wav").find("D:/x/zaunk\u00f6nig.WAV") == "Zaunk\u00f6nig.wav"


def test_folders_tell_files_of_one_name_apart_as_far_as_they_go() -> None:
    found = files("site1/IMG 1.JPG", "site2/IMG 1.JPG", "site2/old/IMG 1.JPG")
    assert found.find("C:\\cams\\site1\\img 1.jpg") == "site1/IMG 1.JPG"
    assert found.find("/mnt/site2/IMG 1.JPG") == "site2/IMG 1.JPG"
    assert found.find("old/IMG 1.JPG") == "site2/old/IMG 1.JPG"
    with pytest.raises(MediaError) as caught:
        found.find("IMG 1.JPG")
    assert "3 files of that name" in caught.value.args[0]
    assert "folders" in caught.value.args[1]


@pytest.mark.parametrize("path", ["c.wav", "a.wav/", "", "t.csv", "a"])
def test_what_is_not_there_is_said(path: str) -> None:
    with pytest.raises(MediaError, match="holds no file named"):
        files("a.wav").find(path)


@given(st.lists(st.sampled_from(["a", "b", "C"]), min_size=1, max_size=4), st.sampled_from(["/", "\\"]))
@settings(max_examples=50, deadline=None)
def test_a_longer_path_of_a_file_finds_it(folders: list[str], slash: str) -> None:
    """However many folders stand before those that the zip has."""
    inside = "/".join([*folders[1:], "x.wav"])
    found = files(inside)
    assert found.find(slash.join([*folders, "x.wav"])) == inside
    assert base_name(slash.join([*folders, "x.wav"])) == "x.wav"


def test_closing_lets_go() -> None:
    found = FilesByBaseName(Archive(make_zip({"t.csv": b"a\n1\n", "a.wav": WAV})))
    found.close()
    with pytest.raises(MediaError):
        found.open("a.wav")
