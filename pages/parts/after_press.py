"""Data sent to the card after an answer through the direct route (`web.presses`)."""

from __future__ import annotations

from pages.parts.account_parts import day_words
from pages.parts.kinds import PARTS
from pages.parts.question_card import PAUSED, Offer
from workflow.answering.loop import Saved
from workflow.answering.press import Next


def card_after(after: Next, notice: str | None = None) -> dict[str, object]:
    """Return card data for the next question; other data stays as the page drew it.

    notice : shown instead of what was saved
    """
    data = PARTS[after.kind].told(after.question, after.standing, notice, offer(after))
    return data | {"day": day_words(after.day)}


def offer(after: Next) -> Offer | None:
    """Return the break screen shown instead of the question."""
    return PAUSED if after.day.paused else None


def answered_before(saved: Saved) -> str:
    """Return the message about an answer that was not stored because its question had already been
    answered."""
    what = ", ".join(saved.labels) or saved.kind
    return f"Not saved: row {saved.row_id} was already answered ({what}), in another tab perhaps."
