"""The formats of tables of detectors: each for its own tables, written in pieces."""

from __future__ import annotations

import io

import pytest

from plcore.tables.writers.nature import NATURE_FORMATS
from plcore.tables.writers.writing import FILE_FORMATS
from tests.plcore.tables.readers.tools.detector_tables import BIRDNET, RAVEN
from tests.plcore.tables.readers.tools.test_speciesnet import FILE
from tests.plcore.tables.writers.answered import answered
from tests.plcore.tables.writers.tables import small_table, written


def test_formats_have_names_words_and_endings_of_their_own() -> None:
    every = {**FILE_FORMATS, **NATURE_FORMATS}
    assert len(every) == len(FILE_FORMATS) + len(NATURE_FORMATS)
    assert len({each.suffix for each in every.values()}) == len(every)
    for name, each in NATURE_FORMATS.items():
        assert each.name == name
        assert each.title
        assert each.about.endswith(".")
    assert all(each.fits(small_table().cells) for each in FILE_FORMATS.values())


@pytest.mark.parametrize(
    ("data", "wanted"),
    [
        (BIRDNET, ["detections", "camtrap-dp", "darwin-core", "ebird"]),
        (RAVEN, ["detections", "raven", "camtrap-dp", "darwin-core", "ebird"]),
        (FILE, ["speciesnet", "camtrap-dp", "darwin-core", "ebird"]),
    ],
)
def test_a_format_is_for_the_tables_it_is_of(data: bytes, wanted: list[str]) -> None:
    cells = answered(data).cells
    assert [name for name, each in NATURE_FORMATS.items() if each.fits(cells)] == wanted
    assert not any(each.fits(small_table().cells) for each in NATURE_FORMATS.values())
    assert all(each.fits(cells) for name, each in NATURE_FORMATS.items() if name in wanted)


@pytest.mark.parametrize("name", NATURE_FORMATS)
def test_files_are_written_in_pieces_and_followed_and_stopped(name: str) -> None:
    rows = [f"{place},{place + 3},Parus major,Great tit,0.5,a.wav" for place in range(5_000)]
    data = "\n".join([BIRDNET.decode().splitlines()[0], *rows]).encode()
    if name == "timelapse":
        rows = [f"{place}.jpg,x,2024-05-01,false,{'fox' if place % 2 else 'hare'}" for place in range(5_000)]
        data = "\n".join(["File,RelativePath,DateTime,DeleteFlag,Species", *rows]).encode()
    table, told = answered(data), []
    written(NATURE_FORMATS[name].write, table, told.append)
    assert told == sorted(told)
    assert told[-1] == len(table.ids)
    assert len(told) > 2

    def stop(rows: int) -> None:
        raise InterruptedError(rows)

    with pytest.raises(InterruptedError):
        NATURE_FORMATS[name].write(table, io.BytesIO(), stop)
