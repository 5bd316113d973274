"""What is stored of a question that is put before somebody, and whether it still says what the screen will say."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from db.questions import OpenQuestion

if TYPE_CHECKING:
    from workflow.common.asked import AskedAs

_WHY = ("strategy", "score", "model_version", "decides", "undecided", "predicted")
"""Parts of a learner's question that say why it is asked, and what the model says."""


def to_store(asked: Any, how: AskedAs | None, **where: Any) -> OpenQuestion:
    """A learner's question as it is stored. how : it is put      where : all else of an `OpenQuestion`"""
    return OpenQuestion(**{part: getattr(asked, part) for part in _WHY}, asked=_stored(how), **where)


def says_the_same(asked: Any, how: AskedAs | None, stored: OpenQuestion) -> bool:
    """Whether the stored question still says why this one is asked, how, and by which model."""
    same = all(getattr(asked, part) == getattr(stored, part) for part in _WHY)
    return same and _stored(how) == stored.asked


def _stored(how: AskedAs | None) -> dict[str, Any] | None:
    return None if how is None else how.to_json()
