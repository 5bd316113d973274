"""Review and Map of a project of label vectors, as their scripts draw them."""

from __future__ import annotations

import pytest
from streamlit.testing.v1 import AppTest

from tests.pages.conftest import Open, open_at_side, words
from tests.pages.test_owner_pages import box, button
from tests.workflow.kinds.label_vectors.test_reviewing import ask, find, open_row, stands
from tests.workflow.vector_world import answer_truly, vector_project
from tests.workflow.world import annotator, small_project
from workflow.rows import reviewing
from workflow.seat import Seat
from workflow.server.home import Home

SAVE = "Save the correction"


def named(test: AppTest, label: str):
    return box(test.multiselect, label)


def test_answers_are_found_and_a_label_corrected(home: Home, owner: int, show: Open) -> None:
    project = vector_project(home, owner, question="cell")
    assert "No answers yet" in words(show(owner, "review_page.py", project=str(project)))
    ada = annotator(home, owner, "Ada")
    row, labels = open_row(home, owner, project, 3)
    ask(home, ada, project, row, labels[0], "yes")
    ask(home, ada, project, row, labels[1], "no")
    test = show(owner, "review_page.py", project=str(project))
    assert list(test.dataframe[0].value.Answer) == [f"no to {labels[1]}", f"yes to {labels[0]}"]
    assert "2 answers" in words(test)
    box(test.selectbox, "Answer").set_value("yes").run()
    assert list(test.dataframe[0].value.Answer) == [f"yes to {labels[0]}"]
    box(test.selectbox, "Label").set_value(labels[1]).run()
    assert "No answer fits" in words(test)
    box(test.selectbox, "Label").set_value(None).run()
    assert box(test.selectbox, "Label").proto.placeholder == "any", "and not 'Choose an option'"
    open_at_side(test, project, row)
    assert f"Row r{row}" in words(test)
    standing = test.dataframe[-2].value.set_index("Label")
    assert (standing.Now[labels[0]], standing.Now[labels[1]], standing.Now[labels[2]]) == (
        "yes",
        "no",
        "not known",
    )
    assert standing["Said by"][labels[0]] == "Ada"
    assert labels[0] not in named(test, "Is right").options
    assert set(named(test, "Not known any more").options) == set(labels[:2])
    named(test, "Is right").set_value([labels[1], labels[2]])
    named(test, "Not known any more").set_value([labels[0]])
    box(test.text_input, "Note (optional)").set_value("seen again")
    button(test, SAVE).click().run()
    assert not test.exception
    assert not test.error
    now = stands(home, owner, project, row)
    assert [now[label] for label in labels[:3]] == [-1, 1, 1]
    assert [toast.value.replace("\\", "") for toast in test.toast] == [
        f"Saved: row r{row} is right: {labels[1]}, {labels[2]}; not known any more: {labels[0]}"
    ]
    told = test.dataframe[-1].value
    assert list(told.Said) == [
        f"yes to {labels[0]} (taken back)",
        f"no to {labels[1]}",
        f"took an answer back: {labels[0]}",
        f"yes to {labels[1]}, {labels[2]}",
    ]
    assert list(told.Note) == ["", "", "seen again", "seen again"]


def test_a_label_in_two_boxes_is_refused_and_what_was_chosen_stays(
    home: Home, owner: int, show: Open
) -> None:
    project = vector_project(home, owner, question="cell")
    row, labels = open_row(home, owner, project, 2)
    ask(home, owner, project, row, labels[0], "unsure")
    test = show(owner, "review_page.py", project=str(project))
    open_at_side(test, project, row)
    named(test, "Is right").set_value([labels[1]])
    named(test, "Is not right").set_value([labels[1]])
    button(test, SAVE).click().run()
    assert f"{labels[1]} is in two boxes" in words(test)
    assert named(test, "Is right").value == [labels[1]]
    assert stands(home, owner, project, row)[labels[1]] == -1
    named(test, "Is not right").set_value([])
    button(test, SAVE).click().run()
    assert not test.error
    assert stands(home, owner, project, row)[labels[1]] == 1


def test_a_row_that_changed_since_it_was_drawn_is_not_corrected(home: Home, owner: int, show: Open) -> None:
    project = vector_project(home, owner, question="cell")
    ada = annotator(home, owner, "Ada")
    row, labels = open_row(home, owner, project, 2)
    ask(home, ada, project, row, labels[0], "yes")
    test = show(owner, "review_page.py", project=str(project))
    open_at_side(test, project, row)
    named(test, "Is not right").set_value([labels[0]])
    ask(home, ada, project, row, labels[1], "yes")
    button(test, SAVE).click().run()
    assert "have changed since you opened it" in words(test)
    assert stands(home, owner, project, row)[labels[0]] == 1
    named(test, "Is not right").set_value([labels[0]])
    button(test, SAVE).click().run()
    assert not test.error
    assert stands(home, owner, project, row)[labels[0]] == 0


def test_a_bad_item_is_set_aside_and_brought_back(home: Home, owner: int, show: Open) -> None:
    project = vector_project(home, owner, question="instance")
    row = answer_truly(home, owner, project).row
    test = show(owner, "review_page.py", project=str(project))
    open_at_side(test, project, row)
    box(test.radio, "The right answer").set_value("bad").run()
    assert not test.multiselect
    button(test, SAVE).click().run()
    assert find(home, owner, project) == [(row, "bad", ())]
    assert "A bad item: taken out." in words(test)
    assert "what people have said: it brings the row back." in words(test)
    button(test, SAVE).click().run()
    assert not reviewing.open_row(Seat(home, owner, project), row).out
    assert "taken out" not in words(test)


def test_an_annotators_review_shows_their_own_answers(home: Home, owner: int, show: Open) -> None:
    project = vector_project(home, owner, question="cell")
    ada = annotator(home, owner, "Ada")
    row, labels = open_row(home, owner, project, 2)
    ask(home, owner, project, row, labels[0], "yes")
    assert "You have not answered" in words(show(ada, "review_page.py", project=str(project)))
    ask(home, ada, project, row, labels[1], "yes")
    test = show(ada, "review_page.py", project=str(project))
    assert list(test.dataframe[0].value.Person) == ["Ada"]
    assert not [one for one in test.selectbox if one.label == "Person"]
    open_at_side(test, project, row)
    assert set(named(test, "Not known any more").options) == {labels[1]}
    assert set(test.dataframe[-1].value.Person) == {"Ada"}


@pytest.mark.parametrize("question", ["instance", "cell"])
def test_the_map_counts_the_rows_by_state(home: Home, owner: int, show: Open, question: str) -> None:
    project = vector_project(home, owner, question=question)
    answer_truly(home, owner, project)
    test = show(owner, "map_page.py", project=str(project))
    box(test.radio, "Colour by").set_value("State").run()
    assert len(test.get("plotly_chart")) == 1
    assert "some label can still be asked about" in words(test)
    other = show(owner, "map_page.py", project=str(small_project(home, owner)))
    box(other.radio, "Colour by").set_value("State").run()
    assert "have one label" in words(other)
