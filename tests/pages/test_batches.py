"""Batches, shortlists and question forms on pages."""

from __future__ import annotations

from typing import Any

import pytest

from pages.parts import answers, charts, other_cards, state
from pages.parts.one_label import card as one_label_card
from pages.parts.project_parts import in_words
from tests.pages.conftest import Open, by_label, history, open_in_list, pressing, words
from tests.workflow.alike_world import NAMES, alike_project
from tests.workflow.four import four_class_project
from tests.workflow.shortlisted import answer_rows, checks_left, shortlist_project, want
from tests.workflow.vector_world import vector_project
from tests.workflow.world import annotator
from workflow.answering import batches, loop, room
from workflow.answering.batches import SavedBatch, ShownBatch, Tile
from workflow.answering.room import FormsNow, RoomSettings
from workflow.kinds.one_label import forms
from workflow.projects import standing
from workflow.rows.row import RowView
from workflow.seat import Seat
from workflow.server.home import Home

# Many rows at once on the pages: what the card is reported, what a press does, and a choice from Map and Queue


def shown(seat: Seat) -> ShownBatch:
    found = batches.next_batch(seat)
    assert isinstance(found, ShownBatch)
    return found


def batch(*shares: float, **more: Any) -> ShownBatch:
    view = RowView(0, "r0", None, None, (), heard=more.pop("heard", False))
    tiles = tuple(Tile(view, share) for share in shares)
    values = {"right": 0, "checked": 0, "chosen": False} | more
    return ShownBatch("batch.1.1", "bee", "it stings", tiles, 3, **values)


def test_batch_card_words_describe_its_rows() -> None:
    told = other_cards.batch_question(batch(0.979, 0.931, right=18, checked=19))
    assert told["asks"] == "Are these 2 all bee?"
    assert told["about"] == "it stings"
    assert "a share of 93 to 97%" in told["why"], "never more than it is"
    assert told["checked"] == "When this confident on known labels, it is right about 18 of 19 times."
    alone = other_cards.batch_question(batch(0.5, chosen=True))
    assert alone["asks"] == "Is this bee?"
    assert alone["why"].endswith("a share of 50%; you selected these rows.")
    assert "No known label shows yet" in alone["checked"]


def test_tile_keys_differ_from_command_keys() -> None:
    many = [0.9] * batches.MOST
    silent, heard = (
        [tile["key"] for tile in other_cards.batch_question(batch(*many, heard=one))["tiles"]] for one in (False, True)
    )
    assert [key for key in silent[:12] if key] == list("abcdefghijkl")
    for keys in (silent, heard):
        named = [key for key in keys if key]
        assert len(set(named)) == len(named) >= batches.MOST - 2
        assert not set(named) & set("uz")
    assert "p" not in heard


def test_batch_is_opened_confirmed_and_left_by_presses(
    home: Home, owner: int, show: Open, sent: list[dict[str, Any]]
) -> None:
    seat = alike_project(home, owner)
    page = show(owner, "annotate.py", project=str(seat.project_id))
    assert sent[-1]["room"] == "candidates"
    pressing(page, "many")
    assert sent[-1]["room"] == "batch"
    rows = [tile["row"] for tile in sent[-1]["question"]["tiles"]]
    pressing(page, "confirm", token=sent[-1]["token"], labels=[str(rows[0])])
    assert sent[-1]["saved"]["message"].startswith(f"Saved: {len(rows) - 1} rows are ")
    assert not {tile["row"] for tile in sent[-1]["question"]["tiles"]} & set(rows)
    assert [answers.given_before(one)["words"] for one in standing.standing(seat).history] == [
        f"{len(rows) - 1} rows are {sent[-1]['question']['label']}"
    ]
    pressing(page, "undo", seq=sent[-1]["undoable"])
    assert [tile["row"] for tile in sent[-1]["question"]["tiles"]] == rows[1:]
    pressing(page, "one")
    assert sent[-1]["room"] == "candidates"
    assert state.MANY not in page.session_state


def test_undo_of_batch_shows_its_rows_again(home: Home, owner: int, show: Open, sent: list[dict[str, Any]]) -> None:
    seat = alike_project(home, owner)
    page = show(owner, "annotate.py", project=str(seat.project_id))
    pressing(page, "many")
    rows = [tile["row"] for tile in sent[-1]["question"]["tiles"]]
    pressing(page, "confirm", token=sent[-1]["token"])
    pressing(page, "one")
    pressing(page, "undo", seq=sent[-1]["undoable"])
    assert sent[-1]["room"] == "batch"
    assert [tile["row"] for tile in sent[-1]["question"]["tiles"]] == rows


def test_second_confirmation_and_unsaved_rows_are_reported(
    home: Home, owner: int, show: Open, sent: list[dict[str, Any]], monkeypatch: pytest.MonkeyPatch
) -> None:
    seat = alike_project(home, owner)
    page = show(owner, "annotate.py", project=str(seat.project_id))
    pressing(page, "many")
    token = sent[-1]["token"]
    pressing(page, "confirm", token=token)
    pressing(page, "confirm", token=token)
    assert sent[-1]["saved"]["message"].startswith("Not saved again: 12 rows had been confirmed as ")
    assert sent[-1]["saved"]["tone"] == "bad"
    pressing(page, "confirm", token="batch.9.9")
    assert sent[-1]["saved"]["message"] == "Not saved: Those rows are no longer your current batch."
    missed = SavedBatch(7, "bee", 1, ("r3", "r5"))
    monkeypatch.setattr(batches, "confirm_batch", lambda *_: missed)
    pressing(page, "confirm", token=token)
    assert sent[-1]["saved"]["message"] == (
        "1 row saved as bee; not saved, because they were answered or changed in the meantime: r3, r5."
    )


def drawn_round(monkeypatch: pytest.MonkeyPatch, rows: list[int]) -> None:
    """Act as if a person had drawn a lasso around these rows on the map."""
    monkeypatch.setattr(charts, "show", lambda *_, **__: [("", "", row) for row in rows])


def test_rows_selected_on_map_are_confirmed_together(
    home: Home, owner: int, show: Open, monkeypatch: pytest.MonkeyPatch
) -> None:
    seat = alike_project(home, owner, control_share=0.0)
    first = shown(seat)
    batches.leave_batch(seat)
    rows = [tile.view.row for tile in first.tiles[:4]]
    drawn_round(monkeypatch, rows)
    page = show(owner, "map_page.py", project=str(seat.project_id))
    assert "4 rows" in words(page)
    (box,) = (one for one in page.selectbox if one.label == "All of these are")
    assert box.options == [f"{label} (4 rows)" for label in (first.label, *set(NAMES) - {first.label})]
    (look,) = (one for one in page.button if one.label == "View 4 of them together")
    look.click().run()
    assert page.session_state[state.MANY] == seat.project_id
    assert sorted(tile.view.row for tile in shown(seat).tiles) == sorted(rows)


def test_map_offers_selection_only_to_people_with_right(home: Home, owner: int, show: Open) -> None:
    checked, free = alike_project(home, owner), alike_project(home, owner, "free", control_share=0.0)
    ada, vera = annotator(home, owner, "Ada"), annotator(home, owner, "Vera", "viewer")
    vectors = vector_project(home, owner)
    for person, project, can in (
        (owner, checked.project_id, True),
        (ada, checked.project_id, False),
        (ada, free.project_id, True),
        (vera, free.project_id, False),
        (owner, vectors, False),
    ):
        page = show(person, "map_page.py", project=str(project))
        assert "Click a point to see its row" in words(page)
        assert ("select several" in words(page)) == can


def test_map_selection_without_right_shows_first_row(
    home: Home, owner: int, show: Open, monkeypatch: pytest.MonkeyPatch
) -> None:
    seat = alike_project(home, owner)
    ada = annotator(home, owner, "Ada")
    drawn_round(monkeypatch, [0, 1, 2])
    vectors = vector_project(home, owner)
    for person, project in ((ada, seat.project_id), (owner, vectors)):
        page = show(person, "map_page.py", project=str(project))
        assert "##### Row " in words(page), "of several the first"
        assert "3 rows" not in words(page)
        assert not [one for one in page.button if "together" in one.label]
    with seat.learner() as opened:
        held = [int(row) for row in opened.learner.test_rows.nonzero()[0][:3]]
    drawn_round(monkeypatch, held)
    assert "None of these rows can be confirmed now" in words(show(owner, "map_page.py", project=str(seat.project_id)))


# Choices shown first: chosen in the settings, measured there and on Progress, and sent to the card


def test_shortlist_promise_is_chosen_in_settings(home: Home, owner: int, show: Open) -> None:
    project, truth = shortlist_project(home, owner, None)
    seat = Seat(home, owner, project)
    answer_rows(seat, checks_left(home, owner, project)[:12], truth)
    test = show(owner, "project_page.py", project=str(project))
    assert "All choices are shown." in words(test)
    by_label(test.text_area, "Guidelines").set_value("Look twice.")
    by_label(test.selectbox, "Choices shown first").set_value(0.95).run()
    assert not test.exception
    now = room.room_of(seat)
    assert (now.shortlist, now.guidelines) == (0.95, "Look twice.")
    test = show(owner, "project_page.py", project=str(project))
    assert "7 more blind checks must be answered for 95%. All choices are shown until then." in words(test)
    by_label(test.selectbox, "Choices shown first").set_value(0.0).run()
    assert room.room_of(seat).shortlist is None


def test_label_vectors_have_no_shortlist_setting(home: Home, owner: int, show: Open) -> None:
    test = show(owner, "project_page.py", project=str(vector_project(home, owner)))
    assert "Choices shown first" not in [one.label for one in test.selectbox]


def test_progress_shows_promised_and_measured_shortlist_rate(home: Home, owner: int, show: Open) -> None:
    project, truth = shortlist_project(home, owner, None)
    seat = Seat(home, owner, project)
    assert "Choices shown first" not in words(show(owner, "progress.py", project=str(project)))
    want(seat, 0.9)
    checks = checks_left(home, owner, project)
    answer_rows(seat, checks[:30], truth, none=checks[:1])
    view = room.shortlists_of(seat)
    assert view is not None
    said = words(show(owner, "progress.py", project=str(project)))
    assert "Choices shown first" in said
    assert f"Promised 90%, held in {view.held} of {view.measured} checks" in said
    assert "In 1 of 30 blind checks (3%, 0 to 17%) the truth was none of the row's choices." in said


@pytest.mark.parametrize("promise", [None, 0.9])
def test_card_gets_length_of_shortlist(
    home: Home, owner: int, show: Open, monkeypatch: pytest.MonkeyPatch, promise: float | None
) -> None:
    told: list[dict[str, Any]] = []
    monkeypatch.setattr(one_label_card, "_CARD", lambda data, **_: told.append(data))
    project, truth = shortlist_project(home, owner, promise)
    seat = Seat(home, owner, project)
    answer_rows(seat, checks_left(home, owner, project)[:40], truth)
    with seat.learner() as opened:
        rows = [int(row) for row in opened.learner.pool.train]
    asked = (loop.ask_next(seat, row) for row in rows)
    question = next(one for one in asked if promise is None or one.first is not None)
    show(owner, "annotate.py", project=str(project))
    sent = told[-1]["question"]
    assert sent["first"] == question.first
    assert (sent["first"] is None) == (promise is None)
    assert [one["label"] for one in sent["rows"]] == [one.label for one in question.candidates]


# Question types, on the settings page


def test_choosing_question_types_changes_no_other_setting(show: Open, home: Home, owner: int) -> None:
    seat = Seat(home, owner, four_class_project(home, owner))
    room.change_room(seat, RoomSettings("Look.", "fixed", {"ant": "small"}))
    test = show(owner, "project_page.py", project=str(seat.project_id))
    assert "recommended from 200 answers on; this project has 0: until then it asks" in words(test)
    forms = by_label(test.radio, "Ask")
    drawn = next(one for one in test.toggle if one.label.startswith("Ask one question in twenty"))
    assert (forms.value, drawn.value) == ("which", True)
    forms.set_value("cheapest")
    drawn.set_value(False).run()
    assert not test.exception
    wanted = RoomSettings("Look.", "fixed", {"ant": "small"}, forms="cheapest", drawn_forms=False)
    assert room.room_of(seat) == wanted


def test_label_vectors_have_no_question_types_setting(show: Open, home: Home, owner: int) -> None:
    test = show(owner, "project_page.py", project=str(vector_project(home, owner)))
    assert "Question types" not in words(test)


def test_question_types_show_their_cost() -> None:
    assert in_words(FormsNow(40, 200, 0, 4.8, 2.6)) == (
        "The second is recommended from 200 answers on; this project has 40: until then it asks “Which of these?” "
        "either way. Assumed until measured: “Which of these four?” takes 4.8 s, yes or no 2.6 s."
    )
    assert in_words(FormsNow(1200, 200, 1187, 4.8, 2.6)) == (
        "The second is recommended from 200 answers on; this project has 1,200. Measured on 1,187 answers here: "
        "“Which of these four?” takes 4.8 s, yes or no 2.6 s."
    )


def test_review_shows_label_asked_in_yes_no_question(
    show: Open, home: Home, owner: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(forms, "FIRST_AS_USUAL", 0)
    monkeypatch.setattr(forms, "FROM_ANSWERS", 0)
    seat = Seat(home, owner, four_class_project(home, owner))
    room.change_room(seat, RoomSettings(drawn_forms=False))
    first = loop.next_question(seat)
    room.change_room(seat, RoomSettings(forms="cheapest", drawn_forms=False))
    assert loop.next_question(seat).yes_no is None  # the open question keeps its form
    loop.submit_answer(seat, first.token, "not", [first.choices[0]])
    second = loop.next_question(seat)
    assert second.yes_no is not None  # with two rows, one is asked about
    loop.submit_answer(seat, second.token, "is", [second.yes_no.name])
    page = show(owner, "review_page.py", project=str(seat.project_id))
    open_in_list(page, seat.project_id or 0, first.view.row)
    assert not page.exception
    assert [one.get("Asked", "") for one in history(page)] == ["", f"is it {second.yes_no.name}?"]
