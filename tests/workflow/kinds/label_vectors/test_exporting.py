"""Export of label vectors: answered cells are exact, unanswered ones never 0, and a new import is the same."""

from __future__ import annotations

import io

import numpy as np
import pandas as pd
import pytest

from plcore import LabelTable, read_cells, suggest_roles
from plcore.loop.label_vectors.settings import LabelVectorSettings
from tests.conftest import DATA
from tests.present import present
from tests.workflow.log.written import read_log
from tests.workflow.vector_world import LABELS, ROLES, answer_truly, true_labels, vector_frame, vector_project
from tests.workflow.world import exported, exported_cells, file_of, opened
from workflow.answering import loop
from workflow.exporting import files
from workflow.projects import managing, progress
from workflow.seat import Seat
from workflow.server.home import Home, open_home

VALUE = {"1": 1, "0": 0, "": -1}


def values(frame: pd.DataFrame, labels: tuple[str, ...] = LABELS) -> list[list[int]]:
    return [[VALUE[cell] for cell in row] for row in frame[list(labels)].to_numpy()]


@pytest.fixture
def answered(home: Home, owner: int) -> int:
    """A project with some answered cells, a bad row and a skipped one."""
    project = vector_project(home, owner, question="cell", control_share=0.1)
    for number in range(14):
        question = present(loop.next_question(Seat(home, owner, project)))
        if number in (3, 7):
            kind = "bad" if number == 3 else "skip"
            loop.submit_answer(Seat(home, owner, project), question.token, kind)
        else:
            answer_truly(home, owner, project, question)
    home.shelf.settle(project)
    return project


def test_wide_export_contains_every_cell(home: Home, owner: int, answered: int) -> None:
    frame = exported(home, owner, answered)
    with opened(home, owner, answered) as learner:
        cells, bad, said = learner.cells, learner.pool.bad.copy(), learner.pool.answered.copy()
        cells[bad] = -1
    original = vector_frame()
    assert list(frame.columns[: len(original.columns)]) == list(original.columns)
    for name in ("id", *ROLES.numbers):
        assert frame[name].tolist() == original[name].tolist(), "the text of other columns is exact"
    assert values(frame) == cells.tolist()
    for column, label in enumerate(LABELS):
        probability, source = frame[f"winnow_probability:{label}"], frame[f"winnow_source:{label}"]
        for row in range(len(frame)):
            share = probability[row]
            if bad[row]:
                assert (share, source[row]) == ("", "bad")
            elif cells[row, column] < 0:
                assert source[row] == "model"
                assert 0 < float(share) < 1
            else:
                assert float(share) == cells[row, column]
                assert source[row] == "person" if said[row, column] else source[row] in ("given", "truth")
                assert cells[row, column] == (label in true_labels(row))
    assert sum(files.export_view(Seat(home, owner, answered), 1).sources[files.ALL].values()) == cells.size


def test_long_export_matches_wide_export(home: Home, owner: int, answered: int) -> None:
    wide, long = (f(home, owner, answered) for f in (exported, exported_cells))
    assert long["value"].tolist() == wide[list(LABELS)].to_numpy().ravel().tolist()
    assert long["id"].tolist() == np.repeat(wide["id"].to_numpy(), len(LABELS)).tolist()
    assert long["label"].tolist() == list(LABELS) * len(wide)
    back = pd.read_csv(io.BytesIO(file_of(Seat(home, owner, answered), "cells")), dtype=str)
    assert back.fillna("").to_numpy().tolist() == long.to_numpy().tolist()


def test_export_and_import_round_trip(home: Home, owner: int, answered: int) -> None:
    data = file_of(Seat(home, owner, answered))
    roles = suggest_roles(read_cells(data))
    assert (roles.label_vectors, roles.label_columns, roles.numbers) == (True, LABELS, ROLES.numbers)
    table = LabelTable.read_csv(data, roles)
    again = managing.create_project(Seat(home, owner), "again", table, LabelVectorSettings())
    first, second = (exported(home, owner, project) for project in (answered, again))
    assert values(first) == values(second)


def test_list_labels_are_exported_as_columns(home: Home, owner: int) -> None:
    cells = pd.DataFrame(
        {
            "w": ["1", "2", "5", "7"],
            "labels": ["sea|sand", "sand", "", "sea"],
            "not labels": ["rock", "", "sea", "sand|rock"],
        },
        dtype="str",
    )
    roles = suggest_roles(cells)
    assert (roles.candidates, roles.not_labels, roles.label_vectors) == ("labels", "not labels", True)
    project = managing.create_project(Seat(home, owner), "lists", LabelTable.from_cells(cells, roles))
    frame = exported(home, owner, project)
    assert frame["labels"].tolist() == cells["labels"].tolist()
    assert values(frame, ("rock", "sand", "sea")) == [[0, 1, 1], [-1, 1, -1], [-1, -1, 0], [0, 0, 1]]


def test_exported_log_is_read_back(home: Home, owner: int, answered: int) -> None:
    lines = read_log(file_of(Seat(home, owner, answered), "log"))
    kinds = [line.entry.kind for line in lines]
    assert {"yes", "no"} & set(kinds)
    assert {"bad", "skip"} <= set(kinds)
    for line in lines:
        entry = line.entry
        assert entry.label in LABELS
        if entry.kind in ("yes", "no"):
            assert (entry.before, entry.after) == (("",), ("1" if entry.kind == "yes" else "0",))


def test_progress_matches_log_and_cells(home: Home, owner: int, answered: int) -> None:
    view = progress.read_progress(Seat(home, owner, answered))
    log = [line.entry for line in read_log(file_of(Seat(home, owner, answered), "log"))]
    for kind, count in view.by_kind.items():
        assert count == sum(entry.kind == kind for entry in log)
    assert view.answered_cells == view.by_kind["yes"] + view.by_kind["no"]
    assert view.held_out is not None
    assert [t for t, _ in view.held_out.precision] == [1, 3, 5]
    assert view.n_test == 4
    assert view.n_control > 0
    curve = view.curve
    assert curve.answers.tolist() == sorted(curve.answers.tolist())
    assert len(curve.answers) >= 2
    now = view.held_out.micro_f1
    ends = curve.micro_f1
    assert (ends.value[-1], ends.low[-1], ends.high[-1]) == (now.value, now.low, now.high)
    assert view.entropy is not None
    assert view.entropy > 0
    assert progress.watched(Seat(home, owner, answered)) == (14, int(curve.model_version[-1]), None)
    with opened(home, owner, answered) as learner:
        assert view.unasked == int(learner.pool.open.sum())


def test_page_sees_first_fit_after_restart(home: Home, owner: int, answered: int) -> None:
    before = progress.watched(Seat(home, owner, answered))
    again = open_home(home.settings)
    try:
        waiting = progress.watched(Seat(again, owner, answered))
        assert waiting == (14, -1, None)
        again.shelf.settle(answered)
        assert progress.watched(Seat(again, owner, answered)) == before
    finally:
        again.close()


@pytest.mark.public_data
def test_emotions_are_answered_and_exported(home: Home, owner: int) -> None:
    """As in the browser: 60% of the cells emptied, 40 yes or no answers, 5 whole rows, and back."""
    data = np.load(DATA / "emotions.npz")
    labels = tuple(map(str, data["label_names"]))
    truth = data["Y"].astype(int)
    random = np.random.default_rng(0)
    holes = random.random(truth.shape) < 0.6
    holes[::5] = False
    frame = pd.DataFrame(data["X"].round(5).astype(str), columns=list(map(str, data["feature_names"])))
    cells = pd.concat([pd.DataFrame(truth, columns=list(labels)).astype(str).where(~holes, ""), frame], axis=1)
    roles = suggest_roles(cells.astype("str"))
    assert (roles.label_columns, roles.label_vectors, len(roles.numbers)) == (labels, True, 72)
    table = LabelTable.from_cells(cells.astype("str"), roles)
    project = managing.create_project(Seat(home, owner), "emotions", table, LabelVectorSettings())
    said: dict[tuple[int, str], int] = {}
    for number in range(45):
        if number == 40:
            managing.change_learner(Seat(home, owner, project), question="instance")
        question = present(loop.next_question(Seat(home, owner, project)))
        row = question.view.row
        right = [label for label, value in zip(labels, truth[row], strict=True) if value]
        if question.label is None:
            said |= {(row, label): int(label in right) for label in labels}
            loop.submit_answer(Seat(home, owner, project), question.token, "labels", right, shown=question.shown)
        else:
            said[row, question.label] = int(question.label in right)
            kind = "yes" if question.label in right else "no"
            loop.submit_answer(Seat(home, owner, project), question.token, kind)
    home.shelf.settle(project)
    assert len({row for row, _ in said}) > 20
    view = progress.read_progress(Seat(home, owner, project))
    assert view.held_out is not None
    assert view.held_out.precision[0][1].value > truth.mean(), "the likeliest label is right more often than any label"
    back = values(exported(home, owner, project), labels)
    for row in range(len(truth)):
        for column, label in enumerate(labels):
            value = truth[row, column] if not holes[row, column] else said.get((row, label), -1)
            assert back[row][column] == value
