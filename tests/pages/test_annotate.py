"""The question page and answers on it."""

from __future__ import annotations

import logging
from collections.abc import Callable
from dataclasses import replace
from typing import Any

import pytest
from streamlit.testing.v1 import AppTest

from pages.parts import answers as answer_words
from pages.parts import label_vectors, one_label, question_card, state
from pages.parts.label_vectors import card as label_vectors_card
from pages.parts.one_label import card as one_label_card
from pages.parts.presses import wanted
from tests.pages.conftest import Open, pressing
from tests.workflow.answering.malformed import PRESS
from tests.workflow.answering.malformed import malformed as every_malformed
from tests.workflow.four import ask, four_class_project
from tests.workflow.people.test_disputes import open_rows, say, shared
from tests.workflow.text_world import text_project
from tests.workflow.two_questions import linked_projects
from tests.workflow.vector_world import answer_truly, vector_project
from tests.workflow.world import answer_next, log, small_project
from web.packed import FOLDER
from workflow.answering import loop, press
from workflow.answering.room import RoomSettings, change_room
from workflow.people import goals, qualification
from workflow.projects import standing
from workflow.rows.row import RowView
from workflow.seat import Seat
from workflow.server.home import Home

# The Annotate page around its card: the owner's guidelines, and the card's data


COMMANDS = "smucxftghzpw"

SILENT = RowView(0, "r0", None, None, ())
INLINE = "data:image/png;base64,AA"
HEARD = RowView(0, "r0", INLINE, None, (), "files/a.wav", (1.0, None), (INLINE,), heard=True)


def test_next_row_media_is_announced_by_address_only() -> None:
    assert question_card.coming_of(None) is None
    assert question_card.coming_of(SILENT) is None
    assert question_card.coming_of(replace(HEARD, audio=None)) is None, "the picture came with the row"
    assert question_card.coming_of(replace(HEARD, text="secret", features=(("f", "secret"),))) == {
        "images": [],
        "audio": "files/a.wav",
        "segment": (1.0, None),
    }
    pictures = ("files/a.png", INLINE, "files/b.png")
    told = question_card.coming_of(replace(HEARD, images=pictures, audio=None))
    assert told == {"images": ["files/a.png", "files/b.png"], "audio": None, "segment": (1.0, None)}
    assert question_card.view_of(HEARD)["segment"] == (1.0, None)


def test_command_keys_differ_from_candidate_keys() -> None:
    keys, keys_beside_sound = question_card.keys_of(SILENT), question_card.keys_of(HEARD)
    assert question_card.keys_of(replace(HEARD, audio=None)) == keys_beside_sound, "a key means one thing in a project"
    assert not set(keys) & set(COMMANDS + "0?")
    assert len(set(keys)) == len(keys)
    panels, answers, actions, player = (
        (FOLDER / f"{name}.js").read_text()
        for name in ("card/panels", "one_label/candidates", "card/actions", "card/sound")
    )
    assert set(keys) - set(keys_beside_sound) == {"l", "r"}
    for key in "plr-":
        assert f'"{key}"' in player, f"{key} is a key of the player"
    for key in "smucxfthw":
        assert f'"{key}"' in answers + actions, f"{key} is a command"
    assert '"Shift+u"' in actions
    for key in COMMANDS.upper():
        assert key in panels + answers, f"{key} is on the key sheet"


def test_guidelines_are_shown_if_set(home: Home, owner: int, show: Open) -> None:
    project = four_class_project(home, owner)
    assert not show(owner, "annotate.py", project=str(project)).expander
    change_room(Seat(home, owner, project), RoomSettings("Look *twice*. <b>x</b>"))
    page = show(owner, "annotate.py", project=str(project))
    (guidelines,) = page.expander
    assert guidelines.markdown[0].value == "Look *twice*. <b>x</b>"
    assert not guidelines.markdown[0].allow_html


def test_answer_on_page_leads_to_linked_project(home: Home, owner: int, show: Open, sent: list[dict[str, Any]]) -> None:
    """As if a proxy blocked the direct route."""
    species, behaviour = linked_projects(Seat(home, owner))
    loop.ask_next(species, 0)
    page = show(owner, "annotate.py", project=str(species.project_id))
    assert sent[-1]["walk"]["words"] == "1 of 2: species"
    question = sent[-1]["question"]
    pressing(page, "is", token=sent[-1]["token"], labels=[question["rows"][0]["label"]], shown=question["shown"])
    assert (sent[-1]["project"], sent[-1]["walk"]["words"]) == (behaviour.project_id, "2 of 2: behaviour")
    assert sent[-1]["saved"]["message"].startswith("Saved in species: row r0 is ")
    page.query_params["walk"] = str(species.project_id)  # AppTest keeps its own
    pressing(page, "undo", seq=sent[-1]["undoable"], at=sent[-1]["walk"]["undoAt"])
    assert (sent[-1]["project"], sent[-1]["question"]["view"]["id"]) == (species.project_id, "r0")


@pytest.fixture
def annotate_sent(monkeypatch: pytest.MonkeyPatch) -> list[dict[str, Any]]:
    """Data sent to the card, without a browser."""
    told: list[dict[str, Any]] = []
    for kind in (one_label_card, label_vectors_card):
        monkeypatch.setattr(kind, "_CARD", lambda data, **_: told.append(data))
    monkeypatch.setattr(question_card.st, "session_state", {})
    return told


def test_card_data_does_not_reveal_blind_checks(home: Home, owner: int, annotate_sent: list[dict[str, Any]]) -> None:
    project = four_class_project(home, owner)
    question = ask(home, owner, project)
    now = standing.standing(Seat(home, owner, project))
    one_label.question_card(Seat(home, owner, project), question)(now, None, lambda: None)
    (data,) = annotate_sent
    told = str(data)
    assert "mp" not in told.split("'"), "neither the strategy nor the score is told"
    assert "score" not in told
    assert [one["label"] for one in data["question"]["rows"]] == [one.label for one in question.candidates]
    assert [one["key"] for one in data["question"]["rows"]] == ["1", "2", "3"]
    assert data["question"]["none"]


def test_card_gets_words_that_support_each_candidate(
    home: Home, owner: int, annotate_sent: list[dict[str, Any]]
) -> None:
    project = text_project(home, owner)
    seat = Seat(home, owner, project)
    loop.get_ready(seat)
    question = loop.next_question(seat)
    one_label.question_card(seat, question)(standing.standing(seat), None, lambda: None)
    asked = annotate_sent[0]["question"]
    assert asked["marks"]
    told = {(one["text"], one["start"], one["end"], asked["rows"][one["candidate"]]["label"]) for one in asked["marks"]}
    assert told == {(0, mark.start, mark.end, mark.label) for mark in question.marks}
    assert {one["strength"] for one in asked["marks"]} <= {round(mark.strength, 2) for mark in question.marks}


def test_similar_rows_are_sent_on_request(home: Home, owner: int, annotate_sent: list[dict[str, Any]]) -> None:
    project = text_project(home, owner)
    seat = Seat(home, owner, project)
    answer_next(home, owner, project)
    question = loop.next_question(seat)
    draw = one_label.question_card(seat, question)
    assert wanted("similar", "token") is None
    draw(standing.standing(seat), None, lambda: None)
    assert annotate_sent[-1]["similar"] is None
    question_card.st.session_state[state.CARD] = {"press": None, "similar": {"token": question.token}}
    assert wanted("similar", "token") == question.token
    question_card.show_similar(question.token, loop.similar_rows(seat, question.token))
    draw(standing.standing(seat), None, lambda: None)
    told = annotate_sent[-1]["similar"]
    assert (told["token"], told["refused"]) == (question.token, None)
    (row,) = told["rows"]
    assert row["labels"] == [standing.standing(seat).last.labels[0]]
    assert row["text"]
    assert row["image"] is None
    pictured = loop.SimilarRow(RowView(0, "r", "files/a.png", None, ()), ("wren",))
    question_card.show_similar(question.token, (pictured,))
    assert question_card.st.session_state[state.SIMILAR]["rows"][0]["image"] == "files/a.png/small"
    question_card.show_similar("old", (), "No longer open.")
    draw(standing.standing(seat), None, lambda: None)
    assert annotate_sent[-1]["similar"] == {"token": "old", "refused": "No longer open.", "rows": []}


@pytest.mark.parametrize("model", ["plknn", "clpl", "vectors"])
def test_accuracy_on_card_matches_progress(
    home: Home, owner: int, show: Open, monkeypatch: pytest.MonkeyPatch, model: str
) -> None:
    if model == "vectors":
        project = vector_project(home, owner)
        loop.next_question(Seat(home, owner, project))
        home.shelf.settle(project)
        answer_truly(home, owner, project)
        parts = label_vectors
    else:
        project = small_project(home, owner, model=model, strategy="margin")
        answer_next(home, owner, project)
        parts = one_label
    seat = Seat(home, owner, project)
    draw = parts.question_card(seat, loop.next_question(seat))
    now, told = standing.standing(seat), []
    with monkeypatch.context() as drawing:
        for kind in (one_label_card, label_vectors_card):
            drawing.setattr(kind, "_CARD", lambda data, **_: told.append(data))
        drawing.setattr(question_card.st, "session_state", {})
        draw(now, None, lambda: None)
    name = "Known or sure" if model == "vectors" else "Settled"
    metric = next(one for one in show(owner, "progress.py", project=str(project)).metric if one.label == name)
    of = metric.delta if model != "vectors" else "of the empty labels"
    ending = "known or sure" if model == "vectors" else "settled"
    assert told[0]["counts"]["share"] == f"{metric.value} {of} {ending}"
    assert metric.value != "0%"


@pytest.mark.parametrize(
    ("kind", "labels", "words_said"),
    [
        ("among", ["ant", "bee"], "is one of ant, bee"),
        ("not", ["ant"], "is not ant"),
        ("none", [], "none of its candidates"),
        ("unsure", [], "you cannot tell"),
        ("bad", [], "excluded as a bad item"),
    ],
)
def test_each_kind_of_answer_shows_saved_message(
    home: Home, owner: int, annotate_sent: list[dict[str, Any]], kind: str, labels: list[str], words_said: str
) -> None:
    project = four_class_project(home, owner)
    question = ask(home, owner, project)
    loop.submit_answer(Seat(home, owner, project), question.token, kind, labels)
    now = standing.standing(Seat(home, owner, project))
    one_label.question_card(Seat(home, owner, project), None)(now, None, lambda: None)
    (data,) = annotate_sent
    assert words_said in data["saved"]["message"]
    latest = answer_words.given_before(now.history[0])
    assert words_said in latest["words"]
    assert data["undoable"] == latest["seq"]
    assert "history" not in data, "it is asked for when it is opened"


def test_digit_classes_use_their_own_keys() -> None:
    digits = replace(SILENT, digits=True)
    assert question_card.keys_of(digits, ("7", "0")) == "70"
    assert question_card.none_key(digits) == "-", "0 is a digit there"
    assert question_card.keys_of(digits)[:3] == "123", "of anything else, such as groups, in order"
    for other in (SILENT, replace(digits, heard=True)):
        assert question_card.keys_of(other, ("7", "0")).startswith("12"), "in order, as ever"
        assert question_card.none_key(other) == "0"


# A press of the card on the Answer page: its result is drawn, and nothing is queried twice


def noted(asked: list[str], name: str, ask_it: Callable[..., Any]) -> Callable[..., Any]:
    def noting(*given: Any, **more: Any) -> Any:
        asked.append(name)
        return ask_it(*given, **more)

    return noting


def test_question_returned_by_press_is_drawn_without_asking_again(
    home: Home, owner: int, show: Open, sent: list[dict[str, Any]], monkeypatch: pytest.MonkeyPatch
) -> None:
    project = four_class_project(home, owner)
    question = ask(home, owner, project)
    test = show(owner, "annotate.py", project=str(project))
    asked: list[str] = []
    with monkeypatch.context() as watched:
        for module, name in ((qualification, "now"), (press, "now"), (press, "press")):
            watched.setattr(module, name, noted(asked, f"{module.__name__}.{name}", getattr(module, name)))
        test.session_state[state.CARD] = {
            "press": PRESS | {"token": question.token, "kind": "is", "labels": list(question.choices[:1])}
        }
        test.run()
    assert not test.exception
    # The redraw that sends the press queries the database, as does the press; the redraw after it does not.
    assert asked == [
        "workflow.people.qualification.now",
        "workflow.answering.press.now",
        "workflow.answering.press.press",
        "workflow.answering.press.now",
    ]
    seat = Seat(home, owner, project)
    assert sent[-1]["token"] == loop.next_question(seat).token != question.token
    assert sent[-1]["counts"]["answered"] == standing.standing(seat).answered == 1
    assert goals.day(seat, None).answers == 1
    shown = len(sent)
    test.run()
    assert len(sent) > shown, "a page that is loaded asks again"
    assert sent[-1]["token"] == loop.next_question(seat).token


def test_page_asks_for_question_if_press_returned_none(
    home: Home, owner: int, show: Open, sent: list[dict[str, Any]], monkeypatch: pytest.MonkeyPatch
) -> None:
    project = four_class_project(home, owner)
    question = ask(home, owner, project)
    test = show(owner, "annotate.py", project=str(project))
    with monkeypatch.context() as late:
        late.setattr(press, "_next", lambda *_: None)
        test.session_state[state.CARD] = {"press": PRESS | {"token": question.token, "kind": "skip"}}
        test.run()
    assert not test.exception
    assert sent[-1]["token"] == loop.next_question(Seat(home, owner, project)).token != question.token


# Presses that no page of Winnow sends: each is refused with a message, nothing is stored, and the card does not change


HUGE = "9" * 9_000
SAID = "Not saved: "
MALFORMED = [said for _, said in every_malformed()][::12]
"""All of them are tested where answers are read; here, a sample shows that the page handles them."""


def send(test: AppTest, said: Any, trigger: str = "press") -> AppTest:
    test.session_state[state.CARD] = {trigger: said}
    return test.run()


@pytest.fixture
def vectors_sent(sent: list[dict[str, Any]], monkeypatch: pytest.MonkeyPatch) -> list[dict[str, Any]]:
    """`sent`, for the card of label vectors."""
    monkeypatch.setattr(label_vectors_card, "_CARD", one_label_card._CARD)
    return sent


def check_each_is_refused(test: AppTest, sent: list[dict[str, Any]], presses: list[Any]) -> None:
    token = sent[-1]["token"]
    for said in presses:
        turn = sent[-1]["turn"]
        send(test, said)
        assert not test.exception, said
        assert sent[-1]["saved"]["message"].startswith(SAID), ascii(said)[:80]
        assert (sent[-1]["token"], sent[-1]["turn"]) == (token, turn + 1), "the card listens again"


def test_malformed_presses_are_refused(
    home: Home, owner: int, show: Open, sent: list[dict[str, Any]], caplog: pytest.LogCaptureFixture
) -> None:
    project = four_class_project(home, owner)
    token = ask(home, owner, project).token
    test = show(owner, "annotate.py", project=str(project))
    fitting = PRESS | {"token": token}
    presses = [*MALFORMED]
    presses += [fitting | {"kind": kind} for kind in ("", "IS", "withdraw", "verdict", "__class__", "confirm\n")]
    presses += [fitting | {"labels": labels} for labels in ([], ["eel"], ["ant", "ant"], [""], [HUGE])]
    presses += [fitting | {"kind": "confirm", "labels": labels} for labels in (["x"], [HUGE], ["-1"])]
    presses += [PRESS | {"token": other, "labels": ["ant"]} for other in ("", "x", "1.1.1.1", token + "0")]
    presses += [PRESS | {"kind": "undo", "seq": seq} for seq in (0, 7, 2**31 - 1)]
    presses += [PRESS | {"kind": kind, "token": "x"} for kind in ("pause", "qualify", "confirm")]
    with caplog.at_level(logging.WARNING):
        check_each_is_refused(test, sent, presses)
    assert not [one for one in caplog.records if one.levelno >= logging.ERROR or one.exc_info]
    assert log(home, project) == []
    pressing(test, "is", token=token, labels=["ant"], note="kept")
    assert [(one.kind, one.note) for one in log(home, project)] == [("is", "kept")]


def test_malformed_presses_about_label_vectors_are_refused(
    home: Home, owner: int, show: Open, vectors_sent: list[dict[str, Any]]
) -> None:
    project = vector_project(home, owner)
    question = loop.next_question(Seat(home, owner, project))
    home.shelf.settle(project)
    test = show(owner, "annotate.py", project=str(project))
    presses = [*MALFORMED]
    presses += [PRESS | {"token": question.token, "kind": "labels", "labels": one} for one in (["eel"], [HUGE])]
    check_each_is_refused(test, vectors_sent, presses)
    assert log(home, project) == []


@pytest.mark.parametrize("trigger", ["similar", "panel", "here"])
def test_malformed_panel_request_shows_nothing(
    home: Home, owner: int, show: Open, sent: list[dict[str, Any]], trigger: str
) -> None:
    project = four_class_project(home, owner)
    ask(home, owner, project)
    test = show(owner, "annotate.py", project=str(project))
    for said in (*MALFORMED, {"token": "\0"}, {"wanted": "\ud800"}, {"wanted": [HUGE]}, {"token": "1.1.1"}):
        send(test, said, trigger)
        assert not test.exception
        assert sent[-1]["panel"] is None
        assert not (sent[-1]["similar"] or {}).get("rows")


def test_malformed_presses_about_disputes_are_refused(
    home: Home, owner: int, show: Open, sent: list[dict[str, Any]]
) -> None:
    seat, ada, ben = shared(Seat(home, owner))
    row = open_rows(seat, 3)[0]
    say(ada, row, "is", "ant")
    say(ben, row, "is", "bee")
    project = seat.project_id or 0
    before = log(home, project)
    test = show(owner, "disputes.py", project=str(project))
    opened = sent[-1]["token"]
    fitting = PRESS | {"token": opened}
    presses = [*MALFORMED]
    presses += [fitting | {"kind": kind} for kind in ("", "bad", "unsure", "pause", "x")]
    presses += [fitting | {"kind": "settle", "labels": labels} for labels in (["eel"], [HUGE])]
    presses += [PRESS | {"kind": "settle", "token": "x", "labels": ["ant"]}, PRESS | {"kind": "discuss"}]
    check_each_is_refused(test, sent, presses)
    pressing(test, "look", seq=2**31 - 1)
    assert "There is no row" in sent[-1]["saved"]["message"]
    assert sent[-1]["token"] == opened, "the dispute that was looked at stays"
    assert log(home, project) == before


def test_too_fast_clicks_are_refused_and_store_nothing(
    home: Home, owner: int, show: Open, sent: list[dict[str, Any]], monkeypatch: pytest.MonkeyPatch
) -> None:
    project = four_class_project(home, owner)
    token = ask(home, owner, project).token
    test = show(owner, "annotate.py", project=str(project))
    monkeypatch.setattr(type(home.attempts), "may_press", lambda _self, person: person != owner)
    pressing(test, "is", token=token, labels=["ant"])
    assert "more presses within a minute" in sent[-1]["saved"]["message"]
    assert log(home, project) == []
