"""Each kind of answer, undo and redo: through the log, the export and back in, the candidates are the same."""

from __future__ import annotations

import numpy as np

from plcore import ActiveLearner, LabelTable, Roles, read_cells
from tests.workflow.four import ask, four_class_project
from tests.workflow.world import file_of, opened
from workflow.answering import loop, undoing
from workflow.log.columns import read_log
from workflow.log.reading import learner_entry
from workflow.seat import Seat
from workflow.server.home import Home


def test_every_kind_of_answer_goes_through_log_export_and_import(home: Home, owner: int) -> None:
    project = four_class_project(home, owner)
    told: dict[str, int] = {}

    def say(kind: str, *labels: str) -> int:
        question = ask(home, owner, project)
        saved = loop.submit_answer(Seat(home, owner, project), question.token, kind, labels)
        told[" ".join((kind, *labels))] = question.view.row
        return saved.seq

    say("is", "bee")
    say("among", "ant", "cat")
    say("none")
    say("none", "dog")
    say("bad")
    say("unsure")
    say("skip")
    taken_back, given_again = say("is", "ant"), say("is", "cat")
    undoing.undo(Seat(home, owner, project), given_again)
    undoing.redo(Seat(home, owner, project), given_again)
    undoing.undo(Seat(home, owner, project), taken_back)
    question = ask(home, owner, project)
    loop.submit_answer(Seat(home, owner, project), question.token, "not", ["bee"], shown=question.shown)
    assert question.view.row == told["is ant"], "undo puts the row before the person again"
    wanted = {
        "is bee": "bee",
        "among ant cat": "ant cat",
        "none": "dog",
        "none dog": "dog",
        "bad": "",
        "unsure": "ant bee cat",
        "skip": "ant bee cat",
        "is ant": "ant cat",  # taken back, and then "not bee"
        "is cat": "cat",
    }
    with opened(home, owner, project) as learner:
        standing, original, settings = learner.candidates, learner.table, learner.settings
        classes = np.array(learner.classes)
        assert {said: " ".join(classes[standing[row]]) for said, row in told.items()} == wanted
    # The log alone, read back, tells a new learner the same.
    again = ActiveLearner(original, settings)
    for line in read_log(file_of(Seat(home, owner, project), "log"), project):
        again.apply(learner_entry(line.entry))
    assert np.array_equal(again.candidates, standing)
    # The table too, without the row that is out, which has no candidates to import.
    cells = read_cells(file_of(Seat(home, owner, project)))
    out = (cells.winnow_source == "bad").to_numpy()
    assert np.flatnonzero(out).tolist() == [told["bad"]]
    assert cells.winnow_candidates.iloc[told["bad"]] == cells.winnow_label.iloc[told["bad"]] == ""
    now = LabelTable.from_cells(
        cells[~out].reset_index(drop=True),
        Roles(candidates="winnow_candidates", id="id", numbers=("x", "y")),
    )
    assert np.array_equal(
        now.candidates, standing[~out][:, [list(classes).index(name) for name in now.classes]]
    )
