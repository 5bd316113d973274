"""The Team page and each person's own box, as their scripts draw them."""

from __future__ import annotations

import pytest
from streamlit.testing.v1 import AppTest

from db import entries
from pages.parts import progress_parts
from tests.pages.conftest import Open, words
from tests.workflow.world import annotator, small_frame, small_project
from workflow.answering import loop
from workflow.people import figures
from workflow.people.figures import CountedShare
from workflow.seat import Seat
from workflow.server.home import Home


@pytest.fixture
def project(home: Home, owner: int) -> int:
    return small_project(home, owner, overlap=2, fold="majority", test_share=0.3)


def answered(home: Home, person: int, project: int, *, right: bool, times: int) -> None:
    seat = Seat(home, person, project)
    for _ in range(times):
        question = loop.next_question(seat)
        assert question is not None
        true = str(small_frame().truth[question.view.row])
        wrong = next(one for one in question.choices if one != true)
        loop.submit_answer(seat, question.token, "is", [true if right else wrong])


def table(test: AppTest) -> dict[str, list[str]]:
    return {name: list(column) for name, column in test.dataframe[0].value.items()}


def test_nobody_has_answered_yet(owner: int, project: int, show: Open) -> None:
    assert "Nobody has answered yet" in words(show(owner, "team_page.py", project=str(project)))


def test_each_person_has_a_line_and_is_set_aside_and_back(
    home: Home, owner: int, project: int, show: Open
) -> None:
    ada, ben = annotator(home, owner, "Ada"), annotator(home, owner, "Ben")
    for _ in range(12):
        answered(home, ada, project, right=True, times=1)
        answered(home, ben, project, right=False, times=1)
    test = show(owner, "team_page.py", project=str(project))
    shown = table(test)
    assert shown["Person"] == ["Ada", "Ben"]
    assert shown["Answers"] == [12, 12]
    assert shown["Same as others"] == [progress_parts.share(CountedShare(0, 12))] * 2
    assert "12 rows" in words(test)  # too few for a figure of agreement
    assert "-0." not in words(test)
    test.selectbox[-1].set_value(ben).run()
    assert "What they mix up is shown once they share 30 answers" in words(test)
    test.button(key=f"chosen-aside-{ben}").click().run()
    assert not test.exception
    assert table(test)["Person"] == ["Ada", "Ben (set aside)"]
    assert table(test)["Same as others"][0] == "too few yet (0)"
    test.button(key=f"chosen-again-{ben}").click().run()
    assert table(test) | {"Seen": []} == shown | {"Seen": []}


def test_somebody_who_guesses_leads_the_page_with_the_evidence(
    home: Home, owner: int, project: int, show: Open, monkeypatch: pytest.MonkeyPatch
) -> None:
    ada = annotator(home, owner, "Ada")
    answered(home, ada, project, right=True, times=1)
    monkeypatch.setattr(figures, "warnings", lambda _: {ada: ("May be guessing. Right on 3 of 30.",)})
    test = show(owner, "team_page.py", project=str(project))
    (warning,) = [one.value for one in test.warning]
    assert "Look at Ada's answers." in warning
    assert "Right on 3 of 30" in warning
    test.button(key=f"warned-aside-{ada}").click().run()
    assert not test.warning
    with home.database.read() as session:
        assert entries.about_project(session, project)[-1].kind == "aside"


def test_a_reviewer_looks_and_sets_nobody_aside(home: Home, owner: int, project: int, show: Open) -> None:
    reviewer, ada = annotator(home, owner, "Rita", "reviewer"), annotator(home, owner, "Ada")
    answered(home, ada, project, right=True, times=2)
    test = show(reviewer, "team_page.py", project=str(project))
    assert table(test)["Person"] == ["Ada"]
    test.selectbox[-1].set_value(ada).run()
    assert not [one for one in test.button if "aside" in one.label.lower()]
    assert "for reviewers and the owner" in words(show(ada, "team_page.py", project=str(project)))


def test_people_see_their_own_figures_and_nobody_else_s_name(
    home: Home, owner: int, project: int, show: Open
) -> None:
    ada, ben = annotator(home, owner, "Ada"), annotator(home, owner, "Benedict")
    vera = annotator(home, owner, "Vera", "viewer")
    for _ in range(3):
        answered(home, ada, project, right=True, times=1)
        answered(home, ben, project, right=True, times=1)
    shown = words(show(ada, "progress.py", project=str(project)))
    assert "**3** answers" in shown
    assert "Same as the others: too few yet (0)" in shown
    assert "Benedict" not in shown
    assert "Your figures begin" in words(show(owner, "progress.py", project=str(project)))
    assert "Your figures" not in words(show(vera, "progress.py", project=str(project)))
    assert figures.mine(Seat(home, ada, project)).answers == 3
