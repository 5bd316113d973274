"""The crowd that voted before: who is how right, who guesses, how far they agree, and who is told of it."""

from __future__ import annotations

import math

import numpy as np
import pandas as pd
import pytest

from plcore import LabelTable, Roles
from plcore.crowd import krippendorff_alpha
from tests.workflow.world import annotator
from workflow import importing
from workflow.access import NotAllowed
from workflow.answering import loop
from workflow.importing import crowd
from workflow.importing.crowd import earlier_votes, reliability
from workflow.seat import Seat
from workflow.server.home import Home

PEOPLE = ("Ann", "Bob", "Cy", "Dee", "Eve")
ROLES = Roles(annotators=PEOPLE, numbers=("w",))


def table(rows: int = 200, seed: int = 0) -> LabelTable:
    """Four who are right in 85 %, and Eve, who guesses; each row has three of them; five classes."""
    rng = np.random.default_rng(seed)
    truth = rng.integers(5, size=rows)
    cells = np.full((rows, len(PEOPLE)), "", dtype=object)
    for row in range(rows):
        for who in rng.permutation(len(PEOPLE))[:3]:
            right = PEOPLE[who] != "Eve" and rng.random() < 0.85
            cells[row, who] = f"c{truth[row] if right else rng.integers(5)}"
    return LabelTable.from_cells(pd.DataFrame(cells, columns=list(PEOPLE), dtype="str").assign(w="1"), ROLES)


def test_the_one_who_guesses_is_told_and_no_other() -> None:
    steps: list[float] = []
    found = reliability(table(), steps.append)
    assert found is not None
    by_name = {one.name: one for one in found.voters}
    assert [one.name for one in found.voters if one.warning] == ["Eve"]
    assert "guessing gives" in by_name["Eve"].warning
    honest = [by_name[name].accuracy for name in PEOPLE[:4]]
    assert min(honest) > 0.75
    assert by_name["Eve"].accuracy < 0.5
    assert by_name["Eve"].agreement < min(by_name[name].agreement for name in PEOPLE[:4])
    assert (found.n_votes, found.n_rows, found.share) == (600, 200, 1.0)
    assert sum(one.votes for one in found.voters) == 600
    assert steps == sorted(steps)
    assert (steps[-1], found.low < found.alpha < found.high) == (1.0, True)


def test_alpha_is_that_of_the_library() -> None:
    made = table(60)
    found = reliability(made)
    said = [(row, who, cell) for who in PEOPLE for row, cell in enumerate(made.cells[who]) if cell]
    assert found is not None
    assert found.alpha == pytest.approx(krippendorff_alpha(said), abs=1e-12)


def test_agreement_is_how_often_another_said_the_same() -> None:
    cells = pd.DataFrame({"Ann": ["a", "a", "b"], "Bob": ["a", "b", ""], "Cy": ["b", "", ""]}, dtype="str")
    roles = Roles(annotators=("Ann", "Bob", "Cy"), numbers=("w",))
    found = reliability(LabelTable.from_cells(cells.assign(w="1"), roles))
    assert found is not None
    assert {one.name: one.agreement for one in found.voters} == {
        "Ann": pytest.approx(
            1 / 3
        ),  # with Bob on the first row, not with Cy there, nor with Bob on the second
        "Bob": pytest.approx(1 / 3),
        "Cy": 0.0,
    }
    assert [one.votes for one in found.voters] == [3, 2, 1]
    assert math.isnan(found.alpha)
    assert "Only 2 rows" in found.why_no_alpha


def test_who_shares_no_row_agrees_with_nobody() -> None:
    cells = pd.DataFrame({"Ann": ["a", "b", ""], "Bob": ["", "", "b"], "w": ["1", "2", "3"]}, dtype="str")
    found = reliability(LabelTable.from_cells(cells, Roles(annotators=("Ann", "Bob"), numbers=("w",))))
    assert found is not None
    assert all(math.isnan(one.agreement) and one.warning == "" for one in found.voters)


def test_a_single_voter_and_nobody_are_no_crowd() -> None:
    cells = pd.DataFrame({"Ann": ["a", "b"], "Bob": ["", ""], "w": ["1", "2"]}, dtype="str")
    assert reliability(LabelTable.from_cells(cells, Roles(annotators=("Ann", "Bob"), numbers=("w",)))) is None
    assert reliability(LabelTable.from_cells(cells, Roles(candidates="Ann", numbers=("w",)))) is None


def test_of_very_many_votes_rows_are_drawn_and_it_is_said(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(crowd, "MOST_VOTES", 300)
    found = reliability(table(seed=1))
    assert found is not None
    assert (found.share, found.n_votes) == (0.5, 600)
    again = reliability(table(seed=1))
    assert again is not None
    assert [one.accuracy for one in again.voters] == [one.accuracy for one in found.voters]


def test_more_people_and_classes_than_fit_have_no_estimate(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("plcore.crowd.dawid_skene.MOST_CELLS", 10)
    found = reliability(table(40))
    assert found is not None
    assert all(math.isnan(one.accuracy) and not one.warning for one in found.voters)
    assert not math.isnan(found.voters[0].agreement)


def test_reviewers_see_it_and_annotators_do_not(home: Home, owner: int) -> None:
    made = table(40)
    project = importing.create(Seat(home, owner), "voted", made)
    seat = Seat(home, owner).at(project)
    found = earlier_votes(seat)
    assert found is not None
    assert found == reliability(made)
    assert earlier_votes(Seat(home, annotator(home, owner, "Rita", "reviewer")).at(project)) is not None
    with pytest.raises(NotAllowed):
        earlier_votes(Seat(home, annotator(home, owner, "Ada")).at(project))


def test_the_question_names_voters_to_reviewers_and_never_to_annotators(home: Home, owner: int) -> None:
    made = table(40)
    project = importing.create(Seat(home, owner), "voted", made)
    people = {
        owner: True,
        annotator(home, owner, "Rita", "reviewer"): True,
        annotator(home, owner, "Ada"): False,
    }
    for person, may_see in people.items():
        asked = loop.next_question(Seat(home, person, project))
        assert asked is not None
        row = asked.view.row
        for one in asked.candidates:
            said = tuple(name for name in PEOPLE if made.cells[name][row] == one.label)
            assert one.voters == (said if may_see else ())
            assert one.weight.endswith("of 3 votes")
