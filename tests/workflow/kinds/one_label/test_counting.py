"""How far a project of candidates is: Home, Annotate and Progress tell the same numbers, whatever was done."""

from __future__ import annotations

import gc
import weakref
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

from plcore.loop.one_label import OneLabelPool
from tests.workflow.world import answer_next, counts_agreed, small_project
from workflow.access import NotAllowed
from workflow.answering import loop, undoing
from workflow.kinds.one_label import progress
from workflow.projects import classes, managing
from workflow.projects.classes import ClassError
from workflow.rows import reviewing
from workflow.seat import Seat
from workflow.server.home import Home


def correct(home: Home, owner: int, project: int, row: int, kind: str, labels: list[str]) -> None:
    opened = reviewing.open_row(Seat(home, owner, project), row)
    reviewing.correct(Seat(home, owner, project), row, opened.token, kind, labels)


def test_a_row_that_a_correction_opens_again_is_not_answered(home: Home, owner: int, project: int) -> None:
    question = loop.next_question(Seat(home, owner, project))
    assert question is not None
    row, two = question.view.row, list(question.choices[:2])
    _, left = counts_agreed(home, owner, project)
    loop.submit_answer(Seat(home, owner, project), question.token, "is", two[:1])
    assert counts_agreed(home, owner, project) == (1, left - 1)
    correct(home, owner, project, row, "among", two)
    assert counts_agreed(home, owner, project) == (0, left)
    undoing.undo(Seat(home, owner, project))
    assert counts_agreed(home, owner, project) == (1, left - 1)


@pytest.mark.parametrize("put_away", [managing.archive_project, managing.bin_project])
def test_of_a_project_put_away_only_the_counts_are_kept(
    home: Home,
    owner: int,
    monkeypatch: pytest.MonkeyPatch,
    put_away: Callable[[Home, int, int], None],
) -> None:
    made: list[weakref.ref[OneLabelPool[Any]]] = []

    class Watched(OneLabelPool[Any]):
        def __init__(self, *parts: Any) -> None:
            super().__init__(*parts)
            made.append(weakref.ref(self))

    monkeypatch.setattr(progress, "OneLabelPool", Watched)

    def kept() -> int:
        gc.collect()
        return sum(one() is not None for one in made)

    used, gone = (small_project(home, owner, name) for name in ("used", "gone"))
    for project in (used, gone):
        view = classes.classes_view(Seat(home, owner, project))
        classes.change_classes(Seat(home, owner, project), view.version, "add", ["dog"])
        answer_next(home, owner, project)
    before = {one.id: one.answered for one in managing.list_projects(Seat(home, owner))}
    assert before == {used: 1, gone: 1}
    assert kept() == 2
    put_away(Seat(home, owner, gone))
    managing.list_projects(Seat(home, owner))
    assert kept() == 1
    for _ in range(3):
        away = managing.put_away(Seat(home, owner))
        assert [one.answered for one in (*away.archived, *away.binned)] == [1]
        assert kept() == 1
    folded = len(made)
    managing.put_away(Seat(home, owner))
    assert len(made) == folded, "the counts of a log that does not grow are not made again"
    managing.restore_project(Seat(home, owner, gone))
    answer_next(home, owner, gone)
    assert managing.get_project(Seat(home, owner, gone)).answered == 2


@pytest.mark.parametrize("seed", [0, 2])
@pytest.mark.parametrize("changing", [False, True])
def test_every_page_counts_the_same(home: Home, owner: int, seed: int, changing: bool) -> None:
    """Answers of every kind, corrections, undo and redo; and, where changing, classes added, merged, taken back."""
    project = small_project(home, owner, control_share=0.2)
    random = np.random.default_rng(seed)
    rows: list[int] = []
    told: list[int] = []
    for step in range(30):
        if changing and random.random() < 0.25:
            view = classes.classes_view(Seat(home, owner, project))
            names = [one.name for one in view.classes]
            try:
                if len(names) < 3 or random.random() < 0.4:
                    classes.change_classes(Seat(home, owner, project), view.version, "add", [f"new{step}"])
                elif random.random() < 0.5 and view.latest:
                    classes.take_back(Seat(home, owner, project), view.version)
                else:
                    classes.change_classes(Seat(home, owner, project), view.version, "merge", names[:2])
            except ClassError:
                continue  # an answer names the class that would go
        luck, question = random.random(), loop.next_question(Seat(home, owner, project))
        if luck < 0.2:
            undoing.undo(Seat(home, owner, project))
        elif luck < 0.25:
            undoing.redo(Seat(home, owner, project))
        elif luck < 0.4 and rows:
            row = int(random.choice(rows))
            labels = reviewing.open_row(Seat(home, owner, project), row).classes[:2]
            try:
                correct(home, owner, project, row, "among", list(labels))
            except (loop.AnswerError, NotAllowed):
                continue  # not among what the row may be; it was but skipped
        elif question is not None:
            kind = str(random.choice(["is", "among", "not", "bad", "skip", "unsure"]))
            labels = {"is": question.choices[:1], "not": question.choices[:1], "among": question.choices[:2]}
            loop.submit_answer(
                Seat(home, owner, project),
                question.token,
                kind,
                list(labels.get(kind, ())),
                shown=question.shown,
            )
            rows.append(question.view.row)
        told.append(counts_agreed(home, owner, project)[0])
    assert max(told) > 0
