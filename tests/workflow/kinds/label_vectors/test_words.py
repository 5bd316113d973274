"""Label vectors in words."""

from __future__ import annotations

from plcore.loop.label_vectors import CRITERION_ENTRIES, QUESTION_ENTRIES
from workflow.kinds.label_vectors import words


def test_every_question_and_criterion_has_its_words() -> None:
    assert set(words.QUESTIONS) == set(QUESTION_ENTRIES)
    assert set(words.CRITERIA) == set(CRITERION_ENTRIES)
    reasons = [words.reason(name) for name in CRITERION_ENTRIES]
    assert all(reasons)
    assert len(set(reasons)) == len(reasons)
    assert not words.CAN_CHANGE_CLASSES
    assert "label" in words.WORDS.classes
