"""The data folder: created, private, in use; a running server and its warm-up."""

from __future__ import annotations

import errno
import hashlib
import importlib
import os
import shutil
import signal
import subprocess
import sys
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

import numba
import numpy as np
import pandas as pd
import pytest

import workflow.server.home
from plcore import LabelTable, Roles, compiling
from plcore.kernels import compiled
from tests.conftest import ROOT
from tests.present import present
from workflow.server import running, warming
from workflow.server.home import keep_private, open_home
from workflow.server.running import InUseError, noted
from workflow.server.running import running as find_running
from workflow.server.settings import Settings, SettingsError
from workflow.server.shelf import give_back, machine_memory, own_memory

# home


def settings(folder: Path) -> Settings:
    return Settings.from_environment({"WINNOW_HOME": str(folder)})


def test_process_has_one_home_until_it_is_closed(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("WINNOW_HOME", str(tmp_path / "a"))
    workflow.server.home.close_home()
    with ThreadPoolExecutor(8) as pool:
        homes = set(map(id, pool.map(lambda _n: workflow.server.home.home(), range(8))))
    assert len(homes) == 1
    monkeypatch.setenv("WINNOW_HOME", str(tmp_path / "b"))
    assert workflow.server.home.home().settings.home == tmp_path / "a"
    workflow.server.home.close_home()
    assert workflow.server.home.home().settings.home == tmp_path / "b"
    workflow.server.home.close_home()


def test_file_as_home_is_refused(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("in the way")
    for home in (tmp_path / "file", tmp_path / "file" / "below"):
        with pytest.raises(SettingsError, match="WINNOW_HOME must be a folder"):
            open_home(settings(home))


def test_table_is_stored_under_its_hash_atomically(tmp_path: Path) -> None:
    home = open_home(settings(tmp_path))
    cells = pd.DataFrame({"candidates": ["a|b", "b"], "x": ["1.50", "2"]}, dtype="str")
    table = LabelTable.from_cells(cells, Roles(candidates="candidates", numbers=("x",)))
    table_hash = home.store_table(table)
    assert home.store_table(table) == table_hash
    path = home.table_path(table_hash)
    assert list(home.tables_dir.iterdir()) == [path]
    assert hashlib.sha256(path.read_bytes()).hexdigest() == table_hash
    assert LabelTable.read(path).cells.equals(cells)
    home.close()


def test_start_makes_data_folder_private(tmp_path: Path) -> None:
    settings = Settings.from_environment({"WINNOW_HOME": str(tmp_path)})
    tmp_path.chmod(0o755)
    open_home(settings).close()
    database = tmp_path / "winnow.sqlite3"
    assert (tmp_path.stat().st_mode & 0o777, database.stat().st_mode & 0o777) == (0o700, 0o600)
    database.chmod(0o644)
    open_home(settings).close()
    assert database.stat().st_mode & 0o777 == 0o600


def test_full_disk_while_reading_is_no_lost_table(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    home = open_home(settings(tmp_path))
    try:
        frame = pd.DataFrame({"c": ["a|b", "b"], "w": ["1", "2"]})
        digest = home.store_table(LabelTable.from_frame(frame, Roles(candidates="c", numbers=("w",))))
        monkeypatch.setattr("plcore.tables.storing.IN_MEMORY", 0)
        assert home.read_table(digest).n_rows == 2

        def full(_folder: Path) -> None:
            raise OSError(errno.ENOSPC, "no space left on device")

        monkeypatch.setattr("plcore.tables.storing.nameless_file", full)
        with pytest.raises(workflow.server.home.NoRoomError, match="no room left on the disk"):
            home.read_table(digest)
        home.table_path(digest).unlink()
        with pytest.raises(workflow.server.home.LostTableError):
            home.read_table(digest)
    finally:
        home.close()


# Files of the data folder that other users can read: none, or they are reported


def mode(path: Path) -> int:
    return path.stat().st_mode & 0o7777


def test_keep_private_removes_rights_of_others_only(tmp_path: Path) -> None:
    folder, file = tmp_path / "home", tmp_path / "database"
    folder.mkdir()
    file.touch()
    folder.chmod(0o755)
    file.chmod(0o664)
    keep_private(folder, file, tmp_path / "missing")
    assert (mode(folder), mode(file)) == (0o700, 0o600)


@pytest.mark.parametrize("which", ["sticky", "home"])
def test_shared_system_folder_is_reported_and_unchanged(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture, which: str
) -> None:
    tmp_path.chmod(0o1777 if which == "sticky" else 0o755)
    monkeypatch.setattr(Path, "home", lambda: tmp_path if which == "home" else tmp_path / "me")
    before = mode(tmp_path)
    keep_private(tmp_path)
    assert mode(tmp_path) == before
    assert f"may read {tmp_path}" in caplog.text
    assert "Fix: " in caplog.text


def test_keep_private_works_without_home_folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A user with only a number, as in containers, without HOME."""

    def unknown() -> Path:
        raise RuntimeError("Could not determine home directory.")

    tmp_path.chmod(0o755)
    monkeypatch.setattr(Path, "home", unknown)
    keep_private(tmp_path)
    assert mode(tmp_path) == 0o700


def test_failed_permission_change_is_reported(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    def refuse(_path: Path, _mode: int) -> None:
        raise PermissionError(1, "Operation not permitted")

    tmp_path.chmod(0o755)
    monkeypatch.setattr(Path, "chmod", refuse)
    keep_private(tmp_path)
    assert "Operation not permitted" in caplog.text


# A data folder is shared by all processes of Winnow, or used by one exclusively


def test_shared_lock_excludes_exclusive_one(tmp_path: Path) -> None:
    first, second = running.share(tmp_path), running.share(tmp_path)
    first.close()
    with pytest.raises(InUseError, match="is open in a running Winnow"), running.alone(tmp_path):
        pass
    second.close()
    with running.alone(tmp_path), pytest.raises(InUseError, match="is being restored"):
        running.share(tmp_path)
    running.share(tmp_path).close()


def test_killed_process_releases_lock(tmp_path: Path) -> None:
    program = (
        "import sys; from pathlib import Path; from workflow.server import running\n"
        "lock = running.share(Path(sys.argv[1])); print('has it', flush=True); sys.stdin.read()"
    )
    with subprocess.Popen(
        [sys.executable, "-c", program, str(tmp_path)], stdin=subprocess.PIPE, stdout=subprocess.PIPE, cwd=ROOT
    ) as other:
        assert other.stdout is not None
        assert other.stdout.readline() == b"has it\n"
        with pytest.raises(InUseError), running.alone(tmp_path):
            pass
        other.kill()
        other.wait()
    with running.alone(tmp_path):
        pass


def test_home_is_shared_while_it_is_open_and_cannot_be_opened_meanwhile(tmp_path: Path) -> None:
    settings = Settings.from_environment({"WINNOW_HOME": str(tmp_path / "home")})
    here = open_home(settings)
    with pytest.raises(InUseError), running.alone(settings.home):
        pass
    here.close()
    with running.alone(settings.home), pytest.raises(SettingsError, match="is being restored"):
        open_home(settings)


def test_failed_open_releases_lock(tmp_path: Path) -> None:
    settings = Settings.from_environment({"WINNOW_HOME": str(tmp_path / "home")})
    settings.home.mkdir()
    (settings.home / "winnow.sqlite3").write_bytes(b"no database" * 1000)
    with pytest.raises(SettingsError):
        open_home(settings)
    with running.alone(settings.home):
        pass


def test_only_one_start_restores_backup(tmp_path: Path) -> None:
    with running.only_restore(tmp_path) as first, running.only_restore(tmp_path) as second:
        assert (first, second) == (True, False)
    with running.only_restore(tmp_path) as third:
        assert third


# Reported properties of the machine: in a container, at most its limits


@pytest.mark.parametrize(
    ("text", "limited"), [("1048576\n", True), ("max\n", False), ("9223372036854771712\n", False), ("", False)]
)
def test_machine_memory_respects_container_limit(tmp_path: Path, text: str, limited: bool) -> None:
    whole = present(machine_memory(()))
    assert whole > 2**27
    (tmp_path / "memory.max").write_text(text)
    found = machine_memory((tmp_path / "missing", tmp_path / "memory.max"))
    assert found == (2**20 if limited else whole)


def test_process_memory_grows_with_content_and_is_released() -> None:
    give_back()
    before = present(own_memory())
    held = [np.ones(1_000) for _ in range(10_000)]  # 80 MB in pieces that glibc would keep
    grown = present(own_memory())
    assert grown - before > 60e6
    del held
    give_back()
    after = present(own_memory())
    assert after - before < 20e6


def test_own_memory_excludes_file_pages(tmp_path: Path) -> None:
    (tmp_path / "statm").write_text("9000 500 200 1 0 300 0\n")
    assert own_memory(tmp_path / "statm") == 300 * os.sysconf("SC_PAGE_SIZE")
    assert own_memory(tmp_path / "none") is None


# Finding the servers that run on a data folder


ANOTHER = (
    "import sys; from pathlib import Path; from workflow.server.running import noted\n"
    "with noted(Path(sys.argv[1]), 'http://b'): print('noted', flush=True); sys.stdin.read()"
)


def another(folder: Path) -> subprocess.Popen[str]:
    """A server of another process, which runs until its input ends."""
    begun = subprocess.Popen(
        [sys.executable, "-c", ANOTHER, str(folder)], cwd=ROOT, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True
    )
    assert begun.stdout is not None
    assert begun.stdout.readline() == "noted\n"
    return begun


def test_running_server_is_found(tmp_path: Path) -> None:
    folder = tmp_path / "servers"
    assert find_running(folder) == []
    with noted(folder, "http://a"):
        assert find_running(folder) == ["http://a"]
        second = another(folder)
        assert find_running(folder) == ["http://b", "http://a"], "the latest first"
        second.communicate()
        assert find_running(folder) == ["http://a"], "the first runs on"
        assert folder.stat().st_mode & 0o777 == 0o700
    assert find_running(folder) == []
    assert list(folder.iterdir()) == []


def test_two_servers_with_same_pid_are_found(tmp_path: Path) -> None:
    """As in two containers with one data folder: both number their processes from 1."""
    with noted(tmp_path, "http://a"):
        with noted(tmp_path, "http://b"):
            assert sorted(find_running(tmp_path)) == ["http://a", "http://b"]
        assert find_running(tmp_path) == ["http://a"]
    assert list(tmp_path.iterdir()) == []


def test_killed_server_is_not_found(tmp_path: Path) -> None:
    begun = another(tmp_path)
    begun.kill()
    begun.communicate()
    assert len(list(tmp_path.iterdir())) == 1
    assert find_running(tmp_path) == []
    assert list(tmp_path.iterdir()) == []


# Terminal messages while kernels compile: only messages about compiling


def test_compile_step_is_reported_if_compiler_starts(monkeypatch: pytest.MonkeyPatch) -> None:
    @numba.njit
    def double(number: int) -> int:
        return 2 * number

    steps = (("nothing", lambda: None), ("doubling", lambda: double(1)), ("doubling again", lambda: double(2)))
    monkeypatch.setattr(compiling, "STEPS", steps)
    monkeypatch.setattr(warming, "SECONDS", {False: {name: 1.0 for name, _ in steps}, True: {}})
    limited: list[str] = []  # the other tests are in this process
    monkeypatch.setattr(warming, "one_thread_for_good", lambda: limited.append("for good"))
    monkeypatch.setattr(warming, "cpu_count", lambda: 1)
    drawn: list[tuple[float, float | None]] = []
    assert warming.warm_up(lambda *now: drawn.append(now)) > 0
    assert limited == ["for good"]
    assert drawn == [(pytest.approx(1 / 3), None), (1.0, 0.0)], "the bar begins in step 2 of 3"
    warming.warm_up(lambda *now: drawn.append(now))
    assert len(drawn) == 2


@pytest.mark.parametrize("ends", ["", "raise SystemExit(1)"])
def test_second_process_compiles_changed_kernels_when_it_needs_them(monkeypatch: pytest.MonkeyPatch, ends: str) -> None:
    """Its steps move the bar, whatever became of it, and are looked at here."""

    @numba.njit
    def halve(number: int) -> float:
        return number / 2

    @numba.njit
    def treble(number: int) -> int:
        return 3 * number

    began: list[object] = []

    def start() -> subprocess.Popen[str]:
        began.append("second")
        return subprocess.Popen(
            [sys.executable, "-c", f"print('nothing', flush=True)\n{ends}"], stdout=subprocess.PIPE, text=True
        )

    steps = (("trebling", lambda: treble(1)), ("halving", lambda: halve(1)), ("nothing", lambda: None))
    monkeypatch.setattr(compiling, "STEPS", steps)
    monkeypatch.setattr(compiling, "APART", frozenset({"trebling", "nothing"}))
    seconds = {False: {"halving": 1.0}, True: {"trebling": 1.0, "nothing": 1.0}}
    monkeypatch.setattr(warming, "SECONDS", seconds)
    monkeypatch.setattr(warming, "one_thread_for_good", lambda: None)
    monkeypatch.setattr(warming, "_start", start)
    monkeypatch.setattr(warming, "cpu_count", lambda: 2)
    shares: list[float] = []
    warming.warm_up(lambda share, left: shares.append(share))
    # The second process is two seconds of work, this one is one: half is done when it begins its latter step, none in
    # its first one, which is compiled here after all.
    assert sorted(shares) == [0.0, 0.0, 0.5, 1.0]
    assert (shares[-2:], began) == ([0.0, 1.0], ["second"])
    warming.warm_up(lambda share, left: shares.append(share))
    assert (len(shares), began) == (4, ["second"])


@pytest.mark.parametrize("number", [signal.SIGTERM, signal.SIGINT])
def test_compiling_ends_at_once_on_signal(monkeypatch: pytest.MonkeyPatch, number: signal.Signals) -> None:
    ended: list[str] = []

    class EndedError(Exception):
        """Raised where the process would end."""

    def end(_number: int) -> None:
        raise EndedError

    def compile_kernels(compiling: Callable[[int, int, str], None], *, apart: bool) -> None:
        compiling(0, 1, "label sets")
        monkeypatch.setattr(signal, "raise_signal", end)
        os.kill(os.getpid(), number)
        ended.append("compiled")

    second = subprocess.Popen(
        [sys.executable, "-c", "input()"], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True
    )
    monkeypatch.setattr(warming, "compile_kernels", compile_kernels)
    monkeypatch.setattr(warming, "one_thread_for_good", lambda: None)
    monkeypatch.setattr(warming, "close_home", lambda: ended.append("home"))
    monkeypatch.setattr(warming, "cpu_count", lambda: 2)
    monkeypatch.setattr(warming, "_start", lambda: second)
    before = signal.getsignal(number)
    with second, pytest.raises(EndedError):
        warming.warm_up(lambda *_now: None)
    assert (ended, second.returncode) == (["home"], -signal.SIGKILL)
    assert signal.getsignal(number) is before


def test_separate_compile_steps_are_known_steps() -> None:
    names = {name for name, _ in compiling.STEPS}
    assert names > compiling.APART > set()
    order = [[name for name, _ in compiling.STEPS if (name in compiling.APART) == apart] for apart in (False, True)]
    assert [list(warming.SECONDS[False]), list(warming.SECONDS[True])] == order


DOUBLES = """
from plcore.kernels.compiled import kernel

def double(number):
    return 2 * number

here, elsewhere = kernel(double), kernel(double)
"""


def test_kernel_waits_for_machine_code_of_another_process(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "doubles.py").write_text(DOUBLES)
    monkeypatch.syspath_prepend(tmp_path)
    doubles: Any = importlib.import_module("doubles")
    monkeypatch.setattr(compiled, "_all_kernels", lambda: [doubles.here])
    assert compiled.code_is_kept()
    assert not compiled.code_is_there()
    looked: list[bool] = []

    def wait() -> bool:
        looked.append(compiled.code_is_there())
        if len(looked) == 3:
            monkeypatch.setattr(compiled, "_wait", None)
            doubles.elsewhere(1)
            monkeypatch.setattr(compiled, "_wait", wait)
        return True

    monkeypatch.setattr(compiled, "_wait", wait)
    assert doubles.here(4) == 8
    assert looked == [False] * 3
    assert sum(doubles.here.stats.cache_hits.values()) == 1, "it was loaded, not compiled"
    assert compiled.code_is_there()


def test_other_process_compiles_only_if_code_is_missing(monkeypatch: pytest.MonkeyPatch) -> None:
    there = [True]
    waits: list[Any] = []
    monkeypatch.setattr(warming, "code_is_there", lambda: there[0])
    monkeypatch.setattr(warming, "wait_for_code", waits.append)
    monkeypatch.setattr(warming, "one_thread_for_good", lambda: None)
    monkeypatch.setattr(warming, "_COMMAND", [sys.executable, "-c", "import time; time.sleep(600)"])
    beside = warming.Beside()
    beside.begin_if_needed()
    assert not beside.is_running
    assert waits[0](), "some was missing all the same"
    assert beside.is_running
    beside.end()
    assert waits.pop() is None
    there[0] = False
    beside = warming.Beside()
    beside.begin_if_needed()
    assert beside.is_running
    assert waits[1]()
    beside.step_back()
    process = present(beside._process)
    assert os.getpriority(os.PRIO_PROCESS, process.pid) == warming.BELOW_PAGES
    beside.end()
    assert (process.poll(), beside.is_running, waits[1](), waits[2]) == (-signal.SIGKILL, False, False, None)


def test_kernels_without_folder_are_compiled_before_the_server_starts(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(warming, "code_is_kept", lambda: False)
    warmed: list[object] = []
    monkeypatch.setattr(warming, "warm_up", warmed.append)
    beside = warming.Beside()
    beside.begin_if_needed()
    assert (len(warmed), beside.is_running) == (1, False)


@pytest.mark.proof
@pytest.mark.timeout(1200)  # all kernels are compiled, and the machine may be busy
def test_only_first_start_reports_compiling(tmp_path: Path) -> None:
    for room in ("plcore", "workflow", "db", "winnow_labels"):
        shutil.copytree(ROOT / room, tmp_path / room, ignore=shutil.ignore_patterns("__pycache__"))
    kept = tmp_path / "kept"

    def start() -> list[str]:
        done = subprocess.run(
            [sys.executable, "-m", "workflow.server.warming"],
            cwd=tmp_path,
            env={**os.environ, "NUMBA_CACHE_DIR": str(kept)},
            capture_output=True,
            text=True,
            check=False,
        )
        assert (done.returncode, done.stderr) == (0, "")
        return done.stdout.splitlines()

    compiling = ["  Compiling the numeric kernels (once) ..."]  # no bar: this is not a terminal
    assert start() == compiling
    assert start() == []
    # One kernel's machine code is gone: it is compiled.
    next(kept.rglob("*.scan_dense-*.nbi")).unlink()
    assert start() == compiling
