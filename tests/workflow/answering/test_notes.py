"""Notes as they are stored, and those that are not."""

from __future__ import annotations

import pytest

from plcore import AnswerError
from workflow.answering.asked import NOTE_LENGTH, checked_note


def test_a_note_keeps_its_lines_and_loses_blanks_around_it() -> None:
    assert checked_note(None) is checked_note(" \n") is None
    assert checked_note(" two\n\tlines ") == "two\n\tlines"
    assert checked_note("x" * NOTE_LENGTH) == "x" * NOTE_LENGTH


def test_too_long_is_said_with_both_lengths() -> None:
    with pytest.raises(AnswerError, match=r"at most 2,000 characters; this one has 2,001\. Fix: shorten it"):
        checked_note("x" * (NOTE_LENGTH + 1))
    with pytest.raises(AnswerError, match="at most 3 characters; this one has 4"):
        checked_note("four", 3)


@pytest.mark.parametrize(
    ("note", "said"), [("a\0", "NUL"), ("\ud83d!", "half of a character"), ("\x1b[1m", "terminal escape")]
)
def test_what_cannot_be_stored_or_shown_is_named(note: str, said: str) -> None:
    with pytest.raises(AnswerError, match=f"{said}.* at character .*Fix: remove it"):
        checked_note(note)
