"""Twenty clients at once, with one token or with twenty, answer a thousand rows over HTTP: each row once."""

from __future__ import annotations

from collections import Counter
from concurrent.futures import ThreadPoolExecutor

import numpy as np
import pandas as pd
import pytest

from plcore import LabelTable, LearnerSettings, Roles
from tests.workflow.world import annotator, log
from winnow_labels.client import Winnow, WinnowError, WinnowProject
from workflow.people import team, tokens
from workflow.projects import managing
from workflow.seat import Seat
from workflow.server.home import Home

CLIENTS = 20
LABELS = ("ant", "bee", "cat")


def many_rows(home: Home, n_rows: int) -> Seat:
    """The owner at a project whose rows are all to be asked about."""
    rng = np.random.default_rng(7)
    frame = pd.DataFrame({"x": rng.normal(size=n_rows).round(4), "candidates": "|".join(LABELS)})
    table = LabelTable.from_frame(frame, Roles(candidates="candidates", numbers=("x",)))
    owner = Seat(home, team.ensure_owner(home).id)
    settings = LearnerSettings(n_neighbors=4, control_share=0.1)
    return owner.at(managing.create_project(owner, "many", table, settings))


def work(project: WinnowProject, number: int) -> list[int]:
    """Lease questions and answer them until none is left; returns the rows."""
    done = []
    while questions := project.questions(1 + number % 7):
        for question in questions:
            project.answer(question, "is", [LABELS[question.row % 3]], note=str(number))
            done.append(question.row)
    return done


def check(url: str, seat: Seat, n_rows: int, secrets: list[str]) -> None:
    clients = [Winnow(url, secret) for secret in secrets]
    with ThreadPoolExecutor(CLIENTS) as threads:
        done = threads.map(lambda one: work(one[1].project(seat.project_id or 0), one[0]), enumerate(clients))
        rows = [row for of_client in done for row in of_client]
    for client in clients:
        client.close()
    assert sorted(rows) == [*range(n_rows)]
    stored = log(seat.home, seat.project_id or 0)
    assert sorted(one.row for one in stored) == [*range(n_rows)]
    assert all(one.labels == (LABELS[one.row % 3],) for one in stored)
    assert len({one.token for one in stored}) == n_rows


def secrets_of(seat: Seat, people: int) -> list[str]:
    """Twenty tokens of as many people, or one of the owner for all."""
    if people == 1:
        return CLIENTS * [tokens.make_token(seat, "workers")]
    seats = [Seat(seat.home, annotator(seat.home, seat.person_id, f"worker {number}")) for number in range(people)]
    return [tokens.make_token(one, "worker") for one in seats]


@pytest.mark.slow
@pytest.mark.parametrize("people", [1, CLIENTS])
@pytest.mark.parametrize("n_rows", [120, pytest.param(1_000, marks=pytest.mark.proof)])
def test_twenty_clients_answer_each_row_once(url: str, home: Home, n_rows: int, people: int) -> None:
    seat = many_rows(home, n_rows)
    check(url, seat, n_rows, secrets_of(seat, people))


@pytest.mark.slow
def test_clients_that_answer_same_rows_by_number_store_each_once(url: str, home: Home) -> None:
    """Programs that do not lease: the first answer to a row counts, and the others are told."""
    seat = many_rows(home, 30)
    with seat.learner() as opened:
        rows = np.flatnonzero(~opened.learner.pool.blind_rows).tolist()

    def status_of(project: WinnowProject, row: int) -> int:
        try:
            project.answer_row(row, "is", ["ant"])
        except WinnowError as refused:
            return refused.status
        return 200

    def answer(secret: str) -> list[int]:
        with Winnow(url, secret) as winnow:
            return [status_of(winnow.project(seat.project_id or 0), row) for row in rows]

    with ThreadPoolExecutor(4) as threads:
        counts = Counter(status for of_client in threads.map(answer, secrets_of(seat, 4)) for status in of_client)
    assert counts == {200: len(rows), 409: 3 * len(rows)}
    assert sorted(one.row for one in log(home, seat.project_id or 0)) == rows
