"""Map: what it is coloured by, who sees whose answers, and the row beside it."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from pages.parts import charts, map_chart
from tests.pages.conftest import Open, words
from tests.workflow.text_world import text_project
from tests.workflow.vector_world import LABELS, vector_project
from tests.workflow.world import annotator, answer_next, small_project
from workflow.answering import loop
from workflow.models.map_worker import MapWorker
from workflow.rows import instance_map as map_layouts
from workflow.rows.instance_map import instance_map
from workflow.seat import Seat
from workflow.server.home import Home


@pytest.fixture
def drawn(monkeypatch: pytest.MonkeyPatch) -> list[dict[str, Any]]:
    """Each map that the page draws: its figure and data; `picked` is what was clicked."""
    found: list[dict[str, Any]] = []

    def show(figure: Any, data: Any, **options: Any) -> list[Any]:
        found.append({"figure": figure, "data": data, "alt": options["alt"]})
        return PICKED

    PICKED.clear()
    monkeypatch.setattr(charts, "show", show)
    return found


PICKED: list[Any] = []


def colour(test: Any) -> Any:
    (box,) = (one for one in test.radio if one.label == "Colour by")
    return box


def test_it_is_coloured_by_label_doubt_person_and_state(
    home: Home, owner: int, show: Open, drawn: list[dict[str, Any]]
) -> None:
    project = small_project(home, owner)
    ada = annotator(home, owner, "Ada")
    saved = answer_next(home, ada, project)
    test = show(owner, "map_page.py", project=str(project))
    assert colour(test).options == ["Label", "Doubt", "Person", "State"]
    assert {trace.name.split()[0] for trace in drawn[-1]["figure"].data if trace.name} <= {
        "ant",
        "bee",
        "cat",
    }
    assert "a ring what the model says" in words(test)
    assert drawn[-1]["alt"].startswith("Map of 60 rows, by label: ")
    assert "person" not in drawn[-1]["data"]
    colour(test).set_value("Doubt").run()
    assert "how likely the model is to be wrong" in words(test)
    assert drawn[-1]["figure"].data[-1].marker.colorbar.title.text == "Doubt"
    colour(test).set_value("Person").run()
    people = dict(zip(drawn[-1]["data"]["row"].tolist(), drawn[-1]["data"]["person"], strict=True))
    assert people.pop(saved.row + 1) == "Ada"
    assert set(people.values()) == {""}
    assert [trace.name for trace in drawn[-1]["figure"].data] == ["Ada (1)", "nobody yet (59)"]
    colour(test).set_value("State").run()
    assert "Open rows can still be asked about" in words(test)
    assert not test.exception


def test_an_annotator_is_not_offered_people(home: Home, owner: int, show: Open) -> None:
    project = small_project(home, owner)
    ada = annotator(home, owner, "Ada")
    test = show(ada, "map_page.py", project=str(project), colour="Person")
    assert colour(test).options == ["Label", "Doubt", "State"]
    assert colour(test).value == "Label"


def test_six_classes_are_in_colour_those_that_are_chosen(
    home: Home, owner: int, show: Open, drawn: list[dict[str, Any]], monkeypatch: pytest.MonkeyPatch
) -> None:
    assert map_chart.MOST_IN_COLOUR == 6
    monkeypatch.setattr(map_chart, "MOST_IN_COLOUR", 2)
    project = small_project(home, owner)
    test = show(owner, "map_page.py", project=str(project))
    shown = instance_map(Seat(home, owner, project))
    counts = np.bincount(shown.named.classes[shown.named.classes >= 0])
    frequent = [shown.classes[number] for number in np.argsort(-counts, kind="stable")]
    (box,) = (one for one in test.multiselect if one.label == "In colour")
    assert box.value == frequent[:2]
    assert {trace.name.split()[0] for trace in drawn[-1]["figure"].data if trace.name} == {
        *frequent[:2],
        "others",
    }
    box.set_value(frequent[2:]).run()
    assert {trace.name.split()[0] for trace in drawn[-1]["figure"].data if trace.name} == {
        *frequent[2:],
        "others",
    }


def test_an_open_row_that_is_clicked_can_be_asked(
    home: Home, owner: int, show: Open, drawn: list[dict[str, Any]]
) -> None:
    for project in (small_project(home, owner), vector_project(home, owner, question="cell")):
        seat = Seat(home, owner, project)
        shown = instance_map(seat)
        row, given = (int(shown.rows[shown.states == number][0]) for number in (0, 2))
        test = show(owner, "map_page.py", project=str(project))
        assert "Click a point to see its row" in words(test)
        PICKED[:] = [("", "", row)]
        test.run()
        (ask,) = (one for one in test.button if one.label == "Ask this row")
        ask.click().run()
        assert not test.exception
        question = loop.next_question(seat)
        assert question.view.row == row
        assert getattr(question, "label", None) in (None, *LABELS)
        PICKED[:] = [("", "", given)]
        test = show(owner, "map_page.py", project=str(project))
        assert not [one for one in test.button if one.label == "Ask this row"], "it is not open"
        PICKED.clear()


def test_who_may_not_choose_sees_the_row_alone(
    home: Home, owner: int, show: Open, drawn: list[dict[str, Any]]
) -> None:
    project = small_project(home, owner, control_share=0.5, test_share=0.0)
    seat = Seat(home, annotator(home, owner, "Ada"), project)
    shown = instance_map(seat)
    PICKED[:] = [("", "", int(shown.rows[shown.states == 0][0]))]
    test = show(seat.person_id, "map_page.py", project=str(project))
    assert "##### Row " in words(test)
    assert not [one for one in test.button if one.label == "Ask this row"]


def test_it_says_how_rows_are_placed(home: Home, owner: int, show: Open) -> None:
    project = text_project(home, owner)
    test = show(owner, "map_page.py", project=str(project))
    assert "is being made" in words(test)
    (wished,) = map_layouts.wishes(home)
    map_layouts.note_fault(home, wished, "no memory")
    assert "could not be laid out better: no memory" in words(test.run())
    map_layouts.drop(home, wished)
    test.run()
    MapWorker(home, "one").lay_out(wished)
    assert "t\\-SNE" in words(test.run()) or "t-SNE" in words(test)
    assert "principal components" not in words(test)
