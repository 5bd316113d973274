"""Comforts of answering on pages: goal, breaks, last answers, examples, qualification."""

from __future__ import annotations

from typing import Any

import pytest
from streamlit.testing.v1 import AppTest

from pages.parts import account_parts, other_cards, question_card, state
from pages.parts.one_label import card as one_label_card
from pages.parts.presses import wanted
from tests.pages.conftest import Open, by_label, open_in_list, words
from tests.workflow.four import four_class_project
from tests.workflow.vector_world import answer_truly, vector_project
from tests.workflow.world import annotator, answer_next
from workflow.answering import loop
from workflow.people import examples, goals, qualification
from workflow.people.examples import EXAMPLE, QUALIFICATION
from workflow.people.goals import Day, Goal
from workflow.people.qualification import Judged, QualificationRule, Qualifying
from workflow.projects import standing
from workflow.rows.row import RowView
from workflow.seat import Seat
from workflow.server.home import Home

VIEW = RowView(0, "r0", None, "a text", ())
DAY = Day("2026-03-01", 23, 12, Goal(40), False, False, 30, False, False)


@pytest.fixture
def seat(home: Home, owner: int) -> Seat:
    return Seat(home, owner, four_class_project(home, owner))


@pytest.fixture
def sent(monkeypatch: pytest.MonkeyPatch) -> list[dict[str, Any]]:
    """Data that the page sends to the card, without a browser."""
    told: list[dict[str, Any]] = []
    monkeypatch.setattr(one_label_card, "_CARD", lambda data, **_: told.append(data))
    return told


def decided(seat: Seat) -> tuple[int, str]:
    """A row that can be marked, because an answer of the owner has decided its label."""
    while True:
        question = loop.next_question(seat)
        saved = loop.submit_answer(seat, question.token, "is", question.choices[:1])
        if examples.marking(seat, saved.row).labels:
            return saved.row, saved.labels[0]


def opened(show: Open, seat: Seat, page: str = "annotate.py") -> AppTest:
    return show(seat.person_id, page, project=str(seat.project_id))


def test_day_words_report_goal_and_break() -> None:
    said = account_parts.day_words
    assert said(DAY)["goal"] == "23 of 40 today"
    assert said(DAY)["reached"] is said(DAY)["rest"] is None
    both = Day("2026-03-01", 23, 12, Goal(20, 10), True, False, 51, True, False)
    assert said(both) == {
        "goal": "23 of 20, 12 of 10 min today",
        "about": "Your own goal; only you see it",
        "reached": "That is your goal for today: 20 answers and 10 minutes.",
        "rest": "51 minutes without a break. Take one: Shift+P",
    }
    told = Day("2026-03-01", 23, 12, Goal(20, 10), True, True, 51, True, True)
    assert said(told)["reached"] is None, "once"
    assert said(told)["rest"] is None, "it is a break"
    assert said(Day("2026-03-01", 23, 12, Goal(), False, False, 1, False, False))["goal"] is None


def test_goal_is_set_on_page_and_sent_to_card(seat: Seat, show: Open, sent: list[dict[str, Any]]) -> None:
    page = opened(show, seat)
    assert sent[-1]["day"]["goal"] is None
    key = f"{state.GOAL}-{seat.project_id}"
    page.number_input(key=f"{key}-answers").set_value(2)
    page.number_input(key=f"{key}-break").set_value(0)
    by_label(page.button, "Save").click()
    page.run()
    assert not page.exception
    assert goals.day(seat, None).goal == Goal(2, None, None)
    assert sent[-1]["day"]["goal"] == "0 of 2 today"
    for _ in range(2):
        answer_next(seat.home, seat.person_id, seat.project_id or 0)
    page.run()
    assert sent[-1]["day"]["reached"] == "That is your goal for today: 2 answers."
    page.run()
    assert (sent[-1]["day"]["goal"], sent[-1]["day"]["reached"]) == ("2 of 2 today", None)


def test_paused_question_is_not_sent(
    seat: Seat, show: Open, sent: list[dict[str, Any]], monkeypatch: pytest.MonkeyPatch
) -> None:
    from workflow.answering import loop

    question = loop.next_question(seat)
    loop.pause(seat, question.token)
    opened(show, seat)
    assert (sent[-1]["token"], sent[-1]["question"]) == (None, None)
    assert sent[-1]["empty"]["title"] == "Paused"
    assert sent[-1]["offer"] == {"kind": "resume", "text": "Go on"}
    loop.go_on(seat)
    opened(show, seat)
    assert (sent[-1]["token"], sent[-1]["offer"]) == (question.token, None)


def test_panel_holds_what_card_requested(seat: Seat, monkeypatch: pytest.MonkeyPatch) -> None:
    kept: dict[str, Any] = {}
    monkeypatch.setattr(question_card.st, "session_state", kept)
    assert wanted("panel", "wanted") is None
    kept[state.CARD] = {"press": None, "panel": {"wanted": "history 3"}}
    assert wanted("panel", "wanted") == "history 3"
    row, label = decided(seat)
    ((seq, view), *_) = standing.last_ten(seat)
    question_card.show_panel("history 3", [question_card.row_in_panel(view, seq=seq)], given=[{"seq": seq}])
    assert kept[state.PANEL]["given"] == [{"seq": seq}]
    assert kept[state.PANEL]["rows"][0]["seq"] == seq
    assert (view.row, kept[state.PANEL]["rows"][0]["labels"]) == (row, [])
    listed = question_card.row_in_panel(VIEW, (label,), note="look")
    assert (listed["labels"], listed["note"], listed["seq"], listed["text"]) == ([label], "look", None, "a text")
    question_card.show_panel("examples 3", (), "No access.")
    assert kept[state.PANEL] == {"wanted": "examples 3", "refused": "No access.", "rows": [], "given": []}


def test_last_ten_lists_newest_ten_answers(seat: Seat) -> None:
    assert standing.last_ten(seat) == ()
    for _ in range(standing.LAST + 2):
        answer_next(seat.home, seat.person_id, seat.project_id or 0)
    found = standing.last_ten(seat)
    history = standing.standing(seat).history
    assert [(seq, view.row) for seq, view in found] == [(one.seq, one.row) for one in history[: standing.LAST]]


def test_owner_marks_example_on_review(seat: Seat, home: Home, show: Open, sent: list[dict[str, Any]]) -> None:
    opened(show, seat)
    assert not sent[-1]["examples"]
    row, label = decided(seat)
    page = opened(show, seat, "review_page.py")
    open_in_list(page, seat.project_id or 0, row)
    key = f"{state.EXAMPLE}-{seat.project_id}-{row}"
    page.text_input(key=f"{key}-note").set_value("look at the wing bar")
    by_label(page.button, "Mark it").click()
    page.run()
    assert not page.exception
    assert f"This row is an example of **{label}**." in words(page)
    ((one),) = examples.class_examples(seat)
    assert (one.view.row, one.label, one.note) == (row, label, "look at the wing bar")
    opened(show, seat)
    assert sent[-1]["examples"]
    page.radio(key=f"{key}-purpose").set_value(QUALIFICATION)
    by_label(page.button, "Change the mark").click()
    page.run()
    assert examples.marking(seat, row).purpose == QUALIFICATION
    page.button(key=f"{key}-away").click()
    page.run()
    assert examples.marking(seat, row).purpose is None
    ada = annotator(home, seat.person_id, "Ada")
    answer_next(home, ada, seat.project_id or 0)
    theirs = show(ada, "review_page.py", project=str(seat.project_id))
    row = standing.last_ten(Seat(home, ada, seat.project_id))[0][1].row
    open_in_list(theirs, seat.project_id or 0, row)
    assert not theirs.exception
    assert not [one for one in theirs.expander if one.label == "Example of its class"]


def test_label_vector_row_is_example_of_one_of_its_labels(home: Home, owner: int, show: Open) -> None:
    seat = Seat(home, owner, vector_project(home, owner, question="instance"))
    for _ in range(6):
        answer_truly(home, owner, seat.project_id or 0)
    row = next(view.row for _, view in standing.last_ten(seat) if examples.marking(seat, view.row).labels)
    page = opened(show, seat, "review_page.py")
    open_in_list(page, seat.project_id or 0, row)
    assert not [one for one in page.radio if one.label == "What for"], "no qualification here"
    by_label(page.button, "Mark it").click()
    page.run()
    assert not page.exception
    assert examples.marking(seat, row).purpose == EXAMPLE
    settings = opened(show, seat, "project_page.py")
    assert any("so people start at once" in one.value for one in settings.info)


def known(seat: Seat, n: int = 2) -> dict[int, str]:
    """Rows marked for the qualification, which is then required."""
    rows: dict[int, str] = {}
    while len(rows) < n:
        row, label = decided(seat)
        examples.mark(seat, row, label, f"note {row}", QUALIFICATION)
        rows[row] = label
    qualification.change_rule(seat, QualificationRule(n, 1))
    return rows


def test_unqualified_person_sees_qualification_only(
    seat: Seat, home: Home, show: Open, sent: list[dict[str, Any]]
) -> None:
    known(seat)
    ada = Seat(home, annotator(home, seat.person_id, "Ada"), seat.project_id)
    opened(show, ada)
    told = sent[-1]
    assert (told["room"], told["question"], told["offer"]) == ("qualifying", None, {"kind": "begin", "text": "Begin"})
    assert "all of them right" in told["empty"]["message"]
    qualification.begin(ada)
    opened(show, ada)
    asked = sent[-1]
    assert (asked["offer"], asked["question"]["judged"], asked["route"]) == (None, None, None)
    assert [one["key"] for one in asked["question"]["rows"]] == [
        str(k + 1) for k in range(len(asked["question"]["rows"]))
    ]
    assert "note" not in str(asked["question"]), "neither the note nor the label is told before the answer"


def card_data(now: Qualifying | Judged, monkeypatch: pytest.MonkeyPatch, notice: str | None = None) -> dict[str, Any]:
    monkeypatch.setattr(question_card.st, "session_state", {})
    return other_cards.known_row(now, {"ant": "six legs"}, notice)


def test_card_shows_effect_of_answer(monkeypatch: pytest.MonkeyPatch) -> None:
    def said(number: int, right: int, needed: int, label: str = "ant") -> str:
        judged = Judged(VIEW, ("ant", "bee"), "ant", label, "look at the legs", number, 3, right, needed)
        return str(card_data(judged, monkeypatch)["question"]["judged"]["words"])

    assert said(1, 1, 2) == "Right."
    assert said(2, 1, 2, "bee") == "It is bee."
    assert said(3, 2, 2) == "Right. 2 of 3 were right: you may start."
    assert said(3, 1, 2, "bee") == "It is bee. 1 of 3 were right; 2 are needed."
    told = card_data(Judged(VIEW, ("ant", "bee"), "ant", "bee", "look", 2, 3, 1, 2), monkeypatch)
    assert (told["counts"]["answered"], told["counts"]["left"], told["token"]) == (2, 1, None)
    assert told["question"]["judged"]["note"] == "look"
    assert told["question"]["rows"][0]["about"] == "six legs"


def test_card_offers_another_try(monkeypatch: pytest.MonkeyPatch) -> None:
    told = card_data(Qualifying(3, 2, None, None, (), 0, 1, 1), monkeypatch, "Not saved: no.")
    assert told["offer"] == {"kind": "begin", "text": "Try again"}
    assert told["empty"]["title"] == "Not yet"
    assert told["empty"]["message"].startswith("1 were right. 2 right of 3 rows are needed.")
    assert told["saved"] == {"tone": "bad", "message": "Not saved: no.", "seq": None, "row": None}
    with pytest.raises(ValueError, match="Without a row there is no question"):
        card_data(Qualifying(3, 2, "token", None, (), 1, 0, 0), monkeypatch)


def test_owner_turns_qualification_on_and_admits_person(seat: Seat, home: Home, show: Open) -> None:
    rows = known(seat)
    qualification.change_rule(seat, None)
    ada = annotator(home, seat.person_id, "Ada")
    page = opened(show, seat, "project_page.py")
    key = f"{state.SETTINGS}-{seat.project_id}-qualification"
    page.toggle(key=f"{key}-on").set_value(True).run()
    page.number_input(key=f"{key}-rows").set_value(len(rows) + 1).run()
    assert any("marked for it" in one.value for one in page.error)
    assert qualification.overview(seat).rule == QualificationRule(len(rows), 0.8)
    page.number_input(key=f"{key}-rows").set_value(len(rows)).run()
    page.number_input(key=f"{key}-share").set_value(75).run()
    assert not page.exception
    assert qualification.overview(seat).rule == QualificationRule(len(rows), 0.75)
    assert "**Ada** · has not begun" in words(page)
    page.button(key=f"{key}-in-{ada}").click()
    page.run()
    assert "**Ada** · let in by the owner" in words(page)
    assert loop.next_question(Seat(home, ada, seat.project_id)) is not None
