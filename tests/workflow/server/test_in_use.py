"""A data folder is shared by all processes of Winnow, or somebody's alone."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest

from tests.conftest import ROOT
from workflow.server import running
from workflow.server.home import open_home
from workflow.server.running import InUseError
from workflow.server.settings import Settings, SettingsError


def test_many_share_and_one_is_alone(tmp_path: Path) -> None:
    first, second = running.share(tmp_path), running.share(tmp_path)
    first.close()
    with pytest.raises(InUseError, match="is open in a running Winnow"), running.alone(tmp_path):
        pass
    second.close()
    with running.alone(tmp_path), pytest.raises(InUseError, match="is being restored"):
        running.share(tmp_path)
    running.share(tmp_path).close()


def test_a_killed_process_holds_nothing(tmp_path: Path) -> None:
    program = (
        "import sys; from pathlib import Path; from workflow.server import running\n"
        "lock = running.share(Path(sys.argv[1])); print('has it', flush=True); sys.stdin.read()"
    )
    with subprocess.Popen(
        [sys.executable, "-c", program, str(tmp_path)],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        cwd=ROOT,
    ) as other:
        assert other.stdout is not None
        assert other.stdout.readline() == b"has it\n"
        with pytest.raises(InUseError), running.alone(tmp_path):
            pass
        other.kill()
        other.wait()
    with running.alone(tmp_path):
        pass


def test_a_home_is_shared_while_it_is_open_and_cannot_be_opened_meanwhile(tmp_path: Path) -> None:
    settings = Settings.from_environment({"WINNOW_HOME": str(tmp_path / "home")})
    here = open_home(settings)
    with pytest.raises(InUseError), running.alone(settings.home):
        pass
    here.close()
    with running.alone(settings.home), pytest.raises(SettingsError, match="is being restored"):
        open_home(settings)


def test_a_home_that_could_not_be_opened_is_not_in_use(tmp_path: Path) -> None:
    settings = Settings.from_environment({"WINNOW_HOME": str(tmp_path / "home")})
    settings.home.mkdir()
    (settings.home / "winnow.sqlite3").write_bytes(b"no database" * 1000)
    with pytest.raises(SettingsError):
        open_home(settings)
    with running.alone(settings.home):
        pass


def test_one_start_at_a_time_puts_a_backup_back(tmp_path: Path) -> None:
    with running.only_restore(tmp_path) as first, running.only_restore(tmp_path) as second:
        assert (first, second) == (True, False)
    with running.only_restore(tmp_path) as third:
        assert third
