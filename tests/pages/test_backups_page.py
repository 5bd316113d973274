"""The pages of backups, snapshots and project files."""

from __future__ import annotations

import re
from dataclasses import replace
from datetime import UTC, datetime
from pathlib import Path

import pytest
from streamlit.testing.v1 import AppTest

from tests.pages.conftest import Open, by_label, words
from tests.pages.file_boxes import boxes, give
from tests.workflow.backups.forging import new_home
from tests.workflow.world import annotator, answer_next, file_of, small_project, somebody
from workflow.backups import keeping, making, staging
from workflow.backups.one_project import take_along
from workflow.exporting import files
from workflow.exporting.snapshots import NAME_LENGTH, list_snapshots, make_snapshot
from workflow.people import team
from workflow.projects import managing
from workflow.seat import Seat
from workflow.server.home import Home

# Backups, as the page draws them for owners


def said(test: AppTest) -> str:
    """The text of the page as people read it, without Markdown escapes."""
    return words(test).replace("\\", "")


@pytest.fixture
def backup(home: Home) -> str:
    """Make a backup; returns its name."""
    home.backups_dir.mkdir()
    path = home.backups_dir / making.name_at(datetime.now(UTC))
    making.make(home, path)
    keeping.note_checked(home.backups_dir, path)
    return path.name


def test_backup_is_requested_and_its_progress_shown(home: Home, owner: int, show: Open) -> None:
    test = show(owner, "backups.py")
    assert "There is no backup yet." in said(test)
    assert "Backups are not automatic." in said(test)
    test.button(key="back-up").click().run()
    assert not test.exception
    work = keeping.work(home.backups_dir)
    assert work is not None
    assert (work.state, work.person_id) == (keeping.WAITING, owner)
    assert test.button(key="back-up").disabled
    keeping.note_work(home.backups_dir, replace(work, state=keeping.FAILED, fault="The disk is full."))
    assert "The disk is full." in said(test.run())


def test_home_tells_owners_only_that_last_backup_failed(home: Home, owner: int, show: Open) -> None:
    assert "Backups:" not in said(show(owner, "home.py"))
    failed = keeping.BackupWork(keeping.FAILED, datetime.now(UTC), fault="The disk is full.")
    keeping.note_work(home.backups_dir, failed)
    assert "Backups: The last backup failed" in said(show(owner, "home.py"))
    assert "Backups:" not in said(show(somebody(home, owner, "Ada"), "home.py"))


def test_backup_is_staged_for_restore_and_unstaged(home: Home, owner: int, show: Open, backup: str) -> None:
    test = show(owner, "backups.py")
    assert "less than an hour old" in said(test)
    assert "every byte read again" in said(test)
    test.button(key=f"stage-{backup}").click().run()
    assert staging.staged(home.settings.home) == backup
    assert f"At its next start Winnow restores {backup}" in said(test)
    test.button(key="unstage").click().run()
    assert staging.staged(home.settings.home) is None
    assert not test.exception


def test_damaged_backup_is_marked_and_cannot_be_restored(home: Home, owner: int, show: Open, backup: str) -> None:
    keeping.note_checked(home.backups_dir, home.backups_dir / backup, f"The backup {backup} is damaged at its end.")
    test = show(owner, "backups.py")
    assert "is damaged at its end." in said(test)
    assert [one.key for one in test.button if str(one.key).startswith("stage-")] == []


def test_annotator_cannot_make_backup(home: Home, owner: int, show: Open) -> None:
    ada = somebody(home, owner, "Ada")
    test = show(ada, "backups.py")
    assert [one.key for one in test.button if one.key == "back-up"] == []


# Named snapshots on the Export page: what they are for, made, listed, and the export of one


MAKE = "Create snapshot"


@pytest.fixture
def seat(home: Home, owner: int) -> Seat:
    project = small_project(home, owner)
    answer_next(home, owner, project)
    return Seat(home, owner, project)


def open_export(show: Open, seat: Seat) -> AppTest:
    return show(seat.person_id, "export.py", project=str(seat.project_id))


def name_it(test: AppTest, name: str) -> AppTest:
    by_label(test.text_input, "Name").set_value(name)
    by_label(test.button, MAKE).click().run()
    assert not test.exception
    return test


def press(test: AppTest, label: str, of: int = 0) -> AppTest:
    [one for one in test.button if one.label == label][of].click().run()
    assert not test.exception
    return test


def test_page_without_snapshots_explains_them(seat: Seat, show: Open) -> None:
    test = open_export(show, seat)
    assert "No snapshot yet. Make one before you publish or cite the labels" in said(test)
    assert "you can then export the same file at any time" in said(test)


def test_snapshot_is_made_and_listed(seat: Seat, show: Open) -> None:
    test = name_it(open_export(show, seat), "first *release*")
    (made,) = list_snapshots(seat)
    assert (made.name, made.seq, made.by) == ("first *release*", 1, "owner")
    assert "No snapshot yet." not in said(test)
    assert "**first \\*release\\***" in words(test), "as it was typed, not as Markdown"
    assert "1 entry" in said(test)
    assert "by owner" in said(test)
    assert made.sha256[:12] in "".join(one.proto.popover.label for one in test.get("popover"))
    assert made.sha256 in [one.value for one in test.code], "the whole of it, to copy"
    (box,) = (one for one in test.text_input if one.label == "Name")
    assert box.value == "", "for the next"


def test_latest_snapshot_is_first(seat: Seat, show: Open) -> None:
    for name in ("older", "newer"):
        make_snapshot(seat, name)
    assert re.findall("older|newer", said(open_export(show, seat))) == ["newer", "older"]


def test_snapshot_is_exported_from_list(seat: Seat, show: Open) -> None:
    then = file_of(seat)
    make_snapshot(seat, "first release")
    answer_next(seat.home, seat.person_id, seat.project_id or 0)
    test = press(open_export(show, seat), "Export this")
    assert by_label(test.text_input, "As of").value == "first release"
    assert "as it was after entry 1 of 2, " in said(test)
    press(test, "Download CSV, 60 rows")
    (one,) = files.prepared(seat)
    path, _ = files.find(seat, one.key)
    assert Path(path).read_bytes() == then != file_of(seat)


@pytest.mark.parametrize(
    ("name", "fault"), [("", "needs a name"), ("40", "would be read as an entry"), ("there", "already")]
)
def test_invalid_snapshot_name_is_reported_and_stays_in_box(seat: Seat, show: Open, name: str, fault: str) -> None:
    make_snapshot(seat, "there")
    test = name_it(open_export(show, seat), name)
    assert fault in said(test)
    assert by_label(test.text_input, "Name").value == name
    assert len(list_snapshots(seat)) == 1
    (box,) = (one for one in test.text_input if one.label == "Name")
    assert box.max_chars == NAME_LENGTH


def test_invalid_snapshot_name_in_as_of_is_reported(seat: Seat, show: Open) -> None:
    make_snapshot(seat, "first release")
    test = open_export(show, seat)
    by_label(test.text_input, "As of").set_value("frist release").run()
    assert "no snapshot 'frist release'" in said(test)
    assert "as it was after entry 1 of 1, " in said(press(test, "Export this"))


def test_snapshot_of_project_without_answers_says_so(home: Home, owner: int, show: Open) -> None:
    seat = Seat(home, owner, small_project(home, owner))
    assert "before the first entry" in said(name_it(open_export(show, seat), "as imported"))


def test_annotator_sees_no_snapshots(seat: Seat, show: Open) -> None:
    make_snapshot(seat, "first release")
    ada = annotator(seat.home, seat.person_id, "Ada")
    test = show(ada, "export.py", project=str(seat.project_id))
    assert "first release" not in said(test)
    assert not [one for one in test.button if one.label == MAKE]


# A downloaded project is imported on the Import page; refusals are shown there, with its place


BOX = "The file of a project"


@pytest.fixture
def file(tmp_path: Path) -> bytes:
    """A project file from another Winnow, in which Ada has answered."""
    with new_home(tmp_path / "there") as there:
        project = small_project(there.home, there.person_id, "birds *of* 2026")
        answer_next(there.home, annotator(there.home, there.person_id, "Ada"), project)
        take_along(there.at(project), tmp_path / "p.zip")
    return (tmp_path / "p.zip").read_bytes()


def bring_in_part_press(test: AppTest) -> AppTest:
    by_label(test.button, "Import project").click().run()
    assert not test.exception
    return test


def names(home: Home, owner: int) -> list[str]:
    return [one.name for one in managing.list_projects(Seat(home, owner))]


@pytest.mark.usefixtures("checked_here")
def test_project_file_is_imported_and_its_people_named(home: Home, owner: int, show: Open, file: bytes) -> None:
    test = show(owner, "import_table.py")
    assert "People are matched by name." in said(test)
    assert not [one for one in test.button if one.label == "Import project"], "there is no file yet"
    test = bring_in_part_press(give(test, BOX, "birds.winnow.zip", file))
    assert names(home, owner) == ["birds *of* 2026"]
    (toast,) = test.toast
    assert toast.value.replace("\\", "") == "birds *of* 2026 is here. New here, on the People page: Ada"
    assert [one.disabled_at is None for one in team.list_people(Seat(home, owner))] == [True, False]
    assert not list((home.settings.home / "uploads").iterdir()), "the file is not kept"


@pytest.mark.usefixtures("checked_here")
def test_project_file_with_taken_name_is_imported_under_another(
    home: Home, owner: int, show: Open, file: bytes
) -> None:
    small_project(home, owner, "birds *of* 2026")
    test = bring_in_part_press(give(show(owner, "import_table.py"), BOX, "birds.zip", file))
    assert "A project named 'birds *of* 2026' exists already" in said(test)
    next(one for one in test.text_input if one.label == "New name (optional)").set_value("birds 2")
    bring_in_part_press(test)
    assert sorted(names(home, owner)) == ["birds *of* 2026", "birds 2"]


@pytest.mark.usefixtures("checked_here")
def test_damaged_project_file_is_reported_with_its_place(home: Home, owner: int, show: Open, file: bytes) -> None:
    place = file.index(b'"entries"')
    other = file[:place] + b'"Entries"' + file[place + 9 :]
    test = bring_in_part_press(give(show(owner, "import_table.py"), BOX, "birds.zip", other))
    assert "The backup birds.zip is damaged at project.json: expected" in said(test)
    assert names(home, owner) == []
    assert BOX in boxes(test), "for another one"


def test_file_that_is_no_project_is_reported(home: Home, owner: int, show: Open) -> None:
    test = bring_in_part_press(give(show(owner, "import_table.py"), BOX, "birds.csv", b"id,label\n1,wren\n"))
    assert "birds.csv is not a backup of Winnow" in said(test)


def test_annotator_cannot_import_project_file(home: Home, owner: int, show: Open) -> None:
    test = show(somebody(home, owner, "Ada"), "import_table.py")
    assert boxes(test) == {}
