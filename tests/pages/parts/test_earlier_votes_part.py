"""Votes before: the check of an import and a project's settings tell of those who voted, in words and a table."""

from __future__ import annotations

import math

import pytest

from db import projects as stored
from pages.parts.create_parts import in_words
from tests.pages.conftest import Open, words
from tests.pages.test_import_labels import choose, chosen
from tests.pages.test_pages import upload
from tests.workflow.importing.test_crowd import PEOPLE, ROLES, table
from workflow import importing
from workflow.importing.crowd import EarlierVotes, Voter
from workflow.seat import Seat
from workflow.server.home import Home

ONE = Voter("Ann", 3, 0.5, 0.9, "")


def test_the_check_of_an_import_tells_who_voted_and_who_guesses(owner: int, show: Open) -> None:
    data = table().cells.rename(columns={name: f"annotator_{name}" for name in PEOPLE})
    test = upload(show(owner, "import_table.py"), data.to_csv(index=False).encode())
    said = words(test)
    assert "Who voted before" in said
    assert "5 voters gave 600 votes on 200 rows" in said
    assert "Krippendorff's alpha" in said
    assert "One voter seems to guess" in said
    assert "annotator\\_Eve" in said or "annotator_Eve" in said
    shown = next(one.value for one in test.dataframe if "Voter" in one.value.columns)
    assert set(shown["Voter"]) == {f"annotator_{name}" for name in PEOPLE}
    assert shown.set_index("Voter")["Seems to guess"]["annotator_Eve"] == "yes"


def test_votes_can_count_by_how_right_each_voter_is(home: Home, owner: int, show: Open) -> None:
    data = table(40).cells.rename(columns={name: f"annotator_{name}" for name in PEOPLE})
    test = upload(show(owner, "import_table.py"), data.to_csv(index=False).encode())
    radio = next(one for one in test.radio if one.label == "How much a vote counts")
    assert radio.value == "counts"
    radio.set_value("dawid-skene")
    test.run()
    assert not test.exception
    next(button for button in test.button if button.label == "Create project").click().run()
    assert not test.exception
    with home.database.read() as session:
        (made,) = stored.listed(session)
    assert made.roles["vote_weights"] == "dawid-skene"


def test_long_votes_name_their_column_and_it_can_be_taken_away(owner: int, show: Open) -> None:
    lines = ["task,worker,label,length"]
    for row in range(12):
        lines += [f"t{row},{who},{'wren' if row % 2 else 'owl'},{row}" for who in ("Ann", "Bob")]
    lines += ["t0,Cy,wren,0"]
    test = upload(show(owner, "import_table.py"), "\n".join(lines).encode())
    assert chosen(test, "Who named each label (optional)") == "sources"
    assert "3 voters gave 25 votes on 12 rows" in words(test)
    assert "No figure of agreement: only 12 rows" in words(test)
    choose(test, "Who named each label (optional)", "")
    assert "Who voted before" not in words(test)


def test_project_settings_tell_it_again(home: Home, owner: int, show: Open) -> None:
    project = importing.create(Seat(home, owner), "voted", table(40))
    test = show(owner, "project_page.py", project=str(project))
    assert "5 voters gave 120 votes on 40 rows" in words(test)


def test_a_project_without_voters_says_how_they_would_come(home: Home, owner: int, show: Open) -> None:
    cells = table(40).cells
    roles = importing.Roles(candidates="Ann", numbers=ROLES.numbers)
    plain = importing.LabelTable.from_cells(cells[cells["Ann"] != ""].reset_index(drop=True), roles)
    project = importing.create(Seat(home, owner), "plain", plain)
    test = show(owner, "project_page.py", project=str(project))
    assert "does not say who voted" in words(test)


@pytest.mark.parametrize(
    ("found", "wanted"),
    [
        (
            EarlierVotes((ONE, ONE), 1, 1, 1.0, math.nan, math.nan, math.nan, "Only 1 row has."),
            "1 vote on 1 row. No",
        ),
        (EarlierVotes((ONE, ONE), 9, 5, 0.5, 0.61, 0.5, 0.7, ""), "0.61, between 0.50 and 0.70 with 95 %"),
        (EarlierVotes((ONE, ONE), 9, 5, 0.5, 0.61, 0.5, 0.7, ""), "Figures are from 50\u00a0% of the rows"),
        (EarlierVotes((ONE, ONE), 9, 5, 1.0, 0.61, math.nan, math.nan, ""), "beyond chance is 0.61 (Kripp"),
    ],
)
def test_the_sentence(found: EarlierVotes, wanted: str) -> None:
    assert wanted in in_words(found)
