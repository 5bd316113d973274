"""Several pictures per row: named in cells or columns, described together, stored, and added later."""

from __future__ import annotations

import base64
import io
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from PIL import Image

from plcore import LabelTable, Roles, TableError, read_cells, suggest_roles
from plcore.tables import is_inline, listed_images, read_kept_names, read_table, with_rows
from plcore.tables.media.cells import check_media
from plcore.tables.media.file_tree import Archive
from plcore.tables.media.files import MediaFiles
from plcore.tables.media.images import describe, mean_look
from tests.plcore.tables.media.test_media import kept
from tests.plcore.tables.zips import make_zip, picture

FILES = {f"{name}.png": picture(seed) for seed, name in enumerate("abcdef", start=1)}
CSV = b"id,candidates,image,second,third\nx,wren|robin,a.png | b.png,c.png,\ny,robin|tit,,d.png,\nz,wren,e.png,,\n"
ROLES = Roles(candidates="candidates", id="id", image="image", more_images=("second", "third"), image_features=True)
NAMES = [kept(picture(seed)) for seed in range(1, 7)]


def table_of(csv: bytes = CSV, roles: Roles = ROLES, **files: bytes) -> LabelTable:
    archive = Archive(make_zip({"birds.csv": csv, **FILES, **files}))
    return LabelTable.from_cells(read_cells(csv), roles, MediaFiles(archive))


def look(seed: int) -> np.ndarray:
    return describe(Image.open(io.BytesIO(picture(seed))))


def url(seed: int) -> str:
    return "data:image/png;base64," + base64.b64encode(picture(seed)).decode()


@given(st.lists(st.text("ab./ ", min_size=1).filter(str.strip), max_size=4), st.sampled_from(["|", " | ", "||"]))
def test_cell_lists_images_in_order_without_blanks(names: list[str], mark: str) -> None:
    assert listed_images(mark.join(names)) == [name.strip() for name in names]


def test_images_of_a_row_follow_the_order_of_columns_and_names() -> None:
    media = table_of().media
    assert [media.images_of(row) for row in range(3)] == [tuple(NAMES[:3]), (NAMES[3],), (NAMES[4],)]
    assert media.images.tolist() == [NAMES[0], NAMES[3], NAMES[4]]
    assert media.kept_names() == set(NAMES[:5])
    assert media.more_images is not None
    with pytest.raises(ValueError, match="read-only"):
        media.more_images[0] = ()


def test_table_with_single_images_is_unchanged() -> None:
    table = table_of(b"id,candidates,image\nx,wren|robin,a.png\ny,robin,\n", Roles(
        candidates="candidates", id="id", image="image", image_features=True))  # fmt: skip
    assert table.media.more_images is None
    assert [table.media.images_of(row) for row in range(2)] == [(NAMES[0],), ()]
    np.testing.assert_array_equal(table.media.looks[0], look(1))


def test_descriptor_of_several_images_averages_their_histograms() -> None:
    """A descriptor is the root of two equally weighted histograms, also for several images."""
    looks = table_of().media.looks
    together = np.mean([look(seed).astype(float) ** 2 for seed in (1, 2, 3)], axis=0)
    np.testing.assert_allclose(looks[0].astype(float) ** 2, together, atol=1e-7)
    np.testing.assert_allclose(np.linalg.norm(looks, axis=1), 1, rtol=1e-6)
    np.testing.assert_array_equal(looks[1], look(4))
    assert np.isnan(mean_look([])).all()
    np.testing.assert_array_equal(mean_look([look(1)]), look(1))
    np.testing.assert_allclose(mean_look([look(1), look(1)]), look(1), rtol=1e-6)
    np.testing.assert_allclose(mean_look([look(1), look(2)]), mean_look([look(2), look(1)]))


def test_stored_table_has_all_images(tmp_path: Path) -> None:
    table = table_of()
    digest = table.write_named(tmp_path)
    path = tmp_path / f"{digest}.parquet"
    again = LabelTable.read(path)
    assert [again.media.images_of(row) for row in range(3)] == [table.media.images_of(row) for row in range(3)]
    np.testing.assert_array_equal(again.media.looks, table.media.looks)
    assert again.roles == table.roles
    assert read_kept_names(path) == set(NAMES[:5])
    assert again.write(tmp_path / "again.parquet") == digest


@pytest.mark.parametrize("single_first", [True, False])
def test_added_rows_bring_their_images(single_first: bool) -> None:
    one = b"id,candidates,image,second,third\nx,wren|robin,f.png,,\n"
    several = CSV.replace(b"\nx,", b"\nw,")
    first, later = (one, several) if single_first else (several, one)
    more = read_table(make_zip({"birds.csv": later, **FILES}))
    grown = with_rows(table_of(first), more.cells, more.files).table
    rows = {name: grown.media.images_of(row) for row, name in enumerate(grown.ids)}
    assert rows["x"] == (NAMES[5],)
    assert rows["w"] == tuple(NAMES[:3])
    assert rows["y"] == (NAMES[3],)
    np.testing.assert_array_equal(grown.media.looks[list(grown.ids).index("x")], look(6))


def test_several_images_can_be_in_cells() -> None:
    csv = f'candidates,image,second\nwren|robin,"{url(1)}|{url(2)}",\nwren,,"{url(3)}"\n'.encode()
    roles = Roles(candidates="candidates", image="image", more_images=("second",), image_features=True)
    table = LabelTable.read_csv(csv, roles)
    assert (table.media.images, table.media.more_images) == (None, None)
    np.testing.assert_allclose(table.media.looks[0], mean_look([look(1), look(2)]))
    np.testing.assert_array_equal(table.media.looks[1], look(3))
    assert is_inline(url(1))
    assert not is_inline("a.png")


@pytest.mark.parametrize(
    ("cell", "words"),
    [
        ("a.png|none.png", "no file 'none.png'"),
        ("a.png|data:image/png;base64,AAAA", "expected an image as a data URL"),
        ("data:image/svg+xml;base64,AAAA", "expected an image as a data URL"),
        ("data:image/png;base64,AAAA|a.png", "expected an image as a data URL"),
        ("a.png|text.png", "not an image that can be read"),
    ],
)
@pytest.mark.parametrize("column", ["image", "second"])
def test_invalid_image_among_several_names_its_column(cell: str, words: str, column: str) -> None:
    cells = ("a.png", cell) if column == "second" else (cell, "")
    quoted = ",".join(f'"{one}"' for one in cells)
    csv = f"id,candidates,image,second,third\nx,wren|robin,{quoted},\n".encode()
    with pytest.raises(TableError) as caught:
        table_of(csv, **{"text.png": b"no image"})
    assert {(problem.row, problem.column) for problem in caught.value.problems} == {(1, column)}
    assert words in caught.value.problems[0].message


def test_every_image_is_checked_once() -> None:
    files = MediaFiles(Archive(make_zip({"birds.csv": CSV, **FILES})))
    cells, steps = read_cells(CSV), []
    check_media(files, cells, ROLES, steps.append)
    assert steps == [0.0]
    for name in ("a.png", "b.png", "c.png", "d.png", "e.png"):
        with files.open(files.look_at("image", name)[0]) as file:
            assert file.read() == FILES[name]
    assert ("image", "f.png") not in files._seen


def test_further_image_columns_are_guessed() -> None:
    roles = suggest_roles(read_cells(CSV), files=True)
    assert (roles.image, roles.more_images, roles.image_features) == ("image", ("second",), True)
    assert roles.picture_columns == ("image", "second")
    assert suggest_roles(read_cells(CSV)).picture_columns == ()


def test_further_images_need_a_first_one_and_a_single_role() -> None:
    alone = Roles(candidates="candidates", more_images=("second",), categories=("id",))
    with pytest.raises(TableError, match="no column holds the first"):
        table_of(roles=alone)
    twice = Roles(candidates="candidates", image="image", more_images=("image",), image_features=True)
    with pytest.raises(TableError, match="both the image shown and a further image shown"):
        table_of(roles=twice)
    with pytest.raises(TableError, match="both the row's id and part of the caption"):
        table_of(roles=Roles(candidates="candidates", id="id", image="image", image_features=True, caption=("id",)))
    empty = Roles(candidates="candidates", id="id", image="third", image_features=True)
    with pytest.raises(TableError, match="every cell is empty"):
        table_of(roles=empty)
