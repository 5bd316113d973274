"""Settings of projects with one true label: what they are by default, and which are stored ones."""

from __future__ import annotations

import pytest

from plcore import LabelTable, LearnerSettings, Roles
from tests.workflow.vector_world import ROLES as VECTOR_ROLES
from tests.workflow.vector_world import vector_frame
from tests.workflow.world import ROLES, small_frame
from workflow.kinds import KINDS, is_stored
from workflow.kinds.one_label import settings


def test_tables_of_candidates_fit() -> None:
    assert settings.fits(LabelTable.from_frame(small_frame(), ROLES))
    assert not settings.fits(LabelTable.from_cells(vector_frame(), VECTOR_ROLES))


def test_the_first_settings_ever_stored_name_no_kind() -> None:
    kind = KINDS["one_label"]
    assert is_stored(kind, {})
    assert is_stored(kind, LearnerSettings().to_json())
    assert is_stored(kind, {"kind": "one_label"})
    assert not is_stored(kind, {"kind": "multilabel"})


def test_blind_checks_where_no_truth_can_be_held_out() -> None:
    known = LabelTable.from_frame(small_frame(), ROLES)
    without = LabelTable.from_frame(
        small_frame(), Roles(candidates="candidates", id="id", numbers=("x", "y"))
    )
    empty = LabelTable.from_frame(small_frame().assign(truth=""), ROLES)
    found = [settings.default_settings(table, 0.08).control_share for table in (known, without, empty)]
    assert found == [0.0, 0.08, 0.08]


def test_a_third_of_the_known_labels_measures_and_the_others_leave_something_to_ask() -> None:
    every, some = small_frame(), small_frame()
    some.loc[7, ["truth", "candidates"]] = "", "a|b|c"
    made = [settings.default_settings(LabelTable.from_frame(frame, ROLES), 0.08) for frame in (every, some)]
    assert [(one.truth_role, one.test_share) for one in made] == [("hidden", 1 / 3), ("given", 1 / 3)]


@pytest.mark.parametrize(
    ("unknown", "truth_role", "doubted"),
    [([], "given", True), ([], "hidden", False), ([7], "given", False), (range(60), "given", False)],
)
def test_truth_that_leaves_nothing_to_ask_is_doubted(
    unknown: list[int], truth_role: str, doubted: bool
) -> None:
    frame = small_frame()
    frame.loc[list(unknown), "truth"] = ""
    frame.loc[list(unknown), "candidates"] = "a|b|c"
    table = LabelTable.from_frame(frame, ROLES)
    found = settings.doubts(table, LearnerSettings(truth_role=truth_role))
    assert [one.name for one in found] == (["nothing-to-ask"] if doubted else [])
    assert all("truth_role=hidden" in one.fix for one in found)


def test_where_no_row_has_a_choice_the_table_says_so_itself() -> None:
    frame = small_frame()
    frame["candidates"] = frame["truth"]
    assert settings.doubts(LabelTable.from_frame(frame, ROLES), LearnerSettings(truth_role="given")) == []


def test_what_was_drawn_are_settings_there_are() -> None:
    assert set(LearnerSettings().to_json()) > settings.DRAWN
    made = settings.read_settings({"n_neighbors": 7})
    assert made == LearnerSettings(n_neighbors=7, strategy="apl")  # the default when none was stored
    changed = LearnerSettings(strategy="random")
    assert settings.settle_change(made, changed) == changed
    with pytest.raises(ValueError, match="n_neighbors"):
        settings.read_settings({"n_neighbors": 0})


@pytest.mark.parametrize(
    ("candidates", "known", "proposed"),
    [
        (["ant|bee|cat"], 0, "cover"),
        (["ant|bee|cat"] * 9 + ["ant"], 0, "cover"),
        (["ant|bee|cat"] * 8 + ["ant"] * 2, 0, "automatic"),
        (["ant|bee|cat"], 30, "automatic"),
        (["ant|bee", "bee|cat", "ant|cat"], 0, "automatic"),
        (["ant", "bee", "cat"], 0, "automatic"),
    ],
)
def test_coverage_comes_first_where_the_table_tells_little(
    candidates: list[str], known: int, proposed: str
) -> None:
    frame = small_frame()
    frame["candidates"] = [candidates[row % len(candidates)] for row in range(len(frame))]
    frame.loc[known:, "truth"] = ""
    table = LabelTable.from_frame(frame, ROLES)
    assert settings.first_strategy(table) == proposed
    assert settings.default_settings(table, 0.0).strategy == proposed


def test_how_often_a_label_was_named_tells_something() -> None:
    frame = small_frame().drop(columns="truth")
    frame["candidates"] = "ant:0.8|bee:0.1|cat:0.1"
    roles = Roles(candidates="candidates", id="id", numbers=("x", "y"), form="weighted")
    assert settings.first_strategy(LabelTable.from_frame(frame, roles)) == "automatic"
