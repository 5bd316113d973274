"""The pages of disputes and the queue, and the review of scores."""

from __future__ import annotations

from dataclasses import replace
from datetime import UTC, datetime
from typing import Any

import numpy as np
from streamlit.testing.v1 import AppTest

from pages.parts import other_cards, state
from tests.pages.conftest import Open, listed, open_in_list, pressing, sent_to, words
from tests.workflow.people.test_disputes import member, open_rows, say, shared
from tests.workflow.rows.test_rows import detections
from tests.workflow.rows.test_rows import say as scores_say
from tests.workflow.text_world import text_frame, text_project
from tests.workflow.vector_world import vector_project
from tests.workflow.world import annotator, opened, small_project
from workflow.answering import loop
from workflow.people import disputes
from workflow.people.disputes import Dispute, DisputeLine, DisputeList, NamedNote, Opinion
from workflow.projects import managing
from workflow.rows import queue, reviewing
from workflow.rows.row import RowView
from workflow.seat import Seat
from workflow.server.home import Home

# The Disputes page: data of the card, effect of a press, and the message without disputes


AT = datetime(2026, 5, 4, 12, 30, tzinfo=UTC)
VIEW = RowView(3, "r3", None, "a text", ())
OPENED = Dispute(
    VIEW,
    "token",
    (
        Opinion("Ada", ("wren",), AT, 6.12, "The rattle."),
        Opinion("Ben", ("dunnock", "wren"), AT, None, None),
        Opinion("Cem", (), AT, 2.0, None),
    ),
    ("dunnock", "robin", "wren"),
    ("dunnock", "robin", "tit", "wren"),
    {"dunnock": 0.4, "robin": 0.1, "wren": 0.5},
    "",
    (NamedNote("Eve", AT, "Listen again."),),
)
FOUND = DisputeList((DisputeLine(3, "r3", (("wren",), ()), (2, 1), 0.8, 0.9),), 7, 2, several=True, by_row=True)


def data_of(found: DisputeList = FOUND, opened: Dispute | None = OPENED, **more: Any) -> dict[str, Any]:
    given = {"zone": "Europe/Berlin", "notice": None, "saved": None, "undoable": None, **more}
    return other_cards.dispute_data(found, opened, {"wren": "small and brown"}, **given)


def test_card_lists_opinions_and_most_frequent_labels_first() -> None:
    question = data_of()["question"]
    assert [(one["key"], one["label"], one["about"]) for one in question["rows"]] == [
        ("1", "wren", "1 of 3 people, 1 maybe · small and brown"),
        ("2", "dunnock", "1 maybe"),
        ("3", "robin", "no one"),
    ]
    assert [one["probability"] for one in question["rows"]] == [0.5, 0.4, 0.1]
    assert all(one["shown"] for one in question["rows"])
    assert question["said"] == [
        {"person": "Ada", "names": [["wren", 0]], "when": "4 May 2026, 14:30 · 6.1 s", "note": "The rattle."},
        {"person": "Ben", "names": [["dunnock", 1], ["wren", 0]], "when": "4 May 2026, 14:30", "note": ""},
        {"person": "Cem", "names": [["bad item", None]], "when": "4 May 2026, 14:30 · 2.0 s", "note": ""},
    ]
    assert question["notes"] == [{"person": "Eve", "when": "4 May 2026, 14:30", "text": "Listen again."}]
    assert question["list"] == [
        {"row": 3, "id": "Row r3", "words": "wren / bad item", "shares": [[0, 2], [None, 1]], "current": True}
    ]
    assert (question["total"], question["nClasses"]) == (7, 4)


def test_label_has_same_mark_everywhere_on_card() -> None:
    """The most frequent answers first, ties by name; labels beyond the fourth, or without an answer, have none."""
    opinions = [("b", "c"), ("c",), ("a",), ("d",), ("e",)]
    opened = replace(
        OPENED,
        opinions=tuple(Opinion("Ada", labels, AT, None, None) for labels in opinions),
        candidates=(*"abcdef",),
        shares={"f": 1.0},
    )
    line = DisputeLine(3, "r3", tuple(opinions), (1,) * len(opinions), 0.8, 0.9)
    question = data_of(replace(FOUND, lines=(line,)), opened)["question"]
    assert {one["label"]: one["mark"] for one in question["rows"]} == {
        "c": 0,
        "a": 1,
        "b": 2,
        "d": 3,
        "e": None,
        "f": None,
    }
    assert [one["names"] for one in question["said"]][:2] == [[["b", 2], ["c", 0]], [["c", 0]]]
    assert question["list"][0]["shares"] == [[0, 2], [1, 1], [2, 1], [3, 1], [None, 1]]


def test_hidden_model_shares_are_not_sent() -> None:
    hidden = replace(OPENED, shares={}, why_not=disputes.BLIND_CHECK)
    question = data_of(opened=hidden)["question"]
    assert question["model"] == disputes.BLIND_CHECK
    assert {(one["probability"], one["shown"]) for one in question["rows"]} == {(0.0, False)}


def test_unknown_time_zone_is_utc() -> None:
    for zone in (None, "Nowhere/At all"):
        assert "12:30" in data_of(zone=zone)["question"]["said"][0]["when"]


def test_card_reports_saved_or_refused_decision() -> None:
    assert data_of()["saved"]["tone"] == "quiet"
    assert data_of(saved="Saved")["saved"] == {"tone": "good", "message": "Saved", "seq": None, "row": None}
    assert data_of(saved="Saved", notice="Not saved: x")["saved"]["message"] == "Not saved: x"


def test_card_without_disputes_explains_next_step() -> None:
    nothing = DisputeList((), 0, 0, several=True, by_row=True)
    assert data_of(nothing, None)["empty"]["message"] == other_cards.NOBODY
    assert data_of(nothing, None)["offer"] is None
    assert data_of(nothing, None, undoable=9)["offer"] == {"kind": "undo", "text": "Undo my latest verdict"}
    alone = DisputeList((), 0, 0, several=False, by_row=True)
    assert "Project settings" in data_of(alone, None)["empty"]["message"]


def test_presses_open_settle_undo_and_note_dispute(
    home: Home, owner: int, show: Open, sent: list[dict[str, Any]]
) -> None:
    seat, ada, ben = shared(Seat(home, owner))
    for row in open_rows(seat, 3)[:2]:
        say(ada, row, "is", "ant")
        say(ben, row, "is", "bee")
    first, second = (one.row for one in disputes.list_disputes(seat).lines)
    test = show(owner, "disputes.py", project=str(seat.project_id))
    assert sent[-1]["question"]["view"]["id"] == f"r{first}"
    pressing(test, "look", seq=second)
    assert sent[-1]["question"]["view"]["id"] == f"r{second}"
    pressing(test, "discuss", note="Look at the wings.")
    assert sent[-1]["saved"]["message"] == "Your note is saved"
    assert [one["text"] for one in sent[-1]["question"]["notes"]] == ["Look at the wings."]
    pressing(test, "settle", token="old", labels=["ant"])
    assert sent[-1]["saved"]["message"].startswith("Not saved: ")
    assert disputes.count_open(seat) == 2
    pressing(test, "settle", token=sent[-1]["token"], labels=["ant"], note="No wings.")
    assert sent[-1]["saved"]["message"] == f"Saved: row r{second}, verdict: ant"
    assert sent[-1]["question"]["view"]["id"] == f"r{first}", "the next one"
    assert (sent[-1]["counts"]["answered"], sent[-1]["counts"]["left"]) == (1, 1)
    pressing(test, "undo", seq=sent[-1]["undoable"])
    assert sent[-1]["question"]["view"]["id"] == f"r{second}"
    assert disputes.count_open(seat) == 2
    for _ in range(2):  # from the search; no label is a bad item
        pressing(test, "none", token=sent[-1]["token"], labels=[])
    assert sent[-1]["question"] is None
    pressing(test, "settle", token="any")
    assert sent[-1]["saved"]["message"] == "Not saved: You have no open dispute on screen."


def test_annotator_cannot_open_disputes_page(home: Home, owner: int, show: Open) -> None:
    seat, ada, _ = shared(Seat(home, owner))
    test = show(ada.person_id, "disputes.py", project=str(seat.project_id))
    assert "Only reviewers and owners can open this page." in words(test)
    eve = member(seat, "Eve", "reviewer")
    assert "can open this page" not in words(show(eve.person_id, "disputes.py", project=str(seat.project_id)))


def test_label_vectors_point_to_review_for_disputes(home: Home, owner: int, show: Open) -> None:
    project = vector_project(home, owner)
    test = show(owner, "disputes.py", project=str(project))
    assert "a correction there resolves its labels" in words(test)
    assert [one.proto.label for one in test.get("page_link")] == ["Team", "Review"]


def test_home_shows_open_disputes_to_reviewers_only(home: Home, owner: int, show: Open) -> None:
    seat, ada, ben = shared(Seat(home, owner))
    row = open_rows(seat, 3)[0]
    say(ada, row, "is", "ant")
    assert managing.get_project(seat).disputes == 0
    say(ben, row, "bad")
    assert managing.get_project(seat).disputes == 1
    assert managing.get_project(ada).disputes == 0
    for who, told in ((owner, True), (ada.person_id, False)):
        test = show(who, "home.py")
        assert ("1 dispute waits for you" in words(test)) is told
        assert ("Resolve" in [one.label for one in test.button]) is told


def test_progress_names_disputed_blind_checks_left_out(home: Home, owner: int, show: Open) -> None:
    made = small_project(home, owner, overlap=2, fold="majority", test_share=0.0, control_share=0.5)
    seat = Seat(home, owner, made)
    ada, ben = (member(seat, name) for name in ("Ada", "Ben"))
    with opened(home, owner, made) as learner:
        pool = learner.pool
        row = next(row for row in np.flatnonzero(pool.control_rows).tolist() if pool.sizes[row] > 1)
        names = learner.state(row).original
    for who, label in ((ada, names[0]), (ben, names[1])):
        question = loop.ask_next(who, row, drawn=True)
        loop.submit_answer(who, question.token, "is", [label])
    test = show(owner, "progress.py", project=str(made))
    assert "1 row that is a blind check is not counted in the accuracy" in words(test)
    reviewing.correct(seat, row, reviewing.open_row(seat, row).token, "is", [names[0]])
    assert "not counted in the accuracy" not in words(show(owner, "progress.py", project=str(made)))


def test_progress_links_to_open_disputes(home: Home, owner: int, show: Open) -> None:
    seat, ada, ben = shared(Seat(home, owner))
    row = open_rows(seat, 3)[0]
    say(ada, row, "is", "ant")
    say(ben, row, "bad")
    test = show(owner, "progress.py", project=str(seat.project_id))
    links = [one.proto.label for one in test.get("page_link")]
    assert "1 dispute to resolve" in links
    listing = show(owner, "queue_page.py", project=str(seat.project_id))
    assert "Disputed :small[1]" in [one.proto.label for one in listing.get("page_link")]


# The part of the Review page that says how right the scores of the file are


def score_review_opened(show: Open, person: int, project: int) -> AppTest:
    """The Review page with the scores opened."""
    test = show(person, "review_page.py", project=str(project))
    assert not test.number_input, "nothing is counted before it is wanted"
    return test.toggle(f"{state.SCORES}-{project}-open").set_value(True).run()


def test_share_of_right_scores_has_its_interval(home: Home, owner: int, show: Open) -> None:
    project = detections(home, owner)
    for row in range(0, 20, 5):
        scores_say(Seat(home, owner, project), row, "wren")
    few = score_review_opened(show, owner, project)
    shown = words(few)
    assert "**16 candidates** scored 0.7 or more. People have looked at 4 of them, and **4** are right." in shown
    assert "Too few to estimate: at least 10 must be checked by a person." in shown
    for row in (*range(1, 20, 5), *range(2, 20, 5)):
        scores_say(Seat(home, owner, project), row, "robin")
    test = score_review_opened(show, owner, project)
    shown = words(test)
    assert "looked at 12 of them, and **8** are right (67%, between 39% and 86%)" in shown
    assert "Uncertain rows are wrong more often than others" in shown
    table = next(one.value for one in test.dataframe if "Share right" in one.value.columns)
    assert table["Label"].tolist() == ["wren", "robin", "tit"]
    assert table["Share right"].tolist()[2] == "not looked at"
    assert test.get("plotly_chart")


def test_score_review_asks_row_of_chosen_label(home: Home, owner: int, show: Open) -> None:
    project = detections(home, owner)
    test = score_review_opened(show, owner, project)
    assert "No answers yet" in words(test)
    key = f"{state.SCORES}-{project}"
    test.number_input(f"{key}-from").set_value(0.85).run()
    test.selectbox(f"{key}-label").set_value("wren").run()
    assert "**4 candidates** of wren scored 0.85 or more" in words(test)
    test.button(f"{key}-ask").click().run()
    assert not test.exception


def test_score_review_is_hidden_without_scores_or_right(home: Home, owner: int, show: Open) -> None:
    plain = small_project(home, owner)
    scores_say(Seat(home, owner, plain), 0, "ant")
    scored = detections(home, owner)
    ben = annotator(home, owner, "Ben")
    scores_say(Seat(home, ben, scored), 0, "wren")
    for person, project in ((owner, plain), (ben, scored)):
        test = show(person, "review_page.py", project=str(project))
        assert not [one for one in test.toggle if "scores of your file" in one.label]


# Queue: each line begins with the row's content, and a click opens the row in the drawer


def test_clicked_queue_row_is_shown_and_can_be_asked(home: Home, owner: int, show: Open) -> None:
    for project, words_of_it in (
        (small_project(home, owner), "Ask this row next"),
        (vector_project(home, owner, question="cell"), "Ask this next"),
    ):
        seat = Seat(home, owner, project)
        test = show(owner, "queue_page.py", project=str(project))
        assert sent_to(test, "winnow_row_drawer") == []
        assert not [one for one in test.button if one.label == words_of_it]
        seat.settle()  # no model changes the order between two looks
        wanted = queue.list_queue(seat).rows[3]
        open_in_list(test, project, wanted.row, state.QUEUE)
        (head,) = sent_to(test, "winnow_row_drawer")
        assert head == {"title": f"Row {wanted.row_id}", "at": 3, "count": len(listed(test))}
        (ask,) = (one for one in test.button if one.label == words_of_it)
        ask.click().run()
        assert not test.exception
        question = loop.next_question(seat)
        assert question.view.row == wanted.row
        assert getattr(question, "label", None) == getattr(wanted, "label", None)


def test_click_on_missing_queue_row_shows_nothing(home: Home, owner: int, show: Open) -> None:
    for project in (small_project(home, owner), vector_project(home, owner)):
        test = show(owner, "queue_page.py", project=str(project))
        open_in_list(test, project, 10_000, state.QUEUE)
        assert not test.exception
        assert sent_to(test, "winnow_row_drawer") == []


def test_queue_of_texts_shows_text_column(home: Home, owner: int, show: Open) -> None:
    project = text_project(home, owner)
    test = show(owner, "queue_page.py", project=str(project))
    lines = listed(test)
    assert "Picture" not in lines.columns
    texts = text_frame().set_index("id")["text"]
    assert lines["Text"].tolist() == texts[lines["Row"]].tolist()
