"""How far a project of candidates is: Home, Annotate and Progress tell the same numbers, whatever was done."""

from __future__ import annotations

import gc
import weakref
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

from plcore.loop.base import Pool
from tests.workflow.world import answer_next, counts_agreed, small_project
from workflow import classes, correcting, counting, labeling, projects, review
from workflow.access import NotAllowed
from workflow.classes import ClassError
from workflow.home import Home


def correct(home: Home, owner: int, project: int, row: int, kind: str, labels: list[str]) -> None:
    opened = review.open_row(home, owner, project, row)
    correcting.correct(home, owner, project, row, opened.token, kind, labels)


def test_a_row_that_a_correction_opens_again_is_not_answered(home: Home, owner: int, project: int) -> None:
    question = labeling.next_question(home, owner, project)
    assert question is not None
    row, two = question.view.row, list(question.choices[:2])
    _, left = counts_agreed(home, owner, project)
    labeling.submit_answer(home, owner, project, question.token, "is", two[:1])
    assert counts_agreed(home, owner, project) == (1, left - 1)
    correct(home, owner, project, row, "among", two)
    assert counts_agreed(home, owner, project) == (0, left)
    labeling.undo(home, owner, project)
    assert counts_agreed(home, owner, project) == (1, left - 1)


@pytest.mark.parametrize("put_away", [projects.archive_project, projects.bin_project])
def test_of_a_project_put_away_only_the_counts_are_kept(
    home: Home,
    owner: int,
    monkeypatch: pytest.MonkeyPatch,
    put_away: Callable[[Home, int, int], None],
) -> None:
    made: list[weakref.ref[Pool[Any]]] = []

    class Watched(Pool[Any]):
        def __init__(self, *parts: Any) -> None:
            super().__init__(*parts)
            made.append(weakref.ref(self))

    monkeypatch.setattr(counting, "Pool", Watched)

    def kept() -> int:
        gc.collect()
        return sum(one() is not None for one in made)

    used, gone = (small_project(home, owner, name) for name in ("used", "gone"))
    for project in (used, gone):
        view = classes.classes_view(home, owner, project)
        classes.change_classes(home, owner, project, view.version, "add", ["dog"])
        answer_next(home, owner, project)
    before = {one.id: one.answered for one in projects.list_projects(home, owner)}
    assert before == {used: 1, gone: 1}
    assert kept() == 2
    put_away(home, owner, gone)
    projects.list_projects(home, owner)
    assert kept() == 1
    for _ in range(3):
        away = projects.put_away(home, owner)
        assert [one.answered for one in (*away.archived, *away.binned)] == [1]
        assert kept() == 1
    folded = len(made)
    projects.put_away(home, owner)
    assert len(made) == folded, "the counts of a log that does not grow are not made again"
    projects.restore_project(home, owner, gone)
    answer_next(home, owner, gone)
    assert projects.get_project(home, owner, gone).answered == 2


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
            view = classes.classes_view(home, owner, project)
            names = [one.name for one in view.classes]
            try:
                if len(names) < 3 or random.random() < 0.4:
                    classes.change_classes(home, owner, project, view.version, "add", [f"new{step}"])
                elif random.random() < 0.5 and view.latest:
                    classes.take_back(home, owner, project, view.version)
                else:
                    classes.change_classes(home, owner, project, view.version, "merge", names[:2])
            except ClassError:
                continue  # an answer names the class that would go
        luck, question = random.random(), labeling.next_question(home, owner, project)
        if luck < 0.2:
            labeling.undo(home, owner, project)
        elif luck < 0.25:
            labeling.redo(home, owner, project)
        elif luck < 0.4 and rows:
            row = int(random.choice(rows))
            labels = review.open_row(home, owner, project, row).classes[:2]
            try:
                correct(home, owner, project, row, "among", list(labels))
            except (labeling.AnswerError, NotAllowed):
                continue  # not among what the row may be; it was but skipped
        elif question is not None:
            kind = str(random.choice(["is", "among", "not", "bad", "skip", "unsure"]))
            labels = {"is": question.choices[:1], "not": question.choices[:1], "among": question.choices[:2]}
            labeling.submit_answer(
                home, owner, project, question.token, kind, list(labels.get(kind, ())), shown=question.shown
            )
            rows.append(question.view.row)
        told.append(counts_agreed(home, owner, project)[0])
    assert max(told) > 0
