"""Queue: each line begins with what the row is, and the row that is clicked stands at the side."""

from __future__ import annotations

import pytest

from pages.parts import create_parts
from pages.parts.label_vectors import rows as vector_queue
from pages.parts.one_label import rows as label_queue
from tests.pages.conftest import Open, words
from tests.workflow.text_world import text_frame, text_project
from tests.workflow.vector_world import vector_project
from tests.workflow.world import small_project
from workflow.answering import loop
from workflow.rows import queue
from workflow.seat import Seat
from workflow.server.home import Home


def click(monkeypatch: pytest.MonkeyPatch, lines: list[int]) -> None:
    """As if a person had clicked on these lines: AppTest cannot click in a table."""
    for module in (label_queue, vector_queue):
        monkeypatch.setattr(module, "clicked_lines", lambda _: lines)


def test_the_line_that_is_clicked_shows_its_row_and_asks_it(
    home: Home, owner: int, show: Open, monkeypatch: pytest.MonkeyPatch
) -> None:
    for project, words_of_it in (
        (small_project(home, owner), "Ask this row next"),
        (vector_project(home, owner, question="cell"), "Ask this next"),
    ):
        seat = Seat(home, owner, project)
        click(monkeypatch, [])
        test = show(owner, "queue_page.py", project=str(project))
        assert "Click a line to see its row and to ask it next." in words(test)
        assert not [one for one in test.button if one.label == words_of_it]
        seat.settle()  # no model changes the order between two looks
        wanted = queue.list_queue(seat).rows[3]
        click(monkeypatch, [3])
        test.run()
        assert f"##### Row {wanted.row_id}" in words(test)
        (ask,) = (one for one in test.button if one.label == words_of_it)
        ask.click().run()
        assert not test.exception
        question = loop.next_question(seat)
        assert question.view.row == wanted.row
        assert getattr(question, "label", None) == getattr(wanted, "label", None)


def test_a_line_that_is_gone_is_not_shown(
    home: Home, owner: int, show: Open, monkeypatch: pytest.MonkeyPatch
) -> None:
    for project in (small_project(home, owner), vector_project(home, owner)):
        click(monkeypatch, [10_000])
        test = show(owner, "queue_page.py", project=str(project))
        assert "Click a line to see its row" in words(test)


def test_lines_of_texts_begin_with_the_text(home: Home, owner: int, show: Open) -> None:
    project = text_project(home, owner)
    test = show(owner, "queue_page.py", project=str(project))
    lines = test.dataframe[0].value
    assert list(lines.columns)[:3] == ["Text", "Place", "Row"]
    texts = text_frame().set_index("id")["text"]
    assert lines["Text"].tolist() == texts[lines["Row"]].tolist()
    column = create_parts.first_columns(Seat(home, owner, project), [2, 0])
    assert column.cells == {"Text": [texts["t2"], texts["t0"]]}
    assert column.options == {"height": 38 + 2 * 35}, "a line of text is as high as any other"
