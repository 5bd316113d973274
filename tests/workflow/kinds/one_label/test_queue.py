"""The queue: every open row in asking order, found by words, downloaded, under every strategy."""

from __future__ import annotations

import csv
import io

import pytest

from plcore.query import STRATEGIES
from tests.workflow.world import annotator, answer_next, file_of, opened, small_project
from workflow.access import NotAllowed
from workflow.answering import loop
from workflow.kinds.one_label import settings
from workflow.projects import managing, standing
from workflow.rows import queue
from workflow.seat import Seat
from workflow.server.home import Home, open_home


def test_every_strategy_has_its_words() -> None:
    assert set(settings.NAMES) == {*STRATEGIES, "margin", "moves", "cover"}
    for name in STRATEGIES:
        assert settings.reason(name, 3, 10).endswith("label of 3 of 10 rows that are not settled.")
        assert "No single answer" in settings.reason(name, 0, 10)
        assert "No answer can change" in settings.reason(name, 0, 0)


@pytest.mark.parametrize("name", STRATEGIES)
def test_the_first_of_the_queue_is_asked_next(home: Home, owner: int, name: str) -> None:
    project = small_project(home, owner, strategy=name)
    for _ in range(6):
        view = queue.list_queue(Seat(home, owner, project))
        assert view.strategy == name
        question = loop.next_question(Seat(home, owner, project))
        assert question is not None
        assert view.rows[0].row == question.view.row
        assert view.rows[0].candidates == question.choices
        assert [one.score for one in view.rows] == sorted((one.score for one in view.rows), reverse=True)
        answer_next(home, owner, project)


def test_the_search_looks_at_ids_and_candidates(home: Home, owner: int, project: int) -> None:
    everything = queue.list_queue(Seat(home, owner, project))
    assert everything.matching == everything.open == standing.standing(Seat(home, owner, project)).left
    found = queue.list_queue(Seat(home, owner, project), "ANT bee")
    assert 0 < found.matching < everything.open
    assert all({"ant", "bee"} <= set(one.candidates) for one in found.rows)
    one = everything.rows[3]
    assert one.row_id in {row.row_id for row in queue.list_queue(Seat(home, owner, project), one.row_id).rows}
    assert queue.list_queue(Seat(home, owner, project), "no such thing").rows == ()


def test_what_is_open_and_blind_is_counted_and_not_listed(home: Home, owner: int) -> None:
    project = small_project(home, owner, control_share=0.2)
    view = queue.list_queue(Seat(home, owner, project))
    with opened(home, owner, project) as learner:
        blind = len(learner.pool.control_left())
    assert view.blind == blind > 0
    assert view.open == view.listed + blind == standing.standing(Seat(home, owner, project)).left


def test_the_queue_downloads_whole(home: Home, owner: int, project: int) -> None:
    lines = list(csv.DictReader(io.StringIO(queue.queue_csv(Seat(home, owner, project)).decode())))
    view = queue.list_queue(Seat(home, owner, project))
    assert [line["row_id"] for line in lines] == [one.row_id for one in view.rows]
    assert lines[0]["candidates"] == "|".join(view.rows[0].candidates)
    with pytest.raises(NotAllowed):
        queue.queue_csv(Seat(home, annotator(home, owner, "Ada"), project))


def test_another_strategy_asks_otherwise_and_forgets_nothing(home: Home, owner: int, project: int) -> None:
    answer_next(home, owner, project)
    before = standing.standing(Seat(home, owner, project))
    managing.change_strategy(Seat(home, owner, project), "random")
    assert standing.standing(Seat(home, owner, project)) == before
    assert queue.list_queue(Seat(home, owner, project)).strategy == "random"
    with pytest.raises(ValueError, match="strategy"):
        managing.change_strategy(Seat(home, owner, project), "guess")
    with pytest.raises(NotAllowed):
        managing.change_strategy(Seat(home, annotator(home, owner, "Ada"), project), "mw")


def test_the_end_is_proved_and_said(home: Home, owner: int, project: int) -> None:
    while loop.next_question(Seat(home, owner, project)) is not None:
        answer_next(home, owner, project)
    final = standing.standing(Seat(home, owner, project))
    assert (final.settled, final.done, final.left) == (1.0, True, 0)
    assert queue.list_queue(Seat(home, owner, project)).rows == ()


def test_the_queue_offers_what_suits_the_model(home: Home, owner: int, project: int) -> None:
    offered = queue.list_queue(Seat(home, owner, project)).strategies
    assert offered["automatic"] == f"Automatic ({settings.NAMES['apl']})"
    assert "moves" not in offered
    other = small_project(home, owner, "kernel", model="kernelridge")
    view = queue.list_queue(Seat(home, owner, other))
    assert view.strategies["automatic"] == f"Automatic ({settings.NAMES['margin']})"
    assert view.strategies["moves"] == settings.NAMES["moves"]
    assert "apl" not in view.strategies
    managing.change_strategy(Seat(home, owner, other), "apl")  # as a project of before may have stored it
    view = queue.list_queue(Seat(home, owner, other))
    assert (view.strategy, view.strategies["apl"]) == ("apl", settings.NAMES["apl"])
    assert view.rows[0].reason.startswith("Of all rows this one could change")


def test_a_change_of_strategy_reaches_every_process(home: Home, owner: int, project: int) -> None:
    other = open_home(home.settings)
    try:
        assert queue.list_queue(Seat(other, owner, project)).strategy == "automatic"
        managing.change_strategy(Seat(home, owner, project), "mp")
        assert queue.list_queue(Seat(other, owner, project)).strategy == "mp"
        question = loop.next_question(Seat(other, owner, project))
        assert question is not None
        answer_next(other, owner, project)
        log = csv.DictReader(io.StringIO(file_of(Seat(home, owner, project), "log").decode()))
        assert [line["strategy"] for line in log] == ["mp"]
    finally:
        other.close()


def test_the_log_says_why_as_the_screen_did(home: Home, owner: int, project: int) -> None:
    """The same question, shown again after the strategy was changed, is logged with the new one."""
    first = loop.next_question(Seat(home, owner, project))
    managing.change_strategy(Seat(home, owner, project), "mw")
    again = loop.next_question(Seat(home, owner, project))
    assert first is not None
    assert again is not None
    assert (again.token, again.strategy) == (first.token, "mw")
    answer_next(home, owner, project)
    (line,) = csv.DictReader(io.StringIO(file_of(Seat(home, owner, project), "log").decode()))
    assert line["strategy"] == "mw"
    assert float(line["score"]) == pytest.approx(again.score, abs=1e-6)
