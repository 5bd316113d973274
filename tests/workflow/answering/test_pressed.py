"""A press as it comes from a browser: read, or refused in words."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from plcore import AnswerError
from tests.workflow.answering.malformed import PRESS, malformed
from workflow.answering.press import MOST, Press, wanted_of

JSON = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | st.text(st.characters(codec=None), max_size=8),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.sampled_from([*PRESS, "x"]), inner),
    max_leaves=20,
)


def test_a_press_is_read_as_it_was_sent() -> None:
    sent = PRESS | {
        "labels": ["ant", "سنونو"],
        "token": "1.2.3",
        "shown": "ab",
        "seq": MOST,
        "note": " x\ny ",
    }
    assert Press.read(sent | {"flagged": True, "more": [1]}) == Press(
        "is", ("ant", "سنونو"), "1.2.3", "ab", MOST, "x\ny", flagged=True
    )
    assert Press.read(PRESS | {"token": None, "note": None}) == Press(
        "is", (), "", None, None, "", flagged=False
    )


@pytest.mark.parametrize("said", [pytest.param(said, id=str(k)) for k, (_, said) in enumerate(malformed())])
def test_what_is_no_press_is_refused_in_words_that_can_be_shown(said: object) -> None:
    with pytest.raises(AnswerError) as refused:
        Press.read(said)
    words = str(refused.value)
    words.encode()
    assert "Fix: " in words
    assert len(words) < 400


@given(JSON)
def test_nothing_that_comes_does_anything_but_be_read_or_refused(said: object) -> None:
    try:
        assert isinstance(Press.read(said), Press)
    except AnswerError as refusal:
        str(refusal).encode()
    for part in ("token", "x"):
        wanted = wanted_of(said, part)
        assert wanted is None or wanted.encode()


def test_rows_are_numbers() -> None:
    assert Press.read(PRESS | {"labels": ["3", "0", "3"]}).rows == {0, 3}
    for label in ("", "-1", "1.5", "x", "²", "٣", "9" * 9_000, str(MOST + 1)):
        with pytest.raises(AnswerError, match="labels must be numbers of rows"):
            _ = Press.read(PRESS | {"labels": ["1", label]}).rows
