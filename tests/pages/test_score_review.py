"""The part of the Review page that says how right the scores of the file are."""

from __future__ import annotations

from streamlit.testing.v1 import AppTest

from pages.parts import state
from tests.pages.conftest import Open, words
from tests.workflow.rows.test_scored import detections, say
from tests.workflow.world import annotator, small_project
from workflow.seat import Seat
from workflow.server.home import Home


def opened(show: Open, person: int, project: int) -> AppTest:
    """The Review page with the part open."""
    test = show(person, "review_page.py", project=str(project))
    assert not test.number_input, "nothing is counted before it is wanted"
    return test.toggle(f"{state.SCORES}-{project}-open").set_value(True).run()


def test_the_share_is_told_with_how_sure_it_is(home: Home, owner: int, show: Open) -> None:
    project = detections(home, owner)
    for row in range(0, 20, 5):
        say(Seat(home, owner, project), row, "wren")
    few = opened(show, owner, project)
    shown = words(few)
    assert (
        "**16 candidates** scored 0.7 or more. People have looked at 4 of them, and **4** are right." in shown
    )
    assert "Too few to say more: it takes 10 looked at." in shown
    for row in (*range(1, 20, 5), *range(2, 20, 5)):
        say(Seat(home, owner, project), row, "robin")
    test = opened(show, owner, project)
    shown = words(test)
    assert "looked at 12 of them, and **8** are right (67\u00a0%, between 39\u00a0% and 86\u00a0%)" in shown
    assert "Rows that Winnow chose because they are in doubt" in shown
    table = next(one.value for one in test.dataframe if "Share right" in one.value.columns)
    assert table["Label"].tolist() == ["wren", "robin", "tit"]
    assert table["Share right"].tolist()[2] == "not looked at"
    assert test.get("plotly_chart")


def test_a_label_is_chosen_and_one_of_its_rows_asked(home: Home, owner: int, show: Open) -> None:
    project = detections(home, owner)
    test = opened(show, owner, project)
    assert "No answers yet" in words(test)
    key = f"{state.SCORES}-{project}"
    test.number_input(f"{key}-from").set_value(0.85).run()
    test.selectbox(f"{key}-label").set_value("wren").run()
    assert "**4 candidates** of wren scored 0.85 or more" in words(test)
    test.button(f"{key}-ask").click().run()
    assert not test.exception


def test_without_scores_or_rights_there_is_no_such_part(home: Home, owner: int, show: Open) -> None:
    plain = small_project(home, owner)
    say(Seat(home, owner, plain), 0, "ant")
    scored = detections(home, owner)
    ben = annotator(home, owner, "Ben")
    say(Seat(home, ben, scored), 0, "wren")
    for person, project in ((owner, plain), (ben, scored)):
        test = show(person, "review_page.py", project=str(project))
        assert not [one for one in test.toggle if "scores of your file" in one.label]
