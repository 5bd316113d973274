"""Uploads and the jobs that read them."""

from __future__ import annotations

import errno
import os
import signal
import subprocess
import sys
import threading
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

import pytest

from plcore import LearnerSettings, Roles, TableError
from tests.conftest import ROOT
from tests.plcore.tables.test_hunt import CASES
from tests.plcore.tables.zips import make_zip, picture
from tests.present import present
from tests.workflow.kind_worlds import WORLDS, KindWorld
from tests.workflow.world import annotator, small_project
from workflow import importing
from workflow.access import NotAllowed, Role
from workflow.files import limited
from workflow.files.limited import asking
from workflow.importing import Upload, arrivals, jobs
from workflow.importing.arrivals import Arrived, NoRoom
from workflow.importing.reading import read_upload
from workflow.importing.uploads import made_before
from workflow.projects import managing
from workflow.seat import Seat
from workflow.server.home import Home, open_home
from workflow.server.settings import Settings

# From a file to a project: guessed roles, roles that a person chose, and no partial storage


ROWS = "".join(f"r{row},{'wren|robin' if row % 2 else 'robin|owl'},{row % 3}.png\n" for row in range(12))
ZIP = make_zip({"birds.csv": f"id,labels,photo\n{ROWS}".encode()} | {f"{k}.png": picture(k) for k in range(3)})


@pytest.mark.parametrize("world", WORLDS, ids=lambda world: world.name)
def test_file_becomes_project_of_its_kind(world: KindWorld, home: Home, owner: int) -> None:
    table = world.table()
    upload = importing.read_upload(table.cells.to_csv(index=False).encode())
    assert upload.reading.files is None
    checked = importing.check(upload, table.roles)
    assert checked.problems == ()
    assert checked.table is not None
    assert importing.kind_of_table(checked.table) == world.kind
    seat = Seat(home, owner)
    project = importing.create(seat, " imported ", checked.table, world.settings(), "about it")
    made = managing.get_project(seat.at(project))
    assert (made.name, made.description, made.kind) == ("imported", "about it", world.kind)
    other = next(one for one in WORLDS if one.kind != world.kind)
    with pytest.raises(importing.CannotLearn):
        importing.create(seat, "other", checked.table, other.settings())
    assert len(managing.list_projects(seat)) == 1


def test_check_reports_every_problem() -> None:
    upload = importing.read_upload(b"c,x\na|b,1\n,2\na,oops\n")
    checked = importing.check(upload, Roles(candidates="c", numbers=("x",)))
    assert checked.table is None
    assert len(checked.problems) == 2
    assert {problem.column for problem in checked.problems} == {"c", "x"}
    with pytest.raises(importing.TableError):
        importing.read_upload(b"")


def test_checking_files_reports_progress() -> None:
    upload, steps = importing.read_upload(ZIP), []
    assert importing.check(upload, upload.suggest_roles(), steps.append).table is not None
    assert steps == sorted(steps)
    assert steps
    assert 0 <= steps[0] <= steps[-1] <= 1


def test_named_columns_determine_table(tmp_path: Path) -> None:
    path = tmp_path / "votes.csv"
    path.write_bytes(b"task,worker,label\nt1,ann,wren\nt1,bob,robin\nt2,ann,owl\n")
    rows = tmp_path / "tasks.csv"
    rows.write_bytes(b"task,grams,length\nt1,9.5,3\nt2,210,4\n")
    upload, table = importing.read_as_named(path, {"numbers": ["length"]}, rows=rows)
    assert (upload.shape, upload.needs_rows, table.roles.numbers) == (
        "table with a vote in each row",
        False,
        ("length",),
    )
    assert table.candidates.tolist() == [[False, True, True], [True, False, False]]
    with pytest.raises(importing.TableError, match="there is no such column"):
        importing.read_as_named(path, {"text": "song"}, rows=rows)


def test_chosen_column_of_candidates_is_not_doubted(home: Home, owner: int) -> None:
    """Two columns list names. Choosing one of them answers which holds the labels, even if it is the guessed one."""
    file, seat = CASES / "devices_beside_sentiments.csv", Seat(home, owner)
    upload = importing.read_upload(file)

    def stops(roles: Roles) -> list[str]:
        return [doubt.name for doubt in importing.check(upload, roles).doubts if doubt.stops]

    assert stops(upload.guess) == ["other-lists"]
    (other,) = {"devices", "sentiment"} - {upload.guess.candidates}
    assert stops(importing.adjusted(upload.guess, {"candidates": other}, upload.cells)) == []
    for column, left in ((None, ["other-lists"]), ("devices", []), ("sentiment", [])):
        found = importing.dry_run(seat, file, file.name, {"candidates": column})
        assert [doubt.name for doubt in found.doubts if doubt.stops] == left


@pytest.mark.parametrize(
    ("data", "needs"),
    [
        (b"task,worker,label\nt1,ann,wren\nt1,bob,robin\n", True),
        (b"id,labels\n1,a|b\n2,b\n", True),
        (b"id,labels,w\n1,a|b,3\n2,b,4\n", False),
    ],
)
def test_votes_without_row_table_need_one(data: bytes, needs: bool) -> None:
    assert importing.read_upload(data).needs_rows is needs
    assert not importing.read_upload(data, as_it_is=True).needs_rows or b"worker" not in data


def test_same_file_is_recognised_with_other_roles(home: Home, owner: int) -> None:
    data, seat = b"id,labels,w,v\n1,a|b,3,4\n2,b,4,5\n3,a,4,6\n", Seat(home, owner)
    upload = importing.read_upload(data, "birds.csv")
    assert made_before(seat, upload) == []
    table = present(importing.check(upload, upload.suggest_roles()).table)
    project = importing.create(seat, "birds", table, LearnerSettings(n_neighbors=2), upload=upload)
    (doubt,) = made_before(seat, importing.read_upload(data, "other.csv"))
    assert (doubt.project_id, doubt.project_name, doubt.archived) == (project, "birds", False)
    assert doubt.fix == "Open that project instead: its answers are not in a new one."
    made = managing.get_project(seat.at(project)).created_at
    assert doubt.message == f"Project 'birds' was made from the same file on {made:%Y-%m-%d}."
    assert made_before(seat, importing.read_upload(data + b"4,a,4,7\n")) == []
    beside = importing.read_upload(b"id,labels\n1,a|b\n", rows=(data, None))
    assert made_before(seat, beside) == [], "with a table of its rows it is another one"
    managing.archive_project(seat.at(project))
    (doubt,) = made_before(seat, upload)
    assert "'birds', which is archived, was made" in doubt.message
    assert doubt.archived
    assert doubt.fix == "Restore it on Home instead: its answers are not in a new one.", "no page opens it"
    managing.bin_project(seat.at(project))
    assert made_before(seat, upload) == []


@pytest.mark.parametrize("world", WORLDS, ids=lambda world: world.name)
def test_project_with_open_questions_has_no_doubts(world: KindWorld) -> None:
    assert importing.doubts_about(world.table(), world.settings()) == []


def test_taken_name_keeps_upload_for_retry(home: Home, owner: int) -> None:
    upload = importing.read_upload(ZIP)
    table = present(importing.check(upload, upload.suggest_roles()).table)
    seat = Seat(home, owner)
    settings = LearnerSettings(n_neighbors=3)
    first = importing.create(seat, "one", WORLDS[0].table())
    with pytest.raises(managing.ProjectNameError):
        importing.create(seat, "one", table, settings)
    assert importing.create(seat, "two", table, settings) != first


# Rights and limits of uploads; that is tried of the store itself in
# `common/test_arriving.py`


def test_project_owners_upload_and_see_own_files(home: Home, owner: int) -> None:
    project = small_project(home, owner)
    mine = Seat(home, owner)
    theirs = Seat(home, annotator(home, owner, "Eve", Role.OWNER), project)
    coming = arrivals.begin(theirs, "more.csv", 3)
    coming.write(b"abc")
    file = coming.finish()
    coming.end()
    assert file.path.parent == home.uploads_dir
    assert arrivals.find(theirs, file.key) == file
    assert arrivals.find(mine, file.key) is None, "not even the owner of this Winnow"
    arrivals.remove(mine, file.key)
    assert arrivals.find(theirs, file.key) == file
    arrivals.remove(theirs, file.key)
    assert not file.path.exists()


def test_limits_are_settings(tmp_path_factory: pytest.TempPathFactory) -> None:
    from workflow.people import team

    folder = str(tmp_path_factory.mktemp("home"))
    home = open_home(
        Settings.from_environment({"WINNOW_HOME": folder, "WINNOW_UPLOAD_MB": "3", "WINNOW_UPLOADS_MB": "2"})
    )
    try:
        seat = Seat(home, team.ensure_owner(home).id)
        with pytest.raises(NoRoom, match=r"one person .* 3 MB .* WINNOW_UPLOAD_MB"):
            arrivals.begin(seat, "a", 3_000_001)
        with pytest.raises(NoRoom, match=r"everybody .* 2 MB .* WINNOW_UPLOADS_MB"):
            arrivals.begin(seat, "a", 2_000_001)
        arrivals.clear_left(home)
    finally:
        home.close()


@pytest.mark.proof
def test_leftovers_of_killed_server_are_removed(home: Home, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    program = (
        "import sys, tempfile; sys.path[0], tempfile.tempdir = sys.argv[1:]\n"
        "from workflow.importing.reading import read_upload\n"
        "upload = read_upload(b'id,labels\\n1,a|b\\n'); print(upload.folder, flush=True); sys.stdin.read()"
    )
    place = tmp_path / "unpacked"
    place.mkdir()
    command = [sys.executable, "-c", program, str(ROOT), str(place)]
    monkeypatch.setattr("tempfile.tempdir", str(place))
    mine = read_upload(b"id,labels\n1,a|b\n")
    with subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True) as server:
        assert server.stdout is not None
        left = Path(server.stdout.readline().strip())
        server.kill()
    assert any(left.iterdir())
    arrivals.clear_left(home)
    assert list(place.iterdir()) == [mine.folder]
    assert mine.cells["labels"].tolist() == ["a|b"]


# A person's file is read by one process, no matter how many pages ask; other people's pages never get it; its end is
# reported


PATIENCE = 3600
CSV = b"id,labels,w\n1,a|b,3\n2,b,4\n3,a,5\n"


def sent(seat: Seat) -> Arrived:
    coming = arrivals.begin(seat, "birds.csv", len(CSV))
    coming.write(CSV)
    file = coming.finish()
    coming.end()
    return file


def reading(file: Arrived) -> Callable[[jobs.Job[Upload]], Upload]:
    return lambda job: read_upload(file.path, file.name, on_wait=job.on_wait)


@pytest.fixture
def asked(monkeypatch: pytest.MonkeyPatch) -> list[str]:
    """The jobs requested from a process."""
    names: list[str] = []
    ask = asking.ask

    def counted(job: str, *given: object, **more: object) -> limited.Finished:
        names.append(job)
        return ask(job, *given, **more)  # type: ignore[arg-type]

    monkeypatch.setattr(asking, "ask", counted)
    return names


def test_two_pages_share_one_reading(home: Home, owner: int, asked: list[str]) -> None:
    seat = Seat(home, owner)
    file = sent(seat)
    pages = [jobs.ask(seat, file, "read", (), reading(file)) for _ in range(2)]
    assert all(page.wait(PATIENCE) for page in pages)
    first, second = (page.result() for page in pages)
    assert first is second
    assert first.cells["labels"].tolist() == ["a|b", "b", "a"]
    assert jobs.ask(seat, file, "read", (), reading(file)).result() is first
    assert asked == ["read"]


def test_dropped_file_is_reported_as_missing(home: Home, owner: int) -> None:
    """Each person's files have a total limit, and the oldest are dropped for a new one, even from another page."""
    home = replace(home, settings=replace(home.settings, upload_mb=1))
    seat = Seat(home, owner)
    file, its_turn = sent(seat), threading.Event()

    def read(job: jobs.Job[Upload]) -> Upload:
        its_turn.wait(PATIENCE)
        return reading(file)(job)

    job = jobs.ask(seat, file, "read", (), read)
    arrivals.begin(seat, "frogs.csv", 1_000_000).end()
    its_turn.set()
    assert job.wait(PATIENCE)
    with pytest.raises(jobs.JobEnded, match="no longer here"):
        job.result()


def test_system_error_is_not_reported_as_missing_file(home: Home, owner: int) -> None:
    seat = Seat(home, owner)

    def read(_: jobs.Job[Upload]) -> Upload:
        raise OSError(errno.EIO, "Input/output error")

    job = jobs.ask(seat, sent(seat), "read", (), read)
    assert job.wait(PATIENCE)
    with pytest.raises(OSError, match="Input/output error"):
        job.result()


def test_removed_file_gives_up_place_in_line(
    home: Home, owner: int, asked: list[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(asking, "EVERY", 0.01)
    seat = Seat(home, owner)
    file = sent(seat)
    turns = [asking.IMPORTS.turn() for _ in range(asking.AT_ONCE)]
    for turn in turns:
        turn.__enter__()
    try:
        job = jobs.ask(seat, file, "read", (), reading(file))
        arrivals.remove(seat, file.key)
        assert job.wait(PATIENCE)
    finally:
        for turn in turns:
            turn.__exit__(None, None, None)
    with pytest.raises(jobs.JobEnded, match="it was removed"):
        job.result()
    assert not asked
    assert not asking.IMPORTS._line
    with pytest.raises(jobs.JobEnded, match=r"no longer here\. Fix: choose it again"):
        jobs.ask(seat, file, "read", (), reading(file))


def test_reading_file_of_another_person_is_refused(home: Home, owner: int) -> None:
    project = small_project(home, owner)
    mine, theirs = Seat(home, owner), Seat(home, annotator(home, owner, "Eve", Role.OWNER), project)
    file = sent(mine)
    job = jobs.ask(mine, file, "read", (), reading(file))
    with pytest.raises(jobs.JobEnded, match="no longer here"):
        jobs.ask(theirs, file, "read", (), reading(file))
    arrivals.remove(theirs, file.key)
    assert job.wait(PATIENCE)
    assert len(job.result().cells) == 3
    with pytest.raises(NotAllowed):
        jobs.ask(Seat(home, annotator(home, owner, "Ben", Role.ANNOTATOR)), file, "read", (), reading(file))


def children() -> list[int]:
    """The processes forked by the helper."""
    helper = present(asking._helper._process)
    tasks = Path(f"/proc/{helper.pid}/task").glob("*/children")
    return [int(number) for path in tasks for number in path.read_text().split()]


def test_killed_reading_process_is_reported_and_restarted(home: Home, owner: int) -> None:
    seat = Seat(home, owner)
    file = sent(seat)
    file.path.unlink()
    os.mkfifo(file.path)  # anyone who reads it waits for what is written
    job = jobs.ask(seat, file, "read", (), reading(file))
    writing = os.open(file.path, os.O_WRONLY)  # which waits for anyone who reads
    try:
        (child,) = children()
        os.kill(child, signal.SIGKILL)
        assert job.wait(PATIENCE)
    finally:
        os.close(writing)
    with pytest.raises(TableError, match=r"ended from outside.*Try again"):
        job.result()
    file.path.unlink()
    file.path.write_bytes(CSV)
    again = jobs.ask(seat, file, "read", (), reading(file))
    assert again.wait(PATIENCE)
    assert len(again.result().cells) == 3


def test_reading_process_ends_with_server(home: Home, owner: int, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(asking, "EVERY", 0.01)
    seat = Seat(home, owner)
    file = sent(seat)
    file.path.unlink()
    os.mkfifo(file.path)
    job = jobs.ask(seat, file, "read", (), reading(file))
    writing = os.open(file.path, os.O_WRONLY)
    try:
        home.jobs.close()
        assert job.wait(0)
    finally:
        os.close(writing)
    with pytest.raises(jobs.JobEnded):
        job.result()
