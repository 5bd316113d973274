"""What a page says instead of Streamlit's own words, wherever its script ends in an error."""

from __future__ import annotations

from pathlib import Path

import pytest
import streamlit as st

from db.opened_file import DatabaseReplacedError, Loss
from web import problems


@pytest.mark.parametrize(
    ("error", "words"),
    [
        (DatabaseReplacedError(Path("/secret"), Loss.GONE), "was deleted or moved away"),
        (ZeroDivisionError("secret"), problems.UNKNOWN),
    ],
)
def test_every_error_is_said_in_our_words(
    error: Exception, words: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    said: list[str] = []
    monkeypatch.setattr(st, "error", lambda text, icon: said.append(f"{icon} {text}"))
    assert problems.say(error) is True
    assert words in said[0]
    assert "Fix: " in said[0]
    assert "secret" not in said[0]
