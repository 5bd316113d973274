"""The card's Python side: what is cut short says so."""

from __future__ import annotations

import pytest

from pages.parts.question_card import _saved
from pages.parts.words import shortened
from plcore.loop import EntryKind
from workflow.projects.standing import Saved


def test_a_text_is_cut_only_where_more_follows() -> None:
    assert shortened("four", 4) == "four"
    assert shortened("fourth", 4) == "fou…"
    assert shortened("one two", 5) == "one…", "no space stands before the ellipsis"
    assert shortened("", 4) == ""


@pytest.mark.parametrize(
    ("kind", "labels", "rows", "words"),
    [
        ("right", ("sea", "sky"), 1, "row r5 has sea, sky, by your verdict"),
        ("wrong", ("sea",), 1, "row r5 does not have sea, by your verdict"),
        ("verdict", ("bee",), 1, "row r5 is bee, by your verdict"),
        ("verdict", (), 1, "row r5 is a bad item, by your verdict"),
        ("is", ("bee",), 3, "3 rows are bee"),
        ("labels", ("sea",), 3, "3 rows are answered"),
    ],
)
def test_what_was_saved_last_is_said_in_words(
    kind: str, labels: tuple[str, ...], rows: int, words: str
) -> None:
    told = _saved(Saved(9, kind, 5, "r5", labels, rows=rows), None)
    assert told is not None
    assert told["message"] == f"Saved: {words}"


def test_every_kind_of_entry_about_a_row_has_words_of_its_own() -> None:
    of_no_row = {EntryKind.CLASS, EntryKind.ROWS, EntryKind.ASIDE, EntryKind.MODEL}
    for kind in set(EntryKind) - of_no_row:
        told = _saved(Saved(9, kind, 5, "r5", ("sea",)), None)
        assert told is not None
        assert not told["message"].endswith(f", {kind}")
