"""Names and cells in messages."""

from __future__ import annotations

import re
from collections.abc import Sequence

_MAX_SHOWN = 40


def shortened(text: str) -> str:
    """Return a cell or a name, shortened if it is too long for a message."""
    return text if len(text) <= _MAX_SHOWN else text[:_MAX_SHOWN] + "…"


def quoted(text: str) -> str:
    """Return a cell or a name for a message: quoted, shortened, with line breaks escaped."""
    return repr(shortened(text))


def listed(names: Sequence[str], at_most: int = 8) -> str:
    """Return names in quotes, joined by commas; names beyond `at_most` are only counted."""
    shown = ", ".join(quoted(name) for name in names[:at_most])
    return shown + (f" and {len(names) - at_most} more" if len(names) > at_most else "")


def in_a_row(names: Sequence[str]) -> str:
    """Join names as in a sentence: "a", "a and b", "a, b and c"."""
    return " and ".join(filter(None, (", ".join(names[:-1]), *names[-1:])))


def counted(count: int, one: str, several: str = "") -> str:
    """Return a count with its noun, such as "1 row" or "1,200 rows". several : the plural, if it is
    irregular"""
    return f"{count:,} {one if count == 1 else several or one + 's'}"


def either(count: int, one: str, several: str) -> str:
    """Return the word that agrees with a count: "is" for 1, "are" for others."""
    return one if count == 1 else several


# Characters that a text may not contain: those that cannot be stored, and those that change how it is
# displayed.
# Control characters move a terminal's cursor or change its colours, direction overrides reorder the displayed
# letters, and lone surrogates cannot be encoded as UTF-8.

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
    """Describe the forbidden characters in a text of several lines, such as "a NUL character (U+0000) at
    character 3"; return None if there are none."""
    return _found(_NOT_IN_TEXT, text)


def forbidden_in_name(name: str) -> str | None:
    """Describe the forbidden characters in a name (one line), or return None."""
    return _found(_NOT_IN_NAMES, name)


def unstorable_in(text: str) -> str | None:
    """Describe the characters that no database can store (NUL, lone surrogates), or return None."""
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
