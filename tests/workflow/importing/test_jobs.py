"""A person's file is read by one process however many pages ask; nobody else's page has it; what ends it says so."""

from __future__ import annotations

import errno
import os
import signal
import threading
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

import pytest

from plcore import TableError
from tests.workflow.world import annotator, small_project
from workflow.access import NotAllowed, Role
from workflow.files import limited
from workflow.files.limited import asking
from workflow.importing import Upload, arrivals, jobs, read_upload
from workflow.importing.arrivals import Arrived
from workflow.seat import Seat
from workflow.server.home import Home

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
    """The jobs that a process was asked for."""
    names: list[str] = []
    ask = asking.ask

    def counted(job: str, *given: object, **more: object) -> limited.Finished:
        names.append(job)
        return ask(job, *given, **more)  # type: ignore[arg-type]

    monkeypatch.setattr(asking, "ask", counted)
    return names


def test_two_pages_have_one_process_and_one_upload(home: Home, owner: int, asked: list[str]) -> None:
    seat = Seat(home, owner)
    file = sent(seat)
    pages = [jobs.ask(seat, file, "read", (), reading(file)) for _ in range(2)]
    assert all(page.wait(PATIENCE) for page in pages)
    first, second = (page.result() for page in pages)
    assert first is second
    assert first.cells["labels"].tolist() == ["a|b", "b", "a"]
    assert jobs.ask(seat, file, "read", (), reading(file)).result() is first
    assert asked == ["read"]


def test_a_file_that_gave_way_to_another_before_its_turn_is_said_not_to_be_here(
    home: Home, owner: int
) -> None:
    """There is room for the person's files together, and the oldest go for one that is sent, from another page too."""
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
    with pytest.raises(jobs.JobEnded, match="not here any more"):
        job.result()


def test_what_the_system_refuses_is_no_file_that_has_gone(home: Home, owner: int) -> None:
    seat = Seat(home, owner)

    def read(_: jobs.Job[Upload]) -> Upload:
        raise OSError(errno.EIO, "Input/output error")

    job = jobs.ask(seat, sent(seat), "read", (), read)
    assert job.wait(PATIENCE)
    with pytest.raises(OSError, match="Input/output error"):
        job.result()


def test_a_file_that_is_taken_away_while_it_waits_gives_up_its_place(
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
    with pytest.raises(jobs.JobEnded, match="taken away"):
        job.result()
    assert not asked
    assert not asking.IMPORTS._line
    with pytest.raises(jobs.JobEnded, match=r"not here any more\. Fix: choose it again"):
        jobs.ask(seat, file, "read", (), reading(file))


def test_nobody_asks_after_the_file_of_somebody_else(home: Home, owner: int) -> None:
    project = small_project(home, owner)
    mine, theirs = Seat(home, owner), Seat(home, annotator(home, owner, "Eve", Role.OWNER), project)
    file = sent(mine)
    job = jobs.ask(mine, file, "read", (), reading(file))
    with pytest.raises(jobs.JobEnded, match="not here"):
        jobs.ask(theirs, file, "read", (), reading(file))
    arrivals.remove(theirs, file.key)
    assert job.wait(PATIENCE)
    assert len(job.result().cells) == 3
    with pytest.raises(NotAllowed):
        jobs.ask(Seat(home, annotator(home, owner, "Ben", Role.ANNOTATOR)), file, "read", (), reading(file))


def children() -> list[int]:
    """The processes that the helper has forked."""
    helper = asking._helper._process
    assert helper is not None
    tasks = Path(f"/proc/{helper.pid}/task").glob("*/children")
    return [int(number) for path in tasks for number in path.read_text().split()]


def test_a_process_that_is_killed_is_said_in_words_and_begun_anew(home: Home, owner: int) -> None:
    seat = Seat(home, owner)
    file = sent(seat)
    file.path.unlink()
    os.mkfifo(file.path)  # whoever reads it waits for what is written
    job = jobs.ask(seat, file, "read", (), reading(file))
    writing = os.open(file.path, os.O_WRONLY)  # which waits for whoever reads
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


def test_the_process_ends_with_the_server(home: Home, owner: int, monkeypatch: pytest.MonkeyPatch) -> None:
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
