"""Many people at one project at once: rows get their answers, no one is asked twice or sees another's answer."""

from __future__ import annotations

from collections.abc import Callable, Sequence

import pytest

from tests.databases import on_both
from tests.workflow import crowd
from workflow.server.home import Home

FEW, MANY = (4, 16), (20, 500)
"""People and rows."""


Work = Callable[[Home, int, Sequence[int]], list[crowd.Press]]


def at_once(home: Home, size: tuple[int, int], work: Work, every: int = 4, **settings: object) -> None:
    project, people = crowd.crowd_project(home, *size, **settings)
    presses = work(home, project, people)
    assert {press.person for press in presses} == set(people)
    crowd.check_answers(home, project, presses, people)
    if settings.get("fold") != "dawid-skene":  # there it also shows how reliable other answers are
        crowd.check_nobody_was_told(home, project, presses, every)


@pytest.mark.proof
@pytest.mark.parametrize("settings", [{"fold": "dawid-skene"}, {"model": "plsvc", "fold": "intersection"}])
def test_few_people_answer_in_one_process(home: Home, settings: dict[str, object]) -> None:
    at_once(home, FEW, crowd.work_together, **settings)


@on_both
def test_few_people_answer_in_two_homes(home: Home) -> None:
    at_once(home, FEW, crowd.work_in_homes)


@pytest.mark.proof
@pytest.mark.parametrize("fold", ["majority", "dawid-skene"])
def test_twenty_people_answer_in_one_process(home: Home, fold: str) -> None:
    at_once(home, MANY, crowd.work_together, every=25, fold=fold)


@pytest.mark.proof
@on_both
def test_twenty_people_answer_in_two_processes(home: Home) -> None:
    at_once(home, MANY, crowd.work_in_processes, every=25)
