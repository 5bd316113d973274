"""Who may send files, and within which limits; that is tried of the store itself in `common/test_arriving.py`."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest

from tests.conftest import ROOT
from tests.workflow.world import annotator, small_project
from workflow.access import NotAllowed, Role
from workflow.importing import arrivals
from workflow.importing.arrivals import NoRoom
from workflow.importing.reading import read_upload
from workflow.seat import Seat
from workflow.server.home import Home, open_home
from workflow.server.settings import Settings


def test_owners_of_a_project_send_files_and_have_their_own(home: Home, owner: int) -> None:
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


@pytest.mark.parametrize("role", [Role.REVIEWER, Role.ANNOTATOR, Role.VIEWER])
def test_nobody_else_does(home: Home, owner: int, role: Role) -> None:
    small_project(home, owner)
    seat = Seat(home, annotator(home, owner, "Eve", role))
    for ask in (
        lambda: arrivals.begin(seat, "more.csv"),
        lambda: arrivals.find(seat, "key"),
        lambda: arrivals.remove(seat, "key"),
    ):
        with pytest.raises(NotAllowed, match=r"^Only owners upload files\. Fix: "):
            ask()
    assert not home.uploads_dir.exists()


def test_the_limits_are_the_settings(tmp_path_factory: pytest.TempPathFactory) -> None:
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


def test_a_killed_server_leaves_nothing_of_an_upload_to_the_next(
    home: Home, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
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
