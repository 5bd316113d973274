"""Characters that names and texts may not hold."""

from __future__ import annotations

import unicodedata

import pytest

from plcore.arrays.words import escaped, forbidden_in_name, forbidden_in_text, unstorable_in

EVERY = [chr(code) for code in (*range(0x10000), *range(0xE0000, 0xE0200))]
DIRECTIONS = {"LRE", "RLE", "LRO", "RLO", "PDF", "LRI", "RLI", "FSI", "PDI"}


def test_control_surrogate_and_direction_characters_are_refused() -> None:
    bad = {
        mark
        for mark in EVERY
        if unicodedata.category(mark) in ("Cc", "Cs") or unicodedata.bidirectional(mark) in DIRECTIONS
    }
    assert {mark for mark in EVERY if forbidden_in_text(mark)} == bad - set("\t\n\r")
    assert {mark for mark in EVERY if forbidden_in_name(mark)} == bad | {"\u2028", "\u2029"}
    assert {mark for mark in EVERY if unstorable_in(mark)} == {"\0"} | {chr(k) for k in range(0xD800, 0xE000)}


@pytest.mark.parametrize("name", ["Zaunkönig", "سنونو", "עפרוני", "日本の鳥", "🐦‍⬛", "a\u200fb", "Ǝ ½ — «x»"])
def test_names_in_any_script_are_accepted(name: str) -> None:
    assert forbidden_in_name(name) is None
    assert escaped(name) == name


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("wren\x1b[31m", "a terminal escape (ESC) (U+001B) at character 5"),
        ("\0", "a NUL character (U+0000) at character 1"),
        ("ab\ud83d", "half of a character (a lone surrogate) (U+D83D) at character 3"),
        ("a\u202egpj.exe", "a mark of the writing direction (U+202E) at character 2"),
        ("\x9b2J", "a control character (U+009B) at character 1"),
    ],
)
def test_forbidden_character_is_reported_with_its_position(text: str, said: str) -> None:
    assert forbidden_in_name(text) == forbidden_in_text(text) == said


def test_line_breaks_are_allowed_in_texts_but_not_in_names() -> None:
    assert forbidden_in_text("two\nlines\tof\r\ntext") is None
    assert forbidden_in_name("two\nlines") == "a line break (U+000A) at character 4"


def test_escaped_text_contains_no_control_characters() -> None:
    assert escaped("a\x1b[2Jb\u202ec\nd\x9be\ud800") == "a\\u001b[2Jb\\u202ec\nd\\u009be\\ud800"
    assert not any(forbidden_in_text(escaped(mark)) for mark in EVERY)
