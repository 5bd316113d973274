"""What pages were told of Streamlit's files: by sign-in, by the names in what they were sent, and not for ever."""

from __future__ import annotations

import hashlib

import pytest
from streamlit.runtime.media_file_storage import MediaFileKind
from streamlit.runtime.memory_media_file_storage import MemoryMediaFileStorage

from web.guard import PATH, NamedFiles


def name_of(data: bytes) -> str:
    return hashlib.sha256(data).hexdigest()[:32]


NAME = name_of(b"file")


@pytest.mark.parametrize("after", [b"", b"\x22more", b"B\x00H\x01", b"2(&"])
def test_a_file_is_known_to_whose_page_has_named_it(after: bytes) -> None:
    told = NamedFiles()
    told.note(7, f"\n\x12 a message \x1a{PATH}{NAME}.csv".encode() + after)
    assert told.knows(7, f"{PATH}{NAME}.csv")
    assert not told.knows(8, f"{PATH}{NAME}.csv")
    for path in (
        PATH,
        f"{PATH}{NAME[:-1]}.csv",
        f"{PATH}/{NAME}.csv",
        f"{PATH}{NAME}/x",
        f"/x{PATH}{NAME}.csv",
    ):
        assert not told.knows(7, path), path


def test_what_names_no_file_is_passed_over() -> None:
    told = NamedFiles()
    for frame in (b"", b"nothing", b"/media/", b"/media/\x00", b"/media/a.csv", b"/medi" + b"a" * 1000):
        told.note(7, frame)
    assert not told.knows(7, PATH)
    assert len(told._told) == 0


def test_those_told_longest_ago_go_first() -> None:
    told = NamedFiles(most=2)
    a, b, c = map(name_of, (b"a", b"b", b"c"))
    for frame in (f"{PATH}{a}.png\x00{PATH}{b}.csv\x01", f"{PATH}{a}.png", f"{PATH}{c}.png"):
        told.note(7, frame.encode())
    assert [told.knows(7, f"{PATH}{name}.png") for name in (a, b, c)] == [True, False, True]


def test_streamlit_s_addresses_are_such() -> None:
    store, told = MemoryMediaFileStorage(PATH.rstrip("/")), NamedFiles()
    for ending, kind in (("text/csv", MediaFileKind.DOWNLOADABLE), ("image/png", MediaFileKind.MEDIA)):
        address = store.get_url(store.load_and_get_id(b"data", ending, kind, "name.csv"))
        told.note(7, address.encode())
        assert told.knows(7, address), address
