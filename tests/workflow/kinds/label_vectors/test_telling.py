"""What programs are told of a project of label vectors."""

from __future__ import annotations

import dataclasses
import json

import pytest

from plcore.loop.label_vectors import export
from tests.workflow.vector_world import answer_truly, vector_project
from workflow.answering import loop
from workflow.kinds.label_vectors.exporting import tell_figures, tell_predictions, tell_question
from workflow.projects import progress
from workflow.seat import Seat
from workflow.server.home import Home

SAID = {1: True, 0: False, -1: None}


@pytest.fixture
def there(home: Home, owner: int) -> Seat:
    return Seat(home, owner, vector_project(home, owner))


def test_a_question_tells_which_labels_are_known(there: Seat) -> None:
    shown = loop.next_question(there)
    told = tell_question(shown)
    assert json.loads(json.dumps(told, allow_nan=False)) == told
    assert [(one["label"], one["known"]) for one in told["choices"]] == [
        (line.label, SAID[line.cell]) for line in shown.lines
    ]
    assert (told["token"], told["shown"], told["label"]) == (shown.token, shown.shown, shown.label)


@pytest.mark.parametrize(("question", "fit"), [("instance", ["labels"]), ("cell", ["yes", "no"])])
def test_a_question_takes_the_answers_that_fit_it(
    home: Home, owner: int, question: str, fit: list[str]
) -> None:
    seat = Seat(home, owner, vector_project(home, owner, question=question))
    assert tell_question(loop.next_question(seat))["answers"] == [*fit, "unsure", "bad", "skip"]


def test_figures_have_f1(there: Seat) -> None:
    for _ in range(3):
        answer_truly(there.home, there.person_id, there.project_id or 0)
    there.settle()
    view = progress.read_progress(there)
    told = tell_figures(view)
    assert json.loads(json.dumps(told, allow_nan=False)) == told
    assert (told["measure"]["name"], told["measure"]["by"]) == ("F1", "test rows")
    assert told["measure"]["value"] == view.held_out.micro_f1.value
    blind = tell_figures(dataclasses.replace(view, n_test=0))
    assert [one["value"] for one in blind["curve"]] == [
        None if value != value else value for value in view.curve.control.value
    ]


def test_predictions_say_of_each_label_what_is_known_or_believed(there: Seat) -> None:
    answer_truly(there.home, there.person_id, there.project_id or 0)
    there.settle()
    with there.learner() as opened:
        found = opened.learner.export_cells()
        told = tell_predictions(opened, range(opened.learner.table.n_rows))
        assert json.loads(json.dumps(told, allow_nan=False)) == told
        for row, one in enumerate(told):
            assert (one["row"], one["row_id"]) == (row, found.ids[row])
            for column, share in enumerate(one["shares"]):
                cell = found.cells[row, column]
                assert share["label"] == found.labels[column]
                assert share["value"] == SAID[int(cell if cell >= 0 else found.predicted[row, column])]
        assert tell_predictions(opened, [5, 2])[1] == told[2]


def test_a_page_of_predictions_costs_no_more_than_its_rows(
    there: Seat, monkeypatch: pytest.MonkeyPatch
) -> None:
    there.settle()
    made: list[int] = []
    real = export.LabelVectorExport
    monkeypatch.setattr(
        export, "LabelVectorExport", lambda *parts: made.append(len(parts[0])) or real(*parts)
    )
    with there.learner() as opened:
        tell_predictions(opened, range(3))
    assert made == [3]
