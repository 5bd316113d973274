"""The same question answered twice at the same moment: a double click, two tabs, two servers. Always one entry."""

from __future__ import annotations

import json
import os
import subprocess
import sys
import threading
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import AbstractContextManager, contextmanager

import pytest

from plcore import LearnerSettings
from tests.conftest import ROOT
from tests.workflow.pressing import press
from tests.workflow.world import log, small_table
from workflow.answering import loop
from workflow.projects import managing
from workflow.seat import Seat
from workflow.server.home import Home

FEW, MANY = 25, 1000
Twice = Callable[[str, str, str], list[tuple[int, bool]]]
"""Given a token and the labels of two answers to it, returns the reply to each."""


@contextmanager
def two_threads(seat: Seat) -> Iterator[Twice]:
    with ThreadPoolExecutor(2) as pool:
        together = threading.Barrier(2)

        def one(token: str, label: str) -> tuple[int, bool]:
            together.wait()
            return press(seat, token, label)

        yield lambda token, *labels: [*pool.map(one, [token] * 2, labels)]


@contextmanager
def two_servers(seat: Seat) -> Iterator[Twice]:
    """Separate processes that share this home and its database."""
    settings = seat.home.settings
    environment = {"WINNOW_HOME": str(settings.home), "WINNOW_DATABASE_URL": settings.database_url}
    command = [sys.executable, "-m", "tests.workflow.pressing", str(seat.person_id), str(seat.project_id)]
    servers = [
        subprocess.Popen(
            command, cwd=ROOT, env=os.environ | environment, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True
        )
        for _ in range(2)
    ]

    def twice(token: str, *labels: str) -> list[tuple[int, bool]]:
        for server, label in zip(servers, labels, strict=True):
            assert server.stdin is not None
            server.stdin.write(json.dumps([token, label]) + "\n")
            server.stdin.flush()
        return [tuple(json.loads(server.stdout.readline())) for server in servers if server.stdout]

    yield twice
    for server in servers:
        server.communicate()
        assert server.returncode == 0


def press_twice(home: Home, owner: int, by: Callable[[Seat], AbstractContextManager[Twice]], times: int) -> None:
    """Answer this many questions, each twice at once; in every second pair the answers differ."""
    table = small_table(2 * times + 60)
    project = managing.create_project(Seat(home, owner), "twice", table, LearnerSettings(n_neighbors=4))
    seat = Seat(home, owner, project)
    told = []
    with by(seat) as twice:
        for number in range(times):
            question = loop.next_question(seat)
            assert question is not None
            labels = question.choices[0], question.choices[-(number % 2)]
            (first, once), (second, again) = twice(question.token, *labels)
            assert (first, {once, again}) == (second, {False, True})
            told.append((first, question.token, labels[1] if once else labels[0]))
    written = log(home, project)
    assert [(one.seq, one.token, *one.labels) for one in written] == told
    assert [one.seq for one in written] == list(range(1, times + 1))


def test_a_few_double_presses_are_one_entry_each(home: Home, owner: int) -> None:
    press_twice(home, owner, two_threads, FEW)


@pytest.mark.proof
@pytest.mark.parametrize("by", [two_threads, two_servers])
def test_a_thousand_double_presses_are_a_thousand_entries(
    home: Home, owner: int, by: Callable[[Seat], AbstractContextManager[Twice]]
) -> None:
    press_twice(home, owner, by, MANY)
