"""A question as a page shows it."""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from plcore import LabelTable, LearnerSettings
from tests.workflow.world import ROLES, answer_next, small_frame, small_project
from workflow.answering import loop
from workflow.answering.asked import stamp
from workflow.kinds.one_label.settings import reason
from workflow.kinds.one_label.showing import ShownQuestion, Telling
from workflow.projects import managing
from workflow.seat import Seat
from workflow.server.home import Home


def test_candidates_come_with_their_shares_and_the_screen_has_a_name(
    home: Home, owner: int, project: int
) -> None:
    shown = loop.next_question(Seat(home, owner, project))
    assert isinstance(shown, ShownQuestion)
    assert shown.shown == stamp(shown.choices)
    assert shown.n_classes == 3
    assert {one.label: one.probability for one in shown.candidates} == dict(
        zip(shown.choices, shown.probabilities, strict=True)
    )
    assert abs(sum(shown.probabilities) - 1) < 1e-9 or not any(shown.probabilities)
    assert shown.why == reason("apl", shown.decides, shown.undecided)


def test_columns_that_tell_the_two_likeliest_apart(home: Home, owner: int, project: int) -> None:
    """In the small table ants lie far out on x, bees on y: cats, at neither, differ from each in one column alone."""
    found: dict[frozenset[str], set[str]] = {}
    for _ in range(12):
        shown = loop.next_question(Seat(home, owner, project))
        assert shown is not None
        assert isinstance(shown.telling, Telling)
        best = sorted(shown.candidates, key=lambda one: -one.probability)[:2]
        if best[0].probability > best[1].probability:
            assert set(shown.telling.between) == {one.label for one in best}
        assert len(shown.telling.columns) == 1
        found.setdefault(frozenset(shown.telling.between), set()).update(shown.telling.columns)
        answer_next(home, owner, project)
    assert found.get(frozenset({"ant", "cat"}), {"x"}) == {"x"}
    assert found.get(frozenset({"bee", "cat"}), {"y"}) == {"y"}
    assert len(found) > 1


def test_a_blind_question_is_worded_like_any_other(home: Home, owner: int) -> None:
    seat = Seat(home, owner, small_project(home, owner, control_share=0.5, strategy="random"))
    strategies, whys = set(), set()
    for _ in range(12):
        shown = loop.next_question(seat)
        assert shown is not None
        strategies.add(shown.strategy)
        whys.add(shown.why.split(".")[0])
        answer_next(home, owner, seat.project_id)
    assert len(strategies) == 2
    assert len(whys) == 1
    assert not np.isnan(shown.score)


def test_what_the_file_says_for_a_label_stands_beside_it(home: Home, owner: int) -> None:
    frame = small_frame()
    frame["candidates"] = [
        "|".join(f"{label}:{place + 1}" for place, label in enumerate(cell.split("|")))
        for cell in frame["candidates"]
    ]
    table = LabelTable.from_frame(frame, replace(ROLES, form="weighted"))
    project = managing.create_project(Seat(home, owner), "votes", table, LearnerSettings(n_neighbors=4))
    shown = loop.next_question(Seat(home, owner, project))
    counts = {label: place + 1 for place, label in enumerate(shown.choices)}
    total = sum(counts.values())
    assert {one.label: one.weight for one in shown.candidates} == {
        label: f"{count} of {total} votes" for label, count in counts.items()
    }


def test_where_all_labels_count_alike_nothing_stands_beside_them(
    home: Home, owner: int, project: int
) -> None:
    shown = loop.next_question(Seat(home, owner, project))
    assert {one.weight for one in shown.candidates} == {""}


def test_while_rows_are_covered_the_card_says_so_of_every_question(home: Home, owner: int) -> None:
    """Three classes: six rows; then what suits PL-KNN. Blind checks say the same as the others."""
    seat = Seat(home, owner, small_project(home, owner, strategy="cover", control_share=0.3))
    said = []
    for _ in range(8):
        shown = loop.next_question(seat)
        assert isinstance(shown, ShownQuestion)
        said.append((shown.strategy, shown.why.startswith("This row stands for many rows like it")))
        answer_next(home, owner, seat.project_id)
    assert [covers for _, covers in said] == [True] * 6 + [False] * 2
    assert {strategy for strategy, _ in said[:6]} == {"cover", "control"}
