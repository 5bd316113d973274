"""Projects: made whole or not at all."""

from __future__ import annotations

from pathlib import Path

import pytest

from plcore import LabelTable, LearnerSettings, Roles
from tests.workflow.world import ROLES, annotator, answer_next, small_frame, small_project
from workflow import importing
from workflow.access import NotAllowed
from workflow.answering import loop, undoing
from workflow.demos import digits
from workflow.projects import managing, progress
from workflow.seat import Seat
from workflow.server.home import Home


def stored_tables(home: Home) -> list[Path]:
    return sorted(home.tables_dir.iterdir())


def test_a_project_has_an_immutable_table_named_by_its_content(home: Home, owner: int) -> None:
    small_project(home, owner, "one")
    small_project(home, owner, "two")
    tables = stored_tables(home)
    assert len(tables) == 1, "the same table is stored once"
    assert len(tables[0].stem) == 64
    back = LabelTable.read(tables[0])
    assert back.cells.equals(LabelTable.from_frame(small_frame(), ROLES).cells)


@pytest.mark.parametrize("name", ["", "   ", "x" * 81])
def test_a_bad_name_leaves_nothing_behind(home: Home, owner: int, name: str) -> None:
    with pytest.raises(managing.ProjectNameError):
        small_project(home, owner, name)
    assert managing.list_projects(Seat(home, owner)) == []
    assert stored_tables(home) == []


def test_a_name_is_used_once(home: Home, owner: int) -> None:
    small_project(home, owner)
    with pytest.raises(managing.ProjectNameError, match="exists already"):
        small_project(home, owner)
    assert len(managing.list_projects(Seat(home, owner))) == 1


def test_an_annotator_cannot_make_a_project(home: Home, owner: int) -> None:
    ada = annotator(home, owner, "Ada")
    with pytest.raises(NotAllowed):
        small_project(home, ada)
    assert stored_tables(home) == []


def test_the_counts_follow_the_log(home: Home, owner: int) -> None:
    project = small_project(home, owner)
    fresh = managing.get_project(Seat(home, owner, project))
    assert (fresh.n_rows, fresh.n_classes, fresh.answered, fresh.last_answer) == (60, 3, 0, None)
    answer_next(home, owner, project)
    answer_next(home, owner, project)
    undoing.undo(Seat(home, owner, project))
    after = managing.get_project(Seat(home, owner, project))
    assert (after.answered, after.left) == (1, fresh.n_to_ask - 1)
    assert after.last_answer is not None


def test_the_demo_is_made_once_and_starts_low_enough_to_learn(home: Home, owner: int) -> None:
    made = digits.ensure_demo(home)
    assert made is not None
    assert digits.ensure_demo(home) is None
    view = progress.read_progress(Seat(home, owner, made))
    assert view.n_test == 599
    assert view.accuracy is not None
    assert 0.3 < view.accuracy < 0.7
    question = loop.next_question(Seat(home, owner, made))
    assert question is not None
    assert question.view.image is not None
    assert question.view.image.startswith("data:image/png;base64,")


def test_the_curve_has_a_point_per_answer_with_an_interval(home: Home, owner: int) -> None:
    project = small_project(home, owner)
    for _ in range(4):
        answer_next(home, owner, project)
    view = progress.read_progress(Seat(home, owner, project))
    assert view.curve.answers.tolist() == [0, 1, 2, 3, 4]
    assert view.curve.model_version.tolist() == [0, 1, 2, 3, 4]
    assert (view.curve.low <= view.curve.accuracy).all()
    assert (view.curve.accuracy <= view.curve.high).all()
    assert view.interval is not None
    assert view.seconds_per_answer is not None
    assert progress.watched(Seat(home, owner, project))[0] == 4


def test_without_truth_there_is_no_accuracy(home: Home, owner: int) -> None:
    table = LabelTable.from_frame(
        small_frame().drop(columns="truth"), Roles(candidates="candidates", id="id", numbers=("x", "y"))
    )
    project = managing.create_project(Seat(home, owner), "no truth", table, LearnerSettings(n_neighbors=4))
    answer_next(home, owner, project)
    view = progress.read_progress(Seat(home, owner, project))
    assert (view.accuracy, view.interval, view.n_test) == (None, None, 0)


BAD = {
    "empty": b"",
    "header only": b"id,candidates,x\n",
    "row without candidate": b"id,candidates,x\na,p|q,1\nb,,2\n",
    "damaged UTF-8": "id,candidates,x\na,p|qéüöñ,1\nb,pó|".encode() + b"\xc3,1\n",
    "ragged": b"id,candidates,x\na,p|q,1\nb,p\n",
    "text in numbers": b"id,candidates,x\na,p|q,1\nb,p|q,2\nc,p,oops\n",
    "duplicate ids": b"id,candidates,x\na,p|q,1\na,p,2\n",
    "truth outside": b"id,candidates,truth,x\na,p|q,p,1\nb,p|q,r,2\n",
    "no candidates column": b"id,x\na,1.5\nb,2.5\n",
}


@pytest.mark.parametrize("case", BAD)
def test_bad_files_give_row_column_and_fix_and_leave_no_project(home: Home, owner: int, case: str) -> None:
    problems: tuple[importing.Problem, ...]
    try:
        upload = importing.read_upload(BAD[case])
    except importing.TableError as error:
        problems = error.problems
    else:
        checked = importing.check(upload, upload.suggest_roles())
        assert checked.table is None
        problems = checked.problems
    assert problems
    assert all(problem.fix and problem.message for problem in problems)
    place = {
        "row without candidate": (2, "candidates"),
        "ragged": (2, "x"),
        "text in numbers": (3, "x"),
        "duplicate ids": (2, "id"),
        "truth outside": (2, "truth"),
    }
    if case in place:
        assert (problems[0].row, problems[0].column) == place[case]
    assert managing.list_projects(Seat(home, owner)) == []
