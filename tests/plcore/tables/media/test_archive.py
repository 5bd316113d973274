"""Zips: contents of a good one, and every attack refused by name before a byte is used."""

from __future__ import annotations

import hashlib
import stat
import tracemalloc
import zipfile
from contextlib import suppress
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from plcore import TableError
from plcore.tables.media import file_tree as archives
from plcore.tables.media.file_tree import Archive, MediaError
from tests.plcore.tables.zips import CSV, birds, contents, forged, make_zip, picture


def refusal(data: bytes) -> str:
    with pytest.raises(TableError) as caught:
        Archive(data)
    assert all(problem.fix for problem in caught.value.problems)
    return str(caught.value)


def test_table_and_files_next_to_it_are_found() -> None:
    archive = Archive(make_zip(birds()))
    assert archive.table_names == ("birds.csv",)
    assert archive.table("birds.csv") == CSV
    assert contents(archive, archive.find(" pictures/b.png ")) == picture(2)
    assert contents(archive, archive.find("./a.png")) == picture(1)


def test_files_are_found_next_to_the_table_then_from_the_top() -> None:
    files = {f"work/{name}": data for name, data in birds().items()} | {"top.png": picture(3)}
    archive = Archive(make_zip(files))
    assert archive.find("a.png") == archive.find("work/a.png") == "work/a.png"
    assert archive.find("top.png") == "top.png"


def test_zip_is_read_from_a_path(tmp_path: Path) -> None:
    (tmp_path / "birds.zip").write_bytes(make_zip(birds(), zipfile.ZIP_STORED))
    assert Archive(tmp_path / "birds.zip").table("birds.csv") == CSV


def test_files_added_by_file_managers_are_ignored() -> None:
    litter = {"__MACOSX/._birds.csv": b"x", ".DS_Store": b"x", "pictures/Thumbs.db": b"x", "empty/": b""}
    assert Archive(make_zip(birds(**litter))).table("birds.csv") == CSV


def test_accents_match_in_composed_and_decomposed_form() -> None:
    archive = Archive(make_zip(birds(**{"zaunko\u0308nig.png": picture(4)})))
    assert contents(archive, archive.find("zaunk\u00f6nig.png")) == picture(4)


@pytest.mark.parametrize(
    ("cell", "said"),
    [
        ("c.png", "the zip contains no file 'c.png'"),
        ("notes/b.png", "the zip holds 'pictures/b.png'"),
        ("pictures", "no file 'pictures'"),
        ("birds.csv", "no file 'birds.csv'"),
        ("../c.png", "one of dots alone"),
        ("pictures/../c.png", "one of dots alone"),
        ("/c.png", "top of a disk"),
        ("C:/c.png", "top of a disk"),
        ("pictures\\c.png", "backslash"),
        ("pictures//c.png", "empty part"),
        ("a.png\x00", "cannot be printed"),
    ],
)
def test_cells_that_name_no_file_get_a_fix(cell: str, said: str) -> None:
    with pytest.raises(MediaError) as caught:
        Archive(make_zip(birds())).find(cell)
    assert said in " ".join(caught.value.args)


@pytest.mark.parametrize(
    ("name", "said"),
    [
        ("../evil.png", "dots alone"),
        ("pictures/../../evil.png", "dots alone"),
        ("/etc/evil.png", "top of a disk"),
        ("C:/evil.png", "top of a disk"),
        ("pictures\\evil.png", "backslash"),
        ("./evil.png", "dots alone"),
        ("a//evil.png", "empty part"),
        ("evil\n.png", "cannot be printed"),
        ("inner.zip", "another archive"),
        ("inner.tar.GZ", "another archive"),
    ],
)
def test_path_traversal_and_nested_archives_are_refused(name: str, said: str) -> None:
    assert said in refusal(make_zip(birds(**{name: picture(9)})))


def test_name_with_a_nul_is_refused() -> None:
    data = make_zip(birds(**{"evil.png@.txt": picture(9)}))
    assert "cannot be printed" in refusal(data.replace(b"evil.png@.txt", b"evil.png\0.txt"))
    assert "cannot be printed" in refusal(data.replace(b"evil.png@.txt", b"\0vil.png@.txt"))


@pytest.mark.parametrize("mode", [stat.S_IFLNK, stat.S_IFIFO, stat.S_IFBLK])
def test_links_and_devices_are_refused(mode: int) -> None:
    link = zipfile.ZipInfo("link.png")
    link.create_system, link.external_attr = 3, (mode | 0o777) << 16
    assert "'link.png' in the zip is a link" in refusal(make_zip({**birds(), "link.png": link}))


def test_encrypted_and_unsupported_entries_are_refused() -> None:
    good = make_zip(birds())
    assert "encrypted" in refusal(forged(good, "a.png", 8, "<H", 1))
    assert "unusual" in refusal(make_zip(birds(), zipfile.ZIP_LZMA))
    assert "unusual" in refusal(forged(good, "a.png", 10, "<H", 99))


def test_name_used_twice_is_refused() -> None:
    twice = make_zip(birds(**{"A.png": picture(9)}))
    assert Archive(twice).find("A.png") == "A.png"  # names are case-sensitive
    assert "two files named 'a.png'" in refusal(twice.replace(b"A.png", b"a.png"))
    accents = {"\u00e9.png": picture(1), "e\u0301.png": picture(2)}
    assert "two files named" in refusal(make_zip(birds(**accents)))


def test_zip_must_contain_a_table() -> None:
    assert "no CSV file" in refusal(make_zip({"a.txt": b"no tabs"}))
    both = Archive(make_zip({"birds.jsonl": b"{}", "more/rows.csv": CSV, "a.png": picture()}))
    assert both.table_names == ("more/rows.csv", "birds.jsonl")  # a CSV comes first: the other file may describe it
    assert both.names() == ["a.png"]
    assert Archive(make_zip({"birds.jsonl": b"{}"})).table("birds.jsonl") == b"{}"
    several = Archive(make_zip({"a.json": b"", "more/rows.csv": CSV, "b.json": b""}))
    assert several.table_names == ("more/rows.csv",), "no one can tell which of two may belong to it"
    assert several.more_tables == ("a.json", "b.json")
    assert "no CSV file" in refusal(make_zip({}))
    assert "no CSV file" in refusal(make_zip({"[Content_Types].xml": b"", "xl/workbook.xml": b""}))


def test_declared_sizes_are_limited_per_file_and_in_total() -> None:
    good = make_zip(birds())
    assert "'a.png' has 30.0 MB; at most 20 are allowed" in refusal(forged(good, "a.png", 24, "<I", 30_000_000))
    assert "'birds.csv' has 201.0 MB" in refusal(forged(good, "birds.csv", 24, "<I", 201_000_000))
    many = make_zip(birds(**{f"{n:02}.png": b"x" for n in range(60)}))
    for n in range(60):
        many = forged(many, f"{n:02}.png", 24, "<I", 19_000_000)
    assert "Unpacked, the files have 1,140.0 MB; at most 1,000 are allowed" in refusal(many)


def test_packed_size_over_the_limit_is_refused(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setattr(archives, "MAX_ZIP_MB", 1)
    data = make_zip(birds(**{"noise.txt": picture(5, size=(1000, 400))}), zipfile.ZIP_STORED)
    assert "MB; at most 1 are allowed" in refusal(data)
    (tmp_path / "large.zip").write_bytes(data)
    with pytest.raises(TableError, match="at most 1 are allowed"):
        Archive(tmp_path / "large.zip")


def test_false_size_is_detected_without_filling_memory() -> None:
    zeros = bytes(150_000_000)
    bomb = forged(make_zip(birds(**{"bomb.png": zeros})), "bomb.png", 24, "<I", 5_000)
    del zeros
    archive = Archive(bomb)
    tracemalloc.start()
    try:
        with pytest.raises(MediaError, match="damaged"):
            archive.open(archive.find("bomb.png"))
        peak = tracemalloc.get_traced_memory()[1]
    finally:
        tracemalloc.stop()
    assert peak < 10_000_000


def test_long_recording_is_unpacked_to_disk(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(archives, "_IN_MEMORY", 1_000)
    sound = bytes(range(256)) * 100_000
    archive = Archive(make_zip(birds(**{"long.wav": sound})))
    tracemalloc.start()
    try:
        with archive.open(archive.find("long.wav")) as file:
            assert tracemalloc.get_traced_memory()[1] < 5_000_000
            assert hashlib.sha256(file.read()).digest() == hashlib.sha256(sound).digest()
    finally:
        tracemalloc.stop()


def test_recordings_can_be_larger_than_other_files() -> None:
    data = make_zip(birds(**{"long.wav": b"", "long.png": b""}))
    for name in ("long.wav", "long.png"):
        data = forged(data, name, 24, "<I", 100_000_000)
    assert "'long.png' has 100.0 MB; at most 20 are allowed" in refusal(data)
    assert "long.wav" not in refusal(data)


def test_number_of_files_is_limited(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(archives, "MAX_FILES", 2)
    assert "The zip holds 3 files and folders; at most 2 are allowed" in refusal(make_zip(birds()))


def test_every_invalid_entry_is_named() -> None:
    said = refusal(make_zip(birds(**{"../x.png": b"", "in.zip": b""})))
    assert "../x.png" in said
    assert "in.zip" in said


GOOD = make_zip(birds())


@given(st.lists(st.tuples(st.integers(0, len(GOOD) - 1), st.integers(0, 255)), min_size=1, max_size=6))
def test_damaged_zips_are_read_or_refused_with_a_message(changes: list[tuple[int, int]]) -> None:
    data = bytearray(GOOD)
    for place, value in changes:
        data[place] = value
    with suppress(TableError, MediaError):
        archive = Archive(bytes(data))
        archive.table(archive.table_names[0])  # the damage may be in its name
        contents(archive, archive.find("a.png"))


@given(st.binary(max_size=200))
def test_any_bytes_are_refused_with_a_message(data: bytes) -> None:
    for start in archives.ZIP_STARTS:
        with pytest.raises(TableError):
            Archive(start + data)
