"""The card's Python side: what is cut short says so."""

from __future__ import annotations

from pages.parts.words import shortened


def test_a_text_is_cut_only_where_more_follows() -> None:
    assert shortened("four", 4) == "four"
    assert shortened("fourth", 4) == "fou…"
    assert shortened("one two", 5) == "one…", "no space stands before the ellipsis"
    assert shortened("", 4) == ""
