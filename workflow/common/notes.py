"""Notes that people leave with an answer or beside a row."""

from __future__ import annotations

from plcore import AnswerError
from plcore.common import forbidden_in_text

NOTE_LENGTH = 2_000


def checked_note(note: str | None, longest: int = NOTE_LENGTH) -> str | None:
    """The note as it is stored, None where it is empty. longest : in characters. Raises AnswerError."""
    note = (note or "").strip()
    if len(note) > longest:
        raise AnswerError(
            f"A note has at most {longest:,} characters; this one has {len(note):,}. Fix: shorten it."
        )
    if (found := forbidden_in_text(note)) is not None:
        raise AnswerError(f"A note cannot be stored with {found}. Fix: remove it.")
    return note or None
