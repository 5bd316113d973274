"""Requests to the limited processes: their queue and their jobs."""

from __future__ import annotations

import errno
import hashlib
import os
import resource
import select
import signal
import socket
import subprocess
import sys
import threading
from contextlib import ExitStack
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from plcore import LabelTable, Roles, TableError
from plcore.tables import read_stored
from tests.conftest import ROOT
from tests.plcore.tables.zips import make_zip, picture
from workflow.files.limited import Bounds, Finished, LongLine, ask, asking, jobs, look, run_in_turn, start

# A job's result, problems and exceeded limits are returned as messages; no process outlives the caller


LONG = 3600
"""Seconds that nothing here takes: a machine that is busy, or stalls for minutes, exceeds shorter limits."""
PLENTY = Bounds(300, 60, LONG)
CSV = b"id,labels,w\n1,a|b,3\n2,b,4\n"


def read(path: Path, folder: Path, bounds: Bounds = PLENTY) -> Finished:
    given = {"file": [str(path), path.name], "rows": None, "vectors": None, "as_it_is": False, "ways": {}}
    return ask("read", given, folder, bounds)


def written(folder: Path, data: bytes) -> Path:
    path = folder / "table.csv"
    path.write_bytes(data)
    return path


def helper() -> subprocess.Popen[bytes]:
    process = asking._helper._process
    assert process is not None
    return process


def children_of(number: int) -> list[int]:
    return [int(one) for one in Path(f"/proc/{number}/task/{number}/children").read_text().split()]


@pytest.mark.slow
def test_job_gives_its_result_and_cost(tmp_path: Path) -> None:
    start()
    found = read(written(tmp_path, CSV), tmp_path)
    assert found.result["guess"]["candidates"] == "labels"
    assert 0 < found.cpu < 60
    assert 50e6 < found.peak < 500e6
    assert children_of(helper().pid) == []


@pytest.mark.slow
def test_file_error_names_its_place(tmp_path: Path) -> None:
    with pytest.raises(TableError) as caught:
        read(written(tmp_path, b"a,b\n1\n1,2,3\n"), tmp_path)
    assert [(problem.row, problem.line, problem.column) for problem in caught.value.problems] == [
        (1, 2, "b"),
        (2, 3, "b"),
    ]


@pytest.mark.slow
def test_missing_file_raises_system_error(tmp_path: Path) -> None:
    with pytest.raises(FileNotFoundError, match=r"none\.csv"):
        read(tmp_path / "none.csv", tmp_path)


@pytest.mark.slow
@pytest.mark.parametrize(("job", "missing"), [("read", "file"), ("workflow.backups.project_content.look", "path")])
def test_failed_job_names_its_error(tmp_path: Path, job: str, missing: str) -> None:
    """Also a job of another module: the child loads it by its name, the helper does not."""
    with pytest.raises(RuntimeError, match=f"KeyError: '{missing}'"):
        ask(job, {}, tmp_path, PLENTY)


@pytest.mark.slow
@pytest.mark.parametrize(
    ("bounds", "said"),
    [(Bounds(20, 60, LONG), "more than 20 MB of memory"), (Bounds(2000, 1, LONG), "more than 1 seconds of computing")],
)
def test_exceeded_limit_is_reported(bounds: Bounds, said: str, tmp_path: Path) -> None:
    path = written(tmp_path, b'{"id": 1, "labels": ["a", "b"]}\n' * 600_000)
    with pytest.raises(TableError, match=said) as caught:
        read(path, tmp_path, bounds)
    (problem,) = caught.value.problems
    assert "in parts" in problem.fix


@pytest.mark.slow
@pytest.mark.parametrize(
    ("hard", "said", "fix"),
    [
        (resource.RLIM_INFINITY, "more of the disk than is allowed", "in parts"),
        (2_048_000, "a limit of 2,048,000 bytes for a file", "ulimit -f"),
    ],
)
def test_process_limit_is_not_blamed_on_file(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path, hard: int, said: str, fix: str
) -> None:
    monkeypatch.setattr(resource, "getrlimit", lambda _limit: (hard, hard))
    too_large = {"system": [errno.EFBIG, "File too large", None]}
    monkeypatch.setattr(asking, "_asked", lambda *_: too_large)
    with pytest.raises(TableError, match=said) as caught:
        read(written(tmp_path, CSV), tmp_path)
    assert fix in caught.value.problems[0].fix


@pytest.mark.slow
def test_waiting_job_times_out(tmp_path: Path) -> None:
    os.mkfifo(tmp_path / "nobody.csv")  # whose other end no one opens
    with pytest.raises(TableError, match="not read within 1 seconds"):
        read(tmp_path / "nobody.csv", tmp_path, Bounds(200, 20, 1))


@pytest.mark.slow
def test_ended_helper_is_reported_and_restarted(tmp_path: Path) -> None:
    os.mkfifo(tmp_path / "nobody.csv")
    start()
    read(written(tmp_path, CSV), tmp_path)
    before, said = helper(), []

    def wait() -> None:
        with pytest.raises(TableError) as caught:
            read(tmp_path / "nobody.csv", tmp_path)
        said.append(str(caught.value))

    waiting = threading.Thread(target=wait)
    waiting.start()
    held = os.open(tmp_path / "nobody.csv", os.O_WRONLY)  # waits until the child has it open
    (child,) = children_of(before.pid)
    gone = os.pidfd_open(child)
    before.kill()
    waiting.join()
    os.close(held)
    assert said
    assert "ended from outside" in said[0]
    select.select([gone], [], [])
    os.close(gone)
    assert read(written(tmp_path, CSV), tmp_path).result["shape"] is None
    assert helper().pid != before.pid


@pytest.mark.proof
@pytest.mark.slow
def test_ending_helper_is_restarted(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    read(written(tmp_path, CSV), tmp_path)
    before = helper()
    before.kill()
    before.wait()
    monkeypatch.setattr(before, "poll", lambda: None)
    assert read(written(tmp_path, CSV), tmp_path).result["guess"]["candidates"] == "labels"
    assert helper().pid != before.pid


@pytest.mark.proof
@pytest.mark.slow
def test_idle_helper_ends_and_next_job_starts_one(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    asking._helper.end()
    with monkeypatch.context() as patch:
        patch.setattr(asking, "_PROGRAM", asking._PROGRAM.replace("main()", "main(idle=0)"))
        assert read(written(tmp_path, CSV), tmp_path).result["guess"]["candidates"] == "labels"
    before = helper()
    assert before.wait() == 0
    assert read(written(tmp_path, CSV), tmp_path).result["guess"]["candidates"] == "labels"
    assert helper().pid != before.pid


@pytest.mark.proof
@pytest.mark.slow
def test_job_not_taken_by_helper_is_given_to_next(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    read(written(tmp_path, CSV), tmp_path)
    before, send = helper(), socket.send_fds
    before.send_signal(signal.SIGSTOP)

    def send_and_end(*given: Any) -> int:
        sent = send(*given)
        if before.poll() is None:
            before.kill()
            before.wait()
        return sent

    monkeypatch.setattr(socket, "send_fds", send_and_end)
    assert read(written(tmp_path, CSV), tmp_path).result["guess"]["candidates"] == "labels"
    assert helper().pid != before.pid


PARENT = """
import sys, threading
sys.path[0] = {root!r}
from pathlib import Path
from workflow.files.limited import Bounds, ask, asking, start
start()
print(asking._helper._process.pid, flush=True)
folder = Path({folder!r})
given = {{"file": [str(folder / "nobody.csv"), None], "rows": None, "vectors": None, "as_it_is": False, "ways": {{}}}}
threading.Thread(target=ask, args=("read", given, folder, Bounds(200, 60, 3600))).start()
"""


@pytest.mark.proof
@pytest.mark.slow
def test_helpers_end_with_killed_parent(tmp_path: Path) -> None:
    os.mkfifo(tmp_path / "nobody.csv")
    program = PARENT.format(root=str(ROOT), folder=str(tmp_path))
    with subprocess.Popen([sys.executable, "-c", program], stdout=subprocess.PIPE) as parent:
        assert parent.stdout is not None
        number = int(parent.stdout.readline())
        held = os.open(tmp_path / "nobody.csv", os.O_WRONLY)  # waits until the child has it open
        (child,) = children_of(number)
        gone = [os.pidfd_open(one) for one in (number, child)]
        parent.kill()
    for one in gone:
        select.select([one], [], [])
        os.close(one)
    os.close(held)


class Left(BaseException):
    """Raised as Streamlit ends the script of a closed page."""


@pytest.mark.slow
def test_abandoned_job_is_ended(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(asking, "EVERY", 0.01)
    os.mkfifo(tmp_path / "nobody.csv")
    held = []

    def leave(before: int) -> None:
        assert before == 0
        if not held:
            held.append(os.open(tmp_path / "nobody.csv", os.O_WRONLY))  # waits until the child has it open
        raise Left

    given = {"file": [str(tmp_path / "nobody.csv"), None], "rows": None, "vectors": None, "as_it_is": False, "ways": {}}
    with pytest.raises(Left):
        ask("read", given, tmp_path, PLENTY, on_wait=leave)
    gone = select.poll()
    gone.register(held[0], 0)  # reported after it has become unreadable
    assert gone.poll(LONG * 1000)
    os.close(held[0])
    assert read(written(tmp_path, CSV), tmp_path).result["guess"]["candidates"] == "labels"


@pytest.mark.slow
def test_progress_callback_does_not_change_result(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(asking, "EVERY", 1e-4)
    path, told = written(tmp_path, b"id,labels,w\n" + b"1,a|b,3\n" * 20_000), list[int]()
    given = {"file": [str(path), path.name], "rows": None, "vectors": None, "as_it_is": False, "ways": {}}
    found = ask("read", given, tmp_path, PLENTY, on_wait=told.append)
    assert set(told) <= {0}
    assert found.result == read(path, tmp_path).result


@pytest.mark.slow
def test_imports_queue_and_thumbnails_do_not(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(asking, "LONGEST", 0.0)
    path = tmp_path / "x.png"
    path.write_bytes(picture(1))
    given = {"file": [str(written(tmp_path, CSV)), None], "rows": None, "vectors": None, "as_it_is": False, "ways": {}}
    with ExitStack() as others:
        for _ in range(asking.AT_ONCE):
            others.enter_context(asking.IMPORTS.turn())
        with pytest.raises(LongLine, match="still before this one"):
            run_in_turn("read", given, tmp_path, PLENTY)
        assert look("small_picture", {"path": str(path)}, 1)
    told: list[int] = []
    assert run_in_turn("read", given, tmp_path, PLENTY, on_wait=told.append).result["guess"]
    assert told[0] == 0


# Files and messages of a job


VOTES = b"task,worker,label\nt1,ann,wren\nt1,bob,robin\nt2,ann,owl\n"


def test_reading_leaves_table_file(tmp_path: Path) -> None:
    path = tmp_path / "votes.csv"
    path.write_bytes(VOTES)
    given = {"file": [str(path), None], "rows": None, "vectors": None, "as_it_is": False, "ways": {}}
    said = jobs.read(given, tmp_path, lambda _share: None)
    assert said["shape"] == "table with a vote in each row"
    assert said["needs_rows"]
    assert said["source_hash"] == hashlib.sha256(hashlib.sha256(VOTES).digest()).hexdigest()
    assert len(read_stored(tmp_path).cells) == 2
    jobs.read({**given, "as_it_is": True}, tmp_path, lambda _share: None)
    assert len(read_stored(tmp_path).cells) == 3


def left(folder: Path, data: bytes, name: str = "t.csv") -> Roles:
    """The roles guessed for a file whose reading is now in the folder."""
    (folder / name).write_bytes(data)
    given = {"file": [str(folder / name), None], "rows": None, "vectors": None, "as_it_is": False, "ways": {}}
    return Roles.from_json(jobs.read(given, folder, lambda _share: None)["guess"])


def test_checked_reading_becomes_table_with_files_and_doubts(tmp_path: Path) -> None:
    rows = b"id,labels,p,note\n1,a|b,x.png,so\n2,b,y.png,la\n"
    zipped = make_zip({"t.csv": rows, "x.png": picture(1), "y.png": picture(1), "z.png": picture(2)})
    roles, steps = replace(left(tmp_path, zipped, "t.zip"), categories=(), text=None), []
    said = jobs.check({"roles": roles.to_json(), "out": str(tmp_path)}, tmp_path, steps.append)
    table = LabelTable.read(tmp_path / jobs.TABLE)
    assert table.classes == ("a", "b")
    assert table.media.kept_names() == set(said["files"])
    assert [Path(path).read_bytes() for path in said["files"].values()] == [picture(1)]
    assert "unused" in {doubt["name"] for doubt in said["doubts"]}
    assert steps
    other = tmp_path / "other"
    other.mkdir()
    again = jobs.check({"roles": roles.to_json(), "out": str(other)}, tmp_path, steps.append)
    assert set(again["files"]) == set(said["files"]), "checked once more, they are laid out once more"
    with pytest.raises(TableError, match="there is no such column"):
        jobs.check({"roles": Roles("none").to_json(), "out": str(tmp_path)}, tmp_path, steps.append)


def test_added_rows_extend_stored_table(tmp_path: Path) -> None:
    first, more = tmp_path / "first", tmp_path / "more"
    first.mkdir()
    more.mkdir()
    roles = left(first, b"id,labels,w\n1,a|b,1\n2,b,2\n")
    jobs.check({"roles": roles.to_json(), "out": str(first)}, first, lambda _share: None)
    left(more, b"id,labels,w,x\n2,b,2,0\n3,c|a,3,0\n")
    given = {"table": str(first / jobs.TABLE), "called": {}, "label_columns": []}
    said = jobs.grow({**given, "out": str(more)}, more, lambda _share: None)
    assert said["grown"] == [1, ("2",), ("c",), ("x",), ()]
    assert said["files"] is None
    assert LabelTable.read(more / jobs.TABLE).ids.tolist() == ["1", "2", "3"]
    with pytest.raises(TableError, match="Every row of the file is in the project already"):
        jobs.grow({**given, "out": str(more), "table": str(more / jobs.TABLE)}, more, lambda _share: None)
