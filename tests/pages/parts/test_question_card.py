"""The question card and its parts."""

from __future__ import annotations

import math
from dataclasses import replace
from typing import Any

import pytest
from streamlit.testing.v1 import AppTest

from db import projects as stored
from pages.parts import class_box, one_label
from pages.parts import learner_form as part
from pages.parts.after_press import answered_before, card_after
from pages.parts.class_box import LISTED, offered, with_in_name
from pages.parts.create_parts import in_words
from pages.parts.question_card import _saved
from pages.parts.words import shortened
from plcore.evaluation import outside_rate
from plcore.loop import EntryKind
from tests.pages.conftest import PATIENCE, Open, by_label, pressing, words
from tests.pages.test_import_labels import choose, chosen
from tests.pages.test_pages import upload
from tests.present import present
from tests.workflow.importing.test_predictions import PEOPLE, ROLES, table
from tests.workflow.kind_worlds import WORLDS, KindWorld
from tests.workflow.world import annotator, small_project
from workflow import importing
from workflow.answering import loop, press
from workflow.answering import press as route
from workflow.importing.crowd import EarlierVotes, Voter
from workflow.kinds.shortlists import ShortlistView
from workflow.projects import standing
from workflow.projects.standing import Saved
from workflow.seat import Seat
from workflow.server.home import Home

# The card's Python side: shortened texts are marked


def test_text_is_cut_only_if_more_follows() -> None:
    assert shortened("four", 4) == "four"
    assert shortened("fourth", 4) == "fou…"
    assert shortened("one two", 5) == "one…", "no space stands before the ellipsis"
    assert shortened("", 4) == ""


@pytest.mark.parametrize(
    ("kind", "labels", "rows", "words"),
    [
        ("right", ("sea", "sky"), 1, "row r5 has sea, sky, by your verdict"),
        ("wrong", ("sea",), 1, "row r5 does not have sea, by your verdict"),
        ("verdict", ("bee",), 1, "row r5 is bee, by your verdict"),
        ("verdict", (), 1, "row r5 is a bad item, by your verdict"),
        ("is", ("bee",), 3, "3 rows are bee"),
        ("labels", ("sea",), 3, "3 rows are answered"),
    ],
)
def test_last_saved_entry_is_described(kind: str, labels: tuple[str, ...], rows: int, words: str) -> None:
    told = present(_saved(None, Saved(9, kind, 5, "r5", labels, rows=rows), None))
    assert told["message"] == f"Saved: {words}"


def test_every_kind_of_row_entry_has_its_own_words() -> None:
    of_no_row = {EntryKind.CLASS, EntryKind.ROWS, EntryKind.ASIDE, EntryKind.MODEL}
    for kind in set(EntryKind) - of_no_row:
        told = present(_saved(None, Saved(9, kind, 5, "r5", ("sea",)), None))
        assert not told["message"].endswith(f", {kind}")


# Card data after an answer, next to the page's own


#: Parts of the data that only the page sends: of its session, or its frame.
OF_THE_PAGE = {"tab", "turn", "drawing", "route", "person", "project", "similar", "panel", "examples"}


@pytest.mark.parametrize("world", WORLDS, ids=lambda world: world.name)
def test_card_data_of_every_kind_has_question_or_pause(world: KindWorld, home: Home, owner: int) -> None:
    seat = Seat(home, owner, world.make(Seat(home, owner)))
    after = press.now(seat, None)
    data = card_after(after)
    assert (data["token"], data["height"], data["offer"]) == (after.question.token, 0, None)
    assert not OF_THE_PAGE & set(data)
    assert card_after(after, "Not saved: so.")["saved"]["message"] == "Not saved: so."
    loop.pause(seat, after.question.token)
    paused = card_after(press.now(seat, None))
    assert (paused["token"], paused["question"], paused["empty"]["title"]) == (None, None, "Paused")


def test_owners_are_offered_export_once_nothing_is_left(home: Home, owner: int) -> None:
    project = small_project(home, owner)
    mine, ada = Seat(home, owner, project), Seat(home, annotator(home, owner, "Ada"), project)
    while (question := loop.next_question(mine)) is not None:
        loop.submit_answer(mine, question.token, "is", [question.choices[0]])
    offered = card_after(press.now(mine, None))
    assert offered["empty"]["title"] == "Nothing left to ask you"
    assert offered["offer"] == {"kind": "export", "text": "Export the labels"}
    assert card_after(press.now(ada, None))["offer"] is None


def test_finished_annotator_is_told_what_waits_for_others(home: Home, owner: int) -> None:
    project = small_project(home, owner, overlap=2, fold="majority", test_share=0.0)
    ada = Seat(home, annotator(home, owner, "Ada"), project)
    skipped = present(loop.next_question(ada))
    while (question := loop.next_question(ada)) is not None:
        same = question.view.row == skipped.view.row
        loop.submit_answer(ada, question.token, "unsure" if same else "is", [] if same else [question.choices[0]])
    loop.next_question(Seat(home, annotator(home, owner, "Ben"), project))  # on another screen, and not for Ada
    data, now = card_after(press.now(ada, None)), standing.standing(ada)
    assert now.elsewhere == 0
    assert (now.answered, now.put_off) == (0, 1)
    assert data["counts"]["begun"] == now.left - 1 > 1
    assert data["empty"]["message"] == (
        f"Waiting for other annotators: {now.left - 1}. You skipped or could not tell: 1. They stay open, and someone "
        "else may know. Use Undo or History to return to one."
    )


def test_earlier_answer_is_named_in_refusal() -> None:
    assert answered_before(Saved(3, "is", 5, "r5", ("ant",))).endswith(
        "already answered (ant), in another tab perhaps."
    )
    assert "already answered (skip)" in answered_before(Saved(3, "skip", 5, "r5", ()))


# Message about a refused answer, and how long it stays


def test_answer_during_redraw_keeps_new_question(
    home: Home, owner: int, show: Open, sent: list[dict[str, Any]], monkeypatch: pytest.MonkeyPatch
) -> None:
    seat = Seat(home, owner, small_project(home, owner))
    real = one_label.question_card

    def pressed_meanwhile(there: Seat, question: Any, *more: Any) -> Any:
        route.press(there, question.token, "skip")
        return real(there, question, *more)

    monkeypatch.setattr(one_label, "question_card", pressed_meanwhile)
    show(owner, "annotate.py", project=str(seat.project_id))
    assert sent[-1]["height"] == standing.standing(seat).height - 1, "it is as old as its question"


def test_refusal_disappears_after_next_stored_answer(
    home: Home, owner: int, show: Open, sent: list[dict[str, Any]]
) -> None:
    seat = Seat(home, owner, small_project(home, owner))
    page = show(owner, "annotate.py", project=str(seat.project_id))
    pressing(page, "pause", token="x")
    assert sent[-1]["saved"]["tone"] == "bad"
    page.run()
    assert sent[-1]["saved"]["tone"] == "bad", "until something else is saved"
    route.press(seat, loop.next_question(seat).token, "skip")  # past the page
    page.run()
    assert sent[-1]["saved"]["tone"] == "good"


# Choosing a class of few, which are all listed, and of thousands, whose names are typed


MANY = tuple(f"class {number:05d}" for number in range(100_000))


def page(classes: tuple[str, ...]) -> None:
    import streamlit as st

    from pages.parts.class_box import class_box

    st.session_state["found"] = class_box("Label", classes, key="label")


def drawn(classes: tuple[str, ...], typed: str | None = None) -> AppTest:
    test = AppTest.from_function(page, args=(classes,), default_timeout=PATIENCE)
    if typed is not None:
        test.session_state["label"] = typed
    return test.run()


def test_few_classes_are_all_listed() -> None:
    test = drawn(("a", "b"))
    assert test.selectbox[0].options == ["a", "b"]
    test.selectbox[0].set_value("b").run()
    assert test.session_state["found"] == "b"


def test_many_classes_list_first_and_accept_typed_names() -> None:
    test = drawn(MANY)
    assert test.selectbox[0].options == list(MANY[:LISTED])
    assert test.session_state["found"] is None
    test = drawn(MANY, "class 98765")
    assert test.session_state["found"] == "class 98765"
    assert not test.caption


@pytest.mark.parametrize(
    ("typed", "said"),
    [
        ("9876", "No class is called 9876. Classes with this in their name: class 09876, class 19876, class 29876, "),
        ("<b>", "No class is called \\<b\\>."),
    ],
)
def test_invalid_name_is_reported(typed: str, said: str) -> None:
    test = drawn(MANY, typed)
    assert test.session_state["found"] is None
    assert test.caption[0].value.startswith(said)


def test_selected_class_is_listed_first(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(class_box, "LISTED", 2)
    assert offered(("a", "b", "c"), ["c", "a"]) == {"options": ["c", "a", "b"], "accept_new_options": True}
    assert offered(("a", "b"), ["b"]) == {"options": ["a", "b"], "accept_new_options": False}


def test_class_search_matches_substring_in_any_case() -> None:
    assert with_in_name(("Barn owl", "Snowy OWL", "wren"), " owl ") == ["Barn owl", "Snowy OWL"]


# Texts about shortlists: missing checks, promised and measured coverage


VIEW = ShortlistView(
    promise=0.95,
    leaves_out=True,
    weighs_own=False,
    in_full=0.2,
    drawn=200,
    outside=outside_rate(2, 120),
    in_force=True,
    held=93,
    measured=97,
    asked=310,
    none=12,
    others=20,
)


def test_shortlist_words_compare_measured_rate_with_promise() -> None:
    assert part.measured_in_words(VIEW) == "promised 95%, held in 93 of 97 checks (96%, 90 to 99%)"
    assert part.measured_in_words(replace(VIEW, held=0, measured=0)) == ""
    assert part.answers_in_words(VIEW) == (
        "Of 310 answers to shortlisted questions 12 said “none of these” (4%, 2 to 7%), 20 named a hidden choice."
    )
    assert part.answers_in_words(replace(VIEW, asked=0)) == ""
    assert "In 2 of 120 blind checks (2%, 0 to 6%)" in part.outside_in_words(VIEW)
    assert part.outside_in_words(replace(VIEW, outside=outside_rate(0, 0))) == ""


def test_shortlist_state_is_described(subtests: pytest.Subtests) -> None:
    for changed, said in [
        ({"promise": None}, "All choices are shown."),
        ({"drawn": 0}, "no blind checks to measure with"),
        ({"leaves_out": False}, "PL-KNN and Kernel ridge leave the row out"),
        ({"weighs_own": True, "in_force": False}, "but not those of blind checks"),
        ({"in_full": 1.0, "in_force": False}, "at least a third of the questions are blind checks"),
        ({"outside": outside_rate(0, 12), "in_force": False}, "7 more blind checks must be answered for 95%"),
        ({"outside": outside_rate(0, 18), "in_force": False}, "1 more blind check must be answered for 95%"),
        ({"outside": outside_rate(9, 60), "in_force": False}, "In 9 of 60 blind checks the truth was none"),
        ({"in_force": False}, "The next model version includes the blind checks"),
        ({"outside": outside_rate(0, 40)}, "below 100 the promise is uncertain"),
        ({}, "From 120 blind checks."),
    ]:
        with subtests.test(str(changed)):
            assert said in part.standing_in_words(replace(VIEW, **changed))  # type: ignore[arg-type]


# Imported votes: the import check and the project settings describe the voters, in words and a table


ONE = Voter("Ann", 3, 0.5, 0.9, "")


def test_import_check_lists_voters_and_guessers(owner: int, show: Open) -> None:
    data = table().cells.rename(columns={name: f"annotator_{name}" for name in PEOPLE})
    test = upload(show(owner, "import_table.py"), data.to_csv(index=False).encode())
    said = words(test)
    assert "Imported votes" in said
    assert "5 voters gave 600 votes on 200 rows" in said
    assert "Krippendorff's alpha" in said
    assert "One voter seems to guess" in said
    assert "annotator\\_Eve" in said or "annotator_Eve" in said
    shown = next(one.value for one in test.dataframe if "Voter" in one.value.columns)
    assert set(shown["Voter"]) == {f"annotator_{name}" for name in PEOPLE}
    assert shown.set_index("Voter")["Seems to guess"]["annotator_Eve"] == "yes"


def test_votes_can_be_weighted_by_voter_accuracy(home: Home, owner: int, show: Open) -> None:
    data = table(40).cells.rename(columns={name: f"annotator_{name}" for name in PEOPLE})
    test = upload(show(owner, "import_table.py"), data.to_csv(index=False).encode())
    radio = by_label(test.radio, "How much a vote counts")
    assert radio.value == "counts"
    radio.set_value("dawid-skene")
    test.run()
    assert not test.exception
    by_label(test.button, "Create project").click().run()
    assert not test.exception
    with home.database.read() as session:
        (made,) = stored.listed(session)
    assert made.roles["vote_weights"] == "dawid-skene"


def test_voter_column_of_long_table_can_be_removed(owner: int, show: Open) -> None:
    lines = ["task,worker,label,length"]
    for row in range(12):
        lines += [f"t{row},{who},{'wren' if row % 2 else 'owl'},{row}" for who in ("Ann", "Bob")]
    lines += ["t0,Cy,wren,0"]
    test = upload(show(owner, "import_table.py"), "\n".join(lines).encode())
    assert chosen(test, "Who named each label (optional)") == "sources"
    assert "3 voters gave 25 votes on 12 rows" in words(test)
    assert "Agreement cannot be computed: only 12 rows" in words(test)
    choose(test, "Who named each label (optional)", "")
    assert "Imported votes" not in words(test)


def test_project_settings_show_voters(home: Home, owner: int, show: Open) -> None:
    project = importing.create(Seat(home, owner), "voted", table(40))
    test = show(owner, "project_page.py", project=str(project))
    assert "5 voters gave 120 votes on 40 rows" in words(test)


def test_project_without_voters_explains_how_to_add_them(home: Home, owner: int, show: Open) -> None:
    cells = table(40).cells
    roles = importing.Roles(candidates="Ann", numbers=ROLES.numbers)
    plain = importing.LabelTable.from_cells(cells[cells["Ann"] != ""].reset_index(drop=True), roles)
    project = importing.create(Seat(home, owner), "plain", plain)
    test = show(owner, "project_page.py", project=str(project))
    assert "has no voters" in words(test)


@pytest.mark.parametrize(
    ("found", "wanted"),
    [
        (
            EarlierVotes((ONE, ONE), 1, 1, 1.0, math.nan, math.nan, math.nan, "Only 1 row has."),
            "1 vote on 1 row. Agreement cannot",
        ),
        (EarlierVotes((ONE, ONE), 9, 5, 0.5, 0.61, 0.5, 0.7, ""), "0.61, 95% confidence interval 0.50 to 0.70"),
        (EarlierVotes((ONE, ONE), 9, 5, 0.5, 0.61, 0.5, 0.7, ""), "Figures are from 50% of the rows"),
        (EarlierVotes((ONE, ONE), 9, 5, 1.0, 0.61, math.nan, math.nan, ""), "agreement: 0.61 (Kripp"),
    ],
)
def test_voters_are_described_in_words(found: EarlierVotes, wanted: str) -> None:
    assert wanted in in_words(found)
