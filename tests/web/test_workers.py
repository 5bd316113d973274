"""The training processes of a server: as many as are set, only where they are needed, again where one dies."""

from __future__ import annotations

import subprocess
import sys
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

import worker
from tests.workflow.text_world import text_project
from tests.workflow.world import small_project
from web import lifespan
from web.lifespan import WorkerCrew, base_url
from workflow.backups import keeping
from workflow.people import team
from workflow.projects import managing
from workflow.rows.instance_map import instance_map
from workflow.seat import Seat
from workflow.server.home import Home

SLEEPS = "import sys; sys.stdin.read()"


@pytest.fixture
def crew(home: Home, monkeypatch: pytest.MonkeyPatch) -> Any:
    """Of two workers, which are asleep; nobody looks after them but the test."""

    started: list[subprocess.Popen[bytes]] = []

    def start() -> subprocess.Popen[bytes]:
        started.append(subprocess.Popen([sys.executable, "-c", SLEEPS], stdin=subprocess.PIPE))
        return started[-1]

    monkeypatch.setattr(lifespan, "_start", start)
    monkeypatch.setattr(lifespan, "LOOK_EVERY", 0.0)
    made = WorkerCrew(replace(home, settings=replace(home.settings, workers=2)))
    yield made
    made.stop()
    for one in started:
        assert one.poll() is not None
        assert one.stdin is not None
        one.stdin.close()


def alive(crew: WorkerCrew) -> int:
    return sum(worker.poll() is None for worker in crew._workers)


def test_a_map_that_is_to_be_laid_out_needs_workers(home: Home, crew: WorkerCrew) -> None:
    owner = team.ensure_owner(home).id
    seat = Seat(home, owner, text_project(home, owner))
    crew._look()
    assert alive(crew) == 0
    instance_map(seat)
    crew._look()
    assert alive(crew) == 2


def test_no_worker_is_started_before_a_project_needs_one(home: Home, crew: WorkerCrew) -> None:
    owner = team.ensure_owner(home).id
    crew._look()
    assert alive(crew) == 0
    project = small_project(home, owner)
    crew._look()
    assert alive(crew) == 0, "its model follows each answer"
    managing.change_learner(Seat(home, owner, project), model="clpl")
    crew._look()
    assert alive(crew) == 2
    crew._look()
    assert alive(crew) == 2


def test_a_backup_that_was_asked_for_needs_one(home: Home, crew: WorkerCrew) -> None:
    crew._look()
    assert alive(crew) == 0
    keeping.ask(home.backups_dir, None)
    crew._look()
    assert alive(crew) == 2


def test_one_that_dies_is_started_again_and_all_end_with_the_server(
    home: Home, crew: WorkerCrew, caplog: pytest.LogCaptureFixture
) -> None:
    small_project(home, team.ensure_owner(home).id, model="clpl")
    crew._look()
    victim = crew._workers[0]
    victim.kill()
    victim.wait()
    crew._look()
    assert alive(crew) == 2
    assert victim not in crew._workers
    assert "another is started" in caplog.text
    crew.stop()
    assert alive(crew) == 0
    crew._look()
    assert alive(crew) == 0, "none is started at the end"


STANDS_BACK = """
import os, sys
from pathlib import Path

sys.path.insert(0, {root!r})
import worker

worker._SHARE = Path({share!r})
worker._step_back()
alone = os.getsid(0) == os.getpid()
Path({said!r}).write_text(f"{{alone}} {{os.sched_getscheduler(0) == os.SCHED_IDLE}}")
"""


def test_a_worker_stands_back_in_a_session_of_its_own(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    share, said, program = tmp_path / "share", tmp_path / "said", tmp_path / "stands_back.py"
    root = str(Path(worker.__file__).parent)
    program.write_text(STANDS_BACK.format(root=root, share=str(share), said=str(said)))
    monkeypatch.setattr(lifespan, "_PROGRAM", program)
    with lifespan._start() as started:
        assert started.wait(60) == 0
    assert said.read_text() == "True True"
    assert share.read_text() == "19"


@pytest.mark.parametrize(
    ("errors", "tries"), [([], 1), ([BlockingIOError(), BlockingIOError()], 3), ([PermissionError()], 1)]
)
def test_the_share_of_a_session_is_asked_for_again_where_others_ask_at_once(
    monkeypatch: pytest.MonkeyPatch, errors: list[OSError], tries: int
) -> None:
    asked: list[str] = []

    class Share:
        def write_text(self, share: str) -> None:
            asked.append(share)
            if len(asked) <= len(errors):
                raise errors[len(asked) - 1]

    monkeypatch.setattr(worker, "_SHARE", Share())
    monkeypatch.setattr(worker.time, "sleep", lambda _seconds: None)
    worker._step_back_as_session()
    assert asked == ["19"] * tries


@pytest.mark.parametrize(
    ("address", "certificate", "wanted"),
    [
        ("", None, "http://127.0.0.1:8501"),
        ("0.0.0.0", None, "http://127.0.0.1:8501"),  # noqa: S104 - compared with, not listened on
        ("::", None, "http://127.0.0.1:8501"),
        ("::1", None, "http://[::1]:8501"),
        ("winnow.example.org", "cert.pem", "https://winnow.example.org:8501"),
    ],
)
def test_the_address_that_a_browser_here_reaches(
    monkeypatch: pytest.MonkeyPatch, address: str, certificate: str | None, wanted: str
) -> None:
    options = {"server.address": address, "server.sslCertFile": certificate, "server.port": 8501}
    monkeypatch.setattr("web.lifespan.config.get_option", options.__getitem__)
    assert base_url() == wanted
