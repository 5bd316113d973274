"""The media of rows: found in folders and archives, and served."""

from __future__ import annotations

import gc
import hashlib
from pathlib import Path
from typing import BinaryIO

import pytest

from db import projects
from plcore import LabelTable, LearnerSettings, Roles
from plcore.tables import KeptFiles, thumbnail
from tests.databases import on_sqlite
from tests.plcore.tables.zips import WAV, make_zip, picture
from tests.workflow.sounds import segments_project
from tests.workflow.world import annotator, exported, opened
from workflow import importing
from workflow.access import NotAllowed, NotFound
from workflow.answering import loop
from workflow.backups import making, restoring
from workflow.files import media, stored
from workflow.importing import more_rows
from workflow.projects.managing import ProjectNameError
from workflow.rows.row import row_view
from workflow.saving import NotSaved
from workflow.seat import Seat
from workflow.server.home import Home, open_home
from workflow.server.settings import Settings

# Pictures in a zip: imported completely or not at all, stored once, visible with the right, backed up, named in the
# export


CSV = "id,candidates,image,song\n" + "".join(
    f"r{n},wren|robin,pictures/{n}.png,{'call.wav' if n == 3 else ''}\n" for n in range(12)
)
FILES = {f"pictures/{n}.png": picture(n % 6) for n in range(12)}  # twelve names, six pictures
ZIP = make_zip({"birds.csv": CSV.encode(), "call.wav": WAV, "not named.png": picture(99), **FILES})
SETTINGS = LearnerSettings(n_neighbors=3)


def kept(data: bytes, ending: str = "png") -> str:
    return f"{hashlib.sha256(data).hexdigest()}.{ending}"


def table_of(data: bytes = ZIP) -> LabelTable:
    upload = importing.read_upload(data)
    checked = importing.check(upload, upload.suggest_roles())
    assert checked.table is not None, checked.problems
    return checked.table


@pytest.fixture
def birds(home: Home, owner: int) -> int:
    return importing.create(Seat(home, owner), "birds", table_of(), SETTINGS)


def files_in(folder: Path) -> set[str]:
    return {path.name for path in folder.rglob("*") if path.is_file()}


def test_named_files_are_stored_once(home: Home, birds: int) -> None:
    names = {kept(picture(n)) for n in range(6)} | {kept(WAV, "wav")}
    assert files_in(home.media_dir) == names
    for path in home.media_dir.rglob("*.png"):
        assert path.name == kept(path.read_bytes())
        assert path.parent.name == path.name[:2]
    assert all(path.is_dir() and len(path.name) == 2 for path in home.media_dir.iterdir())


def test_question_has_addresses_of_image_and_recording(home: Home, owner: int, birds: int) -> None:
    seen = {}
    for row in range(12):
        view = loop.ask_next(Seat(home, owner, birds), row).view
        seen[row] = (view.image, view.audio)
    assert seen[2] == (f"files/{kept(picture(2))}", None)
    assert seen[3] == (f"files/{kept(picture(3))}", f"files/{kept(WAV, 'wav')}")
    assert seen[8][0] == seen[2][0]


def test_media_file_needs_project_access(home: Home, owner: int, birds: int) -> None:
    name = kept(picture(2))
    path, content_type = media.find(Seat(home, owner), name)
    assert (path.read_bytes(), content_type) == (picture(2), "image/png")
    assert media.find(Seat(home, owner), kept(WAV, "wav"))[1] == "audio/wav"
    ada = annotator(home, owner, "Ada")
    assert media.find(Seat(home, ada), name) == (path, content_type)
    with pytest.raises(NotAllowed):
        media.find(Seat(home, 999), name)
    for wrong in (
        kept(picture(99)),
        kept(picture(2), "jpg"),
        "birds.csv",
        "",
        "../winnow.sqlite3",
        name + "/",
        name[:2],
    ):
        with pytest.raises(NotFound):
            media.find(Seat(home, owner), wrong)
    stray = home.media_dir / kept(b"stray")[:2] / kept(b"stray")
    stray.parent.mkdir(exist_ok=True)
    stray.write_bytes(b"stray")  # on disk, but no row names it
    with pytest.raises(NotFound):
        media.find(Seat(home, owner), stray.name)
    path.unlink()
    with pytest.raises(NotFound, match="backup"):
        media.find(Seat(home, owner), name)


def test_files_of_binned_project_are_not_found(home: Home, owner: int, birds: int) -> None:
    from datetime import UTC, datetime

    with home.database.write() as session:
        projects.change(session, birds, deleted_at=datetime.now(UTC))
    with pytest.raises(NotFound):
        media.find(Seat(home, owner), kept(picture(2)))


def test_learner_keeps_image_features_after_restart(home: Home, owner: int, birds: int) -> None:
    with opened(home, owner, birds) as learner:
        before = learner.label_distributions
    again = open_home(home.settings)
    try:
        with opened(again, owner, birds) as learner:
            assert learner.table.media.looks.shape == (12, 192)
            assert (learner.label_distributions == before).all()
        assert loop.ask_next(Seat(again, owner, birds), 2).view.image == f"files/{kept(picture(2))}"
    finally:
        again.close()


def test_refused_project_name_stores_no_files(home: Home, owner: int, birds: int) -> None:
    before = files_in(home.settings.home) - {"winnow.sqlite3-wal", "winnow.sqlite3-shm"}
    other = make_zip({"t.csv": b"candidates,image\na|b,x.png\nb,x.png\n", "x.png": picture(50)})
    with pytest.raises(ProjectNameError):
        importing.create(Seat(home, owner), "  ", table_of(other), SETTINGS)
    assert files_in(home.settings.home) - {"winnow.sqlite3-wal", "winnow.sqlite3-shm"} == before


def test_full_disk_leaves_no_partial_media(home: Home, owner: int, monkeypatch: pytest.MonkeyPatch) -> None:
    table, given = table_of(), KeptFiles.open
    count = 0

    def full(self: KeptFiles, name: str) -> BinaryIO:
        nonlocal count
        count += 1
        if count == 4:
            raise OSError(28, "No space left on device")
        return given(self, name)

    monkeypatch.setattr(KeptFiles, "open", full)
    with pytest.raises(NotSaved, match="No space"):
        importing.create(Seat(home, owner), "birds", table, SETTINGS)
    assert not list(home.media_dir.rglob("*"))
    assert not list(home.tables_dir.iterdir())
    monkeypatch.undo()
    assert importing.create(Seat(home, owner), "birds", table, SETTINGS) == 1


def test_unpacked_zip_is_deleted_after_its_files_are_stored(home: Home, owner: int) -> None:
    table = table_of()
    with pytest.raises(ProjectNameError):
        importing.create(Seat(home, owner), "", table, SETTINGS)
    (folder,) = {path.parent for path in table.media.files.paths.values()}
    assert folder.is_dir()
    importing.create(Seat(home, owner), "birds", table, SETTINGS)  # the second press works
    gc.collect()
    assert not folder.exists()


def test_stored_file_is_not_rewritten(home: Home, owner: int, birds: int) -> None:
    stamps = {path: path.stat().st_mtime_ns for path in home.media_dir.rglob("*.png")}
    importing.create(Seat(home, owner), "more", table_of(), SETTINGS)
    assert {path: path.stat().st_mtime_ns for path in home.media_dir.rglob("*.png")} == stamps


def test_export_has_original_media_names(home: Home, owner: int, birds: int) -> None:
    frame = exported(home, owner, birds)
    assert list(frame["image"]) == [f"pictures/{n}.png" for n in range(12)]
    assert list(frame["song"])[3] == "call.wav"


def put_back(home: Home, folder: Path) -> None:
    """Restore a backup of the home to `copy` in this folder."""
    making.make(home, folder / "backup.zip")
    restoring.restore(Settings.from_environment({"WINNOW_HOME": str(folder / "copy")}), folder / "backup.zip")


@on_sqlite
def test_backup_restores_media(home: Home, owner: int, birds: int, tmp_path: Path) -> None:
    put_back(home, tmp_path)
    assert files_in(tmp_path / "copy" / "media") == files_in(home.media_dir)
    restored = open_home(Settings.from_environment({"WINNOW_HOME": str(tmp_path / "copy")}))
    try:
        view = loop.ask_next(Seat(restored, owner, birds), 2).view
        path, _ = media.find(Seat(restored, owner), view.image.rpartition("/")[2])
        assert path.is_relative_to(tmp_path / "copy")
        assert path.read_bytes() == picture(2)
    finally:
        restored.close()


def test_one_bad_media_file_refuses_import(home: Home) -> None:
    files = {**FILES, "pictures/7.png": b"broken"}
    upload = importing.read_upload(make_zip({"birds.csv": CSV.encode(), "call.wav": WAV, **files}))
    steps: list[float] = []
    checked = importing.check(upload, upload.suggest_roles(), steps.append)
    assert checked.table is None
    assert [(problem.row, problem.column) for problem in checked.problems] == [(8, "image")]
    assert steps
    assert not home.media_dir.exists()


def test_zip_without_table_is_refused_and_csv_still_read(tmp_path: Path) -> None:
    with pytest.raises(importing.TableError, match="no CSV file"):
        importing.read_upload(make_zip({"a.txt": b"no tabs"}))
    (tmp_path / "birds.csv").write_text("candidates,w\na|b,1\nb,2\n")
    (tmp_path / "birds.zip").write_bytes(ZIP)
    assert importing.read_upload(tmp_path / "birds.csv").reading.files is None
    assert len(importing.read_upload(tmp_path / "birds.zip").cells) == 12


def test_image_features_are_off_if_image_column_is_reassigned() -> None:
    upload = importing.read_upload(ZIP)
    guess = upload.suggest_roles()
    assert guess.image_features
    chosen = importing.adjusted(guess, {"truth": "image"}, upload.cells)
    assert (chosen.image, chosen.image_features) == (None, False)


def test_images_of_added_rows_are_stored_and_shown(home: Home, owner: int, birds: int) -> None:
    """The same name in the second zip is another picture, and stays separate."""
    seat = Seat(home, owner, birds)
    csv = b"id,candidates,image,song\nr0,wren,pictures/1.png,\nr20,wren|robin,pictures/0.png,\n"
    more = make_zip({"birds.csv": csv, "pictures/0.png": picture(50), "pictures/1.png": picture(51)})
    more_rows.add_rows(seat, more_rows.read_rows(seat, importing.read_upload(more)))
    names = [kept(picture(n)) for n in (*range(6), 50)]
    assert files_in(home.media_dir) == {*names, kept(WAV, "wav")}
    for name in names:
        assert media.find(seat, name)[0].name == name
    with opened(home, owner, birds) as learner:
        assert learner.table.media.images[[0, 12]].tolist() == [kept(picture(0)), kept(picture(50))]


def test_thumbnail_needs_same_right_and_recording_has_none(home: Home, owner: int, birds: int) -> None:
    name = kept(picture(2))
    ada = annotator(home, owner, "Ada")
    assert media.find_small(Seat(home, ada), name) == (thumbnail(picture(2)), "image/webp")
    with pytest.raises(NotFound, match="recording"):
        media.find_small(Seat(home, owner), kept(WAV, "wav"))
    for wrong in (kept(picture(99)), "../winnow.sqlite3", ""):
        with pytest.raises(NotFound):
            media.find_small(Seat(home, owner), wrong)
    with pytest.raises(NotAllowed):
        media.find_small(Seat(home, 999), name)
    stored.path_of(home.media_dir, kept(picture(4))).write_bytes(b"broken")
    with pytest.raises(NotFound, match="no small picture"):
        media.find_small(Seat(home, owner), kept(picture(4)))


def test_lists_have_thumbnail_or_recording_mark_of_each_row(home: Home, owner: int) -> None:
    rows = ("a,wren|robin,a.png,,1", "b,robin,,call.wav,2", "c,robin,,,3", "d,wren,a.png,call.wav,4")
    csv = "\n".join(("id,candidates,image,song,n", *rows, "")).encode()
    table = table_of(make_zip({"t.csv": csv, "a.png": picture(1), "call.wav": WAV}))
    seat = Seat(home, owner, importing.create(Seat(home, owner), "birds", table, SETTINGS))
    place = f"files/{kept(picture(1))}/small"
    assert media.small_pictures(seat, [3, 1, 2, 0]) == (place, media.SOUND, "", place)
    assert media.small_pictures(seat, []) == ()
    assert media.small_addresses(seat, [3, 1, 2, 0]) == {3: place, 0: place}
    assert files_in(home.thumbnails_dir) == set(), "none is made before the browser asks for it"
    with pytest.raises(NotAllowed):
        media.small_pictures(Seat(home, 999, seat.project_id), [0])
    with pytest.raises(NotAllowed):
        media.small_addresses(Seat(home, 999, seat.project_id), [0])


def test_project_without_images_has_no_thumbnails(home: Home, owner: int) -> None:
    table = LabelTable.read_csv(b"id,candidates,n\na,wren|robin,1\nb,robin,2\nc,wren,3\nd,wren,4\n")
    seat = Seat(home, owner, importing.create(Seat(home, owner), "numbers", table, SETTINGS))
    assert media.small_pictures(seat, [0, 1]) is None
    assert media.small_addresses(seat, [0, 1]) == {}
    assert media.first_words(seat, [0, 1]) is None
    assert media.row_of(seat, 1) == row_view(table, 1)
    for wrong in (-1, 4):
        with pytest.raises(NotFound):
            media.row_of(seat, wrong)


def test_short_inline_image_is_its_own_thumbnail(home: Home, owner: int) -> None:
    short, long = (f"data:image/png;base64,{'A' * size}" for size in (40, media.SHORT))
    rows = (f'r{n},{"wren|robin" if n % 2 else "wren"},"{long if n == 1 else short}",{n}\n' for n in range(4))
    csv = f"id,candidates,image,n\n{''.join(rows)}"
    roles = Roles(candidates="candidates", id="id", image="image", numbers=("n",))
    table = LabelTable.read_csv(csv.encode(), roles)
    seat = Seat(home, owner, importing.create(Seat(home, owner), "inline", table, SETTINGS))
    assert media.small_addresses(seat, [0, 1, 2]) == {0: short, 2: short}
    assert media.small_pictures(seat, [0, 1, 2]) == (short, long, short)


def test_lists_have_start_of_each_text_on_one_line(home: Home, owner: int) -> None:
    long = "word " * 100
    table = LabelTable.read_csv(
        f'id,candidates,text\na,wren|robin,"two\n  lines"\nb,robin|wren,\nc,wren,{long}\n'.encode(),
        Roles(candidates="candidates", id="id", text="text"),
    )
    seat = Seat(home, owner, importing.create(Seat(home, owner), "texts", table, SETTINGS))
    first, none, cut = media.first_words(seat, [0, 1, 2])
    assert (first, none) == ("two lines", "")
    assert len(cut) < media.BEGINNING
    assert long.startswith(cut)


@on_sqlite
def test_several_images_of_row_survive_import_to_export(home: Home, owner: int, tmp_path: Path) -> None:
    """From the upload to the question, the file route, a restart, a backup and the export."""
    rows = "".join(f"r{n},wren|robin,pictures/{n % 6}.png|pictures/{(n + 1) % 6}.png,North {n}\n" for n in range(12))
    upload = importing.read_upload(make_zip({"t.csv": f"id,candidates,image,place\n{rows}".encode(), **FILES}))
    roles = importing.adjusted(upload.suggest_roles(), {"caption": ["place"], "image_features": True}, upload.cells)
    table = importing.check(upload, roles).table
    assert table is not None
    number = importing.create(Seat(home, owner), "bursts", table, SETTINGS)
    names = [kept(picture(n)) for n in range(6)]
    assert files_in(home.media_dir) == set(names)
    put_back(home, tmp_path)
    again = open_home(Settings.from_environment({"WINNOW_HOME": str(tmp_path / "copy")}))
    try:
        for at in (home, again):
            view = loop.ask_next(Seat(at, owner, number), 2).view
            assert view.images == (f"files/{names[2]}", f"files/{names[3]}")
            assert (view.image, view.caption) == (view.images[0], (("place", "North 2"),))
            assert media.find(Seat(at, owner), names[3])[0].read_bytes() == picture(3)
    finally:
        again.close()
    assert list(exported(home, owner, number)["image"])[5] == "pictures/5.png|pictures/0.png"


def test_question_names_media_of_likely_next_row(home: Home, owner: int) -> None:
    seat = Seat(home, owner, segments_project(home, owner))
    first = loop.next_question(seat)
    assert first.view.segment is not None
    assert first.coming.row != first.view.row
    assert first.coming.audio.startswith("files/")
    assert first.coming.segment is not None
    seen = {first.view.row}
    for _ in range(3):
        likely = loop.next_question(seat).coming
        loop.submit_answer(seat, loop.next_question(seat).token, "skip")
        now = loop.next_question(seat)
        assert now.view.row == likely.row, "after a skip nothing else has changed"
        seen.add(now.view.row)
    assert len(seen) == 4


def test_next_blind_check_is_prefetched(home: Home, owner: int) -> None:
    seat = Seat(home, owner, segments_project(home, owner, control_share=0.5))
    asked = set()
    for _ in range(8):
        now = loop.next_question(seat)
        asked.add(now.strategy)
        loop.submit_answer(seat, now.token, "skip")
        assert loop.next_question(seat).view.row == now.coming.row
    assert "control" in asked
    assert len(asked) > 1


def test_reserved_row_is_not_prefetched(home: Home, owner: int) -> None:
    project = segments_project(home, owner)
    seat, ada = Seat(home, owner, project), Seat(home, annotator(home, owner, "Ada"), project)
    likely = loop.next_question(seat).coming
    loop.ask_next(ada, likely.row)
    again = loop.next_question(seat)
    assert again.coming.row not in (likely.row, again.view.row)


def test_last_question_and_rows_without_media_prefetch_nothing(home: Home, owner: int, project: int) -> None:
    assert loop.next_question(Seat(home, owner, project)).coming is None
    seat = Seat(home, owner, segments_project(home, owner))
    while (asked := loop.next_question(seat)).coming is not None:
        loop.submit_answer(seat, asked.token, "bad")
    loop.submit_answer(seat, asked.token, "bad")
    assert loop.next_question(seat) is None


# Where images and recordings are kept: whole under their name, once, or not at all


def upload() -> importing.LabelTable:
    found = importing.read_upload(ZIP)
    checked = importing.check(found, found.suggest_roles())
    assert checked.table is not None
    return checked.table


def test_media_folder_is_first_two_letters_of_name(tmp_path: Path) -> None:
    assert stored.path_of(tmp_path, "abcd.png") == tmp_path / "ab" / "abcd.png"
    assert stored.address("abcd.png") == "files/abcd.png"


def test_storing_media_twice_is_harmless(tmp_path: Path) -> None:
    table, folder = upload(), tmp_path / "media"
    stored.keep(folder, table)
    names = table.media.kept_names()
    found = {path.name: path for path in folder.rglob("*.*") if path.is_file()}
    assert set(found) == names
    assert {path.read_bytes() for path in found.values()} == {WAV, *FILES.values()}
    times = {name: path.stat().st_mtime_ns for name, path in found.items()}
    stored.keep(folder, table)
    assert {name: path.stat().st_mtime_ns for name, path in found.items()} == times
    assert not list(folder.glob(".new-*"))


def test_unreadable_media_file_is_not_stored(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    table, read = upload(), []
    assert table.media.files is not None
    real = KeptFiles.open

    def failing(self: KeptFiles, name: str) -> BinaryIO:
        read.append(name)
        if len(read) == len(table.media.kept_names()):
            raise OSError("gone")
        return real(self, name)

    monkeypatch.setattr(KeptFiles, "open", failing)
    with pytest.raises(OSError, match="gone"):
        stored.keep(tmp_path / "media", table)
    assert not [path for path in (tmp_path / "media").rglob("*") if path.is_file()]
