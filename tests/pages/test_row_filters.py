"""The filters of Queue and Review, with their counts."""

from __future__ import annotations

from pages.parts.rows import row_lists
from tests.pages.conftest import Open, by_label, listed, words
from tests.present import present
from tests.workflow.vector_world import vector_project
from tests.workflow.world import annotator, answer_next, small_project
from workflow.answering import loop
from workflow.rows import reviewing
from workflow.rows.queue import QueueFilter
from workflow.seat import Seat
from workflow.server.home import Home


def chips(test: object) -> dict[str, list[str]]:
    return {one.label: list(one.options) for one in test.button_group}  # type: ignore[attr-defined]


def test_queue_lists_rows_that_wait_for_others(home: Home, owner: int, show: Open) -> None:
    project = small_project(home, owner, overlap=2, fold="majority", test_share=0.5)
    ada = Seat(home, annotator(home, owner, "Ada"), project)
    question = present(loop.next_question(ada))
    loop.submit_answer(ada, question.token, "is", [question.choices[0]], flagged=True)
    test = show(owner, "queue_page.py", project=str(project))
    assert chips(test)["Rows"] == ["All", "Waiting for others :small[1]", "Flagged :small[1]"]
    for only in (QueueFilter.WAITING, QueueFilter.FLAGGED):
        by_label(test.button_group, "Rows").set_value(only).run()
        assert list(listed(test)["Row"]) == [question.view.row_id]
        assert "Showing 1 to 1 of 1 matching row." in words(test)
    by_label(test.button_group, "Rows").set_value(QueueFilter.ALL).run()
    assert question.view.row_id not in list(listed(test)["Row"])
    assert "Rows" not in chips(show(ada.person_id, "queue_page.py", project=str(project)))


def test_queue_without_answers_has_no_filters(home: Home, owner: int, show: Open) -> None:
    for project in (small_project(home, owner), vector_project(home, owner, "vectors")):
        assert not chips(show(owner, "queue_page.py", project=str(project)))


def test_review_filters_count_the_answers_they_leave(home: Home, owner: int, show: Open) -> None:
    project = small_project(home, owner)
    seat = Seat(home, owner, project)
    answer_next(home, owner, project)
    question = present(loop.next_question(seat))
    loop.submit_answer(seat, question.token, "is", [question.choices[0]], flagged=True)
    test = show(owner, "review_page.py", project=str(project))
    assert chips(test)["Flagged"] == ["Flagged :small[1]"]
    assert len(listed(test)) == 2
    assert "Review :small[2]" in words(test)
    assert chips(test)["Corrected"] == ["Corrected :small[0]"]
    row = question.view.row
    reviewing.correct(seat, row, reviewing.open_row(seat, row).token, "is", [question.choices[1]], flagged=True)  # type: ignore[attr-defined]
    test = show(owner, "review_page.py", project=str(project))
    by_label(test.button_group, "Corrected").set_value(["Corrected"]).run()
    assert list(listed(test)["Row"]) == [question.view.row_id]
    by_label(test.button_group, "Corrected").set_value([]).run()
    by_label(test.button_group, "Flagged").set_value(["Flagged"]).run()
    assert list(listed(test)["Row"]) == [question.view.row_id]
    assert chips(test)["Flagged"] == [row_lists.chip_words("Flagged", 1)]
