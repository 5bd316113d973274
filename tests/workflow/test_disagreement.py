"""Several annotators a row: no export, figure or prediction takes a disagreement for a certain label."""

from __future__ import annotations

import io

import pandas as pd
import pytest

from plcore import LearnerSettings
from tests.workflow.world import small_project, small_table, somebody
from workflow.access import Role
from workflow.answering import loop
from workflow.exporting import files, for_programs
from workflow.importing import doubts_about, settings_for
from workflow.people import members
from workflow.projects import managing
from workflow.seat import Seat
from workflow.server.home import Home


@pytest.fixture
def people(home: Home, owner: int) -> list[int]:
    return [somebody(home, owner, name) for name in ("Ada", "Ben")]


def exported(seat: Seat, **choice: object) -> pd.DataFrame:
    file = io.BytesIO()
    files.take(seat, files.ExportChoice(**choice)).write(file, lambda _: None)  # type: ignore[arg-type]
    return pd.read_csv(io.BytesIO(file.getvalue()), dtype=str, keep_default_na=False)


def disagreeing(home: Home, owner: int, people: list[int], fold: str) -> tuple[Seat, int, int]:
    """A project in which Ada and Ben differ on a row, and another waits for Ben: its owner's seat, and both rows."""
    project = small_project(home, owner, overlap=2, fold=fold, test_share=0.0)
    members.give_role(Seat(home, owner, project), people, Role.ANNOTATOR)
    ada, ben = (Seat(home, one, project) for one in people)
    first = loop.next_question(ada)
    assert first is not None
    loop.submit_answer(ada, first.token, "is", [first.choices[0]])
    again = loop.ask_next(ben, first.view.row)
    loop.submit_answer(ben, again.token, "is", [again.choices[-1]])
    second = loop.next_question(ada)
    assert second is not None
    loop.submit_answer(ada, second.token, "is", [second.choices[0]])
    return Seat(home, owner, project), first.view.row, second.view.row


@pytest.mark.parametrize("fold", ["majority", "latest"])
def test_export_marks_disputed_and_pending_rows(home: Home, owner: int, people: list[int], fold: str) -> None:
    seat, apart, waiting = disagreeing(home, owner, people, fold)
    table = exported(seat)
    assert table.winnow_source[[apart, waiting]].tolist() == ["disputed", "pending"]
    assert table.winnow_label[apart] == table.winnow_confidence[apart] == ""
    assert 0 < float(table.winnow_confidence[waiting]) < 1
    ids = table.id[[apart, waiting]]
    for rows in ("sure", "answered"):
        assert not set(exported(seat, rows=rows, above=0.0 if rows == "sure" else 0.9).id) & set(ids)
    asked = exported(seat, label_disputed=True)
    assert asked.winnow_label[apart] in asked.winnow_candidates_before[apart].split("|")
    assert asked.winnow_source[apart] == "disputed"
    assert 0 < float(asked.winnow_confidence[apart]) < 1


def test_figures_and_predictions_count_disputed_and_pending_rows(
    home: Home, owner: int, people: list[int]
) -> None:
    seat, apart, waiting = disagreeing(home, owner, people, "latest")
    figures = for_programs.figures_of(seat)
    assert (figures["disputed"], figures["pending"]) == (1, 1)
    assert sum(one["answered"] for one in figures["labels"]) == 0
    told = for_programs.predictions_of(seat, apart, 1).items[0]
    assert (told["source"], told["label"], told["probability"]) == ("disputed", None, None)
    assert for_programs.predictions_of(seat, waiting, 1).items[0]["source"] == "pending"
    assert {"disputed", "pending"} <= set(files.export_view(seat, 5).sources)


def test_two_annotators_a_row_are_combined_by_majority(home: Home, owner: int) -> None:
    seat = Seat(home, owner, small_project(home, owner))
    managing.change_learner(seat, overlap=2)
    assert managing.learner_settings(seat)["fold"] == "majority"
    managing.change_learner(seat, fold="dawid-skene")
    managing.change_learner(seat, overlap=3)
    assert managing.learner_settings(seat)["fold"] == "dawid-skene"
    assert settings_for(small_table(), {"overlap": 2}).fold == "majority"


def test_latest_of_several_is_asked_about(home: Home, owner: int) -> None:
    seat = Seat(home, owner, small_project(home, owner))
    with pytest.raises(managing.LatestOfSeveral, match="one slip undoes"):
        managing.change_learner(seat, overlap=2, fold="latest")
    assert managing.learner_settings(seat)["overlap"] == 1
    managing.change_learner(seat, overlap=2, fold="latest", keep_latest=True)
    assert managing.learner_settings(seat)["fold"] == "latest"
    managing.change_learner(seat, n_neighbors=5)  # asked once
    chosen = settings_for(small_table(), {"overlap": 2, "fold": "latest"})
    assert "latest-answer" in [one.name for one in doubts_about(small_table(), chosen)]
    assert "latest-answer" not in [one.name for one in doubts_about(small_table(), LearnerSettings())]
