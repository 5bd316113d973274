"""A press as it comes from a browser, and the one place where it is checked.

A browser sends what its page tells it to, and whoever sits before it can tell it otherwise: nothing is taken for what
it should be. What is no press is refused in words, as an answer is that does not fit.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import Any

from plcore import AnswerError
from plcore.common import unstorable_in
from workflow.common.notes import checked_note

MOST_LABELS = 5_000
"""Labels of one press; a project has fewer classes."""
LONGEST = 10_000
"""Characters of a label, a token or a kind; those of a press of ours have far fewer."""
MOST = 2**31 - 1
"""The highest number that the database has for a row or an entry."""
SHOWN = 80
"""Characters of what came that are said back."""
TOO_MANY = "These were more presses within a minute than anybody makes by hand. Fix: wait a minute."
_ROW = re.compile("[0-9]{1,10}")
_RELOAD = "Fix: load the page again."


@dataclass(frozen=True)
class Press:
    """What the browser sent: `kind` is an answer's kind, "undo", "redo" or one of `OtherPress` in `card/types.d.ts`.

    token : of the question on the screen      shown : stamp of its labels there
    seq : of the answer that undo, redo or open is about; else None
    """

    kind: str
    labels: tuple[str, ...]
    token: str
    shown: str | None
    seq: int | None
    note: str
    flagged: bool

    @classmethod
    def read(cls, said: Any) -> Press:
        """A press out of the JSON that was sent. Raises AnswerError where it is none."""
        if not isinstance(said, dict):
            raise _malformed("it", "an object", said)
        labels = _of(said, "labels", list, "a list of texts")
        if len(labels) > MOST_LABELS:
            raise AnswerError(f"A press names at most {MOST_LABELS:,} labels. Got {len(labels):,}. {_RELOAD}")
        seq = _of(said, "seq", (int, type(None)), "a whole number or null")
        if isinstance(seq, bool) or not 0 <= (seq or 0) <= MOST:
            raise _malformed("seq", f"a whole number from 0 to {MOST:,} or null", seq)
        note = _of(said, "note", (str, type(None)), "a text or null")
        token = _of(said, "token", (str, type(None)), "a text or null")
        shown = _of(said, "shown", (str, type(None)), "a text or null")
        return cls(
            kind=_text("kind", _of(said, "kind", str, "a text")),
            labels=tuple(_text("labels", label) for label in labels),
            token=_text("token", token or ""),
            shown=None if shown is None else _text("shown", shown),
            seq=seq,
            note=checked_note(note) or "",
            flagged=_of(said, "flagged", bool, "true or false"),
        )

    @property
    def rows(self) -> set[int]:
        """The labels as numbers of rows. Raises AnswerError where one is none."""
        for label in self.labels:
            if not _ROW.fullmatch(label) or int(label) > MOST:
                raise _malformed("labels", "numbers of rows", label)
        return set(map(int, self.labels))


def wanted_of(said: Any, part: str) -> str | None:
    """What the card wants to be shown besides, such as "history 7"; None where it wants nothing, or nothing that could
    be shown: the card asks again once it is opened again."""
    wanted = said.get(part) if isinstance(said, dict) else None
    try:
        return None if wanted is None else _text(part, wanted)
    except AnswerError:
        return None


def _malformed(part: str, allowed: str, got: Any) -> AnswerError:
    came = ascii(got)  # half of a character can be shown, too
    came = came if len(came) <= SHOWN else f"{came[:SHOWN]}…"
    return AnswerError(f"What the page sent is no press: {part} must be {allowed}. Got {came}. {_RELOAD}")


def _of(said: dict[str, Any], part: str, kinds: Any, allowed: str) -> Any:
    if part not in said:
        raise _malformed(part, allowed, "nothing")
    if not isinstance(said[part], kinds):
        raise _malformed(part, allowed, said[part])
    return said[part]


def storable(text: str) -> str:
    """The text. Raises ValueError where no database takes it."""
    if (found := unstorable_in(text)) is not None:
        raise ValueError(f"It cannot be stored with {found}. Fix: take it out.")
    return text


def _text(part: str, text: Any) -> str:
    if not isinstance(text, str) or len(text) > LONGEST or unstorable_in(text):
        allowed = f"text of at most {LONGEST:,} characters, without NUL and halves of characters"
        raise _malformed(part, allowed, text)
    return text
