"""The room's settings in their stored form: there and back, and refused by name."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from workflow.common.room import DESCRIPTION_LENGTH, GUIDELINES_LENGTH, ORDERS, RoomError, RoomSettings

TEXT = st.text(
    st.characters(blacklist_characters="\0\n\r", blacklist_categories=("Cs",)), max_size=DESCRIPTION_LENGTH
)


@given(guidelines=TEXT, order=st.sampled_from(ORDERS), descriptions=st.dictionaries(TEXT, TEXT, max_size=4))
def test_json_and_back(guidelines: str, order: str, descriptions: dict[str, str]) -> None:
    wanted = RoomSettings(guidelines, order, descriptions)
    assert RoomSettings.from_json(wanted.to_json()) == wanted


def test_the_longest_texts_are_taken() -> None:
    assert len(RoomSettings("x" * GUIDELINES_LENGTH).guidelines) == 20_000
    with pytest.raises(RoomError, match=r"guidelines may have at most 20,000 characters; it has 20,001"):
        RoomSettings("x" * (GUIDELINES_LENGTH + 1))
    with pytest.raises(RoomError, match=r"the description of 'ant' may have at most 200"):
        RoomSettings(descriptions={"ant": "x" * (DESCRIPTION_LENGTH + 1)})
    with pytest.raises(RoomError, match="no setting 'colour'; it has guidelines, order, descriptions"):
        RoomSettings.from_json({"colour": "red"})
    with pytest.raises(RoomError, match="a label must be a str"):
        RoomSettings(descriptions={3: "three"})  # type: ignore[dict-item]
