"""Many people at one project at once: rows get their answers, no one is asked twice or sees another's answer."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.workflow import crowd
from workflow.server.home import Home, open_home
from workflow.server.settings import Settings

FEW, MANY = (6, 40), (20, 500)
"""People and rows."""


@pytest.fixture
def postgres_home(tmp_path: Path, postgres_url: str) -> Iterator[Home]:
    opened = open_home(
        Settings.from_environment({"WINNOW_HOME": str(tmp_path / "home"), "WINNOW_DATABASE_URL": postgres_url})
    )
    yield opened
    opened.close()


def at_once(home: Home, size: tuple[int, int], *, in_processes: bool, every: int = 4, **settings: object) -> None:
    project, people = crowd.crowd_project(home, *size, **settings)
    work = crowd.work_in_processes if in_processes else crowd.work_together
    presses = work(home, project, people)
    assert {press.person for press in presses} == set(people)
    crowd.check_answers(home, project, presses, people)
    if settings.get("fold") != "dawid-skene":  # there it also tells how far other answers are to be believed
        crowd.check_nobody_was_told(home, project, presses, every)


@pytest.mark.parametrize("settings", [{}, {"fold": "dawid-skene"}, {"model": "plsvc", "fold": "intersection"}])
def test_few_people_answer_in_one_process(home: Home, settings: dict[str, object]) -> None:
    at_once(home, FEW, in_processes=False, **settings)


@pytest.mark.postgres
def test_few_people_answer_in_two_processes_on_postgres(postgres_home: Home) -> None:
    at_once(postgres_home, FEW, in_processes=True)


@pytest.mark.proof
@pytest.mark.parametrize("fold", ["majority", "dawid-skene"])
def test_twenty_people_answer_in_one_process(home: Home, fold: str) -> None:
    at_once(home, MANY, in_processes=False, every=25, fold=fold)


@pytest.mark.proof
@pytest.mark.postgres
def test_twenty_people_answer_in_two_processes_on_postgres(postgres_home: Home) -> None:
    at_once(postgres_home, MANY, in_processes=True, every=25)


@pytest.mark.proof
def test_twenty_people_answer_in_two_processes(home: Home) -> None:
    at_once(home, MANY, in_processes=True, every=25)
