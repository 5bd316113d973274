"""Choosing a class of few, which are all listed, and of thousands, whose names are typed."""

from __future__ import annotations

import pytest
from streamlit.testing.v1 import AppTest

from pages.parts import class_box
from pages.parts.class_box import LISTED, offered, with_in_name
from tests.pages.conftest import PATIENCE

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


def test_of_many_the_first_are_listed_and_any_can_be_typed() -> None:
    test = drawn(MANY)
    assert test.selectbox[0].options == list(MANY[:LISTED])
    assert test.session_state["found"] is None
    test = drawn(MANY, "class 98765")
    assert test.session_state["found"] == "class 98765"
    assert not test.caption


@pytest.mark.parametrize(
    ("typed", "said"),
    [
        (
            "9876",
            "No class is called 9876. These have it in their name: class 09876, class 19876, class 29876, ",
        ),
        ("<b>", "No class is called \\<b\\>."),
    ],
)
def test_a_name_that_is_none_is_said_to_be_none(typed: str, said: str) -> None:
    test = drawn(MANY, typed)
    assert test.session_state["found"] is None
    assert test.caption[0].value.startswith(said)


def test_what_is_chosen_already_is_among_what_is_offered(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(class_box, "LISTED", 2)
    assert offered(("a", "b", "c"), ["c", "a"]) == {"options": ["c", "a", "b"], "accept_new_options": True}
    assert offered(("a", "b"), ["b"]) == {"options": ["a", "b"], "accept_new_options": False}


def test_names_are_found_by_any_part_in_any_case() -> None:
    assert with_in_name(("Barn owl", "Snowy OWL", "wren"), " owl ") == ["Barn owl", "Snowy OWL"]
