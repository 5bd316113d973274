"""What programs are told of a project of one true label."""

from __future__ import annotations

import dataclasses
import json

import numpy as np
import pytest

from tests.workflow.four import four_class_project
from workflow.answering import loop, oracle
from workflow.kinds.one_label.exporting import tell_figures, tell_predictions, tell_question
from workflow.kinds.one_label.showing import YesNo
from workflow.projects import progress
from workflow.seat import Seat
from workflow.server.home import Home


@pytest.fixture
def there(home: Home, owner: int) -> Seat:
    return Seat(home, owner, four_class_project(home, owner))


def test_a_question_has_its_choices_in_the_order_of_the_screen(there: Seat) -> None:
    shown = loop.next_question(there)
    told = tell_question(shown)
    assert json.loads(json.dumps(told, allow_nan=False)) == told
    assert [one["label"] for one in told["choices"]] == [one.label for one in shown.candidates]
    assert sum(one["share"] for one in told["choices"]) == pytest.approx(1)
    assert (told["token"], told["shown"], told["label"], told["is_it"]) == (
        shown.token,
        shown.shown,
        None,
        None,
    )
    assert told["answers"] == ["is", "among", "not", "none", "unsure", "bad", "skip"]
    asked = dataclasses.replace(shown, yes_no=YesNo("bee", ("bee",), "", 0.2))
    assert tell_question(asked)["is_it"] == ["bee"]


def test_figures_are_by_test_rows_where_there_are_any(there: Seat) -> None:
    oracle.answer_for_me(there, 5)
    view = progress.read_progress(there)
    told = tell_figures(view)
    assert json.loads(json.dumps(told, allow_nan=False)) == told
    assert view.n_test
    assert told["measure"] == {
        "name": "accuracy",
        "by": "test rows",
        "value": view.accuracy,
        "low": view.interval[0],
        "high": view.interval[1],
    }
    assert told["labels"][0].keys() == {"label", "answered", "given"}
    blind = tell_figures(dataclasses.replace(view, n_test=0))
    assert blind["measure"] is None
    assert [one["value"] for one in blind["curve"]] == [None] * len(view.curve.answers)


def test_predictions_lie_inside_the_candidates(there: Seat) -> None:
    oracle.answer_for_me(there, 5)
    with there.learner() as opened:
        learner = opened.learner
        told = tell_predictions(opened, range(learner.table.n_rows))
        assert json.loads(json.dumps(told, allow_nan=False)) == told
        found, left = learner.disambiguate(), learner.candidates
        for row, one in enumerate(told):
            label = int(found.labels[row])
            assert one["label"] == (None if label < 0 else learner.classes[label])
            assert (one["row"], one["row_id"], one["source"]) == (
                row,
                learner.table.id_of(row),
                found.sources[row],
            )
            inside = {learner.classes[place] for place in np.flatnonzero(left[row])}
            assert {share["label"] for share in one["shares"]} <= inside
            if not learner.test_rows[row]:
                assert sum(share["share"] for share in one["shares"]) == pytest.approx(1)
        assert tell_predictions(opened, [7, 3])[0] == told[7]
        assert tell_predictions(opened, []) == []
