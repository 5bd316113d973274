"""Label vectors in words."""

from __future__ import annotations

from plcore.loop.label_vectors import CRITERION_ENTRIES, QUESTION_ENTRIES
from workflow.kinds.label_vectors import settings


def test_every_question_and_criterion_has_its_words() -> None:
    assert set(settings.QUESTIONS) == set(QUESTION_ENTRIES)
    assert set(settings.CRITERIA) == set(CRITERION_ENTRIES)
    reasons = [settings.reason(name) for name in CRITERION_ENTRIES]
    assert all(reasons)
    assert len(set(reasons)) == len(reasons)
    assert settings.CLASSES is None
    assert "label" in settings.WORDS.classes
