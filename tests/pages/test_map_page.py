"""The map, and pictures on pages."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from pages.parts import charts, map_chart
from pages.parts.rows.row_lists import MANY
from plcore import LabelTable, LearnerSettings
from tests.pages.conftest import Open, listed, open_in_list, press, words
from tests.pages.file_boxes import give
from tests.pages.test_import_zip import upload
from tests.plcore.tables.media.test_media import kept
from tests.plcore.tables.zips import WAV, make_zip, picture
from tests.workflow.text_world import text_project
from tests.workflow.vector_world import LABELS, vector_project
from tests.workflow.world import annotator, answer_next, small_project
from workflow import importing
from workflow.answering import loop
from workflow.importing import Roles
from workflow.models.map_worker import MapWorker
from workflow.projects import managing
from workflow.rows import instance_map as map_layouts
from workflow.rows import reviewing
from workflow.rows.instance_map import instance_map
from workflow.rows.reviewing import Search
from workflow.seat import Seat
from workflow.server.home import Home

# Map: what it is coloured by, who sees whose answers, and the row next to it


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


def test_map_is_coloured_by_label_doubt_person_and_state(
    home: Home, owner: int, show: Open, drawn: list[dict[str, Any]]
) -> None:
    project = small_project(home, owner)
    ada = annotator(home, owner, "Ada")
    saved = answer_next(home, ada, project)
    test = show(owner, "map_page.py", project=str(project))
    assert colour(test).options == ["Label", "Doubt", "Person", "State"]
    assert {trace.name.split()[0] for trace in drawn[-1]["figure"].data if trace.name} <= {"ant", "bee", "cat"}
    assert "Rings: model predictions" in words(test)
    assert drawn[-1]["alt"].startswith("Map of 60 rows, by label: ")
    assert "person" not in drawn[-1]["data"]
    colour(test).set_value("Doubt").run()
    assert "the model's own estimate that it is wrong" in words(test)
    assert drawn[-1]["figure"].data[-1].marker.colorbar.title.text == "Doubt"
    colour(test).set_value("Person").run()
    people = dict(zip(drawn[-1]["data"]["row"].tolist(), drawn[-1]["data"]["person"], strict=True))
    assert people.pop(saved.row + 1) == "Ada"
    assert set(people.values()) == {""}
    assert [trace.name for trace in drawn[-1]["figure"].data] == ["Ada (1)", "no one yet (59)"]
    colour(test).set_value("State").run()
    assert "Open rows" in words(test)
    assert not test.exception


def test_annotator_cannot_colour_map_by_person(home: Home, owner: int, show: Open) -> None:
    project = small_project(home, owner)
    ada = annotator(home, owner, "Ada")
    test = show(ada, "map_page.py", project=str(project), colour="Person")
    assert colour(test).options == ["Label", "Doubt", "State"]
    assert colour(test).value == "Label"


def test_map_colours_at_most_six_chosen_classes(
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
    assert {trace.name.split()[0] for trace in drawn[-1]["figure"].data if trace.name} == {*frequent[:2], "others"}
    box.set_value(frequent[2:]).run()
    assert {trace.name.split()[0] for trace in drawn[-1]["figure"].data if trace.name} == {*frequent[2:], "others"}


def test_clicked_open_row_can_be_asked(home: Home, owner: int, show: Open, drawn: list[dict[str, Any]]) -> None:
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


def test_annotator_without_right_only_sees_clicked_row(
    home: Home, owner: int, show: Open, drawn: list[dict[str, Any]]
) -> None:
    project = small_project(home, owner, control_share=0.5, test_share=0.0)
    seat = Seat(home, annotator(home, owner, "Ada"), project)
    shown = instance_map(seat)
    PICKED[:] = [("", "", int(shown.rows[shown.states == 0][0]))]
    test = show(seat.person_id, "map_page.py", project=str(project))
    assert "##### Row " in words(test)
    assert not [one for one in test.button if one.label == "Ask this row"]


def test_map_names_its_layout_method(home: Home, owner: int, show: Open) -> None:
    project = text_project(home, owner)
    test = show(owner, "map_page.py", project=str(project))
    assert "is being computed" in words(test)
    (wished,) = map_layouts.wishes(home)
    map_layouts.note_fault(home, wished, "no memory")
    assert "better layout failed: no memory" in words(test.run())
    map_layouts.drop(home, wished)
    test.run()
    MapWorker(home, "one").lay_out(wished)
    assert "t\\-SNE" in words(test.run()) or "t-SNE" in words(test)
    assert "principal components" not in words(test)


# Pictures on the pages: small ones in lists, the row behind a point of the map, captions, roles on import


ROWS = 6
CSV = "id,candidates,image,second,song,place\n" + "".join(
    ",".join((f"r{n}", "wren|robin", f"{n}.png" * (n % 2), "0.png" * (n == 1), "call.wav" * (n == 2), f"gate {n}\n"))
    for n in range(ROWS)
)
ZIP = make_zip({"birds.csv": CSV.encode(), "call.wav": WAV, **{f"{n}.png": picture(n) for n in range(ROWS)}})
ROLES = Roles(
    candidates="candidates",
    id="id",
    image="image",
    more_images=("second",),
    audio="song",
    image_features=True,
    caption=("place",),
)


@pytest.fixture
def birds(home: Home, owner: int) -> Seat:
    read = importing.read_upload(ZIP)
    table = importing.check(read, ROLES).table
    assert table is not None
    number = importing.create(Seat(home, owner), "birds", table, LearnerSettings(n_neighbors=3, control_share=0))
    return Seat(home, owner, number)


def shown(row: int) -> str:
    """Content of the image column."""
    return f"files/{kept(picture(row))}/small" if row % 2 else "sound" if row == 2 else ""


def test_queue_shows_thumbnail_or_recording_mark_of_each_row(birds: Seat, show: Open) -> None:
    test = show(birds.person_id, "queue_page.py", project=str(birds.project_id))
    frame = listed(test)
    assert list(frame.columns)[:3] == ["#", "Picture", "Row"]
    assert dict(zip(frame["Row"], frame["Picture"], strict=True)) == {f"r{row}": shown(row) for row in range(ROWS)}


def test_review_shows_thumbnails_and_caption(birds: Seat, show: Open) -> None:
    for row in (1, 2):
        question = loop.ask_next(birds, row)
        loop.submit_answer(birds, question.token, "is", ["wren"])
    test = show(birds.person_id, "review_page.py", project=str(birds.project_id))
    frame = listed(test)
    assert list(frame["Picture"]) == [shown(2), shown(1)]
    view = reviewing.open_row(birds, reviewing.find(birds, Search()).rows[1].row).view
    assert (len(view.images), view.caption) == (2, (("place", "gate 1"),))


def test_lists_without_images_have_no_picture_column(home: Home, owner: int, show: Open) -> None:
    table = LabelTable.read_csv(b"id,candidates,n\na,wren|robin,1\nb,robin|wren,2\nc,wren,3\nd,wren,4\n")
    number = importing.create(Seat(home, owner), "numbers", table, LearnerSettings(n_neighbors=3))
    test = show(owner, "queue_page.py", project=str(number))
    assert "Picture" not in listed(test).columns
    assert not listed(test)["Text"].any()


def test_clicked_map_point_shows_its_row(birds: Seat, show: Open, monkeypatch: pytest.MonkeyPatch) -> None:
    test = show(birds.person_id, "map_page.py", project=str(birds.project_id))
    assert "Click a point to see its row, or select several to answer them together." in words(test)
    drawn: list[Any] = []
    real = charts.show

    def clicked(figure: Any, *parts: Any, **options: Any) -> list[Any]:
        real(figure, *parts, **options)
        drawn.append(figure)
        return [figure.data[0].customdata[3]]

    monkeypatch.setattr(charts, "show", clicked)
    test.run()
    assert not test.exception
    name = drawn[0].data[0].customdata[3][0]
    assert f"##### Row {name}" in words(test)
    assert "Click a point" not in words(test)


@pytest.mark.parametrize(("count", "boxed"), [(MANY, False), (MANY + 1, True)])
def test_many_features_are_in_closed_expander(home: Home, owner: int, show: Open, count: int, boxed: bool) -> None:
    names = [f"f{k}" for k in range(count)]
    lines = "".join(f"r{n},wren|robin,{','.join(str(n + k) for k in range(count))}\n" for n in range(4))
    table = LabelTable.read_csv(f"id,candidates,{','.join(names)}\n{lines}".encode())
    seat = Seat(home, owner, importing.create(Seat(home, owner), "wide", table, LearnerSettings(n_neighbors=2)))
    question = loop.next_question(seat)
    loop.submit_answer(seat, question.token, "is", ["wren"])
    test = show(owner, "review_page.py", project=str(seat.project_id))
    open_in_list(test, seat.project_id or 0, question.view.row)
    assert not test.exception
    assert any(one.label == f"Features ({count})" for one in test.expander) is boxed


def test_import_offers_caption_and_further_images_under_advanced(home: Home, owner: int, show: Open) -> None:
    test = upload(show(owner, "import_table.py"), ZIP)
    advanced = [one for one in test.expander if one.label == "Advanced"][-1]  # of the columns
    assert [box.label for box in advanced.multiselect] == ["Caption", "Further images"]
    assert advanced.multiselect[1].value == ["second"]
    advanced.multiselect[0].select("place").run()
    assert not test.exception
    press(test, "Create project")
    (made,) = managing.list_projects(Seat(home, owner))
    view = loop.ask_next(Seat(home, owner, made.id), 1).view
    assert (len(view.images), view.caption) == (2, (("place", "gate 1"),))


def test_further_images_need_an_image_column(owner: int, show: Open) -> None:
    test = show(owner, "import_table.py")
    give(test, "A table", "t.csv", b"candidates,n,place\na|b,1,x\nb,2,y\n")
    advanced = [one for one in test.expander if one.label == "Advanced"][-1]
    assert [box.label for box in advanced.multiselect] == ["Caption"]
