"""The room's settings in their stored form: there and back, and refused by name."""

from __future__ import annotations

import json
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from plcore.arrays.words import forbidden_in_name
from workflow.answering.room_settings import (
    DESCRIPTION_LENGTH,
    FORMS,
    GUIDELINES_LENGTH,
    ORDERS,
    RoomError,
    RoomSettings,
)

TEXT = st.text(
    st.characters(exclude_categories=("Cc", "Cs", "Zl", "Zp")).filter(
        lambda one: forbidden_in_name(one) is None
    ),
    max_size=DESCRIPTION_LENGTH,
)


@given(
    guidelines=TEXT,
    order=st.sampled_from(ORDERS),
    descriptions=st.dictionaries(TEXT, TEXT, max_size=4),
    groups=st.dictionaries(
        TEXT.filter(str.strip), st.lists(TEXT, min_size=1, max_size=3, unique=True).map(tuple), max_size=3
    ),
    forms=st.sampled_from(FORMS),
    drawn=st.booleans(),
)
def test_json_and_back(
    guidelines: str,
    order: str,
    descriptions: dict[str, str],
    groups: dict[str, tuple[str, ...]],
    forms: str,
    drawn: bool,
) -> None:
    wanted = RoomSettings(guidelines, order, descriptions, groups, None, forms, drawn)
    assert RoomSettings.from_json(json.loads(json.dumps(wanted.to_json()))) == wanted


@pytest.mark.parametrize(
    ("groups", "why"),
    [
        (["Corvus"], "groups must be a dict"),
        ({3: ("rook",)}, "the name of a group, 3, must be text"),
        ({" ": ("rook",)}, "a group has no name"),
        ({"x" * 201: ("rook",)}, "at most 200 characters; it has 201"),
        ({"Corvus": "rook"}, "must hold names of classes"),
        ({"Corvus": ("rook", 3)}, "must hold names of classes"),
        ({"Corvus": ()}, "one class or more, each once. Got \\[\\]"),
        ({"Corvus": ("rook", "rook")}, "each once"),
        (
            {f"g{k}": tuple(f"c{n}" for n in range(10_000)) for k in range(3)},
            "20,000 classes in all; they have 30,000",
        ),
    ],
)
def test_groups_that_cannot_be(groups: Any, why: str) -> None:
    with pytest.raises(RoomError, match=why):
        RoomSettings(groups=groups)


def test_the_longest_texts_are_taken() -> None:
    assert len(RoomSettings("x" * GUIDELINES_LENGTH).guidelines) == 20_000
    with pytest.raises(RoomError, match=r"guidelines may have at most 20,000 characters; it has 20,001"):
        RoomSettings("x" * (GUIDELINES_LENGTH + 1))
    with pytest.raises(RoomError, match=r"the description of 'ant' may have at most 200"):
        RoomSettings(descriptions={"ant": "x" * (DESCRIPTION_LENGTH + 1)})
    with pytest.raises(
        RoomError, match="no setting 'colour'; it has guidelines, order, descriptions, groups"
    ):
        RoomSettings.from_json({"colour": "red"})
    with pytest.raises(RoomError, match="a label must be a str"):
        RoomSettings(descriptions={3: "three"})  # type: ignore[dict-item]
