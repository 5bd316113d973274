"""Names and cells as they are shown in a message."""

from __future__ import annotations

import re
from collections.abc import Sequence

_MAX_SHOWN = 40


def shortened(text: str) -> str:
    """A cell or a name, cut if it is too long for a message."""
    return text if len(text) <= _MAX_SHOWN else text[:_MAX_SHOWN] + "…"


def quoted(text: str) -> str:
    """A cell or a name as it is shown in a message: in quotes, line breaks visible, never too long."""
    return repr(shortened(text))


def listed(names: Sequence[str], at_most: int = 8) -> str:
    """Names in quotes, joined by commas; the rest only counted."""
    shown = ", ".join(quoted(name) for name in names[:at_most])
    return shown + (f" and {len(names) - at_most} more" if len(names) > at_most else "")


def in_a_row(names: Sequence[str]) -> str:
    """Names as a sentence has them: "a", "a and b", "a, b and c"."""
    return " and ".join(filter(None, (", ".join(names[:-1]), *names[-1:])))


def counted(count: int, one: str, several: str = "") -> str:
    """A number of things, such as "1 row" or "1,200 rows". several : of them, if it is not the word with an s"""
    return f"{count:,} {one if count == 1 else several or one + 's'}"


def either(count: int, one: str, several: str) -> str:
    """The word that agrees with a count: "is" of 1, "are" of others."""
    return one if count == 1 else several


# Characters that a text may not hold: those that cannot be stored, and those that make it look other than it is.
#
# Control characters move a terminal's cursor or its colours, overrides of the writing direction show letters in
# another order than they are in, and half of a character cannot be written as UTF-8 at all.

_CONTROLS = "\\x00-\\x08\\x0b\\x0c\\x0e-\\x1f\\x7f-\\x9f"
_DIRECTIONS = "\\u202a-\\u202e\\u2066-\\u2069"
_HALVES = "\\ud800-\\udfff"
_NOT_IN_TEXT = re.compile(f"[{_CONTROLS}{_DIRECTIONS}{_HALVES}]")
_NOT_IN_NAMES = re.compile(f"[{_CONTROLS}\\t\\n\\r\\u2028\\u2029{_DIRECTIONS}{_HALVES}]")
_NOT_STORED = re.compile(f"[\\0{_HALVES}]")
_CALLED = {
    "\0": "a NUL character",
    "\t": "a tab",
    "\n": "a line break",
    "\r": "a line break",
    "\x1b": "a terminal escape (ESC)",
    "\u2028": "a line break",
    "\u2029": "a line break",
}


def forbidden_in_text(text: str) -> str | None:
    """Forbidden characters in a text of several lines, in words such as "a NUL character (U+0000) at character 3";
    None if it holds nothing of the kind."""
    return _found(_NOT_IN_TEXT, text)


def forbidden_in_name(name: str) -> str | None:
    """The same of a name, which is of one line."""
    return _found(_NOT_IN_NAMES, name)


def unstorable_in(text: str) -> str | None:
    """The same of what no database takes, whatever it looks like: NUL, and half of a character."""
    return _found(_NOT_STORED, text)


def escaped(text: str) -> str:
    """The text with what it may not hold written out, as \\u001b or \\u202e, which JSON takes for the same: a
    terminal shows it, and does nothing else. Line breaks and tabs stay."""
    return _NOT_IN_TEXT.sub(lambda found: f"\\u{ord(found.group()):04x}", text)


def _found(pattern: re.Pattern[str], text: str) -> str | None:
    found = pattern.search(text)
    if found is None:
        return None
    return f"{_called(found.group())} (U+{ord(found.group()):04X}) at character {found.start() + 1:,}"


def _called(mark: str) -> str:
    if mark in _CALLED:
        return _CALLED[mark]
    if "\ud800" <= mark <= "\udfff":
        return "half of a character (a lone surrogate)"
    return "a mark of the writing direction" if mark > "\u2000" else "a control character"
